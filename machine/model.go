package machine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Backup is one entry of a fallback chain.
type Backup struct {
	Name         string
	MaxFailCount int // failed turns until it is failed itself (M11); below 1 is taken as 1
}

// ModelSettings configure a [ModelBreaker].
type ModelSettings struct {
	Primary                 string
	Chain                   []Backup      // tried in order; empty: the primary keeps serving (M5)
	TripThreshold           int           // failed turns in a row that trip it (M10); 0 and 1: the first does
	RecoveryTimeout         time.Duration // the cooldown before the primary is probed again (M2)
	RecoverySuccessesNeeded int           // probes in a row that must succeed (M9); 0 and 1: the first does
	ProbationFailures       int           // transient failures of one probation that trip it again (M13); 0: no limit
}

// DefaultMaxFailCount is the budget of a backup that states none.
const DefaultMaxFailCount = 2

// DefaultModelSettings are 3 failed turns, a cooldown of 60 s and 2 probes, for
// the caller to name the models.
func DefaultModelSettings() ModelSettings {
	return ModelSettings{TripThreshold: 3, RecoveryTimeout: 60 * time.Second, RecoverySuccessesNeeded: 2}
}

// Validate says what is wrong with the settings, if anything is. Names must be
// given, and be unique within the chain and apart from the primary's (M15).
func (s ModelSettings) Validate() error {
	if s.Primary == "" {
		return fmt.Errorf("the primary has no name")
	}
	seen := map[string]bool{s.Primary: true}
	for _, e := range s.Chain {
		if e.Name == "" {
			return fmt.Errorf("a backup has no name")
		}
		if seen[e.Name] {
			return fmt.Errorf("%q is in the chain twice, or the primary too", e.Name)
		}
		seen[e.Name] = true
	}
	switch {
	case s.TripThreshold < 0:
		return fmt.Errorf("trip_threshold is %d; it must not be negative", s.TripThreshold)
	case s.RecoveryTimeout < 0:
		return fmt.Errorf("recovery_timeout is %v; it must not be negative", s.RecoveryTimeout)
	case s.RecoverySuccessesNeeded < 0:
		return fmt.Errorf("recovery_successes_needed is %d; it must not be negative", s.RecoverySuccessesNeeded)
	case s.ProbationFailures < 0:
		return fmt.Errorf("probation_failures is %d; it must not be negative", s.ProbationFailures)
	}
	return nil
}

// Exhausted is the error of a turn that nobody is left to serve (M3): the run
// fails honestly rather than go back to the primary, which is known to be bad.
// It is never changed once given.
type Exhausted struct {
	Until time.Duration // the end of the cooldown: the first turn at or after it probes the primary
}

// Error is the same text for every exhausted turn.
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
// turn, which must report how it ended, or [*Exhausted] (M3).
func (b *ModelBreaker) Begin(now time.Duration) (Turn, error) {
	b.mu.Lock()
	defer b.out.unlock(&b.mu)
	t, ok := b.m.begin(now)
	if !ok {
		until := addSaturated(b.m.switchedAt, b.m.s.RecoveryTimeout)
		if b.exhausted == nil || b.exhausted.Until != until {
			b.exhausted = &Exhausted{Until: until}
		}
		return Turn{}, b.exhausted
	}
	return Turn{b: b, model: b.m.name(t.entry), id: t}, nil
}

// WouldServe names the model that a turn at now would get, false if it would be
// exhausted (M3), and changes nothing.
func (b *ModelBreaker) WouldServe(now time.Duration) (model string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.m
	if m.state == Fallback && max(m.now, now)-m.switchedAt < m.s.RecoveryTimeout {
		return m.serves(), m.serves() != ""
	}
	return m.s.Primary, true
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

// BackupSnapshot is one entry of the chain at one instant.
type BackupSnapshot struct {
	Name      string
	Available bool
	Attempts  int // failed turns charged to it
	Budget    int // failed turns that it may have
}

// Failed says whether turns pass it over.
func (s BackupSnapshot) Failed() bool { return !s.Available || s.Attempts >= s.Budget }

// ModelSnapshot is the state of a [ModelBreaker] at one instant.
type ModelSnapshot struct {
	State               State
	Serves              string // the model that serves by the state; empty: nobody
	ConsecutiveFailures int
	PrimarySuccesses    int
	ProbationFailures   int           // transient failures of this probation (M13)
	FallbackActivated   bool          // it tripped at least once since the last Reset
	SwitchedAt          time.Duration // when the cooldown began; meaningful in Fallback
	Chain               []BackupSnapshot
}

// Snapshot reads the state, and changes nothing. Nothing in it depends on the
// time: an elapsed cooldown shows only when a turn acts on it (M2).
func (b *ModelBreaker) Snapshot() ModelSnapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.m
	s := ModelSnapshot{State: m.state, Serves: m.serves(), ConsecutiveFailures: m.failures, PrimarySuccesses: m.successes, ProbationFailures: m.probation,
		FallbackActivated: m.activated, SwitchedAt: m.switchedAt, Chain: make([]BackupSnapshot, len(m.chain))}
	for i, e := range m.chain {
		s.Chain[i] = BackupSnapshot{e.name, e.available, e.attempts, e.budget}
	}
	return s
}

// Deadline is when the breaker could next change by itself: in Fallback the end
// of the cooldown, from which on a turn probes the primary. Otherwise it has none.
func (b *ModelBreaker) Deadline() (at time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m.state != Fallback {
		return 0, false
	}
	return addSaturated(b.m.switchedAt, b.m.s.RecoveryTimeout), true
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

// Rule is why this model serves: M1, M2, M4, M5 or M6.
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

// Cancel gives the turn up, which touches nothing (M14).
func (t *Turn) Cancel(now time.Duration) Verdict { return t.End(now, Ending{Kind: Cancelled}) }

// End reports how the turn ended; see [Turn.Success].
func (t *Turn) End(now time.Duration, e Ending) Verdict { return t.report(now, e) }

// model is the machine itself, without a lock.
type model struct {
	s          ModelSettings
	out        *outbox
	now        time.Duration // the latest instant seen
	state      State
	failures   int           // consecutive_failures
	successes  int           // primary_success_count
	probation  int           // transient failures of this probation (M13)
	activated  bool          // fallback_activated
	switchedAt time.Duration // fallback_switched_at
	chain      []entry
	epoch      uint64 // transitions so far
	clears     uint64 // how often the chain's strikes were cleared
}

type entry struct {
	name             string
	available        bool
	attempts, budget int
}

func (e *entry) failed() bool { return !e.available || e.attempts >= e.budget }

// served is what the machine needs to know of the turn behind a result.
type served struct {
	rule          Rule
	entry         int // in the chain; -1: the primary
	epoch, clears uint64
}

const primary = -1

func (m *model) begin(now time.Duration) (served, bool) {
	m.now = max(m.now, now)
	switch m.state {
	case Fallback:
		if m.now-m.switchedAt >= m.s.RecoveryTimeout {
			m.commit(Recovering, M2)
			return m.turn(M2, primary), true
		}
		if len(m.chain) == 0 {
			return m.turn(M5, primary), true
		}
		i := m.active()
		return m.turn(M4, i), i >= 0
	case Recovering:
		return m.turn(M6, primary), true
	default:
		return m.turn(M1, primary), true
	}
}

func (m *model) turn(r Rule, entry int) served {
	return served{rule: r, entry: entry, epoch: m.epoch, clears: m.clears}
}

// result takes the result of the turn t, or an anonymous one.
func (m *model) result(now time.Duration, e Ending, t *served) Verdict {
	if !e.OK && e.Kind == Cancelled {
		return Verdict{Rule: M14}
	}
	m.now = max(m.now, now)
	if t != nil && t.epoch != m.epoch {
		return m.stale(e, t)
	}
	switch m.state {
	case Fallback:
		if e.OK {
			return Verdict{Rule: M8}
		}
		i := m.active()
		if t != nil {
			i = t.entry
		}
		return Verdict{Rule: M11, Applied: m.charge(i, M11)}
	case Recovering:
		return m.probed(e)
	default:
		if e.OK {
			m.failures = 0
			return Verdict{Rule: M7, Applied: true}
		}
		m.failures++
		if m.failures >= m.s.TripThreshold {
			m.commit(Fallback, M10)
		}
		return Verdict{Rule: M10, Applied: true}
	}
}

// probed takes the result of a probe in Recovering (M9, M12, M13).
func (m *model) probed(e Ending) Verdict {
	switch {
	case e.OK:
		m.successes++
		if m.successes >= m.s.RecoverySuccessesNeeded {
			m.commit(Primary, M9)
		}
		return Verdict{Rule: M9, Applied: true}
	case e.Kind == RateLimit:
		m.commit(Fallback, M12)
		return Verdict{Rule: M12, Applied: true}
	default:
		m.successes = 0
		m.probation++
		if n := m.s.ProbationFailures; n > 0 && m.probation >= n {
			m.commit(Fallback, M13)
		}
		return Verdict{Rule: M13, Applied: true}
	}
}

// stale takes the result of a turn from an earlier epoch: it counts only
// against the backup that served it, unless its strikes were cleared since (M17).
func (m *model) stale(e Ending, t *served) Verdict {
	applied := !e.OK && t.clears == m.clears && m.charge(t.entry, M17)
	return Verdict{Rule: M17, Applied: applied}
}

// charge spends one of the backup's turns, and says whether there was a backup.
func (m *model) charge(entry int, r Rule) bool {
	if entry < 0 {
		return false
	}
	before := m.serves()
	m.chain[entry].attempts++
	m.switched(before, r)
	return true
}

func (m *model) setAvailable(now time.Duration, name string, available bool) error {
	m.now = max(m.now, now)
	for i := range m.chain {
		if m.chain[i].name == name {
			before := m.serves()
			m.chain[i].available = available
			m.switched(before, M15)
			return nil
		}
	}
	return fmt.Errorf("no backup named %q in the chain", name)
}

func (m *model) reset(now time.Duration) {
	m.now = max(m.now, now)
	if m.state != Primary {
		m.commit(Primary, M16) // in Primary the chain is clear
	}
	m.failures, m.activated = 0, false
}

func (m *model) clear() {
	for i := range m.chain {
		m.chain[i].attempts = 0
	}
	m.clears++
}

// commit is the one place where the state changes, and with it all that goes
// with the new state.
func (m *model) commit(to State, r Rule) {
	before := m.serves()
	m.out.transition(Transition{From: m.state, To: to, At: m.now, Effective: m.now, Rule: r, Failures: m.failures})
	m.state = to
	m.epoch++
	m.failures, m.successes, m.probation = 0, 0, 0
	switch to {
	case Fallback:
		m.activated = true
		m.switchedAt = m.now
	case Primary:
		m.switchedAt = 0
		m.clear()
	}
	m.switched(before, r)
}

// switched tells of a change of the served model, if there was one.
func (m *model) switched(before string, r Rule) {
	if after := m.serves(); after != before {
		m.out.change(Switch{From: before, To: after, At: m.now, Rule: r})
	}
}

// serves names the model that serves by the state alone; empty: nobody.
func (m *model) serves() string {
	if m.state != Fallback || len(m.chain) == 0 {
		return m.s.Primary
	}
	if i := m.active(); i >= 0 {
		return m.chain[i].name
	}
	return ""
}

// active is the first entry that is not failed, -1 if there is none.
func (m *model) active() int {
	for i := range m.chain {
		if !m.chain[i].failed() {
			return i
		}
	}
	return -1
}

func (m *model) name(entry int) string {
	if entry < 0 {
		return m.s.Primary
	}
	return m.chain[entry].name
}
