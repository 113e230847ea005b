package machine_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// dumbSet is the judge of a tool breaker with all that it can be set to: T1 to
// T34 written down once more, with lists for everything and no figure kept that
// can be counted.
type dumbSet struct {
	s machine.ToolSettings

	clock    time.Duration
	state    string
	forced   string
	failures int
	lastBad  time.Duration   // last_failure_time
	waits    []time.Duration // instants that failures named (T29), since it was last well
	results  []dumbResult    // in Closed, all of them
	openings []dumbOpening
	out      []dumbProbe // probes in flight
	tested   []dumbResult
	probes   int
	closedAt time.Duration
	rampOn   bool
	rampSum  float64
	weighed  int // calls that the ramp looked at
	forgiven int // openings before the last reset

	calls map[int]*dumbCall
	news  []did
	step  int
}

type dumbResult struct {
	at        time.Duration
	bad, slow bool
}

type dumbOpening struct {
	step   int
	streak int
}

type dumbProbe struct {
	call  int // 0 for one whose call nobody knows
	since time.Duration
}

type dumbCall struct {
	step  int
	began time.Duration
	ended bool
}

func newDumbSet(s machine.ToolSettings) *dumbSet {
	return &dumbSet{s: s, state: "closed", calls: map[int]*dumbCall{}}
}

func (d *dumbSet) copy() *dumbSet {
	c := *d
	c.waits, c.results, c.openings = slices.Clone(d.waits), slices.Clone(d.results), slices.Clone(d.openings)
	c.out, c.tested = slices.Clone(d.out), slices.Clone(d.tested)
	c.calls = map[int]*dumbCall{}
	for k, v := range d.calls {
		one := *v
		c.calls[k] = &one
	}
	c.news = nil
	return &c
}

// knows is all that could change.
func (d *dumbSet) knows() string {
	return fmt.Sprint(d.state, d.failures, d.lastBad, d.waits, d.results, d.openings, d.out, d.tested, d.probes, d.weighed, len(d.news))
}

// at is one operation: time first, then the operation. An instant counts as seen
// when something changed at it.
func (d *dumbSet) at(now time.Duration, operation func()) {
	before, seen := d.knows(), d.clock
	d.step++
	d.clock = max(d.clock, now)
	d.lapse()
	operation()
	if d.knows() == before {
		d.clock = seen
	}
}

// lapse ends leases, one by one, each at its own end (T7).
func (d *dumbSet) lapse() {
	for d.state == "half-open" && d.s.ProbeTimeout > 0 && len(d.out) > 0 && d.clock >= d.out[0].since+d.s.ProbeTimeout {
		end := d.out[0].since + d.s.ProbeTimeout
		d.out = d.out[1:]
		d.tested = append(d.tested, dumbResult{at: end, bad: true})
		if to := d.verdict(); to != "half-open" {
			d.move(to, end, "T7")
		}
	}
}

func (d *dumbSet) move(to string, effective time.Duration, rule string) {
	d.news = append(d.news, did{"transition", d.state, to, effective, rule, d.failures})
	from := d.state
	d.state = to
	d.out, d.tested, d.rampOn = nil, nil, false
	switch to {
	case "open":
		streak := 1
		if n := len(d.openings); n > d.forgiven && !(from == "closed" && effective-d.closedAt >= d.s.Cooldown.Forget) {
			streak = d.openings[n-1].streak + 1
		}
		d.openings = append(d.openings, dumbOpening{d.step, streak})
		d.lastBad = effective
	case "closed":
		d.failures, d.waits, d.results = 0, nil, nil
		d.closedAt = effective
		d.rampOn, d.rampSum = d.s.Probing.Ramp > 0 && rule != "T32", 0
	}
}

// cooldown is how long the present one is.
func (d *dumbSet) cooldown() time.Duration {
	c := d.s.Cooldown
	n := len(d.openings)
	length := float64(d.s.RecoveryDuration)
	for i := 1; n > 0 && i < d.openings[n-1].streak && c.Growth > 0; i++ {
		length *= c.Growth
		if c.Longest > 0 {
			length = math.Min(length, math.Max(float64(c.Longest), float64(d.s.RecoveryDuration)))
		}
		length = math.Min(length, math.MaxInt64)
	}
	if c.Jitter > 0 {
		length *= 1 - c.Jitter + 2*c.Jitter*dumbDraw(c.Seed, n)
	}
	if length >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(length))
}

// dumbDraw steps the generator from its seed on until the n-th number, from 0.
func dumbDraw(seed uint64, n int) float64 {
	var z uint64
	for range n + 1 {
		seed += 0x9e3779b97f4a7c15
		z = seed
		z ^= z >> 30
		z *= 0xbf58476d1ce4e5b9
		z ^= z >> 27
		z *= 0x94d049bb133111eb
		z ^= z >> 31
	}
	return float64(z>>11) / (1 << 53)
}

func (d *dumbSet) until() time.Duration {
	end := d.lastBad + d.cooldown()
	if end < d.lastBad {
		end = math.MaxInt64
	}
	for _, w := range d.waits {
		end = max(end, w)
	}
	return end
}

func (d *dumbSet) room() bool {
	p := d.s.Probing
	all := len(d.out) + len(d.tested)
	switch {
	case len(d.out) >= max(1, p.AtOnce), p.InAll > 0 && all >= p.InAll, p.FailureRate > 0 && all >= max(1, p.Needed):
		return false
	}
	return true
}

// allow gives the rule of the decision.
func (d *dumbSet) allow(now time.Duration, call int) (admitted bool, rule string) {
	d.at(now, func() { admitted, rule = d.asked() })
	if admitted {
		d.calls[call] = &dumbCall{step: d.step, began: now}
		if rule == "T5" || rule == "T23" {
			d.out[len(d.out)-1].call = call
		}
	}
	return admitted, rule
}

func (d *dumbSet) asked() (bool, string) {
	switch {
	case d.forced == "open":
		return false, "T31"
	case d.forced == "closed":
		return true, "T32"
	case d.state == "closed" && d.rampOn:
		return d.ramp()
	case d.state == "closed":
		return true, "T1"
	case d.state == "open" && d.clock < d.until():
		return false, "T4"
	case d.state == "open" && d.s.Probing.Skip:
		d.move("closed", d.clock, "T34")
		return true, "T34"
	case d.state == "half-open" && !d.room():
		return false, "T6"
	}
	rule := "T23"
	if d.state == "open" {
		d.move("half-open", d.clock, "T5")
		rule = "T5"
	}
	d.probes++
	d.out = append(d.out, dumbProbe{since: d.clock})
	return true, rule
}

func (d *dumbSet) ramp() (bool, string) {
	p := d.s.Probing
	if d.clock >= d.closedAt+p.Ramp {
		d.rampOn = false
		return true, "T1"
	}
	done := float64(d.clock-d.closedAt) / float64(p.Ramp)
	d.weighed++
	d.rampSum += p.RampFrom + (1-p.RampFrom)*done
	if d.rampSum < 1 {
		return false, "T26"
	}
	d.rampSum--
	return true, "T1"
}

// refusal is what a refused call is told beside the rule.
func (d *dumbSet) refusal(rule string) (until time.Duration, known bool) {
	switch {
	case rule == "T31" || rule == "T26" || rule == "T6" && d.s.ProbeTimeout == 0:
		return 0, false
	case rule == "T4":
		return d.until(), true
	}
	for c := d.copy(); ; { // nothing comes back any more: wait for the end of one lease after the other
		end := c.out[0].since + c.s.ProbeTimeout
		c.clock = max(c.clock, end)
		c.step++
		c.lapse()
		switch {
		case c.state == "open":
			return c.until(), true
		case c.state == "closed" || c.room():
			return end, true
		}
	}
}

// report takes a result; call 0 is anonymous.
func (d *dumbSet) report(now time.Duration, call int, e machine.Ending) (v machine.Verdict) {
	if c := d.calls[call]; c != nil {
		if c.ended {
			return machine.Verdict{Repeated: true}
		}
		c.ended = true
	}
	d.at(now, func() { v = d.told(call, e) })
	return v
}

func (d *dumbSet) told(call int, e machine.Ending) machine.Verdict {
	yes := func(r machine.Rule) machine.Verdict { return machine.Verdict{Rule: r, Applied: true} }
	no := func(r machine.Rule) machine.Verdict { return machine.Verdict{Rule: r} }
	if d.forced != "" {
		return no(map[string]machine.Rule{"open": "T31", "closed": "T32"}[d.forced])
	}
	took := time.Duration(0)
	if call != 0 {
		took = d.clock - d.calls[call].began
	}
	slow := call != 0 && d.s.Trip.SlowerThan > 0 && took > d.s.Trip.SlowerThan
	counts := map[machine.Kind]machine.Take{machine.Transient: d.s.Counts.Failure, machine.Timeout: d.s.Counts.Timeout, machine.RateLimit: d.s.Counts.RateLimit,
		machine.Permanent: d.s.Counts.Permanent, machine.Cancelled: d.s.Counts.Cancelled}[e.Kind]
	switch {
	case e.OK || counts == machine.AsSuccess:
		e.OK = true
	case e.Kind == machine.Cancelled && counts != machine.AsFailure:
		if d.state == "half-open" && d.s.Probing.Release && d.takeBack(call) {
			return yes("T25")
		}
		return no("T16")
	case counts == machine.AsNothing:
		if d.state == "half-open" && d.takeBack(call) {
			return yes("T20")
		}
		return no("T20")
	}
	bad := !e.OK || slow && d.s.Trip.SlowFails
	switch d.state {
	case "open":
		switch {
		case !bad:
			return no("T10")
		case d.s.Cooldown.LateKeep:
			return no("T30")
		}
		d.fail(e)
		return yes("T11")
	case "half-open":
		if !d.takeBack(call) && call != 0 {
			return no("T13")
		}
		d.tested = append(d.tested, dumbResult{d.clock, bad, slow})
		if bad {
			d.fail(e)
		}
		switch to := d.verdict(); to {
		case "closed":
			d.move(to, d.clock, "T8")
			return yes("T8")
		case "open":
			d.move(to, d.clock, "T9")
			return yes("T9")
		}
		return yes("T24")
	}
	if n := len(d.openings); d.s.IgnoreStale && call != 0 && n > 0 && d.openings[n-1].step > d.calls[call].step {
		return no("T13")
	}
	return d.inClosed(bad, slow, e)
}

func (d *dumbSet) inClosed(bad, slow bool, e machine.Ending) machine.Verdict {
	t := d.s.Trip
	v := machine.Verdict{Rule: "T2", Applied: !t.KeepsCount}
	if bad {
		d.fail(e)
		v = machine.Verdict{Rule: "T3", Applied: true}
	} else if !t.KeepsCount && d.failures > 0 {
		d.failures, d.waits = 0, nil
	}
	rule := ""
	if t.Window != (machine.Window{}) {
		d.results = append(d.results, dumbResult{d.clock, bad, slow})
		v = machine.Verdict{Rule: "T21", Applied: true}
		calls, fails, slows := d.window()
		switch {
		case t.Failures > 0 && fails >= t.Failures:
			rule = "T21"
		case calls < t.MinCalls:
		case t.FailureRate > 0 && float64(fails)/float64(calls) >= t.FailureRate:
			rule = "T21"
		case t.SlowRate > 0 && float64(slows)/float64(calls) >= t.SlowRate:
			rule = "T22"
		}
	}
	if bad && d.s.FailureThreshold > 0 && d.failures >= d.s.FailureThreshold {
		rule = "T3"
	}
	if rule != "" {
		d.move("open", d.clock, rule)
	}
	return v
}

// window counts what it holds now, of all results.
func (d *dumbSet) window() (calls, fails, slows int) {
	w := d.s.Trip.Window
	for i, r := range d.results {
		if w.Calls > 0 && i < len(d.results)-w.Calls {
			continue
		}
		if w.Span > 0 {
			n := w.Buckets
			if n == 0 {
				n = 10
			}
			width := w.Span / time.Duration(n)
			if int64(d.clock/width)-int64(r.at/width) >= int64(n) {
				continue
			}
		}
		calls++
		if r.bad {
			fails++
		}
		if r.slow {
			slows++
		}
	}
	return calls, fails, slows
}

func (d *dumbSet) fail(e machine.Ending) {
	if f := d.s.Trip.ForgetAfter; f > 0 && d.state == "closed" && d.clock-d.lastBad > f {
		d.failures = 0
	}
	d.failures++
	d.lastBad = d.clock
	if d.s.Cooldown.RetryAfter && e.RetryAfter > 0 {
		wait := e.RetryAfter
		if l := d.s.Cooldown.Longest; l > 0 && l < wait {
			wait = l
		}
		d.waits = append(d.waits, d.clock+wait)
	}
}

// takeBack ends the probe of the call, the oldest one for an anonymous result.
func (d *dumbSet) takeBack(call int) bool {
	for i, p := range d.out {
		if call == 0 || p.call == call {
			d.out = append(slices.Clone(d.out[:i]), d.out[i+1:]...)
			return true
		}
	}
	return false
}

func (d *dumbSet) verdict() string {
	p := d.s.Probing
	bad, slow := 0, 0
	for _, r := range d.tested {
		if r.bad {
			bad++
		}
		if r.slow {
			slow++
		}
	}
	n := len(d.tested)
	if p.FailureRate == 0 {
		switch {
		case bad > 0:
			return "open"
		case n >= max(1, p.Needed):
			return "closed"
		}
		return "half-open"
	}
	switch {
	case n < max(1, p.Needed):
		return "half-open"
	case float64(bad)/float64(n) >= p.FailureRate, p.SlowRate > 0 && float64(slow)/float64(n) >= p.SlowRate:
		return "open"
	}
	return "closed"
}

func (d *dumbSet) reset(now time.Duration) {
	d.at(now, func() {
		d.forced = ""
		if d.state != "closed" {
			d.move("closed", d.clock, "T15")
		}
		if d.failures > 0 {
			d.failures, d.waits = 0, nil
		}
		d.rampOn, d.results, d.forgiven = false, nil, len(d.openings)
	})
}

func (d *dumbSet) force(now time.Duration, to, rule string) {
	d.at(now, func() {
		d.forced = to
		if d.state != to {
			d.move(to, d.clock, rule)
		}
	})
}

func (d *dumbSet) configure(now time.Duration, s machine.ToolSettings) {
	d.at(now, func() {
		if s.Trip.Window != d.s.Trip.Window {
			d.results = nil
		}
		d.s = s
		d.rampOn = d.rampOn && s.Probing.Ramp > 0
		if d.state == "half-open" && d.verdict() != "half-open" {
			d.move(d.verdict(), d.clock, "T33")
		}
	})
	d.clock = max(d.clock, now)
}

func (d *dumbSet) settle(now time.Duration) { d.at(now, func() {}) }
