package machine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

var (
	errBroken = errors.New("broken")
	errTired  = errors.New("the caller is tired of waiting")
)

// hand is a clock that is moved by hand, and counts how often it was read.
type hand struct {
	now   time.Duration
	reads int
}

func (h *hand) read() time.Duration {
	h.reads++
	return h.now
}

// endings are the ways in which a function can end.
var endings = map[string]struct {
	fn   func(ctx context.Context, cancel context.CancelFunc) error
	want string // what the breaker makes of it
}{
	"returns":         {func(context.Context, context.CancelFunc) error { return nil }, "success"},
	"fails":           {func(context.Context, context.CancelFunc) error { return errBroken }, "failure"},
	"is rate-limited": {func(context.Context, context.CancelFunc) error { return limited() }, "rate limit"},
	"was given up":    {func(ctx context.Context, cancel context.CancelFunc) error { cancel(); return ctx.Err() }, "nothing"},
	"was given up, wrapped": {func(ctx context.Context, cancel context.CancelFunc) error {
		cancel()
		return fmt.Errorf("call: %w", ctx.Err())
	}, "nothing"},
	"was given up for a reason": {func(ctx context.Context, cancel context.CancelFunc) error {
		cancel()
		return context.Cause(ctx)
	}, "nothing"},
	"fails as it is given up":  {func(_ context.Context, cancel context.CancelFunc) error { cancel(); return errBroken }, "failure"},
	"was cancelled by another": {func(context.Context, context.CancelFunc) error { return context.Canceled }, "failure"},
	"panics":                   {func(context.Context, context.CancelFunc) error { panic("bang") }, "failure"},
	"leaves its goroutine":     {func(context.Context, context.CancelFunc) error { runtime.Goexit(); return nil }, "failure"},
}

func limited() error { return &machine.KindError{Kind: machine.RateLimit, Err: errBroken} }

// aside runs f in a goroutine of its own, which it may leave, and says what it panicked with.
func aside(f func()) (panicked any) {
	done := make(chan any)
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				done <- p
			}
		}()
		f()
	}()
	return <-done
}

// TestDoReportsEveryEnding runs each ending as the first call, and as a probe.
func TestDoReportsEveryEnding(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			b := newTool(t, nil, machine.Hooks{})
			clock := &hand{now: s}
			do := func() {
				ctx, because := context.WithCancelCause(context.Background())
				cancel := func() { because(errTired) }
				defer cancel()
				var err error
				panicked := aside(func() { err = b.Do(ctx, clock.read, func(ctx context.Context) error { return e.fn(ctx, cancel) }) })
				assert.Equal(t, name == "panics", panicked != nil, "a panic goes on")
				if name == "fails" {
					assert.Equal(t, errBroken, err)
				}
			}
			do() // all is well: the clock does not matter
			assert.Equal(t, map[string]int{"failure": 1, "rate limit": 1}[e.want], b.Snapshot(s).ConsecutiveFailures)

			b.Reset(s)
			b.Failure(0) // counted: it does
			do()
			assert.Equal(t, map[string]int{"success": 0, "failure": 2, "rate limit": 2, "nothing": 1}[e.want], b.Snapshot(s).ConsecutiveFailures)

			b.Reset(s)
			trip(t, b)
			clock.now = 33 * s
			do()
			want := map[string]machine.State{"success": machine.Closed, "failure": machine.Open, "rate limit": machine.Open, "nothing": machine.HalfOpen}[e.want]
			assert.Equal(t, want, b.Snapshot(33*s).State)
			assert.True(t, b.WouldAllow(93*s), "no ending wedges it")
		})
	}
}

// TestDoReportsEveryEndingOfATurn does the same to the model breaker in Primary
// and in Recovering.
func TestDoReportsEveryEndingOfATurn(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			b := newModel(t, nil, machine.Hooks{})
			clock := &hand{}
			do := func() {
				ctx, because := context.WithCancelCause(context.Background())
				cancel := func() { because(errTired) }
				defer cancel()
				panicked := aside(func() {
					_ = b.Do(ctx, clock.read, func(ctx context.Context, model string) error {
						assert.Equal(t, "opus", model)
						return e.fn(ctx, cancel)
					})
				})
				assert.Equal(t, name == "panics", panicked != nil, "a panic goes on")
			}
			b.Failure(0, machine.Transient)
			do()
			assert.Equal(t, map[string]int{"success": 0, "failure": 2, "rate limit": 2, "nothing": 1}[e.want], b.Snapshot().ConsecutiveFailures)

			b.Reset(0)
			for range 3 {
				b.Failure(0, machine.Transient)
			}
			clock.now = 60 * s
			do()
			want := map[string]machine.State{"rate limit": machine.Fallback}[e.want]
			if want == 0 {
				want = machine.Recovering
			}
			assert.Equal(t, want, b.Snapshot().State)
			assert.Equal(t, map[string]int{"success": 1}[e.want], b.Snapshot().PrimarySuccesses)
		})
	}
}

func TestDoOfARefusedCallRunsNothing(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	trip(t, b)
	err := b.Do(context.Background(), (&hand{now: 4 * s}).read, func(context.Context) error { panic("was run") })
	assert.EqualError(t, err, "tool temporarily unavailable: circuit breaker open")
	assert.ErrorAs(t, err, new(*machine.Refusal))

	m := newModel(t, func(ms *machine.ModelSettings) { ms.Chain = ms.Chain[:1]; ms.TripThreshold = 1 }, machine.Hooks{})
	m.Failure(0, machine.Transient)
	require.NoError(t, m.SetAvailable(0, "b1", false))
	err = m.Do(context.Background(), (&hand{now: s}).read, func(context.Context, string) error { panic("was run") })
	assert.ErrorAs(t, err, new(*machine.Exhausted))
}

// TestDoReadsNoClockWhileAllIsWell: a clock costs more than the breaker.
func TestDoReadsNoClockWhileAllIsWell(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	clock := &hand{now: s}
	ctx := context.Background()
	do := func(err error) { _ = b.Do(ctx, clock.read, func(context.Context) error { return err }) }
	do(nil)
	assert.Equal(t, 0, clock.reads)
	do(errBroken)
	assert.Equal(t, 1, clock.reads, "to report the failure")
	do(nil)
	assert.Equal(t, 3, clock.reads, "with a failure counted: to ask and to report")
	do(nil)
	assert.Equal(t, 3, clock.reads, "calm again")
}

// TestDoSeesATripDuringTheCall: what was calm at the start need not be at the end.
func TestDoSeesATripDuringTheCall(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	clock := &hand{now: 3 * s}
	err := b.Do(context.Background(), clock.read, func(context.Context) error {
		trip(t, b)
		return nil
	})
	assert.NoError(t, err)
	assert.Equal(t, machine.Open, b.Snapshot(3*s).State, "T10: its success is stale")
}

// TestDoKnowsWhenItsCallBegan: a call that began before the breaker last opened
// is stale, however it ends.
func TestDoKnowsWhenItsCallBegan(t *testing.T) {
	for name, e := range endings {
		if e.want != "failure" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := newTool(t, func(ts *machine.ToolSettings) { ts.IgnoreStale = true }, machine.Hooks{})
			clock := &hand{now: 4 * s}
			do := func(before func()) {
				aside(func() {
					_ = b.Do(context.Background(), clock.read, func(ctx context.Context) error {
						before()
						return e.fn(ctx, func() {})
					})
				})
			}
			do(func() {
				trip(t, b)
				b.Reset(4 * s)
			})
			assert.Zero(t, b.Snapshot(4*s).ConsecutiveFailures, "stale, and ignored (T13)")
			do(func() {})
			assert.Equal(t, 1, b.Snapshot(4*s).ConsecutiveFailures, "began after it had opened")
		})
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	err := limited()
	assert.EqualError(t, err, "broken")
	assert.ErrorIs(t, err, errBroken)
	assert.EqualError(t, &machine.KindError{}, "<nil>")
}

// TestANilKindErrorIsAnError like any other: Do does not look into it.
func TestANilKindErrorIsAnError(t *testing.T) {
	b := newModel(t, nil, machine.Hooks{})
	err := b.Do(context.Background(), (&hand{}).read, func(context.Context, string) error { return (*machine.KindError)(nil) })
	assert.Error(t, err)
	assert.Equal(t, 1, b.Snapshot().ConsecutiveFailures)
}

func TestLogTo(t *testing.T) {
	var out bytes.Buffer
	h := machine.LogTo(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), "search")
	b := newTool(t, nil, h)
	trip(t, b)
	b.Reset(4 * s)
	m := newModel(t, func(ms *machine.ModelSettings) { ms.TripThreshold = 1 }, h)
	m.Failure(5*s, machine.Transient)
	assert.Equal(t, `level=WARN msg="circuit breaker open" breaker=search from=closed to=open rule=T3 failures=3 at=3s effective=3s
level=INFO msg="circuit breaker closed" breaker=search from=open to=closed rule=T15 failures=3 at=4s effective=4s
level=WARN msg="circuit breaker fallback" breaker=search from=primary to=fallback rule=M10 failures=1 at=5s effective=5s
level=INFO msg="circuit breaker switched model" breaker=search from=opus to=b1 rule=M10 at=5s
`, out.String())
}
