package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
)

// caller is one caller of a group, with one call at a time, or a whole open
// stream: a small state machine that knows when its next call starts.
type caller struct {
	group  int     // index in the scenario's callers
	number int     // within the group, from 1; 0 if the group is one
	key    sim.Key // names its draws
	calls  uint64  // calls started so far
	area   float64 // of a Poisson stream of several rates: how many were due by now, on average
	last   time.Duration
	origin time.Duration // of a stream: where it counts from
	route  route
}

// addCallers makes the callers of every group, in file order, and schedules the
// first call of each.
func (r *run) addCallers() {
	all := 0
	for g := range r.s.Callers {
		all += r.s.Callers[g].Count
	}
	if all > sim.MaxWhat {
		r.err = fmt.Errorf("%s: %d callers are more than can be told apart: %d", r.s.File, all, sim.MaxWhat)
		return
	}
	for g := range r.s.Callers {
		group := &r.s.Callers[g]
		to := r.route(group.To)
		name := r.root.Name(group.Name)
		for n := range group.Count {
			r.callers = append(r.callers, caller{group: g, key: name.Number(uint64(n)), route: to})
			c := &r.callers[len(r.callers)-1]
			if group.Count > 1 {
				c.number = n + 1
			}
			first := sample(group.Start, c.key.Number(0).Number(forStart))
			c.origin = first
			if group.Poisson {
				first = c.arrival(group, first)
			} else if group.Open() {
				first = c.due(group, 0)
			}
			r.schedule(len(r.callers)-1, first)
		}
	}
}

// schedule plans the next call of a caller, if it comes before the group's end.
func (r *run) schedule(i int, at time.Duration) {
	if at < r.s.Callers[r.callers[i].group].Until {
		r.clock.Schedule(sim.Event{At: at, Class: classMade, Seq: uint64(i), What: uint32(i)})
	}
}

// startMade begins the next call of a caller.
func (r *run) startMade(i int) {
	c := &r.callers[i]
	group := &r.s.Callers[c.group]
	c.calls++
	c.last = r.clock.Now()
	call := r.newCall(c.route)
	call.caller, call.key = i, c.key.Number(c.calls)
	r.start(call)
	if c = &r.callers[i]; group.Open() {
		r.schedule(i, c.arrival(group, c.last))
	}
}

// arrival is when the next call of a stream starts; the last one started at last.
func (c *caller) arrival(g *scenarios.Callers, last time.Duration) time.Duration {
	gap := c.key.Number(c.calls).Number(forGap)
	switch {
	case !g.Poisson:
		return c.due(g, float64(c.calls))
	case len(g.Rates) == 1:
		return last + gap.Exponential(time.Duration(math.Round(float64(time.Second)/g.Rates[0].Hertz)))
	default: // evenly in the number of calls, not in time
		c.area += float64(gap.Exponential(time.Second)) / float64(time.Second)
		return c.due(g, c.area)
	}
}

// due is when a stream comes to that number of calls, on average; never is later
// than any run.
func (c *caller) due(g *scenarios.Callers, calls float64) time.Duration {
	for i := range g.Rates {
		s := &g.Rates[i]
		from, a := c.origin+s.At, s.Hertz
		if i+1 == len(g.Rates) {
			if a == 0 {
				break
			}
			return later(from, calls/a)
		}
		next := &g.Rates[i+1]
		b := a
		if next.Ramp {
			b = next.Hertz
		}
		span := (next.At - s.At).Seconds()
		if area := float64(span*(a+b)) / 2; calls >= area {
			calls -= area
			continue
		}
		if calls == 0 { // also where the rate is 0 as yet
			return from
		}
		root := math.Sqrt(max(0, float64(a*a)+float64(float64(2*(b-a)/span)*calls))) // the rate by then
		return later(from, 2*calls/(a+root))
	}
	return math.MaxInt64
}

// later is so many seconds after from.
func later(from time.Duration, seconds float64) time.Duration {
	if seconds *= float64(time.Second); seconds >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	return from + time.Duration(math.Round(seconds))
}

// ended plans the caller's next call after its current one, which it waited for
// until end.
func (r *run) ended(i int, end time.Duration) {
	c := &r.callers[i]
	g := &r.s.Callers[c.group]
	switch {
	case g.Every > 0:
		r.schedule(i, max(c.last+c.jittered(g.Every, g.Jitter), end))
	case g.Think > 0:
		r.schedule(i, end+c.jittered(g.Think, g.Jitter))
	}
}

// jittered is d times 1+u, u uniform in [-jitter, +jitter].
func (c *caller) jittered(d time.Duration, jitter float64) time.Duration {
	if jitter == 0 {
		return d
	}
	spread := time.Duration(math.Round(float64(jitter * float64(d))))
	return c.key.Number(c.calls).Number(forJitter).Between(d-spread, d+spread)
}
