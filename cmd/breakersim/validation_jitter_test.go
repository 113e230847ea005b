package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim"
)

var jitters = block{
	id:    "V2",
	title: "Backoff and jitter",
	claim: "N clients want to change one row: each reads it and writes it, again and again, until no other wrote in between. Backing off without jitter keeps them in step, which costs the most; " +
		"with jitter they need less than half the calls, and each kind of jitter has its own price.",
	source: "Published: the experiment and the claims are those of [Exponential Backoff And Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/), AWS Architecture Blog, March 2015. " +
		"Measured: the post draws curves and prints no numbers, so the figures are those of an independent, seeded re-implementation, means of 100 runs.",
	how: "Every hop takes |Normal(10, 2)| ms, and there are four: the read and its answer, the write and its answer. After its k-th lost write a client waits as its ladder says, with the curve min(2 s, 5 ms × 2ᵏ); " +
		"decorrelated jitter starts from 5 ms. The ladders and jitters are those of package `machine`, the clock and the draws those of package `sim`. Calls are writes, the time is that of the last answer; means of 100 runs, " +
		"whose seeds are their numbers. Allowed is 2%, and the 95% interval on top: at N = 100 as it came with the known figures; at 10 and 50, where none came, that of the difference of two such means, by our deviations.",
	columns: "clients and backoff: time in ms / calls",
	play:    playJitters,
}

// contest is a way to back off, and what is known to come of it.
type contest struct {
	name   string
	ladder machine.Ladder
	known  [len(crowds)]cost
	color  string
	glyph  draw.GlyphDrawer
}

// cost is what the clients pay: time and calls, and how wide the 95% intervals
// of both are to either side, 0 if that is not known.
type cost struct{ ms, calls, msInterval, callsInterval float64 }

// crowds are how many clients contend.
var crowds = [...]int{10, 50, 100}

const contests = 100 // runs of each

var contestRows = []contest{
	{"none", backoff("fixed", "none", 0), [...]cost{{382, 51, 0, 0}, {1147, 689, 0, 0}, {2017, 2420, 9, 6}}, "ink", cross{}},
	{"exponential", backoff("exponential", "none", 10), [...]cost{{3409, 50, 0, 0}, {37055, 628, 0, 0}, {63472, 1864, 762, 11}}, "bad", draw.BoxGlyph{}},
	{"equal jitter", backoff("exponential", "equal", 10), [...]cost{{741, 42, 0, 0}, {4238, 347, 0, 0}, {6691, 812, 141, 2}}, "limited", draw.PyramidGlyph{}},
	{"full jitter", backoff("exponential", "full", 10), [...]cost{{464, 39, 0, 0}, {2928, 333, 0, 0}, {4898, 797, 110, 1}}, "ok", draw.CircleGlyph{}},
	{"decorrelated", backoff("exponential", "decorrelated", 5), [...]cost{{440, 38, 0, 0}, {2178, 376, 0, 0}, {4705, 1004, 143, 6}}, "probe", diamond{}},
}

// backoff is a ladder without an end. Its first wait is the base, in ms: what
// the post counts as 5 ms doubled once.
func backoff(curve, jitter string, base time.Duration) machine.Ladder {
	return machine.Ladder{Curve: curve, Jitter: jitter, Attempts: math.MaxInt, Base: base * time.Millisecond, Cap: 2 * time.Second}
}

// contend lets clients read a row and write it until each has written, and
// returns how many writes that took and when the last client heard of its own.
func contend(clients int, l machine.Ladder, root sim.Key) (writes int, end time.Duration) {
	const (
		rest     = iota // is over: the client reads
		read            // has come to the row
		answer          // to the read has come back: the client writes
		write           // has come to the row
		lost            // has come back: somebody else wrote since the read
		accepted        // has come back
	)
	type client struct {
		next    int // what its event is
		hops    uint64
		losses  uint64
		version int // that it read
		retry   machine.Retry
	}
	var clock sim.Clock
	version := 0
	all := make([]client, clients)
	plan := func(i, next int, takes time.Duration) {
		all[i].next = next
		clock.Schedule(sim.Event{At: clock.Now() + takes, What: uint32(i)})
	}
	send := func(i, next int) {
		all[i].hops++
		plan(i, next, hop(root.Number(uint64(i)).Name("hop").Number(all[i].hops)))
	}
	for i := range all {
		all[i].retry = l.Start(0)
		plan(i, rest, 0)
	}
	for e := range clock.Until(math.MaxInt64) {
		i := int(e.What)
		switch c := &all[i]; c.next {
		case rest:
			send(i, read)
		case read:
			c.version = version
			send(i, answer)
		case answer:
			writes++
			send(i, write)
		case write:
			if c.version != version {
				send(i, lost)
				break
			}
			version++
			send(i, accepted)
		case lost:
			c.losses++
			u := root.Number(uint64(i)).Name("wait").Number(c.losses).Uniform()
			plan(i, rest, c.retry.Next(e.At, machine.Transient, -1, u).Wait)
		case accepted:
			end = e.At
		}
	}
	return writes, end
}

// hop draws |Normal(10, 2)| ms, by way of a lognormal draw whose sigma is 1.
func hop(k sim.Key) time.Duration {
	const p99 = 10.2398 // e to the power of 2.3263
	z := math.Log(k.Lognormal(time.Second, time.Duration(p99*float64(time.Second))).Seconds())
	return time.Duration(math.Round(math.Abs(10+2*z) * float64(time.Millisecond)))
}

// outcome is the cost of every run of a contest.
type outcome struct{ ms, calls []float64 }

func playJitters(t *testing.T) findings {
	got := make([][len(crowds)]outcome, len(contestRows))
	for i := range contestRows {
		require.NoError(t, contestRows[i].ladder.Validate())
		for k, clients := range crowds {
			o := &got[i][k]
			for run := range contests {
				writes, end := contend(clients, contestRows[i].ladder, sim.NewKey(uint64(run+1)))
				o.calls = append(o.calls, float64(writes))
				o.ms = append(o.ms, float64(end)/float64(time.Millisecond))
			}
		}
	}
	var f findings
	for k, clients := range crowds {
		for i, c := range contestRows {
			ms, allowed := meanFigure(c.known[k].ms, c.known[k].msInterval, got[i][k].ms)
			calls, more := meanFigure(c.known[k].calls, c.known[k].callsInterval, got[i][k].calls)
			f.rows = append(f.rows, finding{fmt.Sprintf("%d clients, %s", clients, c.name), []figure{ms, calls}, allowed + " / " + more})
		}
	}
	f.rows = append(f.rows, claims(got)...)
	f.picture = jitterChart(got)
	return f
}

// meanFigure holds the mean of our runs against a known one, and says what is
// allowed between them.
func meanFigure(known, interval float64, ours []float64) (f figure, allowed string) {
	d := deviation(ours)
	if interval == 0 {
		interval = 1.96 * math.Sqrt2 * d
	}
	f = near(known, mean(ours), 0.02*known+interval, 0)
	if f.deviation = d; known < 1000 {
		f.decimals = 1
	}
	return f, "2% + " + number(interval, f.decimals)
}

// claims are what the post says of 100 clients, each as a quotient of two costs.
func claims(got [][len(crowds)]outcome) []finding {
	const none, expo, equal, full, decorrelated = 0, 1, 2, 3, 4
	last := len(crowds) - 1
	calls := func(a, b int) float64 { return mean(got[a][last].calls) / mean(got[b][last].calls) }
	ms := func(a, b int) float64 { return mean(got[a][last].ms) / mean(got[b][last].ms) }
	above1, below1, most := math.Nextafter(1, 2), math.Nextafter(1, 0), math.Inf(1)
	var all []finding
	claim := func(what, known, allowed string, low, high float64, ours ...float64) {
		f := finding{what: "100 clients, " + what, within: allowed}
		for _, v := range ours {
			f.figures = append(f.figures, between(known, low, high, v, 3))
		}
		all = append(all, f)
	}
	claim("calls: equal, full and decorrelated jitter, each ÷ none", "less than half", "< 0.5", 0, math.Nextafter(0.5, 0), calls(equal, none), calls(full, none), calls(decorrelated, none))
	claim("calls: equal and full jitter, each ÷ exponential", "less than half", "< 0.5", 0, math.Nextafter(0.5, 0), calls(equal, expo), calls(full, expo))
	claim("calls: exponential ÷ equal, full and decorrelated jitter", "more", "> 1", above1, most, calls(expo, equal), calls(expo, full), calls(expo, decorrelated))
	claim("time: exponential ÷ equal, full and decorrelated jitter", "more", "> 1", above1, most, ms(expo, equal), ms(expo, full), ms(expo, decorrelated))
	claim("calls: equal ÷ full jitter", "slightly more", "1 to 1.1", above1, 1.1, calls(equal, full))
	claim("time: equal ÷ full jitter", "much more", "1.2 or more", 1.2, most, ms(equal, full))
	claim("calls: full ÷ decorrelated jitter", "less", "< 1", 0, below1, calls(full, decorrelated))
	claim("time: full ÷ decorrelated jitter", "slightly more", "1 to 1.2", above1, 1.2, ms(full, decorrelated))
	return all
}

func jitterChart(got [][len(crowds)]outcome) *chart {
	clients := axis{label: "clients", min: 0, max: 100, ticks: ticks(plain, 0, 10, 50, 100)}
	whole := func(v float64) string { return report.Thousands(int64(v)) }
	calls := panel{title: "Calls", x: clients, y: axis{min: 0, max: 2500, ticks: ticks(whole, 0, 500, 1000, 1500, 2000, 2500)}}
	ms := panel{title: "Time in ms, logarithmic", x: clients, y: axis{min: 200, max: 100_000, log: true, ticks: ticks(whole, 1000, 10_000, 100_000)}}
	for i, c := range contestRows {
		a := series{name: c.name, color: c.color, glyph: c.glyph}
		b := a
		for k, n := range crowds {
			x := float64(n)
			a.known = append(a.known, plotter.XY{X: x, Y: c.known[k].calls})
			a.ours = append(a.ours, plotter.XY{X: x, Y: mean(got[i][k].calls)})
			b.known = append(b.known, plotter.XY{X: x, Y: c.known[k].ms})
			b.ours = append(b.ours, plotter.XY{X: x, Y: mean(got[i][k].ms)})
		}
		a.curve, b.curve = a.ours, b.ours
		calls.series, ms.series = append(calls.series, a), append(ms.series, b)
	}
	return &chart{
		name:  "jitter",
		title: "Backoff and jitter: calls and time against the number of clients, known and ours",
		about: "Two charts against 10, 50 and 100 clients. Left, calls: without backoff most, 2,420 at 100 clients, then exponential backoff with 1,864; decorrelated jitter has 1,004, equal 812 and full 797. " +
			"Right, time on a logarithmic axis: exponential backoff takes by far the longest, 63 s at 100 clients; the jitters 4.7 to 6.7 s; without backoff 2 s. Ours lie within the rings of the known figures.",
		panels: []panel{calls, ms},
	}
}
