package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestTruth puts stretches alike together, and tells a target that is slower than
// usual from one that is well.
func TestTruth(t *testing.T) {
	const sec = time.Second
	well := trace.Segment{Success: 1, Phase: trace.NoPhase}
	after := func(at time.Duration, s trace.Segment) trace.Segment {
		s.At = at
		return s
	}
	down, mixed := trace.Segment{Outcome: trace.RateLimit}, trace.Segment{Success: 0.5, Outcome: "a mix"}
	slow := []trace.TargetPhase{{At: 2 * sec, For: new(3 * sec), Latency: "3s"}, {}}
	span := func(from, to time.Duration) trace.Span { return trace.Span{From: from * sec, To: to * sec} }
	up := func(from, to time.Duration) stretchOfTruth {
		return stretchOfTruth{Span: span(from, to), look: "up", words: []string{"up"}}
	}
	for name, c := range map[string]struct {
		target trace.Target
		want   []stretchOfTruth
	}{
		"well in two phases": {trace.Target{Segments: []trace.Segment{well, after(sec, well)}}, []stretchOfTruth{up(0, 9)}},
		"slow": {trace.Target{Latency: "1s", Phases: slow, Segments: []trace.Segment{well, after(2*sec, well), after(5*sec, well)}},
			[]stretchOfTruth{up(0, 2), {Span: span(2, 5), look: "slow", words: []string{"slow, latency 3 s", "slow, 3 s"}, brief: "slow"}, up(5, 9)}},
		"slower than that as a rule": {trace.Target{Latency: "uniform 2s to 6s", Phases: slow, Segments: []trace.Segment{well, after(2*sec, well), after(5*sec, well)}},
			[]stretchOfTruth{up(0, 2), {Span: span(2, 5), look: "up", words: []string{"up, latency 3 s", "up, 3 s"}, brief: "up"}, up(5, 9)}},
		"slow, down and failing in part": {trace.Target{Latency: "1s", Phases: slow, Segments: []trace.Segment{well, after(2*sec, well), after(3*sec, down), after(4*sec, mixed), after(5*sec, mixed)}},
			[]stretchOfTruth{up(0, 2), {Span: span(2, 3), look: "slow", words: []string{"slow, latency 3 s", "slow, 3 s"}, brief: "slow"},
				{Span: span(3, 4), look: "down", words: []string{"rate limit"}},
				{Span: span(4, 5), look: "shaky", words: []string{"a mix, latency 3 s", "a mix, 3 s"}, brief: "a mix"},
				{Span: span(5, 9), look: "shaky", words: []string{"a mix"}}}},
		"slow after outages": {trace.Target{Warmup: 2 * sec, Segments: []trace.Segment{well, after(sec, down), after(2*sec, well), after(3*sec, down), after(4*sec, well)}},
			[]stretchOfTruth{up(0, 1), {Span: span(1, 2), look: "down", words: []string{"rate limit"}}, {Span: span(2, 3), look: "slow", words: []string{"slow after the outage", "slow"}},
				{Span: span(3, 4), look: "down", words: []string{"rate limit"}}, {Span: span(4, 6), look: "slow", words: []string{"slow after the outage", "slow"}}, up(6, 9)}},
	} {
		assert.Equal(t, c.want, truth(&c.target, 9*sec), name)
	}
}

// TestSlowness: of phases that overlap the later tells, if it tells anything.
func TestSlowness(t *testing.T) {
	const sec = time.Second
	for usual, want := range map[string]bool{"": true, "1s": true, "uniform 1s to 5s": true, "uniform 1s to 9s": false, "lognormal, p50 2s, p99 50s": true, "exponential, mean 5s": false, "4s": false} {
		target := &trace.Target{Latency: usual, Phases: []trace.TargetPhase{{Latency: "uniform 3500ms to 4500ms"}, {At: sec, For: new(sec), Outcome: trace.Success}, {At: 2 * sec, Latency: "500µs"}}}
		for _, at := range []time.Duration{0, sec} {
			latency, slow := slowness(target, at, time.Minute)
			assert.Equal(t, "uniform 3.5 s to 4.5 s", latency)
			assert.Equal(t, want, slow, "usually %s", usual)
		}
		latency, _ := slowness(target, 2*sec, time.Minute)
		assert.Equal(t, "500 µs", latency)
	}
}

// TestTypicalLatencies reads them as files and as pictures write them.
func TestTypicalLatencies(t *testing.T) {
	for latency, want := range map[string]time.Duration{
		"": 0, "300ms": 300 * time.Millisecond, "300 ms": 300 * time.Millisecond, "1m30s": 90 * time.Second, "1 min 30.5 s": 90500 * time.Millisecond, "2,500 ms": 2500 * time.Millisecond,
		"1h": time.Hour, "1 h 2 min": 62 * time.Minute, "12µs": 12 * time.Microsecond, "uniform 31s to 1m1s": 46 * time.Second, "uniform 31 s to 1 min 1 s": 46 * time.Second,
		"exponential, mean 4s": 4 * time.Second, "lognormal, p50 2s, p99 50s": 2 * time.Second, "lognormal, p50 2 s, p99 50 s": 2 * time.Second,
	} {
		assert.Equal(t, want, typical(latency), latency)
	}
	assert.Equal(t, "uniform 31 s to 1 min 1 s", inUnits("uniform 31s to 1m1s", time.Hour))
	assert.Equal(t, "uniform 31 s to 61 s", inUnits("uniform 31s to 1m1s", time.Minute))
	assert.Equal(t, "uniform 31 s to 1 min 1 s", inUnits("uniform 31 s to 1 min 1 s", time.Hour))
	assert.Equal(t, "lognormal, p50 2 s, p99 50 s", inUnits("lognormal, p50 2s, p99 50s", time.Hour))
}

// TestOverload draws nothing of it that is too short, and says how many wait.
func TestOverload(t *testing.T) {
	const sec = time.Second
	h := new(History)
	phases := []trace.TargetPhase{{At: 20 * sec, For: new(10 * sec), Latency: "3s"}}
	target := trace.Target{Name: "api", Latency: "1s", Phases: phases, Segments: []trace.Segment{{Success: 1}, {At: 20 * sec, Success: 1}, {At: 30 * sec, Success: 1}}}
	events := []trace.Event{{Kind: trace.Run, Run: &trace.RunInfo{Targets: []trace.Target{target}}}}
	for _, l := range [][3]int{{1, 10, 10}, {2, 10, 11}, {3, 10, 0}, {25, 10, 20}, {40, 10, 3000}, {41, 10, 2000}, {45, 10, 5}, {46, 10, 60}, {50, 10, 10}, {90, 10, 12}} {
		events = append(events, trace.Event{T: time.Duration(l[0]) * sec, Kind: trace.Load, Target: "api", Busy: l[1], Waiting: l[2]})
	}
	for _, e := range append(events, trace.Event{T: 100 * sec, Kind: trace.End}) {
		require.NoError(t, h.Event(&e))
	}
	type part struct {
		from, to time.Duration
		word     string
	}
	for least, want := range map[time.Duration][]part{
		0: {{0, 2, "up"}, {2, 3, "overloaded, up to 11 wait"}, {3, 20, "up"}, {20, 30, "slow, latency 3 s"}, {30, 45, "overloaded, up to 3,000 wait"},
			{45, 46, "up"}, {46, 50, "overloaded, up to 60 wait"}, {50, 90, "up"}, {90, 100, "overloaded, up to 12 wait"}},
		4 * sec: {{0, 20, "up"}, {20, 30, "slow, latency 3 s"}, {30, 50, "overloaded, up to 3,000 wait"}, {50, 90, "up"}, {90, 100, "overloaded, up to 12 wait"}},
	} {
		var got []part
		for _, s := range h.truth(&h.Run.Targets[0], least) {
			got = append(got, part{s.From / sec, s.To / sec, s.words[0]})
		}
		assert.Equal(t, want, got, "%s", least)
	}
}

// TestSlowTargetsAreSeen has one that is slow by its script: in its lane, in the
// legend and in words, in the timeline and in the picture of load.
func TestSlowTargetsAreSeen(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: 2 * time.Minute, targets: 1, calls: 4}, 1, 1, func(r *Results) {
		target := &r.Panels[0].Run.Targets[0]
		target.Phases = []trace.TargetPhase{{At: time.Minute, For: new(30 * time.Second), Latency: "25s"}}
		target.Segments = []trace.Segment{{Success: 1, Phase: trace.NoPhase}, {At: time.Minute, Success: 1}, {At: 90 * time.Second, Success: 1, Phase: trace.NoPhase}}
	})
	for _, kind := range []string{"timeline", "load"} {
		for _, theme := range ThemeNames {
			d, err := KindOf(kind).Draw(r, Look{Theme: theme})
			require.NoError(t, err)
			var b bytes.Buffer
			require.NoError(t, d.WriteSVG(&b))
			for what, want := range map[string]string{"tooltip": "target0 from 60 s to 90 s: slow, latency 25 s<", "lane": ">slow, latency 25 s</text>", "legend": ">slow</text>", "pattern": `stroke-dasharray="4 4"`} {
				assert.True(t, strings.Contains(b.String(), want), "%s, %s: the %s", kind, theme, what)
			}
		}
	}
}

// TestSingleCallsFail where the target is up by its own script: the lane does not
// say that all is well, unless the failures come of something else.
func TestSingleCallsFail(t *testing.T) {
	const s = time.Second
	up := trace.Target{Name: "t", Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}, {At: 10 * s, Outcome: "failure"}, {At: 20 * s, Success: 1, Outcome: "success", Phase: trace.NoPhase}}}
	limited := up
	limited.Limit = &trace.Limit{Every: s, Burst: 1}
	single := singledWords[0]
	for name, c := range map[string]struct {
		target  trace.Target
		caller  string
		outcome string
		start   time.Duration
		want    []string
	}{
		"fails":              {up, "", trace.Failure, 5 * s, []string{single, "failure", "up"}},
		"fails by the end":   {up, "", trace.Failure, 25 * s, []string{"up", "failure", single}},
		"in the outage":      {up, "", trace.Failure, 10 * s, []string{"up", "failure", "up"}},
		"succeeds":           {up, "", trace.Success, 5 * s, []string{"up", "failure", "up"}},
		"vanishes":           {up, "", trace.Vanished, 5 * s, []string{"up", "failure", "up"}},
		"is cancelled":       {up, "", trace.Cancelled, 5 * s, []string{"up", "failure", "up"}},
		"made by a caller":   {up, "agents", trace.Timeout, 5 * s, []string{"up", "failure", "up"}},
		"more than it takes": {limited, "", trace.RateLimit, 5 * s, []string{"up", "failure", "up"}},
	} {
		h := new(History)
		tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
		tell(trace.Event{Kind: trace.Run, Run: &trace.RunInfo{Targets: []trace.Target{c.target}}})
		tell(trace.Event{T: c.start, Kind: trace.Call, Call: 1, Attempt: 1, To: "t", Target: "t", Caller: c.caller})
		if c.outcome == trace.Vanished {
			tell(trace.Event{T: c.start, Kind: trace.Vanish, Call: 1, Attempt: 1, Target: "t"})
		} else {
			tell(trace.Event{T: c.start + 2*s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "t", Outcome: c.outcome, Took: 2 * s})
		}
		tell(trace.Event{T: 30 * s, Kind: trace.End})
		var got []string
		for _, stretch := range h.truth(&h.Run.Targets[0], 0) {
			got = append(got, stretch.words[0])
		}
		assert.Equal(t, c.want, got, name)
	}
}
