package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadOf lays out a picture of load.
func loadOf(t *testing.T, r *Results) *load {
	t.Helper()
	d, err := layOutLoad(r, new(Look))
	require.NoError(t, err)
	return d.(*load)
}

// attemptsAt is how high the line of attempts is in a step, in pixels.
func (s *strip) attemptsAt(step int) float64 {
	return s.zero - heights(s.zero, s.perSecond(), func(o *loadStep) float64 { return o.attempts })(&s.steps[step])
}

// TestLoadIsToOneScale measures the strips of two policies of which one asks for
// twice as much.
func TestLoadIsToOneScale(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 2, 2, nil)
	c := loadOf(t, r)
	require.Len(t, c.strips, 2)
	assert.InEpsilon(t, 2*c.strips[0].attemptsAt(6), c.strips[1].attemptsAt(6), 1e-9)
	assert.Equal(t, measure{15, 10, 5, stripHeight(2) / 25}, c.strips[1].scale, "13/s and 7/s")
	assert.InDelta(t, stripHeight(2), c.strips[1].low-c.strips[1].top, 1e-9, "which fill the strip")
	assert.InDelta(t, c.strips[0].zero, c.strips[0].low, 1e-9, "no room for what is not turned away")
	texts := textsOf(t, "load", r, Look{})
	assert.Contains(t, texts, loadAbout+", all to one scale")
	assert.Contains(t, texts, "15/s", "a figure above the 13")
}

// TestSmallStripsAreEnlarged has policies that ask for 7, 14 and 700 calls a second
// at most: the first two have one scale, and say so.
func TestSmallStripsAreEnlarged(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 3, 2, func(r *Results) {
		for k := range r.Series[2].Bins {
			r.Series[2].Bins[k] = Bin{Attempts: 100 * (k%7 + 1)}
		}
	})
	c := loadOf(t, r)
	assert.InEpsilon(t, 2*c.strips[0].attemptsAt(6), c.strips[1].attemptsAt(6), 1e-9)
	assert.InEpsilon(t, c.strips[0].times*c.strips[2].attemptsAt(6), 50*c.strips[1].attemptsAt(6), 1e-9)
	texts := textsOf(t, "load", r, Look{})
	assert.Contains(t, texts, loadAbout+", to one scale except where enlarged")
	var enlarged []string
	for _, s := range texts {
		if strings.HasPrefix(s, "enlarged") {
			enlarged = append(enlarged, s)
		}
	}
	assert.Equal(t, []string{"enlarged 32 times", "enlarged 32 times"}, enlarged, "800/s in the room of 25/s")
}

// TestSmallGainsAreNotWorthAScale has a policy that asks for 481 calls a second,
// and one that asks for 120 and is refused as many: both sides of its zero would
// have to be enlarged.
func TestSmallGainsAreNotWorthAScale(t *testing.T) {
	for _, tt := range []struct{ refused, times, below float64 }{{0, 128 / 120.0 / (128 / 500.0), 0}, {30, 128 / 160.0 / (128 / 500.0), 40}, {120, 0, 200}} {
		var strips []*strip
		for _, o := range []loadStep{{attempts: 120, refused: tt.refused}, {attempts: 481}} {
			strips = append(strips, &strip{steps: []loadStep{o}, peak: o})
		}
		c := &load{strips: strips}
		c.layScales()
		assert.InDelta(t, tt.times, c.strips[0].times, 1e-9, "%v refused", tt.refused)
		assert.InDelta(t, tt.below, c.strips[0].scale.below, 1e-9, "%v refused", tt.refused)
	}
}

func TestAlike(t *testing.T) {
	for name, tt := range map[string]struct {
		extents []float64
		want    [][]float64
	}{
		"alike":       {[]float64{70, 100, 50}, [][]float64{{100, 70, 50}}},
		"far apart":   {[]float64{20, 700, 100}, [][]float64{{700}, {100}, {20}}},
		"two alike":   {[]float64{60, 340, 40}, [][]float64{{340}, {60, 40}}},
		"step a step": {[]float64{64, 32, 16, 8, 4}, [][]float64{{64, 32, 16, 8}, {4}}},
		"nothing":     {[]float64{0, 9}, [][]float64{{9, 0}}},
		"all nothing": {[]float64{0, 0}, [][]float64{{0, 0}}},
	} {
		var strips []*strip
		for _, v := range tt.extents {
			o := loadStep{attempts: v / 2, refused: v}
			strips = append(strips, &strip{steps: []loadStep{o}, peak: o})
		}
		var got [][]float64
		for _, g := range alike(strips) {
			var one []float64
			for _, s := range g {
				one = append(one, s.extent())
			}
			got = append(got, one)
		}
		assert.Equal(t, tt.want, got, name)
	}
}

// TestMeasures have a figure at the most or above it, none closer than can be read.
func TestMeasures(t *testing.T) {
	for name, tt := range map[string]struct {
		above, below, room float64
		whole              bool
		want               measure
	}{
		"up to a figure":   {17.2, 0, 80, false, measure{20, 0, 5, 4}},
		"a figure":         {20, 0, 80, false, measure{20, 0, 5, 4}},
		"both sides":       {6.97, 4.97, 72, false, measure{10, 5, 5, 4.8}},
		"a little below":   {100, 2, 102, false, measure{100, 2, 20, 1}},
		"nothing":          {0, 0, 80, false, measure{1, 0, 0.2, 80}},
		"half an attempt":  {1, 0, 80, false, measure{1, 0, 0.2, 80}},
		"whole ones":       {1, 0, 80, true, measure{1, 0, 1, 80}},
		"below zero alone": {0, 8, 80, false, measure{0, 8, 2, 10}},
		"little room":      {36113, 0, 40, true, measure{40000, 0, 20000, 0.001}},
	} {
		got := measureFor(tt.above, tt.below, tt.room, tt.whole)
		assert.InDeltaSlice(t, []float64{tt.want.above, tt.want.below, tt.want.tick, tt.want.pixels}, []float64{got.above, got.below, got.tick, got.pixels}, 1e-9, "%s: %v", name, got)
	}
}

func TestSpikes(t *testing.T) {
	rest := []float64{1, 2, 3, 4, 5, 4, 3, 2, 1, 2, 3, 4}
	for name, tt := range map[string]struct {
		steps []float64
		want  spike
	}{
		"one":            {append([]float64{100}, rest...), spike{0, 1}},
		"the last":       {append(slices.Clone(rest), 20), spike{12, 13}},
		"not so high":    {append([]float64{19}, rest...), spike{}},
		"two beside":     {append([]float64{100, 60}, rest...), spike{0, 2}},
		"two, rising":    {append(slices.Clone(rest), 60, 100), spike{12, 14}},
		"two apart":      {append(append([]float64{100}, rest...), 60), spike{}},
		"three":          {append([]float64{100, 60, 60}, rest...), spike{}},
		"little else":    {[]float64{100, 1, 1, 1}, spike{}},
		"nothing else":   {append([]float64{100}, make([]float64, 40)...), spike{}},
		"nothing at all": {nil, spike{}},
	} {
		var steps []loadStep
		for _, v := range tt.steps {
			steps = append(steps, loadStep{attempts: v})
		}
		assert.Equal(t, tt.want, spikeOf(steps), name)
	}
}

// TestSpikesAreCut has a scale for what is beside the spike, and its figure.
func TestSpikesAreCut(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 1, 1, func(r *Results) { r.Series[0].Bins[0].Attempts = 100 })
	c := loadOf(t, r)
	assert.True(t, c.strips[0].cut())
	assert.InDelta(t, 7, c.strips[0].scale.above, 1e-9, "of the rest")
	texts := textsOf(t, "load", r, Look{})
	assert.Contains(t, texts, "100/s attempts, cut off here")
	assert.Contains(t, texts, "7/s")
	assert.NotContains(t, texts, "100/s")
}

// TestSpikesThatFitAreWhole has one beside a policy whose scale has room for it.
func TestSpikesThatFitAreWhole(t *testing.T) {
	for calls, cut := range map[int]bool{5: false, 15: false, 20: true} {
		c := loadOf(t, resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 2, 1, func(r *Results) {
			for k := range r.Series[0].Bins {
				r.Series[0].Bins[k] = Bin{Attempts: 1, Refused: 5}
				r.Series[1].Bins[k] = Bin{Attempts: 15, Refused: 5}
			}
			r.Series[0].Bins[7] = Bin{Attempts: calls}
		}))
		assert.Equal(t, []bool{cut, false}, []bool{c.strips[0].cut(), c.strips[1].cut()}, "%d", calls)
	}
}

// TestFewRefusalsTakeLittleRoom: what is next to none beside what another policy
// refuses has no more than it needs below zero.
func TestFewRefusalsTakeLittleRoom(t *testing.T) {
	c := loadOf(t, resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 2, 1, func(r *Results) {
		for k := range r.Series[0].Bins {
			r.Series[0].Bins[k] = Bin{Attempts: 9, Refused: 9}
			r.Series[1].Bins[k] = Bin{Attempts: 9}
		}
		r.Series[1].Bins[3].Refused = 1
	}))
	few := c.strips[1]
	assert.InDelta(t, few.peak.refused*few.scale.pixels, few.low-few.zero, 1e-9)
	assert.Less(t, few.low-few.zero, leastTick/2)
}
