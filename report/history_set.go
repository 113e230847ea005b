package report

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// cooling is a cooldown as it was at one event: a breaker opened, a late failure
// began it anew, or an operator changed its length.
type cooling struct {
	at          time.Duration // of the event
	from, until time.Duration
	usual       time.Duration // how long it is by the settings alone
	grown       time.Duration // how long it is after all the openings in a row (T27)
	jitter      float64
	model       bool // of a model breaker, which has rules of its own for it
}

// probed is what came of the probes of one half-open period.
type probed struct {
	well, failed int
	slow         int // among both
}

// cool notes a cooldown that begins, or that ends at another instant from here on.
func (b *BreakerHistory) cool(e *trace.Event) {
	if b.others() {
		return
	}
	c := cooling{at: e.T, from: e.T, usual: cooldownOf(b.now), jitter: b.now.RecoveryJitter, model: b.Model != nil}
	switch n := len(b.coolings); {
	case e.Kind == trace.Transition:
		c.from = e.Effective
	case e.Rule != "T11" && n > 0: // it goes on
		c.from = b.coolings[n-1].from
	}
	c.grown = b.grown()
	c.until = later(c.from, c.usual)
	if e.Known {
		c.until = e.Until
	}
	b.coolings = append(b.coolings, c)
}

// cooldownOf is what the cooldown is set to, whatever makes it longer.
func cooldownOf(b *trace.Breaker) time.Duration {
	if b.Tool != nil {
		return b.RecoveryDuration
	}
	return b.RecoveryTimeout
}

// grown is the cooldown of the last of the openings in a row, before chance.
func (b *BreakerHistory) grown() time.Duration {
	d := float64(cooldownOf(b.now))
	limit := float64(math.MaxInt64)
	if b.now.RecoveryLongest > 0 {
		limit = max(d, float64(b.now.RecoveryLongest))
	}
	for n := b.streak; n > 1 && b.now.RecoveryGrowth > 1 && d < limit && d > 0; n-- {
		d = min(d*b.now.RecoveryGrowth, limit)
	}
	return time.Duration(d)
}

// coolingAt is the cooldown as it was known at an instant, or nil.
func (b *BreakerHistory) coolingAt(at time.Duration) *cooling {
	i := sort.Search(len(b.coolings), func(i int) bool { return b.coolings[i].at > at })
	if i == 0 {
		return nil
	}
	return &b.coolings[i-1]
}

// coolingOf is the cooldown of a stretch out of service as it was known by its
// end, or nil.
func (b *BreakerHistory) coolingOf(from, to time.Duration) *cooling {
	for i := range slices.Backward(b.coolings) {
		if c := &b.coolings[i]; c.at <= to && (c.from == from || from < c.from && c.from < to) {
			return c
		}
	}
	return nil
}

// cooledBefore is the cooldown that was over when a probe went out, or nil.
func (b *BreakerHistory) cooledBefore(m *Moment) *cooling {
	for i := range slices.Backward(b.coolings) {
		if c := &b.coolings[i]; c.at <= m.T && c.until <= m.Effective {
			return c
		}
	}
	return nil
}

// enter takes what a new state brings with it, and gives the cooldown that
// begins, if one does.
func (b *BreakerHistory) enter(e *trace.Event) *cooling {
	if b.others() {
		return nil
	}
	b.endRamp(e.Effective)
	switch e.To {
	case "closed", "primary":
		b.closed, b.seen = e.Effective, trace.Held{}
		b.beginRamp(e)
	case "half-open", "recovering":
		b.tried = probed{}
	case "open", "fallback":
		if rests := e.From == "closed" || e.From == "primary"; rests && e.Effective-b.closed >= b.now.RecoveryForget {
			b.streak = 0
		}
		b.streak++
		b.cool(e)
		if e.Rule != "T31" {
			return new(b.coolings[len(b.coolings)-1])
		}
	}
	return nil
}

// leaseOf is how long a probe holds its place; 0: until it ends.
func leaseOf(b *trace.Breaker) time.Duration {
	if b.Tool != nil {
		return b.ProbeTimeout
	}
	return b.PlaceFor
}

// lendOurs opens the lease of a probe.
func (b *BreakerHistory) lendOurs(e *trace.Event) {
	b.Leases = append(b.Leases, Lease{Call: e.Call, From: e.T, To: -1})
	b.relend()
}

// relend says when the leases that run will run out, by the settings as they are.
func (b *BreakerHistory) relend() {
	for i := range b.Leases {
		if l := &b.Leases[i]; l.To < 0 {
			lease := leaseOf(b.now)
			l.limited = lease > 0
			l.ends = later(l.From, lease)
		}
	}
}

// oldestLease is that of the probe that has been out for longest, or nil.
func (b *BreakerHistory) oldestLease(at time.Duration) *Lease {
	for i := range b.Leases {
		if l := &b.Leases[i]; l.From <= at && (l.To < 0 || l.To >= at) {
			return l
		}
	}
	return nil
}

// endLeases ends those that run: where they ran out, or at an instant before.
func (b *BreakerHistory) endLeases(at time.Duration) {
	if b.others() {
		return
	}
	for i := len(b.Leases) - 1; i >= 0; i-- {
		l := &b.Leases[i]
		if l.To >= 0 {
			continue
		}
		l.To = at
		if l.limited && l.ends <= at {
			l.To, l.RanOut = l.ends, true
			b.tried.failed++
		}
	}
}

// probeOf is the call behind a transition from half-open: whose lease ran out,
// whose result it was, or who became a probe last.
func (b *BreakerHistory) probeOf(e *trace.Event) int {
	last := b.Leases[len(b.Leases)-1].Call
	since := b.Bands[len(b.Bands)-1].From
	for i := len(b.Leases) - 1; i >= 0 && b.Leases[i].From >= since; i-- {
		l := &b.Leases[i]
		if e.Rule == "T7" && l.To < 0 && l.ends == e.Effective || e.Rule != "T7" && l.Call == e.Call {
			return l.Call
		}
	}
	return last
}

// heard takes what the breaker made of how a call ended.
func (b *BreakerHistory) heard(e *trace.Event, rule string) {
	switch {
	case rule == "T21":
		b.seen = e.Seen
	case b.Model != nil:
		b.leave(e)
	case rule == "T8" || rule == "T9" || rule == "T24" || rule == "T25" || rule == "T20" && e.Applied:
		for i := range b.Leases {
			if l := &b.Leases[i]; l.To < 0 && (l.Call == e.Call || b.Reports == "anonymous" && rule != "T8" && rule != "T9") {
				l.To = e.T
				break
			}
		}
	}
	if rule != "T8" && rule != "T9" && rule != "T24" {
		return
	}
	if slow(b.now, e.Took) {
		b.tried.slow++
	}
	if countsAsFailure(b.now, e.Outcome, e.Took) {
		b.tried.failed++
	} else {
		b.tried.well++
	}
}

// leave ends the lease of a model breaker's probe, whatever came of it.
func (b *BreakerHistory) leave(e *trace.Event) {
	for i := range b.Leases {
		if l := &b.Leases[i]; l.To < 0 && (l.Call == e.Call || b.Reports == "anonymous") {
			if l.To = e.T; l.limited && l.ends < e.T {
				l.To, l.RanOut = l.ends, true
			}
			return
		}
	}
}

// countsAsFailure says whether a result counts as a failure by a tool breaker's settings,
// if it counts at all (T20, T22).
func countsAsFailure(set *trace.Breaker, outcome string, took time.Duration) bool {
	if set.Slow == "failure" && slow(set, took) {
		return true
	}
	take := "failure"
	if c := set.Counts; c != nil {
		take = map[string]string{trace.Failure: c.Failure, trace.Timeout: c.Timeout, trace.RateLimit: c.RateLimit, trace.Permanent: c.Permanent, trace.Cancelled: c.Cancelled}[outcome]
	}
	return outcome != trace.Success && take != "success"
}

// slow says whether a call took longer than is usual (T22).
func slow(set *trace.Breaker, took time.Duration) bool {
	return set.SlowAfter > 0 && took > set.SlowAfter
}

// givenUp takes what the breaker made of a call whose caller gave it up between
// two attempts.
func (h *History) givenUp(e *trace.Event) {
	if b := h.byName[e.Breaker]; b != nil {
		g := *e
		g.Outcome = trace.Cancelled
		b.heard(&g, e.Verdict)
	}
}

// ready are the stretches in which the breaker would have let a probe through,
// and nobody asked: from the cooldown's end on (T4, M2).
func (b *BreakerHistory) ready() (all []trace.Span) {
	begun := time.Duration(-1) // where it went out of service; later another backup may serve
	for i := range b.Bands {
		s := &b.Bands[i]
		if s.State != "open" && s.State != "fallback" {
			begun = -1
			continue
		}
		if begun < 0 || s.State == "open" {
			begun = s.From
		}
		c, to := b.coolingOf(begun, s.To), b.forcedIn(s)
		if c == nil { // another's breaker: who knows
			continue
		}
		if from := max(c.until, s.From); from < to {
			all = append(all, trace.Span{From: from, To: to})
		}
	}
	return all
}
