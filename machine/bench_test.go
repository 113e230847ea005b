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
