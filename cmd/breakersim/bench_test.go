package main

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// manyCalls is about a million calls of 1,000 callers through an outage, most
// of them refused, or all of them made.
const manyCalls = `
scenario: many-calls
breakers: {search: {kind: tool}}
targets: {search: {latency: {exponential: 200ms}, phases: [{at: 2000s, for: 4000s, outcome: failure}]}}
callers: [{name: agents, count: 1000, to: search, every: 10s, start: {uniform: [0s, 10s]}, until: 10000s}]
policies: [breaker, no-protection]
`

// BenchmarkMeteredCalls replays with the cost meter as the only sink, on one
// core: calls a second.
func BenchmarkMeteredCalls(b *testing.B) {
	s, err := scenarios.Load("many.yaml", []byte(manyCalls), scenarios.DefaultLimits())
	require.NoError(b, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for i := range s.Policies {
		b.Run(s.Policies[i].Name, func(b *testing.B) {
			b.ReportAllocs()
			calls := 0
			start := time.Now()
			for b.Loop() {
				meter := report.NewMeter()
				_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{meter}})
				require.NoError(b, err)
				calls += meter.Cost().Calls
			}
			b.ReportMetric(float64(calls)/time.Since(start).Seconds(), "calls/s")
		})
	}
}

// heapMeter asks once in a while how much memory is in use.
type heapMeter struct {
	events, most uint64
}

func (h *heapMeter) Event(*trace.Event) error {
	if h.events++; h.events%1_000_000 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		h.most = max(h.most, m.Sys)
	}
	return nil
}

// TestMemoryIsFlat plays ten times as many calls in the same memory, but for
// what ranks the waits, and allocates nothing for an event.
func TestMemoryIsFlat(t *testing.T) {
	allocations := func(until string) (allocated, calls float64) {
		s, err := scenarios.Load("many.yaml", []byte(`
scenario: many-calls
breakers: {search: {kind: tool}}
targets: {search: {latency: 200ms, phases: [{at: 100s, for: 50s, outcome: failure}]}}
callers: [{name: agents, count: 100, to: search, every: 1s, start: {uniform: [0s, 1s]}, until: `+until+`}]
policies: [breaker]
`), scenarios.DefaultLimits())
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		meter := report.NewMeter()
		_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{meter}})
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(meter.Cost().Calls)
	}
	few, fewCalls := allocations("200s")
	many, manyCalls := allocations("2000s")
	require.Greater(t, manyCalls, 9*fewCalls)
	assert.Less(t, many-few, (manyCalls-fewCalls)/1000, "allocations for %.0f more calls", manyCalls-fewCalls)
}

// BenchmarkTenMillionCalls says what memory the whole process has taken from
// the system by the end of them.
func BenchmarkTenMillionCalls(b *testing.B) {
	s, err := scenarios.Load("ten-million.yaml", []byte(`
scenario: ten-million
breakers: {search: {kind: tool}}
targets: {search: {latency: {exponential: 200ms}, phases: [{at: 2000s, for: 100s, outcome: failure}]}}
callers: [{name: agents, count: 10000, to: search, every: 10s, start: {uniform: [0s, 10s]}, until: 9990s}]
policies: [no-protection]
`), scenarios.DefaultLimits())
	require.NoError(b, err)
	for b.Loop() {
		meter, heap := report.NewMeter(), new(heapMeter)
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{meter, heap}})
		require.NoError(b, err)
		b.ReportMetric(float64(meter.Cost().Calls), "calls")
		b.ReportMetric(float64(heap.most)/(1<<20), "MiB")
	}
}
