package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// heat is a map of one metric over two axes, a panel for each policy and for each
// value of a third axis. Further axes stay at the reference's values, which a note
// says. Shades are of five classes, and each cell has its figure.
type heat struct {
	sheet
	s      *Sweep
	metric string
	unit   sweepUnit
	panels []heatPanel
	names  float64 // room on the left, for the values of the first axis
	cell   box     // w and h
	least  float64
	most   float64
	log    bool
	places int // after the point
	best   int
}

// heatPanel is one map.
type heatPanel struct {
	title string
	y     float64
	cells [][]int // by row and column; -1: none
}

const (
	heatClasses = 5
	heatHeight  = 30.0
	mostPanels  = 12
)

func layOutHeat(s *Sweep, metric string, look *Look) (drawing, error) {
	c := &heat{s: s, metric: metric, best: s.Recommended()}
	note := c.slice()
	if len(c.panels) == 0 || !c.spread() {
		return nil, ErrNothingToDraw
	}
	c.unit = unitFor(metric, c.most)
	c.places = c.afterPoint()
	about := fmt.Sprintf("%s (%s): mean of %s for each setting", metricTitle(metric, c.unit), columnNamed(metric).About, s.replications())
	c.sheet = newSweepSheet("heat-"+metric, s, look, about)
	c.place()
	c.desc = c.describe()
	c.close(c.bottom, c.legendKeys(), note)
	return c, nil
}

// rows and columns are the axes of the map. A sweep of one axis has one row.
func (c *heat) columns() *SweepAxis { return &c.s.Axes[min(1, len(c.s.Axes)-1)] }

// slice finds the cells of every panel, and says what is not shown.
func (c *heat) slice() (note string) {
	s := c.s
	reference := s.reference()
	third := []int{0}
	if len(s.Axes) > 2 {
		third = nil
		for v := range s.Axes[2].Values {
			third = append(third, v)
		}
	}
	policies := slices.DeleteFunc(s.policies(), func(p string) bool {
		return !slices.ContainsFunc(s.Cells, func(c SweepCell) bool { return c.Policy == p && c.Values != nil })
	})
	if len(third)*len(policies) > mostPanels {
		third = []int{reference[2]}
	}
	for _, policy := range policies {
		for _, v := range third {
			p := heatPanel{}
			if len(policies) > 1 {
				p.title = policy
			}
			if len(s.Axes) > 2 {
				p.title = strings.TrimPrefix(p.title+", "+s.Axes[2].Label+" "+s.Axes[2].Values[v], ", ")
			}
			if p.fill(s, policy, slices.Clone(reference), v) {
				c.panels = append(c.panels, p)
			}
		}
	}
	var fixed []string
	for i := 2; i < len(s.Axes); i++ {
		if i > 2 || len(third) < len(s.Axes[2].Values) {
			fixed = append(fixed, s.Axes[i].Label+" "+s.Axes[i].Values[reference[i]])
		}
	}
	if len(fixed) > 0 {
		note = "A slice at the reference's " + strings.Join(fixed, ", ") + "; summary.csv has the other cells."
	}
	return note
}

// reference are the values of the reference; of a sweep without one the first.
func (s *Sweep) reference() []int {
	if v := s.Cells[s.Reference].Values; v != nil {
		return v
	}
	return make([]int, len(s.Axes))
}

// fill finds the panel's cells; it says whether there is any.
func (p *heatPanel) fill(s *Sweep, policy string, values []int, third int) (any bool) {
	if len(values) > 2 {
		values[2] = third
	}
	rows, last := 1, len(s.Axes)-1
	if last > 0 {
		rows, last = len(s.Axes[0].Values), 1
	}
	for r := range rows {
		if last > 0 {
			values[0] = r
		}
		var line []int
		for k := range s.Axes[last].Values {
			values[last] = k
			i := s.cellAt(values, policy)
			any = any || i >= 0
			line = append(line, i)
		}
		p.cells = append(p.cells, line)
	}
	return any
}

// spread finds the range of the figures. It is false if none is defined.
func (c *heat) spread() bool {
	c.least, c.most = math.Inf(1), math.Inf(-1)
	for _, p := range c.panels {
		for _, i := range slices.Concat(p.cells...) {
			if i < 0 {
				continue
			}
			if v := c.s.figure(i, c.metric).Mean; !math.IsNaN(v) {
				c.least, c.most = min(c.least, v), max(c.most, v)
			}
		}
	}
	c.log = c.least > 0 && c.most/c.least >= 20
	return c.least <= c.most
}

// afterPoint is how many places all figures have after the point: three digits
// of the largest, and none where all are whole.
func (c *heat) afterPoint() int {
	whole := true
	for _, p := range c.panels {
		for _, i := range slices.Concat(p.cells...) {
			if i >= 0 {
				v := c.s.figure(i, c.metric).Mean / c.unit.size
				whole = whole && (math.IsNaN(v) || v == math.Trunc(v))
			}
		}
	}
	switch most := c.most / c.unit.size; {
	case whole, most >= 100:
		return 0
	case most >= 10:
		return 1
	default:
		return 2
	}
}

// text is a figure in the map's unit.
func (c *heat) text(v float64) string {
	if v /= c.unit.size; c.places > 0 {
		return strconv.FormatFloat(v, 'f', c.places, 64)
	}
	return Thousands(int64(math.Round(v)))
}

// class is the shade of a figure, from 1.
func (c *heat) class(v float64) int {
	for k := 1; k < heatClasses; k++ {
		if v < c.bound(k) {
			return k
		}
	}
	return heatClasses
}

// bound is where the class k ends.
func (c *heat) bound(k int) float64 {
	share := float64(k) / heatClasses
	if c.log {
		return c.least * math.Pow(c.most/c.least, share)
	}
	return c.least + (c.most-c.least)*share
}

func (c *heat) place() {
	if len(c.s.Axes) > 1 {
		for _, v := range c.s.Axes[0].Values {
			c.names = max(c.names, width(v, smallSize, false))
		}
		c.names = min(c.inner()*0.3, max(c.names, width(c.s.Axes[0].Label, tinySize, false))) + 10
	}
	c.cell = box{w: min(160, (c.inner()-c.names)/float64(len(c.columns().Values))), h: heatHeight}
	y := c.top
	for i := range c.panels {
		p := &c.panels[i]
		if p.title != "" {
			y += leading + 4
		}
		y += leading // what the columns and rows are
		p.y = y
		y += c.cell.h*float64(len(p.cells)) + leading + 16
	}
	c.bottom = y
}

func (c *heat) legendKeys() []key {
	var keys []key
	if c.least == c.most {
		keys = append(keys, key{text: "all " + c.text(c.least), draw: func(p *pen, b box) { heatKey(p, 1, b) }})
	}
	for k := 1; k <= heatClasses && c.least < c.most; k++ {
		from, to := c.least, c.bound(k)
		if k > 1 {
			from = c.bound(k - 1)
		}
		if k == heatClasses {
			to = c.most
		}
		keys = append(keys, key{text: c.text(from) + " to " + c.text(to), draw: func(p *pen, b box) { heatKey(p, k, b) }})
	}
	if c.shown(c.s.Reference) {
		keys = append(keys, key{text: "dashed: the reference", draw: func(p *pen, b box) { referenceFrame(p, b) }})
	}
	if c.shown(c.best) {
		keys = append(keys, key{text: "thick: recommended, the knee of the front", draw: func(p *pen, b box) { p.frame("ink", 3, b) }})
	}
	return keys
}

func (c *heat) shown(cell int) bool {
	return slices.ContainsFunc(c.panels, func(p heatPanel) bool { return slices.Contains(slices.Concat(p.cells...), cell) })
}

func heatKey(p *pen, class int, b box) {
	p.rect(fmt.Sprintf("heat%d", class), b)
	p.frame("muted", 0.8, b)
}

// referenceFrame is a dashed frame.
func referenceFrame(p *pen, b box) {
	p.set("ink", 1.6, 3, 2)
	p.c.Stroke(p.path(true, b.x+1, b.y+1, b.x+b.w-1, b.y+1, b.x+b.w-1, b.y+b.h-1, b.x+1, b.y+b.h-1))
	p.set("ink", 1)
}

func (c *heat) draw(p *pen) {
	c.frame(p)
	for i := range c.panels {
		c.panel(p, &c.panels[i])
	}
}

func (c *heat) panel(p *pen, m *heatPanel) {
	x0 := margin + c.names
	if m.title != "" {
		p.text("ink", margin, m.y-leading-leading/2-4, textSize, true, left, fitted(m.title, textSize, true, c.inner()))
	}
	across := c.columns()
	if len(c.s.Axes) > 1 {
		p.text("muted", margin, m.y-leading/2, tinySize, false, left, fitted(c.s.Axes[0].Label+" (down)", tinySize, false, c.inner()/2-8))
	}
	label := across.Label + " (across)"
	end := x0 + c.cell.w*float64(len(across.Values))
	p.text("muted", end, m.y-leading/2, tinySize, false, right, fitted(label, tinySize, false, end-margin-c.inner()/2))
	for r, line := range m.cells {
		y := m.y + float64(r)*c.cell.h
		if len(c.s.Axes) > 1 {
			p.text("ink", x0-8, y+c.cell.h/2, smallSize, false, right, fitted(c.s.Axes[0].Values[r], smallSize, false, c.names-10))
		}
		for k, i := range line {
			c.square(p, i, box{x0 + float64(k)*c.cell.w, y, c.cell.w, c.cell.h})
		}
	}
	c.frames(p, m, x0)
	c.columnNames(p, m, x0)
}

// columnNames writes the values below the map, as many as there is room for.
func (c *heat) columnNames(p *pen, m *heatPanel, x0 float64) {
	y := m.y + float64(len(m.cells))*c.cell.h + leading/2
	end := 0.0
	for k, v := range c.columns().Values {
		w, x := width(v, smallSize, false), x0+(float64(k)+0.5)*c.cell.w
		if x-w/2 >= end+4 && x+w/2 <= c.width {
			p.text("ink", x, y, smallSize, false, centre, v)
			end = x + w/2
		}
	}
}

func (c *heat) square(p *pen, cell int, b box) {
	if cell < 0 {
		return
	}
	f := c.s.figure(cell, c.metric)
	defer p.group(c.s.cellName(cell) + ": " + c.s.give(c.metric, &f.SweepMean))()
	if math.IsNaN(f.Mean) {
		p.rect("lane", b)
		p.frame("grid", 1, b)
		p.text("muted", b.x+b.w/2, b.y+b.h/2, smallSize, false, centre, undefined)
		return
	}
	look := fmt.Sprintf("heat%d", c.class(f.Mean))
	p.rect(look, b)
	p.frame("grid", 0.8, b)
	text := c.text(f.Mean)
	for _, size := range []float64{smallSize, tinySize} {
		if width(text, size, false)+4 <= b.w {
			p.text(look+"-ink", b.x+b.w/2, b.y+b.h/2, size, false, centre, text)
			return
		}
	}
}

// frames marks the reference and what is recommended.
func (c *heat) frames(p *pen, m *heatPanel, x0 float64) {
	for r, line := range m.cells {
		for k, i := range line {
			b := box{x0 + float64(k)*c.cell.w, m.y + float64(r)*c.cell.h, c.cell.w, c.cell.h}
			if i >= 0 && i == c.best {
				p.frame("bg", 5, b)
				p.frame("ink", 3, b)
			}
			if i >= 0 && i == c.s.Reference {
				p.frame("bg", 3, b)
				referenceFrame(p, b)
			}
		}
	}
}

// describe tells the least and the most in words.
func (c *heat) describe() string {
	var b strings.Builder
	for _, m := range c.panels {
		low, high := -1, -1
		for _, i := range slices.Concat(m.cells...) {
			if i < 0 || math.IsNaN(c.s.figure(i, c.metric).Mean) {
				continue
			}
			v := c.s.figure(i, c.metric).Mean
			if low < 0 || v < c.s.figure(low, c.metric).Mean {
				low = i
			}
			if high < 0 || v > c.s.figure(high, c.metric).Mean {
				high = i
			}
		}
		if low >= 0 {
			fmt.Fprintf(&b, "The least is %s with %s, the most %s with %s. ", c.s.text(c.metric, c.s.figure(low, c.metric).Mean), c.s.cellName(low), c.s.text(c.metric, c.s.figure(high, c.metric).Mean), c.s.cellName(high))
		}
	}
	return strings.TrimSpace(b.String())
}
