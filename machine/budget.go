package machine

import (
	"fmt"
	"math"
)

// BudgetSettings configure a [Budget].
type BudgetSettings struct {
	Tokens     float64 // it holds at most
	Start      float64 // it holds at first, at most Tokens
	PerRetry   float64 // what a retry takes
	PerTimeout float64 // what a retry takes after a timeout; 0: as after any failure
	PerCall    float64 // what a call puts in as it starts
	PerSuccess float64 // what a call puts in that succeeds
	Refund     bool    // a call that succeeds by a retry puts in what that retry took, instead
}

// DefaultBudgetSettings are a bucket of 10, full at first, from which a retry
// takes 1 and into which a success puts 0.1: one retry for ten successes.
func DefaultBudgetSettings() BudgetSettings {
	return BudgetSettings{Tokens: 10, Start: 10, PerRetry: 1, PerSuccess: 0.1}
}

// Validate says what is wrong with the settings, if anything is.
func (s BudgetSettings) Validate() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"tokens", s.Tokens}, {"start", s.Start}, {"per_retry", s.PerRetry}, {"per_timeout", s.PerTimeout}, {"per_call", s.PerCall}, {"per_success", s.PerSuccess}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("%s is %v; it must be a number from 0 on", v.name, v.value)
		}
	}
	if s.Start > s.Tokens {
		return fmt.Errorf("start is %v; the bucket holds %v", s.Start, s.Tokens)
	}
	return nil
}

// Budget is a token bucket that bounds retries (L6): what a client may spend on
// them follows from how well its calls go, however often each of them fails. It
// belongs to one client; concurrent calls must take turns. It is Brooker's
// ("Fixing retries with token buckets and circuit breakers", February 2022), and
// with other numbers that of the AWS SDKs ("Retry Behavior 2.0", standard mode).
type Budget struct {
	s      BudgetSettings
	tokens float64
}

// NewBudget makes a bucket, or says what is wrong with s.
func NewBudget(s BudgetSettings) (*Budget, error) {
	return &Budget{s: s, tokens: s.Start}, s.Validate()
}

// Tokens is what it holds.
func (b *Budget) Tokens() float64 { return b.tokens }

// Call puts in what a call brings that starts.
func (b *Budget) Call() { b.put(b.s.PerCall) }

// Take takes what a retry costs, or says that there is too little for it.
func (b *Budget) Take(afterTimeout bool) bool {
	cost := b.cost(afterTimeout)
	if b.tokens < cost {
		return false
	}
	b.tokens -= cost
	return true
}

// Success puts in what a call brings that succeeds. If it took a retry, that
// came after a timeout or not.
func (b *Budget) Success(retried, afterTimeout bool) {
	if b.s.Refund && retried {
		b.put(b.cost(afterTimeout))
		return
	}
	b.put(b.s.PerSuccess)
}

func (b *Budget) cost(afterTimeout bool) float64 {
	if afterTimeout && b.s.PerTimeout > 0 {
		return b.s.PerTimeout
	}
	return b.s.PerRetry
}

func (b *Budget) put(tokens float64) { b.tokens = min(b.s.Tokens, b.tokens+tokens) }

// RetryBreaker is a circuit breaker on retries alone (L7): while there were more
// than a share of failed attempts for each call, of all since it was made, none
// is made again. First attempts always go. It has no state besides its two
// counts, so it neither opens nor recovers, but hovers at its threshold. It
// belongs to one client, as a [Budget] does, and is from the same article.
type RetryBreaker struct {
	most            float64
	calls, failures int
}

// NewRetryBreaker lets retries go while there is at most that share of failed
// attempts, from 0 to 1, for each call.
func NewRetryBreaker(most float64) (*RetryBreaker, error) {
	b := &RetryBreaker{most: most}
	if !(most >= 0 && most <= 1) {
		return b, fmt.Errorf("the share of failures is %v; it must be from 0 to 1", most)
	}
	return b, nil
}

// Call counts a call that starts, whatever number of attempts it comes to.
func (b *RetryBreaker) Call() { b.calls++ }

// Failure counts an attempt that failed, a retry as well.
func (b *RetryBreaker) Failure() { b.failures++ }

// Allow says whether a retry may go.
func (b *RetryBreaker) Allow() bool {
	return float64(b.failures) <= float64(b.most*float64(b.calls))
}
