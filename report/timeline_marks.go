package report

import (
	"fmt"
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
	{"failed", []MarkKind{MarkFailed, MarkRateLimited, MarkCancelled, MarkLost}, false},
	{"ignored", []MarkKind{MarkLate}, true},
	{"refused", []MarkKind{MarkRefused, MarkExhausted}, true},
}

// markRow is a row of single marks or, where those would touch, of densities.
type markRow struct {
	rowKind
	y     float64
	marks []Mark
	dense bool
	bins  []bin
	per   time.Duration // what a bin covers
	most  int           // in one bin
}

// bin counts marks by the row's kinds.
type bin []int

const (
	binWidth   = 4.0  // pixels, at least
	markApart  = 6.0  // single marks closer than that touch
	mayTouch   = 0.15 // of the marks
	mayStack   = 3    // marks at one instant
	markRadius = 3.6
)

func newRow(k rowKind, marks []Mark, f *figure) *markRow {
	r := &markRow{rowKind: k}
	for _, m := range marks {
		if slices.Contains(k.kinds, m.Kind) {
			r.marks = append(r.marks, m)
		}
	}
	room := f.width - 2*margin - f.names
	if r.dense = touching(r.marks, f.end, room); !r.dense {
		return r
	}
	r.per = stepOf(max(1, time.Duration(float64(f.end)*binWidth/room)))
	r.bins = make([]bin, f.end/r.per+1)
	for _, m := range r.marks {
		i := m.At / r.per
		if r.bins[i] == nil {
			r.bins[i] = make(bin, len(k.kinds))
		}
		r.bins[i][slices.Index(k.kinds, m.Kind)]++
	}
	for _, b := range r.bins {
		r.most = max(r.most, b.sum())
	}
	return r
}

func (b bin) sum() int {
	n := 0
	for _, k := range b {
		n += k
	}
	return n
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
	if r.dense {
		return densityHeight
	}
	return rowHeight
}

func (l *lanePlotter) row(g *groupLanes, r *markRow) {
	h := r.height()
	from, to := l.x(0), l.x(l.f.end)
	l.pen.stroke("grid", 1, from, r.y+h-1, to, r.y+h-1)
	if !r.dense {
		l.name(r.name, r.y+h/2, smallSize, false)
		for i := range r.marks {
			l.mark(g, &r.marks[i], r.y+h/2)
		}
		return
	}
	l.name(r.name, r.y+8, smallSize, false)
	l.pen.text("muted", margin, r.y+20, tinySize, false, left, fitted("max "+thousands(int64(r.most))+" in "+Clock(r.per), tinySize, false, l.f.names-6))
	for i, b := range r.bins {
		y := r.y + h - 1
		x := l.x(time.Duration(i) * r.per)
		w := max(3, l.x(min(l.f.end, time.Duration(i+1)*r.per))-x)
		x = min(x, to-w) // the last instant may begin a bin of its own
		for k, n := range b {
			if n == 0 {
				continue
			}
			tall := max(1.5, float64(n)/float64(r.most)*(h-4))
			l.pen.rect(markColor[r.kinds[k]], box{x, y - tall, w - 0.6, tall})
			y -= tall
		}
	}
}

var markColor = map[MarkKind]string{MarkOK: "ok", MarkFailed: "bad", MarkRateLimited: "limited", MarkCancelled: "muted", MarkLate: "muted", MarkLost: "probe",
	MarkProbe: "probe", MarkRefused: "refused", MarkExhausted: "bad"}

// markWords are what the legend says of the marks.
var markWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed or timed out", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLate: "late result, ignored",
	MarkLost: "vanished", MarkProbe: "probe let through", MarkRefused: "refused", MarkExhausted: "exhausted"}

func (l *lanePlotter) mark(g *groupLanes, m *Mark, y float64) {
	tip := fmt.Sprintf("%s: call %d, %s", l.clock(m.At), m.Call, markWords[m.Kind])
	if m.Outcome != "" && m.Kind != MarkOK {
		tip += ", " + outcomeWord(m.Outcome)
	}
	switch {
	case m.Kind == MarkRefused && g.breaker != nil:
		tip += " (" + g.breaker.refusal(m, l.f.end) + ")"
	case m.Rule != "":
		tip += " (" + m.Rule + ")"
	}
	done := l.pen.group(tip)
	drawMark(l.pen, m.Kind, l.x(m.At), y)
	done()
}

// drawMark draws one mark: shapes differ, so that colour never stands alone.
func drawMark(p *pen, k MarkKind, x, y float64) {
	const r = markRadius
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
		diamond(p, name, x, y, true)
	case MarkProbe:
		diamond(p, name, x, y, false)
	case MarkRefused:
		p.stroke(name, 1.8, x, y-r*1.4, x, y+r*1.4)
	case MarkExhausted:
		p.stroke(name, 1.6, x-r, y-r, x+r, y-r, x, y+r, x-r, y-r)
	}
}

func diamond(p *pen, name string, x, y float64, hollow bool) {
	const r = markRadius * 1.35
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
func probeMark(p *pen, x, y float64, lost bool) { diamond(p, "probe", x, y, lost) }

// leaseEnd is a small filled triangle at the end of a bracket that ran out.
func leaseEnd(p *pen, x, y float64) { p.fill("probe", x-4, y-3, x+4, y-3, x, y+5) }

func (l *lanePlotter) switchMark(x, y float64) { switchMark(l.pen, x, y) }

func switchMark(p *pen, x, y float64) {
	p.fill("bg", x-5, y-1, x+5, y-1, x, y+7)
	p.fill("note", x-3.5, y-1, x+3.5, y-1, x, y+5)
}

func numberMark(p *pen, x, y float64, n int) {
	p.circle("note", x, y, 7.5, 0)
	p.text("note-ink", x, y, tinySize, true, centre, fmt.Sprint(n))
}

// key is one entry of the legend.
type key struct {
	x, y float64
	text string
	draw func(p *pen, b box)
}

// usedKeys are the legend's entries for what occurs in the figure, and no others.
func (t *Timeline) usedKeys(f *figure) []key {
	looks, marks := map[string]bool{}, map[MarkKind]bool{}
	leases, ranOut, switches, dense := false, false, false, false
	for _, p := range f.panels {
		for _, g := range p.groups {
			for _, target := range g.group.targets {
				looks["outage"] = looks["outage"] || len(target.Outages(p.h.End)) > 0
			}
			for _, m := range g.marks {
				marks[m.Kind] = true
			}
			for _, r := range g.rows {
				dense = dense || r.dense
			}
			if g.breaker == nil {
				continue
			}
			for i, b := range g.breaker.Bands {
				looks[b.look()+" "+b.State] = true
				switches = switches || i > 0 && b.Serves != g.breaker.Bands[i-1].Serves
			}
			for _, s := range g.breaker.Leases {
				leases, ranOut = leases || g.brackets, ranOut || s.RanOut && g.brackets
			}
		}
	}
	var keys []key
	for _, k := range bandKeys {
		if looks[k.look+" "+k.state] {
			keys = append(keys, key{text: k.text, draw: func(p *pen, b box) { bandKey(p, k.look, b) }})
		}
	}
	if looks["outage"] {
		keys = append(keys, key{text: "outage of the target", draw: func(p *pen, b box) { p.rect("down", b) }})
	}
	for k := MarkOK; k <= MarkExhausted; k++ {
		if marks[k] {
			keys = append(keys, key{text: markWords[k], draw: func(p *pen, b box) { drawMark(p, k, b.x+b.w/2, b.y+b.h/2) }})
		}
	}
	if leases {
		keys = append(keys, key{text: "the probe's lease", draw: func(p *pen, b box) {
			p.stroke("probe", 1.3, b.x, b.y+b.h, b.x, b.y+3, b.x+b.w, b.y+3, b.x+b.w, b.y+b.h)
		}})
	}
	if ranOut {
		keys = append(keys, key{text: "the lease ran out", draw: func(p *pen, b box) { leaseEnd(p, b.x+b.w/2, b.y+4) }})
	}
	if switches {
		keys = append(keys, key{text: "another model serves", draw: func(p *pen, b box) { switchMark(p, b.x+b.w/2, b.y+3) }})
	}
	if dense {
		keys = append(keys, key{text: "bars: calls in so much time", draw: func(p *pen, b box) {
			for i, h := range []float64{4, 8, 6} {
				p.rect("muted", box{b.x + float64(i)*5 + 1, b.y + b.h - h, 4, h})
			}
		}})
	}
	return keys
}

var bandKeys = []struct{ look, state, text string }{
	{"closed", "closed", "closed: calls pass"},
	{"open", "open", "open: calls are refused"},
	{"half-open", "half-open", "half-open: one probe"},
	{"closed", "primary", "primary serves"},
	{"backup", "fallback", "fallback: a backup serves"},
	{"spent", "fallback", "fallback: the chain is spent"},
	{"half-open", "recovering", "recovering: turns probe the primary"},
}

func bandKey(p *pen, look string, b box) {
	p.rect(look, b)
	if look == "half-open" || look == "spent" {
		p.hatch(look+"-edge", b, 7)
	}
	p.frame(look+"-edge", 1, b)
}

const keyWidth = 16.0

// layKeys puts the legend's entries into lines.
func layKeys(keys []key, room float64) []key {
	x, y := 0.0, 0.0
	for i := range keys {
		w := keyWidth + 6 + width(keys[i].text, smallSize, false) + 16
		if x > 0 && x+w-16 > room {
			x, y = 0, y+leading+2
		}
		keys[i].x, keys[i].y = x, y
		x += w
	}
	return keys
}

func (f *figure) drawKeys(p *pen, y float64) {
	done := p.group("Legend")
	for _, k := range f.keys {
		k.draw(p, box{margin + k.x, y + k.y + 2, keyWidth, 11})
		p.text("muted", margin+k.x+keyWidth+6, y+k.y+8, smallSize, false, left, k.text)
	}
	done()
}
