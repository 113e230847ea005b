package report

import (
	"fmt"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// departure is where the run departs from the one that it was held against, if it
// does, and if that is drawn.
func (f *figure) departure(h *History) *Difference {
	if len(h.Differences) == 0 || !f.within(h.Differences[0].At) {
		return nil
	}
	return &h.Differences[0]
}

// departs draws where the panel's run departs: an upright line, which lies below
// everything else, and then its sign on the first lane.
func (l *lanePlotter) departs(p *panelLanes, sign bool) {
	d := l.f.departure(p.h)
	if d == nil {
		return
	}
	x, top := l.x(d.At), p.y+2
	if p.heading != nil {
		top += p.heading.height()
	}
	if !sign {
		l.pen.set("ink", 1, vg.Length(3), vg.Length(2.2))
		l.pen.c.Stroke(l.pen.path(false, x, top, x, p.y+p.height-groupGap))
		return
	}
	done := l.pen.group(fmt.Sprintf("%s: %s departs from ours: %s; %s", l.clock(d.At), p.h.Run.Policy, d.Theirs, d.Ours))
	departMark(l.pen, x, top+targetHeight/2)
	done()
}

func departMark(p *pen, x, y float64) {
	p.circle("bg", x, y, 8, 0)
	p.circle("ink", x, y, 7, 1.2)
	p.text("ink", x, y, smallSize, true, centre, "≠")
}

// departures say below the picture where each run departs, and how.
func (f *figure) departures() (lines []string) {
	for _, h := range f.t.panels {
		if f.departure(h) == nil {
			continue
		}
		var parts []string
		for _, d := range h.Differences {
			parts = append(parts, d.sentence(h.Clock))
		}
		lines = append(lines, "≠ "+h.Run.Policy+": "+strings.Join(parts, " "))
	}
	return lines
}

// settings are those of a breaker: of others the same for all that are beside each
// other, as their headings say whose they are.
func (t *timeline) settings(b *trace.Breaker, end time.Duration) string {
	s := settings(b, end)
	if b.By != "" && len(t.panels) > 1 {
		s = strings.TrimSuffix(s, " · by "+b.By)
	}
	return s
}
