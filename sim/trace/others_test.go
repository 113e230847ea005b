package trace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// others is a run with a breaker that is not ours: it opens on a result, refuses,
// goes to half-open as a call asks, closes, and is reset.
func others() trace.List {
	info := &trace.RunInfo{Scenario: "others", Title: "t", Policy: "breaker", Seed: 1,
		Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Reports: "permit", By: "gobreaker v2.4.0", Tool: &trace.Tool{Guards: "search", FailureThreshold: 1, RecoveryDuration: 30 * s, StaleResults: "count"}}},
		Targets:  []trace.Target{{Name: "search", Latency: "1s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}}}}
	return trace.List{
		{Kind: trace.Run, Run: info},
		{T: 1 * s, Kind: trace.Call, Call: 1, Attempt: 1, To: "search"},
		{T: 1 * s, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "b", Target: "search", Rule: "F1"},
		{T: 2 * s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "search", Outcome: trace.Failure, Took: 1 * s, Breaker: "b", Applied: true, Rule: "F4"},
		{T: 2 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 2 * s, Rule: "F4", Call: 1},
		{T: 3 * s, Kind: trace.Call, Call: 2, Attempt: 1, To: "search"},
		{T: 3 * s, Kind: trace.Refuse, Call: 2, Attempt: 1, Breaker: "b", Rule: "F2", Reason: "circuit breaker is open", Would: trace.Success},
		{T: 33 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "search"},
		{T: 33 * s, Kind: trace.Transition, Breaker: "b", From: "open", To: "half-open", Effective: 33 * s, Rule: "F3", Call: 3},
		{T: 33 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "F1"},
		{T: 34 * s, Kind: trace.Result, Call: 3, Attempt: 1, Target: "search", Outcome: trace.Success, Took: 1 * s, Breaker: "b", Applied: true, Rule: "F6"},
		{T: 40 * s, Kind: trace.Operate, Op: "reset", Breaker: "b"},
		{T: 40 * s, Kind: trace.Transition, Breaker: "b", From: "half-open", To: "closed", Effective: 40 * s, Rule: "F7"},
		{T: 50 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 50 * s, Rule: "F5"},
		{T: 50 * s, Kind: trace.End, States: []trace.BreakerState{{Breaker: "b", State: "open"}}},
	}
}

// TestValidateOthers: of a breaker that is not ours a record has what can be seen
// of it, and no rule of ours.
func TestValidateOthers(t *testing.T) {
	require.NoError(t, trace.Validate(others()))
	for want, broken := range map[string]func(trace.List){
		"event 1, run at 0s: the breaker \"b\" routes to models, which only ours do": func(l trace.List) {
			l[0].Run.Breakers[0].Tool, l[0].Run.Breakers[0].Model = nil, &trace.Model{Primary: "search"}
		},
		"event 3, admit at 1s: what is seen of gobreaker v2.4.0 is \"F1\", not rule \"T1\"":                  func(l trace.List) { l[2].Rule = "T1" },
		"event 3, admit at 1s: probe true cannot be while gobreaker v2.4.0 is closed":                        func(l trace.List) { l[2].Probe = true },
		"event 3, admit at 1s: the run has no target \"x\"":                                                  func(l trace.List) { l[2].Target = "x" },
		"event 4, result at 2s: rule \"T3\" and applied true say more than can be seen of gobreaker v2.4.0":  func(l trace.List) { l[3].Rule = "T3" },
		"event 4, result at 2s: rule \"F4\" and applied false say more than can be seen of gobreaker v2.4.0": func(l trace.List) { l[3].Applied = false },
		"event 5, transition at 2s: what is seen of gobreaker v2.4.0 is no rule \"T3\"":                      func(l trace.List) { l[4].Rule = "T3" },
		"event 5, transition at 2s: what is seen of gobreaker v2.4.0 is no rule \"F6\"":                      func(l trace.List) { l[4].Rule = "F6" },
		"event 5, transition at 2s: gobreaker v2.4.0 cannot go from closed to \"ajar\"":                      func(l trace.List) { l[4].To = "ajar" },
		"event 5, transition at 2s: gobreaker v2.4.0 cannot go from closed to \"closed\"":                    func(l trace.List) { l[4].To = "closed" },
		"event 5, transition at 2s: when gobreaker v2.4.0 changed is known no better than by 2s":             func(l trace.List) { l[4].Effective = 1 * s },
		"event 5, transition at 2s: b is closed, not open":                                                   func(l trace.List) { l[4].From = "open" },
		"event 7, refuse at 3s: what is seen of gobreaker v2.4.0 is \"F2\", not rule \"T4\"":                 func(l trace.List) { l[6].Rule = "T4" },
		"event 15, end at 50s: breaker 1 is b, open":                                                         func(l trace.List) { l[14].States[0].State = "closed" },
		"event 3, admit at 1s: rule \"F1\" cannot decide so while b is closed":                               func(l trace.List) { l[0].Run.Breakers[0].By = "" },
	} {
		l := others()
		broken(l)
		assert.EqualError(t, trace.Validate(l), want)
	}
}
