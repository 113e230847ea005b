package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// tornado is what each axis does by itself: from the reference, one setting at a
// time is changed to each of its values. A block for each metric has a bar for
// each axis, the longest first, with a mark for each value.
type tornado struct {
	sheet
	s      *Sweep
	blocks []tornadoBlock
	names  float64
}

// tornadoBlock is one metric.
type tornadoBlock struct {
	metric      string
	unit        sweepUnit
	y           float64
	bars        []tornadoBar
	reference   float64
	least, most float64
}

// tornadoBar is one axis.
type tornadoBar struct {
	axis  int
	cells []int // by value; -1: none
	ends  [2]int
}

const (
	tornadoRow  = 30.0
	tornadoEnds = 70.0 // room beside the bars, for what their ends are
)

func layOutTornado(s *Sweep, look *Look) (drawing, error) {
	c := &tornado{s: s}
	for _, m := range s.Metrics {
		if b, ok := s.tornado(m); ok {
			c.blocks = append(c.blocks, b)
		}
	}
	if len(c.blocks) == 0 {
		return nil, ErrNothingToDraw
	}
	c.sheet = newSweepSheet("tornado", s, look, fmt.Sprintf("What each setting does by itself, from the reference (%s) on; means of %s", s.cellName(s.Reference), s.replications()))
	for i := range s.Axes {
		c.names = max(c.names, width(s.Axes[i].Label, smallSize, false))
	}
	c.names = min(c.names, c.inner()*0.28) + 12
	y := c.top
	for i := range c.blocks {
		b := &c.blocks[i]
		b.y = y + leading + 8
		y = b.y + float64(len(b.bars))*tornadoRow + leading + 16
	}
	c.desc = c.describe()
	c.close(y, []key{
		{text: "the reference", draw: func(p *pen, b box) { p.stroke("ink", 1.4, b.x+b.w/2, b.y, b.x+b.w/2, b.y+b.h) }},
		{text: "a value that was tried", draw: func(p *pen, b box) { p.circle("ink", b.x+b.w/2, b.y+b.h/2, 3, 0) }},
	}, "At the ends of a bar: the values of the setting that lead there.")
	return c, nil
}

// tornado finds the bars of one metric. There are none where nothing changes it.
func (s *Sweep) tornado(metric string) (b tornadoBlock, ok bool) {
	policy := s.Cells[s.Reference].Policy
	b = tornadoBlock{metric: metric, reference: s.figure(s.Reference, metric).Mean}
	if math.IsNaN(b.reference) {
		return b, false
	}
	b.least, b.most = b.reference, b.reference
	value := func(i int) float64 { return s.figure(i, metric).Mean }
	for axis := range s.Axes {
		bar := tornadoBar{axis: axis, ends: [2]int{-1, -1}}
		for v := range s.Axes[axis].Values {
			values := slices.Clone(s.reference())
			values[axis] = v
			i := s.cellAt(values, policy)
			bar.cells = append(bar.cells, i)
			if i < 0 || math.IsNaN(value(i)) {
				continue
			}
			if bar.ends[0] < 0 || value(i) < value(bar.cells[bar.ends[0]]) {
				bar.ends[0] = v
			}
			if bar.ends[1] < 0 || value(i) > value(bar.cells[bar.ends[1]]) {
				bar.ends[1] = v
			}
		}
		if bar.ends[0] < 0 {
			continue
		}
		b.least, b.most = min(b.least, value(bar.cells[bar.ends[0]])), max(b.most, value(bar.cells[bar.ends[1]]))
		b.bars = append(b.bars, bar)
	}
	swing := func(t tornadoBar) float64 { return value(t.cells[t.ends[1]]) - value(t.cells[t.ends[0]]) }
	slices.SortStableFunc(b.bars, func(x, y tornadoBar) int { return cmp.Compare(swing(y), swing(x)) })
	b.unit = unitFor(metric, b.most)
	return b, b.most > b.least
}

func (c *tornado) draw(p *pen) {
	c.frame(p)
	for i := range c.blocks {
		c.block(p, &c.blocks[i])
	}
}

func (c *tornado) block(p *pen, b *tornadoBlock) {
	x0, x1 := margin+c.names+tornadoEnds, c.width-margin-tornadoEnds
	x := func(v float64) float64 { return x0 + (v-b.least)/(b.most-b.least)*(x1-x0) }
	title := metricTitle(b.metric, b.unit)
	p.text("ink", margin, b.y-leading/2-4, textSize, true, left, title)
	from := margin + width(title, textSize, true) + 10
	p.text("muted", from, b.y-leading/2-4, tinySize, false, left, fitted(columnNamed(b.metric).About, tinySize, false, c.width-margin-from))
	bottom := b.y + float64(len(b.bars))*tornadoRow
	end := -1.0
	for _, t := range scaleTicks(b.least/b.unit.size, b.most/b.unit.size, 5) {
		label := decimalText(t)
		t *= b.unit.size
		p.stroke("grid", 1, x(t), b.y, x(t), bottom)
		if w := width(label, tinySize, false); x(t)-w/2 > end+6 {
			p.text("muted", x(t), bottom+leading/2, tinySize, false, centre, label)
			end = x(t) + w/2
		}
	}
	for i := range b.bars {
		c.bar(p, b, &b.bars[i], b.y+(float64(i)+0.5)*tornadoRow, x)
	}
	p.stroke("ink", 1.4, x(b.reference), b.y, x(b.reference), bottom)
}

func (c *tornado) bar(p *pen, b *tornadoBlock, t *tornadoBar, y float64, x func(float64) float64) {
	axis := &c.s.Axes[t.axis]
	value := func(v int) float64 { return c.s.figure(t.cells[v], b.metric).Mean }
	defer p.group(fmt.Sprintf("%s: %s %s with %s, %s with %s", axis.Label, b.metric, c.s.text(b.metric, value(t.ends[0])), axis.Values[t.ends[0]], c.s.text(b.metric, value(t.ends[1])), axis.Values[t.ends[1]]))()
	p.text("ink", margin, y, smallSize, false, left, fitted(axis.Label, smallSize, false, c.names-12))
	from, to := x(value(t.ends[0])), x(value(t.ends[1]))
	area := box{from, y - 8, max(1.5, to-from), 16}
	p.ground("bar", area)
	if area.w > 3 {
		p.frame("bar-edge", 1, area)
	}
	for v := range t.cells {
		if t.cells[v] >= 0 && !math.IsNaN(value(v)) {
			p.circle("ink", x(value(v)), y, 2.4, 0)
		}
	}
	p.text("ink", from-8, y, smallSize, false, right, fitted(axis.Values[t.ends[0]], smallSize, false, tornadoEnds-12))
	if t.ends[0] != t.ends[1] {
		p.text("ink", to+8, y, smallSize, false, left, fitted(axis.Values[t.ends[1]], smallSize, false, tornadoEnds-12))
	}
}

func (c *tornado) describe() string {
	var b strings.Builder
	for i := range c.blocks {
		block := &c.blocks[i]
		fmt.Fprintf(&b, "%s is %s at the reference", columnNamed(block.metric).Heading, c.s.text(block.metric, block.reference))
		for k := range block.bars {
			t := &block.bars[k]
			axis := &c.s.Axes[t.axis]
			fmt.Fprintf(&b, "; by %s from %s with %s to %s with %s", axis.Label, c.s.text(block.metric, c.s.figure(t.cells[t.ends[0]], block.metric).Mean), axis.Values[t.ends[0]],
				c.s.text(block.metric, c.s.figure(t.cells[t.ends[1]], block.metric).Mean), axis.Values[t.ends[1]])
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}
