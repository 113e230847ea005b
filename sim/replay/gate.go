package replay

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// Gate is what the run sees of a breaker: of ours, or of a [Port]. It is asked for a call, told how the call ended, and read without effect. Every
// instant is virtual time since the start of the run.
type Gate interface {
	// Begin asks for a call. An admitted call keeps in p what End needs to
	// know it by.
	Begin(now time.Duration, p *Pass) Decision
	// End reports how an admitted call ended. A vanished call is never reported,
	// nor a cancelled one to a gate to which that means nothing.
	End(now time.Duration, p *Pass, e machine.Ending) machine.Verdict
	// Peek says what Begin would decide, and changes nothing: whether a call
	// would be admitted, and by a model breaker who would serve it.
	Peek(now time.Duration) (allows bool, serves string)
	// State is the effective state at now.
	State(now time.Duration) string
	// Settle applies what is due at now, for the record's end.
	Settle(now time.Duration)
	Reset(now time.Duration)
	// SetAvailable switches a backup; a gate without backups does nothing.
	SetAvailable(now time.Duration, name string, available bool)
	// Force keeps a tool breaker of ours Open or Closed until it is reset (T31,
	// T32), and Configure changes its settings (T33); other gates do nothing.
	Force(now time.Duration, to machine.State)
	Configure(now time.Duration, s machine.ToolSettings) error
}

// Pass is what an admitted call holds: a permit, a turn, or what a port gave.
type Pass struct {
	permit machine.Permit
	turn   machine.Turn
	waited time.Duration // so far, for somebody to serve it
	done   func(ok bool) // of a port
}

// Decision is what a gate decided about a call.
type Decision struct {
	Admitted  bool
	Exhausted bool // not refused: nobody is left to serve it
	Waits     bool // nor exhausted: it is to ask again at Until
	Probe     bool
	Target    string // of an admitted call: who serves it
	Rule      machine.Rule
	Reason    string        // of a refusal: what the caller reads
	Until     time.Duration // when a call may next be admitted
	Known     bool          // Until is known
}

// newGate puts one of our own machines behind the gate. h hears what it does. Its
// cooldowns are drawn by the seed (T28, M26).
func newGate(b *scenarios.Breaker, seed uint64, h machine.Hooks) (Gate, error) {
	if b.Tool != nil {
		s := *b.Tool
		s.Cooldown.Seed = seed
		m, err := machine.NewToolBreaker(s, h)
		return &toolGate{m: m, settings: s, guards: b.Guards, anonymous: b.Anonymous}, err
	}
	s := *b.Model
	s.Cooldown.Seed = seed
	m, err := machine.NewModelBreaker(s, h)
	return &modelGate{m: m, settings: s, anonymous: b.Anonymous}, err
}

type toolGate struct {
	m         *machine.ToolBreaker
	settings  machine.ToolSettings // as they are now
	guards    string
	anonymous bool
}

func (g *toolGate) Begin(now time.Duration, p *Pass) Decision {
	var err error
	p.permit, err = g.m.Allow(now)
	if err != nil {
		r, _ := errors.AsType[*machine.Refusal](err) // Allow gives no other error
		return Decision{Rule: r.Rule, Reason: r.Error(), Until: r.Until, Known: r.Known}
	}
	return Decision{Admitted: true, Probe: p.permit.Probe(), Target: g.guards, Rule: p.permit.Rule()}
}

func (g *toolGate) End(now time.Duration, p *Pass, e machine.Ending) machine.Verdict {
	if g.anonymous {
		return g.m.End(now, e)
	}
	return p.permit.End(now, e)
}

// hearsCancelled says whether a cancelled call means anything to it (T20, T25).
func (g *toolGate) hearsCancelled() bool {
	c := g.settings.Counts.Cancelled
	return g.settings.Probing.Release || c == machine.AsFailure || c == machine.AsSuccess
}

func (g *toolGate) Force(now time.Duration, to machine.State) {
	if to == machine.Open {
		g.m.ForceOpen(now)
	} else {
		g.m.ForceClosed(now)
	}
}

func (g *toolGate) Configure(now time.Duration, s machine.ToolSettings) error {
	s.Cooldown.Seed = g.settings.Cooldown.Seed
	err := g.m.Configure(now, s)
	if err == nil {
		g.settings = s
	}
	return err
}

func (g *toolGate) Peek(now time.Duration) (bool, string)          { return g.m.WouldAllow(now), g.guards }
func (g *toolGate) State(now time.Duration) string                 { return g.m.Snapshot(now).State.String() }
func (g *toolGate) Settle(now time.Duration)                       { g.m.Settle(now) }
func (g *toolGate) Reset(now time.Duration)                        { g.m.Reset(now) }
func (g *toolGate) SetAvailable(_ time.Duration, _ string, _ bool) {}

type modelGate struct {
	m         *machine.ModelBreaker
	settings  machine.ModelSettings
	anonymous bool
}

func (g *modelGate) Begin(now time.Duration, p *Pass) Decision {
	var err error
	p.turn, err = g.m.Resume(now, p.waited)
	if err != nil {
		x, _ := errors.AsType[*machine.Exhausted](err) // Resume gives no other error
		return Decision{Exhausted: !x.Wait, Waits: x.Wait, Rule: x.Rule(), Until: x.Until}
	}
	return Decision{Admitted: true, Probe: p.turn.Probe(), Target: p.turn.Model(), Rule: p.turn.Rule()}
}

func (g *modelGate) End(now time.Duration, p *Pass, e machine.Ending) machine.Verdict {
	if g.anonymous {
		return g.m.End(now, e)
	}
	return p.turn.End(now, e)
}

// hearsCancelled says whether a cancelled turn means anything to it (M20, M21).
func (g *modelGate) hearsCancelled() bool {
	c := g.settings.Counts.Cancelled
	return g.settings.Probes > 0 || c == machine.AsFailure || c == machine.AsSuccess
}

func (g *modelGate) cooldown(time.Duration) (end time.Duration, ok bool) { return g.m.Deadline() }

func (g *modelGate) Peek(now time.Duration) (bool, string) {
	model, ok := g.m.WouldServe(now)
	return ok, model
}

func (g *modelGate) State(time.Duration) string { return g.m.Snapshot().State.String() }
func (g *modelGate) Settle(now time.Duration)   { g.m.Settle(now) }
func (g *modelGate) Reset(now time.Duration)    { g.m.Reset(now) }

func (g *modelGate) Force(time.Duration, machine.State)                  {}
func (g *modelGate) Configure(time.Duration, machine.ToolSettings) error { return nil }

func (g *modelGate) SetAvailable(now time.Duration, name string, available bool) {
	// The scenario was checked: the chain has this name.
	_ = g.m.SetAvailable(now, name, available)
}

// cooldown is when the breaker's cooldown ends, while it is in one.
func (g *toolGate) cooldown(now time.Duration) (end time.Duration, ok bool) {
	if g.m.Snapshot(now).State != machine.Open {
		return 0, false
	}
	return g.m.Deadline(now)
}

// gate is a breaker of the scenario in its place.
type gate struct {
	Gate
	name   string
	model  bool
	varies bool           // the record says when each cooldown ends
	guards string         // of a tool breaker
	stats  *machine.Stats // of the tool, if its health is recorded
}

// cooldown is when the cooldown of a breaker of ours ends, if the record is to
// say so.
func (g *gate) cooldown(now time.Duration) (end time.Duration, ok bool) {
	t, ours := g.Gate.(interface {
		cooldown(now time.Duration) (time.Duration, bool)
	})
	if !ours || !g.varies {
		return 0, false
	}
	return t.cooldown(now)
}

// gateOf makes the gate that stands for b.
func (r *run) gateOf(b *scenarios.Breaker) (Gate, error) {
	if r.others != nil && b.Tool != nil {
		return r.newPort(b, r.others)
	}
	return newGate(b, uint64(r.root.Name("breakers").Name(b.Name)), r.hooks(b))
}

// hearsCancelled says whether a cancelled call means anything to the breaker.
// Only then is it told of one, so that it is no news in all other traces.
func (g *gate) hearsCancelled() bool {
	listener, ok := g.Gate.(interface{ hearsCancelled() bool })
	return ok && listener.hearsCancelled()
}

// canPeek says whether the breaker can be read without effect: ours can (T14).
func (g *gate) canPeek() bool {
	port, ok := g.Gate.(interface{ canPeek() bool })
	return !ok || port.canPeek()
}

// heeds says whether a wait that a failure names means anything to a breaker of
// ours (T29, M27).
func (g *gate) heeds() bool {
	switch b := g.Gate.(type) {
	case *toolGate:
		return b.settings.Cooldown.RetryAfter
	case *modelGate:
		return b.settings.Cooldown.RetryAfter
	}
	return false
}

// held is what the window of a breaker of ours held when it last took a result.
func (g *gate) held() (h trace.Held) {
	if t, ours := g.Gate.(*toolGate); ours {
		h.Calls, h.Failures, h.Slow = t.m.Held()
	}
	return h
}

// record counts a call in the tool's stats, and tells how well the tool is.
func (r *run) record(g *gate, took time.Duration, ok bool) {
	if g.stats == nil {
		return
	}
	g.stats.Record(took, ok)
	now := r.clock.Now()
	s := g.stats.Read()
	state := machine.Closed
	if g.State(now) == machine.Open.String() {
		state = machine.Open
	}
	r.emit(trace.Event{T: now, Kind: trace.Health, Breaker: g.name, Target: g.guards,
		Score: math.Round(s.Score()*1e6) / 1e6, Health: s.Health(state).String()})
}

// hooks turn what a machine does into events of the record. They wait in
// r.news, because some come before and some after the event that caused them.
func (r *run) hooks(b *scenarios.Breaker) machine.Hooks {
	name, varies := b.Name, r.varies(b)
	return machine.Hooks{
		OnTransition: func(t machine.Transition) {
			e := trace.Event{T: t.At, Kind: trace.Transition, Breaker: name, From: t.From.String(), To: t.To.String(),
				Effective: t.Effective, Rule: string(t.Rule), Failures: t.Failures, Call: r.cause}
			if varies && (t.To == machine.Open || t.To == machine.Fallback) && t.Rule != machine.T31 {
				e.Until, e.Known = t.Until, true
			}
			r.news = append(r.news, e)
		},
		OnSwitch: func(s machine.Switch) {
			e := trace.Event{T: s.At, Kind: trace.Switch, Breaker: name, From: s.From, To: s.To, Rule: string(s.Rule)}
			if s.Rule == machine.M24 {
				e.Effective = s.Effective
			}
			r.news = append(r.news, e)
		},
	}
}

// varies says whether a breaker's cooldown can be unlike the one that the head of
// the record names (T27 to T29, T33, M25 to M27).
func (r *run) varies(b *scenarios.Breaker) bool {
	if b.Tool == nil {
		c := &b.Model.Cooldown
		return c.Growth > 1 || c.Jitter > 0 || c.RetryAfter
	}
	configured := func(e scenarios.Call) bool {
		return e.Op == scenarios.OpConfigure && (e.To == b.Name || e.To == trace.Whole(b.Name))
	}
	c := &b.Tool.Cooldown
	return c.Growth > 1 || c.Jitter > 0 || c.RetryAfter || slices.ContainsFunc(r.s.Calls, configured)
}

// tellLapsed records a lease that ran out, or what else time did, which comes
// before the result that made it noticed.
func (r *run) tellLapsed() {
	for len(r.news) > 0 && (r.news[0].Rule == string(machine.T7) || r.news[0].Rule == string(machine.M24) || r.news[0].Rule == trace.MovedByTime) {
		r.emit(r.news[0])
		r.news = r.news[1:]
	}
}

// tell records the rest of what a machine did.
func (r *run) tell() {
	for _, e := range r.news {
		r.emit(e)
	}
	r.news = r.news[:0]
}
