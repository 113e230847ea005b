package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/machine"
)

// operations are the things that an entry can do, one at a time.
func (w *callW) operations() (said []string) {
	for _, k := range []struct {
		key  string
		said bool
	}{{"to", w.To.said()}, {"peek", w.Peek.said()}, {"reset", w.Reset.said()}, {"set_available", w.SetAvailable.said()},
		{"force_open", w.ForceOpen.said()}, {"force_closed", w.ForceClosed.said()}, {"configure", w.Configure.said()}} {
		if k.said {
			said = append(said, k.key)
		}
	}
	return said
}

var operationKeys = []string{"to", "peek", "reset", "set_available", "force_open", "force_closed", "configure"}

// operation finds the one thing that the entry does.
func (r *resolver) operation(w *val[callW], c *Call) {
	e := &w.V
	if len(e.operations()) != 1 {
		r.lacks(w.node, operationKeys, "an entry does one thing: to, peek, reset, set_available, force_open, force_closed or configure")
		return
	}
	on := func(op Op, name *val[string]) *Breaker {
		c.Op, c.To = op, name.V
		return r.breaker(name)
	}
	switch {
	case e.To.said():
		c.To = e.To.V
		r.destination(&e.To)
	case e.Peek.said():
		on(OpPeek, &e.Peek)
	case e.Reset.said():
		on(OpReset, &e.Reset)
	case e.ForceOpen.said():
		r.toolOnly(on(OpForceOpen, &e.ForceOpen), &e.ForceOpen, "force_open opens")
	case e.ForceClosed.said():
		r.toolOnly(on(OpForceClosed, &e.ForceClosed), &e.ForceClosed, "force_closed closes")
	case e.Configure.said():
		c.Op = OpConfigure
		r.configure(&e.Configure, c)
	default:
		c.Op = OpSetAvailable
		r.setAvailable(&e.SetAvailable, c)
	}
}

// toolOnly refuses a model breaker for what is done to tool breakers.
func (r *resolver) toolOnly(b *Breaker, name *val[string], does string) {
	if b != nil && b.Tool == nil {
		r.d.fault(name.node, "%s is a model breaker; %s a tool breaker (a backup is switched by set_available)", b.Name, does)
	}
}

// configure checks the settings that an operator changes, each by itself. What
// they come to, after other changes, is seen under each policy, once all of these
// are known: see configured.
func (r *resolver) configure(w *val[configureW], c *Call) {
	if !w.V.Breaker.said() {
		r.lacks(w.node, []string{"breaker"}, "configure wants a breaker and settings: {breaker: search, recovery_duration: 10s}")
		return
	}
	c.To = w.V.Breaker.V
	b := r.breaker(&w.V.Breaker)
	var keys []string
	for _, s := range settingsOf(&w.V.settingsW) {
		keys = append(keys, s.key)
	}
	switch {
	case b == nil:
	case b.Tool == nil:
		r.d.fault(w.V.Breaker.node, "%s is a model breaker; configure changes the settings of a tool breaker", b.Name)
	case !w.V.Like.said() && !slices.ContainsFunc(settingsOf(&w.V.settingsW), func(s setting) bool { return s.node != nil }):
		r.lacks(w.node, keys, "configure changes nothing; write settings beside the breaker: {breaker: %s, recovery_duration: 10s}", b.Name)
	default:
		trial := *b
		trial.Tool = new(*b.Tool)
		if w.V.Like.said() {
			r.like(&trial, &w.V.settingsW)
		}
		r.put(&trial, new(val[reportsWord]), &w.V.settingsW)
	}
}

// configured settles what the entries that change settings come to under each
// policy, one after the other.
func (r *resolver) configured() {
	var entries []int
	for i := range r.s.Calls {
		if r.s.Calls[i].Op == OpConfigure {
			entries = append(entries, i)
		}
	}
	if len(entries) == 0 || len(r.d.faults.Faults) > 0 {
		return
	}
	slices.SortStableFunc(entries, func(a, b int) int { return cmp.Compare(r.s.Calls[a].At, r.s.Calls[b].At) })
	for i := 0; i < len(r.s.Policies) && len(r.d.faults.Faults) == 0; i++ {
		r.configuredUnder(&r.s.Policies[i], entries)
	}
}

func (r *resolver) configuredUnder(p *Policy, entries []int) {
	now, anonymous := map[string]machine.ToolSettings{}, map[string]bool{}
	for _, b := range p.Breakers {
		if b.Tool != nil {
			now[b.Name], anonymous[b.Name] = *b.Tool, b.Anonymous
		}
	}
	for _, i := range entries {
		c, w := &r.s.Calls[i], &r.f.Calls[i].V.Configure
		base, part := SplitName(c.To)
		s, there := now[c.To]
		if !there && part != "" { // as all instances are
			s, there = now[base]
		}
		if !there {
			continue
		}
		if part == "" { // all are set alike again
			maps.DeleteFunc(now, func(name string, _ machine.ToolSettings) bool { return strings.HasPrefix(name, base+"[") })
		}
		if like := &w.V.Like; like.said() && !r.reportsStay(like, base, anonymous[base]) {
			return
		}
		r.change(&Breaker{Name: c.To, Tool: &s, Anonymous: anonymous[base]}, new(val[reportsWord]), &w.V.settingsW, w.node)
		if err := s.Validate(); err != nil && len(r.d.faults.Faults) == 0 {
			r.d.fault(w.node, "with these settings of %s under the policy %s, %v", c.To, p.Name, err)
		}
		if len(r.d.faults.Faults) > 0 { // another policy would say the same
			return
		}
		now[c.To] = s
		if p.Configured == nil {
			p.Configured = map[int]machine.ToolSettings{}
		}
		p.Configured[i] = s
	}
}

// reportsStay refuses a preset that has results reported in another way than
// the breaker, on which an operator has no hand.
func (r *resolver) reportsStay(like *val[string], breaker string, anonymous bool) bool {
	_, preset := presetOf(like.V)
	if bool(preset.Reports.V) == anonymous {
		return true
	}
	word := reportsWords[0]
	if !anonymous {
		word = reportsWords[1]
	}
	r.d.fault(like.node, "%s has reports: %s, which cannot change while it runs; write reports: %[2]s where %s is made, or another preset", like.V, word, breaker)
	return false
}

func (r *resolver) setAvailable(w *val[availableW], c *Call) {
	a := &w.V
	if !a.Breaker.said() || !a.Name.said() || !a.Available.said() {
		r.lacks(w.node, []string{"breaker", "name", "available"}, "set_available wants breaker, name and available: {breaker: llm, name: sonnet, available: false}")
		return
	}
	c.To, c.Backup, c.Available = a.Breaker.V, a.Name.V, a.Available.V
	b := r.breaker(&a.Breaker)
	switch {
	case b == nil:
	case b.Model == nil:
		r.d.fault(a.Breaker.node, "%s is a tool breaker; only a model breaker has a chain", c.To)
	default:
		if names := chainNames(b.Model); !slices.Contains(names, c.Backup) && !r.anyBackup(b.Name) {
			r.d.fault(a.Name.node, "%q is not in the chain of %s%s", clip(c.Backup), c.To, r.d.meant(c.Backup, names))
		}
	}
}
