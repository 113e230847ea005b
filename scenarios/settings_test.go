package scenarios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// breakerOf loads a tool breaker with these settings, in flow style.
func breakerOf(t testing.TB, settings string) *Breaker {
	t.Helper()
	s, err := load("scenario: a\ntargets: {x: {}}\nbreakers: {x: {kind: tool" + settings + "}}\ncalls: [{at: 0s, to: x}]\n")
	require.NoError(t, err, settings)
	return &s.Breakers[0]
}

// TestSettings has every key of a tool breaker beyond its own rules.
func TestSettings(t *testing.T) {
	for settings, want := range map[string]func(*machine.ToolSettings){
		"": func(*machine.ToolSettings) {},
		"counts: {failure: failure, timeout: ignore, rate_limit: success, permanent: ignore, cancelled: failure}": func(s *machine.ToolSettings) {
			s.Counts = machine.Counts{Failure: machine.AsFailure, Timeout: machine.AsNothing, RateLimit: machine.AsSuccess, Permanent: machine.AsNothing, Cancelled: machine.AsFailure}
		},
		"window: {calls: 100}, failure_rate: 50%, minimum_calls: 20": func(s *machine.ToolSettings) {
			s.FailureThreshold, s.Trip = 0, machine.Trip{Window: machine.Window{Calls: 100}, FailureRate: 0.5, MinCalls: 20}
		},
		"window: {time: 10s}, window_failures: 5, failure_threshold: 4": func(s *machine.ToolSettings) {
			s.FailureThreshold, s.Trip = 4, machine.Trip{Window: machine.Window{Span: 10 * time.Second}, Failures: 5}
		},
		"window: {time: 1m, buckets: 6}, slow_after: 2s, slow_rate: 0.25": func(s *machine.ToolSettings) {
			s.FailureThreshold, s.Trip = 0, machine.Trip{Window: machine.Window{Span: time.Minute, Buckets: 6}, SlowerThan: 2 * time.Second, SlowRate: 0.25}
		},
		"slow_after: 2s, slow: failure": func(s *machine.ToolSettings) { s.Trip = machine.Trip{SlowerThan: 2 * time.Second, SlowFails: true} },
		"success_clears: false, forget_failures_after: 10s": func(s *machine.ToolSettings) {
			s.Trip = machine.Trip{KeepsCount: true, ForgetAfter: 10 * time.Second}
		},
		"success_clears: true, slow: success, window: none, probe: call, cancelled_probe: hold, retry_after: ignore, late_failures: extend, failure_rate: 0%": func(*machine.ToolSettings) {},
		"probes: 3, probes_in_all: 10, probe_successes: 5, cancelled_probe: release": func(s *machine.ToolSettings) {
			s.Probing = machine.Probing{AtOnce: 3, InAll: 10, Needed: 5, Release: true}
		},
		"probes: any, probe_successes: 10, probe_failure_rate: \" 50 % \", probe_slow_rate: 1, slow_after: 1m": func(s *machine.ToolSettings) {
			s.Trip.SlowerThan, s.Probing = time.Minute, machine.Probing{AtOnce: AnyProbes, Needed: 10, FailureRate: 0.5, SlowRate: 1}
		},
		"probe: none, ramp: 30s, ramp_from: 10%": func(s *machine.ToolSettings) {
			s.Probing = machine.Probing{Skip: true, Ramp: 30 * time.Second, RampFrom: 0.1}
		},
		"recovery_growth: 1.5, recovery_longest: 10m, recovery_forget: 5m, recovery_jitter: 15%, retry_after: heed, late_failures: ignore": func(s *machine.ToolSettings) {
			s.Cooldown = machine.Cooldown{Growth: 1.5, Longest: 10 * time.Minute, Forget: 5 * time.Minute, Jitter: 0.15, RetryAfter: true, LateKeep: true}
		},
	} {
		expected := machine.DefaultToolSettings()
		want(&expected)
		if settings != "" {
			settings = ", " + settings
		}
		got := breakerOf(t, settings).Tool
		assert.Equal(t, expected, *got, settings)
		assert.NoError(t, got.Validate(), settings)
	}
}

// TestPoliciesChangeFurtherSettings: what a policy leaves out stays, and the two
// settings that stand for others go with them.
func TestPoliciesChangeFurtherSettings(t *testing.T) {
	change := func(scenario, policy string) *Breaker {
		s, err := load("scenario: a\ntargets: {x: {}}\nbreakers: {x: {kind: tool" + scenario + "}}\ncalls: [{at: 0s, to: x}]\npolicies: [{name: p, breakers: {x: {" + policy + "}}}]\n")
		require.NoError(t, err, "%s then %s", scenario, policy)
		return &s.Policies[0].Breakers[0]
	}
	rate := ", failure_rate: 50%, window: {calls: 10}, minimum_calls: 5"
	assert.Equal(t, machine.Trip{FailureRate: 0.2, Window: machine.Window{Calls: 10}, MinCalls: 5}, change(rate, "failure_rate: 20%").Tool.Trip)
	assert.Equal(t, 7, change(rate+", failure_threshold: 7", "failure_rate: 20%").Tool.FailureThreshold, "it held beside a rate before")
	assert.Equal(t, 0, change(", failure_threshold: 7", "failure_rate: 20%, window: {calls: 10}").Tool.FailureThreshold, "the rate is new here")
	assert.Equal(t, machine.Counts{Permanent: machine.AsNothing, Timeout: machine.AsSuccess}, change(", counts: {permanent: ignore, timeout: ignore}", "counts: {timeout: success}").Tool.Counts)
	assert.Equal(t, machine.Probing{Skip: true, Ramp: time.Second}, change(", probes: 3, ramp: 1s", "probe: none").Tool.Probing, "there are no probes left to speak of")

	polly := change(", recovery_duration: 1s, retry_after: heed, probes: 4", "like: polly, recovery_jitter: 10%")
	want := *breakerOf(t, ", like: polly").Tool
	want.Cooldown.Jitter = 0.1
	assert.Equal(t, want, *polly.Tool, "a preset begins anew")
	assert.True(t, polly.Anonymous)
	assert.False(t, change(", like: polly", "reports: permit").Anonymous)
	assert.False(t, change(", reports: anonymous", "like: resilience4j").Anonymous)
}

// TestPresets has each preset's numbers, as the libraries document them.
func TestPresets(t *testing.T) {
	const s = time.Second
	cancelledFails := machine.Counts{Cancelled: machine.AsFailure}
	ring, tenths := machine.Window{Calls: 100}, machine.Window{Span: 10 * s, Buckets: 10}
	late := machine.Cooldown{LateKeep: true}
	want := map[string]machine.ToolSettings{
		"resilience4j": {RecoveryDuration: 60 * s, Trip: machine.Trip{Window: ring, MinCalls: 100, FailureRate: 0.5, SlowerThan: 60 * s, SlowRate: 1},
			Probing: machine.Probing{AtOnce: 10, InAll: 10, Needed: 10, FailureRate: 0.5, SlowRate: 1, Release: true}, Cooldown: late},
		"polly":   {RecoveryDuration: 5 * s, Counts: machine.Counts{Cancelled: machine.AsSuccess}, Trip: machine.Trip{Window: machine.Window{Span: 30 * s, Buckets: 10}, MinCalls: 100, FailureRate: 0.1}, Cooldown: late},
		"hystrix": {RecoveryDuration: 5 * s, Trip: machine.Trip{Window: tenths, MinCalls: 20, FailureRate: 0.5}, Cooldown: late},
		"envoy-outlier-detection": {FailureThreshold: 5, RecoveryDuration: 30 * s, ProbeTimeout: 30 * s, Counts: machine.Counts{RateLimit: machine.AsSuccess, Permanent: machine.AsSuccess},
			Probing: machine.Probing{Skip: true}, Cooldown: machine.Cooldown{Growth: 2, Longest: 300 * s, Forget: 10 * s, LateKeep: true}},
		"opossum":     {RecoveryDuration: 30 * s, Counts: cancelledFails, Trip: machine.Trip{Window: tenths, FailureRate: 0.50001}, Cooldown: late},
		"gobreaker":   {FailureThreshold: 6, RecoveryDuration: 60 * s, IgnoreStale: true, Counts: cancelledFails, Probing: machine.Probing{AtOnce: 1, Needed: 1}, Cooldown: late},
		"failsafe-go": {FailureThreshold: 1, RecoveryDuration: 60 * s, Counts: cancelledFails, Probing: machine.Probing{AtOnce: 1, Needed: 1}, Cooldown: late},
		"eapache": {FailureThreshold: 3, RecoveryDuration: 5 * s, Counts: cancelledFails, Trip: machine.Trip{KeepsCount: true, ForgetAfter: 5 * s},
			Probing: machine.Probing{AtOnce: AnyProbes, Needed: 1}, Cooldown: late},
	}
	anonymous := []string{"polly", "hystrix", "opossum", "failsafe-go", "eapache"}
	tools := 0
	for _, p := range Presets() {
		for _, source := range p.Source {
			assert.True(t, strings.HasPrefix(source, "https://"), source)
		}
		assert.NotEmpty(t, p.Source, p.Name)
		assert.Regexp(t, `\d`, p.Version, p.Name)
		for _, sentence := range p.Cannot {
			assert.Regexp(t, `^[A-Z].*\.$`, sentence, p.Name)
		}
		if p.Kind == "model" {
			continue
		}
		tools++
		b := breakerOf(t, ", like: "+p.Name)
		assert.Equal(t, want[p.Name], *b.Tool, p.Name)
		assert.NoError(t, b.Tool.Validate(), p.Name)
		assert.Equal(t, slices.Contains(anonymous, p.Name), b.Anonymous, p.Name)
		pasted := "scenario: a\ntargets: {x: {}}\nbreakers:\n  x:\n    kind: tool\n    " + strings.ReplaceAll(strings.TrimSpace(p.Settings), "\n", "\n    ") + "\ncalls: [{at: 0s, to: x}]\n"
		s, err := load(pasted)
		require.NoError(t, err, p.Name)
		assert.Equal(t, *b, s.Breakers[0], "what %s says can be pasted", p.Name)
	}
	assert.Len(t, want, tools)
}

// TestAPresetOfAModelBreaker keeps whom it routes to.
func TestAPresetOfAModelBreaker(t *testing.T) {
	s, err := load("scenario: a\ntargets: {opus: {}, sonnet: {}}\nbreakers: {llm: {kind: model, primary: opus, chain: [sonnet], trip_threshold: 9}}\ncalls: [{at: 0s, to: llm}]\npolicies: [{name: p, breakers: {llm: {like: litellm-router, probation_failures: 2}}}]\n")
	require.NoError(t, err)
	assert.Equal(t, machine.ModelSettings{Primary: "opus", Chain: []machine.Backup{{Name: "sonnet", MaxFailCount: 2}}, TripThreshold: 4, RecoveryTimeout: 5 * time.Second, RecoverySuccessesNeeded: 1, ProbationFailures: 2,
		Cooldown: machine.Cooldown{RetryAfter: true}, EntryCooldown: 5 * time.Second},
		*s.Policies[0].Breakers[0].Model)
}

// TestFurtherSettingsOfAModelBreaker reads each of them.
func TestFurtherSettingsOfAModelBreaker(t *testing.T) {
	s, err := load("scenario: a\ntargets: {opus: {}, sonnet: {}, mini: {}}\nbreakers: {llm: {kind: model, primary: opus, chain: [sonnet], counts: {permanent: success, cancelled: failure}, recovery_growth: 2, recovery_longest: 10m, " +
		"recovery_forget: 5m, recovery_jitter: 15%, retry_after: heed, probes: 2, probe_timeout: 20s, exhausted_wait: 5s, last_resort: mini, entry_cooldown: 30s}}\ncalls: [{at: 0s, to: llm}]\n" +
		"policies: [{name: p, breakers: {llm: {probes: any, probe_timeout: 0s}}}]\n")
	require.NoError(t, err)
	want := machine.DefaultModelSettings()
	want.Primary, want.Chain, want.LastResort = "opus", []machine.Backup{{Name: "sonnet", MaxFailCount: 2}}, "mini"
	want.Counts = machine.Counts{Permanent: machine.AsSuccess, Cancelled: machine.AsFailure}
	want.Cooldown = machine.Cooldown{Growth: 2, Longest: 10 * time.Minute, Forget: 5 * time.Minute, Jitter: 0.15, RetryAfter: true}
	want.Probes, want.ProbeTimeout, want.Wait, want.EntryCooldown = 2, 20*time.Second, 5*time.Second, 30*time.Second
	assert.Equal(t, want, *s.Breakers[0].Model)
	want.Probes, want.ProbeTimeout = 0, 0
	assert.Equal(t, want, *s.Policies[0].Breakers[0].Model, "any number of probes is M6")

	_, err = load("scenario: a\ntargets: {opus: {}, sonnet: {}, mini: {}}\nbreakers: {llm: {kind: model, primary: opus, chain: [sonnet], last_resort: mini}}\ncalls: [{at: 0s, to: llm}]\n" +
		"policies: [{name: p, breakers: {llm: {chain: [mini]}}}]\n")
	assert.ErrorContains(t, err, "mini is the last resort of llm, and here in the chain or the primary too; give the policy a last_resort as well")
}

// TestSetFurtherSettings changes them from outside, there or not.
func TestSetFurtherSettings(t *testing.T) {
	src := []byte("scenario: a\ntargets: {x: {}}\nbreakers:\n  x: {kind: tool, window: {calls: 10}, failure_rate: 50%}\ncalls: [{at: 0s, to: x}]\n")
	for _, c := range []struct {
		path, value string
		want        func(*machine.ToolSettings)
	}{
		{"failure_rate", "20%", func(s *machine.ToolSettings) { s.Trip.FailureRate = 0.2 }},
		{"window.calls", "30", func(s *machine.ToolSettings) { s.Trip.Window.Calls = 30 }},
		{"window", "{time: 5s}", func(s *machine.ToolSettings) { s.Trip.Window = machine.Window{Span: 5 * time.Second} }},
		{"counts.permanent", "ignore", func(s *machine.ToolSettings) { s.Counts.Permanent = machine.AsNothing }},
		{"probes", "any", func(s *machine.ToolSettings) { s.Probing.AtOnce = AnyProbes }},
		{"recovery_jitter", "0.1", func(s *machine.ToolSettings) { s.Cooldown.Jitter = 0.1 }},
	} {
		changed, err := Set("a.yaml", src, "breakers.x."+c.path, c.value)
		require.NoError(t, err, c.path)
		s, err := Load("a.yaml", changed, DefaultLimits())
		require.NoError(t, err, c.path)
		want := *breakerOf(t, ", window: {calls: 10}, failure_rate: 50%").Tool
		c.want(&want)
		assert.Equal(t, want, *s.Breakers[0].Tool, c.path)
	}
	changed, err := Set("a.yaml", src, "breakers.x.like", "hystrix")
	require.NoError(t, err)
	_, err = Load("a.yaml", changed, DefaultLimits())
	assert.ErrorContains(t, err, "minimum_calls is 20, and the window holds only 10", "the keys beside it change it")
}

// TestConfigureInTurn: what an operator changes is laid over what he changed
// before, under each policy, and has to make sense there.
func TestConfigureInTurn(t *testing.T) {
	for _, c := range []struct {
		name, breaker, policy, first, second string
		want                                 string // of the message; empty: the settings make sense
	}{
		{name: "a minimum for a rate of before", first: "failure_rate: 50%, window: {calls: 10}", second: "minimum_calls: 5"},
		{name: "a window for a preset of before", first: "like: resilience4j", second: "window: {calls: 200}"},
		{name: "an end to what there was", breaker: ", failure_rate: 50%, window: {calls: 10}", first: "failure_rate: 0%, window: none", second: "failure_threshold: 2"},
		{name: "a preset alone", first: "like: gobreaker", second: "like: resilience4j"},
		{name: "half of it", first: "failure_rate: 50%, window: {calls: 10}", second: "window: none", want: "test.yaml:6:69: failure_rate looks back on the results in a window"},
		{name: "too small a window", first: "failure_rate: 50%, window: {calls: 10}, minimum_calls: 8", second: "window: {calls: 5}", want: "test.yaml:6:69: minimum_calls is 8, and the window holds only 5"},
		{name: "slow calls that nobody can tell", policy: "reports: anonymous", first: "slow_after: 1s, slow: failure", second: "probes: 2", want: "test.yaml:5:73: an anonymous report does not say how long the call took"},
		{name: "other reports", first: "probes: 2", second: "like: polly", want: "test.yaml:6:67: polly has reports: anonymous, which cannot change while it runs"},
		{name: "other reports under the policy", breaker: ", reports: anonymous", policy: "reports: permit", first: "like: polly", second: "probes: 2", want: "test.yaml:5:67: polly has reports: anonymous"},
		{name: "a preset of the other kind", first: "like: litellm-router", second: "probes: 2", want: "test.yaml:5:67: litellm-router is a preset of model breakers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := load("scenario: a\ntargets: {x: {}}\nbreakers: {x: {kind: tool" + c.breaker + "}}\ncalls:\n" +
				"  - {at: 5s, configure: {breaker: x, recovery_duration: 1s, " + c.first + "}}\n" +
				"  - {at: 9s, configure: {breaker: x, recovery_duration: 2s, " + c.second + "}}\n" +
				"policies: [{name: p, breakers: {x: {" + c.policy + "}}}]\n")
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			got := s.Policies[0].Configured
			require.Len(t, got, 2)
			assert.NoError(t, got[0].Validate())
			assert.NoError(t, got[1].Validate())
			assert.Equal(t, 2*time.Second, got[1].RecoveryDuration)
		})
	}
}

// TestWindowsThatAreTooLarge are refused with what would be held: alone, for each
// of many callers, and where an operator makes them so.
func TestWindowsThatAreTooLarge(t *testing.T) {
	for _, c := range []struct{ settings, configure, want string }{
		{"window: {calls: 5000}, failure_rate: 50%", "window: {calls: 4000}", ""},
		{"window: {calls: 5001}, failure_rate: 50%", "window: {calls: 4000}", "test.yaml:3:12: x would be 10000 breakers with windows of 5001 each; no more than 50000000 are held in all: write 5000 at most"},
		{"window: {calls: 10}, failure_rate: 50%", "window: {time: 1m, buckets: 6000}", "test.yaml:5:29: x would be 10000 breakers with windows of 6000 each"},
		{"window: {time: 1m, buckets: 10001}, failure_rate: 50%", "probes: 2", "buckets is 10001; it must be from 1 to 10000"},
		{"window: {calls: 1000001}, failure_rate: 50%", "probes: 2", "calls is 1000001; it must be from 1 to 1000000"},
	} {
		_, err := load("scenario: a\ntargets: {x: {}}\nbreakers: {x: {kind: tool, per: caller, " + c.settings + "}}\ncallers: [{name: c, count: 10000, to: x}]\n" +
			"calls: [{at: 5s, configure: {breaker: x, " + c.configure + "}}]\n")
		if c.want == "" {
			assert.NoError(t, err, c.settings)
			continue
		}
		assert.ErrorContains(t, err, c.want)
	}
}

// TestAGuardOfNothing is told once, where it is said.
func TestAGuardOfNothing(t *testing.T) {
	_, err := load("scenario: a\ntargets: {x: {}, y: {}}\nbreakers: {x: {kind: tool, guards: yy}}\ncalls: [{at: 5s, to: x}]\n")
	var faults *Faults
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults.Faults, 1)
	assert.Equal(t, `unknown target "yy"; did you mean "y"?`, faults.Faults[0].Message)
}
