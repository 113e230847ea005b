package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// unguarded is the tool's outage without a breaker.
func unguarded(t testing.TB) *report.History {
	run := toolRun
	run.Breakers, run.Policy, run.PolicyAbout = nil, "no-protection", "no breakers, no retries"
	return historyOf(t, written(t, run, `
5s call call=1 to=search target=search
6s result call=1 target=search outcome=success took=1s
11s call call=2 to=search target=search
21s result call=2 target=search outcome=timeout took=10s
30s call call=3 to=search target=search
31s result call=3 target=search outcome=rate_limit took=1s
50s call call=4 to=search target=search
51s result call=4 target=search outcome=cancelled took=1s
60s end states={}
`))
}

func drawn(t testing.TB, o report.TerminalOptions, panels ...*report.History) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.WriteTerminal(&b, panels, o))
	return b.String()
}

func TestTerminal(t *testing.T) {
	both := historyOf(t, written(t, vanishedRun, vanishedText))
	tool := historyOf(t, written(t, toolRun, toolText))
	model := historyOf(t, written(t, modelRun, modelText))
	golden(t, "terminal-both-80.txt", drawn(t, report.TerminalOptions{}, both))
	golden(t, "terminal-both-40.txt", drawn(t, report.TerminalOptions{Width: 40}, both))
	golden(t, "terminal-policies-100.txt", drawn(t, report.TerminalOptions{Width: 100}, tool, unguarded(t)))
	golden(t, "terminal-model-80.txt", drawn(t, report.TerminalOptions{Width: 80}, model))
	golden(t, "terminal-empty.txt", drawn(t, report.TerminalOptions{}, historyOf(t, written(t, toolRun, "0s end states={}"))))
	assert.Empty(t, drawn(t, report.TerminalOptions{}))
}

var ansi = regexp.MustCompile("\x1b\\[[0-9]+m")

// TestTerminalColor holds that colour says nothing that the glyphs do not.
func TestTerminalColor(t *testing.T) {
	both := historyOf(t, written(t, vanishedRun, vanishedText))
	plain, colored := drawn(t, report.TerminalOptions{}, both, unguarded(t)), drawn(t, report.TerminalOptions{Color: true}, both, unguarded(t))
	assert.NotContains(t, plain, "\x1b")
	assert.Contains(t, colored, "\x1b[31m")
	assert.Equal(t, plain, ansi.ReplaceAllString(colored, ""))
	assert.Equal(t, strings.Count(colored, "\x1b["), 2*strings.Count(colored, "\x1b[0m"), "every colour ends")
}

// TestTerminalFits draws runs from 1 ns to 95 years at every width: no line is wider,
// and no two labels of the axis touch.
func TestTerminalFits(t *testing.T) {
	for width := 40; width < 140; width += 3 {
		for end := time.Duration(1); end < 95*365*24*time.Hour; end = end*3 + 1 {
			run := toolRun
			run.Targets = []trace.Target{upAndDown(strings.Repeat("遮断器-", 8))}
			run.Breakers = []trace.Breaker{toolBreaker(run.Targets[0].Name)}
			run.PolicyAbout = strings.Repeat("about ", 40)
			h := historyOf(t, trace.List{{Kind: trace.Run, Run: &run}, {T: end, Kind: trace.End}})
			s := drawn(t, report.TerminalOptions{Width: width}, h, h)
			for line := range strings.Lines(s) {
				assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), width, line)
			}
			_, axis, _ := strings.Cut(s, "└")
			assert.NotRegexp(t, `(s|min|h)[0-9]`, axis, "%v at %d", end, width)
			assert.Regexp(t, `0 .*[1-9]`, axis, "%v at %d", end, width)
		}
	}
}
