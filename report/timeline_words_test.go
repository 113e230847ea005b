package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// restartedRun opens at 3 s and probes at 55 s; late failures come
// in between.
func restartedRun(t *testing.T, late ...time.Duration) *History {
	t.Helper()
	info := &trace.RunInfo{Scenario: "late", Targets: []trace.Target{{Name: "t"}},
		Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Tool: &trace.Tool{Guards: "t", RecoveryDuration: 30 * time.Second}}}}
	events := []trace.Event{
		{Kind: trace.Run, Run: info},
		{T: 3 * time.Second, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 3 * time.Second, Rule: "T3"},
	}
	for _, at := range late {
		events = append(events, trace.Event{T: at, Kind: trace.Result, Call: 1, Attempt: 1, Target: "t", Outcome: trace.Failure, Breaker: "b", Applied: true, Rule: "T11"})
	}
	events = append(events,
		trace.Event{T: 55 * time.Second, Kind: trace.Transition, Breaker: "b", From: "open", To: "half-open", Effective: 55 * time.Second, Rule: "T5", Call: 2},
		trace.Event{T: 70 * time.Second, Kind: trace.End})
	h := new(History)
	for i := range events {
		require.NoError(t, h.Event(&events[i]))
	}
	return h
}

// TestRestartsAreTold holds that a cooldown that late failures prolonged says so
// in the reason, the description, the band and the legend, and no other does.
func TestRestartsAreTold(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		late   []time.Duration
		reason string
		desc   string
		ticks  int
	}{
		"none": {nil, "the cooldown was over; call 2", "open to 55 s, half-open", 0},
		"one":  {[]time.Duration{25 * s}, "the cooldown, restarted at 25 s by a late failure (T11), was over", "open to 55 s (cooldown restarted once by late failures, last at 25 s), half-open", 1},
		"two":  {[]time.Duration{15 * s, 25 * s}, "restarted twice by late failures (T11), last at 25 s, was over", "(cooldown restarted twice by late failures, last at 25 s)", 2},
		"some at one place": {[]time.Duration{3 * s, 15 * s, 15 * s, 25 * s}, "restarted 3 times by late failures (T11), last at 25 s, was over",
			"(cooldown restarted 3 times by late failures, last at 25 s)", 2},
		"at the band's edge": {[]time.Duration{3010 * time.Millisecond, 3500 * time.Millisecond}, "restarted twice by late failures (T11), last at 3.5 s", "twice by late failures", 1},
		"at the trip":        {[]time.Duration{3 * s}, "the cooldown was over; call 2", "open to 55 s, half-open", 0},
	} {
		h := restartedRun(t, c.late...)
		assert.Contains(t, h.Moments[1].Reason(), c.reason, name)
		f, _ := drawn(t, Look{}, h)
		assert.Contains(t, f.t.describe(), c.desc, name)
		var b bytes.Buffer
		require.NoError(t, pictured(t, "timeline", Look{}, h).WriteSVG(&b))
		assert.Equal(t, c.ticks, strings.Count(b.String(), "<title>b: a late failure")+strings.Count(b.String(), "<title>b: late failures"), name)
		assert.Equal(t, c.ticks > 0, strings.Contains(b.String(), "a late failure restarts the cooldown</text>"), "%s: the legend", name)
	}
}

// switching is a run whose model breaker goes from backup to backup.
func switching(t *testing.T, switches int) *History {
	t.Helper()
	info := &trace.RunInfo{Targets: []trace.Target{{Name: "p"}, {Name: "b1"}, {Name: "b2"}},
		Breakers: []trace.Breaker{{Name: "m", Kind: "model", Model: &trace.Model{Primary: "p", Chain: []trace.Backup{{Name: "b1"}, {Name: "b2"}}}}}}
	events := []trace.Event{
		{Kind: trace.Run, Run: info},
		{T: time.Second, Kind: trace.Transition, Breaker: "m", From: "primary", To: "fallback", Effective: time.Second, Rule: "M10", Failures: 3},
		{T: time.Second, Kind: trace.Switch, Breaker: "m", From: "p", To: "b1", Rule: "M10"},
	}
	for i := range switches {
		names := []string{"b1", "b2", "b1"}
		events = append(events, trace.Event{T: time.Duration(i+2) * time.Second, Kind: trace.Switch, Breaker: "m", From: names[i%2], To: names[i%2+1], Rule: "M11"})
	}
	events = append(events,
		trace.Event{T: 61 * time.Second, Kind: trace.Transition, Breaker: "m", From: "fallback", To: "recovering", Effective: 61 * time.Second, Rule: "M2"},
		trace.Event{T: 70 * time.Second, Kind: trace.End})
	h := new(History)
	for i := range events {
		require.NoError(t, h.Event(&events[i]))
	}
	return h
}

// TestSwitchesAreTold below the picture with the rule that made them, as long as
// there is room; the transitions keep their numbers.
func TestSwitchesAreTold(t *testing.T) {
	for switches, want := range map[int][]string{
		0: {"1 1 s: primary → fallback, M10: the 3rd failed turn in a row; turns go to b1", "2 61 s: fallback → recovering, M2: the cooldown was over; a turn was let through"},
		1: {"1 1 s: primary → fallback, M10: the 3rd failed turn in a row; turns go to b1", "0 2 s: still fallback, M11: b1 has spent its budget; turns go to b2",
			"2 61 s: fallback → recovering, M2: the cooldown was over; a turn was let through"},
		mostMoments - 1: {"1 1 s: primary → fallback, M10: the 3rd failed turn in a row; turns go to b1", "2 61 s: fallback → recovering, M2: the cooldown was over; a turn was let through"},
	} {
		f, p := drawn(t, Look{}, switching(t, switches))
		var got, numbers []string
		for _, m := range f.moments {
			got = append(got, fmt.Sprint(m.n)+" "+strings.Join(m.lines, " "))
		}
		for _, s := range p.texts {
			if s.text == "0" && s.y < f.plotTop+f.plotHeight || s.text == "1" || s.text == "2" {
				numbers = append(numbers, s.text)
			}
		}
		assert.Equal(t, want, got)
		assert.Equal(t, []string{"1", "2", "1", "2"}, numbers, "in the plot and below it")
	}
}

// TestBarsAreExplained has a mark and a bar of one kind in one picture: one
// entry of the legend shows both.
func TestBarsAreExplained(t *testing.T) {
	few := world{policy: "few", end: time.Minute, targets: 1, calls: 2}.history(t)
	many := world{policy: "many", end: time.Minute, targets: 1, calls: 4000}.history(t)
	for _, panels := range [][]*History{{few}, {many}, {few, many}} {
		f, _ := drawn(t, Look{}, panels...)
		served := 0
		for _, k := range f.keys {
			if k.text == "served" {
				served++
			}
		}
		assert.Equal(t, 1, served)
	}
}

// TestPhasesWithoutRoomAreTold below: one that is slow is never named up alone.
// Those that have their words are not told again.
func TestPhasesWithoutRoomAreTold(t *testing.T) {
	const sec = time.Second
	h := world{policy: "few", end: time.Minute, targets: 1, calls: 2}.history(t)
	h.Run.Targets[0].Phases = []trace.TargetPhase{{At: 10 * sec, For: new(4 * sec), Latency: "3s"}, {At: 30 * sec, For: new(30 * sec), Latency: "3s"}}
	h.Run.Targets[0].Segments = []trace.Segment{
		{Success: 1, Phase: trace.NoPhase}, {At: 10 * sec, Success: 1, Phase: 0}, {At: 14 * sec, Success: 1, Phase: trace.NoPhase},
		{At: 20 * sec, Outcome: trace.Failure, Phase: trace.NoPhase}, {At: 21 * sec, Success: 1, Phase: trace.NoPhase},
		{At: 30 * sec, Success: 1, Phase: 1}, {At: 60 * sec, Success: 1, Phase: trace.NoPhase}}
	name := h.Run.Targets[0].Name
	f, p := drawn(t, Look{}, h)
	assert.Contains(t, f.captions, name+" from 10 s to 14 s: slow, latency 3 s · "+name+" from 20 s to 21 s: failure")
	var got []string
	for _, s := range p.texts {
		if strings.HasPrefix(s.text, "up") || strings.HasPrefix(s.text, "slow, ") || s.text == "failure" {
			got = append(got, s.text)
		}
	}
	assert.Equal(t, []string{"up", "up", "up", "slow, latency 3 s"}, got)
}

// TestCancelledIsNotFailed, nor is what vanished: each has a row of its own,
// however few there are.
func TestCancelledIsNotFailed(t *testing.T) {
	for _, k := range rowKinds {
		for _, kind := range k.kinds {
			if kind == MarkCancelled || kind == MarkLost {
				assert.Equal(t, rowWords[kind], k.name)
			}
		}
	}
}

// TestWorldInWords has all that no lane shows of a target.
func TestWorldInWords(t *testing.T) {
	queue := 5
	r := &trace.RunInfo{Targets: []trace.Target{
		{Name: "a", Network: "exponential, mean 20 ms", Warmup: 90 * time.Second, Bursts: &trace.Bursts{Apart: 45 * time.Second, For: 5 * time.Second, Outcome: "rate_limit", Latency: "3 s"}},
		{Name: "b", Capacity: &trace.Capacity{Slowdown: 10 * time.Millisecond, CancelOnTimeout: true}, Bursts: &trace.Bursts{Apart: time.Minute, For: time.Second, Latency: "3 s"}},
		{Name: "c", Capacity: &trace.Capacity{Servers: 2, Queue: &queue, Slowdown: time.Second}, Limit: &trace.Limit{Every: time.Second, Burst: 3}},
	}}
	assert.Equal(t, []string{
		"network to a, each way: exponential, mean 20 ms",
		"a is slow for 90 s after an outage",
		"a has bursts of trouble by chance, on average 45 s apart and 5 s long: rate limit, latency 3 s",
		"b serves any number at a time, each slowing the others by 10 ms, and stops when the caller does",
		"b has bursts of trouble by chance, on average 60 s apart and 1 s long: latency 3 s",
		"c takes one call every 1 s, and up to 3 at once",
		"c serves 2 at a time, each slowing the others by 1 s, with a queue of 5",
	}, inWords(r, 5*time.Minute))
}

// TestBursts are kept by target; one that is under way ends with the run.
func TestBursts(t *testing.T) {
	h := new(History)
	for _, e := range []trace.Event{
		{Kind: trace.Run, Run: &trace.RunInfo{}},
		{T: 1, Kind: trace.Burst, Target: "a", On: true},
		{T: 2, Kind: trace.Burst, Target: "b", On: true},
		{T: 3, Kind: trace.Burst, Target: "a"},
		{T: 5, Kind: trace.Burst, Target: "a", On: true},
		{T: 9, Kind: trace.End},
	} {
		require.NoError(t, h.Event(&e))
	}
	assert.Equal(t, map[string][]trace.Span{"a": {{From: 1, To: 3}, {From: 5, To: 9}}, "b": {{From: 2, To: 9}}}, h.Bursts)
}

// TestCaptionsHang: the lines that go on with a statement stand in, and the tab
// that says so is not drawn.
func TestCaptionsHang(t *testing.T) {
	h := toolRun(t)
	h.Run.Breakers[0].Name = strings.Repeat("long name ", 12)
	f, p := drawn(t, Look{Width: 480}, h)
	require.Greater(t, len(f.captions), 1)
	assert.True(t, strings.HasPrefix(f.captions[1], "\t"), f.captions[1])
	for _, b := range p.texts {
		assert.NotContains(t, b.text, "\t")
	}
}
