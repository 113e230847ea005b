package machine_test

import (
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// dumbModel is the model breaker.
type dumbModel struct {
	set                            machine.ModelSettings
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

	trips      int
	streak     int                   // trips since a recovery that counts
	back       time.Duration         // when it was in primary again
	span       time.Duration         // of the cooldown that runs
	named      []time.Duration       // instants that failures of the primary told it to wait for, since a success
	out        map[int]time.Duration // probes that have a place: when they began
	order      []int                 // and in which order they did
	aside      map[int]bool          // turns that a backup served while it recovered
	lastStrike map[string]time.Duration
}

func newDumbModel(s machine.ModelSettings) *dumbModel {
	d := &dumbModel{set: s, out: map[int]time.Duration{}, aside: map[int]bool{}, lastStrike: map[string]time.Duration{}, primary: s.Primary, trip: s.TripThreshold, needed: s.RecoverySuccessesNeeded, probationLimit: s.ProbationFailures, cooldown: s.RecoveryTimeout,
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
		if d.first() == "" {
			return d.set.LastResort
		}
		return d.first()
	}
	return d.primary
}

// change does something and notes whether another model serves after it.
func (d *dumbModel) change(rule string, f func()) {
	before := d.serves()
	f()
	if after := d.serves(); after != before {
		d.news = append(d.news, did{what: "switch", from: before, to: after, effective: d.clock, rule: rule})
	}
}

func (d *dumbModel) move(to, rule string) {
	was := d.state
	d.change(rule, func() {
		d.news = append(d.news, did{"transition", d.state, to, d.clock, rule, d.failures})
		d.state = to
		d.moved = append(d.moved, d.step)
		d.failures, d.successes, d.probation = 0, 0, 0
		d.out, d.order = map[int]time.Duration{}, nil
		if to == "fallback" {
			d.activated = true
			d.switchedAt = d.clock
			d.trips++
			d.streak++
			if was == "primary" && d.clock-d.back >= d.set.Cooldown.Forget {
				d.streak = 1
			}
			d.span = d.length()
		}
		if to == "primary" {
			d.clearStrikes()
			d.back, d.named = d.clock, nil
		}
	})
}

func (d *dumbModel) clearStrikes() {
	d.strikes = map[string]int{}
	d.cleared = append(d.cleared, d.step)
}

// tick moves the clock, and lets backups be whole again in the order in which
// they are (M24).
func (d *dumbModel) tick(now time.Duration) {
	d.step++
	if now > d.clock {
		d.clock = now
	}
	for d.set.EntryCooldown > 0 {
		next := ""
		for _, n := range d.names {
			if d.spent(n) && (next == "" || d.lastStrike[n] < d.lastStrike[next]) {
				next = n
			}
		}
		if next == "" || d.lastStrike[next]+d.set.EntryCooldown > d.clock {
			return
		}
		before := d.serves()
		d.strikes[next] = 0
		if after := d.serves(); after != before {
			d.news = append(d.news, did{what: "switch", from: before, to: after, effective: d.lastStrike[next] + d.set.EntryCooldown, rule: "M24"})
		}
	}
}

func (d *dumbModel) spent(name string) bool { return d.strikes[name] >= d.budget[name] }

func (d *dumbModel) strike(name, rule string) {
	d.change(rule, func() {
		d.strikes[name]++
		d.lastStrike[name] = d.clock
	})
}

// length is the cooldown of a trip (M25, M26), with SplitMix64 as it was published.
func (d *dumbModel) length() time.Duration {
	c := d.set.Cooldown
	if c.Growth <= 1 && c.Jitter == 0 {
		return d.cooldown
	}
	long := float64(d.cooldown)
	for i := 1; i < d.streak && c.Growth > 1; i++ {
		long *= c.Growth
		if c.Longest > 0 && long > float64(c.Longest) {
			long = max(float64(d.cooldown), float64(c.Longest))
		}
	}
	if c.Jitter > 0 {
		state, z := c.Seed, uint64(0)
		for range d.trips + 1 {
			state += 0x9e3779b97f4a7c15
			z = state
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
			z = (z ^ (z >> 27)) * 0x94d049bb133111eb
			z ^= z >> 31
		}
		u := float64(z>>11) / 9007199254740992
		long *= 1 - c.Jitter + 2*c.Jitter*u
	}
	return time.Duration(math.Round(long))
}

// until is the end of the cooldown, and of every wait that was named (M27).
func (d *dumbModel) until() time.Duration {
	until := d.switchedAt + d.span
	for _, at := range d.named {
		until = max(until, at)
	}
	return until
}

// hear takes note of a wait that the primary named, and says whether it moves the
// end of the cooldown.
func (d *dumbModel) hear(e machine.Ending) bool {
	if !d.set.Cooldown.RetryAfter || e.RetryAfter <= 0 {
		return false
	}
	wait := e.RetryAfter
	if d.set.Cooldown.Longest > 0 && wait > d.set.Cooldown.Longest {
		wait = d.set.Cooldown.Longest
	}
	before := d.until()
	d.named = append(d.named, d.clock+wait)
	return d.until() > before
}

// next is when somebody serves again.
func (d *dumbModel) next() time.Duration {
	next := d.until()
	for _, n := range d.names {
		if d.set.EntryCooldown > 0 && d.spent(n) && !d.off[n] {
			next = min(next, d.lastStrike[n]+d.set.EntryCooldown)
		}
	}
	return next
}

// full says whether as many probes are out as may be.
func (d *dumbModel) full() bool {
	n := 0
	for _, began := range d.out {
		if d.set.ProbeTimeout == 0 || d.clock < began+d.set.ProbeTimeout {
			n++
		}
	}
	return d.set.Probes > 0 && n >= d.set.Probes
}

// probe gives a turn a place, if places are counted and there is one.
func (d *dumbModel) probe(call int) {
	if d.set.Probes > 0 && !d.full() {
		for c, began := range d.out {
			if d.set.ProbeTimeout > 0 && d.clock >= began+d.set.ProbeTimeout {
				d.leave(c)
			}
		}
		d.out[call] = d.clock
		d.order = append(d.order, call)
	}
}

// leave takes a turn's place, and says whether it had one; call 0 is whoever has
// the oldest.
func (d *dumbModel) leave(call int) bool {
	if call == 0 && len(d.order) > 0 {
		call = d.order[0]
	}
	_, had := d.out[call]
	delete(d.out, call)
	d.order = slices.DeleteFunc(d.order, func(c int) bool { return c == call })
	return had
}

func (d *dumbModel) begin(now, waited time.Duration, call int) (model, rule string) {
	d.tick(now)
	serve := func(model, rule string) (string, string) {
		d.servedBy[call], d.servedAt[call] = model, d.step
		return model, rule
	}
	switch {
	case d.state == "primary":
		return serve(d.primary, "M1")
	case d.state == "fallback" && d.clock >= d.until():
		d.move("recovering", "M2")
		d.probe(call)
		return serve(d.primary, "M2")
	case d.state == "fallback" && len(d.names) == 0:
		return serve(d.primary, "M5")
	case d.state == "fallback" && d.first() != "":
		return serve(d.first(), "M4")
	case d.state == "fallback" && d.set.Wait > 0 && d.next()-d.clock+waited <= d.set.Wait:
		return "", "M22"
	case d.state == "fallback" && d.set.LastResort != "":
		return serve(d.set.LastResort, "M23")
	case d.state == "fallback":
		return "", "M3"
	case d.full() && d.first() != "":
		d.aside[call] = true
		return serve(d.first(), "M21")
	case d.full() && d.set.LastResort != "":
		d.aside[call] = true
		return serve(d.set.LastResort, "M21")
	}
	d.probe(call)
	return serve(d.primary, "M6")
}

// means is what a result counts as: "ok", "bad", or nothing.
func (d *dumbModel) means(e machine.Ending) string {
	take := map[machine.Kind]machine.Take{machine.Transient: d.set.Counts.Failure, machine.Timeout: d.set.Counts.Timeout, machine.RateLimit: d.set.Counts.RateLimit,
		machine.Permanent: d.set.Counts.Permanent, machine.Cancelled: d.set.Counts.Cancelled}[e.Kind]
	switch {
	case e.OK || take == machine.AsSuccess:
		return "ok"
	case take == machine.AsFailure || take == machine.AsItIs && e.Kind != machine.Cancelled:
		return "bad"
	}
	return ""
}

// report takes a result; call 0 is anonymous.
func (d *dumbModel) report(now time.Duration, call int, e machine.Ending) machine.Verdict {
	if call != 0 {
		if d.ended[call] {
			return machine.Verdict{Repeated: true}
		}
		d.ended[call] = true
	}
	means := d.means(e)
	if means == "" {
		left := d.leave(call)
		if e.Kind == machine.Cancelled {
			return machine.Verdict{Rule: "M14", Applied: left}
		}
		return machine.Verdict{Rule: "M20", Applied: left}
	}
	ok := means == "ok"
	d.tick(now)
	who := d.serves()
	if call != 0 {
		who = d.servedBy[call]
		if len(d.moved) > 0 && d.moved[len(d.moved)-1] > d.servedAt[call] { // M17
			return d.old(call, who, ok, e)
		}
	}
	if d.state == "fallback" || call != 0 && d.aside[call] {
		if ok {
			return machine.Verdict{Rule: "M8"}
		}
		if who == d.primary {
			return machine.Verdict{Rule: "M11", Applied: d.hear(e)}
		}
		if !slices.Contains(d.names, who) {
			return machine.Verdict{Rule: "M11"}
		}
		d.strike(who, "M11")
		return machine.Verdict{Rule: "M11", Applied: true}
	}
	if d.state == "primary" {
		if ok {
			d.failures, d.named = 0, nil
			return machine.Verdict{Rule: "M7", Applied: true}
		}
		d.failures++
		d.hear(e)
		if d.failures >= d.trip {
			d.move("fallback", "M10")
		}
		return machine.Verdict{Rule: "M10", Applied: true}
	}
	return d.probed(call, ok, e)
}

// old takes the result of a turn from an earlier epoch (M17).
func (d *dumbModel) old(call int, who string, ok bool, e machine.Ending) machine.Verdict {
	switch {
	case !ok && who == d.primary && d.state == "fallback":
		return machine.Verdict{Rule: "M17", Applied: d.hear(e)}
	case ok || !slices.Contains(d.names, who) || len(d.cleared) > 0 && d.cleared[len(d.cleared)-1] > d.servedAt[call]:
		return machine.Verdict{Rule: "M17"}
	}
	d.strike(who, "M17")
	return machine.Verdict{Rule: "M17", Applied: true}
}

// probed takes the result of a probe (M9, M12, M13).
func (d *dumbModel) probed(call int, ok bool, e machine.Ending) machine.Verdict {
	d.leave(call)
	if ok {
		d.successes++
		if d.successes >= d.needed {
			d.move("primary", "M9")
		}
		return machine.Verdict{Rule: "M9", Applied: true}
	}
	d.hear(e)
	if e.Kind == machine.RateLimit {
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
	d.streak, d.named = 0, nil
}
