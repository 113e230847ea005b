package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

// fenced is a site with a folder around which there is what nobody may read.
func fenced(t testing.TB) http.Handler {
	t.Helper()
	outside := t.TempDir()
	dir := filepath.Join(outside, "served")
	for name, content := range map[string]string{
		"secret.txt": "SECRET", "served/.git/config": "SECRET", "served/.env": "SECRET", "served/a/.hidden/x.txt": "SECRET",
		"served/x.txt": "open", "served/a/index.html": "<body>\n<h1>page</h1></body>", "served/<img src=x onerror=alert(1)>/y.txt": "open",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(outside, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(outside, name), []byte(content), 0o666))
	}
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "way-out.txt")))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "up")))
	x, err := openSite([]string{dir}, scenarios.DefaultLimits(), streams{})
	require.NoError(t, err)
	return &guard{handler: x.handler()}
}

// ask asks for a path as it is, which no client would send.
func ask(h http.Handler, method, host, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, &http.Request{Method: method, Host: host, URL: &url.URL{Path: path}, Header: http.Header{}})
	return w
}

const thisHost = "127.0.0.1:8080"

func TestServedFiles(t *testing.T) {
	h := fenced(t)
	for _, x := range []struct {
		path   string
		status int
		says   string
	}{
		{"/x.txt", 200, "open"},
		{"/a/", 200, "<body>\n<nav aria-label=\"breakersim serve\""},
		{"/a", 301, ""},
		{"/", 200, `<a href="x.txt">`},
		{"/", 200, `<strong>&lt;img src=x onerror=alert(1)&gt;</strong>`},
		{"/.env", 404, ""},
		{"/.git/config", 404, ""},
		{"/a/.hidden/x.txt", 404, ""},
		{"/way-out.txt", 404, ""},
		{"/up/secret.txt", 404, ""},
		{"/none", 404, ""},
		{"/x.txt/", 404, ""},
		{"/-/reload.js", 200, "EventSource"},
		{"/playground/", 200, "<h1>Playground</h1>"},
		{"/playground/library.json", 200, "vanished-probe"},
		{"/playground/none.js", 404, ""},
		{"/playground/../x.txt", 307, ""},
	} {
		w := ask(h, http.MethodGet, thisHost, x.path)
		assert.Equal(t, x.status, w.Code, x.path)
		assert.Contains(t, w.Body.String(), x.says, x.path)
	}
	root := ask(h, http.MethodGet, thisHost, "/").Body.String()
	assert.NotContains(t, root, "<img src=x")
	assert.NotContains(t, root, ".env")
}

func TestServedHeaders(t *testing.T) {
	h := fenced(t)
	for _, path := range []string{"/", "/x.txt", "/none", "/playground/", "/-/reload.js"} {
		head := ask(h, http.MethodGet, thisHost, path).Header()
		csp := head.Get("Content-Security-Policy")
		assert.Contains(t, csp, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval';", path)
		assert.NotContains(t, csp, " 'unsafe-eval'", path)
		assert.Equal(t, "nosniff", head.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "no-referrer", head.Get("Referrer-Policy"), path)
		assert.Equal(t, "DENY", head.Get("X-Frame-Options"), path)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, ask(h, http.MethodPost, thisHost, "/").Code)
	page := []byte("<script>one</script><script src=x.js></script><p>two</p><SCRIPT type=module>three</SCRIPT>")
	assert.Equal(t, " 'sha256-dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z/0Me0=' 'sha256-i1udsME9skJWyCmqNkqpDG0uujGLkjKkq5MTuVTTVV8='", scriptHashes(page))
}

func TestHosts(t *testing.T) {
	for _, x := range []struct {
		name   string
		others bool
		host   string
		knows  bool
	}{
		{"", false, "127.0.0.1:8080", true},
		{"", false, "localhost:8080", true},
		{"", false, "[::1]:8080", true},
		{"", false, "127.0.0.1", true},
		{"", false, "192.168.0.7:8080", false},
		{"", false, "evil.example", false},
		{"", false, "localhost.evil.example:8080", false},
		{"", false, "127.0.0.1.evil.example", false},
		{"", false, "fade.cafe", false},
		{"", false, "", false},
		{"", true, "192.168.0.7:8080", true},
		{"", true, "evil.example", false},
		{"box.lan", true, "BOX.lan:8080", true},
		{"box.lan", true, "other.lan:8080", false},
	} {
		g := guard{name: x.name, others: x.others, handler: http.NotFoundHandler()}
		want := http.StatusMisdirectedRequest
		if x.knows {
			want = http.StatusNotFound
		}
		assert.Equal(t, want, ask(&g, http.MethodGet, x.host, "/").Code, "%+v", x)
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	l, err := listenAt("")
	require.NoError(t, err)
	defer l.Close()
	addr := l.Addr().String()
	assert.True(t, strings.HasPrefix(addr, "127.0.0.1:"), addr)
	_, err = listenAt(addr)
	assert.ErrorContains(t, err, "--addr "+addr+" is taken by another program")
}

// FuzzServedPaths: no path leads to what is outside or hidden.
func FuzzServedPaths(f *testing.F) {
	for _, path := range []string{"/", "/x.txt", "//x.txt", "/../secret.txt", "/a/../../secret.txt", `/..\secret.txt`, "/up/secret.txt", "/way-out.txt", "/.env", "/./.env", "/a/%2e%2e/x", "/playground/../.env",
		"/playground/..", "/\x00", "/x.txt\x00", "x.txt", "", "/a//", "/-/../.git/config", "/C:/x", "/NUL"} {
		f.Add(path)
	}
	h := fenced(f)
	f.Fuzz(func(t *testing.T, path string) {
		if strings.Contains(path, "events") || strings.Contains(path, "wasm") {
			return // one does not end, the other compiles
		}
		w := ask(h, http.MethodGet, thisHost, path)
		assert.NotContains(t, w.Body.String(), "SECRET")
		assert.Contains(t, []int{200, 301, 302, 307, 308, 400, 404}, w.Code)
		if to := w.Header().Get("Location"); to != "" {
			u, err := url.Parse(to)
			require.NoError(t, err)
			assert.Empty(t, u.Host, "%s leads elsewhere", to)
		}
	})
}

// FuzzHosts: nobody who has a name of his own point here gets through.
func FuzzHosts(f *testing.F) {
	for _, host := range []string{"localhost", "127.0.0.1:1", "[::1]", "::1", "evil.example:80", "127.1", "0x7f000001", "[::ffff:127.0.0.1]:8", "[localhost]", "localhost:x", "a@localhost", "127.0.0.1:1:2"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if (&guard{}).knows(host) {
			assert.Regexp(t, `^\[?(localhost|[0-9a-fA-F.:]+(%.*)?)\]?(:[^:]*)?$`, host, "neither this machine's own name nor an address")
		}
	})
}

// TestServedGallery: several scenarios have a page that leads to each.
func TestServedGallery(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	x, err := openSite([]string{"vanished-probe", "sixth-failure"}, scenarios.DefaultLimits(), streams{width: 80})
	require.NoError(t, err)
	h := &guard{handler: x.handler()}
	root := ask(h, http.MethodGet, thisHost, "/")
	assert.Equal(t, http.StatusOK, root.Code)
	for _, name := range []string{"vanished-probe", "sixth-failure"} {
		assert.Contains(t, root.Body.String(), `<a href="`+name+`/index.html`)
		assert.Equal(t, http.StatusOK, ask(h, http.MethodGet, thisHost, "/"+name+"/index.html").Code)
	}
}
