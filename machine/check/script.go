package check

import "time"

// script writes moves as steps, in an order that a scenario can say: at one
// instant results come first, then operations, then asking, then reading.
// Where the moves have another order, the rest is a nanosecond later, provided
// that it still breaks the same.
func (x *exploration) script(moves []move, b *breach) Violation {
	steps, again := x.play(moves, true)
	unsayable := again == nil || again.invariant != b.invariant
	if unsayable {
		steps, again = x.play(moves, false)
	}
	return Violation{x.invariants[again.invariant], again.why, append(steps, again.more...), len(steps), unsayable}
}

// play makes the moves, and tells of the first thing that they break.
func (x *exploration) play(moves []move, spread bool) (steps []Step, broken *breach) {
	s := x.fresh()
	var order ordering
	for _, m := range moves {
		if m.do == wait {
			broken = s.do(m, false)
			continue
		}
		next := s.step(m)
		if spread && !order.fits(next) {
			s.waitUntil(s.instant() + 1)
			next = s.step(m)
			order.fits(next)
		}
		steps = append(steps, next)
		if broken = s.do(m, false); broken != nil {
			return steps, broken
		}
	}
	return steps, s.settle()
}

// ordering knows what was last at one instant.
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
	rank := map[Do]int{Reset: 1, SwitchOff: 1, SwitchOn: 1, Ask: 2, Peek: 3}[s.Do] // results: 0
	own := rank == 0 && s.Call == o.asked && o.rank == 2                           // a call that takes no time
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
