//go:build unix

package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/sweep"
)

// BenchmarkSweep plays worlds of 16 of the settings of the large sweep on one
// worker, and then on two: events a second, and events for each second that a
// processor worked, which tells more where the machine has other work, too.
func BenchmarkSweep(b *testing.B) {
	c := sweepCmd{Sweep: "five-minute-outage", Replications: 21, Set: []string{"axes.breakers.search.failure_threshold=[1, 3, 8, 34]", "axes.breakers.search.recovery_duration=[5s, 12s, 30s, 2m]"}}
	p, _, err := c.load(nil)
	require.NoError(b, err)
	defer collectSeldom()()
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			events := 0
			start, worked := time.Now(), processorTime(b)
			for b.Loop() {
				o := sweep.Options{Workers: workers, Meter: func() sweep.Meter { return costMeter{report.NewMeter()} }}
				require.NoError(b, p.Play(context.Background(), o, func(r *sweep.Row, _ sweep.Progress) error {
					events += r.Events
					return nil
				}))
			}
			b.ReportMetric(float64(events)/time.Since(start).Seconds(), "events/s")
			b.ReportMetric(float64(events)/(processorTime(b)-worked).Seconds(), "events/core-s")
		})
	}
}

// processorTime is how long processors have worked for this process.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestSweepMemoryIsFlat plays six times as many replications in the same
// memory: only what ranks the figures of a cell grows, and that has a bound.
func TestSweepMemoryIsFlat(t *testing.T) {
	const text = `
sweep: flat
base: sixth-failure
axes: {breakers.search.failure_threshold: [1, 2]}
policies: [breaker]
metrics: [failed]
`
	inUse := func(replications int) uint64 {
		s, err := scenarios.LoadSweep("flat.yaml", fmt.Appendf(nil, "%sreplications: %d\n", text, replications), scenarios.DefaultLimits(),
			func(name string) (string, []byte, error) {
				return readBase("flat.yaml", name, scenarios.DefaultLimits())
			})
		require.NoError(t, err)
		p := sweep.NewPlan(s)
		sums := sweep.NewSummarizer(p)
		o := sweep.Options{Workers: 2, Meter: func() sweep.Meter { return costMeter{report.NewMeter()} }}
		n, least := 0, uint64(math.MaxUint64) // what workers leave while it is collected is no matter
		require.NoError(t, p.Play(context.Background(), o, func(r *sweep.Row, _ sweep.Progress) error {
			sums.Row(r)
			if n++; n > replications && n%100 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				least = min(least, m.HeapAlloc)
			}
			return nil
		}))
		require.Equal(t, 2*replications, sums.Summary().Rows)
		return least
	}
	few := inUse(1100)
	many := inUse(6_600)
	require.Less(t, float64(many), 1.1*float64(few)+1e6, "bytes in use")
}
