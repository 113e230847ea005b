package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// TestFiveMinuteOutageByHand holds the table of five-minute-outage against
// arithmetic that knows nothing of the replay.
//
// There are n = 40 callers. Caller i starts at x(i), somewhere in [0 s, 10 s), and
// every 10 s from there. A call takes 1 s while the tool is well. From 60 s to
// 360 s it hangs, and a caller waits for it 120 s. The run ends at 900 s.
func TestFiveMinuteOutageByHand(t *testing.T) {
	const n = 40
	src, ok := scenarios.Source("five-minute-outage")
	require.True(t, ok)
	s, err := scenarios.Load("five-minute-outage.yaml", src, scenarios.DefaultLimits())
	require.NoError(t, err)
	costs := map[string]report.Cost{}
	for i := range s.Policies {
		meter := report.NewMeter()
		_, err := replayOne(s, &s.Policies[i], meter)
		require.NoError(t, err)
		costs[s.Policies[i].Name] = meter.Cost()
	}
	is := func(policy, metric string, want float64) {
		t.Helper()
		c := costs[policy]
		got, ok := c.Metric(metric)
		if assert.True(t, ok, "%s of %s is undefined", metric, policy) {
			assert.InDelta(t, want, got, 1e-6, "%s of %s", metric, policy)
		}
	}
	between := func(policy, metric string, least, most float64) {
		t.Helper()
		c := costs[policy]
		got, ok := c.Metric(metric)
		assert.True(t, ok && least <= got && got <= most, "%s of %s is %v, not from %v to %v", metric, policy, got, least, most)
	}
	seconds := func(s float64) float64 { return s * float64(time.Second) }

	// No protection. Before the outage 6 calls a caller (0, 10, ... 50 s + x). The calls at
	// 60+x, 180+x and 300+x hang 120 s each: the next call starts when one ends. From
	// 420+x on all is well: 48 calls until 900 s. In the last 10 s every caller starts
	// one (890+x); those with x >= 9 s are still running at 900 s.
	is("no-protection", "calls", n*(6+3+48))
	is("no-protection", "attempts", n*(6+3+48))
	is("no-protection", "wasted_attempts", n*3)
	is("no-protection", "failed", n*3)
	is("no-protection", "wait_wasted", n*3*seconds(120))
	is("no-protection", "wait_max", seconds(120))
	is("no-protection", "wait_p50", seconds(1))
	is("no-protection", "wait_p99", seconds(120)) // 120 of 2,280 is 5%
	is("no-protection", "refused", 0)
	is("no-protection", "overshoot", 0)
	between("no-protection", "recover", seconds(60+1), seconds(70+1)) // the first call at 420+x, which takes 1 s

	// Plain retries. The call at 60+x tries at once, after 120 s and a wait of 0.1 s, and
	// after another 120 s and 0.2 s; it is cut 300 s after its start, at 360+x, so its third
	// attempt ends there and no wait may begin. Then 54 good calls until 900 s.
	is("plain-retries", "calls", n*(6+1+54))
	is("plain-retries", "attempts", n*(6+3+54))
	is("plain-retries", "wasted_attempts", n*3)
	is("plain-retries", "failed", n)
	is("plain-retries", "wait_wasted", n*seconds(300))
	is("plain-retries", "wait_max", seconds(300))
	is("plain-retries", "wait_p99", seconds(300)) // 40 of 2,440 is 1.6%
	between("plain-retries", "recover", seconds(1), seconds(11))
	is("plain-retries", "amplification", float64(6+3+54)/float64(6+1+54))

	// The breaker. The call of each caller at 60+x is admitted and hangs: 40 wasted attempts.
	// Their timeouts come from 180 s on, and the third trips it. The first two callers
	// have called again by then, as a call of theirs was due long ago: 2 more. Each further
	// timeout restarts the cooldown (T11), the last one before 190 s, so a first probe goes out before
	// 220.5 s. It hangs, and its lease of 30 s and another cooldown pass before the second, which
	// hangs as well: 44 in all. The first probe's failure arrives 120 s after it began, when
	// the cooldown after the second lease is about to end, and restarts it: so the third probe
	// comes after the outage, and closes. In between, one call a caller and 10 s is refused.
	is("breaker", "wasted_attempts", n+2+2)
	is("breaker", "wait_wasted", (n+2+2)*seconds(120))
	// Calls: 6 before the outage, the one that hangs, and 72 from 180+x to 900 s make 79 a
	// caller. The four callers that hang a second time miss 11 of them each.
	is("breaker", "calls", n*79-4*11)
	is("breaker", "openings", 1+2) // the trip, and two leases that ran out
	between("breaker", "detect", seconds(120), seconds(130))
	between("breaker", "open_time", seconds(370-190), seconds(371-180))
	between("breaker", "overshoot", seconds(10), seconds(11)) // refused while the third probe runs
	is("breaker", "wait_max", seconds(120))
	is("breaker", "harm", n) // the calls of the 10 s from 360 s on

	// Retries inside the breaker. The ladder holds every result back for 300 s, so the
	// breaker hears of the outage when it is over, at 360+x: it trips and refuses a healthy
	// tool until 30 s after the last of the 40 failures.
	is("retries+breaker", "wasted_attempts", n*3)
	is("retries+breaker", "wait_wasted", n*seconds(300))
	is("retries+breaker", "openings", 1)
	b := costs["retries+breaker"]
	is("retries+breaker", "harm", n*4) // the calls of the 40 s from 360 s on
	// A third of 40 failures in a row trips it at 360+x, the last comes before 370 s, and 30 s later
	// a probe goes out, which takes 1 s.
	between("retries+breaker", "open_time", seconds(31), seconds(41))
	between("retries+breaker", "overshoot", seconds(30), seconds(41))
	_, trips := b.Metric("detect")
	assert.False(t, trips, "it never trips within the outage")
	harm, _ := b.Metric("harm")
	refused, _ := b.Metric("refused")
	assert.Equal(t, refused, harm, "every refusal came after the outage")

	// Whatever the policy, every call ends well, badly or not at all, and a caller waits 1 s for
	// a good answer; what is unfinished at 900 s began less than 1 s before.
	for policy, c := range costs {
		assert.Equal(t, c.Calls, c.Succeeded+c.Failed+c.Unfinished, policy)
		between(policy, "unfinished", 0, n)
		waited, _ := c.Metric("wait_total")
		wasted, _ := c.Metric("wait_wasted")
		assert.InDelta(t, wasted+seconds(float64(c.Succeeded)), waited, seconds(float64(c.Unfinished)), policy)
	}
}
