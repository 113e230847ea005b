package replay_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestVectors plays scripted scenarios whose events an independent
// implementation of the rules has given. Every event of the kinds that a vector
// lists must come, in that order, with every field as listed; events of other
// kinds and further fields are free.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/vectors/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 76)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := scenarios.Load(file, src, scenarios.DefaultLimits())
			require.NoError(t, err)
			want := readLines(t, strings.TrimSuffix(file, ".yaml")+".want.jsonl")
			kinds := map[any]bool{"admit": true, "refuse": true, "exhausted": true, "result": true, "transition": true,
				"switch": true, "peek": true, "operate": true, "end": true}
			var got []map[string]any
			for _, e := range decodeLines(t, record(t, s, &s.Policies[0])) {
				if kinds[e["event"]] {
					got = append(got, e)
				}
			}
			for i := range min(len(want), len(got)) {
				listed := map[string]any{}
				for k := range want[i] {
					listed[k] = got[i][k]
				}
				if !assert.Equal(t, want[i], listed, "event %d: %v", i+1, got[i]) {
					return
				}
			}
			assert.Len(t, got, len(want))
		})
	}
}

// record plays s under p and returns the validated trace as JSON Lines.
func record(t testing.TB, s *scenarios.Scenario, p *scenarios.Policy) []byte {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b)
	check := new(trace.Validator)
	_, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{check, w}})
	require.NoError(t, err)
	require.NoError(t, check.Done())
	require.NoError(t, w.Flush())
	return b.Bytes()
}

func readLines(t *testing.T, file string) []map[string]any {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return decodeLines(t, b)
}

func decodeLines(t *testing.T, b []byte) []map[string]any {
	t.Helper()
	var all []map[string]any
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		var m map[string]any
		require.NoError(t, json.Unmarshal(sc.Bytes(), &m))
		all = append(all, m)
	}
	return all
}
