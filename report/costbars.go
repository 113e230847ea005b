package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// costMetric is a figure of the cost table that bars can compare: the less, the
// better.
type costMetric struct {
	name  string // of the column
	title string
	about string
	whole string // the column that it is a part of; empty: none
}

// costMetrics are what a choice between policies turns on, the weightiest first:
// what callers get (failed calls), what it costs them besides (time in vain),
// what it costs to ask (money, where there are prices), what protection itself
// breaks (harm), and what it asks of a target that is out (wasted attempts). The
// rest stand in where one of these tells nothing.
var costMetrics = []costMetric{
	{"failed", "failed", "calls that ended without an answer, refused ones too", "calls"},
	{"wait_wasted", "in vain", "time that callers waited for no answer, all together", "wait_total"},
	{"money", "money", "for all attempts, in the unit of their targets' prices", ""},
	{"harm", "harm", "calls refused, each of which would have worked by itself", "calls"},
	{"wasted_attempts", "wasted", "attempts that began in an outage", "attempts"},
	{"overshoot", "overshoot", "from an outage's end to the last call kept from its target", ""},
	{"amplification", "amplification", "attempts for each call", ""},
	{"wait_p99", "p99 wait", "99 of 100 calls end within that time", ""},
	{"burst", "burst", "most attempts in a second, in the minute after an outage", ""},
	{"tokens", "tokens", "for all attempts, by their targets' prices", ""},
	{"attempts", "attempts", "let through or ungated", ""},
}

const (
	costCount = 4 // of metrics in a picture
	weighty   = 5 // of metrics that stay unless they are nothing everywhere
)

// costMetricsOf are the four that tell most of these runs, in the list's order:
// the weighty ones that are not nothing everywhere and whatever else differs,
// then what is alike, then what is nothing. A percentile is none of few calls.
func costMetricsOf(rows []Row) []costMetric {
	order := func(m costMetric) int { return slices.Index(costMetrics, m) }
	rank := func(m costMetric) int {
		var values []float64
		for i := range rows {
			if v, ok := rows[i].Cost.Metric(m.name); ok {
				values = append(values, v)
			}
		}
		switch {
		case len(values) == 0 || m.name == "wait_p99" && slices.ContainsFunc(rows, func(r Row) bool { return r.Cost.Finished > 0 && r.Cost.Finished < 100 }):
			return 3
		case len(values) < len(rows) || slices.Min(values) != slices.Max(values):
			return 0
		case values[0] == 0:
			return 2
		case order(m) < weighty:
			return 0
		}
		return 1
	}
	all := slices.Clone(costMetrics)
	slices.SortStableFunc(all, func(a, b costMetric) int { return rank(a) - rank(b) })
	all = all[:costCount]
	slices.SortFunc(all, func(a, b costMetric) int { return order(a) - order(b) })
	return all
}

// costBars is the picture of what the policies cost: a column of bars for each
// of four metrics, with the figures at the bars' ends. Each column has a scale of
// its own from 0 on. Where nothing is beside a policy its bars are parts of what
// they are parts of: failed calls of all calls. It is about whole runs, whatever
// stretch is asked for.
type costBars struct {
	sheet
	rows    []Row
	labels  []label
	columns []costColumn
	names   float64 // room on the left
}

// costColumn is one metric's bars.
type costColumn struct {
	costMetric
	x, y, w float64
	about   []string  // lines
	values  []float64 // by row; negative: undefined
	figures []string  // likewise
	full    float64   // what the longest bar stands for; 0: none is drawn
	least   float64   // -1 where all are alike
	room    float64   // for the longest bar
	bars    float64   // top of the first
}

const (
	costAbout  = "What each policy costs; in every column less is better"
	downToOne  = ", in amplification down to 1"
	barRow     = 24.0
	barHeight  = 14.0
	columnGap  = 18.0
	leastBars  = 112.0 // a column's width; narrower ones go into two rows
	figureRoom = 6.0
)

func layOutCost(r *Results, look *Look) (drawing, error) {
	rows, _ := r.counted()
	if !slices.ContainsFunc(rows, func(row Row) bool { return row.Cost.Calls > 0 }) {
		return nil, ErrNothingToDraw
	}
	about := costAbout
	if len(rows) == 1 {
		about = "What the policy costs"
	}
	c := &costBars{sheet: newSheet("cost", r, look, about), rows: rows}
	most := c.inner() * 0.22
	c.labels, c.variants = r.labels(func(_ int, name string) bool { return width(name, textSize, false) <= most })
	for _, l := range c.labels {
		c.names = max(c.names, width(l.String(), textSize, false))
	}
	c.names = min(c.names, most) + 12
	c.columns = costColumns(c.rows, endOf(r.Panels))
	if len(rows) > 1 && slices.ContainsFunc(c.columns, func(col costColumn) bool { return col.refusing() }) {
		c.setAbout(costAbout + downToOne)
	}
	bottom := c.place()
	c.desc = c.describe()
	note := ""
	if slices.ContainsFunc(c.columns, func(col costColumn) bool { return col.least >= 0 }) {
		note = "Bold: the least of the column."
	}
	c.close(bottom, nil, note)
	return c, nil
}

// costColumns are the metrics with their figures, of runs of which the longest ends
// at end.
func costColumns(rows []Row, end time.Duration) []costColumn {
	var all []costColumn
	for _, m := range costMetricsOf(rows) {
		col := costColumn{costMetric: m, least: -1}
		of := columnOf(m.name)
		for i := range rows {
			v, ok := of.get(&rows[i].Cost)
			if !ok {
				v = -1
			}
			col.values, col.figures = append(col.values, v), append(col.figures, of.text(&rows[i].Cost))
		}
		col.full = slices.Max(col.values)
		if of.Unit == Duration && nanoseconds(col.full) <= 2*end { // longer ones keep units of their own, in all of the column
			for i, v := range col.values {
				if v >= 0 {
					col.figures[i] = lasted(nanoseconds(v), end)
				}
			}
		}
		if len(rows) == 1 {
			col.partOf(&rows[0].Cost)
		}
		if col.refusing() {
			col.costMetric.about += "; below\u00a01, some make none"
		} else if defined := col.defined(); len(defined) > 1 && slices.Min(defined) < slices.Max(defined) {
			col.least = slices.Min(defined)
		}
		all = append(all, col)
	}
	return all
}

func columnOf(name string) *Column {
	for i := range Columns {
		if Columns[i].Name == name {
			return &Columns[i]
		}
	}
	return nil
}

// defined are the values that there are.
func (col *costColumn) defined() []float64 {
	return slices.DeleteFunc(slices.Clone(col.values), func(v float64) bool { return v < 0 })
}

// refusing says whether less is no better: there are fewer attempts than calls
// where some are not made at all.
func (col *costColumn) refusing() bool {
	return col.name == "amplification" && slices.ContainsFunc(col.defined(), func(v float64) bool { return v < 1 })
}

// partOf makes the only bar a part of its whole.
func (col *costColumn) partOf(c *Cost) {
	col.full = 0
	of := columnOf(col.whole)
	if of == nil {
		return
	}
	v, ok := of.get(c)
	switch {
	case !ok || v == 0:
		return
	case of.Unit == Duration:
		col.figures[0] += " (" + shareOf(col.values[0], v) + ")"
		col.costMetric.about += ", and its share of all waiting"
	default:
		col.figures[0] += " of " + plural(int(v), strings.TrimSuffix(of.Heading, "s"), of.Heading)
	}
	col.full = v
}

// place puts the columns beside each other, or two above two, and returns where
// they end.
func (c *costBars) place() float64 {
	across := costCount
	w := (c.inner() - c.names - columnGap*float64(across-1)) / float64(across)
	if w < leastBars {
		across = costCount / 2
		w = (c.inner() - c.names - columnGap*float64(across-1)) / float64(across)
	}
	y := c.top
	for first := 0; first < costCount; first += across {
		head := 0
		line := c.columns[first : first+across]
		for i := range line {
			col := &line[i]
			col.x, col.y, col.w = margin+c.names+float64(i)*(w+columnGap), y, w
			col.about = wrapped(col.costMetric.about, tinySize, false, w)
			col.room = w
			for _, f := range col.figures {
				col.room = min(col.room, w-width(f, textSize, true)-figureRoom)
			}
			head = max(head, len(col.about))
		}
		y += leading + 4 + float64(head)*13 + 4
		for i := range line {
			line[i].bars = y
		}
		y += float64(len(c.rows))*barRow + 16
	}
	return y - 4
}

func (c *costBars) draw(p *pen) {
	c.frame(p)
	for i := range c.columns {
		col := &c.columns[i]
		if i == 0 || col.y != c.columns[i-1].y {
			c.lines(p, col.bars)
		}
		p.text("ink", col.x, col.y+leading/2, textSize, true, left, col.title)
		for k, line := range col.about {
			p.text("muted", col.x, col.y+leading+8+float64(k)*13, tinySize, false, left, line)
		}
		for k := range c.rows {
			col.bar(p, k, c.rows[k].Policy)
		}
		p.stroke("muted", 1, col.x, col.bars, col.x, col.bars+float64(len(c.rows))*barRow)
	}
}

// lines are the policies' names and the rules between them.
func (c *costBars) lines(p *pen, y float64) {
	p.stroke("grid", 1, margin, y, c.width-margin, y)
	for i := range c.rows {
		p.text("ink", margin, y+barRow/2, textSize, false, left, c.labels[i].fitted(textSize, false, c.names-12))
		y += barRow
		p.stroke("grid", 1, margin, y, c.width-margin, y)
	}
}

// bar draws the row's bar and its figure. What is undefined has a dash.
func (col *costColumn) bar(p *pen, row int, policy string) {
	v, y := col.values[row], col.bars+float64(row)*barRow
	done := p.group(fmt.Sprintf("%s: %s %s", policy, col.title, col.figures[row]))
	defer done()
	x := col.x
	if len(col.values) == 1 && col.full > 0 {
		p.track(box{col.x, y + (barRow-barHeight)/2, col.room, barHeight})
		x += col.room
	}
	if v > 0 && col.full > 0 {
		b := box{col.x, y + (barRow-barHeight)/2, max(1.5, v/col.full*col.room), barHeight}
		p.ground("bar", b)
		if b.w > 3 {
			p.frame("bar-edge", 1, b)
		}
		x = max(x, b.x+b.w)
	}
	p.text("ink", x+figureRoom, y+barRow/2, textSize, v == col.least, left, col.figures[row])
}

// describe tells the figures in words.
func (c *costBars) describe() string {
	var b strings.Builder
	for i := range c.columns {
		col := &c.columns[i]
		fmt.Fprintf(&b, "%s, %s: ", col.title, col.costMetric.about)
		for k := range c.rows {
			if k > 0 {
				b.WriteString(", ")
			}
			if len(c.rows) > 1 {
				b.WriteString(c.rows[k].Policy + " ")
			}
			b.WriteString(col.figures[k])
		}
		b.WriteString(". ")
	}
	return strings.TrimSpace(b.String())
}
