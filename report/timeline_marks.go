package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
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
	r := l.sizes[row.manner()]
	last, taken := 0.0, l.x(l.f.begin)-plotPad // the last mark, and where what is drawn ends
	for i := 0; i < len(row.marks); {
		m := &row.marks[i]
		x := l.x(m.At)
		if n, leftward := l.heap(row.marks, i, r, taken); n > 1 {
			l.heaped(g, row, row.marks[i:i+n], y, leftward)
			last, taken = x, x+r
			if !leftward {
				taken += heapWidth(n)
			}
			i += n
			continue
		}
		if i > 0 && m.Kind != row.marks[i-1].Kind {
			x = max(x, last+2*r+markAir)
		} else if i > 0 && m.At == row.marks[i-1].At {
			x = last + r
		}
		done := l.pen.group(l.tip(g, m))
		drawMark(l.pen, m.Kind, x, y, r)
		done()
		last, taken = x, x+r
		i++
	}
}

// widestHeap is how many pixels the marks of a heap may lie apart.
const widestHeap = 12.0

// heap is how many marks of one kind, from i on, would lie on each other and can
// stand as one with their number: on its right or, where that has no room before
// the next mark or the plot's end, on its left, beyond what is taken.
func (l *lanePlotter) heap(marks []Mark, i int, r, taken float64) (n int, leftward bool) {
	first := &marks[i]
	x := l.x(first.At)
	for n = 1; i+n < len(marks) && marks[i+n].Kind == first.Kind; n++ {
		if at := l.x(marks[i+n].At); at-l.x(marks[i+n-1].At) >= 2*leastRadius || at-x > widestHeap {
			break
		}
	}
	if n == 1 || x-r < taken {
		return 1, false
	}
	room := l.x(l.f.end)
	if i+n < len(marks) {
		room = l.x(marks[i+n].At) - r
	}
	const air = 2
	switch w := r + heapWidth(n) + air; {
	case x+w <= room:
		return n, false
	case x-w >= taken && l.x(marks[i+n-1].At) <= room:
		return n, true
	}
	return 1, false
}

// heapWidth is what the number of a heap takes beside its mark.
func heapWidth(n int) float64 { return 2 + width(heapWords(n, false), tinySize, false) }

func heapWords(n int, leftward bool) string {
	if leftward {
		return fmt.Sprintf("%d×", n)
	}
	return fmt.Sprintf("×%d", n)
}

// heaped draws several marks as one, with their number, which in a lane keeps the
// lines of long attempts off it.
func (l *lanePlotter) heaped(g *groupLanes, row *markRow, marks []Mark, y float64, leftward bool) {
	n, r := len(marks), l.sizes[row.manner()]
	done := l.pen.group(fmt.Sprintf("%s, and %d more until %s", l.tip(g, &marks[0]), n-1, l.clock(marks[n-1].At)))
	defer done()
	words := heapWords(n, leftward)
	x, w := l.x(marks[0].At), width(words, tinySize, false)
	from := x + r + 2
	if leftward {
		from = x - r - 2 - w
	}
	if row.lane {
		ground := "bg"
		if g.out(marks[0].At, l.f.whole) {
			ground = "outage"
		}
		l.pen.rect(ground, box{from, y - tinySize/2, w, tinySize})
	}
	drawMark(l.pen, marks[0].Kind, x, y, r)
	l.pen.text("muted", from, y, tinySize, false, left, words)
}

// out says whether the shade of an outage lies behind the group at that instant.
func (g *groupLanes) out(at, end time.Duration) bool {
	for _, t := range g.group.targets {
		if t.Name == g.main() {
			return slices.ContainsFunc(t.Outages(end), func(s trace.Span) bool { return s.From <= at && at < s.To })
		}
	}
	return false
}

var markColor = map[MarkKind]string{MarkOK: "ok", MarkFailed: "bad", MarkRateLimited: "limited", MarkCancelled: "muted", MarkLate: "muted", MarkLost: "probe",
	MarkProbe: "probe", MarkRefused: "refused", MarkExhausted: "bad", MarkRerouted: "backup-edge", MarkWaited: "muted"}

// markWords are what the legend says of the marks.
var markWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed or timed out", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLate: "late result, ignored",
	MarkLost: "vanished", MarkProbe: "probe let through", MarkRefused: "refused", MarkExhausted: "exhausted", MarkRerouted: "sent to a substitute", MarkWaited: "waited to be served"}

// tip is what there is to say of a mark.
func (l *lanePlotter) tip(g *groupLanes, m *Mark) string {
	tip := fmt.Sprintf("%s: call %d, %s", l.clock(m.At), m.Call, markWords[m.Kind])
	if m.Outcome != "" && m.Kind != MarkOK {
		tip += ", " + outcomeWord(m.Outcome)
	}
	switch {
	case m.Kind == MarkRerouted:
		tip += ", " + m.Target + " (" + m.Rule + ")"
	case m.Kind == MarkWaited:
		tip += " until " + l.clock(m.Until) + " (" + m.Rule + ")"
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
	case MarkWaited: // an hourglass
		p.fill(name, x-r*0.9, y-r*1.2, x+r*0.9, y-r*1.2, x-r*0.9, y+r*1.2, x+r*0.9, y+r*1.2)
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
