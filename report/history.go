// Package report turns a trace into what people read: timelines, tables and
// sentences. It knows of nothing but the trace.
package report

import (
	"strconv"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// History is a sink that gathers what pictures and stories need to know of one
// run: the states as bands, the calls as marks, the transitions as moments.
type History struct {
	Run *trace.RunInfo
	Set string // of a variant: what it has otherwise
	End time.Duration
	// Differences are where the run departs from one with our breakers, if it was
	// held against one ([Beside]).
	Differences []Difference

	Calls    int                     // calls started
	Breakers []*BreakerHistory       // in the order of the scenario, each instance by itself where they are few
	Fleets   []*Fleet                // those with many instances
	Marks    []Mark                  // in the order of the events
	Moments  []Moment                // transitions, in the order of the events
	Bursts   map[string][]trace.Span // by target, in order
	Acts     []trace.Event           // of operators, in the order of the events
	Tries    map[string]int          // by rule: retries and hedges that were started
	GivenUp  map[string]int          // by rule: calls whose ladder ended without success

	byName    map[string]*BreakerHistory
	flying    map[int]int    // attempts in flight, by call
	via       map[int]string // the breaker that a call in flight went through
	by        map[int]string // who made a call in flight
	waiting   map[int]int    // the mark of a call that waits for somebody to serve it
	names     map[caller]string
	overloads map[string][]overload      // by target, in order
	scripted  map[string][]time.Duration // by target: the starts of attempts that failed, of calls that nobody but the scenario made
	hints     hints
	changes   []change  // transitions, and switches apart from them, in the order of the events
	detours   []*detour // in the order in which they began
	grouped   []*group  // what groups made, once the run is over
	ended     int       // the call whose last attempt in flight ended: it is over unless a Retry follows
}

// BreakerHistory is what one breaker went through.
type BreakerHistory struct {
	*trace.Breaker
	Bands  []Band // without gaps from 0 to the end
	Leases []Lease
	Ready  []trace.Span // stretches in which a probe was possible, and nobody asked: from the cooldown's end on
	Health []Reading    // after each result, if the run recorded it
	AtOnce int          // late failures at the instant of an opening, which restart its cooldown to no effect (T11)
	Forced []Forced     // stretches in which an operator kept it as it was, in order
	Ramps  []Ramp       // stretches in which it let in a growing share of the calls, in order (T26)

	now      *trace.Breaker // its settings as they are: an operator may change them
	sets     []setFrom      // what they were, in order
	coolings []cooling      // in the order of the events
	streak   int            // openings that no recovery came between (T27)
	closed   time.Duration  // when it last closed
	tried    probed         // what came of the probes of this half-open period
	seen     trace.Held     // what its window held after the last result
	noted    []noted

	fleet *Fleet        // that it is one of; nil: it is told and drawn by itself
	moved []trace.Event // of a fleet's: its transitions
}

// Band is a stretch of one state, [From, To), by effective times. For a model
// breaker it is a stretch of one state and one served model.
type Band struct {
	From, To time.Duration
	State    string
	Serves   string          // of a model breaker; empty: nobody, the chain is spent
	Restarts []time.Duration // of an open breaker's cooldown, by late failures (T11)

	forced bool  // an operator keeps it so: of a piece of a band (see pieces)
	ramp   *Ramp // under way in the piece
}

// Lease is how long a probe held its slot.
type Lease struct {
	Call     int
	From, To time.Duration // To: when the probe answered or the lease ended, whichever came first
	RanOut   bool          // the probe had not answered by then
	ends     time.Duration // when it runs out, if limited
	limited  bool
}

// MarkKind is what a mark stands for.
type MarkKind uint8

// Kinds of mark.
const (
	MarkOK          MarkKind = iota // an attempt succeeded, at its end
	MarkFailed                      // an attempt failed or timed out, at its end
	MarkRateLimited                 // an attempt was rate-limited, at its end
	MarkCancelled                   // the caller gave up, at that instant
	MarkLate                        // a result that the breaker ignored as stale, at its end
	MarkLost                        // the call vanished, at its start
	MarkProbe                       // the gate let a probe through, at its start
	MarkRefused                     // the gate refused a call
	MarkExhausted                   // nobody was left to serve the turn
	MarkRerouted                    // a substitute took the call, at its start; Target is the substitute
	MarkWaited                      // nobody was left to serve the turn, and it waited, until Until
)

// Mark is one thing that happened to a call.
type Mark struct {
	Kind    MarkKind
	At      time.Duration
	Start   time.Duration // of the attempt; At if it never started
	Call    int
	Caller  string        // who made the call, "agents-3" if there are several; empty if it was scripted
	Breaker string        // the breaker that gated the call, if one did
	Target  string        // who was called; empty if nobody
	Outcome string        // of a result
	Rule    string        // of the gate's or the breaker's decision, if there was one
	Until   time.Duration // of a refusal: when a call may next be admitted; of a turn that waited: when it did no longer
	Known   bool          // Until is known
	Would   string        // of a refusal: how the attempt would have ended, if that is known
	Reason  string        // of a refusal by a breaker that is not ours: what its caller reads
}

// Moment is a transition and what a reader needs to understand it.
type Moment struct {
	trace.Event     // the Transition
	ProbeCall   int // the call that held the probe's slot before it, 0 if none did
	Outcome     string
	Switched    bool            // another model serves from here on
	Serves      string          // the one that does, if Switched; empty: nobody
	Answered    bool            // of T7: the probe answered after all, too late
	Cancelled   bool            // of T7: the probe's caller gave it up, which says nothing (T16)
	Restarts    []time.Duration // of T5: when late failures restarted the cooldown
	By          string          // whose breaker it is; empty: ours
	Seen        trace.Held      // of T21 and T22: what the window held

	set    *trace.Breaker // the breaker as it was set then
	before *trace.Breaker // of new settings: those that they replace
	freed  string         // of a reset: the state that an operator had forced until then; empty: none
	until  time.Duration  // of a forced state: when it is so no longer; 0: it is to the end
	ramp   *Ramp          // of one that closes the breaker, if it lets in a growing share of the calls

	tried probed   // what came of the probes before it
	cools *cooling // of one that opens a breaker of ours

	end time.Duration // of the run
}

// caller is one of those that made calls.
type caller struct {
	name     string
	instance int
}

// Event takes one event of the trace.
func (h *History) Event(e *trace.Event) error {
	if h.ended != 0 && e.Kind != trace.Transition && e.Kind != trace.Switch && e.Kind != trace.Health {
		if e.Call != h.ended || e.Kind == trace.GiveUp {
			h.forget(h.ended)
		}
		h.ended = 0
	}
	switch e.Kind {
	case trace.Run:
		h.begin(e.Run)
	case trace.Call:
		if e.Target != "" {
			h.flying[e.Call]++
		}
		if e.Attempt == 1 {
			h.Calls++
			h.calledBy(e)
		}
	case trace.Waits:
		if _, ok := h.waiting[e.Call]; !ok {
			h.waiting[e.Call] = len(h.Marks)
			h.mark(MarkWaited, e, e.T)
		}
	case trace.Admit:
		h.waited(e.Call, e.T)
		h.flying[e.Call]++
		h.via[e.Call] = e.Breaker
		if b := h.byName[e.Breaker]; b != nil {
			b.note(e)
		}
		if e.Probe {
			h.mark(MarkProbe, e, e.T)
			h.grant(e)
		}
	case trace.Refuse:
		h.turnedAway(MarkRefused, e)
		h.rampHolds(e)
	case trace.Exhausted:
		h.waited(e.Call, e.T)
		h.turnedAway(MarkExhausted, e)
	case trace.Vanish:
		h.mark(MarkLost, e, e.T)
		h.forget(e.Call)
	case trace.Result:
		h.mark(resultMark(e), e, e.T-e.Took)
		h.restart(e)
		h.answered(e)
	case trace.Transition:
		h.transition(e)
	case trace.Switch:
		h.change(e)
	case trace.Reroute:
		h.reroute(e)
	case trace.Health:
		h.reading(e)
	case trace.Burst:
		h.burst(e)
	case trace.Operate:
		h.Acts = append(h.Acts, *e)
		h.operated(e)
	case trace.Retry, trace.Hedge:
		h.Tries[e.Rule]++
		if e.Rule == "L2" {
			h.hints.waited(e.Wait)
		}
	case trace.GiveUp:
		h.GivenUp[e.Rule]++
		h.waited(e.Call, e.T)
		h.givenUp(e)
	case trace.Load:
		h.measured(e)
	case trace.Phase, trace.Peek:
	case trace.End:
		h.finish(e.T)
	}
	return nil
}

// burst begins a stretch of trouble, or ends it; one that is under way at the
// end of the run ends there.
func (h *History) burst(e *trace.Event) {
	all := h.Bursts[e.Target]
	if e.On {
		all = append(all, trace.Span{From: e.T, To: -1})
	} else if n := len(all); n > 0 {
		all[n-1].To = e.T
	}
	h.Bursts[e.Target] = all
}

func (h *History) begin(r *trace.RunInfo) {
	h.Bursts = map[string][]trace.Span{}
	h.Tries, h.GivenUp = map[string]int{}, map[string]int{}
	h.Run = readable(r)
	h.byName = map[string]*BreakerHistory{}
	h.flying = map[int]int{}
	h.via = map[int]string{}
	h.by = map[int]string{}
	h.waiting = map[int]int{}
	h.names = map[caller]string{}
	h.overloads = map[string][]overload{}
	h.scripted = map[string][]time.Duration{}
	for i := range r.Breakers {
		h.enlist(&r.Breakers[i])
	}
}

// calledBy notes who makes a call.
func (h *History) calledBy(e *trace.Event) {
	if e.Caller == "" {
		return
	}
	who := caller{e.Caller, e.Instance}
	name, ok := h.names[who]
	if !ok {
		if name = who.name; who.instance > 0 {
			name += "-" + strconv.Itoa(who.instance)
		}
		h.names[who] = name
	}
	h.by[e.Call] = name
}

// turnedAway marks a call that nobody serves. It is over, unless the next event
// is about it.
func (h *History) turnedAway(k MarkKind, e *trace.Event) {
	h.mark(k, e, e.T)
	if h.flying[e.Call] == 0 {
		h.ended = e.Call
	}
}

// waited notes that a call waits no longer, if it did.
func (h *History) waited(call int, until time.Duration) {
	if i, ok := h.waiting[call]; ok {
		h.Marks[i].Until = until
		delete(h.waiting, call)
	}
}

func resultMark(e *trace.Event) MarkKind {
	stale := e.Breaker != "" && !e.Applied && (e.Rule == "T10" || e.Rule == "T13" || e.Rule == "M17")
	switch {
	case stale:
		return MarkLate
	case e.Outcome == trace.Success:
		return MarkOK
	case e.Outcome == trace.RateLimit:
		return MarkRateLimited
	case e.Outcome == trace.Cancelled:
		return MarkCancelled
	default:
		return MarkFailed
	}
}

func (h *History) mark(k MarkKind, e *trace.Event, start time.Duration) {
	breaker := e.Breaker
	if breaker == "" {
		breaker = h.via[e.Call]
	}
	reason := ""
	if b := h.byName[breaker]; b != nil && b.others() {
		reason = e.Reason
	}
	if failing := e.Kind == trace.Result && e.Outcome != trace.Success && e.Outcome != trace.Cancelled; failing && h.by[e.Call] == "" {
		h.scripted[e.Target] = append(h.scripted[e.Target], start)
	}
	h.Marks = append(h.Marks, Mark{Reason: reason, Kind: k, At: e.T, Start: start, Call: e.Call, Caller: h.by[e.Call], Breaker: breaker, Target: e.Target, Outcome: e.Outcome, Rule: e.Rule, Until: e.Until, Known: e.Known, Would: e.Would})
}

// grant opens the lease of a probe.
func (h *History) grant(e *trace.Event) {
	switch b := h.byName[e.Breaker]; {
	case b.others():
		b.lend(e)
	case b.Tool != nil || b.now.AtOnce > 0: // a model breaker's probes have a lease where their number is bounded (M21)
		b.lendOurs(e)
	}
}

// answered ends the lease of a probe that answered in time.
func (h *History) answered(e *trace.Event) {
	if b := h.byName[h.via[e.Call]]; b != nil {
		if b.others() {
			b.giveBack(e.Call, e.T)
		}
		b.heard(e, e.Rule)
	}
	if h.flying[e.Call]--; h.flying[e.Call] == 0 {
		h.ended = e.Call
	}
}

// restart notes a result by which the cooldown ends later: a late failure that
// began it anew, which at the instant of the opening itself prolongs nothing, or a
// hint to wait.
func (h *History) restart(e *trace.Event) {
	b := h.byName[e.Breaker]
	if b == nil || e.Rule != "T11" && !e.Known {
		return
	}
	b.cool(e)
	if e.Rule != "T11" {
		return
	}
	switch last := &b.Bands[len(b.Bands)-1]; {
	case last.State != "open":
	case last.From < e.T:
		last.Restarts = append(last.Restarts, e.T)
	default:
		b.AtOnce++
	}
}

func (h *History) forget(call int) {
	delete(h.flying, call)
	delete(h.via, call)
	delete(h.by, call)
}

func (h *History) transition(e *trace.Event) {
	b := h.byName[e.Breaker]
	last := &b.Bands[len(b.Bands)-1]
	m := Moment{Event: *e, Restarts: last.Restarts, By: b.By}
	if n := len(h.Marks); n > 0 && e.Call != 0 && h.Marks[n-1].Call == e.Call {
		m.Outcome = h.Marks[n-1].Outcome
		if b.Tool != nil && m.Outcome == trace.Success && e.To == "open" && countsAsFailure(b.now, m.Outcome, e.T-h.Marks[n-1].Start) {
			m.Outcome = slowSuccess
		}
	}
	if n := len(b.Leases); n > 0 && e.From == "half-open" {
		m.ProbeCall = b.probeOf(e)
	}
	b.endLeases(e.Effective)
	m.set, m.tried, m.Seen = b.now, b.tried, b.seen
	if act := h.tookEffect(e); act != nil {
		m.before, m.freed = act.before, act.freed
	}
	m.cools = b.enter(e)
	for _, d := range h.detours {
		d.over = d.over || d.breaker == e.Breaker
	}
	if b.fleet != nil {
		b.moved = append(b.moved, *e)
	} else {
		h.changes = append(h.changes, change{moment: len(h.Moments)})
		h.Moments = append(h.Moments, m)
	}
	h.band(b, e.Effective, e.To, last.Serves)
}

// detour is a stretch in which a substitute took the calls of a tool.
type detour struct {
	breaker, state string // of the tool that is out
	from, to       string
	first, last    time.Duration
	calls          map[int]bool // that it took
	over           bool
}

func (h *History) reroute(e *trace.Event) {
	h.mark(MarkRerouted, &trace.Event{T: e.T, Call: e.Call, Breaker: e.Breaker, Target: e.To, Rule: e.Rule}, e.T)
	for _, d := range h.detours {
		if d.breaker == e.Breaker && !d.over {
			if d.to == e.To {
				d.last = e.T
				d.calls[e.Call] = true
				return
			}
			d.over = true
		}
	}
	bands := h.byName[e.Breaker].Bands
	h.detours = append(h.detours, &detour{breaker: e.Breaker, state: bands[len(bands)-1].State, from: e.From, to: e.To, first: e.T, last: e.T, calls: map[int]bool{e.Call: true}})
}

// change is a transition (an index in Moments) or, if that is negative, what an
// operator did, or else a switch and the state in which it came.
type change struct {
	moment int
	act    *Moment
	change trace.Event
	state  string
}

// change takes a switch, which comes right after the transition that caused it,
// if one did.
func (h *History) change(e *trace.Event) {
	b := h.byName[e.Breaker]
	b.note(e)
	last := b.Bands[len(b.Bands)-1]
	h.band(b, max(last.From, sinceWhen(e)), last.State, e.To)
	if b.fleet != nil {
		return
	}
	if n := len(h.Moments); n > 0 {
		if m := &h.Moments[n-1]; m.Breaker == e.Breaker && m.T == e.T && m.Rule == e.Rule && !m.Switched {
			m.Switched, m.Serves = true, e.To
			return
		}
	}
	h.tookEffect(e)
	h.changes = append(h.changes, change{moment: -1, change: *e, state: last.State})
}

// sinceWhen is when a switch took effect: a backup that is whole again (M24) is
// noticed later.
func sinceWhen(e *trace.Event) time.Duration {
	if e.Effective != 0 {
		return e.Effective
	}
	return e.T
}

// band ends the current band at t and begins another.
func (h *History) band(b *BreakerHistory, t time.Duration, state, serves string) {
	last := &b.Bands[len(b.Bands)-1]
	last.To = t
	if last.From == t && last.State == state { // a switch right after its transition
		last.Serves = serves
		return
	}
	b.Bands = append(b.Bands, Band{From: t, State: state, Serves: serves})
}

func (h *History) finish(end time.Duration) {
	h.End = end
	for call := range h.waiting {
		h.waited(call, end)
	}
	for _, all := range h.Bursts {
		if last := &all[len(all)-1]; last.To < 0 {
			last.To = end
		}
	}
	for _, all := range h.overloads {
		if last := &all[len(all)-1]; last.To < 0 {
			last.To = end
		}
	}
	for _, b := range h.byName {
		b.Bands[len(b.Bands)-1].To = end
		b.endLeases(end)
		b.endForce(end)
		b.endRamp(end)
		b.cutLeases(end)
		b.Ready = b.ready()
	}
	answered, cancelled := map[int]bool{}, map[int]bool{}
	for _, m := range h.Marks {
		switch m.Kind {
		case MarkProbe, MarkLost, MarkRefused, MarkExhausted, MarkRerouted, MarkWaited:
		case MarkCancelled:
			cancelled[m.Call] = true
		default:
			answered[m.Call] = true
		}
	}
	for i := range h.Moments {
		h.finishHand(&h.Moments[i])
		h.Moments[i].end = end
		h.Moments[i].Answered = h.Moments[i].Rule == "T7" && answered[h.Moments[i].ProbeCall]
		h.Moments[i].Cancelled = h.Moments[i].Rule == "T7" && !h.Moments[i].Answered && cancelled[h.Moments[i].ProbeCall]
	}
	for _, m := range h.acts() {
		h.finishHand(m)
		m.end = end
	}
}
