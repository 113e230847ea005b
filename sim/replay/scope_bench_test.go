package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
)

// BenchmarkThousandCallers plays a thousand callers with one breaker for all of
// them, and with one for each. None ever opens, so that both make the same attempts.
func BenchmarkThousandCallers(b *testing.B) {
	const src = `
scenario: thousand
breakers: {api: {kind: tool, failure_threshold: 0, per: PER}}
targets: {api: {latency: {exponential: 300ms}, mix: {success: 0.7, failure: 0.3}}}
callers: [{name: agents, count: 1000, to: api, every: 1s, jitter: 0.1, start: {uniform: [0s, 1s]}, until: 100s}]
`
	for _, per := range []string{"all", "caller"} {
		b.Run(per, func(b *testing.B) {
			s, err := scenarios.Load("test.yaml", []byte(strings.Replace(src, "PER", per, 1)), scenarios.DefaultLimits())
			require.NoError(b, err)
			for b.Loop() {
				_, err := replay.Run(s, &s.Policies[0], replay.Options{})
				require.NoError(b, err)
			}
		})
	}
}
