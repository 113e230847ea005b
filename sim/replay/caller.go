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
	key    sim.Key // names its draws
	calls  uint64  // calls started so far
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
			first := sample(group.Start, c.key.Number(0).Number(forStart))
			c.origin = first
			if group.Poisson {
				first += c.gap(group)
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
	if c = &r.callers[i]; group.Rate.Count > 0 {
		r.schedule(i, c.arrival(group))
	}
}

// arrival is when the next call of a stream starts.
func (c *caller) arrival(g *scenarios.Callers) time.Duration {
	if g.Poisson {
		return c.last + c.gap(g)
	}
	return c.origin + time.Duration(math.Round(float64(float64(c.calls)*float64(g.Rate.Per))/g.Rate.Count))
}

func (c *caller) gap(g *scenarios.Callers) time.Duration {
	mean := float64(g.Rate.Per) / g.Rate.Count
	return c.key.Number(c.calls).Number(forGap).Exponential(time.Duration(math.Round(mean)))
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
