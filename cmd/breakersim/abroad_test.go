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
// one: the traces are the same.
func TestAbroadIsAsHere(t *testing.T) {
	src, ok := scenarios.Source("vanished-probe")
	require.True(t, ok)
	for _, l := range foreign.Libraries {
		j := bubbleJob{File: "vanished-probe", Source: src, Limits: scenarios.DefaultLimits(), Policy: "breaker", Breaker: l.Name}
		var here, abroad trace.List
		require.NoError(t, j.play(t, &here))
		require.NoError(t, playAbroad(&j, &abroad))
		assert.NoError(t, trace.Validate(here))
		assert.Equal(t, here, abroad)
	}
}

// TestAbroadSaysWhatItCannot: the reason comes over the pipe.
func TestAbroadSaysWhatItCannot(t *testing.T) {
	src, ok := scenarios.Source("sick-tool-has-a-substitute")
	require.True(t, ok)
	j := bubbleJob{File: "sick-tool-has-a-substitute", Source: src, Limits: scenarios.DefaultLimits(), Policy: "breaker", Breaker: "gobreaker"}
	err := playAbroad(&j)
	assert.ErrorIs(t, err, replay.ErrCannot)
	assert.ErrorContains(t, err, "substitutes take calls")
}
