package machine

import (
	"fmt"
	"math"
	"time"
)

// Limits of a ladder that no setting changes (L2).
const (
	rateLimitRetries     = 3                // the next rate limit in a call escalates
	rateLimitDefaultWait = 5 * time.Second  // where the other side names no time
	rateLimitLongestWait = 60 * time.Second // whatever time it names
)

// Curve is how waits grow from one retry to the next: a row of [Curves].
type Curve struct {
	Name string
	wait func(n int, base, limit time.Duration) time.Duration // n = 0 before the first retry
}

// Curves are the ladders by name. A further one is one more row. Both are as
// old as retries; the exponential one is Metcalfe and Boggs's (Ethernet, 1976),
// truncated at a cap.
var Curves = []Curve{
	{"exponential", exponential}, // min(base * 2^n, cap): L1
	{"fixed", func(_ int, base, limit time.Duration) time.Duration { return min(base, limit) }},
}

func exponential(n int, base, limit time.Duration) time.Duration {
	d := base
	for ; n > 0 && d < limit; n-- {
		if d > math.MaxInt64/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}

// Jitter is how chance is mixed into a wait d (L4): a row of [Jitters].
type Jitter struct {
	Name string
	mix  func(u float64, d time.Duration, l Ladder, previous time.Duration) time.Duration // u in [0, 1)
}

// Jitters are the kinds of jitter by name. A further one is one more row. Full,
// equal and decorrelated are those of the AWS Architecture Blog, "Exponential
// Backoff And Jitter" (Brooker, March 2015); proportional is that of gRPC and of
// most client libraries, here a tenth either way.
var Jitters = []Jitter{
	{"none", func(_ float64, d time.Duration, _ Ladder, _ time.Duration) time.Duration { return d }},
	{"proportional", func(u float64, d time.Duration, _ Ladder, _ time.Duration) time.Duration { // d times 0.9 to 1.1
		return between(u, d-d/10, d+d/10)
	}},
	{"full", func(u float64, d time.Duration, _ Ladder, _ time.Duration) time.Duration { return between(u, 0, d) }},
	{"equal", func(u float64, d time.Duration, _ Ladder, _ time.Duration) time.Duration { return between(u, d/2, d) }},
	{"decorrelated", func(u float64, _ time.Duration, l Ladder, previous time.Duration) time.Duration { // not by the curve
		return min(l.Cap, between(u, l.Base, max(l.Base, min(previous, math.MaxInt64/3)*3)))
	}},
}

// between is the point u of the way from a to b, to the nanosecond. The inner
// conversion keeps the product from being fused with the sum, which would
// round otherwise on some processors.
func between(u float64, a, b time.Duration) time.Duration {
	return a + time.Duration(math.Round(float64(u*float64(b-a))))
}

// Ladder is how a call is tried again (L1 to L3). The zero value never retries.
type Ladder struct {
	Curve     string        // a name of [Curves]
	Jitter    string        // a name of [Jitters]
	Attempts  int           // tries in all that may end in a transient failure
	Base, Cap time.Duration // the first wait, and the longest one before jitter
	Deadline  time.Duration // for the call as a whole, from its start; 0: none

	// A rate limit waits as long as it was told, on a budget of its own (L2),
	// unless one of these is set.
	FailOnRateLimit  bool // the call fails at the first one
	IgnoreRetryAfter bool // it is a transient failure like any other (L1)
}

// DefaultLadder is L1: 4 attempts, waits of 100 ms doubling up to 10 s, each
// times 0.9 to 1.1, within 5 minutes.
func DefaultLadder() Ladder {
	return Ladder{Curve: "exponential", Jitter: "proportional", Attempts: 4, Base: 100 * time.Millisecond, Cap: 10 * time.Second, Deadline: 5 * time.Minute}
}

// Validate says what is wrong with the ladder, if anything is.
func (l Ladder) Validate() error {
	_, curve := find(Curves, func(c Curve) bool { return c.Name == l.Curve })
	_, jitter := find(Jitters, func(j Jitter) bool { return j.Name == l.Jitter })
	switch {
	case !curve:
		return fmt.Errorf("no ladder is named %q", l.Curve)
	case !jitter:
		return fmt.Errorf("no jitter is named %q", l.Jitter)
	case l.Attempts < 1:
		return fmt.Errorf("attempts is %d; a call needs at least 1", l.Attempts)
	case l.Base < 0 || l.Cap < 0 || l.Deadline < 0:
		return fmt.Errorf("base is %v, cap %v, deadline %v; none may be negative", l.Base, l.Cap, l.Deadline)
	}
	return nil
}

func find[T any](rows []T, is func(T) bool) (T, bool) {
	for _, r := range rows {
		if is(r) {
			return r, true
		}
	}
	var none T
	return none, false
}

// Retry is a ladder being climbed: one for each call.
type Retry struct {
	l          Ladder
	curve      Curve
	jitter     Jitter
	start      time.Duration
	failures   int // transient ones so far
	rateLimits int
	previous   time.Duration // the last L1 wait
}

// Start begins a call at now. The ladder must be valid.
func (l Ladder) Start(now time.Duration) Retry {
	r := Retry{l: l, start: now, previous: l.Base}
	r.curve, _ = find(Curves, func(c Curve) bool { return c.Name == l.Curve })
	r.jitter, _ = find(Jitters, func(j Jitter) bool { return j.Name == l.Jitter })
	return r
}

// Deadline is when the call as a whole is over: an attempt that runs then is
// cut and ends as a timeout (L1). An answer exactly then is still an answer.
func (r *Retry) Deadline() time.Duration {
	if r.l.Deadline == 0 {
		return math.MaxInt64
	}
	return addSaturated(r.start, r.l.Deadline)
}

// Step is what follows a failed attempt.
type Step struct {
	Retry bool          // try again, after Wait; otherwise the call has failed
	Wait  time.Duration // 0 or more
	Rule  Rule          // L1, L2 or L3: why
}

// Next says what follows an attempt that failed at now. retryAfter is the wait
// that a rate limit named, negative if it named none. u is uniform in [0, 1) and
// the caller's, so that a replay can repeat it.
func (r *Retry) Next(now time.Duration, k Kind, retryAfter time.Duration, u float64) Step {
	var s Step
	if k == RateLimit && r.l.IgnoreRetryAfter && !r.l.FailOnRateLimit {
		k = Transient
	}
	switch k {
	case Permanent:
		return Step{Rule: L3}
	case RateLimit:
		r.rateLimits++
		if r.l.FailOnRateLimit || r.rateLimits > rateLimitRetries {
			return Step{Rule: L2}
		}
		if retryAfter < 0 {
			retryAfter = rateLimitDefaultWait
		}
		s = Step{Retry: true, Wait: min(retryAfter, rateLimitLongestWait), Rule: L2}
	default:
		r.failures++
		if r.failures >= r.l.Attempts {
			return Step{Rule: L1}
		}
		d := r.curve.wait(r.failures-1, r.l.Base, r.l.Cap)
		r.previous = r.jitter.mix(u, d, r.l, r.previous)
		s = Step{Retry: true, Wait: r.previous, Rule: L1}
	}
	if addSaturated(now, s.Wait) >= r.Deadline() {
		return Step{Rule: L1}
	}
	return s
}
