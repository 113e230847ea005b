package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Heights of lanes in pixels.
const (
	targetHeight  = 16.0
	numberHeight  = 17.0
	leaseHeight   = 11.0
	leaseStep     = 9.0 // from one row of brackets to the next
	bandHeight    = 26.0
	rowHeight     = 17.0
	densityHeight = 28.0
	mostBrackets  = 40 // more of them would be a fence
	groupGap      = 12.0
)

// panelLanes is one panel: a heading if there are several, then its groups.
type panelLanes struct {
	h       *History
	heading *panelHeading // nil: there is one panel
	y       float64
	height  float64
	groups  []*groupLanes
}

// groupLanes are the lanes of one breaker and its targets, or of targets that
// nothing guards. Their main target's outages are shaded behind all of them.
type groupLanes struct {
	*group
	y, height float64
	targets   []float64 // tops
	numbers   float64   // top of the rows of numbers
	lease     float64   // top of the brackets
	band      float64   // top of the band
	below     bool      // something stands right below the band
	health    float64   // top of the health's lane
	rows      []*markRow
	pins      []*pin
	pinRows   int
	leases    []Lease
	leaseRow  []int // of each: from the band up; leaseRows: it has no room
	leaseRows int
	brackets  bool
	ticks     bool // probes are many
	stretches []stretch
}

// newPanel lays out the panel i from the height y down.
func newPanel(panels []*History, i int, f *figure, y float64) *panelLanes {
	p := &panelLanes{h: panels[i], y: y}
	if len(panels) > 1 {
		p.heading = newHeading(panels, i, f.width-2*margin)
		y += p.heading.height()
	}
	for _, g := range p.h.groups() {
		lanes := &groupLanes{group: g, y: y}
		p.groups = append(p.groups, lanes)
		y = lanes.layOut(panels, i, f, y) + groupGap
	}
	p.height = y - p.y
	return p
}

func (g *groupLanes) layOut(panels []*History, panel int, f *figure, y float64) float64 {
	for range g.group.targets {
		g.targets = append(g.targets, y)
		y += targetHeight + 2
	}
	if g.breaker != nil {
		g.ticks = g.probes(f) > mostDiamonds
		g.stretches = stretches(f.bands(g.breaker), f.along)
		g.numbers = y
		g.pinRows = g.pin(f, panel, len(panels))
		y += float64(g.pinRows) * numberHeight
		g.leases = f.leases(g.breaker)
		n := len(g.leases)
		seen := func(s Lease) bool { return s.RanOut || f.wide(&s) }
		g.brackets = slices.ContainsFunc(g.leases, seen) && n <= mostBrackets && g.breaker.leased()
		g.lease = y + 2
		if g.brackets {
			g.leases = slices.DeleteFunc(g.leases, func(s Lease) bool { return !seen(s) })
			g.leaseRow, g.leaseRows = leaseRows(g.leases)
			y += leaseHeight + float64(g.leaseRows-1)*leaseStep
		}
		g.band = y + 2
		y += bandHeight + 6
		if g.below = g.hasBelow(f, panels[panel]); g.below {
			y += belowHeight
		}
		if g.health = y; len(g.breaker.Health) > 0 {
			y += healthHeight + 4
		}
	}
	if g.fleet != nil {
		g.band = y + 2
		y += fleetHeight + 8
	}
	for _, r := range f.rows[g.group] {
		r.y = y
		g.rows = append(g.rows, r)
		y += r.height()
	}
	g.height = y - g.y
	return y
}

// meetsSpan is meets.
func (f *figure) meetsSpan(s trace.Span) bool { return f.meets(s.From, s.To) }

// bands are the breaker's that are drawn, cut to what is.
func (f *figure) bands(b *BreakerHistory) (all []Band) {
	for _, s := range b.pieces() {
		if f.meets(s.From, s.To) || s.From == s.To && f.within(s.From) {
			s.From, s.To = max(s.From, f.begin), min(s.To, f.end)
			s.Restarts = slices.DeleteFunc(slices.Clone(s.Restarts), func(at time.Duration) bool { return !f.within(at) })
			all = append(all, s)
		}
	}
	return all
}

// leases are the breaker's of which something is drawn.
func (f *figure) leases(b *BreakerHistory) (all []Lease) {
	for _, s := range b.Leases {
		if f.meets(s.From, s.To) {
			all = append(all, s)
		}
	}
	return all
}

// leased says whether its probes ever have a lease that ends.
func (b *BreakerHistory) leased() bool {
	return slices.ContainsFunc(b.Leases, func(l Lease) bool { return l.limited })
}

// mostLeaseRows is how many leases of one instant have a bracket each.
const mostLeaseRows = 4

// leaseRows gives each lease the lowest row in which no other one is by then, or n if
// all are taken, and says how many rows that makes.
func leaseRows(leases []Lease) (rows []int, n int) {
	var ends []time.Duration
	for _, l := range leases {
		k := slices.IndexFunc(ends, func(end time.Duration) bool { return end <= l.From })
		if k < 0 {
			if k = len(ends); k < mostLeaseRows {
				ends = append(ends, 0)
			}
		}
		if k < len(ends) {
			ends[k] = l.To
		}
		rows = append(rows, k)
	}
	return rows, len(ends)
}

// leastLease is how wide a lease is that has a bracket, in pixels: a narrower
// one would be taken for a tick.
const leastLease = 8

// wide says whether the lease has a bracket.
func (f *figure) wide(s *Lease) bool {
	return f.along(min(s.To, f.end))-f.along(max(s.From, f.begin)) >= leastLease
}

// main is the target that the group is about.
func (g *group) main() string {
	switch {
	case g.breaker != nil:
		return g.breaker.Main()
	case g.fleet != nil:
		return g.fleet.Main()
	default:
		return g.targets[0].Name
	}
}

// probes counts the group's.
func (g *group) probes(f *figure) int {
	n := 0
	for _, m := range g.marks {
		if m.Kind == MarkProbe && f.within(m.At) {
			n++
		}
	}
	return n
}

// lanePlotter draws all lanes, once gonum's axis says where an instant is.
type lanePlotter struct {
	f     *figure
	pen   *pen
	x     func(time.Duration) float64
	sizes map[string]float64 // of marks, by the manner of their rows
}

func (l *lanePlotter) draw(along axis) {
	l.sizes = l.radii()
	for _, pl := range l.f.panels {
		for _, g := range pl.groups {
			for _, t := range g.group.targets {
				if t.Name == g.main() {
					l.shade(g, t, pl.h.End)
				}
			}
		}
	}
	for _, pl := range l.f.panels {
		if pl.heading != nil {
			pl.heading.draw(l.pen, pl.y, l.f.width-margin)
		}
		l.departs(pl, false)
		for _, g := range pl.groups {
			l.grid(along, g)
			l.group(g, pl.h)
		}
		l.departs(pl, true)
	}
}

func (l *lanePlotter) shade(g *groupLanes, t *trace.Target, end time.Duration) {
	for _, s := range t.Outages(end) {
		if !l.f.meetsSpan(s) {
			continue
		}
		done := l.pen.group(fmt.Sprintf("%s is out from %s to %s", t.Name, l.clock(s.From), l.clock(s.To)))
		at := l.span(s.From, s.To, g.y, g.height)
		if s.From <= l.f.begin && at.w >= plotPad {
			at.x, at.w = at.x-plotPad, at.w+plotPad
		}
		if s.To >= l.f.end && at.w >= plotPad {
			at.w += plotPad
		}
		l.pen.rect("outage", at)
		done()
	}
}

// clock writes an instant as the axis does.
func (l *lanePlotter) clock(d time.Duration) string { return moment(d, l.f.whole) }

// span is the box of a stretch of time, at least 3 pixels wide.
func (l *lanePlotter) span(from, to time.Duration, y, h float64) box {
	x0, x1 := l.x(from), l.x(to)
	if x1-x0 < 3 {
		x0 = min(x0, l.x(l.f.end)-3)
		x1 = x0 + 3
	}
	return box{x0, y, x1 - x0, h}
}

func (l *lanePlotter) grid(along axis, g *groupLanes) {
	for _, t := range along.ticks.Ticks(along.least, along.most) {
		if t.Label != "" {
			x := l.x(time.Duration(math.Round(t.Value * float64(time.Second))))
			l.pen.stroke("grid", 1, x, g.y, x, g.y+g.height)
		}
	}
}

func (l *lanePlotter) group(g *groupLanes, h *History) {
	for i, t := range g.group.targets {
		l.name(t.Name, g.targets[i]+targetHeight/2, smallSize, false)
		l.target(t, g.targets[i], h)
	}
	if g.breaker != nil {
		l.name(g.breakerName(), g.band+bandHeight/2, textSize, true)
		l.breaker(g, h)
		l.health(g, h)
	}
	if g.fleet != nil {
		l.fleet(g)
	}
	for _, r := range g.rows {
		l.row(g, r)
	}
}

func (l *lanePlotter) name(s string, y, size float64, bold bool) {
	l.pen.text("ink", margin, y, size, bold, left, fitted(s, size, bold, l.f.names-namesGap))
}

// leastOverload is how many pixels an overload needs.
const leastOverload = 4.0

// truth is how the target fares, as far as it can be drawn.
func (f *figure) truth(h *History, t *trace.Target) []stretchOfTruth {
	return h.truth(t, time.Duration(float64(f.end-f.begin)*leastOverload/f.room()))
}

// target draws how the target fares.
func (l *lanePlotter) target(t *trace.Target, y float64, h *History) {
	l.pen.truth(t.Name, l.f.truth(h, t), h.Bursts[t.Name], y, func(s trace.Span, y, height float64) (box, bool) {
		return l.span(s.From, s.To, y, height), l.f.meetsSpan(s)
	}, l.clock)
}

// describe tells in words what the picture shows, for those who cannot see it.
func (t *timeline) describe() string {
	var b strings.Builder
	const most = 12
	for _, h := range t.panels {
		if len(t.panels) > 1 {
			fmt.Fprintf(&b, "Under %s: ", h.Run.Policy)
		}
		b.WriteString(plural(h.Calls, "call", "calls") + " in " + moment(h.End, h.End) + ". ")
		for i := range h.Run.Targets {
			target := &h.Run.Targets[i]
			b.WriteString(fared("Target "+target.Name, h.truth(target, h.End/100), h.Bursts[target.Name], h.End))
		}
		for _, br := range h.Breakers {
			fmt.Fprintf(&b, "%s is ", br.Name)
			pieces := br.pieces()
			for i := range pieces {
				if i == most {
					b.WriteString(", and " + plural(len(pieces)-most, "more change", "more changes"))
					break
				}
				if i > 0 {
					b.WriteString(", ")
				}
				fmt.Fprintf(&b, "%s to %s", pieces[i].said(), moment(pieces[i].To, h.End))
				if r := pieces[i].Restarts; len(r) > 0 {
					fmt.Fprintf(&b, " (cooldown restarted %s by late failures, last at %s)", times(len(r)), moment(r[len(r)-1], h.End))
				}
			}
			b.WriteString(". " + br.heldBack())
			if low, ok := br.lowest(); ok {
				fmt.Fprintf(&b, "Its health score is lowest at %s, %.2f. ", moment(low.At, h.End), low.Score)
			}
		}
		for _, fleet := range h.Fleets {
			b.WriteString(fleet.describe(h.End))
		}
		for _, d := range h.detours {
			if when := moment(d.first, h.End); len(d.calls) == 1 {
				fmt.Fprintf(&b, "At %s a call for %s goes to %s. ", when, d.from, d.to)
			} else {
				fmt.Fprintf(&b, "From %s to %s %s calls for %s go to %s. ", when, moment(d.last, h.End), Thousands(int64(len(d.calls))), d.from, d.to)
			}
		}
	}
	return strings.TrimSpace(b.String())
}
