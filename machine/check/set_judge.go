package check

import (
	"fmt"
	"slices"

	"github.com/breakersim/breakersim/machine"
)

// judging is one move of a set breaker: what must come of it, what came of it,
// and which invariant that breaks.
type judging struct {
	t     *setSubject
	m     move
	blind bool

	was      onlooker // before the move, with the leases that had run out
	want     []change
	ending   machine.Ending
	admitted bool // what must come of asking
	got      bool // what came of it
	probe    bool // the call whose result it was is a live probe
}

// judge makes the move on both, and compares.
func (j *judging) judge() *breach {
	t := j.t
	would := false
	if j.m.do == Ask && !j.blind {
		var b *breach
		if would, b = t.peek(); b != nil {
			return b
		}
	}
	j.want = t.o.lapse(t.now)
	j.was = t.o
	lapsed := len(j.want)
	j.make()
	news := t.m.moved()
	if j.blind {
		return nil
	}
	if j.m.do == Ask && would != j.got {
		return j.breaks(setPeek, "WouldAllow said %v, Allow did otherwise", would)
	}
	if b := j.transitions(news, lapsed); b != nil {
		return b
	}
	if b := j.asked(); b != nil {
		return b
	}
	if b := j.lengths(); b != nil {
		return b
	}
	return j.counts()
}

// make makes the move on the machine and in the onlooker's lists.
func (j *judging) make() {
	t, slot := j.t, int(j.m.arg)
	switch j.m.do {
	case Ask:
		j.ask(slot)
	case Reset:
		t.m.reset(t.now)
		j.drawn()
		j.want = append(j.want, t.o.reset(t.now)...)
	case ForceOpen, ForceClosed:
		to := machine.Open
		if j.m.do == ForceClosed {
			to = machine.Closed
		}
		t.m.force(t.now, to)
		j.drawn()
		j.want = append(j.want, t.o.force(t.now, to)...)
	case Configure:
		t.which = 1 - t.which
		t.m.configure(t.now, t.settings[t.which])
		j.drawn()
		j.want = append(j.want, t.o.configure(t.now, t.settings[t.which])...)
	default:
		j.ending = t.ending(j.m.do)
		for _, p := range t.o.out {
			j.probe = j.probe || p.slot == slot
		}
		t.m.end(t.now, slot, j.ending)
		j.drawn()
		j.want = append(j.want, t.o.result(t.now, &t.calls[slot], slot, j.ending)...)
		t.forget(slot)
	}
}

func (j *judging) ask(slot int) {
	t := j.t
	var moved []change
	j.got, _ = t.m.ask(t.now, slot)
	j.drawn()
	t.asked++
	j.admitted, moved = t.o.ask(t.now, j.got)
	j.want = append(j.want, moved...)
	if j.got {
		t.calls[slot] = setCall{t.asked, t.o.openings, t.now}
	}
	if j.got && t.o.state == machine.HalfOpen {
		t.o.out = append(t.o.out[:len(t.o.out):len(t.o.out)], probe{slot, t.now})
	}
}

// drawn takes the length of the cooldown over from the machine, which draws it.
func (j *judging) drawn() { j.t.o.length = j.t.m.memory().Cooldown }

func (j *judging) breaks(invariant int, why string, about ...any) *breach {
	return &breach{invariant: invariant, why: fmt.Sprintf(fmt.Sprintf("at %v ", j.t.now)+why, about...)}
}

// transitions compares those that came with those that must come, of which the
// first are of leases that had run out.
func (j *judging) transitions(news []machine.Transition, lapsed int) *breach {
	for i := range max(len(news), len(j.want)) {
		switch {
		case i >= len(j.want):
			return j.breaks(j.unwanted(news[i]), "it went from %v to %v", news[i].From, news[i].To)
		case i < lapsed && (i >= len(news) || news[i].To != j.want[i].to || news[i].Effective != j.want[i].effective):
			return j.breaks(setLeaseEnd, "the lease that ran out at %v did not lead to %v then", j.want[i].effective, j.want[i].to)
		case i >= len(news):
			return j.breaks(j.missing(j.want[i]), "it did not go from %v to %v", j.want[i].from, j.want[i].to)
		case news[i].From != j.want[i].from || news[i].To != j.want[i].to:
			return j.breaks(j.unwanted(news[i]), "it went from %v to %v, and should have to %v", news[i].From, news[i].To, j.want[i].to)
		}
	}
	return nil
}

// unwanted is what a transition breaks that should not have come.
func (j *judging) unwanted(c machine.Transition) int {
	o := &j.was
	_, nothing := o.taken(j.ending)
	result := j.m.do != Ask && j.m.do != Reset && j.m.do != ForceOpen && j.m.do != ForceClosed && j.m.do != Configure
	switch {
	case c.From == machine.Closed && c.To == machine.HalfOpen:
		return setNoShortcut
	case o.s.Probing.Skip && c.To == machine.HalfOpen:
		return setSkip
	case o.forced != 0:
		return setForced
	case j.m.do == Configure:
		return setConfigure
	case c.Rule == machine.T7:
		return setLeaseEnd
	case !result:
		return j.early()
	case nothing && j.ending.Kind != machine.Cancelled:
		return setIgnored
	case c.To == machine.Closed && !j.probe:
		return setStale
	case c.From == machine.HalfOpen && o.s.Probing.FailureRate > 0:
		return setProbeShare
	case c.From == machine.HalfOpen && c.To == machine.Closed && o.s.Probing.Needed > 1:
		return setNeeded
	case c.From == machine.HalfOpen && o.s.Counts != machine.Counts{}:
		return setCounted
	case c.From == machine.HalfOpen:
		return setVerdict
	}
	return j.tooSoon()
}

// early is what letting a call through breaks while it is open.
func (j *judging) early() int {
	if o := &j.was; o.s.Cooldown.RetryAfter && j.t.now >= o.lastBad+o.length {
		return setRetryAfter
	}
	return setCooldown
}

// tooSoon is what opening breaks that the record gives no reason for.
func (j *judging) tooSoon() int {
	o := &j.was
	switch {
	case o.windowed() && o.s.Trip.MinCalls > 1 && len(o.held(j.t.now))+1 < o.s.Trip.MinCalls:
		return setMinimum
	case o.s.Counts != machine.Counts{}:
		return setCounted
	case o.s.Trip.ForgetAfter > 0:
		return setForgotten
	case o.windowed():
		return setShare
	}
	return setThreshold
}

// missing is what a transition breaks that should have come and did not.
func (j *judging) missing(c change) int {
	o := &j.was
	switch {
	case c.rule == machine.T33:
		return setConfigure
	case c.rule == machine.T31 || c.rule == machine.T32 || c.rule == machine.T15:
		return setForced
	case c.rule == machine.T5 || c.rule == machine.T34:
		return setCooldown
	case c.from == machine.HalfOpen && o.s.Probing.FailureRate > 0:
		return setProbeShare
	case c.from == machine.HalfOpen && c.to == machine.Closed && o.s.Probing.Needed > 1:
		return setNeeded
	case c.from == machine.HalfOpen:
		return setVerdict
	case c.rule == machine.T3 && o.s.Trip.KeepsCount:
		return setKept
	case c.rule == machine.T3 && o.s.Counts == machine.Counts{}:
		return setThreshold
	case c.rule == machine.T3:
		return setCounted
	}
	return setShare
}

// asked compares what came of asking.
func (j *judging) asked() *breach {
	if j.m.do != Ask || j.got == j.admitted {
		return nil
	}
	o := &j.was
	p := &o.s.Probing
	why := "call %d was let through"
	if !j.got {
		why = "call %d was refused"
	}
	switch {
	case o.forced != 0:
		return j.breaks(setForced, why, j.t.asked)
	case o.state == machine.Open:
		return j.breaks(j.early(), why, j.t.asked)
	case o.state == machine.Closed:
		return j.breaks(setRamp, why, j.t.asked)
	case !j.got:
		return j.breaks(setSlotBack, why+", with %d probes out of %d", j.t.asked, len(o.out), max(1, p.AtOnce))
	case p.AtOnce <= 1 && len(o.out) >= 1:
		return j.breaks(setOneProbe, why+" beside the probe since %v", j.t.asked, o.out[0].since)
	case len(o.out) >= max(1, p.AtOnce):
		return j.breaks(setProbesAtOnce, why+" beside %d probes", j.t.asked, len(o.out))
	case p.InAll > 0 && len(o.out)+len(o.back) >= p.InAll:
		return j.breaks(setProbesInAll, why+" after %d probes", j.t.asked, len(o.out)+len(o.back))
	}
	return j.breaks(setProbeShare, why+" when enough probes were", j.t.asked)
}

// lengths holds the cooldown and its end against their bounds.
func (j *judging) lengths() *breach {
	t := j.t
	r := t.m.memory()
	streak := t.o.streak
	if j.m.do == Reset { // which makes it 0, after a lease that ran out
		streak = j.was.streak
	}
	shortest, longest := lengths(&t.o.s, streak)
	drew := j.m.do == Configure && r.State == machine.Open || slices.ContainsFunc(j.want, func(c change) bool { return c.to == machine.Open })
	switch late := j.was.state == machine.Open; {
	case drew && (r.Cooldown < shortest-1 || r.Cooldown > longest+1):
		return j.breaks(j.bounds(), "the cooldown is %v, and must be from %v to %v", r.Cooldown, shortest, longest)
	case r.State != machine.Open || t.o.forced != 0:
		return nil
	case late && r.LastFailure != t.o.lastBad && t.o.s.Cooldown.LateKeep:
		return j.breaks(setLate, "the cooldown is since %v, and must be since %v", r.LastFailure, t.o.lastBad)
	case r.LastFailure != t.o.lastBad:
		return j.breaks(setCooldown, "the cooldown is since %v, and must be since %v", r.LastFailure, t.o.lastBad)
	case r.NotBefore != t.o.notBefore:
		return j.breaks(j.named(), "the wait is up to %v, and must be up to %v", r.NotBefore, t.o.notBefore)
	}
	return nil
}

func (j *judging) bounds() int {
	if c := &j.t.o.s.Cooldown; c.Growth > 1 || c.Jitter > 0 {
		return setBounds
	}
	return setCooldown
}

func (j *judging) named() int {
	if j.t.o.s.Cooldown.RetryAfter {
		return setRetryAfter
	}
	return setCooldown
}

// counts compares what the machine has counted with the lists.
func (j *judging) counts() *breach {
	t := j.t
	o, r, back := &t.o, t.m.read(t.now), tallied(t.o.back)
	held, holds := tallied(o.held(t.now)), machine.ToolTally{Calls: r.WindowCalls, Failures: r.WindowFailures, Slow: r.WindowSlow}
	_, nothing := o.taken(j.ending)
	nothing = nothing && j.ending.Kind != machine.Cancelled && j.m.do >= Success
	switch {
	case j.m.do == Configure && (r.State != o.state || r.ConsecutiveFailures != o.failures || r.ProbesInFlight != len(o.out) || t.m.memory().Streak != o.streak):
		return j.breaks(setConfigure, "new settings left it %v with %d failures, and %v with %d it was", r.State, r.ConsecutiveFailures, o.state, o.failures)
	case r.Forced != (o.forced != 0):
		return j.breaks(setForced, "it says forced: %v", r.Forced)
	case r.ConsecutiveFailures != o.failures:
		return j.breaks(j.miscounted(nothing), "it has %d failures, and the onlooker %d", r.ConsecutiveFailures, o.failures)
	case o.state == machine.HalfOpen && (r.ProbesInFlight != len(o.out) || r.ProbeFailures != back.Failures || r.ProbeSuccesses != back.Calls-back.Failures):
		return j.breaks(j.misprobed(nothing), "it has %d probes out, %d that went well and %d that failed, and the onlooker %d, %d and %d",
			r.ProbesInFlight, r.ProbeSuccesses, r.ProbeFailures, len(o.out), back.Calls-back.Failures, back.Failures)
	case o.state == machine.Closed && o.windowed() && holds.Slow != held.Slow:
		return j.breaks(setSlow, "it has %d slow calls in its window, and the onlooker %d", holds.Slow, held.Slow)
	case o.state == machine.Closed && o.windowed() && holds != held:
		return j.breaks(j.misheld(nothing), "it has %d calls, %d failed, in its window, and the onlooker %d, %d failed", holds.Calls, holds.Failures, held.Calls, held.Failures)
	}
	return nil
}

// miscounted is what a wrong count of failures breaks.
func (j *judging) miscounted(nothing bool) int {
	s := &j.was.s
	switch {
	case j.was.forced != 0:
		return setForced
	case nothing:
		return setIgnored
	case s.Counts != machine.Counts{}:
		return setCounted
	case s.Trip.SlowFails:
		return setSlow
	case s.Trip.KeepsCount && j.m.do == Success:
		return setKept
	case s.Trip.ForgetAfter > 0:
		return setForgotten
	case j.was.state == machine.Open:
		return setLate
	}
	return setThreshold
}

// misprobed is what wrong numbers of probes break.
func (j *judging) misprobed(nothing bool) int {
	switch s := &j.was.s; {
	case j.m.do == Cancel || nothing:
		return setSlotBack
	case s.Counts != machine.Counts{}:
		return setCounted
	case s.Probing.FailureRate > 0:
		return setProbeShare
	case s.Probing.Needed > 1:
		return setNeeded
	}
	return setVerdict
}

// misheld is what a wrong window breaks.
func (j *judging) misheld(nothing bool) int {
	switch {
	case nothing:
		return setIgnored
	case j.was.s.Counts != machine.Counts{}:
		return setCounted
	}
	return setWindow
}
