package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// statesFigure is the picture of what each breaker can do and what it did: a
// diagram for each, of its machine's states and every move that the rules know.
type statesFigure struct {
	run           *History // the first one
	width, height float64
	title         []string
	cells         []*stateCell
	captions      []string
	keys          []key
	keysY         float64
	desc          string
}

// Sizes in pixels.
const (
	leastCell = 448.0 // what a diagram needs
	mostCell  = 820.0
	besideAt  = 660.0 // from that width on the words of a diagram stand beside it
	besideW   = 180.0
	besideGap = 20.0
	cellGap   = 28.0
	cellRise  = 28.0 // between rows
)

// mostDiagrams is how many breakers a picture shows.
const mostDiagrams = 12

func layOutStates(r *Results, look *Look) (drawing, error) {
	var all []*tally
	var without []string
	for _, h := range r.Panels {
		if len(h.Breakers) == 0 {
			without = append(without, h.Run.Policy)
		}
		all = append(all, h.tallies(look.From, look.To)...)
	}
	if len(all) == 0 {
		return nil, ErrNothingToDraw
	}
	left := max(0, len(all)-mostDiagrams)
	all = all[:len(all)-left]
	f := &statesFigure{run: r.Panels[0], width: look.width()}
	inner := f.width - 2*margin
	f.title = titleLines(f.run.Run, inner)
	y := f.layCells(all, look, len(r.Panels) > 1, margin+float64(len(f.title))*titleLeading+14)
	for _, c := range f.caption(r.Panels, all, left, without, look) {
		f.captions = append(f.captions, wrapped(c, smallSize, false, inner)...)
	}
	y += 14 + float64(len(f.captions))*leading + 8
	f.keys = layKeys(stateKeys(all), inner)
	f.keysY = y
	f.height = math.Ceil(y + f.keys[len(f.keys)-1].y + leading + margin)
	var words []string
	for _, t := range all {
		words = append(words, t.describe(len(r.Panels) > 1))
	}
	f.desc = strings.Join(words, " ")
	return f, nil
}

// layCells puts the diagrams into a grid from the height y down, and returns
// where it ends.
func (f *statesFigure) layCells(all []*tally, look *Look, policies bool, y float64) float64 {
	inner := f.width - 2*margin
	columns := min(len(all), max(1, int((inner+cellGap)/(leastCell+cellGap))))
	w := min(mostCell, (inner-cellGap*float64(columns-1))/float64(columns))
	for row := range slices.Chunk(all, columns) {
		var cells []*stateCell
		head := 0.0
		for i, t := range row {
			c := &stateCell{t: t, x: margin + float64(i)*(w+cellGap), y: y, w: w}
			c.layWords(look, policies)
			head = max(head, c.head)
			cells = append(cells, c)
		}
		bottom := y
		for _, c := range cells {
			x, y, w := c.diagram(head)
			bottom = max(bottom, c.layDiagram(x, y, w, widthsOf(all, w)))
			if w < c.w { // the words beside it may be longer
				bottom = max(bottom, c.y+c.head)
			}
		}
		f.cells = append(f.cells, cells...)
		y = bottom + cellRise
	}
	return y - cellRise
}

func (f *statesFigure) size() (w, h float64) { return f.width, f.height }

func (f *statesFigure) words() (name, title, desc string) {
	return "states-" + f.run.Run.Scenario, f.run.Run.Title, f.desc
}

// caption is what no diagram says.
func (f *statesFigure) caption(panels []*History, all []*tally, left int, without []string, look *Look) (lines []string) {
	if look.From > 0 || look.To > 0 {
		lines = append(lines, fmt.Sprintf("What is from %s to %s of a run of %s", moment(all[0].from, f.run.End), moment(all[0].to, f.run.End), moment(f.run.End, f.run.End)))
	}
	if left > 0 {
		lines = append(lines, "Left out: "+plural(left, "more breaker", "more breakers"))
	}
	if len(without) > 0 {
		lines = append(lines, "Without a breaker: "+strings.Join(without, ", "))
	}
	for _, t := range all {
		if t.others > 0 {
			lines = append(lines, fmt.Sprintf("%s changed its state %s by no rule that is known here", t.Name, times(t.others)))
		}
	}
	if look.NoCaption {
		return lines
	}
	return append(lines, provenance(panels))
}

// stateCell is one diagram with its words above it or beside it.
type stateCell struct {
	t       *tally
	x, y, w float64
	lines   []stateLine
	head    float64 // how high the words are that stand above the diagram
	boxes   [3]stateBox
	arrows  []stateArrow
	ends    []stateEnd
}

// stateLine is a line of a cell's words.
type stateLine struct {
	at    box // its left end and its middle
	size  float64
	bold  bool
	color string
	text  string
}

// layWords lays out heading and settings: from besideAt on beside the diagram,
// below that above it.
func (c *stateCell) layWords(look *Look, policies bool) {
	beside := c.w >= besideAt
	room := c.w
	if beside {
		room = besideW
	}
	add := func(color string, size float64, bold bool, lines ...string) {
		for _, line := range lines {
			c.lines = append(c.lines, stateLine{box{x: c.x, y: c.y + c.head + leading/2}, size, bold, color, line})
			c.head += leading
		}
	}
	if policies {
		add("ink", textSize+1, true, wrapped(c.t.h.Run.Policy, textSize+1, true, room)...)
	}
	add("ink", textSize, !policies, wrapped(c.t.heading(), textSize, !policies, room)...)
	c.head += 2
	if !look.NoCaption {
		for _, s := range c.t.settingsOf() {
			if beside {
				add("muted", smallSize, false, balanced(s, smallSize, room)...)
			}
		}
		if !beside {
			add("muted", smallSize, false, flowed(c.t.settingsOf(), smallSize, room)...)
		}
	}
	c.head += 12
}

// diagram is where the cell's diagram stands below words of that height, or
// beside them: its left end, its top and its width.
func (c *stateCell) diagram(head float64) (x, y, w float64) {
	if c.w >= besideAt {
		return c.x + besideW + besideGap, c.y, c.w - besideW - besideGap
	}
	return c.x, c.y + head, c.w
}
