package machine

import (
	"sync"
	"sync/atomic"
	"time"
)

// Refusal is the soft error of a refused call (H6): a value to read, after
// which the run goes on. It is never changed once given.
type Refusal struct {
	Rule Rule // T4 or T6; if set to more, T26 or T31 too
	// Until is when, as things stand, a call may next be admitted: the end of
	// the cooldown, in HalfOpen of the one that follows the lease. Where there is
	// no such instant, as without a lease, Known is false.
	Until time.Duration
	Known bool
}

// Error is the same text for every refusal (H6).
func (*Refusal) Error() string { return "tool temporarily unavailable: circuit breaker open" }

// ToolBreaker guards one tool: Closed, Open, HalfOpen. Use [NewToolBreaker].
//
// While it is closed, and while it surely refuses, asking takes no lock and
// writes nothing shared; nor does reporting a success that changes nothing.
type ToolBreaker struct {
	calm     atomic.Uint64             // what can be told without the lock
	refusing atomic.Pointer[refusedTo] // the refusal that holds, once one was given; else nil
	mu       sync.Mutex
	m        tool
	out      outbox
}

// While every call is admitted calm is twice how often the breaker has opened,
// plus 2, plus 1 if a success would change nothing; else 0.
const calmSuccess = 1

func calmAt(opens uint32) uint64 { return 2*uint64(opens) + 2 }

func opensAt(calm uint64) uint32 { return uint32(calm/2 - 1) }

// refusedTo is a refusal that every call before an instant gets.
type refusedTo struct {
	Refusal
	before time.Duration
}

// ramped is what calls are told that the ramp holds back: who comes next may be
// let through.
var ramped = &Refusal{Rule: T26}

// NewToolBreaker makes a closed breaker, or says what is wrong with s.
func NewToolBreaker(s ToolSettings, h Hooks) (*ToolBreaker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return newToolBreaker(s, h), nil
}

func newToolBreaker(s ToolSettings, h Hooks) *ToolBreaker {
	b := &ToolBreaker{out: outbox{hooks: h}}
	b.m = tool{s: s, state: Closed, emit: b.out.transition, window: newWindow(s.Trip.Window)}
	b.publish()
	return b
}

// Allow asks for a call at now. It gives a permit, through which the call must
// report how it ended (T1, T5), or a [*Refusal] (T4, T6). Use
// [ToolBreaker.WouldAllow] to look without asking: Allow can hand out the one
// probe of a half-open period.
func (b *ToolBreaker) Allow(now time.Duration) (Permit, error) {
	if c := b.calm.Load(); c != 0 {
		return Permit{b: b, id: identity{opens: opensAt(c), began: now}, by: admission(^c&calmSuccess) * locked}, nil
	}
	if r := b.refusing.Load(); r != nil && now < r.before {
		return Permit{}, &r.Refusal
	}
	return b.ask(now)
}

func (b *ToolBreaker) ask(now time.Duration) (Permit, error) {
	b.mu.Lock()
	defer b.unlock()
	id, by, refused := b.m.allow(now)
	if refused == "" {
		return Permit{b: b, id: id, by: by | locked}, nil
	}
	if refused == T26 {
		return Permit{}, ramped
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
	if !b.m.news {
		b.mu.Unlock()
		return
	}
	b.m.news = false
	b.publish()
	b.out.unlock(&b.mu)
}

// publish makes calm and refusing say what the machine says. A reader may see
// one of them changed and the other not yet: what it reads from either was true
// at some instant of this step, and the step has not returned.
func (b *ToolBreaker) publish() {
	var c uint64
	m := &b.m
	t := &m.s.Trip
	simple := m.state == Closed && m.forced == 0 && m.failures == 0 && t.SlowerThan == 0
	m.plain = simple && m.window != nil && !m.s.IgnoreStale
	if m.state == Closed && m.forced == 0 && !m.ramping {
		c = calmAt(uint32(m.opens))
		if simple && m.window == nil && !t.KeepsCount {
			c |= calmSuccess
		}
	}
	if b.calm.Load() != c {
		b.calm.Store(c)
	}
	if r := b.refusing.Load(); r != nil && (*r != b.m.refusal() || b.m.changed >= r.before) {
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
	_, _, refused := m.allow(now)
	return refused == ""
}

// Success reports, without a permit, a call that ended well: the anonymous
// form. In HalfOpen the result is taken for a probe's, in Closed it always
// counts (T13). Prefer [Permit.Success].
func (b *ToolBreaker) Success(now time.Duration) Verdict { return b.End(now, Ending{OK: true}) }

// Failure reports, without a permit, a call that failed; see [ToolBreaker.Success].
func (b *ToolBreaker) Failure(now time.Duration) Verdict { return b.End(now, Ending{}) }

// End reports, without a permit, how a call ended; see [ToolBreaker.Success].
func (b *ToolBreaker) End(now time.Duration, e Ending) Verdict {
	if e.OK && b.calm.Load()&calmSuccess != 0 {
		return Verdict{Rule: T2, Applied: true}
	}
	return b.report(now, e, nil)
}

// report takes the result of the call id, or an anonymous one.
func (b *ToolBreaker) report(now time.Duration, e Ending, id *identity) Verdict {
	b.mu.Lock()
	defer b.unlock()
	return b.m.result(now, e, id)
}

// Reset closes the breaker, zeroes its count and takes every probe's slot back
// (T15), after T7 if that is due. What an operator forced is over.
func (b *ToolBreaker) Reset(now time.Duration) {
	b.mu.Lock()
	defer b.unlock()
	b.m.reset(now)
}

// ForceOpen opens the breaker and keeps it so until Reset, whatever is reported
// (T31).
func (b *ToolBreaker) ForceOpen(now time.Duration) { b.force(now, Open) }

// ForceClosed closes the breaker and keeps it so until Reset, whatever is
// reported (T32).
func (b *ToolBreaker) ForceClosed(now time.Duration) { b.force(now, Closed) }

func (b *ToolBreaker) force(now time.Duration, to State) {
	b.mu.Lock()
	defer b.unlock()
	b.m.force(now, to)
}

// Configure changes the settings while the breaker runs (T33), or says what is
// wrong with s. The state, the counts, the probes that are out and the instants
// at which a cooldown or a lease began are kept, and so is what the window holds
// if the new one is of the same shape; how long they last is by s from now on.
// If the probes that came back are enough by s, it opens or closes at once.
func (b *ToolBreaker) Configure(now time.Duration, s ToolSettings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.unlock()
	b.m.configure(now, s)
	return nil
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
	ProbeStarted        time.Duration // meaningful in HalfOpen: when the oldest lease began
	Openings            uint64        // transitions to Open so far
	Probes              uint64        // probes granted so far

	Forced         bool // an operator keeps it as it is (T31, T32)
	ProbesInFlight int
	ProbeSuccesses int // of this half-open period (T24)
	ProbeFailures  int
	WindowCalls    int // in Closed: what the window holds (T21)
	WindowFailures int
	WindowSlow     int
}

// Snapshot reads the state as it is at now, and changes nothing.
func (b *ToolBreaker) Snapshot(now time.Duration) ToolSnapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.m.copy()
	now = m.touch(now)
	s := ToolSnapshot{State: m.state, ConsecutiveFailures: m.failures, Openings: m.opens, Probes: m.probes,
		Forced: m.forced != 0, ProbesInFlight: len(m.leases), ProbeSuccesses: m.tested.calls - m.tested.failures, ProbeFailures: m.tested.failures}
	if m.state == Open {
		s.LastFailure = m.lastFailure
	}
	if len(m.leases) > 0 {
		s.ProbeStarted = m.leases[0].since
	}
	if b.m.window != nil && m.state == Closed && b.m.state == Closed {
		held := b.m.window.seen(now)
		s.WindowCalls, s.WindowFailures, s.WindowSlow = held.calls, held.failures, held.slow
	}
	return s
}

// Deadline is when the breaker could next change by itself, as things are at
// now: the end of the cooldown, from which on a call would be the probe, or of
// the oldest lease. It has none in Closed, in HalfOpen without a lease, and
// while an operator keeps it open.
func (b *ToolBreaker) Deadline(now time.Duration) (at time.Duration, ok bool) {
	m := b.view()
	m.touch(now)
	switch {
	case m.forced != 0 || m.state == Closed:
		return 0, false
	case m.state == Open:
		return m.until(), true
	}
	return m.leaseEnd()
}

// view is a copy of the machine to ask questions of.
func (b *ToolBreaker) view() tool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.m.copy()
}

// Permit is one admitted call. It reports how the call ended, at most once, and
// must not be copied after that. A permit that never reports is a vanished
// call: if it was the probe, its lease takes care of it (T16, T7).
type Permit struct { // of four words and four fields, which are passed in registers
	b    *ToolBreaker
	id   identity
	done atomic.Bool
	by   admission
}

// identity is what the machine needs to know of the call behind a result. Its
// numbers begin again after 4 thousand million.
type identity struct {
	opens uint32        // how often the breaker had opened when the call was admitted
	probe uint32        // its number as a probe; 0: not one
	began time.Duration // when it was admitted
}

// admission is why a call was admitted, in a byte with two flags.
type admission uint8

const (
	locked admission = 0x40 // the permit always reports under the lock
	over   admission = 0x80 // then: it has
)

const (
	plainly admission = iota
	asProbe
	asFurtherProbe
	byForce
	unproven
)

var admissions = [...]Rule{plainly: T1, asProbe: T5, asFurtherProbe: T23, byForce: T32, unproven: T34}

// Probe says whether this call is the probe (T5), or one of them (T23).
func (p *Permit) Probe() bool { return p.id.probe != 0 }

// Rule is why the call was admitted: T1 or T5; if set to more, T23, T32 or T34 too.
func (p *Permit) Rule() Rule { return admissions[p.by&^(locked|over)] }

// Success reports that the call ended well. A second report, and one through
// the permit of a refused call, does nothing and says Repeated.
func (p *Permit) Success(now time.Duration) Verdict {
	if p.b != nil && p.by&locked == 0 && p.b.calm.Load() == calmAt(p.id.opens)|calmSuccess && p.done.CompareAndSwap(false, true) {
		return Verdict{Rule: T2, Applied: true}
	}
	return p.report(now, Ending{OK: true})
}

// Failure reports that the call failed; see [Permit.Success].
func (p *Permit) Failure(now time.Duration) Verdict { return p.report(now, Ending{}) }

// Cancel gives the permit up: the caller no longer wanted the answer, which
// says nothing of the tool (T16). If it was the probe its lease runs on (T7),
// unless its slot is to be given back (T25).
func (p *Permit) Cancel(now time.Duration) Verdict { return p.report(now, Ending{Kind: Cancelled}) }

// End reports how the call ended; see [Permit.Success].
func (p *Permit) End(now time.Duration, e Ending) Verdict {
	if e.OK {
		return p.Success(now)
	}
	return p.report(now, e)
}

// report reports once. Whoever is told Repeated has waited for the first
// report's step to end.
func (p *Permit) report(now time.Duration, e Ending) Verdict {
	if p.b == nil {
		return Verdict{Repeated: true}
	}
	p.b.mu.Lock()
	v := Verdict{Repeated: true}
	if p.first() {
		v = p.b.m.result(now, e, &p.id)
	}
	p.b.unlock()
	return v
}

// first says whether the permit reports for the first time.
func (p *Permit) first() bool {
	if p.by&locked == 0 {
		return !p.done.Swap(true)
	}
	first := p.by&over == 0
	p.by |= over
	return first
}
