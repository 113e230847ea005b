package breakertest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// Answer says whether a breaker does as a rule says.
type Answer uint8

// The answers.
const (
	Yes    Answer = iota + 1 // it does
	No                       // it does otherwise
	Cannot                   // it has no such setting, or never comes to where the rule begins
)

var answers = [...]string{"", "yes", "no", "cannot be expressed"}

func (a Answer) String() string { return answers[a] }

// Finding is what came of one rule.
type Finding struct {
	Rule   *Rule
	Answer Answer
	Why    string     // a sentence that names the calls and instants
	Trace  trace.List // of the rule's scenario under the breaker; empty if it was not played
}

// Option is what one knows beforehand of a breaker.
type Option func(*options)

type options struct {
	expected   map[string]Answer
	panicKills bool
}

// Expect has [Run] expect another answer than yes to the rule of that id, and
// fail when that changes.
func Expect(rule string, a Answer) Option {
	return func(o *options) { o.expected[rule] = a }
}

// PanicKills says that the breaker runs functions on a goroutine of its own that
// catches no panic. One would end the process, so it is not tried.
func PanicKills() Option { return func(o *options) { o.panicKills = true } }

func chosen(opts []Option) options {
	o := options{expected: map[string]Answer{}}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Check holds a breaker against each of the [Rules], in their order. Each has a
// bubble and breakers of its own.
func Check(t *testing.T, others replay.Others, opts ...Option) []Finding {
	o := chosen(opts)
	var all []Finding
	for i := range Rules {
		all = append(all, Rules[i].check(t, others, &o))
	}
	return all
}

// Run holds a breaker of yours against each of the [Rules], in a subtest each,
// which says what it does. newBreaker makes a closed one, with settings as close
// to s as it has them.
func Run(t *testing.T, newBreaker func(s machine.ToolSettings) replay.Port, opts ...Option) {
	t.Helper()
	o := chosen(opts)
	for id := range o.expected {
		if ruleNamed(id) == nil {
			t.Fatalf("there is no rule %q; write one of %s", id, strings.Join(ruleIDs(), ", "))
		}
	}
	for i := range Rules {
		r := &Rules[i]
		t.Run(r.ID, func(t *testing.T) {
			f := r.check(t, yours(newBreaker), &o)
			want, known := o.expected[r.ID]
			switch {
			case known && f.Answer != want:
				t.Errorf("%s: %s, and not %s as expected: %s", r.title(), f.Answer, want, f.Why)
			case !known && f.Answer != Yes:
				t.Errorf("%s: %s: %s. If that is meant, say breakertest.Expect(%q, breakertest.%s)", r.title(), f.Answer, f.Why, r.ID, constants[f.Answer])
			default:
				t.Logf("%s: %s: %s", r.title(), f.Answer, f.Why)
			}
		})
	}
}

var constants = [...]string{"", "Yes", "No", "Cannot"}

func ruleIDs() (ids []string) {
	for i := range Rules {
		ids = append(ids, Rules[i].ID)
	}
	return ids
}

func (r *Rule) title() string { return r.Scenario().Title }

// yours are the breakers of a team.
func yours(newBreaker func(s machine.ToolSettings) replay.Port) replay.Others {
	return replay.Others{By: "yours", Leased: true, New: func(_ string, s machine.ToolSettings, _ machine.Hooks) (replay.Port, error) {
		return newBreaker(s), nil
	}}
}

// PlayBuiltin plays a scenario of the built-in library, by its name, under its
// first policy with a breaker of yours, and gives the trace: what became of each
// call, and each change of state. It fails the test where that cannot be.
func PlayBuiltin(t *testing.T, name string, newBreaker func(s machine.ToolSettings) replay.Port) trace.List {
	t.Helper()
	src, ok := scenarios.Source(name)
	if !ok {
		t.Fatalf("there is no built-in scenario %q; write one of %s", name, strings.Join(scenarios.Names(), ", "))
	}
	s, err := scenarios.Load(name, src, scenarios.DefaultLimits())
	var events trace.List
	if err == nil {
		err = Play(t, s, &s.Policies[0], yours(newBreaker), &events)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return events
}

// lacking is what a port would need for a rule, and has not.
type lacking string

func (l lacking) Error() string { return string(l) }

// check tries the rule.
func (r *Rule) check(t *testing.T, others replay.Others, o *options) Finding {
	if others.By == "" {
		others.By = "ours" // as seen from outside
	}
	f := Finding{Rule: r}
	var s seen
	var err error
	switch {
	case r.end != nil && o.panicKills && r.ID == "panic":
		f.Answer, f.Why = No, "it is not tried: the function runs on a goroutine of the library's that catches no panic, and one ends the whole process"
		return f
	case r.end != nil:
		s, err = r.playEnding(t, others, &f.Trace)
	case r.ID == "T14":
		s, err = r.playReading(t, others, &f.Trace)
	default:
		s, err = r.play(t, others, &f.Trace, func(w *watched) replay.Port { return w })
	}
	var v verdict
	var without lacking
	switch {
	case errors.As(err, &without):
		f.Trace = nil // it shows something else
		v = cannot("%v", err)
	case errors.Is(err, replay.ErrCannot):
		v = cannot("%v", err)
	case err != nil:
		f.Trace = nil // it has no end
		v = no("%v", err)
	default:
		v = r.judge(&s)
	}
	f.Answer, f.Why = v.answer, v.why
	return f
}

// play plays the rule's scenario with the breaker as the port that wear makes of it.
func (r *Rule) play(t *testing.T, others replay.Others, events *trace.List, wear func(*watched) replay.Port) (s seen, err error) {
	inner := others.New
	var w *watched
	others.New = func(name string, settings machine.ToolSettings, _ machine.Hooks) (replay.Port, error) {
		port, err := inner(name, settings, machine.Hooks{})
		w = &watched{Port: port}
		if err != nil {
			return nil, err
		}
		return wear(w), nil
	}
	scenario := r.Scenario()
	err = Play(t, scenario, &scenario.Policies[0], others, &s, events)
	s.blind = w != nil && w.blind
	return s, err
}

// playReading plays the scenario twice: once nobody reads the state.
func (r *Rule) playReading(t *testing.T, others replay.Others, events *trace.List) (seen, error) {
	without, err := r.play(t, others, new(trace.List), func(w *watched) replay.Port { return unread{w} })
	if err != nil {
		return seen{}, err
	}
	var port *readable
	can := true
	s, err := r.play(t, others, events, func(w *watched) replay.Port {
		can = w.canBeRead()
		port = &readable{watched: w, start: time.Now()}
		return port
	})
	switch {
	case err != nil:
		return s, err
	case !can:
		return s, lacking("it has nothing to read its state with")
	}
	if _, ok := port.Port.(wouldAllower); !ok { // what it would have said is not known
		*events = slices.DeleteFunc(*events, func(e trace.Event) bool { return e.Kind == trace.Peek })
	}
	s.readings, s.unread = port.readings, &without
	return s, nil
}

// probeCall is the call that is the probe in the scenarios of endings.
const probeCall = 5

// playEnding plays the scenario with a probe that does not return.
func (r *Rule) playEnding(t *testing.T, others replay.Others, events *trace.List) (seen, error) {
	can := true
	s, err := r.play(t, others, events, func(w *watched) replay.Port {
		if _, can = w.Port.(doer); !can {
			return w
		}
		return &unreturning{watched: w, probe: probeCall, end: r.end}
	})
	if err == nil && !can {
		err = lacking("it has no Do that runs a function: how one ends is its caller's to report")
	}
	return s, err
}
