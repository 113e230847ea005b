package report

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

func series(t *testing.T, events ...trace.Event) *Series {
	s := NewSeries()
	require.NoError(t, s.Event(&trace.Event{Kind: trace.Run, Run: &trace.RunInfo{Policy: "breaker"}}))
	for i := range events {
		require.NoError(t, s.Event(&events[i]))
	}
	return s
}

// TestSeries has each kind of event, at the edges of its second.
func TestSeries(t *testing.T) {
	const sec = time.Second
	s := series(t,
		trace.Event{T: 0, Kind: trace.Call, Call: 1, Target: "a"},
		trace.Event{T: sec - 1, Kind: trace.Call, Call: 2},
		trace.Event{T: sec - 1, Kind: trace.Admit, Call: 2, Target: "a"},
		trace.Event{T: sec, Kind: trace.Load, Target: "a", Busy: 2, Waiting: 3},
		trace.Event{T: sec, Kind: trace.Load, Target: "b", Busy: 1},
		trace.Event{T: sec, Kind: trace.Result, Call: 1, Outcome: trace.Success},
		trace.Event{T: sec, Kind: trace.Result, Call: 2, Outcome: trace.Failure},
		trace.Event{T: 3 * sec, Kind: trace.Load, Target: "a", Busy: 1},
		trace.Event{T: 3 * sec, Kind: trace.Refuse, Call: 3},
		trace.Event{T: 3 * sec, Kind: trace.Exhausted, Call: 4},
		trace.Event{T: 5 * sec, Kind: trace.End},
	)
	assert.Equal(t, []Bin{{Attempts: 2}, {Good: 1, Busy: 3, Queue: 3}, {Busy: 3, Queue: 3}, {Refused: 2, Busy: 2}, {Busy: 2}}, s.Bins)
	var b bytes.Buffer
	require.NoError(t, WriteSeries(&b, []*Series{s}))
	assert.Equal(t, "policy,second,width,attempts,goodput,refused,busy,waiting\n"+
		"breaker,0,1,2,0,0,0,0\nbreaker,1,1,0,1,0,3,3\nbreaker,2,1,0,0,0,3,3\nbreaker,3,1,0,0,2,2,0\nbreaker,4,1,0,0,0,2,0\n", b.String())
}

// TestLongSeries are counted in wider bins, and none is lost.
func TestLongSeries(t *testing.T) {
	for _, tt := range []struct {
		length, bin time.Duration
		bins        int
	}{
		{2*time.Hour - time.Second, time.Second, 7199},
		{2*time.Hour + 1, 10 * time.Second, 721},
		{144 * time.Hour, 10 * time.Minute, 864},
		{87600 * time.Hour, 24 * time.Hour, 3650},
	} {
		s := NewSeries()
		const n = 1000
		for i := range n {
			require.NoError(t, s.Event(&trace.Event{T: tt.length / n * time.Duration(i), Kind: trace.Call, Call: i + 1, Target: "a"}))
		}
		require.NoError(t, s.Event(&trace.Event{T: tt.length / 2 * 2, Kind: trace.Load, Target: "a", Busy: 7}))
		require.NoError(t, s.Event(&trace.Event{T: tt.length, Kind: trace.End}))
		sum, busy := 0, 0
		for _, b := range s.Bins {
			sum += b.Attempts
			busy = max(busy, b.Busy)
		}
		assert.Equal(t, n, sum, "%v", tt.length)
		assert.Equal(t, 7, busy, "%v", tt.length)
		assert.Equal(t, tt.bin, s.Bin, "%v", tt.length)
		assert.InDelta(t, tt.bins, len(s.Bins), 1, "%v", tt.length)
	}
}

// TestSeriesByTarget counts what is asked of each, and what its breaker turns away;
// not where there are many.
func TestSeriesByTarget(t *testing.T) {
	const sec = time.Second
	run := &trace.RunInfo{Targets: []trace.Target{{Name: "a"}, {Name: "b"}}, Breakers: []trace.Breaker{{Name: "guard", Tool: &trace.Tool{Guards: "b"}}, {Name: "llm", Model: &trace.Model{Primary: "a"}}}}
	events := trace.List{
		{T: 0, Kind: trace.Call, Call: 1, Target: "a"},
		{T: 0, Kind: trace.Admit, Call: 2, Target: "b", Breaker: "guard"},
		{T: sec, Kind: trace.Load, Target: "a", Busy: 2, Waiting: 3},
		{T: sec, Kind: trace.Result, Call: 2, Target: "b", Outcome: trace.Success},
		{T: sec, Kind: trace.Refuse, Call: 3, Breaker: "guard"},
		{T: sec, Kind: trace.Exhausted, Call: 4, Breaker: "llm"},
		{T: 3 * sec, Kind: trace.End},
	}
	play := func(run *trace.RunInfo) *Series {
		s := NewSeries()
		require.NoError(t, s.Event(&trace.Event{Kind: trace.Run, Run: run}))
		for i := range events {
			require.NoError(t, s.Event(&events[i]))
		}
		return s
	}
	s := play(run)
	assert.Equal(t, []Bin{{Attempts: 2}, {Good: 1, Refused: 2, Busy: 2, Queue: 3}, {Busy: 2, Queue: 3}}, s.Bins)
	require.Len(t, s.parts, 2)
	assert.Equal(t, []Bin{{Attempts: 1}, {Refused: 1, Busy: 2, Queue: 3}, {Busy: 2, Queue: 3}}, s.parts[0].Bins)
	assert.Equal(t, []Bin{{Attempts: 1}, {Good: 1, Refused: 1}, {}}, s.parts[1].Bins)
	run.Targets = append(run.Targets, trace.Target{Name: "c"}, trace.Target{Name: "d"}, trace.Target{Name: "e"})
	assert.Empty(t, play(run).parts)
}
