package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// builtinPolicies are the policies that every scenario has by name. A further
// one is one more row. What retries makes 4 attempts of a call, within 5
// minutes, and waits from 100 ms up to 10 s in between; the rows differ in the
// one thing that they are named for.
var builtinPolicies = []struct {
	name     string
	source   string // who describes or ships it so
	breakers bool
	change   func(*Policy, *machine.Ladder) // nil: no retries
}{
	{"breaker", "Nygard, Release It! (2007)", true, nil},
	{"plain-retries", "L1; gRPC and most client libraries: exponential, a tenth of jitter", false, func(*Policy, *machine.Ladder) {}},
	{"no-protection", "one attempt a call", false, nil},
	{"retries+breaker", "the breaker outside: Polly's and resilience4j's usual order, a call asks once and its last attempt counts", true, func(*Policy, *machine.Ladder) {}},
	{"breaker+retries", "the breaker inside: each attempt asks and counts, as in Hystrix under a retrying client", true,
		func(p *Policy, _ *machine.Ladder) { p.Gate = GateAttempt }},
	{"breaker-on-retries", "only what is made again asks; Brooker, Fixing retries with token buckets and circuit breakers (2022)", true,
		func(p *Policy, _ *machine.Ladder) { p.Gate = GateRetry }},
	{"immediate-retries", "no wait at all, as in a plain loop", false, func(_ *Policy, l *machine.Ladder) { l.Curve, l.Base, l.Jitter = "fixed", 0, "none" }},
	{"fixed-backoff", "the same wait each time: 1 s, as in Spring Retry", false,
		func(_ *Policy, l *machine.Ladder) { l.Curve, l.Base, l.Jitter = "fixed", time.Second, "none" }},
	{"exponential-backoff", "no jitter; Metcalfe and Boggs (1976), truncated", false, func(_ *Policy, l *machine.Ladder) { l.Jitter = "none" }},
	{"full-jitter", "Brooker, Exponential Backoff And Jitter (2015)", false, func(_ *Policy, l *machine.Ladder) { l.Jitter = "full" }},
	{"equal-jitter", "likewise", false, func(_ *Policy, l *machine.Ladder) { l.Jitter = "equal" }},
	{"decorrelated-jitter", "likewise", false, func(_ *Policy, l *machine.Ladder) { l.Jitter = "decorrelated" }},
	{"retry-budget", "full jitter, and a token bucket that begins full; Brooker (2022), AWS SDKs, Finagle", false, func(p *Policy, l *machine.Ladder) {
		l.Jitter, p.Budget = "full", new(machine.DefaultBudgetSettings())
	}},
	{"retry-breaker", "full jitter while at most a tenth failed; Brooker (2022)", false, func(p *Policy, l *machine.Ladder) {
		l.Jitter, p.MaxFailures = "full", new(0.1)
	}},
	{"retry-after-ignored", "a rate limit waits as any failure does", false, func(_ *Policy, l *machine.Ladder) { l.IgnoreRetryAfter = true }},
	{"deadlines", "10 s for an attempt, 30 s for the call; Google, Site Reliability Engineering, chapter 22 (2016)", false, func(p *Policy, l *machine.Ladder) {
		p.Timeout, l.Deadline = 10*time.Second, 30*time.Second
	}},
	{"hedged", "a second attempt after 1 s without an answer, and no retries; Dean and Barroso, The Tail at Scale (2013)", false, func(p *Policy, l *machine.Ladder) {
		p.Hedge, l.Attempts = new(defaultHedge), 1
	}},
}

// defaultHedge is gRPC's way (proposal A6): one more attempt, after a second here.
var defaultHedge = Hedge{After: time.Second, Attempts: 2}

// BuiltinPolicy is a policy that every scenario has by name.
type BuiltinPolicy struct {
	Name, About string
	Source      string // who describes or ships it so
}

// BuiltinPolicies are all of them, as they are in a scenario that has breakers.
func BuiltinPolicies() []BuiltinPolicy {
	r := resolver{s: &Scenario{Breakers: []Breaker{{}}}}
	var all []BuiltinPolicy
	for _, row := range builtinPolicies {
		p, _ := r.builtin(row.name)
		all = append(all, BuiltinPolicy{p.Name, p.About, row.source})
	}
	return all
}

func builtinPolicyNames() []string {
	var names []string
	for _, p := range builtinPolicies {
		names = append(names, p.name)
	}
	return names
}

// mostCopies bounds the memory that a hostile file can take: each policy has its
// own copy of every breaker.
const mostCopies = 1_000_000

func (r *resolver) resolvePolicies() {
	if len(r.f.Policies) == 0 {
		p, _ := r.builtin("breaker")
		r.s.Policies = []Policy{p}
		return
	}
	first := map[string]string{} // by trace file
	for i := range r.f.Policies {
		w := &r.f.Policies[i]
		if (i+1)*len(r.s.Breakers) > mostCopies {
			r.d.fault(w.node, "up to here the policies have more than %d breakers in all; no scenario needs that", mostCopies)
			return
		}
		var p Policy
		at := w.node
		if w.V.builtin.said() {
			var ok bool
			if p, ok = r.builtin(w.V.builtin.V); !ok {
				r.anyPolicy = true
				r.d.fault(at, "unknown policy %q%s (your own is a mapping: {name: patient, retry: {attempts: 6}})", clip(w.V.builtin.V), meant(w.V.builtin.V, builtinPolicyNames()))
				continue
			}
		} else {
			p = r.own(&w.V.own, w.node)
			if w.V.own.Name.said() {
				at = w.V.own.Name.node
			}
		}
		file := strings.ToLower(p.TraceFile()) // some file systems do not tell A from a
		switch other, taken := first[file]; {
		case taken && other == p.Name && p.Name != "":
			r.d.fault(at, "the policy %s is there already", p.Name)
		case taken && other != p.Name:
			r.d.fault(at, "the traces of %s and %s would be the same file, %s; give one of them a name that differs in letters or digits", other, clip(p.Name), p.TraceFile())
		default:
			first[file] = p.Name
		}
		r.s.Policies = append(r.s.Policies, p)
	}
}

func (r *resolver) builtin(name string) (Policy, bool) {
	for _, row := range builtinPolicies {
		if row.name != name {
			continue
		}
		p := Policy{Name: name}
		if row.breakers {
			p.Breakers = append([]Breaker{}, r.s.Breakers...)
		}
		if row.change != nil {
			l := machine.DefaultLadder()
			row.change(&p, &l)
			if l.Attempts > 1 {
				p.Ladder = &l
			}
		}
		p.About = p.describe()
		return p, true
	}
	return Policy{}, false
}

// own makes a policy that the file describes.
func (r *resolver) own(w *ownPolicyW, at ast.Node) Policy {
	p := Policy{Name: w.Name.V, Gate: Gate(w.Gate.V)}
	switch {
	case !w.Name.said():
		r.anyPolicy = true
		r.missing(at, "the policy", "name")
	case slices.Contains(builtinPolicyNames(), p.Name):
		r.d.fault(w.Name.node, "%s is a built-in policy; give yours another name", p.Name)
	default:
		r.name(p.Name, w.Name.node)
	}
	if w.Retry.said() {
		p.Ladder = r.ladder(&w.Retry)
		if w.Retry.V.Budget.said() {
			p.Budget, p.SharedBudget = r.budget(&w.Retry.V.Budget), w.Retry.V.Budget.V.Shared.V
		}
		if f := &w.Retry.V.MaxFailRate; f.said() {
			p.MaxFailures = &f.V
			if _, err := machine.NewRetryBreaker(f.V); err != nil {
				r.d.fault(f.node, "%v", err)
			}
		}
	}
	r.timeout(&w.Timeout, &p.Timeout)
	if w.Hedge.said() {
		p.Hedge = r.hedge(&w.Hedge)
	}
	if !w.Breakers.V.none {
		p.Breakers = r.changed(&w.Breakers.V.changes)
	}
	p.About = p.describe()
	return p
}

func (r *resolver) hedge(w *val[hedgeW]) *Hedge {
	h := defaultHedge
	if r.timeout(&w.V.After, &h.After); w.V.Attempts.said() {
		if h.Attempts = w.V.Attempts.V; h.Attempts < 2 || h.Attempts > 10 {
			r.d.fault(w.V.Attempts.node, "attempts is %d; a hedge has from 2 to 10", h.Attempts)
		}
	}
	return &h
}

// mostAttempts bounds a call, as the limit of calls bounds a run.
const mostAttempts = 1000

func (r *resolver) ladder(w *val[ladderW]) *machine.Ladder {
	l := machine.DefaultLadder()
	words := func(v *val[string], to *string, what string, known []string) {
		if v.said() {
			*to = v.V
			if _, err := oneOf(v.V, what, known); err != nil {
				r.d.fault(v.node, "%v", err)
			}
		}
	}
	var curves, jitters []string
	for _, c := range machine.Curves {
		curves = append(curves, c.Name)
	}
	for _, j := range machine.Jitters {
		jitters = append(jitters, j.Name)
	}
	words(&w.V.Ladder, &l.Curve, "ladder", curves)
	words(&w.V.Jitter, &l.Jitter, "jitter", jitters)
	for _, k := range []struct {
		v  *val[duration]
		to *time.Duration
	}{{&w.V.Base, &l.Base}, {&w.V.Cap, &l.Cap}, {&w.V.Deadline, &l.Deadline}} {
		if k.v.said() {
			*k.to = time.Duration(k.v.V)
		}
	}
	if w.V.Attempts.said() {
		switch l.Attempts = w.V.Attempts.V; {
		case l.Attempts < 1:
			r.d.fault(w.V.Attempts.node, "attempts is %d; a call needs at least 1", l.Attempts)
		case l.Attempts > mostAttempts:
			r.d.fault(w.V.Attempts.node, "attempts is %d; no more than %d are made", l.Attempts, mostAttempts)
		}
	}
	l.FailOnRateLimit, l.IgnoreRetryAfter = w.V.OnRateLimit.V == 1, w.V.OnRateLimit.V == 2
	return &l
}

func (r *resolver) budget(w *val[budgetW]) *machine.BudgetSettings {
	b := machine.DefaultBudgetSettings()
	for _, k := range []struct {
		v  *val[float64]
		to *float64
	}{{&w.V.Tokens, &b.Tokens}, {&w.V.PerRetry, &b.PerRetry}, {&w.V.PerTimeout, &b.PerTimeout}, {&w.V.PerCall, &b.PerCall}, {&w.V.PerSuccess, &b.PerSuccess}} {
		if k.v.said() {
			*k.to = k.v.V
		}
	}
	if b.Start = b.Tokens; w.V.Start.said() {
		b.Start = w.V.Start.V
	}
	b.Refund = w.V.Refund.V
	if err := b.Validate(); err != nil {
		r.d.fault(w.node, "%v", err)
	}
	return &b
}

// changed is the scenario's breakers with a policy's own settings.
func (r *resolver) changed(changes *named[changeW]) []Breaker {
	all := append([]Breaker{}, r.s.Breakers...)
	for i := range changes.items {
		it := &changes.items[i]
		k := slices.IndexFunc(all, func(b Breaker) bool { return b.Name == it.name })
		if k < 0 {
			if !slices.Contains(r.breakers, it.name) && !r.anyBreaker {
				r.d.fault(it.key, "unknown breaker %q%s", clip(it.name), r.d.meant(it.name, r.breakers))
			}
			continue
		}
		b := &all[k]
		if b.Tool != nil {
			s := *b.Tool
			b.Tool = &s
		} else {
			s := *b.Model
			b.Model = &s
		}
		r.scoped(b, &it.v.Per)
		r.change(b, &it.v.Reports, &it.v.settingsW, it.node)
		if b.Model != nil {
			r.changedModels(it, b)
		}
	}
	return all
}

// changedModels settles the chain of a model breaker from what the policy says
// of it, and what the scenario does.
func (r *resolver) changedModels(it *item[changeW], b *Breaker) {
	w := &it.v.settingsW
	scenarios := r.item(it.name)
	entries, limit := &scenarios.v.Chain, &scenarios.v.MaxFailCount
	if w.Chain.said() {
		entries = &w.Chain
	}
	if w.MaxFailCount.said() {
		limit = &w.MaxFailCount
	}
	b.Model.Chain = chain(entries, limit)
	r.models(b, w)
	r.guardedModels(w)
	if w.Primary.said() && !w.Chain.said() && slices.Contains(chainNames(b.Model), w.Primary.V) {
		r.d.fault(w.Primary.node, "%s is in the chain of %s; it cannot be its own backup: give the policy a chain as well", w.Primary.V, it.name)
	}
	if last := b.Model.LastResort; last != "" && !w.LastResort.said() && (last == b.Model.Primary || slices.Contains(chainNames(b.Model), last)) {
		r.d.fault(it.key, "%s is the last resort of %s, and here in the chain or the primary too; give the policy a last_resort as well", last, it.name)
	}
}

// describe is what the policy does, for captions. What it has of breakers'
// settings is said where they are.
func (p *Policy) describe() string {
	breakers := "no breakers"
	if len(p.Breakers) > 0 {
		breakers = [...]string{"breakers", "breakers asked at each attempt", "breakers asked at retries only"}[p.Gate]
	}
	var rest string
	if p.Timeout > 0 {
		rest += ", at most " + short(p.Timeout) + " for an attempt"
	}
	if h := p.Hedge; h != nil {
		rest += fmt.Sprintf(", another attempt after %s without an answer", short(h.After))
		if h.Attempts > 2 {
			rest += fmt.Sprintf(", up to %d in all", h.Attempts)
		}
	}
	if p.Ladder == nil {
		return breakers + ", no retries" + rest
	}
	if len(p.Breakers) > 0 && p.Gate == GateCall {
		breakers = "breakers asked once a call"
	}
	return p.retries() + rest + "; " + breakers
}

func (p *Policy) retries() string {
	l := p.Ladder
	growth := "up to " + short(l.Cap)
	if l.Curve == "exponential" {
		growth = "doubling " + growth
	}
	jitter := l.Jitter + " jitter"
	if l.Jitter == "none" {
		jitter = "no jitter"
	}
	retries := fmt.Sprintf("%d attempts, waits from %s %s, %s", l.Attempts, short(l.Base), growth, jitter)
	switch {
	case l.Curve == "fixed" && l.Base == 0:
		retries = fmt.Sprintf("%d attempts, no waits", l.Attempts)
	case l.Curve == "fixed" || l.Jitter != "decorrelated" && l.Cap <= l.Base:
		retries = fmt.Sprintf("%d attempts, waits of %s, %s", l.Attempts, short(min(l.Base, l.Cap)), jitter)
	}
	if b := p.Budget; b != nil {
		retries += fmt.Sprintf(", from a budget of %v tokens", b.Tokens)
		if p.SharedBudget {
			retries += " for all callers"
		}
	}
	if p.MaxFailures != nil {
		retries += fmt.Sprintf(", as long as at most %v%% fail", float64(*p.MaxFailures*100))
	}
	switch {
	case l.FailOnRateLimit:
		retries += ", a rate limit fails the call"
	case l.IgnoreRetryAfter:
		retries += ", hints to wait ignored"
	}
	if l.Deadline > 0 && l.Deadline != machine.DefaultLadder().Deadline {
		retries += ", at most " + short(l.Deadline) + " for the call"
	}
	return retries
}
