// Package bench holds the tool breaker against others in the same run. It is a
// module of its own so that the product does not depend on them.
package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
)

var errBroken = errors.New("broken")

// subject is a breaker that opens at the third failure in a row for 30 s, and
// the same loops around a call through it: nothing but the call is in them. All
// calls of a subject go through one breaker.
type subject struct {
	name string
	make func() (fail func(), loop func(*testing.B), parallel func(*testing.PB))
}

var ctx = context.Background()

func works(context.Context) error { return nil }

func ours() (*machine.ToolBreaker, machine.Clock) {
	start := time.Now()
	b, err := machine.NewToolBreaker(machine.DefaultToolSettings(), machine.Hooks{})
	if err != nil {
		panic(err)
	}
	return b, func() time.Duration { return time.Since(start) }
}

func failsafeBreaker() circuitbreaker.CircuitBreaker[struct{}] {
	return circuitbreaker.NewBuilder[struct{}]().WithFailureThreshold(3).WithDelay(30 * time.Second).WithSuccessThreshold(1).Build()
}

var subjects = []subject{
	{"breakersim-do", func() (func(), func(*testing.B), func(*testing.PB)) {
		b, clock := ours()
		fail := func() { b.Failure(clock()) }
		return fail, func(tb *testing.B) {
				for tb.Loop() {
					_ = b.Do(ctx, clock, works)
				}
			}, func(pb *testing.PB) {
				for pb.Next() {
					_ = b.Do(ctx, clock, works)
				}
			}
	}},
	{"breakersim-permit", func() (func(), func(*testing.B), func(*testing.PB)) {
		b, clock := ours()
		fail := func() { b.Failure(clock()) }
		call := func() {
			if p, err := b.Allow(clock()); err == nil {
				p.Success(clock())
			}
		}
		return fail, func(tb *testing.B) {
				for tb.Loop() {
					call()
				}
			}, func(pb *testing.PB) {
				for pb.Next() {
					call()
				}
			}
	}},
	{"gobreaker-execute", func() (func(), func(*testing.B), func(*testing.PB)) {
		b := gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{Timeout: 30 * time.Second,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 }})
		fail := func() { _, _ = b.Execute(func() (struct{}, error) { return struct{}{}, errBroken }) }
		works := func() (struct{}, error) { return struct{}{}, nil }
		return fail, func(tb *testing.B) {
				for tb.Loop() {
					_, _ = b.Execute(works)
				}
			}, func(pb *testing.PB) {
				for pb.Next() {
					_, _ = b.Execute(works)
				}
			}
	}},
	{"failsafe-permit", func() (func(), func(*testing.B), func(*testing.PB)) {
		b := failsafeBreaker()
		call := func() {
			if b.TryAcquirePermit() {
				b.RecordSuccess()
			}
		}
		return b.RecordFailure, func(tb *testing.B) {
				for tb.Loop() {
					call()
				}
			}, func(pb *testing.PB) {
				for pb.Next() {
					call()
				}
			}
	}},
	{"failsafe-executor", func() (func(), func(*testing.B), func(*testing.PB)) {
		b := failsafeBreaker()
		e := failsafe.With[struct{}](b)
		works := func() error { return nil }
		return b.RecordFailure, func(tb *testing.B) {
				for tb.Loop() {
					_ = e.Run(works)
				}
			}, func(pb *testing.PB) {
				for pb.Next() {
					_ = e.Run(works)
				}
			}
	}},
}

// BenchmarkClosed is one call that works through a closed breaker.
func BenchmarkClosed(b *testing.B) {
	for _, s := range subjects {
		b.Run("goroutines=1/"+s.name, func(b *testing.B) {
			_, loop, _ := s.make()
			b.ReportAllocs()
			loop(b)
		})
	}
	for _, s := range subjects {
		b.Run("goroutines=cores/"+s.name, func(b *testing.B) {
			_, _, parallel := s.make()
			b.ReportAllocs()
			b.RunParallel(parallel)
		})
	}
}

// BenchmarkRefused is one call that an open breaker refuses.
func BenchmarkRefused(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			fail, loop, _ := s.make()
			for range 3 {
				fail()
			}
			b.ReportAllocs()
			loop(b)
		})
	}
}
