package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

const written = `scenario: written   # a comment
breakers:
  search: {kind: tool, "probe_timeout": 0s}
  llm:
    kind: model
    chain:
      - sonnet
      - {name: haiku, max_fail_count: 3}
policies:
  - breaker
  - name: own
    breakers: {search: {recovery_duration: 5s}}
`

// TestDocument finds keys and items where they are written.
func TestDocument(t *testing.T) {
	doc, err := scenarios.Read("written.yaml", []byte(written), scenarios.DefaultLimits())
	require.NoError(t, err)
	for _, c := range []struct {
		path         []string
		line, column int
		length       int
		text         string // empty: it is not there, and the place is that of what it would be in
	}{
		{[]string{"scenario"}, 1, 1, 8, "written"},
		{[]string{"breakers", "search"}, 3, 3, 6, `{kind: tool, "probe_timeout": 0s}`},
		{[]string{"breakers", "search", "probe_timeout"}, 3, 24, 13, "0s"},
		{[]string{"breakers", "search", "failure_threshold"}, 3, 3, 6, ""},
		{[]string{"breakers", "llm", "chain", "0"}, 7, 9, 6, "sonnet"},
		{[]string{"breakers", "llm", "chain", "1", "max_fail_count"}, 8, 23, 14, "3"},
		{[]string{"breakers", "llm", "chain", "2"}, 6, 5, 5, ""},
		{[]string{"breakers", "llm", "chain", "-1"}, 6, 5, 5, ""},
		{[]string{"policies", "1", "breakers", "search", "recovery_duration"}, 12, 25, 17, "5s"},
		{[]string{"policies", "1"}, 11, 5, 4, "{name: own, breakers: {search: {recovery_duration: 5s}}}"},
		{[]string{"scenario", "x"}, 1, 1, 8, ""},
		{[]string{"nothing"}, 1, 1, 1, ""},
	} {
		assert.Equal(t, scenarios.Fault{Line: c.line, Column: c.column, Length: c.length}, doc.At(c.path...), c.path)
		assert.Equal(t, c.text, doc.Text(c.path...), c.path)
		assert.Equal(t, c.text != "", doc.Has(c.path...), c.path)
	}
	assert.Equal(t, []scenarios.Pair{{Key: "kind", Value: "model"}, {Key: "chain", Value: "[sonnet, {name: haiku, max_fail_count: 3}]"}}, doc.Pairs("breakers", "llm"))
	assert.Empty(t, doc.Pairs("breakers", "llm", "chain"))
	assert.Equal(t, "written.yaml:3:24: no lease\n    3 |   search: {kind: tool, \"probe_timeout\": 0s}\n      |                        ^^^\n",
		doc.Faults(scenarios.Fault{Line: 3, Column: 24, Length: 3, Message: "no lease"}).Error())
}

// TestLoadBreakers reads settings without a world.
func TestLoadBreakers(t *testing.T) {
	lim := scenarios.DefaultLimits()
	s, err := scenarios.LoadBreakers("settings.yaml", []byte("breakers:\n  a: {kind: tool, guards: b, failure_threshold: 7}\n  m: {kind: model, primary: p, chain: [q]}\npolicies: [retries+breaker]\n"), lim)
	require.NoError(t, err)
	require.Len(t, s.Breakers, 2)
	assert.Equal(t, "b", s.Breakers[0].Guards)
	assert.Equal(t, 7, s.Breakers[0].Tool.FailureThreshold)
	assert.Equal(t, "q", s.Breakers[1].Model.Chain[0].Name)
	require.Len(t, s.Policies, 1)
	assert.Equal(t, s.Breakers, s.Policies[0].Breakers)
	for src, want := range map[string]string{
		"policies: [breaker]":                                                   "settings.yaml:1:1: there are no breakers; write one",
		"breakers: {a: {kind: tool, failure_threshold: -1}}":                    "failure_threshold is -1; it must not be negative",
		"breakers: {m: {kind: model}}":                                          "the model breaker m has no primary",
		"breakers: {m: {kind: model, primary: p, chain: [p]}}":                  "p is the primary; it cannot be its own backup",
		"breakers: {a: {kind: tool}}\npolicies: [{name: x, breakers: {b: {}}}]": `unknown breaker "b"`,
	} {
		_, err := scenarios.LoadBreakers("settings.yaml", []byte(src), lim)
		assert.ErrorContains(t, err, want)
	}
}
