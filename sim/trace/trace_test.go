package trace_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/sim/trace"
)

const s = time.Second

func minute() *time.Duration { m := time.Minute; return &m }

// sample is a run that has every kind of event.
func sample() trace.List {
	info := &trace.RunInfo{Scenario: "sample", Title: `A "sample" <run>`, Policy: "breaker", PolicyAbout: "breakers, no retries", Seed: 7,
		Breakers: []trace.Breaker{
			{Name: "search", Kind: "tool", Reports: "permit", Tool: &trace.Tool{Guards: "search", FailureThreshold: 1, RecoveryDuration: 30 * s, ProbeTimeout: 30 * s, StaleResults: "count"}},
			{Name: "llm", Kind: "model", Reports: "permit", Model: &trace.Model{Primary: "opus", Chain: []trace.Backup{{Name: "sonnet", MaxFailCount: 1}}, TripThreshold: 1, RecoveryTimeout: 60 * s, RecoverySuccessesNeeded: 2}},
		},
		Targets: []trace.Target{
			{Name: "search", Latency: "1s", Outcome: "success", Phases: []trace.TargetPhase{{At: 1 * s, For: minute(), Outcome: "failure"}, {At: 90 * s, Latency: "2s"}},
				Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}, {At: 1 * s, Outcome: "failure"}, {At: 61 * s, Success: 1, Outcome: "success", Phase: trace.NoPhase}, {At: 90 * s, Success: 1, Outcome: "success", Phase: 1}}},
			{Name: "opus", Latency: "0s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}},
			{Name: "sonnet", Latency: "0s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}},
		}}
	const soft = "tool temporarily unavailable: circuit breaker open"
	return trace.List{
		{Kind: trace.Run, Run: info},
		{T: 1 * s, Kind: trace.Phase, Target: "search", Phase: 0},
		{T: 1 * s, Kind: trace.Call, Call: 1, Attempt: 1, To: "search", Caller: "agents", Instance: 3},
		{T: 1 * s, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "search", Target: "search", Rule: "T1"},
		{T: 2 * s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "search", Outcome: trace.Failure, Took: 1 * s, Breaker: "search", Applied: true, Rule: "T3"},
		{T: 2 * s, Kind: trace.Transition, Breaker: "search", From: "closed", To: "open", Effective: 2 * s, Rule: "T3", Failures: 1, Call: 1},
		{T: 3 * s, Kind: trace.Call, Call: 2, Attempt: 1, To: "search"},
		{T: 3 * s, Kind: trace.Refuse, Call: 2, Attempt: 1, Breaker: "search", Rule: "T4", Reason: soft, Until: 32 * s, Known: true, Would: trace.Failure},
		{T: 32 * s, Kind: trace.Peek, Breaker: "search", Allows: true},
		{T: 32 * s, Kind: trace.Call, Call: 3, Attempt: 1, To: "search"},
		{T: 32 * s, Kind: trace.Transition, Breaker: "search", From: "open", To: "half-open", Effective: 32 * s, Rule: "T5", Failures: 1, Call: 3},
		{T: 32 * s, Kind: trace.Admit, Call: 3, Attempt: 1, Breaker: "search", Target: "search", Probe: true, Rule: "T5"},
		{T: 32 * s, Kind: trace.Vanish, Call: 3, Attempt: 1, Target: "search"},
		{T: 33 * s, Kind: trace.Call, Call: 4, Attempt: 1, To: "llm"},
		{T: 33 * s, Kind: trace.Admit, Call: 4, Attempt: 1, Breaker: "llm", Target: "opus", Rule: "M1"},
		{T: 33 * s, Kind: trace.Result, Call: 4, Attempt: 1, Target: "opus", Outcome: trace.RateLimit},
		{T: 33 * s, Kind: trace.Retry, Call: 4, Attempt: 2, Wait: 5 * s, Rule: "L2"},
		{T: 38 * s, Kind: trace.Call, Call: 4, Attempt: 2, To: "llm", Target: "opus"},
		{T: 38 * s, Kind: trace.Result, Call: 4, Attempt: 2, Target: "opus", Outcome: trace.Permanent, Breaker: "llm", Applied: true, Rule: "M10"},
		{T: 38 * s, Kind: trace.Transition, Breaker: "llm", From: "primary", To: "fallback", Effective: 38 * s, Rule: "M10", Failures: 1, Call: 4},
		{T: 38 * s, Kind: trace.Switch, Breaker: "llm", From: "opus", To: "sonnet", Rule: "M10"},
		{T: 38 * s, Kind: trace.GiveUp, Call: 4, Rule: "L3"},
		{T: 40 * s, Kind: trace.Operate, Op: "set_available", Breaker: "llm", Name: "sonnet"},
		{T: 40 * s, Kind: trace.Switch, Breaker: "llm", From: "sonnet", Rule: "M15"},
		{T: 41 * s, Kind: trace.Peek, Breaker: "llm", Model: true},
		{T: 42 * s, Kind: trace.Call, Call: 5, Attempt: 1, To: "llm"},
		{T: 42 * s, Kind: trace.Exhausted, Call: 5, Attempt: 1, Breaker: "llm", Rule: "M3"},
		{T: 61 * s, Kind: trace.Phase, Target: "search", Phase: trace.NoPhase},
		{T: 70 * s, Kind: trace.Operate, Op: "reset", Breaker: "search"},
		{T: 70 * s, Kind: trace.Transition, Breaker: "search", From: "half-open", To: "open", Effective: 62 * s, Rule: "T7", Failures: 1},
		{T: 70 * s, Kind: trace.Transition, Breaker: "search", From: "open", To: "closed", Effective: 70 * s, Rule: "T15", Failures: 1},
		{T: 80 * s, Kind: trace.End, States: []trace.BreakerState{{Breaker: "search", State: "closed"}, {Breaker: "llm", State: "fallback"}}},
	}
}

// rerouted is a run in which a substitute stands in, and health is recorded.
func rerouted() trace.List {
	up := []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}
	info := &trace.RunInfo{Scenario: "rerouted", Title: "t", Policy: "breaker", Seed: 1,
		Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Reports: "permit", Tool: &trace.Tool{Guards: "search", FailureThreshold: 1, RecoveryDuration: 30 * s, ProbeTimeout: 30 * s, StaleResults: "count", Health: true}}},
		Targets: []trace.Target{{Name: "search", Latency: "1s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: up},
			{Name: "backup", Latency: "1s", Outcome: "success", Phases: []trace.TargetPhase{}, Segments: up}},
		Substitutes: []trace.Substitute{{Target: "search", By: []string{"backup"}}}}
	return trace.List{
		{Kind: trace.Run, Run: info},
		{T: 1 * s, Kind: trace.Call, Call: 1, Attempt: 1, To: "search"},
		{T: 1 * s, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "b", Target: "search", Rule: "T1"},
		{T: 2 * s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "search", Outcome: trace.Failure, Took: 1 * s, Breaker: "b", Applied: true, Rule: "T3"},
		{T: 2 * s, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: 2 * s, Rule: "T3", Failures: 1, Call: 1},
		{T: 2 * s, Kind: trace.Health, Breaker: "b", Target: "search", Score: 0.49, Health: "unhealthy"},
		{T: 2 * s, Kind: trace.Retry, Call: 1, Attempt: 2, Wait: 1 * s, Rule: "L1"},
		{T: 3 * s, Kind: trace.Call, Call: 1, Attempt: 2, To: "search", Target: "backup"},
		{T: 3 * s, Kind: trace.Reroute, Call: 1, Attempt: 2, Breaker: "b", From: "search", To: "backup", Rule: "H7"},
		{T: 4 * s, Kind: trace.Result, Call: 1, Attempt: 2, Target: "backup", Outcome: trace.Success, Took: 1 * s},
		{T: 5 * s, Kind: trace.End, States: []trace.BreakerState{{Breaker: "b", State: "open"}}},
	}
}

// hedged is a run in which a second attempt overtakes the first, at a target of
// bounded capacity that has bursts.
func hedged() trace.List {
	info := &trace.RunInfo{Scenario: "hedged", Title: "t", Policy: "hedged", Seed: 1, Breakers: []trace.Breaker{},
		Targets: []trace.Target{{Name: "api", Latency: "3s", Network: "10ms", Outcome: "success", Capacity: &trace.Capacity{Servers: 2, Slowdown: s / 100}, Warmup: 30 * s,
			Bursts: &trace.Bursts{Apart: 60 * s, For: 5 * s, Outcome: "failure"}, Price: &trace.Price{Call: 0.01, Tokens: 100},
			Phases: []trace.TargetPhase{}, Segments: []trace.Segment{{Success: 1, Outcome: "success", Phase: trace.NoPhase}}}}}
	return trace.List{
		{Kind: trace.Run, Run: info},
		{T: 1 * s, Kind: trace.Call, Call: 1, Attempt: 1, To: "api", Target: "api"},
		{T: 2 * s, Kind: trace.Load, Target: "api", Busy: 1},
		{T: 2 * s, Kind: trace.Hedge, Call: 1, Attempt: 2, Rule: "L8"},
		{T: 2 * s, Kind: trace.Call, Call: 1, Attempt: 2, To: "api", Target: "api"},
		{T: 2 * s, Kind: trace.Burst, Target: "api", On: true},
		{T: 3 * s, Kind: trace.Result, Call: 1, Attempt: 1, Target: "api", Outcome: trace.Cancelled, Took: 2 * s},
		{T: 3 * s, Kind: trace.Result, Call: 1, Attempt: 2, Target: "api", Outcome: trace.Success, Took: 1 * s},
		{T: 4 * s, Kind: trace.Burst, Target: "api"},
		{T: 5 * s, Kind: trace.Call, Call: 2, Attempt: 1, To: "api", Target: "api"},
		{T: 6 * s, Kind: trace.Result, Call: 2, Attempt: 1, Target: "api", Outcome: trace.Failure, Took: 1 * s},
		{T: 6 * s, Kind: trace.Retry, Call: 2, Attempt: 2, Wait: 60 * s, Rule: "L1"},
		{T: 7 * s, Kind: trace.Load, Target: "api", Busy: 2, Waiting: 3},
		{T: 9 * s, Kind: trace.GiveUp, Call: 2, Rule: "L9"},
		{T: 9 * s, Kind: trace.End},
	}
}

func encoded(t testing.TB, l trace.List, text bool) string {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	if text {
		w = trace.NewTextWriter(&b)
	}
	for i := range l {
		require.NoError(t, w.Event(&l[i]))
	}
	require.NoError(t, w.Flush())
	return b.String()
}

func decoded(text string, isText bool) (trace.List, error) {
	if isText {
		return trace.NewTextReader(strings.NewReader(text)).ReadAll()
	}
	return trace.NewReader(strings.NewReader(text)).ReadAll()
}

// TestGolden compares both forms, every field of every kind of event.
// UPDATE=1 rewrites them; names and order of the fields are a contract.
func TestGolden(t *testing.T) {
	for file, l := range map[string]trace.List{"sample.jsonl": sample(), "sample.txt": sample(), "rerouted.jsonl": rerouted(), "rerouted.txt": rerouted(), "hedged.jsonl": hedged(), "hedged.txt": hedged(), "set.jsonl": set(), "set.txt": set()} {
		text := filepath.Ext(file) == ".txt"
		got := encoded(t, l, text)
		path := filepath.Join("testdata", file)
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), got)
		back, err := decoded(got, text)
		require.NoError(t, err)
		assert.Equal(t, l, back)
	}
}

// TestRoundTrip writes and reads events with whatever text and numbers.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := func(label string) string {
			return rapid.OneOf(rapid.StringN(1, 8, -1), rapid.SampledFrom([]string{"null", "true", "a b", `"`, "=", "é", "a=b c", "<x>", "12"})).Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }).Draw(t, label)
		}
		span := func(label string) time.Duration {
			return time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, label))
		}
		number := func(label string) int { return rapid.IntRange(1, 1_000_000).Draw(t, label) }
		all := slices.Concat(sample()[1:], rerouted()[1:], set()[1:])
		e := all[rapid.IntRange(0, len(all)-1).Draw(t, "kind")]
		if e.Kind == trace.Health {
			e.Score = rapid.Float64Range(0, 1).Draw(t, "score")
		}
		e.T = span("t")
		for _, f := range []*string{&e.Breaker, &e.Target, &e.To, &e.From, &e.Rule, &e.Reason, &e.Outcome, &e.Caller, &e.Would, &e.Name, &e.Verdict} {
			if *f != "" {
				*f = word("word")
			}
		}
		for _, f := range []*time.Duration{&e.Took, &e.Wait, &e.Effective, &e.Until} {
			if *f != 0 {
				*f = span("span")
			}
		}
		for _, f := range []*int{&e.Call, &e.Attempt, &e.Failures} {
			if *f != 0 {
				*f = number("number")
			}
		}
		for _, text := range []bool{false, true} {
			var b bytes.Buffer
			w := trace.NewWriter(&b)
			if text {
				w = trace.NewTextWriter(&b)
			}
			require.NoError(t, w.Event(&e))
			require.NoError(t, w.Flush())
			back, err := decoded(b.String(), text)
			require.NoError(t, err, b.String())
			assert.Equal(t, trace.List{e}, back, b.String())
		}
	})
}

func TestFaultsOfARecordNameTheirLine(t *testing.T) {
	good := `{"t":1,"event":"peek","breaker":"b","allows":true}` + "\n\n"
	for line, want := range map[string]string{
		`{"t":1,"event":"pek"}`:                 `line 3: unknown event "pek"`,
		`{"event":"peek"}`:                      `line 3: the event "peek" has no t`,
		`{"t":1,"event":"peek","colour":"red"}`: `line 3: json: unknown field "colour"`,
		`{"t":1,"event":"peek"} {}`:             `line 3: more than one event on the line`,
		`{"t":1`:                                `line 3: unexpected EOF`,
		`not json`:                              `line 3: invalid character 'o' in literal null (expecting 'u')`,
		`{"t":1,"event":"run","format":2}`:      `line 3: the trace has format 2; this program reads format 1`,
		`{"t":1,"event":"run","format":1,"breakers":[{"name":"b"}]}`: `line 3: breaker 1 ("b") must have the settings of one kind`,
		`{"t":1,"event":"end"}`:                  `line 3: end wants states: an object of breakers and their states`,
		`{"t":1,"event":"end","states":{"b":1}}`: `line 3: states: json: cannot unmarshal number into Go value of type string`,
		`{"t":1,"event":"peek","serves":1}`:      `line 3: serves: json: cannot unmarshal number into Go value of type string`,
	} {
		l, err := decoded(good+line, false)
		assert.EqualError(t, err, want)
		assert.Len(t, l, 1, "what came before is there")
	}
	for line, want := range map[string]string{
		"soon peek":                `line 1: "soon" is not an instant`,
		"1s peek breaker":          `line 1: "breaker" wants key=value`,
		"1s result took=long":      `line 1: took: "long" is not a duration`,
		`1s peek breaker="b`:       `line 1: breaker: unexpected EOF`,
		"1s peek breaker=b call=x": `line 1: invalid character 'x' looking for beginning of value`,
	} {
		_, err := decoded(line, true)
		assert.EqualError(t, err, want)
	}
	_, err := trace.NewReader(strings.NewReader(strings.Repeat("x", 20<<20))).Next()
	assert.ErrorContains(t, err, "line 1: bufio.Scanner: token too long")
	_, err = trace.NewReader(strings.NewReader("\n\n")).Next()
	assert.ErrorIs(t, err, io.EOF)
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsTold(t *testing.T) {
	w := trace.NewWriter(full{})
	e := sample()[1]
	var err error
	for range 10_000 {
		if err = w.Event(&e); err != nil {
			break
		}
	}
	assert.ErrorIs(t, err, errFull)
	assert.ErrorIs(t, w.Flush(), errFull)
}

func TestOutages(t *testing.T) {
	at := func(at, success int) trace.Segment {
		return trace.Segment{At: time.Duration(at), Success: float64(success)}
	}
	tests := []struct {
		name     string
		segments []trace.Segment
		end      time.Duration
		want     []trace.Span
	}{
		{"none", []trace.Segment{at(0, 1)}, 10, nil},
		{"one", []trace.Segment{at(0, 1), at(2, 0), at(4, 1)}, 10, []trace.Span{{From: 2, To: 4}}},
		{"two that touch are one", []trace.Segment{at(0, 1), at(2, 0), at(4, 0), at(6, 1)}, 10, []trace.Span{{From: 2, To: 6}}},
		{"two", []trace.Segment{at(0, 0), at(2, 1), at(4, 0), at(6, 1)}, 10, []trace.Span{{From: 0, To: 2}, {From: 4, To: 6}}},
		{"one that lasts", []trace.Segment{at(0, 1), at(2, 0)}, 10, []trace.Span{{From: 2, To: 10}}},
		{"one after the end", []trace.Segment{at(0, 1), at(12, 0)}, 10, nil},
		{"one at the end", []trace.Segment{at(0, 1), at(10, 0)}, 10, nil},
	}
	for _, tt := range tests {
		target := trace.Target{Segments: tt.segments}
		assert.Equal(t, tt.want, target.Outages(tt.end), tt.name)
	}
}

// TestValidate breaks a good record in every way that the validator knows, and
// reads what it says.
func TestValidate(t *testing.T) {
	require.NoError(t, trace.Validate(sample()))
	find := func(l trace.List, k trace.Kind, n int) int {
		for i := range l {
			if l[i].Kind == k {
				if n--; n < 0 {
					return i
				}
			}
		}
		panic("no such event")
	}
	change := func(k trace.Kind, n int, f func(*trace.Event)) func(trace.List) trace.List {
		return func(l trace.List) trace.List {
			f(&l[find(l, k, n)])
			return l
		}
	}
	drop := func(k trace.Kind, n int) func(trace.List) trace.List {
		return func(l trace.List) trace.List { i := find(l, k, n); return slices.Delete(l, i, i+1) }
	}
	twice := func(k trace.Kind, n int) func(trace.List) trace.List {
		return func(l trace.List) trace.List { i := find(l, k, n); return slices.Insert(l, i, l[i]) }
	}
	for want, broken := range map[string]func(trace.List) trace.List{
		"event 1, phase at 1s: a record has one run event, its first":                        drop(trace.Run, 0),
		"event 2, run at 0s: a record has one run event, its first":                          twice(trace.Run, 0),
		"event 1, run at 0s: it says nothing of what is played":                              change(trace.Run, 0, func(e *trace.Event) { e.Run = nil }),
		"event 1, run at 0s: two breakers are named \"llm\"":                                 change(trace.Run, 0, func(e *trace.Event) { e.Run.Breakers[0].Name = "llm" }),
		"event 1, run at 0s: the breaker \"llm\" must have the settings of one kind":         change(trace.Run, 0, func(e *trace.Event) { e.Run.Breakers[1].Model = nil }),
		"the record does not end with an end event":                                          drop(trace.End, 0),
		"event 33, end at 1m20s: nothing comes after the end":                                twice(trace.End, 0),
		"event 32, end at 1m20s: breaker 1 is search, closed":                                change(trace.End, 0, func(e *trace.Event) { e.States[0].State = "open" }),
		"event 32, end at 1m20s: the run has 2 breakers, and here are 1":                     change(trace.End, 0, func(e *trace.Event) { e.States = e.States[:1] }),
		"event 3, call at 0s: time goes back from 1s":                                        change(trace.Call, 0, func(e *trace.Event) { e.T = 0 }),
		"event 3,  at 1s: there is no such kind of event":                                    change(trace.Call, 0, func(e *trace.Event) { e.Kind = 0 }),
		"event 3, call at 1s: call 2 comes after call 0":                                     change(trace.Call, 0, func(e *trace.Event) { e.Call = 2 }),
		"event 18, call at 38s: nothing announced attempt 3 of call 4":                       change(trace.Call, 4, func(e *trace.Event) { e.Attempt = 3 }),
		"event 18, call at 38s: attempt 2 of call 4 was announced for 39s":                   change(trace.Retry, 0, func(e *trace.Event) { e.Wait = 6 * s }),
		"event 18, call at 38s: the run has no target \"gpt\"":                               change(trace.Call, 4, func(e *trace.Event) { e.Target = "gpt" }),
		"event 17, retry at 33s: after attempt 1 comes attempt 2, now or later":              change(trace.Retry, 0, func(e *trace.Event) { e.Attempt = 4 }),
		"event 17, call at 38s: nothing announced attempt 2 of call 4":                       drop(trace.Retry, 0),
		"event 16, retry at 33s: call 4 is not at a point where this can happen":             drop(trace.Result, 1),
		"event 2, phase at 1s: the run has no target \"gpt\"":                                change(trace.Phase, 0, func(e *trace.Event) { e.Target = "gpt" }),
		"event 2, phase at 1s: search has no phase 2":                                        change(trace.Phase, 0, func(e *trace.Event) { e.Phase = 2 }),
		"event 5, admit at 1s: attempt 1 of call 1 is not at a point where this can happen":  twice(trace.Admit, 0),
		"event 4, admit at 1s: the run has no breaker \"x\"":                                 change(trace.Admit, 0, func(e *trace.Event) { e.Breaker = "x" }),
		"event 4, admit at 1s: rule \"T5\" cannot decide so while search is closed":          change(trace.Admit, 0, func(e *trace.Event) { e.Rule = "T5" }),
		"event 4, admit at 1s: rule T1 and probe true do not go together":                    change(trace.Admit, 0, func(e *trace.Event) { e.Probe = true }),
		"event 4, admit at 2s: call 1 asked at 1s":                                           change(trace.Admit, 0, func(e *trace.Event) { e.T = 2 * s }),
		"event 4, admit at 1s: the run has no target \"x\"":                                  change(trace.Admit, 0, func(e *trace.Event) { e.Target = "x" }),
		"event 15, admit at 33s: opus serves, not sonnet":                                    change(trace.Admit, 2, func(e *trace.Event) { e.Target = "sonnet" }),
		"event 8, refuse at 3s: rule \"T6\" cannot decide so while search is open":           change(trace.Refuse, 0, func(e *trace.Event) { e.Rule = "T6" }),
		"event 27, exhausted at 42s: rule \"M4\" cannot decide so while llm is fallback":     change(trace.Exhausted, 0, func(e *trace.Event) { e.Rule = "M4" }),
		"event 5, result at 2s: the attempt took 1s":                                         change(trace.Result, 0, func(e *trace.Event) { e.Took = 2 * s }),
		"event 5, result at 2s: rule \"T3\" and applied false do not go together":            change(trace.Result, 0, func(e *trace.Event) { e.Applied = false }),
		"event 5, result at 2s: rule \"T4\" and applied true do not go together":             change(trace.Result, 0, func(e *trace.Event) { e.Rule = "T4" }),
		"event 5, result at 2s: the run has no target \"x\"":                                 change(trace.Result, 0, func(e *trace.Event) { e.Target = "x" }),
		"event 5, result at 2s: the run has no breaker \"x\"":                                change(trace.Result, 0, func(e *trace.Event) { e.Breaker = "x" }),
		"event 6, result at 2s: attempt 1 of call 1 is not at a point where this can happen": twice(trace.Result, 0),
		"event 13, vanish at 33s: a task is dropped when it starts":                          change(trace.Vanish, 0, func(e *trace.Event) { e.T = 33 * s }),
		"event 6, transition at 2s: search is closed, not open":                              change(trace.Transition, 0, func(e *trace.Event) { e.From = "open" }),
		"event 6, transition at 2s: no rule \"T9\" leads from closed to open":                change(trace.Transition, 0, func(e *trace.Event) { e.Rule = "T9" }),
		"event 6, transition at 2s: it takes effect at 3s, which is still to come":           change(trace.Transition, 0, func(e *trace.Event) { e.Effective = 3 * s }),
		"event 6, transition at 2s: only T7 is backdated, here to 1s":                        change(trace.Transition, 0, func(e *trace.Event) { e.Effective = 1 * s }),
		"event 6, transition at 2s: the run has no breaker \"x\"":                            change(trace.Transition, 0, func(e *trace.Event) { e.Breaker = "x" }),
		"event 30, transition at 1m10s: the lease ended at 1m2s, not at 1m3s":                change(trace.Transition, 3, func(e *trace.Event) { e.Effective = 63 * s }),
		"event 21, switch at 38s: \"opus\" serves, not \"sonnet\"":                           change(trace.Switch, 0, func(e *trace.Event) { e.From = "sonnet" }),
		"event 21, switch at 38s: nothing changes":                                           change(trace.Switch, 0, func(e *trace.Event) { e.To = "opus" }),
		"event 21, switch at 38s: search routes to no models":                                change(trace.Switch, 0, func(e *trace.Event) { e.Breaker = "search" }),
		"event 21, switch at 38s: the run has no breaker \"x\"":                              change(trace.Switch, 0, func(e *trace.Event) { e.Breaker = "x" }),
		"event 9, peek at 32s: search is of the other kind":                                  change(trace.Peek, 0, func(e *trace.Event) { e.Model = true }),
		"event 9, peek at 32s: the run has no breaker \"x\"":                                 change(trace.Peek, 0, func(e *trace.Event) { e.Breaker = "x" }),
		"event 23, operate at 40s: there is no operation \"kick\"":                           change(trace.Operate, 0, func(e *trace.Event) { e.Op = "kick" }),
		"event 14, admit at 32s: search has a probe already": func(l trace.List) trace.List {
			i := find(l, trace.Vanish, 0)
			return slices.Insert(l, i, trace.Event{T: 32 * s, Kind: trace.Call, Call: 4, Attempt: 1, To: "search"},
				trace.Event{T: 32 * s, Kind: trace.Admit, Call: 4, Attempt: 1, Breaker: "search", Target: "search", Probe: true, Rule: "T5"})
		},
	} {
		assert.EqualError(t, trace.Validate(broken(sample())), want)
	}
}

// TestValidateRerouting does the same with what the other record has.
func TestValidateRerouting(t *testing.T) {
	assert.NoError(t, trace.Validate(rerouted()))
	for want, change := range map[string]func(trace.List){
		"event 9, reroute at 3s: the run has no breaker \"x\"":                        func(l trace.List) { l[8].Breaker = "x" },
		"event 9, reroute at 3s: attempt 1 of call 1 does not start here":             func(l trace.List) { l[8].Attempt = 1 },
		"event 9, reroute at 4s: attempt 2 of call 1 does not start here":             func(l trace.List) { l[8].T = 4 * s },
		"event 9, reroute at 3s: attempt 2 of call 7 does not start here":             func(l trace.List) { l[8].Call = 7 },
		"event 9, reroute at 3s: b does not guard backup":                             func(l trace.List) { l[8].From = "backup" },
		"event 9, reroute at 3s: it goes where it was going":                          func(l trace.List) { l[8].To = "search" },
		"event 9, reroute at 3s: the run has no target \"x\"":                         func(l trace.List) { l[8].To = "x" },
		"event 3, reroute at 1s: b is closed, so search is there":                     func(l trace.List) { l[2] = l[8]; l[2].T, l[2].Attempt = 1*s, 1 },
		"event 6, health at 2s: the run has no breaker \"x\"":                         func(l trace.List) { l[5].Breaker = "x" },
		"event 6, health at 2s: b does not guard backup":                              func(l trace.List) { l[5].Target = "backup" },
		"event 6, health at 2s: a score of 1.5 is not from 0 to 1":                    func(l trace.List) { l[5].Score = 1.5 },
		"event 6, health at 2s: there is no health \"so so\"":                         func(l trace.List) { l[5].Health = "so so" },
		"event 6, health at 2s: with a score of 0.49 while b is open it is unhealthy": func(l trace.List) { l[5].Health = "degraded" },
		"event 6, health at 2s: with a score of 0.9 while b is open it is unhealthy":  func(l trace.List) { l[5].Health = "healthy"; l[5].Score = 0.9 },
	} {
		l := rerouted()
		change(l)
		assert.EqualError(t, trace.Validate(l), want)
	}
}

// TestValidateHedging does the same with attempts beside each other.
func TestValidateHedging(t *testing.T) {
	assert.NoError(t, trace.Validate(hedged()))
	for want, change := range map[string]func(trace.List){
		"event 4, hedge at 2s: after attempt 1 comes attempt 2, now or later":                func(l trace.List) { l[3].Attempt = 3 },
		"event 4, retry at 2s: call 1 is not at a point where this can happen":               func(l trace.List) { l[3].Kind = trace.Retry },
		"event 4, give_up at 2s: call 1 is not at a point where this can happen":             func(l trace.List) { l[3].Kind = trace.GiveUp },
		"event 12, hedge at 6s: call 2 is not at a point where this can happen":              func(l trace.List) { l[11].Kind = trace.Hedge },
		"event 7, result at 3s: attempt 3 of call 1 is not at a point where this can happen": func(l trace.List) { l[6].Attempt = 3 },
		"event 8, result at 3s: the attempt took 1s":                                         func(l trace.List) { l[7].Took = 2 * s },
		"event 3, load at 2s: the run has no target \"x\"":                                   func(l trace.List) { l[2].Target = "x" },
		"event 3, load at 2s: it does less than nothing":                                     func(l trace.List) { l[2].Waiting = -1 },
		"event 6, burst at 2s: the run has no target \"x\"":                                  func(l trace.List) { l[5].Target = "x" },
	} {
		l := hedged()
		change(l)
		assert.EqualError(t, trace.Validate(l), want)
	}
}

// TestSharedVectorsDecode reads records that others wrote for this format,
// where they are at hand.
func TestSharedVectorsDecode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "vectors", "*.want.jsonl"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("there is no ../shared here")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		l, err := decoded(string(b), false)
		assert.NoError(t, err, file)
		assert.NotEmpty(t, l)
	}
}

// FuzzDecode feeds anything to both readers: no panic, and what can be read
// says the same when it is written and read again.
func FuzzDecode(f *testing.F) {
	for _, text := range []bool{false, true} {
		for _, line := range strings.Split(encoded(f, sample(), text)+encoded(f, rerouted(), text), "\n") {
			f.Add(line, text)
		}
	}
	f.Fuzz(func(t *testing.T, line string, text bool) {
		l, err := decoded(line, text)
		if err != nil {
			return
		}
		once := encoded(t, l, text)
		again, err := decoded(once, text)
		require.NoError(t, err, once)
		require.Equal(t, once, encoded(t, again, text))
	})
}
