package breakertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// ours is our own breaker as a port: one that reads the clock.
type ours struct {
	*machine.ToolBreaker
	start time.Time
	last  machine.Verdict
}

func newOurs(_ string, s machine.ToolSettings, h machine.Hooks) (replay.Port, error) {
	b, err := machine.NewToolBreaker(s, h)
	return &ours{ToolBreaker: b, start: time.Now()}, err
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

// TestOursIsTheSameAbroad plays our own machine in a bubble, behind the port,
// and without either: the traces are the same.
func TestOursIsTheSameAbroad(t *testing.T) {
	played := 0
	for _, name := range scenarios.Names() {
		src, ok := scenarios.Source(name)
		require.True(t, ok)
		s, err := scenarios.Load(name, src, scenarios.DefaultLimits())
		require.NoError(t, err)
		for i := range s.Policies {
			p := &s.Policies[i]
			var home, abroad trace.List
			err := breakertest.Play(t, s, p, replay.Others{New: newOurs}, &abroad)
			if err != nil {
				assert.ErrorIs(t, err, replay.ErrCannot, "%s under %s", name, p.Name)
				continue
			}
			played++
			unexpected := *s
			unexpected.Expect = nil
			_, err = replay.Run(&unexpected, p, replay.Options{Sinks: []trace.Sink{&home}})
			require.NoError(t, err)
			assert.NoError(t, trace.Validate(abroad), "%s under %s", name, p.Name)
			if !assert.Equal(t, len(home), len(abroad), "%s under %s", name, p.Name) {
				continue
			}
			for i := range home {
				if !assert.Equal(t, home[i], abroad[i], "%s under %s, event %d", name, p.Name, i+1) {
					break
				}
			}
		}
	}
	assert.Greater(t, played, 40)
}
