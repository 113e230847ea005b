package replay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

const drawnPhases = `
scenario: drawn
duration: 20m
targets:
  a:
    phases:
      - {at: {uniform: [1m, 5m]}, for: {lognormal: {p50: 4m, p99: 5m}}, outcome: timeout}
      - {at: 18m, for: 1m, outcome: failure}
  b: {phases: [{at: {uniform: [1m, 5m]}, outcome: failure}]}
calls: [{at: 1s, to: a}, {at: 2s, to: b}]
policies: [no-protection, plain-retries]
`

// phasesOf are a target's phases as a run's first event tells them, and the
// instants at which they are told to begin and end.
func phasesOf(t *testing.T, s *scenarios.Scenario, policy, target int) (told trace.Target, changes []time.Duration) {
	t.Helper()
	_, err := replay.Run(s, &s.Policies[policy], replay.Options{Sinks: []trace.Sink{sinkFunc(func(e *trace.Event) error {
		switch {
		case e.Kind == trace.Run:
			told = e.Run.Targets[target]
		case e.Kind == trace.Phase && e.Target == told.Name:
			changes = append(changes, e.T)
		}
		return nil
	})}})
	require.NoError(t, err)
	return told, changes
}

type sinkFunc func(*trace.Event) error

func (f sinkFunc) Event(e *trace.Event) error { return f(e) }

// TestDrawnPhases: what the run says of itself is what happens in it; another
// policy has the same world, another seed has not, and a target's draws are its own.
func TestDrawnPhases(t *testing.T) {
	s, err := scenarios.Load("drawn.yaml", []byte(drawnPhases), scenarios.DefaultLimits())
	require.NoError(t, err)
	means := [2]time.Duration{}
	seen := map[time.Duration]bool{}
	const seeds = 200
	for seed := range uint64(seeds) {
		own := *s
		own.Seed = seed
		a, changes := phasesOf(t, &own, 0, 0)
		at, span := a.Phases[0].At, *a.Phases[0].For
		assert.True(t, time.Minute <= at && at < 5*time.Minute, "%v", at)
		assert.Equal(t, []time.Duration{at, at + span, 18 * time.Minute, 19 * time.Minute}, changes)
		assert.Equal(t, at, a.Segments[1].At)
		again, _ := phasesOf(t, &own, 1, 0)
		assert.Equal(t, a, again)
		b, _ := phasesOf(t, &own, 0, 1)
		assert.NotEqual(t, at, b.Phases[0].At)
		assert.False(t, seen[at], "another world")
		seen[at] = true
		means[0] += at / seeds
		means[1] += span / seeds
	}
	assert.InDelta(t, 180, means[0].Seconds(), 3*69.3/14.2, "the mean of uniform 1m to 5m, within three of its deviations")
	assert.InDelta(t, 240, means[1].Seconds(), 12)
}
