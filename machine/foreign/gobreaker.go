package foreign

import (
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

const gobreakerClaims = `"MaxRequests is the maximum number of requests allowed to pass through when the CircuitBreaker is half-open. If MaxRequests is 0, the CircuitBreaker allows only 1 request." ` +
	`"Counts ignores the results of the requests sent before clearing." "If a panic occurs in the request, the CircuitBreaker handles it as an error and causes the same panic again." ` +
	`(https://github.com/sony/gobreaker/tree/v2.4.0/v2) Of a request that never ends it says nothing.`

var gobreakerRows = []Library{
	gobreakerRow("gobreaker", "", "TwoStepCircuitBreaker, MaxRequests 1, which is the default. How a function ends is its caller's to report here: gobreaker-execute has the library's own answer.",
		func(s Settings) Breaker { return newTwoStep(s, s.RecoveryDuration, 1) }),
	gobreakerRow("gobreaker-execute", "gobreaker", "CircuitBreaker.Execute, MaxRequests 1.",
		func(s Settings) Breaker { return newExecute(s) }),
	gobreakerRow("gobreaker-two", "gobreaker", "TwoStepCircuitBreaker, MaxRequests 2: lets a second call in beside a lost probe, and closes only after two successes in a row.",
		func(s Settings) Breaker { return newTwoStep(s, s.RecoveryDuration, 2) }),
	gobreakerRow("gobreaker-early", "gobreaker", "TwoStepCircuitBreaker, MaxRequests 1, Timeout 1 ns shorter than the cooldown: admits at its end, not after it.",
		func(s Settings) Breaker { return newTwoStep(s, s.RecoveryDuration-1, 1) }),
}

func gobreakerRow(name, of, note string, make func(Settings) Breaker) Library {
	return Library{
		Name: name, Of: of, Module: "github.com/sony/gobreaker/v2", Version: "v2.4.0", Note: note, New: make, Claims: gobreakerClaims,
		Cannot: func(s Settings) []string {
			return sentences(
				sentence{s.ProbeTimeout > 0, noLease},
				sentence{!s.IgnoreStale, ignoresStale},
				sentence{s.RecoveryDuration == 0, noZeroWait},
			)
		},
	}
}

// gobreakerState follows the library's hook: its State method moves an open
// breaker whose cooldown is over to half-open.
type gobreakerState struct{ now atomic.Int32 }

// State is where the breaker last moved.
func (g *gobreakerState) State() string { return gobreaker.State(g.now.Load()).String() }

func (g *gobreakerState) settings(s Settings, cooldown time.Duration, probes uint32) gobreaker.Settings {
	return gobreaker.Settings{
		MaxRequests: probes,
		Timeout:     atLeast1(cooldown),
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return s.FailureThreshold > 0 && int64(c.ConsecutiveFailures) >= int64(s.FailureThreshold)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) { g.now.Store(int32(to)) },
	}
}

type twoStep struct {
	gobreakerState
	cb *gobreaker.TwoStepCircuitBreaker[struct{}]
}

func newTwoStep(s Settings, cooldown time.Duration, probes uint32) *twoStep {
	b := &twoStep{}
	b.cb = gobreaker.NewTwoStepCircuitBreaker[struct{}](b.settings(s, cooldown, probes))
	return b
}

func (b *twoStep) Allow() (func(ok bool), error) {
	done, err := b.cb.Allow()
	if err != nil {
		return nil, err
	}
	return func(ok bool) { done(result(ok)) }, nil
}

func (b *twoStep) Do(f func() error) error { return straight(b, f) }

func (b *twoStep) Look() string { return b.cb.State().String() }

type execute struct {
	gobreakerState
	calls
	cb *gobreaker.CircuitBreaker[struct{}]
}

func newExecute(s Settings) *execute {
	b := &execute{}
	b.cb = gobreaker.NewCircuitBreaker[struct{}](b.settings(s, s.RecoveryDuration, 1))
	b.calls = newCalls(func(f function) error {
		_, err := b.cb.Execute(func() (struct{}, error) { return struct{}{}, f(nil) })
		return err
	})
	return b
}

func (b *execute) Look() string { return b.cb.State().String() }
