package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// fleetRun is a run of seven callers with a breaker each, of which the first opens
// at 2 s, the second at 4 s, and the first is closed again at 8 s, of 10 s.
func fleetRun(t *testing.T) (*History, Cost) {
	t.Helper()
	const sec = time.Second
	run := &trace.RunInfo{Scenario: "fleet", Policy: "breaker", Targets: []trace.Target{{Name: "api", Segments: []trace.Segment{{Success: 1, Phase: trace.NoPhase}}}},
		Breakers: []trace.Breaker{{Name: "api", Kind: "tool", Reports: "permit", Tool: &trace.Tool{Guards: "api", FailureThreshold: 1, RecoveryDuration: 6 * sec},
			Per: trace.PerCaller, Instances: []trace.Instance{{Name: "agents", Count: 6}, {Name: "lone"}}}}}
	move := func(at time.Duration, breaker, from, to, rule string) trace.Event {
		return trace.Event{T: at, Kind: trace.Transition, Breaker: breaker, From: from, To: to, Effective: at, Rule: rule}
	}
	states := []trace.BreakerState{}
	for name := range run.Breakers[0].Each() {
		state := "closed"
		if name == "api[lone]" {
			state = "open"
		}
		states = append(states, trace.BreakerState{Breaker: name, State: state})
	}
	events := trace.List{{Kind: trace.Run, Run: run}, move(2*sec, "api[agents 1]", "closed", "open", "T3"), move(4*sec, "api[lone]", "closed", "open", "T3"),
		move(8*sec, "api[agents 1]", "open", "half-open", "T5"), move(8*sec, "api[agents 1]", "half-open", "closed", "T8"), {T: 10 * sec, Kind: trace.End, States: states}}
	require.NoError(t, trace.Validate(events))
	h, m := new(History), NewMeter()
	for i := range events {
		require.NoError(t, h.Event(&events[i]))
		require.NoError(t, m.Event(&events[i]))
	}
	return h, m.Cost()
}

func TestFleet(t *testing.T) {
	h, cost := fleetRun(t)
	require.Len(t, h.Fleets, 1)
	assert.Empty(t, h.Breakers, "none is told by itself")
	assert.Empty(t, h.Moments)
	f := h.Fleets[0]
	assert.Len(t, f.Members, 7)
	most, at := f.peak()
	assert.Equal(t, 2, most)
	assert.Equal(t, 4*time.Second, at)
	assert.Equal(t, 1, f.astray(h.End))
	open := func(s share) float64 { return s[4] }
	columns := f.shares(0, h.End, 5)
	assert.InDeltaSlice(t, []float64{0, 1, 2, 2, 1}, []float64{open(columns[0]), open(columns[1]), open(columns[2]), open(columns[3]), open(columns[4])}, 1e-4)
	assert.Equal(t, "Of the 7 breakers of api, one for each of 7 callers, at most 2 are not closed at one time, first at 4 s; at the end it is 1. ", f.describe(h.End))
	assert.Equal(t, "Each caller had a breaker of its own: seven of them, all set alike. The first opened at 2 s, and by 4 s two of them had (T3). At the end one of them was still not closed.",
		h.toldFleet(f).String())
	require.Len(t, cost.Breakers, 1)
	assert.Equal(t, 2, cost.Breakers[0].Openings, "of all together")
	assert.Equal(t, 6*time.Second, cost.Breakers[0].OpenTime, "of the one that was open for longest")
	tallies := h.tallies(0, 0)
	require.Len(t, tallies, 1)
	assert.Equal(t, 2, tallies[0].taken[*trace.MoveOf("closed", "open", "T3")])
	assert.Equal(t, 1714*time.Millisecond, tallies[0].spent("open"), "12 s by 7")
}
