package main

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/breakersim/breakersim/report"
)

// chart is a small picture: panels side by side, each with series of points,
// and what is known of them as rings or a curve.
type chart struct {
	name, title string
	about       string // for who cannot see it
	line        string // what the curves are
	panels      []panel
}

type panel struct {
	title  string // what goes upwards
	x, y   axis
	series []series
}

type axis struct {
	label    string // of the x axis alone
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// series differ by the shape of their points and by a name at their end, not
// only by colour.
type series struct {
	name, color string
	glyph       draw.GlyphDrawer
	dashes      []vg.Length
	curve       plotter.XYs
	known, ours plotter.XYs
}

// Sizes in pixels.
const (
	chartWidth  = 720.0
	chartMargin = 16.0
	panelHeight = 280.0
	panelGap    = 20.0
	headRoom    = 26.0
	footRoom    = 18.0
	keyRoom     = 30.0
	nameIndent  = 26.0
	nameLeading = 15.0
	wordSize    = 12.0
	ringRadius  = 5.5
	dotRadius   = 3.5
)

// svg draws the chart.
func (c *chart) svg() ([]byte, error) {
	height := 2*chartMargin + panelHeight + keyRoom
	canvas := report.NewPicture(chartWidth, height, c.name, c.title, c.about)
	all := draw.New(canvas)
	all.FillPolygon(report.Color("bg"), []vg.Point{{X: all.Min.X, Y: all.Min.Y}, {X: all.Max.X, Y: all.Min.Y}, {X: all.Max.X, Y: all.Max.Y}, {X: all.Min.X, Y: all.Max.Y}})
	n := float64(len(c.panels))
	width := (chartWidth - 2*chartMargin - panelGap*(n-1)) / n
	for i := range c.panels {
		left := chartMargin + float64(i)*(width+panelGap)
		area := all
		area.Min = vg.Point{X: px(left), Y: px(chartMargin + keyRoom)}
		area.Max = vg.Point{X: px(left + width), Y: px(height - chartMargin)}
		c.panels[i].draw(area)
	}
	c.key(all)
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}

// px is a number of pixels as a length.
func px(v float64) vg.Length { return vg.Length(v) * report.Pixel }

// words is how text looks.
func words(color string, bold bool, x draw.XAlignment, y draw.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: px(wordSize)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: report.Color(color), Font: f, XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

func (p *panel) draw(area draw.Canvas) {
	whole := area
	area.FillText(words("ink", true, draw.XLeft, draw.YTop), vg.Point{X: area.Min.X, Y: area.Max.Y}, p.title)
	area.Max.Y -= px(headRoom)
	room := vg.Length(0)
	for _, s := range p.series {
		room = max(room, words("ink", false, 0, 0).Width(s.name))
	}
	area.Max.X -= room + px(nameIndent)
	area.Min.Y += px(footRoom)
	pl := plot.New()
	pl.BackgroundColor = nil
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: report.Color("grid"), Width: px(1)}
	pl.Add(grid)
	p.x.apply(&pl.X)
	p.y.apply(&pl.Y)
	pl.X.LineStyle = draw.LineStyle{Color: report.Color("muted"), Width: px(1)}
	pl.Y.LineStyle.Width, pl.Y.Tick.LineStyle.Width, pl.Y.Padding = 0, 0, px(4)
	for i := range p.series {
		pl.Add(p.series[i].plotters()...)
	}
	pl.Draw(area)
	data := pl.DataCanvas(area)
	area.FillText(words("muted", false, draw.XCenter, draw.YTop), vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: area.Min.Y - px(2)}, p.x.label)
	p.names(whole, pl, data)
}

func (a *axis) apply(to *plot.Axis) {
	to.Min, to.Max, to.Padding = a.min, a.max, 0
	to.Tick.Marker = plot.ConstantTicks(a.ticks)
	to.Tick.Length = px(4)
	to.Tick.LineStyle = draw.LineStyle{Color: report.Color("muted"), Width: px(1)}
	to.Tick.Label.Color, to.Tick.Label.Font = report.Color("muted"), words("muted", false, 0, 0).Font
	if a.log {
		to.Scale = plot.LogScale{}
	}
}

// plotters draws the curve first, then what is known, then ours on top.
func (s *series) plotters() []plot.Plotter {
	color := report.Color(s.color)
	var all []plot.Plotter
	if len(s.curve) > 0 {
		all = append(all, &plotter.Line{XYs: s.curve, LineStyle: draw.LineStyle{Color: color, Width: px(1.5), Dashes: s.dashes}})
	}
	if len(s.known) > 0 {
		all = append(all, &plotter.Scatter{XYs: s.known, GlyphStyle: draw.GlyphStyle{Color: color, Radius: px(ringRadius), Shape: ring{}}})
	}
	if len(s.ours) > 0 {
		all = append(all, &plotter.Scatter{XYs: s.ours, GlyphStyle: draw.GlyphStyle{Color: color, Radius: px(dotRadius), Shape: s.glyph}})
	}
	return all
}

// ring is a circle's outline, thick enough to be seen.
type ring struct{}

func (ring) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	var path vg.Path
	path.Move(vg.Point{X: at.X + sty.Radius, Y: at.Y})
	path.Arc(at, sty.Radius, 0, 2*math.Pi)
	path.Close()
	c.SetLineStyle(draw.LineStyle{Color: sty.Color, Width: px(1.2)})
	c.Stroke(path)
}

// diamond is a square on a corner.
type diamond struct{}

func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius * 1.15
	c.FillPolygon(sty.Color, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}})
}

// cross is an x, thick enough to be seen.
type cross struct{}

func (cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, at vg.Point) {
	r := sty.Radius * 0.85
	thick := draw.LineStyle{Color: sty.Color, Width: px(1.8)}
	c.StrokeLine2(thick, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(thick, at.X-r, at.Y+r, at.X+r, at.Y-r)
}

// names writes each series' name beside its end, apart from each other.
func (p *panel) names(on draw.Canvas, pl *plot.Plot, data draw.Canvas) {
	_, along := pl.Transforms(&data)
	type name struct {
		*series
		y vg.Length
	}
	var all []name
	for i := range p.series {
		s := &p.series[i]
		ends := slices.Concat(s.known, s.ours, s.curve)
		all = append(all, name{s, along(min(ends[len(ends)-1].Y, p.y.max))})
	}
	slices.SortStableFunc(all, func(a, b name) int { return cmp.Compare(b.y, a.y) })
	for i := range all { // push down, and then up again from the axis
		if i > 0 {
			all[i].y = min(all[i].y, all[i-1].y-px(nameLeading))
		}
	}
	least := data.Min.Y + px(nameLeading/2)
	for i := len(all) - 1; i >= 0; i-- {
		all[i].y = max(all[i].y, least)
		least = all[i].y + px(nameLeading)
	}
	for _, n := range all {
		at := vg.Point{X: data.Max.X + px(14), Y: n.y}
		if n.glyph != nil {
			on.DrawGlyph(draw.GlyphStyle{Color: report.Color(n.color), Radius: px(dotRadius), Shape: n.glyph}, at)
		} else {
			on.StrokeLine2(draw.LineStyle{Color: report.Color(n.color), Width: px(1.5), Dashes: n.dashes}, at.X-px(5), at.Y, at.X+px(4), at.Y)
		}
		on.FillText(words("ink", false, draw.XLeft, draw.YCenter), vg.Point{X: at.X + px(9), Y: at.Y}, n.name)
	}
}

// key says what rings, points and curves are.
func (c *chart) key(all draw.Canvas) {
	at := vg.Point{X: px(chartMargin + ringRadius), Y: px(chartMargin)}
	style := words("muted", false, draw.XLeft, draw.YCenter)
	muted := report.Color("muted")
	write := func(s string) {
		all.FillText(style, vg.Point{X: at.X + px(12), Y: at.Y}, s)
		at.X += px(12) + style.Width(s) + px(36)
	}
	has := func(of func(*series) plotter.XYs) bool {
		return slices.ContainsFunc(c.panels, func(p panel) bool {
			return slices.ContainsFunc(p.series, func(s series) bool { return len(of(&s)) > 0 })
		})
	}
	if has(func(s *series) plotter.XYs { return s.known }) {
		all.DrawGlyph(draw.GlyphStyle{Color: muted, Radius: px(ringRadius), Shape: ring{}}, at)
		write("known")
	}
	if has(func(s *series) plotter.XYs { return s.ours }) {
		all.DrawGlyph(draw.GlyphStyle{Color: muted, Radius: px(dotRadius), Shape: draw.CircleGlyph{}}, at)
		write("ours (a shape for each series)")
	}
	if c.line != "" {
		all.StrokeLine2(draw.LineStyle{Color: muted, Width: px(1.5)}, at.X-px(8), at.Y, at.X+px(8), at.Y)
		write(c.line)
	}
}

// ticks are labelled marks on an axis.
func ticks(format func(float64) string, at ...float64) []plot.Tick {
	var all []plot.Tick
	for _, v := range at {
		all = append(all, plot.Tick{Value: v, Label: format(v)})
	}
	return all
}
