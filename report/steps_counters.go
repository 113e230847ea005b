package report

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Counters are what a breaker of ours holds at one instant, as its rules make it
// of the events. What a kind of breaker does not have is zero.
type Counters struct {
	State     string
	Failures  int           // consecutive_failures
	Began     time.Duration // when the cooldown began in open and fallback, in half-open the lease
	Until     time.Duration // when that is over, if Ends
	Ends      bool
	Probe     int // in half-open: the call that has the probe's slot; of several the one that has been out for longest
	Serves    string
	Successes int  // primary_success_count
	Probation int  // transient failures of this probation (M13)
	Activated bool // fallback_activated
	Probes    int  // in recovering: probes in flight that have a place (M21)
	Chain     []Strikes
}

// Strikes are what a backup has against it.
type Strikes struct {
	Name      string
	Available bool
	Count, Of int
}

// spent says whether turns pass the backup over.
func (s *Strikes) spent() bool { return !s.Available || s.Count >= s.Of }

func (c *Counters) same(o *Counters) bool {
	a, b := *c, *o
	a.Chain, b.Chain = nil, nil
	return slices.Equal(c.Chain, o.Chain) && a.State == b.State && a.Failures == b.Failures && a.Began == b.Began && a.Until == b.Until && a.Ends == b.Ends && a.Probe == b.Probe && a.Probes == b.Probes &&
		a.Serves == b.Serves && a.Successes == b.Successes && a.Probation == b.Probation && a.Activated == b.Activated
}

// Counted is a breaker with its counters, step by step.
type Counted struct {
	*trace.Breaker
	Changes []Change // the first is of step 0
	Moves   []Moved

	now                  Counters
	lapsed               int // 1 + the step of a lease's end that nobody has noticed yet; 0: there is none
	streak               []int
	struck               map[string]time.Duration // when each backup had its last strike
	turnedAway, rerouted bool                     // since its last transition

	set    *trace.Breaker           // its settings as they are: an operator may change them
	forced bool                     // an operator keeps it as it is
	leases []lent                   // of the probes in flight, the oldest first
	tested probed                   // what came of the others of this half-open period
	failed time.Duration            // when the last failure counted
	began  map[[2]int]time.Duration // when attempts in flight were admitted, and under 0 when their call was
}

// lent is the slot of a probe, or its place among a bounded number.
type lent struct {
	call, attempt int
	since         time.Duration
}

// Change is what the counters are from a step on.
type Change struct {
	Step int
	Counters
	set *trace.Breaker
}

// Moved is a transition.
type Moved struct {
	Step int
	trace.Move
}

func newCounted(b *trace.Breaker) *Counted {
	c := &Counted{Breaker: b, set: b, now: Counters{State: "closed"}, struck: map[string]time.Duration{}, began: map[[2]int]time.Duration{}}
	if b.Model != nil {
		c.now = Counters{State: "primary", Serves: b.Model.Primary}
		for _, e := range b.Model.Chain {
			c.now.Chain = append(c.now.Chain, Strikes{Name: e.Name, Available: true, Of: max(1, e.MaxFailCount)})
		}
	}
	c.Changes = []Change{{0, c.now, b}}
	return c
}

// At is what the counters are after a step.
func (b *Counted) At(step int) *Counters { return &b.change(step).Counters }

// SetAt is how the breaker is set after a step.
func (b *Counted) SetAt(step int) *trace.Breaker { return b.change(step).set }

func (b *Counted) change(step int) *Change {
	i := sort.Search(len(b.Changes), func(i int) bool { return b.Changes[i].Step > step })
	return &b.Changes[i-1]
}

// ours says whether the counters are known: another's breaker has its own.
func (b *Counted) ours() bool { return b.By == "" }

// leaseEnded says whether T7 is due.
func (b *Counted) leaseEnded(now time.Duration) bool {
	return b.ours() && b.Tool != nil && b.now.State == "half-open" && b.now.Ends && b.now.Until <= now
}

// event takes an event about the breaker, which is that step.
func (b *Counted) event(e *trace.Event, step int) {
	before := b.now
	b.now.Chain = slices.Clone(before.Chain)
	set := b.set
	if e.Kind != trace.Peek {
		b.cool(e.T)
	}
	switch e.Kind {
	case trace.Admit:
		b.admit(e)
	case trace.Vanish:
		b.forget(e)
	case trace.GiveUp:
		b.givenUp(e)
	case trace.Result:
		b.result(e)
	case trace.Operate:
		b.operate(e)
	case trace.Transition:
		if e.From == e.To { // one of several leases ran out
			b.oldest()
			break
		}
		b.Moves = append(b.Moves, Moved{step, trace.Move{From: e.From, To: e.To, Rule: e.Rule}})
		b.enter(e)
	case trace.Switch:
		b.now.Serves = e.To
	}
	if !b.now.same(&before) || set != b.set {
		b.Changes = append(b.Changes, Change{step, b.now, b.set})
	}
}

// result is what a breaker makes of a result by its rules.
func (b *Counted) result(e *trace.Event) {
	c := &b.now
	if b.Tool != nil {
		b.toolResult(e, e.Rule)
		b.forget(e)
		return
	}
	b.retire(e)
	if e.Known { // the cooldown ends later now
		c.Until = e.Until
	}
	switch e.Rule {
	case "M7":
		c.Failures = 0
	case "M10":
		c.Failures++
	case "M9":
		c.Successes++
	case "M13":
		c.Successes = 0
		c.Probation++
	case "M11", "M17":
		if e.Applied {
			b.charge(e)
		}
	}
}

// charge spends one of the turns of the backup that served, or, where nobody knows
// who did, of the one that serves.
func (b *Counted) charge(e *trace.Event) {
	for i := range b.now.Chain {
		s := &b.now.Chain[i]
		if b.Reports == "anonymous" && !s.spent() || b.Reports != "anonymous" && s.Name == e.Target {
			s.Count++
			b.struck[s.Name] = e.T
			return
		}
	}
}

func (b *Counted) operate(e *trace.Event) {
	switch e.Op {
	case trace.Reset:
		b.now.Failures, b.now.Activated, b.forced = 0, false, false
		return
	case trace.ForceOpen, trace.ForceClosed:
		b.forced = true
		b.now.Until, b.now.Ends = 0, false
		return
	case trace.Configure:
		b.configure(e)
		return
	}
	for i := range b.now.Chain {
		if b.now.Chain[i].Name == e.Name {
			b.now.Chain[i].Available = e.Available
		}
	}
}

// enter is what a new state brings with it.
func (b *Counted) enter(e *trace.Event) {
	c := &b.now
	c.State, c.Began, c.Until, c.Ends, c.Probe = e.To, 0, 0, false, 0
	if !b.ours() {
		return
	}
	switch e.To {
	case "closed":
		c.Failures = 0
	case "open":
		b.failed = e.Effective
		b.wait(e.Effective, e)
	case "half-open":
		b.tested = probed{}
		b.leases = append(b.leases[:0], lent{e.Call, 1, e.Effective})
		b.oldest()
	case "fallback":
		c.Activated = true
		b.wait(e.T, e)
	case "primary":
		for i := range c.Chain {
			c.Chain[i].Count = 0
		}
	}
	if b.Model != nil {
		c.Failures, c.Successes, c.Probation, c.Probes = 0, 0, 0, 0
		b.leases = b.leases[:0]
	}
	if e.Known {
		c.Until, c.Ends = e.Until, true
	}
}

// cool gives backups their budgets back whose own cooldown is over (M24), and
// takes the places of probes back whose lease is.
func (b *Counted) cool(now time.Duration) {
	m := b.Model
	if m == nil {
		return
	}
	for i := range b.now.Chain {
		if s := &b.now.Chain[i]; m.EntryCooldown > 0 && s.Count >= s.Of && later(b.struck[s.Name], m.EntryCooldown) <= now {
			s.Count = 0
		}
	}
	if m.PlaceFor > 0 {
		b.leases = slices.DeleteFunc(b.leases, func(l lent) bool { return later(l.since, m.PlaceFor) <= now })
		b.oldest()
	}
}

// wait begins the cooldown.
func (b *Counted) wait(from time.Duration, e *trace.Event) {
	if !b.ours() {
		return
	}
	b.now.Began, b.now.Until, b.now.Ends = from, later(from, cooldownOf(b.set)), true
	switch {
	case b.forced:
		b.now.Until, b.now.Ends = 0, false
	case e.Known:
		b.now.Until = e.Until
	}
}

// later is t+d, or the last instant there is.
func later(t, d time.Duration) time.Duration {
	if t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}
