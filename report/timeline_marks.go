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
	markAir     = 0.8 // between marks that stand beside each other
	plotPad     = 6.0 // how far rows reach beyond the first instant and the last, so that marks there stand in them
	tallestBar  = densityHeight - 4
	leastBar    = 2.0 // pixels: a row whose highest bar is lower has a scale of its own
)

// radii are the sizes of marks by the names of their rows, in all panels: sizes
// that vary would be taken for magnitudes.
func (l *lanePlotter) radii() map[string]float64 {
	all := map[string]float64{}
	for _, p := range l.f.panels {
		for _, g := range p.groups {
			for _, r := range g.rows {
				one := l.radius(r)
				if before, seen := all[r.manner()]; seen {
					one = min(one, before)
				}
				all[r.manner()] = one
			}
		}
	}
	return all
}

// manner is what rows have in common whose marks have one size.
func (r *markRow) manner() string {
	if r.lane {
		return "lane"
	}
	return r.name
}

// radius is the largest at which none of the row's marks lies on its neighbours,
// apart from those that would at any size.
func (l *lanePlotter) radius(row *markRow) float64 {
	if row.ticked() {
		return leastRadius
	}
	r := markRadius
	for i := 1; i < len(row.marks); i++ {
		apart := math.Abs(l.x(row.marks[i].At) - l.x(row.marks[i-1].At))
		if apart >= 2*leastRadius {
			r = min(r, max(leastRadius, (apart-markAir)/2))
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
	l.pen.stroke("grid", 1, from-plotPad, r.y+h-1, to+plotPad, r.y+h-1)
	if r.bars() {
		l.bars(r, to)
		return
	}
	y := r.y + h - rowHeight/2
	if r.lane {
		y = r.y + h - laneHeight/2
	}
	l.name(r.name, y, smallSize, false)
	l.spans(r, y)
	l.marks(g, r, y)
}

// marks draws the row's marks: of those that would lie on each other, heaps as
// one with their number, and the others beside each other.
func (l *lanePlotter) marks(g *groupLanes, row *markRow, y float64) {
	r, last := l.sizes[row.manner()], 0.0
	for i := 0; i < len(row.marks); {
		m := &row.marks[i]
		if n := l.heap(row.marks, i, r); n > 1 {
			l.heaped(g, row.marks[i:i+n], y, r)
			last = l.x(m.At)
			i += n
			continue
		}
		x := l.x(m.At)
		if i > 0 && m.Kind != row.marks[i-1].Kind {
			x = max(x, last+2*r+markAir)
		} else if i > 0 && m.At == row.marks[i-1].At {
			x = last + r
		}
		done := l.pen.group(l.tip(g, m))
		drawMark(l.pen, m.Kind, x, y, r)
		done()
		last = x
		i++
	}
}

// heap is how many marks of one kind, from i on, would lie on each other and can
// stand as one with their number, which needs room before the next mark or the
// plot's end.
func (l *lanePlotter) heap(marks []Mark, i int, r float64) int {
	first, n := &marks[i], 1
	for i+n < len(marks) && marks[i+n].Kind == first.Kind && l.x(marks[i+n].At)-l.x(first.At) < 2*leastRadius {
		n++
	}
	room := l.x(l.f.end)
	if i+n < len(marks) {
		room = l.x(marks[i+n].At) - r
	}
	if i > 0 && l.x(first.At)-l.x(marks[i-1].At) < 2*r || l.x(first.At)+heapWidth(n, r) > room-2 {
		return 1
	}
	return n
}

// heapWidth is what a mark takes with the number beside it, from its middle on.
func heapWidth(n int, r float64) float64 { return r + 2 + width(heapWords(n), tinySize, false) }

func heapWords(n int) string { return fmt.Sprintf("×%d", n) }

// heaped draws several marks as one, with their number.
func (l *lanePlotter) heaped(g *groupLanes, marks []Mark, y, r float64) {
	done := l.pen.group(fmt.Sprintf("%s, and %d more until %s", l.tip(g, &marks[0]), len(marks)-1, l.clock(marks[len(marks)-1].At)))
	defer done()
	x := l.x(marks[0].At)
	drawMark(l.pen, marks[0].Kind, x, y, r)
	l.pen.text("muted", x+r+2, y, tinySize, false, left, heapWords(len(marks)))
}

var markColor = map[MarkKind]string{MarkOK: "ok", MarkFailed: "bad", MarkRateLimited: "limited", MarkCancelled: "muted", MarkLate: "muted", MarkLost: "probe",
	MarkProbe: "probe", MarkRefused: "refused", MarkExhausted: "bad", MarkRerouted: "backup-edge"}

// markWords are what the legend says of the marks.
var markWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed or timed out", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLate: "late result, ignored",
	MarkLost: "vanished", MarkProbe: "probe let through", MarkRefused: "refused", MarkExhausted: "exhausted", MarkRerouted: "sent to a substitute"}

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

// drawMark draws one mark: shapes differ, so that colour never stands alone, and
// are the same at every size.
func drawMark(p *pen, k MarkKind, x, y, r float64) {
	w := max(1.2, r/2)
	switch name := markColor[k]; k {
	case MarkOK:
		p.circle(name, x, y, r, 0)
	case MarkFailed:
		p.stroke(name, w, x-r, y-r, x+r, y+r)
		p.stroke(name, w, x-r, y+r, x+r, y-r)
	case MarkRateLimited:
		p.frame(name, w, box{x - r, y - r, 2 * r, 2 * r})
	case MarkCancelled:
		p.stroke(name, w, x-r, y, x+r, y)
	case MarkLate:
		p.circle(name, x, y, r-0.4, min(w, 1.4))
	case MarkLost:
		diamond(p, name, x, y, r, true)
	case MarkProbe:
		diamond(p, name, x, y, r, false)
	case MarkRefused:
		p.stroke(name, w, x, y-r*1.4, x, y+r*1.4)
	case MarkExhausted:
		p.stroke(name, min(w, 1.6), x-r, y-r, x+r, y-r, x, y+r, x-r, y-r)
	case MarkRerouted:
		p.stroke(name, w, x-r*0.7, y-r, x+r*0.7, y, x-r*0.7, y+r)
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
