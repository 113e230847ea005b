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
		"at the trip": {[]time.Duration{3 * s}, "the cooldown was over; call 2", "open to 55 s, half-open", 0},
	} {
		h := restartedRun(t, c.late...)
		tl := Timeline{Panels: []*History{h}}
		assert.Contains(t, h.Moments[1].Reason(), c.reason, name)
		assert.Contains(t, tl.describe(), c.desc, name)
		var b bytes.Buffer
		require.NoError(t, tl.WriteSVG(&b))
		assert.Equal(t, c.ticks, strings.Count(b.String(), "<title>b: a late failure")+strings.Count(b.String(), "<title>b: late failures"), name)
		assert.Equal(t, c.ticks > 0, strings.Contains(b.String(), "a late failure restarts the cooldown</text>"), "%s: the legend", name)
	}
}
