package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// moves are the transitions of a run by breaker, each with its instant.
func moves(t *rapid.T, src string) map[string][]string {
	s, err := scenarios.Load("test.yaml", []byte(src), scenarios.DefaultLimits())
	require.NoError(t, err)
	var all trace.List
	_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&all}})
	require.NoError(t, err)
	require.NoError(t, trace.Validate(all))
	by := map[string][]string{}
	for _, e := range all {
		if e.Kind == trace.Transition {
			by[e.Breaker] = append(by[e.Breaker], fmt.Sprintf("%s %s@%v", e.Rule, e.To, e.Effective))
		}
	}
	return by
}

// TestCallersApart plays callers with a breaker each beside each other, and each
// of them alone with the one breaker of the scenario: they must not touch each other.
func TestCallersApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := fmt.Sprintf(`
scenario: apart
seed: %d
targets: {api: {latency: {exponential: 1s}, mix: {success: 0.5, failure: 0.5}}}
breakers: {api: {kind: tool, failure_threshold: %d, recovery_duration: %ds, probe_timeout: 1s, per: PER}}
callers:
`, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 3).Draw(t, "threshold"), rapid.IntRange(1, 9).Draw(t, "cooldown"))
		var callers []string
		for i := range rapid.IntRange(2, 4).Draw(t, "callers") {
			callers = append(callers, fmt.Sprintf("  - {name: c%d, to: api, every: %dms, until: 60s}\n", i, rapid.IntRange(200, 3000).Draw(t, "every")))
		}
		together := moves(t, strings.Replace(head, "PER", "caller", 1)+strings.Join(callers, ""))
		for i, c := range callers {
			alone := moves(t, strings.Replace(head, "PER", "all", 1)+c)
			assert.Equal(t, alone["api"], together[fmt.Sprintf("api[c%d]", i)])
		}
	})
}

// TestTurns holds the turns of hosts against a list that is walked round and round.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := []string{"a", "b", "c", "d"}[:rapid.IntRange(1, 4).Draw(t, "hosts")]
		dead := rapid.SampledFrom(hosts).Draw(t, "dead")
		src := "scenario: turns\nbreakers: {api: {kind: tool, per: host, failure_threshold: 1, recovery_duration: 1h}}\ntargets: {api: {hosts: {"
		for _, h := range hosts {
			src += h + map[bool]string{true: ": {outcome: failure}, ", false: ": {}, "}[h == dead]
		}
		src += "}}}\ncallers: [{to: api, every: 1s, until: 20s}]\n"
		s, err := scenarios.Load("test.yaml", []byte(src), scenarios.DefaultLimits())
		require.NoError(t, err)
		var all trace.List
		_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&all}})
		require.NoError(t, err)
		var got, want []string
		for _, e := range all {
			if e.Kind == trace.Admit {
				got = append(got, e.Target)
			}
		}
		tried := false
		for i := 0; len(want) < 20; i++ {
			h := hosts[i%len(hosts)]
			if h == dead && tried {
				if len(hosts) == 1 {
					break
				}
				continue
			}
			tried = tried || h == dead
			want = append(want, "api["+h+"]")
		}
		assert.Equal(t, want, got)
	})
}
