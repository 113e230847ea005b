package replay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// sojourns sums how long attempts took.
type sojourns struct {
	n   int
	sum time.Duration
}

func (s *sojourns) Event(e *trace.Event) error {
	if e.Kind == trace.Result {
		s.n++
		s.sum += e.Took
	}
	return nil
}

// TestQueuesAgreeWithTheory holds the mean time in the system, in service times,
// within 2%, against exact results: 1/(1-load) for one server, Erlang's C formula for more,
// and the root of sigma = exp(-(1-sigma)/load) for constant arrivals.
func TestQueuesAgreeWithTheory(t *testing.T) {
	for _, q := range []struct {
		name     string
		servers  int
		load     float64
		arrivals string
		time     float64 // in service times
		calls    float64 // a heavier load forgets its past more slowly
	}{
		{"M/M/1", 1, 0.5, "poisson", 2, 600_000},
		{"M/M/1", 1, 0.8, "poisson", 5, 600_000},
		{"M/M/2", 2, 0.8, "poisson", 1 + 1.7778, 600_000},
		{"M/M/4", 4, 0.8, "poisson", 1 + 0.7455, 600_000},
		{"M/M/5", 5, 0.7, "poisson", 1 + 0.3778/(5*0.3), 600_000},
		{"M/M/10", 10, 0.8, "poisson", 1 + 0.2046, 600_000},
		{"M/M/10", 10, 0.9, "poisson", 1 + 0.6687, 600_000},
		{"D/M/1", 1, 0.9, "constant", 1 / (1 - 0.8069), 2_400_000},
	} {
		t.Run(fmt.Sprint(q.name, " at ", q.load), func(t *testing.T) {
			rate := q.load * float64(q.servers) * 10
			s := load(t, fmt.Sprintf(`
scenario: queue
duration: %vs
targets:
  q: {latency: {exponential: 100ms}, capacity: {servers: %d}}
callers:
  - {to: q, rate: %v/s, arrivals: %s, timeout: 10h}
`, q.calls/rate, q.servers, rate, q.arrivals))
			got := new(sojourns)
			_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{got}})
			require.NoError(t, err)
			assert.InDelta(t, q.calls, got.n, q.calls/100)
			assert.InEpsilon(t, q.time, float64(got.sum)/float64(got.n)/1e8, 0.02)
		})
	}
}
