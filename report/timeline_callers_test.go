package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// called is a run of a minute in which each of the callers calls every ten
// seconds, and waits three for an answer.
func called(t *testing.T, policy string, callers int, late bool) *History {
	t.Helper()
	const s = time.Second
	h := new(History)
	info := &trace.RunInfo{Policy: policy, Targets: []trace.Target{{Name: "t"}}, Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Tool: &trace.Tool{Guards: "t"}}}}
	tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
	tell(trace.Event{Kind: trace.Run, Run: info})
	n := 0
	for at := 0 * s; at < 60*s; at += 10 * s {
		first := n
		for i := range callers {
			n++
			tell(trace.Event{T: at, Kind: trace.Call, Call: n, Attempt: 1, To: "t", Caller: "agents", Instance: i + 1})
			tell(trace.Event{T: at, Kind: trace.Admit, Call: n, Attempt: 1, Breaker: "b", Target: "t", Rule: "T1"})
		}
		for i := range callers {
			e := trace.Event{T: at + 3*s, Kind: trace.Result, Call: first + i + 1, Attempt: 1, Target: "t", Outcome: trace.Success, Took: 3 * s, Breaker: "b", Applied: true, Rule: "T2"}
			if late && i == 0 {
				e.Applied, e.Rule = false, "T10"
			}
			tell(e)
		}
	}
	tell(trace.Event{T: 60 * s, Kind: trace.End})
	return h
}

// TestAFleetIsInOrder whichever of it calls first.
func TestAFleetIsInOrder(t *testing.T) {
	assert.Equal(t, []string{"b-1", "b-2", "b-10", "scripted", "a-1", "a-2", "well-known"},
		byFleet([]string{"b-10", "scripted", "a-2", "b-2", "a-1", "well-known", "b-1"}))
}

// TestLanesOfCalls: a lane for each caller while they are few, otherwise one for
// each outcome; and as the reader wishes.
func TestLanesOfCalls(t *testing.T) {
	for _, c := range []struct {
		callers, panels int
		lanes           string
		want            []string
	}{
		{3, 1, "", []string{"agents-1", "agents-2", "agents-3"}},
		{3, 1, "auto", []string{"agents-1", "agents-2", "agents-3"}},
		{3, 1, "outcomes", []string{"served"}},
		{3, 1, "none", nil},
		{1, 1, "", []string{"served"}},
		{1, 1, "callers", []string{"agents-1"}},
		{12, 2, "", []string{"agents-1", "agents-2", "agents-3", "agents-4", "agents-5", "agents-6", "agents-7", "agents-8", "agents-9", "agents-10", "agents-11", "agents-12"}},
		{9, 3, "", []string{"served"}}, // 27 lanes
		{13, 1, "", []string{"served"}},
		{13, 1, "callers", []string{"served"}},
	} {
		var panels []*History
		for i := range c.panels {
			panels = append(panels, called(t, []string{"a", "b", "c"}[i], c.callers, false))
		}
		f, _ := drawn(t, Look{Lanes: c.lanes}, panels...)
		var got []string
		for _, r := range f.panels[0].groups[0].rows {
			got = append(got, r.name)
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

// TestLateResultsHaveArcs, in lanes of callers and of outcomes.
func TestLateResultsHaveArcs(t *testing.T) {
	for lanes, tall := range map[string]string{"callers": "agents-1", "outcomes": "ignored"} {
		f, _ := drawn(t, Look{Lanes: lanes}, called(t, "a", 2, true))
		for _, r := range f.panels[0].groups[0].rows {
			assert.Equal(t, r.name == tall, r.tall, "%s: %s", lanes, r.name)
		}
	}
}

// TestAStretchOfTheRun draws what lies within, and no more.
func TestAStretchOfTheRun(t *testing.T) {
	h := world{title: "T", policy: "breaker", end: 100 * time.Second, targets: 1, tools: 1, moves: 10, calls: 20}.history(t)
	f, p := drawn(t, Look{From: 30 * time.Second, To: 55 * time.Second}, h)
	g := f.panels[0].groups[0]
	var moments []time.Duration
	for _, m := range f.moments {
		moments = append(moments, m.moment.Effective)
	}
	assert.Equal(t, []time.Duration{30 * time.Second, 35 * time.Second, 40 * time.Second, 45 * time.Second}, moments)
	marks := 0
	for _, r := range g.rows {
		marks += len(r.marks)
		for _, m := range r.marks {
			assert.True(t, f.within(m.At))
		}
	}
	assert.Equal(t, 6, marks, "a call each 5 s, from 30 s to 55 s; probes have no row")
	assert.Contains(t, texts(p), "Drawn from 30 s to 55 s, of 100 s")
	assert.Contains(t, texts(p), "30 s")
	assert.NotContains(t, texts(p), "25 s")
	_, err := KindOf("timeline").Draw(&Results{Panels: []*History{h}}, Look{From: 100 * time.Second})
	assert.EqualError(t, err, "the run ends at 100 s; nothing comes after 100 s")
	_, p = drawn(t, Look{NoCaption: true}, h)
	assert.NotContains(t, texts(p), "Virtual time · seed 1")
}

func texts(p *pen) (all []string) {
	for _, w := range p.texts {
		all = append(all, w.text)
	}
	return all
}
