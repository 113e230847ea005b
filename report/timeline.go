package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// timeline is the picture of a scenario: one panel for each policy, under one
// axis of virtual time. What a breaker believes stands below how its target
// really fares, and below that what became of the calls.
type timeline struct {
	panels []*History // of one scenario
	*Look
}

func layOutTimeline(r *Results, look *Look) (drawing, error) {
	return (&timeline{r.Panels, look}).figure(), nil
}

// Sizes in pixels.
const (
	margin    = 16.0
	titleSize = 16.0
	textSize  = 12.0
	smallSize = 11.0
	tinySize  = 10.0
	leading   = 16.0
	axisRoom  = 34.0
	namesGap  = 12 + plotPad // between the lanes' names and the first instant
)

// figure is a timeline laid out.
type figure struct {
	t             *timeline
	width, height float64
	title         []string
	panels        []*panelLanes
	captions      []string
	moments       []numbered
	more          string // what the list of moments leaves out
	keys          []key
	begin, end    time.Duration // what is drawn
	whole         time.Duration // the end of the run
	names         float64       // room for the lanes' names
	left, right   float64       // where the axis begins and ends
	plotTop       float64
	plotHeight    float64
	rows          map[*group][]*markRow
	callersOf     map[string][]string         // by target: those that have a lane each
	x             func(time.Duration) float64 // once it is drawn: where an instant stands, for what is laid over the figure
}

func (t *timeline) figure() *figure {
	f := &figure{t: t, width: t.width(), begin: t.From, whole: endOf(t.panels)}
	if f.end = f.whole; t.To > 0 {
		f.end = min(f.end, t.To)
	}
	inner := f.width - 2*margin
	f.title = titleLines(t.panels[0].Run, inner)
	f.moments, f.more = keyMoments(t.panels, f.within)
	f.plotTop = 6
	if !t.untitled {
		f.plotTop += margin + float64(len(f.title))*titleLeading
	}
	f.setNames(t.nameRoom(inner))
	t.layPanels(f)
	if room := f.rowRoom(inner); room > f.names {
		f.setNames(room)
		t.layPanels(f)
	}
	y := f.plotTop + f.plotHeight + axisRoom
	if t.NoCaption {
		f.moments, f.more = nil, ""
	} else {
		for _, c := range f.allCaptions() {
			lines := flowed(strings.Split(c, " · "), smallSize, inner-hanging)
			for i := range lines[1:] {
				lines[i+1] = "\t" + lines[i+1]
			}
			f.captions = append(f.captions, lines...)
		}
	}
	f.keys = layKeys(f.usedKeys(), inner)
	y += float64(len(f.captions))*leading + float64(f.momentLines(inner))*leading + 8
	f.height = y + keyRoom(f.keys) + margin - 4
	return f
}

func (f *figure) size() (w, h float64) { return f.width, f.height }

func (f *figure) words() (name, title, desc string) {
	run := f.t.panels[0].Run
	return "timeline-" + run.Scenario, run.Title, f.t.describe()
}

// layPanels lays the panels out.
func (t *timeline) layPanels(f *figure) {
	f.panels, f.callersOf = nil, map[string][]string{}
	f.rows = f.layRows(t.panels)
	y := f.plotTop
	for i := range t.panels {
		p := newPanel(t.panels, i, f, y)
		f.panels = append(f.panels, p)
		y += p.height
	}
	f.plotHeight = y - f.plotTop
}

// along is where an instant stands, in pixels from the axis's left end; what is
// not drawn stands at the end that is nearer to it.
func (f *figure) along(d time.Duration) float64 {
	d = min(max(d, f.begin), f.end)
	return float64(d-f.begin) / float64(max(f.end-f.begin, 1)) * f.room()
}

// room is how wide the plot is.
func (f *figure) room() float64 { return f.right - f.left }

// within says whether the instant is drawn.
func (f *figure) within(d time.Duration) bool { return f.begin <= d && d <= f.end }

// meets says whether something of the stretch is drawn.
func (f *figure) meets(from, to time.Duration) bool {
	return from < f.end && to > f.begin || from == to && f.within(from) || f.begin == f.end && from <= f.end && to >= f.begin
}

// draw draws the figure.
func (f *figure) draw(p *pen) {
	p.title(f.title)
	f.drawPlot(p)
	y := p.lines(f.captions, f.plotTop+f.plotHeight+axisRoom)
	y = f.drawMoments(p, y+4)
	p.legend(f.keys, y+8)
}

// axis is that of time, and the area above it.
func (f *figure) axis() (axis, box) {
	area := box{margin + f.names, f.plotTop, f.width - 2*margin - f.names, f.plotHeight}
	least := f.begin.Seconds()
	return axis{least: least, most: least + max((f.end-f.begin).Seconds(), 1e-10), ticks: clockTicks{room: area.w, whole: f.whole}}, area
}

// setNames gives the column of names its width, and sees where the axis has its
// ends beside it: it makes room for its labels.
func (f *figure) setNames(width float64) {
	f.names = width
	along, area := f.axis()
	trial := &pen{c: newSVG(vg.Length(f.width*pixel), axisRoom, "", "", "", nil), theme: &light}
	trial.plot(area, along, func(x func(float64) float64) { f.left, f.right = x(along.least), x(along.most) })
}

func (f *figure) drawPlot(p *pen) {
	along, area := f.axis()
	p.plot(area, along, func(x func(float64) float64) {
		l := &lanePlotter{f: f, pen: p, x: func(d time.Duration) float64 { return x(min(max(d, f.begin), f.end).Seconds()) }}
		f.x = l.x
		l.draw(along)
	})
}

// rowRoom is how wide the column of names must be for the rows of calls.
func (f *figure) rowRoom(inner float64) float64 {
	room := 0.0
	for _, p := range f.panels {
		for _, g := range p.groups {
			for _, r := range g.rows {
				room = max(room, width(r.name, smallSize, false))
				if r.bars() { // more stands below the row's name
					room = max(room, width("max 9,999 in 30 min", tinySize, false), width(r.barWords(), tinySize, false))
				}
			}
		}
	}
	return min(room, inner/4) + namesGap
}

// nameRoom is how wide the column of names must be for targets and breakers.
func (t *timeline) nameRoom(inner float64) float64 {
	room := width("rate-limited", smallSize, false) // whatever rows there are
	for _, h := range t.panels {
		for _, g := range h.groups() {
			for _, target := range g.targets {
				room = max(room, width(target.Name, smallSize, false))
			}
			if g.fleet != nil {
				room = max(room, width(g.fleet.label(), textSize, true), width(fleetWords, tinySize, false))
			}
			if g.breaker != nil {
				room = max(room, width(g.breakerName(), textSize, true))
				if len(g.breaker.Health) > 0 {
					room = max(room, healthRoom())
				}
			}
		}
	}
	return min(room, inner/4) + namesGap
}

// clockTicks is a plot.Ticker whose steps are those of a clock, in the units of a
// run of that length.
type clockTicks struct {
	room  float64
	whole time.Duration
}

// stepOf is the shortest step of a clock that is no shorter than that.
func stepOf(least time.Duration) time.Duration {
	for _, s := range tickSteps {
		if s >= least {
			return s
		}
	}
	return least
}

// Ticks are as many as fit without touching, each with its unit, and the end.
func (t clockTicks) Ticks(least, most float64) []plot.Tick {
	begin, end := time.Duration(math.Round(least*float64(time.Second))), time.Duration(math.Round(most*float64(time.Second)))
	step := t.step(begin, end)
	from := func(step time.Duration) time.Duration { return (begin + step - 1) / step * step }
	var labelled []time.Duration
	for at := from(step); at <= end; at += step {
		labelled = append(labelled, at)
	}
	var ticks []plot.Tick
	label := func(at time.Duration) string { return tickLabel(at, t.whole) }
	if step%day == 0 {
		label = dayLabel
	}
	for _, at := range t.withEnd(labelled, begin, end, label) {
		ticks = append(ticks, plot.Tick{Value: min(at.Seconds(), most), Label: label(at)})
	}
	minor := minorStep(step)
	for at := from(minor); at <= end; at += minor {
		if !slices.ContainsFunc(ticks, func(t plot.Tick) bool { return t.Value == min(at.Seconds(), most) }) {
			ticks = append(ticks, plot.Tick{Value: at.Seconds()})
		}
	}
	return ticks
}

// step is the distance of labelled ticks: of whole days where there are some.
func (t clockTicks) step(begin, end time.Duration) time.Duration {
	for _, s := range tickSteps {
		n := int64((end - begin) / s)
		if days := end-begin >= leastDays; n <= 12 && (float64(n)+1)*t.widest(s, end) <= t.room && (!days || s >= day) {
			return s
		}
	}
	return max(end-begin, 1)
}

// withEnd adds the end of the axis to the ticks that have labels. If it has no
// room beside the last of them, that gives way, unless it is where the axis begins.
func (t clockTicks) withEnd(labelled []time.Duration, begin, end time.Duration, label func(time.Duration) string) []time.Duration {
	half := func(at time.Duration) float64 { return (width(label(at), smallSize, false) + labelAir) / 2 }
	for drop := range 2 {
		n := len(labelled) - drop
		if n < 1 || drop > 0 && labelled[n] == begin {
			break
		}
		last := labelled[n-1]
		apart := float64(end-last) / float64(max(end-begin, 1)) * (t.room - half(end))
		if apart < 2 { // they look like one
			break
		}
		if apart >= half(last)+half(end) {
			return append(labelled[:n:n], end)
		}
	}
	return labelled
}

const (
	labelAir  = 14.0 // pixels between two labels
	day       = 24 * time.Hour
	leastDays = 3 * day // that an axis shows by days
)

// dayLabel writes an instant in days and what is left.
func dayLabel(at time.Duration) string {
	var parts []string
	if n := int(at / day); n > 0 {
		parts = append(parts, plural(n, "day", "days"))
	}
	if at%day > 0 {
		parts = append(parts, tickLabel(at%day, at))
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, " ")
}

// minorStep is the longest step that parts another one evenly.
func minorStep(step time.Duration) time.Duration {
	minor := step
	for _, s := range tickSteps {
		if s < step && step%s == 0 {
			minor = s
		}
	}
	return minor
}

// widest is the room that one label needs, with air around it.
func (t clockTicks) widest(step, end time.Duration) float64 {
	w := 0.0
	for _, at := range []time.Duration{end / step * step, max(0, end/step-1) * step} {
		w = max(w, width(tickLabel(at, t.whole), smallSize, false))
	}
	return w + labelAir
}

// tickLabel writes an instant of a run of that length exactly, in its units.
func tickLabel(at, whole time.Duration) string {
	if at == 0 {
		return "0"
	}
	return clockIn(at, longestUnit(whole))
}
