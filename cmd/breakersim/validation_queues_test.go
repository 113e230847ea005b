package main

import (
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

var queues = block{
	id:    "V1",
	title: "Queues",
	claim: "A target with servers and a queue is a queue of the textbooks. With Poisson arrivals and exponential service, one server at load r keeps a customer for 1/(1 - r) service times; " +
		"with c servers Erlang's C formula says how likely he waits, and C/(c(1 - r)) how long on average. With constant arrivals he waits with the probability s that solves s = exp(-(1 - s)/r). " +
		"And whatever the queue, Little's law holds: mean number inside = rate of arrivals × mean time inside.",
	source: "Derived: A. K. Erlang, 1917; J. D. C. Little, 1961; any textbook on queues.",
	how: "One scenario a row, with the customers as listed; a heavier load forgets its past more slowly and needs more of them. Who waits, and how long, is taken from the record of the run, " +
		"call by call. Times are in service times (100 ms). The standard error is that of the means of 50 batches. The rows share their draws, customer by customer, so they err to the same side.",
	scenario: queueScenario(4, 0.8, "poisson", 4_000_000),
	columns:  "queue",
	play:     playQueues,
}

func queueScenario(servers int, load float64, arrivals string, customers int) string {
	rate := math.Round(load*float64(servers)*1e4) / 1e3
	return fmt.Sprintf(`
scenario: queue
duration: %.0fs
targets:
  desk: {latency: {exponential: 100ms}, capacity: {servers: %d}}
callers:
  - {to: desk, rate: %v/s, arrivals: %s, timeout: 10h}
`, math.Round(float64(customers)/rate), servers, rate, arrivals)
}

// queue is a row, with what is known of it; 0 where nothing is listed.
type queue struct {
	servers   int
	load      float64
	arrivals  string
	customers int
	waits     float64 // the probability to wait
	wait      float64 // its mean, in service times
	system    float64 // mean time inside, in service times
}

var queueRows = []queue{
	{1, 0.5, "poisson", 1_000_000, 0, 0, 2},
	{1, 0.8, "poisson", 4_000_000, 0, 0, 5},
	{1, 0.95, "poisson", 24_000_000, 0, 0, 20},
	{2, 0.8, "poisson", 4_000_000, 0.7111, 1.7778, 0},
	{4, 0.8, "poisson", 4_000_000, 0.5964, 0.7455, 0},
	{5, 0.7, "poisson", 2_000_000, 0.3778, 0, 0},
	{10, 0.8, "poisson", 6_000_000, 0.4092, 0.2046, 0},
	{10, 0.9, "poisson", 12_000_000, 0.6687, 0.6687, 0},
	{1, 0.9, "constant", 4_000_000, 0.8069, 0, 1 / (1 - 0.8069)},
}

func (q *queue) name() string {
	kind := "M/M/" + strconv.Itoa(q.servers)
	if q.arrivals == "constant" {
		kind = "D/M/1"
	}
	return fmt.Sprintf("%s at load %v", kind, q.load)
}

// theory is the probability to wait and the mean wait, in service times.
func (q *queue) theory() (waits, wait float64) {
	if q.arrivals == "constant" {
		s := 0.5
		for range 1000 {
			s = math.Exp(-(1 - s) / q.load)
		}
		return s, s / (1 - s)
	}
	waits = erlangC(q.servers, q.load)
	return waits, waits / (float64(q.servers) * (1 - q.load))
}

// erlangC is the probability that all of c servers are busy.
func erlangC(c int, load float64) float64 {
	b := 1.0 // Erlang's B formula, server by server
	for k := 1; k <= c; k++ {
		a := load * float64(c) * b
		b = a / (float64(k) + a)
	}
	return b / (1 - load*(1-b))
}

func playQueues(t *testing.T) findings {
	got := make([]*queueMeter, len(queueRows))
	var f findings
	t.Run("queues", func(t *testing.T) {
		for i := range queueRows {
			q := &queueRows[i]
			t.Run(q.name(), func(t *testing.T) {
				t.Parallel()
				got[i] = newQueueMeter(q.servers, q.customers/50)
				playText(t, queueScenario(q.servers, q.load, q.arrivals, q.customers), got[i])
				assert.InEpsilon(t, q.customers, got[i].waits.n, 0.01)
			})
		}
	})
	for i, m := range got {
		if m != nil {
			f.rows = append(f.rows, queueRows[i].findings(t, m)...)
		}
	}
	f.rows = append(f.rows, playLittle(t)...)
	f.picture = queueChart(got)
	return f
}

// findings are the rows of a queue, and hold the listed figures against the
// formulas that the picture is drawn from.
func (q *queue) findings(t *testing.T, m *queueMeter) []finding {
	waits, wait := q.theory()
	what := q.name() + ", " + report.Thousands(int64(q.customers)) + " customers: "
	var all []finding
	add := func(of string, known, exact float64, s *batches) {
		if known == 0 {
			return
		}
		assert.InDelta(t, exact, known, 0.0005*known, "%s by its formula", of)
		fig := near(known, s.mean(), 0.02*known, 4)
		fig.deviation = s.deviation()
		all = append(all, finding{what + of, []figure{fig}, "2%"})
	}
	add("probability to wait", q.waits, waits, &m.waits)
	add("mean wait", q.wait, wait, &m.wait)
	add("mean time inside", q.system, wait+1, &m.system)
	return all
}

// queueMeter measures a queue that serves in the order of arrivals, from the
// record of its run alone.
type queueMeter struct {
	servers int
	inside  int
	line    []time.Duration // when those came that wait
	head    int             // of the line, who still does
	waits   batches         // 1 for each who waits
	wait    batches         // in service times, as is
	system  batches
}

const serviceTime = 100 * time.Millisecond

func newQueueMeter(servers, batch int) *queueMeter {
	return &queueMeter{servers: servers, waits: batches{size: batch, unit: 1}, wait: batches{size: batch, unit: serviceTime}, system: batches{size: batch, unit: serviceTime}}
}

func (m *queueMeter) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.Call:
		if m.inside++; m.inside > m.servers {
			m.waits.add(1)
			m.line = append(m.line, e.T)
			break
		}
		m.waits.add(0)
		m.wait.add(0)
	case trace.Result:
		m.inside--
		m.system.add(e.Took)
		if m.head < len(m.line) {
			m.wait.add(e.T - m.line[m.head])
			m.head++
		}
		if m.head == len(m.line) {
			m.line, m.head = m.line[:0], 0
		}
	}
	return nil
}

// batches sums up what comes, as a whole and in batches of a size: the means of
// those tell how sure the mean of all is, although neighbours depend on each
// other.
type batches struct {
	size  int
	unit  time.Duration
	n     int
	sum   time.Duration
	batch time.Duration // the sum of the one under way
	means []float64
}

func (b *batches) add(v time.Duration) {
	b.n++
	b.sum += v
	if b.batch += v; b.n%b.size == 0 {
		b.means = append(b.means, float64(b.batch)/float64(b.size)/float64(b.unit))
		b.batch = 0
	}
}

func (b *batches) mean() float64 { return float64(b.sum) / float64(b.n) / float64(b.unit) }

func (b *batches) deviation() float64 { return deviation(b.means) }

// deviation is the standard error of the mean of values that do not depend on
// each other.
func deviation(values []float64) float64 {
	n := float64(len(values))
	mean := mean(values)
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / (n - 1) / n)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// little counts who is inside, once by walking along the record and once by
// asking each how long he was there.
type little struct {
	inside  map[[2]int]time.Duration // since when, by call and attempt
	last    time.Duration
	arrived int
	area    time.Duration // number inside, summed over time
	stays   time.Duration
}

func (l *little) Event(e *trace.Event) error {
	l.area += time.Duration(len(l.inside)) * (e.T - l.last)
	l.last = e.T
	switch {
	case e.Kind == trace.Call && e.Target != "", e.Kind == trace.Admit:
		l.inside[[2]int{e.Call, e.Attempt}] = e.T
		l.arrived++
	case e.Kind == trace.Vanish:
		delete(l.inside, [2]int{e.Call, e.Attempt})
	case e.Kind == trace.Result:
		delete(l.inside, [2]int{e.Call, e.Attempt})
		l.stays += e.Took
	case e.Kind == trace.End:
		for _, since := range l.inside {
			l.stays += e.T - since
		}
	}
	return nil
}

// law is both sides of the law: the mean number inside, and the rate of
// arrivals times the mean time inside.
func (l *little) law() (number, product float64) {
	if l.arrived == 0 {
		return 0, 0
	}
	rate := float64(l.arrived) / float64(l.last)
	return float64(l.area) / float64(l.last), rate * (float64(l.stays) / float64(l.arrived))
}

func playLittle(t *testing.T) []finding {
	const rounding = 1e-12
	l := &little{inside: map[[2]int]time.Duration{}}
	playText(t, queueScenario(1, 0.8, "poisson", 600_000), l)
	inside, product := l.law()
	one := near(product, inside, rounding*product, 4)
	worst, replays := 0.0, 0
	for _, name := range scenarios.Names() {
		s, err := loadOne(name, nil, scenarios.DefaultLimits())
		require.NoError(t, err)
		for i := range s.Policies {
			l := &little{inside: map[[2]int]time.Duration{}}
			_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{l}})
			require.NoError(t, err)
			inside, product := l.law()
			worst = max(worst, math.Abs(inside-product)/max(product, 1))
			replays++
		}
	}
	require.Greater(t, replays, 15)
	return []finding{
		{"Little's law, M/M/1 at load 0.8, 600,000 customers: rate × mean time, and mean number inside", []figure{one}, "rounding, 1 in 10¹²"},
		{"Little's law, every built-in scenario under each of its policies: the largest difference", []figure{between("0", 0, rounding, worst, 0)}, "rounding, 1 in 10¹²"},
	}
}

// queueChart shows the formulas as curves and every row as a point.
func queueChart(got []*queueMeter) *chart {
	const highest, highestWait = 22, 2.2
	one := panel{
		title: "One server: mean time inside, in service times",
		x:     axis{label: "load", min: 0.3, max: 1, ticks: ticks(plain, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)},
		y:     axis{min: 0, max: highest, ticks: ticks(plain, 0, 5, 10, 15, 20)},
		series: []series{
			queueSeries("M/M/1", "ok", draw.CircleGlyph{}, nil, got, 1, "poisson", 1, highest),
			queueSeries("D/M/1", "bad", draw.BoxGlyph{}, []vg.Length{px(6), px(3)}, got, 1, "constant", 1, highest),
		},
	}
	more := panel{
		title: "More servers: mean wait, in service times",
		x:     axis{label: "load", min: 0.3, max: 1, ticks: ticks(plain, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)},
		y:     axis{min: 0, max: highestWait, ticks: ticks(plain, 0, 0.5, 1, 1.5, 2)},
		series: []series{
			queueSeries("M/M/2", "ok", draw.CircleGlyph{}, nil, got, 2, "poisson", 0, highestWait),
			queueSeries("M/M/4", "bad", draw.BoxGlyph{}, []vg.Length{px(6), px(3)}, got, 4, "poisson", 0, highestWait),
			queueSeries("M/M/5", "limited", draw.PyramidGlyph{}, []vg.Length{px(2), px(2)}, got, 5, "poisson", 0, highestWait),
			queueSeries("M/M/10", "probe", diamond{}, []vg.Length{px(8), px(3), px(2), px(3)}, got, 10, "poisson", 0, highestWait),
		},
	}
	return &chart{
		name:  "queues",
		title: "Queues: mean time inside and mean wait against load, theory and ours",
		about: "Two charts against load. Left, one server: the mean time inside rises from 1.4 service times at load 0.3 to 2 at 0.5, 5 at 0.8 and 20 at 0.95, and less steeply with constant arrivals. " +
			"Right, the mean wait at 2, 4, 5 and 10 servers: the more servers, the later it rises. All our points lie on the curves of the formulas.",
		line:   "theory",
		panels: []panel{one, more},
	}
}

// queueSeries is the curve of one kind of queue, and the rows that are of it;
// plus is 1 for the time inside, 0 for the wait; the curve ends at the top.
func queueSeries(name, color string, glyph draw.GlyphDrawer, dashes []vg.Length, got []*queueMeter, servers int, arrivals string, plus, top float64) series {
	s := series{name: name, color: color, glyph: glyph, dashes: dashes}
	at := func(load float64) float64 {
		q := queue{servers: servers, load: load, arrivals: arrivals}
		_, wait := q.theory()
		return wait + plus
	}
	last := 0.3 // where the curve leaves the chart
	for step := 0.4; step > 1e-6; step /= 2 {
		if last+step < 0.999 && at(last+step) <= top {
			last += step
		}
	}
	const pieces = 120
	for i := range pieces + 1 {
		load := 0.3 + (last-0.3)*float64(i)/pieces
		s.curve = append(s.curve, plotter.XY{X: load, Y: at(load)})
	}
	for i, q := range queueRows {
		if m := got[i]; m != nil && q.servers == servers && q.arrivals == arrivals {
			y := m.wait.mean()
			if plus > 0 {
				y = m.system.mean()
			}
			s.ours = append(s.ours, plotter.XY{X: q.load, Y: y})
		}
	}
	return s
}

// plain writes a tick's number as short as it goes.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
