package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/sim/trace"
)

// forced is what lies on a band that an operator keeps as it is.
func (p *pen) forced(look string, b box) { p.hatch(look+"-ink", 9, true, b) }

// ramp covers the share of the calls that a closed breaker still refuses, from
// the band's upper edge down.
func (p *pen) ramp(b box, first, last float64) {
	p.fill("refused", b.x, b.y, b.x+b.w, b.y, b.x+b.w, b.y+(1-last)*b.h, b.x, b.y+(1-first)*b.h)
}

// handMark is the number of what an operator did: on a square.
func handMark(p *pen, x, y float64, n int) {
	p.rect("note", box{x - 7, y - 7, 14, 14})
	p.text("note-ink", x, y, tinySize, true, centre, fmt.Sprint(n))
}

// mark is its number in the picture.
func (n *numbered) mark(p *pen, x, y float64) {
	if n.moment.byHand() {
		handMark(p, x, y, n.n)
	} else {
		numberMark(p, x, y, n.n)
	}
}

// handOccurs notes what the legend has to explain of operators' doings and ramps.
func (g *groupLanes) handOccurs(occurs map[string]bool) {
	for _, s := range g.stretches {
		for i := range s {
			if s.crowded() {
				break
			}
			if s[i].forced {
				occurs["forced "+s[i].State] = true
			}
			occurs["ramp"] = occurs["ramp"] || s[i].ramp != nil
		}
	}
	occurs["hand"] = occurs["hand"] || slices.ContainsFunc(g.pins, func(p *pin) bool { return p.moment.byHand() })
}

var handKeys = []key{
	{name: "forced closed", text: "forced closed: calls pass, whatever comes of them", draw: func(p *pen, b box) {
		bandKey(p, "closed", b)
		p.forced("closed", b)
	}},
	{name: "forced open", text: "forced open: calls are refused, and nobody probes", draw: func(p *pen, b box) {
		bandKey(p, "open", b)
		p.forced("open", b)
	}},
	{name: "ramp", text: "ramp: the share of calls that is still refused", draw: func(p *pen, b box) {
		p.ground("closed", b)
		p.ramp(b, 0.1, 1)
		p.frame("closed-edge", 1, b)
	}},
	{name: "hand", text: "an operator's doing", draw: func(p *pen, b box) { p.rect("note", box{b.x + b.w/2 - 5, b.y + b.h/2 - 5, 10, 10}) }},
}

// heldBack tells how many calls the ramps refused.
func (b *BreakerHistory) heldBack() string {
	n := 0
	for i := range b.Ramps {
		n += b.Ramps[i].Held
	}
	if n == 0 {
		return ""
	}
	return "Its " + either(len(b.Ramps) == 1, "ramp refuses ", "ramps refuse ") + plural(n, "call", "calls") + ". "
}

// changed are settings that an operator changed in the run, for the caption of the
// breaker.
func (h *History) changed(b *trace.Breaker) (parts []string) {
	now := b
	for i := range h.Acts {
		e := &h.Acts[i]
		if e.Op != trace.Configure || e.Breaker != b.Name && trace.Whole(e.Breaker) != b.Name || e.Settings == nil {
			continue
		}
		if words := changedSettings(now, e.Settings, h.End); words != "" {
			parts = append(parts, "from "+moment(e.T, h.End)+" on by hand: "+words)
		}
		now = e.Settings
	}
	return parts
}

// onFleets tells what operators did to breakers that are drawn as one.
func (h *History) onFleets() (lines []string) {
	for _, f := range h.Fleets {
		var parts []string
		for i := range h.Acts {
			e := &h.Acts[i]
			if trace.Whole(e.Breaker) != f.Name || e.Breaker != f.Members[0].Name {
				continue
			}
			does := map[string]string{trace.ForceOpen: "forces them open", trace.ForceClosed: "forces them closed", trace.Reset: "resets them", trace.Configure: "changes their settings"}[e.Op]
			rule := " (" + f.Members[0].ruleOf(e.Op) + ")"
			if does != "" {
				parts = append(parts, does+" at "+moment(e.T, h.End)+rule)
			}
		}
		if len(parts) > 0 {
			lines = append(lines, "By hand, of all breakers of "+f.Name+": an operator "+strings.Join(parts, " · "))
		}
	}
	return lines
}

// unbracketed tells of leases that no bracket shows, as too many run at one time.
func (f *figure) unbracketed() (lines []string) {
	for _, p := range f.panels {
		for _, g := range p.groups {
			n := 0
			for _, row := range g.leaseRow {
				if row >= g.leaseRows {
					n++
				}
			}
			if n > 0 {
				s := g.breaker.Name + ": " + plural(n, "lease has", "leases have") + " no bracket, as " + Thousands(mostLeaseRows) + " run already"
				if len(f.panels) > 1 {
					s = "Under " + p.h.Run.Policy + ": " + s
				}
				lines = append(lines, s)
			}
		}
	}
	return lines
}
