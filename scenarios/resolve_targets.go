package scenarios

import (
	"math"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
)

func (r *resolver) resolveTargets() {
	for i := range r.f.Targets.items {
		it := &r.f.Targets.items[i]
		r.name(it.name, it.key)
		t := Target{Name: it.name, Base: Behavior{Mix: Mix{{Success, 1}}, Latency: &Dist{}}}
		r.target(&t, &it.v.hostW)
		r.hosts(&t, it)
		r.s.Targets = append(r.s.Targets, t)
	}
}

// target lays what the file says over t.
func (r *resolver) target(t *Target, w *hostW) {
	t.Base = t.Base.under(r.behavior(&w.behaviorW))
	if n := len(w.Phases); n > mostPhases {
		r.d.fault(w.Phases[mostPhases].node, "%s has %d phases; no more than %d are played", clip(t.Name), n, mostPhases)
	}
	if w.Limit.said() {
		t.Limit = r.limit(&w.Limit)
	}
	if w.Capacity.said() {
		t.Capacity = r.capacity(&w.Capacity)
	}
	if w.Network.said() {
		t.Network = w.Network.V.Dist
	}
	if w.Warmup.said() {
		t.Warmup = time.Duration(w.Warmup.V)
	}
	if w.Bursts.said() {
		t.Bursts = r.bursts(&w.Bursts)
	}
	if w.Price.said() {
		t.Price = r.price(&w.Price)
	}
	for k := range w.Phases {
		t.Phases = append(t.Phases, r.phase(&w.Phases[k]))
	}
}

// mostHosts of one target.
const mostHosts = 1000

// hosts makes the target's hosts, each of which is what the target says, with
// what it says itself over that. The target keeps nothing but its words: it is
// they who are called.
func (r *resolver) hosts(t *Target, it *item[targetW]) {
	w, phases := &it.v.Hosts, 0
	if w.node == nil {
		return
	}
	for i := range w.items {
		h := &w.items[i]
		r.name(h.name, h.key)
		host := *t
		host.Name, host.Host, host.Phases, host.Hosts = PartName(t.Name, h.name, 0), h.name, slices.Clone(t.Phases), nil
		r.target(&host, &h.v)
		phases += len(host.Phases)
		t.Hosts = append(t.Hosts, host)
	}
	switch n := len(t.Hosts); {
	case n == 0 && !r.d.refused[w.node] && !r.d.perhaps(w.node):
		r.d.fault(it.key, "%s has no hosts; name them, hosts: {a: {}, b: {}}, or leave hosts out", clip(t.Name))
	case n > mostHosts:
		r.d.fault(w.items[mostHosts].key, "%s has %d hosts; no more than %d are played", clip(t.Name), n, mostHosts)
	case phases > mostPhases:
		r.d.fault(w.items[0].key, "the hosts of %s have %d phases in all, those of the target in each; no more than %d are played", clip(t.Name), phases, mostPhases)
		t.Hosts = t.Hosts[:1]
	}
	t.Limit, t.Capacity, t.Network, t.Warmup, t.Bursts, t.Price = nil, nil, Dist{}, 0, nil, nil
}

func (r *resolver) limit(w *val[limitW]) *Limit {
	rate, l := w.V.Rate.V, &Limit{Burst: w.V.Burst.V}
	if !w.V.Rate.said() {
		if isMapping(w.node) { // else that was said
			r.missing(w.node, "the limit", "rate")
		}
		return nil
	}
	r.running(&w.V.Rate)
	if rate.Count > 0 { // else that was said
		l.Every = max(1, time.Duration(math.Round(float64(rate.Per)/rate.Count)))
	}
	switch {
	case !w.V.Burst.said():
		l.Burst = max(1, int(time.Second/max(1, l.Every)))
	case l.Burst < 1 || l.Burst > 1_000_000_000:
		r.d.fault(w.V.Burst.node, "burst must be from 1 to 1000000000")
	}
	return l
}

func isMapping(n ast.Node) bool {
	return n.Type() == ast.MappingType || n.Type() == ast.MappingValueType
}

const mostServers = 1_000_000

func (r *resolver) capacity(w *val[capacityW]) *Capacity {
	c := &Capacity{Servers: w.V.Servers.V, CancelOnTimeout: w.V.CancelOnTimeout.V, Slowdown: time.Duration(w.V.Slowdown.V)}
	switch {
	case !w.V.Servers.said():
		if isMapping(w.node) && !w.V.Slowdown.said() { // else that was said
			r.lacks(w.node, []string{"servers", "slowdown"}, "the capacity has no servers, nor a slowdown")
		}
	case c.Servers < 1 || c.Servers > mostServers:
		r.d.fault(w.V.Servers.node, "servers must be from 1 to %d", mostServers)
	}
	if w.V.Queue.said() {
		c.Queue = &w.V.Queue.V
		if *c.Queue < 0 {
			r.d.fault(w.V.Queue.node, "queue is %d; it must not be negative (leave it out if any number may wait)", *c.Queue)
		}
	}
	return c
}

// shortestBurst bounds how often a target changes between two events of a run,
// and MostBursts how often all of them do in all, as a limit of calls bounds those.
const (
	shortestBurst = time.Millisecond
	MostBursts    = 5_000_000
)

func (r *resolver) bursts(w *val[burstsW]) *Bursts {
	b := &Bursts{Apart: time.Duration(w.V.Apart.V), For: time.Duration(w.V.For.V), Behavior: r.behavior(&w.V.behaviorW)}
	if !isMapping(w.node) { // that was said
		return b
	}
	for _, k := range []struct {
		name string
		v    *val[duration]
	}{{"apart", &w.V.Apart}, {"for", &w.V.For}} {
		switch {
		case !k.v.said():
			r.lacks(w.node, []string{k.name}, "bursts have no %s", k.name)
		case time.Duration(k.v.V) < shortestBurst && !r.d.refused[k.v.node]:
			r.d.fault(k.v.node, "%s is %s; bursts are at least %s long and apart", k.name, short(k.v.V), shortestBurst)
		}
	}
	if b.Mix == nil && b.Latency == nil && b.RetryAfter == nil {
		r.lacks(w.node, []string{"outcome", "mix", "latency", "retry_after"}, "bursts change nothing; say outcome, mix, latency or retry_after")
	}
	if min(b.Apart, b.For) < shortestBurst { // that was said
		return b
	}
	if r.bursty += r.s.Duration.Seconds() / (b.Apart + b.For).Seconds(); r.bursty > MostBursts {
		r.d.fault(w.node, "up to here that is about %.0f bursts, more than %d; make them longer, or the run shorter", r.bursty, MostBursts)
		r.bursty = math.Inf(-1) // said once
	}
	return b
}

func (r *resolver) price(w *val[priceW]) *Price {
	p := &Price{Call: w.V.Call.V, Tokens: w.V.Tokens.V}
	switch {
	case p.Call < 0 || p.Call > 1e9:
		r.d.fault(w.V.Call.node, "a call costs %v; it must be from 0 to 1000000000", p.Call)
	case p.Tokens < 0 || p.Tokens > 1e9:
		r.d.fault(w.V.Tokens.node, "a call costs %d tokens; it must be from 0 to 1000000000", p.Tokens)
	case !w.V.Call.said() && !w.V.Tokens.said() && isMapping(w.node):
		r.lacks(w.node, []string{"call", "tokens"}, "the price is of nothing; say call or tokens")
	}
	return p
}

func (r *resolver) phase(w *val[phaseW]) Phase {
	p := Phase{Behavior: r.behavior(&w.V.behaviorW)}
	if !w.V.At.said() {
		r.missing(w.node, "the phase", "at")
	}
	p.At, p.DrawAt = instant(&w.V.At)
	if w.V.For.said() {
		d, drawn := instant(&w.V.For)
		p.For, p.DrawFor = &d, drawn
		if d == 0 && drawn == nil && !isMapping(w.V.For.node) {
			r.d.fault(w.V.For.node, "a phase of 0s never is; leave for out if it lasts to the end")
		}
	}
	if p.Mix == nil && p.Latency == nil && p.RetryAfter == nil && !w.V.Mix.said() && !w.V.Latency.said() {
		r.lacks(w.node, []string{"outcome", "mix", "latency", "retry_after"}, "the phase changes nothing; say outcome, mix, latency or retry_after")
	}
	return p
}

// instant is when something is, or what that is drawn from.
func instant(w *val[distW]) (time.Duration, *Dist) {
	if w.V.Kind != Fixed {
		return 0, &w.V.Dist
	}
	return w.V.A, nil
}

func (r *resolver) behavior(w *behaviorW) Behavior {
	var b Behavior
	if w.Outcome.said() && w.Mix.said() {
		r.d.fault(w.Mix.node, "outcome and mix say the same thing; keep one of them")
	}
	if w.Mix.said() {
		b.Mix = w.Mix.V.Mix
	}
	if w.Outcome.said() {
		b.Mix = Mix{{w.Outcome.V, 1}}
	}
	if w.Latency.said() {
		b.Latency = &w.Latency.V.Dist
	}
	b.RetryAfter = span(&w.RetryAfter)
	return b
}

// span is the duration if the file has it.
func span(v *val[duration]) *time.Duration {
	if !v.said() {
		return nil
	}
	d := time.Duration(v.V)
	return &d
}
