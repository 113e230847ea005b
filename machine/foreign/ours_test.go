package foreign

import (
	"context"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// ours is our own breaker behind the port: it holds the drivers to the rules.
var ours = Library{Name: "ours", New: func(s Settings) Breaker { return newOwn(s) }}

type own struct {
	b     *machine.ToolBreaker
	clock machine.Clock
}

func newOwn(s Settings) own {
	b, err := machine.NewToolBreaker(machine.ToolSettings{FailureThreshold: s.FailureThreshold, RecoveryDuration: s.RecoveryDuration,
		ProbeTimeout: s.ProbeTimeout, IgnoreStale: s.IgnoreStale}, machine.Hooks{})
	if err != nil {
		panic(err)
	}
	start := time.Now()
	return own{b, func() time.Duration { return time.Since(start) }}
}

func (o own) Allow() (func(ok bool), error) {
	p, err := o.b.Allow(o.clock())
	if err != nil {
		return nil, err
	}
	return func(ok bool) {
		if ok {
			p.Success(o.clock())
		} else {
			p.Failure(o.clock())
		}
	}, nil
}

func (o own) Do(f func() error) error {
	return o.b.Do(context.Background(), o.clock, func(context.Context) error { return f() })
}

func (o own) State() string { return o.b.Snapshot(o.clock()).State.String() }

func (o own) Look() string {
	o.b.WouldAllow(o.clock())
	return o.State()
}
