package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// Scope says whom one breaker is for.
type Scope uint8

// Whom one breaker is for.
const (
	ForAll    Scope = iota // everybody, at every host
	PerCaller              // a single caller; all scripted calls are one
	PerHost                // a host of the guarded target
)

// Instance is some of the breakers that a breaker with a scope comes to: one, or
// Count of them that differ in their number, from 1.
type Instance struct {
	Name  string // of callers, or of a host
	Count int    // 0: one, without a number
}

// ScriptedCalls is the instance of all scripted calls. No callers have such a name.
const ScriptedCalls = "scripted calls"

// mostInstances of one breaker.
const mostInstances = 10_000

// Instances are the breakers that b comes to, in the order of those whom they are
// for; none: b is one for all. Callers who never ask it have none.
func (s *Scenario) Instances(b *Breaker) (all []Instance) {
	switch b.Per {
	case PerHost:
		for i := range s.Targets {
			if s.Targets[i].Name == b.Guards {
				for _, h := range s.Targets[i].Hosts {
					all = append(all, Instance{Name: h.Host})
				}
			}
		}
	case PerCaller:
		asks := s.asks(b)
		if slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Op == OpCall && asks(c.To) }) {
			all = append(all, Instance{Name: ScriptedCalls})
		}
		for i := range s.Callers {
			switch c := &s.Callers[i]; {
			case !asks(c.To):
			case c.Count == 1:
				all = append(all, Instance{Name: c.Name})
			default:
				all = append(all, Instance{c.Name, c.Count})
			}
		}
		if len(all) == 0 { // whom it could be read for
			all = append(all, Instance{Name: ScriptedCalls})
		}
	}
	return all
}

// asks says whether a call to that name may come to ask b: also where the target
// that b guards only stands in for another.
func (s *Scenario) asks(b *Breaker) func(to string) bool {
	names := []string{b.Guards}
	if b.Model != nil {
		names = []string{b.Name}
	}
	for _, sub := range s.Substitutes {
		if slices.Contains(sub.By, b.Guards) {
			names = append(names, sub.Target)
		}
	}
	return func(to string) bool {
		target, _ := SplitName(to)
		return slices.Contains(names, target)
	}
}

// SplitName parts a name such as api[agents 17] into api and agents 17; of any
// other the second is empty.
func SplitName(name string) (base, part string) {
	if base, part, ok := strings.Cut(name, "["); ok && strings.HasSuffix(part, "]") {
		return base, strings.TrimSuffix(part, "]")
	}
	return name, ""
}

// PartName is the inverse of [SplitName]. A number of 0 is none.
func PartName(base, part string, number int) string {
	if number > 0 {
		part += " " + strconv.Itoa(number)
	}
	return base + "[" + part + "]"
}

// has says whether the instance of that name is among them.
func has(all []Instance, name string) bool {
	group, number, _ := strings.Cut(name, " ")
	return slices.ContainsFunc(all, func(i Instance) bool {
		n, err := strconv.Atoi(number)
		return i.Count == 0 && i.Name == name || i.Name == group && err == nil && 1 <= n && n <= i.Count && number == strconv.Itoa(n)
	})
}

// reference is where the file names an instance of a breaker.
type reference struct {
	node ast.Node
	base string
	part string
}

// scoped takes over whom a breaker is for.
func (r *resolver) scoped(b *Breaker, w *val[scopeWord]) {
	if !w.said() || r.d.refused[w.node] {
		return
	}
	b.Per = Scope(w.V)
	if b.Per != PerHost {
		return
	}
	i := slices.IndexFunc(r.s.Targets, func(t Target) bool { return t.Name == b.Guards })
	switch {
	case b.Model != nil:
		r.d.fault(w.node, "%s is a model breaker, which is for several targets; per: host belongs to a tool breaker", b.Name)
	case i >= 0 && len(r.s.Targets[i].Hosts) == 0 && !r.d.perhaps(r.f.Targets.items[i].node, "hosts"):
		r.d.fault(w.node, "%s has no hosts; name them, hosts: {a: {}, b: {}}, or leave per: host out", b.Guards)
	}
}

// checkInstances refuses too many of them, and names of such as are not there
// under any policy.
func (r *resolver) checkInstances() {
	if len(r.d.faults.Faults) > 0 {
		return // of callers and hosts, perhaps
	}
	known := map[string][][]Instance{}
	for i := range r.s.Policies {
		for k := range r.s.Policies[i].Breakers {
			b := &r.s.Policies[i].Breakers[k]
			all, n := r.s.Instances(b), 0
			for _, one := range all {
				n += max(1, one.Count)
			}
			if n > mostInstances {
				r.d.fault(r.item(b.Name).key, "%s would be %d breakers, one for each caller; no more than %d are played", b.Name, n, mostInstances)
				return
			}
			if !r.roomy(&r.s.Policies[i], b, max(1, n)) {
				return
			}
			known[b.Name] = append(known[b.Name], all)
		}
	}
	for _, ref := range r.references {
		if !slices.ContainsFunc(known[ref.base], func(all []Instance) bool { return has(all, ref.part) }) {
			r.d.fault(ref.node, "%s has no breaker for %q%s", ref.base, clip(ref.part), examples(ref.base, known[ref.base]))
		}
	}
}

// mostHeld is what the windows of a breaker's instances hold, all together.
const mostHeld = 50_000_000

// roomy refuses windows that would not be held n times: as they are, or as they
// are configured.
func (r *resolver) roomy(p *Policy, b *Breaker, n int) bool {
	room := func(w machine.Window, at ast.Node) bool {
		if held := max(w.Calls, w.Buckets); held > mostHeld/n {
			r.d.fault(at, "%s would be %d breakers with windows of %d each; no more than %d are held in all: write %d at most", b.Name, n, held, mostHeld, mostHeld/n)
			return false
		}
		return true
	}
	if b.Tool != nil && !room(b.Tool.Trip.Window, r.item(b.Name).key) {
		return false
	}
	for i := range r.s.Calls {
		if base, _ := SplitName(r.s.Calls[i].To); r.s.Calls[i].Op != OpConfigure || base != b.Name {
			continue
		}
		if s, ok := p.Configured[i]; ok && !room(s.Trip.Window, r.f.Calls[i].V.Configure.node) {
			return false
		}
	}
	return true
}

// examples end a message about an instance that is not there.
func examples(base string, known [][]Instance) string {
	for _, all := range known {
		if len(all) > 0 {
			first, last := all[0], all[len(all)-1]
			return fmt.Sprintf("; there are %s to %s", PartName(base, first.Name, min(1, first.Count)), PartName(base, last.Name, last.Count))
		}
	}
	return "; it is one for all, as nothing says per: caller or per: host"
}
