package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// front is every cell by what it costs a target that is out and what it costs
// the callers. Those on the front are numbered, joined, and listed below.
type front struct {
	sheet
	s       *Sweep
	area    box
	on      []int // cells, the fewest wasted attempts first
	best    int
	lines   [][]string // of the list: number, settings, failed, wasted
	list    float64    // where it begins
	columns []float64  // where its columns begin or, of figures, end
	x, y    [2]float64 // ranges
}

const (
	frontHeight = 330.0
	mostListed  = 24
)

func layOutFront(s *Sweep, look *Look) (drawing, error) {
	c := &front{s: s, on: s.Front(), best: s.Recommended()}
	if len(c.on) == 0 {
		return nil, ErrNothingToDraw
	}
	c.sheet = newSweepSheet("front", s, look, fmt.Sprintf("What callers lose against what a target that is out must bear: a mark for each setting, means of %s; down and left is better", s.replications()))
	c.ranges()
	room := 0.0
	for _, t := range scaleTicks(c.y[0], c.y[1], 6) {
		room = max(room, width(decimalText(t), tinySize, false))
	}
	c.area = box{margin + room + 8, c.top + leading, c.inner() - room - 8, frontHeight}
	c.list = c.area.y + c.area.h + 2*leading + 14
	c.layList()
	c.desc = s.Recommendation()
	note := ""
	if n := len(c.on) - mostListed; n > 0 {
		note = fmt.Sprintf("%s more on the front; the page of the sweep lists all.", strconv.Itoa(n))
	}
	c.close(c.list+float64(len(c.lines))*leading+10, c.legendKeys(), "Crosses are 95% confidence intervals of the difference to the reference, world by world; behind ± is half of that of the mean, which is as wide as the worlds differ. "+
		"The knee is where both, each as a share of its range along the front, sum to the least.", note)
	return c, nil
}

// ranges are of the marks and their intervals, from 0 where that is not far.
func (c *front) ranges() {
	c.x, c.y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	take := func(r *[2]float64, f *SweepFigure, interval bool) {
		low, high := f.against()
		if !interval {
			low, high = f.Mean, f.Mean
		}
		if !math.IsNaN(low) {
			r[0], r[1] = min(r[0], low), max(r[1], high)
		}
	}
	for i := range c.s.Cells {
		take(&c.x, c.s.figure(i, Wasted), slices.Contains(c.on, i))
		take(&c.y, c.s.figure(i, Failed), slices.Contains(c.on, i))
	}
	for _, r := range []*[2]float64{&c.x, &c.y} {
		r[0] = max(0, r[0])
		if r[0] < 0.4*r[1] {
			r[0] = 0
		}
		if r[1] == r[0] {
			r[1] = r[0] + 1
		}
		r[1] += (r[1] - r[0]) * 0.04
		if r[0] > 0 {
			r[0] -= (r[1] - r[0]) * 0.04
		}
	}
}

// at is where a point is, in pixels.
func (c *front) at(wasted, failed float64) (x, y float64) {
	return c.area.x + (wasted-c.x[0])/(c.x[1]-c.x[0])*c.area.w, c.area.y + c.area.h - (failed-c.y[0])/(c.y[1]-c.y[0])*c.area.h
}

// layList lays out the settings on the front.
func (c *front) layList() {
	c.lines = [][]string{{"", "setting", "failed", "wasted"}}
	for n, i := range c.on {
		if n == mostListed {
			break
		}
		name := c.s.cellName(i)
		if i == c.best {
			name += " (the knee)"
		}
		c.lines = append(c.lines, []string{strconv.Itoa(n + 1), name, c.s.give(Failed, &c.s.figure(i, Failed).SweepMean), c.s.give(Wasted, &c.s.figure(i, Wasted).SweepMean)})
	}
	widths := make([]float64, 4)
	for _, line := range c.lines {
		for k, text := range line {
			widths[k] = max(widths[k], width(text, smallSize, true))
		}
	}
	end := c.width - margin
	c.columns = []float64{margin + widths[0], margin + widths[0] + 10, end - widths[3] - 16, end}
}

// frontMarks are the shapes of the policies, in order, over and over.
var frontMarks = []func(p *pen, name string, x, y, r float64, full bool){
	func(p *pen, name string, x, y, r float64, full bool) {
		p.circle(name, x, y, r, map[bool]float64{true: 0, false: 1.2}[full])
	},
	func(p *pen, name string, x, y, r float64, full bool) {
		p.shape(name, full, x-r, y-r, x+r, y-r, x+r, y+r, x-r, y+r)
	},
	func(p *pen, name string, x, y, r float64, full bool) {
		p.shape(name, full, x, y-1.3*r, x+1.2*r, y+r, x-1.2*r, y+r)
	},
	func(p *pen, name string, x, y, r float64, full bool) {
		p.shape(name, full, x, y-1.4*r, x+1.4*r, y, x, y+1.4*r, x-1.4*r, y)
	},
	func(p *pen, name string, x, y, r float64, full bool) {
		p.shape(name, full, x-1.2*r, y-r, x+1.2*r, y-r, x, y+1.3*r)
	},
}

// shape fills or strokes a closed path.
func (p *pen) shape(name string, full bool, xy ...float64) {
	if full {
		p.fill(name, xy...)
		return
	}
	p.set(name, 1.2)
	p.c.Stroke(p.path(true, xy...))
}

func (c *front) mark(p *pen, cell int, name string, r float64, full bool) {
	point := c.s.point(cell)
	x, y := c.at(point[0], point[1])
	frontMarks[slices.Index(c.s.policies(), c.s.Cells[cell].Policy)%len(frontMarks)](p, name, x, y, r, full)
}

func (c *front) legendKeys() []key {
	var keys []key
	for k, policy := range c.s.policies() {
		shape := frontMarks[k%len(frontMarks)]
		text := policy
		if len(c.s.policies()) == 1 {
			text = "a setting"
		}
		keys = append(keys, key{text: text, draw: func(p *pen, b box) { shape(p, "refused", b.x+b.w/2, b.y+b.h/2, 3.2, false) }})
	}
	return append(keys,
		key{text: "full: on the front", draw: func(p *pen, b box) { frontMarks[0](p, "ok", b.x+b.w/2, b.y+b.h/2, 4, true) }},
		key{text: "dashed: the reference", draw: func(p *pen, b box) { referenceFrame(p, box{b.x + 1, b.y - 1, 13, 13}) }},
		key{text: "thick: recommended", draw: func(p *pen, b box) { p.frame("ink", 2.4, box{b.x + 1, b.y - 1, 13, 13}) }},
	)
}

func (c *front) draw(p *pen) {
	c.frame(p)
	c.axes(p)
	c.joined(p)
	for i := range c.s.Cells {
		if !slices.Contains(c.on, i) && !math.IsNaN(c.s.point(i)[0]+c.s.point(i)[1]) {
			done := p.group(c.tip(i))
			c.mark(p, i, "refused", 3, false)
			done()
		}
	}
	for _, i := range c.on {
		done := p.group(c.tip(i))
		c.interval(p, i)
		c.mark(p, i, "ok", 4, true)
		done()
	}
	c.boxed(p)
	c.numbers(p)
	c.listed(p)
}

func (c *front) tip(cell int) string {
	return fmt.Sprintf("%s: %s failed, %s wasted", c.s.cellName(cell), c.s.give(Failed, &c.s.figure(cell, Failed).SweepMean), c.s.give(Wasted, &c.s.figure(cell, Wasted).SweepMean))
}

func (c *front) axes(p *pen) {
	b := c.area
	p.text("muted", margin, b.y-leading/2, smallSize, false, left, "failed calls in a world")
	end := -1.0
	for _, t := range scaleTicks(c.x[0], c.x[1], 8) {
		x, _ := c.at(t, c.y[0])
		p.stroke("grid", 1, x, b.y, x, b.y+b.h)
		label := decimalText(t)
		if w := width(label, tinySize, false); x-w/2 > end+6 && x+w/2 <= c.width {
			p.text("muted", x, b.y+b.h+leading/2, tinySize, false, centre, label)
			end = x + w/2
		}
	}
	for _, t := range scaleTicks(c.y[0], c.y[1], 6) {
		_, y := c.at(c.x[0], t)
		p.stroke("grid", 1, b.x, y, b.x+b.w, y)
		p.text("muted", b.x-6, y, tinySize, false, right, decimalText(t))
	}
	p.stroke("muted", 1, b.x, b.y, b.x, b.y+b.h, b.x+b.w, b.y+b.h)
	p.text("muted", c.width-margin, b.y+b.h+leading+leading/2-2, smallSize, false, right, "wasted attempts in a world")
}

// joined draws the front as steps: what lies above it is beaten.
func (c *front) joined(p *pen) {
	var xy []float64
	for n, i := range c.on {
		point := c.s.point(i)
		x, y := c.at(point[0], point[1])
		if n > 0 {
			xy = append(xy, x, xy[len(xy)-1])
		}
		xy = append(xy, x, y)
	}
	if len(c.on) > 1 {
		p.stroke("ok", 1.2, xy...)
	}
}

// interval draws how sure both means are.
func (c *front) interval(p *pen, cell int) {
	for _, b := range c.cross(cell) {
		p.stroke("refused", 0.7, b.x, b.y, b.x+b.w, b.y+b.h)
	}
}

// against is the interval of the difference to the reference, around the mean;
// nothing but the mean where there is none.
func (f *SweepFigure) against() (low, high float64) {
	if half := (f.Against.High - f.Against.Low) / 2; half > 0 {
		return f.Mean - half, f.Mean + half
	}
	return f.Mean, f.Mean
}

// cross is where an interval is: a flat box, and an upright one.
func (c *front) cross(cell int) []box {
	failed, wasted := c.s.figure(cell, Failed), c.s.figure(cell, Wasted)
	left, right := wasted.against()
	low, high := failed.against()
	x0, y0 := c.at(max(c.x[0], left), max(c.y[0], low))
	x1, y1 := c.at(right, high)
	x, y := c.at(wasted.Mean, failed.Mean)
	return []box{{x0, y, x1 - x0, 0}, {x, y1, 0, y0 - y1}}
}

// boxed marks the reference and what is recommended.
func (c *front) boxed(p *pen) {
	around := func(cell int) box {
		point := c.s.point(cell)
		x, y := c.at(point[0], point[1])
		return box{x - 8, y - 8, 16, 16}
	}
	p.frame("ink", 2.4, around(c.best))
	if point := c.s.point(c.s.Reference); !math.IsNaN(point[0] + point[1]) {
		b := around(c.s.Reference)
		referenceFrame(p, box{b.x - 3, b.y - 3, b.w + 6, b.h + 6})
	}
}

// numbers writes them beside the marks, each where no other is. One that finds no
// room is left out: the list has it.
func (c *front) numbers(p *pen) {
	var taken []box
	for i := range c.s.Cells {
		if point := c.s.point(i); !math.IsNaN(point[0] + point[1]) {
			x, y := c.at(point[0], point[1])
			taken = append(taken, box{x - 5, y - 5, 10, 10})
		}
	}
	for _, i := range c.on {
		taken = append(taken, c.cross(i)...)
	}
	free := func(b box) bool {
		if b.x < c.area.x+2 || b.y < c.area.y || b.x+b.w > c.width-2 || b.y+b.h > c.area.y+c.area.h-2 {
			return false
		}
		return !slices.ContainsFunc(taken, func(t box) bool {
			return b.x < t.x+t.w && t.x < b.x+b.w && b.y < t.y+t.h && t.y < b.y+b.h
		})
	}
	for n, i := range c.on {
		if n == mostListed {
			return
		}
		point := c.s.point(i)
		x, y := c.at(point[0], point[1])
		label := strconv.Itoa(n + 1)
		w := width(label, smallSize, true)
		for _, at := range [][2]float64{{9, -10}, {9, 10}, {-9 - w, 10}, {-9 - w, -10}, {12, 0}, {-12 - w, 0}, {-w / 2, -16}, {-w / 2, 16}} {
			b := box{x + at[0] - 1, y + at[1] - smallSize/2 - 1, w + 2, smallSize + 2}
			if free(b) {
				p.text("ink", b.x+1, y+at[1], smallSize, true, left, label)
				taken = append(taken, b)
				break
			}
		}
	}
}

// listed writes the settings on the front.
func (c *front) listed(p *pen) {
	for n, line := range c.lines {
		y := c.list + (float64(n)+0.5)*leading
		bold := n == 0 || c.on[n-1] == c.best
		name := "ink"
		if n == 0 {
			name = "muted"
		}
		p.text(name, c.columns[0], y, smallSize, bold, right, line[0])
		room := c.columns[2] - c.columns[1] - width(line[2], smallSize, true) - 12
		p.text(name, c.columns[1], y, smallSize, bold, left, fitted(strings.TrimSpace(line[1]), smallSize, bold, room))
		p.text(name, c.columns[2], y, smallSize, bold, right, line[2])
		p.text(name, c.columns[3], y, smallSize, bold, right, line[3])
	}
}
