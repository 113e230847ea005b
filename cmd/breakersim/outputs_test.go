package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

// TestOutputs holds the committed pictures and tables against what the code
// makes today. UPDATE=1 makes them anew, as breakersim run -o outputs does: look
// at what changed before you commit it.
func TestOutputs(t *testing.T) {
	t.Parallel()
	committed := filepath.Join("..", "..", "outputs")
	if os.Getenv("UPDATE") != "" {
		require.Equal(t, exitDone, runIn(t, committed))
		return
	}
	if testing.Short() {
		t.Skip("draws the whole library")
	}
	fresh := t.TempDir()
	require.Equal(t, exitDone, runIn(t, fresh))
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"README.md", "timeline.svg", "timeline-dark.svg", "cost.md", "cost.json", "cost.csv"} {
				want, err := os.ReadFile(filepath.Join(committed, name, file))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(fresh, name, file))
				require.NoError(t, err)
				assert.True(t, bytes.Equal(want, got), "outputs/%s/%s is not what the code makes; UPDATE=1 rewrites it", name, file)
			}
			want, got := readPNG(t, filepath.Join(committed, name, "timeline.png")), readPNG(t, filepath.Join(fresh, name, "timeline.png"))
			require.Equal(t, want.Bounds(), got.Bounds())
			assert.LessOrEqual(t, furthest(want, got), 1, "outputs/%s/timeline.png is not what the code draws; UPDATE=1 rewrites it", name)
		})
	}
}

// TestComparedOutputs holds the committed matrix of breakers and rules against
// the program. UPDATE=1 rewrites it.
func TestComparedOutputs(t *testing.T) {
	committed, fresh := filepath.Join("..", "..", "outputs"), t.TempDir()
	if os.Getenv("UPDATE") != "" {
		fresh = committed
	}
	require.Equal(t, exitDone, run([]string{"compare", "--conformance", "-o", fresh}, streams{in: new(bytes.Buffer), out: new(bytes.Buffer), err: new(bytes.Buffer), width: 80}))
	want, err := os.ReadDir(filepath.Join(committed, "compare"))
	require.NoError(t, err)
	got, err := os.ReadDir(filepath.Join(fresh, "compare"))
	require.NoError(t, err)
	require.Equal(t, len(got), len(want), "files in outputs/compare")
	for _, file := range got {
		want, err := os.ReadFile(filepath.Join(committed, "compare", file.Name()))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(fresh, "compare", file.Name()))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, got), "outputs/compare/%s is not what the program writes; UPDATE=1 rewrites it", file.Name())
	}
}

func runIn(t *testing.T, dir string) int {
	t.Helper()
	var out, errs bytes.Buffer
	code := run([]string{"run", "-o", dir}, streams{in: new(bytes.Buffer), out: &out, err: &errs, width: 80})
	if code != exitDone {
		t.Log(out.String(), errs.String())
	}
	return code
}

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	return img
}
