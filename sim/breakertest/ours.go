package breakertest

import (
	"context"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/sim/replay"
)

// Ours is our own tool breaker in the place of our own tool breaker: one that
// reads the clock, like all others. Its traces have our rules.
func Ours() replay.Others {
	return replay.Others{Leased: true, New: func(_ string, s machine.ToolSettings, h machine.Hooks) (replay.Port, error) {
		b, err := machine.NewToolBreaker(s, h)
		return &ours{ToolBreaker: b, start: time.Now()}, err
	}}
}

type ours struct {
	*machine.ToolBreaker
	start time.Time
	last  machine.Verdict
}

func (o *ours) now() time.Duration    { return time.Since(o.start) }
func (o *ours) Last() machine.Verdict { return o.last }
func (o *ours) State() string         { return o.Snapshot(o.now()).State.String() }
func (o *ours) WouldAllow() bool      { return o.ToolBreaker.WouldAllow(o.now()) }
func (o *ours) Reset()                { o.ToolBreaker.Reset(o.now()) }
func (o *ours) Settle()               { o.ToolBreaker.Settle(o.now()) }

func (o *ours) Allow() (func(ok bool), error) {
	permit, err := o.ToolBreaker.Allow(o.now())
	if err != nil {
		return nil, err
	}
	p := &permit
	o.last = machine.Verdict{Rule: p.Rule(), Applied: true}
	return func(ok bool) {
		if ok {
			o.last = p.Success(o.now())
		} else {
			o.last = p.Failure(o.now())
		}
	}, nil
}

func (o *ours) Do(f func() error) error {
	return o.ToolBreaker.Do(context.Background(), o.now, func(context.Context) error { return f() })
}
