package machine_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// Guard a tool: ask, call, and report through the permit. In production the
// instant is time.Since(start).
func ExampleToolBreaker() {
	b, err := machine.NewToolBreaker(machine.DefaultToolSettings(), machine.Hooks{OnTransition: func(t machine.Transition) {
		fmt.Printf("%v: %s, %s to %s\n", t.Effective, t.Rule, t.From, t.To)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := func(now time.Duration, works bool) {
		permit, err := b.Allow(now)
		if err != nil {
			fmt.Printf("%v: %v\n", now, err)
			return
		}
		if works {
			permit.Success(now)
		} else {
			permit.Failure(now)
		}
	}
	call(1*time.Second, false)
	call(2*time.Second, false)
	call(3*time.Second, false)
	call(20*time.Second, true)
	call(33*time.Second, true)
	// Output:
	// 3s: T3, closed to open
	// 20s: tool temporarily unavailable: circuit breaker open
	// 33s: T5, open to half-open
	// 33s: T8, half-open to closed
}

// Read a dashboard: WouldAllow, Snapshot and Deadline change nothing, so they
// cannot take the probe's slot.
func ExampleToolBreaker_WouldAllow() {
	settings := machine.DefaultToolSettings()
	settings.FailureThreshold = 1
	b, _ := machine.NewToolBreaker(settings, machine.Hooks{})
	b.Failure(5 * time.Second)
	for _, now := range []time.Duration{10 * time.Second, 35 * time.Second} {
		at, _ := b.Deadline(now)
		fmt.Println(now, b.Snapshot(now).State, b.WouldAllow(now), "a probe is possible from", at)
	}
	// Output:
	// 10s open false a probe is possible from 35s
	// 35s open true a probe is possible from 35s
}

// Tell a refusal from other errors, and say when to come back.
func ExampleRefusal() {
	settings := machine.DefaultToolSettings()
	settings.FailureThreshold = 1
	b, _ := machine.NewToolBreaker(settings, machine.Hooks{})
	b.Failure(5 * time.Second)
	_, err := b.Allow(6 * time.Second)
	var refusal *machine.Refusal
	if errors.As(err, &refusal) && refusal.Known {
		fmt.Println(refusal.Rule, "until", refusal.Until)
	}
	// Output: T4 until 35s
}

// Route a model: ask who serves the turn, and report how it went.
func ExampleModelBreaker() {
	settings := machine.DefaultModelSettings()
	settings.Primary = "opus"
	settings.Chain = []machine.Backup{{Name: "sonnet", MaxFailCount: machine.DefaultMaxFailCount}}
	settings.TripThreshold = 1
	b, err := machine.NewModelBreaker(settings, machine.Hooks{OnSwitch: func(s machine.Switch) {
		fmt.Printf("%v: %s serves instead of %s (%s)\n", s.At, s.To, s.From, s.Rule)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	turn, err := b.Begin(1 * time.Second)
	if err != nil {
		fmt.Println(err) // every backup is spent
		return
	}
	turn.Failure(2*time.Second, machine.Transient)
	model, _ := b.WouldServe(3 * time.Second)
	fmt.Println(model)
	// Output:
	// 2s: sonnet serves instead of opus (M10)
	// sonnet
}

// Retry within a call: the ladder says how long to wait, or that it is over.
func ExampleLadder() {
	ladder := machine.DefaultLadder()
	retry := ladder.Start(0)
	now := time.Duration(0)
	for {
		step := retry.Next(now, machine.Transient, -1, 0.5)
		if !step.Retry {
			fmt.Println("given up:", step.Rule)
			return
		}
		fmt.Println("wait", step.Wait)
		now += step.Wait
	}
	// Output:
	// wait 100ms
	// wait 200ms
	// wait 400ms
	// given up: L1
}
