package report

import (
	"math"
	"time"

	"gonum.org/v1/plot"

	"github.com/breakersim/breakersim/sim/trace"
)

// loadPlot draws the strips, once gonum's axis says where an instant is.
type loadPlot struct {
	*load
	p *pen
	x func(time.Duration) float64
}

func (c *load) draw(p *pen) {
	c.frame(p)
	area := box{margin + c.names, c.top, c.inner() - c.names, c.last - c.top}
	along := axis{least: c.from.Seconds(), most: c.to.Seconds(), ticks: clockTicks{area.w, c.end}}
	p.plot(area, along, func(x func(float64) float64) {
		l := &loadPlot{c, p, func(d time.Duration) float64 { return x(min(max(d, c.from), c.to).Seconds()) }}
		l.shade()
		l.grid(along.ticks.Ticks(along.least, along.most), x)
		l.drawTurns()
		for i := range c.lanes {
			p.text("ink", margin, c.lanes[i].y+targetHeight/2, smallSize, false, left, fitted(c.lanes[i].name, smallSize, false, c.names-10))
			t := &c.lanes[i]
			p.truth(t.name, t.stretches, t.bursts, t.y, l.span, func(d time.Duration) string { return moment(d, c.end) })
		}
		for _, s := range c.strips {
			l.strip(s)
		}
	})
}

// span is the box of a stretch of time, at least a pixel wide; it is false
// where the picture shows nothing of it.
func (l *loadPlot) span(s trace.Span, y, h float64) (box, bool) {
	x0, x1 := l.x(s.From), max(l.x(s.To), l.x(s.From)+1)
	return box{x0, y, x1 - x0, h}, s.From < l.to && s.To > l.from
}

// parts are the heights of a strip's drawings.
func (l *loadPlot) parts(s *strip) []box {
	if s.idle() {
		return nil
	}
	x0, x1 := l.x(l.from), l.x(l.to)
	parts := []box{{x0, s.top, x1 - x0, s.low - s.top}}
	if s.holds {
		parts = append(parts, box{x0, s.held.y, x1 - x0, s.held.h})
	}
	return parts
}

// shade is the ground behind the strips: grey in outages.
func (l *loadPlot) shade() {
	for _, s := range l.strips {
		for _, part := range l.parts(s) {
			for _, o := range s.outages(l.end) {
				if b, ok := l.span(o, part.y, part.h); ok {
					l.p.rect("outage", b)
				}
			}
		}
	}
}

// grid has a line at every named instant.
func (l *loadPlot) grid(ticks []plot.Tick, x func(float64) float64) {
	for _, s := range l.strips {
		for _, part := range l.parts(s) {
			for _, t := range ticks {
				if t.Label != "" {
					l.p.stroke("grid", 1, x(t.Value), part.y, x(t.Value), part.y+part.h)
				}
			}
		}
	}
}

// mostTurns is how many changes of the targets' health a reader can follow
// through the strips.
const mostTurns = 12

// turns are when the strip's target begins or ends to be slow or to fail in part, or
// any target, which no shade shows; none where they are too many.
func (c *load) turns(strip *strip) (at []time.Duration) {
	for _, lane := range c.lanes {
		if strip.target != "" && strip.target != lane.name {
			continue
		}
		for i, s := range lane.stretches {
			if i > 0 && s.look != "down" && lane.stretches[i-1].look != "down" && s.From > c.from && s.From < c.to {
				at = append(at, s.From)
			}
		}
	}
	if len(at) > mostTurns {
		return nil
	}
	return at
}

// drawTurns draws them as dashed lines.
func (l *loadPlot) drawTurns() {
	for _, s := range l.strips {
		for _, part := range l.parts(s) {
			for _, t := range l.turns(s) {
				l.p.turn(l.x(t), part.y, part.y+part.h)
			}
		}
	}
}

// turn is one of them, in the strips and in the legend.
func (p *pen) turn(x, y0, y1 float64) {
	p.set("muted", 1, 3*pixel, 3*pixel)
	p.c.Stroke(p.path(false, x, y0, x, y1))
}

// strip draws one policy's.
func (l *loadPlot) strip(s *strip) {
	defer l.p.group(s.label.String() + ": " + s.peaks("at most ", ", "))()
	l.heading(s)
	l.scaleOf(s.zero, &s.scale, "/"+s.rate.name)
	per := s.perSecond()
	good := heights(s.zero, per, func(o *loadStep) float64 { return o.good })
	refused := heights(s.zero, -per, func(o *loadStep) float64 { return o.refused })
	attempts := heights(s.zero, per, func(o *loadStep) float64 { return o.attempts })
	if s.cut() {
		good, attempts = noHigher(s.top-cutRoom, good), noHigher(s.top-cutRoom, attempts)
	}
	if s.peak.good > 0 {
		l.area("good", s.steps, good, allAt(s.zero), good)
	}
	if s.peak.refused > 0 {
		l.area("away", s.steps, allAt(s.zero), refused, refused)
	}
	l.p.stroke("muted", 1, l.x(l.from), s.zero, l.x(l.to), s.zero)
	if s.peak.attempts > 0 {
		l.outline("ink", 1.4, s.steps, attempts)
	}
	if s.cut() {
		l.cut(s)
	}
	if s.holds {
		l.held(s)
	}
}

// cut breaks a spike off, and writes how high it is.
func (l *loadPlot) cut(s *strip) {
	x0, x1 := l.x(s.steps[s.spike.from].from), l.x(s.steps[s.spike.to-1].to)
	y := s.top - cutRoom/2
	l.p.fill("bg", x0-4, y+4, x1+4, y, x1+4, y-3, x0-4, y+1)
	l.p.stroke("ink", 1, x0-4, y+4, x1+4, y)
	l.p.stroke("ink", 1, x0-4, y+1, x1+4, y-3)
	words := s.spikeWords()
	x, a := x1+8, left
	if x+width(words, tinySize, false) > l.x(l.to) {
		x, a = x0-8, right
	}
	l.p.text("ink", x, y, tinySize, false, a, words)
}

// held draws what is within the targets of bounded capacity: what they serve,
// and on top of it what waits.
func (l *loadPlot) held(s *strip) {
	zero := s.held.y + s.held.h
	m := measureFor(mostHeld(s.steps), 0, s.held.h, true)
	l.p.text("muted", l.x(l.from), s.held.y-leading/2, tinySize, false, left, heldWords)
	l.scaleOf(zero, &m, "")
	busy := heights(zero, m.pixels, func(o *loadStep) float64 { return o.busy })
	both := heights(zero, m.pixels, func(o *loadStep) float64 { return o.busy + o.queue })
	if s.peak.busy > 0 {
		l.area("bar", s.steps, busy, allAt(zero), busy)
	}
	if s.peak.queue > 0 {
		l.area("queue", s.steps, both, busy, both)
	}
	l.p.stroke("muted", 1, l.x(l.from), zero, l.x(l.to), zero)
}

// mostHeld is the most attempts, served or waiting, of any step.
func mostHeld(steps []loadStep) (most float64) {
	for _, s := range steps {
		most = max(most, s.busy+s.queue)
	}
	return most
}

// height is where a step stands in the picture.
type height func(*loadStep) float64

// allAt is one height for every step.
func allAt(zero float64) height { return func(*loadStep) float64 { return zero } }

// heights are those of a measure. What happened is seen, however little it is.
func heights(zero, scale float64, measure height) height {
	return func(o *loadStep) float64 {
		v := measure(o) * scale
		if v != 0 {
			v = math.Copysign(max(1, math.Abs(v)), v)
		}
		return zero - v
	}
}

// noHigher are the heights, cut at that one.
func noHigher(top float64, at height) height {
	return func(o *loadStep) float64 { return max(top, at(o)) }
}

// area fills what is between two heights, with its pattern, and strokes its edge.
func (l *loadPlot) area(look string, steps []loadStep, top, bottom, edge height) {
	var boxes []box
	for i := range steps {
		s := &steps[i]
		x0, x1, y0, y1 := l.x(s.from), l.x(s.to), top(s), bottom(s)
		if y1-y0 < 0.01 {
			continue
		}
		b := box{x0, y0, x1 - x0, y1 - y0}
		if n := len(boxes); n > 0 && boxes[n-1].x+boxes[n-1].w == x0 && boxes[n-1].y == y0 && boxes[n-1].h == b.h {
			boxes[n-1].w += b.w
			continue
		}
		boxes = append(boxes, b)
	}
	l.p.fillAll(look, boxes)
	switch l.p.theme.patterns[look] {
	case rising:
		l.p.hatch(look+"-edge", 6, false, boxes...)
	case falling:
		l.p.hatch(look+"-edge", 6, true, boxes...)
	case level:
		for _, b := range boxes {
			l.p.ruled(look+"-edge", b, 4, false)
		}
	}
	l.outline(look+"-edge", 1, steps, edge)
}

// outline strokes a line along the heights, step by step.
func (l *loadPlot) outline(name string, w float64, steps []loadStep, at height) {
	var xy []float64
	for i := range steps {
		s := &steps[i]
		y := at(s)
		if n := len(xy); n > 0 && xy[n-1] == y {
			xy[n-2] = l.x(s.to)
			continue
		}
		xy = append(xy, l.x(s.from), y, l.x(s.to), y)
	}
	if len(xy) > 0 {
		l.p.stroke(name, w, xy...)
	}
}

// heading is the policy's name and its peaks.
func (l *loadPlot) heading(s *strip) {
	y := s.y + headingHeight/2 - 2
	least := min(width(s.label.String(), textSize, true), l.inner()/4)
	peaks := firstThatFits([]string{s.peaks("peaks: ", " · "), s.peaks("", " · ")}, smallSize, l.inner()-least-14)
	w := width(peaks, smallSize, false)
	l.p.text("ink", margin, y, textSize, true, left, s.label.fitted(textSize, true, l.inner()-w-14))
	l.p.text("muted", l.width-margin, y, smallSize, false, right, peaks)
	if s.times > 0 {
		l.p.text("muted", l.x(l.from), s.y+headingHeight+leading/2-3, tinySize, false, left, s.enlarged())
	}
}

// scaleOf writes a scale beside a strip, and rules it.
func (l *loadPlot) scaleOf(zero float64, m *measure, unit string) {
	x0, x1 := l.x(l.from), l.x(l.to)
	tick := func(y float64, label string) {
		l.p.stroke("grid", 1, x0, y, x1, y)
		l.p.text("muted", x0-5, y, tinySize, false, right, label)
	}
	tick(zero, "0")
	for i := 1.0; i*m.tick < m.above+m.tick/2; i++ {
		tick(zero-i*m.tick*m.pixels, figure3(i*m.tick)+unit)
	}
	for i := 1.0; i*m.tick < m.below+m.tick/4; i++ {
		tick(zero+i*m.tick*m.pixels, figure3(i*m.tick)+unit)
	}
}
