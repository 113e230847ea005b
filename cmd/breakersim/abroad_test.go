package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestAbroadIsAsHere plays a scenario in a child process and in a bubble of this
// one: the traces are the same. One child plays all of them.
func TestAbroadIsAsHere(t *testing.T) {
	var child abroad
	defer child.close()
	for _, l := range foreign.Libraries {
		j := bubbled(t, "vanished-probe", l.Name)
		var here, there trace.List
		require.NoError(t, j.play(t, &here))
		require.NoError(t, child.play(j, &there))
		assert.NoError(t, trace.Validate(here))
		assert.Equal(t, here, there)
	}
}

// bubbled is a job: a built-in scenario under the policy breaker.
func bubbled(t testing.TB, scenario, breaker string) *bubbleJob {
	t.Helper()
	src, ok := scenarios.Source(scenario)
	require.True(t, ok)
	return &bubbleJob{File: scenario, Source: src, Limits: scenarios.DefaultLimits(), Policy: "breaker", Breaker: breaker}
}

// TestAbroadSaysWhatItCannot: the reason comes over the pipe, and the child goes on.
func TestAbroadSaysWhatItCannot(t *testing.T) {
	var child abroad
	defer child.close()
	err := child.play(bubbled(t, "sick-tool-has-a-substitute", "gobreaker"))
	assert.ErrorIs(t, err, replay.ErrCannot)
	assert.ErrorContains(t, err, "substitutes take calls")
	var events trace.List
	assert.NoError(t, child.play(bubbled(t, "vanished-probe", "gobreaker"), &events))
	assert.NoError(t, trace.Validate(events))
}

// TestAbroadOutlivesItsChild: a job that finds its child gone is told as such, and
// the next one has another child.
func TestAbroadOutlivesItsChild(t *testing.T) {
	var child abroad
	defer child.close()
	require.NoError(t, child.start())
	require.NoError(t, child.child.Process.Kill())
	err := child.play(bubbled(t, "vanished-probe", "gobreaker"))
	assert.ErrorContains(t, err, "gobreaker brought its process down: signal: killed")
	assert.ErrorAs(t, err, new(abroadError))
	var events trace.List
	assert.NoError(t, child.play(bubbled(t, "vanished-probe", "gobreaker"), &events))
	assert.NoError(t, trace.Validate(events))
}

// TestALibraryIsLikeItsPreset: the whole way, every call fares under the library as
// under our breaker with its preset, those that were cancelled among them, and
// those whose failure counts as a success.
func TestALibraryIsLikeItsPreset(t *testing.T) {
	var child abroad
	defer child.close()
	for preset, counts := range map[string]string{"gobreaker": "cancelled: failure", "failsafe-go": "cancelled: failure, permanent: success"} {
		file := "scenario: a\nbreakers: {x: {kind: tool, like: " + preset + ", failure_threshold: 2, recovery_duration: 3100ms, counts: {" + counts + "}}}\n" +
			"targets: {x: {latency: 200ms, mix: {success: 0.4, failure: 0.2, permanent: 0.2, cancelled: 0.2}}}\n" +
			"callers: [{name: c, count: 3, to: x, every: 1s, until: 5m}]\n"
		j := &bubbleJob{File: "a.yaml", Source: []byte(file), Limits: scenarios.DefaultLimits(), Policy: "breaker", Breaker: preset}
		s, err := scenarios.Load(j.File, j.Source, j.Limits)
		require.NoError(t, err)
		var ours, theirs trace.List
		_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&ours}})
		require.NoError(t, err)
		require.NoError(t, child.play(j, &theirs))
		assert.NoError(t, trace.Validate(theirs), preset)
		refused, admitted := fared(ours)
		assert.Greater(t, len(refused), 100, preset)
		assert.Greater(t, len(admitted), 100, preset)
		refusedThere, admittedThere := fared(theirs)
		assert.Equal(t, refused, refusedThere, preset)
		assert.Equal(t, admitted, admittedThere, preset)
	}
}

// fared are the calls that were refused, and those that were not.
func fared(events trace.List) (refused, admitted []int) {
	for i := range events {
		switch events[i].Kind {
		case trace.Refuse:
			refused = append(refused, events[i].Call)
		case trace.Admit:
			admitted = append(admitted, events[i].Call)
		}
	}
	return refused, admitted
}
