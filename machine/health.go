package machine

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Stats are what became of the calls of one tool (H1). The zero Stats are those
// of a tool without calls. Recording takes no lock.
type Stats struct {
	succeeded, failed atomic.Uint64
	sum, longest      atomic.Int64
	lost              atomic.Int64 // what ewma lacks of 1, in millionths: the zero Stats have an ewma of 1 (H2)
}

// million is what the ewma is scaled by (H2).
const million = 1_000_000

// Record counts a call that took so long, a failed one too. A negative time is
// taken for none.
func (s *Stats) Record(took time.Duration, ok bool) {
	took = max(took, 0)
	update(&s.sum, func(sum int64) int64 { return int64(addSaturated(time.Duration(sum), took)) })
	if took > time.Duration(s.longest.Load()) {
		update(&s.longest, func(longest int64) int64 { return max(longest, int64(took)) })
	}
	sample := int64(0)
	if ok {
		sample = million
		s.succeeded.Add(1)
	} else {
		s.failed.Add(1)
	}
	update(&s.lost, func(lost int64) int64 { return million - (7*(million-lost)+3*sample)/10 })
}

// update is one atomic step from the old value to the new one.
func update(v *atomic.Int64, step func(old int64) int64) {
	for {
		old := v.Load()
		if next := step(old); next == old || v.CompareAndSwap(old, next) {
			return
		}
	}
}

// Read is the stats as they are. Of a call that is being recorded at this
// moment some figures may be in it and others not yet.
func (s *Stats) Read() StatsSnapshot {
	return StatsSnapshot{Successes: s.succeeded.Load(), Failures: s.failed.Load(), Sum: time.Duration(s.sum.Load()),
		Longest: time.Duration(s.longest.Load()), EWMA: int(million - s.lost.Load())}
}

// StatsSnapshot is [Stats] at one moment.
type StatsSnapshot struct {
	Successes, Failures uint64
	Sum                 time.Duration // of all calls; stays at the longest duration there is
	Longest             time.Duration
	EWMA                int // of the calls' success, the latest weighing 0.3, in millionths (H2)
}

// Total is how many calls were recorded.
func (s StatsSnapshot) Total() uint64 { return s.Successes + s.Failures }

// SuccessRate is the share of calls that succeeded, 1 without calls (H3).
func (s StatsSnapshot) SuccessRate() float64 {
	if s.Total() == 0 {
		return 1
	}
	return float64(s.Successes) / float64(s.Total())
}

// Score is 0.3 times the success rate plus 0.7 times the ewma, from 0 to 1 (H3).
// It is computed in tenths, and so that no processor rounds it otherwise.
func (s StatsSnapshot) Score() float64 {
	return (float64(3*s.SuccessRate()) + float64(7*float64(s.EWMA)/million)) / 10
}

// Mean is how long a call took on average, 0 without calls.
func (s StatsSnapshot) Mean() time.Duration {
	if s.Total() == 0 {
		return 0
	}
	return s.Sum / time.Duration(min(s.Total(), math.MaxInt64))
}

// Health is how well a tool is. The zero Health is none.
type Health uint8

// Healths (H4).
const (
	Healthy   Health = iota + 1 // a score of at least 0.8
	Degraded                    // of at least 0.5
	Unhealthy                   // below that, and always while the breaker is Open
)

var healthNames = [...]string{"none", "healthy", "degraded", "unhealthy"}

// String is the health's word, such as "degraded".
func (h Health) String() string { return word(healthNames[:], int(h)) }

// Health judges a tool with these stats whose breaker is in that state (H4). It
// is for people and routers to read: it never refuses a call.
func (s StatsSnapshot) Health(breaker State) Health {
	switch score := s.Score(); {
	case breaker == Open || score < 0.5:
		return Unhealthy
	case score < 0.8:
		return Degraded
	default:
		return Healthy
	}
}

// ToolHealth is a line of the health summary.
type ToolHealth struct {
	Tool   string
	State  State
	Health Health
	StatsSnapshot
}

// String is the line for people.
func (h ToolHealth) String() string {
	return fmt.Sprintf("%s: %s, score %.2f, breaker %s, %d of %d calls failed, mean %v, longest %v",
		h.Tool, h.Health, h.Score(), h.State, h.Failures, h.Total(), h.Mean(), h.Longest)
}
