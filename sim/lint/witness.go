package lint

import (
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// witness sees a run, and keeps what the rules ask for.
type witness struct {
	run      *trace.RunInfo
	end      time.Duration
	admitted map[int]admission // by call in flight: its latest
	ended    map[int]admission // that of the call whose result came last
	keeps    bool              // every result
	leases   map[string]time.Duration
	breakers map[string]*seen // by name; of a breaker with a scope each instance
	names    []string         // of those, in the order in which they were first heard of
	attempts int
	openings int
}

type admission struct {
	at    time.Duration
	probe bool
}

// seen is what a run showed of one breaker.
type seen struct {
	name     string
	lease    time.Duration // of a probe
	opened   []time.Duration
	left     []time.Duration // open, or fallback
	moves    []move
	results  []result
	harmed   int             // calls that it refused and that would have succeeded
	probes   []time.Duration // when they went out
	turned   []time.Duration // calls that it refused, or sent elsewhere
	failed   int             // results that are failures
	repeated int             // of those, after more than one attempt
	late     *result         // a good probe that came after its lease
	echo     *result         // of a call from before an opening, which opened it again
	backup   bool            // that served when the last probation began
	streak   int             // failures of this probation
	trapped  int             // the most failures of a probation with a backup idle
	trappedT time.Duration
}

type move struct {
	what, from, to string
	at             time.Duration
}

type result struct {
	at, took, admitted time.Duration
}

func newWitness(s *scenarios.Scenario, p *scenarios.Policy) *witness {
	w := &witness{admitted: map[int]admission{}, ended: map[int]admission{}, breakers: map[string]*seen{}, leases: map[string]time.Duration{}}
	for i := range p.Breakers {
		if b := &p.Breakers[i]; b.Tool != nil {
			w.leases[b.Name] = b.Tool.ProbeTimeout
		}
	}
	return w
}

// of is what is seen of a breaker, or of an instance of one.
func (w *witness) of(name string) *seen {
	if name == "" {
		return nil
	}
	v, ok := w.breakers[name]
	if !ok {
		whole, _ := scenarios.SplitName(name)
		v = &seen{name: name, lease: w.leases[whole]}
		w.breakers[name] = v
		w.names = append(w.names, name)
	}
	return v
}

// each are the breaker, or its instances, as far as anything was heard of them.
func (w *witness) each(breaker string) (all []*seen) {
	for _, name := range w.names {
		if whole, _ := scenarios.SplitName(name); whole == breaker {
			all = append(all, w.breakers[name])
		}
	}
	return all
}

func sinks(all ...trace.Sink) []trace.Sink { return all }

// witnessed plays the scenario under the policy.
func witnessed(s *scenarios.Scenario, p *scenarios.Policy) (*witness, error) {
	bare := *s
	bare.Expect = nil
	w := newWitness(s, p)
	_, err := replay.Run(&bare, p, replay.Options{Sinks: sinks(w)})
	return w, err
}

// metric is one of those that scripts expect something of.
func (w *witness) metric(name string) (float64, bool) {
	switch name {
	case "attempts":
		return float64(w.attempts), true
	case "openings":
		return float64(w.openings), true
	default:
		return 0, false
	}
}

// Event takes one event.
func (w *witness) Event(e *trace.Event) error {
	v := w.of(e.Breaker)
	switch e.Kind {
	case trace.Run:
		w.run = e.Run
	case trace.End:
		w.end = e.T
	case trace.Call:
		if e.Target != "" { // no gate is asked
			w.attempts++
		}
	case trace.Admit:
		w.attempts++
	}
	if v != nil {
		w.breaker(e, v)
	}
	return nil
}

// breaker takes an event of a breaker.
func (w *witness) breaker(e *trace.Event, v *seen) {
	switch e.Kind {
	case trace.Admit:
		w.admit(e, v)
	case trace.Refuse, trace.Exhausted:
		v.turned = append(v.turned, e.T)
		if e.Would == trace.Success {
			v.harmed++
		}
	case trace.Result:
		w.result(e, v)
	case trace.Transition:
		w.transition(e, v)
	case trace.Switch:
		v.moves = append(v.moves, move{"switch", e.From, e.To, e.T})
		if e.Rule == string(machine.M2) {
			v.backup = e.From != ""
		}
	}
}

func (w *witness) admit(e *trace.Event, v *seen) {
	w.admitted[e.Call] = admission{e.T, e.Probe}
	if e.Probe {
		v.probes = append(v.probes, e.T)
	}
	if e.Rule == string(machine.M4) {
		v.turned = append(v.turned, e.T)
	}
}

func (w *witness) result(e *trace.Event, v *seen) {
	a := w.admitted[e.Call]
	delete(w.admitted, e.Call)
	clear(w.ended)
	w.ended[e.Call] = a
	r := result{e.T, e.Took, a.at}
	if w.keeps {
		v.results = append(v.results, r)
	}
	if e.Outcome != trace.Success {
		v.failed++
		if e.Attempt > 1 {
			v.repeated++
		}
	}
	if e.Outcome == trace.Success && a.probe && v.lease > 0 && e.T-a.at >= v.lease && v.late == nil {
		v.late = &r
	}
	if e.Rule == string(machine.M13) && v.backup {
		if v.streak++; v.streak > v.trapped {
			v.trapped, v.trappedT = v.streak, e.T
		}
	}
}

func (w *witness) transition(e *trace.Event, v *seen) {
	v.moves = append(v.moves, move{"transition", e.From, e.To, e.Effective})
	v.streak = 0
	switch {
	case e.To == machine.Open.String() || e.To == machine.Fallback.String():
		a, ok := w.ended[e.Call]
		again := ok && len(v.opened) > 0 && a.at < v.opened[len(v.opened)-1]
		if again && e.From == machine.Closed.String() && v.echo == nil {
			v.echo = &result{at: e.T, took: e.T - a.at, admitted: a.at}
		}
		w.openings++
		v.opened = append(v.opened, e.Effective)
	case e.From == machine.Open.String() || e.From == machine.Fallback.String():
		v.left = append(v.left, e.Effective)
	}
}
