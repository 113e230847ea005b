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
