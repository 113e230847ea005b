package replay

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// Port is a breaker that is not ours in the place of our tool breaker. It reads
// time.Now by itself, so it has to live in a bubble of testing/synctest, the
// clock of which the run moves (see [Others]).
//
// A port may have more methods, which are used where they are there:
//
//	Reset()                // an operator's reset
//	WouldAllow() bool      // what Allow would decide, read without effect
//	Close()                // the run is over: let go of calls that never ended
//	Last() machine.Verdict // it knows our rules: by which it decided last, in Allow or in done
//
// One that has Last tells its changes of state to the hooks it was made with,
// and refuses with a [machine.Refusal]. Of all others the trace has what can be
// seen from outside.
type Port interface {
	// Allow asks for a call now. It gives what to call with how the call ended,
	// at most once and, if the call vanishes, never; or what the caller of a
	// refused call reads.
	Allow() (done func(ok bool), err error)
	// State is "closed", "open" or "half-open", if that can be read without
	// effect, and otherwise empty.
	State() string
}

// Others puts ports in the place of all our tool breakers.
type Others struct {
	By  string // whose they are, such as "gobreaker v2.4.0"; empty if they have Last
	New func(name string, s machine.ToolSettings, h machine.Hooks) (Port, error)
	// Leased says that the lease of the settings holds for them.
	Leased bool
	// Anonymous says that they do not know of which call a result is.
	Anonymous bool
	// Wait sleeps until the instant now of the run, and until everybody else in
	// the bubble waits for something.
	Wait func(now time.Duration)
}

// ErrCannot says that what a scenario does cannot be asked of a port.
var ErrCannot = errors.New("this cannot be played with a breaker that is not ours")

func cannot(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCannot, fmt.Sprintf(format, args...))
}

// cannot says what of the scenario under the policy no port can do.
func (o *Others) cannot(s *scenarios.Scenario, p *scenarios.Policy) error {
	tools := 0
	for i := range p.Breakers {
		if b := &p.Breakers[i]; b.Tool != nil {
			tools++
			by := cmp.Or(o.By, "another breaker")
			if b.Anonymous && !o.Anonymous {
				return cannot("the results of %s are anonymous, and %s wants to know of which call they are: write reports: permit", b.Name, by)
			}
			if keys := beyond(b); len(keys) > 0 {
				return cannot("%s sets %s, which %s cannot be told: take that out, or compare under a policy without it", b.Name, strings.Join(keys, ", "), by)
			}
		}
	}
	switch {
	case tools == 0:
		return cannot("the policy %s has no tool breaker", p.Name)
	case len(s.Substitutes) > 0:
		return cannot("substitutes take calls while a breaker would refuse them, which is to be read without effect")
	case p.Gate == scenarios.GateRetry:
		return cannot("the gate of %s is for retries only, and whether it would refuse is to be read without effect", p.Name)
	case p.Hedge != nil && p.Gate != scenarios.GateCall:
		return cannot("%s hedges where the gate would let it, which is to be read without effect", p.Name)
	}
	return nil
}

// portGate is a port as a gate of the run. It compares the port's state before
// and after whatever is done to it.
type portGate struct {
	r        *run
	counts   machine.Counts // a port hears what a result counts as (T20)
	port     Port
	name     string
	guards   string
	seen     string // its state, as far as it was told
	inferred string // likewise, of a port whose state cannot be read
}

// newPort puts a port behind the gate of b.
func (r *run) newPort(b *scenarios.Breaker, o *Others) (Gate, error) {
	port, err := o.New(b.Name, *b.Tool, r.hooks(b))
	if err != nil {
		return nil, err
	}
	if err := operable(r.s, b.Name, port, o.By); err != nil {
		return nil, err
	}
	closed := machine.Closed.String()
	g := &portGate{r: r, counts: b.Tool.Counts, port: port, name: b.Name, guards: b.Guards, seen: closed, inferred: closed}
	if ruled, ok := port.(ruled); ok {
		return &ruledGate{g, ruled}, nil
	}
	return g, nil
}

// operable says which of the scripted operations on a breaker the port in its
// place has nothing for.
func operable(s *scenarios.Scenario, name string, port Port, by string) error {
	_, resets := port.(interface{ Reset() })
	for i := range s.Calls {
		e := &s.Calls[i]
		done := map[scenarios.Op]string{scenarios.OpForceOpen: "forced open", scenarios.OpForceClosed: "forced closed", scenarios.OpConfigure: "configured"}[e.Op]
		if e.Op == scenarios.OpReset && !resets {
			done = "reset"
		}
		if (e.To == name || e.To == trace.Whole(name)) && done != "" {
			return cannot("%s is %s, and %s has nothing for that", name, done, by)
		}
	}
	return nil
}

// settle lets the port finish what was done to it.
func (g *portGate) settle(now time.Duration) { g.r.others.Wait(now) }

// look records a change of the port's state, and says whether there is one.
func (g *portGate) look(now time.Duration, rule string) bool {
	state := g.port.State()
	if state == "" {
		state = g.inferred
	}
	if state == g.seen {
		return false
	}
	call := g.r.cause
	if rule == trace.MovedByTime {
		call = 0
	}
	g.r.news = append(g.r.news, trace.Event{T: now, Kind: trace.Transition, Breaker: g.name, From: g.seen, To: state, Effective: now, Rule: rule, Call: call})
	g.seen = state
	return true
}

// infer is the state of a port that does not tell it, from what it did.
func (g *portGate) infer(admitted bool) {
	switch {
	case !admitted:
		g.inferred = machine.Open.String()
	case g.inferred == machine.Open.String():
		g.inferred = machine.HalfOpen.String()
	}
}

func (g *portGate) Begin(now time.Duration, p *Pass) Decision {
	g.look(now, trace.MovedByTime)
	done, err := g.port.Allow()
	g.settle(now)
	g.infer(err == nil)
	g.look(now, trace.MovedByAsk)
	if err != nil {
		return Decision{Rule: trace.TurnedAway, Reason: err.Error()}
	}
	p.done = done
	return Decision{Admitted: true, Probe: g.seen == machine.HalfOpen.String(), Target: g.guards, Rule: trace.LetThrough}
}

func (g *portGate) End(now time.Duration, p *Pass, e machine.Ending) machine.Verdict {
	g.look(now, trace.MovedByTime)
	e.OK = g.good(e)
	p.done(e.OK)
	g.settle(now)
	if g.inferred == machine.HalfOpen.String() {
		g.inferred = machine.Open.String()
		if e.OK {
			g.inferred = machine.Closed.String()
		}
	}
	if g.look(now, trace.MovedByEnd) {
		return machine.Verdict{Rule: trace.MovedByEnd, Applied: true}
	}
	return machine.Verdict{Rule: trace.HeardOf, Applied: true}
}

// good says whether the port hears of a success.
func (g *portGate) good(e machine.Ending) bool {
	return e.OK || g.counts.Of(e.Kind) == machine.AsSuccess
}

// hearsCancelled says whether the port hears of a cancelled call.
func (g *portGate) hearsCancelled() bool {
	return g.counts.Cancelled == machine.AsFailure || g.counts.Cancelled == machine.AsSuccess
}

func (g *portGate) Peek(time.Duration) (bool, string) {
	reader, ok := g.port.(interface{ WouldAllow() bool })
	return ok && reader.WouldAllow(), g.guards
}

func (g *portGate) State(time.Duration) string { return g.seen }
func (g *portGate) Settle(now time.Duration)   { g.look(now, trace.MovedByTime) }

func (g *portGate) Reset(now time.Duration) {
	g.look(now, trace.MovedByTime)
	if port, ok := g.port.(interface{ Reset() }); ok {
		port.Reset()
		g.settle(now)
		g.inferred = machine.Closed.String()
		g.look(now, trace.MovedByReset)
	}
}

func (g *portGate) SetAvailable(time.Duration, string, bool)            {}
func (g *portGate) Force(time.Duration, machine.State)                  {}
func (g *portGate) Configure(time.Duration, machine.ToolSettings) error { return nil }

// canPeek says whether the gate can be read without effect.
func (g *portGate) canPeek() bool {
	_, ok := g.port.(interface{ WouldAllow() bool })
	return ok
}

func (g *portGate) close() {
	if port, ok := g.port.(interface{ Close() }); ok {
		port.Close()
	}
}

// ruled is a port that knows our rules.
type ruled interface {
	Port
	Last() machine.Verdict
}

// ruledGate is a port whose hooks and verdicts tell what it does.
type ruledGate struct {
	*portGate
	port ruled
}

func (g *ruledGate) Begin(now time.Duration, p *Pass) Decision {
	done, err := g.port.Allow()
	g.settle(now)
	g.seen = g.port.State()
	if err == nil {
		p.done = done
		rule := g.port.Last().Rule
		return Decision{Admitted: true, Probe: rule == machine.T5 || rule == machine.T23, Target: g.guards, Rule: rule}
	}
	if r, ok := errors.AsType[*machine.Refusal](err); ok {
		return Decision{Rule: r.Rule, Reason: r.Error(), Until: r.Until, Known: r.Known}
	}
	return Decision{Rule: g.port.Last().Rule, Reason: err.Error()}
}

func (g *ruledGate) End(now time.Duration, p *Pass, e machine.Ending) machine.Verdict {
	p.done(g.good(e))
	g.settle(now)
	return g.port.Last()
}

func (g *ruledGate) State(time.Duration) string { return g.port.State() }

// Settle has nothing to look for: the hooks tell.
func (g *ruledGate) Settle(now time.Duration) {
	if port, ok := g.port.(interface{ Settle() }); ok {
		port.Settle()
		g.settle(now)
	}
}

func (g *ruledGate) Reset(now time.Duration) {
	if port, ok := g.port.(interface{ Reset() }); ok {
		port.Reset()
		g.settle(now)
	}
}
