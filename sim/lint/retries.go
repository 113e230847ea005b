package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/breakersim/breakersim/scenarios"
)

// longestHint is the longest that a ladder waits for a rate limit (L2).
const longestHint = time.Minute

// asWritten are the entries of the policy, if the file describes it; a built-in
// one has none.
func (x *subject) asWritten() pairs {
	return pairs(x.doc.Pairs(x.ofPolicy()...)).without("breakers")
}

// playing puts the policy into a script, as it is and changed.
func (s *script) playing(x *subject, change func(pairs) pairs) {
	own := x.asWritten()
	if x.b != nil && len(x.changes()) > 0 {
		own = own.with("breakers", fmt.Sprintf("{%s: %s}", word(x.b.Name), x.changes().without("per")))
	}
	s.asIs = own.with("name", asItIs).String()
	if len(own) == 0 {
		own, s.asIs = pairs{{Key: "retry", Value: "{}"}}, x.p.Name
	}
	s.mended = change(own).with("name", mended).String()
}

// retry changes one key of a policy's ladder.
func (x *subject) retry(key, value string) func(pairs) pairs {
	return func(p pairs) pairs {
		return p.with("retry", pairs(x.doc.Pairs(x.ofPolicy("retry")...)).with(key, value).String())
	}
}

// ladderAt is where the policy's ladder is written, or else the policy.
func (x *subject) ladderAt(keys ...string) scenarios.Fault {
	for _, k := range append(keys, "") {
		path := x.ofPolicy("retry", k)
		if k == "" {
			path = x.ofPolicy("retry")
		}
		if x.doc.Has(path...) {
			return x.doc.At(path...)
		}
	}
	return x.doc.At(x.ofPolicy()...)
}

// retriesTimes: as many calls as the threshold says make several attempts each
// before the breaker hears of them. Where calls fail in the run, and none of them
// was made again, nothing is said.
func retriesTimes(x *subject) []*candidate {
	if x.b == nil || x.p.Ladder == nil || x.p.Gate != scenarios.GateCall || x.p.Ladder.Attempts < 2 {
		return nil
	}
	n := x.failuresToOpen()
	failed := x.first(func(v *seen) bool { return v.failed > 0 })
	repeated := x.first(func(v *seen) bool { return v.repeated > 0 })
	if n == 0 || n > mostScripted || failed != nil && repeated == nil {
		return nil
	}
	all := n * x.p.Ladder.Attempts
	s := x.beside()
	s.playing(x, func(p pairs) pairs {
		if x.b.Model != nil {
			return p.without("retry")
		}
		return p.with("gate", "attempt")
	})
	s.targets[0] = word(x.guarded()) + ": {outcome: failure}"
	s.callers = []string{fmt.Sprintf("{name: agents, count: %d, to: %s}", n, word(x.callee()))}
	s.about = fmt.Sprintf("The target is down, and %d calls make %d attempts before %s opens.", n, all, x.b.Name)
	s.before("metric: attempts, min: %d, max: %d", all, all)
	s.before("metric: openings, min: 1")
	s.after("metric: attempts, max: %d", all-1)
	instead := "gate: attempt, or a smaller threshold"
	if x.b.Model != nil {
		instead = "fewer attempts, or a smaller threshold"
	}
	return x.found(x.ladderAt("attempts"), s, instead, "%s opens after %s, and under the policy %s each is a call of %d attempts: %d go to a target that is down",
		x.b.Name, counted(n, "failure"), x.p.Name, x.p.Ladder.Attempts, all)
}

// oneCall: the attempts of one call are enough to open the breaker.
func oneCall(x *subject) []*candidate {
	if x.tool() == nil || x.p.Ladder == nil || x.p.Gate != scenarios.GateAttempt {
		return nil
	}
	n := x.failuresToOpen()
	if n == 0 || x.p.Ladder.Attempts < n {
		return nil
	}
	s := x.beside()
	s.playing(x, func(p pairs) pairs { return p.with("gate", "call") })
	s.targets[0] = word(x.guarded()) + ": {outcome: failure}"
	s.calls(1, 0, x.callee(), "", 0)
	s.about = fmt.Sprintf("One call fails, and %s is open.", x.b.Name)
	s.before("metric: openings, min: 1")
	s.after("metric: openings, max: 0")
	return x.found(x.ladderAt("attempts"), s, fmt.Sprintf("failure_threshold: %d, or gate: call", x.p.Ladder.Attempts+1),
		"%s opens after %s, and under the policy %s one call has %d attempts that count: it opens the breaker by itself", x.b.Name, counted(n, "failure"), x.p.Name, x.p.Ladder.Attempts)
}

// beyondTheCap: something that is called names a longer wait than a ladder makes.
func beyondTheCap(x *subject) []*candidate {
	l := x.p.Ladder
	if x.b != nil || x.w == nil || l == nil || l.FailOnRateLimit || l.IgnoreRetryAfter {
		return nil
	}
	hint, at := x.longestNamed()
	if hint <= longestHint {
		return nil
	}
	s := &script{targets: []string{fmt.Sprintf("service: {outcome: rate_limit, retry_after: %s}", short(hint))}}
	s.calls(1, 0, "service", "", 0)
	s.playing(x, x.retry("on_rate_limit", "fail"))
	s.about = fmt.Sprintf("The rate limit names %s, and the call tries again each minute.", short(hint))
	s.before("metric: attempts, min: 2")
	s.before("call: 1, is: rate_limit")
	s.after("metric: attempts, max: 1")
	return x.found(at, s, "on_rate_limit: fail in the policy's retry", "a rate limit names %s, and the ladder of the policy %s waits for %s at most: its retries come too early, each of them",
		short(hint), x.p.Name, short(longestHint))
}

// longestNamed is the longest wait that a rate limit names, and where.
func (x *subject) longestNamed() (hint time.Duration, at scenarios.Fault) {
	longer := func(d *time.Duration, path ...string) {
		if d != nil && *d > hint && x.doc.Has(path...) {
			hint, at = *d, x.doc.At(path...)
		}
	}
	for i := range x.s.Targets {
		t := &x.s.Targets[i]
		limits := false
		for _, g := range t.Segments() {
			limits = limits || slices.ContainsFunc(g.Mix, func(m scenarios.Share) bool { return m.Outcome == scenarios.RateLimit })
		}
		if !limits {
			continue
		}
		longer(t.Base.RetryAfter, "targets", t.Name, "retry_after")
		for k := range t.Phases {
			longer(t.Phases[k].RetryAfter, "targets", t.Name, "phases", fmt.Sprint(k), "retry_after")
		}
	}
	for i := range x.s.Calls {
		longer(x.s.Calls[i].RetryAfter, "calls", fmt.Sprint(i), "retry_after")
	}
	return hint, at
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
