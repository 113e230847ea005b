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

// dumbModel is the model breaker.
type dumbModel struct {
	primary                        string
	trip, needed, probationLimit   int
	cooldown                       time.Duration
	names                          []string
	budget                         map[string]int
	clock                          time.Duration
	state                          string
	failures, successes, probation int
	activated                      bool
	switchedAt                     time.Duration
	off                            map[string]bool
	strikes                        map[string]int
	step                           int
	moved, cleared                 []int // steps at which it made a transition, or the strikes were cleared
	servedBy                       map[int]string
	servedAt                       map[int]int
	ended                          map[int]bool
	news                           []did
}

func newDumbModel(s machine.ModelSettings) *dumbModel {
	d := &dumbModel{primary: s.Primary, trip: s.TripThreshold, needed: s.RecoverySuccessesNeeded, probationLimit: s.ProbationFailures, cooldown: s.RecoveryTimeout,
		state: "primary", budget: map[string]int{}, off: map[string]bool{}, strikes: map[string]int{}, servedBy: map[int]string{}, servedAt: map[int]int{}, ended: map[int]bool{}}
	for _, b := range s.Chain {
		d.names = append(d.names, b.Name)
		d.budget[b.Name] = b.MaxFailCount
		if b.MaxFailCount < 1 {
			d.budget[b.Name] = 1
		}
	}
	return d
}

// first is the first entry that is not failed, or "".
func (d *dumbModel) first() string {
	for _, n := range d.names {
		if !d.off[n] && d.strikes[n] < d.budget[n] {
			return n
		}
	}
	return ""
}

// serves goes by the state alone.
func (d *dumbModel) serves() string {
	if d.state == "fallback" && len(d.names) > 0 {
		return d.first()
	}
	return d.primary
}

// change does something and notes whether another model serves after it.
func (d *dumbModel) change(rule string, f func()) {
	before := d.serves()
	f()
	if after := d.serves(); after != before {
		d.news = append(d.news, did{what: "switch", from: before, to: after, rule: rule})
	}
}

func (d *dumbModel) move(to, rule string) {
	d.change(rule, func() {
		d.news = append(d.news, did{"transition", d.state, to, d.clock, rule, d.failures})
		d.state = to
		d.moved = append(d.moved, d.step)
		d.failures, d.successes, d.probation = 0, 0, 0
		if to == "fallback" {
			d.activated = true
			d.switchedAt = d.clock
		}
		if to == "primary" {
			d.clearStrikes()
		}
	})
}

func (d *dumbModel) clearStrikes() {
	d.strikes = map[string]int{}
	d.cleared = append(d.cleared, d.step)
}

func (d *dumbModel) tick(now time.Duration) {
	d.step++
	if now > d.clock {
		d.clock = now
	}
}

func (d *dumbModel) begin(now time.Duration, call int) (model, rule string) {
	d.tick(now)
	serve := func(model, rule string) (string, string) {
		d.servedBy[call], d.servedAt[call] = model, d.step
		return model, rule
	}
	switch {
	case d.state == "primary":
		return serve(d.primary, "M1")
	case d.state == "fallback" && d.clock-d.switchedAt >= d.cooldown:
		d.move("recovering", "M2")
		return serve(d.primary, "M2")
	case d.state == "fallback" && len(d.names) > 0 && d.first() == "":
		return "", "M3"
	case d.state == "fallback" && len(d.names) > 0:
		return serve(d.first(), "M4")
	case d.state == "fallback":
		return serve(d.primary, "M5")
	default:
		return serve(d.primary, "M6")
	}
}

// report takes a result; call 0 is anonymous.
func (d *dumbModel) report(now time.Duration, call int, ok, rateLimit bool) machine.Verdict {
	if call != 0 {
		if d.ended[call] {
			return machine.Verdict{Repeated: true}
		}
		d.ended[call] = true
	}
	d.tick(now)
	who := d.serves()
	if call != 0 {
		who = d.servedBy[call]
		if len(d.moved) > 0 && d.moved[len(d.moved)-1] > d.servedAt[call] { // M17
			if ok || who == d.primary || len(d.cleared) > 0 && d.cleared[len(d.cleared)-1] > d.servedAt[call] {
				return machine.Verdict{Rule: "M17"}
			}
			d.change("M17", func() { d.strikes[who]++ })
			return machine.Verdict{Rule: "M17", Applied: true}
		}
	}
	switch d.state {
	case "primary":
		if ok {
			d.failures = 0
			return machine.Verdict{Rule: "M7", Applied: true}
		}
		d.failures++
		if d.failures >= d.trip {
			d.move("fallback", "M10")
		}
		return machine.Verdict{Rule: "M10", Applied: true}
	case "fallback":
		if ok {
			return machine.Verdict{Rule: "M8"}
		}
		if who == "" || who == d.primary {
			return machine.Verdict{Rule: "M11"}
		}
		d.change("M11", func() { d.strikes[who]++ })
		return machine.Verdict{Rule: "M11", Applied: true}
	}
	if ok {
		d.successes++
		if d.successes >= d.needed {
			d.move("primary", "M9")
		}
		return machine.Verdict{Rule: "M9", Applied: true}
	}
	if rateLimit {
		d.move("fallback", "M12")
		return machine.Verdict{Rule: "M12", Applied: true}
	}
	d.successes = 0
	d.probation++
	if d.probationLimit > 0 && d.probation >= d.probationLimit {
		d.move("fallback", "M13")
	}
	return machine.Verdict{Rule: "M13", Applied: true}
}

func (d *dumbModel) setAvailable(now time.Duration, name string, available bool) {
	d.tick(now)
	d.change("M15", func() { d.off[name] = !available })
}

func (d *dumbModel) reset(now time.Duration) {
	d.tick(now)
	if d.state != "primary" {
		d.move("primary", "M16")
	}
	d.clearStrikes()
	d.failures, d.activated = 0, false
}
