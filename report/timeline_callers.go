package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	mostCallers = 12 // that have a lane each
	mostLanes   = 24 // in all panels, unless lanes for callers are asked for
	laneHeight  = 15.0
	scripted    = "scripted"
)

// callers are those who called the target in any panel, in the order of their
// first calls and callers of one fleet by their numbers, if each gets a lane of
// its own; otherwise none. Calls without a caller are scripted.
func (f *figure) callers(panels []*History, target string) []string {
	names, known := f.callersOf[target]
	if !known {
		names = f.findCallers(panels, target)
		f.callersOf[target] = names
	}
	return names
}

func (f *figure) findCallers(panels []*History, target string) []string {
	if f.t.Lanes == "outcomes" {
		return nil
	}
	var names []string
	crowded := false
	for _, h := range panels {
		lanes := f.lanes(h, target, &names)
		for _, marks := range lanes {
			crowded = crowded || f.touching(marks)
		}
	}
	switch {
	case len(names) > mostCallers, len(names) == 1 && names[0] == scripted:
		return nil
	case f.t.Lanes != "callers" && (crowded || len(names) == 1 || len(names)*len(panels) > mostLanes):
		return nil
	}
	return byFleet(names)
}

// byFleet puts those that differ in their number alone together, in the order of
// their numbers, where the first of them is.
func byFleet(names []string) []string {
	first := map[string]int{}
	for i, name := range names {
		if fleet, _ := ofFleet(name); first[fleet] == 0 {
			first[fleet] = i + 1
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		fleetA, numberA := ofFleet(a)
		fleetB, numberB := ofFleet(b)
		return cmp.Or(first[fleetA]-first[fleetB], numberA-numberB)
	})
	return names
}

// ofFleet parts agents-3 into agents and 3.
func ofFleet(name string) (fleet string, number int) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name, 0
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil {
		return name, 0
	}
	return name[:i], n
}

// lanes are the marks of calls to the target by who made them. It adds names
// that are new.
func (f *figure) lanes(h *History, target string, names *[]string) map[string][]Mark {
	lanes := map[string][]Mark{}
	for _, g := range h.groups() {
		if g.main() != target {
			continue
		}
		for _, m := range g.marks {
			if m.Kind == MarkProbe || !f.within(m.At) || len(*names) > mostCallers {
				continue
			}
			name := laneOf(&m)
			if lanes[name] == nil && !slices.Contains(*names, name) {
				*names = append(*names, name)
			}
			lanes[name] = append(lanes[name], m)
		}
	}
	return lanes
}

// laneOf names the lane of the mark.
func laneOf(m *Mark) string {
	if m.Caller == "" {
		return scripted
	}
	return m.Caller
}

// newLane is the lane of one caller.
func newLane(name string, marks []Mark, f *figure) *markRow {
	r := &markRow{rowKind: rowKind{name: name}, lane: true}
	for _, m := range marks {
		if laneOf(&m) == name && m.Kind != MarkProbe && f.within(m.At) {
			r.marks = append(r.marks, m)
		}
	}
	r.tall = f.arcs(r)
	return r
}

// touching says whether too many of the marks would lie on each other.
func (f *figure) touching(marks []Mark) bool {
	return touching(marks, f.end-f.begin, f.room())
}

// visibly says whether the attempt took so long that it can be seen.
func (f *figure) visibly(m *Mark) bool {
	return f.within(m.Start) && f.along(m.At)-f.along(m.Start) >= 2*markRadius
}

// arcs says whether the row has arcs, which need room.
func (f *figure) arcs(r *markRow) bool {
	return slices.ContainsFunc(r.marks, func(m Mark) bool { return m.Kind == MarkLate && f.visibly(&m) })
}

// spans draws how long attempts took: in the lane of a caller a line from each
// one's start to its mark, and anywhere an arc to a result that came too late
// for its breaker.
func (l *lanePlotter) spans(r *markRow, y float64) {
	for i := range r.marks {
		m := &r.marks[i]
		switch {
		case m.Kind == MarkWaited && r.lane:
			l.pen.stroke("muted", 0.8, l.x(m.At), y, l.x(min(m.Until, l.f.end)), y)
		case !l.f.visibly(m):
		case m.Kind == MarkLate:
			l.late(m, y)
		case r.lane:
			l.pen.stroke("muted", 0.8, l.x(m.Start), y-2.5, l.x(m.Start), y+2.5)
			l.pen.stroke("muted", 0.8, l.x(m.Start), y, l.x(m.At)-markRadius, y)
		}
	}
}

// arcRise is how high an arc goes at most.
const arcRise = 8.0

// late draws the arc from a call's start to its late result.
func (l *lanePlotter) late(m *Mark, y float64) {
	done := l.pen.group(fmt.Sprintf("call %d, from %s, answers at %s: too late (%s)", m.Call, l.clock(m.Start), l.clock(m.At), m.Rule))
	defer done()
	x0, x1 := l.x(m.Start), l.x(m.At)-markRadius
	l.pen.stroke("muted", 1, x0, y-2, x0, y+2)
	l.pen.arc("muted", 1, x0, x1, y, min(arcRise, (x1-x0)/3))
}

// lateKey explains an arc.
func lateKey(p *pen, b box) {
	y := b.y + b.h - 3
	p.arc("muted", 1, b.x, b.x+b.w-markRadius, y, 6)
	drawMark(p, MarkLate, b.x+b.w-2, y, markRadius-0.6)
}

// spanKey explains a line.
func spanKey(p *pen, b box) {
	y := b.y + b.h/2
	p.stroke("muted", 0.8, b.x, y-2.5, b.x, y+2.5)
	p.stroke("muted", 0.8, b.x, y, b.x+b.w-markRadius, y)
	drawMark(p, MarkOK, b.x+b.w-2, y, markRadius-0.6)
}
