package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestSteps has seven seconds of which the last is cut, and one bin at the end.
func TestSteps(t *testing.T) {
	const sec = time.Second
	s := &Series{Bin: sec}
	for k := range 7 {
		s.Bins = append(s.Bins, Bin{Attempts: k, Good: 1, Refused: 2, Busy: k, Queue: 7 - k})
	}
	s.Bins = append(s.Bins, Bin{Attempts: 100}) // at the very end, 7 s
	assert.Equal(t, []loadStep{{0, 2 * sec, 0.5, 1, 2, 1, 7}, {2 * sec, 4 * sec, 2.5, 1, 2, 3, 5}, {4 * sec, 6 * sec, 4.5, 1, 2, 5, 3}, {6 * sec, 7 * sec, 6, 1, 2, 6, 1}},
		stepsOf(s, 2*sec, 0, 7*sec, 7*sec))
	assert.Equal(t, []loadStep{{3 * sec, 4 * sec, 2.5, 1, 2, 3, 5}, {4 * sec, 5 * sec, 4.5, 1, 2, 5, 3}}, stepsOf(s, 2*sec, 3*sec, 5*sec, 7*sec), "a stretch cuts steps, not their means")
	assert.Equal(t, []loadStep{{0, 500 * time.Millisecond, 0, 1, 2, 0, 7}}, stepsOf(s, sec, 0, 500*time.Millisecond, 500*time.Millisecond), "a run of half a second")
}

func TestWidestStep(t *testing.T) {
	wide := &Series{Bin: time.Minute}
	for _, tt := range []struct {
		span time.Duration
		all  []*Series
		want time.Duration
	}{
		{time.Minute, []*Series{{Bin: time.Second}}, time.Second},
		{5 * time.Minute, []*Series{{Bin: time.Second}}, 2 * time.Second},
		{time.Hour, []*Series{{Bin: time.Second}}, 30 * time.Second},
		{time.Hour, []*Series{{Bin: time.Second}, wide}, time.Minute},
	} {
		assert.Equal(t, tt.want, widestStep(tt.all, tt.span, 600), "%v", tt.span)
	}
}

func TestRates(t *testing.T) {
	for most, want := range map[float64]string{1234.4: "1,234/s", 99.6: "99.6/s", 4.567: "4.57/s", 1: "1/s", 0.5: "30/min", 0.01: "36/h", 1e-4: "8.64/day", 1e-9: "0.0000864/day", 0: "0"} {
		assert.Equal(t, want, rateFor(most).text(most), "%v", most)
	}
}

// textsOf is what a chart writes.
func textsOf(t *testing.T, kind string, r *Results, look Look) (all []string) {
	t.Helper()
	d, err := KindOf(kind).Draw(r, look)
	require.NoError(t, err)
	for _, w := range chartPen(d).texts {
		all = append(all, w.text)
	}
	return all
}

// TestLoadOfAStretch draws ten seconds of two minutes.
func TestLoadOfAStretch(t *testing.T) {
	r := countedWorlds(t)["one policy"]
	all := textsOf(t, "load", r, Look{From: 40 * time.Second, To: 50 * time.Second})
	assert.Subset(t, all, []string{"40 s", "45 s", "50 s", "peaks: 7/s attempts · 3/s good · 0 turned away · 7 waiting", "outage of a target"})
	assert.NotContains(t, all, "0 s")
	assert.NotContains(t, all, "60 s")
	assert.NotContains(t, all, "turned away: refused or exhausted, below zero", "nothing is")
	assert.NotContains(t, textsOf(t, "load", r, Look{From: 100 * time.Second}), "outage of a target")
	_, err := KindOf("load").Draw(r, Look{From: 2 * time.Minute})
	assert.EqualError(t, err, "the run ends at 120 s; nothing comes after 120 s")
}

// TestLoadIsToOneScale measures the strips of two policies of which one asks for
// twice as much.
func TestLoadIsToOneScale(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 2, 2, nil)
	d, err := layOutLoad(r, new(Look))
	require.NoError(t, err)
	c := d.(*load)
	require.Len(t, c.strips, 2)
	at := func(s *strip) float64 {
		return s.zero - heights(s.zero, c.scale, func(o *loadStep) float64 { return o.attempts })(&s.steps[6])
	}
	assert.InEpsilon(t, 2*at(c.strips[0]), at(c.strips[1]), 1e-9)
	assert.InDelta(t, stripHeight(2), at(c.strips[1])+c.strips[1].low-c.strips[1].zero, 1e-9, "the most fills the strip")
	assert.InDelta(t, c.strips[0].zero, c.strips[0].low, 1e-9, "no room for what is not turned away")
}

func TestLoadInWords(t *testing.T) {
	d, err := KindOf("load").Draw(resultsOf(t, world{policy: "p", end: 8 * time.Second, targets: 1}, 2, 2, func(r *Results) {
		for _, s := range r.Series {
			for k := range s.Bins {
				s.Bins[k].Busy, s.Bins[k].Queue = 0, 0
			}
		}
	}), Look{})
	require.NoError(t, err)
	_, _, desc := d.words()
	assert.Equal(t, "Under p-0: at most 7/s attempts, 3/s good. Under p-1: at most 14/s attempts, 7/s good, 12/s turned away. "+
		"target0 from 2 s to 4 s: timeout. target0 from 4 s to 6 s: 70 % success, 30 % failure.", desc)
}

// TestSmallLaneIsToldBelow has a stretch too short for its word.
func TestSmallLaneIsToldBelow(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: 2 * time.Minute}, 1, 1, nil)
	r.Panels[0].Run.Targets = []trace.Target{{Name: "api", Segments: []trace.Segment{{Success: 1}, {At: time.Minute, Outcome: trace.Failure}, {At: time.Minute + time.Second, Success: 1}}}}
	assert.Contains(t, textsOf(t, "load", r, Look{}), "api from 60 s to 61 s: failure.")
	assert.NotContains(t, strings.Join(textsOf(t, "load", r, Look{From: 55 * time.Second, To: 65 * time.Second}), " "), "api from", "the lane says so itself")
}
