package main

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// TestSameBytes makes picture, tables, reasons and terminal again and again,
// with one processor and with two: the same file gives the same bytes.
func TestSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, name := range scenarios.Names() {
		runs := 4
		if name == "vanished-probe" || name == "innocent-backups" { // one of each kind, and short
			runs = 100
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

// everything is all that a scenario comes to but the PNG, which is drawn by the
// same code as the SVG, and the traces.
func everything(t *testing.T, name string) []byte {
	t.Helper()
	s, err := loadOne(name, nil, scenarios.DefaultLimits())
	require.NoError(t, err)
	res := &results{scenario: s}
	for i := range s.Policies {
		history, meter := new(report.History), report.NewMeter()
		failures, err := replayOne(s, &s.Policies[i], meter, history)
		require.NoError(t, err)
		require.Empty(t, failures)
		res.panels = append(res.panels, history)
		res.rows = append(res.rows, report.Row{Policy: s.Policies[i].Name, Cost: meter.Cost()})
	}
	var b bytes.Buffer
	picture := &report.Timeline{Panels: res.panels}
	require.NoError(t, picture.WriteSVG(&b))
	require.NoError(t, report.WriteMarkdown(&b, res.rows))
	require.NoError(t, report.WriteJSON(&b, res.rows))
	require.NoError(t, res.print(&b, streams{in: new(bytes.Buffer), out: io.Discard, err: io.Discard, width: 80, color: true}, nil, "out"))
	return b.Bytes()
}
