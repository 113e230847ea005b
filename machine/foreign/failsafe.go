package foreign

import (
	"math"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/timeout"
)

const failsafeClaims = `"In the HalfOpenState a configurable number of trial executions will be allowed, after which the circuit breaker will transition to either ClosedState or OpenState depending on how many were successful." ` +
	`"Permission will be automatically released when a result or failure is recorded." ` +
	`(https://github.com/failsafe-go/failsafe-go/tree/v0.9.8/circuitbreaker) Of an execution that never ends or panics it says nothing. ` +
	`"Timeout is a Policy that cancels executions if they exceed a time limit." An execution has to take part in that: https://failsafe-go.dev/execution-cancellation/`

var failsafeRows = []Library{
	failsafeRow("failsafe-go", "", "TryAcquirePermit and RecordSuccess or RecordFailure, success threshold 1: a single probe.", noLease,
		func(s Settings) Breaker { return newFailsafe(failsafeBuilder(s).WithSuccessThreshold(1).Build()) }),
	failsafeRow("failsafe-go-default", "failsafe-go", "The same without a success threshold, which is the default: as many probes as the failure threshold.", noLease,
		func(s Settings) Breaker { return newFailsafe(failsafeBuilder(s).Build()) }),
	failsafeRow("failsafe-go-timeout", "failsafe-go", "Executor of the breaker around a Timeout policy of the lease's length, success threshold 1. Every call is under the Timeout, in Closed too. "+
		"It only cancels: a function that does not watch its execution keeps its permit. This one watches.",
		"no lease for the probe alone: the timeout fails every call that takes as long, in Closed too",
		func(s Settings) Breaker { return newFailsafeTimeout(s) }),
}

func failsafeRow(name, of, note, lease string, make func(Settings) Breaker) Library {
	return Library{
		Name: name, Of: of, Module: "github.com/failsafe-go/failsafe-go", Version: "v0.9.8", Note: note, New: make, Claims: failsafeClaims, Anonymous: true,
		Cannot: func(s Settings) []string {
			return sentences(
				sentence{s.ProbeTimeout > 0, lease},
				sentence{s.IgnoreStale, countsStale},
			)
		},
	}
}

// failsafeBuilder takes a threshold of zero, which would trip on a success, for
// one that no number of executions reaches.
func failsafeBuilder(s Settings) circuitbreaker.Builder[struct{}] {
	b := circuitbreaker.NewBuilder[struct{}]().WithDelay(s.RecoveryDuration)
	if s.FailureThreshold == 0 {
		return b.WithFailureRateThreshold(1, math.MaxUint, time.Minute)
	}
	return b.WithFailureThreshold(uint(s.FailureThreshold))
}

// failsafeState reads and closes the breaker; the library's State is pure.
type failsafeState struct {
	cb circuitbreaker.CircuitBreaker[struct{}]
}

func (b failsafeState) State() string { return b.cb.State().String() }

func (b failsafeState) Look() string { return b.State() }

// Reset closes the breaker. In Closed it does nothing: failures stay counted.
func (b failsafeState) Reset() { b.cb.Close() }

type failsafePermits struct{ failsafeState }

func newFailsafe(cb circuitbreaker.CircuitBreaker[struct{}]) failsafePermits {
	return failsafePermits{failsafeState{cb}}
}

func (b failsafePermits) Allow() (func(ok bool), error) {
	if !b.cb.TryAcquirePermit() {
		return nil, circuitbreaker.ErrOpen
	}
	return func(ok bool) {
		if ok {
			b.cb.RecordSuccess()
		} else {
			b.cb.RecordFailure()
		}
	}, nil
}

// Do is the library's executor, over the same breaker.
func (b failsafePermits) Do(f func() error) error { return failsafe.With[struct{}](b.cb).Run(f) }

type failsafeTimeout struct {
	failsafeState
	calls
}

func newFailsafeTimeout(s Settings) failsafeTimeout {
	cb := failsafeBuilder(s).WithSuccessThreshold(1).Build()
	under := failsafe.With[struct{}](cb)
	if s.ProbeTimeout > 0 {
		under = under.Compose(timeout.New[struct{}](s.ProbeTimeout))
	}
	return failsafeTimeout{failsafeState{cb}, newCalls(func(f function) error {
		return under.RunWithExecution(func(e failsafe.Execution[struct{}]) error { return f(e.Canceled()) })
	})}
}
