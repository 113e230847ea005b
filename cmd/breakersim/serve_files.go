package main

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// mediaTypes are those of the files that are served, by the end of their names;
// what a browser would rather save than show is plain text. There are no others.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".json": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf", ".wasm": "application/wasm",
	".md": "text/plain; charset=utf-8", ".csv": "text/plain; charset=utf-8", ".jsonl": "text/plain; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".yaml": "text/plain; charset=utf-8",
}

func mediaType(name string) string {
	return cmp.Or(mediaTypes[strings.ToLower(path.Ext(name))], "application/octet-stream")
}

// serve answers with a file of the folder, or a page that leads to what is in it.
// Names that begin with a dot are not there, and neither is what links lead to
// outside of the folder.
func (x *site) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(path.Clean("/"+r.URL.Path), "/")
	x.lock.RLock()
	front := x.front
	x.lock.RUnlock()
	switch {
	case name == "" && front != "":
		http.Redirect(w, r, "/"+front, http.StatusFound)
		return
	case name == "" && x.root == nil:
		http.Redirect(w, r, "/playground/", http.StatusFound)
		return
	case x.root == nil || hidden(name):
		http.NotFound(w, r)
		return
	}
	if name == "" {
		name = "."
	}
	info, err := x.root.Stat(name)
	switch {
	case err != nil:
		http.NotFound(w, r)
	case info.IsDir() && !strings.HasSuffix(r.URL.Path, "/"):
		http.Redirect(w, r, "/"+name+"/", http.StatusMovedPermanently)
	case info.IsDir():
		x.serveFolder(w, r, name)
	case info.Mode().IsRegular() && !strings.HasSuffix(r.URL.Path, "/"):
		x.serveFile(w, r, name, info.ModTime())
	default:
		http.NotFound(w, r)
	}
}

// hidden says whether a part of the name begins with a dot.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

func (x *site) serveFile(w http.ResponseWriter, r *http.Request, name string, modified time.Time) {
	b, err := x.root.ReadFile(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	kind := mediaType(name)
	if kind == mediaTypes[".html"] {
		x.servePage(w, path.Dir(name), b)
		return
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", modified, bytes.NewReader(b))
}

func (x *site) serveFolder(w http.ResponseWriter, r *http.Request, name string) {
	if b, err := x.root.ReadFile(path.Join(name, "index.html")); err == nil {
		x.servePage(w, name, b)
		return
	}
	entries, err := fs.ReadDir(x.root.FS(), name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	var page bytes.Buffer
	if err := listTemplate.Execute(&page, x.listed(name, entries)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	x.servePage(w, name, page.Bytes())
}

// servePage sends HTML with a line above it that leads elsewhere, and a script
// that loads the page again when it has changed. The page's own scripts may run as
// they stand in the file, and no other. One that says itself what may be loaded, as
// those of breakersim page do, is sent as it is.
func (x *site) servePage(w http.ResponseWriter, folder string, b []byte) {
	var more bytes.Buffer
	if err := aboveTemplate.Execute(&more, x.above(folder)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", fmt.Sprintf(contentPolicy, scriptHashes(b)))
	w.Header().Set("Content-Type", mediaTypes[".html"])
	_, rest, found := bytes.Cut(b, []byte("<body>\n"))
	if !found || bytes.Contains(b, []byte(`http-equiv="Content-Security-Policy"`)) {
		_, _ = w.Write(b)
		return
	}
	_, _ = w.Write(slices.Concat(b[:len(b)-len(rest)], more.Bytes(), rest))
}

// scriptHashes are those of the scripts within the page, for its policy.
func scriptHashes(page []byte) (sources string) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for script := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return sources
		case html.StartTagToken:
			name, _ := z.TagName()
			script = string(name) == "script"
		case html.TextToken:
			if script {
				sum := sha256.Sum256(z.Raw())
				sources += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
			script = false
		}
	}
}

// way is a link above a page.
type way struct{ Href, Text string }

// above is where the page of that folder leads to.
func (x *site) above(folder string) []way {
	ways := []way{{"/playground/", "Playground"}}
	name := path.Base(folder)
	x.lock.RLock()
	defer x.lock.RUnlock()
	if fragment := x.links[name]; fragment != "" {
		ways[0] = way{"/playground/#" + fragment, "Change it in the playground"}
	} else if _, ok := scenarios.Source(name); ok {
		ways[0] = way{"/playground/#library=" + name, "Change it in the playground"}
	}
	if folder != "." && x.front == "" {
		ways = append(ways, way{"/", "All scenarios"})
	}
	entries, _ := fs.ReadDir(x.root.FS(), folder)
	for _, e := range entries {
		if n := e.Name(); path.Ext(n) == ".html" && n != "index.html" && !hidden(n) {
			ways = append(ways, way{n, strings.TrimSuffix(n, ".html")})
		}
	}
	return ways
}

var aboveTemplate = template.Must(template.New("above").Parse(`<nav aria-label="breakersim serve" style="margin:0;padding:.75rem 1.25rem;border-bottom:1px solid var(--line)">
{{- range $i, $x := .}}{{if $i}} · {{end}}<a href="{{.Href}}">{{.Text}}</a>{{end}}</nav><script src="/-/reload.js" async></script>
`))

// list is what is in a folder that has no page.
type list struct {
	Title, Style string
	Entries      []listEntry
}

type listEntry struct{ Href, Text, Picture string }

func (x *site) listed(folder string, entries []fs.DirEntry) list {
	l := list{Title: path.Base(folder), Style: report.Style()}
	if folder == "." {
		l.Title = x.about
	}
	for _, e := range entries {
		entry := listEntry{Href: e.Name(), Text: e.Name()}
		switch {
		case hidden(e.Name()):
			continue
		case e.IsDir():
			entry.Href += "/"
			entry.Text = titleNamed(e.Name())
			if _, err := x.root.Stat(path.Join(folder, e.Name(), "timeline.svg")); err == nil {
				entry.Picture = entry.Href + "timeline.svg"
			}
		}
		l.Entries = append(l.Entries, entry)
	}
	return l
}

// titleNamed is that of a built-in scenario, or the name.
func titleNamed(name string) string {
	if src, ok := scenarios.Source(name); ok {
		if s, err := scenarios.Load(name, src, scenarios.DefaultLimits()); err == nil {
			return s.Title
		}
	}
	return name
}

var listTemplate = template.Must(template.New("list").Funcs(template.FuncMap{"css": func(s string) template.CSS { return template.CSS(s) }}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{.Title}}</title>
<style>
{{css .Style}}</style>
</head>
<body>
<main class="gallery">
<h1>{{.Title}}</h1>
<p class="note">Pages that tell what happens are written by breakersim run --format html,svg.</p>
<ul>
{{- range .Entries}}
<li><a href="{{.Href}}">{{if .Picture}}<img src="{{.Picture}}" alt="" loading="lazy">{{end}}<strong>{{.Text}}</strong></a></li>
{{- end}}
</ul>
</main>
</body>
</html>
`))

// sharedFragment is the scenario as the playground reads it from a link.
func sharedFragment(source []byte) string {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	_, _ = w.Write(source) // a Buffer takes everything
	_ = w.Close()
	return "s=" + base64.RawURLEncoding.EncodeToString(packed.Bytes())
}
