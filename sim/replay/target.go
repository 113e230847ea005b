package replay

import (
	"cmp"
	"fmt"
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
	network  scenarios.Dist
	bursts   *bursts // nil: none
	warmup   time.Duration
	cold     time.Duration // when the last outage ended; negative: there was none
	of       int           // index of the target that it is a host of, or its own
	hosts    int           // how many it has; they come right after it
	turn     int           // whose turn it is, from 0
}

// addTarget adds the target and its hosts.
func (r *run) addTarget(t *scenarios.Target) {
	at := len(r.targets)
	r.targets = append(r.targets, newTarget(t, r.root.Name(t.Name)))
	r.targets[at].of, r.targets[at].hosts = at, len(t.Hosts)
	for i := range t.Hosts {
		h := &t.Hosts[i]
		r.targets = append(r.targets, newTarget(h, r.root.Name(h.Name)))
		r.targets[len(r.targets)-1].of = at
	}
}

// bursts come and go by chance.
type bursts struct {
	apart, last time.Duration // on average
	on          bool
	next        time.Duration // when that changes
	n           uint64        // how often it did
}

func newTarget(t *scenarios.Target, key sim.Key) target {
	tg := target{name: t.Name, key: key, segments: t.Segments(), limit: newLimit(t.Limit), servers: newServers(t.Capacity), network: t.Network, warmup: t.Warmup, cold: -1}
	if b := t.Bursts; b != nil {
		tg.bursts = &bursts{apart: b.Apart, last: b.For}
		tg.bursts.plan(key)
	}
	return tg
}

// plan draws when the state changes next.
func (b *bursts) plan(key sim.Key) {
	mean := b.apart
	if b.on {
		mean = b.last
	}
	b.next += key.Number(b.n).Number(forBurst).Exponential(mean)
	b.n++
}

func (t *target) segment() *scenarios.Segment { return &t.segments[t.now] }

// answer is how the target answers now.
func (t *target) answer() *scenarios.Answer {
	s := t.segment()
	if t.bursts != nil && t.bursts.on {
		return s.Burst
	}
	return &s.Answer
}

// coldest is the speed of a target that comes out of an outage, as a share.
const coldest = 0.1

// slow is how long what takes d takes at now, after an outage perhaps.
func (t *target) slow(now, d time.Duration) time.Duration {
	if t.cold < 0 || now-t.cold >= t.warmup {
		return d
	}
	speed := max(coldest, float64(now-t.cold)/float64(t.warmup))
	return time.Duration(min(math.Round(float64(d)/speed), float64(longest)))
}

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

// advance lets targets change up to and including the instant t: first their
// measures are told, then phases change, then bursts.
func (r *run) advance(t time.Duration) {
	if len(r.bursty)+len(r.loads) == 0 && (len(r.changes) == 0 || r.changes[0].at > t) {
		return // nearly always
	}
	for {
		next, burst := time.Duration(math.MaxInt64), -1
		if len(r.changes) > 0 {
			next = r.changes[0].at
		}
		for _, i := range r.bursty {
			if b := r.targets[i].bursts; b.next < next {
				next, burst = b.next, i
			}
		}
		r.tellLoads(min(t, next))
		switch {
		case next > t:
			return
		case burst >= 0:
			r.toggle(&r.targets[burst])
			if r.err != nil {
				return
			}
		default:
			c := r.changes[0]
			r.changes = r.changes[1:]
			r.change(&r.targets[c.target], c.at)
		}
	}
}

// change begins the target's next segment.
func (r *run) change(tg *target, at time.Duration) {
	before := *tg.segment()
	tg.now++
	after := tg.segment()
	if before.Outage() && !after.Outage() {
		tg.cold = at
	}
	if after.Phase != before.Phase {
		r.emit(trace.Event{T: at, Kind: trace.Phase, Target: tg.name, Phase: after.Phase})
	}
}

// toggle begins or ends a burst.
func (r *run) toggle(tg *target) {
	b := tg.bursts
	b.on = !b.on
	r.emit(trace.Event{T: b.next, Kind: trace.Burst, Target: tg.name, On: b.on})
	b.plan(tg.key)
	if b.on {
		r.bursts++
	}
	if r.bursts > scenarios.MostBursts && r.err == nil {
		r.err = fmt.Errorf("%s: %s: %w", r.s.File, tg.name, ErrTooManyBursts)
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
	forThere // the way to the target
	forBack
	forBurst
	forPhase       // when one begins
	forPhaseLength // how long it lasts
)

// phases draws where phases are in a run, keyed by their targets and their
// places in the file.
func phases(root sim.Key) func(target string, phase int, length bool, from scenarios.Dist) time.Duration {
	return func(target string, phase int, length bool, from scenarios.Dist) time.Duration {
		what := uint64(forPhase)
		if length {
			what = forPhaseLength
		}
		return sample(from, root.Name(target).Name("phases").Number(uint64(phase)).Number(what))
	}
}

// fate is how an attempt goes: fixed at its start.
type fate struct {
	outcome     scenarios.Outcome
	takes       time.Duration // of a vanished attempt: until its caller stops waiting; for a server: the work alone
	there, back time.Duration // the ways
	within      time.Duration // how long its caller waits at most
	cut         scenarios.Outcome
	forever     bool          // a vanished attempt whose caller never stops
	retryAfter  time.Duration // what a rate limit names; negative: nothing
}

// fate decides how an attempt of c at the target tg would go if it began now.
func (r *run) fate(c *call, tg *target) fate {
	now := r.clock.Now()
	a := tg.answer()
	k := tg.draws(c)
	f := fate{outcome: draw(a.Mix, k.Number(forOutcome)), retryAfter: -1, within: math.MaxInt64, cut: scenarios.Timeout}
	if a.RetryAfter != nil {
		f.retryAfter = *a.RetryAfter
	}
	if c.main != nil && f.outcome == scenarios.Vanish { // the others are waited for
		f.outcome = scenarios.Timeout
	}
	if c.script >= 0 {
		if f.scripted(&r.s.Calls[c.script]) {
			f.answered(tg, a, now, k)
		}
	} else {
		if f.within = r.policy.Timeout; f.within == 0 {
			f.within = r.s.Callers[r.callers[c.caller].group].Timeout
		}
		if f.outcome == scenarios.Timeout || f.outcome == scenarios.Vanish {
			f.takes = f.within
		} else {
			f.answered(tg, a, now, k)
		}
	}
	if r.policy.Ladder != nil { // L1: the call's deadline cuts it
		f.within = min(f.within, c.whole().retry.Deadline()-now)
	}
	if at := c.whole().givesUp; at < math.MaxInt64 && at-now <= f.within {
		f.within, f.cut = at-now, scenarios.Cancelled
	}
	if f.outcome == scenarios.Vanish {
		f.takes = min(f.takes, f.within)
	}
	return f
}

// draws names the draws of an attempt of c at the target.
func (t *target) draws(c *call) sim.Key {
	return t.key.Number(uint64(c.key)).Number(uint64(c.attempt))
}

// alone settles how an attempt goes that waits for no server. An answer exactly
// when its caller stops waiting is still an answer.
func (f *fate) alone() {
	if f.takes += f.there + f.back; f.takes > f.within {
		f.outcome, f.takes = f.cut, f.within
	}
}

// limited makes it the fate of an attempt beyond the target's limit: turned
// away as it comes there, and told to come back after that time.
func (f *fate) limited(tg *target, wait time.Duration, k sim.Key) {
	f.outcome, f.retryAfter, f.takes = scenarios.RateLimit, wait, 0
	f.there, f.back = tg.ways(k)
}

// scripted applies what the entry says, which beats the target. It says whether
// the target has a say in how long it takes.
func (f *fate) scripted(e *scenarios.Call) bool {
	if e.Outcome != nil {
		f.outcome = *e.Outcome
	}
	if e.RetryAfter != nil {
		f.retryAfter = *e.RetryAfter
	}
	f.forever = f.outcome == scenarios.Vanish
	switch {
	case e.Takes != nil:
		f.takes = *e.Takes
	case f.outcome == scenarios.Timeout:
		f.takes = e.Timeout
	default:
		return true
	}
	return false
}

// answered draws how long an answer takes.
func (f *fate) answered(tg *target, a *scenarios.Answer, now time.Duration, k sim.Key) {
	f.takes = tg.slow(now, sample(a.Latency, k.Number(forLatency)))
	f.there, f.back = tg.ways(k)
}

// ways draws how long the way to the target takes, and the way back.
func (t *target) ways(k sim.Key) (there, back time.Duration) {
	return sample(t.network, k.Number(forThere)), sample(t.network, k.Number(forBack))
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
