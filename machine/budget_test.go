package machine_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// TestStandardRetryQuota plays the published vectors of the AWS SDKs' standard
// retry mode: a quota of 500, 5 for a retry, 10 after a timeout, 1 back for a
// clean success, and what it took back for a retried one.
func TestStandardRetryQuota(t *testing.T) {
	type after struct {
		tokens float64
		wait   time.Duration // 0: the call is over
	}
	over := func(tokens float64) after { return after{tokens, 0} }
	for name, v := range map[string]struct {
		start    float64
		attempts int
		limit    time.Duration
		outcomes string // f a failure, t a timeout, s a success
		want     []after
	}{
		"succeeds at the third":     {500, 3, 20 * s, "ffs", []after{{495, s}, {490, 2 * s}, over(495)}},
		"fails three times":         {500, 3, 20 * s, "fff", []after{{495, s}, {490, 2 * s}, over(490)}},
		"enough for one":            {5, 3, 20 * s, "ff", []after{{0, s}, over(0)}},
		"none left":                 {0, 3, 20 * s, "f", []after{over(0)}},
		"waits double":              {500, 5, 20 * s, "fffff", []after{{495, s}, {490, 2 * s}, {485, 4 * s}, {480, 8 * s}, over(480)}},
		"up to a cap":               {500, 5, 3 * s, "fffff", []after{{495, s}, {490, 2 * s}, {485, 3 * s}, {480, 3 * s}, over(480)}},
		"a timeout takes ten":       {500, 3, 20 * s, "tts", []after{{490, s}, {480, 2 * s}, over(490)}},
		"a clean success puts in 1": {480, 3, 20 * s, "s", []after{over(481)}},
		"never more than it holds":  {500, 3, 20 * s, "s", []after{over(500)}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := machine.NewBudget(machine.BudgetSettings{Tokens: 500, Start: v.start, PerRetry: 5, PerTimeout: 10, PerSuccess: 1, Refund: true})
			require.NoError(t, err)
			r := machine.Ladder{Curve: "exponential", Jitter: "none", Attempts: v.attempts, Base: s, Cap: v.limit}.Start(0)
			retried, timeout := false, false
			for i, o := range v.outcomes {
				var step machine.Step
				if o == 's' {
					b.Success(retried, timeout)
				} else if step = r.Next(0, machine.Transient, -1, 0.5); step.Retry {
					timeout = o == 't'
					retried = b.Take(timeout)
					if !retried {
						step = machine.Step{Rule: machine.L6}
					}
				}
				assert.Equal(t, v.want[i], after{b.Tokens(), step.Wait})
			}
		})
	}
}

func TestBudgetSettings(t *testing.T) {
	assert.NoError(t, machine.DefaultBudgetSettings().Validate())
	b, err := machine.NewBudget(machine.BudgetSettings{Tokens: 2, PerCall: 1.5, PerRetry: 1})
	require.NoError(t, err)
	assert.False(t, b.Take(false))
	b.Call()
	b.Call()
	assert.Equal(t, 2.0, b.Tokens(), "full")
	assert.True(t, b.Take(true), "a timeout costs as any failure")
	assert.True(t, b.Take(false), "what it costs is enough")
	assert.False(t, b.Take(false))
	b, err = machine.NewBudget(machine.BudgetSettings{Tokens: 2, Start: 2, PerRetry: 1, PerTimeout: 0.5})
	require.NoError(t, err)
	assert.True(t, b.Take(true))
	assert.Equal(t, 1.5, b.Tokens(), "less than a token is a cost, too")
	for want, change := range map[string]func(*machine.BudgetSettings){
		"tokens is -1; it must be a number from 0 on":        func(s *machine.BudgetSettings) { s.Tokens = -1 },
		"per_retry is NaN; it must be a number from 0 on":    func(s *machine.BudgetSettings) { s.PerRetry = math.NaN() },
		"per_success is +Inf; it must be a number from 0 on": func(s *machine.BudgetSettings) { s.PerSuccess = math.Inf(1) },
		"start is 11; the bucket holds 10":                   func(s *machine.BudgetSettings) { s.Start = 11 },
	} {
		s := machine.DefaultBudgetSettings()
		change(&s)
		_, err := machine.NewBudget(s)
		assert.EqualError(t, err, want)
	}
}

// TestRetryBreaker holds the share at its edge: as much as it may be lets a
// retry go.
func TestRetryBreaker(t *testing.T) {
	b, err := machine.NewRetryBreaker(0.5)
	require.NoError(t, err)
	assert.True(t, b.Allow(), "nothing failed yet")
	b.Call()
	b.Failure()
	assert.False(t, b.Allow(), "1 of 1")
	b.Call()
	assert.True(t, b.Allow(), "1 of 2")
	b.Failure()
	assert.False(t, b.Allow(), "2 of 2: a retry that fails counts as well")
	for _, most := range []float64{-0.1, 1.1, math.NaN()} {
		_, err = machine.NewRetryBreaker(most)
		assert.EqualError(t, err, fmt.Sprintf("the share of failures is %v; it must be from 0 to 1", most))
	}
}
