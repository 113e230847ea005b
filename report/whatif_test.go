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
	"github.com/breakersim/breakersim/sim/trace"
)

// jsonLines is the record as files have it.
func jsonLines(t *testing.T, l trace.List) []byte {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	feed(t, l, w)
	require.NoError(t, w.Flush())
	return b.Bytes()
}

// departs is where the variant departs from the original.
func departs(t *testing.T, original, variant trace.List) *report.Departure {
	t.Helper()
	a := report.NewAlong(bytes.NewReader(jsonLines(t, original)))
	feed(t, variant, a)
	return a.First()
}

// TestAlong finds the first event that differs. The settings are not compared.
func TestAlong(t *testing.T) {
	other := toolRun
	other.Policy, other.Title = "another", strings.Repeat("a longer title ", 10_000)
	original := written(t, toolRun, toolText)
	for name, c := range map[string]struct{ was, is, original, variant string }{
		"none":                  {"", "", "", ""},
		"a field":               {"took=1s", "took=900ms", `{"t":2000000000,"event":"result","call":1,"target":"search","outcome":"success","took":1000000000,"breaker":"search","applied":true,"rule":"T2"}`, `{"t":2000000000,"event":"result","call":1,"target":"search","outcome":"success","took":900000000,"breaker":"search","applied":true,"rule":"T2"}`},
		"the variant ends":      {toolText[strings.Index(toolText, "11s call"):], "11s end states={\"search\":\"closed\"}", `{"t":11000000000,"event":"call","call":2,"to":"search","attempt":1}`, `{"t":11000000000,"event":"end","states":{"search":"closed"}}`},
		"the first but the run": {"1s call call=1", "2s call call=1", `{"t":1000000000,"event":"call","call":1,"to":"search","attempt":1}`, `{"t":2000000000,"event":"call","call":1,"to":"search","attempt":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			variant := written(t, other, strings.Replace(toolText, c.was, c.is, 1))
			first := departs(t, original, variant)
			if c.original == "" {
				assert.Nil(t, first)
				return
			}
			require.NotNil(t, first)
			assert.Equal(t, c.original, string(first.Original))
			assert.Equal(t, c.variant, string(first.Variant))
			assert.NotNil(t, departs(t, variant, original), "and the other way around")
		})
	}
	t.Run("the original is cut off", func(t *testing.T) {
		a := report.NewAlong(strings.NewReader("{}\n"))
		require.NoError(t, a.Event(&original[0]))
		assert.ErrorContains(t, a.Event(&original[1]), "reading the original's trace: EOF")
	})
}

// whatIfs are a variant that differs in many ways, and one that differs in none.
func whatIfs(t *testing.T) []report.WhatIf {
	original := measured(t, written(t, toolRun, toolText))
	more := original
	more.Attempts, more.Refused, more.WaitTotal, more.WaitP99, more.Breakers = 13, 0, original.WaitTotal+90*time.Second, original.WaitP99-time.Millisecond, nil
	tiny := original
	tiny.Calls, tiny.Attempts = 100_000, 100_000
	tinier := tiny
	tinier.Attempts++
	first := departs(t, written(t, toolRun, toolText), written(t, toolRun, strings.Replace(toolText, "until=45s would=timeout", "until=30s would=timeout", 1)))
	return []report.WhatIf{
		{Set: "breakers.search.recovery_duration=10s", Gone: []string{"patient", "no_retries"}, New: []string{"bold"}, Failures: []string{"mine.yaml:5: under breaker: expected harm from 1 to 1; it is 2"},
			Policies: []report.PolicyWhatIf{{Policy: "breaker", First: first, Original: original, Variant: more}, {Policy: "no-protection", Original: original, Variant: original}}},
		{Set: "seed=2", Policies: []report.PolicyWhatIf{{Policy: "breaker", First: first, Original: original, Variant: original}, {Policy: "retries", First: first, Original: tiny, Variant: tinier}},
			Gone: []string{}, New: []string{}, Failures: []string{}},
	}
}

func TestWhatIf(t *testing.T) {
	all := whatIfs(t)
	for name, draw := range map[string]func(*bytes.Buffer) error{
		"whatif-80.txt": func(b *bytes.Buffer) error { return report.WriteWhatIf(b, &all[0], report.TerminalOptions{}) },
		"whatif-40.txt": func(b *bytes.Buffer) error {
			return report.WriteWhatIf(b, &all[0], report.TerminalOptions{Width: 40, ASCII: true})
		},
		"whatif-same-80.txt": func(b *bytes.Buffer) error { return report.WriteWhatIf(b, &all[1], report.TerminalOptions{}) },
		"whatif.md":          func(b *bytes.Buffer) error { return report.WriteWhatIfMarkdown(b, "A <title>", all) },
		"whatif.json":        func(b *bytes.Buffer) error { return report.WriteWhatIfJSON(b, all) },
	} {
		var b bytes.Buffer
		require.NoError(t, draw(&b))
		golden(t, name, b.String())
	}
}

// TestWhatIfFits has no line wider than the terminal.
func TestWhatIfFits(t *testing.T) {
	all := whatIfs(t)
	for _, width := range []int{40, 50, 80, 200} {
		var b bytes.Buffer
		require.NoError(t, report.WriteWhatIf(&b, &all[0], report.TerminalOptions{Width: width}))
		assert.Contains(t, b.String(), "\nrefused ")
		for line := range strings.Lines(b.String()) {
			assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

// TestCaptionsOfDifferentWorlds has a variant whose target and seed are not the
// original's: each caption says what it is about.
func TestCaptionsOfDifferentWorlds(t *testing.T) {
	original, variant := toolRun, toolRun
	original.Seed, variant.Seed, variant.Policy = 1, 2, "breaker with servers"
	target := original.Targets[0]
	target.Capacity = &trace.Capacity{Servers: 4}
	variant.Targets = []trace.Target{target}
	var b bytes.Buffer
	picture, err := report.KindOf("timeline").Draw(&report.Results{Panels: []*report.History{historyOf(t, written(t, original, toolText)), historyOf(t, written(t, variant, toolText))}}, report.Look{})
	require.NoError(t, err)
	require.NoError(t, picture.WriteSVG(&b))
	for _, want := range []string{">search (tool breaker): opens after ", ">Under breaker with servers: search serves 4 at a time<", ">Virtual time · seed 1 or 2<"} {
		assert.Contains(t, b.String(), want)
	}
}
