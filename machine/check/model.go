package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// modelMachine is a model breaker as the explorer drives it. A turn is known by
// its slot, which is used again.
type modelMachine interface {
	begin(now time.Duration, slot int) (model string, ok bool)
	wouldServe(now time.Duration) (model string, ok bool)
	report(now time.Duration, slot int, ok bool, k machine.Kind)
	cancel(now time.Duration, slot int)
	setAvailable(now time.Duration, name string, available bool)
	reset(now time.Duration)
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

func (m *realModel) begin(now time.Duration, slot int) (string, bool) {
	var err error
	m.turns[slot], err = m.b.Begin(now)
	return m.turns[slot].Model(), err == nil
}

func (m *realModel) report(now time.Duration, slot int, ok bool, k machine.Kind) {
	switch t := &m.turns[slot]; {
	case m.anonymous && ok:
		m.b.Success(now)
	case m.anonymous:
		m.b.Failure(now, k)
	case ok:
		t.Success(now)
	default:
		t.Failure(now, k)
	}
}

func (m *realModel) wouldServe(now time.Duration) (string, bool) { return m.b.WouldServe(now) }
func (m *realModel) cancel(now time.Duration, slot int)          { m.turns[slot].Cancel(now) }
func (m *realModel) reset(now time.Duration)                     { m.b.Reset(now) }
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
	return explore(func() subject {
		return &modelSubject{m: fresh(), s: s, slots: o.Calls, turns: make([]modelTurn, o.Calls)}
	}, ModelInvariants, o)
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
}

// modelTurn is a turn in flight.
type modelTurn struct {
	id             int // its number in a script; 0: the slot is free
	model          string
	epochs, clears int
}

func (t *modelSubject) instant() time.Duration        { return t.now }
func (t *modelSubject) waitUntil(until time.Duration) { t.now = until }

func (t *modelSubject) instants(r machine.ModelSnapshot) []time.Duration {
	if r.State != machine.Fallback {
		return nil
	}
	return around([]time.Duration{r.SwitchedAt + t.s.RecoveryTimeout})
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
		for _, d := range []Do{Success, Failure, RateLimit, Cancel, Vanish} {
			ms = append(ms, move{d, uint8(slot)})
		}
	}
	return ms
}

// standing is what the turn in the slot is to the machine.
func (t *modelSubject) standing(slot int) byte {
	c := &t.turns[slot]
	what := byte(1 + slices.IndexFunc(t.s.Chain, func(b machine.Backup) bool { return b.Name == c.model }))
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
	case Success, Failure, RateLimit, Cancel, Vanish:
		s.Call = t.turns[m.arg].id
	}
	return s
}

func (t *modelSubject) do(m move, blind bool) *breach {
	slot := int(m.arg)
	switch {
	case m.do == wait:
		t.now = t.instants(t.m.read())[m.arg]
		return nil
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
	if m.do >= Success && m.do <= Vanish {
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
	case Success, Failure, RateLimit:
		kind := machine.Transient
		if m.do == RateLimit {
			kind = machine.RateLimit
		}
		t.m.report(t.now, int(m.arg), m.do == Success, kind)
		t.turns[m.arg] = modelTurn{}
	case Cancel:
		t.m.cancel(t.now, int(m.arg))
		t.turns[m.arg] = modelTurn{}
	case Vanish:
		t.turns[m.arg] = modelTurn{}
	}
	t.note()
}

func (t *modelSubject) begin(slot int) (model string, ok bool) {
	model, ok = t.m.begin(t.now, slot)
	t.begun++
	t.note()
	if ok {
		t.turns[slot] = modelTurn{t.begun, model, t.epochs, t.clears}
	}
	return model, ok
}

// note takes notice of what the machine did.
func (t *modelSubject) note() {
	for _, m := range t.m.moved() {
		t.epochs++
		t.tripped = t.tripped || m.To == machine.Fallback
		if m.To == machine.Primary {
			t.clears++
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

// spent says whether a turn now has nobody left to serve it (M3).
func (t *modelSubject) spent(r machine.ModelSnapshot) bool {
	if r.State != machine.Fallback || t.now-r.SwitchedAt >= t.s.RecoveryTimeout || len(r.Chain) == 0 {
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
	model, ok := t.begin(slot)
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
		case e.Attempts > before.Chain[i].Attempts && e.Name != served:
			return &breach{invariant: ownStrikes, why: fmt.Sprintf("%s was charged at %v for a failure of %s", e.Name, t.now, served)}
		}
	}
	return nil
}

// settle lets the primary be healthy: once the cooldown is over, turn after
// turn goes well at once.
func (t *modelSubject) settle() *breach {
	at := t.now
	if r := t.m.read(); r.State == machine.Fallback {
		at = max(at, r.SwitchedAt+t.s.RecoveryTimeout)
	}
	var steps []Step
	for range max(1, t.s.RecoverySuccessesNeeded) {
		t.begun++
		steps = append(steps, Step{At: at, Do: Ask, Call: t.begun})
		if _, ok := t.m.begin(at, t.slots); ok {
			steps = append(steps, Step{At: at, Do: Success, Call: t.begun})
			t.m.report(at, t.slots, true, machine.Transient)
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
	if r.State == machine.Fallback {
		k.span(16, t.now-r.SwitchedAt)
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
