package foreign

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/afex/hystrix-go/hystrix"
)

const hystrixClaims = `"When the circuit is open, this call will occasionally return true to measure whether the external service has recovered." ` +
	`(https://github.com/afex/hystrix-go/blob/master/hystrix/circuit.go) "hystrix-go does not use recover() so panics will kill the process like normal." ` +
	`(https://github.com/afex/hystrix-go#faq)`

var hystrixRows = []Library{{
	Name: "hystrix-go", Module: "github.com/afex/hystrix-go", Version: "v0.0.0-20180502004556-fa1af6a1f4f5",
	Note: "hystrix.Do; RequestVolumeThreshold is the failure threshold, ErrorPercentThreshold 100, Timeout the lease. It has no half-open state: an open circuit lets a single test through.",
	New:  func(s Settings) Breaker { return newHystrix(s) },
	Cannot: func(s Settings) []string {
		return sentences(
			sentence{s.ProbeTimeout > 0, "no lease for the probe alone: the timeout fails every call that takes as long, in Closed too"},
			sentence{s.ProbeTimeout == 0, "no calls without a timeout: one of 24 days stands for it"},
			sentence{s.FailureThreshold > 0, "no failures in a row: it opens, when the next call asks, if all calls of the last 10 s failed and were as many as the threshold"},
			sentence{s.RecoveryDuration%time.Millisecond != 0 || s.ProbeTimeout%time.Millisecond != 0, "no parts of a millisecond: durations are rounded up"},
			sentence{s.RecoveryDuration == 0, "no cooldown of zero: one of 1 ms stands for it"},
			sentence{s.IgnoreStale, countsStale},
		)
	},
	Claims:     hystrixClaims,
	Anonymous:  true,
	PanicKills: true,
}}

// hystrixCalls is how many calls may run at once: the library makes as many
// tickets at first, and refuses further ones for lack of a ticket.
const hystrixCalls = 1 << 16

// hystrixCircuit is one command's circuit. The library keeps commands by name for
// the whole process, with goroutines that never end: a bubble with one of these
// ends in the panic that goroutines remain.
type hystrixCircuit struct {
	calls
	name string
	open atomic.Bool
}

var (
	hystrixNames    atomic.Int64
	hystrixCircuits sync.Map // of *hystrixCircuit, by name: for the log
	hystrixLog      = sync.OnceFunc(func() { hystrix.SetLogger(hystrixLogger{}) })
)

func newHystrix(s Settings) *hystrixCircuit {
	hystrixLog()
	b := &hystrixCircuit{name: fmt.Sprint("breakersim-", hystrixNames.Add(1))}
	hystrixCircuits.Store(b.name, b)
	config := hystrix.CommandConfig{
		Timeout:                milliseconds(s.ProbeTimeout),
		MaxConcurrentRequests:  hystrixCalls,
		RequestVolumeThreshold: s.FailureThreshold,
		SleepWindow:            milliseconds(max(s.RecoveryDuration, 1)),
		ErrorPercentThreshold:  100,
	}
	if s.FailureThreshold == 0 {
		config.ErrorPercentThreshold = 101
	}
	hystrix.ConfigureCommand(b.name, config)
	b.calls = newCalls(neverCancels(func(f func() error) error { return hystrix.Do(b.name, f, nil) }))
	return b
}

// milliseconds rounds up, and takes zero for as long as there is.
func milliseconds(d time.Duration) int {
	if d == 0 {
		return math.MaxInt32
	}
	return int(min((d + time.Millisecond - 1).Milliseconds(), math.MaxInt32))
}

// State follows the library's log: its IsOpen can open the circuit.
func (b *hystrixCircuit) State() string {
	if b.open.Load() {
		return "open"
	}
	return "closed"
}

func (b *hystrixCircuit) Look() string {
	if cb, _, err := hystrix.GetCircuit(b.name); err == nil && cb.IsOpen() {
		return "open"
	}
	return "closed"
}

// Close lets go of the calls. The library keeps its own goroutines.
func (b *hystrixCircuit) Close() {
	hystrixCircuits.Delete(b.name)
	b.calls.Close()
}

// hystrixLogger hears of a circuit that opens or closes.
type hystrixLogger struct{}

// Printf is called for each transition with the circuit's name.
func (hystrixLogger) Printf(format string, items ...any) {
	opens := strings.Contains(format, "opening circuit")
	if !opens && !strings.Contains(format, "closing circuit") {
		return
	}
	if b, ok := hystrixCircuits.Load(items[0]); ok {
		b.(*hystrixCircuit).open.Store(opens)
	}
}
