package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

// TestBuiltinSweeps reads all of them, and says how large they are.
func TestBuiltinSweeps(t *testing.T) {
	cells := map[string]int{"first-sweep": 33, "five-minute-outage": 64}
	require.Len(t, scenarios.SweepNames(), len(cells))
	for _, name := range scenarios.SweepNames() {
		p, src, err := (&sweepCmd{Sweep: name}).load(nil)
		require.NoError(t, err)
		assert.Equal(t, name, p.Sweep.Name)
		assert.NotEmpty(t, p.About)
		assert.NotEmpty(t, src)
		assert.Len(t, p.Cells, cells[name])
	}
	p, _, err := (&sweepCmd{Sweep: "five-minute-outage"}).load(nil)
	require.NoError(t, err)
	assert.Equal(t, 200, p.Replications)
	assert.Equal(t, "failure_threshold 3, recovery_duration 30s, breaker", p.Name(p.Reference()), "what the base has")
}

// TestSweepSchema: it names every key that the README's example has.
func TestSweepSchema(t *testing.T) {
	var schema struct {
		Title      string
		Properties map[string]any
		Required   []string
	}
	require.NoError(t, json.Unmarshal(scenarios.SweepSchema(), &schema))
	assert.Equal(t, "breakersim sweep", schema.Title)
	assert.Equal(t, []string{"sweep", "base", "axes"}, schema.Required)
	for _, key := range []string{"sweep", "title", "about", "base", "worlds", "axes", "reference", "policies", "replications", "seed", "metrics"} {
		assert.Contains(t, schema.Properties, key)
	}
}

// TestExamples prints the files for several machines.
func TestExamples(t *testing.T) {
	for _, e := range sweepExamples {
		text, err := examples.ReadFile("examples/" + e.file)
		require.NoError(t, err)
		assert.Contains(t, string(text), "breakersim sweep --example "+e.name+" > ", "it says where it comes from")
	}
}
