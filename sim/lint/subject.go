package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
)

// subject is what a rule looks at: a breaker under a policy, or a policy.
type subject struct {
	doc    *scenarios.Document
	s      *scenarios.Scenario
	policy int
	p      *scenarios.Policy
	b      *scenarios.Breaker // nil: the policy itself
	w      *witness           // of the scenario's own run; nil: it has no world
}

func (x *subject) tool() *machine.ToolSettings {
	if x.b == nil {
		return nil
	}
	return x.b.Tool
}

func (x *subject) model() *machine.ModelSettings {
	if x.b == nil {
		return nil
	}
	return x.b.Model
}

// seen is what the scenario's own run showed of the breaker, or of each of its
// instances.
func (x *subject) seen() []*seen {
	if x.w == nil || x.b == nil {
		return nil
	}
	return x.w.each(x.b.Name)
}

// first is the first of the breaker's instances of which something is so.
func (x *subject) first(is func(*seen) bool) *seen {
	all := x.seen()
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// guarded is the name of what the breaker gates, or of its primary.
func (x *subject) guarded() string {
	if x.b.Model != nil {
		return x.b.Model.Primary
	}
	return x.b.Guards
}

// target is what the breaker gates, or its primary; nil without a world.
func (x *subject) target() *scenarios.Target {
	i := slices.IndexFunc(x.s.Targets, func(t scenarios.Target) bool { return t.Name == x.guarded() })
	if i < 0 {
		return nil
	}
	return &x.s.Targets[i]
}

// callee is what calls name to reach the breaker.
func (x *subject) callee() string {
	if x.b.Model != nil {
		return x.b.Name
	}
	return x.b.Guards
}

// reaches says whether calls to that name come to the breaker.
func (x *subject) reaches(to string) bool {
	whole, _ := scenarios.SplitName(to)
	return whole == x.callee()
}

// hosts are those of the target, or itself alone.
func hosts(t *scenarios.Target) []scenarios.Target {
	if len(t.Hosts) > 0 {
		return t.Hosts
	}
	return []scenarios.Target{*t}
}

// at is where the first of the settings stands that is written, in the policy
// or for all; else the preset that has them, or the breaker's name.
func (x *subject) at(keys ...string) scenarios.Fault {
	for _, k := range append(keys, "like") {
		if x.doc.Has(x.ofPolicy("breakers", x.b.Name, k)...) {
			return x.doc.At(x.ofPolicy("breakers", x.b.Name, k)...)
		}
		if x.doc.Has("breakers", x.b.Name, k) {
			return x.doc.At("breakers", x.b.Name, k)
		}
	}
	return x.doc.At("breakers", x.b.Name)
}

// ofPolicy is the path to something of the policy.
func (x *subject) ofPolicy(steps ...string) []string {
	return append([]string{"policies", strconv.Itoa(x.policy)}, steps...)
}

// changes are what the policy changes of the breaker.
func (x *subject) changes() pairs { return x.doc.Pairs(x.ofPolicy("breakers", x.b.Name)...) }

// pairs are the entries of a mapping.
type pairs []scenarios.Pair

// with has one entry set, in its place or at the end.
func (p pairs) with(key, value string) pairs {
	all := p.without(key)
	if i := slices.IndexFunc(p, func(e scenarios.Pair) bool { return e.Key == key }); i >= 0 {
		return slices.Insert(all, i, scenarios.Pair{Key: key, Value: value})
	}
	return append(all, scenarios.Pair{Key: key, Value: value})
}

func (p pairs) without(keys ...string) pairs {
	return slices.DeleteFunc(slices.Clone(p), func(e scenarios.Pair) bool { return slices.Contains(keys, e.Key) })
}

// String is the mapping on one line.
func (p pairs) String() string {
	var parts []string
	for _, e := range p {
		parts = append(parts, word(e.Key)+": "+e.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// found is a finding about the breaker, or about the policy itself, with the
// script that is to show it. The words say what will go wrong, in figures.
func (x *subject) found(at scenarios.Fault, s *script, instead, format string, a ...any) []*candidate {
	c := &candidate{at: at, says: fmt.Sprintf(format, a...), instead: instead, script: s}
	if x.b != nil {
		c.breaker = x.b.Name
	}
	return []*candidate{c}
}
