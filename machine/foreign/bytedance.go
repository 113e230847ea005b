package foreign

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/bytedance/gopkg/cloud/circuitbreaker"
)

const bytedanceClaims = `"During HALFOPEN, the circuit breaker will let a request go every 'while', and after a 'number' of consecutive successful requests, the circuit breaker will become CLOSED; if any of them fail, it will become OPEN". ` +
	`"After entering the OPEN state, the circuit breaker will cool down for a period of time [...] During this period, all IsAllowed() requests will be returned false". ` +
	`(https://github.com/bytedance/gopkg/blob/v0.1.4/cloud/circuitbreaker/README.MD)`

var bytedanceRows = []Library{
	bytedanceRow("bytedance", "", "A Panel with one key: IsAllowed, then Succeed or Fail. HalfOpenSuccesses 1; DetectTimeout, after which a further probe is let in, lease and cooldown; "+
		"buckets of a day, so that an open breaker is not forgotten.",
		func(s Settings) Breaker { return newBytedance(s, 24*time.Hour) }),
	bytedanceRow("bytedance-window", "bytedance", "The same with the default window of 10 s. The panel drops a breaker that has no samples in it: one that is open for longer is closed without a probe. Its ticks, ten a second, make long scenarios slow.",
		func(s Settings) Breaker { return newBytedance(s, 100*time.Millisecond) }),
}

func bytedanceRow(name, of, note string, make func(Settings) Breaker) Library {
	return Library{
		Name: name, Of: of, Module: "github.com/bytedance/gopkg", Version: "v0.1.4", Note: note, New: make, Claims: bytedanceClaims, Anonymous: true,
		Cannot: func(s Settings) []string {
			return sentences(
				sentence{s.ProbeTimeout > 0, "no lease: a probe that never reports is not given up, a second one is let in beside it"},
				sentence{s.IgnoreStale, countsStale},
				sentence{s.RecoveryDuration == 0, noZeroWait},
			)
		},
	}
}

// errNotAllowed is ours: the library only says no.
var errNotAllowed = errors.New("not allowed by circuitbreaker")

const bytedanceKey = "tool"

// bytedancePanels tells panels apart. Those with the same width of buckets share
// a ticker that belongs to the bubble of the first, so each has its own width.
var bytedancePanels atomic.Int64

type bytedance struct{ panel circuitbreaker.Panel }

func newBytedance(s Settings, bucket time.Duration) bytedance {
	o := circuitbreaker.Options{
		BucketTime:        bucket + time.Duration(bytedancePanels.Add(1)),
		CoolingTimeout:    atLeast1(s.RecoveryDuration),
		DetectTimeout:     math.MaxInt64,
		HalfOpenSuccesses: 1,
	}
	if s.ProbeTimeout > 0 {
		o.DetectTimeout = s.ProbeTimeout + s.RecoveryDuration
	}
	if s.FailureThreshold > 0 {
		o.ShouldTrip = circuitbreaker.ConsecutiveTripFunc(int64(s.FailureThreshold))
	}
	panel, err := circuitbreaker.NewPanel(nil, o)
	if err != nil {
		panic(err) // only for fewer buckets than 100, and we leave their number alone
	}
	return bytedance{panel}
}

func (b bytedance) Allow() (func(ok bool), error) {
	if !b.panel.IsAllowed(bytedanceKey) {
		return nil, errNotAllowed
	}
	return func(ok bool) {
		if ok {
			b.panel.Succeed(bytedanceKey)
		} else {
			b.panel.Fail(bytedanceKey)
		}
	}, nil
}

// Do is as the library's README shows it: it has no form that takes a function.
func (b bytedance) Do(f func() error) error { return straight(b, f) }

// State is the library's own read, which is pure. A breaker that the panel does
// not have is a closed one that it has still to make.
func (b bytedance) State() string {
	breaker, ok := b.panel.DumpBreakers()[bytedanceKey]
	if !ok {
		return "closed"
	}
	switch breaker.State() {
	case circuitbreaker.Closed:
		return "closed"
	case circuitbreaker.Open:
		return "open"
	case circuitbreaker.HalfOpen:
		return "half-open"
	}
	return ""
}

func (b bytedance) Look() string { return b.State() }

// Reset drops the breaker: the panel makes a new one.
func (b bytedance) Reset() { b.panel.RemoveBreaker(bytedanceKey) }

// Close ends the panel's ticker.
func (b bytedance) Close() { b.panel.Close() }
