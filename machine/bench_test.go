package machine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// realClock is the clock of a production program.
func realClock() machine.Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

func works(context.Context) error { return nil }

// BenchmarkClosedPath is asking and reporting a success while all is well.
func BenchmarkClosedPath(b *testing.B) {
	clock, ctx := realClock(), context.Background()
	b.Run("do", func(b *testing.B) {
		br := newTool(b, nil, machine.Hooks{})
		b.ReportAllocs()
		for b.Loop() {
			_ = br.Do(ctx, clock, works)
		}
	})
	b.Run("permit", func(b *testing.B) {
		br := newTool(b, nil, machine.Hooks{})
		b.ReportAllocs()
		for b.Loop() {
			p, _ := br.Allow(0)
			p.Success(0)
		}
	})
	b.Run("tool with its health", func(b *testing.B) {
		r, err := machine.NewRegistry(machine.RegistrySettings{Tool: machine.DefaultToolSettings()})
		require.NoError(b, err)
		tool := r.Tool("search")
		b.ReportAllocs()
		for b.Loop() {
			_ = tool.Do(ctx, clock, works)
		}
	})
}

// BenchmarkRateWindow is the same with a failure rate, beside failures in a row
// as they are counted: with one counted, so that a success has something to do.
func BenchmarkRateWindow(b *testing.B) {
	for _, c := range []struct {
		name string
		trip machine.Trip
	}{
		{"in a row", machine.Trip{}},
		{"of 100 calls", machine.Trip{Window: machine.Window{Calls: 100}, MinCalls: 100, FailureRate: 0.5}},
		{"of 10 s in 10 buckets", machine.Trip{Window: machine.Window{Span: 10 * s}, MinCalls: 100, FailureRate: 0.5}},
	} {
		b.Run(c.name, func(b *testing.B) {
			br := newTool(b, func(s *machine.ToolSettings) { s.Trip = c.trip }, machine.Hooks{})
			now := time.Duration(0)
			b.ReportAllocs()
			for b.Loop() {
				now += time.Millisecond
				p, _ := br.Allow(now)
				p.Success(now)
			}
		})
	}
}

// BenchmarkRefusal is asking an open breaker.
func BenchmarkRefusal(b *testing.B) {
	br := newTool(b, nil, machine.Hooks{})
	trip(b, br)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = br.Allow(4 * s)
	}
}

// BenchmarkTurn is a turn of the primary.
func BenchmarkTurn(b *testing.B) {
	br := newModel(b, nil, machine.Hooks{})
	b.ReportAllocs()
	for b.Loop() {
		t, _ := br.Begin(0)
		t.Success(0)
	}
}
