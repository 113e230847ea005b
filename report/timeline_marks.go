package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot/vg"
)

// rowKind is a row of calls below a band, by what became of them.
type rowKind struct {
	name  string
	kinds []MarkKind // the commonest first
	gated bool       // only a breaker can do it
}

var rowKinds = []rowKind{
	{"served", []MarkKind{MarkOK}, false},
	{"failed", []MarkKind{MarkFailed, MarkRateLimited}, false},
	{"cancelled", []MarkKind{MarkCancelled}, false}, // that is no failure (T16)
	{"vanished", []MarkKind{MarkLost}, false},
	{"ignored", []MarkKind{MarkLate}, true},
	{"rerouted", []MarkKind{MarkRerouted}, true},
	{"refused", []MarkKind{MarkRefused, MarkExhausted}, true},
}

// rowWords name the rows of one kind.
var rowWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLost: "vanished",
	MarkLate: "ignored", MarkRefused: "refused", MarkExhausted: "exhausted"}

// markRow is a row of single marks or, where those would touch, of bars of one
// kind.
type markRow struct {
	rowKind
	y     float64
	lane  bool // of one caller
	tall  bool // has arcs
	marks []Mark
	dense bool
	bins  []int
	per   time.Duration // what a bin covers
	most  int           // in one bin
}

const (
	binWidth    = 4.0  // pixels, at least
	markApart   = 6.0  // single marks closer than that touch
	mayTouch    = 0.15 // of the marks
	mayStack    = 3    // marks at one instant
	markRadius  = 3.6
	leastRadius = 1.8
)

// newRows lays out one row, or several where it is dense and of several kinds:
// in bars nothing but the colour would tell them apart.
func newRows(k rowKind, marks []Mark, f *figure) []*markRow {
	r := newRow(k, marks, f)
	if !r.dense || len(k.kinds) == 1 {
		return []*markRow{r}
	}
	var rows []*markRow
	for _, kind := range k.kinds {
		one := rowKind{name: rowWords[kind], kinds: []MarkKind{kind}, gated: k.gated}
		if slices.ContainsFunc(r.marks, func(m Mark) bool { return m.Kind == kind }) {
			rows = append(rows, newRow(one, r.marks, f))
		}
	}
	return rows
}

func newRow(k rowKind, marks []Mark, f *figure) *markRow {
	r := &markRow{rowKind: k}
	for _, m := range marks {
		if slices.Contains(k.kinds, m.Kind) && f.within(m.At) {
			r.marks = append(r.marks, m)
		}
	}
	if r.dense = f.touching(r.marks); !r.dense {
		r.tall = f.arcs(r)
		return r
	}
	room := f.width - 2*margin - f.names
	r.per = stepOf(max(1, time.Duration(float64(f.end-f.begin)*binWidth/room)))
	r.bins = make([]int, (f.end-f.begin)/r.per+1)
	for _, m := range r.marks {
		i := (m.At - f.begin) / r.per
		r.bins[i]++
		r.most = max(r.most, r.bins[i])
	}
	return r
}

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

func (r *markRow) height() float64 {
	h := rowHeight
	switch {
	case r.dense:
		return densityHeight
	case r.lane:
		h = laneHeight
	}
	if r.tall {
		h += arcRise
	}
	return h
}

func (l *lanePlotter) row(g *groupLanes, r *markRow) {
	h := r.height()
	from, to := l.x(l.f.begin), l.x(l.f.end)
	l.pen.stroke("grid", 1, from, r.y+h-1, to, r.y+h-1)
	if !r.dense {
		y := r.y + h - rowHeight/2
		if r.lane {
			y = r.y + h - laneHeight/2
		}
		l.name(r.name, y, smallSize, false)
		l.spans(r, y)
		beside := 0.0
		for i := range r.marks {
			if beside += 3.5; i == 0 || r.marks[i].At != r.marks[i-1].At {
				beside = 0 // those at one instant stand beside each other
			}
			l.mark(g, &r.marks[i], beside, y, l.radius(r.marks, i))
		}
		return
	}
	l.name(r.name, r.y+8, smallSize, false)
	l.pen.text("muted", margin, r.y+20, tinySize, false, left, fitted("max "+Thousands(int64(r.most))+" in "+Clock(r.per), tinySize, false, l.f.names-6))
	for i, n := range r.bins {
		if n == 0 {
			continue
		}
		x := l.x(l.f.begin + time.Duration(i)*r.per)
		w := max(3, l.x(l.f.begin+time.Duration(i+1)*r.per)-x)
		x = min(x, to-w) // the last instant may begin a bin of its own
		tall := max(1.5, float64(n)/float64(r.most)*(h-4))
		l.pen.rect(markColor[r.kinds[0]], box{x, r.y + h - 1 - tall, w - 0.6, tall})
	}
}

var markColor = map[MarkKind]string{MarkOK: "ok", MarkFailed: "bad", MarkRateLimited: "limited", MarkCancelled: "muted", MarkLate: "muted", MarkLost: "probe",
	MarkProbe: "probe", MarkRefused: "refused", MarkExhausted: "bad", MarkRerouted: "backup-edge"}

// markWords are what the legend says of the marks.
var markWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed or timed out", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLate: "late result, ignored",
	MarkLost: "vanished", MarkProbe: "probe let through", MarkRefused: "refused", MarkExhausted: "exhausted", MarkRerouted: "sent to a substitute"}

func (l *lanePlotter) mark(g *groupLanes, m *Mark, beside, y, r float64) {
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
	done := l.pen.group(tip)
	drawMark(l.pen, m.Kind, l.x(m.At)+beside, y, r)
	done()
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
