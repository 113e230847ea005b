package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
)

// course is what an attempt makes in the course of its work.
type course struct {
	left   int  // calls inside of it that are not over
	failed bool // one of them did not succeed
	waits  bool // its own time is over
}

// within is a call that an attempt will make.
type within struct {
	script  int // index in the scenario's calls
	outer   *call
	attempt uint64 // its number; another one when the call is due: that is over
}

// addInside notes which entries are made by which.
func (r *run) addInside() {
	r.inside = make([][]int, len(r.s.Calls))
	for i := range r.s.Calls {
		if outer := r.s.Calls[i].Inside; outer > 0 {
			r.inside[outer-1] = append(r.inside[outer-1], i)
		}
	}
}

// makes says how many calls the attempt makes.
func (r *run) makes(c *call) int {
	if c.script < 0 {
		return 0
	}
	return len(r.inside[c.script])
}

// work plans the calls inside of an attempt that begins its work at that instant.
func (r *run) work(c *call, from time.Duration) {
	if r.makes(c) == 0 {
		return
	}
	for _, script := range r.inside[c.script] {
		if len(r.made) >= sim.MaxWhat {
			r.err = fmt.Errorf("%s: more calls are made inside of others than can be told apart: %d", r.s.File, sim.MaxWhat)
			return
		}
		r.clock.Schedule(sim.Event{At: from + r.s.Calls[script].At, Class: classInside, Seq: uint64(script), What: uint32(len(r.made))})
		r.made = append(r.made, within{script, c, c.number})
	}
}

// startInside makes a call inside of an attempt. Its draws are named by that
// attempt, as each makes the call anew.
func (r *run) startInside(w *within) {
	c := r.newCall(r.routes[w.script])
	c.script, c.outer, c.outerAttempt = w.script, w.outer, w.attempt
	c.key = w.outer.key.Number(uint64(w.outer.attempt)).Name("inside").Number(uint64(w.script))
	r.start(c)
}

// awaits says whether the attempt, whose own time is over, is not over yet: it
// would succeed, and waits for calls inside of it. One that did not succeed makes
// it a failure.
func (r *run) awaits(c *call) bool {
	in, now := &c.course, r.clock.Now()
	switch tg := &r.targets[c.seat]; {
	case c.fate.outcome != scenarios.Success || tg.servers != nil && c.done != noWork && (c.done < 0 || c.done > now):
		return false
	case in.failed:
		c.fate.outcome = scenarios.Failure
		return false
	case in.left == 0:
		return false
	case in.waits: // as long as it may
		c.fate.outcome = c.fate.cut
		return false
	}
	in.waits = true
	if c.fate.within < math.MaxInt64-c.began {
		r.endAt(c, c.began+c.fate.within)
	}
	return true
}

// insideOver tells the outer call that one inside of it is over.
func (r *run) insideOver(outer *call, attempt uint64, ok bool) {
	if outer == nil || outer.number != attempt {
		return
	}
	in := &outer.course
	in.left--
	in.failed = in.failed || !ok
	if in.waits && (in.failed || in.left == 0) {
		r.endAttempt(outer)
	}
}
