package replay

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// ErrTooManyCalls stops a run that would make more calls than it may.
var ErrTooManyCalls = errors.New("the run makes more calls than the limit (raise it with --limit)")

// ErrTooManyBursts stops a run whose targets' bursts would go on for ever.
var ErrTooManyBursts = fmt.Errorf("the run has more than %d bursts; make them longer, or the run shorter", scenarios.MostBursts)

// Failure is an expectation that did not hold.
type Failure struct {
	Line    int // in the scenario file
	Policy  string
	Message string   // what was expected, and what came instead
	Around  []string // the events around it, in the trace's form for people
}

// expectations are those that apply under one policy, and what is gathered to
// judge them. As a sink it keeps only what one of them asks for.
type expectations struct {
	policy      string
	instants    []scenarios.Expect // state and allows
	others      []scenarios.Expect // transitions, calls and metrics
	transitions map[string][]trace.Event
	instances   map[string][]string // the names that events have for a breaker that an expectation is about
	calls       map[int]*became
	windows     []window
	failed      []Failure
	places      []place // of what failed
}

// window counts a metric in the stretch [from, to), by whole parts of it.
type window struct {
	metric   string
	from, to time.Duration
	each     time.Duration // what a count covers
	counts   []int
}

func newWindow(e *scenarios.Expect) window {
	w := window{metric: e.Metric, from: e.From, to: e.To, each: e.Each}
	if w.each == 0 {
		w.each = w.to - w.from
	}
	w.counts = make([]int, (w.to-w.from)/w.each)
	w.to = w.from + w.each*time.Duration(len(w.counts))
	return w
}

func (w *window) count(e *trace.Event) {
	if e.T < w.from || e.T >= w.to {
		return
	}
	switch {
	case w.metric == "attempts" && (e.Kind == trace.Admit || e.Kind == trace.Call && e.Target != ""),
		w.metric == "succeeded" && e.Kind == trace.Result && e.Outcome == trace.Success,
		w.metric == "refused" && e.Kind == trace.Refuse:
		w.counts[(e.T-w.from)/w.each]++
	}
}

// became is what a call has come to.
type became struct {
	started, admitted bool
	last              string // "refused", "exhausted", or the outcome of the last attempt
}

func newExpectations(s *scenarios.Scenario, p *scenarios.Policy) *expectations {
	x := &expectations{policy: p.Name, transitions: map[string][]trace.Event{}, instances: map[string][]string{}, calls: map[int]*became{}}
	for _, e := range s.Expect {
		if e.Policy != p.Name && (e.Policy != "" || p.Breakers == nil) {
			continue
		}
		switch {
		case e.State != 0 || e.Allows != nil:
			x.instants = append(x.instants, e)
			continue
		case e.Transitions != nil:
			x.instances[e.Breaker] = eachOf(s, p, e.Breaker)
			for _, name := range x.instances[e.Breaker] {
				x.transitions[name] = nil
			}
		case e.Call > 0:
			x.calls[e.Call] = &became{}
		case e.To > 0:
			x.windows = append(x.windows, newWindow(&e))
		}
		x.others = append(x.others, e)
	}
	return x
}

// eachOf are the names that events have for the breaker of that name.
func eachOf(s *scenarios.Scenario, p *scenarios.Policy, name string) (all []string) {
	for i := range p.Breakers {
		if b := &p.Breakers[i]; b.Name == name {
			for _, of := range s.Instances(b) {
				for n := range max(1, of.Count) {
					all = append(all, scenarios.PartName(b.Name, of.Name, min(of.Count, n+1)))
				}
			}
		}
	}
	if len(all) == 0 {
		return []string{name}
	}
	return all
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
	for i := range x.windows {
		x.windows[i].count(e)
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
	gates := r.gatesNamed(e.Breaker)
	if len(gates) == 0 {
		r.expect.fail(e, place{breaker: e.Breaker, at: now}, "expected something of breaker %s at %v; this policy has no such breaker", e.Breaker, now)
		return
	}
	var wrong []*gate
	for i := range gates {
		if !gates[i].meets(now, e) {
			wrong = append(wrong, &gates[i])
		}
	}
	if len(wrong) == 0 {
		return
	}
	g := wrong[0]
	at, more := place{breaker: g.name, at: now}, others(len(wrong), len(gates))
	if e.Allows != nil {
		words := map[bool]string{true: "to admit a call", false: "to admit no call"}
		r.expect.fail(e, at, "expected %s %s at %v; it is %s and would do the opposite%s", g.name, words[*e.Allows], now, g.State(now), more)
		return
	}
	r.expect.fail(e, at, "expected %s to be %s at %v; it is %s%s", g.name, e.State, now, g.State(now), more)
}

// meets says whether the gate is as expected.
func (g *gate) meets(now time.Duration, e *scenarios.Expect) bool {
	if e.Allows != nil {
		allows, _ := g.Peek(now)
		return allows == *e.Allows
	}
	return g.State(now) == e.State.String()
}

// others says how many breakers miss an expectation beside the first, of all that
// it is about.
func others(wrong, all int) string {
	if all == 1 {
		return ""
	}
	return fmt.Sprintf(" (as %d of the %d)", wrong, all)
}

func (x *expectations) fail(e *scenarios.Expect, at place, format string, a ...any) {
	x.failed = append(x.failed, Failure{Line: e.Line, Policy: x.policy, Message: fmt.Sprintf(format, a...)})
	x.places = append(x.places, at)
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
		case e.To > 0:
			x.judgeWindow(e, &x.windows[0])
			x.windows = x.windows[1:]
		case metric != nil:
			x.judgeMetric(e, metric)
		}
	}
	return x.failed
}

// judgeTransitions judges the list, which every instance of the breaker must have
// gone through.
func (x *expectations) judgeTransitions(e *scenarios.Expect) {
	names := x.instances[e.Breaker]
	first, wrong := "", 0
	for _, name := range names {
		if _, same := compare(e.Transitions, x.transitions[name]); !same {
			if wrong++; wrong == 1 {
				first = name
			}
		}
	}
	if wrong == 0 {
		return
	}
	got := x.transitions[first]
	at, _ := compare(e.Transitions, got)
	var want, came []string
	for _, m := range e.Transitions {
		want = append(want, fmt.Sprintf("%s@%v", m.State, short(m.At)))
	}
	for _, t := range got {
		came = append(came, fmt.Sprintf("%s@%v", t.To, short(t.Effective)))
	}
	x.fail(e, place{breaker: first, at: at}, "expected %s to go [%s]; it went [%s]%s", first, strings.Join(want, ", "), strings.Join(came, ", "), others(wrong, len(names)))
}

// compare says whether transitions came as expected, and if not, when the first
// came that did not or should have come.
func compare(want []scenarios.Moment, got []trace.Event) (at time.Duration, same bool) {
	n := 0 // so many came as expected
	for n < min(len(got), len(want)) && got[n].To == want[n].State.String() && got[n].Effective == want[n].At {
		n++
	}
	at = math.MaxInt64
	if n < len(got) {
		at = got[n].T
	}
	if n < len(want) {
		at = min(at, want[n].At)
	}
	return at, n == len(got) && n == len(want)
}

func (x *expectations) judgeCall(e *scenarios.Expect) {
	c := x.calls[e.Call]
	at := place{call: e.Call, at: math.MaxInt64}
	switch {
	case !c.started:
		x.fail(e, at, "expected call %d to be %s; there was no call %d", e.Call, e.Is, e.Call)
	case e.Is == "admitted" && c.admitted, e.Is == c.last:
	case c.last == "":
		x.fail(e, at, "expected call %d to be %s; it was still running at the end", e.Call, e.Is)
	default:
		x.fail(e, at, "expected call %d to be %s; it ended as %s", e.Call, e.Is, c.last)
	}
}

// judgeWindow judges each part of the window, up to the first that is otherwise.
func (x *expectations) judgeWindow(e *scenarios.Expect, w *window) {
	before := len(x.failed)
	for i, n := range w.counts {
		part := *e
		part.From = w.from + w.each*time.Duration(i)
		part.To = part.From + w.each
		x.judgeMetric(&part, func(string) (float64, bool) { return float64(n), true })
		if len(x.failed) > before {
			return
		}
	}
}

func (x *expectations) judgeMetric(e *scenarios.Expect, metric func(string) (float64, bool)) {
	name, v, ok := e.Metric, 0.0, false
	if v, ok = metric(e.Metric); e.To > 0 {
		name += fmt.Sprintf(" from %v to %v", short(e.From), short(e.To))
	}
	if !ok {
		x.fail(e, place{}, "expected %s %s; it is undefined here", name, bounds(e))
		return
	}
	if e.Min != nil && v < *e.Min || e.Max != nil && v > *e.Max {
		x.fail(e, place{}, "expected %s %s; it is %s", name, bounds(e), amount(e.Metric, v))
	}
}

func bounds(e *scenarios.Expect) string {
	switch {
	case e.About != nil:
		return "of about " + amount(e.Metric, *e.About) + " (from " + amount(e.Metric, *e.Min) + " to " + amount(e.Metric, *e.Max) + ")"
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
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
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

// place is where in the record a failure is to be understood: at an instant of a
// breaker, or all along a call. The zero place is nowhere.
type place struct {
	breaker string
	call    int
	at      time.Duration
}

// Around a failure so many events are shown.
const (
	shownBefore = 3
	shownAfter  = 2
	shownOfCall = 8
)

// around is a sink that finds the events around places.
type around struct {
	places        []place
	before, after [][]trace.Event // by place
}

// explain plays the scenario again, which gives the same events, and puts those
// around each failure beside it.
func explain(s *scenarios.Scenario, p *scenarios.Policy, x *expectations) error {
	a := &around{places: x.places, before: make([][]trace.Event, len(x.places)), after: make([][]trace.Event, len(x.places))}
	again := *s
	again.Expect = nil
	if _, err := Run(&again, p, Options{Sinks: []trace.Sink{a}}); err != nil {
		return err
	}
	for i := range x.failed {
		var text bytes.Buffer
		w := trace.NewTextWriter(&text)
		for _, e := range append(a.before[i], a.after[i]...) {
			if err := w.Event(&e); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for line := range strings.Lines(text.String()) {
			x.failed[i].Around = append(x.failed[i].Around, strings.TrimSuffix(line, "\n"))
		}
	}
	return nil
}

// Event keeps e for each place that it is near.
func (a *around) Event(e *trace.Event) error {
	for i, p := range a.places {
		switch {
		case p.call > 0:
			if e.Call == p.call && len(a.before[i]) < shownOfCall {
				a.before[i] = append(a.before[i], *e)
			}
		case p.breaker == "" || e.Breaker != p.breaker:
		case e.T <= p.at:
			if len(a.before[i]) == shownBefore {
				a.before[i] = a.before[i][:copy(a.before[i], a.before[i][1:])]
			}
			a.before[i] = append(a.before[i], *e)
		case len(a.after[i]) < shownAfter:
			a.after[i] = append(a.after[i], *e)
		}
	}
	return nil
}
