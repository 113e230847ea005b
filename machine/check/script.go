package check

import "time"

// script writes moves as steps that a scenario can say and a reader can follow.
// At best each step is a second after the one before, waiting aside. If that
// does not break the same, only those steps are apart, by a nanosecond, that a
// scenario would play in another order; if not even that, none.
func (x *exploration) script(moves []move, b *breach) Violation {
	var steps []Step
	var again *breach
	unsayable := false
	for _, s := range []spread{{apart: time.Second, always: true}, {apart: 1}, {}} {
		steps, again = x.play(moves, s)
		if unsayable = s.apart == 0; again != nil && again.invariant == b.invariant {
			break
		}
	}
	return Violation{x.invariants[again.invariant], again.why, append(steps, again.more...), len(steps), unsayable}
}

// spread says how far steps are moved apart, and whether all of them are.
type spread struct {
	apart  time.Duration
	always bool
}

// play makes the moves, and tells of the first thing that they break.
func (x *exploration) play(moves []move, by spread) (steps []Step, broken *breach) {
	s := x.fresh()
	var order ordering
	waited := true // the first step is at 0
	for _, m := range moves {
		if m.do == wait {
			s.do(m, false)
			waited = true
			continue
		}
		next := s.step(m)
		if by.apart > 0 && (by.always && !waited || !order.fits(next)) {
			s.waitUntil(s.instant() + by.apart)
			next = s.step(m)
			order.fits(next)
		}
		waited = false
		steps = append(steps, next)
		if broken = s.do(m, false); broken != nil {
			return steps, broken
		}
	}
	return steps, s.settle()
}

// ordering knows what was last at one instant: a scenario plays results first,
// then operations, then asking, then reading.
type ordering struct {
	at    time.Duration
	rank  int
	asked int // the call that asked last
}

// fits says whether the step can follow at its instant, and if so takes it up.
func (o *ordering) fits(s Step) bool {
	if s.Do == Vanish {
		return true
	}
	rank := map[Do]int{Reset: 1, SwitchOff: 1, SwitchOn: 1, ForceOpen: 1, ForceClosed: 1, Configure: 1, Ask: 2, Peek: 3}[s.Do] // results: 0
	own := rank == 0 && s.Call == o.asked && o.rank == 2                                                                       // a call that takes no time
	switch {
	case s.At != o.at:
		*o = ordering{at: s.At, rank: rank}
	case own:
	case rank < o.rank:
		return false
	default:
		o.rank = rank
	}
	if s.Do == Ask {
		o.asked = s.Call
	} else {
		o.asked = 0
	}
	return true
}
