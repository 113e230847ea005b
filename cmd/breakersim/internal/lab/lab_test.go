package lab

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

// TestKnobs turns every knob of every built-in scenario: what it says is what the
// file has, and each of its steps is a scenario.
func TestKnobs(t *testing.T) {
	for i, name := range scenarios.Names() {
		if testing.Short() && i%9 > 0 {
			continue
		}
		src, _ := scenarios.Source(name)
		s, err := scenarios.Load(file, src, limits())
		require.NoError(t, err)
		all := knobs(s, string(src))
		require.Equal(t, len(s.Breakers) > 0, len(all) > 0, name)
		for _, k := range all {
			for _, at := range []int{0, len(k.Steps) - 1} {
				text, err := new(Lab).Set(string(src), k.Path, k.Steps[at].Value)
				require.NoError(t, err, "%s: %s=%s", name, k.Path, k.Steps[at].Value)
				changed, err := scenarios.Load(file, []byte(text), limits())
				require.NoError(t, err, "%s: %s=%s", name, k.Path, k.Steps[at].Value)
				turned := valueAt(knobs(changed, text), k.Path)
				assert.Equal(t, k.Steps[at], turned, "%s: %s", name, k.Path)
			}
		}
	}
}

// valueAt is where the knob of that path stands, or the zero value.
func valueAt(all []Knob, path string) Step {
	for _, k := range all {
		if k.Path == path {
			return k.Steps[k.At]
		}
	}
	return Step{}
}

// TestEveryNumberHasAKnob: those that the schema allows for a breaker.
func TestEveryNumberHasAKnob(t *testing.T) {
	const text = `scenario: all
targets: {t: {}, a: {}, b: {}, c: {}, r: {}}
breakers:
  t: {kind: tool}
  r: {kind: tool, failure_rate: 45%, window: {calls: 8}, window_failures: 8, minimum_calls: 3, slow_after: 1s, slow_rate: 1, forget_failures_after: 9s,
    probes: 3, probe_successes: 2, probe_failure_rate: 50%, ramp: 7s, recovery_growth: 2, recovery_longest: 5m, recovery_jitter: 10%}
  m: {kind: model, primary: a, chain: [b]}
  n: {kind: model, primary: a, chain: [b], last_resort: c, probes: 1, probe_timeout: 20s, exhausted_wait: 4s, entry_cooldown: 30s, recovery_growth: 2.5, recovery_longest: 5m, recovery_jitter: 10%}
policies:
  - breaker
  - {name: other, breakers: {t: {failure_threshold: 5000, probe_timeout: 77s}}}
calls: [{at: 1s, to: t}]
`
	var schema struct {
		Properties struct {
			Breakers struct {
				AdditionalProperties struct {
					Properties map[string]any
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(scenarios.Schema(), &schema))
	settings := schema.Properties.Breakers.AdditionalProperties.Properties
	require.Contains(t, settings, "probe_timeout", "this is where the schema has them")
	shown := new(Lab).Run(text, "timeline")
	require.Empty(t, shown.Faults)
	var keys []string
	for _, k := range shown.Knobs {
		if k.Policy == "" {
			keys = append(keys, k.Key)
		}
	}
	for key := range settings {
		switch key {
		case "kind", "guards", "reports", "health", "stale_results", "primary", "chain", "like", "per", "last_resort", "counts", "window", "slow", "success_clears", "probe", "cancelled_probe", "retry_after", "late_failures": // no numbers
		case "probes_in_all", "probe_slow_rate", "ramp_from", "recovery_forget": // they hang on others
		default:
			assert.Contains(t, keys, key)
		}
	}
	assert.Equal(t, Step{"5000", "5,000"}, valueAt(shown.Knobs, "policies.other.breakers.t.failure_threshold"))
	assert.Equal(t, Step{"1m17s", "1 min 17 s"}, valueAt(shown.Knobs, "policies.other.breakers.t.probe_timeout"))
	assert.Equal(t, Step{"1m", "1 min"}, valueAt(shown.Knobs, "breakers.m.recovery_timeout"))
	assert.Equal(t, Step{"0.45", "45 %"}, valueAt(shown.Knobs, "breakers.r.failure_rate"))
	assert.Equal(t, Step{"8", "8"}, valueAt(shown.Knobs, "breakers.r.window_failures"))
	assert.Equal(t, Step{"7s", "7 s"}, valueAt(shown.Knobs, "breakers.r.ramp"))
	assert.Equal(t, Step{"3", "3"}, valueAt(shown.Knobs, "breakers.r.probes"))
	assert.Equal(t, Step{"2", "2"}, valueAt(shown.Knobs, "breakers.r.recovery_growth"))
	assert.Equal(t, Step{"2.5", "2.5"}, valueAt(shown.Knobs, "breakers.n.recovery_growth"))
	assert.Equal(t, Step{"4s", "4 s"}, valueAt(shown.Knobs, "breakers.n.exhausted_wait"))
	assert.Len(t, shown.Knobs, 3+3+11+2+5+5+7+2)
}

// TestRun shows what is right, and says what is wrong.
func TestRun(t *testing.T) {
	var l Lab
	src, _ := scenarios.Source("vanished-probe")
	shown := l.Run(string(src), "timeline")
	assert.Equal(t, "vanished-probe", shown.Name)
	assert.Contains(t, shown.Picture.SVG, "<svg")
	assert.Equal(t, 720, shown.Picture.Width)
	assert.Len(t, shown.Told.Stories, 1)
	assert.Len(t, shown.Expect, 11)
	assert.Empty(t, shown.Error)

	assert.Equal(t, "This run has nothing that such a picture shows; choose another one.", l.Run("scenario: bare\ntargets: {s: {}}\ncalls: [{at: 1s, to: s}]\n", "states").Error)
	assert.Equal(t, `there is no picture "x"`, l.Run(string(src), "x").Error)

	wrong := l.Run("scenario: x\ntargets: {s: {}}\ncalls: [{at: 1s, to: z}]\n", "timeline")
	assert.Equal(t, []Fault{{Line: 3, Column: 22, Length: 1, Message: `unknown target "z"; did you mean "s"?`}}, wrong.Faults)

	many := l.Run("scenario: many\ntargets: {s: {}}\ncallers: [{to: s, rate: 100000/s, arrivals: poisson, until: 20s}]\n", "timeline")
	assert.Contains(t, many.Error+"\n"+messages(many), "calls")
	assert.Nil(t, many.Told)

	failing := l.Run("scenario: x\ntargets: {s: {}}\ncalls: [{at: 1s, to: s}]\nexpect: [{call: 1, is: failure}]\n", "timeline")
	require.Len(t, failing.Expect, 1)
	assert.Len(t, failing.Expect[0].Failed, 1)
}

func messages(s *Shown) string {
	var all []string
	for _, f := range s.Faults {
		all = append(all, f.Message)
	}
	return strings.Join(all, "\n")
}

// TestTrace finds policies by name.
func TestTrace(t *testing.T) {
	src, _ := scenarios.Source("five-minute-outage")
	var first, named bytes.Buffer
	var l Lab
	require.NoError(t, l.Trace(&first, string(src), ""))
	require.NoError(t, l.Trace(&named, string(src), "no-protection"))
	assert.True(t, bytes.Equal(first.Bytes(), named.Bytes()))
	assert.True(t, strings.HasPrefix(first.String(), "{"))
	assert.EqualError(t, l.Trace(&named, string(src), "none"), `the scenario has no policy "none"`)
}
