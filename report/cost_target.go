package report

import (
	"sort"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// aftermath is how long after an outage a burst is looked for, and window how
// wide the burst is.
const (
	aftermath = time.Minute
	window    = time.Second
)

// targetMeter measures the outages of one target. Its instants never go back,
// but for the starts of attempts that it hears of when they succeed.
type targetMeter struct {
	name    string
	of      *targetMeter // of a host: the target that it is one of; else nil
	price   trace.Price
	outages []trace.Span // not cut at the run's end; the last may go on forever
	now     int          // the first outage that is not over
	soon    int          // the first outage whose aftermath is not over

	recovered int             // so many outages have seen a success since
	recover   []time.Duration // of those
	turned    []time.Duration // by outage: the last call turned away after it; its end if none was
	burst     []int           // by outage
	recent    []time.Duration // starts within the window, in an aftermath
}

func newTargetMeter(t *trace.Target) *targetMeter {
	m := &targetMeter{name: t.Name, outages: t.Outages(forever)}
	if t.Price != nil {
		m.price = *t.Price
	}
	m.burst = make([]int, len(m.outages))
	for _, o := range m.outages {
		m.turned = append(m.turned, o.To)
	}
	return m
}

// start is the start of an attempt; it says whether it was in an outage.
func (m *targetMeter) start(t time.Duration) bool {
	m.advance(t)
	m.crowd(t)
	if m.of != nil {
		m.of.start(t)
	}
	return m.now < len(m.outages) && m.outages[m.now].From <= t
}

// isOf says whether it has that name, or is a host of the one that has it.
func (m *targetMeter) isOf(name string) bool {
	return m != nil && (m.name == name || m.of != nil && m.of.name == name)
}

func (m *targetMeter) advance(t time.Duration) {
	for m.now < len(m.outages) && m.outages[m.now].To <= t {
		m.now++
	}
	for m.soon < m.now && m.outages[m.soon].To+aftermath <= t {
		m.soon++
	}
}

// crowd counts the attempts that started in the window up to t, one at t among
// them, for every outage in whose aftermath t is.
func (m *targetMeter) crowd(t time.Duration) {
	if m.soon == m.now {
		m.recent = m.recent[:0]
		return
	}
	old := sort.Search(len(m.recent), func(i int) bool { return m.recent[i] > t-window })
	if 2*old > len(m.recent) { // moves each start at most once, on the whole
		m.recent = append(m.recent[:0], m.recent[old:]...)
		old = 0
	}
	m.recent = append(m.recent, t)
	for i := m.soon; i < m.now; i++ {
		from := old + sort.Search(len(m.recent)-old, func(k int) bool { return m.recent[old+k] >= m.outages[i].To })
		m.burst[i] = max(m.burst[i], len(m.recent)-from)
	}
}

// turnAway is a call that the breaker kept from the target.
func (m *targetMeter) turnAway(t time.Duration) {
	m.advance(t)
	if m.now > 0 && (m.now == len(m.outages) || t < m.outages[m.now].From) {
		m.turned[m.now-1] = t
	}
	if m.of != nil {
		m.of.turnAway(t)
	}
}

// succeeded is the success at t of an attempt that began then. It ends the
// wait of every outage that was over by then; those are always the first ones.
func (m *targetMeter) succeeded(began, t time.Duration) {
	for m.recovered < len(m.outages) && m.outages[m.recovered].To <= began {
		m.recover = append(m.recover, t-m.outages[m.recovered].To)
		m.recovered++
	}
	if m.of != nil {
		m.of.succeeded(began, t)
	}
}

// outageAt is the index of the outage that t is in, or -1.
func (m *targetMeter) outageAt(t time.Duration) int {
	i := sort.Search(len(m.outages), func(i int) bool { return m.outages[i].To > t })
	if i < len(m.outages) && m.outages[i].From <= t {
		return i
	}
	return -1
}

// until is how many outages began by end.
func (m *targetMeter) until(end time.Duration) int {
	return sort.Search(len(m.outages), func(i int) bool { return m.outages[i].From > end })
}

func (m *targetMeter) costs(end time.Duration) []OutageCost {
	var costs []OutageCost
	for i, o := range m.outages[:m.until(end)] {
		c := OutageCost{Target: m.name, From: o.From, To: min(o.To, end)}
		if o.To <= end { // instants at the end are played
			c.Overshoot, c.Burst = new(m.turned[i]-o.To), &m.burst[i]
			if i < m.recovered {
				c.Recover = &m.recover[i]
			}
		}
		costs = append(costs, c)
	}
	return costs
}
