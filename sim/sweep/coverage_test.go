package sweep_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/sweep"
	"github.com/breakersim/breakersim/sim/trace"
)

// queue is an M/M/1 queue at load 0.5 with a service time of 1 s: customers wait
// in line for 1 s and are served for 1 s on average, once the empty beginning is
// forgotten.
const queue = `
scenario: queue
duration: 400s
targets: {desk: {latency: {exponential: 1s}, capacity: {servers: 1}}}
callers: [{to: desk, rate: 0.5/s, arrivals: poisson, timeout: 10h}]
policies: [no-protection]
`

// system is the mean time inside of customers who came between 100 s and 300 s:
// late enough to have forgotten the beginning, and early enough to be served.
type system struct {
	came  map[int]bool
	n     int
	total float64
}

func (s *system) Event(e *trace.Event) error {
	const warm, last = 100e9, 300e9
	switch {
	case e.Kind == trace.Call && e.T >= warm && e.T < last:
		s.came[e.Call] = true
	case e.Kind == trace.Result && s.came[e.Call]:
		s.n++
		s.total += e.Took.Seconds()
	}
	return nil
}

// Metric is the total for wait_total, and for attempts the customers.
func (s *system) Metric(name string) (float64, bool) {
	switch name {
	case "wait_total":
		return s.total, true
	case "attempts":
		return float64(s.n), true
	}
	return 0, false
}

// TestCoverage repeats a sweep again and again, each time with another seed: the 95%
// intervals hold the truth in 93 to 97 of a hundred. The customers who come in
// 200 s at half of one a second are 100 on average, and 2 s each are 200 s. There
// are four times 400 sweeps, because 400 alone miss that range by chance once in
// fifteen tries.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a queue 128,000 times")
	}
	const repeats, replications = 1600, 80
	truth := map[string]float64{"wait_total": 200, "attempts": 100}
	held := map[string]int{}
	for seed := range repeats {
		src := fmt.Sprintf("sweep: queue\nbase: queue\naxes: {callers.0.timeout: [10h]}\nreplications: %d\nseed: %d\nmetrics: [wait_total, attempts]\n", replications, seed+1)
		s, err := scenarios.LoadSweep("queue.yaml", []byte(src), scenarios.DefaultLimits(), func(string) (string, []byte, error) { return "queue", []byte(queue), nil })
		require.NoError(t, err)
		p := sweep.NewPlan(s)
		sums := sweep.NewSummarizer(p)
		o := sweep.Options{Workers: runtime.GOMAXPROCS(0), Meter: func() sweep.Meter { return &system{came: map[int]bool{}} }}
		require.NoError(t, p.Play(context.Background(), o, func(r *sweep.Row, _ sweep.Progress) error { sums.Row(r); return nil }))
		got := sums.Summary()
		for i, m := range p.Metrics[:2] {
			if f := got.Figures[0][i]; f.Low <= truth[m.Name] && truth[m.Name] <= f.High {
				held[m.Name]++
			}
		}
	}
	require.Len(t, held, 2)
	for name, n := range held {
		t.Logf("%s: %d of %d intervals hold %v", name, n, repeats, truth[name])
		assert.InDelta(t, 0.95, float64(n)/repeats, 0.02, name)
	}
}

// TestPairsAreSurer: with the same worlds in every cell the difference of two
// cells is far surer than that of two independent means would be.
func TestPairsAreSurer(t *testing.T) {
	p := plan(t, small)
	sums := sweep.NewSummarizer(p)
	require.NoError(t, p.Play(context.Background(), sweep.Options{Workers: 2, Meter: newMeter}, func(r *sweep.Row, _ sweep.Progress) error { sums.Row(r); return nil }))
	s := sums.Summary()
	reference, other := s.Figures[s.Against], s.Figures[s.Against+2]
	half := func(e sweep.Estimate) float64 { return (e.High - e.Low) / 2 }
	for i, m := range p.Metrics {
		paired := half(other[i].Against)
		apart := math.Hypot(half(other[i].Estimate), half(reference[i].Estimate))
		assert.InDelta(t, other[i].Mean-reference[i].Mean, other[i].Against.Mean, 1e-6*math.Abs(other[i].Mean)+1e-9, m.Name)
		if m.Name == "failed" {
			assert.Less(t, paired, apart/1.5, m.Name)
		}
	}
	assert.Equal(t, s.Against, 2)
	assert.Zero(t, reference[0].Against.N, "the reference has no difference to itself")
	assert.Equal(t, 45, s.Figures[3][0].Beside.N, "retries+breaker beside breaker")
}
