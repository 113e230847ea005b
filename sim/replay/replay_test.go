package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

func load(t testing.TB, src string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load("test.yaml", []byte(src), scenarios.DefaultLimits())
	require.NoError(t, err)
	return s
}

func builtin(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	src, ok := scenarios.Source(name)
	require.True(t, ok, name)
	return load(t, string(src))
}

// text plays s under p and returns the trace for people, without its first line.
func text(t testing.TB, s *scenarios.Scenario, p *scenarios.Policy) string {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewTextWriter(&b)
	check := new(trace.Validator)
	_, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{check, w}})
	require.NoError(t, err)
	require.NoError(t, check.Done())
	require.NoError(t, w.Flush())
	_, rest, _ := strings.Cut(b.String(), "\n")
	return rest
}

// TestGolden plays small scenarios, each about one thing, and compares every
// event. UPDATE=1 rewrites them: read what changed before you believe it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			s := load(t, string(src))
			var got strings.Builder
			for i := range s.Policies {
				fmt.Fprintf(&got, "-- %s --\n%s", s.Policies[i].Name, text(t, s, &s.Policies[i]))
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

// TestSameBytes plays every built-in scenario again and again, with one
// processor and with two.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range scenarios.Names() {
		s := builtin(t, name)
		for i := range s.Policies {
			want := record(t, s, &s.Policies[i])
			runs, few := 100, 4
			if testing.Short() {
				runs, few = 4, 1
			}
			if len(want) > 100_000 { // a long one is no different in kind
				runs = few
			}
			for k := range runs {
				runtime.GOMAXPROCS(1 + k%2)
				if !bytes.Equal(want, record(t, s, &s.Policies[i])) {
					t.Fatalf("%s under %s: run %d differs", name, s.Policies[i].Name, k)
				}
			}
		}
	}
}

// TestPoliciesSeeTheSameWorld holds a policy against another that acts alike:
// as long as the breaker is closed, the same calls end the same way.
func TestPoliciesSeeTheSameWorld(t *testing.T) {
	s := load(t, `
scenario: same-world
breakers: {search: {kind: tool, failure_threshold: 0}}
targets: {search: {latency: {lognormal: {p50: 200ms, p99: 3s}}, mix: {success: 0.6, failure: 0.3, rate_limit: 0.1}}}
callers: [{name: agents, count: 20, to: search, every: 2s, jitter: 0.5, start: {exponential: 3s}, until: 2m}, {name: stream, rate: 3/s, arrivals: poisson, to: search, until: 1m}]
policies: [breaker, no-protection]
`)
	results := func(p *scenarios.Policy) []trace.Event {
		var all trace.List
		_, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{&all}})
		require.NoError(t, err)
		var kept []trace.Event
		for _, e := range all {
			if e.Kind == trace.Result {
				e.Breaker, e.Applied, e.Rule = "", false, ""
				kept = append(kept, e)
			}
		}
		return kept
	}
	assert.Greater(t, len(results(&s.Policies[0])), 500)
	assert.Equal(t, results(&s.Policies[0]), results(&s.Policies[1]))
}

// TestAnotherCallerShiftsNobody adds a caller, and the others draw as before.
func TestAnotherCallerShiftsNobody(t *testing.T) {
	const head = "scenario: a\ntargets: {search: {latency: {exponential: 1s}, mix: {success: 0.5, failure: 0.5}}}\ncallers:\n"
	const old = "  - {name: old, to: search, every: 3s, jitter: 0.9, until: 5m}\n"
	endings := func(src string) []string {
		s := load(t, src)
		var all trace.List
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&all}})
		require.NoError(t, err)
		mine := map[int]bool{}
		var ends []string
		for _, e := range all {
			if e.Kind == trace.Call && e.Caller == "old" {
				mine[e.Call] = true
			}
			if e.Kind == trace.Result && mine[e.Call] {
				ends = append(ends, fmt.Sprint(e.T, e.Outcome, e.Took))
			}
		}
		return ends
	}
	alone := endings(head + old)
	assert.Greater(t, len(alone), 50)
	assert.Equal(t, alone, endings(head+"  - {name: new, count: 3, to: search, every: 1s, until: 5m}\n"+old))
}

// TestSpansBeyondAnyRun: without a duration a run ends after 73 years, and what
// takes longer is unfinished; no sum of instants wraps around.
func TestSpansBeyondAnyRun(t *testing.T) {
	const decade = 87600 * time.Hour
	forty := "calls: [" + strings.Repeat("{at: 0s, to: x}, ", 39) + "{at: 0s, to: x}]\n"
	first := func(n int) (all []time.Duration) {
		for i := range n {
			all = append(all, time.Duration(i)*decade)
		}
		return all
	}
	tests := []struct {
		name, src string
		want      []time.Duration // of the ends of attempts
	}{
		{"a slowdown", "targets: {x: {latency: 87600h, capacity: {slowdown: 87600h}}}\n" + forty, first(8)[1:]},
		{"a queue", "targets: {x: {latency: 87600h, capacity: {servers: 1}}}\n" + forty, first(8)[1:]},
		{"a ladder", "targets: {x: {outcome: failure}}\ncalls: [{at: 0s, to: x}]\npolicies: [{name: p, retry: {attempts: 40, base: 87600h, cap: 87600h, deadline: 0s, jitter: none}}]\n", first(8)},
		{"hedges", "targets: {x: {latency: 87600h}}\ncalls: [{at: 87600h, to: x}]\npolicies: [{name: p, hedge: {after: 87600h}}]\n", first(3)[2:]},
	}
	for _, tt := range tests {
		s := load(t, "scenario: a\n"+tt.src)
		var all trace.List
		check := new(trace.Validator)
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{check, &all}})
		require.NoError(t, err, tt.name)
		require.NoError(t, check.Done(), tt.name)
		var ends []time.Duration
		for _, e := range all {
			if e.Kind == trace.Result {
				ends = append(ends, e.T)
			}
		}
		assert.Equal(t, tt.want, ends, tt.name)
	}
}

type failingSink struct{ after int }

var errFull = errors.New("disk full")

func (f *failingSink) Event(*trace.Event) error {
	if f.after--; f.after < 0 {
		return errFull
	}
	return nil
}

func TestASinksErrorStopsTheRun(t *testing.T) {
	s := builtin(t, "vanished-probe")
	for after := range 5 {
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&failingSink{after}}})
		assert.ErrorIs(t, err, errFull)
	}
}

func TestTooManyCallsAreRefusedWhileItRuns(t *testing.T) {
	s := load(t, "scenario: a\ntargets: {x: {}}\ncallers: [{name: c, to: x, every: 1s, until: 100s}]")
	s.MaxCalls = 99
	_, err := replay.Run(s, &s.Policies[0], replay.Options{})
	assert.ErrorIs(t, err, replay.ErrTooManyCalls)
	s.MaxCalls = 100
	_, err = replay.Run(s, &s.Policies[0], replay.Options{})
	assert.NoError(t, err)
}

// TestTooManyBurstsEndARun that states no duration by which they could be counted.
func TestTooManyBurstsEndARun(t *testing.T) {
	s := load(t, "scenario: a\ntargets: {x: {bursts: {apart: 1ms, for: 1ms, outcome: failure}}}\ncalls: [{at: 0s, to: x}, {at: 87600h, to: x}]")
	_, err := replay.Run(s, &s.Policies[0], replay.Options{})
	assert.ErrorIs(t, err, replay.ErrTooManyBursts)
	assert.EqualError(t, err, "test.yaml: x: the run has more than 5000000 bursts; make them longer, or the run shorter")
}

// TestExpectations has every form hold, and fail with a message that says what came.
// TestFailuresShowWhatIsAroundThem: the last events of the breaker up to the
// place, and the next ones, or those of the call.
func TestFailuresShowWhatIsAroundThem(t *testing.T) {
	s := load(t, `
scenario: a
breakers: {search: {kind: tool, failure_threshold: 1}}
targets: {search: {latency: 1s}}
calls:
  - {at: 1s, to: search, outcome: failure}
  - {at: 3s, to: search}
  - {at: 4s, to: search}
  - {at: 39s, to: search}
expect:
  - {at: 3s, breaker: search, state: closed}
  - {breaker: search, transitions: [open@2s, half-open@30s]}
  - {call: 2, is: success}
`)
	failures, err := replay.Run(s, &s.Policies[0], replay.Options{})
	require.NoError(t, err)
	require.Len(t, failures, 3)
	assert.Equal(t, []string{
		"2s result call=1 target=search outcome=failure took=1s breaker=search applied=true rule=T3",
		"2s transition breaker=search from=closed to=open effective=2s rule=T3 failures=1 call=1",
		`3s refuse call=2 breaker=search rule=T4 reason="tool temporarily unavailable: circuit breaker open" until=32s would=success`,
		`4s refuse call=3 breaker=search rule=T4 reason="tool temporarily unavailable: circuit breaker open" until=32s would=success`,
		"39s transition breaker=search from=open to=half-open effective=39s rule=T5 failures=1 call=4",
	}, failures[0].Around)
	assert.Equal(t, []string{
		"2s transition breaker=search from=closed to=open effective=2s rule=T3 failures=1 call=1",
		`3s refuse call=2 breaker=search rule=T4 reason="tool temporarily unavailable: circuit breaker open" until=32s would=success`,
		`4s refuse call=3 breaker=search rule=T4 reason="tool temporarily unavailable: circuit breaker open" until=32s would=success`,
		"39s transition breaker=search from=open to=half-open effective=39s rule=T5 failures=1 call=4",
		"39s admit call=4 breaker=search target=search probe=true rule=T5",
	}, failures[1].Around)
	assert.Equal(t, []string{
		"3s call call=2 to=search attempt=1",
		`3s refuse call=2 breaker=search rule=T4 reason="tool temporarily unavailable: circuit breaker open" until=32s would=success`,
	}, failures[2].Around)
}

func TestExpectations(t *testing.T) {
	const world = `
scenario: a
duration: 40s
breakers: {search: {kind: tool, failure_threshold: 1}}
targets: {search: {latency: 1s}}
calls:
  - {at: 1s, to: search, outcome: failure}
  - {at: 3s, to: search}
  - {at: 39s, to: search, outcome: success, takes: 2s}
policies: [breaker, no-protection]
expect:
`
	tests := []struct{ holds, fails, message string }{
		{"{at: 2s, breaker: search, state: open}", "{at: 2s, breaker: search, state: closed}", "expected search to be closed at 2s; it is open"},
		{"{at: 32s, breaker: search, allows: true}", "{at: 32s, breaker: search, allows: false}", "expected search to admit no call at 32s; it is open and would do the opposite"},
		{"{at: 31s, breaker: search, allows: false}", "{at: 31s, breaker: search, allows: true}", "expected search to admit a call at 31s; it is open and would do the opposite"},
		{"{breaker: search, transitions: [open@2s, half-open@39s]}", "{breaker: search, transitions: [open@2s]}", "expected search to go [open@2s]; it went [open@2s, half-open@39s]"},
		{"{metric: refused, min: 1, max: 1}", "{metric: refused, max: 0}", "expected refused of at most 0; it is 7"},
		{"{metric: wait_total, min: 1s, max: 5m}", "{metric: wait_total, min: 7m, max: 2h}", "expected wait_total from 7m to 2h; it is 1m30s"},
		{"{metric: wait_total, about: 95s, within: 5s}", "{metric: wait_total, about: 95s, within: 5%}", "expected wait_total of about 1m35s (from 1m30.25s to 1m39.75s); it is 1m30s"},
		{"{metric: wait_total, about: 93s}", "{metric: wait_total, about: 2m}", "expected wait_total of about 2m (from 1m54s to 2m6s); it is 1m30s"},
		{"{metric: attempts, from: 1s, to: 39s, min: 1, max: 1}", "{metric: attempts, from: 1s, to: 39.1s, max: 1}", "expected attempts from 1s to 39.1s of at most 1; it is 2"},
		{"{metric: refused, from: 2s, to: 4s, min: 1}", "{metric: refused, from: 2s, to: 3s, min: 1}", "expected refused from 2s to 3s of at least 1; it is 0"},
		{"{policy: no-protection, metric: succeeded, from: 4s, to: 5s, min: 1}", "{policy: no-protection, metric: succeeded, from: 3s, to: 4s, min: 1}", "expected succeeded from 3s to 4s of at least 1; it is 0"},
		{"{call: 1, is: failure}", "{call: 1, is: refused}", "expected call 1 to be refused; it ended as failure"},
		{"{call: 1, is: admitted}", "{call: 2, is: admitted}", "expected call 2 to be admitted; it ended as refused"},
		{"{call: 3, is: admitted}", "{call: 3, is: success}", "expected call 3 to be success; it was still running at the end"},
		{"{call: 2, is: refused}", "{call: 9, is: success}", "expected call 9 to be success; there was no call 9"},
		{"{policy: no-protection, call: 2, is: success}", "{policy: no-protection, call: 2, is: refused}", "expected call 2 to be refused; it ended as success"},
	}
	metric := func(name string) (float64, bool) {
		return map[string]float64{"refused": 7, "wait_total": 90e9}[name], true
	}
	judge := func(src string) []replay.Failure {
		s := load(t, world+"  - "+src)
		var all []replay.Failure
		for i := range s.Policies {
			f, err := replay.Run(s, &s.Policies[i], replay.Options{Metric: metric})
			require.NoError(t, err)
			all = append(all, f...)
		}
		return all
	}
	for _, tt := range tests {
		if !strings.Contains(tt.holds, "metric: refused") { // the stand-in metric is 7
			assert.Empty(t, judge(tt.holds), tt.holds)
		}
		failures := judge(tt.fails)
		if assert.Len(t, failures, 1, tt.fails) {
			assert.Equal(t, tt.message, failures[0].Message)
			assert.Equal(t, 12, failures[0].Line)
		}
	}
}

// TestPoliciesThatDifferSeeTheSameWorld: draws have names, so that policies see
// the very same world wherever they act alike, whatever they did before.
func TestPoliciesThatDifferSeeTheSameWorld(t *testing.T) {
	s := load(t, `
scenario: a
duration: 10m
breakers: {search: {kind: tool}}
targets:
  search:
    latency: {lognormal: {p50: 200ms, p99: 2s}}
    mix: {success: 0.8, failure: 0.2}
    bursts: {apart: 60s, for: 5s, latency: 3s}
    phases: [{at: 2m, for: 1m, outcome: failure, latency: 10ms}]
callers:
  - {name: stream, rate: 3/s, arrivals: poisson, to: search, timeout: 5s}
policies: [no-protection, breaker, plain-retries, hedged]
`)
	type attempt struct {
		started, took time.Duration
		outcome       string
	}
	worlds := map[string]map[int]attempt{} // first attempts, by call
	for i := range s.Policies {
		var l trace.List
		_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{&l}})
		require.NoError(t, err)
		seen := map[int]attempt{}
		for _, e := range l {
			if e.Kind == trace.Result && e.Attempt == 1 && e.Outcome != trace.Cancelled {
				seen[e.Call] = attempt{e.T - e.Took, e.Took, e.Outcome}
			}
		}
		worlds[s.Policies[i].Name] = seen
	}
	alone := worlds["no-protection"]
	require.Greater(t, len(alone), 1700)
	for name, seen := range worlds {
		assert.Greater(t, len(seen), 400, name)
		for call, a := range seen {
			assert.Equal(t, alone[call], a, "call %d under %s", call, name)
		}
	}
	assert.Less(t, len(worlds["breaker"]), len(alone)-100, "the breaker does act otherwise: it refuses calls")
	assert.Less(t, len(worlds["hedged"]), len(alone), "and hedges overtake some")
}

// TestRandomScenariosAreValid plays whatever a generator comes up with: the
// record always keeps its own rules, and says the same when played again.
func TestRandomScenariosAreValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := randomScenario(rt)
		s, err := scenarios.Load("random.yaml", []byte(src), scenarios.DefaultLimits())
		if err != nil {
			rt.Fatalf("%v\n%s", err, src)
		}
		for i := range s.Policies {
			var runs [2]bytes.Buffer
			for k := range runs {
				w := trace.NewWriter(&runs[k])
				check := new(trace.Validator)
				_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{check, w}})
				if err == nil {
					err = check.Done()
				}
				if err != nil {
					rt.Fatalf("%v under %s\n%s", err, s.Policies[i].Name, src)
				}
				require.NoError(rt, w.Flush())
			}
			if runs[0].String() != runs[1].String() {
				rt.Fatalf("another run of %s differs\n%s", s.Policies[i].Name, src)
			}
		}
	})
}

func randomScenario(t *rapid.T) string {
	var b strings.Builder
	span := func(label string) string {
		return fmt.Sprintf("%dms", rapid.SampledFrom([]int{0, 1, 500, 1000, 3000, 10_000, 30_000, 60_000}).Draw(t, label))
	}
	some := func(label string) string {
		return fmt.Sprintf("%dms", rapid.SampledFrom([]int{500, 1000, 3000, 10_000, 30_000}).Draw(t, label))
	}
	outcome := func() string {
		return rapid.SampledFrom([]string{"success", "failure", "rate_limit", "permanent", "timeout", "vanish", "cancelled"}).Draw(t, "outcome")
	}
	number := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	fmt.Fprintf(&b, "scenario: random\nseed: %d\nduration: 2m\n", number("seed", 9))
	reports := func() string { return rapid.SampledFrom([]string{"permit", "anonymous"}).Draw(t, "reports") }
	told, per := reports(), rapid.SampledFrom([]string{"all", "caller", "host"}).Draw(t, "per")
	search := map[string][]string{"all": {"search"}, "caller": {"search", "search[scripted calls]", "search[d 1]", "search[d 2]"}, "host": {"search", "search[x]", "search[y]"}}[per]
	fmt.Fprintf(&b, "breakers:\n  search: {kind: tool, failure_threshold: %d, recovery_duration: %s, probe_timeout: %s, stale_results: %s, reports: %s, per: %s%s}\n",
		number("threshold", 3), span("cooldown"), span("lease"), rapid.SampledFrom([]string{"count", "ignore"}).Draw(t, "stale"), told, per, beyondT16(t, told))
	chain := []string{"sonnet", "haiku"}[:number("chain", 2)]
	fmt.Fprintf(&b, "  llm: {kind: model, primary: opus, chain: [%s], trip_threshold: %d, recovery_timeout: %s, recovery_successes_needed: %d, probation_failures: %d, reports: %s%s}\n",
		strings.Join(chain, ", "), number("trip", 3), span("recovery"), number("needed", 3), number("probation", 2), reports(), beyondM17(t, len(chain) > 0))
	b.WriteString("targets:\n")
	for _, name := range []string{"search", "opus", "sonnet", "haiku", "mini"} {
		world := []string{"", "network: {exponential: 300ms}, ", "warmup: 20s, ", "bursts: {apart: 5s, for: 5s, outcome: failure}, ", "limit: {rate: 1/s}, ",
			"capacity: {servers: 2, queue: 3}, ", "capacity: {servers: 1, cancel_on_timeout: true}, network: 400ms, ", "capacity: {slowdown: 500ms}, price: {call: 1}, "}
		hosts := ""
		if name == "search" && (per == "host" || number("hosts", 1) == 1) {
			hosts = "hosts: {x: {outcome: failure}, y: {" + strings.TrimSuffix(rapid.SampledFrom(world).Draw(t, "host"), ", ") + "}, z: {phases: [{at: 9s, for: 9s, outcome: vanish}]}}, "
		}
		fmt.Fprintf(&b, "  %s: {"+hosts+rapid.SampledFrom(world).Draw(t, "world")+"latency: {exponential: %s}, mix: {success: 0.6, failure: 0.2, rate_limit: 0.1, timeout: 0.04, vanish: 0.02, permanent: 0.02, cancelled: 0.02}, phases: [{at: %s, for: %s, outcome: %s}, {at: %s, for: %s, latency: %s}]}\n",
			name, some("latency"), span("at"), some("for"), outcome(), span("at"), some("for"), span("latency"))
	}
	b.WriteString("calls:\n  - {at: 0s, to: search, name: outer, takes: 3s}\n")
	on := func() string { return strconv.Quote(rapid.SampledFrom(search).Draw(t, "breaker")) }
	for range number("calls", 20) {
		at := span("at")
		switch number("op", 14) {
		case 0:
			fmt.Fprintf(&b, "  - {at: %s, reset: %s}\n", at, rapid.SampledFrom([]string{on(), "llm"}).Draw(t, "reset"))
		case 1:
			fmt.Fprintf(&b, "  - {at: %s, peek: %s}\n", at, rapid.SampledFrom([]string{"search", "llm"}).Draw(t, "peek"))
		case 2:
			fmt.Fprintf(&b, "  - {at: %s, force_open: %s}\n", at, on())
		case 3:
			fmt.Fprintf(&b, "  - {at: %s, force_closed: %s}\n", at, on())
		case 4, 5:
			fmt.Fprintf(&b, "  - {at: %s, configure: {breaker: %s, %s}}\n", at, on(), rapid.SampledFrom([]string{"recovery_duration: 1s", "failure_threshold: 1", "failure_threshold: 0, probe: none",
				"probe: call, probes: 3, probe_successes: 3", "window: {time: 4s}, failure_rate: 40%", "late_failures: ignore, ramp: 5s", "probe_timeout: 1s", "recovery_growth: 3, recovery_longest: 20s", "counts: {failure: ignore}"}).Draw(t, "configure"))
		case 6, 7:
			fmt.Fprintf(&b, "  - {at: %s, to: %s, inside: outer, outcome: %s, takes: %s}\n", at, rapid.SampledFrom([]string{"search", "llm", "haiku"}).Draw(t, "to"), outcome(), span("takes"))
		default:
			fmt.Fprintf(&b, "  - {at: %s, to: %s, outcome: %s, takes: %s}\n", at, rapid.SampledFrom([]string{"search", "llm", "haiku"}).Draw(t, "to"), outcome(), span("takes"))
		}
	}
	fmt.Fprintf(&b, "callers:\n  - {name: a, count: %d, to: search, every: %s, jitter: 0.5, start: {uniform: [0s, 5s]}, timeout: %s, patience: %s}\n", 1+number("count", 4), some("every"), some("timeout"), some("patience"))
	fmt.Fprintf(&b, "  - {name: d, count: 2, to: search, think: 1s}\n  - {name: b, to: llm, think: %s, timeout: %s}\n  - {name: c, to: llm, rate: [{at: 0s, rate: 1/s}, {at: 10s, rate: 3/s, ramp: true}, {at: 20s, rate: 0/s}], arrivals: poisson, until: 30s}\n", some("think"), some("timeout"))
	fmt.Fprintf(&b, "policies: [breaker, plain-retries, retries+breaker, no-protection, {name: own, retry: {attempts: 3, base: %s, jitter: %s, on_rate_limit: fail}, gate: attempt},\n"+
		"  {name: hedged-own, hedge: {after: %s, attempts: %d}, timeout: 10s, gate: %s, retry: {attempts: 2, max_failure_rate: 0.5, budget: {}}}, hedged, breaker-on-retries, retry-budget]\n",
		span("base"), rapid.SampledFrom([]string{"none", "proportional", "full", "equal", "decorrelated"}).Draw(t, "jitter"),
		some("hedge"), 2+number("beside", 2), rapid.SampledFrom([]string{"call", "attempt", "retry"}).Draw(t, "gate"))
	return b.String()
}

// beyondT16 is what a tool breaker is set to beyond T1 to T16, if anything is.
func beyondT16(t *rapid.T, reports string) string {
	settings := ""
	may := func(all ...string) string {
		one := rapid.SampledFrom(append(all, "")).Draw(t, "set")
		if one != "" {
			settings += ", " + one
		}
		return one
	}
	may("counts: {permanent: ignore, cancelled: failure}", "counts: {permanent: success, cancelled: success, timeout: ignore}")
	may("window: {calls: 5}, failure_rate: 50%, minimum_calls: 3", "window: {time: 10s, buckets: 5}, window_failures: 3", "window: {time: 3ms}, failure_rate: 100%", "success_clears: false, forget_failures_after: 5s")
	if reports == "permit" {
		may("slow_after: 1s, slow: failure")
	}
	if may("probe: none", "probes: 2, probe_successes: 2", "probes: any, probe_successes: 3, probe_failure_rate: 50%", "probes_in_all: 3, probe_successes: 2") != "probe: none" {
		may("cancelled_probe: release")
	}
	may("ramp: 10s, ramp_from: 20%", "ramp: 500ms")
	may("recovery_growth: 2, recovery_longest: 20s, recovery_forget: 5s", "recovery_growth: 1000")
	may("recovery_jitter: 50%", "retry_after: heed", "late_failures: ignore")
	return settings
}

// beyondM17 is what a model breaker is set to beyond M1 to M17, if anything is.
func beyondM17(t *rapid.T, backups bool) string {
	settings := ""
	may := func(format string, values ...any) {
		if rapid.Bool().Draw(t, "set") {
			settings += ", " + fmt.Sprintf(format, rapid.SampledFrom(values).Draw(t, format))
		}
	}
	take := []any{"failure", "success", "ignore"}
	may("counts: {permanent: %[1]s, cancelled: %[1]s}", take...)
	may("recovery_growth: 2, recovery_longest: 1m, recovery_forget: %s", "0s", "10s")
	may("recovery_jitter: %s", "15%", "100%")
	may("retry_after: %s", "heed", "ignore")
	may("probes: 1, probe_timeout: %s", "0s", "5s")
	if backups {
		may("exhausted_wait: %s", "1s", "20s")
		may("last_resort: %s", "mini")
		may("entry_cooldown: %s", "500ms", "10s")
	}
	return settings
}

// BenchmarkManyCallers is 10,000 callers against one breaker for 10 virtual
// minutes, the trace thrown away: events a second on one core.
func BenchmarkManyCallers(b *testing.B) {
	s := load(b, `
scenario: many-callers
breakers: {search: {kind: tool}}
targets: {search: {latency: {exponential: 200ms}, phases: [{at: 2m, for: 5m, outcome: failure}]}}
callers: [{name: agents, count: 10000, to: search, every: 10s, start: {uniform: [0s, 10s]}, until: 10m}]
`)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.ReportAllocs()
	var sink counter
	start := time.Now()
	for b.Loop() {
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&sink}})
		require.NoError(b, err)
	}
	b.ReportMetric(float64(sink)/time.Since(start).Seconds(), "events/s")
	b.ReportMetric(float64(sink)/float64(b.N), "events/run")
}

type counter int

func (c *counter) Event(*trace.Event) error { *c++; return nil }

// TestMoreCallersThanTheQueueCanTellApart is an error, not a panic.
func TestMoreCallersThanTheQueueCanTellApart(t *testing.T) {
	src := "scenario: x\ntargets: {a: {}}\nduration: 1s\ncallers:\n" + strings.Repeat("  - {to: a, count: 1000000}\n", 300)
	s, err := scenarios.Load("test.yaml", []byte(src), scenarios.Limits{Bytes: 1 << 20, Calls: 1 << 30})
	require.NoError(t, err)
	_, err = replay.Run(s, &s.Policies[0], replay.Options{})
	assert.EqualError(t, err, "test.yaml: 300000000 callers are more than can be told apart: 268435455")
}
