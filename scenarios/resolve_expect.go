package scenarios

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

var toolStates = []machine.State{machine.Closed, machine.Open, machine.HalfOpen}
var modelStates = []machine.State{machine.Primary, machine.Fallback, machine.Recovering}

// fates are what an expectation can say became of a call.
var fates = append([]string{"admitted", "refused", "exhausted"}, outcomeNames...)

func (r *resolver) resolveExpect() {
	var policies []string
	breakers := false
	for i := range r.s.Policies {
		policies = append(policies, r.s.Policies[i].Name)
		breakers = breakers || r.s.Policies[i].Breakers != nil
	}
	for i := range r.f.Expect {
		w := &r.f.Expect[i]
		e := Expect{Line: place(w.node).Position.Line, Policy: w.V.Policy.V, At: time.Duration(w.V.At.V), Breaker: w.V.Breaker.V, Metric: w.V.Metric.V, Call: w.V.Call.V, Is: w.V.Is.V}
		r.underPolicy(w, policies, breakers)
		r.expectation(w, &e)
		r.s.Expect = append(r.s.Expect, e)
	}
}

// underPolicy checks that there is a policy under which the expectation holds;
// breakers says whether any has them.
func (r *resolver) underPolicy(w *val[expectationW], names []string, breakers bool) {
	switch {
	case r.anyPolicy:
	case w.V.Policy.said() && !slices.Contains(names, w.V.Policy.V):
		r.d.fault(w.V.Policy.node, "the scenario has no policy %q%s", clip(w.V.Policy.V), r.d.meant(w.V.Policy.V, names))
	case !w.V.Policy.said() && !breakers && len(names) > 0:
		r.d.fault(w.node, "no policy has breakers, so this would never be checked; say under which policy it holds")
	}
}

// expectation finds its form: the one that some key makes it.
func (r *resolver) expectation(w *val[expectationW], e *Expect) {
	v := &w.V
	forms := 0
	for _, said := range []bool{v.State.said(), v.Allows.said(), v.Transitions.said(), v.Metric.said(), v.Call.said() || v.Is.said()} {
		if said {
			forms++
		}
	}
	if forms != 1 {
		r.lacks(w.node, []string{"state", "allows", "transitions", "metric", "call", "is"}, "an expectation says one thing: state or allows (at an instant), transitions, metric, or call and is")
		return
	}
	switch {
	case v.Metric.said():
		r.expectMetric(w, e)
	case v.Call.said() || v.Is.said():
		r.expectCall(w)
	default:
		r.expectBreaker(w, e)
	}
	for _, k := range []struct {
		said, fits bool
		key        string
	}{
		{v.At.said(), v.State.said() || v.Allows.said(), "at"},
		{v.Breaker.said(), v.State.said() || v.Allows.said() || v.Transitions.said(), "breaker"},
		{v.Min.said() || v.Max.said(), v.Metric.said(), "min or max"},
		{v.About.said() || v.Within.said(), v.Metric.said(), "about or within"},
		{v.From.said() || v.To.said(), v.Metric.said(), "from or to"},
		{v.Each.said(), v.Metric.said(), "each"},
	} {
		if k.said && !k.fits {
			r.d.fault(w.node, "%s does not belong to this form of expectation", k.key)
		}
	}
}

func (r *resolver) expectBreaker(w *val[expectationW], e *Expect) {
	if !w.V.Breaker.said() {
		r.missing(w.node, "the expectation", "breaker")
		return
	}
	b := r.breaker(&w.V.Breaker)
	if b == nil {
		return
	}
	if w.V.Transitions.said() {
		e.Transitions = []Moment{}
		for i := range w.V.Transitions.V {
			m := &w.V.Transitions.V[i]
			if m.V.state != "" { // otherwise it was refused as it was read
				e.Transitions = append(e.Transitions, Moment{r.state(b, m.V.state, m.node), time.Duration(m.V.at)})
			}
		}
		return
	}
	if !w.V.At.said() {
		r.missing(w.node, "the expectation", "at")
	}
	if !r.s.Open && !r.d.refused[r.f.Duration.node] && e.At > r.s.Duration {
		r.d.fault(w.V.At.node, "%s is after the end, %s", short(e.At), short(r.s.Duration))
	}
	if w.V.Allows.said() {
		e.Allows = &w.V.Allows.V
		return
	}
	_, scalar := w.V.State.node.(ast.ScalarNode)
	if _, null := w.V.State.node.(*ast.NullNode); scalar && !null { // otherwise it was refused as it was read
		e.State = r.state(b, w.V.State.V, w.V.State.node)
	}
}

// state reads a state of the breaker's kind.
func (r *resolver) state(b *Breaker, word string, at ast.Node) machine.State {
	states := toolStates
	if b.Model != nil {
		states = modelStates
	}
	var names []string
	for _, s := range states {
		if s.String() == word {
			return s
		}
		names = append(names, s.String())
	}
	r.d.fault(at, "%s is never %q%s", b.Name, clip(word), meant(word, names))
	return 0
}

func (r *resolver) expectMetric(w *val[expectationW], e *Expect) {
	var names []string
	k := -1
	for i, m := range Metrics {
		names = append(names, m.Name)
		if m.Name == e.Metric {
			k = i
		}
	}
	if k < 0 {
		r.d.fault(w.V.Metric.node, "unknown metric %q%s", clip(e.Metric), meant(e.Metric, names))
		return
	}
	r.window(w, e)
	if !w.V.Min.said() && !w.V.Max.said() && !w.V.About.said() {
		r.lacks(w.node, []string{"min", "max", "about"}, "the expectation bounds nothing; say min, max or about")
	}
	if w.V.Within.said() && !w.V.About.said() {
		r.lacks(w.node, []string{"about"}, "within is the tolerance of about, which is not here")
	}
	if w.V.About.said() {
		if w.V.Min.said() || w.V.Max.said() {
			r.d.fault(w.V.About.node, "about has a tolerance, within; min and max are for an expectation of their own")
			return
		}
		r.about(&w.V.About, &w.V.Within, e, &Metrics[k])
		return
	}
	e.Min, e.Max = r.bound(&w.V.Min, &Metrics[k]), r.bound(&w.V.Max, &Metrics[k])
	if e.Min != nil && e.Max != nil && *e.Min > *e.Max {
		r.d.fault(w.V.Min.node, "min is above max; nothing can be both")
	}
}

// windowed are the metrics that can be counted in a stretch of the run.
var windowed = []string{"attempts", "succeeded", "refused"}

// window is the stretch of the run in which the metric counts.
func (r *resolver) window(w *val[expectationW], e *Expect) {
	from, to := &w.V.From, &w.V.To
	defer r.each(w, e)
	switch e.From, e.To = time.Duration(from.V), time.Duration(to.V); {
	case !from.said() && !to.said():
	case !from.said() || !to.said():
		r.lacks(w.node, []string{"from", "to"}, "from and to go together: {metric: succeeded, from: 1m, to: 2m, min: 600}")
	case !slices.Contains(windowed, e.Metric):
		r.d.fault(from.node, "%s is of the whole run; from and to are for %s", e.Metric, strings.Join(windowed, ", "))
	case e.From >= e.To && !r.d.refused[from.node] && !r.d.refused[to.node]:
		r.d.fault(to.node, "the stretch ends at %s, before it begins", short(e.To))
	}
}

// mostStretches of one expectation.
const mostStretches = 100_000

// each parts the window into stretches for each of which the bounds hold.
func (r *resolver) each(w *val[expectationW], e *Expect) {
	each := &w.V.Each
	switch e.Each = time.Duration(each.V); {
	case !each.said() || r.d.refused[each.node]:
	case !w.V.From.said() || !w.V.To.said():
		r.lacks(w.node, []string{"from", "to"}, "each parts a stretch that from and to give: {metric: attempts, from: 1m, to: 2m, each: 1s, max: 10}")
	case e.To > e.From && (e.Each == 0 || e.Each > e.To-e.From || (e.To-e.From)/e.Each > mostStretches):
		r.d.fault(each.node, "each is %s; between from and to there must be room for one, and for no more than %d", short(e.Each), mostStretches)
		e.Each = 0
	}
}

// defaultTolerance is the share by which a metric may miss what it is about.
const defaultTolerance = 0.05

// about turns a value and its tolerance into bounds.
func (r *resolver) about(w *val[amountW], within *val[withinW], e *Expect, m *Metric) {
	if e.About = r.bound(w, m); e.About == nil {
		return
	}
	tolerance := math.Abs(*e.About) * defaultTolerance
	switch {
	case within.said() && within.V.isShare:
		tolerance = math.Abs(*e.About) * within.V.share
	case within.said():
		if t := r.bound(&val[amountW]{within.V.amountW, within.node}, m); t != nil {
			tolerance = *t
		}
	}
	e.Min, e.Max = new(*e.About-tolerance), new(*e.About+tolerance)
}

func (r *resolver) bound(w *val[amountW], m *Metric) *float64 {
	if !w.said() || r.d.refused[w.node] {
		return nil
	}
	v := w.V.number
	switch {
	case m.Unit == Duration && w.V.isNumber && v != 0:
		r.d.fault(w.node, "%s is a duration; write one, such as %gs", m.Name, v)
	case m.Unit == Duration:
		v = float64(w.V.span)
	case !w.V.isNumber:
		r.d.fault(w.node, "%s is a number, not a duration", m.Name)
	}
	return &v
}

func (r *resolver) expectCall(w *val[expectationW]) {
	switch {
	case !w.V.Call.said() || !w.V.Is.said():
		r.lacks(w.node, []string{"call", "is"}, "call and is go together: {call: 1, is: refused}")
	case w.V.Call.V < 1:
		r.d.fault(w.V.Call.node, "calls are numbered from 1")
	default:
		if _, err := oneOf(w.V.Is.V, "a call", fates); err != nil {
			r.d.fault(w.V.Is.node, "%v", err)
		}
	}
}
