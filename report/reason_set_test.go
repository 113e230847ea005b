package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// ailing is a breaker with those settings, before a target that fails from 10 s to
// 30 s, or does what else is given, and a call each second.
func ailing(settings, target string) string {
	return `
scenario: made-up
duration: 3m
breakers:
  api: {kind: tool, ` + settings + `}
targets:
  api:
    latency: 100ms
` + target + `
callers:
  - {name: user, to: api, rate: 1/s}
`
}

const failing = `    phases:
      - {at: 10s, for: 20s, outcome: failure}`

// ailingModel is a model breaker of which the primary fails likewise.
func ailingModel(settings, outcome string) string {
	return `
scenario: made-up
duration: 3m
breakers:
  llm: {kind: model, primary: opus, chain: [sonnet], trip_threshold: 1, recovery_timeout: 10s, recovery_successes_needed: 1, ` + settings + `}
targets:
  opus:
    phases:
      - {at: 10s, for: 20s, outcome: ` + outcome + `}
  sonnet: {latency: 100ms}
callers:
  - {name: user, to: llm, rate: 1/s}
`
}

// TestReasonsBySettings are why breakers changed their states that are set to more:
// in few words and in a sentence, with what was counted.
func TestReasonsBySettings(t *testing.T) {
	for name, c := range map[string]struct{ text, short, sentence string }{
		"rate of calls": {ailing("failure_threshold: 0, window: {calls: 8}, failure_rate: 50%, minimum_calls: 4", failing), "4 of 8 failed: opens (T21)",
			"4 of the last 8 calls failed, and the limit is 50 % (call 14)"},
		"rate in a time": {ailing("failure_threshold: 0, window: {time: 10s}, failure_rate: 50%, minimum_calls: 4", failing), "5 of 10 failed: opens (T21)",
			"5 of 10 calls in the last 10 s failed, and the limit is 50 % (call 15)"},
		"number": {ailing("failure_threshold: 0, window: {calls: 8}, window_failures: 3", failing), "3 of 8 failed: opens (T21)", "3 of the last 8 calls failed, and the limit is 3 (call 13)"},
		"slow calls": {ailing("failure_threshold: 0, window: {calls: 4}, slow_after: 1s, slow_rate: 75%", "    phases:\n      - {at: 10s, for: 20s, latency: 2s}"), "3 of 4 slow: opens (T22)",
			"3 of the last 4 calls took longer than 1 s, and the limit is 75 % (call 13)"},
		"slow is failed": {ailing("failure_threshold: 2, slow_after: 1s, slow: failure", "    phases:\n      - {at: 10s, for: 20s, latency: 2s}"), "2nd failure, slow: opens (T3)",
			"the 2nd failure in a row (call 12: slow, which counts as a failure, T22)"},
		"not in a row":    {ailing("failure_threshold: 2, success_clears: false", failing), "2nd failure: opens (T3)", "the 2nd failure (call 12)"},
		"several in turn": {ailing("recovery_duration: 10s, probe_successes: 3", failing), "3rd probe succeeds: closes (T8)", "the probe of call 37 succeeded, the 3rd of the 3 in a row that it takes"},
		"the first of several": {ailing("recovery_duration: 10s, probe_successes: 3", failing), "call 24 is the first probe (T5)",
			"the cooldown was over; call 24 asked and became the first probe"},
		"rate of probes": {ailing("recovery_duration: 10s, probes: 4, probe_successes: 4, probe_failure_rate: 50%", failing), "4 of 4 probes failed: opens again (T9)",
			"the probe of call 27 failed, 4 of 4 probes failed, and the limit is 50 %"},
		"grown": {ailing("recovery_duration: 5s, recovery_growth: 3", failing), "probe fails: opens for 15 s (T9, T27)",
			"the probe failed (call 19); the cooldown runs until 33.1 s (15 s: 3 times 5 s, T27)"},
		"drawn": {ailing("recovery_duration: 20s, recovery_jitter: 30%", failing), "3rd failure: opens for 14.284 s (T3, T28)",
			"the 3rd failure in a row (call 13); the cooldown runs until 26.384 s (14.284 s: drawn, T28)"},
		"told": {ailing("failure_threshold: 1, recovery_duration: 5s, retry_after: heed", "    phases:\n      - {at: 10s, for: 20s, outcome: rate_limit, retry_after: 50s}"), "failure: opens until 60.1 s (T3, T29)",
			"a failure (call 11: rate limit); the cooldown runs until 60.1 s, when the other side said to come back (T29)"},
		"a 404 proves health": {ailing("failure_threshold: 1, counts: {permanent: success}, recovery_duration: 10s", "    phases:\n      - {at: 10s, for: 5s, outcome: failure}\n      - {at: 15s, for: 20s, outcome: permanent}"),
			"probe succeeds: closes (T8)", "the probe of call 22 ended in a permanent error, which counts as a success (T20)"},
		"without a probe": {ailing("failure_threshold: 1, probe: none, recovery_duration: 10s", failing), "call 22 closes it (T34)", "the cooldown was over; call 22 asked and closed it without a probe"},
		"by new settings": {ailing("recovery_duration: 10s, probe_successes: 9", failing) + "calls: [{at: 36500ms, configure: {breaker: api, probe_successes: 2}}]", "new settings: closed (T33)",
			"an operator changed the settings (closes after 2 good probes in a row), by which the probes so far are enough"},
		"model, grown": {ailingModel("recovery_growth: 2, probation_failures: 1", "failure"), "probes fail: on to sonnet for 20 s (M13, M25)",
			"one failure too many during recovery (call 21); the cooldown runs until 40 s (20 s: 2 times 10 s, M25)"},
		"model, drawn": {ailingModel("recovery_jitter: 50%", "failure"), "failed turn: on to sonnet for 14.732 s (M10, M26)",
			"a failed turn (call 11); the cooldown runs until 24.732 s (14.732 s: drawn, M26)"},
		"model, told": {ailingModel("retry_after: heed", "rate_limit, retry_after: 50s"), "failed turn: on to sonnet until 60 s (M10, M27)",
			"a failed turn (call 11: rate limit); the cooldown runs until 60 s, when the other side said to come back (M27)"},
		"model, switched for nothing": {ailingModel("probation_failures: 1", "failure") + "calls: [{at: 5s, set_available: {breaker: llm, name: sonnet, available: false}}]", "sonnet switched off (M15)",
			"an operator switched sonnet off, which changes nothing for now"},
	} {
		var shorts, sentences []string
		for _, m := range playedText(t, c.text)[0].tellable() {
			shorts, sentences = append(shorts, m.short()), append(sentences, m.Reason())
		}
		assert.Contains(t, shorts, c.short, name)
		assert.Contains(t, sentences, c.sentence, name)
	}
}

// TestNothingThatItDidNotDo is what is told of breakers that stay closed: nobody
// says of one that its window, or an operator, could open that it never does.
func TestNothingThatItDidNotDo(t *testing.T) {
	const one = "    phases:\n      - {at: 10s, for: 1s, outcome: failure}"
	for settings, want := range map[string]string{
		"failure_threshold: 3":                                                     capIt + " stayed closed throughout, as it never saw three failures in a row (T3).",
		"failure_threshold: 3, success_clears: false":                              capIt + " stayed closed throughout, as it never saw three failures (T3).",
		"failure_threshold: 0":                                                     capIt + " stayed closed throughout, as one that never opens.",
		"failure_threshold: 0, window: {calls: 9}, failure_rate: 10%":              "",
		"failure_threshold: 0, window: {calls: 9}, window_failures: 9":             capIt + " stayed closed throughout, as its window never held so much trouble (T21).",
		"failure_threshold: 0, window: {calls: 9}, slow_rate: 50%, slow_after: 9s": capIt + " stayed closed throughout, as its window never held so much trouble (T22).",
		"failure_threshold: 3, window: {calls: 9}, window_failures: 9":             capIt + " stayed closed throughout, as it never saw three failures in a row (T3), nor so much trouble in its window (T21).",
	} {
		h := playedText(t, ailing(settings, one))[0]
		if want == "" {
			assert.Greater(t, len(h.Breakers[0].Bands), 1, settings)
			continue
		}
		tell := &teller{h: h, b: h.Breakers[0]}
		assert.Equal(t, []string{want}, tell.quiet(), settings)
	}
	later := playedText(t, ailing("failure_threshold: 0", one)+"calls: [{at: 60s, configure: {breaker: api, failure_threshold: 1}}]")[0]
	assert.Equal(t, []string{capIt + " stayed closed throughout."}, (&teller{h: later, b: later.Breakers[0]}).quiet())
	assert.Equal(t, "failures in a row", later.Breakers[0].cause(trace.MoveOf("closed", "open", "T3")), "it could, by the settings of later")
	never := playedText(t, ailing("failure_threshold: 0", one))[0]
	assert.Equal(t, "never: no threshold", never.Breakers[0].cause(trace.MoveOf("closed", "open", "T3")))
}

// TestRefusalsBesideProbes say how long the lease lives that is in the way, whatever
// the cooldown is by then.
func TestRefusalsBesideProbes(t *testing.T) {
	const hanging = "    phases:\n      - {at: 10s, for: 5s, outcome: failure}\n      - {at: 20s, for: 60s, latency: 50s}"
	for settings, want := range map[string]string{
		"recovery_duration: 10s, probe_timeout: 20s":                      "T6: the probe's lease runs until 43 s",
		"recovery_duration: 10s, probe_timeout: 20s, recovery_growth: 4":  "T6: the probe's lease runs until 43 s",
		"recovery_duration: 10s, probe_timeout: 20s, probes: 2":           "T6: as many probes are out as may be; the oldest one's lease runs until 43 s",
		"recovery_duration: 10s, probe_timeout: 20s, probe_successes: 2":  "T6: as many probes are out as may be; the oldest one's lease runs until 43 s",
		"recovery_duration: 10s, probe_timeout: 0s":                       "T6: a probe is out, and has no lease",
		"recovery_duration: 10s, probe_timeout: 20s, retry_after: heed":   "T6: the probe's lease runs until 43 s",
		"recovery_duration: 10s, probe_timeout: 20s, recovery_jitter: 0%": "T6: the probe's lease runs until 43 s",
	} {
		h := playedText(t, ailing(settings, hanging))[0]
		var all []string
		for i := range h.Marks {
			if m := &h.Marks[i]; m.Rule == "T6" {
				all = append(all, h.Breakers[0].refusal(m, h.End))
			}
		}
		assert.Contains(t, all, want, settings)
	}
}

// TestWhereAProbeIsPossible is the end of each cooldown as it really was, however
// long; nobody asks for a while then.
func TestWhereAProbeIsPossible(t *testing.T) {
	const s = time.Second
	text := func(settings, ops string) string {
		return `
scenario: made-up
duration: 3m
breakers:
  api: {kind: tool, failure_threshold: 1, recovery_duration: 10s, ` + settings + `}
targets:
  api: {outcome: rate_limit, retry_after: 30s}
calls:
  - {at: 10s, to: api}
  - {at: 50s, to: api}
` + ops
	}
	for name, c := range map[string]struct {
		text string
		want []trace.Span
	}{
		"steady":            {text("late_failures: extend", ""), []trace.Span{{From: 20 * s, To: 50 * s}, {From: 60 * s, To: 180 * s}}},
		"grown":             {text("recovery_growth: 3", ""), []trace.Span{{From: 20 * s, To: 50 * s}, {From: 80 * s, To: 180 * s}}},
		"told":              {text("retry_after: heed", ""), []trace.Span{{From: 40 * s, To: 50 * s}, {From: 80 * s, To: 180 * s}}},
		"set to be longer":  {text("probes: 1", "  - {at: 55s, configure: {breaker: api, recovery_duration: 40s}}"), []trace.Span{{From: 20 * s, To: 50 * s}, {From: 90 * s, To: 180 * s}}},
		"forced meanwhile":  {text("probes: 1", "  - {at: 70s, force_open: api}"), []trace.Span{{From: 20 * s, To: 50 * s}, {From: 60 * s, To: 70 * s}}},
		"forced before":     {text("probes: 1", "  - {at: 55s, force_open: api}"), []trace.Span{{From: 20 * s, To: 50 * s}}},
		"forced from there": {text("probes: 1", "  - {at: 5s, force_open: api}"), nil},
	} {
		assert.Equal(t, c.want, playedText(t, c.text)[0].Breakers[0].Ready, name)
	}
}

// TestFailuresAsTheyAreSet stand on the page that steps through a run.
func TestFailuresAsTheyAreSet(t *testing.T) {
	for settings, want := range map[string]string{
		"failure_threshold: 3":                                        "0 (opens at 3)",
		"failure_threshold: 3, success_clears: false":                 "0 (opens at 3, successes or not)",
		"failure_threshold: 0":                                        "0 (never opens)",
		"failure_threshold: 0, window: {calls: 9}, failure_rate: 50%": "0 (its window opens it)",
	} {
		s, err := scenarios.Load("made-up.yaml", []byte(ailing(settings, failing)+"calls: [{at: 1s, configure: {breaker: api, failure_threshold: 5}}]"), scenarios.DefaultLimits())
		require.NoError(t, err)
		steps, d := new(Steps), &pageData{numbers: map[string]int{}}
		playInto(t, s, 0, steps)
		d.breaker(steps.byName["api"], 0, time.Minute)
		assert.Contains(t, d.Words, want, settings)
		assert.True(t, slices.ContainsFunc(d.Words, func(w string) bool { return strings.HasPrefix(w, "0 (opens at 5") }), "by the settings from 1 s on: %q", d.Words)
	}
}

// TestWhatDecidedAmongProbes: failures, slow ones, or a row of good ones.
func TestWhatDecidedAmongProbes(t *testing.T) {
	set := func(d trace.FurtherTool) *trace.Breaker {
		return &trace.Breaker{Name: "api", Tool: &trace.Tool{FurtherTool: d}}
	}
	slow := trace.FurtherTool{ProbeFailureRate: 0.75, ProbeSlowRate: 0.5, SlowAfter: time.Second}
	for want, m := range map[string]Moment{
		"the probe of call 7 failed, 3 of 4 probes failed, and the limit is 75 %":                                       {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Failure, set: set(slow), tried: probed{1, 3, 1}},
		"the probe of call 7 was slow, 2 of 4 probes were slow, and the limit is 50 %":                                  {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Success, set: set(slow), tried: probed{3, 1, 2}},
		"the probe of call 7 succeeded, 2 of 4 probes failed, and the limit is 75 %; 1 was slow, and the limit is 50 %": {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(slow), tried: probed{2, 2, 1}},
		"the probe of call 7 succeeded, 0 of 2 probes failed, and the limit is 75 %":                                    {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{ProbeFailureRate: 0.75}), tried: probed{2, 0, 0}},
		"the probe of call 7 succeeded, the 3rd of the 3 in a row that it takes":                                        {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{ProbeSuccesses: 3}), tried: probed{3, 0, 0}},
		"the probe was slow (call 7)":                {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{SlowAfter: time.Second, Slow: "failure"}), tried: probed{0, 1, 1}},
		"the 3rd failure in a row (call 7: timeout)": {Event: trace.Event{Rule: "T3", To: "open", Call: 7, Failures: 3}, Outcome: trace.Timeout, set: set(trace.FurtherTool{})},
		"the 3rd failure (call 7: timeout)":          {Event: trace.Event{Rule: "T3", To: "open", Call: 7, Failures: 3}, Outcome: trace.Timeout, set: set(trace.FurtherTool{SuccessClears: new(bool)})},
	} {
		assert.Equal(t, want, m.Reason())
	}
}
