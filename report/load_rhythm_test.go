package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// every are so many instants that far apart.
func every(apart time.Duration, n int) (all []time.Duration) {
	for k := range n {
		all = append(all, time.Duration(k)*apart)
	}
	return all
}

func TestRhythm(t *testing.T) {
	const sec = time.Second
	for name, tt := range map[string]struct {
		starts []time.Duration
		want   time.Duration
	}{
		"every 3 s":        {every(3*sec, 9), 3 * sec},
		"two at a time":    {[]time.Duration{0, 0, 2 * sec, 2 * sec, 4 * sec, 4 * sec, 6 * sec}, 2 * sec},
		"one late in five": {[]time.Duration{0, 2 * sec, 4 * sec, 6 * sec, 8 * sec, 11 * sec}, 2 * sec},
		"too many late":    {[]time.Duration{0, 2 * sec, 4 * sec, 6 * sec, 9 * sec, 12 * sec}, 0},
		"as they like":     {[]time.Duration{0, sec, 3 * sec, 4 * sec, 9 * sec, 11 * sec}, 0},
		"three calls":      {every(sec, 3), 0},
		"nobody":           {nil, 0},
	} {
		assert.Equal(t, tt.want, rhythm(tt.starts), name)
	}
}

// TestRhythms are of first attempts: those of retries are not the callers'.
func TestRhythms(t *testing.T) {
	const sec = time.Second
	calls := func(caller string, apart time.Duration) (marks []Mark) {
		for k, at := range every(apart, 6) {
			id := k + 1 + 100*len(caller)
			marks = append(marks, Mark{Call: id, Caller: caller, Start: at}, Mark{Call: id, Caller: caller, Start: at + sec/3})
		}
		return marks
	}
	all := []*History{{Marks: append(calls("a", 7*sec), calls("bb", 3*sec)...)}, {Marks: calls("a", 7*sec)}, {}}
	assert.Equal(t, []time.Duration{3 * sec, 7 * sec}, rhythms(all))
}

// TestStepsInRhythm has calls of which every step holds as many: what comes every
// 3 s does not fit into steps of 5 s.
func TestStepsInRhythm(t *testing.T) {
	const sec = time.Second
	series := func(apart, span time.Duration, calls int) *Series {
		s := &Series{Bin: sec, Bins: make([]Bin, span/sec)}
		for at := time.Duration(0); at < span; at += apart {
			s.Bins[at/sec].Attempts += calls
		}
		return s
	}
	for name, tt := range map[string]struct {
		apart, span time.Duration
		calls       int
		want        time.Duration
	}{
		"3 s in 70 s":    {3 * sec, 70 * sec, 1, 3 * sec},
		"19 s in 195 s":  {19 * sec, 195 * sec, 1, 19 * sec},
		"4 s in 90 s":    {4 * sec, 90 * sec, 3, 4 * sec},
		"10 s in 360 s":  {10 * sec, 360 * sec, 1, 20 * sec},
		"3 s in 10 min":  {3 * sec, 600 * sec, 1, 15 * sec},
		"7 s, 40 at one": {7 * sec, 600 * sec, 40, 7 * sec},
		"70 s in 195 s":  {70 * sec, 195 * sec, 1, 10 * sec}, // too few to be in rhythm
	} {
		got := stepFor([]*Series{series(tt.apart, tt.span, tt.calls)}, []time.Duration{tt.apart}, 0, tt.span, 600)
		assert.Equal(t, tt.want, got, name)
	}
	assert.Equal(t, 2*sec, stepFor([]*Series{series(sec, 300*sec, 30)}, []time.Duration{sec / 30}, 0, 300*sec, 600), "a beat too quick to matter")
}

// TestStepsInRhythmOfGoodput has a call each 20 s of which each third fails: a step
// of four calls would show a goodput that wobbles, a step of three has none of that.
func TestStepsInRhythmOfGoodput(t *testing.T) {
	const sec = time.Second
	s := &Series{Bin: sec, Bins: make([]Bin, 1200)}
	for k := range 60 {
		s.Bins[20*k] = Bin{Attempts: 1, Good: min(1, k%3)}
	}
	assert.Equal(t, time.Minute, stepFor([]*Series{s}, []time.Duration{20 * sec}, 0, 1200*sec, 600))
	for k := range 60 {
		s.Bins[20*k].Good = 1
	}
	assert.Equal(t, 80*sec, stepFor([]*Series{s}, []time.Duration{20 * sec}, 0, 1200*sec, 600), "as wide as may be")
}

func TestMultiples(t *testing.T) {
	for _, tt := range []struct{ a, b, most, want time.Duration }{{6, 4, 20, 12}, {1, 7, 20, 7}, {3, 7, 20, 0}, {3, 7, 21, 21}, {forever, forever - 1, forever, 0}} {
		assert.Equal(t, tt.want, multiple(tt.a, tt.b, tt.most), "%d and %d", tt.a, tt.b)
	}
}
