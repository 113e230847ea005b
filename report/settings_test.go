package report

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestSettingsInWords has every setting at its edges, alone in its list.
func TestSettingsInWords(t *testing.T) {
	const end = 2 * time.Minute
	tool := func(change func(*trace.Breaker)) *trace.Breaker {
		b := &trace.Breaker{Name: "search", Kind: "tool", Tool: &trace.Tool{Guards: "search", FailureThreshold: 3, RecoveryDuration: 90 * time.Second, ProbeTimeout: 30 * time.Second, StaleResults: "count"}}
		change(b)
		return b
	}
	model := func(change func(*trace.Breaker)) *trace.Breaker {
		b := &trace.Breaker{Name: "llm", Kind: "model", Reports: "permit", Model: &trace.Model{Primary: "opus", Chain: []trace.Backup{{Name: "sonnet", MaxFailCount: 2}, {Name: "haiku", MaxFailCount: 2}},
			TripThreshold: 3, RecoveryTimeout: time.Minute, RecoverySuccessesNeeded: 2}}
		change(b)
		return b
	}
	for _, c := range []struct {
		want string
		b    *trace.Breaker
	}{
		{"search (tool breaker): opens after 3 failures in a row · cooldown 90 s · probe lease 30 s", tool(func(*trace.Breaker) {})},
		{"search (tool breaker): opens after 1 failure · cooldown 90 s · probe lease 30 s", tool(func(b *trace.Breaker) { b.FailureThreshold = 1 })},
		{"search (tool breaker): never opens · cooldown 24 h · no probe lease", tool(func(b *trace.Breaker) { b.FailureThreshold, b.RecoveryDuration, b.ProbeTimeout = 0, 24*time.Hour, 0 })},
		{"search (tool breaker), asked for: guards web · opens after 3 failures in a row · cooldown 90 s · probe lease 30 s · stale results ignored · anonymous reports · by gobreaker v2.4.0",
			tool(func(b *trace.Breaker) {
				b.Guards, b.StaleResults, b.Reports, b.By = "web", "ignore", "anonymous", "gobreaker v2.4.0"
			})},
		{"search (tool breaker): cooldown 90 s · probe lease 30 s · opens at 50 % failures or 5 failures or 100 % slow calls of the last 100 calls, from 20 calls on · calls over 2 s are slow and fail · permanent errors count as nothing, cancelled calls as failures",
			tool(func(b *trace.Breaker) {
				b.FailureThreshold, b.Window, b.FailureRate, b.WindowFailures, b.SlowRate, b.MinimumCalls = 0, &trace.Window{Calls: 100}, 0.5, 5, 1, 20
				b.SlowAfter, b.Slow, b.Counts = 2*time.Second, "failure", &trace.Counts{Permanent: "ignore", Cancelled: "failure"}
			})},
		{"search (tool breaker): opens after 3 failures · cooldown 90 s · opens at 7 % failures of the last 10 s · a success leaves the count · failures forgotten after 10 s without one · closes without a probe · after closing 30 s from 10 % of the calls to all · late failures ignored",
			tool(func(b *trace.Breaker) {
				b.Window, b.FailureRate, b.SuccessClears, b.ForgetFailuresAfter = &trace.Window{Time: 10 * time.Second}, 0.07, new(bool), 10*time.Second
				b.Probe, b.Ramp, b.RampFrom, b.LateFailures = "none", 30*time.Second, 0.1, "ignore"
			})},
		{"search (tool breaker): opens after 3 failures in a row · cooldown 90 s · probe lease 30 s · any number of probes at a time, 10 in all · closes below 50 % failed and 100 % slow of 10 probes · a cancelled probe gives its slot back",
			tool(func(b *trace.Breaker) {
				b.Probes, b.ProbesInAll, b.ProbeSuccesses, b.ProbeFailureRate, b.ProbeSlowRate, b.CancelledProbe = trace.AnyProbes, 10, 10, 0.5, 1, "release"
			})},
		{"search (tool breaker): opens after 3 failures in a row · cooldown 90 s · probe lease 30 s · 3 probes at a time · closes after 2 good probes in a row · cooldown 1.5 times as long each time, up to 10 min, until it was closed for 300 s · cooldown drawn from 15 % less to 15 % more · open for as long as a failure asks",
			tool(func(b *trace.Breaker) {
				b.Probes, b.ProbeSuccesses, b.RecoveryGrowth, b.RecoveryLongest, b.RecoveryForget = 3, 2, 1.5, 10*time.Minute, 5*time.Minute
				b.RecoveryJitter, b.RetryAfter = 0.15, "heed"
			})},
		{"search (tool breaker): opens after 3 failures in a row · cooldown 90 s · probe lease 30 s · cooldown up to 10 min · open for as long as a failure asks",
			tool(func(b *trace.Breaker) { b.RecoveryLongest, b.RetryAfter = 10*time.Minute, "heed" })},
		{"llm (model breaker): opus, then sonnet, then haiku · 2 strikes each · trips after 3 failed turns in a row · cooldown 60 s · back after 2 good probes in a row", model(func(*trace.Breaker) {})},
		{"llm (model breaker): opus, then nobody · trips after 1 failed turn · cooldown 60 s · back after 1 good probe",
			model(func(b *trace.Breaker) { b.Chain, b.TripThreshold, b.RecoverySuccessesNeeded = nil, 0, 0 })},
		{"llm (model breaker): opus, then sonnet · 1 strike · trips after 3 failed turns in a row · cooldown 60 s · back after 2 good probes in a row · back to the backups after 1 failed probe",
			model(func(b *trace.Breaker) { b.Chain, b.ProbationFailures = []trace.Backup{{Name: "sonnet"}}, 1 })},
		{"llm (model breaker): opus, then sonnet, then haiku · sonnet 1 strike, haiku 2 strikes · trips after 3 failed turns in a row · cooldown 60 s · back after 2 good probes in a row · anonymous reports",
			model(func(b *trace.Breaker) { b.Chain[0].MaxFailCount, b.Reports = 1, "anonymous" })},
		{"llm (model breaker): opus, then sonnet, then haiku · 2 strikes each · trips after 3 failed turns in a row · cooldown 60 s · back after 2 good probes in a row · 1 probe at a time, each for 20 s at most · " +
			"turns wait up to 5 s for somebody to serve · last resort mini · a spent backup is whole again after 30 s · timeouts count as nothing, permanent errors as successes · " +
			"cooldown 2 times as long each time, up to 10 min, until it was in primary for 300 s · cooldown drawn from 15 % less to 15 % more · no probe for as long as a failure asks", model(func(b *trace.Breaker) {
			b.FurtherModel = trace.FurtherModel{AtOnce: 1, PlaceFor: 20 * time.Second, ExhaustedWait: 5 * time.Second, LastResort: "mini", EntryCooldown: 30 * time.Second}
			b.Further = trace.Further{Counts: &trace.Counts{Timeout: "ignore", Permanent: "success"}, RecoveryGrowth: 2, RecoveryLongest: 10 * time.Minute, RecoveryForget: 5 * time.Minute, RecoveryJitter: 0.15, RetryAfter: "heed"}
		})},
	} {
		assert.Equal(t, c.want, settings(c.b, end))
	}
}

// TestEverySettingHasWords looks for the keys of a trace in the tables.
func TestEverySettingHasWords(t *testing.T) {
	for _, c := range []struct {
		of    reflect.Type
		table []setting
	}{{reflect.TypeFor[trace.Tool](), toolSettings}, {reflect.TypeFor[trace.Model](), modelSettings}} {
		known := map[string]bool{}
		for _, s := range c.table {
			for _, key := range strings.Split(s.keys, ", ") {
				known[key] = true
			}
		}
		for _, f := range append(reflect.VisibleFields(c.of), reflect.VisibleFields(reflect.TypeFor[trace.Further]())...) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			assert.True(t, known[key] || f.Anonymous || key == "health", "%s of %s", key, c.of) // the health's lane says that there is one
		}
		assert.True(t, known["reports"] && (known["by"] || !known["guards"]))
		assert.Equal(t, c.of == reflect.TypeFor[trace.Model](), known["max_fail_count"], "of a chain's entries")
	}
}

// TestPoliciesAreToldApart by what their breakers have of their own, or by what
// they do, in every scenario, and in no file's words.
func TestPoliciesAreToldApart(t *testing.T) {
	want := map[string]string{
		"six-days-half-open no-lease":                "no probe lease; breakers, no retries",
		"six-days-half-open breaker":                 "probe lease 30 s; breakers, no retries",
		"echo-trip ignore-stale":                     "stale results ignored; breakers, no retries",
		"overhanging-calls permits":                  "stale results ignored, reports by permit; breakers, no retries",
		"overhanging-calls anonymous":                "stale results counted, anonymous reports; breakers, no retries",
		"overshoot cooldown-5m":                      "cooldown 5 min; breakers, no retries",
		"ninety-tries-and-recovery latch":            "cooldown 24 h; breakers, no retries",
		"waterfall-every-turn one-strike":            "1 strike each; breakers, no retries",
		"out-of-budget one-failed-probe":             "back to the backups after 1 failed probe; breakers, no retries",
		"out-of-budget plain-retries":                "4 attempts, waits from 100 ms doubling up to 10 s, proportional jitter; no breakers",
		"metastable-collapse retry-breaker":          "4 attempts, waits from 100 ms doubling up to 10 s, full jitter, as long as at most 10 % fail; no breakers",
		"users-give-up retries-inside":               "4 attempts, waits of 1 s, no jitter; breakers asked once a call",
		"three-wire-failures-one-strike per-attempt": "3 attempts, waits of 1 s, no jitter; breakers asked at each attempt",
	}
	seen := 0
	for _, name := range scenarios.Names() {
		panels := played(t, name)
		abouts := map[string]string{}
		for i, h := range panels {
			about := policyAbout(panels, i)
			assert.Empty(t, abouts[about], "%s: %s and %s are both %q", name, abouts[about], h.Run.Policy, about)
			abouts[about] = h.Run.Policy
			if words, ok := want[name+" "+h.Run.Policy]; ok {
				seen++
				assert.Equal(t, words, about, name)
			}
			assert.NotContains(t, about, "_", "no key of a file")
		}
	}
	assert.Len(t, want, seen)
}

// TestHeadingsAreWhole has names and words that need a second line, or more.
func TestHeadingsAreWhole(t *testing.T) {
	long := strings.Repeat("long-", 9) + "name"
	for _, c := range []struct {
		policy, about string
		lines         int
	}{
		{"short", "", 1}, {"short", "breakers, no retries", 1}, {"short", strings.Repeat("many words ", 9), 3}, {"short", strings.Repeat("many words ", 20), 4},
		{long, "breakers, no retries", 3}, {long + " " + long, "breakers, no retries", 4},
	} {
		one := world{policy: c.policy, end: time.Minute, targets: 1, tools: 1, calls: 3000}.history(t)
		one.Run.PolicyAbout = c.about
		other := world{policy: "other", end: time.Minute, targets: 1, tools: 1}.history(t)
		f, p := drawn(t, Look{Width: 480}, one, other)
		var said []string
		for _, s := range p.texts {
			if s.y > f.panels[0].y-1 && s.y < f.panels[0].groups[0].y {
				said = append(said, s.text)
			}
		}
		h := f.panels[0].heading
		assert.Equal(t, headingHeight+float64(c.lines-1)*leading, h.height(), c.policy+c.about)
		words := strings.Fields(strings.Join(said, " "))
		assert.ElementsMatch(t, strings.Fields(c.policy+" "+c.about+" "+h.counts), words)
	}
}
