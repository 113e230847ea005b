// Package replay plays a scenario under one of its policies: the one place
// where the virtual clock, the real breakers and the scripted world meet. What
// happens goes to sinks as a trace, and nowhere else.
package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
	"github.com/breakersim/breakersim/sim/trace"
)

// What happens at one instant, in this order. Phase changes come before all.
const (
	classEnd      sim.Class = iota // attempts end, in the order of their starts
	classFree                      // servers are done, in the order in which they began
	classArrive                    // attempts reach a target over its network, in the order of their starts
	classOperate                   // what operators do, in file order
	classWaited                    // turns that waited for somebody to serve them ask again, in the order in which they came
	classScripted                  // scripted calls start, in file order
	classInside                    // calls inside of others start, in file order
	classMade                      // callers' calls start, in file order
	classRetry                     // ladders try again, by call
	classHedge                     // attempts start beside slow ones, in the order of those
	classPeek                      // breakers are read, in file order
	classExpect                    // expectations are checked, in file order
)

// Options are what a run may be given besides its scenario.
type Options struct {
	Sinks []trace.Sink // each hears every event, in this order
	// Metric answers expectations on the cost of the run, after the last event;
	// nil: none of them is checked. It says false where the metric is undefined.
	Metric func(name string) (float64, bool)
	Others *Others // in the place of the tool breakers; nil: ours
}

// longest bounds a run without a duration, at 73 years, and everything that
// takes time in one: an instant and three such spans do not overflow.
const longest = time.Duration(math.MaxInt64 / 4)

// Run plays s under p, and checks what s expects of it. The same scenario and
// policy give the same events, always. The error is a sink's, or that the run
// makes more calls than it may; the failures are what did not come as expected.
func Run(s *scenarios.Scenario, p *scenarios.Policy, o Options) ([]Failure, error) {
	r, err := newRun(s, p, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.emit(trace.Event{Kind: trace.Run, Run: runInfo(r.s, p, o.Others)})
	for i := range r.targets {
		if ph := r.targets[i].segment().Phase; ph != trace.NoPhase {
			r.emit(trace.Event{Kind: trace.Phase, Target: r.targets[i].name, Phase: ph})
		}
	}
	end := s.Duration
	if s.Open {
		end = longest
	}
	last := time.Duration(0)
	for e := range r.clock.Until(end) {
		r.measure(e.At)
		if r.unseen(e) {
			continue
		}
		last = e.At
		r.wait(e.At)
		r.advance(e.At)
		r.play(e)
		if r.err != nil {
			return nil, r.err
		}
	}
	if s.Open {
		end = last
	}
	r.finish(end)
	if r.err != nil {
		return nil, r.err
	}
	failures := r.expect.failures(o.Metric)
	if len(failures) > 0 {
		return failures, explain(s, p, r.expect)
	}
	return nil, nil
}

// run is one replay under way.
type run struct {
	s       *scenarios.Scenario
	policy  *scenarios.Policy
	others  *Others // in the place of our tool breakers, or nil
	clock   sim.Clock
	root    sim.Key
	sinks   []trace.Sink
	event   trace.Event // the one being told, so that telling does not allocate
	err     error       // the first that stopped the run
	targets []target
	changes []change      // of targets, still to come
	bursty  []int         // targets with bursts
	bursts  int           // of all of them, so far
	bounded []int         // targets with servers
	second  time.Duration // the next whole one, at which they are measured
	loads   []trace.Event // what came of that and was not told yet
	posts   []post        // of the policy's breakers, in their order
	gates   []gate        // at the posts, in the order of those
	asker   *call         // on whose behalf the router reads breakers
	router  machine.Router
	budgets []*machine.Budget       // of retries: one for all, or the scripted calls' and then each caller's; none
	brakes  []*machine.RetryBreaker // likewise
	news    []trace.Event           // what a machine did and nobody was told yet
	cause   int                     // the call on whose behalf a machine is being touched, or 0
	routes  []route                 // of the scripted entries
	inside  [][]int                 // by scripted entry: those that it makes
	made    []within                // that were planned
	callers []caller
	calls   []*call   // slots
	vacant  []*call   // slots to use again
	count   int       // calls started
	started uint64    // attempts started
	held    uint64    // attempts that had to wait for somebody to serve them
	under   []arrival // on their way to a target
	landed  []int     // arrivals to use again
	jobs    []job     // being served, where a target's capacity is bounded
	idle    []int     // jobs to use again
	served  uint64    // jobs begun
	expect  *expectations
}

// route is where a call goes: through a gate, or straight to a target.
type route struct {
	to     string
	post   int // index, or -1: no gate is asked
	target int // index; the gate may choose another
	host   int // index of the target's host that alone is meant, or -1
}

// call is a call in flight with its latest attempt, or a hedge: an attempt
// beside that of its main call.
type call struct {
	main    *call         // of a hedge; nil: it is none
	hedges  []*call       // in flight, by their starts
	flying  int           // attempts in flight, hedges among them
	tried   int           // attempts so far
	beside  int           // of those, since the ladder last made one, that among them
	timer   uint64        // the attempt after which a hedge is due, or 0
	givesUp time.Duration // when it is cancelled
	slot    int
	id      int
	script  int // index in the scenario's calls, or -1
	caller  int // index of the caller that waits for it, or -1
	key     sim.Key
	route   route
	way     route // where the attempt goes: the route, unless a substitute takes the call
	gate    int   // index of the one that it asks, or -1
	attempt int
	began   time.Duration // the attempt in flight
	asked   time.Duration // when it first asked the gate
	held    uint64        // its number among those that wait to be served; 0: it never did
	seat    int           // index of the target that serves it
	holds   bool          // the gate is still to be told
	since   time.Duration // when the gate admitted it
	fate    fate
	timeout bool          // the last retry came after a timeout
	number  uint64        // of the attempt in flight: what else ends is of an earlier one
	done    time.Duration // when its answer comes, once a server began its work; else negative
	job     int           // that work, or -1
	work    uint64        // which one it is
	there   bool          // it has reached the target
	retry   machine.Retry
	pass    Pass
	course  course

	outer        *call // that it is inside of, or nil
	outerAttempt uint64
	succeeded    bool // its last attempt did
}

func newRun(s *scenarios.Scenario, p *scenarios.Policy, o Options) (*run, error) {
	root := sim.NewKey(s.Seed)
	s = s.Drawn(phases(root))
	r := &run{s: s, policy: p, root: root, others: o.Others}
	if r.others != nil {
		if err := r.others.cannot(s, p); err != nil {
			return nil, err
		}
	}
	r.expect = newExpectations(s, p)
	r.sinks = append(r.sinks, o.Sinks...)
	if r.expect.listens() {
		r.sinks = append(r.sinks, r.expect)
	}
	for i := range s.Targets {
		r.addTarget(&s.Targets[i])
	}
	r.changes = changes(r.targets)
	for i := range r.targets {
		if r.targets[i].bursts != nil {
			r.bursty = append(r.bursty, i)
		}
		if r.targets[i].servers != nil {
			r.bounded = append(r.bounded, i)
		}
	}
	r.second = time.Second
	for i := range p.Breakers {
		b := &p.Breakers[i]
		if err := r.addPost(b); err != nil {
			return nil, fmt.Errorf("breaker %s: %w", b.Name, err)
		}
	}
	r.router = machine.Router{Available: r.available, Substitutes: map[string][]string{}}
	for _, s := range s.Substitutes {
		r.router.Substitutes[s.Target] = s.By
	}
	r.addScript()
	r.addCallers()
	if err := r.addBudgets(); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	for i := range r.expect.instants {
		r.clock.Schedule(sim.Event{At: r.expect.instants[i].At, Class: classExpect, Seq: uint64(i), What: uint32(i)})
	}
	return r, nil
}

// route finds the way to a target or a model breaker. The scenario was checked:
// there is one.
func (r *run) route(to string) route {
	rt := route{to: to, post: -1, target: -1, host: -1}
	name, part := scenarios.SplitName(to)
	if part != "" {
		rt.host = r.targetNamed(to)
	}
	for i := range r.s.Breakers {
		b := &r.s.Breakers[i]
		if b.Model != nil && b.Name == to {
			name = b.Model.Primary
		}
	}
	for i := range r.targets {
		if r.targets[i].name == name {
			rt.target = i
		}
	}
	for i := range r.policy.Breakers {
		b := &r.policy.Breakers[i]
		if b.Model != nil && b.Name == to || b.Tool != nil && b.Guards == name {
			rt.post = i
		}
	}
	return rt
}

func (r *run) targetNamed(name string) int {
	for i := range r.targets {
		if r.targets[i].name == name {
			return i
		}
	}
	panic("replay: a gate chose the target " + name + ", which the scenario does not have")
}

// addBudgets makes what bounds retries, if the policy has it: the buckets that
// they take from, and the breakers that count failures.
func (r *run) addBudgets() error {
	n := 1
	if !r.policy.SharedBudget {
		n += len(r.callers)
	}
	for range n {
		if r.policy.Budget != nil {
			b, err := machine.NewBudget(*r.policy.Budget)
			if err != nil {
				return err
			}
			r.budgets = append(r.budgets, b)
		}
		if r.policy.MaxFailures != nil {
			b, err := machine.NewRetryBreaker(*r.policy.MaxFailures)
			if err != nil {
				return err
			}
			r.brakes = append(r.brakes, b)
		}
	}
	return nil
}

// budget is the one that the call's retries take from, or nil.
func (r *run) budget(c *call) *machine.Budget { return ofClient(r, r.budgets, c) }

// brake is the one that counts the call's failures, or nil.
func (r *run) brake(c *call) *machine.RetryBreaker { return ofClient(r, r.brakes, c) }

func ofClient[T any](r *run, all []*T, c *call) *T {
	switch {
	case all == nil:
		return nil
	case r.policy.SharedBudget:
		return all[0]
	default:
		return all[c.caller+1]
	}
}

// addScript schedules the scripted entries. Those that act on breakers which
// the policy does not have are left out.
func (r *run) addScript() {
	r.routes = make([]route, len(r.s.Calls))
	r.addInside()
	for i := range r.s.Calls {
		e := &r.s.Calls[i]
		class := classScripted
		switch e.Op {
		case scenarios.OpCall:
			r.routes[i] = r.route(e.To)
		case scenarios.OpPeek:
			class = classPeek
		default:
			class = classOperate
		}
		if e.Inside == 0 {
			r.clock.Schedule(sim.Event{At: e.At, Class: class, Seq: uint64(i), What: uint32(i)})
		}
	}
}

// unseen takes what nobody sees, and what therefore does not prolong a run: a
// server that is done, and the end of an attempt that has ended otherwise.
func (r *run) unseen(e sim.Event) bool {
	switch e.Class {
	case classFree:
		r.free(int(e.What), e.Seq)
		return true
	case classArrive:
		r.land(int(e.What))
		return true
	case classEnd:
		return r.calls[e.What].number != e.Seq
	case classInside:
		w := &r.made[e.What]
		return w.outer.number != w.attempt
	case classHedge:
		return r.calls[e.What].timer != e.Seq
	default:
		return false
	}
}

// play lets one event happen.
func (r *run) play(e sim.Event) {
	switch e.Class {
	case classEnd:
		r.endAttempt(r.calls[e.What])
	case classOperate:
		r.operate(int(e.What))
	case classWaited:
		r.resume(r.calls[e.What])
	case classScripted:
		c := r.newCall(r.routes[e.What])
		c.script, c.key = int(e.What), r.root.Name("calls").Number(uint64(e.What))
		r.start(c)
	case classInside:
		r.startInside(&r.made[e.What])
	case classMade:
		r.startMade(int(e.What))
	case classRetry:
		r.again(r.calls[e.What])
	case classHedge:
		r.hedge(r.calls[e.What])
	case classPeek:
		r.peek(&r.s.Calls[e.What])
	case classExpect:
		r.check(&r.expect.instants[e.What])
	}
}

// wait moves the clock that ports read.
func (r *run) wait(now time.Duration) {
	if r.others != nil {
		r.others.Wait(now)
	}
}

// close lets go of the ports.
func (r *run) close() {
	for i := range r.gates {
		if g, ok := r.gates[i].Gate.(interface{ close() }); ok {
			g.close()
		}
	}
}

// finish ends the record at the instant end.
func (r *run) finish(end time.Duration) {
	r.measure(end)
	r.wait(end)
	r.advance(end)
	r.cause = 0
	states := make([]trace.BreakerState, 0, len(r.gates))
	for _, g := range r.gates {
		g.Settle(end)
		states = append(states, trace.BreakerState{Breaker: g.name, State: g.State(end)})
	}
	r.tell()
	r.emit(trace.Event{T: end, Kind: trace.End, States: states})
}

// emit tells every sink of e.
func (r *run) emit(e trace.Event) {
	r.event = e
	r.pass()
}

// blank is the event to be told next, still empty: for what happens often, as
// events are large and copies of them dear. The next emit overwrites it.
func (r *run) blank(k trace.Kind, c *call) *trace.Event {
	r.event = trace.Event{}
	e := &r.event
	e.T, e.Kind, e.Call, e.Attempt = r.clock.Now(), k, c.id, c.attempt
	return e
}

// pass tells every sink of the event.
func (r *run) pass() {
	for _, s := range r.sinks {
		if err := s.Event(&r.event); err != nil && r.err == nil {
			r.err = err
		}
	}
}

// operate does to a breaker, or to all its instances, what the scripted entry i says.
func (r *run) operate(i int) {
	gates := r.gatesNamed(r.s.Calls[i].To)
	for k := range gates {
		r.operateAt(&gates[k], i)
	}
}

func (r *run) operateAt(g *gate, i int) {
	e := &r.s.Calls[i]
	now := r.clock.Now()
	r.cause = 0
	record := trace.Event{T: now, Kind: trace.Operate, Breaker: g.name}
	switch e.Op {
	case scenarios.OpSetAvailable:
		record.Op, record.Name, record.Available = trace.SetAvailable, e.Backup, e.Available
		g.SetAvailable(now, e.Backup, e.Available)
	case scenarios.OpForceOpen:
		record.Op = trace.ForceOpen
		g.Force(now, machine.Open)
	case scenarios.OpForceClosed:
		record.Op = trace.ForceClosed
		g.Force(now, machine.Closed)
	case scenarios.OpConfigure:
		s := r.policy.Configured[i]
		record.Op, record.Settings = trace.Configure, r.configured(g, &s)
		if err := g.Configure(now, s); err != nil && r.err == nil {
			r.err = fmt.Errorf("%s: configure %s at %v: %w", r.s.File, g.name, e.At, err)
		}
		record.Until, record.Known = g.cooldown(now)
		r.tellLapsed() // by the lease of before
	default:
		record.Op = trace.Reset
		g.Reset(now)
	}
	r.emit(record)
	r.tell()
}

// configured is what the record says of the settings that a breaker gets.
func (r *run) configured(g *gate, s *machine.ToolSettings) *trace.Breaker {
	for i := range r.policy.Breakers {
		if b := r.policy.Breakers[i]; b.Name == trace.Whole(g.name) {
			b.Tool = s
			info := breakerInfo(&b, r.others)
			if b.Per == scenarios.ForAll {
				return &info
			}
			return info.Instance(g.name)
		}
	}
	return nil
}

func (r *run) peek(e *scenarios.Call) {
	gates := r.gatesNamed(e.To)
	for i := range gates {
		g := &gates[i]
		if !g.canPeek() {
			continue
		}
		allows, serves := g.Peek(r.clock.Now())
		record := trace.Event{T: r.clock.Now(), Kind: trace.Peek, Breaker: g.name, Model: g.model}
		if g.model {
			record.Serves = serves
		} else {
			record.Allows = allows
		}
		r.emit(record)
	}
}
