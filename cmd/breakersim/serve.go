package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"
)

type serveCmd struct {
	limits
	Addr string   `placeholder:"HOST:PORT" help:"Where to listen (127.0.0.1, at a port that is free). Anything but a loopback address is for others to see."`
	What []string `arg:"" optional:"" name:"what" predictor:"scenario" help:"A folder that run has written (outputs), or scenarios to play, again whenever their files change."`
}

// Run serves until it is told to end, as every command is.
func (c *serveCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	site, err := openSite(c.What, lim, s)
	if err != nil {
		return err
	}
	l, err := listenAt(c.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	g := &guard{handler: site.handler(), name: hostOf(c.Addr), others: !at.Addr().IsLoopback()}
	if g.others {
		fmt.Fprintln(s.err, "everybody who can reach this machine can read what is served")
	}
	if _, err := fmt.Fprintf(s.out, "%s: http://%s/ (Ctrl-C ends it)\n", site.about, at); err != nil {
		return err
	}
	go site.watch(context.Background())
	server := http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
	return server.Serve(l)
}

// listenAt opens a port on the loopback, or the address that is asked for.
func listenAt(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", cmp.Or(addr, "127.0.0.1:0"))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, wrong{fmt.Errorf("--addr %s is taken by another program; choose another port, or leave --addr out and a free one is found", addr)}
	case err != nil && addr != "":
		return nil, wrong{fmt.Errorf("--addr %s: one cannot listen there (%w); write it like 127.0.0.1:8080", addr, err)}
	}
	return l, err
}

// guard lets through what a browser may ask of this server, and says what pages
// may do.
type guard struct {
	handler http.Handler
	name    string // by which the user wants it to be called, if any
	others  bool   // it listens beyond the loopback
}

// contentPolicy is what pages may load: what comes from here. The simulator is
// compiled, which no text of a scenario can be.
const contentPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'%s; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", fmt.Sprintf(contentPolicy, ""))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	switch {
	case !g.knows(r.Host):
		http.Error(w, "this server is not called so; use the address that breakersim printed", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "there is nothing here but to read", http.StatusMethodNotAllowed)
	default:
		g.handler.ServeHTTP(w, r)
	}
}

// knows says whether the server is called so. A site that has its own name point
// here, to read what is served, is refused: it is called by that name.
func (g *guard) knows(host string) bool {
	name := hostOf(host)
	if name == "localhost" || g.name != "" && strings.EqualFold(name, g.name) {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && (g.others || ip.IsLoopback())
}

// hostOf is the host of an address without its port and brackets.
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return strings.Trim(addr, "[]")
}

// plainFolder says whether dir is a folder without scenarios.
func plainFolder(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = directory(dir)
	return err != nil
}
