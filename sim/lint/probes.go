package lint

import (
	"fmt"
	"math"
	"time"

	"github.com/breakersim/breakersim/scenarios"
)

// noLease: the probes of the first half-open period vanish; an hour later and
// ten cooldowns later calls are refused still.
func noLease(x *subject) []*candidate {
	t := x.tool()
	if t == nil || t.ProbeTimeout > 0 || t.Probing.Skip {
		return nil
	}
	s := x.beside("probe_timeout", "30s")
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	at += x.cooldown() + time.Second
	n := max(1, t.Probing.AtOnce)
	if t.Probing.InAll > 0 {
		n = min(n, t.Probing.InAll)
	}
	s.calls(n, at, x.callee(), "vanish", 0)
	at += max(time.Hour, 10*x.cooldown())
	lost := "one lost probe"
	if n > 1 {
		lost = fmt.Sprintf("%d lost probes", n)
	}
	s.about = fmt.Sprintf("The probe of %s vanishes. At %s nobody has heard of it, and the breaker refuses every call; with a lease it would let the next probe go.", x.b.Name, short(at))
	if n > 1 {
		s.about = fmt.Sprintf("%d probes of %s vanish. At %s nobody has heard of them, and the breaker refuses every call; with a lease it would let the next go.", n, x.b.Name, short(at))
	}
	s.before("at: %s, breaker: %s, allows: false", short(at), word(x.b.Name))
	s.after("at: %s, breaker: %s, allows: true", short(at), word(x.b.Name))
	return x.found(x.at("probe_timeout"), s, "probe_timeout: 30s, or somewhat longer than the slowest good answer",
		"%s has no lease: %s, and it refuses every call for good", x.b.Name, lost)
}

// shortLease: good answers that take longer than the lease, by the target's
// latency, or seen in the run.
func shortLease(x *subject) []*candidate {
	t := x.tool()
	if t == nil || t.ProbeTimeout == 0 || t.Probing.Skip || x.w == nil {
		return nil
	}
	long, what := x.slowest(), "1%% of its good answers take %s or longer"
	if v := x.first(func(v *seen) bool { return v.late != nil }); v != nil && long < t.ProbeTimeout {
		late := v.late
		long, what = late.at-late.admitted, "a probe at "+short(late.admitted)+" succeeds after %s"
	}
	if long < t.ProbeTimeout {
		return nil
	}
	lease := longer(long)
	s := x.beside("probe_timeout", short(lease))
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	for range min(mostScripted, max(2, x.successesToClose())) {
		at += 2*x.cooldown() + lease + time.Second
		s.calls(1, at, x.callee(), "success", long)
	}
	at += long
	s.about = fmt.Sprintf("Each probe of %s succeeds after %s, and each comes too late: its lease is %s.", x.b.Name, short(long), short(t.ProbeTimeout))
	s.before("at: %s, breaker: %s, state: open", short(at), word(x.b.Name))
	s.after("at: %s, breaker: %s, state: closed", short(at), word(x.b.Name))
	return x.found(x.at("probe_timeout"), s, "probe_timeout: "+short(lease)+", or a timeout of the callers below the lease",
		"%s's lease is %s, and "+what+": such a probe does not close it", x.b.Name, short(t.ProbeTimeout), short(long))
}

// longer is a round duration above d, by a fifth at least.
func longer(d time.Duration) time.Duration {
	unit := time.Second
	if d < 2*time.Second {
		unit = time.Millisecond
	}
	return (d + d/5 + unit).Truncate(unit)
}

// slowest is the longest 99th percentile of good answers of the breaker's target
// to probes, of which none comes before the first cooldown is over. It is 0 if
// the callers do not wait for longer than the lease.
func (x *subject) slowest() (long time.Duration) {
	t, patience := x.target(), x.patience()
	if t == nil || patience <= x.tool().ProbeTimeout {
		return 0
	}
	for _, host := range hosts(t) {
		all := host.Segments()
		for i := range all {
			begins, ends := all[i].At, x.w.end
			if i+1 < len(all) {
				ends = min(ends, all[i+1].At)
			}
			if !all[i].Outage() && begins <= x.w.end && ends > x.tool().RecoveryDuration {
				long = max(long, min(p99(all[i].Latency), patience))
			}
		}
	}
	return long
}

// patience is how long anybody waits for an attempt at the breaker's target.
func (x *subject) patience() (longest time.Duration) {
	for i := range x.s.Calls {
		c := &x.s.Calls[i]
		if c.Op == scenarios.OpCall && x.reaches(c.To) && c.Outcome == nil && c.Takes == nil {
			return math.MaxInt64 // scripted calls wait as long as it takes
		}
	}
	for i := range x.s.Callers {
		c := &x.s.Callers[i]
		patience := c.Timeout
		if c.Patience > 0 {
			patience = min(patience, c.Patience)
		}
		if x.reaches(c.To) {
			longest = max(longest, patience)
		}
	}
	if x.p.Timeout > 0 {
		longest = min(longest, x.p.Timeout)
	}
	return longest
}

// p99 is the 99th percentile.
func p99(d scenarios.Dist) time.Duration {
	switch d.Kind {
	case scenarios.Uniform:
		return d.A + (d.B-d.A)/100*99
	case scenarios.Exponential:
		return time.Duration(min(float64(d.A)*math.Log(100), math.MaxInt64/4))
	case scenarios.Lognormal:
		return d.B
	default:
		return d.A
	}
}
