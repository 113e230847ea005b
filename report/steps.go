package report

import (
	"errors"
	"slices"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Steps is a sink that keeps a run as one steps through it: every event in the
// order in which it took effect, and the counters of every breaker after each.
type Steps struct {
	History  History
	All      []Step
	Breakers []*Counted // in the order of the scenario
	Most     int        // events that may be kept; 0: any number

	byName map[string]*Counted
	fresh  map[string]*freshness // by target
}

// Step is an event of the trace. A lease that ran out stands where it ended, and
// not where that was noticed.
type Step struct {
	trace.Event
	At      time.Duration // when it took effect
	Matters bool          // it moves a breaker, or tells why one moves or does not

	moment int // of a transition: 1 + its index in the history's moments
}

// ErrTooManySteps says that a run has more events than may be kept.
var ErrTooManySteps = errors.New("too many events to step through")

// freshness is what has been seen of a target since its behaviour changed.
type freshness struct{ well, failed bool }

// Event takes one event of the trace. The error is [ErrTooManySteps].
func (s *Steps) Event(e *trace.Event) error {
	if err := s.History.Event(e); err != nil {
		return err
	}
	if s.Most > 0 && len(s.All) >= s.Most {
		return ErrTooManySteps
	}
	if e.Kind == trace.Run {
		s.start()
	}
	s.lapse(e.T)
	b := s.byName[e.Breaker]
	if e.Kind == trace.Transition && b != nil && b.lapsed != 0 && e.Rule == "T7" {
		s.All[b.lapsed-1].Event, s.All[b.lapsed-1].moment = *e, len(s.History.Moments)
		b.corrected(e)
		return nil
	}
	step := Step{Event: *e, At: e.T}
	if e.Kind == trace.Transition && b != nil {
		step.moment = len(s.History.Moments)
	}
	s.All = append(s.All, step)
	if b != nil {
		b.event(e, len(s.All)-1)
	}
	s.All[len(s.All)-1].Matters = s.matters(e, b)
	return nil
}

func (s *Steps) start() {
	s.byName, s.fresh = map[string]*Counted{}, map[string]*freshness{}
	for _, h := range s.History.Breakers {
		b := newCounted(h.Breaker)
		s.Breakers = append(s.Breakers, b)
		s.byName[b.Name] = b
	}
}

// seen is what was seen of a target. That it is well at first is no news.
func (s *Steps) seen(target string) *freshness {
	f := s.fresh[target]
	if f == nil {
		f = &freshness{well: true}
		s.fresh[target] = f
	}
	return f
}

// lapse takes the leases that have run out by now, in the order of their ends
// (T7): nobody has noticed yet.
func (s *Steps) lapse(now time.Duration) {
	var due []*Counted
	for _, b := range s.Breakers {
		if b.leaseEnded(now) {
			due = append(due, b)
		}
	}
	slices.SortStableFunc(due, func(x, y *Counted) int { return int(min(1, max(-1, x.now.Until-y.now.Until))) })
	for _, b := range due {
		for b.leaseEnded(now) {
			s.runOut(b, now)
		}
	}
}

// runOut takes the oldest lease, which ran out.
func (s *Steps) runOut(b *Counted, now time.Duration) {
	end := b.now.Until
	e := trace.Event{T: now, Kind: trace.Transition, Breaker: b.Name, From: b.now.State, To: b.runOut(), Effective: end, Rule: "T7", Failures: b.now.Failures}
	s.All = append(s.All, Step{Event: e, At: end, Matters: true})
	b.event(&e, len(s.All)-1)
	if e.To != e.From {
		b.lapsed, b.turnedAway, b.rerouted = len(s.All), false, false
	}
}

// matters says whether a reader who wants to know why needs the event. b is its
// breaker, or nil.
func (s *Steps) matters(e *trace.Event, b *Counted) bool {
	switch e.Kind {
	case trace.Run, trace.End, trace.Switch, trace.Operate, trace.Vanish, trace.Peek:
		return true
	case trace.Phase, trace.Burst:
		*s.seen(e.Target) = freshness{}
		return true
	case trace.Transition, trace.Refuse, trace.Exhausted, trace.Waits, trace.Reroute:
		return b != nil && s.gateMatters(e, b) // of a fleet's nothing is told one by one
	case trace.Admit:
		return e.Probe && b != nil
	case trace.Result:
		return s.resultMatters(e, b)
	default:
		return false
	}
}

// gateMatters is matters for what a breaker does by itself, or to a call.
func (s *Steps) gateMatters(e *trace.Event, b *Counted) bool {
	switch e.Kind {
	case trace.Transition:
		b.turnedAway, b.rerouted = false, false
		s.tell(b, e.Rule)
		return true
	case trace.Reroute:
		return first(&b.rerouted)
	default:
		return first(&b.turnedAway)
	}
}

// first is true once.
func first(seen *bool) bool {
	before := *seen
	*seen = true
	return !before
}

// resultMatters is true of a result that moves more than a count, and of the
// first of its kind since the target changed.
func (s *Steps) resultMatters(e *trace.Event, b *Counted) bool {
	news := false
	switch e.Outcome {
	case trace.Success:
		news = first(&s.seen(e.Target).well)
	case trace.Cancelled:
		news = slices.ContainsFunc(s.Breakers, func(b *Counted) bool { return b.now.Probe == e.Call })
	default:
		news = first(&s.seen(e.Target).failed)
	}
	if b == nil {
		return news
	}
	switch e.Rule {
	case "T2", "M7":
		b.streak = b.streak[:0]
	case "T3", "T21", "M10":
		if e.Rule == "T21" && !b.failure(e) {
			return news
		}
		b.streak = append(b.streak, len(s.All)-1)
	case "M8", trace.HeardOf:
	default:
		return true
	}
	return news
}

// tell makes the failures matter that led to a transition.
func (s *Steps) tell(b *Counted, rule string) {
	if rule == "T3" || rule == "T21" || rule == "M10" {
		for _, i := range b.streak {
			s.All[i].Matters = true
		}
	}
	b.streak = b.streak[:0]
}
