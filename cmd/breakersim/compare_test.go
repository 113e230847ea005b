package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestLibrariesPlayTheLibrary plays every scenario with a tool breaker under every
// library: it is played, and its record is valid, or the reason why not is told.
func TestLibrariesPlayTheLibrary(t *testing.T) {
	t.Parallel()
	whyNot := map[string]string{"sick-tool-has-a-substitute": "substitute", "hands-on": "api is forced open", "not-found-trips-the-server": "ignored sets counts",
		"a-share-of-slow-calls": "search sets slow_after", "flaps": "api sets recovery_growth"}
	cannot := map[string]bool{}
	played := 0
	for k, s := range toolScenarios(t) {
		for i := range foreign.Libraries {
			if foreign.Libraries[i].Of != "" && (testing.Short() || k%6 > 0) { // of the variants every sixth
				continue
			}
			check := new(trace.Validator)
			err := s.job(foreign.Libraries[i].Name).play(t, check)
			if errors.Is(err, replay.ErrCannot) {
				cannot[s.Name] = true
				require.Contains(t, whyNot, s.Name, "%v", err)
				assert.ErrorContains(t, err, whyNot[s.Name])
				continue
			}
			played++
			assert.NoError(t, errors.Join(err, check.Done()), "%s under %s", s.Name, foreign.Libraries[i].Name)
		}
	}
	assert.Len(t, cannot, len(whyNot))
	assert.Greater(t, played, 150)
}

// toolScenarios are the built-in ones that have a tool breaker.
func toolScenarios(t testing.TB) []match {
	t.Helper()
	all, err := new(compareCmd).matches(nil, scenarios.DefaultLimits())
	require.NoError(t, err)
	return all
}

func (s *match) job(breaker string) *bubbleJob {
	return &bubbleJob{File: s.File, Source: s.source, Limits: scenarios.DefaultLimits(), Policy: s.policy.Name, Breaker: breaker}
}

// TestComparedSameBytes plays a few scenarios under all libraries again and again:
// the traces are the same, byte for byte, on one processor and on two.
func TestComparedSameBytes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runs := 20
	if testing.Short() {
		runs = 3
	}
	for _, scenario := range []string{"vanished-probe", "stale-success", "herd-at-half-open", "overhanging-calls"} {
		s, err := (&compareCmd{Scenarios: []string{scenario}}).matches(nil, scenarios.DefaultLimits())
		require.NoError(t, err)
		for i := range foreign.Libraries {
			if scenario == "herd-at-half-open" && foreign.Libraries[i].Of != "" { // long
				continue
			}
			var first []byte
			for k := range runs {
				runtime.GOMAXPROCS(1 + k%2)
				var b bytes.Buffer
				w := trace.NewWriter(&b)
				require.NoError(t, s[0].job(foreign.Libraries[i].Name).play(t, w))
				require.NoError(t, w.Flush())
				if k == 0 {
					first = b.Bytes()
				}
				if !assert.True(t, bytes.Equal(first, b.Bytes()), "%s under %s: run %d differs", scenario, foreign.Libraries[i].Name, k) {
					break
				}
			}
		}
	}
}

// TestDepartures holds where each library departs from ours against goldens that
// were read by hand. UPDATE=1 rewrites them.
func TestDepartures(t *testing.T) {
	x := &comparison{limits: scenarios.DefaultLimits(), slots: make(slots, runtime.GOMAXPROCS(0))}
	require.NoError(t, x.choose([]string{"gobreaker", "gobreaker+lease", "failsafe-go", "failsafe-go-default", "failsafe-go+lease", "eapache", "hystrix-go", "rubyist", "bytedance"}))
	defer x.close()
	for _, scenario := range []string{"vanished-probe", "stale-success", "herd-at-half-open", "overhanging-calls", "late-failure"} {
		s, err := (&compareCmd{Scenarios: []string{scenario}}).matches(nil, scenarios.DefaultLimits())
		require.NoError(t, err)
		res, err := x.replay(&s[0], nil)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, report.WriteCompared(&b, res.compared, res.Panels[0].Clock, report.TerminalOptions{Width: 100}))
		path := filepath.Join("testdata", "departures", scenario+".txt")
		if os.Getenv("UPDATE") != "" {
			require.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), b.String(), scenario)
	}
}

// BenchmarkSixDays plays six virtual days with 50,000 calls under all main
// libraries, as breakersim compare does but for the pictures.
func BenchmarkSixDays(b *testing.B) {
	s, err := (&compareCmd{Scenarios: []string{"six-days-half-open"}}).matches(nil, scenarios.DefaultLimits())
	require.NoError(b, err)
	for b.Loop() {
		x := &comparison{limits: scenarios.DefaultLimits(), slots: make(slots, runtime.GOMAXPROCS(0))}
		require.NoError(b, x.choose(nil))
		_, err := x.replay(&s[0], nil)
		x.close()
		require.NoError(b, err)
	}
}
