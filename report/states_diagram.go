package report

import (
	"strings"

	"github.com/breakersim/breakersim/sim/trace"
)

// A diagram has the state in which a breaker begins on the left, that of trouble
// above on the right, and that of the test below it. Between the latter the
// arrows are upright; the others come out sideways and turn once.

// stateBox is a state: its name on its ground, and below it what it was for.
type stateBox struct {
	box
	state string
	look  string
	time  []string // lines
	notes []string // lines
}

// stateArrow is a move with its label.
type stateArrow struct {
	move   trace.Move
	from   int // indices in the machine
	to     int
	nth    int // of those from test to trouble, from 1
	count  int
	points []float64 // from its tail to its head; corners are right angles
	label  []string  // its rule and count, then the cause
	x, y   float64   // of the label: where it stands by its alignment, and the middle of its first line
	align  align
}

// stateEnd marks where the run began, or where it ended.
type stateEnd struct {
	x, y float64 // of the mark
	edge float64 // the state's, where the arrow is
	last bool
}

// Sizes in pixels.
const (
	boxHeader   = 24.0
	boxPad      = 8.0
	timeLine    = 15.0
	noteLine    = 13.0
	shareHeight = 7.0
	labelLine   = 13.0
	labelGap    = 6.0
	markRoom    = 26.0 // beside a state, for the marks of beginning and end
	headLength  = 9.0
	turn        = 10.0 // radius of a corner
	outerRun    = 32.0 // of a sideways arrow, from the far edge of the state on the right
	innerRun    = 50.0 // likewise, of an inner one
)

// Where arrows leave or meet the states, in shares of the width.
const (
	outerAt = 0.28
	innerAt = 0.72
)

// widths are those of a diagram's states: of the first, and of the others.
type widths struct{ first, side float64 }

// Bounds of widths, and of what is between the first state and the others.
const (
	leastFirst, mostFirst = 112.0, 150.0
	leastSide, mostSide   = 194.0, 240.0
	leastMiddle           = 90.0
	firstShare, sideShare = 0.24, 0.36 // of a diagram that is wide
)

// widthsOf are as wide as the words of all the diagrams need, within a diagram
// that is w wide, and wider in a wide one.
func widthsOf(all []*tally, w float64) widths {
	var need widths
	for _, t := range all {
		m := t.machine()
		need.first = max(need.first, t.boxWidth(m[0]))
		need.side = max(need.side, t.boxWidth(m[1]), t.boxWidth(m[2]))
	}
	room := w - 2*markRoom - leastMiddle
	side := max(leastSide, min(max(min(need.side, mostSide), sideShare*w), room-leastFirst))
	return widths{max(leastFirst, min(max(min(need.first, mostFirst), firstShare*w), room-side)), side}
}

// layDiagram lays the diagram out within a width, from the height y down, and
// returns where it ends.
func (c *stateCell) layDiagram(x, y, w float64, s widths) float64 {
	m := c.t.machine()
	for i, width := range [3]float64{s.first, s.side, s.side} {
		c.boxes[i] = c.t.stateBox(m[i], width)
	}
	first, trouble, test := &c.boxes[0], &c.boxes[1], &c.boxes[2]
	first.x = x + markRoom
	trouble.x = x + w - markRoom - s.side
	test.x = trouble.x
	c.layLabels()
	high := c.labelHeights()
	over, under := max(0, high.over+labelGap-outerRun), max(0, high.under+labelGap-outerRun)
	arm := outerRun + 2*labelGap + headLength
	if inner := max(high.above, high.below); inner > 0 {
		arm = innerRun + 2*labelGap + inner + headLength
	}
	gap := high.between + 2*headLength + 12
	height := max(2*arm+first.h, trouble.h+gap+test.h)
	trouble.y = y + over
	first.y = trouble.y + (height-first.h)/2
	test.y = trouble.y + height - test.h
	c.placeArrows()
	c.placeEnds()
	return trouble.y + height + under
}

// labelHeights are how high the labels are, by where they stand.
type labelHeights struct {
	over, under  float64 // beyond the outer arrows
	above, below float64 // the first state
	between      float64 // trouble and test
}

func (c *stateCell) labelHeights() (h labelHeights) {
	for i := range c.arrows {
		r := &c.arrows[i]
		at := &h.between
		switch up := r.from+r.to == 1; {
		case r.upright():
		case up && r.inner():
			at = &h.above
		case up:
			at = &h.over
		case r.inner():
			at = &h.below
		default:
			at = &h.under
		}
		*at = max(*at, r.high())
	}
	return h
}

// upright says whether the arrow is between trouble and test.
func (r *stateArrow) upright() bool { return r.from+r.to == 3 }

// inner says whether the arrow is one of the inner ones: an operator's reset or,
// of a breaker that is not ours, what no rule of ours does.
func (r *stateArrow) inner() bool {
	if r.move.Rule == "" {
		return r.from == 1 && r.to == 0 || r.from == 0 && r.to == 2
	}
	return isReset(r.move.Rule)
}

// high is the label's height.
func (r *stateArrow) high() float64 { return float64(len(r.label)) * labelLine }

// boxWidth is what a state needs for its words on a line each.
func (t *tally) boxWidth(state string) float64 {
	w := width(t.timeIn(state)[0][0], smallSize, false)
	w = max(w, width(strings.Join(t.served(state), " · "), tinySize, false), widest(t.notes(state), tinySize))
	return w + 2*boxPad
}

// stateLook is that of a state while somebody serves.
func stateLook(state string) string { return (&Band{State: state, Serves: "somebody"}).look() }

func (t *tally) stateBox(state string, w float64) stateBox {
	b := stateBox{state: state, look: stateLook(state)}
	b.w = w
	room := w - 2*boxPad
	for _, b.time = range t.timeIn(state) {
		if widest(b.time, smallSize) <= room {
			break
		}
	}
	b.notes = flowed(t.served(state), tinySize, room)
	for _, s := range t.notes(state) {
		b.notes = append(b.notes, balanced(s, tinySize, room)...)
	}
	b.h = boxHeader + boxPad + float64(len(b.time))*timeLine + float64(len(b.notes))*noteLine + boxPad
	if !t.timeless {
		b.h += 3 + shareHeight
	}
	b.h = max(b.h, innerRun+16)
	return b
}

// layLabels gives every move its label, in lines of the room that it has.
func (c *stateCell) layLabels() {
	m := c.t.machine()
	back := 0
	for _, row := range c.t.moves() {
		r := stateArrow{move: row, from: m.index(row.From), to: m.index(row.To), count: c.t.taken[row]}
		if r.upright() && r.from == 2 {
			back++
			r.nth = back
		}
		r.label = []string{row.Rule}
		if r.count > 0 {
			r.label[0] = strings.TrimSpace(row.Rule + " ×" + Thousands(int64(r.count)))
		}
		r.label = append(r.label, balanced(c.t.cause(&row), smallSize, c.labelRoom(&r))...)
		c.arrows = append(c.arrows, r)
	}
	for _, row := range trace.SetMoves {
		if n := c.t.taken[row]; n > 0 {
			c.joinLabel(row, n)
		}
	}
}

// joinLabel adds a move that only some settings, or an operator, make to the
// arrow between the same states.
func (c *stateCell) joinLabel(row trace.Move, n int) {
	for i := range c.arrows {
		r := &c.arrows[i]
		if r.move.From != row.From || r.move.To != row.To {
			continue
		}
		if r.count == 0 { // in the place of what never came
			r.label = nil
		}
		r.count += n
		r.label = append(r.label, strings.TrimSpace(row.Rule+" ×"+Thousands(int64(n))))
		r.label = append(r.label, balanced(row.Words, smallSize, c.labelRoom(r))...)
		return
	}
}

// labelRoom is how wide a label can be.
func (c *stateCell) labelRoom(r *stateArrow) float64 {
	first, side := &c.boxes[0], &c.boxes[1]
	switch {
	case r.upright() && r.nth == 0: // left of its line
		return side.x + testAt(0, side.w) - labelGap - (first.x + first.w + 12)
	case r.upright() && r.nth == 1:
		return testAt(2, side.w) - testAt(1, side.w) - 2*labelGap
	case r.upright():
		return side.w + markRoom/2 - testAt(2, side.w) - 2*labelGap
	}
	_, at := r.run(first)
	return side.x - at - turn - 2*labelGap
}

// run is how far from the far edge of the state on the right a sideways arrow
// is, and where it meets the first state.
func (r *stateArrow) run(first *stateBox) (away, x float64) {
	if r.inner() {
		return innerRun, first.x + innerAt*first.w
	}
	return outerRun, first.x + outerAt*first.w
}

// testAt is where the arrows between trouble and test stand: the one that leads
// to the test, then the two that lead back.
func testAt(nth int, w float64) float64 {
	const there, back = 16.0, 42.0
	return [...]float64{there, back, (w + back + markRoom/2) / 2}[nth]
}

// placeArrows draws the lines between the boxes, once these have their places.
func (c *stateCell) placeArrows() {
	for i := range c.arrows {
		if r := &c.arrows[i]; r.upright() {
			r.placeUpright(&c.boxes[1], &c.boxes[2])
		} else {
			r.placeSideways(&c.boxes[0], &c.boxes[max(r.from, r.to)])
		}
	}
}

func (r *stateArrow) placeUpright(trouble, test *stateBox) {
	x, from, to := trouble.x+testAt(r.nth, trouble.w), trouble.y+trouble.h, test.y
	r.x, r.align = x-labelGap, right
	r.y = (from+to)/2 - r.high()/2 + labelLine/2
	if r.nth > 0 {
		from, to = to, from
		r.x, r.align = x+labelGap, left
	}
	r.points = []float64{x, from, x, to}
}

// placeSideways puts an arrow between the first state and one of the others. The
// labels of the outer ones are on the outside.
func (r *stateArrow) placeSideways(first, side *stateBox) {
	away, x := r.run(first)
	y, edge, over := side.y+away, first.y, !r.inner()
	if side.y > first.y { // below it
		y, edge, over = side.y+side.h-away, first.y+first.h, r.inner()
	}
	r.points = []float64{side.x, y, x, y, x, edge}
	if r.from == 0 {
		r.points = []float64{x, edge, x, y, side.x, y}
	}
	r.x, r.align = (x+turn+side.x)/2, centre
	r.y = y + labelGap + labelLine/2
	if over {
		r.y = y - labelGap - r.high() + labelLine/2
	}
}

// placeEnds marks the first state and the last one, on the outerRun sides.
func (c *stateCell) placeEnds() {
	m := c.t.machine()
	for _, last := range []bool{false, true} {
		state := c.t.first
		if last {
			state = c.t.last
		}
		i := m.index(state)
		if i < 0 {
			continue
		}
		b := &c.boxes[i]
		y := b.y + boxHeader/2
		if last {
			y = b.y + b.h - boxHeader/2
		}
		e := stateEnd{x: b.x - markRoom + 7, y: y, edge: b.x, last: last}
		if i > 0 {
			e.x, e.edge = b.x+b.w+markRoom-7, b.x+b.w
		}
		c.ends = append(c.ends, e)
	}
}

// tip is what a reader sees who points at the arrow.
func (r *stateArrow) tip(breaker string) string {
	how := "never"
	if r.count > 0 {
		how = times(r.count)
	}
	if r.move.Rule == "" {
		return breaker + ": " + r.move.From + " to " + r.move.To + ", " + how + ", " + r.move.Words
	}
	return breaker + ": " + r.move.From + " to " + r.move.To + " by " + r.move.Rule + ", " + how
}
