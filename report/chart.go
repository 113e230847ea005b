package report

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// sheet is what the charts have in common: the scenario's title and what the
// chart shows above it, notes and a legend below it.
type sheet struct {
	kind          string
	scenario      string
	title, about  []string // lines
	notes         []string // likewise
	keys          []key
	variants      []string // what the labels of variants stand for
	desc          string
	width, height float64
	top           float64 // where the chart itself begins
	bottom        float64 // where it ends
	noCaption     bool
}

func newSheet(kind string, r *Results, look *Look, about string) sheet {
	run := r.Panels[0].Run
	s := sheet{kind: kind, scenario: run.Scenario, width: look.width(), noCaption: look.NoCaption}
	s.title = titleLines(run, s.inner())
	s.setAbout(about)
	return s
}

// setAbout says what the chart shows; the chart begins below it.
func (s *sheet) setAbout(about string) {
	s.about = wrapped(about, smallSize, false, s.inner())
	s.top = margin + float64(len(s.title))*titleLeading + float64(len(s.about))*leading + 8
}

// inner is the width between the margins.
func (s *sheet) inner() float64 { return s.width - 2*margin }

// close ends the chart at that height, with a legend and notes below it.
func (s *sheet) close(bottom float64, keys []key, notes ...string) {
	s.bottom = bottom
	s.keys = layKeys(keys, s.inner())
	for _, v := range s.variants {
		s.notes = append(s.notes, wrapped(v, smallSize, false, s.inner())...)
	}
	for _, n := range notes {
		if n != "" && !s.noCaption {
			s.notes = append(s.notes, wrapped(n, smallSize, false, s.inner())...)
		}
	}
	s.height = bottom + keyRoom(s.keys) + float64(len(s.notes))*leading + margin
}

func (s *sheet) size() (w, h float64) { return s.width, s.height }

func (s *sheet) words() (name, title, desc string) {
	return s.kind + "-" + s.scenario, strings.Join(s.title, " ") + ": " + strings.Join(s.about, " "), s.desc
}

// frame draws what is around the chart.
func (s *sheet) frame(p *pen) {
	p.title(s.title)
	p.lines(s.about, margin+float64(len(s.title))*titleLeading)
	p.legend(s.keys, s.bottom)
	p.lines(s.notes, s.bottom+keyRoom(s.keys))
}

// axis is a horizontal one. Its scale is gonum's; nil is linear.
type axis struct {
	least, most float64
	scale       plot.Normalizer
	ticks       plot.Ticker
}

// drawnKey is a legend's entry for what may be drawn.
type drawnKey struct {
	drawn bool
	key
}

// drawnKeys are the entries for what is.
func drawnKeys(all []drawnKey) (keys []key) {
	for _, k := range all {
		if k.drawn {
			keys = append(keys, k.key)
		}
	}
	return keys
}

// inPlot draws what is in a plot, where x is along its axis, in pixels.
type inPlot func(x func(float64) float64)

// Plot is for gonum.
func (f inPlot) Plot(c draw.Canvas, pl *plot.Plot) {
	toX, _ := pl.Transforms(&c)
	f(func(v float64) float64 { return float64(toX(v)) / pixel })
}

// plot draws gonum's axis below the area, and what is in it.
func (p *pen) plot(area box, a axis, inside inPlot) {
	pl := plot.New()
	pl.BackgroundColor = nil
	pl.HideY()
	pl.X.Min, pl.X.Max, pl.X.Padding, pl.Y.Padding = a.least, a.most, 0, 0
	if a.scale != nil {
		pl.X.Scale = a.scale
	}
	muted := p.theme.color("muted")
	pl.X.Tick.Marker = a.ticks
	pl.X.Tick.Label.Font, pl.X.Tick.Label.Handler = face(smallSize, false).Font, plainText
	pl.X.Tick.Label.Color, pl.X.Tick.LineStyle.Color, pl.X.LineStyle.Color = muted, muted, muted
	canvas := draw.New(p.c)
	canvas.Min, canvas.Max = p.point(area.x, area.y+area.h), p.point(area.x+area.w, area.y)
	// The plot takes the axis's room from what it is given; give it that much more.
	canvas.Min.Y -= pl.DataCanvas(canvas).Min.Y - canvas.Min.Y
	pl.Add(inside, inPlot(func(x func(float64) float64) {
		for _, t := range a.ticks.Ticks(a.least, a.most) {
			w := width(t.Label, smallSize, false)
			if t.Label != "" {
				p.texts = append(p.texts, written{box{x(t.Value) - w/2, area.y + area.h + 8, w, smallSize}, t.Label})
			}
		}
	}))
	pl.Draw(canvas)
}

// roundStep is the least of 1, 2 and 5 times a power of ten that is no less
// than that.
func roundStep(least float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(least)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= least {
			return n * unit
		}
	}
	return 10 * unit
}

// fillAll fills boxes in one go.
func (p *pen) fillAll(name string, boxes []box) {
	var path vg.Path
	for _, b := range boxes {
		path = append(path, p.path(true, b.x, b.y, b.x+b.w, b.y, b.x+b.w, b.y+b.h, b.x, b.y+b.h)...)
	}
	if len(path) > 0 {
		p.set(name, 0)
		p.c.Fill(path)
	}
}

// firstThatFits is the first of the words that fits, the last one cut if none does.
func firstThatFits(words []string, size, most float64) string {
	for _, s := range words {
		if width(s, size, false) <= most {
			return s
		}
	}
	return fitted(words[len(words)-1], size, false, most)
}
