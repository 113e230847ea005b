package machine

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Refusal is the soft error of a refused call (H6): a value to read, after
// which the run goes on. It is never changed once given.
type Refusal struct {
	Rule Rule // T4 or T6
	// Until is when, as things stand, a call may next be admitted: the end of
	// the cooldown, in HalfOpen of the one that follows the lease. Without a
	// lease there is no such instant, and Known is false.
	Until time.Duration
	Known bool
}

// Error is the same text for every refusal (H6).
func (*Refusal) Error() string { return "tool temporarily unavailable: circuit breaker open" }

// ToolBreaker guards one tool: Closed, Open, HalfOpen. Use [NewToolBreaker].
//
// While it is closed with no failure counted, and while it surely refuses,
// asking and reporting a success take no lock and write nothing shared.
type ToolBreaker struct {
	calm     atomic.Uint64             // closed with no failure counted: 1 + how often it has opened; else 0
	refusing atomic.Pointer[refusedTo] // the refusal that holds, once one was given; else nil
	mu       sync.Mutex
	m        tool
	out      outbox
}

// refusedTo is a refusal that every call before an instant gets.
type refusedTo struct {
	Refusal
	before time.Duration
}

// NewToolBreaker makes a closed breaker, or says what is wrong with s.
func NewToolBreaker(s ToolSettings, h Hooks) (*ToolBreaker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return newToolBreaker(s, h), nil
}

func newToolBreaker(s ToolSettings, h Hooks) *ToolBreaker {
	b := &ToolBreaker{out: outbox{hooks: h}}
	b.m = tool{s: s, state: Closed, emit: b.out.transition}
	b.publish()
	return b
}

// Allow asks for a call at now. It gives a permit, through which the call must
// report how it ended (T1, T5), or a [*Refusal] (T4, T6). Use
// [ToolBreaker.WouldAllow] to look without asking: Allow can hand out the one
// probe of a half-open period.
func (b *ToolBreaker) Allow(now time.Duration) (Permit, error) {
	if c := b.calm.Load(); c != 0 {
		return Permit{b: b, id: identity{opens: c - 1}}, nil
	}
	if r := b.refusing.Load(); r != nil && now < r.before {
		return Permit{}, &r.Refusal
	}
	return b.ask(now)
}

func (b *ToolBreaker) ask(now time.Duration) (Permit, error) {
	b.mu.Lock()
	defer b.unlock()
	id, ok := b.m.allow(now)
	if ok {
		return Permit{b: b, id: id}, nil
	}
	r := b.refusing.Load()
	if holds := b.m.refusal(); r == nil || *r != holds {
		r = new(holds)
		b.refusing.Store(r)
	}
	return Permit{}, &r.Refusal
}

// unlock ends a step: what it came to is published before the lock is free.
func (b *ToolBreaker) unlock() {
	b.publish()
	b.out.unlock(&b.mu)
}

// publish makes calm and refusing say what the machine says. A reader may see
// one of them changed and the other not yet: what it reads from either was true
// at some instant of this step, and the step has not returned.
func (b *ToolBreaker) publish() {
	var c uint64
	if b.m.state == Closed && b.m.failures == 0 {
		c = b.m.opens + 1
	}
	if b.calm.Load() != c {
		b.calm.Store(c)
	}
	if r := b.refusing.Load(); r != nil && *r != b.m.refusal() {
		b.refusing.Store(nil)
	}
}

// WouldAllow says whether Allow would admit a call at now, and changes nothing (T14).
func (b *ToolBreaker) WouldAllow(now time.Duration) bool {
	if b.calm.Load() != 0 {
		return true
	}
	if r := b.refusing.Load(); r != nil && now < r.before {
		return false
	}
	m := b.view()
	_, ok := m.allow(now)
	return ok
}

// Success reports, without a permit, a call that ended well: the anonymous
// form. In HalfOpen the result is taken for the probe's, in Closed it always
// counts (T13). Prefer [Permit.Success].
func (b *ToolBreaker) Success(now time.Duration) Verdict {
	if b.calm.Load() != 0 {
		return Verdict{Rule: T2, Applied: true}
	}
	return b.report(now, true, nil)
}

// Failure reports, without a permit, a call that failed; see [ToolBreaker.Success].
func (b *ToolBreaker) Failure(now time.Duration) Verdict { return b.report(now, false, nil) }

// End reports, without a permit, how a call ended; see [ToolBreaker.Success].
func (b *ToolBreaker) End(now time.Duration, e Ending) Verdict {
	if !e.OK && e.Kind == Cancelled {
		return Verdict{Rule: T16}
	}
	return b.report(now, e.OK, nil)
}

// report takes the result of the call id, or an anonymous one.
func (b *ToolBreaker) report(now time.Duration, ok bool, id *identity) Verdict {
	b.mu.Lock()
	defer b.unlock()
	return b.m.result(now, ok, id)
}

// Reset closes the breaker, zeroes its count and takes the probe's slot back
// (T15), after T7 if that is due.
func (b *ToolBreaker) Reset(now time.Duration) {
	b.mu.Lock()
	defer b.unlock()
	b.m.reset(now)
}

// Settle applies T7 if it is due at now, and nothing else. Any other operation
// does so by itself; a recorder that stops wants it at the end.
func (b *ToolBreaker) Settle(now time.Duration) {
	b.mu.Lock()
	defer b.unlock()
	b.m.touch(now)
}

// ToolSnapshot is the state of a [ToolBreaker] at one instant, T7 applied.
type ToolSnapshot struct {
	State               State
	ConsecutiveFailures int
	LastFailure         time.Duration // meaningful in Open: when the cooldown began
	ProbeStarted        time.Duration // meaningful in HalfOpen: when the lease began
	Openings            uint64        // transitions to Open so far
	Probes              uint64        // probes granted so far
}

// Snapshot reads the state as it is at now, and changes nothing.
func (b *ToolBreaker) Snapshot(now time.Duration) ToolSnapshot {
	m := b.view()
	m.touch(now)
	return ToolSnapshot{m.state, m.failures, m.lastFailure, m.probeStarted, m.opens, m.probes}
}

// Deadline is when the breaker could next change by itself, as things are at
// now: the end of the cooldown, from which on a call would be the probe, or of
// the lease. It has none in Closed, and in HalfOpen without a lease.
func (b *ToolBreaker) Deadline(now time.Duration) (at time.Duration, ok bool) {
	m := b.view()
	m.touch(now)
	if m.state == Closed || m.state == HalfOpen && m.s.ProbeTimeout == 0 {
		return 0, false
	}
	return m.refusal().before, true
}

// view is a copy of the machine to ask questions of.
func (b *ToolBreaker) view() tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.m
	m.emit = func(Transition) {}
	return m
}

// Permit is one admitted call. It reports how the call ended, at most once, and
// must not be copied after that. A permit that never reports is a vanished
// call: if it was the probe, its lease takes care of it (T16, T7).
type Permit struct {
	b    *ToolBreaker
	id   identity
	done atomic.Bool
}

// identity is what the machine needs to know of the call behind a result.
type identity struct {
	opens uint64 // how often the breaker had opened when the call was admitted
	probe uint64 // its number as a probe; 0: not one
}

// Probe says whether this call is the probe (T5).
func (p *Permit) Probe() bool { return p.id.probe != 0 }

// Rule is why the call was admitted: T1 or T5.
func (p *Permit) Rule() Rule {
	if p.Probe() {
		return T5
	}
	return T1
}

// Success reports that the call ended well. A second report, and one through
// the permit of a refused call, does nothing and says Repeated.
func (p *Permit) Success(now time.Duration) Verdict {
	if p.b != nil && p.b.calm.Load() == p.id.opens+1 && p.done.CompareAndSwap(false, true) {
		return Verdict{Rule: T2, Applied: true}
	}
	return p.report(func() Verdict { return p.b.m.result(now, true, &p.id) })
}

// Failure reports that the call failed, in whatever way; see [Permit.Success].
func (p *Permit) Failure(now time.Duration) Verdict {
	return p.report(func() Verdict { return p.b.m.result(now, false, &p.id) })
}

// Cancel gives the permit up: the caller no longer wanted the answer, which
// says nothing of the tool (T16). If it was the probe its lease runs on (T7).
func (p *Permit) Cancel(now time.Duration) Verdict { return p.End(now, Ending{Kind: Cancelled}) }

// End reports how the call ended; see [Permit.Success].
func (p *Permit) End(now time.Duration, e Ending) Verdict {
	if !e.OK && e.Kind == Cancelled {
		return p.report(func() Verdict { return Verdict{Rule: T16} })
	}
	return p.report(func() Verdict { return p.b.m.result(now, e.OK, &p.id) })
}

// report reports once. Whoever is told Repeated has waited for the first
// report's step to end.
func (p *Permit) report(step func() Verdict) Verdict {
	if p.b == nil {
		return Verdict{Repeated: true}
	}
	p.b.mu.Lock()
	defer p.b.unlock()
	if p.done.Swap(true) {
		return Verdict{Repeated: true}
	}
	return step()
}

// tool is the machine itself: a value, without a lock, that knows the rules.
type tool struct {
	s            ToolSettings
	emit         func(Transition)
	changed      time.Duration // when something last changed; an earlier instant is taken for it
	state        State
	failures     int           // consecutive_failures
	lastFailure  time.Duration // last_failure_time, while open
	probeStarted time.Duration // probe_started_at, while half-open
	probe        uint64        // the probe in flight, 0: the slot is clear
	probes       uint64        // probes granted so far
	opens        uint64        // transitions to Open so far
}

// touch applies T7 if it is due: before anything else, whenever the machine is
// touched. It returns the instant that now is taken for.
func (m *tool) touch(now time.Duration) time.Duration {
	now = max(m.changed, now)
	if m.state == HalfOpen && m.s.ProbeTimeout > 0 {
		if end := addSaturated(m.probeStarted, m.s.ProbeTimeout); now >= end {
			m.commit(Open, now, end, T7)
		}
	}
	return now
}

// allow admits a call, and says as whom.
func (m *tool) allow(now time.Duration) (id identity, ok bool) {
	now = m.touch(now)
	if m.state != Closed {
		if m.state == HalfOpen || now < m.refusal().before { // T6, T4
			return identity{}, false
		}
		m.commit(HalfOpen, now, now, T5)
	}
	return identity{opens: m.opens, probe: m.probe}, true
}

// refusal is what calls are told in Open and HalfOpen, and before when.
func (m *tool) refusal() refusedTo {
	switch {
	case m.state == Open:
		until := addSaturated(m.lastFailure, m.s.RecoveryDuration)
		return refusedTo{Refusal{Rule: T4, Until: until, Known: true}, until}
	case m.state == HalfOpen && m.s.ProbeTimeout == 0:
		return refusedTo{Refusal{Rule: T6}, math.MaxInt64}
	case m.state == HalfOpen:
		leaseEnd := addSaturated(m.probeStarted, m.s.ProbeTimeout)
		return refusedTo{Refusal{Rule: T6, Until: addSaturated(leaseEnd, m.s.RecoveryDuration), Known: true}, leaseEnd}
	}
	return refusedTo{}
}

// result takes the result of the call id, or an anonymous one.
func (m *tool) result(now time.Duration, ok bool, id *identity) Verdict {
	now = m.touch(now) // T12: the probe whose lease ran out is a stale result from here on
	switch m.state {
	case Open:
		if ok {
			return Verdict{Rule: T10}
		}
		m.fail(now)
		m.lastFailure = now
		return Verdict{Rule: T11, Applied: true}
	case HalfOpen:
		if id != nil && id.probe != m.probe {
			return Verdict{Rule: T13}
		}
		if ok {
			m.commit(Closed, now, now, T8)
			return Verdict{Rule: T8, Applied: true}
		}
		m.fail(now)
		m.commit(Open, now, now, T9)
		return Verdict{Rule: T9, Applied: true}
	}
	if m.s.IgnoreStale && id != nil && id.opens != m.opens {
		return Verdict{Rule: T13}
	}
	if ok {
		m.clear(now)
		return Verdict{Rule: T2, Applied: true}
	}
	m.fail(now)
	if n := m.s.FailureThreshold; n > 0 && m.failures >= n {
		m.commit(Open, now, now, T3)
	}
	return Verdict{Rule: T3, Applied: true}
}

func (m *tool) reset(now time.Duration) {
	now = m.touch(now)
	if m.state != Closed {
		m.commit(Closed, now, now, T15)
	}
	m.clear(now)
}

// fail counts a failure.
func (m *tool) fail(now time.Duration) {
	m.changed = now
	m.failures++
}

// clear zeroes the count of failures.
func (m *tool) clear(now time.Duration) {
	if m.failures > 0 {
		m.changed = now
		m.failures = 0
	}
}

// commit is the one place where the state changes, and with it all that goes
// with the new state. effective is when the change took effect.
func (m *tool) commit(to State, now, effective time.Duration, rule Rule) {
	m.emit(Transition{From: m.state, To: to, At: now, Effective: effective, Rule: rule, Failures: m.failures})
	m.changed = now
	m.state, m.lastFailure, m.probeStarted, m.probe = to, 0, 0, 0
	switch to {
	case Open:
		m.opens++
		m.lastFailure = effective
	case HalfOpen:
		m.probes++
		m.probe = m.probes
		m.probeStarted = effective
	default:
		m.failures = 0
	}
}

// addSaturated is a+b, or the last instant there is.
func addSaturated(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
