package machine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Clock says what time it is, as an instant since the origin that a breaker's
// users share. In production it is made once:
//
//	start := time.Now()
//	clock := func() time.Duration { return time.Since(start) }
type Clock func() time.Duration

// KindError marks an error with the [Kind] that a breaker is to take it for.
// Any other error is a Timeout if it is [context.DeadlineExceeded], else Transient.
type KindError struct {
	Kind       Kind
	RetryAfter time.Duration // the wait that the other side named (T29); 0: none
	Err        error
}

// Error is the text of Err.
func (e *KindError) Error() string { return fmt.Sprint(e.Err) }

// Unwrap gives the error that is marked.
func (e *KindError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Do runs fn as one call, and reports how it ended. It returns fn's error, or a
// [*Refusal] without having run fn: a soft error (H6), after which the caller
// goes on without the tool.
//
// An error is a failure, unless the caller gave up: ctx was cancelled and fn
// says so (T16). A deadline of ctx that passes is a failure. If fn panics or
// calls [runtime.Goexit] a failure is reported, and the panic goes on. The
// clock is not read while the breaker is closed with no failure counted.
func (b *ToolBreaker) Do(ctx context.Context, clock Clock, fn func(context.Context) error) error {
	c := b.calm.Load()
	if c&calmSuccess == 0 {
		return b.askAndDo(ctx, clock, fn)
	}
	returned := false
	defer func() {
		if !returned {
			b.report(clock(), Ending{}, &identity{opens: opensAt(c)})
		}
	}()
	err := fn(ctx)
	returned = true
	if err == nil && b.calm.Load() == c { // T2 with nothing to zero
		return nil
	}
	return b.ended(ctx, clock, err, identity{opens: opensAt(c)})
}

// askAndDo is Do where the time matters.
func (b *ToolBreaker) askAndDo(ctx context.Context, clock Clock, fn func(context.Context) error) error {
	p, err := b.Allow(clock())
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned {
			b.report(clock(), Ending{}, &p.id)
		}
	}()
	err = fn(ctx)
	returned = true
	return b.ended(ctx, clock, err, p.id)
}

// ended reports how a call that returned err ended, and gives err back.
func (b *ToolBreaker) ended(ctx context.Context, clock Clock, err error, id identity) error {
	b.report(clock(), endingOf(ctx, err), &id)
	return err
}

// Do runs fn as one turn of the model that serves now, and reports how it
// ended. It returns fn's error, or [*Exhausted] without having run fn (M3).
//
// A [KindError] says of what kind a failure is: a rate limit that ends a probe
// trips the breaker again (M12). For the rest it is as [ToolBreaker.Do]; a turn
// that the caller gave up touches nothing (M14).
func (b *ModelBreaker) Do(ctx context.Context, clock Clock, fn func(ctx context.Context, model string) error) error {
	t, err := b.Begin(clock())
	if err != nil {
		return err
	}
	defer func() { t.Failure(clock(), Transient) }() // nothing, unless fn did not return
	err = fn(ctx, t.Model())
	t.End(clock(), endingOf(ctx, err))
	return err
}

// endingOf is how a call ended that returned err.
func endingOf(ctx context.Context, err error) Ending {
	e := Ending{OK: err == nil}
	switch marked, ok := errors.AsType[*KindError](err); {
	case err == nil:
	case gaveUp(ctx, err):
		e.Kind = Cancelled
	case ok && marked != nil:
		e.Kind, e.RetryAfter = marked.Kind, marked.RetryAfter
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind = Timeout
	}
	return e
}

// gaveUp says whether err is there because the caller no longer wanted an answer.
func gaveUp(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
