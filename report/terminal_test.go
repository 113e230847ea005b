package report_test

import (
	"bytes"
	"fmt"
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
	golden(t, "terminal-both-80-ascii.txt", drawn(t, report.TerminalOptions{ASCII: true}, both))
	golden(t, "terminal-policies-100.txt", drawn(t, report.TerminalOptions{Width: 100}, tool, unguarded(t)))
	golden(t, "terminal-model-80.txt", drawn(t, report.TerminalOptions{Width: 80}, model))
	golden(t, "terminal-empty.txt", drawn(t, report.TerminalOptions{}, historyOf(t, written(t, toolRun, "0s end states={}"))))
	assert.Empty(t, drawn(t, report.TerminalOptions{}))
	alone := drawn(t, report.TerminalOptions{NoMoments: true}, both)
	assert.NotContains(t, alone, "moments")
	assert.Contains(t, alone, "\nbreaker ─██████ open ██████◆")
}

// TestTerminalTellsWhatFailsInPart from what is up and what is out, and explains
// it only where it is.
func TestTerminalTellsWhatFailsInPart(t *testing.T) {
	for name, x := range map[string]struct {
		segments []trace.Segment
		row      string
		legend   bool
	}{
		"in part":        {[]trace.Segment{{Success: 1}, {At: sec(10), Success: 0.5}, {At: sec(20)}, {At: sec(30), Success: 1}}, `^a +·+:+░+·+\n`, true},
		"always":         {[]trace.Segment{{Success: 0.1}}, `^a +:+\n`, true},
		"after the end":  {[]trace.Segment{{Success: 1}, {At: sec(40), Success: 0.5}}, `^a +·+\n`, false},
		"up or out":      {[]trace.Segment{{Success: 1}, {At: sec(20)}}, `^a +·+░+\n`, false},
		"a short moment": {[]trace.Segment{{Success: 1}, {At: sec(20), Success: 0.5}, {At: sec(20) + 1, Success: 1}}, `^a +·+:·+\n`, true},
	} {
		run := trace.RunInfo{Targets: []trace.Target{{Name: "a", Segments: x.segments}}}
		s := drawn(t, report.TerminalOptions{}, historyOf(t, written(t, run, "0s call call=1 to=a target=a\n0s result call=1 target=a outcome=success took=0s\n40s end states={}")))
		assert.Regexp(t, x.row, s, name)
		assert.Equal(t, x.legend, strings.Contains(s, ": fails in part"), name)
	}
}

// TestTerminalWrapsAPolicysWords with a hanging indent, and fills the line with a
// rule if there is one line only.
func TestTerminalWrapsAPolicysWords(t *testing.T) {
	for about, want := range map[string]string{
		"short":                     "── p: short " + strings.Repeat("─", 68) + "\n",
		strings.Repeat("word ", 16): "── p:" + strings.Repeat(" word", 15) + "\n   word\n",
		strings.Repeat("遮", 60):     "── p:\n   " + strings.Repeat("遮", 38) + "\n   " + strings.Repeat("遮", 22) + "\n",
	} {
		run := trace.RunInfo{Policy: "p", PolicyAbout: about}
		h := historyOf(t, written(t, run, "1s end states={}"))
		assert.Contains(t, drawn(t, report.TerminalOptions{}, h, h), want)
	}
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
	var told, coloredTold bytes.Buffer
	require.NoError(t, report.WriteMoments(&told, []*report.History{both}, report.TerminalOptions{}))
	require.NoError(t, report.WriteMoments(&coloredTold, []*report.History{both}, report.TerminalOptions{Color: true}))
	assert.Contains(t, coloredTold.String(), "closed → \x1b[31mopen\x1b[0m  ")
	assert.Equal(t, told.String(), ansi.ReplaceAllString(coloredTold.String(), ""))
}

// TestTerminalShowsHowMany calls there are, by outcome, where one lane would hide
// too many.
func TestTerminalShowsHowMany(t *testing.T) {
	call := "%[1]dms call call=%[2]d to=search target=search\n%[1]dms result call=%[2]d target=search outcome=%[3]s took=0s\n"
	var text strings.Builder
	for i := range 70 { // seven at each second, of which one fails
		outcome := trace.Success
		if i%7 == 6 {
			outcome = trace.Failure
		}
		fmt.Fprintf(&text, call, i/7*1000, i+1, outcome)
	}
	run := toolRun
	run.Breakers = nil
	s := drawn(t, report.TerminalOptions{Width: 48}, historyOf(t, written(t, run, text.String()+"10s end states={}")))
	assert.Contains(t, s, "\nserved     ▇  ▇   ▇   ▇  ▇   ▇   ▇  ▇   ▇   ▇\n")
	assert.Contains(t, s, "\nfailed     ▂  ▂   ▂   ▂  ▂   ▂   ▂  ▂   ▂   ▂\n")
	assert.Contains(t, s, "\n▁▇ 1 to 6 calls in a cell of 270 ms\n")
	s = drawn(t, report.TerminalOptions{Width: 48}, historyOf(t, written(t, run, fmt.Sprintf(call, 0, 1, trace.Success)+fmt.Sprintf(call, 0, 2, trace.Failure)+"10s end states={}")))
	assert.Contains(t, s, "\ncalls   x\n", "of two the worse")
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
