package report

import (
	"slices"
	"time"
)

// key is one entry of the legend.
type key struct {
	name string // what must occur for it
	text string
	draw func(p *pen, b box)
	x, y float64
}

// usedKeys are the legend's entries for what is drawn in the figure, and no
// others.
func (f *figure) usedKeys() []key {
	occurs := map[string]bool{}
	per := time.Duration(0)
	for _, p := range f.panels {
		for _, g := range p.groups {
			g.targetsOccur(f, p.h, occurs)
			g.callsOccur(f, occurs)
			g.bandsOccur(f, p.h, occurs)
			for _, r := range g.rows {
				if r.bars() {
					per = r.per // the same for all
				}
			}
		}
	}
	var used []key
	for _, k := range allKeys(occurs, per) {
		if occurs[k.name] {
			used = append(used, k)
		}
	}
	return used
}

func (g *groupLanes) targetsOccur(f *figure, h *History, occurs map[string]bool) {
	for _, t := range g.group.targets {
		for _, s := range f.truth(h, t) {
			if !f.meetsSpan(s.Span) {
				continue
			}
			occurs[s.key()] = true
			occurs["shade"] = occurs["shade"] || s.look == "down" && t.Name == g.main()
		}
		if slices.ContainsFunc(h.Bursts[t.Name], f.meetsSpan) {
			occurs["burst"] = true
		}
	}
}

func (g *groupLanes) callsOccur(f *figure, occurs map[string]bool) {
	for _, r := range g.rows {
		if r.bars() {
			occurs["bars"] = true
			occurs["one scale"] = occurs["one scale"] || r.full > r.most || r.own
			occurs[barsOf(r.kinds[0])] = true
			continue
		}
		for _, m := range r.marks {
			occurs[markWords[m.Kind]] = true
			occurs["span"] = occurs["span"] || r.lane && m.Kind != MarkLate && f.visibly(&m)
		}
		occurs["arc"] = occurs["arc"] || r.tall
	}
	switch {
	case g.breaker == nil || g.probes(f) == 0:
	case g.ticks:
		occurs["ticks"] = true
	default:
		occurs[markWords[MarkProbe]] = true
		for _, m := range g.marks { // a probe that vanished is hollow on the band, too
			if m.Kind == MarkLost && f.within(m.At) {
				occurs[markWords[MarkLost]] = true
			}
		}
	}
}

func (g *groupLanes) bandsOccur(f *figure, h *History, occurs map[string]bool) {
	if g.fleet != nil {
		g.fleet.occur(f, occurs)
	}
	if g.breaker == nil {
		return
	}
	g.handOccurs(occurs)
	g.probesOccur(occurs)
	before := g.serves()
	for _, s := range g.stretches {
		if s.crowded() {
			occurs["crowd"] = true
		}
		for _, b := range s {
			if !b.forced || s.crowded() {
				occurs[b.look()+" "+b.State] = true
			}
			if b.Serves != before && !s.crowded() {
				occurs["switch"] = true
			}
			if len(b.Restarts) > 0 && !s.crowded() {
				occurs["restart"] = true
			}
			before = b.Serves
		}
	}
	if f.departure(h) != nil {
		occurs["departs"] = true
	}
	occurs["others"] = occurs["others"] || g.breaker.others()
	for _, s := range g.readies(f) {
		occurs["ready"] = true
		occurs["ready on "+g.lookAt(s.From)] = true
	}
	if slices.ContainsFunc(h.Moments, func(m Moment) bool { return f.isBackdated(&m, g.breaker) && !g.crowdAt(m.Effective) }) {
		occurs["backdated"] = true
	}
	if len(g.breaker.Health) > 0 {
		occurs["health"] = true
	}
	for _, s := range g.leases {
		if g.brackets {
			occurs["lease"] = occurs["lease"] || f.wide(&s)
			occurs["ran out"] = occurs["ran out"] || s.RanOut && f.within(s.To)
		}
	}
}

// probesOccur notes how many probes may be under way.
func (g *groupLanes) probesOccur(occurs map[string]bool) {
	switch b := g.breaker; {
	case b.others():
	case b.Tool != nil && b.now.Probes > 1:
		occurs["several probes"] = true
	case b.Model != nil && b.now.AtOnce > 0:
		occurs["some turns"] = true
	}
}

// allKeys are the legend's entries in their order; a bar is so much time wide.
func allKeys(occurs map[string]bool, per time.Duration) []key {
	var keys []key
	for _, k := range bandKeys {
		if k.state == "half-open" && occurs["others"] { // how many it lets through is its own affair
			k.text = "half-open: calls test the target"
		} else if k.state == "half-open" && occurs["several probes"] {
			k.text = "half-open: one probe, or several"
		} else if k.state == "recovering" && occurs["some turns"] {
			k.text = "recovering: some turns probe the primary"
		}
		keys = append(keys, key{name: k.look + " " + k.state, text: k.text, draw: func(p *pen, b box) { bandKey(p, k.look, b) }})
	}
	keys = append(keys, handKeys...)
	keys = append(keys,
		key{name: "crowd", text: "stacked: each state's share of the time", draw: func(p *pen, b box) { stack(p, share{0: 2, 1: 1, 4: 1}, b) }},
		downKey(occurs["shade"]),
		key{name: "fleet", text: "stacked: how many of the breakers are in each state", draw: func(p *pen, b box) { p.fleetStack([]share{{0: 1, 4: 2}, {0: 1, 1: 1, 4: 1}, {0: 2, 4: 1}}, b) }},
		key{name: "shaky", text: "fails in part", draw: func(p *pen, b box) { p.ground("shaky", b) }},
		slowKey(occurs["overload"]))
	keys = append(keys, key{name: "burst", text: "burst of trouble", draw: func(p *pen, b box) {
		p.rect("up", b)
		p.rect("down-ink", box{b.x + 4, b.y + b.h - 5, 5, 5})
	}})
	for k := MarkOK; k <= MarkWaited; k++ {
		keys = append(keys, callKey(k, occurs))
	}
	return append(keys,
		key{name: "span", text: "from an attempt's start to its end", draw: spanKey},
		key{name: "arc", text: "from a call's start to its late result", draw: lateKey},
		key{name: "ticks", text: "probes let through", draw: func(p *pen, b box) {
			for x := b.x + 3; x < b.x+b.w; x += 5 {
				probeTick(p, x, b.y+b.h/2)
			}
		}},
		key{name: "lease", text: either(occurs["several probes"], "a probe's lease", "the probe's lease"), draw: func(p *pen, b box) {
			p.stroke("probe", 1.3, b.x, b.y+b.h, b.x, b.y+3, b.x+b.w, b.y+3, b.x+b.w, b.y+b.h)
		}},
		key{name: "ran out", text: either(occurs["several probes"], "a lease ran out", "the lease ran out"), draw: func(p *pen, b box) { leaseEnd(p, b.x+b.w/2, b.y+4) }},
		key{name: "ready", text: "a probe is possible from here", draw: func(p *pen, b box) {
			p.rect(readyGround(occurs), box{b.x, b.y - 2, b.w, 7})
			p.ground("half-open", box{b.x + b.w/2, b.y + 1, b.w / 2, 4})
			readyMark(p, b.x+b.w/2, b.y+5)
		}},
		key{name: "departs", text: "departs from ours", draw: func(p *pen, b box) { departMark(p, b.x+b.w/2, b.y+b.h/2) }},
		key{name: "backdated", text: "took effect before it was noticed", draw: func(p *pen, b box) { backArrow(p, b.x+b.w, b.x, b.y+b.h/2, true) }},
		key{name: "restart", text: "a late failure restarts the cooldown", draw: func(p *pen, b box) {
			bandKey(p, "open", b)
			restartMark(p, b.x+b.w/2, b.y)
		}},
		key{name: "health", text: "health score: healthy from 0.8, degraded from 0.5, below that unhealthy", draw: healthKey},
		key{name: "switch", text: "turns go to another model, or to none", draw: func(p *pen, b box) { switchMark(p, b.x+b.w/2, b.y+3) }},
		barsKey(per, occurs["one scale"]))
}

// downKey explains the look of a target that is out and, where outages are shaded
// behind all that hangs on the target, the shade.
func downKey(shade bool) key {
	if shade {
		return key{name: "down", text: "outage of the target, shaded below it", draw: outageKey}
	}
	return key{name: "down", text: "outage of the target", draw: func(p *pen, b box) { p.ground("down", b) }}
}

// readyGround is that on which the figure says that a probe is possible.
func readyGround(occurs map[string]bool) string {
	for _, look := range []string{"open", "backup"} {
		if occurs["ready on "+look] {
			return look
		}
	}
	return "spent"
}

// barsOf is the name of bars of that kind.
func barsOf(k MarkKind) string { return "bars of " + markWords[k] }

// callKey explains what stands for calls of that kind: a mark, a bar, or both.
func callKey(k MarkKind, occurs map[string]bool) key {
	e := key{name: markWords[k], text: markWords[k]}
	marks, bars := occurs[e.name], occurs[barsOf(k)]
	if !marks {
		e.name = barsOf(k)
	}
	e.draw = func(p *pen, b box) {
		at := b.x + b.w/2
		if marks && bars {
			at = b.x + 4.5
		}
		if marks {
			drawMark(p, k, at, b.y+b.h/2, markRadius)
		}
		switch {
		case bars && marks:
			drawBars(p, k, []box{{b.x + b.w - 6, b.y, 6, b.h}})
		case bars:
			drawBars(p, k, []box{{b.x + 2, b.y + 4, 6, b.h - 4}, {b.x + 8.6, b.y, 6, b.h}})
		}
	}
	return e
}

// barsKey explains how bars are to be read that are so much time wide.
func barsKey(per time.Duration, oneScale bool) key {
	text := "bars: calls in each " + Clock(per) + "; the tallest is the row's max"
	if oneScale {
		text = "bars: calls in each " + Clock(per) + "; rows of one name have one scale, unless marked"
	}
	return key{name: "bars", text: text, draw: func(p *pen, b box) {
		for i, h := range []float64{4, 8, 6} {
			p.frame("muted", 1, box{b.x + float64(i)*5 + 1, b.y + b.h - h, 4, h})
		}
	}}
}

var bandKeys = []struct{ look, state, text string }{
	{"closed", "closed", "closed: calls pass"},
	{"open", "open", "open: calls are refused"},
	{"half-open", "half-open", "half-open: one probe"},
	{"closed", "primary", "primary serves"},
	{"backup", "fallback", "fallback: a backup serves"},
	{"spent", "fallback", "fallback: the chain is spent"},
	{"half-open", "recovering", "recovering: turns probe the primary"},
}

func bandKey(p *pen, look string, b box) {
	p.ground(look, b)
	p.frame(look+"-edge", 1, b)
}
