package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
)

const (
	binWidth    = 4.0  // pixels, at least
	markApart   = 6.0  // single marks closer than that touch
	mayTouch    = 0.15 // of the marks
	mayStack    = 3    // marks at one instant
	markRadius  = 3.6
	leastRadius = 1.8
	tallestBar  = densityHeight - 4
	leastBar    = 2.0 // pixels: a row whose highest bar is lower has a scale of its own
)

// radius is that of the mark i: less than usual where it would lie on its
// neighbours, unless it would at any size.
func (l *lanePlotter) radius(marks []Mark, i int) float64 {
	r := markRadius
	for _, k := range []int{i - 1, i + 1} {
		if k < 0 || k >= len(marks) {
			continue
		}
		if room := math.Abs(l.x(marks[k].At)-l.x(marks[i].At))/2 - 0.4; room >= leastRadius {
			r = min(r, room)
		}
	}
	return r
}

// touching says whether too many marks would lie on each other, apart from
// those at the very same instant.
func touching(marks []Mark, end time.Duration, room float64) bool {
	if end <= 0 || len(marks) < 2 {
		return len(marks) > mayStack
	}
	at := make([]time.Duration, len(marks))
	for i, m := range marks {
		at[i] = m.At
	}
	slices.Sort(at)
	n, same := 0, 0
	for i := 1; i < len(at); i++ {
		switch gap := float64(at[i]-at[i-1]) / float64(end) * room; {
		case gap == 0:
			if same++; same >= mayStack {
				return true // a herd at one instant is a number, not a mark
			}
		case gap < markApart:
			n++
			same = 0
		default:
			same = 0
		}
	}
	return n > 8 && float64(n) > mayTouch*float64(len(marks))
}

func (l *lanePlotter) row(g *groupLanes, r *markRow) {
	h := r.height()
	from, to := l.x(l.f.begin), l.x(l.f.end)
	l.pen.stroke("grid", 1, from, r.y+h-1, to, r.y+h-1)
	if r.bars() {
		l.bars(r, to)
		return
	}
	y := r.y + h - rowHeight/2
	if r.lane {
		y = r.y + h - laneHeight/2
	}
	l.name(r.name, y, smallSize, false)
	if r.ticked() {
		l.ticks(g, r, y)
		return
	}
	l.spans(r, y)
	beside := 0.0
	for i := 0; i < len(r.marks); {
		if n := l.heap(r.marks, i); n > 1 {
			l.heaped(g, r.marks[i:i+n], y)
			i += n
			continue
		}
		if beside += 3.5; i == 0 || r.marks[i].At != r.marks[i-1].At {
			beside = 0 // those at one instant stand beside each other
		}
		l.mark(g, &r.marks[i], beside, y, l.radius(r.marks, i))
		i++
	}
}

// heap is how many marks of one kind, from i on, would lie on each other and can
// stand as one with their number, which needs room before the next mark or the
// plot's end.
func (l *lanePlotter) heap(marks []Mark, i int) int {
	first, n := &marks[i], 1
	for i+n < len(marks) && marks[i+n].Kind == first.Kind && l.x(marks[i+n].At)-l.x(first.At) < 2*leastRadius {
		n++
	}
	room := l.x(l.f.end)
	if i+n < len(marks) {
		room = l.x(marks[i+n].At) - markRadius
	}
	if i > 0 && l.x(first.At)-l.x(marks[i-1].At) < 2*markRadius || l.x(first.At)+heapWidth(n) > room-2 {
		return 1
	}
	return n
}

// heapWidth is what a mark takes with the number beside it, from its middle on.
func heapWidth(n int) float64 { return markRadius + 2 + width(heapWords(n), tinySize, false) }

func heapWords(n int) string { return fmt.Sprintf("×%d", n) }

// heaped draws several marks as one, with their number.
func (l *lanePlotter) heaped(g *groupLanes, marks []Mark, y float64) {
	done := l.pen.group(fmt.Sprintf("%s, and %d more until %s", l.tip(g, &marks[0]), len(marks)-1, l.clock(marks[len(marks)-1].At)))
	defer done()
	x := l.x(marks[0].At)
	drawMark(l.pen, marks[0].Kind, x, y, markRadius)
	l.pen.text("muted", x+markRadius+2, y, tinySize, false, left, heapWords(len(marks)))
}

// bars draws the row's bins up to the plot's right end.
func (l *lanePlotter) bars(r *markRow, to float64) {
	l.name(r.name, r.y+8, smallSize, false)
	l.pen.text("muted", margin, r.y+20, tinySize, false, left, fitted(r.barWords(), tinySize, false, l.f.names-6))
	for i, n := range slices.Backward(r.bins) { // the last may be a single instant, and lies below the one before
		if n == 0 {
			continue
		}
		x := l.x(l.f.begin + time.Duration(i)*r.per)
		w := max(3, l.x(l.f.begin+time.Duration(i+1)*r.per)-x)
		x = min(x, to-w)
		tall := max(1.5, float64(n)/float64(r.full)*tallestBar)
		drawBar(l.pen, r.kinds[0], box{x, r.y + densityHeight - 1 - tall, w - 0.6, tall})
	}
}

// ticks draws a tick for each of the row's marks.
func (l *lanePlotter) ticks(g *groupLanes, r *markRow, y float64) {
	for i := range r.marks {
		m := &r.marks[i]
		done := l.pen.group(l.tip(g, m))
		drawTick(l.pen, m.Kind, l.x(m.At), y)
		done()
	}
}

// drawBar draws one bar. Where the theme has no colours, bars differ in their
// pattern.
func drawBar(p *pen, k MarkKind, b box) {
	name := markColor[k]
	switch p.theme.patterns[name] {
	case hollow:
		p.rect("bg", b)
		p.frame(name, 1, b)
	case level:
		p.rect("bg", b)
		p.ruled(name, b, 3, false)
		p.frame(name, 1, b)
	default:
		p.rect(name, b)
	}
}

// drawTick draws one tick; those of what failed and of what nobody served slant.
func drawTick(p *pen, k MarkKind, x, y float64) {
	const half = 5.5
	slant := map[MarkKind]float64{MarkFailed: 2, MarkExhausted: -2}[k]
	p.stroke(markColor[k], 1.4, x-slant, y+half, x+slant, y-half)
}

var markColor = map[MarkKind]string{MarkOK: "ok", MarkFailed: "bad", MarkRateLimited: "limited", MarkCancelled: "muted", MarkLate: "muted", MarkLost: "probe",
	MarkProbe: "probe", MarkRefused: "refused", MarkExhausted: "bad", MarkRerouted: "backup-edge"}

// markWords are what the legend says of the marks.
var markWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed or timed out", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLate: "late result, ignored",
	MarkLost: "vanished", MarkProbe: "probe let through", MarkRefused: "refused", MarkExhausted: "exhausted", MarkRerouted: "sent to a substitute"}

func (l *lanePlotter) mark(g *groupLanes, m *Mark, beside, y, r float64) {
	done := l.pen.group(l.tip(g, m))
	drawMark(l.pen, m.Kind, l.x(m.At)+beside, y, r)
	done()
}

// tip is what there is to say of a mark.
func (l *lanePlotter) tip(g *groupLanes, m *Mark) string {
	tip := fmt.Sprintf("%s: call %d, %s", l.clock(m.At), m.Call, markWords[m.Kind])
	if m.Outcome != "" && m.Kind != MarkOK {
		tip += ", " + outcomeWord(m.Outcome)
	}
	switch {
	case m.Kind == MarkRerouted:
		tip += ", " + m.Target + " (" + m.Rule + ")"
	case m.Kind == MarkRefused && g.breaker != nil:
		tip += " (" + g.breaker.refusal(m, l.f.whole) + ")"
	case m.Rule != "":
		tip += " (" + m.Rule + ")"
	}
	return tip
}

// drawMark draws one mark: shapes differ, so that colour never stands alone.
func drawMark(p *pen, k MarkKind, x, y, r float64) {
	switch name := markColor[k]; k {
	case MarkOK:
		p.circle(name, x, y, r, 0)
	case MarkFailed:
		p.stroke(name, 1.8, x-r, y-r, x+r, y+r)
		p.stroke(name, 1.8, x-r, y+r, x+r, y-r)
	case MarkRateLimited:
		p.frame(name, 1.8, box{x - r, y - r, 2 * r, 2 * r})
	case MarkCancelled:
		p.stroke(name, 1.8, x-r, y, x+r, y)
	case MarkLate:
		p.circle(name, x, y, r-0.4, 1.4)
	case MarkLost:
		diamond(p, name, x, y, r, true)
	case MarkProbe:
		diamond(p, name, x, y, r, false)
	case MarkRefused:
		p.stroke(name, 1.8, x, y-r*1.4, x, y+r*1.4)
	case MarkExhausted:
		p.stroke(name, 1.6, x-r, y-r, x+r, y-r, x, y+r, x-r, y-r)
	case MarkRerouted:
		p.stroke(name, 1.8, x-r*0.7, y-r, x+r*0.7, y, x-r*0.7, y+r)
	}
}

func diamond(p *pen, name string, x, y, r float64, hollow bool) {
	r *= 1.35
	path := []float64{x - r, y, x, y - r, x + r, y, x, y + r}
	if !hollow {
		p.fill(name, path...)
		return
	}
	p.fill("bg", path...)
	p.set(name, 1.4, vg.Length(1.4), vg.Length(1))
	p.c.Stroke(p.path(true, path...))
}

// probeMark stands on the band's lower edge.
func probeMark(p *pen, x, y float64, lost bool) { diamond(p, "probe", x, y, markRadius, lost) }

// probeTick stands there where probes are many.
func probeTick(p *pen, x, y float64) { p.stroke("probe", 1.6, x, y-3, x, y+4) }

// leaseEnd is a small filled triangle at the end of a bracket that ran out.
func leaseEnd(p *pen, x, y float64) { p.fill("probe", x-4, y-3, x+4, y-3, x, y+5) }

// restartMark stands inside an open band, at its upper edge.
func restartMark(p *pen, x, y float64) { p.stroke("open-ink", 1.8, x, y+1, x, y+7) }

func switchMark(p *pen, x, y float64) {
	p.fill("bg", x-5, y-1, x+5, y-1, x, y+7)
	p.fill("note", x-3.5, y-1, x+3.5, y-1, x, y+5)
}

func numberMark(p *pen, x, y float64, n int) {
	p.circle("note", x, y, 7.5, 0)
	p.text("note-ink", x, y, tinySize, true, centre, fmt.Sprint(n))
}
