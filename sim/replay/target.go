package replay

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
	"github.com/breakersim/breakersim/sim/trace"
)

// target is something that is called, as it behaves now.
type target struct {
	name     string
	key      sim.Key
	segments []scenarios.Segment
	now      int      // index of the current segment
	limit    *limit   // nil: none
	servers  *servers // nil: any number
}

func (t *target) behavior() *scenarios.Segment { return &t.segments[t.now] }

// change is the instant at which a target's next segment begins.
type change struct {
	at     time.Duration
	target int
}

// changes lists when targets change, in order; at one instant in file order.
func changes(targets []target) []change {
	var all []change
	for i := range targets {
		for _, s := range targets[i].segments[1:] {
			all = append(all, change{s.At, i})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return all
}

// advance lets targets change up to and including the instant t.
func (r *run) advance(t time.Duration) {
	for len(r.changes) > 0 && r.changes[0].at <= t {
		c := r.changes[0]
		r.changes = r.changes[1:]
		tg := &r.targets[c.target]
		before := tg.behavior().Phase
		tg.now++
		if after := tg.behavior().Phase; after != before {
			r.emit(trace.Event{T: c.at, Kind: trace.Phase, Target: tg.name, Phase: after})
		}
	}
}

// What a draw is for: the last part of its key.
const (
	forOutcome = iota
	forLatency
	forWait   // a ladder's jitter
	forJitter // a caller's
	forStart
	forGap
)

// fate is how an attempt goes: fixed at its start.
type fate struct {
	outcome    scenarios.Outcome
	takes      time.Duration // of a vanished attempt: until its caller stops waiting
	within     time.Duration // where capacity is bounded: how long its caller waits at most; takes is the work alone
	forever    bool          // a vanished attempt whose caller never stops
	retryAfter time.Duration // what a rate limit names; negative: nothing
}

// fate decides how an attempt of c at the target tg would go if it began now.
func (r *run) fate(c *call, tg *target) fate {
	b := tg.behavior()
	k := tg.key.Number(uint64(c.key)).Number(uint64(c.attempt))
	f := fate{outcome: draw(b.Mix, k.Number(forOutcome)), retryAfter: -1}
	if b.RetryAfter != nil {
		f.retryAfter = *b.RetryAfter
	}
	f.within = math.MaxInt64
	if c.script >= 0 {
		f.scripted(&r.s.Calls[c.script], b, k)
	} else {
		f.within = r.s.Callers[r.callers[c.caller].group].Timeout
		f.made(f.within, b, k, tg.servers != nil)
	}
	if r.policy.Ladder == nil {
		return f
	}
	left := c.retry.Deadline() - r.clock.Now() // L1: the call's deadline cuts it
	if f.within = min(f.within, left); tg.servers != nil && f.outcome != scenarios.Vanish {
		return f
	}
	if f.takes > left {
		f.takes = left
		if f.outcome != scenarios.Vanish {
			f.outcome = scenarios.Timeout
		}
	}
	return f
}

// scripted applies what the entry says, which beats the target.
func (f *fate) scripted(e *scenarios.Call, b *scenarios.Segment, k sim.Key) {
	if e.Outcome != nil {
		f.outcome = *e.Outcome
	}
	if e.RetryAfter != nil {
		f.retryAfter = *e.RetryAfter
	}
	switch {
	case e.Takes != nil:
		f.takes = *e.Takes
	case f.outcome == scenarios.Timeout:
		f.takes = e.Timeout
	default:
		f.takes = sample(b.Latency, k.Number(forLatency))
	}
	f.forever = f.outcome == scenarios.Vanish
}

// made ends an attempt at its timeout at the latest, unless it is work for a
// server, which does not know of it. An answer exactly then is still an answer.
func (f *fate) made(timeout time.Duration, b *scenarios.Segment, k sim.Key, work bool) {
	if f.outcome == scenarios.Timeout || f.outcome == scenarios.Vanish {
		f.takes = timeout
		return
	}
	f.takes = sample(b.Latency, k.Number(forLatency))
	if f.takes > timeout && !work {
		f.outcome, f.takes = scenarios.Timeout, timeout
	}
}

func draw(m scenarios.Mix, k sim.Key) scenarios.Outcome {
	if len(m) == 1 {
		return m[0].Outcome
	}
	u := k.Uniform()
	for _, s := range m[:len(m)-1] {
		if u -= s.P; u < 0 {
			return s.Outcome
		}
	}
	return m[len(m)-1].Outcome
}

func sample(d scenarios.Dist, k sim.Key) time.Duration {
	switch d.Kind {
	case scenarios.Uniform:
		return k.Between(d.A, d.B)
	case scenarios.Exponential:
		return k.Exponential(d.A)
	case scenarios.Lognormal:
		return k.Lognormal(d.A, d.B)
	default:
		return d.A
	}
}
