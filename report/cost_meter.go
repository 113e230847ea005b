package report

import (
	"errors"
	"math"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Meter is a sink that measures a run while it goes. It keeps the calls in
// flight and up to 100,000 waits, not the events.
type Meter struct {
	cost     Cost
	targets  []*targetMeter // in the order of the scenario
	byTarget index[string, targetMeter]
	breakers []*breakerMeter // in the order of the scenario, each instance by itself
	sums     []*BreakerCost  // in the order of the scenario
	byName   index[string, breakerMeter]
	calls    *inFlight
	ending   *meteredCall // failed at this instant, unless a retry follows
	endingID int
	lost     []lostCall
	waits    waits // of finished calls
}

// meteredCall is a call in flight.
type meteredCall struct {
	id       int           // 0: the slot is free
	first    time.Duration // when the call started
	flying   int           // attempts in flight
	ended    time.Duration // when it failed, if nothing follows
	wanted   string        // the target that it is for; empty: unknown, so it is never rerouted
	rerouted bool
}

// index is a map that remembers what was looked up last: events that follow each
// other are mostly about the same.
type index[K comparable, V any] struct {
	all  map[K]*V
	last K
	v    *V // nil: nothing is remembered
}

func newIndex[K comparable, V any]() index[K, V] { return index[K, V]{all: map[K]*V{}} }

func (x *index[K, V]) get(k K) *V {
	if x.v == nil || x.last != k {
		x.last, x.v = k, x.all[k]
	}
	return x.v
}

func (x *index[K, V]) put(k K, v *V) { x.all[k], x.last, x.v = v, k, v }

// inFlight is the calls in flight by their numbers. As those count up, most of
// them have a slot to themselves; the rest is in a map.
type inFlight struct {
	slots [1 << 12]meteredCall
	rest  map[int]*meteredCall
	spare []*meteredCall // for the rest
	n     int
}

func (f *inFlight) slot(id int) *meteredCall { return &f.slots[id&(len(f.slots)-1)] }

func (f *inFlight) get(id int) *meteredCall {
	if s := f.slot(id); s.id == id && id != 0 {
		return s
	}
	return f.rest[id]
}

// add makes room for a call that is not there.
func (f *inFlight) add(id int) *meteredCall {
	f.n++
	if s := f.slot(id); s.id == 0 && id > 0 {
		return s
	}
	var c *meteredCall
	if n := len(f.spare); n > 0 {
		c = f.spare[n-1]
		f.spare = f.spare[:n-1]
	} else {
		c = new(meteredCall)
	}
	f.rest[id] = c
	return c
}

// drop takes a call out that is there.
func (f *inFlight) drop(id int) {
	f.n--
	if s := f.slot(id); s.id == id && id != 0 {
		s.id = 0
		return
	}
	f.spare = append(f.spare, f.rest[id])
	delete(f.rest, id)
}

// each calls do for all of them.
func (f *inFlight) each(do func(*meteredCall)) {
	for i := range f.slots {
		if s := &f.slots[i]; s.id != 0 {
			do(s)
		}
	}
	for _, c := range f.rest {
		do(c)
	}
}

// lostCall is a call that vanished: how long it waited shows only at the end.
type lostCall struct {
	first, until time.Duration
	known        bool
}

// breakerMeter measures one breaker.
type breakerMeter struct {
	BreakerCost
	sum     *BreakerCost // of the breaker that it is an instance of
	apart   bool         // its target is another than that of other instances
	main    *targetMeter
	resting bool // closed or primary
	since   time.Duration
}

// NewMeter is a meter for one run.
func NewMeter() *Meter { return &Meter{} }

// Cost is what the run cost. It is complete after the run's End.
func (m *Meter) Cost() Cost { return m.cost }

// Event takes one event of the trace.
func (m *Meter) Event(e *trace.Event) error {
	if m.calls == nil && e.Kind != trace.Run {
		return errors.New("an event outside of a run: a record begins with run, and nothing follows its end")
	}
	if m.ending != nil {
		m.settle(e)
	}
	switch e.Kind {
	case trace.Run:
		m.begin(e.Run)
	case trace.Call:
		m.call(e)
	case trace.Admit:
		m.admit(e)
	case trace.Refuse:
		m.cost.Refused++
		if e.Would == trace.Success {
			m.cost.Harm++
		}
		m.turnedAway(e)
		m.close(e.Call, e.T, e.T, false)
	case trace.Exhausted:
		m.cost.Exhausted++
		m.turnedAway(e)
		m.close(e.Call, e.T, e.T, false)
	case trace.Vanish:
		m.vanish(e)
	case trace.Result:
		m.result(e)
	case trace.Transition:
		m.transition(e)
	case trace.End:
		m.finish(e.T)
	case trace.Reroute:
		if t := m.byTarget.get(e.From); t != nil {
			t.turnAway(e.T)
		}
	case trace.GiveUp: // where nothing has ended: the caller waited no longer for a retry
		m.close(e.Call, e.T, e.T, false)
	case trace.Phase, trace.Burst, trace.Load, trace.Switch, trace.Health, trace.Retry, trace.Hedge, trace.Waits, trace.Operate, trace.Peek:
	}
	return nil
}

func (m *Meter) begin(r *trace.RunInfo) {
	*m = Meter{byTarget: newIndex[string, targetMeter](), byName: newIndex[string, breakerMeter](), calls: &inFlight{rest: map[int]*meteredCall{}}}
	for i := range r.Targets {
		t := newTargetMeter(&r.Targets[i])
		m.cost.Priced = m.cost.Priced || r.Targets[i].Price != nil
		t.of = m.byTarget.get(r.Targets[i].Of)
		m.targets = append(m.targets, t)
		m.byTarget.put(t.name, t)
	}
	for i := range r.Breakers {
		m.guards(&r.Breakers[i])
	}
}

// guards begins to measure a breaker, or all its instances.
func (m *Meter) guards(of *trace.Breaker) {
	sum := &BreakerCost{Breaker: of.Name, Detect: []*time.Duration{}}
	m.sums = append(m.sums, sum)
	for name := range of.Each() {
		target := of.Instance(name).Main()
		b := &breakerMeter{BreakerCost: BreakerCost{Breaker: name}, sum: sum, apart: of.Per == trace.PerHost, resting: true, main: m.byTarget.get(target)}
		if b.main == nil { // a record of somebody else's, which does not say how its targets behave
			b.main = &targetMeter{name: target}
			m.byTarget.put(target, b.main)
		}
		b.Detect = make([]*time.Duration, len(b.main.outages))
		m.breakers = append(m.breakers, b)
		m.byName.put(name, b)
		if m.byName.get(of.Name) == nil { // to find the target that calls to it are for
			m.byName.put(of.Name, b)
		}
	}
}

// call is an attempt that asks a gate, or with a target starts without one.
func (m *Meter) call(e *trace.Event) {
	c := m.calls.get(e.Call)
	if c == nil {
		c = m.calls.add(e.Call)
		*c = meteredCall{id: e.Call, first: e.T, wanted: m.wanted(e.To)}
		m.cost.Calls++
	}
	if e.Target != "" {
		m.attempt(c, e)
	}
}

// wanted is the target that a call to that name is for: itself, or the one
// whose breaker has the name.
func (m *Meter) wanted(to string) string {
	if m.byTarget.get(to) != nil {
		return to
	}
	if b := m.byName.get(to); b != nil {
		return b.main.name
	}
	return ""
}

func (m *Meter) admit(e *trace.Event) {
	if c := m.calls.get(e.Call); c != nil {
		m.attempt(c, e)
	}
	if b := m.byName.get(e.Breaker); b != nil && !m.byTarget.get(e.Target).isOf(b.main.name) {
		b.main.turnAway(e.T)
	}
}

// attempt is the start of one, at e.Target.
func (m *Meter) attempt(c *meteredCall, e *trace.Event) {
	c.flying++
	m.cost.Attempts++
	t := m.byTarget.get(e.Target)
	if !c.rerouted && c.wanted != "" && e.Target != c.wanted && !t.isOf(c.wanted) {
		c.rerouted = true
		m.cost.Rerouted++
	}
	if t == nil {
		return
	}
	if t.start(e.T) {
		m.cost.Wasted++
	}
	m.cost.Money += t.price.Call
	m.cost.Tokens += t.price.Tokens
}

func (m *Meter) turnedAway(e *trace.Event) {
	if b := m.byName.get(e.Breaker); b != nil {
		b.main.turnAway(e.T)
	}
}

func (m *Meter) result(e *trace.Event) {
	c := m.calls.get(e.Call)
	if c == nil {
		return
	}
	c.flying--
	if e.Outcome != trace.Success {
		if c.flying == 0 {
			c.ended = e.T
			m.ending, m.endingID = c, e.Call
		}
		return
	}
	began := e.T - e.Took
	if t := m.byTarget.get(e.Target); t != nil {
		t.succeeded(began, e.T)
	}
	m.close(e.Call, e.T, began, true)
}

// settle decides, by the event after a failed attempt, whether its call is over.
// What the failure did to the breaker comes first.
func (m *Meter) settle(e *trace.Event) {
	if e.Kind == trace.Transition || e.Kind == trace.Switch || e.Kind == trace.Health {
		return
	}
	id, c := m.endingID, m.ending
	m.ending = nil
	if e.Kind != trace.Retry || e.Call != id {
		m.close(id, c.ended, c.ended, false)
	}
}

// close ends a call at the instant at, if it is in flight; its last attempt
// began then.
func (m *Meter) close(id int, at, began time.Duration, ok bool) {
	c := m.calls.get(id)
	if c == nil {
		return
	}
	m.calls.drop(id)
	wait := at - c.first
	m.wait(wait, true)
	if ok {
		m.cost.Succeeded++
		m.cost.WaitWasted = plus(m.cost.WaitWasted, began-c.first)
		return
	}
	m.cost.Failed++
	m.cost.WaitWasted = plus(m.cost.WaitWasted, wait)
}

func (m *Meter) wait(d time.Duration, finished bool) {
	m.cost.WaitTotal = plus(m.cost.WaitTotal, d)
	if finished {
		m.waits.add(d)
	}
}

func (m *Meter) vanish(e *trace.Event) {
	c := m.calls.get(e.Call)
	if c == nil {
		return
	}
	m.calls.drop(e.Call)
	m.cost.Failed++
	m.lost = append(m.lost, lostCall{c.first, e.Until, e.Known})
}

func (m *Meter) transition(e *trace.Event) {
	b := m.byName.get(e.Breaker)
	if b == nil {
		return
	}
	if e.To == "open" || e.To == "fallback" {
		b.Openings++
	}
	resting := e.To == "closed" || e.To == "primary"
	trips := b.resting && !resting
	switch {
	case b.resting && !resting:
		b.since = e.Effective
	case !b.resting && resting:
		b.OpenTime += e.Effective - b.since
	}
	b.resting = resting
	if trips {
		if i := b.main.outageAt(e.Effective); i >= 0 && b.Detect[i] == nil {
			b.Detect[i] = new(e.Effective - b.main.outages[i].From)
		}
	}
}

// finish closes the books at the run's end.
func (m *Meter) finish(end time.Duration) {
	m.cost.Unfinished = m.calls.n
	m.calls.each(func(c *meteredCall) { m.wait(end-c.first, false) })
	for _, l := range m.lost {
		until := end
		if l.known {
			until = min(end, l.until)
		}
		m.wait(until-l.first, l.known && l.until <= end)
		m.cost.WaitWasted = plus(m.cost.WaitWasted, until-l.first)
	}
	m.waits.ranks(&m.cost)
	for _, b := range m.breakers {
		if !b.resting {
			b.OpenTime += end - b.since
		}
		b.Detect = b.Detect[:b.main.until(end)]
		b.sum.add(&b.BreakerCost, b.apart)
	}
	for _, sum := range m.sums {
		m.cost.Breakers = append(m.cost.Breakers, *sum)
	}
	for _, t := range m.targets {
		m.cost.Outages = append(m.cost.Outages, t.costs(end)...)
	}
	*m = Meter{cost: m.cost}
}

// add takes in what one instance cost: openings are summed, and the open time is
// that of the instance that was so for longest. An outage is detected by the first
// that trips; the outages of instances whose targets are apart are listed one after
// the other.
func (c *BreakerCost) add(one *BreakerCost, apart bool) {
	c.Openings += one.Openings
	c.OpenTime = max(c.OpenTime, one.OpenTime)
	if apart || len(c.Detect) == 0 {
		c.Detect = append(c.Detect, one.Detect...)
		return
	}
	for i, d := range one.Detect {
		if c.Detect[i] == nil || d != nil && *d < *c.Detect[i] {
			c.Detect[i] = d
		}
	}
}

// forever is later than any instant of a run.
const forever = time.Duration(math.MaxInt64)
