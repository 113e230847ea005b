package breakertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestOursFollowsAllRules: our own breaker, seen from outside only.
func TestOursFollowsAllRules(t *testing.T) {
	for _, f := range breakertest.Check(t, breakertest.Ours()) {
		assert.Equal(t, breakertest.Yes, f.Answer, "%s: %s", f.Rule.ID, f.Why)
		assert.NoError(t, trace.Validate(f.Trace), f.Rule.ID)
		t.Log(f.Rule.ID, f.Why)
	}
}

// TestRulesHoldAtHome plays the scenarios without a bubble: what they expect comes.
func TestRulesHoldAtHome(t *testing.T) {
	for i := range breakertest.Rules {
		s := breakertest.Rules[i].Scenario()
		failures, err := replay.Run(s, &s.Policies[0], replay.Options{})
		require.NoError(t, err)
		assert.Empty(t, failures, s.Name)
	}
}
