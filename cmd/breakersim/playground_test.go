package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/lab"
	"github.com/breakersim/breakersim/scenarios"
)

// tab is a page in a browser, and what it complained about and asked for.
type tab struct {
	context.Context
	t          *testing.T
	lock       sync.Mutex
	complaints []string
	asked      []string
}

// newTab opens an empty page. Where there is no browser the test is skipped,
// but not in CI.
func newTab(t *testing.T) *tab {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		require.Empty(t, os.Getenv("CI"), "CI has a browser")
		t.Skip("this machine has no chromium or chrome")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	process, kill := chromedp.NewExecAllocator(t.Context(), options...)
	page, done := chromedp.NewContext(process)
	t.Cleanup(func() { done(); kill() })
	x := &tab{Context: page, t: t}
	require.NoError(t, chromedp.Listen(page, x.hear))
	_, err := chromedp.Call(page, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	return x
}

func (x *tab) hear(event any) {
	x.lock.Lock()
	defer x.lock.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			x.complaints = append(x.complaints, fmt.Sprintf("console: %s %s", a.Value, a.Description))
		}
	case *runtime.EventExceptionThrown:
		x.complaints = append(x.complaints, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		x.complaints = append(x.complaints, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		x.asked = append(x.asked, e.Request.URL)
	}
}

// isQuiet says that nothing was complained about, and nothing asked of others.
func (x *tab) isQuiet(server string) {
	x.t.Helper()
	x.lock.Lock()
	defer x.lock.Unlock()
	assert.Empty(x.t, x.complaints)
	assert.NotEmpty(x.t, x.asked)
	for _, a := range x.asked {
		own := strings.HasPrefix(a, server+"/") || strings.HasPrefix(a, "blob:"+server+"/") || strings.HasPrefix(a, "data:")
		assert.True(x.t, own, a)
	}
}

func (x *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	x.t.Helper()
	require.NoError(x.t, chromedp.Do(x, steps...))
}

// value is that of a JavaScript expression, or of its promise.
func value[T any](x *tab, expression string) T {
	x.t.Helper()
	v, err := chromedp.Run(x, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(x.t, err, expression)
	return v
}

// until waits for a JavaScript expression to be true.
func (x *tab) until(expression string) {
	x.t.Helper()
	for start := time.Now(); !value[bool](x, "!!("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			x.t.Fatalf("never: %s; the page says: %s", expression, value[string](x, "document.body.innerText"))
		}
	}
}

// types replaces what stands in the editor, as a user does.
func (x *tab) types(text string) {
	x.t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(x.t, err)
	value[bool](x, `(() => {
		const t = document.getElementById('text')
		t.value = `+string(quoted)+`
		return t.dispatchEvent(new Event('input', {bubbles: true}))
	})()`)
}

const (
	settled   = `document.getElementById('status').textContent.startsWith('Played') && document.getElementById('picture').complete`
	pictureIs = `document.getElementById('picture').src`
	editorIs  = `document.getElementById('text').value`
	statusIs  = `document.getElementById('status').textContent`
	narrowest = 390
)

// served is the address of a site of its own.
func served(t *testing.T, what ...string) string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir()) // what the program removes as it ends
	x, err := openSite(what, scenarios.DefaultLimits(), streams{width: 80})
	require.NoError(t, err)
	go x.watch(t.Context())
	s := httptest.NewServer(&guard{handler: x.handler()})
	t.Cleanup(s.Close)
	return s.URL
}

func playgroundTab(t *testing.T, fragment string) (x *tab, server string) {
	t.Helper()
	x = newTab(t) // before anything is compiled for nothing
	_, err := compiledOnce()
	require.NoError(t, err)
	server = served(t, t.TempDir())
	x.do(chromedp.Navigate(server + "/playground/" + fragment))
	return x, server
}

// TestPlayground uses it as a reader does.
func TestPlayground(t *testing.T) {
	x, server := playgroundTab(t, "")
	x.until(settled)
	started := value[float64](x, "performance.now()")
	t.Logf("the first picture is there after %.0f ms", started)

	t.Run("what is typed is played", func(t *testing.T) {
		before := value[string](x, pictureIs)
		x.types(strings.Replace(value[string](x, editorIs), "title: A vanished", "title: <script>document.title = 'x'</script> A vanished", 1))
		x.until(settled + ` && ` + pictureIs + ` !== '` + before + `'`)
		assert.Contains(t, value[string](x, "document.querySelector('#told h2').textContent"), "<script>document.title", "it is text")
		assert.Equal(t, "Playground: circuit breakers", value[string](x, "document.title"))
		assert.Zero(t, value[int](x, "document.querySelectorAll('#told script').length"))
	})

	t.Run("what is wrong is told as the program does", func(t *testing.T) {
		good := value[string](x, editorIs)
		bad := strings.Replace(good, "  - {at: 2s, to: search}", "  - {at: 2s, to: serach}", 1)
		_, err := scenarios.Load("x", []byte(bad), scenarios.DefaultLimits())
		var faults *scenarios.Faults
		require.ErrorAs(t, err, &faults)
		f := faults.Faults[0]
		require.Contains(t, f.Message, `did you mean "search"?`)
		x.types(bad)
		x.until(`document.querySelector('#faults button')`)
		assert.Equal(t, fmt.Sprintf("Line %d, column %d: %s", f.Line, f.Column, f.Message), value[string](x, "document.querySelector('#faults button').textContent"))
		assert.Equal(t, fmt.Sprintf("Line %d: %s", f.Line, f.Message), value[string](x, statusIs))
		assert.Equal(t, "✗ "+f.Message, value[string](x, "document.querySelector('#marks span').textContent"))
		x.do(chromedp.Click("#faults button"))
		assert.Equal(t, "serach", value[string](x, "document.getElementById('text').value.slice(document.getElementById('text').selectionStart, document.getElementById('text').selectionEnd)"))
		x.types(good)
		x.until(settled)
		assert.Zero(t, value[int](x, "document.querySelectorAll('#faults button').length"))
	})

	t.Run("its files are those of the program", func(t *testing.T) {
		src, _ := scenarios.Source("vanished-probe")
		var l lab.Lab
		png, err := l.PNG(string(src), "timeline", 1)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(png)), value[string](x, `playground.simulator.call('png', `+quotedForScript(t, string(src))+`, 'timeline', 1)
			.then(b => crypto.subtle.digest('SHA-256', b)).then(b => new Uint8Array(b).toHex())`))
		assert.Equal(t, l.Run(string(src), "timeline").Picture.SVG, value[string](x, `playground.simulator.call('run', `+quotedForScript(t, string(src))+`, 'timeline')
			.then(s => JSON.parse(s).picture.svg)`))
	})

	t.Run("a slider changes the text and keeps its comments", func(t *testing.T) {
		x.types("# mine\nscenario: small\ntargets: {s: {outcome: failure}}\nbreakers:\n  s: {kind: tool, recovery_duration: 30s} # why\ncallers: [{to: s, every: 1s, until: 1m}]\n")
		x.until(settled + ` && document.querySelector('#told h2').textContent === 'small'`)
		x.do(chromedp.Focus(`[id="knob-breakers.s.recovery_duration"]`), chromedp.KeyEvent(kb.ArrowLeft)) // one to the left
		x.until(editorIs + `.includes('recovery_duration: 20s')`)
		assert.Contains(t, value[string](x, editorIs), "# mine\n")
		assert.Contains(t, value[string](x, editorIs), "20s} # why\n")
		x.until(settled)
		assert.Equal(t, "20 s", value[string](x, `document.activeElement.getAttribute('aria-valuetext')`))
	})

	t.Run("a link restores the scenario", func(t *testing.T) {
		text := value[string](x, editorIs)
		x.do(chromedp.Click("#share"))
		x.until(`location.hash.startsWith('#s=')`)
		link := value[string](x, "location.href")
		x.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
		x.until(settled)
		assert.Equal(t, text, value[string](x, editorIs))
		x.do(chromedp.Navigate(server + "/playground/#" + sharedFragment([]byte(text+"# by the program\n"))))
		x.until(editorIs + `.endsWith('# by the program\n')`)
	})

	t.Run("a long run can be stopped", func(t *testing.T) {
		x.types("scenario: long\ntargets: {s: {latency: 1s}}\ncallers: [{to: s, rate: 200/s, until: 1h}]\n")
		x.until(`!document.getElementById('stop').hidden`)
		x.do(chromedp.Click("#stop"))
		x.until(statusIs + ` === 'Stopped.'`)
	})

	t.Run("another scenario can be chosen while one plays", func(t *testing.T) {
		value[string](x, "location.hash = 'library=morning-ramp'")
		x.until(editorIs + `.startsWith('scenario: morning-ramp')`)
		value[string](x, "location.hash = 'library=flaky-backups'")
		x.until(settled + ` && document.querySelector('#told h2').textContent.startsWith('Flaky backups')`)
	})

	t.Run("it fits a phone", func(t *testing.T) {
		x.do(chromedp.EmulateViewport(narrowest, 844))
		assert.LessOrEqual(t, value[int](x, "document.documentElement.scrollWidth"), narrowest)
	})
	x.isQuiet(server)
}

// TestLinksThatAreBroken: what cannot be read is told, and nothing grows without
// bounds.
func TestLinksThatAreBroken(t *testing.T) {
	x, server := playgroundTab(t, "#s=AAAA")
	x.until(statusIs + `.startsWith('The scenario in the link cannot be read')`)
	random := rand.New(rand.NewPCG(1, 2))
	good := sharedFragment([]byte("scenario: x\n# é漢😀\n"))
	fragments := []string{"", "s=", "s=%", "s=a", "t=AAAA", "s=<script>", sharedFragment(bytes.Repeat([]byte{0}, 2<<20)), sharedFragment([]byte{0xff, 0xfe}), "s=" + strings.Repeat("A", 1<<19)}
	for range 300 {
		b := []byte(good)
		for range 1 + random.IntN(4) {
			b[2+random.IntN(len(b)-2)] = "ABCabc019-_"[random.IntN(11)]
		}
		fragments = append(fragments, string(b[:len(b)-random.IntN(5)]))
	}
	list, err := json.Marshal(fragments)
	require.NoError(t, err)
	outcomes := value[[]string](x, `(async () => {
		const all = []
		for (const f of `+string(list)+`) all.push(await playground.unpack(f).then(text => text.length <= 1 << 20 ? 'text' : 'too long', e => e.message))
		return all
	})()`)
	require.Len(t, outcomes, len(fragments))
	for i, o := range outcomes {
		assert.True(t, i >= 9 && o == "text" || strings.HasPrefix(o, "The "), "%s: %s", fragments[i], o)
	}
	assert.Equal(t, "scenario: x\n# é漢😀\n", value[string](x, `playground.unpack(`+fmt.Sprintf("%q", good)+`)`))
	x.isQuiet(server)
}

// TestBrowserPlaysAsWeDo: the trace of every built-in scenario is the same, byte
// for byte, under every policy.
func TestBrowserPlaysAsWeDo(t *testing.T) {
	x, server := playgroundTab(t, "")
	x.until(settled)
	for i, name := range scenarios.Names() {
		if testing.Short() && i%9 > 0 {
			continue
		}
		s, err := loadOne(name, nil, scenarios.DefaultLimits())
		require.NoError(t, err)
		src, _ := scenarios.Source(name)
		for k := range s.Policies {
			policy := s.Policies[k].Name
			sum := sha256.New()
			require.Equal(t, exitDone, run([]string{"trace", "--policy", policy, name}, streams{out: sum, err: os.Stderr}))
			assert.Equal(t, fmt.Sprintf("%x", sum.Sum(nil)), value[string](x, fmt.Sprintf(`(async () => {
				const bytes = await playground.simulator.call('trace', %s, %s)
				return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
			})()`, quotedForScript(t, string(src)), quotedForScript(t, policy))), "%s under %s", name, policy)
		}
	}
	x.isQuiet(server)
}

func quotedForScript(t *testing.T, s string) string {
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}

// TestServeReloads: a page is loaded again when its scenario was saved, and tells
// what is wrong with it.
func TestServeReloads(t *testing.T) {
	x := newTab(t)
	file := t.TempDir() + "/mine.yaml"
	save := func(title string) {
		text := "scenario: mine\ntitle: " + title + "\ntargets: {s: {}}\ncalls: [{at: 1s, to: s}]\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
	}
	save("'<img src=x onerror=alert(1)> \"first\"'")
	server := served(t, file)
	x.do(chromedp.Navigate(server))
	const heading = `document.querySelector('h1')?.textContent`
	x.until(heading + ` === '<img src=x onerror=alert(1)> "first"'`)
	assert.Equal(t, server+"/mine/", value[string](x, "location.href"))
	save("second")
	x.until(heading + ` === 'second'`)
	save("[third")
	x.until(`document.querySelector('[role=alert]')?.textContent.includes('mine.yaml:3:1: this is not YAML')`)
	assert.Equal(t, "second", value[string](x, heading), "the page stays")
	save("fourth")
	x.until(heading + ` === 'fourth' && !document.querySelector('[role=alert]')`)
	x.isQuiet(server)
}

// TestPlaygroundIsTheSameEachTime, and says where nothing can be compiled.
func TestPlaygroundIsTheSameEachTime(t *testing.T) {
	first, err := compiledOnce()
	require.NoError(t, err)
	again, err := compilePlayground()
	require.NoError(t, err)
	for i := range first {
		assert.Equal(t, first[i].name, again[i].name)
		assert.True(t, bytes.Equal(first[i].content, again[i].content), first[i].name)
	}
	t.Logf("%s has %d bytes, %d of them compressed", first[0].name, len(first[0].content), len(first[1].content))
	assert.Less(t, len(first[1].content), 8<<20)
}
