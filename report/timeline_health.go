package report

import (
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// Reading is how well a tool was after a result.
type Reading struct {
	At     time.Duration
	Score  float64 // from 0 to 1
	Health string
}

func (h *History) reading(e *trace.Event) {
	b := h.byName[e.Breaker]
	b.Health = append(b.Health, Reading{e.T, e.Score, e.Health})
}

// healthWords stand below the lane's name.
const healthWords = "score 0 to 1"

// healthHeight is that of the lane in which the score goes from 0 to 1.
const healthHeight = 42.0

// healthBands are the scores from which a tool is that well, best first.
var healthBands = []struct {
	from, to float64
	look     string
}{{0.8, 1, "up"}, {0.5, 0.8, "shaky"}, {0, 0.5, "down"}}

// health draws the score as a line over the bands of health.
func (l *lanePlotter) health(g *groupLanes, h *History) {
	if len(g.breaker.Health) == 0 {
		return
	}
	before, readings := l.f.readings(g.breaker)
	from, to := l.x(0), l.x(h.End)
	y := func(score float64) float64 { return g.health + 3 + (1-score)*(healthHeight-6) }
	l.name("health", g.health+healthHeight/2-5, smallSize, false)
	l.pen.text("muted", margin, g.health+healthHeight/2+8, tinySize, false, left, healthWords)
	for _, b := range healthBands {
		l.pen.rect(b.look, box{from, y(b.to), to - from, y(b.from) - y(b.to)})
	}
	for _, b := range healthBands[:len(healthBands)-1] {
		healthLine(l.pen, from, to, y(b.from))
		l.pen.text("muted", from-plotPad+2, y(b.from), tinySize, false, right, healthTick(b.from))
	}
	low, _ := g.breaker.lowest()
	last := g.breaker.Health[len(g.breaker.Health)-1]
	done := l.pen.group(fmt.Sprintf("%s: health score, lowest %.2f at %s, at the end %.2f (%s)", g.breaker.Name, low.Score, l.clock(low.At), last.Score, last.Health))
	defer done()
	line := []float64{from, y(before)}
	for i := 0; i < len(readings); {
		x := l.x(readings[i].At)
		n, least, most := 1, readings[i].Score, readings[i].Score
		for i+n < len(readings) && l.x(readings[i+n].At)-x < 0.5 { // on top of the first
			least, most = min(least, readings[i+n].Score), max(most, readings[i+n].Score)
			n++
		}
		line = append(line, x, line[len(line)-1], x, y(most), x, y(least), x, y(readings[i+n-1].Score))
		i += n
	}
	line = append(line, to, line[len(line)-1])
	l.pen.stroke("ok", 1.6, line...)
}

// readings are those that are drawn, and the score before them.
func (f *figure) readings(b *BreakerHistory) (before float64, all []Reading) {
	before = 1
	for _, r := range b.Health {
		switch {
		case r.At < f.begin:
			before = r.Score
		case r.At <= f.end:
			all = append(all, r)
		}
	}
	return before, all
}

// lowest is the worst reading, the first of them.
func (b *BreakerHistory) lowest() (low Reading, ok bool) {
	for i, r := range b.Health {
		if i == 0 || r.Score < low.Score {
			low = r
		}
	}
	return low, len(b.Health) > 0
}

// healthLine is where one state of health ends and another begins.
func healthLine(p *pen, from, to, y float64) {
	p.set("muted", 0.8, vg.Length(3*pixel), vg.Length(2*pixel))
	p.c.Stroke(p.path(false, from, y, to, y))
}

// healthTick is the label of such a line.
func healthTick(score float64) string { return strconv.FormatFloat(score, 'f', 1, 64) }

// healthRoom is how wide the lane's names are, with the labels beside them.
func healthRoom() float64 {
	return width(healthWords, tinySize, false) + 4 + width(healthTick(0.5), tinySize, false) - (namesGap - plotPad)
}

func healthKey(p *pen, b box) {
	for _, z := range healthBands {
		p.rect(z.look, box{b.x, b.y + (1-z.to)*b.h, b.w, (z.to - z.from) * b.h})
	}
	for _, z := range healthBands[:len(healthBands)-1] {
		healthLine(p, b.x, b.x+b.w, b.y+(1-z.from)*b.h)
	}
	p.stroke("ok", 1.6, b.x, b.y+2, b.x+b.w/2, b.y+2, b.x+b.w/2, b.y+b.h-3, b.x+b.w, b.y+b.h-3)
}
