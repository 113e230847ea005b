package lint

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// zeroThreshold: a hundred failures do not open it, or one does.
func zeroThreshold(x *subject) []*candidate {
	if m := x.model(); m != nil && m.TripThreshold == 0 {
		s := x.beside("trip_threshold", "3")
		s.calls(1, 0, x.b.Name, "failure", 0)
		s.about = "One turn fails."
		s.before("at: 0s, breaker: %s, state: fallback", word(x.b.Name))
		s.after("at: 0s, breaker: %s, state: primary", word(x.b.Name))
		return x.found(x.at("trip_threshold"), s, "trip_threshold: 3, or 1 if the first shall trip it", "%s trips at the first failed turn", x.b.Name)
	}
	t := x.tool()
	if t == nil || x.failuresToOpen() > 0 {
		return nil
	}
	s := x.beside("failure_threshold", "3")
	s.calls(100, 0, x.callee(), "failure", 0)
	s.about = "A hundred calls fail, and the next is let through."
	s.before("at: 1s, breaker: %s, allows: true", word(x.b.Name))
	s.after("at: 1s, breaker: %s, allows: false", word(x.b.Name))
	return x.found(x.at("failure_threshold"), s, "failure_threshold: 3", "%s never opens", x.b.Name)
}

// neverReached: in an outage the window holds too few results for a rate.
func neverReached(x *subject) []*candidate {
	o := x.unnoticed()
	if o == nil || !o.few {
		return nil
	}
	enough := strconv.Itoa(max(1, o.peak/2))
	s := x.beside("minimum_calls", enough)
	s.plays(o, x)
	return x.found(x.at("minimum_calls", "window"), s, "minimum_calls: "+enough+", a longer window, or failure_threshold beside it",
		"%s wants %d results in its window, and the traffic brings %d at most: not even an outage in which every call %s opens it", x.b.Name, x.tool().Trip.MinCalls, o.peak, o.how())
}

// forgets: in an outage the failures do not add up.
func forgets(x *subject) []*candidate {
	o := x.unnoticed()
	if o == nil || o.few {
		return nil
	}
	s := x.beside("failure_threshold", "5", "forget_failures_after", "0s")
	s.plays(o, x)
	return x.found(x.at("window", "forget_failures_after"), s, "failure_threshold: 5 and no forgetting, or a window of several times what a failing call takes",
		"%s forgets failures faster than they come: not even an outage in which every call %s opens it", x.b.Name, o.how())
}

// outage is one that a breaker does not notice.
type outage struct {
	outcome scenarios.Outcome // of every call
	results []result
	end     time.Duration
	peak    int  // the most results in one window
	few     bool // fewer than it wants
}

func (o *outage) how() string {
	if o.outcome == scenarios.Timeout {
		return "hangs until its timeout"
	}
	return "fails"
}

// unnoticed is an outage of the breaker's target, from the beginning to the end,
// in which the file's traffic does not open it; nil if there is none. Only a
// breaker that forgets may miss one.
func (x *subject) unnoticed() *outage {
	t := x.tool()
	if t == nil || x.w == nil || x.failuresToOpen() == 0 || x.target() == nil {
		return nil
	}
	span := max(t.Trip.Window.Span, t.Trip.ForgetAfter)
	if span == 0 && (t.Trip.Window.Calls == 0 || t.FailureThreshold > 0) {
		return nil
	}
	for _, outcome := range x.outages() {
		s := x.withOutage(outcome, span)
		w := newWitness(s, x.p)
		w.keeps = true
		_, err := replay.Run(s, x.p, replay.Options{Sinks: sinks(w, untilOpen(x.b.Name))})
		v := busiest(w.each(x.b.Name), t.Trip.Window.Span)
		if err != nil || v == nil {
			continue
		}
		o := &outage{outcome: outcome, results: v.results, end: w.end, peak: peak(v.results, t.Trip.Window.Span)}
		o.few = (t.Trip.FailureRate > 0 || t.Trip.SlowRate > 0) && o.peak < t.Trip.MinCalls
		if o.few || !onlySlow(t) {
			return o
		}
	}
	return nil
}

// outages are what calls end as in outages that the breaker ought to notice: one
// in which they fail as quickly as they answer, and one in which they hang.
func (x *subject) outages() (all []scenarios.Outcome) {
	t := x.tool()
	if o, ok := kinds[x.failing()]; ok && !onlySlow(t) {
		all = append(all, o)
	}
	if as := t.Counts.Timeout; as == machine.AsItIs || as == machine.AsFailure {
		all = append(all, scenarios.Timeout)
	}
	return all
}

// kinds are the outcomes that failing gives.
var kinds = map[string]scenarios.Outcome{"failure": scenarios.Failure, "timeout": scenarios.Timeout, "rate_limit": scenarios.RateLimit, "permanent": scenarios.Permanent}

// onlySlow says whether nothing but slow calls opens the breaker.
func onlySlow(t *machine.ToolSettings) bool {
	return t.FailureThreshold == 0 && t.Trip.FailureRate == 0 && t.Trip.Failures == 0
}

// errOpen ends a run.
var errOpen = errors.New("the breaker opened")

// untilOpen ends a run as soon as a breaker opens.
type untilOpen string

func (name untilOpen) Event(e *trace.Event) error {
	if whole, _ := scenarios.SplitName(e.Breaker); e.Kind == trace.Transition && whole == string(name) {
		return errOpen
	}
	return nil
}

// busiest is the instance with the most results in a window, or nil if none has any.
func busiest(all []*seen, span time.Duration) (of *seen) {
	most := 0
	for _, v := range all {
		if n := peak(v.results, span); n > most {
			most, of = n, v
		}
	}
	return of
}

// windows is how many of them an outage lasts at least.
const windows = 20

// withOutage is the scenario with the breaker's target out all the time.
func (x *subject) withOutage(outcome scenarios.Outcome, span time.Duration) *scenarios.Scenario {
	own := *x.s
	own.Expect = nil
	own.Targets = slices.Clone(own.Targets)
	for i := range own.Targets {
		if t := &own.Targets[i]; t.Name == x.target().Name {
			*t = out(*t, outcome)
		}
	}
	own.Calls = slices.Clone(own.Calls)
	for i := range own.Calls {
		if c := &own.Calls[i]; c.Op == scenarios.OpCall && x.reaches(c.To) {
			c.Outcome = &outcome
		}
	}
	if !own.Open {
		own.Duration = max(own.Duration, windows*span)
	}
	own.Callers = slices.Clone(own.Callers)
	for i := range own.Callers {
		if own.Callers[i].Until > x.s.Duration && !own.Open { // to the end
			own.Callers[i].Until = own.Duration + 1
		}
	}
	return &own
}

// out is the target in an outage from the beginning to the end, with all its hosts.
func out(t scenarios.Target, outcome scenarios.Outcome) scenarios.Target {
	t.Phases, t.Bursts, t.Base.Mix = nil, nil, scenarios.Mix{{Outcome: outcome, P: 1}}
	t.Hosts = slices.Clone(t.Hosts)
	for i := range t.Hosts {
		t.Hosts[i] = out(t.Hosts[i], outcome)
	}
	return t
}

// peak is the most results within span; of no span all of them.
func peak(all []result, span time.Duration) (most int) {
	if span == 0 {
		return len(all)
	}
	first := 0
	for i := range all {
		for all[i].at-all[first].at >= span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// mostLines bounds how many results are scripted one by one. Of those that are
// fewer, the first show it, if they fill a window as full as any.
const (
	mostLines = 40
	someLines = 10
)

// plays scripts the outage: call by call if they are few, else as a stream of
// the same mean rate.
func (s *script) plays(o *outage, x *subject) {
	s.about = fmt.Sprintf("Every call %s, as often as the traffic of the file has it, and the breaker stays closed to the end.", o.how())
	outcome := o.outcome.String()
	if n := len(o.results); n <= mostLines {
		for _, r := range o.results[:min(n, max(someLines, o.peak+1))] {
			s.calls(1, r.at-r.took, x.callee(), outcome, r.took)
		}
	} else {
		took := o.results[n/2].took
		s.targets = []string{fmt.Sprintf("%s: {latency: %s, outcome: %s}", word(x.callee()), short(took), outcome)}
		s.duration = o.end
		s.callers = []string{fmt.Sprintf("{name: traffic, to: %s, rate: %s, timeout: %s}", word(x.callee()), rate(n, o.end), short(took+time.Second))}
	}
	s.before("breaker: %s, transitions: []", word(x.b.Name))
	s.after("metric: openings, min: 1")
}

// rate is so many calls in so much time as files write it.
func rate(n int, in time.Duration) string {
	for _, u := range []struct {
		per  time.Duration
		name string
	}{{time.Second, "s"}, {time.Minute, "min"}} {
		if r := float64(n) * u.per.Seconds() / in.Seconds(); r >= 1 {
			return fmt.Sprintf("%.4g/%s", r, u.name)
		}
	}
	return fmt.Sprintf("%.6g/h", float64(n)/in.Hours())
}
