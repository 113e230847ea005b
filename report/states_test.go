package report

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// toolRun is a run of two minutes: three failures open the breaker, its first
// probe vanishes, the second closes it.
func toolRun(t testing.TB) *History {
	t.Helper()
	const s = time.Second
	info := &trace.RunInfo{Scenario: "made-up", Title: "Made up", Policy: "breaker", Targets: []trace.Target{{Name: "t"}},
		Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Tool: &trace.Tool{Guards: "t", FailureThreshold: 3, RecoveryDuration: 30 * s, ProbeTimeout: 30 * s}}}}
	result := func(at time.Duration, call int, outcome, rule string, applied bool) trace.Event {
		return trace.Event{T: at, Kind: trace.Result, Call: call, Attempt: 1, Target: "t", Outcome: outcome, Breaker: "b", Rule: rule, Applied: applied}
	}
	move := func(at, effective time.Duration, from, to, rule string) trace.Event {
		return trace.Event{T: at, Kind: trace.Transition, Breaker: "b", From: from, To: to, Rule: rule, Effective: effective}
	}
	refuse := func(at time.Duration, call int, rule string) trace.Event {
		return trace.Event{T: at, Kind: trace.Refuse, Call: call, Attempt: 1, Breaker: "b", Rule: rule}
	}
	return recorded(t, info,
		result(1*s, 1, trace.Failure, "T3", true), result(2*s, 2, trace.Failure, "T3", true), result(3*s, 3, trace.Failure, "T3", true), move(3*s, 3*s, "closed", "open", "T3"),
		refuse(10*s, 4, "T4"), result(11*s, 5, trace.Success, "T10", false),
		move(33*s, 33*s, "open", "half-open", "T5"), result(34*s, 6, trace.Success, "T13", false), refuse(40*s, 8, "T6"),
		move(80*s, 63*s, "half-open", "open", "T7"), refuse(80*s, 9, "T4"),
		move(93*s, 93*s, "open", "half-open", "T5"), result(94*s, 10, trace.Success, "T8", true), move(94*s, 94*s, "half-open", "closed", "T8"),
		trace.Event{T: 120 * s, Kind: trace.End})
}

func recorded(t testing.TB, info *trace.RunInfo, events ...trace.Event) *History {
	t.Helper()
	h := new(History)
	require.NoError(t, h.Event(&trace.Event{Kind: trace.Run, Run: info}))
	for i := range events {
		require.NoError(t, h.Event(&events[i]))
	}
	return h
}

// statesOf is the picture laid out, and the pen that drew it.
func statesOf(tb testing.TB, look Look, panels ...*History) (*statesFigure, *pen) {
	tb.Helper()
	d := pictured(tb, "states", look, panels...)
	f := d.drawing.(*statesFigure)
	return f, d.on(newSVG(vg.Length(f.width*pixel), vg.Length(f.height*pixel), "", "", "", d.themes))
}

func TestWhatStatesTell(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name        string
		from, to    time.Duration
		first, last string
		spent       [3]time.Duration
		notes       [3]string
		taken       string
	}{
		{"the whole run", 0, 0, "closed", "closed", [3]time.Duration{29 * s, 60 * s, 31 * s},
			[3]string{"3 failures (T3)", "2 refused (T4), 1 late success ignored (T10)", "1 refused (T6), 1 stale result ignored (T13)"}, "T3×1 T5×2 T7×1 T8×1"},
		{"a stretch", 40 * s, 93 * s, "half-open", "half-open", [3]time.Duration{0, 30 * s, 23 * s},
			[3]string{"", "1 refused (T4)", "1 refused (T6)"}, "T5×1 T7×1"},
		{"beyond the end", 100 * s, 500 * s, "closed", "closed", [3]time.Duration{20 * s, 0, 0}, [3]string{}, ""},
		{"after the end", 200 * s, 500 * s, "closed", "closed", [3]time.Duration{}, [3]string{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := toolRun(t).tallies(c.from, c.to)
			require.Len(t, all, 1)
			got := all[0]
			assert.Equal(t, c.first, got.first)
			assert.Equal(t, c.last, got.last)
			var taken []string
			for i, state := range toolMachine {
				assert.Equal(t, c.spent[i], got.spent(state), state)
				assert.Equal(t, c.notes[i], strings.Join(got.notes(state), ", "), state)
			}
			for _, row := range toolMachine.moves() {
				if n := got.taken[row]; n > 0 {
					taken = append(taken, fmt.Sprintf("%s×%d", row.Rule, n))
				}
			}
			assert.Equal(t, c.taken, strings.Join(taken, " "))
			assert.Zero(t, got.unknown)
		})
	}
}

// TestAMoveByNoRule has a transition that no machine of ours makes.
func TestAMoveByNoRule(t *testing.T) {
	h := toolRun(t)
	h.Moments[1].Rule = "X9"
	f, _ := statesOf(t, Look{NoCaption: true}, h)
	assert.Equal(t, []string{"b changed its state once by no rule that we know"}, f.captions)
}

// TestTheLongestAreNamed: of more backups than can be named the others are counted.
func TestTheLongestAreNamed(t *testing.T) {
	const s = time.Second
	var chain []trace.Backup
	events := []trace.Event{{T: s, Kind: trace.Transition, Breaker: "llm", From: "primary", To: "fallback", Rule: "M10", Effective: s}}
	from, at := "p", s
	for i, spent := range []time.Duration{2 * s, 4 * s, s, 20 * s} {
		name := "b" + strconv.Itoa(i+1)
		chain = append(chain, trace.Backup{Name: name})
		events = append(events, trace.Event{T: at, Kind: trace.Switch, Breaker: "llm", From: from, To: name, Rule: "M11"})
		from, at = name, at+spent
	}
	info := &trace.RunInfo{Policy: "breaker", Breakers: []trace.Breaker{{Name: "llm", Kind: "model", Model: &trace.Model{Primary: "p", Chain: chain}}}}
	h := recorded(t, info, append(events, trace.Event{T: at, Kind: trace.End})...)
	assert.Equal(t, []string{"b4 20 s", "b2 4 s", "b1 2 s", "1 more"}, h.tallies(0, 0)[0].served("fallback"))
}

func TestWhoServedInFallback(t *testing.T) {
	const s = time.Second
	info := &trace.RunInfo{Policy: "breaker", Breakers: []trace.Breaker{{Name: "llm", Kind: "model", Model: &trace.Model{Primary: "p", Chain: []trace.Backup{{Name: "b1"}, {Name: "b2"}}, ProbationFailures: 0}}}}
	h := recorded(t, info,
		trace.Event{T: 3 * s, Kind: trace.Transition, Breaker: "llm", From: "primary", To: "fallback", Rule: "M10", Effective: 3 * s}, trace.Event{T: 3 * s, Kind: trace.Switch, Breaker: "llm", From: "p", To: "b1", Rule: "M10"},
		trace.Event{T: 5 * s, Kind: trace.Switch, Breaker: "llm", From: "b1", To: "b2", Rule: "M11"},
		trace.Event{T: 9 * s, Kind: trace.Switch, Breaker: "llm", From: "b2", Rule: "M11"},
		trace.Event{T: 10 * s, Kind: trace.Exhausted, Call: 9, Attempt: 1, Breaker: "llm", Rule: "M3"},
		trace.Event{T: 30 * s, Kind: trace.End})
	got := h.tallies(0, 0)[0]
	assert.Equal(t, []string{"b1 2 s", "b2 4 s", "nobody 21 s"}, got.served("fallback"))
	assert.Equal(t, []part{{look: "backup", spent: 6 * s}, {look: "spent", spent: 21 * s}}, merged(got.shares["fallback"]))
	assert.Equal(t, "llm begins primary and ends fallback. Primary: 3 s of 30 s. Fallback: 27 s of 30 s, b1 2 s, b2 4 s, nobody 21 s, 1 turn exhausted (M3). Recovering: 0 s of 30 s. "+
		"M10, primary to fallback: once. Never: M2 (fallback to recovering), M12 (recovering to fallback), M9 (recovering to primary), M13 (recovering to fallback).", got.describe(false))
}

// TestStillTogether tells of breakers that stay where they are in one sentence.
func TestStillTogether(t *testing.T) {
	still := func(name, policy string, failures int64) *tally {
		return &tally{BreakerHistory: &BreakerHistory{Breaker: &trace.Breaker{Name: name, Tool: &trace.Tool{}}}, policies: []string{policy}, first: "closed", incidents: map[[2]string]int64{{"closed", "T3"}: failures}}
	}
	all := []*tally{still("a", "p", 0), still("b", "p", 2), still("c", "p", 0), still("a", "q", 0)}
	assert.Equal(t, []string{"Under p a and c stay closed all the time", "Under p b stays closed all the time, 2 failures (T3)", "Under q a stays closed all the time"}, stillness(all, true))
	assert.Equal(t, []string{"a and c stay closed all the time", "b stays closed all the time, 2 failures (T3)"}, stillness(all[:3], false))
}

// TestEveryMoveHasAnArrow looks for each row of the table in the diagrams of
// breakers that were reset, with its label, thick or thin.
func TestEveryMoveHasAnArrow(t *testing.T) {
	several, one := worlds()["breakers"][0].history(t), toolRun(t)
	for _, h := range []*History{several, one} {
		for _, b := range h.Breakers {
			h.Acts = append(h.Acts, trace.Event{Kind: trace.Operate, Op: "reset", Breaker: b.Name})
		}
	}
	f, p := statesOf(t, Look{}, several, one)
	drawn := map[trace.Move]bool{}
	for _, c := range f.cells {
		assert.Len(t, c.arrows, 7)
		for _, r := range c.arrows {
			for _, m := range r.moves {
				drawn[m] = true
			}
		}
	}
	assert.Len(t, drawn, len(trace.Moves))
	var texts []string
	for _, s := range p.texts {
		texts = append(texts, s.text)
	}
	for _, want := range []string{"T3 ×1", "T5 ×2", "T9", "29 s of 120 s", "2 refused (T4)", "the probe succeeds"} {
		assert.Contains(t, texts, want)
	}
}

// TestResetsThatNobodyMakes are not drawn, unless an operator resets that breaker.
func TestResetsThatNobodyMakes(t *testing.T) {
	h := toolRun(t)
	rules := func() (all []string) {
		for _, m := range h.tallies(0, 0)[0].moves() {
			all = append(all, m.Rule)
		}
		return all
	}
	assert.Equal(t, []string{"T3", "T5", "T7", "T8", "T9"}, rules())
	h.Acts = []trace.Event{{Kind: trace.Operate, Op: "reset", Breaker: "another"}, {Kind: trace.Operate, Op: "set_available", Breaker: "b"}}
	assert.Len(t, rules(), 5)
	h.Acts = append(h.Acts, trace.Event{Kind: trace.Operate, Op: "reset", Breaker: "b"})
	assert.Equal(t, []string{"T3", "T5", "T7", "T8", "T9", "T15", "T15"}, rules())
	h.Acts = nil
	timeless := &tally{BreakerHistory: h.Breakers[0], h: h, timeless: true}
	assert.Len(t, timeless.moves(), 7, "what a breaker can do")
}

// TestSharesAreSeen draws all the time as one state, whose ground is white on paper:
// there it is as dark as its edge.
func TestSharesAreSeen(t *testing.T) {
	for name, dark := range map[string]bool{"print": true, "light": false} {
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{themes[name]})
		p := &pen{c: c, height: 100 * pixel, theme: themes[name]}
		b := &stateBox{box: box{0, 0, 100, 60}, state: "closed"}
		b.share(p, &tally{to: time.Second, shares: map[string][]part{"closed": {{look: "closed", spent: time.Second}}}})
		assert.Equal(t, dark, strings.Contains(c.body.String(), `class="f-closed-edge"`), name)
	}
}

func TestManyBreakersAreLeftOut(t *testing.T) {
	w := world{title: "Many", policy: "breaker", end: time.Minute, targets: 3, tools: 20, moves: 3}
	w.targets = 20
	without := world{title: "Many", policy: "plain", end: time.Minute}
	f, _ := statesOf(t, Look{NoCaption: true}, w.history(t), without.history(t))
	assert.Len(t, f.cells, mostDiagrams)
	assert.Equal(t, []string{"Left out: 8 more breakers", "Without a breaker: plain"}, f.captions[:2])
	_, err := KindOf("states").Draw(&Results{Panels: []*History{without.history(t)}}, Look{})
	assert.ErrorIs(t, err, ErrNothingToDraw)
}

// TestStatesOverlapNowhere draws runs made up to be awkward, and the library, at
// every width.
func TestStatesOverlapNowhere(t *testing.T) {
	all := map[string][]*History{"tool": {toolRun(t)}}
	for name, panels := range worlds() {
		for _, w := range panels {
			all[name] = append(all[name], w.history(t))
		}
	}
	for _, name := range scenarios.Names() {
		all[name] = played(t, name)
	}
	drawn := 0
	for name, panels := range all {
		for _, look := range []Look{{Width: 480}, {Width: 720}, {Width: 960}, {Width: 1440}, {Width: 720, NoCaption: true}, {Width: 640, From: time.Second, To: time.Minute}} {
			if !haveBreakers(panels) || look.From > 0 && look.From >= endOf(panels) {
				continue
			}
			drawn++
			f, p := statesOf(t, look, panels...)
			require.NotEmpty(t, p.texts)
			checkTexts(t, fmt.Sprintf("%s at %d", name, look.Width), f, p)
			for _, c := range f.cells {
				checkDiagram(t, fmt.Sprintf("%s at %d: %s", name, look.Width, c.t.Name), c, p)
			}
		}
	}
	assert.Greater(t, drawn, 300)
}

func haveBreakers(panels []*History) bool {
	for _, h := range panels {
		if len(h.Breakers) > 0 {
			return true
		}
	}
	return false
}

// played is a scenario of the library under all of its policies.
func played(t testing.TB, name string) (panels []*History) {
	t.Helper()
	src, _ := scenarios.Source(name)
	s, err := scenarios.Load(name+".yaml", src, scenarios.DefaultLimits())
	require.NoError(t, err)
	for i := range s.Policies {
		h := new(History)
		_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{h}})
		require.NoError(t, err)
		panels = append(panels, h)
	}
	return panels
}

func (b box) meets(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}

func (b box) holds(o box) bool {
	return o.x >= b.x && o.y >= b.y && o.x+o.w <= b.x+b.w && o.y+o.h <= b.y+b.h
}

func checkTexts(t *testing.T, what string, f *statesFigure, p *pen) {
	t.Helper()
	page := box{0, 0, f.width, f.height}
	for i, a := range p.texts {
		assert.True(t, page.holds(a.box), "%s: %q leaves the picture", what, a.text)
		for _, b := range p.texts[:i] {
			assert.False(t, a.meets(b.box), "%s: %q %+v lies on %q %+v", what, a.text, a.box, b.text, b.box)
		}
	}
}

// checkDiagram looks at one diagram: no text lies on an arrow or a state's edge,
// no arrow on another, and none crosses a state.
func checkDiagram(t *testing.T, what string, c *stateCell, p *pen) {
	t.Helper()
	lines := map[int][]box{} // by arrow
	for i := range c.arrows {
		lines[i] = segments(c.arrows[i].points)
	}
	for i := range c.ends {
		e := &c.ends[i]
		lines[len(c.arrows)+i] = []box{{min(e.x-endRadius, e.edge), e.y - endRadius, max(e.x+endRadius, e.edge) - min(e.x-endRadius, e.edge), 2 * endRadius}}
	}
	for i, own := range lines {
		for _, s := range own {
			for _, text := range p.texts {
				assert.False(t, s.meets(text.box), "%s: %q lies on an arrow", what, text.text)
			}
			for k := range c.boxes {
				inside := c.boxes[k].box
				inside = box{inside.x + 2.5, inside.y + 2.5, inside.w - 5, inside.h - 5}
				assert.False(t, s.meets(inside), "%s: arrow %d crosses %s", what, i, c.boxes[k].state)
			}
			for j, others := range lines {
				for _, o := range others {
					assert.False(t, i < j && s.meets(o), "%s: arrows %d and %d meet", what, i, j)
				}
			}
		}
	}
	for k := range c.boxes {
		for _, text := range p.texts {
			b := c.boxes[k].box
			assert.True(t, !b.meets(text.box) || b.holds(text.box), "%s: %q is on the edge of %s", what, text.text, c.boxes[k].state)
		}
	}
}

// segments are the straight pieces of an arrow as thick as its head.
func segments(xy []float64) (all []box) {
	const half = 2.2
	for i := 0; i+3 < len(xy); i += 2 {
		x0, x1 := min(xy[i], xy[i+2]), max(xy[i], xy[i+2])
		y0, y1 := min(xy[i+1], xy[i+3]), max(xy[i+1], xy[i+3])
		all = append(all, box{x0 - half, y0 - half, x1 - x0 + 2*half, y1 - y0 + 2*half})
	}
	return all
}

// TestStatesAreFiles writes the picture twice: the bytes are the same.
func TestStatesAreFiles(t *testing.T) {
	for _, theme := range append(ThemeNames, "") {
		d := pictured(t, "states", Look{Theme: theme}, toolRun(t))
		var first, second, png bytes.Buffer
		require.NoError(t, d.WriteSVG(&first))
		require.NoError(t, pictured(t, "states", Look{Theme: theme}, toolRun(t)).WriteSVG(&second))
		assert.Equal(t, first.String(), second.String())
		assert.Contains(t, first.String(), `aria-labelledby="states-made-up-title states-made-up-desc"`)
		assert.Contains(t, first.String(), `<title>b: half-open to open by T7, once</title>`)
		assert.Contains(t, first.String(), `stroke-dasharray="4 3"`)
		assert.NotContains(t, first.String(), "NaN")
		require.NoError(t, d.WritePNG(&png, 1))
		assert.True(t, strings.HasPrefix(png.String(), "\x89PNG"))
	}
}

// TestStatesFillTheirFrame has as many diagrams as there are breakers that moved,
// each from edge to edge of its column. One alone is no wider than it can use.
func TestStatesFillTheirFrame(t *testing.T) {
	for _, c := range []struct {
		name     string
		width    int
		frame    float64
		policies []string // of the diagrams
		still    string
	}{
		{"vanished-probe", 720, 720, []string{"breaker"}, ""},
		{"vanished-probe", 1440, mostCell + 2*margin, []string{"breaker"}, ""},
		{"guard-inside-guard", 1440, 1440, []string{"breaker", "breaker"}, ""},
		{"nothing-happens", 720, 720, []string{"breaker, retries+breaker", "breaker, retries+breaker"}, ""},
		{"cancelled-siblings", 720, 720, []string{"breaker"}, "b and c stay closed all the time"},
		{"partial-outage", 720, 720, []string{"breaker"}, "Under retries+breaker search stays closed all the time, 44 failures (T3)"},
	} {
		f, _ := statesOf(t, Look{Width: c.width}, played(t, c.name)...)
		assert.Equal(t, c.frame, f.width, c.name)
		var policies []string
		last := 0.0
		for _, cell := range f.cells {
			policies = append(policies, strings.Join(cell.t.policies, ", "))
			assert.InDelta(t, cell.x+markRoom, cell.boxes[0].x, 1e-9, c.name)
			assert.InDelta(t, cell.x+cell.w-markRoom, cell.boxes[1].x+cell.boxes[1].w, 1e-9, c.name)
			last = max(last, cell.x+cell.w)
		}
		assert.Equal(t, c.policies, policies, c.name)
		assert.InDelta(t, f.width-margin, last, 1e-9, c.name)
		assert.Equal(t, c.still != "", slices.Contains(f.captions, c.still), "%s: %q", c.name, f.captions)
	}
}

// TestGridOf has rows that are not much emptier than others.
func TestGridOf(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 3} {
		columns, w := gridOf(n, 1408)
		assert.Equal(t, want, columns, n)
		assert.LessOrEqual(t, float64(columns)*(w+cellGap)-cellGap, 1408.0)
	}
}
