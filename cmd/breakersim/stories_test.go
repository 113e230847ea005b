package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStories checks outages that people reported, with what each must come to,
// where their scripts are at hand.
func TestStories(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "stories")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("there is no ../shared here")
	}
	var out bytes.Buffer
	assert.Equal(t, exitDone, run([]string{"test", dir}, streams{in: new(bytes.Buffer), out: &out, err: &out, width: 80}), out.String())
}

// TestScriptsOfViolationsAreScenarios plays the scripts that exploring naive
// breakers gave, and draws one of them.
func TestScriptsOfViolationsAreScenarios(t *testing.T) {
	var out bytes.Buffer
	s := streams{in: new(bytes.Buffer), out: &out, err: &out, width: 80}
	dir := filepath.Join("..", "..", "machine", "check", "testdata")
	assert.Equal(t, exitDone, run([]string{"test", dir}, s), out.String())
	assert.Equal(t, exitDone, run([]string{"run", "-o", t.TempDir(), filepath.Join(dir, "no-lease-no-wedge.yaml")}, s), out.String())
}
