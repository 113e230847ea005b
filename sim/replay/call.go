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

// newCall takes a slot for a call that goes the way rt.
func (r *run) newCall(rt route) *call {
	if n := len(r.vacant); n > 0 {
		c := r.vacant[n-1]
		r.vacant = r.vacant[:n-1]
		c.script, c.caller, c.route, c.holds = -1, -1, rt, false
		return c
	}
	c := &call{slot: len(r.calls), script: -1, caller: -1, route: rt}
	r.calls = append(r.calls, c)
	return c
}

// start begins a call with its first attempt.
func (r *run) start(c *call) {
	if r.count++; r.count > r.s.MaxCalls {
		r.err = fmt.Errorf("%s: %w: %d", r.s.File, ErrTooManyCalls, r.s.MaxCalls)
		return
	}
	c.id = r.count
	c.attempt = 1
	c.seat = c.route.target
	if r.policy.Ladder != nil {
		c.retry = r.policy.Ladder.Start(r.clock.Now())
		if b := r.budget(c); b != nil {
			b.Call()
		}
	}
	r.attempt(c)
}

// attempt asks the gate, if this attempt has one to ask, and goes.
func (r *run) attempt(c *call) {
	now := r.clock.Now()
	c.began = now
	record := trace.Event{T: now, Kind: trace.Call, Call: c.id, To: c.route.to, Attempt: c.attempt}
	if c.caller >= 0 {
		record.Caller = r.s.Callers[r.callers[c.caller].group].Name
	}
	asks := c.route.gate >= 0 && (c.attempt == 1 || r.policy.GatePerAttempt)
	out := ""
	if asks {
		out = r.resolve(c)
		asks = c.gate >= 0
	}
	if !asks {
		record.Target = r.targets[c.seat].name
	}
	r.emit(record)
	if out != "" {
		r.emit(trace.Event{T: now, Kind: trace.Reroute, Call: c.id, Attempt: c.attempt, Breaker: r.gates[c.route.gate].name, From: out,
			To: r.targets[c.seat].name, Rule: string(machine.H7)})
	}
	if asks && !r.ask(c) {
		return
	}
	r.serve(c)
}

// resolve settles which gate the attempt asks, and names the tool that a
// substitute stands in for, if one does (H7).
func (r *run) resolve(c *call) (out string) {
	c.gate, c.seat = c.route.gate, c.route.target
	if len(r.router.Substitutes) == 0 {
		return ""
	}
	tool := r.gates[c.gate].guards
	by := r.router.Resolve(r.clock.Now(), tool)
	if by == tool {
		return ""
	}
	to := r.route(by)
	c.gate, c.seat = to.gate, to.target
	return tool
}

// ask asks the gate, and says whether the attempt may go. If it may not, the
// call is over (L5).
func (r *run) ask(c *call) bool {
	now := r.clock.Now()
	g := &r.gates[c.gate]
	r.cause = c.id
	d := g.Begin(now, &c.pass)
	r.tell()
	record := trace.Event{T: now, Call: c.id, Attempt: c.attempt, Breaker: g.name, Rule: string(d.Rule)}
	if d.Admitted {
		c.holds, c.since = true, now
		if d.Target != r.targets[c.seat].name {
			c.seat = r.targetNamed(d.Target)
		}
		record.Kind, record.Target, record.Probe = trace.Admit, d.Target, d.Probe
		r.emit(record)
		return true
	}
	record.Kind = trace.Exhausted
	if !d.Exhausted {
		record.Kind, record.Reason, record.Until, record.Known = trace.Refuse, d.Reason, d.Until, d.Known
		record.Would = r.would(c).String()
	}
	r.emit(record)
	if c.attempt > 1 {
		r.emit(trace.Event{T: now, Kind: trace.GiveUp, Call: c.id, Rule: string(machine.L5)})
	}
	r.over(c, now)
	return false
}

// would is how the attempt that is refused would have ended, if no time went by
// until a server was free.
func (r *run) would(c *call) scenarios.Outcome {
	if tg := &r.targets[c.route.target]; r.limited(c, tg) && !tg.limit.takes(r.clock.Now()) {
		return scenarios.RateLimit
	}
	if f := r.fate(c, &r.targets[c.route.target]); f.takes <= f.within || f.outcome == scenarios.Vanish {
		return f.outcome
	}
	return scenarios.Timeout
}

// serve lets the attempt go to its target: its fate is decided here.
func (r *run) serve(c *call) {
	now := r.clock.Now()
	tg := &r.targets[c.seat]
	c.fate = r.fate(c, tg)
	tooMany := c.fate.outcome != scenarios.Vanish && r.limited(c, tg) && !tg.limit.take(now)
	if tooMany {
		c.fate = fate{outcome: scenarios.RateLimit, retryAfter: tg.limit.wait(now), within: math.MaxInt64}
		c.done, c.job = now, -1
	}
	if c.fate.outcome == scenarios.Vanish {
		until := now + c.fate.takes
		record := trace.Event{T: now, Kind: trace.Vanish, Call: c.id, Attempt: c.attempt, Target: tg.name}
		if !c.fate.forever {
			record.Until, record.Known = until, true
		}
		r.emit(record)
		r.over(c, until)
		return
	}
	if r.started++; r.started > sim.MaxSeq || len(r.calls) > sim.MaxWhat {
		r.err = fmt.Errorf("%s: the run makes more attempts than can be told apart: %d, %d of them at one time", r.s.File, uint64(sim.MaxSeq), sim.MaxWhat)
		return
	}
	c.number = r.started
	if tg.servers != nil && !tooMany {
		r.arrive(c, tg)
		return
	}
	r.endAt(c, now+c.fate.takes)
}

// endAt plans the end of the attempt in flight.
func (r *run) endAt(c *call, at time.Duration) {
	r.clock.Schedule(sim.Event{At: at, Class: classEnd, Seq: c.number, What: uint32(c.slot)})
}

// endAttempt takes the attempt's result: the ladder decides what follows, and
// if the call ends here, or the gate wants every attempt, the gate is told.
func (r *run) endAttempt(c *call) {
	now := r.clock.Now()
	c.number = 0
	if tg := &r.targets[c.seat]; tg.servers != nil {
		r.leave(c, tg)
	}
	kind, failed := failure(c.fate.outcome)
	var step machine.Step
	if failed && r.policy.Ladder != nil {
		u := c.key.Number(uint64(c.attempt)).Number(forWait).Uniform()
		step = c.retry.Next(now, kind, c.fate.retryAfter, u)
		if b := r.budget(c); b != nil && step.Retry {
			if c.timeout = c.fate.outcome == scenarios.Timeout; !b.Take(c.timeout) {
				step = machine.Step{Rule: machine.L6}
			}
		}
	} else if b := r.budget(c); b != nil && c.fate.outcome == scenarios.Success {
		b.Success(c.attempt > 1, c.timeout)
	}
	record := trace.Event{T: now, Kind: trace.Result, Call: c.id, Attempt: c.attempt, Target: r.targets[c.seat].name,
		Outcome: c.fate.outcome.String(), Took: now - c.began}
	var told *gate
	if c.holds && c.fate.outcome != scenarios.Cancelled && (!step.Retry || r.policy.GatePerAttempt) {
		g := &r.gates[c.gate]
		told = g
		r.cause = c.id
		v := g.End(now, &c.pass, !failed, kind)
		c.holds = false
		record.Breaker, record.Applied, record.Rule = g.name, v.Applied, string(v.Rule)
		r.tellLapsed()
	}
	r.emit(record)
	r.tell()
	if told != nil {
		r.record(told, now-c.since, !failed)
	}
	switch {
	case step.Retry:
		c.attempt++
		r.emit(trace.Event{T: now, Kind: trace.Retry, Call: c.id, Attempt: c.attempt, Wait: step.Wait, Rule: string(step.Rule)})
		r.clock.Schedule(sim.Event{At: now + step.Wait, Class: classRetry, Seq: uint64(c.id), What: uint32(c.slot)})
		return
	case step.Rule != "":
		r.emit(trace.Event{T: now, Kind: trace.GiveUp, Call: c.id, Rule: string(step.Rule)})
	}
	r.over(c, now)
}

// failure says what kind of failure an outcome is, if it is one.
func failure(o scenarios.Outcome) (machine.Kind, bool) {
	switch o {
	case scenarios.RateLimit:
		return machine.RateLimit, true
	case scenarios.Permanent:
		return machine.Permanent, true
	case scenarios.Failure, scenarios.Timeout:
		return machine.Transient, true
	default: // success, cancelled; a vanished attempt never ends
		return machine.Transient, false
	}
}

// over frees the slot, and lets the caller go on from the instant end.
func (r *run) over(c *call, end time.Duration) {
	if c.caller >= 0 {
		r.ended(c.caller, end)
	}
	r.vacant = append(r.vacant, c)
}
