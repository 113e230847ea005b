package trace_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// setModel is a run with a model breaker that is set to more than M1 to M17.
func setModel() trace.List {
	model := trace.Model{Primary: "opus", Chain: []trace.Backup{{Name: "sonnet", MaxFailCount: 1}}, TripThreshold: 1, RecoveryTimeout: 10 * s, RecoverySuccessesNeeded: 1,
		FurtherModel: trace.FurtherModel{AtOnce: 1, PlaceFor: 5 * s, ExhaustedWait: 3 * s, LastResort: "mini", EntryCooldown: 4 * s}}
	info := &trace.RunInfo{Scenario: "set-model", Title: "t", Policy: "breaker", Seed: 1,
		Breakers: []trace.Breaker{{Name: "llm", Kind: "model", Reports: "permit", Model: &model, Further: trace.Further{Counts: &trace.Counts{Timeout: "ignore"}, RecoveryGrowth: 2, RetryAfter: "heed"}}}}
	for _, name := range []string{"opus", "sonnet", "mini"} {
		info.Targets = append(info.Targets, trace.Target{Name: name, Latency: "0s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}})
	}
	return trace.List{
		{Kind: trace.Run, Run: info},
		{T: 0, Kind: trace.Call, Call: 1, Attempt: 1, To: "llm"},
		{T: 0, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "llm", Target: "opus", Rule: "M1"},
		{T: 0, Kind: trace.Result, Call: 1, Attempt: 1, Target: "opus", Outcome: trace.Failure, Breaker: "llm", Applied: true, Rule: "M10"},
		{T: 0, Kind: trace.Transition, Breaker: "llm", From: "primary", To: "fallback", Rule: "M10", Failures: 1, Until: 10 * s, Known: true, Call: 1},
		{T: 0, Kind: trace.Switch, Breaker: "llm", From: "opus", To: "sonnet", Rule: "M10"},
		{T: 1 * s, Kind: trace.Call, Call: 2, Attempt: 1, To: "llm"},
		{T: 1 * s, Kind: trace.Admit, Call: 2, Attempt: 1, Breaker: "llm", Target: "sonnet", Rule: "M4"},
		{T: 1 * s, Kind: trace.Result, Call: 2, Attempt: 1, Target: "sonnet", Outcome: trace.Failure, Breaker: "llm", Applied: true, Rule: "M11"},
		{T: 1 * s, Kind: trace.Switch, Breaker: "llm", From: "sonnet", To: "mini", Rule: "M11"},
		{T: 1 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "llm"},
		{T: 1 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "llm", Target: "mini", Rule: "M23"},
		{T: 2 * s, Kind: trace.Result, Call: 3, Attempt: 1, Target: "mini", Outcome: trace.Timeout, Took: 1 * s, Breaker: "llm", Rule: "M20"},
		{T: 2 * s, Kind: trace.Call, Call: 4, Attempt: 1, To: "llm"},
		{T: 2 * s, Kind: trace.Waits, Call: 4, Attempt: 1, Breaker: "llm", Rule: "M22", Until: 5 * s},
		{T: 2 * s, Kind: trace.Call, Call: 5, Attempt: 1, To: "llm"},
		{T: 2 * s, Kind: trace.Waits, Call: 5, Attempt: 1, Breaker: "llm", Rule: "M22", Until: 5 * s},
		{T: 3 * s, Kind: trace.GiveUp, Call: 5, Rule: "L9"},
		{T: 6 * s, Kind: trace.Operate, Op: trace.SetAvailable, Breaker: "llm", Name: "sonnet", Available: true},
		{T: 6 * s, Kind: trace.Switch, Breaker: "llm", From: "mini", To: "sonnet", Effective: 5 * s, Rule: "M24"},
		{T: 10 * s, Kind: trace.Call, Call: 6, Attempt: 1, To: "llm"},
		{T: 10 * s, Kind: trace.Transition, Breaker: "llm", From: "fallback", To: "recovering", Effective: 10 * s, Rule: "M2", Call: 6},
		{T: 10 * s, Kind: trace.Switch, Breaker: "llm", From: "sonnet", To: "opus", Rule: "M2"},
		{T: 10 * s, Kind: trace.Admit, Call: 6, Attempt: 1, Breaker: "llm", Target: "opus", Probe: true, Rule: "M2"},
		{T: 11 * s, Kind: trace.Call, Call: 7, Attempt: 1, To: "llm"},
		{T: 11 * s, Kind: trace.Admit, Call: 7, Attempt: 1, Breaker: "llm", Target: "sonnet", Rule: "M21"},
		{T: 12 * s, Kind: trace.Result, Call: 6, Attempt: 1, Target: "opus", Outcome: trace.Cancelled, Took: 2 * s, Breaker: "llm", Applied: true, Rule: "M14"},
		{T: 13 * s, Kind: trace.End, States: []trace.BreakerState{{Breaker: "llm", State: "recovering"}}},
	}
}

// TestValidateSetModel breaks the record by what the further rules do not do.
func TestValidateSetModel(t *testing.T) {
	require.NoError(t, trace.Validate(setModel()))
	further := func(change func(*trace.FurtherModel)) func(trace.List) {
		return func(l trace.List) { change(&l[0].Run.Breakers[0].FurtherModel) }
	}
	for want, broken := range map[string]func(trace.List){
		"event 12, admit at 1s: rule M23 is about last_resort, which llm does not state":        further(func(f *trace.FurtherModel) { f.LastResort = "" }),
		"event 13, result at 2s: rule M20 is about counts, which llm does not state":            func(l trace.List) { l[0].Run.Breakers[0].Counts = nil },
		"event 15, wait at 2s: rule M22 is about exhausted_wait, which llm does not state":      further(func(f *trace.FurtherModel) { f.ExhaustedWait = 0 }),
		"event 15, wait at 2s: it asked at 2s and waits for 2.999999999s at most, not until 5s": further(func(f *trace.FurtherModel) { f.ExhaustedWait = 3*s - 1 }),
		"event 15, wait at 2s: it asked at 2s and waits for 3s at most, not until 2s":           func(l trace.List) { l[14].Until = 2 * s },
		`event 15, wait at 2s: rule "M3" cannot decide so while llm is fallback`:                func(l trace.List) { l[14].Rule = "M3" },
		"event 15, wait at 2s: attempt 2 of call 4 is not at a point where this can happen":     func(l trace.List) { l[14].Attempt = 2 },
		"event 20, switch at 6s: rule M24 is about entry_cooldown, which llm does not state":    further(func(f *trace.FurtherModel) { f.EntryCooldown = 0 }),
		"event 20, switch at 6s: only M24 is backdated, and to what was; here M24 is, to 7s":    func(l trace.List) { l[19].Effective = 7 * s },
		"event 20, switch at 6s: only M24 is backdated, and to what was; here M15 is, to 5s":    func(l trace.List) { l[19].Rule = "M15" },
		"event 26, admit at 11s: rule M21 is about probes, which llm does not state":            further(func(f *trace.FurtherModel) { f.AtOnce = 0 }),
		"event 26, admit at 11s: beside a probe llm goes to its backups, and opus is none":      func(l trace.List) { l[25].Target = "opus" },
		"event 26, admit at 11s: rule M21 and probe true do not go together":                    func(l trace.List) { l[25].Probe = true },
		`event 12, admit at 1s: rule "M21" cannot decide so while llm is fallback`:              func(l trace.List) { l[11].Rule = "M21" },
		"event 5, transition at 0s: the cooldown ends at -1ns, before it begins":                func(l trace.List) { l[4].Until = -1 },
	} {
		l := setModel()
		broken(l)
		assert.EqualError(t, trace.Validate(l), want)
	}
}

// TestSetModelRoundTrip reads both forms back. Settings of one name are those of
// the breaker's kind.
func TestSetModelRoundTrip(t *testing.T) {
	for _, form := range []struct {
		write func(*bytes.Buffer) *trace.Writer
		read  func(*bytes.Buffer) *trace.Reader
	}{
		{func(b *bytes.Buffer) *trace.Writer { return trace.NewWriter(b) }, func(b *bytes.Buffer) *trace.Reader { return trace.NewReader(b) }},
		{func(b *bytes.Buffer) *trace.Writer { return trace.NewTextWriter(b) }, func(b *bytes.Buffer) *trace.Reader { return trace.NewTextReader(b) }},
	} {
		l := setModel()
		var b bytes.Buffer
		w := form.write(&b)
		for i := range l {
			require.NoError(t, w.Event(&l[i]))
		}
		require.NoError(t, w.Flush())
		back, err := form.read(&b).ReadAll()
		require.NoError(t, err)
		for i := range l {
			if l[i].Kind == trace.Waits {
				l[i].Known = true // as it is read
			}
		}
		assert.Equal(t, l, back)
	}
	_, err := trace.NewReader(bytes.NewBufferString(`{"t":0,"event":"run","format":1,"breakers":[{"name":"b","kind":"tool","guards":"x","last_resort":"mini"}]}`)).Next()
	assert.ErrorContains(t, err, `unknown field "last_resort"`)
}
