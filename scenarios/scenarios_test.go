package scenarios

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

func load(src string) (*Scenario, error) { return Load("test.yaml", []byte(src), DefaultLimits()) }

// TestFaults compares what is said of wrong files. UPDATE=1 rewrites it: read
// it as somebody who made the mistake.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = Load(filepath.Base(file), src, DefaultLimits())
			require.Error(t, err)
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(err.Error()), 0o666))
			}
			want, readErr := os.ReadFile(golden)
			require.NoError(t, readErr)
			assert.Equal(t, string(want), err.Error())
		})
	}
}

// TestPlaces puts an unknown key behind what is known to shift positions.
func TestPlaces(t *testing.T) {
	for name, src := range map[string]string{
		"folded":       "title: a\nabout: >\n  one\n  two\n\n  three\nbogus: 1\n",
		"literal":      "about: |\n  one\n\n  two\n\n\nbogus: 1\n",
		"literal-keep": "about: |+\n  one\n\n\nbogus: 1\n",
		"comment":      "# c\n\n# d\ntitle: a # x\n\nbogus: 1\n",
		"crlf":         "title: a\r\nscenario: b\r\nbogus: 1\r\n",
		"crlf-folded":  "title: >\r\n  one\r\n  two\r\nbogus: 1\r\n",
		"bom":          "\ufefftitle: a\nbogus: 1\n",
		"unicode":      "title: Größe – 日本\nbreakers: {é: {bogus: 1}}\n",
		"multi-quoted": "about: \"one\n  two\n  three\"\nbogus: 1\n",
		"multi-plain":  "about: one\n  two\n  three\nbogus: 1\n",
		"doc-start":    "---\ntitle: a\nbogus: 1\n",
		"json":         "{\n \"title\": \"a\",\n \"bogus\": 1\n}\n",
		"nested-seq":   "calls:\n- at: 1s\n  to: x\n- at: 2s\n  bogus: 1\n",
		"question-key": "? title\n: a\n? bogus\n: 1\n",
	} {
		_, err := load(src)
		var faults *Faults
		require.ErrorAs(t, err, &faults, name)
		line, column := 0, 0
		for i, l := range strings.Split(strings.TrimPrefix(src, "\ufeff"), "\n") {
			if k := strings.Index(l, "bogus"); k >= 0 {
				line, column = i+1, len([]rune(strings.TrimSuffix(l[:k], `"`)))+1 // a quoted key starts at its quote
			}
		}
		found := false
		for _, f := range faults.Faults {
			if strings.Contains(f.Message, "bogus") {
				found = true
				assert.Equal(t, []int{line, column}, []int{f.Line, f.Column}, name)
			}
		}
		assert.True(t, found, "%s: %v", name, err)
	}
}

// TestHostileFiles are refused at once, whatever they would do to the parser.
func TestHostileFiles(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	steps := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for name, src := range map[string]struct{ text, message string }{
		"brackets":        {strings.Repeat("[", 200_000), "nested more than 32 deep"},
		"balanced":        {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than 32 deep"},
		"maps":            {strings.Repeat("{a: ", 50_000), "nested more than 32 deep"},
		"dashes":          {strings.Repeat("- ", 100_000), "nested more than 32 deep"},
		"questions":       {strings.Repeat("? ", 100_000), "nested more than 32 deep"},
		"indentation":     {steps(1000), "nested more than 32 deep"},
		"empty":           {"", "the file is empty"},
		"blank":           {" \n\n", "the file is empty"},
		"binary":          {"\x00\x01\x02", "not text in UTF-8"},
		"not utf-8":       {"title: \xff\xfe", "not text in UTF-8"},
		"10 MiB":          {strings.Repeat("# a comment\n", 900_000), "the file is larger than 1048576 bytes; --limit=2MiB would take it"},
		"many keys":       {"targets:\n" + many(40_000, "  k%d: 1\n"), "more than 5000 keys in one mapping"},
		"flow keys":       {"targets: {" + many(40_000, "k%d: 1,") + "}", "more than 5000 keys in one mapping"},
		"long line":       {"scenario: " + strings.Repeat("x", 500_000), "at most 64 lower-case letters"},
		"empty values":    {strings.Repeat("- a:\n", 30_000), "more than 10000 values left empty"},
		"empty items":     {strings.Repeat("-\n", 30_000), "more than 10000 values left empty"},
		"empty in flow":   {"[" + strings.Repeat("{a},", 30_000) + "]", "more than 10000 values left empty"},
		"questions alone": {strings.Repeat("- ? x\n", 30_000), "more than 10000 values left empty"},
		"tags":            {strings.Repeat("- !!x\n", 30_000), "more than 10000 values left empty, tags"},
		"documents":       {strings.Repeat("---\n[1]\n", 30_000), "more than 10000 values left empty, tags, anchors and documents"},
		"long key":        {strings.Repeat("a", 300_000) + ":\n" + strings.Repeat("- a\n", 50_000), "such long keys"},
		"long key inline": {"{" + strings.Repeat("a", 300_000) + ": [" + strings.Repeat("a,", 50_000) + "]}", "such long keys"},
		"bare CR":         {"targets:\r" + strings.ReplaceAll(many(40_000, "  k%d: 1\n"), "\n", "\r"), "more than 5000 keys in one mapping"},
		"unknown names":   {"scenario: a\ntargets:\n" + many(4900, "  target-number-%d: {}\n") + "calls:\n" + strings.Repeat("- {at: 1s, to: xarget-number-99}\n", 10_000), "unknown target"},
		"many mappings":   {many(5, "m%d:\n"+strings.ReplaceAll(many(4999, " a%d: 1\n"), "%", "%%")), "unknown key \"m0\""},
		"many policies":   {"scenario: a\ntargets: {x: {}}\nbreakers:\n" + many(1500, "  b%d: {kind: model, primary: x}\n") + "policies:\n" + many(1000, "- {name: p%d}\n") + "calls: [{at: 1s, to: x}]", "the policies have more than 1000000 breakers in all"},
		"long number":     {"duration: -" + strings.Repeat("0", 500_000) + "1s", "..."},
		"many of one key": {many(40_000, "a: %d\n"), "more than 5000 keys in one mapping"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := load(src.text)
			require.Error(t, err)
			assert.Contains(t, err.Error(), src.message)
			assert.Less(t, len(err.Error()), 50_000)
			assert.Less(t, time.Since(start), 20*time.Second, "a slow machine takes 3 s, the square of the size minutes")
			t.Log(time.Since(start))
		})
	}
}

func TestAFaultsExcerptIsCutToALine(t *testing.T) {
	_, err := load("scenario: a\ntitle: " + strings.Repeat("x", 300) + "\ntargets: {a: {}}\ncalls: [{at: 1s, to: a}, {at: 2s, to: a}, {at: 3s, to: a}, {at: 4s, to: a}, {at: 5s, to: a}, {at: 6s, to: b}]\n")
	require.Error(t, err)
	for _, line := range strings.Split(err.Error(), "\n") {
		assert.Less(t, len(line), 130)
	}
	lines := strings.Split(err.Error(), "\n")
	assert.Equal(t, "b", lines[1][strings.Index(lines[2], "^"):][:1], "the caret points at the word")
}

// TestDefaults is a file that says as little as it can.
func TestDefaults(t *testing.T) {
	s, err := load("scenario: least\nbreakers: {x: {kind: tool}, m: {kind: model, primary: y, chain: [z, {name: w, max_fail_count: 5}]}}\ntargets: {x: , y: {}, z: {}, w: {}}\ncallers: [{to: m}]")
	require.NoError(t, err)
	tool, model, zero := machine.DefaultToolSettings(), machine.DefaultModelSettings(), Behavior{Mix: Mix{{Success, 1}}, Latency: &Dist{}}
	model.Primary = "y"
	model.Chain = []machine.Backup{{Name: "z", MaxFailCount: 2}, {Name: "w", MaxFailCount: 5}}
	breakers := []Breaker{{Name: "x", Guards: "x", Tool: &tool}, {Name: "m", Model: &model}}
	assert.Equal(t, &Scenario{
		File: "test.yaml", Name: "least", Title: "least", Open: true, Seed: 1, Breakers: breakers,
		Targets:  []Target{{Name: "x", Base: zero}, {Name: "y", Base: zero}, {Name: "z", Base: zero}, {Name: "w", Base: zero}},
		Callers:  []Callers{{Name: "callers-1", To: "m", Count: 1, Until: math.MaxInt64, Timeout: 2 * time.Minute}},
		Policies: []Policy{{Name: "breaker", About: "breakers, no retries", Breakers: breakers}},
		MaxCalls: 10_000_000,
	}, s)
}

// TestPoliciesChangeSettings has a policy change what it names and nothing else.
func TestPoliciesChangeSettings(t *testing.T) {
	s, err := load(`
scenario: a
breakers:
  x: {kind: tool, recovery_duration: 10s}
  m: {kind: model, primary: y, chain: [z]}
targets: {x: {}, y: {}, z: {}}
calls: [{at: 1s, to: x}]
policies:
  - breaker
  - {name: other, gate: attempt, retry: {attempts: 6, jitter: full, on_rate_limit: fail}, breakers: {x: {failure_threshold: 5, reports: anonymous}, m: {max_fail_count: 7}}}
  - {name: none, breakers: none}
`)
	require.NoError(t, err)
	assert.Equal(t, s.Breakers, s.Policies[0].Breakers, "as in the file, untouched by the others")
	assert.Equal(t, []machine.Backup{{Name: "z", MaxFailCount: 2}}, s.Breakers[1].Model.Chain)
	other := s.Policies[1]
	assert.Equal(t, machine.ToolSettings{FailureThreshold: 5, RecoveryDuration: 10 * time.Second, ProbeTimeout: 30 * time.Second}, *other.Breakers[0].Tool)
	assert.True(t, other.Breakers[0].Anonymous)
	assert.Equal(t, []machine.Backup{{Name: "z", MaxFailCount: 7}}, other.Breakers[1].Model.Chain)
	assert.Equal(t, &machine.Ladder{Curve: "exponential", Jitter: "full", Attempts: 6, Base: 100 * time.Millisecond, Cap: 10 * time.Second, FailOnRateLimit: true, Deadline: 5 * time.Minute}, other.Ladder)
	assert.Equal(t, "6 attempts, waits from 100ms doubling up to 10s, full jitter, a rate limit fails the call; breakers asked at each attempt", other.About)
	none := s.Policies[2]
	assert.Nil(t, none.Breakers)
	assert.Equal(t, "no breakers, no retries", none.About)
}

// TestPoliciesChangeChains has a policy say some of a chain, and the scenario
// the rest.
func TestPoliciesChangeChains(t *testing.T) {
	s, err := load(`
scenario: a
breakers: {m: {kind: model, primary: p, max_fail_count: 5, chain: [b, {name: c, max_fail_count: 3}]}}
targets: {p: {}, b: {}, c: {}, d: {}}
calls: [{at: 1s, to: m}]
policies:
  - {name: budget, breakers: {m: {max_fail_count: 9}}}
  - {name: chain, breakers: {m: {chain: [d]}}}
  - {name: swapped, breakers: {m: {primary: b, chain: [p, {name: c, max_fail_count: 1}], max_fail_count: 7}}}
  - {name: neither, breakers: {m: {trip_threshold: 1}}}
`)
	require.NoError(t, err)
	var chains [][]machine.Backup
	for _, p := range s.Policies {
		chains = append(chains, p.Breakers[0].Model.Chain)
		assert.NoError(t, p.Breakers[0].Model.Validate())
	}
	backup := func(name string, budget int) machine.Backup { return machine.Backup{Name: name, MaxFailCount: budget} }
	scenario := []machine.Backup{backup("b", 5), backup("c", 3)}
	assert.Equal(t, [][]machine.Backup{{backup("b", 9), backup("c", 3)}, {backup("d", 5)}, {backup("p", 7), backup("c", 1)}, scenario}, chains)
	assert.Equal(t, scenario, s.Breakers[0].Model.Chain)
}

// TestSharedScenariosLoad reads the files that others wrote for this format,
// where they are at hand.
func TestSharedScenariosLoad(t *testing.T) {
	for _, dir := range []string{"vectors", "stories"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "shared", dir, "*.yaml"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skip("there is no ../shared here")
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = Load(file, src, DefaultLimits())
			assert.NoError(t, err)
		}
	}
}

// TestExpectationsWithoutBreakers has a scenario without any breaker: the policy
// that would have them is one with breakers all the same.
func TestExpectationsWithoutBreakers(t *testing.T) {
	s, err := load("scenario: a\ntargets: {x: {}}\ncalls: [{at: 1s, to: x}]\nexpect: [{call: 1, is: success}]")
	require.NoError(t, err)
	assert.Equal(t, []Breaker{}, s.Policies[0].Breakers)
	assert.Equal(t, "no breakers, no retries", s.Policies[0].About)
}

// TestWhatOneCallOrTargetMayHave bounds what the limit of calls does not.
func TestWhatOneCallOrTargetMayHave(t *testing.T) {
	with := func(phases, attempts int) error {
		_, err := load(fmt.Sprintf("scenario: a\ntargets:\n  x:\n    phases:\n%scalls: [{at: 1s, to: x}]\npolicies: [{name: p, retry: {attempts: %d}}]\n",
			strings.Repeat("    - {at: 1s, outcome: failure}\n", phases), attempts))
		return err
	}
	assert.NoError(t, with(5000, 1000))
	assert.ErrorContains(t, with(5001, 1), "test.yaml:5005:7: x has 5001 phases; no more than 5000 are played")
	assert.ErrorContains(t, with(1, 1001), "attempts is 1001; no more than 1000 are made")
}

func TestLibrary(t *testing.T) {
	for _, name := range Names() {
		src, ok := Source(name)
		require.True(t, ok)
		s, err := Load(name+".yaml", src, DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, name, s.Name)
		assert.NotEqual(t, name, s.Title)
		assert.NotEmpty(t, s.About, name)
		assert.NotEmpty(t, s.Expect, name)
	}
	_, ok := Source("nothing-of-that-name")
	assert.False(t, ok)
}

// TestSegments holds the merged behavior against asking every phase at every
// instant.
func TestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instant := func(label string) time.Duration { return time.Duration(rapid.IntRange(0, 12).Draw(t, label)) }
		target := Target{Base: Behavior{Mix: Mix{{Success, 1}}, Latency: &Dist{A: 1}}}
		for range rapid.IntRange(0, 5).Draw(t, "phases") {
			p := Phase{At: instant("at")}
			if rapid.Bool().Draw(t, "ends") {
				d := 1 + instant("for")
				p.For = &d
			}
			if rapid.Bool().Draw(t, "outcome") {
				p.Mix = Mix{{Outcome(rapid.IntRange(0, 3).Draw(t, "outcome")), 1}}
			}
			if rapid.Bool().Draw(t, "latency") {
				p.Latency = &Dist{A: instant("latency")}
			}
			if rapid.Bool().Draw(t, "retry after") {
				d := instant("retry after")
				p.RetryAfter = &d
			}
			target.Phases = append(target.Phases, p)
		}
		segments := target.Segments()
		assert.Equal(t, time.Duration(0), segments[0].At)
		for now := range time.Duration(30) {
			want := Segment{Answer: Answer{Mix: target.Base.Mix, Latency: *target.Base.Latency}, Phase: -1}
			for i, p := range target.Phases {
				if now >= p.At && (p.For == nil || now < p.At+*p.For) {
					want.Phase = i
					if p.Mix != nil {
						want.Mix = p.Mix
					}
					if p.Latency != nil {
						want.Latency = *p.Latency
					}
					if p.RetryAfter != nil {
						want.RetryAfter = p.RetryAfter
					}
				}
			}
			var got Segment
			for _, s := range segments {
				if s.At <= now {
					got = s
				}
			}
			got.At = 0
			assert.Equal(t, want, got, "at %d", now)
		}
	})
}

func TestWords(t *testing.T) {
	assert.Equal(t, "timeout", Mix{{Timeout, 1}}.String())
	assert.Equal(t, "70% success, 30% failure", Mix{{Success, 0.7}, {Failure, 0.3}}.String())
	assert.Equal(t, "2m", Dist{A: 2 * time.Minute}.String())
	assert.Equal(t, "1h", Dist{A: time.Hour}.String())
	assert.Equal(t, "1h10m", Dist{A: 70 * time.Minute}.String())
	assert.Equal(t, "uniform 100ms to 1s", Dist{Uniform, 100 * time.Millisecond, time.Second}.String())
	assert.Equal(t, "exponential, mean 1s", Dist{Kind: Exponential, A: time.Second}.String())
	assert.Equal(t, "lognormal, p50 200ms, p99 2s", Dist{Lognormal, 200 * time.Millisecond, 2 * time.Second}.String())
	assert.Equal(t, "search", Nearest("serach", []string{"fetch", "search"}))
	assert.Equal(t, "", Nearest("completely", []string{"fetch", "search"}))
	assert.Equal(t, "", Nearest(strings.Repeat("search", 20), []string{"search"}))
}

// TestDistance holds the distance, which stops early, against the definition.
func TestDistance(t *testing.T) {
	var judge func(x, y []rune) int
	judge = func(x, y []rune) int {
		n, m := len(x), len(y)
		if n == 0 || m == 0 {
			return n + m
		}
		change := judge(x[:n-1], y[:m-1])
		if x[n-1] != y[m-1] {
			change++
		}
		d := min(change, judge(x[:n-1], y)+1, judge(x, y[:m-1])+1)
		if n > 1 && m > 1 && x[n-1] == y[m-2] && x[n-2] == y[m-1] {
			d = min(d, judge(x[:n-2], y[:m-2])+1)
		}
		return d
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.SampledFrom([]rune("abö")), 0, 6)
		x, y, limit := word.Draw(t, "x"), word.Draw(t, "y"), rapid.IntRange(1, 7).Draw(t, "limit")
		assert.Equal(t, min(limit, judge(x, y)), distance(x, y, limit))
	})
}

// FuzzLoad feeds anything: no panic, and every fault has a place in the file.
func FuzzLoad(f *testing.F) {
	for _, name := range Names() {
		src, _ := Source(name)
		f.Add(src)
	}
	f.Add([]byte("? a\n: b\n- c\n&x *x <<: !!str"))
	f.Add([]byte("calls:\n  -"))
	f.Add([]byte("scenario: 0\n\n 0"))
	f.Add([]byte("scenario: a\rtargets: {? a, b: [{c}, -]}\r- ? : \n]: }"))
	f.Add([]byte("scenario: a\ntargets: {a: }\ncalls: [{at: 1s, to: a}]\nexpect: [{breaker: a, transitions: [x@1s]}]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := Load("fuzz.yaml", src, Limits{Bytes: 1 << 16, Calls: 1000})
		if err == nil {
			require.NotEmpty(t, s.Policies)
			return
		}
		var faults *Faults
		require.ErrorAs(t, err, &faults)
		require.NotEmpty(t, faults.Faults)
		for _, x := range faults.Faults {
			require.Positive(t, x.Line)
			require.Positive(t, x.Column)
			require.NotEmpty(t, x.Message)
		}
		require.NotEmpty(t, err.Error())
	})
}

// TestPoliciesSayWhatTheyDo in a few words; their breakers say what they change.
func TestPoliciesSayWhatTheyDo(t *testing.T) {
	s, err := Load("test.yaml", []byte(`
scenario: a
breakers: {a: {kind: tool}, m: {kind: model, primary: p, chain: [x, y]}}
targets: {a: , p: , x: , y: }
calls: [{at: 1s, to: a}]
policies:
  - {name: one, breakers: {a: {failure_threshold: 2}}}
  - name: two
    gate: attempt
    timeout: 2s
    breakers:
      a: {failure_threshold: 2} # why
      m:
        chain: # of
          - x
          - {name: y, max_fail_count: 3} # three
  - {name: none, breakers: none, hedge: {attempts: 3}}
  - {name: retries, retry: {attempts: 2, jitter: none, max_failure_rate: 0.1, deadline: 10s, on_rate_limit: backoff}}
  - {name: shared, gate: retry, retry: {ladder: fixed, base: 0s, budget: {shared: true}}}
`), DefaultLimits())
	require.NoError(t, err)
	var abouts []string
	for _, p := range s.Policies {
		abouts = append(abouts, p.About)
	}
	assert.Equal(t, []string{
		"breakers, no retries",
		"breakers asked at each attempt, no retries, at most 2s for an attempt",
		"no breakers, no retries, another attempt after 1s without an answer, up to 3 in all",
		"2 attempts, waits from 100ms doubling up to 10s, no jitter, as long as at most 10% fail, hints to wait ignored, at most 10s for the call; breakers asked once a call",
		"4 attempts, no waits, from a budget of 10 tokens for all callers; breakers asked at retries only",
	}, abouts)
}
