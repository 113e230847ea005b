package report

import (
	"slices"
	"time"
)

// barPatterns are those of the bars whose kind nothing but the colour would tell;
// the others are plain.
var barPatterns = map[MarkKind]pattern{MarkRateLimited: falling, MarkCancelled: level, MarkLate: rising, MarkLost: upright, MarkExhausted: crossed, MarkRerouted: dashed, MarkWaited: dashed}

// barPattern is the pattern of bars of that kind.
func (t *theme) barPattern(k MarkKind) pattern {
	if p := barPatterns[k]; p != plain {
		return p
	}
	return t.patterns[markColor[k]]
}

// bars draws the row's bins up to the plot's right end.
func (l *lanePlotter) bars(r *markRow, to float64) {
	l.name(r.name, r.y+8, smallSize, false)
	l.pen.text("muted", margin, r.y+20, tinySize, false, left, fitted(r.barWords(), tinySize, false, l.f.names-plotPad))
	var bars []box
	for i, n := range slices.Backward(r.bins) { // the last may be a single instant, and lies below the one before
		if n == 0 {
			continue
		}
		x := l.x(l.f.begin + time.Duration(i)*r.per)
		w := max(3, l.x(l.f.begin+time.Duration(i+1)*r.per)-x)
		x = min(x, to-w)
		tall := max(1.5, float64(n)/float64(r.full)*tallestBar)
		bars = append(bars, box{x, r.y + densityHeight - 1 - tall, w - 0.6, tall})
	}
	drawBars(l.pen, r.kinds[0], bars)
}

// drawBars draws bars of one kind in one go. Those with a pattern stand on the
// page's ground, or on a pale one.
func drawBars(p *pen, k MarkKind, bars []box) {
	name, pattern := markColor[k], p.theme.barPattern(k)
	ground := "bg"
	switch pattern {
	case plain:
		ground = name
	case hollow:
		ground = "good"
	}
	p.fillAll(ground, bars)
	const apart = 3.2
	switch pattern {
	case plain:
		return
	case rising, falling:
		p.hatch(name, apart, pattern == falling, bars...)
	case crossed:
		p.hatch(name, apart, false, bars...)
		p.hatch(name, apart, true, bars...)
	case level, upright:
		for _, b := range bars {
			p.ruled(name, b, apart, pattern == upright)
		}
	case dashed:
		for _, b := range bars {
			p.dashes(name, b)
		}
	}
	p.fillAll(name, edges(bars))
}

// edges are the upper ends of bars and, where that leaves room for what is in
// them, their sides.
func edges(bars []box) (all []box) {
	const thick, leastFramed = 1, 5
	for _, b := range bars {
		all = append(all, box{b.x, b.y, b.w, min(thick, b.h)})
		if b.w >= leastFramed {
			all = append(all, box{b.x, b.y, thick, b.h}, box{b.x + b.w - thick, b.y, thick, b.h})
		}
	}
	return all
}
