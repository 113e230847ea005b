package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/breakersim/breakersim/scenarios"
)

// outlast: in the run a call from before an opening opened the breaker again.
func outlast(x *subject) []*candidate {
	t, v := x.tool(), x.first(func(v *seen) bool { return v.echo != nil })
	if t == nil || v == nil {
		return nil
	}
	change, s := "stale_results: ignore", x.beside("stale_results", "ignore")
	if x.b.Anonymous {
		change, s = change+", reports: permit", x.beside("stale_results", "ignore", "reports", "permit")
	}
	hangs := max(v.echo.took, 2*x.cooldown())
	s.calls(x.failuresToOpen(), 0, x.callee(), x.failing(), hangs)
	at, ok := s.opens(x)
	if !ok {
		return nil
	}
	at += x.cooldown() + time.Millisecond
	s.calls(x.successesToClose(), at, x.callee(), "success", 0)
	s.about = fmt.Sprintf("%s closes at %s, on good probes. At %s calls of 0s fail, and open it again although the target is well.", x.b.Name, short(at), short(hangs))
	s.before("at: %s, breaker: %s, state: closed", short(at), word(x.b.Name))
	s.before("at: %s, breaker: %s, state: open", short(hangs), word(x.b.Name))
	s.after("at: %s, breaker: %s, state: closed", short(hangs), word(x.b.Name))
	place, timeout := x.timeoutAt()
	instead := change
	if timeout {
		instead = fmt.Sprintf("a timeout below %s, or %s", short(t.RecoveryDuration), change)
	}
	return x.found(place, s, instead, "a call may outlast %s's cooldown of %s: under the policy %s one of %s takes %s, and opens the breaker again at %s",
		x.b.Name, short(t.RecoveryDuration), x.p.Name, short(v.echo.admitted), short(v.echo.took), short(v.echo.at))
}

// timeoutAt is where the longest timeout of a caller of the breaker is written;
// else where its cooldown is.
func (x *subject) timeoutAt() (at scenarios.Fault, timeout bool) {
	var longest time.Duration
	at = x.at("recovery_duration", "stale_results")
	for i := range x.s.Callers {
		c := &x.s.Callers[i]
		path := []string{"callers", fmt.Sprint(i), "timeout"}
		if x.reaches(c.To) && c.Timeout > longest && c.Timeout > x.tool().RecoveryDuration && x.doc.Has(path...) {
			longest, at, timeout = c.Timeout, x.doc.At(path...), true
		}
	}
	return at, timeout
}

// anonymousOverhang: the run goes otherwise where results say whose they are.
func anonymousOverhang(x *subject) []*candidate {
	if len(x.seen()) == 0 || !x.b.Anonymous {
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
	astray := x.first(func(v *seen) bool { return !slices.Equal(v.moves, w.of(v.name).moves) })
	if astray == nil {
		return nil
	}
	from := departs(astray.moves, w.of(astray.name).moves)
	s := x.beside("reports", "permit")
	if x.b.Model != nil {
		if !s.spendsChain(x) {
			return nil
		}
	} else if !s.closesByAnother(x) {
		return nil
	}
	return x.found(x.at("reports"), s, "reports: permit", "%s takes results for whoever is served when they come: under the policy %s it is led astray from %s on",
		x.b.Name, x.p.Name, short(from))
}

// departs says when two breakers first do not do the same, which they do not.
func departs(a, b []move) time.Duration {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	switch {
	case i == len(a):
		return b[i].at
	case i == len(b):
		return a[i].at
	default:
		return min(a[i].at, b[i].at)
	}
}

// closesByAnother scripts a call from before the opening that closes the breaker
// while its probe is out.
func (s *script) closesByAnother(x *subject) bool {
	after := x.cooldown() + 2*time.Second
	s.calls(x.successesToClose(), 0, x.callee(), "success", after)
	opened, ok := s.opens(x)
	s.calls(1, opened+after-time.Second, x.callee(), "success", time.Minute)
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
	if budgets == 0 || m.RecoveryTimeout <= time.Second {
		return false
	}
	s.calls(budgets, 0, x.b.Name, x.failing(), time.Second)
	_, ok := s.opens(x)
	s.about = fmt.Sprintf("%d turns of the primary fail at 1s, after the trip. They spend the budgets of backups that no turn has gone to.", budgets)
	s.before("at: 1s, breaker: %s, allows: false", word(x.b.Name))
	s.after("at: 1s, breaker: %s, allows: true", word(x.b.Name))
	return ok
}
