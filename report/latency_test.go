package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func latencyOf(t *testing.T, costs ...Cost) *Results {
	r := &Results{Panels: []*History{world{policy: "a"}.history(t)}}
	for _, c := range costs {
		r.Rows = append(r.Rows, Row{"a", c})
	}
	return r
}

// TestZeroHasAPlaceOfItsOwn: a log axis has none for it.
func TestZeroHasAPlaceOfItsOwn(t *testing.T) {
	const ms = time.Millisecond
	slow := Cost{Calls: 3, Finished: 3, WaitP50: ms, WaitP90: 2 * ms, WaitP99: 20 * ms, WaitP999: 20 * ms, WaitMax: 20 * ms}
	refused := Cost{Calls: 4, Finished: 3, AtOnce: 2, WaitP90: ms, WaitP99: ms, WaitP999: ms, WaitMax: ms}
	all := textsOf(t, "latency", latencyOf(t, slow, refused), Look{})
	assert.Subset(t, all, []string{"0", "1 ms", "10 ms", "at once", "0 %", "67 %", "3 calls", "3 of 4 calls ended", "0: ended at once, such as refused calls"})
	all = textsOf(t, "latency", latencyOf(t, slow), Look{})
	assert.NotContains(t, all, "0")
	assert.NotContains(t, all, "at once")

	d, err := layOutLatency(latencyOf(t, slow, refused), new(Look))
	require.NoError(t, err)
	a := d.(*latency).axis
	assert.True(t, a.zero)
	assert.Less(t, a.least, ms)
	assert.Greater(t, a.most, 20*ms)
}

// TestLatencySaysWhatItCompares: policies only where there are several.
func TestLatencySaysWhatItCompares(t *testing.T) {
	c := Cost{Calls: 9, Finished: 9, WaitP50: time.Second, WaitP90: time.Second, WaitMax: time.Second}
	assert.Contains(t, textsOf(t, "latency", latencyOf(t, c), Look{}), "How long calls take until they end, whatever comes of them, on a logarithmic axis")
	assert.Contains(t, textsOf(t, "latency", latencyOf(t, c, c), Look{}), latencyAbout+logWords)
}

// TestColumnsGiveRoomToTheBars leaves columns out for it, and says so.
func TestColumnsGiveRoomToTheBars(t *testing.T) {
	c := Cost{Calls: 9000, Finished: 9000, AtOnce: 1, WaitP50: time.Second, WaitP90: time.Minute, WaitP99: 70 * time.Second, WaitP999: 80 * time.Second, WaitMax: 80*time.Second + 100*time.Millisecond}
	for width, want := range map[int]string{480: "max p99 at once", 720: "max p99.9 p99 p90 p50 at once", 1440: "max p99.9 p99 p90 p50 at once"} {
		without := slices.Contains(textsOf(t, "latency", latencyOf(t, c), Look{Width: width}), "For want of room the table is without p50, p90 and p99.9.")
		assert.Equal(t, width == 480, without, "at %d", width)
		d, err := layOutLatency(latencyOf(t, c), &Look{Width: width})
		require.NoError(t, err)
		var got []string
		for _, f := range d.(*latency).figures {
			got = append(got, f.title)
		}
		assert.Equal(t, want, strings.Join(got, " "), "at %d", width)
	}
}

// TestNoAxisOfNothing says in words what bars could not show, and explains no part
// that no bar has.
func TestNoAxisOfNothing(t *testing.T) {
	const sec = time.Second
	atOnce, unended, none := Cost{Calls: 9, Finished: 9, AtOnce: 9}, Cost{Calls: 9}, Cost{}
	even := Cost{Calls: 9, Finished: 9, WaitP50: sec, WaitP90: sec, WaitP99: sec, WaitP999: sec, WaitMax: sec}
	tail := Cost{Calls: 9000, Finished: 9000, AtOnce: 5000, WaitP90: sec, WaitP99: sec, WaitP999: sec, WaitMax: 2 * sec}
	for name, tt := range map[string]struct {
		costs       []Cost
		words, keys []string
	}{
		"at once":            {[]Cost{atOnce, {Calls: 9, Finished: 8, AtOnce: 8}, unended, none}, []string{"every call ended at once", "every call that ended did so at once", "no call ended before the run did", "nobody called"}, nil},
		"one takes time":     {[]Cost{even, unended, none}, []string{"1 s", "no call ended before the run did", "nobody called"}, []string{"p50: half of the calls", "max"}},
		"some take time":     {[]Cost{atOnce, tail}, []string{"0", "1 s"}, []string{"p50: half of the calls", "p50 to p90", "p99.9 to max", "max", "0: ended at once, such as refused calls"}},
		"all take some time": {[]Cost{even, even}, []string{"1 s"}, []string{"p50: half of the calls", "max"}},
	} {
		d, err := layOutLatency(latencyOf(t, tt.costs...), new(Look))
		require.NoError(t, err)
		c := d.(*latency)
		var keys []string
		for _, k := range c.keys {
			keys = append(keys, k.text)
		}
		assert.Equal(t, tt.keys, keys, name)
		all := textsOf(t, "latency", latencyOf(t, tt.costs...), Look{})
		assert.Subset(t, all, tt.words, name)
		assert.Equal(t, tt.keys != nil, c.axis.some(), name)
		for _, figure := range []string{"p50", "0 s", "max", "100 %"} {
			assert.Equal(t, name == "some take time" || tt.keys != nil && (figure == "p50" || figure == "max"), slices.Contains(all, figure), "%s: no table of nothing: %s", name, figure)
		}
		assert.Equal(t, tt.keys != nil, strings.Contains(strings.Join(all, " "), "logarithmic"), name)
		if name == "some take time" {
			assert.NotContains(t, strings.Join(all, " "), "not ranked", "all have ended")
		}
	}
}

// TestFewCallsHaveNoTail: of nine calls p90 is the longest wait, and of 500 p99.9.
func TestFewCallsHaveNoTail(t *testing.T) {
	const sec = time.Second
	of := func(calls int) Cost {
		return Cost{Calls: calls, Finished: calls, WaitP50: sec, WaitP90: 2 * sec, WaitP99: 3 * sec, WaitP999: 4 * sec, WaitMax: 4 * sec}
	}
	for name, tt := range map[string]struct {
		calls               []int
		columns, bar, words string
	}{
		"one":           {[]int{1}, "p50 max", "p50: half of the calls, p50 to max, max", "Of fewer than 10 calls p90 would be the max; of fewer than 100, p99; of fewer than 1,000, p99.9."},
		"many":          {[]int{1000, 2000}, "p50 p90 p99 p99.9 max", "p50: half of the calls, p50 to p90, p90 to p99, p99 to p99.9, max", ""},
		"some hundreds": {[]int{999}, "p50 p90 p99 max", "p50: half of the calls, p50 to p90, p90 to p99, p99 to max, max", "Of fewer than 1,000 calls p99.9 would be the max."},
		"both":          {[]int{99, 1000}, "p50 p90 p99 p99.9 max", "p50: half of the calls, p50 to p90, p90 to p99, p99 to p99.9, max", "Of fewer than 100 calls p99 would be the max; of fewer than 1,000, p99.9."},
	} {
		var costs []Cost
		for _, n := range tt.calls {
			costs = append(costs, of(n))
		}
		d, err := layOutLatency(latencyOf(t, costs...), new(Look))
		require.NoError(t, err)
		c := d.(*latency)
		var columns, keys []string
		for _, f := range slices.Backward(c.figures) {
			columns = append(columns, f.title)
		}
		for _, k := range c.keys {
			keys = append(keys, k.text)
		}
		assert.Equal(t, tt.columns, strings.Join(columns, " "), name)
		assert.Equal(t, tt.bar, strings.Join(keys, ", "), name)
		assert.Equal(t, tt.words, strings.TrimSpace(c.tooFew()), name)
		if name == "both" {
			assert.Equal(t, []string{undefined, "3 s"}, c.figures[2].text)
		}
	}
	assert.Equal(t, "9 calls, p50 1 s, max 4 s.", (&latency{rows: []Row{{"a", of(9)}}}).describe())
}

// TestWaitsAreToldAsInTheTimeline, in the units of the run.
func TestWaitsAreToldAsInTheTimeline(t *testing.T) {
	for _, tt := range []struct {
		d, end time.Duration
		want   string
	}{
		{80*time.Second + 740*time.Millisecond, 3 * time.Minute, "80.7 s"},
		{80*time.Second + 740*time.Millisecond, 10 * time.Minute, "1 min 20.7 s"},
		{7 * time.Minute, 3 * time.Minute, "7 min"},
		{2 * time.Hour, 3 * time.Minute, "2 h"},
		{206900 * time.Microsecond, 3 * time.Minute, "206.9 ms"},
		{0, time.Minute, "0 s"},
	} {
		assert.Equal(t, tt.want, lasted(tt.d, tt.end), "%v of %v", tt.d, tt.end)
	}
}

// TestTheLongestWaitIsWhole: the ground of the median's dot lies below its stroke.
func TestTheLongestWaitIsWhole(t *testing.T) {
	c := Cost{Calls: 9, Finished: 9, WaitP50: time.Second, WaitP90: time.Second, WaitP99: time.Second, WaitP999: time.Second, WaitMax: time.Second}
	d, err := KindOf("latency").Draw(latencyOf(t, c), Look{Theme: "light"})
	require.NoError(t, err)
	_, group, found := strings.Cut(d.SVG(), "<title>a: p50 1 s max 1 s</title>")
	require.True(t, found)
	ground, stroke, dot := strings.Index(group, "f-bg"), strings.Index(group, "s-bar-edge"), strings.Index(group, "f-ink")
	assert.True(t, ground >= 0 && ground < stroke && stroke < dot, "%d %d %d", ground, stroke, dot)
}

func TestShares(t *testing.T) {
	for want, share := range map[string][2]float64{"0 %": {0, 9}, "<1 %": {1, 1000}, "50 %": {1, 2}, "67 %": {2, 3}, "99 %": {99, 100}, ">99 %": {999, 1000}, "100 %": {3, 3}} {
		assert.Equal(t, want, shareOf(share[0], share[1]))
	}
}

// TestWaitTicks names the roundest waits, in units of the clock.
func TestWaitTicks(t *testing.T) {
	for _, tt := range []struct {
		least, most time.Duration
		room        float64
		end         time.Duration
		want        string
	}{
		{time.Millisecond, 2 * time.Minute, 400, 4 * time.Minute, "1 ms, 10 ms, 100 ms, 1 s, 10 s, 60 s"},
		{time.Millisecond, 10 * time.Minute, 400, time.Hour, "1 ms, 10 ms, 100 ms, 1 s, 10 s, 1 min, 10 min"},
		{time.Millisecond, 10 * time.Minute, 200, time.Hour, "1 ms, 100 ms, 10 s, 10 min"},
		{400 * time.Millisecond, 3 * time.Second, 300, time.Second, "500 ms, 1 s, 2 s"},
		{1, 5, 300, 0, "1 ns, 2 ns, 5 ns"},
	} {
		var labels []string
		for _, tick := range (waitAxis{least: tt.least, most: tt.most, end: tt.end}).ticks(tt.room).Ticks(0, 0) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		assert.Equal(t, tt.want, strings.Join(labels, ", "))
	}
}

func TestLatencyInWords(t *testing.T) {
	d, err := KindOf("latency").Draw(latencyOf(t, Cost{Calls: 2000, Finished: 1999, AtOnce: 3, WaitP50: time.Second, WaitP90: 2 * time.Second, WaitP99: time.Minute, WaitP999: time.Hour, WaitMax: time.Hour}), Look{})
	require.NoError(t, err)
	_, _, desc := d.words()
	assert.Equal(t, "1,999 of 2,000 calls ended, <1 % at once, p50 1 s, p90 2 s, p99 1 min, p99.9 1 h, max 1 h.", desc)
}
