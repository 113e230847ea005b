package foreign

import "errors"

var (
	errFailed    = errors.New("the call failed")
	errCancelled = errors.New("the library cancelled the call")
	errReleased  = errors.New("the call was released without an outcome")
)

// calls drives a library that takes a call only as a function in two steps: the
// function blocks on a goroutine until the outcome is told.
type calls struct {
	run  func(f function) error // runs f under the breaker, or refuses
	quit chan struct{}          // closed: let go of every call
}

// function is a call. Where the library cancels, cancelled is closed then; else
// it is nil.
type function func(cancelled <-chan struct{}) error

func newCalls(run func(f function) error) calls {
	return calls{run: run, quit: make(chan struct{})}
}

// neverCancels adapts a library that takes plain functions.
func neverCancels(run func(func() error) error) func(function) error {
	return func(f function) error { return run(func() error { return f(nil) }) }
}

// Allow returns once the library has entered the function, or refused to.
func (c calls) Allow() (done func(ok bool), err error) {
	var (
		entered  = make(chan struct{})
		outcome  = make(chan error, 1)
		returned = make(chan error, 1)
	)
	go func() {
		defer close(returned)
		returned <- c.run(func(cancelled <-chan struct{}) error {
			close(entered)
			select {
			case err := <-outcome:
				return err
			case <-cancelled:
				return errCancelled
			case <-c.quit:
				return errReleased
			}
		})
	}()
	select {
	case <-entered:
	case err := <-returned:
		return nil, err
	}
	return func(ok bool) {
		outcome <- result(ok)
		for range returned {
		}
	}, nil
}

// Do runs f under the breaker. It does not notice that it is cancelled.
func (c calls) Do(f func() error) error {
	return c.run(func(<-chan struct{}) error { return f() })
}

// Close lets go of the calls that never ended. The library reads a failure.
func (c calls) Close() { close(c.quit) }

// result is what a function returns for an outcome.
func result(ok bool) error {
	if ok {
		return nil
	}
	return errFailed
}

// straight runs f as the caller of an API in two steps does who defers nothing:
// if f does not return, nobody reports.
func straight(b Breaker, f func() error) error {
	done, err := b.Allow()
	if err != nil {
		return err
	}
	err = f()
	done(err == nil)
	return err
}
