package report

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// belowHeight is the room below a band for what the breaker would have done, or
// did earlier than it was noticed.
const belowHeight = 11.0

// leastReady is how many pixels a stretch needs in which a probe is possible: the
// mark below its beginning and the probe at its end stand beside each other.
const leastReady = 10.0

// hasBelow says whether anything stands below the band.
func (g *groupLanes) hasBelow(f *figure, h *History) bool {
	return len(g.readies(f)) > 0 || slices.ContainsFunc(h.Moments, func(m Moment) bool { return f.isBackdated(&m, g.breaker) })
}

// readies are the stretches long enough to be drawn in which a probe was
// possible and nobody asked; not in crowds.
func (g *groupLanes) readies(f *figure) (all []trace.Span) {
	for _, s := range g.breaker.Ready {
		from, to := max(s.From, f.begin), min(s.To, f.end)
		if f.meetsSpan(s) && f.along(to)-f.along(from) >= leastReady && !g.crowdAt(from) {
			all = append(all, s)
		}
	}
	return all
}

// crowdAt says whether the band at that instant is one of a crowd.
func (g *groupLanes) crowdAt(at time.Duration) bool {
	return slices.ContainsFunc(g.stretches, func(s stretch) bool { return s.crowded() && s[0].From <= at && at < s[len(s)-1].To })
}

// lookAt is that of the band at an instant, or of the first one that is drawn after it.
func (g *groupLanes) lookAt(at time.Duration) string {
	for _, s := range g.stretches {
		for i := range s {
			if at < s[i].To {
				return s[i].look()
			}
		}
	}
	return ""
}

// ready tells what was possible from what happened: from the end of the
// cooldown on a strip in the band says that whoever asks is the probe.
func (l *lanePlotter) ready(g *groupLanes) {
	for _, s := range g.readies(l.f) {
		done := l.pen.group(fmt.Sprintf("%s: a probe is possible from %s; nobody asks before %s", g.breaker.Name, l.clock(s.From), l.clock(s.To)))
		x0, x1 := l.x(s.From), l.x(s.To)
		l.pen.ground("half-open", box{x0, g.band + bandHeight - readyHeight, x1 - x0, readyHeight})
		l.pen.frame("half-open-edge", 1, box{x0, g.band + bandHeight - readyHeight, x1 - x0, readyHeight})
		if l.f.within(s.From) {
			readyMark(l.pen, x0, g.band+bandHeight)
		}
		done()
	}
}

// readyHeight is that of the strip along the band's lower edge.
const readyHeight = 6.0

// readyMark points at the instant from below the band.
func readyMark(p *pen, x, y float64) {
	p.fill("half-open-edge", x-4, y+8, x+4, y+8, x, y+1)
}

// leastArrow is how many pixels an arrow needs.
const leastArrow = 10.0

// isBackdated says whether the transition took effect visibly before anybody
// noticed it: T7.
func (f *figure) isBackdated(m *Moment, b *BreakerHistory) bool {
	return m.Breaker == b.Name && m.Effective < m.T && f.within(m.Effective) && f.along(m.T)-f.along(m.Effective) >= leastArrow
}

// backdated draws an arrow from where a transition was noticed to where it took
// effect.
func (l *lanePlotter) backdated(g *groupLanes, h *History) {
	for i := range h.Moments {
		m := &h.Moments[i]
		if !l.f.isBackdated(m, g.breaker) || g.crowdAt(m.Effective) {
			continue
		}
		done := l.pen.group(fmt.Sprintf("%s: noticed at %s, took effect at %s (%s)", g.breaker.Name, l.clock(m.T), l.clock(m.Effective), m.Rule))
		backArrow(l.pen, l.x(m.T), l.x(m.Effective), g.band+bandHeight+belowHeight-1, l.f.within(m.T))
		done()
	}
}

// backArrow points to the left, from a tick if it begins in the picture.
func backArrow(p *pen, from, to, y float64, tick bool) {
	if tick {
		p.stroke("muted", 1.2, from, y-4, from, y+4)
	}
	p.set("muted", 1.2, vg.Length(2.2), vg.Length(1.6))
	p.c.Stroke(p.path(false, from, y, to+6, y))
	p.fill("muted", to, y, to+7, y-3.5, to+7, y+3.5)
}
