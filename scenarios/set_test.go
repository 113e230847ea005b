package scenarios

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const toSet = `# what it is about
scenario: a   # its id
about: |
  Text: with a colon.

  - and more
duration: 1m
breakers:
  search: {kind: tool, recovery_duration: 30s}
  gpt-4:
    kind: model   # turns go down a chain
    primary: gpt-4.1
    chain:
    - small
    - {name: local, max_fail_count: 5}
  gpt-4.1: {kind: tool}
targets:
  search:
    latency:
      lognormal: {p50: 200ms, p99: 2s}
    # when it is out
    phases:
      - at: 10s
        for: 5s   # and no longer
        outcome: timeout
      - {at: 30s, outcome: failure}
  gpt-4.1: {}
  small:
  local: {latency: "1s"}
callers:
  - {name: agents, to: search, count: 3, every: 2s}
  - to: gpt-4
    every: 3s
policies:
- breaker
- name: patient
  retry: {attempts: 4}
`

// TestSet changes one thing: of the lines of the file those named by - become those by +.
func TestSet(t *testing.T) {
	for name, c := range map[string]struct{ path, value, want string }{
		"scalar in flow style":        {"breakers.search.recovery_duration", "10s", "-  search: {kind: tool, recovery_duration: 30s}\n+  search: {kind: tool, recovery_duration: 10s}\n"},
		"scalar in block style":       {"duration", " 2m ", "-duration: 1m\n+duration: 2m\n"},
		"comment behind":              {"scenario", "b", "-scenario: a   # its id\n+scenario: b   # its id\n"},
		"number":                      {"callers.agents.count", "40", "-  - {name: agents, to: search, count: 3, every: 2s}\n+  - {name: agents, to: search, count: 40, every: 2s}\n"},
		"item by its index":           {"callers.1.every", "1s", "-    every: 3s\n+    every: 1s\n"},
		"item in block style":         {"targets.search.phases.0.for", "20s", "-        for: 5s   # and no longer\n+        for: 20s   # and no longer\n"},
		"item in flow style":          {"targets.search.phases.1.at", "40s", "-      - {at: 30s, outcome: failure}\n+      - {at: 40s, outcome: failure}\n"},
		"whole item":                  {"breakers.gpt-4.chain.0", "{name: small, max_fail_count: 3}", "-    - small\n+    - {name: small, max_fail_count: 3}\n"},
		"item by what it is":          {"policies.breaker", "no-protection", "-- breaker\n+- no-protection\n"},
		"item of an item":             {"breakers.gpt-4.chain.local.max_fail_count", "1", "-    - {name: local, max_fail_count: 5}\n+    - {name: local, max_fail_count: 1}\n"},
		"within a policy":             {"policies.patient.retry.attempts", "9", "-  retry: {attempts: 4}\n+  retry: {attempts: 9}\n"},
		"longest key":                 {"targets.gpt-4.1.latency", "5s", "-  gpt-4.1: {}\n+  gpt-4.1: {latency: 5s}\n"},
		"longest key, not its like":   {"breakers.gpt-4.trip_threshold", "1", "+    trip_threshold: 1\n"},
		"block instead of block":      {"targets.search.latency", "{p50: 1s, p99: 2s}", "-    latency:\n-      lognormal: {p50: 200ms, p99: 2s}\n+    latency: {p50: 1s, p99: 2s}\n"},
		"list instead of a list":      {"targets.search.phases", "[]", "-    phases:\n-      - at: 10s\n-        for: 5s   # and no longer\n-        outcome: timeout\n-      - {at: 30s, outcome: failure}\n+    phases: []\n"},
		"text in lines":               {"about", "one: two", "-about: |\n-  Text: with a colon.\n-\n-  - and more\n+about: {one: two}\n"},
		"quoted":                      {"targets.local.latency", `'2s'`, "-  local: {latency: \"1s\"}\n+  local: {latency: \"2s\"}\n"},
		"text that must be quoted":    {"about", `"a, [b]: #c"`, "-about: |\n-  Text: with a colon.\n-\n-  - and more\n+about: \"a, [b]: #c\"\n"},
		"added in flow style":         {"breakers.search.probe_timeout", "0s", "-  search: {kind: tool, recovery_duration: 30s}\n+  search: {probe_timeout: 0s, kind: tool, recovery_duration: 30s}\n"},
		"added at the top":            {"seed", "7", "+seed: 7\n"},
		"added to an item":            {"callers.1.count", "2", "-  - to: gpt-4\n+  - count: 2\n+    to: gpt-4\n"},
		"parents are added":           {"policies.patient.breakers.search.failure_threshold", "1", "-- name: patient\n+- breakers: {search: {failure_threshold: 1}}\n+  name: patient\n"},
		"parents are added below one": {"targets.search.capacity.servers", "1", "+    capacity: {servers: 1}\n"},
		"nothing there yet":           {"targets.small.limit.rate", "5/s", "-  small:\n+  small: {limit: {rate: 5/s}}\n"},
		"none":                        {"policies.patient.breakers", "none", "-- name: patient\n+- breakers: none\n+  name: patient\n"},
		"list":                        {"breakers.gpt-4.chain", "[a, b]", "-    chain:\n-    - small\n-    - {name: local, max_fail_count: 5}\n+    chain: [a, b]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Set("test.yaml", []byte(toSet), c.path, c.value)
			require.NoError(t, err)
			assert.Equal(t, c.want, changedLines(toSet, string(got)))
		})
	}
}

// changedLines are the lines between what two texts begin and end with alike.
func changedLines(was, is string) string {
	a, b := strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var all strings.Builder
	for _, line := range a {
		all.WriteString("-" + line)
	}
	for _, line := range b {
		all.WriteString("+" + line)
	}
	return all.String()
}

// TestSetInJSON changes the other way to write a scenario.
func TestSetInJSON(t *testing.T) {
	got, err := Set("a.json", []byte("{\r\n \"scenario\":\"a\",\r\n \"targets\":{\"x\":{}},\r\n \"calls\":[{\"at\":\"1s\",\"to\":\"x\"}]}"), "calls.0.at", "2s")
	require.NoError(t, err)
	assert.Equal(t, "{\n \"scenario\":\"a\",\n \"targets\":{\"x\":{}},\n \"calls\":[{\"at\": 2s,\"to\":\"x\"}]}", string(got))
	s, err := Load("a.json", got, DefaultLimits())
	require.NoError(t, err)
	assert.Equal(t, 2*time.Second, s.Calls[0].At)
}

// TestSetRefuses says which step of a path is not there, and what may be meant.
func TestSetRefuses(t *testing.T) {
	for name, c := range map[string]struct{ path, value, want string }{
		"no such key":           {"breakers.serch.kind", "tool", `breakers.serch.kind: breakers has no "serch"; did you mean "search"?`},
		"no such key at top":    {"braekers.search.kind", "tool", `braekers.search.kind: the scenario has no "braekers"; did you mean "breakers"?`},
		"no such item":          {"callers.agent.count", "1", `callers.agent.count: callers has no item "agent"; did you mean "agents"?`},
		"no such item at all":   {"targets.search.phases.x", "1", `targets.search.phases.x: targets.search.phases has no item "x"; there is none here`},
		"beyond the list":       {"targets.search.phases.2.at", "1s", `targets.search.phases.2.at: targets.search.phases has no item 2; it has 2, counted from 0`},
		"before the list":       {"callers.-1.to", "x", `callers.-1.to: callers has no item -1; it has 2, counted from 0`},
		"below a value":         {"duration.x", "1", `duration.x: duration is one value, 1m; there is no "x" in it`},
		"item of what is not":   {"expect.0.at", "1s", `expect.0.at: expect is not there, so it has no item 0`},
		"empty step":            {"breakers..kind", "1", `breakers..kind: a step of the path is empty; write it like breakers.search.recovery_duration`},
		"empty last step":       {"breakers.", "1", `breakers.: a step of the path is empty; write it like breakers.search.recovery_duration`},
		"empty path":            {"", "1", `: a step of the path is empty; write it like breakers.search.recovery_duration`},
		"empty step below none": {"seed.x..y", "1", `seed.x..y: a step of the path is empty; write it like breakers.search.recovery_duration`},
		"no value":              {"duration", " ", `duration: there is no value; write it like path=10s`},
		"not YAML":              {"duration", "[1, 2", "duration: the value [1, 2 cannot be read: this is not YAML: sequence end token ']' not found"},
		"only a comment":        {"duration", "#1", "duration: the value #1 cannot be read: there is nothing but comments here"},
		"an anchor":             {"duration", "[&a 1s]", "duration: anchors, aliases, merge keys and tags are not read here; write it out"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Set("test.yaml", []byte(toSet), c.path, c.value)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
		})
	}
	_, err := Set("test.yaml", []byte("a: ["), "a", "1")
	var faults *Faults
	require.ErrorAs(t, err, &faults)
	assert.Contains(t, err.Error(), "test.yaml:1:4: this is not YAML")
}

// TestSetWhereverSomethingIs sets every value of the built-in scenarios to a word
// that stands nowhere in them: it comes to stand where the value was, and nothing
// else changes.
func TestSetWhereverSomethingIs(t *testing.T) {
	names := Names()
	if testing.Short() {
		names = names[:len(names)/10]
	}
	for _, name := range names {
		src, ok := Source(name)
		require.True(t, ok)
		root := newDecoder("").parse(string(src))
		require.NotNil(t, root)
		places(root, "", func(path string, n ast.Node) {
			got, err := Set(name, src, path, "elsewhere")
			if !assert.NoError(t, err, name) {
				return
			}
			changed := newDecoder("").parse(string(got))
			require.NotNil(t, changed)
			places(changed, "", func(p string, n ast.Node) {
				if p == path {
					assert.Equal(t, "elsewhere", n.String(), "%s: %s", name, path)
				}
			})
			assert.Equal(t, (&edit{at: n, text: "elsewhere"}).flow(root), (&edit{}).flow(changed), "%s: %s", name, path)
		})
	}
}

// places calls see for everything below n with its path.
func places(n ast.Node, path string, see func(string, ast.Node)) {
	if path != "" {
		see(path, n)
	}
	for _, kv := range entries(n) {
		places(kv.Value, join(path, keyText(kv.Key)), see)
	}
	if list, ok := n.(*ast.SequenceNode); ok {
		for i, it := range list.Values {
			places(it, join(path, strconv.Itoa(i)), see)
		}
	}
}

// FuzzSet changes files at random: what comes is the file with that one change,
// and it loads or is refused as any other file is.
func FuzzSet(f *testing.F) {
	for _, seed := range [][3]string{
		{toSet, "breakers.search.recovery_duration", "10s"}, {toSet, "targets.search.phases.0.for", "[a, {b: c}]"},
		{toSet, "seed", "7"}, {toSet, "about", "'x'"}, {"a: >\n  b\n  c\nd:\n- e\n", "a", "1"}, {"{a: [b: c, d]}", "a.0.b", "x"},
		{"? a\n: b\n", "a", "x"}, {"a: &b {c: 1}\nd: *b", "d", "1"}, {"a: | # x\n  y\nb: ", "b.c", "1"}, {"- a\n- b", "1", "c"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, src, path, value string) {
		got, err := Set("f.yaml", []byte(src), path, value)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		_, err = Load("f.yaml", got, DefaultLimits())
		var faults *Faults
		if err != nil {
			require.ErrorAs(t, err, &faults)
		}
		again, err := Set("f.yaml", got, path, value)
		if err == nil { // a name may have become an index
			assert.Equal(t, string(got), string(again), "setting the same again changes nothing")
		}
	})
}
