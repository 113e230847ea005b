package check

import (
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// onlooker is somebody who saw every call and result of a tool breaker, keeps
// lists of them, and says by the rules what must come of each.
type onlooker struct {
	s         machine.ToolSettings
	anonymous bool

	state, forced machine.State
	failures      int           // that count
	lastBad       time.Duration // when the cooldown began, or the last failure counted
	notBefore     time.Duration // the wait that was named
	streak        int
	openings      uint64
	length        time.Duration // of this cooldown, as the machine drew it

	record []seen  // what came of the calls in Closed, for the window
	out    []probe // in half-open, the oldest first
	back   []seen  // what came of the other probes

	closed  time.Duration
	ramping bool
	share   float64 // the calls that the ramp let through so far, by right, less those that came through
}

// seen is what came of one call.
type seen struct {
	at           time.Duration
	failed, slow bool
}

// probe is one that was let through.
type probe struct {
	slot  int // -1: its call is gone
	since time.Duration
}

// change is one transition that must come.
type change struct {
	from, to  machine.State
	effective time.Duration
	rule      machine.Rule
}

// lapse ends the leases that ran out, and tells what comes of it.
func (o *onlooker) lapse(now time.Duration) (all []change) {
	for len(o.out) > 0 && o.s.ProbeTimeout > 0 && now >= o.out[0].since+o.s.ProbeTimeout {
		end := o.out[0].since + o.s.ProbeTimeout
		o.out = o.out[1:]
		o.back = append(o.back, seen{at: end, failed: true})
		if to := o.verdict(); to != machine.HalfOpen {
			all = append(all, o.move(to, end, machine.T7))
		}
	}
	return all
}

// move changes the state, and says so.
func (o *onlooker) move(to machine.State, at time.Duration, rule machine.Rule) change {
	c := change{o.state, to, at, rule}
	o.state, o.out, o.back, o.ramping = to, nil, nil, false
	switch to {
	case machine.Open:
		if c.from == machine.Closed && at-o.closed >= o.s.Cooldown.Forget {
			o.streak = 0
		}
		o.streak++
		o.openings++
		o.lastBad = at
	case machine.Closed:
		o.failures, o.notBefore, o.closed, o.record = 0, 0, at, nil
		o.ramping, o.share = o.s.Probing.Ramp > 0 && rule != machine.T32, 0
	}
	return c
}

// verdict is where the probes so far lead.
func (o *onlooker) verdict() machine.State {
	p, failed, slow := &o.s.Probing, 0, 0
	for _, r := range o.back {
		failed += one(r.failed)
		slow += one(r.slow)
	}
	n := len(o.back)
	switch {
	case p.FailureRate == 0 && failed > 0:
		return machine.Open
	case n < max(1, p.Needed):
		return machine.HalfOpen
	case reaches(failed, n, p.FailureRate) || reaches(slow, n, p.SlowRate):
		return machine.Open
	}
	return machine.Closed
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// reaches says whether n of all come to a share that is set.
func reaches(n, all int, share float64) bool {
	return share > 0 && all > 0 && float64(n)/float64(all) >= share
}

// free says whether a further probe may go.
func (o *onlooker) free() bool {
	p := &o.s.Probing
	granted := len(o.out) + len(o.back)
	return len(o.out) < max(1, p.AtOnce) && (p.InAll == 0 || granted < p.InAll) && (p.FailureRate == 0 || granted < max(1, p.Needed))
}

// until is when the cooldown ends.
func (o *onlooker) until() time.Duration { return max(o.lastBad+o.length, o.notBefore) }

// ask says whether a call is let through, and whether that changes the state.
// got is whether it was: it decides where a sum of shares is too near to say.
func (o *onlooker) ask(now time.Duration, got bool) (admitted bool, moved []change) {
	switch {
	case o.forced != 0:
		return o.forced == machine.Closed, nil
	case o.state == machine.Open && now < o.until():
		return false, nil
	case o.state == machine.Open && o.s.Probing.Skip:
		return true, []change{o.move(machine.Closed, now, machine.T34)}
	case o.state == machine.Open:
		return true, []change{o.move(machine.HalfOpen, now, machine.T5)}
	case o.state == machine.HalfOpen:
		return o.free(), nil
	case o.ramping:
		return o.ramp(now, got), nil
	}
	return true, nil
}

// ramp says whether the share that it has come to lets one more call through.
func (o *onlooker) ramp(now time.Duration, got bool) bool {
	p, since := &o.s.Probing, now-o.closed
	if since >= p.Ramp {
		o.ramping = false
		return true
	}
	o.share += p.RampFrom + (1-p.RampFrom)*float64(since)/float64(p.Ramp)
	if o.share < 1-ulp || o.share < 1+ulp && !got {
		return false
	}
	o.share--
	return true
}

// ulp is what sums of shares may be wrong by.
const ulp = 1e-9

// taken is what an ending counts as, or that it counts as nothing.
func (o *onlooker) taken(e machine.Ending) (ok, nothing bool) {
	if e.OK {
		return true, false
	}
	c := &o.s.Counts
	take := [...]machine.Take{machine.Transient: c.Failure, machine.RateLimit: c.RateLimit, machine.Permanent: c.Permanent,
		machine.Timeout: c.Timeout, machine.Cancelled: c.Cancelled}[e.Kind]
	if take == machine.AsItIs && e.Kind == machine.Cancelled {
		return false, true
	}
	return take == machine.AsSuccess, take == machine.AsNothing
}

// result takes the result of the call in a slot.
func (o *onlooker) result(now time.Duration, c *setCall, slot int, e machine.Ending) []change {
	ok, nothing := o.taken(e)
	anonymous := o.anonymous && e.Kind != machine.Cancelled
	slow := !anonymous && o.s.Trip.SlowerThan > 0 && now-c.began > o.s.Trip.SlowerThan
	r := seen{now, !ok || slow && o.s.Trip.SlowFails, slow}
	switch {
	case o.forced != 0:
		return nil
	case nothing:
		if e.Kind != machine.Cancelled || o.s.Probing.Release {
			o.take(slot, anonymous)
		}
		return nil
	case o.state == machine.Open:
		if r.failed && !o.s.Cooldown.LateKeep {
			o.bad(now, e)
		}
		return nil
	case o.state == machine.HalfOpen:
		return o.probed(slot, anonymous, r, e)
	case o.s.IgnoreStale && !anonymous && c.openings != o.openings:
		return nil
	}
	return o.counted(r, e)
}

// take takes a slot back from the probe in it, and says whether it was one.
func (o *onlooker) take(slot int, anonymous bool) bool {
	i := slices.IndexFunc(o.out, func(p probe) bool { return anonymous || p.slot == slot })
	if i < 0 {
		return false
	}
	o.out = slices.Delete(slices.Clone(o.out), i, i+1)
	return true
}

func (o *onlooker) probed(slot int, anonymous bool, r seen, e machine.Ending) []change {
	if !o.take(slot, anonymous) {
		return nil
	}
	o.back = append(slices.Clone(o.back), r)
	if r.failed {
		o.bad(r.at, e)
	}
	switch to := o.verdict(); to {
	case machine.Closed:
		return []change{o.move(to, r.at, machine.T8)}
	case machine.Open:
		return []change{o.move(to, r.at, machine.T9)}
	}
	return nil
}

// counted takes a result in Closed.
func (o *onlooker) counted(r seen, e machine.Ending) []change {
	if r.failed {
		o.bad(r.at, e)
	} else if !o.s.Trip.KeepsCount && o.failures > 0 {
		o.failures, o.notBefore = 0, 0
	}
	if o.windowed() {
		o.record = append(o.held(r.at), r)
	}
	if rule := o.opens(r); rule != "" {
		return []change{o.move(machine.Open, r.at, rule)}
	}
	return nil
}

// bad takes a failure that counts.
func (o *onlooker) bad(now time.Duration, e machine.Ending) {
	if f := o.s.Trip.ForgetAfter; f > 0 && o.state == machine.Closed && now-o.lastBad > f {
		o.failures = 0
	}
	o.failures++
	o.lastBad = now
	if c := &o.s.Cooldown; c.RetryAfter && e.RetryAfter > 0 {
		wait := e.RetryAfter
		if c.Longest > 0 && wait > c.Longest {
			wait = c.Longest
		}
		o.notBefore = max(o.notBefore, now+wait)
	}
}

func (o *onlooker) windowed() bool { w := o.s.Trip.Window; return w.Calls > 0 || w.Span > 0 }

// held is what of the record the window still looks back on at now, in a list
// of its own: of a ring its calls, of time what is in the buckets not yet gone.
func (o *onlooker) held(now time.Duration) []seen {
	w := o.s.Trip.Window
	if w.Calls > 0 {
		all := slices.Clone(o.record)
		return all[max(0, len(all)-w.Calls):]
	}
	width, buckets := bucket(w)
	if width == 0 {
		return nil
	}
	var all []seen
	for _, r := range o.record {
		if now/width-r.at/width < time.Duration(buckets) {
			all = append(all, r)
		}
	}
	return all
}

// bucket is how long a bucket of time is, and how many there are.
func bucket(w machine.Window) (width time.Duration, n int) {
	n = w.Buckets
	if n == 0 {
		n = 10
	}
	return w.Span / time.Duration(n), n
}

// opens says by which rule the record opens it after the last result.
func (o *onlooker) opens(last seen) machine.Rule {
	t := &o.s.Trip
	if n := o.s.FailureThreshold; n > 0 && last.failed && o.failures >= n {
		return machine.T3
	}
	if !o.windowed() {
		return ""
	}
	h := tallied(o.held(last.at))
	switch {
	case t.Failures > 0 && h.Failures >= t.Failures:
		return machine.T21
	case h.Calls < t.MinCalls:
		return ""
	case reaches(h.Failures, h.Calls, t.FailureRate):
		return machine.T21
	case reaches(h.Slow, h.Calls, t.SlowRate):
		return machine.T22
	}
	return ""
}

func tallied(all []seen) (t machine.ToolTally) {
	for _, r := range all {
		t.Calls++
		t.Failures += one(r.failed)
		t.Slow += one(r.slow)
	}
	return t
}

func (o *onlooker) reset(now time.Duration) (moved []change) {
	o.forced = 0
	if o.state != machine.Closed {
		moved = append(moved, o.move(machine.Closed, now, machine.T15))
	}
	o.failures, o.notBefore, o.streak, o.ramping, o.record = 0, 0, 0, false, nil
	return moved
}

func (o *onlooker) force(now time.Duration, to machine.State) (moved []change) {
	o.forced = to
	if to == o.state {
		return nil
	}
	rule := machine.T32
	if to == machine.Open {
		rule = machine.T31
	}
	return []change{o.move(to, now, rule)}
}

// configure takes new settings. By them the probes that came back may be enough.
func (o *onlooker) configure(now time.Duration, s machine.ToolSettings) []change {
	if s.Trip.Window != o.s.Trip.Window {
		o.record = nil
	}
	o.ramping = o.ramping && s.Probing.Ramp > 0
	o.s = s
	if o.state != machine.HalfOpen {
		return nil
	}
	if to := o.verdict(); to != machine.HalfOpen {
		return []change{o.move(to, now, machine.T33)}
	}
	return nil
}

// lengths are the bounds of a cooldown that begins now: the streak-th in a row,
// by chance as short as it can be and as long.
func lengths(s *machine.ToolSettings, streak int) (shortest, longest time.Duration) {
	c, d := &s.Cooldown, float64(s.RecoveryDuration)
	most := math.Inf(1)
	if c.Longest > 0 {
		most = max(d, float64(c.Longest))
	}
	for i := 1; i < streak && c.Growth > 1 && d > 0 && d < most; i++ {
		d = min(most, d*c.Growth)
	}
	return atMost(d * (1 - c.Jitter)), atMost(d * (1 + c.Jitter))
}

// atMost is a time, or the longest that there is.
func atMost(d float64) time.Duration {
	if d >= math.MaxInt64/4 {
		return math.MaxInt64 / 4
	}
	return time.Duration(math.Round(d))
}
