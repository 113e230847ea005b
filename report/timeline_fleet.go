package report

import (
	"fmt"
	"slices"
	"strings"
)

const (
	fleetHeight = 46.0 // pixels of the lane in which a fleet's states are stacked
	fleetColumn = 2.0  // pixels of one column, about
)

// fleetWords stand below the lane's name.
const fleetWords = "0 to 100 %"

// fleetLooks are the states of a fleet from the lane's lower edge up; above them
// are those that are closed, or whose primary serves.
var fleetLooks = []string{"open", "spent", "backup", "half-open"}

// label is the name of the fleet's lane; the target may have its name.
func (f *Fleet) label() string {
	if f.Name == f.Main() {
		return Thousands(int64(len(f.Members))) + " breakers"
	}
	return f.Name
}

// fleet draws how many members of the fleet are in each state, as shares.
func (l *lanePlotter) fleet(g *groupLanes) {
	l.name(g.fleet.label(), g.band+fleetHeight/2-5, textSize, true)
	l.pen.text("muted", margin, g.band+fleetHeight/2+9, tinySize, false, left, fleetWords)
	done := l.pen.group(g.fleet.describe(l.f.whole))
	defer done()
	at := l.span(l.f.begin, l.f.end, g.band, fleetHeight)
	l.pen.fleetStack(l.f.columns(g.fleet), at)
	for _, s := range g.fleet.forced() {
		if l.f.meetsSpan(s.Span) {
			l.pen.forced(s.State, l.span(s.From, s.To, g.band, fleetHeight))
		}
	}
	l.pen.frame("muted", 1, at)
}

// columns are the fleet's shares as they are drawn.
func (f *figure) columns(fleet *Fleet) []share {
	room := f.width - 2*margin - f.names
	return fleet.shares(f.begin, f.end, max(1, int(room/fleetColumn)))
}

// occur notes what the legend has to explain.
func (f *Fleet) occur(fig *figure, occurs map[string]bool) {
	occurs["fleet"] = true
	for _, s := range f.forced() {
		occurs["forced "+s.State] = occurs["forced "+s.State] || fig.meetsSpan(s.Span)
	}
	for _, b := range f.Members {
		for _, s := range fig.bands(b) {
			occurs[s.look()+" "+s.State] = true
		}
	}
}

// forced are the stretches in which an operator kept all members as they were:
// what is done to one by hand is done to all.
func (f *Fleet) forced() []Forced { return f.Members[0].Forced }

// fleetStack fills a box with columns in which each state stands for its share of
// a fleet. One that occurs is at least a pixel high.
func (p *pen) fleetStack(columns []share, b box) {
	p.ground("closed", b)
	w := b.w / float64(len(columns))
	areas := map[string][]box{}
	for i, s := range columns {
		sum, bottom := 0.0, b.y+b.h
		for _, v := range s {
			sum += v
		}
		for _, look := range fleetLooks {
			v := s[slices.Index(crowdLooks, look)]
			if v == 0 || bottom <= b.y {
				continue
			}
			h := min(max(1, v/sum*b.h), bottom-b.y)
			bottom -= h
			areas[look] = widened(areas[look], box{b.x + float64(i)*w, bottom, w, h})
		}
	}
	for _, look := range fleetLooks {
		p.fillAll(look, areas[look])
		switch p.theme.patterns[look] {
		case rising:
			p.hatch(look+"-edge", 6, false, areas[look]...)
		case crossed:
			p.hatch(look+"-edge", 8, false, areas[look]...)
			p.hatch(look+"-edge", 8, true, areas[look]...)
		case level:
			for _, area := range areas[look] {
				p.ruled(look+"-edge", area, 4, false)
			}
		}
	}
}

// widened adds a box on the right, to the last one if they are of one height.
func widened(all []box, b box) []box {
	if n := len(all); n > 0 && all[n-1].y == b.y && all[n-1].h == b.h && b.x-all[n-1].x-all[n-1].w < 1e-6 {
		all[n-1].w += b.w
		return all
	}
	return append(all, b)
}

// troubles are the states that the members are ever in beside that in which they
// begin, in the order of the machine.
func (f *Fleet) troubles() (states []string) {
	machine := f.machine()
	for _, state := range machine[1:] {
		if slices.ContainsFunc(f.Members, func(b *BreakerHistory) bool {
			return slices.ContainsFunc(b.Bands, func(s Band) bool { return s.State == state })
		}) {
			states = append(states, state)
		}
	}
	return states
}

// rowName is the label of a row in the terminal.
func (f *Fleet) rowName(state string) string {
	if f.Name == f.Main() {
		return state
	}
	return f.Name + " " + state
}

// fleet is a row for each state of trouble, with the share of the breakers that
// are in it.
func (t *terminal) fleet(f *Fleet) {
	what := fmt.Sprintf("%s, one for each of %s", f.Name, f.who())
	switch {
	case strings.Contains(t.fleets, what):
		what = t.fleets
	case t.fleets != "":
		what = t.fleets + ", or of " + what
	}
	t.fleets = what
	columns := f.shares(0, t.end, t.cells)
	for _, state := range f.troubles() {
		cells := make([]cell, t.cells)
		for i, s := range columns {
			share, sum := 0.0, 0.0
			for k, v := range s {
				sum += v
				if stateOfLook(crowdLooks[k], f) == state {
					share += v
				}
			}
			cells[i] = cell{t.signs.line, grey}
			if share > 0 {
				cells[i] = cell{t.levels[min(int(share/sum*float64(len(t.levels))), len(t.levels)-1)], looks[stateNamed(state)].color}
			}
		}
		t.row(f.rowName(state), cells)
	}
	if forced := f.forced(); len(forced) > 0 {
		l := t.lane()
		for _, s := range forced {
			t.paint(l, stateGlyph(f.Members[0], &Band{State: s.State, forced: true}), "forced "+s.State, s.From, s.To)
		}
		t.row("by hand", t.show(l))
	}
}

// stateOfLook is the state that a look stands for, in a fleet's machine.
func stateOfLook(look string, f *Fleet) string {
	machine := f.machine()
	switch look {
	case "closed":
		return machine[0]
	case "half-open":
		return machine[2]
	default:
		return machine[1]
	}
}
