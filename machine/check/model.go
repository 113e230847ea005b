package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// modelMachine is a model breaker as the explorer drives it. A turn is known by
// its slot, which is used again.
type modelMachine interface {
	begin(now time.Duration, slot int) (model string, x *machine.Exhausted) // x is nil if it is served
	wouldServe(now time.Duration) (model string, ok bool)
	report(now time.Duration, slot int, e machine.Ending)
	cancel(now time.Duration, slot int)
	setAvailable(now time.Duration, name string, available bool)
	reset(now time.Duration)
	settle(now time.Duration)
	read() machine.ModelSnapshot
	moved() []machine.Transition // since it was last asked
}

// realModel is the machine itself.
type realModel struct {
	b         *machine.ModelBreaker
	anonymous bool
	turns     []machine.Turn // by slot
	news      []machine.Transition
}

func newRealModel(s machine.ModelSettings, anonymous bool, calls int) (*realModel, error) {
	m := &realModel{anonymous: anonymous, turns: make([]machine.Turn, calls+1)}
	var err error
	m.b, err = machine.NewModelBreaker(s, machine.Hooks{OnTransition: func(tr machine.Transition) { m.news = append(m.news, tr) }})
	return m, err
}

func (m *realModel) begin(now time.Duration, slot int) (string, *machine.Exhausted) {
	var err error
	m.turns[slot], err = m.b.Begin(now)
	x, _ := errors.AsType[*machine.Exhausted](err)
	return m.turns[slot].Model(), x
}

func (m *realModel) report(now time.Duration, slot int, e machine.Ending) {
	if m.anonymous {
		m.b.End(now, e)
		return
	}
	m.turns[slot].End(now, e)
}

func (m *realModel) wouldServe(now time.Duration) (string, bool) { return m.b.WouldServe(now) }
func (m *realModel) cancel(now time.Duration, slot int)          { m.turns[slot].Cancel(now) }
func (m *realModel) reset(now time.Duration)                     { m.b.Reset(now) }
func (m *realModel) settle(now time.Duration)                    { m.b.Settle(now) }
func (m *realModel) read() machine.ModelSnapshot                 { return m.b.Snapshot() }

func (m *realModel) setAvailable(now time.Duration, name string, available bool) {
	_ = m.b.SetAvailable(now, name, available) // the name is from the chain
}

func (m *realModel) moved() []machine.Transition {
	news := m.news
	m.news = m.news[:0]
	return news
}

// What must hold of a model breaker.
const (
	ownStrikes = iota
	exhausted
	neverFailed
	freshChain
	sticky
	recovers
	modelPeek
	waitsRight
	places
	lastResort
	whole
	cooldownRight
)

// ModelInvariants are what [Model] checks.
var ModelInvariants = []Invariant{
	ownStrikes:  {"own-strikes", "a backup is never charged for another's failure"},
	exhausted:   {"exhausted", "a turn is exhausted if and only if the cooldown runs and there is a chain, all of it failed"},
	neverFailed: {"never-failed", "a turn is never served by a failed entry"},
	freshChain:  {"fresh-chain", "back in primary, every entry of the chain is fresh"},
	sticky:      {"sticky", "once it tripped, it says so until it is reset"},
	recovers:    {"recovers", "with a healthy primary it is in primary within one cooldown and the turns that recovery needs"},
	modelPeek:   {"peek", "WouldServe says what Begin does, and changes nothing"},

	waitsRight:    {"waits", "a turn waits if and only if it would be exhausted and somebody serves again within the time that it may wait"},
	places:        {"places", "as many turns probe the primary at one time as may, and others go to a backup as long as there is one"},
	lastResort:    {"last-resort", "the last resort serves if and only if every backup is failed and nobody is to wait"},
	whole:         {"whole", "a failed backup is whole again at the end of its own cooldown, and not before, unless the breaker recovers"},
	cooldownRight: {"cooldown", "no cooldown is shorter or longer than its settings and the hints allow"},
}

// ofModel are the invariants that say something of a breaker with these settings.
func ofModel(s *machine.ModelSettings) []Invariant {
	set := map[int]bool{waitsRight: s.Wait > 0, places: s.Probes > 0, lastResort: s.LastResort != "", whole: s.EntryCooldown > 0, cooldownRight: s.Cooldown != (machine.Cooldown{})}
	var all []Invariant
	for i, invariant := range ModelInvariants {
		if on, of := set[i]; on || !of {
			all = append(all, invariant)
		}
	}
	return all
}

// maxChain is the longest chain whose state fits in a key.
const maxChain = 8

// Model explores a model breaker with these settings. If anonymous, results do
// not say whose they are.
func Model(s machine.ModelSettings, anonymous bool, o Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(s.Chain) > maxChain {
		return nil, fmt.Errorf("a chain of %d backups cannot be explored; %d at most can", len(s.Chain), maxChain)
	}
	return exploreModel(s, o, func() modelMachine {
		m, _ := newRealModel(s, anonymous, o.Calls) // the settings were checked
		return m
	})
}

func exploreModel(s machine.ModelSettings, o Options, fresh func() modelMachine) (*Result, error) {
	r, err := explore(func() subject {
		return &modelSubject{m: fresh(), s: s, slots: o.Calls, turns: make([]modelTurn, o.Calls), struck: make([]time.Duration, len(s.Chain))}
	}, ModelInvariants, o)
	if err == nil {
		r.Invariants = ofModel(&s)
	}
	return r, err
}

// modelSubject is a model breaker under exploration, and what an onlooker knows
// who saw every turn and result.
type modelSubject struct {
	m     modelMachine
	s     machine.ModelSettings
	now   time.Duration
	slots int
	turns []modelTurn // by slot
	begun int

	tripped        bool // since the last reset
	epochs, clears int  // transitions, and times that the strikes were cleared

	struck   []time.Duration // when each backup had its last strike
	back     time.Duration   // when it was last in primary again
	lengthOf time.Duration   // of the last trip's cooldown, if the invariant is broken
}

// modelTurn is a turn in flight.
type modelTurn struct {
	id             int // its number in a script; 0: the slot is free
	model          string
	epochs, clears int
	place          bool // a probe's, where their number is bounded
	began          time.Duration
}

func (t *modelSubject) instant() time.Duration        { return t.now }
func (t *modelSubject) waitUntil(until time.Duration) { t.now = until }

func (t *modelSubject) instants(r machine.ModelSnapshot) []time.Duration {
	return around(append(t.further(r), t.ends(r)...))
}

// ends is when the cooldown is over, while it runs.
func (t *modelSubject) ends(r machine.ModelSnapshot) []time.Duration {
	if r.State != machine.Fallback {
		return nil
	}
	return []time.Duration{t.until(r)}
}

func (t *modelSubject) moves(ms []move) []move {
	r := t.m.read()
	for i, at := range t.instants(r) {
		if at > t.now {
			ms = append(ms, move{wait, uint8(i)})
		}
	}
	ms = append(ms, move{do: Peek}) // before Ask, which peeks too
	for slot := range t.slots {
		if t.turns[slot].id == 0 {
			ms = append(ms, move{Ask, uint8(slot)})
			break
		}
	}
	ms = append(ms, move{do: Reset})
	for i, e := range r.Chain {
		if e.Available {
			ms = append(ms, move{SwitchOff, uint8(i)})
		} else {
			ms = append(ms, move{SwitchOn, uint8(i)})
		}
	}
	var met []byte // turns that are the same to the machine have the same future
	for slot := range t.slots {
		what := t.standing(slot)
		if t.turns[slot].id == 0 || slices.Contains(met, what) {
			continue
		}
		met = append(met, what)
		for _, d := range t.results() {
			ms = append(ms, move{d, uint8(slot)})
		}
	}
	return ms
}

// standing is what the turn in the slot is to the machine.
func (t *modelSubject) standing(slot int) byte {
	c := &t.turns[slot]
	what := byte(1 + slices.IndexFunc(t.s.Chain, func(b machine.Backup) bool { return b.Name == c.model }))
	if c.model == t.s.LastResort && c.model != "" {
		what = maxChain + 1
	}
	if c.place {
		what |= 0x80
	}
	if c.epochs == t.epochs {
		what |= 0x40
	}
	if c.clears == t.clears {
		what |= 0x20
	}
	return what
}

func (t *modelSubject) step(m move) Step {
	s := Step{At: t.now, Do: m.do}
	switch m.do {
	case Ask:
		s.Call = t.begun + 1
	case SwitchOff, SwitchOn:
		s.Name = t.s.Chain[m.arg].Name
	case Success, Failure, RateLimit, Cancel, Vanish, Timeout, Permanent:
		s.Call = t.turns[m.arg].id
		s.Wait = t.ending(m.do).RetryAfter
	}
	return s
}

func (t *modelSubject) do(m move, blind bool) *breach {
	slot := int(m.arg)
	if m.do == wait {
		t.now = t.instants(t.m.read())[m.arg]
		return nil
	}
	if b := t.settled(blind); b != nil {
		return b
	}
	switch {
	case m.do == Ask && !blind:
		return t.judgedBegin(slot)
	case m.do == Ask:
		t.begin(slot)
		return nil
	case m.do == Peek:
		_, _, b := t.peek(t.m.read())
		return b
	case blind:
		t.change(m)
		return nil
	}
	before, served := t.m.read(), ""
	if m.do >= Success && m.do <= Vanish || m.do == Timeout || m.do == Permanent {
		served = t.turns[slot].model
	}
	t.change(m)
	return t.judge(before, served)
}

// change makes a move that is neither waiting, beginning nor reading.
func (t *modelSubject) change(m move) {
	switch m.do {
	case Reset:
		t.m.reset(t.now)
		t.tripped = false
		t.clears++
	case SwitchOff, SwitchOn:
		t.m.setAvailable(t.now, t.s.Chain[m.arg].Name, m.do == SwitchOn)
	case Success, Failure, RateLimit, Timeout, Permanent:
		before := t.m.read()
		t.m.report(t.now, int(m.arg), t.ending(m.do))
		t.turns[m.arg] = modelTurn{}
		t.strikes(before)
	case Cancel:
		before := t.m.read()
		t.m.cancel(t.now, int(m.arg))
		defer t.strikes(before)
		t.turns[m.arg] = modelTurn{}
	case Vanish:
		t.turns[m.arg] = modelTurn{}
	}
	t.note()
}

func (t *modelSubject) begin(slot int) (model string, x *machine.Exhausted) {
	before := len(t.m.read().Probes)
	model, x = t.m.begin(t.now, slot)
	t.begun++
	t.note()
	if x == nil {
		t.turns[slot] = modelTurn{id: t.begun, model: model, epochs: t.epochs, clears: t.clears, began: t.now}
		if probes := t.m.read().Probes; len(probes) > 0 && model == t.s.Primary {
			t.turns[slot].place = len(probes) > before || probes[len(probes)-1] == t.now
		}
	}
	return model, x
}

// note takes notice of what the machine did.
func (t *modelSubject) note() {
	for _, m := range t.m.moved() {
		t.epochs++
		t.tripped = t.tripped || m.To == machine.Fallback
		if m.To == machine.Primary {
			t.clears++
			t.back = t.now
		}
		if m.To == machine.Fallback && !t.allowed(m.Until-m.At) {
			t.lengthOf = m.Until - m.At
		}
	}
}

func (t *modelSubject) peek(before machine.ModelSnapshot) (model string, ok bool, b *breach) {
	model, ok = t.m.wouldServe(t.now)
	if after := t.m.read(); !same(before, after) || len(t.m.moved()) > 0 {
		b = &breach{invariant: modelPeek, why: fmt.Sprintf("WouldServe at %v left it %v, which was %v", t.now, after.State, before.State)}
	}
	return model, ok, b
}

func same(a, b machine.ModelSnapshot) bool {
	return a.State == b.State && a.Serves == b.Serves && a.ConsecutiveFailures == b.ConsecutiveFailures && a.PrimarySuccesses == b.PrimarySuccesses && a.ProbationFailures == b.ProbationFailures &&
		a.FallbackActivated == b.FallbackActivated && a.SwitchedAt == b.SwitchedAt && slices.Equal(a.Chain, b.Chain)
}

// spent says whether a turn now has no backup left to serve it (M3).
func (t *modelSubject) spent(r machine.ModelSnapshot) bool {
	if r.State != machine.Fallback || t.now >= t.until(r) || len(r.Chain) == 0 {
		return false
	}
	return !slices.ContainsFunc(r.Chain, func(e machine.BackupSnapshot) bool { return !e.Failed() })
}

func (t *modelSubject) judgedBegin(slot int) *breach {
	before := t.m.read()
	would, served, b := t.peek(before)
	if b != nil {
		return b
	}
	spent := t.spent(before)
	model, x := t.begin(slot)
	ok := x == nil
	if b := t.judgedFurther(before, spent, model, x); b != nil {
		return b
	}
	spent = spent && t.s.LastResort == ""
	switch {
	case spent && ok:
		return &breach{invariant: exhausted, why: fmt.Sprintf("%s served turn %d at %v, when the chain was spent and the cooldown ran", model, t.begun, t.now)}
	case !spent && !ok:
		return &breach{invariant: exhausted, why: fmt.Sprintf("turn %d was exhausted at %v, when somebody was left to serve it", t.begun, t.now)}
	}
	if model != would || ok != served {
		return &breach{invariant: modelPeek, why: fmt.Sprintf("WouldServe at %v said %q, Begin gave %q", t.now, would, model)}
	}
	for _, e := range before.Chain {
		if e.Name == model && e.Failed() {
			return &breach{invariant: neverFailed, why: fmt.Sprintf("%s, which is failed, served turn %d at %v", model, t.begun, t.now)}
		}
	}
	return t.judge(before, "")
}

// judge holds what became of before against the invariants. served is who had
// served the turn whose result the machine was told.
func (t *modelSubject) judge(before machine.ModelSnapshot, served string) *breach {
	after := t.m.read()
	switch {
	case t.lengthOf != 0:
		return &breach{invariant: cooldownRight, why: fmt.Sprintf("at %v it tripped for %v", t.now, t.lengthOf)}
	case t.tripped && !after.FallbackActivated:
		return &breach{invariant: sticky, why: fmt.Sprintf("at %v it no longer says that it tripped", t.now)}
	case !t.tripped && after.FallbackActivated:
		return &breach{invariant: sticky, why: fmt.Sprintf("at %v it says that it tripped, which it did not", t.now)}
	}
	recovered := before.State != machine.Primary && after.State == machine.Primary
	for i, e := range after.Chain {
		switch {
		case recovered && e.Attempts != 0:
			return &breach{invariant: freshChain, why: fmt.Sprintf("in primary again at %v, %s has %d of its %d strikes", t.now, e.Name, e.Attempts, e.Budget)}
		case t.s.EntryCooldown > 0 && !recovered && e.Attempts < before.Chain[i].Attempts && after.State != machine.Primary:
			return &breach{invariant: whole, why: fmt.Sprintf("%s has %d strikes at %v, which were %d", e.Name, e.Attempts, t.now, before.Chain[i].Attempts)}
		case e.Attempts > before.Chain[i].Attempts && e.Name != served:
			return &breach{invariant: ownStrikes, why: fmt.Sprintf("%s was charged at %v for a failure of %s", e.Name, t.now, served)}
		}
	}
	return nil
}

// settle lets the primary be healthy: once the cooldown is over, turn after
// turn goes well at once.
func (t *modelSubject) settle() *breach {
	at, steps := t.ready()
	for range max(1, t.s.RecoverySuccessesNeeded) {
		t.begun++
		steps = append(steps, Step{At: at, Do: Ask, Call: t.begun})
		if _, x := t.m.begin(at, t.slots); x == nil {
			steps = append(steps, Step{At: at, Do: Success, Call: t.begun})
			t.m.report(at, t.slots, machine.Ending{OK: true})
		}
	}
	if s := t.m.read().State; s != machine.Primary {
		return &breach{invariant: recovers, why: fmt.Sprintf("after %d turns up to %v it is in %v still", max(1, t.s.RecoverySuccessesNeeded), at, s), more: steps}
	}
	return nil
}

func (t *modelSubject) key() key {
	r := t.m.read()
	var k key
	k[0] = byte(r.State)
	if r.FallbackActivated {
		k[1] = 1
	}
	k.put(4, min(r.ConsecutiveFailures, max(1, t.s.TripThreshold))) // more decide nothing, here and below
	k.put(8, r.PrimarySuccesses)
	k.put(12, min(r.ProbationFailures, t.s.ProbationFailures))
	if t.plain() && r.State == machine.Fallback {
		k.span(16, t.now-r.SwitchedAt)
	}
	if !t.plain() {
		binary.LittleEndian.PutUint64(k[16:], t.hash(r))
	}
	for i, e := range r.Chain {
		k.put(24+5*i, min(e.Attempts, e.Budget))
		if e.Available {
			k[28+5*i] = 1
		}
	}
	turns := k[64:64]
	for slot := range t.slots {
		if t.turns[slot].id != 0 {
			turns = append(turns, t.standing(slot))
		}
	}
	slices.Sort(turns)
	return k
}
