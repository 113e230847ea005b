package check

import (
	"fmt"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// toolMachine is a tool breaker as the explorer drives it. A call is known by
// its slot, which is used again.
type toolMachine interface {
	ask(now time.Duration, slot int) (admitted, probe bool)
	wouldAllow(now time.Duration) bool
	report(now time.Duration, slot int, ok bool)
	cancel(now time.Duration, slot int)
	reset(now time.Duration)
	read(now time.Duration) machine.ToolSnapshot
	moved() []machine.Transition // since it was last asked
}

// realTool is the machine itself.
type realTool struct {
	b         *machine.ToolBreaker
	anonymous bool
	permits   []machine.Permit // by slot
	news      []machine.Transition
}

func newRealTool(s machine.ToolSettings, anonymous bool, calls int) (*realTool, error) {
	t := &realTool{anonymous: anonymous, permits: make([]machine.Permit, calls+1)}
	var err error
	t.b, err = machine.NewToolBreaker(s, machine.Hooks{OnTransition: func(tr machine.Transition) { t.news = append(t.news, tr) }})
	return t, err
}

func (t *realTool) ask(now time.Duration, slot int) (admitted, probe bool) {
	var err error
	t.permits[slot], err = t.b.Allow(now)
	return err == nil, err == nil && t.permits[slot].Probe()
}

func (t *realTool) report(now time.Duration, slot int, ok bool) {
	switch p := &t.permits[slot]; {
	case t.anonymous && ok:
		t.b.Success(now)
	case t.anonymous:
		t.b.Failure(now)
	case ok:
		p.Success(now)
	default:
		p.Failure(now)
	}
}

func (t *realTool) wouldAllow(now time.Duration) bool           { return t.b.WouldAllow(now) }
func (t *realTool) cancel(now time.Duration, slot int)          { t.permits[slot].Cancel(now) }
func (t *realTool) reset(now time.Duration)                     { t.b.Reset(now) }
func (t *realTool) read(now time.Duration) machine.ToolSnapshot { return t.b.Snapshot(now) }

func (t *realTool) moved() []machine.Transition {
	news := t.news
	t.news = t.news[:0]
	return news
}

// What must hold of a tool breaker.
const (
	oneProbe = iota
	toolPeek
	staleSuccess
	noWedge
	noShortcut
	cooldown
	leaseEnd
)

// ToolInvariants are what [Tool] checks.
var ToolInvariants = []Invariant{
	oneProbe:     {"one-probe", "at most one live probe"},
	toolPeek:     {"peek", "WouldAllow says what Allow does, and changes nothing"},
	staleSuccess: {"stale-success", "only the live probe's success closes it"},
	noWedge:      {"no-wedge", "with a healthy target it is closed within lease + 2 cooldowns of traffic"},
	noShortcut:   {"no-shortcut", "it never goes from closed to half-open"},
	cooldown:     {"cooldown", "open refuses for the whole cooldown since the last failure it knows of"},
	leaseEnd:     {"lease-end", "a lease that ran out takes effect at its end"},
}

// Tool explores a tool breaker with these settings. If anonymous, results do
// not say whose they are.
func Tool(s machine.ToolSettings, anonymous bool, o Options) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if !Plainly(&s, &o) {
		if o.Between != nil {
			if err := o.Between.Validate(); err != nil {
				return nil, err
			}
		}
		return exploreSet(s, anonymous, o, func() setMachine {
			m, _ := newRealTool(s, anonymous, o.Calls)
			return m
		})
	}
	return exploreTool(s, o, func() toolMachine {
		m, _ := newRealTool(s, anonymous, o.Calls) // the settings were checked
		return m
	})
}

func exploreTool(s machine.ToolSettings, o Options, fresh func() toolMachine) (*Result, error) {
	return explore(func() subject {
		return &toolSubject{m: fresh(), s: s, slots: o.Calls, calls: make([]toolCall, o.Calls), noticed: machine.Closed}
	}, ToolInvariants, o)
}

// toolSubject is a tool breaker under exploration, and what an onlooker knows
// who saw every call and result.
type toolSubject struct {
	m     toolMachine
	s     machine.ToolSettings
	now   time.Duration
	slots int
	calls []toolCall // by slot
	asked int

	noticed machine.State // the last transition's end: T7 may be due and not yet noticed
	probing bool          // a probe was let through, did not report, and its lease lives
	prober  int           // its slot, -1 once it vanished
	since   time.Duration // when its lease began
	lastBad time.Duration // the last failure that it knows of
}

// toolCall is a call in flight.
type toolCall struct {
	id              int // its number in a script; 0: the slot is free
	openings, probe uint64
}

func (t *toolSubject) instant() time.Duration        { return t.now }
func (t *toolSubject) waitUntil(until time.Duration) { t.now = until; t.lapse() }

// lapse ends a lease that ran out.
func (t *toolSubject) lapse() {
	if end := t.since + t.s.ProbeTimeout; t.probing && t.s.ProbeTimeout > 0 && t.now >= end {
		t.probing = false
		t.lastBad = end
	}
}

// instants are those that are worth waiting for: just before, at and just after
// whatever can run out.
func (t *toolSubject) instants(r machine.ToolSnapshot) []time.Duration {
	var ends []time.Duration
	switch {
	case r.State == machine.Open:
		ends = append(ends, r.LastFailure+t.s.RecoveryDuration)
	case r.State == machine.HalfOpen && t.s.ProbeTimeout > 0:
		end := r.ProbeStarted + t.s.ProbeTimeout
		ends = append(ends, end, end+t.s.RecoveryDuration)
	}
	return around(ends)
}

func around(ends []time.Duration) []time.Duration {
	var all []time.Duration
	for _, e := range ends {
		all = append(all, e-1, e, e+1)
	}
	return all
}

func (t *toolSubject) moves(ms []move) []move {
	r := t.m.read(t.now)
	for i, at := range t.instants(r) {
		if at > t.now {
			ms = append(ms, move{wait, uint8(i)})
		}
	}
	ms = append(ms, move{do: Peek}) // before Ask, which peeks too
	if free := t.free(); free >= 0 {
		ms = append(ms, move{Ask, uint8(free)})
	}
	ms = append(ms, move{do: Reset})
	var met [8]bool // calls that are the same to the machine have the same future
	for slot := range t.slots {
		what := t.standing(slot, r)
		if t.calls[slot].id == 0 || met[what] {
			continue
		}
		met[what] = true
		for _, d := range []Do{Success, Failure, Cancel, Vanish} {
			ms = append(ms, move{d, uint8(slot)})
		}
	}
	return ms
}

func (t *toolSubject) free() int {
	for slot := range t.slots {
		if t.calls[slot].id == 0 {
			return slot
		}
	}
	return -1
}

// standing is what the call in the slot is to the machine and to the onlooker.
func (t *toolSubject) standing(slot int, r machine.ToolSnapshot) int {
	c, what := &t.calls[slot], 0
	if c.openings == r.Openings {
		what |= 1
	}
	if c.probe != 0 && c.probe == r.Probes && r.State == machine.HalfOpen {
		what |= 2
	}
	if t.probing && t.prober == slot {
		what |= 4
	}
	return what
}

func (t *toolSubject) step(m move) Step {
	s := Step{At: t.now, Do: m.do}
	switch m.do {
	case Ask:
		s.Call = t.asked + 1
	case Success, Failure, Cancel, Vanish:
		s.Call = t.calls[m.arg].id
	}
	return s
}

func (t *toolSubject) do(m move, _ bool) *breach {
	switch m.do {
	case wait:
		t.waitUntil(t.instants(t.m.read(t.now))[m.arg])
		return nil
	case Ask:
		return t.ask(int(m.arg))
	case Peek:
		_, b := t.peek()
		return b
	case Reset:
		t.m.reset(t.now)
		t.probing = false
		return t.news(-1)
	case Success, Failure:
		return t.result(int(m.arg), m.do == Success)
	case Cancel:
		t.m.cancel(t.now, int(m.arg))
	}
	t.forget(int(m.arg))
	return t.news(-1)
}

// forget frees the slot. A probe that is gone keeps its lease.
func (t *toolSubject) forget(slot int) {
	t.calls[slot] = toolCall{}
	if t.prober == slot {
		t.prober = -1
	}
}

func (t *toolSubject) peek() (would bool, b *breach) {
	before := t.m.read(t.now)
	would = t.m.wouldAllow(t.now)
	if after := t.m.read(t.now); after != before || len(t.m.moved()) > 0 {
		return would, &breach{invariant: toolPeek, why: fmt.Sprintf("WouldAllow at %v left it %v, which was %v", t.now, after.State, before.State)}
	}
	return would, nil
}

func (t *toolSubject) ask(slot int) *breach {
	before := t.m.read(t.now)
	would, b := t.peek()
	if b != nil {
		return b
	}
	admitted, probe := t.m.ask(t.now, slot)
	t.asked++
	switch {
	case admitted != would:
		return &breach{invariant: toolPeek, why: fmt.Sprintf("WouldAllow at %v said %v, Allow did otherwise", t.now, would)}
	case admitted && t.probing:
		return &breach{invariant: oneProbe, why: fmt.Sprintf("call %d was let through at %v beside the probe since %v", t.asked, t.now, t.since)}
	case admitted && before.State == machine.Open && t.now-t.lastBad < t.s.RecoveryDuration:
		return &breach{invariant: cooldown, why: fmt.Sprintf("call %d was let through at %v; the last failure was at %v", t.asked, t.now, t.lastBad)}
	}
	b = t.news(-1)
	if !admitted {
		return b
	}
	after := t.m.read(t.now)
	t.calls[slot] = toolCall{id: t.asked, openings: after.Openings}
	if probe {
		t.calls[slot].probe = after.Probes
	}
	if before.State != machine.Closed {
		t.probing, t.prober, t.since = true, slot, t.now
	}
	return b
}

func (t *toolSubject) result(slot int, ok bool) *breach {
	before := t.m.read(t.now)
	t.m.report(t.now, slot, ok)
	if !ok && before.State == machine.Open {
		t.lastBad = t.now
	}
	b := t.news(slot)
	t.forget(slot)
	return b
}

// news takes note of what the machine did. by is the slot whose result it was
// told, -1 if none.
func (t *toolSubject) news(by int) *breach {
	var b *breach
	for _, m := range t.m.moved() {
		t.noticed = m.To
		switch {
		case m.From == machine.Closed && m.To == machine.HalfOpen:
			b = &breach{invariant: noShortcut, why: fmt.Sprintf("it went from closed to half-open at %v", m.At)}
		case m.To == machine.Closed && by >= 0 && !(t.probing && t.prober == by):
			b = &breach{invariant: staleSuccess, why: fmt.Sprintf("the success of call %d, which is not the live probe, closed it at %v", t.calls[by].id, m.At)}
		case m.Rule == machine.T7 && m.Effective != t.since+t.s.ProbeTimeout:
			b = &breach{invariant: leaseEnd, why: fmt.Sprintf("the lease since %v ran out at %v, and took effect at %v", t.since, t.since+t.s.ProbeTimeout, m.Effective)}
		case m.To == machine.Open && m.Rule != machine.T7:
			t.lastBad = m.At
		}
		if m.From == machine.HalfOpen { // whoever ended it, its probe is none any more
			t.probing = false
		}
	}
	return b
}

// settle sends healthy traffic: as many calls as one likes, each of which works
// at once. Asking when nothing can have changed would be refused, so the
// instants at which something runs out stand for all.
func (t *toolSubject) settle() *breach {
	end := t.now + t.s.ProbeTimeout + 2*t.s.RecoveryDuration
	var steps []Step
	for at := t.now; ; {
		t.asked++
		steps = append(steps, Step{At: at, Do: Ask, Call: t.asked})
		if admitted, _ := t.m.ask(at, t.slots); admitted {
			steps = append(steps, Step{At: at, Do: Success, Call: t.asked})
			t.m.report(at, t.slots, true)
		}
		r := t.m.read(at)
		if r.State == machine.Closed {
			return nil
		}
		if at == end {
			return &breach{invariant: noWedge, why: fmt.Sprintf("after traffic up to %v it is %v still", end, r.State), more: steps}
		}
		next := end
		for _, i := range t.instants(r) {
			if i > at && i < next {
				next = i
			}
		}
		at = next
	}
}

func (t *toolSubject) key() key {
	r := t.m.read(t.now)
	var k key
	k[0], k[1] = byte(r.State), byte(t.noticed)
	k.put(4, min(r.ConsecutiveFailures, max(1, t.s.FailureThreshold))) // more decide nothing
	switch r.State {
	case machine.Open:
		k.span(8, t.now-r.LastFailure)
		k.span(16, min(t.now-t.lastBad, t.s.RecoveryDuration)) // longer ago decides nothing
	case machine.HalfOpen:
		k.span(8, t.now-r.ProbeStarted)
	}
	if t.probing {
		k[2] = 1
		k.span(24, t.now-t.since)
	}
	for slot := range t.slots {
		if t.calls[slot].id != 0 {
			k[32+t.standing(slot, r)]++
		}
	}
	return k
}
