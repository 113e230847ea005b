package report

import "github.com/breakersim/breakersim/sim/trace"

const headingHeight = 24.0 // of its first line

// panelHeading is above a panel: the policy's name, what it is about, and what
// became of the calls. Nothing of it is cut: what has no room beside the name
// stands below it.
type panelHeading struct {
	name        []string // lines
	about       []string // likewise
	counts      string
	aboutBeside bool // the name
	countsBelow bool // it
}

const headingGap = 10.0 // between its parts

func newHeading(panels []*History, i int, room float64) *panelHeading {
	h := panels[i]
	p := &panelHeading{name: wrapped(h.Run.Policy, textSize, true, room), counts: h.counts()}
	left := room - width(p.name[0], textSize, true) - headingGap - width(p.counts, smallSize, false)
	p.countsBelow = len(p.name) > 1 || left < 0
	about := policyAbout(panels, i)
	p.aboutBeside = !p.countsBelow && width(about, smallSize, false)+headingGap <= left
	if about != "" {
		p.about = wrapped(about, smallSize, false, room)
	}
	return p
}

func (p *panelHeading) height() float64 {
	lines := len(p.name)
	if !p.aboutBeside {
		lines += len(p.about)
	}
	if p.countsBelow {
		lines++
	}
	return headingHeight + float64(lines-1)*leading
}

// draw draws the heading from the height y down; the counts end at the right.
func (p *panelHeading) draw(pen *pen, y, end float64) {
	y += headingHeight / 2
	for _, line := range p.name {
		pen.text("ink", margin, y, textSize, true, left, line)
		y += leading
	}
	switch {
	case p.countsBelow:
		pen.text("muted", margin, y, smallSize, false, left, p.counts)
		y += leading
	default:
		pen.text("muted", end, y-leading, smallSize, false, right, p.counts)
	}
	if p.aboutBeside {
		y -= leading
	}
	for _, line := range p.about {
		x := margin
		if p.aboutBeside {
			x += width(p.name[0], textSize, true) + headingGap
		}
		pen.text("muted", x, y, smallSize, false, left, line)
		y += leading
	}
}

// counts are the run's calls in a few words.
func (h *History) counts() string {
	ok, refused, waited, rerouted := 0, 0, 0, map[int]bool{}
	for _, m := range h.Marks {
		switch m.Kind {
		case MarkOK:
			ok++
		case MarkRefused, MarkExhausted:
			refused++
		case MarkWaited:
			waited++
		case MarkRerouted:
			rerouted[m.Call] = true
		case MarkLate:
			if m.Outcome == trace.Success {
				ok++
			}
		}
	}
	s := plural(h.Calls, "call", "calls") + " · " + Thousands(int64(ok)) + " ok"
	if len(h.Run.Breakers) > 0 {
		s += " · " + Thousands(int64(refused)) + " turned away"
	}
	if waited > 0 {
		s += " · " + Thousands(int64(waited)) + " waited"
	}
	if n := len(rerouted); n > 0 {
		s += " · " + Thousands(int64(n)) + " to a substitute"
	}
	return s
}
