package report

import (
	"math"
	"slices"

	"github.com/breakersim/breakersim/sim/trace"
)

// used are the legend's entries for what is drawn, and no others.
func (c *load) used() []key {
	var most loadStep
	for _, s := range c.strips {
		most = peak([]loadStep{most, s.peak})
	}
	meets := func(s trace.Span) bool { return s.From < c.to && s.To > c.from }
	outage := slices.ContainsFunc(c.strips, func(s *strip) bool { return slices.ContainsFunc(s.outages(c.end), meets) })
	turns := slices.ContainsFunc(c.strips, func(s *strip) bool { return len(c.turns(s)) > 0 })
	burst := slices.ContainsFunc(c.lanes, func(l truthLane) bool { return slices.ContainsFunc(l.bursts, meets) })
	fares := func(look string) bool {
		return slices.ContainsFunc(c.lanes, func(l truthLane) bool {
			return slices.ContainsFunc(l.stretches, func(s stretchOfTruth) bool { return s.look == look && meets(s.Span) })
		})
	}
	band := func(look string) func(*pen, box) { return func(p *pen, b box) { bandKey(p, look, b) } }
	return drawnKeys([]drawnKey{
		{most.attempts > 0, key{text: "attempts", draw: attemptsKey}},
		{most.good > 0, key{text: "goodput: calls that succeeded", draw: band("good")}},
		{most.refused > 0, key{text: "turned away: refused or exhausted, below zero", draw: band("away")}},
		{most.busy > 0, key{text: "being served", draw: band("bar")}},
		{most.queue > 0, key{text: "waiting", draw: band("queue")}},
		{outage, key{text: "outage of a target", draw: outageKey}},
		{turns, key{text: "a target gets better or worse", draw: turnKey}},
		{fares("shaky"), key{text: "fails in part", draw: band("shaky")}},
		{fares("slow"), slowKey(false)},
		{burst, key{text: "burst of trouble", draw: burstKey}},
	})
}

func attemptsKey(p *pen, b box) {
	p.stroke("ink", 1.4, b.x, b.y+8, b.x+5, b.y+8, b.x+5, b.y+2, b.x+11, b.y+2, b.x+11, b.y+6, b.x+b.w, b.y+6)
}

// outageKey is an outage in a target's lane and, below it, behind the strips.
func outageKey(p *pen, b box) {
	upper, lower := b, b
	upper.h = math.Floor(b.h / 2)
	lower.y, lower.h = b.y+upper.h, b.h-upper.h
	p.ground("down", upper)
	p.rect("outage", lower)
	p.frame("grid", 1, b)
}

func turnKey(p *pen, b box) { p.turn(b.x+b.w/2, b.y-1, b.y+b.h+2) }

func burstKey(p *pen, b box) {
	p.rect("up", b)
	p.rect("down-ink", box{b.x + 4, b.y + b.h - 5, 5, 5})
}
