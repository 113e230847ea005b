package check

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// key is a digest of all that the machine remembers and its onlooker knows,
// instants taken relative to now.
func (t *setSubject) key() (k key) {
	r := t.m.memory()
	p := print{now: t.now}
	p.count(t.which, int(r.State), int(r.Forced), min(r.Failures, t.most()), t.streak(r.Streak), r.Tested.Calls, r.Tested.Failures, r.Tested.Slow, len(r.Began))
	p.count(int(t.o.state), int(t.o.forced), min(t.o.failures, t.most()), t.streak(t.o.streak), len(t.o.out), len(t.o.back))
	p.since(r.LastFailure, t.longest(r.State))
	p.since(t.o.lastBad, t.longest(t.o.state))
	p.until(r.NotBefore)
	p.until(t.o.notBefore)
	if r.State == machine.Open {
		p.count(int(r.Cooldown), int(t.o.length))
	}
	if t.settings[0].Cooldown.Jitter > 0 || t.settings[1].Cooldown.Jitter > 0 {
		p.count(int(r.Openings))
	}
	for _, since := range r.Began {
		p.since(since, t.longest(machine.Open))
	}
	for _, o := range t.o.out {
		p.since(o.since, t.longest(machine.Open))
	}
	p.tally(tallied(t.o.back))
	t.closed(&p, &r)
	p.calls(t, &r)
	sum := sha256.Sum256(p.all)
	copy(k[:], sum[:])
	return k
}

// closed is what is remembered of the time since it closed.
func (t *setSubject) closed(p *print, r *machine.ToolMemory) {
	if f := max(t.settings[0].Cooldown.Forget, t.settings[1].Cooldown.Forget); f > 0 && r.State == machine.Closed {
		p.since(r.Closed, f)
		p.since(t.o.closed, f)
	}
	if r.Ramping || t.o.ramping {
		p.since(r.Closed, t.o.s.Probing.Ramp)
		p.count(1, int(math.Round(r.Credit/ulp)), int(math.Round(t.o.share/ulp)))
	}
	width, buckets := bucket(t.o.s.Trip.Window)
	if width > 0 {
		p.count(int(t.now % width))
		p.since(r.WindowEnds, time.Duration(buckets)*width)
	}
	if r.State != machine.Closed {
		return
	}
	for _, w := range r.Window {
		p.tally(w)
	}
	for _, w := range t.o.held(t.now) {
		age := 0
		if width > 0 {
			age = int(t.now/width - w.at/width)
		}
		p.count(age, one(w.failed), one(w.slow))
	}
}

// most is the count of failures beyond which more decide nothing.
func (t *setSubject) most() int {
	return max(1, t.settings[0].FailureThreshold, t.settings[1].FailureThreshold)
}

// streak is a number of openings, cut off where more make no cooldown longer.
func (t *setSubject) streak(n int) int {
	for n > 0 && levelled(t.settings[0], n) && levelled(t.settings[1], n) {
		n--
	}
	return n
}

// levelled says whether the n-th opening in a row has the cooldown of the one
// before it and of those that follow.
func levelled(s machine.ToolSettings, n int) bool {
	_, a := lengths(&s, n)
	_, b := lengths(&s, n+1)
	_, c := lengths(&s, n-1)
	return a == b && (n == 1 || a == c) || s.Cooldown.Growth <= 1
}

// longest is the time since the last failure beyond which more decides nothing.
func (t *setSubject) longest(state machine.State) (d time.Duration) {
	if state == machine.HalfOpen {
		return 0
	}
	for _, s := range t.settings {
		_, l := lengths(&s, t.o.streak+1)
		if state == machine.Closed {
			l = s.Trip.ForgetAfter
		} else {
			l += s.ProbeTimeout
		}
		d = max(d, l)
	}
	return d + t.tick
}

// standing is what the call in the slot is to the machine and to the onlooker.
func (t *setSubject) standing(b []byte, slot int, r *machine.ToolMemory) []byte {
	c := &t.calls[slot]
	p := print{now: t.now, all: b}
	p.count(one(c.openings == r.Openings), slices.IndexFunc(t.o.out, func(o probe) bool { return o.slot == slot }))
	if d := max(t.settings[0].Trip.SlowerThan, t.settings[1].Trip.SlowerThan); d > 0 {
		p.since(c.began, d+t.tick)
	}
	return p.all
}

// print is what is told of a state, one number after the other.
type print struct {
	now time.Duration
	all []byte
}

func (p *print) count(all ...int) {
	for _, n := range all {
		p.all = binary.AppendVarint(p.all, int64(n))
	}
}

func (p *print) tally(t machine.ToolTally) { p.count(t.Calls, t.Failures, t.Slow) }

// since is how long ago an instant was, cut off where more decides nothing.
func (p *print) since(at, most time.Duration) { p.count(int(min(p.now-at, most))) }

// until is how far off an instant is; one that is past decides nothing.
func (p *print) until(at time.Duration) { p.count(int(max(0, at-p.now))) }

// calls are those in flight: which is in which slot makes no difference.
func (p *print) calls(t *setSubject, r *machine.ToolMemory) {
	var all []string
	for slot := range t.calls {
		if t.calls[slot].id != 0 {
			all = append(all, string(t.standing(nil, slot, r)))
		}
	}
	slices.Sort(all)
	for _, c := range all {
		p.all = append(append(p.all, 0xff), c...)
	}
}
