package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// bulletin tells open pages that there is something new.
type bulletin struct {
	sync.Mutex
	version int64
	trouble string        // what is wrong with the files as they are; empty: nothing
	changed chan struct{} // closed when there are further news
}

// newBulletin begins with the time, so that pages which outlive a server notice.
func newBulletin() *bulletin {
	return &bulletin{version: time.Now().UnixNano(), changed: make(chan struct{})}
}

// tell is called when something has changed: with what is wrong, or nil.
func (n *bulletin) tell(err error) {
	n.Lock()
	defer n.Unlock()
	if err != nil {
		n.trouble = strings.TrimSpace(err.Error())
	} else {
		n.version++
		n.trouble = ""
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// latest is the news as one message, and what to wait for.
func (n *bulletin) latest() (message []byte, changed <-chan struct{}) {
	n.Lock()
	defer n.Unlock()
	message, _ = json.Marshal(map[string]any{"version": fmt.Sprint(n.version), "trouble": n.trouble}) // of strings: it can
	return message, n.changed
}

// serve sends the news, and further ones as they come, until the page is closed.
func (n *bulletin) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for {
		message, changed := n.latest()
		if _, err := fmt.Fprintf(w, "data: %s\n\n", message); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

//go:embed serve_reload.js
var reloadScript []byte

// serveReload is the script that listens to the news in pages.
func serveReload(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write(reloadScript)
}
