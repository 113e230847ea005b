package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// written is a record as text, without its first line, which run is.
func written(t testing.TB, run trace.RunInfo, text string) trace.List {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		lines = append(lines, strings.TrimSpace(line))
	}
	l, err := trace.NewTextReader(strings.NewReader(strings.Join(lines, "\n"))).ReadAll()
	require.NoError(t, err)
	return append(trace.List{{Kind: trace.Run, Run: &run}}, l...)
}

// feed gives the record to a sink.
func feed(t testing.TB, l trace.List, s trace.Sink) {
	t.Helper()
	for i := range l {
		require.NoError(t, s.Event(&l[i]))
	}
}

func measured(t testing.TB, l trace.List) report.Cost {
	t.Helper()
	m := report.NewMeter()
	feed(t, l, m)
	return m.Cost()
}

func historyOf(t testing.TB, l trace.List) *report.History {
	t.Helper()
	h := new(report.History)
	feed(t, l, h)
	return h
}

// golden compares with a file, or with UPDATE=1 rewrites it: read what changed.
func golden(t testing.TB, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// upAndDown is a target that is down in the outages, [from, to) each.
func upAndDown(name string, outages ...trace.Span) trace.Target {
	t := trace.Target{Name: name, Outcome: "success", Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}}
	for i, o := range outages {
		if o.From == 0 {
			t.Segments = nil
		}
		t.Segments = append(t.Segments, trace.Segment{At: o.From, Outcome: "timeout", Phase: i})
		if o.To > 0 { // 0: for ever
			t.Segments = append(t.Segments, trace.Segment{At: o.To, Success: 1, Outcome: "success", Phase: trace.NoPhase})
		}
	}
	return t
}

func seconds(from, to float64) trace.Span { return trace.Span{From: sec(from), To: sec(to)} }

func sec(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func toolBreaker(name string) trace.Breaker {
	return trace.Breaker{Name: name, Kind: "tool", Reports: "permit", Tool: &trace.Tool{Guards: name, FailureThreshold: 3,
		RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second, StaleResults: "count"}}
}

func modelBreaker(name, primary string, chain ...string) trace.Breaker {
	m := &trace.Model{Primary: primary, TripThreshold: 3, RecoveryTimeout: time.Minute, RecoverySuccessesNeeded: 2}
	for _, c := range chain {
		m.Chain = append(m.Chain, trace.Backup{Name: c, MaxFailCount: 2})
	}
	return trace.Breaker{Name: name, Kind: "model", Reports: "permit", Model: m}
}

// toolRun is down from 10 s to 40 s. Every figure that it should have is worked
// out in TestMeterOfATool.
var toolRun = trace.RunInfo{Scenario: "tool", Policy: "breaker", PolicyAbout: "breakers, no retries",
	Breakers: []trace.Breaker{toolBreaker("search")}, Targets: []trace.Target{upAndDown("search", seconds(10, 40))}}

const toolText = `
1s call call=1 to=search
1s admit call=1 breaker=search target=search rule=T1
2s result call=1 target=search outcome=success took=1s breaker=search applied=true rule=T2
11s call call=2 to=search
11s admit call=2 breaker=search target=search rule=T1
12s call call=3 to=search
12s admit call=3 breaker=search target=search rule=T1
13s result call=2 target=search outcome=timeout took=2s breaker=search applied=true rule=T3
13s call call=4 to=search
13s admit call=4 breaker=search target=search rule=T1
14s result call=3 target=search outcome=timeout took=2s breaker=search applied=true rule=T3
15s result call=4 target=search outcome=timeout took=2s breaker=search applied=true rule=T3
15s transition breaker=search from=closed to=open effective=15s rule=T3 failures=3 call=4
20s call call=5 to=search
20s refuse call=5 breaker=search rule=T4 reason=x until=45s would=timeout
42s call call=6 to=search
42s refuse call=6 breaker=search rule=T4 reason=x until=45s would=success
45s call call=7 to=search
45s transition breaker=search from=open to=half-open effective=45s rule=T5 failures=3 call=7
45s admit call=7 breaker=search target=search probe=true rule=T5
47s result call=7 target=search outcome=success took=2s breaker=search applied=true rule=T8
47s transition breaker=search from=half-open to=closed effective=47s rule=T8 failures=3 call=7
47500ms call call=8 to=search
47500ms admit call=8 breaker=search target=search rule=T1
48s result call=8 target=search outcome=success took=500ms breaker=search applied=true rule=T2
48400ms call call=9 to=search
48400ms admit call=9 breaker=search target=search rule=T1
48500ms call call=10 to=search
48500ms admit call=10 breaker=search target=search rule=T1
48500ms vanish call=10 target=search until=50500ms
49s call call=11 to=search
49s admit call=11 breaker=search target=search rule=T1
49400ms result call=9 target=search outcome=success took=1s breaker=search applied=true rule=T2
60s end states={"search":"closed"}
`

func TestMeterOfATool(t *testing.T) {
	assert.Equal(t, report.Cost{
		Calls: 11, Attempts: 9, // calls 5 and 6 were refused
		Wasted: 3, Refused: 2, // calls 2, 3, 4; calls 5, 6
		Succeeded: 4, Failed: 6, Unfinished: 1, // 1 7 8 9; 2 3 4 5 6 10; 11
		// waits: 1 2 2 2 0 0 2 0.5 1 2 seconds of calls 1 to 10, and 60-49 = 11 of call 11
		Finished: 10, AtOnce: 2, WaitTotal: sec(23.5), // calls 5 and 6
		WaitWasted: sec(8), // 2+2+2+0+0 and 2 of call 10
		// sorted: 0 0 0.5 1 1 2 2 2 2 2; the 5th, the 9th, three times the 10th
		WaitP50: sec(1), WaitP90: sec(2), WaitP99: sec(2), WaitP999: sec(2), WaitMax: sec(2),
		Harm: 1, // call 6: the target was up again
		Outages: []report.OutageCost{{Target: "search", From: sec(10), To: sec(40),
			Recover:   new(sec(7)), // call 7, begun at 45 s, succeeded at 47 s
			Overshoot: new(sec(2)), // call 6
			Burst:     new(3),      // 48.4 48.5 49; from 47.5 only 48.4 is within a second
		}},
		Breakers: []report.BreakerCost{{Breaker: "search", Openings: 1, OpenTime: sec(32), // 15 to 47
			Detect: []*time.Duration{new(sec(5))}}}, // 10 to 15
	}, measured(t, written(t, toolRun, toolText)))
}

// modelRun has an outage of the primary at once, and one that never ends.
var modelRun = trace.RunInfo{Scenario: "model", Policy: "breaker", Breakers: []trace.Breaker{modelBreaker("llm", "opus", "sonnet")},
	Targets: []trace.Target{upAndDown("opus", seconds(0, 5), seconds(100, 0)), upAndDown("sonnet")}}

const modelText = `
0s call call=1 to=llm
0s admit call=1 breaker=llm target=opus rule=M1
2s result call=1 target=opus outcome=failure took=2s breaker=llm applied=true rule=M10
2s transition breaker=llm from=primary to=fallback effective=2s rule=M10 failures=3 call=1
2s switch breaker=llm from=opus to=sonnet rule=M10
3s call call=2 to=llm
3s admit call=2 breaker=llm target=sonnet rule=M4
4s result call=2 target=sonnet outcome=success took=1s breaker=llm rule=M8
20s call call=3 to=llm
20s admit call=3 breaker=llm target=sonnet rule=M4
22s result call=3 target=sonnet outcome=cancelled took=2s
25s operate op=set_available breaker=llm name=sonnet available=false
25s switch breaker=llm from=sonnet to=null rule=M15
30s call call=4 to=llm
30s exhausted call=4 breaker=llm rule=M3
62s call call=5 to=llm
62s transition breaker=llm from=fallback to=recovering effective=62s rule=M2 call=5
62s switch breaker=llm from=null to=opus rule=M2
62s admit call=5 breaker=llm target=opus probe=true rule=M2
63s result call=5 target=opus outcome=success took=1s breaker=llm applied=true rule=M9
63s transition breaker=llm from=recovering to=primary effective=63s rule=M9 call=5
100s call call=6 to=opus
100s admit call=6 breaker=llm target=opus rule=M1
101s result call=6 target=opus outcome=rate_limit took=1s breaker=llm applied=true rule=M10
101s transition breaker=llm from=primary to=fallback effective=101s rule=M10 failures=1 call=6
101s switch breaker=llm from=opus to=null rule=M10
110s end states={"llm":"fallback"}
`

func TestMeterOfAModel(t *testing.T) {
	assert.Equal(t, report.Cost{
		Calls: 6, Attempts: 5, Wasted: 2, // calls 1 and 6
		Exhausted: 1, Rerouted: 2, // call 4; calls 2 and 3
		Succeeded: 2, Failed: 4, Finished: 6, AtOnce: 1, // 2 5; 1 3 4 6
		WaitTotal: sec(7), WaitWasted: sec(5), // 2 1 2 0 1 1; all but calls 2 and 5
		WaitP50: sec(1), WaitP90: sec(2), WaitP99: sec(2), WaitP999: sec(2), WaitMax: sec(2), // 0 1 1 1 2 2: the 3rd and the 6th
		Outages: []report.OutageCost{
			{Target: "opus", From: 0, To: sec(5), Recover: new(sec(58)), Overshoot: new(sec(25)), Burst: new(1)}, // 63-5; 30-5; 62
			{Target: "opus", From: sec(100), To: sec(110)},
		},
		Breakers: []report.BreakerCost{{Breaker: "llm", Openings: 2, OpenTime: sec(70), // 2 to 63, 101 to 110
			Detect: []*time.Duration{new(sec(2)), new(sec(1))}}},
	}, measured(t, written(t, modelRun, modelText)))
}

// TestMeterOfLadders has calls of several attempts, with and without gates.
func TestMeterOfLadders(t *testing.T) {
	targets := []trace.Target{upAndDown("opus", seconds(0, 2)), upAndDown("api")}
	const retried = `
0s call call=1 to=llm target=opus
1s result call=1 target=opus outcome=failure took=1s
1s retry call=1 attempt=2 wait=2s rule=L1
1s call call=2 to=api target=api
3s call call=1 to=llm attempt=2 target=opus
4s result call=1 attempt=2 target=opus outcome=success took=1s
5s result call=2 target=api outcome=failure took=4s
5s retry call=2 attempt=2 wait=90s rule=L1
6s call call=3 to=api target=api
7s result call=3 target=api outcome=permanent took=1s
7s give_up call=3 rule=L3
7s call call=4 to=api target=api
7s vanish call=4 target=api until=null
8s call call=5 to=api target=api
8s vanish call=5 target=api until=20s
10s end states={}
`
	assert.Equal(t, report.Cost{
		Calls: 5, Attempts: 6, Wasted: 1, // the second attempt of call 1 is after the outage
		Succeeded: 1, Failed: 3, Unfinished: 1, // call 1; 3 4 5; call 2 was waiting to go again
		Finished: 2, WaitP50: sec(1), WaitP90: sec(4), WaitP99: sec(4), WaitP999: sec(4), WaitMax: sec(4), // calls 3 and 1; 4 and 5 had not given up by the end
		WaitTotal:  sec(19),                                                                                                        // 4 9 1 3 2
		WaitWasted: sec(9),                                                                                                         // 3 of call 1 before its last attempt, 1, 3, 2
		Outages:    []report.OutageCost{{Target: "opus", To: sec(2), Recover: new(sec(2)), Overshoot: new(sec(0)), Burst: new(1)}}, // 4-2; nobody; call 1
	}, measured(t, written(t, trace.RunInfo{Targets: targets}, retried)), "retries, no gates")

	const gated = `
0s call call=1 to=api
0s admit call=1 breaker=api target=api rule=T1
1s result call=1 target=api outcome=failure took=1s breaker=api applied=true rule=T3
1s transition breaker=api from=closed to=open effective=1s rule=T3 failures=1 call=1
1s retry call=1 attempt=2 wait=1s rule=L1
2s call call=1 to=api attempt=2
2s refuse call=1 attempt=2 breaker=api rule=T4 reason=x until=31s would=success
2s give_up call=1 rule=L5
3s end states={"api":"open"}
`
	assert.Equal(t, report.Cost{
		Calls: 1, Attempts: 1, Refused: 1, Failed: 1, Finished: 1, Harm: 1,
		WaitTotal: sec(2), WaitWasted: sec(2), WaitP50: sec(2), WaitP90: sec(2), WaitP99: sec(2), WaitP999: sec(2), WaitMax: sec(2),
		Breakers: []report.BreakerCost{{Breaker: "api", Openings: 1, OpenTime: sec(2), Detect: []*time.Duration{}}},
	}, measured(t, written(t, trace.RunInfo{Targets: targets[1:], Breakers: []trace.Breaker{toolBreaker("api")}}, gated)), "a gate for each attempt")
}

// TestMeterAtTheEdges has everything happen at the very instants that decide.
func TestMeterAtTheEdges(t *testing.T) {
	run := trace.RunInfo{Breakers: []trace.Breaker{toolBreaker("a")}, Targets: []trace.Target{upAndDown("a", seconds(1, 2), seconds(30, 31))}}
	const text = `
1s call call=1 to=a target=a            # in the outage: it begins here
1s result call=1 target=a outcome=failure took=0s
1s transition breaker=a from=closed to=open effective=1s rule=T3 failures=1 call=1
2s call call=2 to=a target=a            # not in the outage: it ended here
2s result call=2 target=a outcome=success took=0s
30s call call=3 to=a
30s refuse call=3 breaker=a rule=T4 reason=x until=31s would=timeout
31s call call=4 to=a
31s refuse call=4 breaker=a rule=T4 reason=x until=31s would=success
62s call call=5 to=a target=a           # a minute after the first outage; soon after the second
62s vanish call=5 target=a until=100s
62s call call=6 to=a target=a
62s vanish call=6 target=a until=101s
63s call call=7 to=a target=a           # a second after call 5
63s vanish call=7 target=a until=null
100s end states={"a":"open"}
`
	assert.Equal(t, report.Cost{
		Calls: 7, Attempts: 5, Wasted: 1, Refused: 2, Harm: 1, Succeeded: 1, Failed: 6,
		Finished: 5, AtOnce: 4, WaitP90: sec(38), WaitP99: sec(38), WaitP999: sec(38), WaitMax: sec(38), // call 5 gave up at the end; 6 and 7 had not
		WaitTotal: sec(113), WaitWasted: sec(113), // 38 38 37
		Outages: []report.OutageCost{
			{Target: "a", From: sec(1), To: sec(2), Recover: new(sec(0)), Overshoot: new(sec(0)), Burst: new(1)}, // only call 2
			{Target: "a", From: sec(30), To: sec(31), Overshoot: new(sec(0)), Burst: new(2)},                     // call 4; calls 5 and 6
		},
		Breakers: []report.BreakerCost{{Breaker: "a", Openings: 1, OpenTime: sec(99), Detect: []*time.Duration{new(sec(0)), nil}}},
	}, measured(t, written(t, run, text)))
}

// TestMeterOfAnOutageThatEndsWithTheRun: over is over, unless the end cut it.
func TestMeterOfAnOutageThatEndsWithTheRun(t *testing.T) {
	none := "10s end states={\"a\":\"closed\"}"
	refused := "10s call call=1 to=a\n10s refuse call=1 breaker=a rule=T4 reason=x until=31s would=success\n" + none
	served := "10s call call=1 to=a target=a\n10s result call=1 target=a outcome=success took=0s\n" + none
	for name, x := range map[string]struct {
		text string
		to   float64
		want report.OutageCost
	}{
		"cut":          {none, 10.5, report.OutageCost{}},
		"for ever":     {none, 0, report.OutageCost{}},
		"over":         {none, 10, report.OutageCost{Overshoot: new(sec(0)), Burst: new(0)}},
		"over, asked":  {refused, 10, report.OutageCost{Overshoot: new(sec(0)), Burst: new(0)}},
		"over, served": {served, 10, report.OutageCost{Recover: new(sec(0)), Overshoot: new(sec(0)), Burst: new(1)}},
		"over before":  {refused, 9, report.OutageCost{Overshoot: new(sec(1)), Burst: new(0)}},
	} {
		run := trace.RunInfo{Targets: []trace.Target{upAndDown("a", seconds(4, x.to))}, Breakers: []trace.Breaker{toolBreaker("a")}}
		x.want.Target, x.want.From, x.want.To = "a", sec(4), min(sec(10), sec(x.to))
		if x.to == 0 {
			x.want.To = sec(10)
		}
		assert.Equal(t, []report.OutageCost{x.want}, measured(t, written(t, run, x.text)).Outages, name)
	}
}

func TestMeterOfNothing(t *testing.T) {
	run := trace.RunInfo{Targets: []trace.Target{upAndDown("a", seconds(1, 2), seconds(3, 0))}, Breakers: []trace.Breaker{toolBreaker("a")}}
	got := measured(t, written(t, run, "5s end states={\"a\":\"closed\"}"))
	assert.Equal(t, report.Cost{
		Outages: []report.OutageCost{
			{Target: "a", From: sec(1), To: sec(2), Overshoot: new(sec(0)), Burst: new(0)},
			{Target: "a", From: sec(3), To: sec(5)},
		},
		Breakers: []report.BreakerCost{{Breaker: "a", Detect: []*time.Duration{nil, nil}}},
	}, got)
	undefined := []string{}
	for _, c := range report.Columns {
		if _, ok := got.Metric(c.Name); !ok {
			undefined = append(undefined, c.Name)
		}
	}
	assert.Equal(t, []string{"wait_p50", "wait_p99", "wait_max", "amplification", "detect", "recover", "money", "tokens"}, undefined)
	_, ok := got.Metric("calories")
	assert.False(t, ok)
}

// TestMeterOutsideOfARun holds that a broken record is an error, not a panic.
func TestMeterOutsideOfARun(t *testing.T) {
	m := report.NewMeter()
	assert.ErrorContains(t, m.Event(&trace.Event{Kind: trace.Call, Call: 1}), "a record begins with run")
	feed(t, written(t, toolRun, toolText), m)
	assert.Error(t, m.Event(&trace.Event{Kind: trace.Call, Call: 1}))
	assert.Equal(t, 11, m.Cost().Calls)
	strange := trace.List{{Kind: trace.Run, Run: &trace.RunInfo{Breakers: []trace.Breaker{toolBreaker("x")}}}}
	for k := trace.Phase; k <= trace.End; k++ {
		strange = append(strange, trace.Event{Kind: k, Call: 7, Breaker: "y", Target: "z", To: "open", Rule: "T3"})
	}
	assert.NotPanics(t, func() { measured(t, strange) })
}

func TestCostJSON(t *testing.T) {
	for name, l := range map[string]trace.List{
		"tool": written(t, toolRun, toolText), "model": written(t, modelRun, modelText),
		"nothing": written(t, trace.RunInfo{}, "0s end states={}"),
	} {
		j, err := json.MarshalIndent(measured(t, l), "", "  ")
		require.NoError(t, err)
		golden(t, "cost-"+name+".json", string(j)+"\n")
	}
}
