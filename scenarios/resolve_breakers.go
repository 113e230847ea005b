package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

func (r *resolver) resolveBreakers() {
	r.guarded = map[string]string{}
	for i := range r.f.Breakers.items {
		it := &r.f.Breakers.items[i]
		r.name(it.name, it.key)
		if !it.v.Kind.said() || r.d.refused[it.v.Kind.node] {
			if !it.v.Kind.said() && !r.d.refused[it.node] && !r.d.perhaps(it.node, "kind") {
				r.d.fault(it.key, "the breaker %s has no kind; write kind: tool, or kind: model", clip(it.name))
			}
			continue
		}
		b := Breaker{Name: it.name, Health: it.v.Health.V}
		if it.v.Kind.V {
			s := machine.DefaultModelSettings()
			b.Model = &s
			if it.v.Guards.said() {
				r.d.fault(it.v.Guards.node, "guards belongs to a tool breaker; a model breaker has a primary and a chain")
			}
			if it.v.Health.said() {
				r.d.fault(it.v.Health.node, "health belongs to a tool breaker")
			}
		} else {
			s := machine.DefaultToolSettings()
			b.Tool = &s
			r.guards(it, &b)
		}
		r.scoped(&b, &it.v.Per)
		r.change(&b, &it.v.Reports, &it.v.settingsW, it.node)
		if b.Model != nil {
			if slices.Contains(r.targets, b.Name) {
				r.d.fault(it.key, "%s is a target too; calls to it would have two ways to go: give the breaker another name", b.Name)
			}
			if !it.v.Primary.said() && !r.d.perhaps(it.node, "primary") {
				r.missing(it.key, "the model breaker "+b.Name, "primary")
			}
			r.models(&b, &it.v.settingsW)
		}
		r.s.Breakers = append(r.s.Breakers, b)
	}
	for i := range r.f.Breakers.items {
		r.guardedModels(&r.f.Breakers.items[i].v.settingsW)
	}
}

// resolveSubstitutes settles who may stand in for whom (H7).
func (r *resolver) resolveSubstitutes() {
	for i := range r.f.Substitutes.items {
		it := &r.f.Substitutes.items[i]
		_, guarded := r.guarded[it.name]
		switch {
		case !slices.Contains(r.targets, it.name):
			r.d.fault(it.key, "unknown target %q%s", clip(it.name), r.d.meant(it.name, r.targets))
		case !guarded:
			r.d.fault(it.key, "no tool breaker guards %s, so nothing would ever stand in for it", it.name)
		case len(it.v.V) == 0 && (!it.v.said() || it.v.node.Type() == ast.SequenceType): // else that was said
			r.d.fault(it.key, "%s has no substitutes; write a list of targets: [search_backup]", it.name)
		}
		s := Substitute{Target: it.name}
		for k := range it.v.V {
			by := &it.v.V[k]
			switch {
			case by.V == "": // that was said
			case by.V == it.name:
				r.d.fault(by.node, "%s cannot stand in for itself", by.V)
			case slices.Contains(s.By, by.V):
				r.d.fault(by.node, "%s is here twice", clip(by.V))
			case !slices.Contains(r.targets, by.V):
				r.d.fault(by.node, "unknown target %q%s", clip(by.V), r.d.meant(by.V, r.targets))
			}
			s.By = append(s.By, by.V)
		}
		r.s.Substitutes = append(r.s.Substitutes, s)
	}
}

// guards settles which target a tool breaker gates.
func (r *resolver) guards(it *item[breakerW], b *Breaker) {
	at := it.key
	b.Guards = it.name
	if it.v.Guards.said() {
		b.Guards, at = it.v.Guards.V, it.v.Guards.node
		if b.Guards != it.name && slices.Contains(r.targets, it.name) && r.isTarget(b.Guards) {
			r.d.fault(it.key, "%s is a target too, but this breaker guards %s; give it another name", it.name, clip(b.Guards))
		}
	}
	switch first, taken := r.guarded[b.Guards]; {
	case !it.v.Guards.said() && r.d.perhaps(it.node, "guards"):
	case !r.isTarget(b.Guards) && it.v.Guards.said():
		r.d.fault(at, "unknown target %q%s", clip(b.Guards), r.d.meant(b.Guards, r.targets))
	case !r.isTarget(b.Guards):
		r.d.fault(at, "the breaker %q guards no target: there is none of that name%s (or say which with guards)", clip(b.Guards), r.d.meant(b.Guards, r.targets))
	case taken:
		r.d.fault(at, "%s is guarded by %s already; a target has one guard", b.Guards, first)
	default:
		r.guarded[b.Guards] = it.name
	}
}

// isTarget says whether the name is a target's, as far as can be told.
func (r *resolver) isTarget(name string) bool {
	return r.anyTarget || slices.Contains(r.targets, name)
}

// setting is one key of a breaker's settings, and how to take it over.
type setting struct {
	key      string
	node     ast.Node
	tool     func(*machine.ToolSettings)
	model    func(*machine.ModelSettings)
	cooldown func(*machine.Cooldown) // of either kind
	count    *int                    // must not be negative
}

func settingsOf(w *settingsW) []setting {
	span := func(v *val[duration]) time.Duration { return time.Duration(v.V) }
	return append([]setting{
		{key: "failure_threshold", node: w.FailureThreshold.node, count: &w.FailureThreshold.V, tool: func(s *machine.ToolSettings) { s.FailureThreshold = w.FailureThreshold.V }},
		{key: "recovery_duration", node: w.RecoveryDuration.node, tool: func(s *machine.ToolSettings) { s.RecoveryDuration = span(&w.RecoveryDuration) }},
		{key: "probe_timeout", node: w.ProbeTimeout.node, tool: func(s *machine.ToolSettings) { s.ProbeTimeout = span(&w.ProbeTimeout) },
			model: func(s *machine.ModelSettings) { s.ProbeTimeout = span(&w.ProbeTimeout) }},
		{key: "stale_results", node: w.StaleResults.node, tool: func(s *machine.ToolSettings) { s.IgnoreStale = bool(w.StaleResults.V) }},
		{key: "primary", node: w.Primary.node, model: func(s *machine.ModelSettings) { s.Primary = w.Primary.V }},
		{key: "chain", node: w.Chain.node, model: func(s *machine.ModelSettings) { s.Chain = chain(&w.Chain, &w.MaxFailCount) }},
		{key: "max_fail_count", node: w.MaxFailCount.node, model: func(*machine.ModelSettings) {}}, // of the chain
		{key: "trip_threshold", node: w.TripThreshold.node, count: &w.TripThreshold.V, model: func(s *machine.ModelSettings) { s.TripThreshold = w.TripThreshold.V }},
		{key: "recovery_timeout", node: w.RecoveryTimeout.node, model: func(s *machine.ModelSettings) { s.RecoveryTimeout = span(&w.RecoveryTimeout) }},
		{key: "recovery_successes_needed", node: w.RecoverySuccessesNeeded.node, count: &w.RecoverySuccessesNeeded.V, model: func(s *machine.ModelSettings) { s.RecoverySuccessesNeeded = w.RecoverySuccessesNeeded.V }},
		{key: "probation_failures", node: w.ProbationFailures.node, count: &w.ProbationFailures.V, model: func(s *machine.ModelSettings) { s.ProbationFailures = w.ProbationFailures.V }},
	}, furtherSettings(w)...)
}

// likewise names what the other kind of breaker has instead of a key.
var likewise = map[string]string{
	"failure_threshold": "trip_threshold", "recovery_duration": "recovery_timeout",
	"trip_threshold": "failure_threshold", "recovery_timeout": "recovery_duration",
}

// settings takes over what the file says, and refuses keys of the other kind.
func (r *resolver) settings(b *Breaker, w *settingsW) {
	for _, s := range settingsOf(w) {
		if s.node == nil {
			continue
		}
		if s.count != nil && *s.count < 0 {
			r.d.fault(s.node, "%s is %d; it must not be negative", s.key, *s.count)
		}
		switch cooldown := b.cooldown(); {
		case cooldown != nil && s.cooldown != nil:
			s.cooldown(cooldown)
		case b.Tool != nil && s.tool != nil:
			s.tool(b.Tool)
		case b.Model != nil && s.model != nil:
			s.model(b.Model)
		case b.Tool != nil:
			r.foreign(s, "a model", "a tool")
		default:
			r.foreign(s, "a tool", "a model")
		}
	}
}

func (r *resolver) foreign(s setting, of, here string) {
	hint := ""
	if other := likewise[s.key]; other != "" {
		hint = fmt.Sprintf("; %s breaker has %s", here, other)
	}
	r.d.fault(s.node, "%s belongs to %s breaker%s", s.key, of, hint)
}

// chain is the backups; limit is the budget of those that state none.
func chain(entries *val[[]backupW], limit *val[int]) []machine.Backup {
	var all []machine.Backup
	for i := range entries.V {
		e := &entries.V[i]
		b := machine.Backup{Name: e.Name.V, MaxFailCount: machine.DefaultMaxFailCount}
		switch {
		case e.MaxFailCount.said():
			b.MaxFailCount = e.MaxFailCount.V
		case limit.said():
			b.MaxFailCount = limit.V
		}
		all = append(all, b)
	}
	return all
}

// models checks the names in a model breaker.
func (r *resolver) models(b *Breaker, w *settingsW) {
	if w.Primary.said() && !r.isTarget(w.Primary.V) {
		r.d.fault(w.Primary.node, "unknown target %q%s", clip(w.Primary.V), r.d.meant(w.Primary.V, r.targets))
	}
	seen := map[string]bool{}
	for i := range w.Chain.V {
		name := &w.Chain.V[i].Name
		switch {
		case !name.said():
		case name.V == b.Model.Primary:
			r.d.fault(name.node, "%s is the primary; it cannot be its own backup", name.V)
		case seen[name.V]:
			r.d.fault(name.node, "%s is in the chain twice", name.V)
		case !r.isTarget(name.V):
			r.d.fault(name.node, "unknown target %q%s", clip(name.V), r.d.meant(name.V, r.targets))
		}
		seen[name.V] = true
	}
	r.lastResort(b, &w.LastResort)
}

// lastResort checks the name of a model breaker's last resort.
func (r *resolver) lastResort(b *Breaker, name *val[string]) {
	switch {
	case !name.said() || r.d.refused[name.node]:
	case !r.isTarget(name.V):
		r.d.fault(name.node, "unknown target %q%s", clip(name.V), r.d.meant(name.V, r.targets))
	case name.V == b.Model.Primary:
		r.d.fault(name.node, "%s is the primary, which is out when the last resort is asked; name another target", name.V)
	case slices.Contains(chainNames(b.Model), name.V):
		r.d.fault(name.node, "%s is in the chain; a last resort is none of those that can be spent", name.V)
	}
}

// guardedModels refuses targets that a tool breaker gates and a model breaker
// routes to: a turn goes past tool breakers.
func (r *resolver) guardedModels(w *settingsW) {
	names := []*val[string]{&w.Primary, &w.LastResort}
	for k := range w.Chain.V {
		names = append(names, &w.Chain.V[k].Name)
	}
	for _, n := range names {
		if guard, ok := r.guarded[n.V]; ok && n.said() {
			r.d.fault(n.node, "%s is guarded by %s, which turns of a model breaker go past; use another target", n.V, guard)
		}
	}
}
