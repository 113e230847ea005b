package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// builtinPolicies are the policies that every scenario has by name.
var builtinPolicies = []struct {
	name              string
	breakers, retries bool
}{
	{"breaker", true, false},
	{"plain-retries", false, true},
	{"no-protection", false, false},
	{"retries+breaker", true, true},
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
		if row.retries {
			l := machine.DefaultLadder()
			p.Ladder = &l
		}
		p.About = p.describe()
		return p, true
	}
	return Policy{}, false
}

// own makes a policy that the file describes.
func (r *resolver) own(w *ownPolicyW, at ast.Node) Policy {
	p := Policy{Name: w.Name.V, GatePerAttempt: bool(w.Gate.V)}
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
	}
	if !w.Breakers.V.none {
		p.Breakers = r.changed(&w.Breakers.V.changes)
	}
	p.About = p.describe()
	return p
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
	l.FailOnRateLimit = bool(w.V.OnRateLimit.V)
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
		if it.v.Reports.said() {
			b.Anonymous = bool(it.v.Reports.V)
		}
		r.settings(b, &it.v.settingsW)
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
}

// describe is what the policy does, for captions.
func (p *Policy) describe() string {
	var breakers string
	switch {
	case len(p.Breakers) == 0:
		breakers = "no breakers"
	case p.GatePerAttempt:
		breakers = "breakers asked for each attempt"
	default:
		breakers = "breakers"
	}
	l := p.Ladder
	if l == nil {
		return breakers + ", no retries"
	}
	growth := "up to " + short(l.Cap)
	if l.Curve == "exponential" {
		growth = "doubling " + growth
	}
	retries := fmt.Sprintf("%d attempts, waits from %s %s, %s jitter", l.Attempts, short(l.Base), growth, l.Jitter)
	if l.Curve == "fixed" {
		retries = fmt.Sprintf("%d attempts, waits of %s, %s jitter", l.Attempts, short(l.Base), l.Jitter)
	}
	if b := p.Budget; b != nil {
		retries += fmt.Sprintf(", from a budget of %v tokens", b.Tokens)
	}
	if l.FailOnRateLimit {
		retries += ", a rate limit fails the call"
	}
	if len(p.Breakers) > 0 && !p.GatePerAttempt {
		return retries + "; breakers outside"
	}
	return retries + "; " + breakers
}
