package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/runs"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// TestSameBytes makes picture, tables, reasons and terminal again and again,
// with one processor and with two: the same file gives the same bytes.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for i, name := range scenarios.Names() {
		runs, many := 1, 50
		if testing.Short() {
			many = 5
		}
		if testing.Short() && i%8 > 0 || i%3 > 0 && name != "vanished-probe" && name != "innocent-backups" { // the pages of all are held by outputs
			continue
		}
		if name == "vanished-probe" || name == "innocent-backups" { // one of each kind, and short
			runs = many
		}
		want := everything(t, name)
		for k := range runs {
			runtime.GOMAXPROCS(1 + k%2)
			if !assert.True(t, bytes.Equal(want, everything(t, name)), "%s: run %d differs", name, k) {
				break
			}
		}
	}
}

// replayed is a scenario played under all its policies.
func replayed(t testing.TB, name string) *results {
	t.Helper()
	s, err := loadOne(name, nil, scenarios.DefaultLimits())
	require.NoError(t, err)
	r, err := runs.All(s, runs.InTurn)
	require.NoError(t, err)
	require.Empty(t, r.Failures)
	return &results{Runs: *r}
}

// everything is all that a scenario comes to but the PNG, which is drawn by the
// same code as the SVG, and the traces.
func everything(t *testing.T, name string) []byte {
	t.Helper()
	res := replayed(t, name)
	var b bytes.Buffer
	for i := range report.Kinds {
		d, err := report.Kinds[i].Draw(&res.Results, report.Look{})
		if errors.Is(err, report.ErrNothingToDraw) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, d.WriteSVG(&b))
	}
	require.NoError(t, report.WriteMarkdown(&b, res.Rows))
	require.NoError(t, report.WriteJSON(&b, res.Rows))
	require.NoError(t, res.print(&b, streams{in: new(bytes.Buffer), out: io.Discard, err: io.Discard, width: 80, color: true}, nil, "out"))
	return b.Bytes()
}
