package lint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/lint"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

var all = lint.Options{Limits: scenarios.DefaultLimits()}

// check looks at a file below testdata, which findings call by its base name.
func check(t *testing.T, path string) []lint.Finding {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	doc, err := lint.Check(filepath.Base(path), src, all)
	require.NoError(t, err, path)
	return doc.Findings
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// TestBad compares what is said of files that are deliberately bad. UPDATE=1
// rewrites it: read whether each is so before you believe it.
func TestBad(t *testing.T) {
	found := map[string]bool{}
	for _, path := range files(t, "bad") {
		var text strings.Builder
		for _, f := range check(t, path) {
			found[f.Rule.ID] = true
			fmt.Fprintf(&text, "%s:%d:%d: %s: %s\n  write %s\n", f.File, f.At.Line, f.At.Column, f.Rule.ID, f.At.Message, f.Instead)
		}
		golden := strings.TrimSuffix(path, ".yaml") + ".txt"
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(golden, []byte(text.String()), 0o666))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.NotEmpty(t, text.String(), path)
		assert.Equal(t, string(want), text.String())
	}
	for i := range lint.Rules {
		assert.True(t, found[lint.Rules[i].ID], "no bad file has %s", lint.Rules[i].ID)
	}
}

// TestGood: each bad file has a twin that is near it and has no finding.
func TestGood(t *testing.T) {
	for _, path := range files(t, "bad") {
		twin := filepath.Join("testdata", "good", filepath.Base(path))
		for _, f := range check(t, twin) {
			t.Errorf("%s:%d:%d: %s: %s", twin, f.At.Line, f.At.Column, f.Rule.ID, f.At.Message)
		}
	}
	assert.Len(t, files(t, "good"), len(files(t, "bad")))
}

// TestEmptyWorlds: breakers of the default settings have no finding.
func TestEmptyWorlds(t *testing.T) {
	doc, err := lint.Check("defaults.yaml", []byte("breakers:\n  search: {kind: tool}\n  llm: {kind: model, primary: opus, chain: [sonnet]}\n"), all)
	require.NoError(t, err)
	assert.Empty(t, doc.Findings)
}

// mentions are words of which one must be in the about of a built-in scenario
// that has the finding.
var mentions = map[string][]string{
	"no-lease":                     {"lease"},
	"lease-shorter-than-the-call":  {"lease"},
	"calls-outlast-the-cooldown":   {"echo", "old calls", "overhanging"},
	"threshold-zero":               {"threshold"},
	"minimum-never-reached":        {"minimum"},
	"window-forgets-the-outage":    {"window", "forget"},
	"backup-out-with-the-primary":  {"backups are down", "backup is spent", "hang", "backup is out with it"},
	"cooldown-outlives-the-outage": {"cooldown", "latch"},
	"retries-times-threshold":      {"ladder", "breaker outside hears", "before their breakers hear", "told of a call"},
	"one-call-opens-it":            {"attempt"},
	"hint-beyond-the-cap":          {"hour"},
	"fleet-in-step":                {"in step"},
	"one-breaker-for-many-hosts":   {"the same breaker", "A breaker for each host"},
	"anonymous-overhang":           {"anonymous"},
	"probation-without-limit":      {"probation"},
}

// TestLibrary: what is found in a built-in scenario is what it is told for.
func TestLibrary(t *testing.T) {
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		doc, err := lint.Check(name+".yaml", src, all)
		require.NoError(t, err, name)
		s, err := scenarios.Load(name, src, scenarios.DefaultLimits())
		require.NoError(t, err)
		for _, f := range doc.Findings {
			told := false
			for _, word := range mentions[f.Rule.ID] {
				told = told || strings.Contains(strings.Join(strings.Fields(s.About), " "), word)
			}
			assert.True(t, told, "%s:%d:%d: %s: %s; its about says nothing of it", name, f.At.Line, f.At.Column, f.Rule.ID, f.At.Message)
		}
	}
}

// TestScripts plays the script of every finding of the library and the bad
// files, with the whole cost table and the judge of traces.
func TestScripts(t *testing.T) {
	var found []lint.Finding
	for _, path := range files(t, "bad") {
		found = append(found, check(t, path)...)
	}
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		doc, err := lint.Check(name, src, all)
		require.NoError(t, err)
		found = append(found, doc.Findings...)
	}
	for i, f := range found {
		name := fmt.Sprintf("%d-%s", i, f.Rule.ID)
		s, err := scenarios.Load(name, f.Script(name), scenarios.DefaultLimits())
		require.NoError(t, err, string(f.Script(name)))
		assert.Equal(t, name, s.Name)
		require.Len(t, s.Policies, 2, name)
		for k := range s.Policies {
			p := &s.Policies[k]
			judge, meter := new(trace.Validator), report.NewMeter()
			failures, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{judge, meter}, Metric: func(metric string) (float64, bool) {
				cost := meter.Cost()
				return cost.Metric(metric)
			}})
			require.NoError(t, err)
			assert.NoError(t, judge.Done())
			assert.Empty(t, failures, "%s under %s", name, p.Name)
			assert.Positive(t, replay.Expectations(s, p), "%s expects nothing of %s", name, p.Name)
		}
	}
}

// TestChosen: only and except choose.
func TestChosen(t *testing.T) {
	src, err := os.ReadFile("testdata/bad/settings-alone.yaml")
	require.NoError(t, err)
	for _, c := range []struct {
		only, except []string
		want         []string
	}{
		{nil, nil, []string{"no-lease", "threshold-zero", "retries-times-threshold", "retries-times-threshold"}},
		{[]string{"no-lease"}, nil, []string{"no-lease"}},
		{nil, []string{"retries-times-threshold"}, []string{"no-lease", "threshold-zero"}},
		{[]string{"no-lease", "threshold-zero"}, []string{"no-lease"}, []string{"threshold-zero"}},
	} {
		doc, err := lint.Check("x.yaml", src, lint.Options{Limits: all.Limits, Only: c.only, Except: c.except})
		require.NoError(t, err)
		var ids []string
		for _, f := range doc.Findings {
			ids = append(ids, f.Rule.ID)
		}
		assert.Equal(t, c.want, ids)
	}
}

// TestOwnBackupExcepted: where it is not to be told as a finding, it is what is
// wrong with the file.
func TestOwnBackupExcepted(t *testing.T) {
	src, err := os.ReadFile("testdata/bad/its-own-backup.yaml")
	require.NoError(t, err)
	_, err = lint.Check("x.yaml", src, lint.Options{Limits: all.Limits, Only: []string{"no-lease"}})
	assert.ErrorContains(t, err, "x.yaml:9:9: opus is the primary; it cannot be its own backup")
}

func TestFind(t *testing.T) {
	r, err := lint.Find("no-lease")
	require.NoError(t, err)
	assert.Equal(t, "A lost probe wedges the breaker for good", r.Title)
	_, err = lint.Find("no-leese")
	assert.EqualError(t, err, `no finding is named "no-leese"; did you mean "no-lease"?`)
	_, err = lint.Find("everything")
	assert.ErrorContains(t, err, `no finding is named "everything"; they are no-lease, lease-shorter-than-the-call, `)
}

// TestMakesNoSense: wrong files are told of as everywhere else.
func TestMakesNoSense(t *testing.T) {
	for src, want := range map[string]string{
		"":                                "x.yaml:1:1: the file is empty",
		"breakers: {search: {kind: tol}}": "x.yaml:1:27: kind cannot be \"tol\"",
		"breakers: {search: {kind: tool, probe_timeout: 5}}":         "x.yaml:1:48: 5 has no unit; write 5s",
		"scenario: x\nbreakers: {search: {kind: tool}}\n":            "x.yaml:2:12: the breaker \"search\" guards no target",
		"policies: [breaker]":                                        "x.yaml:1:1: there are no breakers",
		"breakers: {m: {kind: model, primary: a, chain: [a]}}\nx: 1": "x.yaml:1:49: a is the primary",
	} {
		_, err := lint.Check("x.yaml", []byte(src), all)
		var faults *scenarios.Faults
		if assert.True(t, errors.As(err, &faults), src) {
			assert.Contains(t, faults.Error(), want)
		}
	}
}

// TestSpoiled takes lines out of files: whatever comes of it, it is said, or the
// file makes no sense.
func TestSpoiled(t *testing.T) {
	var sources []string
	for _, path := range files(t, "bad") {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		sources = append(sources, string(src))
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(rapid.SampledFrom(sources).Draw(t, "file"), "\n")
		out := rapid.IntRange(0, len(lines)-1).Draw(t, "without")
		src := strings.Join(lines[:out], "") + strings.Join(lines[out+1:], "")
		doc, err := lint.Check("x.yaml", []byte(src), all)
		var faults *scenarios.Faults
		if err != nil && !errors.As(err, &faults) {
			t.Fatalf("%v\n%s", err, src)
		}
		if err == nil {
			for _, f := range doc.Findings {
				if n := strings.Count(src, "\n") + 1; f.At.Line < 1 || f.At.Line > n || f.At.Column < 1 {
					t.Fatalf("%s stands at %d:%d of %d lines", f.Rule.ID, f.At.Line, f.At.Column, n)
				}
			}
		}
	})
}

// TestPresets: what is found of other libraries' defaults alone, without a world.
func TestPresets(t *testing.T) {
	found := map[string]string{}
	for _, p := range scenarios.Presets() {
		more := ""
		if p.Kind == "model" {
			more = ", primary: a, chain: [b]"
		}
		doc, err := lint.Check("x.yaml", fmt.Appendf(nil, "breakers:\n  api: {kind: %s, like: %s%s}\n", p.Kind, p.Name, more), all)
		require.NoError(t, err)
		for _, f := range doc.Findings {
			assert.Equal(t, [2]int{2, strings.Index("  api: {kind: tool, like", "like") + 1}, [2]int{f.At.Line, f.At.Column}, p.Name)
			found[p.Name] += f.Rule.ID + ": " + f.At.Message
		}
	}
	lost := "no-lease: api has no lease: one lost probe, and it refuses every call for good"
	assert.Equal(t, map[string]string{"failsafe-go": lost, "gobreaker": lost, "hystrix": lost, "opossum": lost, "polly": lost,
		"resilience4j": "no-lease: api has no lease: 10 lost probes, and it refuses every call for good"}, found)
}
