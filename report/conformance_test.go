package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
)

// matrix has ours and two others, one of them with the marks of every format in
// its texts.
func matrix() *report.Matrix {
	yes := report.MatrixCell{Answer: report.ConformsYes, Why: "call 8 at 92 s was let through"}
	return &report.Matrix{
		About: "All open after 3 failures.",
		Breakers: []report.MatrixBreaker{
			{Name: "ours"},
			{Name: "gobreaker", Module: "example.org/gobreaker", Version: "v2.4.0", Note: "TwoStep.", Claims: `"One request." (https://example.org/a_b#c) Of the rest nothing.`, Cannot: []string{"no lease"}},
			{Name: "<b>|_odd_", Module: "example.org/odd", Version: "v0.0.0-20180502004556-fa1af6a1f4f5", Note: "<i>Note</i>.", Claims: "Nothing | at all."},
		},
		Rules: []report.MatrixRule{
			{ID: "T7", Title: "A vanished probe is given up", About: "It opens at 0 s.", Scenario: "t7.yaml", Picture: &report.PagePicture{File: "t7.svg", Alt: "bands", Width: 720, Height: 300}, Cells: []report.MatrixCell{
				yes,
				{Answer: report.ConformsNo, Why: "call 8 at 92 s was refused", Tried: []report.MatrixTried{
					{Name: "gobreaker+lease", Note: "Leased.", Answer: report.ConformsYes, Why: "let through"},
					{Name: "gobreaker-two", Note: "Two probes.", Answer: report.ConformsNo, Why: "let through too early"}}},
				{Answer: report.ConformsCannot, Why: "no probe came of it (T5)"},
			}},
			{ID: "T13a", Title: "Another call's success is ignored", About: "It opens.", Scenario: "t13-success.yaml", Cells: []report.MatrixCell{
				yes, yes,
				{Answer: report.ConformsNo, Why: "a <b>|</b> closed it", Tried: []report.MatrixTried{{Name: "odd+lease", Note: "Leased.", Answer: report.ConformsCannot, Why: "no probe"}}},
			}},
		},
	}
}

func TestMatrix(t *testing.T) {
	m := matrix()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"matrix-80.txt": func(b *bytes.Buffer) error { return m.WriteTerminal(b, report.TerminalOptions{}) },
		"matrix-40.txt": func(b *bytes.Buffer) error {
			return m.WriteTerminal(b, report.TerminalOptions{Width: 40, ASCII: true})
		},
		"matrix.md":   func(b *bytes.Buffer) error { return m.WriteMarkdown(b) },
		"matrix.html": func(b *bytes.Buffer) error { return m.WriteHTML(b) },
		"matrix.json": func(b *bytes.Buffer) error { return m.WriteJSON(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		golden(t, name, b.String())
	}
}

// TestMatrixNeverWider has breakers below each other where they do not fit.
func TestMatrixNeverWider(t *testing.T) {
	m := matrix()
	m.Breakers[1].Name = strings.Repeat("a-long-name-", 5)
	m.Breakers[2].Name = strings.Repeat("遮断器", 9)
	for width := 40; width < 130; width++ {
		var b bytes.Buffer
		require.NoError(t, m.WriteTerminal(&b, report.TerminalOptions{Width: width, ASCII: width%2 == 1}))
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), width, line)
		}
		assert.Equal(t, 2, strings.Count(b.String(), "NO"), "every cell is in one of the blocks")
	}
}
