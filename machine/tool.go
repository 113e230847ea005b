package machine

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// ToolSettings configure a [ToolBreaker].
type ToolSettings struct {
	FailureThreshold int           // failures in a row that open it (T3); 0: it never opens, and still counts
	RecoveryDuration time.Duration // the cooldown: how long it stays open after the last failure (T4, T5)
	ProbeTimeout     time.Duration // the probe's lease (T7); 0: none, and a lost probe wedges it for good
	IgnoreStale      bool          // in Closed, ignore results of calls admitted before it last opened (T13)
}

// DefaultToolSettings are 3 failures, a cooldown of 30 s, a lease of 30 s, and
// stale results that count.
func DefaultToolSettings() ToolSettings {
	return ToolSettings{FailureThreshold: 3, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
}

// Validate says what is wrong with the settings, if anything is.
func (s ToolSettings) Validate() error {
	switch {
	case s.FailureThreshold < 0:
		return fmt.Errorf("failure_threshold is %d; it must not be negative", s.FailureThreshold)
	case s.RecoveryDuration < 0:
		return fmt.Errorf("recovery_duration is %v; it must not be negative", s.RecoveryDuration)
	case s.ProbeTimeout < 0:
		return fmt.Errorf("probe_timeout is %v; it must not be negative", s.ProbeTimeout)
	}
	return nil
}

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
type ToolBreaker struct {
	mu      sync.Mutex
	m       tool
	out     outbox
	refusal *Refusal // the last one given, again while it is still true
}

// NewToolBreaker makes a closed breaker, or says what is wrong with s.
func NewToolBreaker(s ToolSettings, h Hooks) (*ToolBreaker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &ToolBreaker{out: outbox{hooks: h}}
	b.m = tool{s: s, state: Closed, emit: b.out.transition}
	return b, nil
}

// Allow asks for a call at now. It gives a permit, through which the call must
// report how it ended (T1, T5), or a [*Refusal] (T4, T6). Use
// [ToolBreaker.WouldAllow] to look without asking: Allow can hand out the one
// probe of a half-open period.
func (b *ToolBreaker) Allow(now time.Duration) (Permit, error) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	a := b.m.allow(now)
	if !a.admitted {
		return Permit{}, b.refuse(a)
	}
	return Permit{b: b, rule: a.rule, id: identity{opens: b.m.opens, probe: a.probe}}, nil
}

func (b *ToolBreaker) refuse(a answer) *Refusal {
	if r := b.refusal; r == nil || r.Rule != a.rule || r.Until != a.until || r.Known != a.known {
		b.refusal = &Refusal{Rule: a.rule, Until: a.until, Known: a.known}
	}
	return b.refusal
}

// WouldAllow says whether Allow would admit a call at now, and changes nothing (T14).
func (b *ToolBreaker) WouldAllow(now time.Duration) bool {
	m := b.view()
	return m.allow(now).admitted
}

// Success reports, without a permit, a call that ended well: the anonymous
// form. In HalfOpen the result is taken for the probe's, in Closed it always
// counts (T13). Prefer [Permit.Success].
func (b *ToolBreaker) Success(now time.Duration) Verdict { return b.report(now, true, nil) }

// Failure reports, without a permit, a call that failed; see [ToolBreaker.Success].
func (b *ToolBreaker) Failure(now time.Duration) Verdict { return b.report(now, false, nil) }

// Reset closes the breaker, zeroes its count and takes the probe's slot back
// (T15), after T7 if that is due.
func (b *ToolBreaker) Reset(now time.Duration) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	b.m.reset(now)
}

// Settle applies T7 if it is due at now, and nothing else. Any other operation
// does so by itself; a recorder that stops wants it at the end.
func (b *ToolBreaker) Settle(now time.Duration) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	b.m.touch(now)
}

// ToolSnapshot is the state of a [ToolBreaker] at one instant, T7 applied.
type ToolSnapshot struct {
	State               State
	ConsecutiveFailures int
	LastFailure         time.Duration // meaningful in Open: when the cooldown began
	ProbeStarted        time.Duration // meaningful in HalfOpen: when the lease began
}

// Snapshot reads the state as it is at now, and changes nothing.
func (b *ToolBreaker) Snapshot(now time.Duration) ToolSnapshot {
	m := b.view()
	m.touch(now)
	return ToolSnapshot{m.state, m.failures, m.lastFailure, m.probeStarted}
}

// Deadline is when the breaker could next change by itself, as things are at
// now: the end of the cooldown, from which on a call would be the probe, or of
// the lease. It has none in Closed, and in HalfOpen without a lease.
func (b *ToolBreaker) Deadline(now time.Duration) (at time.Duration, ok bool) {
	m := b.view()
	m.touch(now)
	switch {
	case m.state == Open:
		return addSaturated(m.lastFailure, m.s.RecoveryDuration), true
	case m.state == HalfOpen && m.s.ProbeTimeout > 0:
		return addSaturated(m.probeStarted, m.s.ProbeTimeout), true
	}
	return 0, false
}

// view is a copy of the machine to ask questions of.
func (b *ToolBreaker) view() tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.m
	m.emit = func(Transition) {}
	return m
}

func (b *ToolBreaker) report(now time.Duration, ok bool, p *Permit) Verdict {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	if p == nil {
		return b.m.result(now, ok, nil)
	}
	if p.done {
		return Verdict{Repeated: true}
	}
	p.done = true
	return b.m.result(now, ok, &p.id)
}

// Permit is one admitted call. It reports how the call ended, at most once, and
// must not be copied after that. A permit that never reports is a vanished
// call: if it was the probe, its lease takes care of it (T16, T7).
type Permit struct {
	_    noCopy
	b    *ToolBreaker
	rule Rule
	id   identity
	done bool
}

// identity is what the machine needs to know of the call behind a result.
type identity struct {
	opens uint64 // how often the breaker had opened when the call was admitted
	probe uint64 // its number as a probe; 0: not one
}

// Probe says whether this call is the probe (T5).
func (p *Permit) Probe() bool { return p.id.probe != 0 }

// Rule is why the call was admitted: T1 or T5.
func (p *Permit) Rule() Rule { return p.rule }

// Success reports that the call ended well. A second report, and one through
// the permit of a refused call, does nothing and says Repeated.
func (p *Permit) Success(now time.Duration) Verdict { return p.report(now, true) }

// Failure reports that the call failed, in whatever way; see [Permit.Success].
func (p *Permit) Failure(now time.Duration) Verdict { return p.report(now, false) }

func (p *Permit) report(now time.Duration, ok bool) Verdict {
	if p.b == nil {
		return Verdict{Repeated: true}
	}
	return p.b.report(now, ok, p)
}

// Cancel gives the permit up: the caller no longer wanted the answer, which
// says nothing of the tool (T16). If it was the probe its lease runs on (T7).
func (p *Permit) Cancel() Verdict {
	if p.b == nil {
		return Verdict{Repeated: true}
	}
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	if p.done {
		return Verdict{Repeated: true}
	}
	p.done = true
	return Verdict{Rule: T16}
}

// tool is the machine itself: a value, without a lock, that knows the rules.
type tool struct {
	s            ToolSettings
	emit         func(Transition)
	now          time.Duration // the latest instant seen
	state        State
	failures     int           // consecutive_failures
	lastFailure  time.Duration // last_failure_time, while open
	probeStarted time.Duration // probe_started_at, while half-open
	probe        uint64        // the probe in flight, 0: the slot is clear
	probes       uint64        // probes granted so far
	opens        uint64        // transitions to Open so far
}

// answer is what the gate says.
type answer struct {
	admitted bool
	rule     Rule
	probe    uint64        // of an admitted probe
	until    time.Duration // of a refused call, if known
	known    bool
}

// touch moves the clock and applies T7 if it is due: before anything else,
// whenever the machine is touched.
func (m *tool) touch(now time.Duration) {
	m.now = max(m.now, now)
	if m.state == HalfOpen && m.s.ProbeTimeout > 0 && m.now-m.probeStarted >= m.s.ProbeTimeout {
		m.commit(Open, m.probeStarted+m.s.ProbeTimeout, T7)
	}
}

func (m *tool) allow(now time.Duration) answer {
	m.touch(now)
	switch m.state {
	case Open:
		if m.now-m.lastFailure < m.s.RecoveryDuration {
			return answer{rule: T4, until: addSaturated(m.lastFailure, m.s.RecoveryDuration), known: true}
		}
		m.commit(HalfOpen, m.now, T5)
		return answer{admitted: true, rule: T5, probe: m.probe}
	case HalfOpen:
		if m.s.ProbeTimeout == 0 {
			return answer{rule: T6}
		}
		leaseEnd := addSaturated(m.probeStarted, m.s.ProbeTimeout)
		return answer{rule: T6, until: addSaturated(leaseEnd, m.s.RecoveryDuration), known: true}
	default:
		return answer{admitted: true, rule: T1}
	}
}

// result takes the result of the call id, or an anonymous one.
func (m *tool) result(now time.Duration, ok bool, id *identity) Verdict {
	m.touch(now) // T12: the probe whose lease ran out is a stale result from here on
	switch m.state {
	case Open:
		if ok {
			return Verdict{Rule: T10}
		}
		m.failures++
		m.lastFailure = m.now
		return Verdict{Rule: T11, Applied: true}
	case HalfOpen:
		if id != nil && id.probe != m.probe {
			return Verdict{Rule: T13}
		}
		if ok {
			m.commit(Closed, m.now, T8)
			return Verdict{Rule: T8, Applied: true}
		}
		m.failures++
		m.commit(Open, m.now, T9)
		return Verdict{Rule: T9, Applied: true}
	default:
		if m.s.IgnoreStale && id != nil && id.opens != m.opens {
			return Verdict{Rule: T13}
		}
		if ok {
			m.failures = 0
			return Verdict{Rule: T2, Applied: true}
		}
		m.failures++
		if n := m.s.FailureThreshold; n > 0 && m.failures >= n {
			m.commit(Open, m.now, T3)
		}
		return Verdict{Rule: T3, Applied: true}
	}
}

func (m *tool) reset(now time.Duration) {
	m.touch(now)
	if m.state != Closed {
		m.commit(Closed, m.now, T15)
	}
	m.failures = 0
}

// commit is the one place where the state changes, and with it all that goes
// with the new state. effective is when the change took effect.
func (m *tool) commit(to State, effective time.Duration, rule Rule) {
	m.emit(Transition{From: m.state, To: to, At: m.now, Effective: effective, Rule: rule, Failures: m.failures})
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
