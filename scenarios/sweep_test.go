package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beside opens the base of a sweep in a folder.
func beside(dir string) func(string) (string, []byte, error) {
	return func(name string) (string, []byte, error) {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", nil, fmt.Errorf("no file is named %q", name)
		}
		return name, src, nil
	}
}

// TestSweepFaults compares what is said of wrong sweep files. UPDATE=1 rewrites it.
func TestSweepFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/sweeps/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			_, err = LoadSweep(filepath.Base(file), src, DefaultLimits(), beside("testdata/sweeps"))
			require.Error(t, err)
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if os.Getenv("UPDATE") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(err.Error()), 0o666))
			}
			want, readErr := os.ReadFile(golden)
			require.NoError(t, readErr)
			assert.Equal(t, string(want), err.Error())
		})
	}
}

func loadSweep(t *testing.T, src string) *Sweep {
	t.Helper()
	s, err := LoadSweep("sweep.yaml", []byte(src), DefaultLimits(), beside("testdata/sweeps"))
	require.NoError(t, err)
	return s
}

func TestRanges(t *testing.T) {
	for of, want := range map[string]string{
		"{from: 5s, to: 2m, steps: 8, scale: log}": "5s 7.87s 12.4s 19.5s 30.7s 48.4s 1m16.2s 2m",
		"{from: 1s, to: 2s, steps: 3}":             "1s 1.5s 2s",
		"[200ms, 5s]":                              "200ms 5s",
	} {
		s := loadSweep(t, "sweep: a\nbase: base.yml\naxes: {breakers.search.recovery_duration: "+of+"}\n")
		assert.Equal(t, want, strings.Join(s.Axes[0].Values, " "))
	}
	s := loadSweep(t, "sweep: a\nbase: base.yml\naxes: {callers.agents.count: {from: 1, to: 100, steps: 5, scale: log}}\n")
	assert.Equal(t, "1 3 10 32 100", strings.Join(s.Axes[0].Values, " "), "whole between whole ends")
	s = loadSweep(t, "sweep: a\nbase: base.yml\naxes: {callers.agents.jitter: {from: 0, to: 0.5, steps: 3}}\n")
	assert.Equal(t, "0 0.25 0.5", strings.Join(s.Axes[0].Values, " "))
	for of, want := range map[string]string{
		"{from: 10%, to: 50%, steps: 3}":              "10% 30% 50%",
		"{from: 1 %, to: 100%, steps: 4, scale: log}": "1% 4.64% 21.5% 100%",
		"{from: 0%, to: 1%, steps: 5}":                "0% 0.25% 0.5% 0.75% 1%",
		"{from: 0.1, to: 0.5, steps: 3}":              "0.1 0.3 0.5",
	} {
		s := loadSweep(t, "sweep: a\nbase: base.yml\naxes: {breakers.search.recovery_jitter: "+of+"}\n")
		assert.Equal(t, want, strings.Join(s.Axes[0].Values, " "))
	}
}

// TestSettingsThatNeedEachOther: what makes no sense by itself may make some
// beside another world or axis, and what makes none beside it is found before
// anything is played.
func TestSettingsThatNeedEachOther(t *testing.T) {
	for _, c := range []struct{ sweep, want string }{
		{"axes: {breakers.search.window: [{calls: 10}, {time: 10s}], breakers.search.failure_rate: [10%, 50%]}", ""},
		{"worlds: {breakers.search.window: {calls: 10}, breakers.search.failure_rate: 50%}\naxes: {breakers.search.minimum_calls: [2, 5]}", ""},
		{"worlds: {breakers.search.window: {one_of: [{calls: 10}, {time: 10s}]}}\naxes: {breakers.search.failure_rate: [10%, 50%]}", ""},
		{"worlds: {breakers.search.window: {calls: 10}}\naxes: {breakers.search.minimum_calls: [2, 5]}", "sweep.yaml:3:10: breakers.search.window cannot be {calls: 10}: the window has nothing to open the breaker by"},
		{"worlds: {breakers.search.failure_rate: 50%}\naxes: {breakers.search.window: [{calls: 4}, {calls: 9}], breakers.search.minimum_calls: [4, 9]}",
			"sweep.yaml:4:93: the axis breakers.search.minimum_calls cannot be 9: minimum_calls is 9, and the window holds only 4"},
		{"worlds: {breakers.search.failure_rate: 50%}\naxes: {breakers.search.minimum_calls: [9, 4], breakers.search.window: [{calls: 9}, {calls: 4}]}",
			"sweep.yaml:4:47: window {calls: 4} does not go with the reference's values: minimum_calls is 9, and the window holds only 4"},
		{"axes: {breakers.search.probes: [2, 3], breakers.search.probe: [call, none]}", "sweep.yaml:3:40: probe none does not go with the reference's values: with probe: none there are no probes"},
		{"axes: {breakers.search.probe: [call, none], breakers.search.cancelled_probe: [hold, release]}", "sweep.yaml:3:45: cancelled_probe release does not go with probe none: with probe: none there are no probes"},
	} {
		_, err := LoadSweep("sweep.yaml", []byte("sweep: a\nbase: base.yml\n"+c.sweep+"\n"), DefaultLimits(), beside("testdata/sweeps"))
		if c.want == "" {
			assert.NoError(t, err, c.sweep)
			continue
		}
		assert.ErrorContains(t, err, c.want)
	}
}

// TestSweepScenario reads a sweep into the scenario of one of its cells.
func TestSweepScenario(t *testing.T) {
	s := loadSweep(t, `
sweep: mine
base: base.yml
worlds:
  callers.agents.count: 40
  targets.search.phases.0.at: {uniform: [1m, 2m]}
  targets.search.phases.0.outcome: {one_of: [failure, timeout]}
axes:
  breakers.search.recovery_duration: [5s, 20s]
  targets.search.phases.0.for: [1s, {lognormal: {p50: 4s, p99: 1m}}]
policies: [no-protection, {name: mine, retry: {attempts: 2}}]
reference: {breakers.search.recovery_duration: 20s}
`)
	assert.Equal(t, []int{1, 0}, s.Reference)
	assert.Equal(t, []SweepPolicy{{"no-protection", false}, {"mine", false}}, s.Policies, "an axis is of no breaker")
	assert.Equal(t, []string{"recovery_duration", "for"}, []string{s.Axes[0].Label, s.Axes[1].Label})
	assert.Equal(t, []World{{"targets.search.phases.0.outcome", []Choice{{"failure", 0.5}, {"timeout", 0.5}}}}, s.Worlds)
	got, err := s.Scenario([]int{1, 1}, []int{1})
	require.NoError(t, err)
	assert.Equal(t, 40, got.Callers[0].Count)
	assert.Equal(t, "20s", got.Breakers[0].Tool.RecoveryDuration.String())
	phase := got.Targets[0].Phases[0]
	assert.Equal(t, "uniform 1m to 2m", phase.DrawAt.String())
	assert.Equal(t, "lognormal, p50 4s, p99 1m", phase.DrawFor.String())
	assert.Equal(t, "timeout", phase.Mix.String())
}

// TestSetDrawnPhases changes distributions of phases from outside.
func TestSetDrawnPhases(t *testing.T) {
	src, err := os.ReadFile("testdata/sweeps/base.yml")
	require.NoError(t, err)
	for _, set := range [][2]string{
		{"targets.search.phases.0.at", "{uniform: [1m, 5m]}"}, {"targets.search.phases.0.for", "{lognormal: {p50: 4m, p99: 1h}}"}, {"targets.search.phases.0.for.lognormal.p99", "2h"},
	} {
		src, err = Set("base.yml", src, set[0], set[1])
		require.NoError(t, err)
	}
	s, err := load(string(src))
	require.NoError(t, err)
	phase := s.Targets[0].Phases[0]
	assert.Equal(t, "uniform 1m to 5m", phase.DrawAt.String())
	assert.Equal(t, "lognormal, p50 4m, p99 2h", phase.DrawFor.String())
}
