package sweep_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/sweep"
)

// small has two axes, a policy that they do not change, and worlds of two kinds.
const small = `
sweep: small
base: base
worlds:
  targets.search.phases.0.at: {uniform: [5s, 20s]}
  targets.search.phases.0.for: {lognormal: {p50: 10s, p99: 1m}}
  targets.search.phases.0.outcome: {one_of: {timeout: 0.7, failure: 0.3}}
axes:
  breakers.search.failure_threshold: [1, 3]
  breakers.search.recovery_duration: {from: 2s, to: 30s, steps: 3, scale: log}
policies: [breaker, retries+breaker, no-protection]
replications: 45
metrics: [wait_wasted, overshoot]
`

const base = `
scenario: base
duration: 90s
breakers: {search: {kind: tool}}
targets: {search: {latency: {exponential: 200ms}, phases: [{at: 10s, for: 20s, outcome: timeout}]}}
callers: [{name: agents, count: 4, to: search, every: 3s, jitter: 0.5, timeout: 2s}]
`

// plan is that of a sweep file.
func plan(t testing.TB, src string) *sweep.Plan {
	t.Helper()
	s, err := scenarios.LoadSweep("sweep.yaml", []byte(src), scenarios.DefaultLimits(), func(string) (string, []byte, error) { return "base.yaml", []byte(base), nil })
	require.NoError(t, err)
	return sweep.NewPlan(s)
}

type meter struct{ *report.Meter }

func (m meter) Metric(name string) (float64, bool) {
	c := m.Cost()
	return c.Metric(name)
}

func newMeter() sweep.Meter { return meter{report.NewMeter()} }

// record plays a plan and returns its record. It ends early after stop rows.
func record(t testing.TB, p *sweep.Plan, src string, o sweep.Options, stop int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := sweep.NewWriter(&b, p, sweep.NewHeader(p, "v1", []byte(src), o.Shard, o.Precision))
	require.NoError(t, err)
	play(t, p, o, w, stop)
	return b.String()
}

func play(t testing.TB, p *sweep.Plan, o sweep.Options, w *sweep.Writer, stop int) {
	t.Helper()
	o.Meter = newMeter
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	require.NoError(t, p.Play(ctx, o, func(r *sweep.Row, _ sweep.Progress) error {
		if n++; n == stop {
			cancel()
		}
		return w.Row(r)
	}))
	if ctx.Err() != nil {
		require.NoError(t, w.Flush())
		return
	}
	require.NoError(t, w.Close())
}

// TestCells: the last axis changes fastest, and a policy without breakers has
// one cell where all the axes are of breakers.
func TestCells(t *testing.T) {
	p := plan(t, small)
	require.Len(t, p.Cells, 13)
	assert.Equal(t, "failure_threshold 1, recovery_duration 2s, breaker", p.Name(0))
	assert.Equal(t, "failure_threshold 1, recovery_duration 7.75s, retries+breaker", p.Name(3))
	assert.Equal(t, "failure_threshold 3, recovery_duration 30s, retries+breaker", p.Name(11))
	assert.Equal(t, "no-protection", p.Name(12))
	assert.Equal(t, "failure_threshold 1, recovery_duration 7.75s, breaker", p.Name(p.Reference()), "the middle, or what is just before it")
	var names []string
	for _, m := range p.Metrics {
		names = append(names, m.Name)
	}
	assert.Equal(t, []string{"wait_wasted", "overshoot", "wasted_attempts", "failed"}, names, "those of the front are always measured")
}

// TestSameBytes: whatever the workers, the shards and the interruptions.
func TestSameBytes(t *testing.T) {
	for _, precision := range []float64{0, 0.2} {
		t.Run(fmt.Sprint(precision), func(t *testing.T) {
			src := small
			if precision > 0 {
				src = strings.Replace(small, "replications: 45", "replications: 10", 1)
			}
			want := record(t, plan(t, src), src, sweep.Options{Workers: 1, Precision: precision}, 0)
			for _, workers := range []int{2, 16} {
				same(t, want, record(t, plan(t, src), src, sweep.Options{Workers: workers, Precision: precision}, 0), "%d workers", workers)
			}
			for _, n := range []int{1, 7} {
				var shards []string
				for i := range n {
					shards = append(shards, record(t, plan(t, src), src, sweep.Options{Workers: 2, Precision: precision, Shard: sweep.Shard{I: i + 1, N: n}}, 0))
				}
				got, err := merged(shards)
				require.NoError(t, err)
				same(t, want, got, "%d shards", n)
			}
			for _, stop := range []int{1, 100} {
				torn := record(t, plan(t, src), src, sweep.Options{Workers: 2, Precision: precision}, stop) + `{"cell":1,"sett`
				same(t, want, resumed(t, torn, precision), "stopped after %d rows", stop)
			}
		})
	}
}

// same compares records, and shows the first line that differs.
func same(t *testing.T, want, got, format string, a ...any) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if !assert.Equal(t, w[i], g[i], "line %d, %s", i+1, fmt.Sprintf(format, a...)) {
			return
		}
	}
	assert.Len(t, g, len(w), format, a)
}

// merged puts records of shards together.
func merged(records []string) (string, error) {
	var parts []sweep.Part
	for i, text := range records {
		r, err := sweep.NewReader(strings.NewReader(text))
		if err != nil {
			return "", err
		}
		parts = append(parts, sweep.Part{Name: fmt.Sprintf("part%d", i+1), Reader: r})
	}
	p, h, each, err := sweep.Merge(parts)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	w, err := sweep.NewWriter(&b, p, h)
	if err != nil {
		return "", err
	}
	if err := each(w.Row); err != nil {
		return "", err
	}
	err = w.Close()
	return b.String(), err
}

// resumed goes on with a record that was cut off.
func resumed(t *testing.T, torn string, precision float64) string {
	t.Helper()
	r, err := sweep.NewReader(strings.NewReader(torn))
	require.NoError(t, err)
	p, err := r.Plan()
	require.NoError(t, err)
	r.For(p)
	// The rows are read first: only then is it known where the record ends.
	var rows []*sweep.Row
	for {
		row, err := r.Next()
		require.NoError(t, err)
		if row == nil {
			break
		}
		rows = append(rows, row)
	}
	b := bytes.NewBufferString(torn[:r.Offset()])
	play(t, p, sweep.Options{Workers: 2, Precision: precision, Kept: func() (*sweep.Row, error) {
		if len(rows) == 0 {
			return nil, nil
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	}}, sweep.ContinueWriter(b, p, r.Rows()), 0)
	return b.String()
}

// TestMergeRefuses says what does not go together, and why.
func TestMergeRefuses(t *testing.T) {
	shard := func(src, version, of string, precision float64) string {
		s, err := sweep.ParseShard(of)
		require.NoError(t, err)
		p := plan(t, src)
		text := record(t, p, src, sweep.Options{Shard: s, Precision: precision}, 0)
		return strings.Replace(text, `"version":"v1"`, `"version":"`+version+`"`, 1)
	}
	few := strings.Replace(small, "replications: 45", "replications: 2", 1)
	one, two := shard(few, "v1", "1/2", 0), shard(few, "v1", "2/2", 0)
	whole := record(t, plan(t, few), few, sweep.Options{}, 0)
	cut := two[:strings.LastIndexByte(strings.TrimSuffix(two, "\n"), '\n')+1]
	for name, tt := range map[string]struct {
		parts []string
		want  string
	}{
		"nothing":    {nil, "there is nothing to merge"},
		"gap":        {[]string{two}, "of 2 shards one is missing: 1; play them with --shard I/2"},
		"overlap":    {[]string{one, two, one}, "shard 1 of 2 is there twice: in part1 and in part3"},
		"versions":   {[]string{one, shard(few, "v2", "2/2", 0)}, "part1 was made by breakersim v1, and part2 by v2"},
		"files":      {[]string{one, shard(few+"seed: 2\n", "v1", "2/2", 0)}, "two states of the sweep small"},
		"sweeps":     {[]string{one, shard(strings.Replace(few, "sweep: small", "sweep: other", 1), "v1", "2/2", 0)}, "part1 is of the sweep small, and part2 of other"},
		"divisions":  {[]string{one, shard(few, "v1", "2/3", 0)}, "part1 is one of 2 shards, and part2 one of 3"},
		"precisions": {[]string{one, shard(few, "v1", "2/2", 0.5)}, "part1 was played with a precision of none, and part2 with 50%"},
		"whole":      {[]string{whole}, "part1 is of the whole sweep"},
		"unfinished": {[]string{one, cut[:len(cut)-10]}, "part2 is not done: replication 1 of"},
		"no end":     {[]string{one, cut}, "part2 is not done; finish it with --resume"},
		"another's":  {[]string{strings.Replace(two, `"2/2"`, `"1/2"`, 1), strings.Replace(one, `"1/2"`, `"2/2"`, 1)}, "not in the order"},
		"no record":  {[]string{"hello\n"}, "this is no record of a sweep"},
		"format":     {[]string{strings.Replace(one, `"format":1`, `"format":2`, 1)}, "the record has the format 2; this version of the program reads 1"},
		"no row":     {[]string{one, strings.Replace(two, `{"cell"`, `{cell`, 1)}, "part2: line 2 is no row"},
		"a cell":     {[]string{one, strings.Replace(two, `{"cell":`, `{"cell":99`, 1)}, "part2: line 2 is of no cell of the sweep"},
		"count":      {[]string{one, strings.Replace(two, `{"end":`, `{"end":1`, 1)}, "and says that there are"},
	} {
		_, err := merged(tt.parts)
		assert.ErrorContains(t, err, tt.want, name)
	}
}

// TestShards: no shard has two cells more than another one.
func TestShards(t *testing.T) {
	for text, want := range map[string]string{"0/3": "count from 1 to 3", "4/3": "count from 1 to 3", "1": "is no shard", "a/b": "is no shard", "1/0": "is no shard"} {
		_, err := sweep.ParseShard(text)
		assert.ErrorContains(t, err, want, text)
	}
	few := strings.Replace(small, "replications: 45", "replications: 2", 1)
	p := plan(t, few)
	for n := 1; n <= 13; n++ {
		total := 0
		for i := range n {
			runs := 0
			require.NoError(t, p.Play(context.Background(), sweep.Options{Meter: newMeter, Shard: sweep.Shard{I: i + 1, N: n}}, func(*sweep.Row, sweep.Progress) error { runs++; return nil }))
			assert.InDelta(t, 26.0/float64(n), float64(runs), 2, "shard %d of %d", i+1, n)
			total += runs
		}
		assert.Equal(t, 26, total, "%d shards", n)
	}
}
