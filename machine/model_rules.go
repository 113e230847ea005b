package machine

import (
	"fmt"
	"slices"
	"time"
)

// model is the machine itself, without a lock.
type model struct {
	s           ModelSettings
	out         *outbox
	now         time.Duration // the latest instant seen
	state       State
	failures    int           // consecutive_failures
	successes   int           // primary_success_count
	probation   int           // transient failures of this probation (M13)
	activated   bool          // fallback_activated
	switchedAt  time.Duration // fallback_switched_at
	cooldown    time.Duration // that began then (M25, M26)
	notBefore   time.Duration // the latest instant that a failure of the primary named (M27)
	recoveredAt time.Duration // when it was last in Primary again
	streak      int           // trips that no recovery came between (M25)
	trips       uint64
	chain       []entry
	probes      []place // in flight, the oldest first, where their number is bounded (M21)
	granted     uint64  // places so far
	epoch       uint64  // transitions so far
	clears      uint64  // how often the chain's strikes were cleared
}

type entry struct {
	name             string
	available        bool
	attempts, budget int
	struck           time.Duration // its last strike
}

func (e *entry) failed() bool { return !e.available || e.attempts >= e.budget }

// place is what a probe has while their number is bounded.
type place struct {
	probe uint64
	began time.Duration
}

// served is what the machine needs to know of the turn behind a result.
type served struct {
	rule          Rule
	entry         int // in the chain, or one of those below
	epoch, clears uint64
	probe         uint64 // its place; 0: none
}

// Who serves, if no entry of the chain does.
const (
	primary = -1 - iota
	lastResort
	nobody
)

// touch moves the time on. Backups whose own cooldown is over by then are whole
// again, one after the other as that came to be (M24).
func (m *model) touch(now time.Duration) {
	m.now = max(m.now, now)
	for m.s.EntryCooldown > 0 {
		e, at := m.firstWhole(func(*entry) bool { return true })
		if e == nil || at > m.now {
			return
		}
		before := m.serves()
		e.attempts = 0
		m.switchedSince(before, M24, at)
	}
}

// whole is when the entry's budget is whole again by itself, if it is spent and
// ever will be.
func (m *model) whole(e *entry) (at time.Duration, ok bool) {
	if m.s.EntryCooldown == 0 || e.attempts < e.budget {
		return 0, false
	}
	return addSaturated(e.struck, m.s.EntryCooldown), true
}

// firstWhole is the entry of those that is whole again first, and when; nil: none
// ever is.
func (m *model) firstWhole(of func(*entry) bool) (first *entry, at time.Duration) {
	for i := range m.chain {
		e := &m.chain[i]
		if t, ok := m.whole(e); ok && of(e) && (first == nil || t < at) {
			first, at = e, t
		}
	}
	return first, at
}

// begin says who serves a turn that has waited for so long, and by which rule;
// false: nobody does.
func (m *model) begin(now, waited time.Duration) (served, bool) {
	m.touch(now)
	rule, entry := m.decide(waited)
	if rule == M2 {
		m.commit(Recovering, M2)
	}
	id := served{rule: rule, entry: entry, epoch: m.epoch, clears: m.clears}
	if probing := rule == M2 || rule == M6; probing && m.room() && m.s.Probes > 0 {
		m.lapse()
		m.granted++
		id.probe = m.granted
		m.probes = append(m.probes, place{id.probe, m.now})
	}
	return id, entry != nobody
}

// decide says who is to serve a turn, and changes nothing.
func (m *model) decide(waited time.Duration) (Rule, int) {
	switch {
	case m.state == Primary:
		return M1, primary
	case m.state == Recovering && m.room():
		return M6, primary
	case m.state == Recovering:
		return m.beside()
	case m.now >= m.until():
		return M2, primary
	case len(m.chain) == 0:
		return M5, primary
	}
	i := m.active()
	switch {
	case i != nobody:
		return M4, i
	case m.waits(waited):
		return M22, nobody
	case m.s.LastResort != "":
		return M23, lastResort
	}
	return M3, nobody
}

// beside is who serves while as many probes as may be are out (M21).
func (m *model) beside() (Rule, int) {
	i := m.active()
	switch {
	case i != nobody:
		return M21, i
	case m.s.LastResort != "":
		return M21, lastResort
	}
	return M6, primary
}

// waits says whether a turn is to wait until somebody serves it.
func (m *model) waits(waited time.Duration) bool {
	return m.s.Wait > 0 && addSaturated(m.next()-m.now, max(0, waited)) <= m.s.Wait
}

// until is the end of the cooldown.
func (m *model) until() time.Duration {
	return max(addSaturated(m.switchedAt, m.cooldown), m.notBefore)
}

// next is when, as things stand, a turn that is exhausted would be served.
func (m *model) next() time.Duration {
	if e, at := m.firstWhole(func(e *entry) bool { return e.available }); e != nil {
		return min(at, m.until())
	}
	return m.until()
}

// held says whether a probe has its place still.
func (m *model) held(p place) bool {
	return m.s.ProbeTimeout == 0 || m.now < addSaturated(p.began, m.s.ProbeTimeout)
}

// room says whether a further probe may go out.
func (m *model) room() bool {
	held := 0
	for _, p := range m.probes {
		if m.held(p) {
			held++
		}
	}
	return m.s.Probes == 0 || held < m.s.Probes
}

// lapse takes the places back that are held no longer.
func (m *model) lapse() {
	m.probes = slices.DeleteFunc(m.probes, func(p place) bool { return !m.held(p) })
}

// retire takes back the place of the turn t, of an anonymous one the oldest, and
// says whether there was one.
func (m *model) retire(t *served) bool {
	i := 0
	if t != nil {
		i = slices.IndexFunc(m.probes, func(p place) bool { return p.probe == t.probe })
	}
	if i < 0 || i >= len(m.probes) {
		return false
	}
	m.probes = slices.Delete(m.probes, i, i+1)
	return true
}

// result takes the result of the turn t, or an anonymous one.
func (m *model) result(now time.Duration, e Ending, t *served) Verdict {
	ok, nothing := m.taken(e)
	if nothing != "" {
		return Verdict{Rule: nothing, Applied: m.retire(t)}
	}
	m.touch(now)
	switch {
	case t != nil && t.epoch != m.epoch:
		return m.stale(ok, e, t)
	case m.state == Fallback, t != nil && t.rule == M21:
		return m.backed(ok, e, t)
	case m.state == Recovering:
		m.retire(t)
		return m.probed(ok, e)
	case ok:
		m.failures, m.notBefore = 0, 0
		return Verdict{Rule: M7, Applied: true}
	}
	m.failures++
	m.heed(e)
	if m.failures >= m.s.TripThreshold {
		m.commit(Fallback, M10)
	}
	return Verdict{Rule: M10, Applied: true}
}

// taken is what a result counts as (M20), or the rule by which it counts as nothing.
func (m *model) taken(e Ending) (ok bool, nothing Rule) {
	take := AsSuccess
	if !e.OK {
		take = m.s.Counts.Of(e.Kind)
	}
	switch {
	case take == AsSuccess:
		return true, ""
	case e.Kind == Cancelled && take != AsFailure:
		return false, M14
	case take == AsNothing:
		return false, M20
	}
	return false, ""
}

// backed takes the result of a turn that a backup served (M8, M11), or without a
// chain the primary.
func (m *model) backed(ok bool, e Ending, t *served) Verdict {
	if ok {
		return Verdict{Rule: M8}
	}
	i := m.active()
	switch {
	case t != nil:
		i = t.entry
	case len(m.chain) == 0:
		i = primary
	}
	return Verdict{Rule: M11, Applied: m.charge(i, M11) || i == primary && m.heed(e)}
}

// probed takes the result of a probe in Recovering (M9, M12, M13).
func (m *model) probed(ok bool, e Ending) Verdict {
	if ok {
		m.successes++
		if m.successes >= m.s.RecoverySuccessesNeeded {
			m.commit(Primary, M9)
		}
		return Verdict{Rule: M9, Applied: true}
	}
	m.heed(e)
	if e.Kind == RateLimit {
		m.commit(Fallback, M12)
		return Verdict{Rule: M12, Applied: true}
	}
	m.successes = 0
	m.probation++
	if n := m.s.ProbationFailures; n > 0 && m.probation >= n {
		m.commit(Fallback, M13)
	}
	return Verdict{Rule: M13, Applied: true}
}

// stale takes the result of a turn from an earlier epoch: it counts only
// against the backup that served it, unless its strikes were cleared since (M17).
func (m *model) stale(ok bool, e Ending, t *served) Verdict {
	v := Verdict{Rule: M17}
	switch {
	case ok:
	case t.entry == primary:
		v.Applied = m.state == Fallback && m.heed(e)
	case t.clears == m.clears:
		v.Applied = m.charge(t.entry, M17)
	}
	return v
}

// heed notes the wait that a failure of the primary names (M27), and says whether
// that moves the end of the cooldown.
func (m *model) heed(e Ending) bool {
	c := &m.s.Cooldown
	if !c.RetryAfter || e.RetryAfter <= 0 {
		return false
	}
	wait := e.RetryAfter
	if c.Longest > 0 {
		wait = min(wait, c.Longest)
	}
	before := m.until()
	m.notBefore = max(m.notBefore, addSaturated(m.now, wait))
	return m.until() > before
}

// charge spends one of the backup's turns, and says whether there was a backup.
func (m *model) charge(entry int, r Rule) bool {
	if entry < 0 {
		return false
	}
	before := m.serves()
	m.chain[entry].attempts++
	m.chain[entry].struck = m.now
	m.switched(before, r)
	return true
}

func (m *model) setAvailable(now time.Duration, name string, available bool) error {
	m.touch(now)
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
	m.touch(now)
	if m.state != Primary {
		m.commit(Primary, M16) // in Primary the chain is clear
	}
	m.failures, m.notBefore, m.streak, m.activated = 0, 0, 0, false
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
	t := Transition{From: m.state, To: to, At: m.now, Effective: m.now, Rule: r, Failures: m.failures}
	m.state = to
	m.epoch++
	m.failures, m.successes, m.probation, m.probes = 0, 0, 0, m.probes[:0]
	switch to {
	case Fallback:
		m.trip(t.From)
		t.Until = m.until()
	case Primary:
		m.switchedAt, m.notBefore, m.recoveredAt = 0, 0, m.now
		m.clear()
	}
	m.out.transition(t)
	m.switched(before, r)
}

// trip begins a cooldown.
func (m *model) trip(from State) {
	if from == Primary && m.now-m.recoveredAt >= m.s.Cooldown.Forget {
		m.streak = 0
	}
	m.streak++
	m.trips++
	m.activated = true
	m.switchedAt, m.cooldown = m.now, m.s.cooldown(m.streak, m.trips)
}

// switched tells of a change of the served model, if there was one.
func (m *model) switched(before string, r Rule) { m.switchedSince(before, r, m.now) }

// switchedSince tells of one that took effect at that instant.
func (m *model) switchedSince(before string, r Rule, effective time.Duration) {
	if after := m.serves(); after != before {
		m.out.change(Switch{From: before, To: after, At: m.now, Effective: effective, Rule: r})
	}
}

// serves names the model that serves by the state alone; empty: nobody.
func (m *model) serves() string {
	if m.state != Fallback || len(m.chain) == 0 {
		return m.s.Primary
	}
	if i := m.active(); i != nobody {
		return m.chain[i].name
	}
	return m.s.LastResort
}

// active is the first entry that is not failed, or nobody.
func (m *model) active() int {
	for i := range m.chain {
		if !m.chain[i].failed() {
			return i
		}
	}
	return nobody
}

func (m *model) name(entry int) string {
	switch entry {
	case primary:
		return m.s.Primary
	case lastResort:
		return m.s.LastResort
	case nobody:
		return ""
	}
	return m.chain[entry].name
}
