package machine_test

import (
	"fmt"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// rehearse makes calls that end at once, a second apart, by a word each: ok, bad,
// or a kind of failure. It says where each leaves the breaker.
func rehearse(s machine.ToolSettings, endings ...machine.Ending) {
	b, err := machine.NewToolBreaker(s, machine.Hooks{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, e := range endings {
		now := time.Duration(i+1) * time.Second
		p, err := b.Allow(now)
		if err != nil {
			fmt.Println(now, err)
			continue
		}
		fmt.Println(now, p.End(now, e).Rule, b.Snapshot(now).State)
	}
}

var good, bad, notFound = machine.Ending{OK: true}, machine.Ending{}, machine.Ending{Kind: machine.Permanent}

// A 404 proves that the server is there.
func ExampleCounts() {
	s := machine.ToolSettings{FailureThreshold: 2, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Counts = machine.Counts{Permanent: machine.AsSuccess}
	rehearse(s, bad, notFound, bad, bad)
	// Output:
	// 1s T3 closed
	// 2s T2 closed
	// 3s T3 closed
	// 4s T3 open
}

// What says nothing of the target neither counts nor mends.
func ExampleTake() {
	s := machine.ToolSettings{FailureThreshold: 2, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Counts = machine.Counts{Permanent: machine.AsNothing}
	rehearse(s, bad, notFound, bad)
	// Output:
	// 1s T3 closed
	// 2s T20 closed
	// 3s T3 open
}

// Half of the last four calls.
func ExampleTrip() {
	s := machine.ToolSettings{RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Trip = machine.Trip{Window: machine.Window{Calls: 4}, MinCalls: 4, FailureRate: 0.5}
	rehearse(s, bad, good, good, good, bad, bad)
	// Output:
	// 1s T21 closed
	// 2s T21 closed
	// 3s T21 closed
	// 4s T21 closed
	// 5s T21 closed
	// 6s T21 open
}

// What fell in the last three seconds: 4 s is of the second bucket of 2 s, and
// takes the place of the first.
func ExampleWindow() {
	s := machine.ToolSettings{RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Trip = machine.Trip{Window: machine.Window{Span: 3 * time.Second, Buckets: 3}, Failures: 2}
	rehearse(s, bad, good, good, bad, good, bad)
	// Output:
	// 1s T21 closed
	// 2s T21 closed
	// 3s T21 closed
	// 4s T21 closed
	// 5s T21 closed
	// 6s T21 open
}

// Two probes must succeed in a row, one at a time.
func ExampleProbing() {
	s := machine.ToolSettings{FailureThreshold: 1, RecoveryDuration: 2 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Probing = machine.Probing{Needed: 2}
	rehearse(s, bad, bad, good, good)
	// Output:
	// 1s T3 open
	// 2s tool temporarily unavailable: circuit breaker open
	// 3s T24 half-open
	// 4s T8 closed
}

// Each failed probe doubles the wait, up to a bound.
func ExampleCooldown() {
	s := machine.ToolSettings{FailureThreshold: 1, RecoveryDuration: time.Minute, ProbeTimeout: 30 * time.Second}
	s.Cooldown = machine.Cooldown{Growth: 2, Longest: 3 * time.Minute}
	b, _ := machine.NewToolBreaker(s, machine.Hooks{OnTransition: func(t machine.Transition) {
		if t.To == machine.Open {
			fmt.Println("open at", t.At, "for", t.Until-t.At)
		}
	}})
	now := time.Duration(0)
	for range 4 {
		p, _ := b.Allow(now)
		p.Failure(now)
		now, _ = b.Deadline(now)
	}
	// Output:
	// open at 0s for 1m0s
	// open at 1m0s for 2m0s
	// open at 3m0s for 3m0s
	// open at 6m0s for 3m0s
}

// The other side says when to come back.
func ExampleEnding() {
	s := machine.ToolSettings{FailureThreshold: 1, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}
	s.Cooldown = machine.Cooldown{RetryAfter: true}
	b, _ := machine.NewToolBreaker(s, machine.Hooks{})
	p, _ := b.Allow(0)
	p.End(0, machine.Ending{Kind: machine.RateLimit, RetryAfter: time.Minute})
	fmt.Println(b.Deadline(0))
	// Output: 1m0s true
}
