package machine_test

import (
	"time"

	"github.com/breakersim/breakersim/machine"
)

// The two machines below are the judges of the real ones: the rules' tables
// copied out as they stand, one step after the other, with everything ever
// known kept in lists and nothing shared with the code that they judge.

// did is one thing that a judge saw happen.
type did struct {
	what      string // "transition" or "switch"
	from, to  string
	effective time.Duration
	rule      string
	failures  int
}

// dumbTool is the tool breaker.
type dumbTool struct {
	threshold       int
	cooldown, lease time.Duration
	ignoreStale     bool

	clock       time.Duration
	state       string
	failures    int
	lastFailure time.Duration
	probeStart  time.Duration
	probeCall   int // 0: nobody
	step        int // counts operations
	openedAt    []int
	probes      uint64
	admittedAt  map[int]int // by call
	ended       map[int]bool
	news        []did
}

func newDumbTool(s machine.ToolSettings) *dumbTool {
	return &dumbTool{threshold: s.FailureThreshold, cooldown: s.RecoveryDuration, lease: s.ProbeTimeout, ignoreStale: s.IgnoreStale,
		state: "closed", admittedAt: map[int]int{}, ended: map[int]bool{}}
}

func (d *dumbTool) copy() *dumbTool {
	c := *d
	c.admittedAt, c.ended, c.news = map[int]int{}, map[int]bool{}, nil
	return &c
}

func (d *dumbTool) move(to string, effective time.Duration, rule string) {
	d.news = append(d.news, did{"transition", d.state, to, effective, rule, d.failures})
	d.state = to
}

// remember ends an operation. An instant counts as seen when something changed
// at it: a breaker that needs no clock looks at none.
func (d *dumbTool) remember(before dumbTool, seen time.Duration) {
	if d.state == before.state && d.failures == before.failures && d.lastFailure == before.lastFailure && len(d.news) == len(before.news) {
		d.clock = seen
	}
}

// tick is "time first": now never runs backwards, and T7 before anything else.
func (d *dumbTool) tick(now time.Duration) {
	d.step++
	if now > d.clock {
		d.clock = now
	}
	if d.state == "half-open" && d.lease != 0 {
		if end := d.probeStart + d.lease; d.clock >= end {
			d.move("open", end, "T7")
			d.lastFailure = end
			d.probeCall = 0
			d.openedAt = append(d.openedAt, d.step)
		}
	}
}

func (d *dumbTool) allow(now time.Duration, call int) (admitted bool, rule string) {
	defer d.remember(*d, d.clock)
	d.tick(now)
	if d.state == "closed" { // T1
		d.admittedAt[call] = d.step
		return true, "T1"
	}
	if d.state == "open" && d.clock-d.lastFailure < d.cooldown { // T4
		return false, "T4"
	}
	if d.state == "open" { // T5
		d.move("half-open", d.clock, "T5")
		d.probes++
		d.probeStart = d.clock
		d.probeCall = call
		d.admittedAt[call] = d.step
		return true, "T5"
	}
	return false, "T6"
}

func (d *dumbTool) until() (time.Duration, bool) {
	if d.state == "open" {
		return d.lastFailure + d.cooldown, true
	}
	if d.lease == 0 {
		return 0, false
	}
	return d.probeStart + d.lease + d.cooldown, true
}

// report takes a result; call 0 is anonymous.
func (d *dumbTool) report(now time.Duration, call int, ok bool) machine.Verdict {
	if call != 0 {
		if d.ended[call] {
			return machine.Verdict{Repeated: true}
		}
		d.ended[call] = true
	}
	defer d.remember(*d, d.clock)
	d.tick(now)
	yes := func(r machine.Rule) machine.Verdict { return machine.Verdict{Rule: r, Applied: true} }
	no := func(r machine.Rule) machine.Verdict { return machine.Verdict{Rule: r} }
	if d.state == "half-open" {
		if call != 0 && call != d.probeCall {
			return no("T13")
		}
		if ok {
			d.move("closed", d.clock, "T8")
			d.failures, d.probeCall = 0, 0
			return yes("T8")
		}
		d.failures++
		d.move("open", d.clock, "T9")
		d.lastFailure, d.probeCall = d.clock, 0
		d.openedAt = append(d.openedAt, d.step)
		return yes("T9")
	}
	if d.state == "open" {
		if ok {
			return no("T10")
		}
		d.lastFailure = d.clock
		d.failures++
		return yes("T11")
	}
	if call != 0 && d.ignoreStale && len(d.openedAt) > 0 && d.openedAt[len(d.openedAt)-1] > d.admittedAt[call] {
		return no("T13")
	}
	if ok {
		d.failures = 0
		return yes("T2")
	}
	d.failures++
	if d.threshold > 0 && d.failures >= d.threshold {
		d.move("open", d.clock, "T3")
		d.lastFailure, d.probeCall = d.clock, 0
		d.openedAt = append(d.openedAt, d.step)
	}
	return yes("T3")
}

func (d *dumbTool) reset(now time.Duration) {
	defer d.remember(*d, d.clock)
	d.tick(now)
	if d.state != "closed" {
		d.move("closed", d.clock, "T15")
	}
	d.failures, d.probeCall = 0, 0
}

func (d *dumbTool) settle(now time.Duration) {
	defer d.remember(*d, d.clock)
	d.tick(now)
}
