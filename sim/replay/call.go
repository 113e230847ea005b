package replay

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
	"github.com/breakersim/breakersim/sim/trace"
)

// newCall takes a slot for a call that goes the way rt.
func (r *run) newCall(rt route) *call {
	var c *call
	if n := len(r.vacant); n > 0 {
		c = r.vacant[n-1]
		r.vacant = r.vacant[:n-1]
	} else {
		c = &call{slot: len(r.calls)}
		r.calls = append(r.calls, c)
	}
	*c = call{slot: c.slot, hedges: c.hedges[:0], givesUp: math.MaxInt64, script: -1, caller: -1, route: rt, way: rt, gate: -1}
	return c
}

// whole is the call that c is an attempt of.
func (c *call) whole() *call {
	if c.main != nil {
		return c.main
	}
	return c
}

// start begins a call with its first attempt.
func (r *run) start(c *call) {
	if r.count++; r.count > r.s.MaxCalls {
		r.err = fmt.Errorf("%s: %w: %d", r.s.File, ErrTooManyCalls, r.s.MaxCalls)
		return
	}
	now := r.clock.Now()
	c.id = r.count
	c.attempt, c.tried = 1, 1
	c.seat = c.route.target
	if c.caller >= 0 {
		if p := r.s.Callers[r.callers[c.caller].group].Patience; p > 0 {
			c.givesUp = now + p
		}
	}
	if r.policy.Ladder != nil {
		c.retry = r.policy.Ladder.Start(now)
		if b := r.budget(c); b != nil {
			b.Call()
		}
		if b := r.brake(c); b != nil {
			b.Call()
		}
	}
	r.attempt(c)
}

// again makes a further attempt, unless nobody waits for it any more.
func (r *run) again(c *call) {
	if !r.givenUp(c) {
		r.attempt(c)
	}
}

// resume asks again for an attempt that has waited for somebody to serve it (M22),
// unless nobody waits for it any more.
func (r *run) resume(c *call) {
	if r.givenUp(c) {
		return
	}
	c.began = r.clock.Now()
	if r.ask(c) {
		r.serve(c)
	}
}

// givenUp ends a call that nobody waits for any more (L9), and says whether it is
// one.
func (r *run) givenUp(c *call) bool {
	now := r.clock.Now()
	if now < c.givesUp {
		return false
	}
	g, v := r.report(c, r.policy.Gate == scenarios.GateCall, machine.Ending{Kind: machine.Cancelled})
	e := trace.Event{T: now, Kind: trace.GiveUp, Call: c.id, Rule: string(machine.L9)}
	if g != nil {
		e.Breaker, e.Applied, e.Verdict = g.name, v.Applied, string(v.Rule)
	}
	r.emit(e)
	r.tell()
	r.over(c, now)
	return true
}

// attempt asks the gate, if this attempt has one to ask, and goes.
func (r *run) attempt(c *call) {
	now := r.clock.Now()
	c.began, c.asked, c.held, c.beside = now, now, 0, 1
	asks := c.route.post >= 0 && (c.attempt == 1 || r.policy.Gate != scenarios.GateCall)
	out := ""
	if asks {
		out = r.resolve(c)
		asks = c.way.post >= 0
	}
	r.choose(c, asks)
	if asks && c.attempt == 1 && r.policy.Gate == scenarios.GateRetry { // it goes in any case
		if asks, _ = r.gates[c.gate].Peek(now); !asks {
			r.choose(c, false)
		}
	}
	r.tellStart(c, asks)
	if out != "" {
		r.emit(trace.Event{T: now, Kind: trace.Reroute, Call: c.id, Attempt: c.attempt, Breaker: r.standing(c), From: out,
			To: r.targets[c.way.target].name, Rule: string(machine.H7)})
	}
	if asks && !r.ask(c) {
		return
	}
	r.serve(c)
}

// tellStart records that an attempt starts, or asks whether it may.
func (r *run) tellStart(c *call, asks bool) {
	e := r.blank(trace.Call, c)
	e.To = c.route.to
	if c.outer != nil && c.attempt == 1 {
		e.Inside = c.outer.id
	}
	if c.caller >= 0 {
		by := &r.callers[c.caller]
		e.Caller, e.Instance = r.s.Callers[by.group].Name, by.number
	}
	if !asks {
		e.Target = r.targets[c.seat].name
	}
	r.pass()
}

// hedge starts another attempt beside those of c that are slow to answer (L8),
// if a gate that wants to be asked lets it, and a budget has a token for it.
func (r *run) hedge(c *call) {
	now := r.clock.Now()
	c.timer = 0
	asks := c.gate >= 0 && c.route.post >= 0 && r.policy.Gate != scenarios.GateCall
	h := r.newCall(c.route)
	h.main, h.id, h.script, h.caller, h.key = c, c.id, c.script, c.caller, c.key
	h.way, h.gate, h.seat, h.began = c.way, c.gate, c.seat, now
	r.choose(h, asks)
	lets := true
	if asks {
		lets, _ = r.gates[h.gate].Peek(now)
	}
	if b := r.budget(c); !lets || b != nil && !b.Take(false) {
		h.main = nil
		r.vacant = append(r.vacant, h)
		return
	}
	c.tried++
	c.beside++
	h.attempt, h.asked = c.tried, now
	c.hedges = append(c.hedges, h)
	r.emit(trace.Event{T: now, Kind: trace.Hedge, Call: c.id, Attempt: h.attempt, Rule: string(machine.L8)})
	r.tellStart(h, asks)
	if asks {
		r.ask(h) // which lets it, as it said
	}
	r.serve(h)
}

// resolve settles where the attempt goes, and names the tool that a substitute
// stands in for, if one does (H7).
func (r *run) resolve(c *call) (out string) {
	c.way, c.seat = c.route, c.route.target
	if len(r.router.Substitutes) == 0 {
		return ""
	}
	tool := r.posts[c.way.post].guards
	r.asker = c
	by := r.router.Resolve(r.clock.Now(), tool)
	if by == tool {
		return ""
	}
	c.way = r.route(by)
	c.seat = c.way.target
	return tool
}

// standing names the breaker that a substitute stands in for: that of the caller,
// or of the host whose turn it is.
func (r *run) standing(c *call) string {
	p := &r.posts[c.route.post]
	gate := r.gateOfCall(p, c)
	if p.per == scenarios.PerHost {
		gate += r.targets[c.route.target].turn
	}
	return r.gates[gate].name
}

// ask asks the gate, and says whether the attempt may go. If it may not, the
// call is over (L5), or asks again later (M22).
func (r *run) ask(c *call) bool {
	now := r.clock.Now()
	g := &r.gates[c.gate]
	r.cause = c.id
	c.pass.waited = now - c.asked
	d := g.Begin(now, &c.pass)
	r.tell()
	e := r.blank(trace.Admit, c)
	e.Breaker, e.Rule = g.name, string(d.Rule)
	if d.Admitted {
		c.holds, c.since = true, now
		if g.model {
			if d.Target != r.targets[c.seat].name {
				c.seat = r.targetNamed(d.Target)
			}
			if r.targets[c.seat].hosts > 0 {
				c.seat = r.next(c.seat)
			}
		}
		e.Target, e.Probe = r.targets[c.seat].name, d.Probe
		r.pass()
		return true
	}
	if d.Waits {
		e.Kind, e.Until = trace.Waits, d.Until
		r.pass()
		r.hold(c, d.Until)
		return false
	}
	e.Kind = trace.Exhausted
	if !d.Exhausted {
		e.Kind, e.Reason, e.Until, e.Known = trace.Refuse, d.Reason, d.Until, d.Known
		e.Would = r.would(c).String()
	}
	r.pass()
	if c.attempt > 1 {
		r.emit(trace.Event{T: now, Kind: trace.GiveUp, Call: c.id, Rule: string(machine.L5)})
	}
	r.over(c, now)
	return false
}

// hold lets an attempt ask again at that instant, in the order in which those
// that wait came.
func (r *run) hold(c *call, until time.Duration) {
	if c.held == 0 {
		r.held++
		c.held = r.held
	}
	r.clock.Schedule(sim.Event{At: min(until, c.givesUp), Class: classWaited, Seq: c.held, What: uint32(c.slot)})
}

// would is how the attempt that is refused would have ended, as far as can be
// said now.
func (r *run) would(c *call) scenarios.Outcome {
	tg := &r.targets[c.seat]
	if r.limited(c, tg) && !tg.limit.takes(r.clock.Now()) {
		return scenarios.RateLimit
	}
	switch f := r.fate(c, tg); {
	case f.outcome == scenarios.Vanish:
		return f.outcome
	case tg.servers.full():
		return scenarios.Failure
	case f.there+tg.servers.wait()+f.takes+f.back > f.within:
		return f.cut
	default:
		return f.outcome
	}
}

// serve lets the attempt go to its target: its fate is decided here.
func (r *run) serve(c *call) {
	now := r.clock.Now()
	tg := &r.targets[c.seat]
	r.took(c)
	c.fate = r.fate(c, tg)
	tooMany := c.fate.outcome != scenarios.Vanish && r.limited(c, tg) && !tg.limit.take(now)
	if tooMany {
		c.fate.limited(tg, tg.limit.wait(now), tg.draws(c))
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
	if c.course = (course{}); !tooMany {
		c.course.left = r.makes(c)
	}
	w := c.whole()
	w.flying++
	if h := r.policy.Hedge; h != nil && w.beside < h.Attempts {
		w.timer = c.number
		r.clock.Schedule(sim.Event{At: now + h.After, Class: classHedge, Seq: w.timer, What: uint32(w.slot)})
	}
	if tg.servers != nil && !tooMany {
		r.send(c)
		return
	}
	c.done = noWork
	if !tooMany {
		r.work(c, now+c.fate.there)
	}
	c.fate.alone()
	r.endAt(c, now+c.fate.takes)
}

// endAt plans the end of the attempt in flight.
func (r *run) endAt(c *call, at time.Duration) {
	r.clock.Schedule(sim.Event{At: at, Class: classEnd, Seq: c.number, What: uint32(c.slot)})
}

// endAttempt takes an attempt's result. If others are in flight a failure
// changes nothing for the call. Otherwise the ladder decides what follows, and
// if the call ends here, or the gate wants every attempt, the gate is told.
func (r *run) endAttempt(c *call) {
	if c.course != (course{}) && r.awaits(c) {
		return
	}
	now := r.clock.Now()
	w := c.whole()
	c.number = 0
	w.flying--
	if tg := &r.targets[c.seat]; tg.servers != nil && c.done != noWork {
		r.leave(c, tg)
	}
	e := c.fate.ending()
	failed := !e.OK && e.Kind != machine.Cancelled
	if !failed && w.flying > 0 {
		r.callOff(w)
	}
	last := w.flying == 0
	step := r.step(w, c, e.Kind, failed, last)
	holder := w // of what the gate let through
	if r.policy.Gate != scenarios.GateCall {
		holder = c
	}
	tells := r.policy.Gate != scenarios.GateCall || last && !step.Retry
	r.result(c, holder, tells, e)
	if c != w {
		r.drop(c)
	}
	switch {
	case !last:
		return
	case step.Retry:
		w.tried++
		w.attempt = w.tried
		r.emit(trace.Event{T: now, Kind: trace.Retry, Call: w.id, Attempt: w.attempt, Wait: step.Wait, Rule: string(step.Rule)})
		w.timer = 0
		r.clock.Schedule(sim.Event{At: min(now+step.Wait, w.givesUp), Class: classRetry, Seq: uint64(w.id), What: uint32(w.slot)})
		return
	case step.Rule != "":
		r.emit(trace.Event{T: now, Kind: trace.GiveUp, Call: w.id, Rule: string(step.Rule)})
	}
	w.succeeded = c.fate.outcome == scenarios.Success
	r.over(w, now)
}

// result records how the attempt c ended, and tells the gate that let holder
// through, if it is to hear of it.
func (r *run) result(c, holder *call, tells bool, how machine.Ending) {
	now := r.clock.Now()
	before := time.Duration(0)
	if holder.holds {
		before, _ = r.gates[holder.gate].cooldown(now)
	}
	g, v := r.report(holder, tells, how)
	e := r.blank(trace.Result, c)
	e.Target, e.Outcome, e.Took = r.targets[c.seat].name, c.fate.outcome.String(), now-c.began
	if g != nil {
		e.Breaker, e.Applied, e.Rule = g.name, v.Applied, string(v.Rule)
		if g.heeds() {
			e.Wait = how.RetryAfter
		}
		if v.Rule == machine.T21 {
			e.Seen = g.held()
		}
		if end, ok := g.cooldown(now); ok && (v.Rule == machine.T11 || end != before) && len(r.news) == 0 {
			e.Until, e.Known = end, true
		}
	}
	r.pass()
	r.tell()
	if g != nil && how.Kind != machine.Cancelled {
		r.record(g, now-holder.since, how.OK)
	}
}

// report tells the gate that let holder through how that ended, and gives the
// gate, or nil if it is not to hear of it.
func (r *run) report(holder *call, tells bool, how machine.Ending) (*gate, machine.Verdict) {
	if !holder.holds || !tells {
		return nil, machine.Verdict{}
	}
	g := &r.gates[holder.gate]
	if how.Kind == machine.Cancelled && !g.hearsCancelled() {
		return nil, machine.Verdict{}
	}
	r.cause = holder.id
	v := g.End(r.clock.Now(), &holder.pass, how)
	holder.holds = false
	r.tellLapsed()
	return g, v
}

// step is what follows the end of the attempt c of the call w, its last one in
// flight or not.
func (r *run) step(w, c *call, kind machine.Kind, failed, last bool) (step machine.Step) {
	switch {
	case c.fate.outcome == scenarios.Cancelled && c.fate.cut == scenarios.Cancelled && r.clock.Now() >= w.givesUp:
		return machine.Step{Rule: machine.L9}
	case r.policy.Ladder == nil:
		return step
	case !failed:
		if b := r.budget(w); b != nil && c.fate.outcome == scenarios.Success {
			b.Success(w.tried > 1, w.timeout)
		}
		return step
	}
	brake := r.brake(w)
	if brake != nil {
		brake.Failure()
	}
	if !last {
		return step
	}
	u := w.key.Number(uint64(c.attempt)).Number(forWait).Uniform()
	step = w.retry.Next(r.clock.Now(), kind, c.fate.retryAfter, u)
	if step.Retry && brake != nil && !brake.Allow() {
		return machine.Step{Rule: machine.L7}
	}
	if b := r.budget(w); b != nil && step.Retry {
		if w.timeout = c.fate.outcome == scenarios.Timeout; !b.Take(w.timeout) {
			return machine.Step{Rule: machine.L6}
		}
	}
	return step
}

// callOff cancels the attempts of a call that another one overtook. A breaker
// that let one of them through hears of it if that means anything to it (T16).
func (r *run) callOff(w *call) {
	w.flying = 0
	for _, c := range append([]*call{w}, w.hedges...) {
		if c.number == 0 {
			continue
		}
		c.number = 0
		r.takeBack(c, &r.targets[c.seat])
		c.fate.outcome = scenarios.Cancelled
		r.result(c, c, r.policy.Gate != scenarios.GateCall, c.fate.ending())
		if c != w {
			r.drop(c)
		}
	}
}

// drop frees the slot of a hedge that ended.
func (r *run) drop(h *call) {
	h.main.hedges = slices.DeleteFunc(h.main.hedges, func(o *call) bool { return o == h })
	h.main = nil
	r.vacant = append(r.vacant, h)
}

// ending is how an attempt of that fate ended, as its breaker is told; a vanished
// one never ends.
func (f *fate) ending() machine.Ending {
	switch f.outcome {
	case scenarios.RateLimit:
		return machine.Ending{Kind: machine.RateLimit, RetryAfter: max(0, f.retryAfter)}
	case scenarios.Permanent:
		return machine.Ending{Kind: machine.Permanent}
	case scenarios.Timeout:
		return machine.Ending{Kind: machine.Timeout}
	case scenarios.Cancelled:
		return machine.Ending{Kind: machine.Cancelled}
	case scenarios.Failure:
		return machine.Ending{Kind: machine.Transient}
	default:
		return machine.Ending{OK: true}
	}
}

// over frees the slot, and lets the caller go on from the instant end.
func (r *run) over(c *call, end time.Duration) {
	c.timer = 0
	if c.caller >= 0 {
		r.ended(c.caller, end)
	}
	r.vacant = append(r.vacant, c)
	r.insideOver(c.outer, c.outerAttempt, c.succeeded)
}
