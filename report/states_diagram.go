package report

import (
	"slices"
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

// stateArrow is a way from state to state with its label.
type stateArrow struct {
	moves  []trace.Move // that lead along it, one or more
	from   int          // indices in the machine
	to     int
	nth    int // of those from test to trouble, from 1
	count  int
	points []float64 // from its tail to its head; corners are right angles
	label  []labelLine
	x, y   float64 // of the label: where it stands by its alignment, and the middle of its first line
	align  align
}

// labelLine is a line of an arrow's label: a rule and how often it led that way,
// which is the head, or what causes it.
type labelLine struct {
	text string
	head bool
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
	labelHeight = 13.0 // of a line
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
		states := t.states()
		need.first = max(need.first, t.boxWidth(states[0]))
		for _, state := range states[1:] {
			need.side = max(need.side, t.boxWidth(state))
		}
	}
	room := w - 2*markRoom - leastMiddle
	side := max(leastSide, min(max(min(need.side, mostSide), sideShare*w), room-leastFirst))
	return widths{max(leastFirst, min(max(min(need.first, mostFirst), firstShare*w), room-side)), side}
}

// layDiagram lays the diagram out within a width, from the height y down, and
// returns where it ends.
func (c *stateCell) layDiagram(x, y, w float64, s widths) float64 {
	for i, state := range c.t.states() {
		c.boxes = append(c.boxes, c.t.stateBox(state, [...]float64{s.first, s.side, s.side}[i]))
	}
	first, trouble := &c.boxes[0], &c.boxes[1]
	first.x = x + markRoom
	trouble.x = x + w - markRoom - s.side
	c.layLabels()
	high := c.labelHeights()
	over, under := max(0, high.over+labelGap-outerRun), max(0, high.under+labelGap-outerRun)
	arm := outerRun + 2*labelGap + headLength
	if inner := max(high.above, high.below); inner > 0 {
		arm = innerRun + 2*labelGap + inner + headLength
	}
	trouble.y = y + over
	if len(c.boxes) == 2 {
		height := max(arm+first.h, trouble.h)
		first.y = trouble.y + height - first.h
		c.placeArrows()
		c.placeEnds()
		return trouble.y + height
	}
	test := &c.boxes[2]
	test.x = trouble.x
	gap := high.between + 2*headLength + 12
	height := max(2*arm+first.h, trouble.h+gap+test.h)
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

// inner says whether the arrow is one of the inner ones: an operator's, what needs
// no test or, of a breaker that is not ours, what no rule of ours does.
func (r *stateArrow) inner() bool { return inner(&r.moves[0]) }

func inner(m *trace.Move) bool {
	switch m.Rule {
	case "T15", "M16", "T32", "T34":
		return true
	case "":
		return m.From == "open" && m.To == "closed" || m.From == "closed" && m.To == "half-open"
	}
	return false
}

// high is the label's height.
func (r *stateArrow) high() float64 { return float64(len(r.label)) * labelHeight }

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

// layLabels gives every move its arrow, and these their labels.
func (c *stateCell) layLabels() {
	for _, row := range c.t.moves() {
		r := c.arrow(&row)
		r.moves = append(r.moves, row)
		r.count += c.t.taken[row]
	}
	for i := range c.arrows {
		c.arrows[i].write(c)
	}
}

// arrow is the one that a move is to be on: it has one to itself, or shares it with
// those from and to the same states on the same side. Between test and trouble, where
// the rules that have no need of further settings have two, others join the first.
func (c *stateCell) arrow(row *trace.Move) *stateArrow {
	m := c.t.machine()
	back, own := 0, slices.Contains(trace.Moves, *row)
	for i := range c.arrows {
		r := &c.arrows[i]
		if r.moves[0].From != row.From || r.moves[0].To != row.To || inner(&r.moves[0]) != inner(row) {
			continue
		}
		if back++; !own || !r.upright() || back == 2 {
			return r
		}
	}
	r := stateArrow{from: m.index(row.From), to: m.index(row.To)}
	if r.upright() && r.from == 2 {
		r.nth = back + 1
	}
	c.arrows = append(c.arrows, r)
	return &c.arrows[len(c.arrows)-1]
}

// write gives the arrow its label in lines of the room that it has: the moves that
// were made, or all of those that can be, if none was.
func (r *stateArrow) write(c *stateCell) {
	room := c.labelRoom(r)
	for _, row := range r.moves {
		n, head := c.t.taken[row], row.Rule
		if n == 0 && r.count > 0 {
			continue
		}
		if n > 0 {
			head = strings.TrimSpace(row.Rule + " ×" + Thousands(int64(n)))
		}
		r.label = append(r.label, labelLine{head, true})
		for _, s := range balanced(c.t.cause(&row), smallSize, room) {
			r.label = append(r.label, labelLine{s, false})
		}
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
	r.y = (from+to)/2 - r.high()/2 + labelHeight/2
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
	r.y = y + labelGap + labelHeight/2
	if over {
		r.y = y - labelGap - r.high() + labelHeight/2
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
		if i < 0 || i >= len(c.boxes) {
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
func (r *stateArrow) tip(t *tally) string {
	row := &r.moves[0]
	way := t.Name + ": " + row.From + " to " + row.To
	if row.Rule == "" {
		return way + ", " + times(r.count) + ", " + row.Words
	}
	var all []string
	for _, row := range r.moves {
		how := "never"
		if n := t.taken[row]; n > 0 {
			how = times(n)
		}
		all = append(all, "by "+row.Rule+", "+how)
	}
	return way + " " + strings.Join(all, "; ")
}
