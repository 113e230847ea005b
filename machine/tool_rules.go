package machine

import (
	"math"
	"slices"
	"time"
)

// tool is the machine itself, without a lock, that knows the rules.
type tool struct {
	s           ToolSettings
	emit        func(Transition)
	changed     time.Duration // when something last changed; an earlier instant is taken for it
	news        bool          // something changed that is published
	plain       bool          // as published: a success does nothing but enter the window
	state       State
	forced      State         // what an operator keeps it in, or 0
	failures    int           // consecutive_failures
	window      *window       // of results in Closed, or nil
	lastFailure time.Duration // last_failure_time
	cooldown    time.Duration // how long this one is, while open
	notBefore   time.Duration // when the other side said to come back (T29)
	streak      int           // openings that no recovery came between (T27)
	opens       uint64        // transitions to Open so far
	leases      []lease       // of the probes in flight, the oldest first
	tested      tally         // what came of the other probes of this half-open period
	probes      uint64        // probes granted so far
	closed      time.Duration // when it last closed
	ramping     bool          // since then the share of calls admitted grows (T26)
	credit      float64       // what that share has added up to
}

// lease is what a probe holds.
type lease struct {
	probe uint32
	since time.Duration // probe_started_at
}

// copy is a machine to ask questions of: it tells nobody, and its window is gone.
func (m *tool) copy() tool {
	c := *m
	c.emit = func(Transition) {}
	c.window = nil
	c.leases = slices.Clone(m.leases)
	return c
}

// touch applies T7 if it is due: before anything else, whenever the machine is
// touched. It returns the instant that now is taken for.
func (m *tool) touch(now time.Duration) time.Duration {
	now = max(m.changed, now)
	if len(m.leases) > 0 {
		m.lapse(now)
	}
	return now
}

// lapse ends the leases that ran out by now, each at its own end.
func (m *tool) lapse(now time.Duration) {
	for end, ok := m.leaseEnd(); ok && now >= end; end, ok = m.leaseEnd() {
		m.leases = slices.Delete(m.leases, 0, 1)
		m.note(now)
		m.tested.add(tally{calls: 1, failures: 1})
		if to := m.verdict(); to != HalfOpen {
			m.commit(to, now, end, T7)
		}
	}
}

// leaseEnd is when the oldest lease ends, if there is one that does.
func (m *tool) leaseEnd() (end time.Duration, ok bool) {
	if len(m.leases) == 0 || m.s.ProbeTimeout == 0 {
		return 0, false
	}
	return addSaturated(m.leases[0].since, m.s.ProbeTimeout), true
}

// allow admits a call, and says as whom and why, or gives the rule that refuses it.
func (m *tool) allow(now time.Duration) (id identity, by admission, refused Rule) {
	id.began = now
	now = m.touch(now)
	id.opens = uint32(m.opens)
	switch {
	case m.forced == Open:
		return id, 0, T31
	case m.forced == Closed:
		return id, byForce, ""
	case m.state == Open && now < m.until():
		return id, 0, T4
	case m.state == Open && m.s.Probing.Skip:
		m.commit(Closed, now, now, T34)
		return id, unproven, ""
	case m.state == Open:
		m.commit(HalfOpen, now, now, T5)
		id.probe = m.probe(now)
		return id, asProbe, ""
	case m.state == HalfOpen && !m.room():
		return id, 0, T6
	case m.state == HalfOpen:
		id.probe = m.probe(now)
		return id, asFurtherProbe, ""
	case m.ramping && m.held(now):
		return id, 0, T26
	}
	return id, plainly, ""
}

// probe grants a slot, and gives the probe's number.
func (m *tool) probe(now time.Duration) uint32 {
	m.note(now)
	m.probes++
	number := uint32((m.probes-1)%math.MaxUint32) + 1
	m.leases = append(m.leases, lease{number, now})
	return number
}

// room says whether a further probe may go.
func (m *tool) room() bool {
	p := &m.s.Probing
	granted := m.tested.calls + len(m.leases)
	return len(m.leases) < p.atOnce() && (p.InAll == 0 || granted < p.InAll) && (p.FailureRate == 0 || granted < p.needed())
}

// held says whether the ramp holds a call back: it admits the share that it has
// come to, evenly spread.
func (m *tool) held(now time.Duration) bool {
	p := &m.s.Probing
	since := now - m.closed
	if since >= p.Ramp {
		m.ramping, m.news = false, true
		return false
	}
	m.note(now)
	m.credit += p.RampFrom + float64((1-p.RampFrom)*(float64(since)/float64(p.Ramp)))
	if m.credit < 1 {
		return true
	}
	m.credit--
	return false
}

// until is when the cooldown ends.
func (m *tool) until() time.Duration {
	return max(addSaturated(m.lastFailure, m.cooldown), m.notBefore)
}

// refusal is what calls are told in Open and HalfOpen, and before when.
func (m *tool) refusal() refusedTo {
	switch {
	case m.forced == Open:
		return refusedTo{Refusal{Rule: T31}, math.MaxInt64}
	case m.forced != 0 || m.state == Closed || m.state == HalfOpen && m.room():
		return refusedTo{}
	case m.state == Open:
		return refusedTo{Refusal{Rule: T4, Until: m.until(), Known: true}, m.until()}
	}
	first, ok := m.leaseEnd()
	if !ok {
		return refusedTo{Refusal{Rule: T6}, math.MaxInt64}
	}
	c := m.copy()
	at := first
	for c.touch(at); c.state == HalfOpen && !c.room(); c.touch(at) { // as if no probe that is out came back
		at, _ = c.leaseEnd()
	}
	if c.state == Open {
		at = c.until()
	}
	return refusedTo{Refusal{Rule: T6, Until: at, Known: true}, first}
}

// result takes the result of the call id, or an anonymous one.
func (m *tool) result(now time.Duration, e Ending, id *identity) Verdict {
	if m.plain && e.OK {
		return m.well(now)
	}
	now = m.touch(now) // T12: a probe whose lease ran out is a stale result from here on
	ok, nothing := m.taken(e)
	switch {
	case m.forced == Open:
		return Verdict{Rule: T31}
	case m.forced == Closed:
		return Verdict{Rule: T32}
	case nothing != "":
		return m.passed(now, id, nothing)
	}
	slow := id != nil && m.s.Trip.SlowerThan > 0 && now-id.began > m.s.Trip.SlowerThan
	failed := !ok || slow && m.s.Trip.SlowFails
	switch m.state {
	case Open:
		return m.late(now, failed, e)
	case HalfOpen:
		return m.probed(now, failed, slow, e, id)
	}
	if m.s.IgnoreStale && id != nil && id.opens != uint32(m.opens) {
		return Verdict{Rule: T13}
	}
	return m.counted(now, failed, slow, e)
}

// taken is what a result counts as (T20), or the rule by which it counts as nothing.
func (m *tool) taken(e Ending) (ok bool, nothing Rule) {
	if e.OK {
		return true, ""
	}
	switch take := m.s.Counts.Of(e.Kind); {
	case take == AsSuccess:
		return true, ""
	case e.Kind == Cancelled && take != AsFailure:
		return false, T16
	case take == AsNothing:
		return false, T20
	}
	return false, ""
}

// passed takes a result that counts as nothing: a probe's slot is free again,
// unless it was cancelled and its lease is to run on.
func (m *tool) passed(now time.Duration, id *identity, rule Rule) Verdict {
	if m.state != HalfOpen || len(m.leases) == 0 || rule == T16 && !m.s.Probing.Release || !m.retire(id) {
		return Verdict{Rule: rule}
	}
	m.note(now)
	if rule == T16 {
		rule = T25
	}
	return Verdict{Rule: rule, Applied: true}
}

// late takes a result in Open (T10, T11).
func (m *tool) late(now time.Duration, failed bool, e Ending) Verdict {
	switch {
	case !failed:
		return Verdict{Rule: T10}
	case m.s.Cooldown.LateKeep:
		return Verdict{Rule: T30}
	}
	m.fail(now, e)
	return Verdict{Rule: T11, Applied: true}
}

// probed takes a result in HalfOpen (T8, T9, T13, T24).
func (m *tool) probed(now time.Duration, failed, slow bool, e Ending, id *identity) Verdict {
	if !m.retire(id) {
		return Verdict{Rule: T13}
	}
	m.note(now)
	m.tested.count(failed, slow)
	if failed {
		m.fail(now, e)
	}
	switch to := m.verdict(); to {
	case Closed:
		m.commit(Closed, now, now, T8)
		return Verdict{Rule: T8, Applied: true}
	case Open:
		m.commit(Open, now, now, T9)
		return Verdict{Rule: T9, Applied: true}
	}
	return Verdict{Rule: T24, Applied: true}
}

// retire takes a probe's lease back, and says whether it was one. An anonymous
// result is taken for that of the oldest probe in flight, if there is one.
func (m *tool) retire(id *identity) bool {
	i := 0
	if id != nil {
		i = slices.IndexFunc(m.leases, func(l lease) bool { return l.probe == id.probe })
	}
	if i >= 0 && i < len(m.leases) {
		m.leases = slices.Delete(m.leases, i, i+1)
	}
	return i >= 0
}

// verdict is the state that the probes so far lead to.
func (m *tool) verdict() State {
	p, t := &m.s.Probing, &m.tested
	switch {
	case p.FailureRate == 0 && t.failures > 0:
		return Open
	case t.calls < p.needed():
		return HalfOpen
	case p.FailureRate > 0 && (t.rate(t.failures) >= p.FailureRate || p.SlowRate > 0 && t.rate(t.slow) >= p.SlowRate):
		return Open
	}
	return Closed
}

// counted takes a result in Closed (T2, T3, T21, T22).
func (m *tool) counted(now time.Duration, failed, slow bool, e Ending) Verdict {
	t := &m.s.Trip
	v := Verdict{Rule: T2, Applied: !t.KeepsCount}
	switch {
	case failed:
		m.fail(now, e)
		v = Verdict{Rule: T3, Applied: true}
	case !t.KeepsCount:
		m.clear(now)
	}
	opens := Rule("")
	if m.window != nil {
		opens = m.lookBack(now, failed, slow)
		v = Verdict{Rule: T21, Applied: true}
	}
	if n := m.s.FailureThreshold; n > 0 && failed && m.failures >= n {
		opens = T3
	}
	if opens != "" {
		m.commit(Open, now, now, opens)
	}
	return v
}

// lookBack counts a result in the window, and gives the rule by which what that
// holds opens the breaker, or none.
func (m *tool) lookBack(now time.Duration, failed, slow bool) Rule {
	m.changed = now
	w := m.window
	w.add(now, failed, slow)
	if w.sum.failures|w.sum.slow == 0 {
		return ""
	}
	return m.s.Trip.rule(w.sum)
}

// well takes a success while it is plain.
func (m *tool) well(now time.Duration) Verdict {
	now = max(m.changed, now)
	if opens := m.lookBack(now, false, false); opens != "" {
		m.commit(Open, now, now, opens)
	}
	return Verdict{Rule: T21, Applied: true}
}

func (m *tool) reset(now time.Duration) {
	now = m.touch(now)
	m.forced, m.news = 0, true
	if m.state != Closed {
		m.commit(Closed, now, now, T15)
	}
	m.clear(now)
	m.streak, m.ramping = 0, false
	if m.window != nil && m.window.sum.calls > 0 {
		m.note(now)
		m.window.clear()
	}
}

func (m *tool) force(now time.Duration, to State) {
	now = m.touch(now)
	m.forced, m.news = to, true
	switch {
	case to == m.state:
	case to == Open:
		m.commit(Open, now, now, T31)
	default:
		m.commit(Closed, now, now, T32)
	}
}

func (m *tool) configure(now time.Duration, s ToolSettings) {
	now = m.touch(now)
	if s.Trip.Window != m.s.Trip.Window {
		m.window = newWindow(s.Trip.Window)
	}
	m.s = s
	m.cooldown = s.Cooldown.length(s.RecoveryDuration, m.streak, m.opens)
	m.ramping = m.ramping && s.Probing.Ramp > 0
	m.note(now)
	if to := m.verdict(); m.state == HalfOpen && to != HalfOpen {
		m.commit(to, now, now, T33)
	}
}

// note says that something changed at now.
func (m *tool) note(now time.Duration) { m.changed, m.news = now, true }

// fail counts a failure.
func (m *tool) fail(now time.Duration, e Ending) {
	if forget := m.s.Trip.ForgetAfter; forget > 0 && m.state == Closed && now-m.lastFailure > forget {
		m.failures = 0
	}
	m.note(now)
	m.lastFailure = now
	m.failures++
	if c := &m.s.Cooldown; c.RetryAfter && e.RetryAfter > 0 {
		wait := e.RetryAfter
		if c.Longest > 0 {
			wait = min(wait, c.Longest)
		}
		m.notBefore = max(m.notBefore, addSaturated(now, wait))
	}
}

// clear zeroes the count of failures.
func (m *tool) clear(now time.Duration) {
	if m.failures > 0 {
		m.note(now)
		m.failures, m.notBefore = 0, 0
	}
}

// commit is the one place where the state changes, and with it all that goes
// with the new state. effective is when the change took effect.
func (m *tool) commit(to State, now, effective time.Duration, rule Rule) {
	from := m.state
	t := Transition{From: from, To: to, At: now, Effective: effective, Rule: rule, Failures: m.failures}
	m.note(now)
	m.state, m.leases, m.tested, m.ramping = to, m.leases[:0], tally{}, false
	switch to {
	case Open:
		if from == Closed && effective-m.closed >= m.s.Cooldown.Forget {
			m.streak = 0
		}
		m.streak++
		m.opens++
		m.lastFailure = effective
		m.cooldown = m.s.Cooldown.length(m.s.RecoveryDuration, m.streak, m.opens)
		t.Until = m.until()
	case Closed:
		m.failures, m.notBefore, m.closed = 0, 0, effective
		m.ramping, m.credit = m.s.Probing.Ramp > 0 && rule != T32, 0
		if m.window != nil {
			m.window.clear()
		}
	}
	m.emit(t)
}

// addSaturated is a+b, or the last instant there is.
func addSaturated(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
