package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
)

func tableRows(t *testing.T) []report.Row {
	big := report.Cost{Calls: 3600, Attempts: 1234567, Succeeded: 3512, Failed: 88, Finished: 3600, WaitTotal: 1402*time.Hour + 12*time.Minute,
		WaitWasted: 72*time.Minute + 29*time.Second, WaitP50: 200 * time.Millisecond, WaitP99: 3213 * time.Millisecond, WaitMax: 2 * time.Minute}
	return []report.Row{
		{Policy: "breaker", Cost: measured(t, written(t, toolRun, toolText))},
		{Policy: "plain-retries", Cost: big},
		{Policy: "no-protection"},
		{Policy: "retries+breaker", Cost: measured(t, written(t, modelRun, modelText))},
	}
}

func TestTables(t *testing.T) {
	rows := tableRows(t)
	for name, draw := range map[string]func(*bytes.Buffer) error{
		"table-one-80.txt": func(b *bytes.Buffer) error { return report.WriteTable(b, rows[:1], report.TerminalOptions{}) },
		"table-one-60.txt": func(b *bytes.Buffer) error {
			return report.WriteTable(b, rows[:1], report.TerminalOptions{Width: 60, ASCII: true})
		},
		"table-four-80.txt": func(b *bytes.Buffer) error { return report.WriteTable(b, rows, report.TerminalOptions{}) },
		"table-four-60.txt": func(b *bytes.Buffer) error { return report.WriteTable(b, rows, report.TerminalOptions{Width: 60}) },
		"table-none.txt":    func(b *bytes.Buffer) error { return report.WriteTable(b, nil, report.TerminalOptions{}) },
		"table.md":          func(b *bytes.Buffer) error { return report.WriteMarkdown(b, rows) },
	} {
		var b bytes.Buffer
		require.NoError(t, draw(&b))
		golden(t, name, b.String())
	}
}

// TestTableNeverWider draws with long and wide names at every width.
func TestTableNeverWider(t *testing.T) {
	rows := tableRows(t)
	rows[1].Policy = strings.Repeat("a-long-name-", 5)
	rows[2].Policy = strings.Repeat("遮断器", 9)
	for width := 40; width < 160; width++ {
		var b bytes.Buffer
		require.NoError(t, report.WriteTable(&b, rows, report.TerminalOptions{Width: width, ASCII: width%2 == 1}))
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

// TestMarkdownEscapes keeps a name from breaking the table.
func TestMarkdownEscapes(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.WriteMarkdown(&b, []report.Row{{Policy: "a|b<c>{d}_e_\\f\ng"}}))
	head, _, _ := strings.Cut(b.String(), "\n")
	assert.Contains(t, head, `| a\|b\<c>\{d}\_e\_\\f g |`)
}

// TestWriteCSV has a line for each policy, and nothing where nothing is defined.
func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, report.WriteCSV(&b, []report.Row{{Policy: "a,b", Cost: report.Cost{Calls: 4, Attempts: 6, WaitTotal: 1500}}, {Policy: "none"}}))
	assert.Equal(t, "policy,calls,attempts,wasted_attempts,refused,exhausted,rerouted,succeeded,failed,unfinished,wait_total,wait_wasted,wait_p50,wait_p99,wait_max,"+
		"amplification,detect,recover,overshoot,openings,open_time,harm,burst,money,tokens\n"+
		"\"a,b\",4,6,0,0,0,0,0,0,0,1500,0,,,,1.5,,,,,,0,,,\n"+
		"none,0,0,0,0,0,0,0,0,0,0,0,,,,,,,,,,0,,,\n", b.String())
}
