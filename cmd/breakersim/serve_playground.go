package main

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// servedPlayground serves the folder playground, if there is one, and otherwise
// the page as this program has it: then the simulator is compiled when somebody
// first asks for it.
type servedPlayground struct {
	root *os.Root // may be nil
}

// Both are made once for the process, whoever serves them.
var (
	staticOnce   = sync.OnceValues(playgroundStatic)
	compiledOnce = sync.OnceValues(compilePlayground)
)

func (p *servedPlayground) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/playground/")
	if name == "" {
		name = "index.html"
	}
	if strings.Contains(name, "/") || hidden(name) {
		http.NotFound(w, r)
		return
	}
	b, err := p.file(name)
	if err == nil && name == wasmFile && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if z, err := p.file(name + ".gz"); err == nil && z != nil {
			b = z
			w.Header().Set("Content-Encoding", "gzip")
		}
		w.Header().Set("Vary", "Accept-Encoding")
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case b == nil:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", mediaType(name))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
	}
}

// file is one of the playground's; nil if there is none of that name.
func (p *servedPlayground) file(name string) ([]byte, error) {
	if p.root != nil {
		if _, err := p.root.Stat("playground/" + wasmFile); err == nil {
			b, err := p.root.ReadFile("playground/" + name)
			if err != nil {
				return nil, nil
			}
			return b, nil
		}
	}
	files, err := staticOnce()
	if slices.Contains([]string{wasmFile, wasmFile + ".gz", wasmExecFile}, name) {
		files, err = compiledOnce()
	}
	for _, f := range files {
		if f.name == name {
			return f.content, err
		}
	}
	return nil, err
}
