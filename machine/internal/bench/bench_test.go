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

// subject is a breaker, set to open at the third failure in a row for 30 s,
// seen as a call that works and one that does not.
type subject struct {
	name string
	make func() (works, fails func())
}

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
	{"nothing", func() (works, fails func()) { return func() {}, func() {} }}, // what the benchmark itself takes
	{"breakersim-do", func() (works, fails func()) {
		b, clock := ours()
		ctx := context.Background()
		return func() { _ = b.Do(ctx, clock, func(context.Context) error { return nil }) },
			func() { _ = b.Do(ctx, clock, func(context.Context) error { return errBroken }) }
	}},
	{"breakersim-permit", func() (works, fails func()) {
		b, clock := ours()
		call := func(report func(*machine.Permit, time.Duration) machine.Verdict) func() {
			return func() {
				if p, err := b.Allow(clock()); err == nil {
					report(&p, clock())
				}
			}
		}
		return call((*machine.Permit).Success), call((*machine.Permit).Failure)
	}},
	{"gobreaker-execute", func() (works, fails func()) {
		b := gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{Timeout: 30 * time.Second,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 }})
		return func() { _, _ = b.Execute(func() (struct{}, error) { return struct{}{}, nil }) },
			func() { _, _ = b.Execute(func() (struct{}, error) { return struct{}{}, errBroken }) }
	}},
	{"failsafe-permit", func() (works, fails func()) {
		b := failsafeBreaker()
		call := func(report func()) func() {
			return func() {
				if b.TryAcquirePermit() {
					report()
				}
			}
		}
		return call(b.RecordSuccess), call(b.RecordFailure)
	}},
	{"failsafe-executor", func() (works, fails func()) {
		e := failsafe.With[struct{}](failsafeBreaker())
		return func() { _ = e.Run(func() error { return nil }) },
			func() { _ = e.Run(func() error { return errBroken }) }
	}},
}

// BenchmarkClosed is one call that works through a closed breaker.
func BenchmarkClosed(b *testing.B) {
	for _, s := range subjects {
		b.Run("goroutines=1/"+s.name, func(b *testing.B) {
			works, _ := s.make()
			b.ReportAllocs()
			for b.Loop() {
				works()
			}
		})
	}
	for _, s := range subjects {
		b.Run("goroutines=cores/"+s.name, func(b *testing.B) {
			works, _ := s.make()
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					works()
				}
			})
		})
	}
}

// BenchmarkRefused is one call that an open breaker refuses.
func BenchmarkRefused(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			works, fails := s.make()
			for range 3 {
				fails()
			}
			b.ReportAllocs()
			for b.Loop() {
				works()
			}
		})
	}
}
