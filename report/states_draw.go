package report

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

func (f *statesFigure) draw(p *pen) {
	p.title(f.title)
	for _, c := range f.cells {
		c.draw(p)
	}
	p.lines(f.captions, f.keysY-8-float64(len(f.captions))*leading)
	p.legend(f.keys, f.keysY)
}

func (c *stateCell) draw(p *pen) {
	for _, l := range c.lines {
		p.text(l.color, l.at.x, l.at.y, l.size, l.bold, left, l.text)
	}
	for i := range c.boxes {
		c.boxes[i].draw(p, c.t)
	}
	for _, taken := range []bool{false, true} { // those taken lie above the others
		for i := range c.arrows {
			if r := &c.arrows[i]; (r.count > 0) == taken {
				r.draw(p, c.t)
			}
		}
	}
	for _, e := range c.ends {
		e.draw(p)
	}
}

func (b *stateBox) draw(p *pen, t *tally) {
	done := p.part("state", b.state, t.Name+", "+b.state+": "+t.timeIn(b.state)[0][0])
	defer done()
	header := box{b.x, b.y, b.w, boxHeader}
	p.rect("bg", b.box)
	p.ground(b.look, header)
	w := width(b.state, textSize, true)
	p.rect(b.look, box{b.x + b.w/2 - w/2 - 4, b.y, w + 8, boxHeader})
	p.text(b.look+"-ink", b.x+b.w/2, b.y+boxHeader/2, textSize, true, centre, b.state)
	p.stroke(b.look+"-edge", 1, b.x, b.y+boxHeader, b.x+b.w, b.y+boxHeader)
	p.frame(b.look+"-edge", 1.5, b.box)
	y := b.y + boxHeader + boxPad - 1
	for _, s := range b.time {
		p.text("ink", b.x+b.w/2, y+timeLine/2-1, smallSize, false, centre, s)
		y += timeLine
	}
	for _, s := range b.notes {
		p.text("muted", b.x+b.w/2, y+noteLine/2-1, tinySize, false, centre, s)
		y += noteLine
	}
	if !t.timeless {
		b.share(p, t)
	}
}

// share draws how much of the time the state has, at the bottom of its box.
func (b *stateBox) share(p *pen, t *tally) {
	track := box{b.x + boxPad, b.y + b.h - boxPad - shareHeight, b.w - 2*boxPad, shareHeight}
	p.track(track)
	whole := t.to - t.from
	x := track.x
	for _, s := range merged(t.shares[b.state]) {
		w := track.w * float64(s.spent) / float64(whole)
		part := box{x, track.y, w, track.h}
		if w <= 2 { // too thin for a frame
			p.rect(s.look+"-edge", box{x, track.y, max(w, 1), track.h})
		} else if p.theme.colors[s.look] == p.theme.colors["bg"] { // as if nothing were there
			p.rect(s.look+"-edge", part)
		} else {
			p.ground(s.look, part)
			p.frame(s.look+"-edge", 1, part)
		}
		x += w
	}
}

// track is what a share is a part of.
func (p *pen) track(b box) {
	p.rect("bg", b)
	p.frame("muted", 0.6, b)
}

// merged are the parts by their looks alone.
func merged(parts []part) (all []part) {
	for _, p := range parts {
		i := slices.IndexFunc(all, func(o part) bool { return o.look == p.look })
		if i < 0 {
			i = len(all)
			all = append(all, part{look: p.look})
		}
		all[i].spent += p.spent
	}
	return all
}

// arrow draws an arrow along upright and level lines: a thick one, or a thin one
// in dashes for what was not taken.
func (p *pen) arrow(taken bool, xy ...float64) {
	name, w, head, half := "muted", 1.0, headLength-1, 3.2
	dash := []vg.Length{4 * pixel, 3 * pixel}
	if taken {
		name, w, head, half, dash = "ink", 2.2, headLength, 4.4, nil
	}
	n := len(xy)
	x, y := xy[n-2], xy[n-1]
	dx, dy := direction(xy[n-4], xy[n-3], x, y)
	line := append([]float64{}, xy...)
	line[n-2], line[n-1] = x-dx*(head-1), y-dy*(head-1)
	p.set(name, w, dash...)
	p.c.Stroke(p.rounded(line))
	p.fill(name, x, y, x-dx*head-dy*half, y-dy*head+dx*half, x-dx*head+dy*half, y-dy*head-dx*half)
}

// rounded is the path along those points, with its corners, which are right
// angles of upright and level lines, turned into quarters of circles.
func (p *pen) rounded(xy []float64) vg.Path {
	var path vg.Path
	path.Move(p.point(xy[0], xy[1]))
	for i := 2; i < len(xy)-2; i += 2 {
		x, y := xy[i], xy[i+1]
		inX, inY := direction(xy[i-2], xy[i-1], x, y)
		outX, outY := direction(x, y, xy[i+2], xy[i+3])
		path.Line(p.point(x-inX*turn, y-inY*turn))
		centre := p.point(x+(outX-inX)*turn, y+(outY-inY)*turn)
		start, angle := math.Atan2(outY, -outX), math.Pi/2
		if inX*outY-inY*outX > 0 { // clockwise on the page
			angle = -angle
		}
		path.Arc(centre, turn*pixel, start, angle)
	}
	path.Line(p.point(xy[len(xy)-2], xy[len(xy)-1]))
	return path
}

// direction is that of an upright or level line, a pixel long.
func direction(x0, y0, x1, y1 float64) (dx, dy float64) {
	length := math.Hypot(x1-x0, y1-y0)
	return (x1 - x0) / length, (y1 - y0) / length
}

func (r *stateArrow) draw(p *pen, t *tally) {
	var names []string
	for i := range r.moves {
		names = append(names, moveName(&r.moves[i]))
	}
	done := p.part("move", strings.Join(names, ", "), r.tip(t))
	defer done()
	taken := r.count > 0
	p.arrow(taken, r.points...)
	name := "muted"
	if taken {
		name = "ink"
	}
	for i, line := range r.label {
		p.text(name, r.x, r.y+float64(i)*labelHeight, smallSize, taken && line.head, r.align, line.text)
	}
}

// moveName tells the moves of a diagram apart.
func moveName(m *trace.Move) string { return m.From + " " + m.To + " " + m.Rule }

const endRadius = 5.0

func (e *stateEnd) draw(p *pen) {
	if e.last {
		done := p.group("The end")
		defer done()
		p.smallArrow(e.edge, e.x+sign(e.edge-e.x)*(endRadius+1), e.y)
		endMark(p, e.x, e.y)
		return
	}
	done := p.group("The start")
	defer done()
	p.smallArrow(e.x, e.edge, e.y)
	startMark(p, e.x, e.y)
}

// smallArrow is a level one.
func (p *pen) smallArrow(from, to, y float64) {
	const head, half = 6.0, 3.0
	d := sign(to - from)
	p.stroke("ink", 1.3, from, y, to-d*(head-1), y)
	p.fill("ink", to, y, to-d*head, y-half, to-d*head, y+half)
}

func sign(v float64) float64 { return math.Copysign(1, v) }

func startMark(p *pen, x, y float64) { p.circle("ink", x, y, endRadius-0.5, 0) }

func endMark(p *pen, x, y float64) {
	p.circle("bg", x, y, endRadius, 0)
	p.circle("ink", x, y, endRadius, 1.3)
	p.circle("ink", x, y, endRadius-2.5, 0)
}

// stateKeys are the legend's entries for what the diagrams hold.
func (f *statesFigure) stateKeys() (keys []key) {
	taken, never, spent := false, false, false
	for _, c := range f.cells {
		for i := range c.arrows {
			taken = taken || c.arrows[i].count > 0
			never = never || c.arrows[i].count == 0
		}
		for _, parts := range c.t.shares {
			for _, s := range parts {
				spent = spent || s.look == "spent"
			}
		}
	}
	if taken {
		keys = append(keys, key{text: "taken (×3: three times)", draw: func(p *pen, b box) { p.arrow(true, b.x, b.y+b.h/2, b.x+b.w, b.y+b.h/2) }})
	}
	if never {
		keys = append(keys, key{text: "not taken", draw: func(p *pen, b box) { p.arrow(false, b.x, b.y+b.h/2, b.x+b.w, b.y+b.h/2) }})
	}
	keys = append(keys,
		key{text: "start", draw: func(p *pen, b box) { startMark(p, b.x+b.w/2, b.y+b.h/2) }},
		key{text: "end", draw: func(p *pen, b box) { endMark(p, b.x+b.w/2, b.y+b.h/2) }},
		key{text: "share of the time", draw: func(p *pen, b box) {
			p.track(box{b.x, b.y + 2, b.w, shareHeight})
			p.rect("muted", box{b.x, b.y + 2, b.w * 0.6, shareHeight})
		}})
	if spent {
		keys = append(keys, key{text: "fallback: the chain is spent", draw: func(p *pen, b box) { bandKey(p, "spent", b) }})
	}
	return keys
}
