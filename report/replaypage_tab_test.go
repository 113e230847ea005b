package report_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// replayed is the page of a scenario.
func replayed(t testing.TB, source string) *report.ReplayPage {
	t.Helper()
	s, err := scenarios.Load("scenario.yaml", []byte(source), scenarios.DefaultLimits())
	require.NoError(t, err)
	p := &report.ReplayPage{Title: s.Title, About: s.About}
	for i := range s.Policies {
		steps := new(report.Steps)
		_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{steps}})
		require.NoError(t, err)
		p.Runs = append(p.Runs, steps)
	}
	return p
}

func builtin(t testing.TB, name string) *report.ReplayPage {
	t.Helper()
	src, ok := scenarios.Source(name)
	require.True(t, ok)
	return replayed(t, string(src))
}

func htmlOf(t testing.TB, p *report.ReplayPage) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, p.WriteHTML(&b))
	return b.String()
}

// replayTab is a browser's tab with a page, opened from its file. What it asks
// of others, and what the console has against it, fails the test at its end.
type replayTab struct {
	*browser
	t    testing.TB
	page *report.ReplayPage
	url  string
	lock sync.Mutex
	bad  []string
}

func openReplay(t testing.TB, p *report.ReplayPage, fragment string) *replayTab {
	t.Helper()
	r := &replayTab{browser: openBrowser(t), t: t, page: p}
	require.NoError(t, chromedp.Listen(r.tab, r.hear))
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, []byte(htmlOf(t, p)), 0o666))
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	r.url = at.String()
	r.size(1280, 900)
	r.open(fragment)
	t.Cleanup(func() {
		r.lock.Lock()
		defer r.lock.Unlock()
		assert.Empty(t, r.bad)
	})
	return r
}

// hear notes what must not be.
func (r *replayTab) hear(event any) {
	r.lock.Lock()
	defer r.lock.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != r.url && !strings.HasPrefix(u, "data:") {
			r.bad = append(r.bad, "request of "+u)
		}
	case *runtime.EventConsoleAPICalled:
		r.bad = append(r.bad, fmt.Sprint("console: ", e.Type))
	case *runtime.EventExceptionThrown:
		r.bad = append(r.bad, "exception: "+e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		r.bad = append(r.bad, "log: "+e.Entry.Text)
	}
}

// open opens the page anew.
func (r *replayTab) open(fragment string) {
	r.t.Helper()
	require.NoError(r.t, chromedp.Do(r.tab, chromedp.Navigate("about:blank"), chromedp.Navigate(r.url+fragment)))
	r.settle()
	assert.Equal(r.t, "yes", evaluate[string](r, `document.body.dataset.ready`))
}

func (r *replayTab) size(w, h int64) {
	r.t.Helper()
	require.NoError(r.t, chromedp.Do(r.tab, chromedp.EmulateViewport(w, h)))
}

// prefer sets what the reader prefers, such as dark pages.
func (r *replayTab) prefer(media, scheme string) {
	r.t.Helper()
	p := emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	_, err := chromedp.Call(r.tab, emulation.SetEmulatedMedia, p)
	require.NoError(r.t, err)
}

// settle waits until what was asked for is drawn.
func (r *replayTab) settle() {
	r.t.Helper()
	_, err := chromedp.Run(r.tab, chromedp.Evaluate[bool](`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, chromedp.EvalAwaitPromise))
	require.NoError(r.t, err)
}

// press presses keys, one after another.
func (r *replayTab) press(keys string) {
	r.t.Helper()
	require.NoError(r.t, chromedp.Do(r.tab, chromedp.KeyEvent(keys)))
	r.settle()
}

// mouse is one thing that a mouse does at a point of the page.
func (r *replayTab) mouse(what input.DispatchMouseEventType, x, y float64) {
	r.t.Helper()
	require.NoError(r.t, chromedp.Do(r.tab, chromedp.MouseEvent(what, x, y, chromedp.ButtonType(input.MouseButtonLeft), chromedp.ClickCount(1))))
	r.settle()
}

func evaluate[T any](r *replayTab, expression string) T {
	r.t.Helper()
	v, err := chromedp.Run(r.tab, chromedp.Evaluate[T](expression))
	require.NoError(r.t, err)
	return v
}

// pageShown is what a reader sees.
type pageShown struct {
	T         int64
	Step      int
	Clock     string
	Say       string
	Live      string
	Playing   bool
	Listed    int    // rows in the page
	Selected  string // in the list
	HeadAt    string // what a screen reader is told of the playhead
	Cards     []cardShown
	Overflows bool // the page can be scrolled sideways
}

type cardShown struct {
	Policy, State, Since, Lit, Move, Label string
	Fields                                 map[string]string
}

const lookAtPage = `({
	T: +document.body.dataset.t, Step: +document.body.dataset.step, Clock: clock.textContent, Say: say.textContent, Live: say.getAttribute('aria-live') ?? '',
	Playing: play.dataset.on == 'yes', Listed: document.querySelectorAll('.row:not([hidden])').length,
	Selected: document.querySelector('.row[aria-selected=true]:not([hidden])')?.textContent ?? '', HeadAt: head.getAttribute('aria-valuetext'),
	Overflows: document.documentElement.scrollWidth > document.documentElement.clientWidth,
	Cards: [...document.querySelectorAll('.card')].map(c => ({
		Policy: c.dataset.policy, State: c.querySelector('.state b')?.textContent ?? '', Since: c.querySelector('.state span')?.textContent ?? '',
		Lit: [...c.querySelectorAll('[data-state].on')].map(g => g.dataset.state).join(), Move: [...c.querySelectorAll('[data-move].on')].map(g => g.dataset.move).join(),
		Label: c.querySelector('.diagram')?.getAttribute('aria-label') ?? '',
		Fields: Object.fromEntries([...c.querySelectorAll('dd')].map(d => [d.dataset.field, d.textContent])),
	})),
})`

func (r *replayTab) look() pageShown {
	r.t.Helper()
	return evaluate[pageShown](r, lookAtPage)
}
