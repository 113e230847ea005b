package replay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// ErrTooManyCalls stops a run that would make more calls than it may.
var ErrTooManyCalls = errors.New("the run makes more calls than the limit (raise it with --limit)")

// Failure is an expectation that did not hold.
type Failure struct {
	Line    int // in the scenario file
	Policy  string
	Message string // what was expected, and what came instead
}

// expectations are those that apply under one policy, and what is gathered to
// judge them. As a sink it keeps only what one of them asks for.
type expectations struct {
	policy      string
	instants    []scenarios.Expect // state and allows
	others      []scenarios.Expect // transitions, calls and metrics
	transitions map[string][]trace.Event
	calls       map[int]*became
	failed      []Failure
}

// became is what a call has come to.
type became struct {
	started, admitted bool
	last              string // "refused", "exhausted", or the outcome of the last attempt
}

func newExpectations(s *scenarios.Scenario, p *scenarios.Policy) *expectations {
	x := &expectations{policy: p.Name, transitions: map[string][]trace.Event{}, calls: map[int]*became{}}
	for _, e := range s.Expect {
		if e.Policy != p.Name && (e.Policy != "" || p.Breakers == nil) {
			continue
		}
		switch {
		case e.State != 0 || e.Allows != nil:
			x.instants = append(x.instants, e)
			continue
		case e.Transitions != nil:
			x.transitions[e.Breaker] = nil
		case e.Call > 0:
			x.calls[e.Call] = &became{}
		}
		x.others = append(x.others, e)
	}
	return x
}

func (x *expectations) listens() bool { return len(x.others) > 0 }

// Event gathers what the expectations ask for.
func (x *expectations) Event(e *trace.Event) error {
	if e.Kind == trace.Transition {
		if list, ok := x.transitions[e.Breaker]; ok {
			x.transitions[e.Breaker] = append(list, *e)
		}
		return nil
	}
	c := x.calls[e.Call]
	if c == nil {
		return nil
	}
	switch e.Kind {
	case trace.Call:
		c.started, c.last = true, ""
		c.admitted = c.admitted || e.Target != ""
	case trace.Admit:
		c.admitted = true
	case trace.Refuse:
		c.last = "refused"
	case trace.Exhausted:
		c.last = "exhausted"
	case trace.Vanish:
		c.last = trace.Vanished
	case trace.Result:
		c.last = e.Outcome
	}
	return nil
}

// check judges an expectation of an instant, which has come.
func (r *run) check(e *scenarios.Expect) {
	now := r.clock.Now()
	g := r.gateNamed(e.Breaker)
	if g == nil {
		r.expect.fail(e, "expected something of breaker %s at %v; this policy has no such breaker", e.Breaker, now)
		return
	}
	if e.Allows != nil {
		if allows, _ := g.Peek(now); allows != *e.Allows {
			words := map[bool]string{true: "to admit a call", false: "to admit no call"}
			r.expect.fail(e, "expected %s %s at %v; it is %s and would do the opposite", e.Breaker, words[*e.Allows], now, g.State(now))
		}
		return
	}
	if got := g.State(now); got != e.State.String() {
		r.expect.fail(e, "expected %s to be %s at %v; it is %s", e.Breaker, e.State, now, got)
	}
}

func (x *expectations) fail(e *scenarios.Expect, format string, a ...any) {
	x.failed = append(x.failed, Failure{e.Line, x.policy, fmt.Sprintf(format, a...)})
}

// failures judges the rest, at the end.
func (x *expectations) failures(metric func(string) (float64, bool)) []Failure {
	for i := range x.others {
		e := &x.others[i]
		switch {
		case e.Transitions != nil:
			x.judgeTransitions(e)
		case e.Call > 0:
			x.judgeCall(e)
		case metric != nil:
			x.judgeMetric(e, metric)
		}
	}
	return x.failed
}

func (x *expectations) judgeTransitions(e *scenarios.Expect) {
	got := x.transitions[e.Breaker]
	same := len(got) == len(e.Transitions)
	for i := 0; same && i < len(got); i++ {
		same = got[i].To == e.Transitions[i].State.String() && got[i].Effective == e.Transitions[i].At
	}
	if same {
		return
	}
	var want, came []string
	for _, m := range e.Transitions {
		want = append(want, fmt.Sprintf("%s@%v", m.State, short(m.At)))
	}
	for _, t := range got {
		came = append(came, fmt.Sprintf("%s@%v", t.To, short(t.Effective)))
	}
	x.fail(e, "expected %s to go [%s]; it went [%s]", e.Breaker, strings.Join(want, ", "), strings.Join(came, ", "))
}

func (x *expectations) judgeCall(e *scenarios.Expect) {
	c := x.calls[e.Call]
	switch {
	case !c.started:
		x.fail(e, "expected call %d to be %s; there was no call %d", e.Call, e.Is, e.Call)
	case e.Is == "admitted" && c.admitted, e.Is == c.last:
	case c.last == "":
		x.fail(e, "expected call %d to be %s; it was still running at the end", e.Call, e.Is)
	default:
		x.fail(e, "expected call %d to be %s; it ended as %s", e.Call, e.Is, c.last)
	}
}

func (x *expectations) judgeMetric(e *scenarios.Expect, metric func(string) (float64, bool)) {
	v, ok := metric(e.Metric)
	if !ok {
		x.fail(e, "expected %s %s; it is undefined here", e.Metric, bounds(e))
		return
	}
	if e.Min != nil && v < *e.Min || e.Max != nil && v > *e.Max {
		x.fail(e, "expected %s %s; it is %s", e.Metric, bounds(e), amount(e.Metric, v))
	}
}

func bounds(e *scenarios.Expect) string {
	switch {
	case e.Max == nil:
		return "of at least " + amount(e.Metric, *e.Min)
	case e.Min == nil:
		return "of at most " + amount(e.Metric, *e.Max)
	default:
		return "from " + amount(e.Metric, *e.Min) + " to " + amount(e.Metric, *e.Max)
	}
}

// amount writes a metric's value in its unit.
func amount(metric string, v float64) string {
	for _, m := range scenarios.Metrics {
		if m.Name == metric && m.Unit == scenarios.Duration {
			return short(time.Duration(v))
		}
	}
	return fmt.Sprintf("%g", v)
}

// short writes a duration as a file would: 2m, not 2m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Expectations is how many of the scenario's expectations apply under p.
func Expectations(s *scenarios.Scenario, p *scenarios.Policy) int {
	x := newExpectations(s, p)
	return len(x.instants) + len(x.others)
}
