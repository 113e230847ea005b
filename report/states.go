package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// statesFigure is the picture of what each breaker can do and what it did: a
// diagram for each, of its machine's states and every move that the rules know, resets
// where an operator made one.
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
	cellGap   = 28.0
	cellRise  = 28.0 // between rows
)

// mostDiagrams is how many breakers a picture shows.
const mostDiagrams = 12

func layOutStates(r *Results, look *Look) (drawing, error) {
	var all []*tally
	var without []string
	for _, h := range r.Panels {
		if len(h.Run.Breakers) == 0 {
			without = append(without, h.Run.Policy)
		}
		all = append(all, h.tallies(look.From, look.To)...)
	}
	if len(all) == 0 {
		return nil, ErrNothingToDraw
	}
	all = joined(all)
	shown, still := parted(all)
	left := max(0, len(shown)-mostDiagrams)
	shown = shown[:len(shown)-left]
	f := &statesFigure{run: r.Panels[0]}
	columns, w := gridOf(len(shown), look.width()-2*margin)
	inner := float64(columns)*(w+cellGap) - cellGap
	f.width = inner + 2*margin
	f.title = titleLines(f.run.Run, inner)
	y := f.layCells(shown, columns, w, look, len(r.Panels) > 1, margin+float64(len(f.title))*titleLeading+14)
	for _, c := range f.caption(r.Panels, shown, still, left, without, look) {
		f.captions = append(f.captions, wrapped(c, smallSize, false, inner)...)
	}
	y += 14 + float64(len(f.captions))*leading + 8
	f.keys = layKeys(f.stateKeys(), inner)
	f.keysY = y
	f.height = math.Ceil(y + f.keys[len(f.keys)-1].y + leading + margin)
	var words []string
	for _, t := range all {
		words = append(words, t.describe(len(r.Panels) > 1))
	}
	f.desc = strings.Join(words, " ")
	return f, nil
}

// gridOf is how many diagrams of n stand beside each other, and how wide each is:
// together no wider than the room, and no row much emptier than another.
func gridOf(n int, room float64) (columns int, w float64) {
	columns = min(n, max(1, int((room+cellGap)/(leastCell+cellGap))))
	rows := (n + columns - 1) / columns
	columns = (n + rows - 1) / rows
	return columns, min(mostCell, (room-cellGap*float64(columns-1))/float64(columns))
}

// layCells puts the diagrams into a grid from the height y down, and returns
// where it ends.
func (f *statesFigure) layCells(all []*tally, columns int, w float64, look *Look, policies bool, y float64) float64 {
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
			bottom = max(bottom, c.layDiagram(c.x, c.y+head, w, widthsOf(all, w)))
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
func (f *statesFigure) caption(panels []*History, all, still []*tally, left int, without []string, look *Look) (lines []string) {
	if look.From > 0 || look.To > 0 {
		lines = append(lines, fmt.Sprintf("Drawn from %s to %s, of %s", moment(all[0].from, f.run.End), moment(all[0].to, f.run.End), moment(f.run.End, f.run.End)))
	}
	if left > 0 {
		lines = append(lines, "Left out: "+plural(left, "more breaker", "more breakers"))
	}
	if len(without) > 0 {
		lines = append(lines, "Without a breaker: "+strings.Join(without, ", "))
	}
	if len(still) > 0 {
		lines = append(lines, strings.Join(stillness(still, len(panels) > 1), " · "))
	}
	for _, t := range all {
		if t.unknown > 0 {
			lines = append(lines, fmt.Sprintf("%s changed its state %s by no rule that we know", t.Name, times(t.unknown)))
		}
	}
	if look.NoCaption {
		return lines
	}
	return append(lines, provenance(panels))
}

// stateCell is one diagram with its words above it.
type stateCell struct {
	t       *tally
	x, y, w float64
	lines   []stateLine
	head    float64 // how high the words are that stand above the diagram
	boxes   []stateBox
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

// layWords lays out heading and settings above the diagram.
func (c *stateCell) layWords(look *Look, policies bool) {
	add := func(color string, size float64, bold bool, lines ...string) {
		for _, line := range lines {
			c.lines = append(c.lines, stateLine{box{x: c.x, y: c.y + c.head + leading/2}, size, bold, color, line})
			c.head += leading
		}
	}
	if policies {
		add("ink", textSize+1, true, wrapped(strings.Join(c.t.policies, ", "), textSize+1, true, c.w)...)
	}
	add("ink", textSize, !policies, wrapped(c.t.heading(), textSize, !policies, c.w)...)
	c.head += 2
	if !look.NoCaption {
		add("muted", smallSize, false, flowed(c.t.settings(), smallSize, c.w)...)
	}
	c.head += 12
}
