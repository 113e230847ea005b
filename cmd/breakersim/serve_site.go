package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// site is what is served: a folder, and the playground.
type site struct {
	about string
	root  *os.Root // nil: there is only the playground
	news  *bulletin
	stamp func() string // differs when there is something new
	again func() error  // what is to be done then
	lock  sync.RWMutex
	front string            // the only page; empty: there are several
	links map[string]string // of a scenario that was played, by name: its fragment in the playground
}

// openSite finds out what is to be served.
func openSite(what []string, lim scenarios.Limits, s streams) (*site, error) {
	x := &site{news: newBulletin(), links: map[string]string{}}
	switch {
	case len(what) == 0 && !exists("outputs"):
		x.about, x.stamp, x.again = "the playground; there is no folder outputs yet, which breakersim run --format html writes", func() string { return "" }, func() error { return nil }
		return x, nil
	case len(what) == 0:
		return x, x.folder("outputs")
	case len(what) == 1 && plainFolder(what[0]):
		return x, x.folder(what[0])
	}
	return x, x.scenarios(what, lim, s)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// folder serves what is in dir.
func (x *site) folder(dir string) (err error) {
	x.about, x.again = dir, func() error { return nil }
	x.stamp = func() string { return stampOf(dir, 2) }
	x.root, err = os.OpenRoot(dir)
	return err
}

// scenarios plays them into a folder that is gone in the end, and again when
// one of their files changes.
func (x *site) scenarios(what []string, lim scenarios.Limits, s streams) error {
	for _, w := range what {
		if w == "-" {
			return wrong{errors.New("standard input cannot be read again; serve a file")}
		}
	}
	dir, err := makeTemporary()
	if err != nil {
		return err
	}
	p := &player{what: what, limits: lim, streams: s, dir: dir, site: x, played: map[string]playedSource{}}
	if err := p.play(); err != nil {
		return err
	}
	x.about, x.stamp, x.again = strings.Join(what, ", "), p.stamp, p.play
	x.root, err = os.OpenRoot(dir)
	return err
}

// player keeps a folder as the scenarios are.
type player struct {
	what    []string
	limits  scenarios.Limits
	streams streams
	dir     string
	site    *site
	played  map[string]playedSource // by file
}

type playedSource struct {
	source string
	entry  report.GalleryEntry
}

// stamp differs when a file has changed, has come, or is gone.
func (p *player) stamp() string {
	var b strings.Builder
	for _, w := range p.what {
		b.WriteString(stampOf(w, 1))
	}
	return b.String()
}

// play plays what has changed. What is wrong is told, and the pages stay.
func (p *player) play() error {
	all, err := loadVariants(p.what, nil, p.limits, nil)
	if err != nil {
		return err
	}
	run := runCmd{Out: p.dir, pictures: pictures{Format: []string{"html", "svg"}, Scale: 1}}
	turns := make(slots, runtime.GOMAXPROCS(0))
	var entries []report.GalleryEntry
	for i := range all {
		l := &all[i]
		if before, ok := p.played[l.File]; !ok || before.source != string(l.source) {
			done := run.play(l, p.streams, turns, len(all) > 1)
			if done.err != nil && !errors.Is(done.err, errExpectation) {
				return done.err
			}
			p.played[l.File] = playedSource{string(l.source), done.entry}
			p.site.lead(l.Name, sharedFragment(l.source))
		}
		entries = append(entries, p.played[l.File].entry)
	}
	if len(entries) == 1 {
		p.site.begin(entries[0].Name + "/")
		return nil
	}
	p.site.begin("")
	return writeGallery(filepath.Join(p.dir, "index.html"), entries)
}

// lead remembers how the playground gets the scenario.
func (x *site) lead(name, fragment string) {
	x.lock.Lock()
	defer x.lock.Unlock()
	x.links[name] = fragment
}

// begin says which page is the only one.
func (x *site) begin(front string) {
	x.lock.Lock()
	defer x.lock.Unlock()
	x.front = front
}

// watch looks for what is new until the context ends.
func (x *site) watch(ctx context.Context) {
	const pause = 300 * time.Millisecond
	last := x.stamp()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if now := x.stamp(); now != last {
			last = now
			x.news.tell(x.again())
		}
	}
}

// stampOf tells names, sizes and times of what is below path, so many levels deep.
func stampOf(path string, levels int) string {
	info, err := os.Stat(path)
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
	if !info.IsDir() || levels < 0 {
		return s
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			s += stampOf(filepath.Join(path, e.Name()), levels-1)
		}
	}
	return s
}

// handler answers for everything that is served.
func (x *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/events", x.news.serve)
	mux.HandleFunc("GET /-/reload.js", serveReload)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("GET /playground/", &servedPlayground{root: x.root})
	mux.HandleFunc("GET /", x.serve)
	return mux
}
