package trace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// set is a run with a breaker that is set to more: two probes at one time, a
// cooldown that varies, a ramp, and an operator who does all that one can do.
func set() trace.List {
	tool := trace.Tool{Guards: "search", FailureThreshold: 1, RecoveryDuration: 10 * s, ProbeTimeout: 5 * s, StaleResults: "count"}
	info := &trace.RunInfo{Scenario: "set", Title: "t", Policy: "breaker", Seed: 1,
		Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Reports: "permit", Tool: &tool}},
		Targets:  []trace.Target{{Name: "search", Latency: "1s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}}}}
	tool.Probes = 2
	longer := tool
	longer.ProbeTimeout = 20 * s
	l := trace.List{
		{Kind: trace.Run, Run: info},
		{T: 1 * s, Kind: trace.Call, Call: 1, Attempt: 1, To: "search"},
		{T: 1 * s, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "b", Target: "search", Rule: "T1"},
		{T: 1 * s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "search", Outcome: trace.Failure, Breaker: "b", Applied: true, Rule: "T21", Seen: trace.Held{Calls: 2, Failures: 1, Slow: 1}},
		{T: 1 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 1 * s, Rule: "T21", Failures: 1, Until: 12 * s, Known: true, Call: 1},
		{T: 12 * s, Kind: trace.Call, Call: 2, Attempt: 1, To: "search"},
		{T: 12 * s, Kind: trace.Transition, Breaker: "b", From: "open", To: "half-open", Effective: 12 * s, Rule: "T5", Failures: 1, Call: 2},
		{T: 12 * s, Kind: trace.Admit, Call: 2, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "T5"},
		{T: 13 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "search"},
		{T: 13 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "T23"},
		{T: 14 * s, Kind: trace.Result, Call: 2, Attempt: 1, Target: "search", Outcome: trace.Cancelled, Took: 2 * s, Breaker: "b", Applied: true, Rule: "T25"},
		{T: 15 * s, Kind: trace.Operate, Op: trace.Configure, Breaker: "b", Settings: &trace.Breaker{Name: "b", Kind: "tool", Reports: "permit", Tool: &longer}},
		{T: 40 * s, Kind: trace.Operate, Op: trace.ForceOpen, Breaker: "b"},
		{T: 40 * s, Kind: trace.Transition, Breaker: "b", From: "half-open", To: "open", Effective: 33 * s, Rule: "T7", Failures: 1, Until: 43 * s, Known: true},
		{T: 41 * s, Kind: trace.Call, Call: 4, Attempt: 1, To: "search"},
		{T: 41 * s, Kind: trace.Refuse, Call: 4, Attempt: 1, Breaker: "b", Rule: "T31", Reason: "no", Would: trace.Success},
		{T: 42 * s, Kind: trace.Operate, Op: trace.ForceClosed, Breaker: "b"},
		{T: 42 * s, Kind: trace.Transition, Breaker: "b", From: "open", To: "closed", Effective: 42 * s, Rule: "T32", Failures: 1},
		{T: 43 * s, Kind: trace.Call, Call: 5, Attempt: 1, To: "search"},
		{T: 43 * s, Kind: trace.Admit, Call: 5, Attempt: 1, Breaker: "b", Target: "search", Rule: "T32"},
		{T: 43 * s, Kind: trace.Result, Call: 5, Attempt: 1, Target: "search", Outcome: trace.Failure, Breaker: "b", Rule: "T32"},
		{T: 43 * s, Kind: trace.Retry, Call: 5, Attempt: 2, Wait: 10 * s, Rule: "L1"},
		{T: 44 * s, Kind: trace.Operate, Op: trace.Reset, Breaker: "b"},
		{T: 45 * s, Kind: trace.Call, Call: 6, Attempt: 1, To: "search"},
		{T: 45 * s, Kind: trace.Refuse, Call: 6, Attempt: 1, Breaker: "b", Rule: "T26", Reason: "no", Would: trace.Success},
		{T: 46 * s, Kind: trace.GiveUp, Call: 5, Rule: "L9", Breaker: "b", Applied: true, Verdict: "T3"},
		{T: 46 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 46 * s, Rule: "T3", Failures: 1, Until: 57 * s, Known: true, Call: 5},
		{T: 47 * s, Kind: trace.End, States: []trace.BreakerState{{Breaker: "b", State: "open"}}},
	}
	return l
}

// TestValidateSet breaks the record by what the further rules do not do.
func TestValidateSet(t *testing.T) {
	require.NoError(t, trace.Validate(set()))
	for want, broken := range map[string]func(trace.List){
		`event 3, admit at 1s: rule "T32" cannot decide so while no operator keeps b as it is`: func(l trace.List) { l[2].Rule = "T32" },
		`event 4, result at 1s: rule "T24" cannot take a result while b is closed`:             func(l trace.List) { l[3].Rule = "T24" },
		`event 4, result at 1s: rule "T21" and applied false do not go together`:               func(l trace.List) { l[3].Applied = false },
		`event 5, transition at 1s: no rule "T24" leads from closed to open`:                   func(l trace.List) { l[4].Rule = "T24" },
		`event 5, transition at 1s: rule "T31" cannot move b while no operator forces it`:      func(l trace.List) { l[4].Rule = "T31" },
		`event 5, transition at 1s: the cooldown ends at 900ms, before it begins`:              func(l trace.List) { l[4].Until = 9 * s / 10 },
		`event 8, admit at 12s: b has no probe yet, and this is a further one`:                 func(l trace.List) { l[7].Rule = "T23" },
		`event 10, admit at 13s: b has a probe already`:                                        func(l trace.List) { l[9].Rule = "T5" },
		`event 10, admit at 13s: rule T23 and probe false do not go together`:                  func(l trace.List) { l[9].Probe = false },
		`event 4, result at 1s: of 2 calls in a window more were not well: 3 failed, 1 slow`:   func(l trace.List) { l[3].Seen.Failures = 3 },
		`event 10, admit at 13s: b has as many probes at one time as it may`:                   func(l trace.List) { l[0].Run.Breakers[0].Probes = 0 },
		`event 12, operate at 15s: it says nothing of how b is set from here on`:               func(l trace.List) { l[11].Settings = nil },
		`event 14, transition at 40s: the lease ended at 33s, not at 18s`:                      func(l trace.List) { l[13].Effective = 18 * s },
		`event 14, transition at 40s: no lease ended at 18s`:                                   func(l trace.List) { l[10].Rule, l[10].Applied, l[13].Effective = "T16", false, 18*s },
		`event 16, refuse at 41s: rule "T4" cannot decide so while an operator keeps b open`:   func(l trace.List) { l[15].Rule = "T4" },
		`event 21, result at 43s: rule "T3" cannot decide so while an operator keeps b closed`: func(l trace.List) { l[20].Rule, l[20].Applied = "T3", true },
		`event 26, give_up at 46s: rule "T9" cannot take a result while b is closed`:           func(l trace.List) { l[25].Verdict = "T9" },
		`event 26, give_up at 46s: the run has no breaker "x"`:                                 func(l trace.List) { l[25].Breaker = "x" },
		`event 2, operate at 0s: b is no tool breaker of ours, to which alone an operator does force_open`: func(l trace.List) {
			l[0].Run.Breakers[0].By = "gobreaker v2.4.0"
			l[1] = trace.Event{Kind: trace.Operate, Op: trace.ForceOpen, Breaker: "b"}
		},
		`event 24, transition at 45s: rule "T3" cannot move b while an operator keeps it closed`: func(l trace.List) {
			l[22].Op = trace.ForceClosed
			l[23] = trace.Event{T: 45 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 45 * s, Rule: "T3"}
		},
	} {
		l := set()
		broken(l)
		assert.EqualError(t, trace.Validate(l), want)
	}
}

// TestLeasesThatAreOver hold no slot: not against an anonymous result, which is
// taken for one of those that last, and not under new settings without a lease.
func TestLeasesThatAreOver(t *testing.T) {
	tool := trace.Tool{Guards: "search", FailureThreshold: 1, RecoveryDuration: 10 * s, ProbeTimeout: 5 * s, StaleResults: "count", FurtherTool: trace.FurtherTool{ProbesInAll: 4, ProbeFailureRate: 1}}
	endless := tool
	endless.ProbeTimeout = 0
	for name, l := range map[string]struct {
		reports string
		between trace.List
	}{
		"anonymous": {"anonymous", trace.List{
			{T: 20 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "search"},
			{T: 20 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "T23"},
			{T: 21 * s, Kind: trace.Result, Call: 3, Attempt: 1, Target: "search", Outcome: trace.Success, Took: 1 * s, Breaker: "b", Applied: true, Rule: "T24"},
			{T: 21 * s, Kind: trace.Call, Call: 4, Attempt: 1, To: "search"},
			{T: 21 * s, Kind: trace.Admit, Call: 4, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "T23"},
		}},
		"configured": {"permit", trace.List{
			{T: 20 * s, Kind: trace.Operate, Op: trace.Configure, Breaker: "b", Settings: &trace.Breaker{Name: "b", Kind: "tool", Reports: "permit", Tool: &endless}},
			{T: 21 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "search"},
			{T: 21 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "b", Target: "search", Probe: true, Rule: "T23"},
		}},
	} {
		info := set()[0].Run
		info.Breakers = []trace.Breaker{{Name: "b", Kind: "tool", Reports: l.reports, Tool: &tool}}
		all := append(trace.List{{Kind: trace.Run, Run: info}}, set()[1:8]...)
		all[3].Rule, all[4].Rule, all[4].Until, all[4].Known, all[3].Seen = "T3", "T3", 0, false, trace.Held{}
		check := new(trace.Validator)
		for i, e := range append(all, l.between...) {
			require.NoError(t, check.Event(&e), "%s: event %d", name, i+1)
		}
	}
}
