package replay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// drawTool is a tool breaker that is set to anything.
func drawTool(t *rapid.T) machine.ToolSettings {
	n := func(most int, name string) int { return rapid.IntRange(0, most).Draw(t, name) }
	span := func(name string) time.Duration { return time.Duration(n(6, name)) * time.Second }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	rate := func(name string) float64 { return float64(n(4, name)) / 4 }
	take := func(name string) machine.Take { return machine.Take(n(3, name)) }
	s := machine.ToolSettings{FailureThreshold: n(3, "threshold"), RecoveryDuration: span("cooldown"), ProbeTimeout: span("lease"), IgnoreStale: yes("stale")}
	s.Counts = machine.Counts{Failure: take("failure"), Timeout: take("timeout"), RateLimit: take("rate limit"), Permanent: take("permanent"), Cancelled: take("cancelled")}
	s.Trip = machine.Trip{SlowerThan: span("slower"), KeepsCount: yes("keeps"), ForgetAfter: span("forget")}
	s.Trip.SlowFails = s.Trip.SlowerThan > 0 && yes("slow fails")
	switch n(2, "window") {
	case 1:
		s.Trip.Window = machine.Window{Calls: 6}
	case 2:
		s.Trip.Window = machine.Window{Span: 5 * time.Second}
	}
	if s.Trip.Window != (machine.Window{}) {
		s.Trip.FailureRate, s.Trip.Failures, s.Trip.MinCalls = 0.25+rate("rate")*0.75, n(3, "number"), n(4, "minimum")
		if s.Trip.SlowerThan > 0 {
			s.Trip.SlowRate = rate("slow rate")
		}
	}
	if yes("no probe") {
		s.Probing = machine.Probing{Skip: true}
	} else {
		s.Probing = machine.Probing{AtOnce: n(3, "at once"), Needed: n(3, "needed"), FailureRate: rate("probe rate"), Release: yes("release")}
		s.Probing.InAll = s.Probing.Needed + n(2, "in all")
	}
	s.Probing.Ramp, s.Probing.RampFrom = span("ramp"), rate("ramp from")
	s.Cooldown = machine.Cooldown{Growth: 1 + rate("growth"), Longest: span("longest"), Forget: span("recovery"), Jitter: rate("jitter"),
		RetryAfter: yes("retry after"), LateKeep: yes("late")}
	require.NoError(t, s.Validate())
	return s
}

// drawSet is a scenario of which breaker, target, callers, policy and an
// operator's doings are anything.
func drawSet(t *rapid.T) (*scenarios.Scenario, *scenarios.Policy) {
	reports := rapid.SampledFrom([]string{"permit", "anonymous"}).Draw(t, "reports")
	gate := rapid.SampledFrom([]string{"call", "attempt", "retry"}).Draw(t, "gate")
	hedge := rapid.SampledFrom([]string{"", ", hedge: {after: 500ms}"}).Draw(t, "hedge")
	patience := rapid.SampledFrom([]string{"", ", patience: 4s"}).Draw(t, "patience")
	src := fmt.Sprintf(`
scenario: anything
duration: 90s
breakers: {api: {kind: tool, reports: %s}}
targets:
  api:
    latency: {uniform: [0s, 3s]}
    mix: {success: 0.4, failure: 0.2, timeout: 0.1, rate_limit: 0.1, permanent: 0.1, cancelled: 0.05, vanish: 0.05}
    retry_after: 4s
    phases: [{at: 30s, for: 15s, outcome: failure}]
callers: [{count: 4, to: api, every: 1s, jitter: 0.5, timeout: 2s%s}]
policies: [{name: own, gate: %s, retry: {attempts: 3, base: 1s}%s}]
`, reports, patience, gate, hedge)
	s, err := scenarios.Load("test.yaml", []byte(src), scenarios.DefaultLimits())
	require.NoError(t, err)
	s.Seed = rapid.Uint64().Draw(t, "seed")
	p := &s.Policies[0]
	p.Breakers[0].Tool = new(drawTool(t))
	p.Configured = map[int]machine.ToolSettings{}
	for i := range rapid.IntRange(0, 5).Draw(t, "operations") {
		op := rapid.SampledFrom([]scenarios.Op{scenarios.OpReset, scenarios.OpForceOpen, scenarios.OpForceClosed, scenarios.OpConfigure}).Draw(t, "op")
		at := time.Duration(rapid.IntRange(0, 90).Draw(t, "at")) * time.Second
		if s.Calls = append(s.Calls, scenarios.Call{At: at, Op: op, To: "api"}); op == scenarios.OpConfigure {
			p.Configured[i] = drawTool(t)
		}
	}
	return s, p
}

// TestAnySettingsGiveAValidRecord plays breakers that are set to anything, with
// operators who do anything to them.
func TestAnySettingsGiveAValidRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, p := drawSet(t)
		var all trace.List
		check := new(trace.Validator)
		_, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{&all, check}})
		require.NoError(t, err)
		require.NoError(t, check.Done())
		for i := range all {
			assert.False(t, all[i].Kind == trace.Transition && all[i].To == "open" && all[i].Known && all[i].Until < all[i].Effective, "the cooldown ends before it begins")
		}
	})
}
