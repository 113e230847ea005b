package replay

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// written is a tool breaker's settings as somebody would write them: each that
// is not its default, by its key.
func written(s *machine.ToolSettings) string {
	keys := []string{"kind: tool", fmt.Sprintf("failure_threshold: %d", s.FailureThreshold), fmt.Sprintf("recovery_duration: %v", s.RecoveryDuration), fmt.Sprintf("probe_timeout: %v", s.ProbeTimeout)}
	add := func(key string, set bool, value any) {
		if set {
			keys = append(keys, fmt.Sprintf("%s: %v", key, value))
		}
	}
	t, p, c := &s.Trip, &s.Probing, &s.Cooldown
	add("stale_results", s.IgnoreStale, "ignore")
	var counts []string
	for _, k := range []struct {
		key  string
		take machine.Take
	}{{"failure", s.Counts.Failure}, {"timeout", s.Counts.Timeout}, {"rate_limit", s.Counts.RateLimit}, {"permanent", s.Counts.Permanent}, {"cancelled", s.Counts.Cancelled}} {
		if k.take != machine.AsItIs {
			counts = append(counts, k.key+": "+[]string{"", "failure", "success", "ignore"}[k.take])
		}
	}
	add("counts", counts != nil, "{"+strings.Join(counts, ", ")+"}")
	add("window", t.Window.Calls > 0, fmt.Sprintf("{calls: %d}", t.Window.Calls))
	add("window", t.Window.Span > 0 && t.Window.Buckets == 0, fmt.Sprintf("{time: %v}", t.Window.Span))
	add("window", t.Window.Buckets > 0, fmt.Sprintf("{time: %v, buckets: %d}", t.Window.Span, t.Window.Buckets))
	add("failure_rate", t.FailureRate > 0, percent(t.FailureRate))
	add("window_failures", t.Failures > 0, t.Failures)
	add("minimum_calls", t.MinCalls > 0, t.MinCalls)
	add("slow_after", t.SlowerThan > 0, t.SlowerThan)
	add("slow", t.SlowFails, "failure")
	add("slow_rate", t.SlowRate > 0, t.SlowRate)
	add("success_clears", t.KeepsCount, false)
	add("forget_failures_after", t.ForgetAfter > 0, t.ForgetAfter)
	add("probe", p.Skip, "none")
	add("probes", p.AtOnce == scenarios.AnyProbes, "any")
	add("probes", p.AtOnce > 0 && p.AtOnce < scenarios.AnyProbes, p.AtOnce)
	add("probes_in_all", p.InAll > 0, p.InAll)
	add("probe_successes", p.Needed > 0, p.Needed)
	add("probe_failure_rate", p.FailureRate > 0, percent(p.FailureRate))
	add("probe_slow_rate", p.SlowRate > 0, percent(p.SlowRate))
	add("cancelled_probe", p.Release, "release")
	add("ramp", p.Ramp > 0, p.Ramp)
	add("ramp_from", p.RampFrom > 0, p.RampFrom)
	add("recovery_growth", c.Growth > 0, c.Growth)
	add("recovery_longest", c.Longest > 0, c.Longest)
	add("recovery_forget", c.Forget > 0, c.Forget)
	add("recovery_jitter", c.Jitter > 0, percent(c.Jitter))
	add("retry_after", c.RetryAfter, "heed")
	add("late_failures", c.LateKeep, "ignore")
	return "{" + strings.Join(keys, ", ") + "}"
}

// percent writes a share that was drawn as whole percents.
func percent(share float64) string { return strconv.Itoa(int(share*100+0.5)) + "%" }

// readBack is the settings that a record's header has.
func readBack(b *trace.Breaker) machine.ToolSettings {
	takes := map[string]machine.Take{"failure": machine.AsFailure, "success": machine.AsSuccess, "ignore": machine.AsNothing}
	t := b.Tool
	s := machine.ToolSettings{FailureThreshold: t.FailureThreshold, RecoveryDuration: t.RecoveryDuration, ProbeTimeout: t.ProbeTimeout, IgnoreStale: t.StaleResults == "ignore"}
	if c := b.Counts; c != nil {
		s.Counts = machine.Counts{Failure: takes[c.Failure], Timeout: takes[c.Timeout], RateLimit: takes[c.RateLimit], Permanent: takes[c.Permanent], Cancelled: takes[c.Cancelled]}
	}
	if w := t.Window; w != nil {
		s.Trip.Window = machine.Window{Calls: w.Calls, Span: w.Time, Buckets: w.Buckets}
	}
	s.Trip.FailureRate, s.Trip.Failures, s.Trip.MinCalls = t.FailureRate, t.WindowFailures, t.MinimumCalls
	s.Trip.SlowerThan, s.Trip.SlowFails, s.Trip.SlowRate = t.SlowAfter, t.Slow == "failure", t.SlowRate
	s.Trip.KeepsCount, s.Trip.ForgetAfter = t.SuccessClears != nil && !*t.SuccessClears, t.ForgetFailuresAfter
	s.Probing = machine.Probing{Skip: t.Probe == "none", AtOnce: t.Probes, InAll: t.ProbesInAll, Needed: t.ProbeSuccesses, FailureRate: t.ProbeFailureRate,
		SlowRate: t.ProbeSlowRate, Release: t.CancelledProbe == "release", Ramp: t.Ramp, RampFrom: t.RampFrom}
	s.Cooldown = machine.Cooldown{Growth: b.RecoveryGrowth, Longest: b.RecoveryLongest, Forget: b.RecoveryForget, Jitter: b.RecoveryJitter,
		RetryAfter: b.RetryAfter == "heed", LateKeep: t.LateFailures == "ignore"}
	return s
}

// someSettings draws settings that make sense together.
func someSettings(t *rapid.T) machine.ToolSettings {
	flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
	span := func(label string) time.Duration {
		return time.Duration(rapid.Int64Range(1, 1e12).Draw(t, label))
	}
	number := func(label string, from, to int) int { return rapid.IntRange(from, to).Draw(t, label) }
	share := func(label string) float64 { return float64(number(label, 1, 100)) / 100 }
	take := func(label string) machine.Take {
		return machine.Take(rapid.SampledFrom([]machine.Take{machine.AsItIs, machine.AsFailure, machine.AsSuccess, machine.AsNothing}).Draw(t, label))
	}
	s := machine.ToolSettings{FailureThreshold: number("threshold", 0, 9), RecoveryDuration: span("recovery"), ProbeTimeout: span("lease"), IgnoreStale: flag("stale"),
		Counts: machine.Counts{Failure: take("failure"), Timeout: take("timeout"), RateLimit: take("rate limit"), Permanent: take("permanent"), Cancelled: take("cancelled")}}
	s.Trip.KeepsCount = flag("keeps")
	if flag("forgets") {
		s.Trip.ForgetAfter = span("forget")
	}
	if flag("slow") {
		s.Trip.SlowerThan, s.Trip.SlowFails = span("slow after"), true
	}
	if flag("windowed") {
		s.Trip.Window = machine.Window{Calls: number("calls", 5, 100)}
		if flag("of time") {
			s.Trip.Window = machine.Window{Span: time.Hour + span("time"), Buckets: number("buckets", 0, 20)}
		}
		s.Trip.FailureRate, s.Trip.MinCalls, s.Trip.Failures = share("rate"), number("minimum", 0, 5), number("failures", 0, 5)
		if s.Trip.SlowFails {
			s.Trip.SlowRate = share("slow rate")
		}
	}
	if s.Probing.Skip = flag("no probe"); !s.Probing.Skip {
		s.Probing = machine.Probing{AtOnce: rapid.SampledFrom([]int{0, 1, 7, scenarios.AnyProbes}).Draw(t, "probes"), Needed: number("needed", 0, 5), Release: flag("release")}
		if flag("in all") {
			s.Probing.InAll = number("in all", 5, 20)
		}
		if flag("by rate") {
			s.Probing.FailureRate = share("probe rate")
			if s.Trip.SlowFails {
				s.Probing.SlowRate = share("slow probes")
			}
		}
	}
	if flag("ramp") {
		s.Probing.Ramp, s.Probing.RampFrom = span("ramp"), share("from")
	}
	if flag("grows") {
		s.Cooldown = machine.Cooldown{Growth: 1 + share("growth"), Longest: span("longest"), Forget: span("forget")}
	}
	if flag("jitter") {
		s.Cooldown.Jitter = share("jitter")
	}
	s.Cooldown.RetryAfter, s.Cooldown.LateKeep = flag("heeds"), flag("late")
	return s
}

// TestSettingsComeBack: what is written, resolved, put into the record's header
// and read again is the same settings, in both forms of the record.
func TestSettingsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := someSettings(t)
		require.NoError(t, want.Validate())
		src := "scenario: a\ntargets: {x: {}}\nbreakers: {x: " + written(&want) + "}\ncalls: [{at: 0s, to: x}]\n"
		s, err := scenarios.Load("a.yaml", []byte(src), scenarios.DefaultLimits())
		require.NoError(t, err, src)
		require.Equal(t, want, *s.Breakers[0].Tool, src)

		for _, text := range []bool{false, true} {
			var b bytes.Buffer
			w, read := trace.NewWriter(&b), trace.NewReader
			if text {
				w, read = trace.NewTextWriter(&b), trace.NewTextReader
			}
			require.NoError(t, w.Event(&trace.Event{Kind: trace.Run, Run: runInfo(s, &s.Policies[0], nil)}))
			require.NoError(t, w.Flush())
			e, err := read(&b).Next()
			require.NoError(t, err, b.String())
			require.Equal(t, want, readBack(&e.Run.Breakers[0]), src)
		}
	})
}

// TestOthersDoNotGuess: what another breaker cannot be told is named. What whoever
// reports to it can see to, and what it does by itself, is not.
func TestOthersDoNotGuess(t *testing.T) {
	gobreaker, failsafe := Others{By: "gobreaker v2.4.0"}, Others{By: "failsafe-go v0.9.8", Anonymous: true}
	for _, c := range []struct {
		settings string
		others   Others
		want     string
	}{
		{"recovery_growth: 1, probes: 1, probe_successes: 1", gobreaker, ""},
		{"failure_threshold: 5, stale_results: ignore", gobreaker, ""},
		{"counts: {permanent: success, cancelled: failure}, late_failures: ignore", gobreaker, ""},
		{"like: gobreaker", gobreaker, ""},
		{"like: gobreaker", failsafe, ""},
		{"like: failsafe-go", failsafe, ""},
		{"like: failsafe-go", gobreaker, "the results of x are anonymous, and gobreaker v2.4.0 wants to know of which call they are: write reports: permit"},
		{"like: gobreaker, window: {calls: 10}, failure_rate: 50%", gobreaker, "x sets window, failure_rate, which gobreaker v2.4.0 cannot be told: take that out, or compare under a policy without it"},
		{"counts: {permanent: ignore}, retry_after: heed", gobreaker, "x sets counts, retry_after, which gobreaker v2.4.0 cannot be told"},
		{"slow_after: 1s, slow: failure, probe: none", failsafe, "x sets slow_after, probe, which failsafe-go v0.9.8 cannot be told"},
	} {
		s, err := scenarios.Load("a.yaml", []byte("scenario: a\ntargets: {x: {}}\nbreakers: {x: {kind: tool, "+c.settings+"}}\ncalls: [{at: 0s, to: x}]\n"), scenarios.DefaultLimits())
		require.NoError(t, err, c.settings)
		err = c.others.cannot(s, &s.Policies[0])
		if c.want == "" {
			assert.NoError(t, err, c.settings)
			continue
		}
		assert.ErrorIs(t, err, ErrCannot)
		assert.ErrorContains(t, err, c.want)
	}
}
