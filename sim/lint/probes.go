package lint

import (
	"fmt"
	"math"
	"slices"
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
	s := x.beside("probe_timeout: 30s")
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	at += x.cooldown() + time.Second
	for range max(1, t.Probing.AtOnce, t.Probing.InAll) {
		s.call(at, x.callee(), "vanish", 0)
	}
	at += max(time.Hour, 10*x.cooldown())
	s.about = fmt.Sprintf("The probe of %s vanishes. At %s nobody has heard of it, and the breaker refuses every call; with a lease it would let the next probe go.", x.b.Name, short(at))
	s.before("at: %s, breaker: %s, allows: false", short(at), word(x.b.Name))
	s.after("at: %s, breaker: %s, allows: true", short(at), word(x.b.Name))
	return []*candidate{{x.at("probe_timeout"), fmt.Sprintf("%s has no lease: one lost probe, and it refuses every call for good", x.b.Name), "probe_timeout: 30s, or somewhat longer than the slowest good answer", x.b.Name, s}}
}

// shortLease: good answers that take longer than the lease, by the target's
// latency, or seen in the run.
func shortLease(x *subject) []*candidate {
	t := x.tool()
	if t == nil || t.ProbeTimeout == 0 || t.Probing.Skip || x.seen() == nil {
		return nil
	}
	long, what := x.slowest(), "1%% of its good answers take %s or longer"
	if late := x.seen().late; late != nil && long < t.ProbeTimeout {
		long, what = late.at-late.admitted, "a probe at "+short(late.admitted)+" succeeds after %s"
	}
	if long < t.ProbeTimeout {
		return nil
	}
	lease := longer(long)
	s := x.beside("probe_timeout: " + short(lease))
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	for range max(2, x.successesToClose()) {
		at += 2*x.cooldown() + lease + time.Second
		s.call(at, x.callee(), "success", long)
	}
	at += long
	s.about = fmt.Sprintf("Each probe of %s succeeds after %s, and each comes too late: its lease is %s.", x.b.Name, short(long), short(t.ProbeTimeout))
	s.before("at: %s, breaker: %s, state: open", short(at), word(x.b.Name))
	s.after("at: %s, breaker: %s, state: closed", short(at), word(x.b.Name))
	return []*candidate{{x.at("probe_timeout"), fmt.Sprintf("%s's lease is %s, and "+what+": such a probe does not close it", x.b.Name, short(t.ProbeTimeout), short(long)),
		"probe_timeout: " + short(lease) + ", or a timeout of the callers below the lease", x.b.Name, s}}
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
	all := t.Segments()
	for i := range all {
		begins, ends := all[i].At, x.w.end
		if i+1 < len(all) {
			ends = min(ends, all[i+1].At)
		}
		if !all[i].Outage() && begins <= x.w.end && ends > x.tool().RecoveryDuration {
			long = max(long, min(p99(all[i].Latency), patience))
		}
	}
	return long
}

// patience is how long anybody waits for an attempt at the breaker's target.
func (x *subject) patience() (longest time.Duration) {
	for i := range x.s.Calls {
		c := &x.s.Calls[i]
		if c.Op == scenarios.OpCall && c.To == x.callee() && c.Outcome == nil && c.Takes == nil {
			return math.MaxInt64 // scripted calls wait as long as it takes
		}
	}
	for i := range x.s.Callers {
		if c := &x.s.Callers[i]; c.To == x.callee() {
			longest = max(longest, c.Timeout)
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

// outlast: in the run a call from before an opening opened the breaker again.
func outlast(x *subject) []*candidate {
	t, v := x.tool(), x.seen()
	if t == nil || v == nil || v.echo == nil {
		return nil
	}
	change := "stale_results: ignore"
	if x.b.Anonymous {
		change += ", reports: permit"
	}
	s := x.beside(change)
	hangs := max(v.echo.took, 2*x.cooldown())
	for range x.failuresToOpen() {
		s.call(0, x.callee(), failing(t.Counts), hangs)
	}
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	at += x.cooldown() + time.Millisecond
	for range x.successesToClose() {
		s.call(at, x.callee(), "success", 0)
	}
	s.about = fmt.Sprintf("%s closes at %s, on good probes. At %s calls of 0s fail, and open it again although the target is well.", x.b.Name, short(at), short(hangs))
	s.before("at: %s, breaker: %s, state: closed", short(at), word(x.b.Name))
	s.before("at: %s, breaker: %s, state: open", short(hangs), word(x.b.Name))
	s.after("at: %s, breaker: %s, state: closed", short(hangs), word(x.b.Name))
	place, timeout := x.timeoutAt()
	says := fmt.Sprintf("a call may outlast %s's cooldown of %s: under the policy %s one of %s takes %s, and opens the breaker again at %s", x.b.Name, short(t.RecoveryDuration),
		x.p.Name, short(v.echo.admitted), short(v.echo.took), short(v.echo.at))
	instead := change
	if timeout {
		instead = fmt.Sprintf("a timeout below %s, or %s", short(t.RecoveryDuration), change)
	}
	return []*candidate{{place, says, instead, x.b.Name, s}}
}

// timeoutAt is where the longest timeout of a caller of the breaker is written;
// else where its cooldown is.
func (x *subject) timeoutAt() (at scenarios.Fault, timeout bool) {
	var longest time.Duration
	at = x.at("recovery_duration", "stale_results")
	for i := range x.s.Callers {
		c := &x.s.Callers[i]
		path := []string{"callers", fmt.Sprint(i), "timeout"}
		if c.To == x.callee() && c.Timeout > longest && c.Timeout > x.tool().RecoveryDuration && x.doc.Has(path...) {
			longest, at, timeout = c.Timeout, x.doc.At(path...), true
		}
	}
	return at, timeout
}

// anonymousOverhang: the run goes otherwise where results say whose they are.
func anonymousOverhang(x *subject) []*candidate {
	v := x.seen()
	if v == nil || !x.b.Anonymous {
		return nil
	}
	p := *x.p
	p.Breakers = slices.Clone(p.Breakers)
	for i := range p.Breakers {
		if p.Breakers[i].Name == x.b.Name {
			p.Breakers[i].Anonymous = false
		}
	}
	w, err := witnessed(x.s, &p)
	if err != nil {
		return nil
	}
	from, differs := departs(v.moves, w.breakers[x.b.Name].moves)
	if !differs {
		return nil
	}
	s := x.beside("reports: permit")
	if x.b.Model != nil {
		if !s.spendsChain(x) {
			return nil
		}
	} else if !s.closesByAnother(x) {
		return nil
	}
	says := fmt.Sprintf("%s takes results for whoever is served when they come: under the policy %s it is led astray from %s on", x.b.Name, x.p.Name, short(from))
	return []*candidate{{x.at("reports"), says, "reports: permit", x.b.Name, s}}
}

// departs says when two breakers first do not do the same, if ever.
func departs(a, b []move) (at time.Duration, differ bool) {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return b[i].at, true
		case i >= len(b):
			return a[i].at, true
		case a[i] != b[i]:
			return min(a[i].at, b[i].at), true
		}
	}
	return 0, false
}

// closesByAnother scripts a call from before the opening that closes the breaker
// while its probe is out.
func (s *script) closesByAnother(x *subject) bool {
	after := x.cooldown() + 2*time.Second
	for range x.successesToClose() {
		s.call(0, x.callee(), "success", after)
	}
	opened, ok := s.opens(x)
	s.call(opened+after-time.Second, x.callee(), "success", time.Minute)
	s.about = fmt.Sprintf("The probe of %s is out. At %s a call from before the opening ends well, and closes the breaker in its place.", x.b.Name, short(after))
	s.before("at: %s, breaker: %s, state: closed", short(after), word(x.b.Name))
	s.after("at: %s, breaker: %s, state: half-open", short(after), word(x.b.Name))
	return ok && opened == 0
}

// spendsChain scripts turns of the primary that fail after the trip, enough to
// spend every budget.
func (s *script) spendsChain(x *subject) bool {
	m := x.model()
	budgets := 0
	for _, e := range m.Chain {
		budgets += max(1, e.MaxFailCount)
	}
	if budgets == 0 || budgets > mostScripted || m.RecoveryTimeout <= time.Second {
		return false
	}
	for range budgets {
		s.call(0, x.b.Name, "failure", time.Second)
	}
	_, ok := s.opens(x)
	s.about = fmt.Sprintf("%d turns of the primary fail at 1s, after the trip. They spend the budgets of backups that no turn has gone to.", budgets)
	s.before("at: 1s, breaker: %s, allows: false", word(x.b.Name))
	s.after("at: 1s, breaker: %s, allows: true", word(x.b.Name))
	return ok
}
