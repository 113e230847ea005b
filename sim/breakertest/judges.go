package breakertest

import (
	"fmt"
	"strings"
)

func zeroes(s *seen) verdict {
	for n := 1; n <= 6; n++ {
		if !s.admitted(n) {
			return no("%s was refused: the failures before it were added up, although call 3 at 2 s succeeded between them", s.asks(n))
		}
	}
	if s.admitted(7) {
		return cannot("three failures in a row, the last of them call 6 at 5 s, did not open it: %s was let through", s.asks(7))
	}
	return yes("%s was let through, and the third failure in a row opened it", s.asks(6))
}

func opens(s *seen) verdict {
	for n := 1; n <= 3; n++ {
		if !s.admitted(n) {
			return no("%s was refused, before there were three failures in a row", s.asks(n))
		}
	}
	if s.admitted(4) {
		return no("%s was let through after three failures in a row", s.asks(4))
	}
	return yes("%s was refused, after three failures in a row", s.asks(4))
}

func inclusive(s *seen) verdict {
	v, lacks := s.needs(4, 0)
	switch {
	case lacks:
		return v
	case s.admitted(5):
		return no("%s was let through, before the cooldown was over at 30 s", s.asks(5))
	case s.admitted(6):
		return yes("%s was let through, at the very end of the cooldown", s.asks(6))
	case s.admitted(7):
		return no("%s, the very end of the cooldown, was refused; %s was let through", s.asks(6), s.asks(7))
	}
	return cannot("%s was refused, after the cooldown: no probe came of it (T5)", s.asks(7))
}

func askerProbes(s *seen) verdict {
	v, lacks := s.needs(4, 0)
	switch {
	case lacks:
		return v
	case !s.admitted(5) && (s.admitted(6) || s.admitted(7)):
		late := 6
		if !s.admitted(6) {
			late = 7
		}
		return no("%s, the first to ask after the cooldown, was refused; only %s was let through", s.asks(5), s.asks(late))
	case !s.admitted(5):
		return no("nobody was let through after the cooldown: %s was refused, and so were those at 42 s and 72 s", s.asks(5))
	case s.admitted(6):
		return no("the failure of %s, the call that was let through after the cooldown, did not open it again: %s was let through", s.ends(5), s.asks(6))
	}
	return yes("%s was let through, and its failure at 41 s was the probe's: %s was refused", s.asks(5), s.asks(6))
}

func oneProbe(s *seen) verdict {
	v, lacks := s.needs(4, 0)
	if lacks {
		return v
	}
	through, first := 0, 0
	for n := 5; n <= len(s.calls); n++ {
		if s.admitted(n) {
			if through++; first == 0 {
				first = n
			}
		}
	}
	switch through {
	case 0:
		return cannot("none of the 100 calls at 31 s, after the cooldown, was let through (T5)")
	case 1:
		return yes("of the 100 calls at 31 s one was let through, call %d", first)
	}
	return no("of the 100 calls at 31 s, calls 5 to 104, %d were let through", through)
}

func lease(s *seen) verdict {
	const lost = "the probe of call 5, which vanished at 31 s"
	v, lacks := s.needs(4, 5)
	switch {
	case lacks:
		return v
	case s.admitted(6):
		return no("%s was let through beside %s and has its slot until 61 s", s.asks(6), lost)
	case s.admitted(7):
		return no("%s was let through: from 61 s, when the lease of call 5 ran out, no cooldown of 30 s was kept", s.asks(7))
	case s.admitted(8):
		return yes("%s was let through: %s, was given up at 61 s, and a cooldown kept from there", s.asks(8), lost)
	case s.admitted(9):
		return no("%s was refused, 31 s after the lease of call 5 ran out; only %s was let through", s.asks(8), s.asks(9))
	}
	return no("%s was refused, and so was %s: %s", s.asks(8), s.asks(9), s.stuck(lost))
}

// stuck says why nobody is let through after the probe.
func (s *seen) stuck(probe string) string {
	if s.state == "half-open" && !s.blind {
		return probe + ", still holds the slot"
	}
	return "nobody was let through since " + probe
}

func liveLease(s *seen) verdict {
	if v, lacks := s.needs(5, 6); lacks {
		return v
	}
	if is, known := s.closes(1, 7, 8); is {
		return no("the success of %s, which began before the trip, closed it while the probe of call 6 was under way%s", s.ends(1), s.through(8))
	} else if !known {
		return s.unclear(1, 7)
	}
	if is, known := s.closes(6, 9, 10); is {
		return no("the success of %s closed it, although it is of a probe whose lease ran out at 41 s%s", s.ends(6), s.through(10))
	} else if !known {
		return s.unclear(6, 9)
	}
	switch {
	case !s.admitted(11):
		return cannot("neither closed it, but no probe came that could: %s was refused (T7)", s.asks(11))
	case !s.admitted(12) || !s.admitted(13):
		return no("the success of %s, a probe with a live lease, did not close it: of two calls at 54 s not both were let through", s.ends(11))
	case !s.blind && !s.moved(11, "closed"):
		return no("the success of %s, a probe with a live lease, did not close it", s.ends(11))
	}
	return yes("neither %s, from before the trip, nor %s, whose lease had run out, closed it; the probe of %s did", s.ends(1), s.ends(6), s.ends(11))
}

// through is ": call 7 at 80 s was let through", if it was.
func (s *seen) through(n int) string {
	if s.admitted(n) {
		return ": " + s.asks(n) + " was let through"
	}
	return ""
}

func lateSuccess(s *seen) verdict {
	if v, lacks := s.needs(5, 0); lacks {
		return v
	}
	is, known := s.closes(1, 6, 7)
	switch {
	case is && s.moved(1, "closed"):
		return no("the success of %s, which began before the trip, closed it%s", s.ends(1), s.through(7))
	case is:
		return no("%s was refused, and %s, right after the success of a call from before the trip, let through", s.asks(6), s.asks(7))
	case !known || s.admitted(6):
		return cannot("%s was let through: it was no longer open when a success from before the trip came", s.asks(6))
	}
	if v, lacks := s.needs(5, 8); lacks {
		return v
	}
	return yes("%s was refused after the success of call 1, and %s was the probe", s.asks(7), s.asks(8))
}

func lateFailure(s *seen) verdict {
	v, lacks := s.needs(5, 0)
	switch {
	case lacks:
		return v
	case s.admitted(6):
		return no("%s was let through: the failure of %s did not restart the cooldown of 30 s", s.asks(6), s.ends(1))
	case s.admitted(7):
		return no("%s was let through, less than 30 s after the failure of %s", s.asks(7), s.ends(1))
	case s.admitted(8):
		return yes("the failure of %s restarted the cooldown: %s was refused, and %s was the probe", s.ends(1), s.asks(7), s.asks(8))
	}
	return cannot("%s was refused, too, 31 s after the failure of call 1: it lets nobody through whatever comes (T5)", s.asks(8))
}

func ghost(s *seen) verdict {
	if v, lacks := s.needs(4, 5); lacks {
		return v
	}
	is, known := s.closes(5, 7, 8)
	switch {
	case s.moved(5, "closed"), is && s.admitted(6):
		return no("the success of %s, a probe whose lease ran out at 41 s, closed it%s", s.ends(5), s.through(8))
	case !s.admitted(6):
		return cannot("no further probe came whose slot a ghost could take: %s was refused (T7)", s.asks(6))
	case !known:
		return s.unclear(5, 7)
	}
	return yes("the success of %s, a probe whose lease ran out at 41 s, changed nothing while the probe of call 6 was under way", s.ends(5))
}

func otherSuccess(s *seen) verdict {
	if v, lacks := s.needs(5, 6); lacks {
		return v
	}
	is, known := s.closes(1, 7, 8)
	switch {
	case is:
		return no("the success of %s, which began before the trip, closed it while the probe of call 6 was under way%s", s.ends(1), s.through(8))
	case !known:
		return s.unclear(1, 7)
	}
	return yes("the success of %s, which began before the trip, changed nothing while the probe of call 6 was under way", s.ends(1))
}

func otherFailure(s *seen) verdict {
	v, lacks := s.needs(5, 6)
	closed := s.admitted(7) && s.admitted(8)
	switch {
	case lacks:
		return v
	case s.moved(1, "open"):
		return no("the failure of %s, which began before the trip, opened it again while the probe of call 6 was under way", s.ends(1))
	case !closed && s.blind:
		return no("after the failure of %s, which began before the trip, the probe's success at 16 s did not close it: %s was refused", s.ends(1), s.refusedOf(7, 8))
	case s.blind:
		return cannot("its state cannot be read: whether the failure of %s opened it until the probe's success at 16 s cannot be seen", s.ends(1))
	case !closed:
		return cannot("the failure of %s changed nothing, but the probe's success at 16 s did not close it (T8)", s.ends(1))
	}
	return yes("the failure of %s, which began before the trip, changed nothing: the probe of call 6 closed it at 16 s", s.ends(1))
}

// refusedOf is the first of the calls that was refused.
func (s *seen) refusedOf(calls ...int) string {
	for _, n := range calls {
		if !s.admitted(n) {
			return s.asks(n)
		}
	}
	return "none"
}

// closedAgain is what both settings of T13 in Closed need.
func (s *seen) closedAgain() (v verdict, lacks bool) {
	v, lacks = s.needs(7, 8)
	if !lacks && !(s.admitted(9) && s.admitted(10)) {
		return cannot("the success of the probe, call 8 at 11 s, did not close it: %s was refused (T8)", s.refusedOf(9, 10)), true
	}
	return v, lacks
}

func staleCounts(s *seen) verdict {
	if v, lacks := s.closedAgain(); lacks {
		return v
	}
	if s.admitted(11) {
		return cannot("it has no such setting: the failures of calls 1 to 3, from before the trip, did not count, and %s was let through", s.asks(11))
	}
	return yes("the failures of calls 1 to 3, from before the trip, opened it at 26 s: %s was refused", s.asks(11))
}

func staleIgnored(s *seen) verdict {
	if v, lacks := s.closedAgain(); lacks {
		return v
	}
	if !s.admitted(11) {
		return cannot("it has no such setting: the failures of calls 1 to 3, from before the trip, counted, and %s was refused", s.asks(11))
	}
	return yes("the failures of calls 1 to 3, from before the trip, did not count: %s was let through", s.asks(11))
}

func reading(s *seen) verdict {
	if v, lacks := s.unread.needs(4, 5); lacks {
		return v
	}
	for _, r := range s.readings {
		if r.before != r.after {
			return no("reading the state at %s moved it from %s to %s", seconds(r.at), r.before, r.after)
		}
	}
	for n := range s.calls {
		if read, unread := s.calls[n].admitted, s.unread.calls[n].admitted; read != unread {
			return no("%s was %s when the state had been read before, and %s when nobody had read it", s.asks(n+1), fared(read), fared(unread))
		}
	}
	return yes("the state was the same before and after each reading, at %s, and every call fared as without", s.instants())
}

func fared(admitted bool) string {
	if admitted {
		return "let through"
	}
	return "refused"
}

// instants are those of the readings: "1 s, 35 s and 45 s".
func (s *seen) instants() string {
	var all []string
	for _, r := range s.readings {
		all = append(all, seconds(r.at))
	}
	last := len(all) - 1
	return fmt.Sprintf("%s and %s", strings.Join(all[:last], ", "), all[last])
}

// ending judges a probe whose function ended without returning.
func ending(did string) func(*seen) verdict {
	return func(s *seen) verdict {
		v, lacks := s.needs(4, 5)
		switch {
		case lacks:
			return v
		case s.admitted(6):
			return no("%s was let through: the probe of call 5, which %s at 31 s, neither counted as a failure nor kept its slot", s.asks(6), did)
		case s.admitted(7):
			return yes("the probe of call 5, which %s at 31 s, ended as a failure: %s was the next probe", did, s.asks(7))
		case s.admitted(8):
			return yes("the probe of call 5, which %s at 31 s, was given up like a lost one: %s was the next probe", did, s.asks(8))
		case s.admitted(9):
			return no("%s was refused, 31 s after the lease of call 5 would have run out; only %s was let through", s.asks(8), s.asks(9))
		}
		return no("%s was refused, and so was %s: %s", s.asks(8), s.asks(9), s.stuck("the probe of call 5, which "+did+" at 31 s"))
	}
}
