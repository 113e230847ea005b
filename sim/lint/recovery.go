package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// farLonger is how many times as long as an outage a cooldown is too long, if it
// also costs so much time.
const (
	farLonger = 3
	farLate   = time.Minute
)

// longCooldown: in the run an outage is over and the breaker stays open for
// longer than the outage was, twice over, and turns calls away.
func longCooldown(x *subject) []*candidate {
	for _, v := range x.seen() {
		guarded := x.guarded()
		if _, host := scenarios.SplitName(v.name); x.b.Per == scenarios.PerHost {
			guarded = scenarios.PartName(guarded, host, 0)
		}
		for i := range x.w.run.Targets {
			if t := &x.w.run.Targets[i]; t.Name == guarded {
				for _, out := range t.Outages(x.w.end) {
					if c := x.outlived(v, out); c != nil {
						return c
					}
				}
			}
		}
	}
	return nil
}

// outlived is the finding about one outage, if the breaker did outlive it.
func (x *subject) outlived(v *seen, out trace.Span) []*candidate {
	within := func(t time.Duration) bool { return t >= out.From && t < out.To }
	long := out.To - out.From
	if x.base() < farLonger*long || out.To >= x.w.end || !slices.ContainsFunc(v.opened, within) {
		return nil
	}
	back := x.w.end
	if i := slices.IndexFunc(v.left, func(t time.Duration) bool { return t >= out.To }); i >= 0 {
		back = v.left[i]
	}
	turned := slices.ContainsFunc(v.turned, func(t time.Duration) bool { return t >= out.To && t < back })
	if back < out.To+max((farLonger-1)*long, farLate) || !turned {
		return nil
	}
	key, state := "recovery_duration", "closed"
	if x.b.Model != nil {
		key, state = "recovery_timeout", "primary"
	}
	s := x.beside(key, short(long))
	opened, ok := s.opens(x)
	if !ok {
		return nil
	}
	at := opened + 2*long
	s.calls(x.successesToClose(), at, x.callee(), "success", 0)
	s.about = fmt.Sprintf("The outage is over after %s. At %s the breaker is open still; with a cooldown as long as the outage it is %s.", short(long), short(at), state)
	s.before("at: %s, breaker: %s, state: %s", short(at), word(x.b.Name), map[string]string{"closed": "open", "primary": "fallback"}[state])
	s.after("at: %s, breaker: %s, state: %s", short(at), word(x.b.Name), state)
	return x.found(x.at(key), s, key+": "+short(long)+", about as long as the outage", "%s's cooldown is %s: under the policy %s it turns calls away until %s, though an outage of %s is over at %s",
		x.b.Name, short(x.base()), x.p.Name, short(back), short(long), short(out.To))
}

// base is the cooldown as it is written.
func (x *subject) base() time.Duration {
	if m := x.model(); m != nil {
		return m.RecoveryTimeout
	}
	return x.tool().RecoveryDuration
}

// endless is how many failed turns in one probation are told of.
const endless = 3

// endlessProbation: in the run several turns failed in one probation, with a
// backup that could have served them.
func endlessProbation(x *subject) []*candidate {
	m, v := x.model(), x.first(func(v *seen) bool { return v.trapped >= endless })
	if m == nil || v == nil || m.ProbationFailures > 0 {
		return nil
	}
	s := x.beside("probation_failures", "1")
	opened, ok := s.opens(x)
	at := opened + x.cooldown() + time.Second
	first := len(s.script) + 1
	for i := range endless {
		s.calls(1, at+time.Duration(i)*time.Second, x.b.Name, "", 0)
	}
	if !ok {
		return nil
	}
	s.targets[0] = word(m.Primary) + ": {outcome: " + x.failing() + "}"
	s.about = "The primary fails, and the backups are well. Each turn after the cooldown goes to the primary."
	for i := range endless {
		s.before("call: %d, is: %s", first+i, x.failing())
	}
	s.after("call: %d, is: success", first+endless-1)
	return x.found(x.at("probation_failures"), s, "probation_failures: 1", "%s has no limit to a probation: under the policy %s %d turns fail at the primary until %s, with a backup idle",
		x.b.Name, x.p.Name, v.trapped, short(v.trappedT))
}

// sharedOutage: a chain entry is out at every instant at which the primary is.
func sharedOutage(x *subject) (all []*candidate) {
	m := x.model()
	if m == nil || x.w == nil {
		return nil
	}
	outages := map[string][]trace.Span{}
	for i := range x.w.run.Targets {
		t := &x.w.run.Targets[i]
		outages[t.Name] = t.Outages(x.w.end)
	}
	for i, e := range m.Chain {
		if len(outages[m.Primary]) == 0 || !covers(outages[e.Name], outages[m.Primary]) {
			continue
		}
		at := x.at("chain")
		for _, path := range [][]string{x.ofPolicy("breakers", x.b.Name, "chain", strconv.Itoa(i)), {"breakers", x.b.Name, "chain", strconv.Itoa(i)}} {
			if x.doc.Has(path...) {
				at = x.doc.At(path...)
				break
			}
		}
		all = append(all, x.found(at, x.noBackup(e.Name, max(1, e.MaxFailCount)), "a backup that fails apart from "+m.Primary,
			"%s is out whenever %s is, so it never serves a turn of %s when it is needed", e.Name, m.Primary, x.b.Name)...)
	}
	return all
}

// covers says whether each of some spans lies in one of all.
func covers(all, some []trace.Span) bool {
	return !slices.ContainsFunc(some, func(s trace.Span) bool {
		return !slices.ContainsFunc(all, func(a trace.Span) bool { return a.From <= s.From && a.To >= s.To })
	})
}

// noBackup scripts turns that the breaker sends to a backup that is out with the
// primary; without it they would be told at once that nobody is left, or find
// the next.
func (x *subject) noBackup(entry string, budget int) *script {
	base := pairs(x.doc.Pairs("breakers", x.b.Name)).without("per")
	for _, c := range x.changes().without("per") {
		base = base.with(c.Key, c.Value)
	}
	s := x.besideAs(base.with("chain", fmt.Sprintf("[{name: %s, max_fail_count: %d}]", word(entry), budget)), nil, "chain", "[elsewhere]")
	s.targets = []string{word(x.model().Primary) + ": {outcome: failure}", word(entry) + ": {outcome: failure}", "elsewhere: {}"}
	n := x.failuresToOpen()
	s.calls(n+1, 0, x.b.Name, "", 0)
	s.about = fmt.Sprintf("%s trips, and the first turn after that goes to %s, which is out as well; a backup that is not would have served it.", x.b.Name, entry)
	s.before("call: %d, is: failure", n+1)
	s.after("call: %d, is: success", n+1)
	return s
}

// ownBackup is the rule that a chain breaks which names its primary.
const ownBackup = "backup-out-with-the-primary"

// ownBackups are the findings about chains that name their primary, which the
// format refuses, so that nothing else can be said of the file.
func ownBackups(faults *scenarios.Faults) (all []Finding) {
	rule, err := Find(ownBackup)
	if err != nil {
		panic("lint: " + err.Error()) // it is a row of the table
	}
	script := &script{breaker: "llm: {kind: model, primary: primary, chain: [primary-again]}", targets: []string{"primary: {outcome: failure}", "primary-again: {outcome: failure}", "elsewhere: {}"},
		asIs: "breaker", mended: "{name: " + mended + ", breakers: {llm: {chain: [elsewhere]}}}",
		about: "The primary stands in for itself, under another name, and is out."}
	script.calls(4, 0, "llm", "", 0)
	script.before("call: 4, is: failure")
	script.after("call: 4, is: success")
	for _, f := range faults.Faults {
		name, _, _ := strings.Cut(f.Message, " ")
		c := candidate{at: f, says: f.Message, instead: "a backup that is not " + name, script: script}
		if found := c.finding(rule, faults.File); found != nil {
			all = append(all, *found)
		}
	}
	return all
}
