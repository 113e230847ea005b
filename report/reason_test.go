package report_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// reasonMoments is a moment for each rule, as complete and as bare as it may come.
var reasonMoments = []struct {
	want string
	m    report.Moment
}{
	{"the 3rd failure in a row (call 3: timeout)", report.Moment{Event: trace.Event{Rule: "T3", Failures: 3, Call: 3}, Outcome: "timeout"}},
	{"a failure (call 1)", report.Moment{Event: trace.Event{Rule: "T3", Failures: 1, Call: 1}, Outcome: "failure"}},
	{"the cooldown was over; call 5 asked and became the probe", report.Moment{Event: trace.Event{Rule: "T5", Call: 5}}},
	{"the cooldown, restarted at 25 s by a late failure (T11), was over; call 5 asked and became the probe",
		report.Moment{Event: trace.Event{Rule: "T5", Call: 5}, Restarts: []time.Duration{sec(25)}}},
	{"the cooldown, restarted twice by late failures (T11), last at 25 s, was over; the probe was let through",
		report.Moment{Event: trace.Event{Rule: "T5"}, Restarts: []time.Duration{sec(15), sec(25)}}},
	{"the cooldown, restarted 3 times by late failures (T11), last at 3 s, was over; the probe was let through",
		report.Moment{Event: trace.Event{Rule: "T5"}, Restarts: []time.Duration{1, 2, sec(3)}}},
	{"the cooldown was over; the probe was let through", report.Moment{Event: trace.Event{Rule: "T5"}}},
	{"the probe of call 5 never answered; its lease ended here", report.Moment{Event: trace.Event{Rule: "T7"}, ProbeCall: 5}},
	{"the probe of call 5 had not answered when its lease ended", report.Moment{Event: trace.Event{Rule: "T7"}, ProbeCall: 5, Answered: true}},
	{"the probe of call 5 was given up by its caller, which says nothing (T16); its lease ended here", report.Moment{Event: trace.Event{Rule: "T7"}, ProbeCall: 5, Cancelled: true}},
	{"the probe never answered; its lease ended here (noticed at 80 s)", report.Moment{Event: trace.Event{Rule: "T7", T: sec(80), Effective: sec(63)}}},
	{"the probe succeeded (call 6)", report.Moment{Event: trace.Event{Rule: "T8", Call: 6}, ProbeCall: 6, Outcome: "success"}},
	{"call 4 succeeded, and was taken for the probe, which is call 6", report.Moment{Event: trace.Event{Rule: "T8", Call: 4}, ProbeCall: 6, Outcome: "success"}},
	{"the probe failed (call 6: rate limit)", report.Moment{Event: trace.Event{Rule: "T9", Call: 6}, ProbeCall: 6, Outcome: "rate_limit"}},
	{"the probe failed", report.Moment{Event: trace.Event{Rule: "T9"}}},
	{"an operator reset the breaker", report.Moment{Event: trace.Event{Rule: "T15"}}},
	{"the cooldown was over; call 9 asked and probed the primary", report.Moment{Event: trace.Event{Rule: "M2", Call: 9}}},
	{"enough probes of the primary in a row succeeded (call 9)", report.Moment{Event: trace.Event{Rule: "M9", Call: 9}, Outcome: "success"}},
	{"the 11th failed turn in a row (call 12: permanent error)", report.Moment{Event: trace.Event{Rule: "M10", Failures: 11, Call: 12}, Outcome: "permanent"}},
	{"a rate limit during recovery (call 9)", report.Moment{Event: trace.Event{Rule: "M12", Call: 9}, Outcome: "rate_limit"}},
	{"one failure too many during recovery (call 9)", report.Moment{Event: trace.Event{Rule: "M13", Call: 9}, Outcome: "failure"}},
	{"an operator reset the breaker", report.Moment{Event: trace.Event{Rule: "M16"}}},
	{"gobreaker opened on the result of call 3, a failure", report.Moment{Event: trace.Event{Rule: "F4", From: "closed", To: "open", Call: 3}, Outcome: "failure", By: "gobreaker v2.4.0"}},
	{"gobreaker opened again on the result of call 3, a timeout", report.Moment{Event: trace.Event{Rule: "F4", From: "half-open", To: "open", Call: 3}, Outcome: "timeout", By: "gobreaker v2.4.0"}},
	{"eapache went to half-open by itself", report.Moment{Event: trace.Event{Rule: "F5", From: "open", To: "half-open"}, By: "eapache v1.7.0"}},
	{"gobreaker+lease opened again, as our lease on call 5 was over", report.Moment{Event: trace.Event{Rule: "F5", From: "half-open", To: "open"}, ProbeCall: 5, By: "gobreaker+lease v2.4.0"}},
	{"hystrix-go opened as call 4 asked", report.Moment{Event: trace.Event{Rule: "F3", From: "closed", To: "open", Call: 4}, By: "hystrix-go v1"}},
	{"failsafe-go closed when an operator reset it", report.Moment{Event: trace.Event{Rule: "F7", From: "open", To: "closed"}, By: "failsafe-go v0.9.8"}},
	{"by the breaker's own rules (call 2)", report.Moment{Event: trace.Event{Call: 2}}},
}

func TestReasons(t *testing.T) {
	for _, x := range reasonMoments {
		assert.Equal(t, x.want, x.m.Reason(), x.m.Rule)
	}
}

// vanishedText is the worked timeline of a lost probe, next to a model breaker.
const vanishedText = `
1s call call=1 to=search
1s admit call=1 breaker=search target=search rule=T1
1s result call=1 target=search outcome=failure took=0s breaker=search applied=true rule=T3
2s call call=2 to=search
2s admit call=2 breaker=search target=search rule=T1
2s result call=2 target=search outcome=failure took=0s breaker=search applied=true rule=T3
3s call call=3 to=search
3s admit call=3 breaker=search target=search rule=T1
3s result call=3 target=search outcome=timeout took=0s breaker=search applied=true rule=T3
3s transition breaker=search from=closed to=open effective=3s rule=T3 failures=3 call=3
10s call call=4 to=llm
10s admit call=4 breaker=llm target=opus rule=M1
11s result call=4 target=opus outcome=failure took=1s breaker=llm applied=true rule=M10
11s transition breaker=llm from=primary to=fallback effective=11s rule=M10 failures=1 call=4
11s switch breaker=llm from=opus to=sonnet rule=M10
20s call call=5 to=llm
20s admit call=5 breaker=llm target=sonnet rule=M4
21s result call=5 target=sonnet outcome=rate_limit took=1s breaker=llm applied=true rule=M11
21s switch breaker=llm from=sonnet to=haiku rule=M11
33s call call=6 to=search
33s transition breaker=search from=open to=half-open effective=33s rule=T5 failures=3 call=6
33s admit call=6 breaker=search target=search probe=true rule=T5
33s vanish call=6 target=search until=null
40s call call=7 to=search
40s refuse call=7 breaker=search rule=T6 reason=x until=93s would=success
45s operate op=set_available breaker=llm name=haiku available=false
45s switch breaker=llm from=haiku to=null rule=M15
50s call call=8 to=llm
50s exhausted call=8 breaker=llm rule=M3
71s call call=9 to=llm
71s transition breaker=llm from=fallback to=recovering effective=71s rule=M2 call=9
71s switch breaker=llm from=null to=opus rule=M2
71s admit call=9 breaker=llm target=opus probe=true rule=M2
72s result call=9 target=opus outcome=rate_limit took=1s breaker=llm applied=true rule=M12
72s transition breaker=llm from=recovering to=fallback effective=72s rule=M12 call=9
72s switch breaker=llm from=opus to=null rule=M12
80s call call=10 to=search
80s transition breaker=search from=half-open to=open effective=63s rule=T7 failures=3 call=10
80s refuse call=10 breaker=search rule=T4 reason=x until=93s would=success
93s call call=11 to=search
93s transition breaker=search from=open to=half-open effective=93s rule=T5 failures=3 call=11
93s admit call=11 breaker=search target=search probe=true rule=T5
93200ms result call=11 target=search outcome=success took=200ms breaker=search applied=true rule=T8
93200ms transition breaker=search from=half-open to=closed effective=93200ms rule=T8 failures=3 call=11
100s operate op=reset breaker=llm
100s transition breaker=llm from=fallback to=primary effective=100s rule=M16
100s switch breaker=llm from=null to=opus rule=M16
110s call call=12 to=search
110s admit call=12 breaker=search target=search rule=T1
112s result call=12 target=search outcome=success took=2s breaker=search applied=true rule=T2
120s end states={"search":"closed","llm":"primary"}
`

var vanishedRun = trace.RunInfo{Scenario: "vanished", Policy: "breaker", PolicyAbout: "breakers, no retries",
	Breakers: []trace.Breaker{toolBreaker("search"), modelBreaker("llm", "opus", "sonnet", "haiku")},
	Targets:  []trace.Target{upAndDown("search", seconds(0, 25)), upAndDown("opus", seconds(9, 90)), upAndDown("sonnet", seconds(20, 40)), upAndDown("haiku")}}

// TestMoments are told by number, each with its rule and its reason, beside the
// moment or, where that is too narrow, below it.
func TestMoments(t *testing.T) {
	tool, model := historyOf(t, written(t, toolRun, toolText)), historyOf(t, written(t, modelRun, modelText))
	both := historyOf(t, written(t, vanishedRun, vanishedText))
	for name, x := range map[string]struct {
		panels []*report.History
		o      report.TerminalOptions
	}{
		"moments-tool.txt":     {[]*report.History{tool}, report.TerminalOptions{}},
		"moments-model.txt":    {[]*report.History{model}, report.TerminalOptions{Width: 120}},
		"moments-both.txt":     {[]*report.History{both}, report.TerminalOptions{Width: 100, ASCII: true}},
		"moments-narrow.txt":   {[]*report.History{both}, report.TerminalOptions{Width: 50}},
		"moments-policies.txt": {[]*report.History{both, unguarded(t), tool}, report.TerminalOptions{}},
	} {
		var b bytes.Buffer
		require.NoError(t, report.WriteMoments(&b, x.panels, x.o))
		golden(t, name, b.String())
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteMoments(&b, []*report.History{unguarded(t)}, report.TerminalOptions{}))
	assert.Empty(t, b.String())
}
