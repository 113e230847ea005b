package check

import (
	"time"

	"github.com/breakersim/breakersim/machine"
)

// The machines below are written as people write them at first. Each has one of
// the faults that are named; without a fault they are right.

type fault int

const (
	none fault = iota
	noLease
	severalProbes
	successClosesOpen
	leaseFromNow
	anonymousReports
	peekMutates
	peekLies
	lateFailuresIgnored
	closedToHalfOpen
	entriesNotCleared
	chainChargedForPrimary
	chargesTheActive
	exhaustedWithoutChain
	forgetsThatItTripped
	saysThatItTripped
	servedByAFailedEntry
	recoversNever
)

type naiveTool struct {
	f       fault
	s       machine.ToolSettings
	r       machine.ToolSnapshot
	permits [MaxCalls + 1]uint64 // the number of the probe in the slot
	news    []machine.Transition
}

func (n *naiveTool) move(to machine.State, now, effective time.Duration, rule machine.Rule) {
	n.news = append(n.news, machine.Transition{From: n.r.State, To: to, At: now, Effective: effective, Rule: rule})
	n.r.State = to
	n.r.LastFailure, n.r.ProbeStarted = 0, 0
	switch to {
	case machine.Open:
		n.r.Openings++
		n.r.LastFailure = effective
	case machine.HalfOpen:
		n.r.Probes++
		n.r.ProbeStarted = now
	case machine.Closed:
		n.r.ConsecutiveFailures = 0
	}
}

func (n *naiveTool) tick(now time.Duration) {
	end := n.r.ProbeStarted + n.s.ProbeTimeout
	if n.r.State != machine.HalfOpen || now < end || n.f == noLease {
		return
	}
	if n.f == leaseFromNow {
		end = now
	}
	n.move(machine.Open, now, end, machine.T7)
}

func (n *naiveTool) ask(now time.Duration, slot int) (admitted, probe bool) {
	n.tick(now)
	n.permits[slot] = 0
	switch {
	case n.r.State == machine.Closed && n.f == closedToHalfOpen && n.r.ConsecutiveFailures > 1:
		n.move(machine.HalfOpen, now, now, machine.T5)
	case n.r.State == machine.Closed:
		return true, false
	case n.r.State == machine.HalfOpen && n.f == severalProbes:
		n.r.Probes++
	case n.r.State == machine.HalfOpen, now-n.r.LastFailure < n.s.RecoveryDuration:
		return false, false
	default:
		n.move(machine.HalfOpen, now, now, machine.T5)
	}
	n.permits[slot] = n.r.Probes
	return true, true
}

func (n *naiveTool) wouldAllow(now time.Duration) bool {
	if n.f == peekMutates {
		admitted, _ := n.ask(now, MaxCalls)
		return admitted
	}
	c := *n
	admitted, _ := c.ask(now, MaxCalls)
	return admitted || n.f == peekLies
}

func (n *naiveTool) report(now time.Duration, slot int, ok bool) {
	n.tick(now)
	probe := n.permits[slot] != 0 && n.permits[slot] == n.r.Probes || n.f == anonymousReports
	switch {
	case n.r.State == machine.Open && ok && n.f == successClosesOpen:
		n.move(machine.Closed, now, now, machine.T8)
	case n.r.State == machine.Open && !ok:
		n.r.ConsecutiveFailures++
		if n.f != lateFailuresIgnored {
			n.r.LastFailure = now
		}
	case n.r.State == machine.HalfOpen && probe && ok:
		n.move(machine.Closed, now, now, machine.T8)
	case n.r.State == machine.HalfOpen && probe:
		n.r.ConsecutiveFailures++
		n.move(machine.Open, now, now, machine.T9)
	case n.r.State == machine.Closed && ok:
		n.r.ConsecutiveFailures = 0
	case n.r.State == machine.Closed:
		n.r.ConsecutiveFailures++
		if n.r.ConsecutiveFailures >= n.s.FailureThreshold {
			n.move(machine.Open, now, now, machine.T3)
		}
	}
}

func (n *naiveTool) cancel(time.Duration, int) {}

func (n *naiveTool) reset(now time.Duration) {
	n.tick(now)
	if n.r.State != machine.Closed {
		n.move(machine.Closed, now, now, machine.T15)
	}
	n.r.ConsecutiveFailures = 0
}

func (n *naiveTool) read(now time.Duration) machine.ToolSnapshot {
	c := *n
	c.news = nil
	c.tick(now)
	return c.r
}

func (n *naiveTool) moved() []machine.Transition {
	news := n.news
	n.news = nil
	return news
}

type naiveModel struct {
	f     fault
	s     machine.ModelSettings
	r     machine.ModelSnapshot
	epoch int
	turns [MaxCalls + 1]naiveTurn
	news  []machine.Transition
}

type naiveTurn struct {
	entry, epoch int
}

func newNaiveModel(f fault, s machine.ModelSettings) *naiveModel {
	n := &naiveModel{f: f, s: s, r: machine.ModelSnapshot{State: machine.Primary}}
	for _, b := range s.Chain {
		n.r.Chain = append(n.r.Chain, machine.BackupSnapshot{Name: b.Name, Available: true, Budget: b.MaxFailCount})
	}
	return n
}

func (n *naiveModel) move(to machine.State, now time.Duration) {
	n.news = append(n.news, machine.Transition{From: n.r.State, To: to, At: now, Effective: now})
	n.r.State = to
	n.r.ConsecutiveFailures, n.r.PrimarySuccesses = 0, 0
	n.epoch++
	switch {
	case to == machine.Fallback:
		n.r.FallbackActivated = true
		n.r.SwitchedAt = now
	case to == machine.Primary && n.f != entriesNotCleared:
		for i := range n.r.Chain {
			n.r.Chain[i].Attempts = 0
		}
	}
	if to == machine.Primary && n.f == forgetsThatItTripped {
		n.r.FallbackActivated = false
	}
}

func (n *naiveModel) active() int {
	for i, e := range n.r.Chain {
		if !e.Failed() || n.f == servedByAFailedEntry && e.Available && e.Attempts == e.Budget {
			return i
		}
	}
	return -1
}

// route says who would serve, and whether M2 applies.
func (n *naiveModel) route(now time.Duration) (entry int, ok, probe bool) {
	switch {
	case n.r.State != machine.Fallback:
		return -1, true, false
	case now-n.r.SwitchedAt >= n.s.RecoveryTimeout && n.f != recoversNever:
		return -1, true, true
	case len(n.r.Chain) == 0 && n.f != exhaustedWithoutChain:
		return -1, true, false
	}
	i := n.active()
	return i, i >= 0, false
}

func (n *naiveModel) name(entry int, ok bool) string {
	switch {
	case !ok:
		return ""
	case entry < 0:
		return n.s.Primary
	default:
		return n.s.Chain[entry].Name
	}
}

func (n *naiveModel) begin(now time.Duration, slot int) (string, *machine.Exhausted) {
	entry, ok, probe := n.route(now)
	if probe {
		n.move(machine.Recovering, now)
	}
	n.turns[slot] = naiveTurn{entry, n.epoch}
	n.r.FallbackActivated = n.r.FallbackActivated || n.f == saysThatItTripped
	if !ok {
		return "", new(machine.Exhausted)
	}
	return n.name(entry, ok), nil
}

func (n *naiveModel) wouldServe(now time.Duration) (string, bool) {
	entry, ok, probe := n.route(now)
	if probe && n.f == peekMutates {
		n.move(machine.Recovering, now)
	}
	if n.f == peekLies {
		return n.s.Primary, true
	}
	return n.name(entry, ok), ok
}

func (*naiveModel) settle(time.Duration) {}

func (n *naiveModel) report(now time.Duration, slot int, e machine.Ending) {
	ok, k := e.OK, e.Kind
	turn := n.turns[slot]
	stale := turn.epoch != n.epoch && n.f != chainChargedForPrimary
	switch {
	case stale:
	case n.r.State == machine.Fallback && !ok:
		i := turn.entry
		if n.f == chargesTheActive || n.f == chainChargedForPrimary {
			i = n.active()
		}
		if i >= 0 {
			n.r.Chain[i].Attempts++
		}
	case n.r.State == machine.Recovering && ok:
		if n.r.PrimarySuccesses++; n.r.PrimarySuccesses >= n.s.RecoverySuccessesNeeded {
			n.move(machine.Primary, now)
		}
	case n.r.State == machine.Recovering && k == machine.RateLimit:
		n.move(machine.Fallback, now)
	case n.r.State == machine.Recovering:
		n.r.PrimarySuccesses = 0
	case n.r.State == machine.Primary && ok:
		n.r.ConsecutiveFailures = 0
	case n.r.State == machine.Primary:
		if n.r.ConsecutiveFailures++; n.r.ConsecutiveFailures >= n.s.TripThreshold {
			n.move(machine.Fallback, now)
		}
	}
}

func (n *naiveModel) cancel(time.Duration, int) {}

func (n *naiveModel) setAvailable(_ time.Duration, name string, available bool) {
	for i := range n.r.Chain {
		if n.r.Chain[i].Name == name {
			n.r.Chain[i].Available = available
		}
	}
}

func (n *naiveModel) reset(now time.Duration) {
	if n.r.State != machine.Primary {
		n.move(machine.Primary, now)
	}
	for i := range n.r.Chain {
		n.r.Chain[i].Attempts = 0
	}
	n.r.ConsecutiveFailures = 0
	n.r.FallbackActivated = false
}

func (n *naiveModel) read() machine.ModelSnapshot {
	r := n.r
	r.Chain = append([]machine.BackupSnapshot(nil), n.r.Chain...)
	return r
}

func (n *naiveModel) moved() []machine.Transition {
	news := n.news
	n.news = nil
	return news
}
