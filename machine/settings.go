package machine

import (
	"fmt"
	"math"
	"time"
)

// ToolSettings configure a [ToolBreaker]. What follows IgnoreStale is off in
// its zero value: the breaker is then one of T1 to T16 to the letter.
type ToolSettings struct {
	FailureThreshold int           // failures in a row that open it (T3); 0: it never opens so, and still counts
	RecoveryDuration time.Duration // the cooldown: how long it stays open after the last failure (T4, T5)
	ProbeTimeout     time.Duration // the probe's lease (T7); 0: none, and a lost probe wedges it for good
	IgnoreStale      bool          // in Closed, ignore results of calls admitted before it last opened (T13)

	Counts   Counts   // what each kind of result counts as (T20)
	Trip     Trip     // when it opens, beside failures in a row (T21, T22)
	Probing  Probing  // how recovery is tested (T23 to T26, T34)
	Cooldown Cooldown // how the cooldown varies (T27 to T30)
}

// Take is what a result counts as.
type Take uint8

// What a result can count as.
const (
	AsItIs    Take = iota // a failure; a call that was cancelled as nothing (T16)
	AsFailure             // it says that the target is ill
	AsSuccess             // it says that the target is well, as a 404 does
	AsNothing             // it says nothing of the target; a probe's slot is free again
)

// Counts is what each kind of result counts as (T20, M20). A success always
// counts as one.
type Counts struct {
	Failure, Timeout, RateLimit, Permanent, Cancelled Take
}

// Of is what an ending of that kind, other than a success, counts as.
func (c Counts) Of(k Kind) Take {
	switch k {
	case Timeout:
		return c.Timeout
	case RateLimit:
		return c.RateLimit
	case Permanent:
		return c.Permanent
	case Cancelled:
		return c.Cancelled
	default:
		return c.Failure
	}
}

// Window is the results that a rate looks back on: of the last calls, or of the
// last stretch of time. The zero Window is none.
type Window struct {
	Calls   int           // a ring of so many results
	Span    time.Duration // or so much time, in buckets that begin at whole multiples of their length
	Buckets int           // of Span; 0: 10. What is in the oldest is forgotten at once
}

// defaultBuckets are Hystrix's, Polly's and opossum's.
const defaultBuckets = 10

// Trip says when a closed breaker opens, beside failures in a row.
type Trip struct {
	Window      Window
	MinCalls    int     // results in the window below which no rate opens it; 0 is taken as 1
	FailureRate float64 // the share of failures in the window from which on it opens (T21); 0: no such rate
	Failures    int     // the number of failures in the window from which on it opens, whatever MinCalls is (T21); 0: no such number

	SlowerThan time.Duration // a call that takes longer is slow (T22); 0: none is. It needs permits: an anonymous report does not say how long the call took
	SlowFails  bool          // a slow success counts as a failure
	SlowRate   float64       // the share of slow calls in the window from which on it opens; 0: no such rate

	KeepsCount  bool          // a success leaves the count of failures as it is, where T2 zeroes it
	ForgetAfter time.Duration // the count is zeroed where the last failure is longer ago than that; 0: it is never
}

// Probing says how a breaker tests recovery.
type Probing struct {
	Skip        bool          // no test: the first call at or after the cooldown closes it (T34)
	AtOnce      int           // probes in flight at one time (T6, T23); 0 is taken as 1
	InAll       int           // probes of one half-open period, those that gave their slot back aside; 0: any number
	Needed      int           // successes in a row that close it (T24); 0 is taken as 1
	FailureRate float64       // if set, Needed results are waited for: from this share of failures on it opens, below it closes (T24)
	SlowRate    float64       // likewise of slow calls; only beside FailureRate
	Release     bool          // a cancelled probe gives its slot back (T25)
	Ramp        time.Duration // after closing, the share of calls admitted grows evenly to all (T26); 0: all at once
	RampFrom    float64       // that share at first
}

// Cooldown says how the cooldown varies.
type Cooldown struct {
	Growth  float64       // each opening without a recovery between multiplies it (T27); 0 is taken as 1
	Longest time.Duration // it grows no longer than that, and no Retry-After counts beyond it; 0: no bound
	Forget  time.Duration // only a recovery that lasted so long ends the growth; 0: any

	Jitter float64 // each cooldown is drawn evenly from (1-Jitter) to (1+Jitter) times its length (T28)
	Seed   uint64  // names the draws: breakers of one seed draw the same

	RetryAfter bool // a failure that names a wait moves the end of the cooldown there, if that is later (T29)
	LateKeep   bool // a late failure does not restart the cooldown, where T11 does (T30)
}

// DefaultToolSettings are 3 failures, a cooldown of 30 s, a lease of 30 s, and
// stale results that count.
func DefaultToolSettings() ToolSettings {
	return ToolSettings{FailureThreshold: 3, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
}

// Validate says what is wrong with the settings, if anything is. It calls them
// by the names that scenario files have for them.
func (s ToolSettings) Validate() error {
	return firstError(
		notNegative("failure_threshold", s.FailureThreshold),
		notBefore("recovery_duration", s.RecoveryDuration),
		notBefore("probe_timeout", s.ProbeTimeout),
		s.Counts.validate(),
		s.Trip.validate(),
		s.Probing.validate(),
		s.Cooldown.validate(),
	)
}

func (c Counts) validate() error {
	for _, t := range []Take{c.Failure, c.Timeout, c.RateLimit, c.Permanent, c.Cancelled} {
		if t > AsNothing {
			return fmt.Errorf("counts has a Take of %d; the last is AsNothing", t)
		}
	}
	return nil
}

func (t Trip) validate() error {
	err := firstError(
		notNegative("window calls", t.Window.Calls), notBefore("window time", t.Window.Span), notNegative("window buckets", t.Window.Buckets),
		notNegative("minimum_calls", t.MinCalls), share("failure_rate", t.FailureRate), notNegative("window_failures", t.Failures),
		notBefore("slow_after", t.SlowerThan), share("slow_rate", t.SlowRate), notBefore("forget_failures_after", t.ForgetAfter),
	)
	w := t.Window
	switch {
	case err != nil:
		return err
	case w.Calls > 0 && w.Span > 0:
		return fmt.Errorf("the window counts calls, or time; not both")
	case w.Calls > maxWindow || w.Buckets > maxBuckets:
		return fmt.Errorf("the window is of more than %d calls or %d buckets", maxWindow, maxBuckets)
	case w.Span > 0 && w.Span < time.Duration(w.buckets()):
		return fmt.Errorf("the window's %d buckets would be shorter than a nanosecond", w.buckets())
	case t.windowed() && w.none():
		return fmt.Errorf("failure_rate, window_failures and slow_rate need a window")
	case !t.windowed() && !w.none():
		return fmt.Errorf("the window has nothing to open the breaker by: failure_rate, window_failures or slow_rate")
	case w.Calls > 0 && max(t.MinCalls, t.Failures) > w.Calls:
		return fmt.Errorf("minimum_calls and window_failures must not be more than the window's %d calls, or it never opens", w.Calls)
	case t.SlowerThan == 0 && (t.SlowFails || t.SlowRate > 0):
		return fmt.Errorf("slow_after must say from when on a call is slow")
	}
	return nil
}

// What a window holds at most. A call after a pause goes through all buckets.
const (
	maxWindow  = 1_000_000
	maxBuckets = 10_000
)

func (w Window) none() bool { return w.Calls == 0 && w.Span == 0 }

func (w Window) buckets() int {
	if w.Buckets == 0 {
		return defaultBuckets
	}
	return w.Buckets
}

// windowed says whether anything asks for a window.
func (t Trip) windowed() bool { return t.FailureRate > 0 || t.Failures > 0 || t.SlowRate > 0 }

func (p Probing) validate() error {
	err := firstError(
		notNegative("probes", p.AtOnce), notNegative("probes_in_all", p.InAll), notNegative("probe_successes", p.Needed),
		share("probe_failure_rate", p.FailureRate), share("probe_slow_rate", p.SlowRate), notBefore("ramp", p.Ramp), share("ramp_from", p.RampFrom),
	)
	switch {
	case err != nil:
		return err
	case p.InAll > 0 && p.InAll < p.needed():
		return fmt.Errorf("probes_in_all is %d, fewer than the %d that must come back", p.InAll, p.needed())
	case p.SlowRate > 0 && p.FailureRate == 0:
		return fmt.Errorf("probe_slow_rate needs a probe_failure_rate beside it")
	case p.Skip && p != (Probing{Skip: true, Ramp: p.Ramp, RampFrom: p.RampFrom}):
		return fmt.Errorf("without a probe nothing can be said of probes")
	}
	return nil
}

func (p Probing) atOnce() int { return max(1, p.AtOnce) }
func (p Probing) needed() int { return max(1, p.Needed) }

func (c Cooldown) validate() error {
	err := firstError(notBefore("recovery_longest", c.Longest), notBefore("recovery_forget", c.Forget), share("recovery_jitter", c.Jitter))
	switch {
	case err != nil:
		return err
	case c.Growth != 0 && !(c.Growth >= 1 && c.Growth <= 1000):
		return fmt.Errorf("recovery_growth is %v; it must be from 1 to 1000", c.Growth)
	}
	return nil
}

// length is the cooldown of the opening-th opening, the streak-th in a row (T27, T28).
func (c Cooldown) length(base time.Duration, streak int, opening uint64) time.Duration {
	if c.Growth <= 1 && c.Jitter == 0 {
		return base
	}
	d, limit := float64(base), float64(math.MaxInt64)
	if c.Longest > 0 {
		limit = max(d, float64(c.Longest))
	}
	for ; c.Growth > 1 && streak > 1 && 0 < d && d < limit; streak-- {
		d = min(d*c.Growth, limit)
	}
	if c.Jitter > 0 { // the conversions keep the sum from being fused with the product, which would round otherwise on some processors
		d *= float64(1-c.Jitter) + float64(2*c.Jitter*draw(c.Seed, opening))
	}
	if d >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(d))
}

// Varies says whether one cooldown may be unlike another.
func (c Cooldown) Varies() bool { return c.Growth > 1 || c.Jitter > 0 || c.RetryAfter }

// draw is the n-th number in [0, 1) of a seed: SplitMix64's (Steele, Lea and
// Flood, 2014), which needs no state.
func draw(seed, n uint64) float64 {
	z := seed + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func notNegative(name string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s is %d; it must not be negative", name, n)
	}
	return nil
}

func notBefore(name string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s is %v; it must not be negative", name, d)
	}
	return nil
}

func share(name string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s is %v; it must be a share from 0 to 1", name, p)
	}
	return nil
}
