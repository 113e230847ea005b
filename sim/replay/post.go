package replay

import (
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
)

// post is where a breaker of the policy stands, with the gates that stand there:
// one, or one for each caller or host.
type post struct {
	name     string
	guards   string // of a tool breaker
	model    bool
	per      scenarios.Scope
	first, n int   // its gates
	scripted int   // per caller: the gate of scripted calls
	groups   []int // per caller: by group, the gate of its first caller
}

// addPost makes the gates that stand for b.
func (r *run) addPost(b *scenarios.Breaker) error {
	p := post{name: b.Name, guards: b.Guards, model: b.Model != nil, per: b.Per, first: len(r.gates), scripted: -1, groups: make([]int, len(r.s.Callers))}
	group := map[string]int{}
	for i := range r.s.Callers {
		group[r.s.Callers[i].Name] = i
	}
	all := r.s.Instances(b)
	if b.Per == scenarios.ForAll {
		all = []scenarios.Instance{{}}
	}
	for _, of := range all {
		if of.Name == scenarios.ScriptedCalls {
			p.scripted = len(r.gates)
		} else if i, ok := group[of.Name]; ok && b.Per == scenarios.PerCaller {
			p.groups[i] = len(r.gates)
		}
		for n := range max(1, of.Count) {
			one := *b
			if b.Per != scenarios.ForAll {
				one.Name = scenarios.PartName(b.Name, of.Name, min(of.Count, n+1))
			}
			if b.Per == scenarios.PerHost {
				one.Guards = scenarios.PartName(b.Guards, of.Name, 0)
			}
			if err := r.addGate(&one); err != nil {
				return err
			}
		}
	}
	p.n = len(r.gates) - p.first
	r.posts = append(r.posts, p)
	return nil
}

// addGate makes the gate of one breaker.
func (r *run) addGate(b *scenarios.Breaker) error {
	g, err := r.gateOf(b)
	if err != nil {
		return err
	}
	placed := gate{Gate: g, name: b.Name, model: b.Model != nil, varies: r.varies(b), guards: b.Guards}
	if b.Health {
		placed.stats = new(machine.Stats)
	}
	r.gates = append(r.gates, placed)
	return nil
}

// gateOfCall is the gate at the post that the call asks. Of one for each host it
// is the first host's, until one is chosen.
func (r *run) gateOfCall(p *post, c *call) int {
	switch {
	case p.per != scenarios.PerCaller:
		return p.first
	case c.caller < 0:
		return p.scripted
	default:
		by := &r.callers[c.caller]
		return p.groups[by.group] + max(0, by.number-1)
	}
}

// gatesNamed are the gate of that name, or all that a breaker of that name comes to.
func (r *run) gatesNamed(name string) []gate {
	for i := range r.posts {
		if p := &r.posts[i]; p.name == name {
			return r.gates[p.first : p.first+p.n]
		}
	}
	for i := range r.gates {
		if r.gates[i].name == name {
			return r.gates[i : i+1]
		}
	}
	return nil
}

// available says whether the target would be called now by the call that asks: by
// H7's pure reading of its gate, of any host's, and always if it has none.
func (r *run) available(now time.Duration, target string) bool {
	for i := range r.posts {
		p := &r.posts[i]
		if p.guards != target {
			continue
		}
		if p.per == scenarios.PerHost {
			_, lets := r.letting(p, now, r.targetNamed(target))
			return lets
		}
		allows, _ := r.gates[r.gateOfCall(p, r.asker)].Peek(now)
		return allows
	}
	return true
}

// choose settles which host the attempt goes to, and the gate that it asks, if it
// asks one. Turns are taken only by attempts that are made ([run.serve]).
func (r *run) choose(c *call, asks bool) {
	var p *post
	if asks {
		p = &r.posts[c.way.post]
		c.gate = r.gateOfCall(p, c)
		if p.model {
			return // the breaker names the target
		}
	}
	now := r.clock.Now()
	target := r.targets[c.seat].of
	hosts := r.targets[target].hosts
	switch w := c.whole(); {
	case hosts == 0:
		return
	case c.way.host >= 0:
		c.seat = c.way.host
	case w.holds && !asks && r.posts[c.way.post].per == scenarios.PerHost:
		return // it stays at the host whose breaker let it
	case asks && p.per == scenarios.PerHost:
		c.seat, _ = r.letting(p, now, target)
	default:
		c.seat = r.next(target)
	}
	if asks && p.per == scenarios.PerHost {
		c.gate = p.first + c.seat - target - 1
	}
}

// next is the host whose turn it is.
func (r *run) next(target int) int { return target + 1 + r.targets[target].turn }

// letting is the next host in turn whose breaker would let a call through (T14)
// or, if none would, the one whose turn it is.
func (r *run) letting(p *post, now time.Duration, target int) (host int, lets bool) {
	t := &r.targets[target]
	for i := range t.hosts {
		k := (t.turn + i) % t.hosts
		if allows, _ := r.gates[p.first+k].Peek(now); allows {
			return target + 1 + k, true
		}
	}
	return r.next(target), false
}

// took gives the turn to the host after the one that the attempt goes to.
func (r *run) took(c *call) {
	if target := r.targets[c.seat].of; target != c.seat && c.way.host < 0 {
		t := &r.targets[target]
		t.turn = (c.seat - target) % t.hosts
	}
}
