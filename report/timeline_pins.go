package report

import (
	"fmt"
	"slices"
)

// pin is a numbered moment above its breaker's band: the number on a stem, and
// beside it a few words where there is room.
type pin struct {
	*numbered
	x        float64 // of the stem
	words    string  // empty: the number alone
	w        float64 // of the words
	leftward bool    // the words stand on the left
	row      int     // from the band up
}

const (
	pinRadius = 7.5
	pinGap    = 4.0 // between the number and its words
	pinAir    = 6.0 // between two pins in a row
	oneStem   = 3.0 // stems closer than that look like one
)

// box is what the pin takes of its row, from and to.
func (p *pin) box() (from, to float64) {
	from, to = p.x-pinRadius-1, p.x+pinRadius+1
	switch {
	case p.words == "":
	case p.leftward:
		from -= pinGap + p.w
	default:
		to += pinGap + p.w
	}
	return from, to
}

// covers says whether the words of p would lie on the stem of q, or so near to
// it that it is taken for a letter, if that one stood higher.
func (p *pin) covers(q *pin) bool {
	const air = 6.0
	from, to := p.x+pinRadius+pinGap-air, p.x+pinRadius+pinGap+p.w+air
	if p.leftward {
		from, to = p.x-(to-p.x), p.x-(from-p.x)
	}
	return p.words != "" && from < q.x && q.x < to
}

// layPins gives every pin its row, and as many as possible their words: within
// left and right, in no more rows than most. The most important get theirs
// first, on the right of the number or, where that is taken, on the left. Without
// words, pins take the rows that they need.
func layPins(pins []*pin, left, right float64, most int) (rows int) {
	words := map[*pin]string{}
	for _, p := range pins {
		words[p], p.words = p.words, ""
	}
	rows, _ = placePins(pins, len(pins))
	most = max(most, rows)
	order := slices.Clone(pins)
	slices.SortStableFunc(order, func(a, b *pin) int { return a.rank - b.rank })
	for _, p := range order {
		for _, p.leftward = range []bool{false, true} {
			p.words = words[p]
			if from, to := p.box(); p.leftward && from >= left || !p.leftward && to <= right {
				if _, ok := placePins(pins, most); ok {
					break
				}
			}
			p.words = ""
		}
	}
	rows, _ = placePins(pins, most)
	return rows
}

// placePins finds the lowest rows in which no words lie on a stem and no two
// pins on each other, if there are any below most.
func placePins(pins []*pin, most int) (rows int, ok bool) {
	for _, p := range pins {
		p.row = 0
	}
	for moved := true; moved; {
		moved = false
		for i, p := range pins {
			for k, q := range pins {
				if k != i && p.mustRise(q, i < k) {
					p.row = q.row + 1
					moved = true
				}
			}
			if p.row >= most {
				return 0, false
			}
			rows = max(rows, p.row+1)
		}
	}
	return rows, true
}

// mustRise says whether p must stand higher than it does because of q: above the
// end of a stem that its words would lie on, above what comes next on its own
// stem, which is read from the top, and off a pin in its row. Of two that would
// lie on each other the one on the left gives way.
func (p *pin) mustRise(q *pin, before bool) bool {
	switch {
	case p.row > q.row:
		return false
	case before && q.x-p.x < oneStem, p.covers(q):
		return true
	case p.row < q.row || q.covers(p):
		return false
	}
	from, to := p.box()
	otherFrom, otherTo := q.box()
	return before && from < otherTo+pinAir && otherFrom < to+pinAir
}

// pin puts the numbered moments of a breaker above its band.
func (g *groupLanes) pin(f *figure, panel, panels int) (rows int) {
	for i := range f.moments {
		m := &f.moments[i]
		if m.n == 0 || m.panel != panel || m.moment.Breaker != g.breaker.Name {
			continue
		}
		p := &pin{numbered: m, x: f.left + f.along(m.moment.Effective), words: m.moment.short()}
		p.w = width(p.words, smallSize, false)
		g.pins = append(g.pins, p)
	}
	slices.SortStableFunc(g.pins, func(a, b *pin) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	return layPins(g.pins, margin+f.names, f.width-margin, max(3, 7-panels))
}

// pinY is the middle of a pin's row.
func (g *groupLanes) pinY(p *pin) float64 {
	return g.numbers + float64(g.pinRows-1-p.row)*numberHeight + numberHeight/2 - 1
}

// drawPins draws all stems below all numbers.
func (l *lanePlotter) drawPins(g *groupLanes) {
	for _, p := range g.pins {
		x := l.x(p.moment.Effective)
		l.pen.stroke("muted", 0.8, x, g.pinY(p), x, g.band)
	}
	for _, p := range g.pins {
		x, y := l.x(p.moment.Effective), g.pinY(p)
		moves := p.moment.From + " to " + p.moment.To
		if p.moment.aside() {
			moves = "still " + p.moment.To
		}
		done := l.pen.group(fmt.Sprintf("%d: %s, %s, %s", p.n, l.clock(p.moment.Effective), moves, p.moment.Rule))
		p.mark(l.pen, x, y)
		if p.leftward {
			l.pen.text("ink", x-pinRadius-pinGap, y, smallSize, false, right, p.words)
		} else {
			l.pen.text("ink", x+pinRadius+pinGap, y, smallSize, false, left, p.words)
		}
		done()
	}
}
