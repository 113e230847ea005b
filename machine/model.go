package machine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Exhausted is the error of a turn that nobody is left to serve (M3): the run
// fails honestly rather than go back to the primary, which is known to be bad.
// It is never changed once given.
type Exhausted struct {
	// Until is when, as things stand, somebody serves a turn again: the end of the
	// cooldown, at or after which the first turn probes the primary, or of a
	// backup's own (M24).
	Until time.Duration
	Wait  bool // the turn is to wait until then, and to [ModelBreaker.Resume] (M22)
}

// Rule is why the turn is not served: M3 or M22.
func (x *Exhausted) Rule() Rule {
	if x.Wait {
		return M22
	}
	return M3
}

// Error is the same text for every turn that is not served.
func (*Exhausted) Error() string {
	return "fallback exhausted: every backup has spent its failure budget"
}

// ModelBreaker routes turns to a primary or its backups: Primary, Fallback,
// Recovering. Use [NewModelBreaker].
type ModelBreaker struct {
	mu        sync.Mutex
	m         model
	out       outbox
	exhausted *Exhausted // the last one given, again while it is still true
}

// NewModelBreaker makes a breaker in Primary, or says what is wrong with s.
func NewModelBreaker(s ModelSettings, h Hooks) (*ModelBreaker, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := &ModelBreaker{out: outbox{hooks: h}}
	b.m = model{s: s, state: Primary, out: &b.out}
	for _, e := range s.Chain {
		b.m.chain = append(b.m.chain, entry{name: e.Name, available: true, budget: max(1, e.MaxFailCount)})
	}
	return b, nil
}

// Begin asks, at the top of a turn, who is to serve it (M1 to M6). It gives a
// turn, which must report how it ended, or [*Exhausted] (M3, M22).
func (b *ModelBreaker) Begin(now time.Duration) (Turn, error) { return b.Resume(now, 0) }

// Resume asks again for a turn that has waited for so long, as M22 told it. It
// is told to wait on only if that makes no more than [ModelSettings.Wait] in all.
func (b *ModelBreaker) Resume(now, waited time.Duration) (Turn, error) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	if id, ok := b.m.begin(now, waited); ok {
		return Turn{b: b, model: b.m.name(id.entry), id: id}, nil
	} else if x := (Exhausted{Until: b.m.next(), Wait: id.rule == M22}); b.exhausted == nil || *b.exhausted != x {
		b.exhausted = &x
	}
	return Turn{}, b.exhausted
}

// WouldServe names the model that a turn at now would get, false if there is
// none (M3, M22), and changes nothing.
func (b *ModelBreaker) WouldServe(now time.Duration) (model string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.m // to ask questions of
	if m.s.EntryCooldown > 0 {
		m.out, m.chain = new(outbox), slices.Clone(m.chain)
	}
	m.touch(now)
	_, entry := m.decide(0)
	return m.name(entry), entry != nobody
}

// Success reports, without a turn, that one ended well: the anonymous form. It
// counts as if the model that serves now had served it (M17). Prefer [Turn.Success].
func (b *ModelBreaker) Success(now time.Duration) Verdict {
	return b.report(now, Ending{OK: true}, nil)
}

// Failure reports, without a turn, that one failed; see [ModelBreaker.Success].
func (b *ModelBreaker) Failure(now time.Duration, k Kind) Verdict {
	return b.report(now, Ending{Kind: k}, nil)
}

// End reports, without a turn, how one ended; see [ModelBreaker.Success].
func (b *ModelBreaker) End(now time.Duration, e Ending) Verdict { return b.report(now, e, nil) }

// SetAvailable is the kill switch of one backup (M15). It leaves the backup's
// strikes as they are; a name that is not in the chain is an error.
func (b *ModelBreaker) SetAvailable(now time.Duration, name string, available bool) error {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	return b.m.setAvailable(now, name, available)
}

// Reset goes back to Primary and forgets everything but what SetAvailable said (M16).
func (b *ModelBreaker) Reset(now time.Duration) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	b.m.reset(now)
}

// Settle applies M24 as far as it is due at now, and nothing else. Any other
// operation does so by itself; a recorder that stops wants it at the end.
func (b *ModelBreaker) Settle(now time.Duration) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	b.m.touch(now)
}

// BackupSnapshot is one entry of the chain at one instant.
type BackupSnapshot struct {
	Name      string
	Available bool
	Attempts  int           // failed turns charged to it
	Budget    int           // failed turns that it may have
	WholeAt   time.Duration // when its budget is whole again by itself (M24), if it is spent and that is set
}

// Failed says whether turns pass it over.
func (s BackupSnapshot) Failed() bool { return !s.Available || s.Attempts >= s.Budget }

// ModelSnapshot is the state of a [ModelBreaker] at one instant.
type ModelSnapshot struct {
	State               State
	Serves              string // the model that serves by the state; empty: nobody
	ConsecutiveFailures int
	PrimarySuccesses    int
	ProbationFailures   int             // transient failures of this probation (M13)
	FallbackActivated   bool            // it tripped at least once since the last Reset
	SwitchedAt          time.Duration   // when the cooldown began; meaningful in Fallback
	Until               time.Duration   // when it ends; meaningful in Fallback
	NotBefore           time.Duration   // the latest instant that a failure of the primary named, if such are heeded (M27)
	Streak              int             // trips that no recovery came between, while a cooldown can grow (M25)
	Probes              []time.Duration // when those in flight began that have a place (M21)
	Chain               []BackupSnapshot
}

// Snapshot reads the state as it was last touched, and changes nothing. What
// depends on the time shows only when a turn acts on it: an elapsed cooldown
// (M2), and a backup that is whole again (M24).
func (b *ModelBreaker) Snapshot() ModelSnapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.m
	s := ModelSnapshot{State: m.state, Serves: m.serves(), ConsecutiveFailures: m.failures, PrimarySuccesses: m.successes, ProbationFailures: m.probation,
		FallbackActivated: m.activated, SwitchedAt: m.switchedAt, Chain: make([]BackupSnapshot, len(m.chain))}
	if m.state == Fallback {
		s.Until = m.until()
	}
	if m.s.Cooldown.RetryAfter {
		s.NotBefore = m.notBefore
	}
	if m.s.Cooldown.Growth > 1 {
		s.Streak = m.streak
	}
	for _, p := range m.probes {
		s.Probes = append(s.Probes, p.began)
	}
	for i := range m.chain {
		e := &m.chain[i]
		s.Chain[i] = BackupSnapshot{Name: e.name, Available: e.available, Attempts: e.attempts, Budget: e.budget}
		if at, ok := m.whole(e); ok {
			s.Chain[i].WholeAt = at
		}
	}
	return s
}

// Deadline is when the breaker could next change its state by itself: in Fallback
// the end of the cooldown, from which on a turn probes the primary. Otherwise it
// has none.
func (b *ModelBreaker) Deadline() (at time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m.state != Fallback {
		return 0, false
	}
	return b.m.until(), true
}

func (b *ModelBreaker) report(now time.Duration, e Ending, t *Turn) Verdict {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	if t == nil {
		return b.m.result(now, e, nil)
	}
	if t.done.Swap(true) {
		return Verdict{Repeated: true}
	}
	return b.m.result(now, e, &t.id)
}

// Turn is one turn that a model serves. It reports how it ended, at most once,
// and must not be copied after that.
type Turn struct {
	b     *ModelBreaker
	model string
	id    served
	done  atomic.Bool
}

// Model is who serves the turn.
func (t *Turn) Model() string { return t.model }

// Probe says whether the turn tests the primary's recovery (M2, M6).
func (t *Turn) Probe() bool { return t.id.rule == M2 || t.id.rule == M6 }

// Rule is why this model serves: M1, M2, M4, M5, M6, M21 or M23.
func (t *Turn) Rule() Rule { return t.id.rule }

// Success reports that the turn ended well. A second report, and one of a turn
// that nobody served, does nothing and says Repeated.
func (t *Turn) Success(now time.Duration) Verdict { return t.End(now, Ending{OK: true}) }

// Failure reports that the turn failed; see [Turn.Success].
func (t *Turn) Failure(now time.Duration, k Kind) Verdict { return t.End(now, Ending{Kind: k}) }

func (t *Turn) report(now time.Duration, e Ending) Verdict {
	if t.b == nil {
		return Verdict{Repeated: true}
	}
	return t.b.report(now, e, t)
}

// Cancel gives the turn up, which touches nothing (M14) but a probe's place, which
// is free again (M21).
func (t *Turn) Cancel(now time.Duration) Verdict { return t.End(now, Ending{Kind: Cancelled}) }

// End reports how the turn ended; see [Turn.Success].
func (t *Turn) End(now time.Duration, e Ending) Verdict { return t.report(now, e) }
