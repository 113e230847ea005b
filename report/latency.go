package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

// latency is the picture of how long calls take under each policy until they end,
// whatever comes of them: a bar for each that is thick from the median to the
// 90th percentile and ever thinner to the longest wait, over a log axis. Calls
// that end at once, such as refused ones, are no small number on such an axis but
// none: 0 has a place of its own before it, beyond a gap. It is about whole runs,
// whatever stretch is asked for.
type latency struct {
	sheet
	rows    []Row
	labels  []label
	figures []latencyFigure // the columns on the right
	names   float64         // room on the left
	table   float64         // where the columns begin
	axis    waitAxis
	end     time.Duration // of the longest run
}

// latencyFigure is a column of figures beside the bars.
type latencyFigure struct {
	title string
	right float64 // where it ends
	text  []string
}

// percentile is one that the bars show.
type percentile struct {
	name   string
	of     func(*Cost) time.Duration
	height float64 // of the bar up to the next one
	calls  int     // that it takes: of fewer it is the max
}

var percentiles = []percentile{
	{"p50", func(c *Cost) time.Duration { return c.WaitP50 }, 14, 1},
	{"p90", func(c *Cost) time.Duration { return c.WaitP90 }, 9, 10},
	{"p99", func(c *Cost) time.Duration { return c.WaitP99 }, 5, 100},
	{"p99.9", func(c *Cost) time.Duration { return c.WaitP999 }, 1.6, 1000},
	{"max", func(c *Cost) time.Duration { return c.WaitMax }, 0, 1},
}

// ranksOf are the percentiles that so many calls can tell.
func ranksOf(calls int) (all []percentile) {
	for _, p := range percentiles {
		if calls >= p.calls {
			all = append(all, p)
		}
	}
	return all
}

const (
	latencyAbout = "How long calls take under each policy until they end, whatever comes of them"
	logWords     = ", on a logarithmic axis"
	latencyNote  = "Percentiles are by nearest rank: the least wait that so large a share of the calls did not exceed."
	endlessNote  = "Calls that had not ended are not ranked."
	latencyRow   = 36.0
	leastWaits   = 200.0 // room for the bars, if columns can be left out for it
	zeroRoom     = 46.0  // for 0 and the gap after it
)

func layOutLatency(r *Results, look *Look) (drawing, error) {
	rows, _ := r.counted()
	if !slices.ContainsFunc(rows, func(row Row) bool { return row.Cost.Finished > 0 }) {
		return nil, ErrNothingToDraw
	}
	about := latencyAbout
	if len(rows) == 1 {
		about = strings.Replace(about, "under each policy ", "", 1)
	}
	c := &latency{sheet: newSheet("latency", r, look, about), rows: rows, end: endOf(r.Panels)}
	most := c.inner() * 0.24
	c.labels, c.variants = r.labels(func(_ int, name string) bool { return width(name, textSize, true) <= most })
	for i := range c.rows {
		c.names = max(c.names, width(c.labels[i].String(), textSize, true), width(ended(&c.rows[i].Cost)[0], tinySize, false))
	}
	c.names = min(c.names, most) + 14
	c.axis = newWaitAxis(c.rows, c.end)
	c.desc = c.describe()
	bottom := float64(len(c.rows))*latencyRow + 10
	if !c.axis.some() {
		c.table = c.width - margin
		c.close(c.top+4+bottom, nil, c.notesOf(nil)...)
		return c, nil
	}
	c.setAbout(about + logWords)
	without := c.layTable()
	c.close(c.top+leading+4+bottom-10+axisRoom, c.used(), c.notesOf(without)...)
	return c, nil
}

// notesOf say what is behind the figures, and which columns had no room.
func (c *latency) notesOf(without []string) (notes []string) {
	if c.axis.some() {
		notes = append(notes, latencyNote+c.tooFew())
	}
	if len(without) > 0 {
		notes = append(notes, "For want of room the table is without "+listed(without)+".")
	}
	if slices.ContainsFunc(c.rows, func(r Row) bool { return r.Cost.Finished < r.Cost.Calls }) {
		notes = append(notes, endlessNote)
	}
	return notes
}

// tooFew says which percentiles some policy has too few calls for.
func (c *latency) tooFew() string {
	var clauses []string
	for _, p := range percentiles {
		if !slices.ContainsFunc(c.rows, func(r Row) bool { return r.Cost.Finished > 0 && r.Cost.Finished < p.calls }) {
			continue
		}
		if len(clauses) == 0 {
			clauses = append(clauses, fmt.Sprintf(" Of fewer than %s calls %s would be the max", Thousands(int64(p.calls)), p.name))
		} else {
			clauses = append(clauses, fmt.Sprintf("of fewer than %s, %s", Thousands(int64(p.calls)), p.name))
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	return strings.Join(clauses, "; ") + "."
}

// ranksOf are the percentiles that some policy has calls enough for.
func (c *latency) ranks() []percentile {
	most := 0
	for i := range c.rows {
		most = max(most, c.rows[i].Cost.Finished)
	}
	return ranksOf(most)
}

// latencyTables are the columns beside the bars, as many as there is room for.
var latencyTables = [][]string{{"at once", "p50", "p90", "p99", "p99.9", "max"}, {"at once", "p50", "p99", "max"}, {"at once", "p99", "max"}}

// layTable lays out as many columns as leave room for the bars, the last choice if
// none does, and returns those that it leaves out.
func (c *latency) layTable() (without []string) {
	var all []string
	if slices.ContainsFunc(c.rows, func(r Row) bool { return r.Cost.AtOnce > 0 }) {
		all = append(all, "at once")
	}
	for _, p := range c.ranks() {
		all = append(all, p.name)
	}
	for _, names := range latencyTables {
		c.figures, without = nil, nil
		x := c.width - margin
		for _, name := range slices.Backward(all) {
			if !slices.Contains(names, name) {
				without = append([]string{name}, without...)
				continue
			}
			f := latencyFigure{title: name, right: x}
			room := width(name, smallSize, true)
			for i := range c.rows {
				s := c.figure(name, &c.rows[i].Cost)
				f.text = append(f.text, s)
				room = max(room, width(s, smallSize, false))
			}
			c.figures = append(c.figures, f)
			x -= room + 14
		}
		if c.table = x; c.table-margin-c.names >= leastWaits {
			break
		}
	}
	return without
}

// figure is that of a column for one policy.
func (c *latency) figure(column string, cost *Cost) string {
	if column == "at once" && cost.Finished > 0 {
		return shareOf(float64(cost.AtOnce), float64(cost.Finished))
	}
	for _, p := range ranksOf(cost.Finished) {
		if p.name == column {
			return lasted(p.of(cost), c.end)
		}
	}
	return undefined
}

// lasted writes a wait in the units of a run that ends at end. What goes far beyond
// it, as the waits of all its calls together, has its own.
func lasted(d, end time.Duration) string {
	if d > 2*end {
		return approx(d)
	}
	return spell(d, end)
}

// shareOf is the share in whole percents. It is 0 % of none and 100 % of all,
// and of nothing else.
func shareOf(n, of float64) string {
	switch share := n / of * 100; {
	case n > 0 && share < 1:
		return "<1 %"
	case n < of && share > 99:
		return ">99 %"
	default:
		return fmt.Sprintf("%.0f %%", share)
	}
}

// ended says how many calls are ranked, in full and in short.
func ended(c *Cost) []string {
	if c.Finished == c.Calls {
		return []string{plural(c.Calls, "call", "calls"), Thousands(int64(c.Calls))}
	}
	short := Thousands(int64(c.Finished)) + " of " + Thousands(int64(c.Calls))
	return []string{short + " calls ended", short + " ended", short}
}

// describe tells the figures in words.
func (c *latency) describe() string {
	var b strings.Builder
	for i := range c.rows {
		cost := &c.rows[i].Cost
		if len(c.rows) > 1 {
			fmt.Fprintf(&b, "Under %s: ", c.rows[i].Policy)
		}
		b.WriteString(ended(cost)[0])
		if cost.Finished > 0 {
			if cost.AtOnce > 0 {
				b.WriteString(", " + shareOf(float64(cost.AtOnce), float64(cost.Finished)) + " at once")
			}
			for _, p := range ranksOf(cost.Finished) {
				b.WriteString(", " + p.name + " " + lasted(p.of(cost), c.end))
			}
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}

func (c *latency) draw(p *pen) {
	c.frame(p)
	y := c.top + 4
	if len(c.figures) > 0 {
		y += leading
	}
	bottom := y + float64(len(c.rows))*latencyRow
	p.stroke("grid", 1, margin, y, c.width-margin, y)
	for i := range c.rows {
		row := y + float64(i)*latencyRow
		p.text("ink", margin, row+latencyRow/2-6, textSize, true, left, c.labels[i].fitted(textSize, true, c.names-14))
		p.text("muted", margin, row+latencyRow/2+8, tinySize, false, left, firstThatFits(ended(&c.rows[i].Cost), tinySize, c.names-14))
		p.stroke("grid", 1, margin, row+latencyRow, c.width-margin, row+latencyRow)
	}
	for _, f := range c.figures {
		p.text("muted", f.right, c.top+leading/2, smallSize, true, right, f.title)
		for i, s := range f.text {
			p.text("ink", f.right, y+(float64(i)+0.5)*latencyRow, smallSize, false, right, s)
		}
	}
	for i := range c.rows {
		if words := c.barless(&c.rows[i].Cost); len(words) > 0 {
			done := p.group(c.rows[i].Policy + ": " + words[0])
			p.text("muted", margin+c.names, y+(float64(i)+0.5)*latencyRow, smallSize, false, left, firstThatFits(words, smallSize, c.table-margin-c.names))
			done()
		}
	}
	if c.axis.some() {
		c.drawBars(p, y, bottom)
	}
}

// barless says why a policy has no bar, in full and in short, or nothing if it
// has one.
func (c *latency) barless(cost *Cost) []string {
	switch {
	case cost.Calls == 0:
		return []string{"nobody called"}
	case cost.Finished == 0:
		return []string{"no call ended before the run did", "no call ended"}
	case c.axis.some():
		return nil
	case cost.Finished < cost.Calls:
		return []string{"every call that ended did so at once", "all at once"}
	}
	return []string{"every call ended at once", "all at once"}
}

// drawBars draws the axis and, over its grid, the bars.
func (c *latency) drawBars(p *pen, top, bottom float64) {
	x0, room := margin+c.names, c.table-margin-c.names
	if c.axis.zero {
		x0, room = x0+zeroRoom, room-zeroRoom
	}
	area := box{x0, top, room, bottom - top}
	p.plot(area, axis{c.axis.least.Seconds(), c.axis.most.Seconds(), plot.LogScale{}, c.axis.ticks(room)}, func(x func(float64) float64) {
		at := func(d time.Duration) float64 {
			if d == 0 {
				return x0 - zeroRoom + 12
			}
			return x(d.Seconds())
		}
		for _, t := range c.axis.ticks(room).Ticks(0, 0) {
			if t.Label != "" {
				p.stroke("grid", 1, x(t.Value), top, x(t.Value), bottom)
			}
		}
		if c.axis.zero {
			p.stroke("grid", 1, at(0), top, at(0), bottom)
		}
		for i := range c.rows {
			c.bar(p, i, top+(float64(i)+0.5)*latencyRow, at)
		}
		if c.axis.zero {
			c.gap(p, at(0), x(c.axis.least.Seconds()), bottom)
		}
	})
}

// bar is one policy's.
func (c *latency) bar(p *pen, row int, y float64, at func(time.Duration) float64) {
	cost := &c.rows[row].Cost
	if cost.Finished == 0 {
		return
	}
	tip, parts := c.rows[row].Policy+":", ranksOf(cost.Finished)
	for _, q := range parts {
		tip += " " + q.name + " " + lasted(q.of(cost), c.end)
	}
	defer p.group(tip)()
	for i := len(parts) - 2; i >= 0; i-- {
		x0, x1 := at(parts[i].of(cost)), at(parts[i+1].of(cost))
		barPart(p, box{x0, y, x1 - x0, parts[i].height})
	}
	if cost.WaitP50 == 0 && cost.WaitMax > 0 {
		x := (at(0) + at(c.axis.least)) / 2
		p.fill("bg", x-7, y+9, x+1, y-9, x+7, y-9, x-1, y+9)
	}
	medianGround(p, at(cost.WaitP50), y)
	longestMark(p, at(cost.WaitMax), y) // which may be where the median is
	medianDot(p, at(cost.WaitP50), y)
}

// barPart is the part of a bar between two percentiles; b.y is its middle.
func barPart(p *pen, b box) {
	if b.w < 0.1 {
		return
	}
	b.y -= b.h / 2
	if b.h < 3 {
		p.rect("bar-edge", b)
		return
	}
	p.ground("bar", b)
	p.frame("bar-edge", 1, b)
}

func medianGround(p *pen, x, y float64) { p.circle("bg", x, y, 5.5, 0) }

func medianDot(p *pen, x, y float64) { p.circle("ink", x, y, 4, 0) }

func longestMark(p *pen, x, y float64) { p.stroke("bar-edge", 2, x, y-9, x, y+9) }

// gap is where the axis leaves out what is between 0 and its least.
func (c *latency) gap(p *pen, zero, least, bottom float64) {
	x := (zero + least) / 2
	p.stroke("muted", 1, zero, bottom, zero, bottom+6)
	p.stroke("muted", 1, zero-8, bottom, x-4, bottom)
	p.stroke("muted", 1, x+4, bottom, least, bottom)
	for _, s := range []float64{x - 4, x + 4} {
		p.stroke("muted", 1, s-2, bottom+5, s+2, bottom-5)
	}
	p.text("muted", zero, bottom+8+smallSize/2, smallSize, false, centre, "0")
}

// used are the legend's entries: what each part of a bar stands for, of those
// that some bar has.
func (c *latency) used() []key {
	all := []drawnKey{{true, key{text: "p50: half of the calls", draw: func(p *pen, b box) { medianDot(p, b.x+b.w/2, b.y+b.h/2) }}}}
	parts := c.ranks()
	for i, q := range parts[:len(parts)-1] {
		next := parts[i+1]
		drawn := slices.ContainsFunc(c.rows, func(r Row) bool { return c.axis.apart(q.of(&r.Cost), next.of(&r.Cost)) })
		all = append(all, drawnKey{drawn, key{text: q.name + " to " + next.name, draw: func(p *pen, b box) {
			barPart(p, box{b.x, b.y + b.h/2, b.w, q.height})
		}}})
	}
	return drawnKeys(append(all,
		drawnKey{true, key{text: "max", draw: func(p *pen, b box) { longestMark(p, b.x+b.w/2, b.y+b.h/2) }}},
		drawnKey{c.axis.zero, key{text: "0: ended at once, such as refused calls", draw: gapKey}}))
}

func gapKey(p *pen, b box) {
	y := b.y + b.h/2
	p.stroke("muted", 1, b.x, y, b.x+5, y)
	p.stroke("muted", 1, b.x+11, y, b.x+b.w, y)
	p.stroke("muted", 1, b.x+3, y+4, b.x+7, y-4)
	p.stroke("muted", 1, b.x+9, y+4, b.x+13, y-4)
}

// waitAxis is the log axis of the picture; the zero value is none.
type waitAxis struct {
	least, most time.Duration
	zero        bool          // some percentile is 0
	end         time.Duration // of the longest run, in whose units it names waits
}

// name is that of a wait on the axis.
func (a waitAxis) name(d time.Duration) string {
	return clockIn(d, max(time.Second, longestUnit(a.end)))
}

// some says whether there is an axis: nobody needs one where nothing took time.
func (a waitAxis) some() bool { return a.most > 0 }

// apart says whether a bar between the two would be seen.
func (a waitAxis) apart(from, to time.Duration) bool {
	return from != to && (from == 0 || math.Log(float64(to)/float64(from)) > math.Log(float64(a.most)/float64(a.least))/5000)
}

// newWaitAxis spans all percentiles but 0, with some air around them.
func newWaitAxis(rows []Row, end time.Duration) waitAxis {
	a := waitAxis{least: math.MaxInt64, end: end}
	for i := range rows {
		if rows[i].Cost.Finished == 0 {
			continue
		}
		for _, p := range percentiles {
			if d := p.of(&rows[i].Cost); d == 0 {
				a.zero = true
			} else {
				a.least, a.most = min(a.least, d), max(a.most, d)
			}
		}
	}
	if a.most == 0 {
		return waitAxis{}
	}
	air := 1.25
	if a.most/a.least < 5 {
		air = 2.5
	}
	a.least = max(1, time.Duration(float64(a.least)/air))
	a.most = nanoseconds(float64(a.most) * air)
	return a
}

// majorWaits are those that it names first.
var majorWaits = []time.Duration{1, 10, 100, time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 240 * time.Hour, 2400 * time.Hour}

// waitTicks is a plot.Ticker for waits, in seconds.
type waitTicks struct {
	waitAxis
	room float64
}

func (a waitAxis) ticks(room float64) plot.Ticker { return waitTicks{a, room} }

// Ticks are named where their names do not touch, the roundest first.
func (t waitTicks) Ticks(_, _ float64) []plot.Tick {
	span := math.Log(float64(t.most) / float64(t.least))
	along := func(d time.Duration) float64 { return math.Log(float64(d)/float64(t.least)) / span * t.room }
	named := map[time.Duration]bool{}
	var taken []box
	name := func(d time.Duration) {
		w := width(t.name(d), smallSize, false) + 14
		b := box{x: along(d) - w/2, w: w}
		if d < t.least || d > t.most || named[d] || slices.ContainsFunc(taken, func(o box) bool { return b.x < o.x+o.w && o.x < b.x+b.w }) {
			return
		}
		named[d] = true
		taken = append(taken, b)
	}
	for _, list := range [][]time.Duration{majorWaits, tickSteps} {
		for _, d := range list {
			name(d)
		}
	}
	var ticks []plot.Tick
	for _, d := range tickSteps {
		if d < t.least || d > t.most {
			continue
		}
		tick := plot.Tick{Value: d.Seconds()}
		if named[d] {
			tick.Label = t.name(d)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}
