package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestWhatAPolicyIsToldToWait reads it off the retries after rate limits, and off
// no others.
func TestWhatAPolicyIsToldToWait(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for want, waits := range map[string][]time.Duration{
		"4 attempts": nil,
		"4 attempts; after a rate limit as told by Retry-After: 47 s":              {47 * s, 47 * s},
		"4 attempts; after a rate limit as told by Retry-After: at most 60 s":      {time.Minute},
		"4 attempts; after a rate limit as told by Retry-After: 5 s, 47 s or 60 s": {60 * s, 5 * s, 47 * s, 5 * s},
		"4 attempts; after a rate limit as told by Retry-After: up to 9 s":         {2 * s, 9 * s, 1 * s, 3 * ms, 4 * s},
		"4 attempts; after a rate limit 5 s":                                       {5 * s, 5 * s},
	} {
		h := new(History)
		tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
		tell(trace.Event{Kind: trace.Run, Run: &trace.RunInfo{Policy: "retries", PolicyAbout: "4 attempts"}})
		tell(trace.Event{Kind: trace.Retry, Call: 1, Attempt: 2, Wait: 100 * ms, Rule: "L1"})
		for _, d := range waits {
			tell(trace.Event{Kind: trace.Retry, Call: 1, Attempt: 2, Wait: d, Rule: "L2"})
		}
		tell(trace.Event{T: 4 * time.Minute, Kind: trace.End})
		assert.Equal(t, want, policyAbout([]*History{h}, 0))
		assert.Equal(t, "Virtual time · seed 0 · policy retries: "+want, provenance([]*History{h}))
	}
	assert.Empty(t, (&History{Run: new(trace.RunInfo)}).about())
}
