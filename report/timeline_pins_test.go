package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestPinsNeverLieOnEachOther puts pins anywhere, with words of any length:
// none lies on another or on another's stem, none leaves its room, and the most
// important one has its words if they fit at all.
func TestPinsNeverLieOnEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "pins")
		var pins []*pin
		x := 100.0
		ranks := rapid.Permutation(make12()[:n]).Draw(t, "ranks")
		for i := range n {
			x = min(690, x+rapid.SampledFrom([]float64{0, 0.5, 3, 9, 17, 40, 120}).Draw(t, "apart"))
			pins = append(pins, &pin{numbered: &numbered{n: i + 1, rank: ranks[i]}, x: x, w: rapid.Float64Range(20, 260).Draw(t, "width"), words: "words"})
		}
		rows := layPins(pins, 80, 700, 5)
		for i, p := range pins {
			from, to := p.box()
			assert.Less(t, p.row, rows)
			if p.words != "" {
				assert.GreaterOrEqual(t, from, 80.0)
				assert.LessOrEqual(t, to, 700.0)
			}
			for _, q := range pins[:i] {
				otherFrom, otherTo := q.box()
				assert.False(t, p.row == q.row && from < otherTo && otherFrom < to, "%d lies on %d", p.n, q.n)
				assert.False(t, p.row < q.row && p.covers(q) || q.row < p.row && q.covers(p), "words of one of %d and %d lie on the other's stem", p.n, q.n)
			}
		}
	})
}

func make12() (all []int) {
	for i := range 12 {
		all = append(all, i)
	}
	return all
}

// TestWordsGoToTheMostImportant has two pins between which only one's words fit.
func TestWordsGoToTheMostImportant(t *testing.T) {
	for _, first := range []int{0, 1} {
		a := &pin{numbered: &numbered{n: 1, rank: first}, x: 100, w: 500, words: "a"}
		b := &pin{numbered: &numbered{n: 2, rank: 1 - first}, x: 690, w: 560, words: "b"}
		rows := layPins([]*pin{a, b}, 80, 700, 1)
		assert.Equal(t, 1, rows)
		assert.Equal(t, []bool{first == 0, first == 1}, []bool{a.words != "", b.words != ""}, "the first is %d", first)
	}
}

// TestAStaircaseOfPins has the words on the right: the first pin stands highest,
// so that no words lie on a stem.
func TestAStaircaseOfPins(t *testing.T) {
	var pins []*pin
	for i, x := range []float64{100, 130, 160, 400} {
		pins = append(pins, &pin{numbered: &numbered{n: i + 1, rank: i}, x: x, w: 150, words: "words"})
	}
	require.Equal(t, 3, layPins(pins, 80, 700, 6))
	var got []int
	for _, p := range pins {
		got = append(got, p.row)
	}
	assert.Equal(t, []int{2, 1, 0, 0}, got)
}

// TestPinsAtTheEdges have their words towards the middle, even where their circles
// reach beyond the edge, and on the left where the right is taken.
func TestPinsAtTheEdges(t *testing.T) {
	for name, c := range map[string]struct {
		x        []float64
		w        float64
		leftward []bool
	}{
		"where the run begins": {[]float64{80}, 150, []bool{false}},
		"where it ends":        {[]float64{700}, 150, []bool{true}},
		"beside another":       {[]float64{300, 330}, 150, []bool{true, false}},
	} {
		var pins []*pin
		for i, x := range c.x {
			pins = append(pins, &pin{numbered: &numbered{n: i + 1, rank: i}, x: x, w: c.w, words: "words"})
		}
		layPins(pins, 80, 700, 1)
		for i, p := range pins {
			assert.NotEmpty(t, p.words, name)
			assert.Equal(t, c.leftward[i], p.leftward, name)
		}
	}
}

// TestOneStemIsReadFromTheTop: what comes first stands above what comes right
// after it, also where other words push that up.
func TestOneStemIsReadFromTheTop(t *testing.T) {
	var pins []*pin
	for i, x := range []float64{100, 101, 200} {
		pins = append(pins, &pin{numbered: &numbered{n: i + 1, rank: (i + 2) % 3}, x: x, w: 150, words: "words"})
	}
	layPins(pins, 80, 700, 5)
	assert.Greater(t, pins[0].row, pins[1].row)
	assert.Greater(t, pins[1].row, pins[2].row)
}

// TestTheMostImportantMomentsAreTold: what a breaker does for the first time and
// what it ends with, and in between what is spread over the run, however often it
// repeats itself.
func TestTheMostImportantMomentsAreTold(t *testing.T) {
	h := &History{Run: &trace.RunInfo{Policy: "breaker"}, End: time.Hour}
	tell := func(rule string) {
		h.changes = append(h.changes, change{moment: len(h.Moments)})
		h.Moments = append(h.Moments, Moment{Event: trace.Event{Kind: trace.Transition, Breaker: "b", Rule: rule, Effective: time.Duration(len(h.Moments)) * time.Minute}})
	}
	tell("T3")
	for range 10 {
		tell("T5")
		tell("T9")
	}
	tell("T5")
	tell("T7")
	tell("T5")
	tell("T8")
	all, more := keyMoments([]*History{h}, func(time.Duration) bool { return true })
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%d %s %d", m.n, m.moment.Rule, int(m.moment.Effective.Minutes())))
	}
	assert.Equal(t, []string{"1 T3 0", "2 T5 1", "3 T9 2", "4 T9 4", "5 T5 7", "6 T9 10", "7 T9 12", "8 T9 14", "9 T5 17", "10 T9 20", "11 T7 22", "12 T8 24"}, got)
	assert.Equal(t, "13 more transitions are left out here; the trace has them all", more)
}

// TestMomentsAreSpread over the run of each breaker: of two that are about as far
// from what is told the weightier, and every moment has a place of its own.
func TestMomentsAreSpread(t *testing.T) {
	h := new(History)
	tell := func(breaker, rule string, at time.Duration) {
		h.Moments = append(h.Moments, Moment{Event: trace.Event{Breaker: breaker, Rule: rule, Effective: at * time.Second}})
	}
	for i := range time.Duration(100) {
		tell("a", "T5", 10*i)
		tell("a", "T9", 10*i+1)
		tell("b", "T5", 10*i)
	}
	ranks := h.ranks(anyTime)
	byRank := make([]string, len(ranks))
	for i, place := range ranks {
		m := &h.Moments[i]
		byRank[place] += fmt.Sprintf("%s %s %d", m.Breaker, m.Rule, m.Effective/time.Second)
	}
	assert.Equal(t, []string{"a T9 1", "a T5 0", "b T5 0", "a T9 991", "b T5 990", "a T9 481", "b T5 480"}, byRank[:7])
	assert.NotContains(t, byRank, "", "two moments have one place")
	ranks = h.ranks(func(at time.Duration) bool { return at >= 500*time.Second })
	assert.Equal(t, 1, ranks[3*50], "the first that is drawn: a T5 500")
	assert.GreaterOrEqual(t, ranks[0], 150, "what is not drawn comes last")
}

// TestEachModelIsToldOnce, as soon as turns go to it.
func TestEachModelIsToldOnce(t *testing.T) {
	h := new(History)
	for i, serves := range []string{"sonnet", "haiku", "haiku", "flash", "flash", "flash"} {
		h.Moments = append(h.Moments, Moment{Event: trace.Event{Breaker: "llm", Rule: "M12", Effective: time.Duration(i) * time.Minute}, Switched: true, Serves: serves})
	}
	assert.Equal(t, []int{0, 1, 4, 2, 5, 3}, h.ranks(anyTime))
}

// TestWhenAProbeWasPossible reads the end of each cooldown off the settings.
func TestWhenAProbeWasPossible(t *testing.T) {
	const s = time.Second
	tool := &trace.Breaker{Tool: &trace.Tool{RecoveryDuration: 30 * s}}
	model := &trace.Breaker{Model: &trace.Model{RecoveryTimeout: 30 * s}}
	for name, c := range map[string]struct {
		settings *trace.Breaker
		bands    []Band
		want     []trace.Span
	}{
		"asked at once":       {tool, []Band{{From: 3 * s, To: 33 * s, State: "open"}, {From: 33 * s, To: 34 * s, State: "half-open"}}, nil},
		"asked later":         {tool, []Band{{From: 3 * s, To: 40 * s, State: "open"}}, []trace.Span{{From: 33 * s, To: 40 * s}}},
		"restarted":           {tool, []Band{{From: 3 * s, To: 60 * s, State: "open", Restarts: []time.Duration{5 * s, 20 * s}}}, []trace.Span{{From: 50 * s, To: 60 * s}}},
		"still cooling":       {tool, []Band{{From: 3 * s, To: 20 * s, State: "open"}}, nil},
		"another backup":      {model, []Band{{From: 0, To: 10 * s, State: "fallback", Serves: "a"}, {From: 10 * s, To: 40 * s, State: "fallback", Serves: "b"}}, []trace.Span{{From: 30 * s, To: 40 * s}}},
		"one backup too late": {model, []Band{{From: 0, To: 35 * s, State: "fallback", Serves: "a"}, {From: 35 * s, To: 40 * s, State: "fallback"}}, []trace.Span{{From: 30 * s, To: 35 * s}, {From: 35 * s, To: 40 * s}}},
		"again":               {model, []Band{{From: 0, To: 30 * s, State: "fallback"}, {From: 30 * s, To: 50 * s, State: "recovering"}, {From: 50 * s, To: 90 * s, State: "fallback"}}, []trace.Span{{From: 80 * s, To: 90 * s}}},
	} {
		b := &BreakerHistory{Breaker: c.settings, Bands: c.bands, now: c.settings}
		for i, s := range c.bands {
			if s.State == "open" || s.State == "fallback" && (i == 0 || c.bands[i-1].State != "fallback") {
				b.cool(&trace.Event{Kind: trace.Transition, Effective: s.From})
			}
			for _, at := range s.Restarts {
				b.cool(&trace.Event{Kind: trace.Result, Rule: "T11", T: at})
			}
		}
		assert.Equal(t, c.want, b.ready(), name)
	}
}

// TestFewWords are those beside the pins.
func TestFewWords(t *testing.T) {
	for want, m := range map[string]Moment{
		"3rd failure: opens (T3)":                {Event: trace.Event{Rule: "T3", Failures: 3}},
		"failure: opens (T3)":                    {Event: trace.Event{Rule: "T3", Failures: 1}},
		"call 5 is the probe (T5)":               {Event: trace.Event{Rule: "T5", Call: 5}},
		"a probe (T5)":                           {Event: trace.Event{Rule: "T5"}},
		"lease ran out: opens again (T7)":        {Event: trace.Event{Rule: "T7"}},
		"2nd failed turn: on to sonnet (M10)":    {Event: trace.Event{Rule: "M10", Failures: 2}, Switched: true, Serves: "sonnet"},
		"rate limit: on to haiku (M12)":          {Event: trace.Event{Rule: "M12"}, Switched: true, Serves: "haiku"},
		"rate limit: nobody is left (M12)":       {Event: trace.Event{Rule: "M12"}, Switched: true},
		"probes fail: on to a backup (M13)":      {Event: trace.Event{Rule: "M13"}},
		"probes succeed: the primary again (M9)": {Event: trace.Event{Rule: "M9"}},
		"open (X1)":                              {Event: trace.Event{Rule: "X1", To: "open"}},
		"open":                                   {Event: trace.Event{To: "open"}},
	} {
		assert.Equal(t, want, m.short())
	}
}

// TestStemsKeepOffWords: a stem within 6 px of words is taken for a letter.
func TestStemsKeepOffWords(t *testing.T) {
	p := &pin{x: 100, w: 50, words: "words"} // which go from 111.5 to 161.5
	for x, want := range map[float64]bool{104: false, 106: true, 130: true, 167: true, 168: false} {
		assert.Equal(t, want, p.covers(&pin{x: x}), "on the right, %v", x)
		p.leftward = true
		assert.Equal(t, want, p.covers(&pin{x: 200 - x}), "on the left, %v", x)
		p.leftward = false
	}
}
