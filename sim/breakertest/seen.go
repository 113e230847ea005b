package breakertest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// seen is what a judge knows of a run: how the calls fared, and how the state
// moved, if it can be read. Calls have their numbers, from 1.
type seen struct {
	calls []call
	moves []trace.Event
	state string
	blind bool // the state cannot be read: moves are guesses
	// of a run in which somebody reads the state:
	readings []readout
	unread   *seen // the same run without
}

type call struct {
	at       time.Duration
	admitted bool
	state    string        // in which it was admitted; empty: as in the beginning
	ended    time.Duration // when its result came, if one did
}

// readout is one reading of the state.
type readout struct {
	at            time.Duration
	before, after string
}

// Event takes one event of the trace.
func (s *seen) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.Call:
		s.calls = append(s.calls, call{at: e.T})
	case trace.Admit:
		s.calls[e.Call-1].admitted, s.calls[e.Call-1].state = true, s.state
	case trace.Result:
		s.calls[e.Call-1].ended = e.T
	case trace.Transition:
		s.moves, s.state = append(s.moves, *e), e.To
	default: // nothing that is judged
	}
	return nil
}

func (s *seen) admitted(n int) bool { return s.calls[n-1].admitted }

// asks is "call 7 at 80 s".
func (s *seen) asks(n int) string { return fmt.Sprintf("call %d at %s", n, seconds(s.calls[n-1].at)) }

// ends is "call 7 at 80 s", of its result.
func (s *seen) ends(n int) string {
	return fmt.Sprintf("call %d at %s", n, seconds(s.calls[n-1].ended))
}

// seconds is "80 s", exactly.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
}

// moved says whether the result of call n moved the state there, as far as that
// can be read.
func (s *seen) moved(n int, to string) bool {
	for i := range s.moves {
		if m := &s.moves[i]; m.Call == n && m.To == to && m.Rule == trace.MovedByEnd {
			return !s.blind
		}
	}
	return false
}

// verdict is what a judge says.
type verdict struct {
	answer Answer
	why    string
}

func yes(format string, args ...any) verdict    { return verdict{Yes, fmt.Sprintf(format, args...)} }
func no(format string, args ...any) verdict     { return verdict{No, fmt.Sprintf(format, args...)} }
func cannot(format string, args ...any) verdict { return verdict{Cannot, fmt.Sprintf(format, args...)} }

// needs says why there is nothing to judge: a breaker that refuses before it may,
// one that did not open by the time that call open asks, and one that never lets
// probe through, or has closed without it. With probe 0 none is needed.
func (s *seen) needs(open, probe int) (v verdict, lacks bool) {
	for n := 1; n < open; n++ {
		if !s.admitted(n) {
			return cannot("%s was refused, when it was to be closed still (T3)", s.asks(n)), true
		}
	}
	switch {
	case s.admitted(open):
		return cannot("three failures in a row did not open it: %s was let through (T3)", s.asks(open)), true
	case probe != 0 && !s.admitted(probe):
		return cannot("the cooldown was over, and no probe came of it: %s was refused (T5)", s.asks(probe)), true
	case probe != 0 && !s.blind && s.calls[probe-1].state == "closed":
		return cannot("it had closed without a probe by the time of %s", s.asks(probe)), true
	}
	return verdict{}, false
}

// closes says whether the result of call n closed the breaker: its state says so,
// or the call before was refused and the call after it let through. Where both
// were let through, and the state cannot be read, nobody knows.
func (s *seen) closes(n, before, after int) (is, known bool) {
	switch {
	case s.moved(n, "closed"):
		return true, true
	case !s.admitted(before):
		return s.admitted(after), true
	}
	return false, !s.blind
}

// unclear is the verdict where closes does not know.
func (s *seen) unclear(n, before int) verdict {
	return cannot("its state cannot be read, and %s was let through beside the probe (T6): whether %s closed it cannot be seen", s.asks(before), s.ends(n))
}
