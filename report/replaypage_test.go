package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// TestReplayShowsTheMoments opens the worked timeline of the tool breaker at five
// of its moments.
func TestReplayShowsTheMoments(t *testing.T) {
	r := openReplay(t, builtin(t, "vanished-probe"), "")
	const t7 = "half-open open T7"
	for _, m := range []struct {
		at, state, since, move                string
		failures, last, cooldown, lease, call string
	}{
		{"2500ms", "closed", "", "", "2 (opens at 3)", "–", "–", "–", "–"},
		{"3s", "open", " for 0 s", "closed open T3", "3 (opens at 3)", "3 s", "30 s, until 33 s", "–", "–"},
		{"40s", "half-open", " for 7 s", "open half-open T5", "3 (opens at 3)", "–", "–", "23 s, until 63 s", "call 5"},
		{"63s", "open", " for 0 s", t7, "3 (opens at 3)", "63 s", "30 s, until 93 s", "–", "–"}, // noticed at 80 s
		{"1m10s", "open", " for 7 s", t7, "3 (opens at 3)", "63 s", "23 s, until 93 s", "–", "–"},
		{"94s", "open", " for 31 s", t7, "3 (opens at 3)", "63 s", "over since 93 s: the next call is the probe", "–", "–"},
		{"110s", "closed", " for 14.8 s", "half-open closed T8", "0 (opens at 3)", "–", "–", "–", "–"},
	} {
		r.open("#t=" + m.at)
		s := r.look()
		d, err := time.ParseDuration(m.at)
		require.NoError(t, err)
		assert.Equal(t, int64(d), s.T)
		require.Len(t, s.Cards, 1)
		c := s.Cards[0]
		c.Label = ""
		assert.Equal(t, cardShown{Policy: "breaker", State: m.state, Since: m.since, Lit: m.state, Move: m.move, Fields: map[string]string{
			"consecutive_failures": m.failures, "last_failure_time": m.last, "cooldown-left": m.cooldown, "lease-left": m.lease, "probe": m.call}}, c, m.at)
	}
	s := r.look()
	assert.Equal(t, "110 s", s.Clock)
	assert.Equal(t, "States of search. Now closed; it came from half-open to closed by T8", s.Cards[0].Label)
}

// TestReplayFollowsTheTrace steps through runs with keys, and holds what the page
// shows against the counters of the steps: of every policy, at the same instant.
func TestReplayFollowsTheTrace(t *testing.T) {
	for _, name := range []string{"vanished-probe", "fallback-exhausted", "five-minute-outage", "guard-inside-guard"} {
		t.Run(name, func(t *testing.T) {
			p := builtin(t, name)
			r := openReplay(t, p, "")
			chosen := p.Runs[0]
			for _, s := range p.Runs {
				if len(chosen.Breakers) == 0 && len(s.Breakers) > 0 {
					chosen = s
				}
			}
			for _, keys := range []string{"]", "]", kb.ArrowRight + kb.ArrowRight, "[", kb.End, "["} {
				r.press(keys)
				s := r.look()
				assert.Equal(t, int64(chosen.All[s.Step].At), s.T)
				require.Len(t, s.Cards, len(p.Runs))
				for i, c := range s.Cards {
					step := s.Step
					if p.Runs[i] != chosen {
						step = lastUpTo(p.Runs[i], time.Duration(s.T))
					}
					compareCard(t, p.Runs[i], chosen.Breakers[0].Name, step, c)
				}
			}
		})
	}
}

func lastUpTo(s *report.Steps, t time.Duration) int {
	i := len(s.All) - 1
	for s.All[i].At > t {
		i--
	}
	return i
}

func compareCard(t *testing.T, s *report.Steps, breaker string, step int, c cardShown) {
	t.Helper()
	assert.Equal(t, s.History.Run.Policy, c.Policy)
	for _, b := range s.Breakers {
		if b.Name != breaker {
			continue
		}
		n := b.At(step)
		assert.Equal(t, n.State, c.State)
		assert.Equal(t, n.State, c.Lit)
		assert.Equal(t, fmt.Sprint(n.Failures), strings.Fields(c.Fields["consecutive_failures"])[0])
		if b.Model != nil {
			assert.Equal(t, n.Serves, strings.Replace(c.Fields["serves"], "nobody: every backup is spent", "", 1))
			for _, e := range n.Chain {
				assert.Contains(t, c.Fields["chain-"+e.Name], fmt.Sprintf("%d of %d strike", e.Count, e.Of))
			}
		}
		return
	}
	assert.Empty(t, c.State)
}

// TestReplayKeys presses every key that there is.
func TestReplayKeys(t *testing.T) {
	r := openReplay(t, builtin(t, "vanished-probe"), "")
	at := func(keys string) string {
		r.press(keys)
		return r.look().Clock
	}
	assert.Equal(t, "120 s", at(kb.End))
	assert.Equal(t, "0 s", at(kb.Home))
	assert.Equal(t, "3 s", at("]"))
	assert.Equal(t, "33 s", at("]"))
	assert.Equal(t, "3 s", at("["))
	s := r.look()
	assert.Equal(t, "3 s search: closed → open; the 3rd failure in a row (call 3) (T3). search is open.", s.Say)
	assert.Equal(t, "3 ssearch: closed → openT3the 3rd failure in a row (call 3)", s.Selected)
	assert.Equal(t, "3 s: search: closed → open", s.HeadAt)
	assert.Equal(t, "polite", s.Live)
	assert.Equal(t, "25 s", at(kb.ArrowRight))
	assert.Equal(t, "25 s search: up. search is open.", r.look().Say)
	assert.Equal(t, "32.999 s", at(kb.ArrowRight))
	assert.Equal(t, "32.999 s call 4 is refused; the cooldown runs until 33 s (T4). search is open.", r.look().Say)

	shown := evaluate[string](r, `count.textContent`)
	r.press("a")
	assert.Equal(t, "38 events", evaluate[string](r, `count.textContent`))
	r.press("a")
	assert.Equal(t, shown, evaluate[string](r, `count.textContent`))

	wide := evaluate[float64](r, `strip.clientWidth`)
	r.press("+")
	assert.InDelta(t, 2*wide, evaluate[float64](r, `strip.clientWidth`), 2)
	r.press("-")
	assert.InDelta(t, wide, evaluate[float64](r, `strip.clientWidth`), 2)

	r.press(kb.Home + " ")
	s = r.look()
	assert.True(t, s.Playing)
	assert.Equal(t, "off", s.Live, "who listens is not told each frame")
	_, err := chromedp.Run(r.tab, chromedp.Poll[bool](`+document.body.dataset.t > 1e9`))
	require.NoError(t, err)
	r.press(" ")
	s = r.look()
	assert.False(t, s.Playing)
	r.settle()
	assert.Equal(t, s.T, r.look().T)

	r.press("?")
	assert.True(t, evaluate[bool](r, `keys.open`))
	r.press(kb.Escape)
	assert.False(t, evaluate[bool](r, `keys.open`))
}

// TestReplayDrags drags the playhead across the timeline, clicks on an event, and
// finds the moment in the address.
func TestReplayDrags(t *testing.T) {
	r := openReplay(t, builtin(t, "vanished-probe"), "")
	x := func(seconds float64) float64 {
		const at = `(() => { const b = strip.getBoundingClientRect(), d = document.querySelector('.picture').dataset; return [b.left + b.width * d.left / 100, b.width * (d.right - d.left) / 100, b.top + 60] })()`
		v := evaluate[[]float64](r, at)
		return v[0] + v[1]*seconds/120
	}
	y := evaluate[float64](r, `strip.getBoundingClientRect().top + 60`)
	r.mouse(input.DispatchMouseEventTypeMousePressed, x(10), y)
	r.mouse(input.DispatchMouseEventTypeMouseMoved, x(50), y)
	assert.InDelta(t, 50e9, r.look().T, 2e8)
	assert.Equal(t, "half-open", r.look().Cards[0].State)
	r.mouse(input.DispatchMouseEventTypeMouseMoved, x(70), y)
	r.mouse(input.DispatchMouseEventTypeMouseReleased, x(70), y)
	s := r.look()
	assert.InDelta(t, 70e9, s.T, 2e8)
	assert.Equal(t, "open", s.Cards[0].State)
	r.mouse(input.DispatchMouseEventTypeMouseMoved, x(100), y)
	assert.Equal(t, s.T, r.look().T, "the button is up")
	head := evaluate[float64](r, `(b => (b.left + b.right) / 2)(head.getBoundingClientRect())`)
	assert.InDelta(t, x(float64(s.T)/1e9), head, 1.5)

	require.NoError(t, chromedp.Do(r.tab, chromedp.Evaluate[chromedp.Void](`document.querySelector('.row[aria-selected=true]').previousElementSibling.click()`)))
	r.settle()
	assert.Less(t, r.look().T, s.T)

	r.press(kb.Home + "]]")
	_, err := chromedp.Run(r.tab, chromedp.Poll[bool](`location.hash == '#t=33s'`))
	require.NoError(t, err)
}

// TestReplayDeepLinks: an address names the moment, the policy and the breaker.
func TestReplayDeepLinks(t *testing.T) {
	r := openReplay(t, builtin(t, "five-minute-outage"), "#t=3m20s&policy=plain-retries")
	s := r.look()
	assert.Equal(t, int64(200*time.Second), s.T)
	assert.Equal(t, "plain-retries", evaluate[string](r, `policy.value`))
	require.NoError(t, chromedp.Do(r.tab, chromedp.Evaluate[chromedp.Void](`location.hash = 't=10s&policy=retries%2Bbreaker'`)))
	r.settle()
	r.settle()
	assert.Equal(t, int64(10*time.Second), r.look().T)
	assert.Equal(t, "retries+breaker", evaluate[string](r, `policy.value`))
	for _, nonsense := range []string{"#t=soon", "#t=-5s", "#policy=nobodys", "#%", "#t=99h&breaker=<b>"} {
		r.open(nonsense)
		assert.Len(t, r.look().Cards, len(r.page.Runs), nonsense)
	}
}

// TestReplayOpens opens pages of all kinds: without breakers, with many, and of a
// run that takes no time.
func TestReplayOpens(t *testing.T) {
	const instant = "scenario: instant\ntargets: {search: {}}\ncalls: [{at: 0s, to: search}]\n"
	pages := []*report.ReplayPage{replayed(t, instant), builtin(t, "hedged-tail"), builtin(t, "not-found-trips-the-server"), builtin(t, "noisy-neighbour")}
	for _, p := range pages {
		r := openReplay(t, p, "")
		r.press("]" + kb.End)
		s := r.look()
		assert.Len(t, s.Cards, len(p.Runs), p.Title)
		assert.Equal(t, int64(p.Runs[0].History.End), s.T, p.Title)
		assert.Contains(t, s.Say, "the run ends", p.Title)
		assert.False(t, s.Overflows, p.Title)
		r.press(kb.Home + "[")
		assert.Zero(t, r.look().T, p.Title)
	}
}

// TestReplayLooks: dark where the reader prefers it or asks for it, narrow on a
// phone, and the still timeline on paper.
func TestReplayLooks(t *testing.T) {
	r := openReplay(t, builtin(t, "five-minute-outage"), "#t=3m20s")
	ground := func() string { return evaluate[string](r, `getComputedStyle(document.body).backgroundColor`) }
	const light, dark = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
	r.prefer("", "light")
	assert.Equal(t, light, ground())
	r.prefer("", "dark")
	assert.Equal(t, dark, ground())
	assert.Equal(t, "true", evaluate[string](r, `theme.getAttribute('aria-pressed')`))
	evaluate[bool](r, `theme.click() ?? true`)
	assert.Equal(t, light, ground())
	evaluate[bool](r, `theme.click() ?? true`)
	assert.Equal(t, dark, ground())

	r.prefer("print", "dark")
	assert.Equal(t, light, ground())
	assert.Equal(t, "none", evaluate[string](r, `getComputedStyle(document.querySelector('.controls')).display`))
	assert.Equal(t, "grid", evaluate[string](r, `getComputedStyle(document.querySelector('.picture')).display`))
	r.prefer("", "light")

	for _, width := range []int64{390, 320, 700, 1280} {
		r.size(width, 844)
		r.open("#t=3m20s")
		assert.False(t, r.look().Overflows, "%d pixels", width)
		r.press("++")
		assert.False(t, r.look().Overflows, "%d pixels, zoomed", width)
	}
}

// TestReplayTakesNoTextForMarkup: a scenario's texts are texts, wherever they stand.
func TestReplayTakesNoTextForMarkup(t *testing.T) {
	const evil = `</script><script>document.title="taken"</script><img src=x onerror="document.title='taken'">"'&amp;` + "\u2028"
	quoted, err := json.Marshal(evil)
	require.NoError(t, err)
	src, _ := scenarios.Source("fallback-exhausted")
	for _, name := range []string{"opus", "sonnet", "haiku", "llm"} {
		require.Contains(t, string(src), name)
	}
	p := replayed(t, string(src))
	p.Title, p.About = evil, evil
	for _, s := range p.Runs {
		run := s.History.Run
		run.Title, run.Policy, run.PolicyAbout = evil, evil, evil
		for i := range s.Breakers {
			s.Breakers[i].Name, s.Breakers[i].Chain[0].Name = evil, evil
		}
		for i := range s.All {
			s.All[i].Breaker, s.All[i].Target, s.All[i].From, s.All[i].Caller = evil, evil, evil, evil
		}
	}
	html := htmlOf(t, p)
	assert.NotContains(t, html, "<script>document")
	assert.NotContains(t, html, "<img")
	assert.NotContains(t, html, "\u2028"+`"`)
	assert.Equal(t, 3, strings.Count(html, "<script"))

	r := openReplay(t, p, "")
	r.press("]]")
	assert.Equal(t, evil, evaluate[string](r, `document.querySelector('h1').textContent`))
	assert.Equal(t, string(quoted), evaluate[string](r, `JSON.stringify(document.querySelector('.card').dataset.policy).replace('\u2028', '\\u2028').replace(/[<>&]/g, c => '\\u00' + c.charCodeAt(0).toString(16))`))
	assert.Zero(t, evaluate[int](r, `document.querySelectorAll('img').length`))
	assert.NotEqual(t, "taken", evaluate[string](r, `document.title`))
	assert.Contains(t, r.look().Say, `<img src=x`)
}

// TestReplayIsAccessible: axe-core has nothing serious against the page, in any
// look.
func TestReplayIsAccessible(t *testing.T) {
	axe := axeSource(t)
	for _, name := range []string{"vanished-probe", "five-minute-outage", "fallback-exhausted"} {
		r := openReplay(t, builtin(t, name), "#t=40s")
		for _, scheme := range []string{"light", "dark"} {
			r.prefer("", scheme)
			r.open("#t=40s")
			assert.Empty(t, faults(r, axe), "%s, %s", name, scheme)
		}
		r.press("?")
		assert.Empty(t, faults(r, axe), "%s, keys", name)
		evaluate[bool](r, `help.removeAttribute('aria-label'), help.removeAttribute('title'), help.textContent = '', keys.close(), true`)
		assert.Len(t, faults(r, axe), 1, "a button without a name is found")
	}
}

// axeSource is the script of axe-core 4.14.1, as npm has it.
func axeSource(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "axe.min.js"))
	require.NoError(t, err)
	return string(b)
}

// faults are what axe-core holds to be serious or critical.
func faults(r *replayTab, axe string) []string {
	r.t.Helper()
	const run = `axe.run(document).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + n.failureSummary)))`
	_, err := chromedp.Run(r.tab, chromedp.Evaluate[bool](axe+"; true"))
	require.NoError(r.t, err)
	all, err := chromedp.Run(r.tab, chromedp.Evaluate[[]string](run, chromedp.EvalAwaitPromise))
	require.NoError(r.t, err)
	return all
}

// TestReplayIsSmall: without its trace the page of any built-in scenario is under
// 400 KiB, and what it says of policy and script is what browsers take.
func TestReplayIsSmall(t *testing.T) {
	largest, of := 0, ""
	for i, name := range scenarios.Names() {
		if crowded := []string{"nothing-happens", "retry-budget-vs-breaker", "bursts-and-drizzle"}; i%12 > 0 && (testing.Short() || !slices.Contains(crowded, name)) {
			continue
		}
		html := htmlOf(t, builtin(t, name))
		_, rest, found := strings.Cut(html, `<script type="application/json" id="data">`)
		require.True(t, found)
		data, _, _ := strings.Cut(rest, "</script>")
		require.True(t, json.Valid([]byte(data)), name)
		if n := len(html) - len(data); n > largest {
			largest, of = n, name
		}
	}
	assert.Less(t, largest, 400<<10, of)
	assert.Greater(t, largest, 100<<10)
}

// busyRun is more than 100,000 events of one breaker.
const busyRun = `
scenario: long
title: A long run
duration: 10m
breakers: {search: {kind: tool, recovery_duration: 5s}}
targets:
  search: {latency: {exponential: 200ms}, mix: {success: 0.9, failure: 0.1}, phases: [{at: 1m, for: 1m, outcome: failure}, {at: 4m, for: 2m, outcome: failure}]}
callers: [{name: crowd, rate: 80/s, to: search, until: 10m}]
`

// drawnWhile drags the playhead from one end to the other, a frame a step, and
// counts the frames a second.
const drawnWhile = `new Promise(done => {
	const box = strip.getBoundingClientRect(), frames = 240
	let n = 0, begin = 0
	const next = time => {
		begin ||= time
		if (n == frames) return done(1e3 * frames / (time - begin))
		n++
		const x = box.left + box.width * (0.15 + 0.8 * Math.abs(1 - 2 * n / frames))
		strip.dispatchEvent(new PointerEvent('pointermove', {pointerId: 1, clientX: x, bubbles: true}))
		requestAnimationFrame(next)
	}
	requestAnimationFrame(next)
})`

// scrub drags the playhead through the whole run, back and forth.
func scrub(r *replayTab) (framesPerSecond float64) {
	r.t.Helper()
	at := evaluate[[]float64](r, `(b => [b.left + b.width / 2, b.top + 50])(strip.getBoundingClientRect())`)
	r.mouse(input.DispatchMouseEventTypeMousePressed, at[0], at[1])
	fps, err := chromedp.Run(r.tab, chromedp.Evaluate[float64](drawnWhile, chromedp.EvalAwaitPromise))
	require.NoError(r.t, err)
	r.mouse(input.DispatchMouseEventTypeMouseReleased, at[0], at[1])
	return fps
}

// TestReplayScrubsLongRuns drags through 100,000 events: only what is seen has
// elements, and what is shown is still true.
func TestReplayScrubsLongRuns(t *testing.T) {
	p := replayed(t, busyRun)
	require.Greater(t, len(p.Runs[0].All), 100_000)
	r := openReplay(t, p, "")
	t.Logf("%.0f frames a second over %s events", scrub(r), report.Thousands(int64(len(p.Runs[0].All))))
	s := r.look()
	assert.Less(t, s.Listed, 20)
	assert.Equal(t, lastUpTo(p.Runs[0], time.Duration(s.T)), s.Step)
	compareCard(t, p.Runs[0], "search", s.Step, s.Cards[0])
	r.press("a")
	assert.Less(t, r.look().Listed, 20)
}

// BenchmarkScrub measures how smooth that is.
func BenchmarkScrub(b *testing.B) {
	r := openReplay(b, replayed(b, busyRun), "")
	for b.Loop() {
		b.ReportMetric(scrub(r), "frames/s")
	}
}
