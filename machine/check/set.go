package check

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// setMachine is a tool breaker with settings of its own as the explorer drives it.
type setMachine interface {
	ask(now time.Duration, slot int) (admitted, probe bool)
	wouldAllow(now time.Duration) bool
	end(now time.Duration, slot int, e machine.Ending)
	reset(now time.Duration)
	force(now time.Duration, to machine.State)
	configure(now time.Duration, s machine.ToolSettings)
	read(now time.Duration) machine.ToolSnapshot
	memory() machine.ToolMemory
	moved() []machine.Transition // since it was last asked
}

func (t *realTool) end(now time.Duration, slot int, e machine.Ending) {
	if t.anonymous && e.Kind != machine.Cancelled {
		t.b.End(now, e)
		return
	}
	t.permits[slot].End(now, e)
}

func (t *realTool) force(now time.Duration, to machine.State) {
	if to == machine.Open {
		t.b.ForceOpen(now)
	} else {
		t.b.ForceClosed(now)
	}
}

func (t *realTool) configure(now time.Duration, s machine.ToolSettings) {
	_ = t.b.Configure(now, s) // the settings were checked
}

func (t *realTool) memory() machine.ToolMemory { return t.b.Memory() }

// Plainly says whether the breaker is one of T1 to T16 that nobody forces or
// changes.
func Plainly(s *machine.ToolSettings, o *Options) bool {
	return !o.Forced && o.Between == nil && s.Counts == machine.Counts{} && s.Trip == machine.Trip{} && s.Probing == machine.Probing{} && s.Cooldown == machine.Cooldown{}
}

func exploreSet(s machine.ToolSettings, anonymous bool, o Options, fresh func() setMachine) (*Result, error) {
	r, err := explore(func() subject {
		t := &setSubject{m: fresh(), o: onlooker{s: s, anonymous: anonymous, state: machine.Closed}, settings: [2]machine.ToolSettings{s, s},
			forced: o.Forced, changes: o.Between != nil, calls: make([]setCall, o.Calls)}
		if o.Between != nil {
			t.settings[1] = *o.Between
		}
		t.tick, t.horizon = tick(t.settings[:]), horizon(t.settings[:])
		return t
	}, SetToolInvariants, o)
	if err == nil {
		r.Invariants = applying(&s, &o)
		r.Complete = r.Complete && !endless(&s) && (o.Between == nil || !endless(o.Between))
	}
	return r, err
}

// endless says whether there is no end of what the breaker can come to, so that
// what is explored is only the beginning: cooldowns that grow for ever, and a
// window of time, which holds any number of results.
func endless(s *machine.ToolSettings) bool {
	return s.Cooldown.Growth > 1 && s.Cooldown.Longest == 0 || s.Cooldown.Jitter > 0 || s.Trip.Window.Span > 0
}

// horizon is so early that what follows a cooldown which ends by then fits in a
// Duration, however it grows.
func horizon(settings []machine.ToolSettings) time.Duration {
	growth := 1.0
	for _, s := range settings {
		growth = max(growth, s.Cooldown.Growth)
	}
	return time.Duration(math.MaxInt64 / 16 / growth)
}

// setSubject is such a breaker under exploration, beside its onlooker.
type setSubject struct {
	m        setMachine
	o        onlooker
	settings [2]machine.ToolSettings // that hold, and that may come to hold
	which    int
	forced   bool // an operator may force it
	changes  bool // and change its settings
	now      time.Duration
	tick     time.Duration // all instants are multiples of it, as long as cooldowns are
	horizon  time.Duration // no later instant is waited for
	calls    []setCall     // by slot
	asked    int
}

// setCall is a call in flight.
type setCall struct {
	id       int // its number in a script; 0: the slot is free
	openings uint64
	began    time.Duration
}

func (t *setSubject) instant() time.Duration        { return t.now }
func (t *setSubject) waitUntil(until time.Duration) { t.now = until }

// tick is the longest time that all times of the settings are multiples of, or
// half of it if one of them is that long.
func tick(settings []machine.ToolSettings) time.Duration {
	var all []time.Duration
	for _, s := range settings {
		width, _ := bucket(s.Trip.Window)
		all = append(all, s.RecoveryDuration, s.ProbeTimeout, width, s.Trip.SlowerThan, s.Trip.ForgetAfter, s.Probing.Ramp, s.Cooldown.Longest, s.Cooldown.Forget)
	}
	all = slices.DeleteFunc(all, func(d time.Duration) bool { return d == 0 })
	var common time.Duration
	for _, d := range all {
		for d > 0 {
			common, d = d, common%d
		}
	}
	if len(all) > 0 && slices.Min(all) == common {
		common /= 2
	}
	return max(1, common)
}

// instants are those that are worth waiting for: a tick before, at and a tick
// after whatever can run out.
func (t *setSubject) instants() []time.Duration {
	r, s := t.m.memory(), &t.o.s
	ends := t.deadlines(&r)
	if t.o.s.Trip.SlowerThan > 0 {
		for _, c := range t.calls {
			if c.id != 0 {
				ends = append(ends, c.began+s.Trip.SlowerThan)
			}
		}
	}
	if r.State == machine.Closed {
		if f := s.Trip.ForgetAfter; f > 0 && r.Failures > 0 {
			ends = append(ends, r.LastFailure+f)
		}
		if r.Ramping {
			ends = append(ends, r.Closed+s.Probing.Ramp/2, r.Closed+s.Probing.Ramp)
		}
		if f := s.Cooldown.Forget; f > 0 && r.Streak > 0 {
			ends = append(ends, r.Closed+f)
		}
		if width, _ := bucket(s.Trip.Window); width > 0 {
			ends = append(ends, (t.now/width+1)*width)
		}
	}
	var all []time.Duration
	for _, e := range ends {
		all = append(all, e-t.tick, e, e+t.tick)
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(at time.Duration) bool { return at <= t.now || at > t.horizon })
	return all[:min(len(all), 200)]
}

// deadlines are when the cooldown and the leases end, and the cooldown that
// follows a lease.
func (t *setSubject) deadlines(r *machine.ToolMemory) (ends []time.Duration) {
	s := &t.o.s
	switch {
	case r.Forced != 0:
	case r.State == machine.Open:
		ends = append(ends, max(r.LastFailure+r.Cooldown, r.NotBefore))
	case r.State == machine.HalfOpen && s.ProbeTimeout > 0:
		for _, since := range r.Began {
			ends = append(ends, since+s.ProbeTimeout)
		}
		if len(ends) > 0 && s.Cooldown.Jitter == 0 {
			_, d := lengths(s, r.Streak+1)
			ends = append(ends, max(ends[0]+d, r.NotBefore))
		}
	}
	return ends
}

// endings are the ways in which a call in flight can end that are worth telling
// apart.
func (t *setSubject) endings() []Do {
	all := []Do{Success, Failure}
	for _, s := range t.settings {
		if s.Counts.RateLimit != s.Counts.Failure {
			all = append(all, RateLimit)
		}
		if s.Counts.Permanent != s.Counts.Failure {
			all = append(all, Permanent)
		}
		if s.Counts.Timeout != s.Counts.Failure {
			all = append(all, Timeout)
		}
		if s.Cooldown.RetryAfter {
			all = append(all, rateLimitBrief, rateLimitLong)
		}
	}
	slices.Sort(all)
	return append(slices.Compact(all), Cancel, Vanish)
}

func (t *setSubject) moves(ms []move) []move {
	for i := range t.instants() {
		ms = append(ms, move{wait, uint8(i)})
	}
	ms = append(ms, move{do: Peek}) // before Ask, which peeks too
	free := slices.IndexFunc(t.calls, func(c setCall) bool { return c.id == 0 })
	if free >= 0 {
		ms = append(ms, move{Ask, uint8(free)})
	}
	ms = append(ms, move{do: Reset})
	if t.forced {
		ms = append(ms, move{do: ForceOpen}, move{do: ForceClosed})
	}
	if t.changes {
		ms = append(ms, move{do: Configure})
	}
	var met []string // calls that are the same to the machine have the same future
	r, endings := t.m.memory(), t.endings()
	for slot, c := range t.calls {
		what := string(t.standing(nil, slot, &r))
		if c.id == 0 || slices.Contains(met, what) {
			continue
		}
		met = append(met, what)
		for _, d := range endings {
			if !t.brims(d) {
				ms = append(ms, move{d, uint8(slot)})
			}
		}
	}
	return ms
}

// brims says whether the window of time is as full as it is explored to be:
// there would be no end to the results that it can hold.
func (t *setSubject) brims(d Do) bool {
	w := &t.o.s.Trip
	return w.Window.Span > 0 && t.o.state == machine.Closed && d != Cancel && d != Vanish && len(t.o.held(t.now)) > max(w.MinCalls, w.Failures, 1)
}

// ending is what a move says of a call.
func (t *setSubject) ending(d Do) machine.Ending {
	e := machine.Ending{OK: d == Success}
	switch d {
	case RateLimit:
		e.Kind = machine.RateLimit
	case rateLimitBrief:
		e = machine.Ending{Kind: machine.RateLimit, RetryAfter: t.tick}
	case rateLimitLong:
		s := &t.settings[0]
		e = machine.Ending{Kind: machine.RateLimit, RetryAfter: max(s.RecoveryDuration, s.Cooldown.Longest) + t.tick}
	case Permanent:
		e.Kind = machine.Permanent
	case Timeout:
		e.Kind = machine.Timeout
	case Cancel:
		e.Kind = machine.Cancelled
	}
	return e
}

func (t *setSubject) step(m move) Step {
	s := Step{At: t.now, Do: m.do}
	switch m.do {
	case Ask:
		s.Call = t.asked + 1
	case Configure:
		s.Name = changed(&t.settings[t.which], &t.settings[1-t.which])
	case rateLimitBrief, rateLimitLong:
		s.Do, s.Wait, s.Call = RateLimit, t.ending(m.do).RetryAfter, t.calls[m.arg].id
	case Success, Failure, RateLimit, Permanent, Timeout, Cancel, Vanish:
		s.Call = t.calls[m.arg].id
	}
	return s
}

func (t *setSubject) do(m move, blind bool) *breach {
	slot := int(m.arg)
	switch m.do {
	case wait:
		t.now = t.instants()[m.arg]
		return nil
	case Vanish:
		t.forget(slot)
		return nil
	case Peek:
		if blind {
			return nil
		}
		_, b := t.peek()
		return b
	}
	j := judging{t: t, m: m, blind: blind}
	return j.judge()
}

// forget frees the slot. A probe that is gone keeps its lease.
func (t *setSubject) forget(slot int) {
	t.calls[slot] = setCall{}
	for i := range t.o.out {
		if t.o.out[i].slot == slot {
			t.o.out = slices.Clone(t.o.out)
			t.o.out[i].slot = -1
		}
	}
}

func (t *setSubject) peek() (would bool, b *breach) {
	before, was := t.key(), t.m.read(t.now)
	would = t.m.wouldAllow(t.now)
	if after := t.m.read(t.now); after != was || t.key() != before || len(t.m.moved()) > 0 {
		return would, &breach{invariant: setPeek, why: fmt.Sprintf("WouldAllow at %v left it %v, which was %v", t.now, after.State, was.State)}
	}
	return would, nil
}

// settle sends healthy traffic at every instant at which something runs out,
// each time as many calls as recovery needs, each of which works at once.
func (t *setSubject) settle() *breach {
	if t.o.forced != 0 {
		return nil
	}
	r, s := t.m.memory(), &t.o.s
	_, next := lengths(s, r.Streak+1)
	var steps []Step
	end := t.now + s.ProbeTimeout + max(0, r.NotBefore-t.now) + next
	if r.State == machine.Open {
		end = max(end, r.LastFailure+r.Cooldown+s.ProbeTimeout+next)
	}
	for at := t.now; ; {
		for range max(1, s.Probing.Needed) {
			t.asked++
			steps = append(steps, Step{At: at, Do: Ask, Call: t.asked})
			if !t.healthy(at) {
				break
			}
			steps = append(steps, Step{At: at, Do: Success, Call: t.asked})
		}
		r := t.m.memory()
		if r.State == machine.Closed {
			return nil
		}
		if at == end {
			return &breach{invariant: setNoWedge, why: fmt.Sprintf("after traffic up to %v it is %v still", end, r.State), more: steps}
		}
		next := end
		for _, i := range t.deadlines(&r) {
			if i > at && i < next {
				next = i
			}
		}
		at = next
	}
}

// healthy asks for a call that works at once, and says whether it was let through.
func (t *setSubject) healthy(at time.Duration) bool {
	admitted, _ := t.m.ask(at, len(t.calls))
	if admitted {
		t.m.end(at, len(t.calls), machine.Ending{OK: true})
	}
	return admitted
}
