package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/lint"
)

// TestSARIF holds what is written against the properties that SARIF 2.1.0
// requires or bounds; OASIS's own schema of them is 112 kB.
func TestSARIF(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	require.NoError(t, os.Mkdir(dir, 0o777))
	t.Chdir(filepath.Dir(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "50%.yaml"), []byte("breakers:\n  search: {kind: tool, probe_timeout: 0s, failure_threshold: 2}\n  never: {kind: tool, failure_threshold: 0}\n"), 0o666))
	var out bytes.Buffer
	require.Equal(t, exitFailed, run([]string{"lint", "--format", "sarif", "a b", "retry-after-an-hour"}, streams{out: &out, err: &out, width: 80}))

	var log sarifLog
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&log))
	assert.Equal(t, "2.1.0", log.Version)
	require.Len(t, log.Runs, 1)
	r := &log.Runs[0]
	assert.Equal(t, "breakersim", r.Tool.Driver.Name)
	assert.Equal(t, "unicodeCodePoints", r.ColumnKind)
	require.Len(t, r.Tool.Driver.Rules, len(lint.Rules))
	ids := map[string]bool{}
	for _, rule := range r.Tool.Driver.Rules {
		assert.False(t, ids[rule.ID], "%s is there twice", rule.ID)
		ids[rule.ID] = true
		assert.NotEmpty(t, rule.ShortDescription.Text+rule.FullDescription.Text+rule.Help.Text)
	}
	var places []string
	for _, f := range r.Results {
		assert.Equal(t, f.RuleID, r.Tool.Driver.Rules[f.RuleIndex].ID)
		assert.Contains(t, []string{"none", "note", "warning", "error"}, f.Level)
		assert.NotEmpty(t, f.Message.Text)
		require.Len(t, f.Locations, 1)
		at := f.Locations[0].Physical
		assert.Positive(t, at.Region.StartLine)
		assert.Positive(t, at.Region.StartColumn)
		assert.Greater(t, at.Region.EndColumn, at.Region.StartColumn)
		u, err := url.Parse(at.Artifact.URI)
		require.NoError(t, err)
		assert.Empty(t, u.Scheme)
		places = append(places, f.RuleID+" "+u.Path)
	}
	assert.Equal(t, []string{"no-lease a b/50%.yaml", "threshold-zero a b/50%.yaml", "hint-beyond-the-cap retry-after-an-hour.yaml", "retries-times-threshold retry-after-an-hour.yaml"}, places)
}

// findingTable is the README's.
func findingTable() string {
	table := "| finding | what goes wrong | instead |\n|---|---|---|\n"
	for i := range lint.Rules {
		r := &lint.Rules[i]
		table += "| `" + r.ID + "` | " + r.Title + " | " + r.Instead + " |\n"
	}
	return table
}
