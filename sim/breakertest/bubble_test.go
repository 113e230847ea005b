package breakertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestOursIsTheSameAbroad plays our own machine in a bubble, behind the port,
// and without either: the traces are the same.
func TestOursIsTheSameAbroad(t *testing.T) {
	played := 0
	for i, name := range scenarios.Names() {
		if testing.Short() && i%6 > 0 {
			continue
		}
		src, ok := scenarios.Source(name)
		require.True(t, ok)
		s, err := scenarios.Load(name, src, scenarios.DefaultLimits())
		require.NoError(t, err)
		for i := range s.Policies {
			p := &s.Policies[i]
			var home, abroad trace.List
			err := breakertest.Play(t, s, p, breakertest.Ours(), &abroad)
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
	assert.Greater(t, played, 5)
}
