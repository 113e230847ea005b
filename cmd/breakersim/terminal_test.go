package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// printedScenarios have between them every lane, state, mark and kind of reason
// that a terminal shows.
var printedScenarios = []string{"bursts-and-drizzle", "exhausted-is-not-for-ever", "five-minute-outage", "flaky-backups", "herd-at-half-open", "hedged-tail", "interrupted-probe",
	"noisy-neighbour", "nothing-happens", "one-breaker-for-four", "overhanging-calls", "probation-trap", "sick-tool-has-a-substitute", "six-days-half-open", "vanished-probe"}

// TestTerminalGoldens prints scenarios in terminals of every kind, without the
// table. UPDATE=1 rewrites them; read what changes.
func TestTerminalGoldens(t *testing.T) {
	for _, name := range printedScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			r := outcomeOf(t, name)
			for _, o := range []report.TerminalOptions{{Width: 60}, {Width: 80}, {Width: 120}, {Width: 60, ASCII: true}, {Width: 80, ASCII: true}, {Width: 120, ASCII: true}} {
				characters := "unicode"
				if o.ASCII {
					characters = "ascii"
				}
				fmt.Fprintf(&got, "-- %d %s --\n", o.Width, characters)
				require.NoError(t, report.WriteTitle(&got, r.Scenario.Title, o))
				require.NoError(t, r.printTimeline(&got, o))
			}
			file := filepath.Join("testdata", "terminal", name+".txtar")
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
				require.NoError(t, os.WriteFile(file, got.Bytes(), 0o666))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

// outcomeOf is what came of a built-in scenario.
func outcomeOf(t *testing.T, name string) *results {
	t.Helper()
	src, found := scenarios.Source(name)
	require.True(t, found, name)
	s, err := scenarios.Load(name+".yaml", src, scenarios.DefaultLimits())
	require.NoError(t, err)
	f, err := openFolder(t.TempDir())
	require.NoError(t, err)
	defer f.discard()
	r, err := replayAll(s, f, make(slots, 2))
	require.NoError(t, err)
	return r
}

// TestRunPrintsASCII, and nothing else, where the terminal has nothing else; and
// it colours nothing unless it is told to.
func TestRunPrintsASCII(t *testing.T) {
	for _, ascii := range []bool{true, false} {
		var out bytes.Buffer
		args := []string{"run", "-o", t.TempDir(), "vanished-probe", "noisy-neighbour", "--set", "seed=2"}
		require.Equal(t, exitDone, run(args, streams{out: &out, err: &out, width: 60, ascii: ascii}))
		assert.Equal(t, !ascii, strings.ContainsFunc(out.String(), func(r rune) bool { return r > '~' }))
		assert.NotContains(t, out.String(), "\x1b")
	}
}

// environment is one as os.Getenv reads it.
func environment(pairs string) func(string) string {
	vars := map[string]string{}
	for _, p := range strings.Fields(pairs) {
		name, value, _ := strings.Cut(p, "=")
		vars[name] = value
	}
	return func(name string) string { return vars[name] }
}

func TestWantsColor(t *testing.T) {
	for env, want := range map[string]struct{ terminal, pipe bool }{
		"":                             {true, false},
		"TERM=xterm-256color":          {true, false},
		"TERM=dumb":                    {false, false},
		"NO_COLOR=1":                   {false, false},
		"NO_COLOR=":                    {true, false}, // by its own convention
		"FORCE_COLOR=1":                {true, true},
		"FORCE_COLOR=1 TERM=dumb":      {true, true},
		"FORCE_COLOR=0":                {false, false},
		"FORCE_COLOR=false":            {false, false},
		"NO_COLOR=1 FORCE_COLOR=1":     {false, false},
		"FORCE_COLOR= TERM=dumb":       {false, false},
		"COLORTERM=truecolor TERM=vt1": {true, false},
	} {
		assert.Equal(t, want.terminal, wantsColor(environment(env), true), "%q on a terminal", env)
		assert.Equal(t, want.pipe, wantsColor(environment(env), false), "%q in a pipe", env)
	}
}

func TestASCIIOnly(t *testing.T) {
	for env, want := range map[string]bool{
		"":                                   false, // Windows, most containers
		"LANG=en_GB.UTF-8":                   false,
		"LANG=C.utf8":                        false,
		"LANG=C":                             true,
		"LANG=POSIX":                         true,
		"LANG=de_DE.ISO-8859-1":              true,
		"LANG=de_DE":                         true,
		"LANG=en_GB.UTF-8 LC_ALL=C":          true,
		"LANG=C LC_ALL=en_GB.UTF-8":          false,
		"LANG=C LC_CTYPE=UTF-8":              false, // macOS
		"LANG=en_GB.UTF-8 LC_CTYPE=C":        true,
		"LANG=en_GB.UTF-8 LC_ALL= TERM=dumb": true,
	} {
		assert.Equal(t, want, asciiOnly(environment(env)), env)
	}
}

func TestWidth(t *testing.T) {
	for env, want := range map[string]int{"": 80, "COLUMNS=120": 120, "COLUMNS=0": 80, "COLUMNS=-5": 80, "COLUMNS=many": 80, "COLUMNS=999999999": 80} {
		assert.Equal(t, want, width(environment(env)), env)
	}
}
