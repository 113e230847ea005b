package report

import (
	"encoding/json"
	"math"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Cost is what one run cost: its callers, its targets and its patience. The
// meter makes it; [Columns] say how to read it.
type Cost struct {
	Calls      int // started
	Attempts   int // admitted, or made without a gate
	Wasted     int // attempts that started in an outage of their target
	Refused    int // calls that ended so
	Exhausted  int // calls that ended so
	Rerouted   int // calls with an attempt at another target than the one they were for
	Succeeded  int // calls whose last attempt succeeded
	Failed     int // calls that ended otherwise, Refused and Exhausted among them
	Unfinished int // calls still running at the end
	Finished   int // calls that ended by the run's end: those that the ranked waits below are of
	AtOnce     int // of those, the ones that did not wait at all
	WaitTotal  time.Duration
	WaitWasted time.Duration
	WaitP50    time.Duration // nearest rank; like the next ones 0 without a finished call
	WaitP90    time.Duration
	WaitP99    time.Duration
	WaitP999   time.Duration // of a thousand calls the one but slowest
	WaitMax    time.Duration
	Harm       int           // refused calls that the target would have served
	Priced     bool          // some target has a price
	Money      float64       // for all attempts, at their targets' prices
	Tokens     int           // likewise
	Outages    []OutageCost  // of every target in its order, by time
	Breakers   []BreakerCost // in the order of the scenario; none under a policy without
}

// OutageCost is what one outage of one target cost after its end. Only an outage
// that was over by the run's end has an Overshoot and a Burst.
type OutageCost struct {
	Target    string
	From, To  time.Duration  // To: the run's end if the outage lasts longer
	Recover   *time.Duration // nil: no attempt that started after it succeeded
	Overshoot *time.Duration // to the last call refused, exhausted or rerouted before the next outage
	Burst     *int           // most attempts within one second, in the minute after
}

// BreakerCost is how often and how long one breaker kept calls from its target.
type BreakerCost struct {
	Breaker  string
	Openings int              // transitions to open or fallback
	OpenTime time.Duration    // neither closed nor primary, by effective times
	Detect   []*time.Duration // for each outage of its target, to the trip within it; nil: none
}

// Unit is what a column counts in.
type Unit uint8

// Units of columns.
const (
	Count    Unit = iota // a number of things
	Duration             // nanoseconds
	Ratio                // a plain number
)

var unitNames = [...]string{"count", "duration", "ratio"}

// String is the unit's word.
func (u Unit) String() string { return unitNames[u] }

// Column is one figure of the cost table.
type Column struct {
	Name    string // in JSON and in expectations
	Heading string // in tables
	Unit    Unit
	Group   string // what tables put it under
	About   string // what it is, in a few words
	get     func(*Cost) (float64, bool)
}

// Columns are all the figures, in the table's order.
var Columns = []Column{
	{"calls", "calls", Count, "calls", "calls started", count(func(c *Cost) int { return c.Calls })},
	{"attempts", "attempts", Count, "calls", "attempts sent to a target", count(func(c *Cost) int { return c.Attempts })},
	{"wasted_attempts", "wasted", Count, "calls", "attempts begun in an outage", count(func(c *Cost) int { return c.Wasted })},
	{"refused", "refused", Count, "calls", "calls that a breaker refused", count(func(c *Cost) int { return c.Refused })},
	{"exhausted", "exhausted", Count, "calls", "calls with no model left", count(func(c *Cost) int { return c.Exhausted })},
	{"rerouted", "rerouted", Count, "calls", "calls sent to another target", count(func(c *Cost) int { return c.Rerouted })},
	{"succeeded", "ok", Count, "calls", "calls whose last attempt succeeded", count(func(c *Cost) int { return c.Succeeded })},
	{"failed", "failed", Count, "calls", "calls that ended in any other way", count(func(c *Cost) int { return c.Failed })},
	{"unfinished", "unfinished", Count, "calls", "calls still running at the end", count(func(c *Cost) int { return c.Unfinished })},
	{"wait_total", "waited", Duration, "waiting", "waiting of all calls, ended or not", always(func(c *Cost) float64 { return float64(c.WaitTotal) })},
	{"wait_wasted", "in vain", Duration, "waiting", "waiting that led to no answer", always(func(c *Cost) float64 { return float64(c.WaitWasted) })},
	{"wait_p50", "p50 wait", Duration, "waiting", "median wait of ended calls", ranked(func(c *Cost) time.Duration { return c.WaitP50 })},
	{"wait_p99", "p99 wait", Duration, "waiting", "99th percentile of ended calls", ranked(func(c *Cost) time.Duration { return c.WaitP99 })},
	{"wait_max", "max wait", Duration, "waiting", "longest wait of ended calls", ranked(func(c *Cost) time.Duration { return c.WaitMax })},
	{"amplification", "amplification", Ratio, "waiting", "attempts per call", (*Cost).amplification},
	{"detect", "detect", Duration, "outages", "outage's start to the trip", (*Cost).detect},
	{"recover", "recover", Duration, "outages", "outage's end to the first success", (*Cost).recovery},
	{"overshoot", "overshoot", Duration, "outages", "outage's end to the last call kept from its target", (*Cost).overshoot},
	{"openings", "openings", Count, "outages", "trips, repeated ones too", (*Cost).openings},
	{"open_time", "open", Duration, "outages", "time neither closed nor primary", (*Cost).openTime},
	{"harm", "harm", Count, "outages", "refused calls, each of which would have worked by itself", count(func(c *Cost) int { return c.Harm })},
	{"burst", "burst", Count, "outages", "most attempts/s in the minute after outages", (*Cost).burst},
	{"money", "money", Ratio, "price", "for all attempts, by their targets' prices", priced(func(c *Cost) float64 { return c.Money })},
	{"tokens", "tokens", Count, "price", "tokens of all attempts", priced(func(c *Cost) float64 { return float64(c.Tokens) })},
}

// Metric is the figure of that name, in nanoseconds if it is a duration: the
// largest where there are several outages or breakers. It is false if there is
// no such figure, or if it is undefined for this run.
func (c *Cost) Metric(name string) (float64, bool) {
	for i := range Columns {
		if Columns[i].Name == name {
			return Columns[i].get(c)
		}
	}
	return 0, false
}

// MarshalJSON writes every figure by its name: a list where there is one for
// each outage or breaker, and null where it is undefined.
func (c Cost) MarshalJSON() ([]byte, error) {
	m := map[string]any{}
	for i := range Columns {
		m[Columns[i].Name] = nil
		if v, ok := Columns[i].get(&c); ok {
			m[Columns[i].Name] = v
		}
	}
	detect, recovers, overshoot := [][]*time.Duration{}, []*time.Duration{}, []*time.Duration{}
	openings, openTime, burst := []int{}, []time.Duration{}, []*int{}
	for _, b := range c.Breakers {
		detect = append(detect, append([]*time.Duration{}, b.Detect...))
		openings, openTime = append(openings, b.Openings), append(openTime, b.OpenTime)
	}
	for _, o := range c.Outages {
		recovers, overshoot, burst = append(recovers, o.Recover), append(overshoot, o.Overshoot), append(burst, o.Burst)
	}
	m["recover"], m["overshoot"], m["burst"] = recovers, overshoot, burst
	if len(c.Breakers) > 0 {
		m["detect"], m["openings"], m["open_time"] = detect, openings, openTime
	}
	return json.Marshal(m)
}

func always(f func(*Cost) float64) func(*Cost) (float64, bool) {
	return func(c *Cost) (float64, bool) { return f(c), true }
}

func count(f func(*Cost) int) func(*Cost) (float64, bool) {
	return always(func(c *Cost) float64 { return float64(f(c)) })
}

// priced is a figure that only a run has whose targets have prices.
func priced(f func(*Cost) float64) func(*Cost) (float64, bool) {
	return func(c *Cost) (float64, bool) { return f(c), c.Priced }
}

// ranked is a figure that only finished calls have.
func ranked(f func(*Cost) time.Duration) func(*Cost) (float64, bool) {
	return func(c *Cost) (float64, bool) { return float64(f(c)), c.Finished > 0 }
}

func (c *Cost) amplification() (float64, bool) {
	if c.Calls == 0 {
		return 0, false
	}
	return float64(c.Attempts) / float64(c.Calls), true
}

func (c *Cost) detect() (v float64, ok bool) {
	for _, b := range c.Breakers {
		for _, d := range b.Detect {
			v, ok = larger(v, ok, d)
		}
	}
	return v, ok
}

func (c *Cost) recovery() (v float64, ok bool) {
	for _, o := range c.Outages {
		v, ok = larger(v, ok, o.Recover)
	}
	return v, ok
}

func (c *Cost) overshoot() (v float64, ok bool) {
	for _, o := range c.Outages {
		v, ok = larger(v, ok, o.Overshoot)
	}
	return v, ok
}

func (c *Cost) burst() (v float64, ok bool) {
	for _, o := range c.Outages {
		v, ok = larger(v, ok, o.Burst)
	}
	return v, ok
}

func (c *Cost) openings() (v float64, ok bool) {
	for _, b := range c.Breakers {
		v, ok = larger(v, ok, &b.Openings)
	}
	return v, ok
}

func (c *Cost) openTime() (v float64, ok bool) {
	for _, b := range c.Breakers {
		v, ok = larger(v, ok, &b.OpenTime)
	}
	return v, ok
}

// larger takes one more figure into a maximum; nil is undefined.
func larger[T int | time.Duration](v float64, ok bool, p *T) (float64, bool) {
	if p == nil {
		return v, ok
	}
	return max(v, float64(*p)), true
}

// plus adds without wrapping around: a sum beyond 292 years stays there.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

var _ trace.Sink = (*Meter)(nil)
