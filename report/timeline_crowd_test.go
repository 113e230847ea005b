package report

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestAFlappingBreakerStaysSmall has more states than pixels: the file is
// bounded by the picture's width, not by how often the breaker changes.
func TestAFlappingBreakerStaysSmall(t *testing.T) {
	size := func(moves int) int {
		w := world{policy: "breaker", end: time.Hour, targets: 2, tools: 1, models: 1, moves: moves}
		var b bytes.Buffer
		require.NoError(t, pictured(t, "timeline", Look{}, w.history(t)).WriteSVG(&b))
		return b.Len()
	}
	assert.InDelta(t, size(3_000), size(20_000), 10_000)
	assert.Less(t, size(20_000), 300_000)
}

// TestManyBurstsStaySmall: where there are more than pixels, one mark tells of many.
func TestManyBurstsStaySmall(t *testing.T) {
	drawn := func(bursts ...trace.Span) []string {
		w := world{policy: "breaker", end: time.Hour, targets: 1, tools: 1, moves: 1}
		h := w.history(t)
		h.Bursts = map[string][]trace.Span{h.Run.Targets[0].Name: bursts}
		var b bytes.Buffer
		require.NoError(t, pictured(t, "timeline", Look{}, h).WriteSVG(&b))
		return regexp.MustCompile(`(?:[\d,]+ bursts|burst) from .*? to [\d.]+[^<]*`).FindAllString(b.String(), -1)
	}
	from := func(start, apart time.Duration, n int) (all []trace.Span) {
		for i := range n {
			at := start + time.Duration(i)*apart
			all = append(all, trace.Span{From: at, To: at + apart/2})
		}
		return all
	}
	assert.Empty(t, drawn())
	assert.Equal(t, []string{"burst from 5 min to 7 min 30 s", "burst from 10 min to 12 min 30 s"}, drawn(from(5*time.Minute, 5*time.Minute, 2)...))
	many := drawn(from(0, 3*time.Millisecond, 1_000_000)...)
	assert.Less(t, len(many), 300)
	assert.Equal(t, "6,010 bursts from 0 s to 18.029 s", many[0])
}

func TestStretches(t *testing.T) {
	at := func(seconds ...int) []Band {
		var bands []Band
		for i := 1; i < len(seconds); i++ {
			bands = append(bands, Band{From: time.Duration(seconds[i-1]) * time.Second, To: time.Duration(seconds[i]) * time.Second})
		}
		return bands
	}
	pixelASecond := func(d time.Duration) float64 { return d.Seconds() }
	for name, c := range map[string]struct {
		bands []Band
		sizes []int
		crowd []bool
	}{
		"one":                    {at(0, 100), []int{1}, []bool{false}},
		"one of no length":       {at(0, 0), []int{1}, []bool{false}},
		"long ones":              {at(0, 10, 20, 23), []int{1, 1, 1}, []bool{false, false, false}},
		"a few short ones":       {at(0, 10, 11, 12, 14, 30), []int{1, 3, 1}, []bool{false, false, false}},
		"too many":               {at(0, 10, 11, 12, 14, 16, 30), []int{1, 4, 1}, []bool{false, true, false}},
		"too many, to the end":   {at(0, 10, 11, 12, 13, 14), []int{1, 4}, []bool{false, true}},
		"too many, all the time": {at(0, 1, 1, 2, 3), []int{4}, []bool{true}},
	} {
		var sizes []int
		var crowd []bool
		for _, s := range stretches(c.bands, pixelASecond) {
			sizes, crowd = append(sizes, len(s)), append(crowd, s.crowded())
		}
		assert.Equal(t, c.sizes, sizes, name)
		assert.Equal(t, c.crowd, crowd, name)
	}
}

// TestSharesAreThoseOfTheTime has a half-open instant without any length, which
// leaves a trace all the same.
func TestSharesAreThoseOfTheTime(t *testing.T) {
	const s = time.Second
	got := shares(stretch{{To: 6 * s, State: "closed"}, {From: 6 * s, To: 15 * s, State: "open"}, {From: 15 * s, To: 15 * s, State: "half-open"}, {From: 15 * s, To: 20 * s, State: "closed"}}, 2)
	want := []share{{0.6, 0, 0, 0, 0.4}, {0.5, 1e-6, 0, 0, 0.5}}
	for i := range want {
		assert.InDeltaSlice(t, want[i][:], got[i][:], 1e-5)
	}
	assert.Greater(t, got[1][1], 0.0)
}

// TestBarsAreOfOneKind: in bars only the colour would tell kinds apart, so each
// has a row.
func TestBarsAreOfOneKind(t *testing.T) {
	h := world{policy: "breaker", end: time.Minute, targets: 1, tools: 1, calls: 4000}.history(t)
	f, _ := drawn(t, Look{}, h)
	var names []string
	for _, r := range f.panels[0].groups[0].rows {
		assert.True(t, r.dense)
		assert.Len(t, r.kinds, 1)
		names = append(names, r.name)
	}
	assert.Equal(t, []string{"served", "failed", "rate-limited", "cancelled", "ignored", "refused"}, names)
}

// TestTheLegendExplainsWhatIsDrawn and nothing else.
func TestTheLegendExplainsWhatIsDrawn(t *testing.T) {
	for want, w := range map[string]world{
		"closed: calls pass, open: calls are refused, outage of the target, shaded below it, fails in part":                                                                                                                                           {end: time.Minute, targets: 1, tools: 1, moves: 1},
		"closed: calls pass, open: calls are refused, half-open: one probe, stacked: each state's share of the time, outage of the target, shaded below it, fails in part":                                                                            {end: time.Minute, targets: 1, tools: 1, moves: 3000},
		"primary serves, fallback: a backup serves, recovering: turns probe the primary, stacked: each state's share of the time, outage of the target, shaded below it, fails in part":                                                               {end: time.Minute, targets: 2, models: 1, moves: 3000},
		"outage of the target, shaded below it, fails in part, served, failed or timed out, rate-limited, cancelled, vanished, bars: calls in each 500 ms; the tallest is the row's max":                                                              {end: time.Minute, targets: 1, calls: 4000},
		"closed: calls pass, outage of the target, shaded below it, fails in part, served, failed or timed out, rate-limited, cancelled, late result, ignored, refused, probes let through, bars: calls in each 500 ms; the tallest is the row's max": {end: time.Minute, targets: 1, tools: 1, calls: 4000},
		"outage of the target, shaded below it, fails in part, served, failed or timed out, rate-limited, cancelled, vanished":                                                                                                                        {end: time.Minute, targets: 1, calls: 5},
		"closed: calls pass, outage of the target, shaded below it, fails in part, served, failed or timed out, rate-limited, cancelled, late result, ignored, probe let through, refused":                                                            {end: time.Minute, targets: 1, tools: 1, calls: 10},
	} {
		f, _ := drawn(t, Look{}, w.history(t))
		assert.Equal(t, want, keysOf(f))
	}
}

// TestTwoPicturesOnAPage must not share the ids of their titles.
func TestTwoPicturesOnAPage(t *testing.T) {
	ids := map[string]bool{}
	for _, name := range []string{"one", `two "quoted" <name>`} {
		h := world{end: time.Second}.history(t)
		h.Run = &trace.RunInfo{Scenario: name}
		var b bytes.Buffer
		require.NoError(t, pictured(t, "timeline", Look{}, h).WriteSVG(&b))
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
			assert.Regexp(t, "^[A-Za-z0-9-]+$", id[1])
			assert.False(t, ids[id[1]], "%s twice", id[1])
			ids[id[1]] = true
		}
	}
	assert.Len(t, ids, 4)
}

// TestMarksOfARowHaveOneSize: that at which no neighbours lie on each other, unless
// they would at any size; the same in all panels.
func TestMarksOfARowHaveOneSize(t *testing.T) {
	at := func(x ...time.Duration) *markRow {
		r := &markRow{rowKind: rowKind{name: "served"}}
		for _, d := range x {
			r.marks = append(r.marks, Mark{At: d})
		}
		return r
	}
	near, dense, lane := at(0, 6, 13), at(0), at(0, 5)
	dense.name, dense.dense, dense.full = "refused", true, 1
	lane.name, lane.lane = "agent", true
	l := &lanePlotter{f: &figure{}, x: func(d time.Duration) float64 { return float64(d) }}
	for want, row := range map[float64]*markRow{2.6: near, markRadius: at(0, 40, 40, 41, 60), leastRadius: dense, 2.1: lane} {
		assert.InDelta(t, want, l.radius(row), 1e-9)
	}
	l.f.panels = []*panelLanes{{groups: []*groupLanes{{rows: []*markRow{at(0, 60), dense}}}}, {groups: []*groupLanes{{rows: []*markRow{near, lane}}}}}
	got := l.radii()
	for name, want := range map[string]float64{"served": 2.6, "refused": leastRadius, "lane": 2.1} {
		assert.InDelta(t, want, got[name], 1e-9, name)
	}
}

// TestMarksStandInTheirRows, also those at the first instant and at the last, and
// in the lane of one caller kinds stand beside each other.
func TestMarksStandInTheirRows(t *testing.T) {
	h := marked(t, nil)
	for i, at := range []time.Duration{0, 0, time.Minute} {
		h.Marks = append(h.Marks, Mark{Kind: []MarkKind{MarkFailed, MarkRefused, MarkOK}[i], At: at, Start: at, Call: i + 1, Caller: []string{"a", "a", "b"}[i], Breaker: "breaker0", Target: "target0"})
	}
	d := pictured(t, "timeline", Look{}, h)
	var b bytes.Buffer
	require.NoError(t, d.WriteSVG(&b))
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err)
		return v
	}
	rule := regexp.MustCompile(`d="M(\S+) \S+L(\S+) \S+" fill="none" stroke-width="1" stroke="#e3e7ec"`).FindAllStringSubmatch(b.String(), -1)
	require.Len(t, rule[0], 3)
	x := func(call int) float64 {
		m := regexp.MustCompile(`: call ` + strconv.Itoa(call) + `, .*</title>\s*<path d="M(\S+) `).FindStringSubmatch(b.String())
		require.NotNil(t, m, "call %d", call)
		return number(m[1])
	}
	from, to := 1e9, 0.0
	for _, r := range rule {
		if r[1] != r[2] {
			from, to = min(from, number(r[1])), max(to, number(r[2]))
		}
	}
	assert.GreaterOrEqual(t, x(1), from, "the left arm of a cross")
	assert.LessOrEqual(t, x(3), to, "the right end of a disc")
	assert.InDelta(t, 2*markRadius+markAir+markRadius, x(2)-x(1), 0.02, "the stroke of the refusal, from that arm")
}

// TestHeapsAreCounted: marks of one kind that would lie on each other are one with
// their number, where that has room.
func TestHeapsAreCounted(t *testing.T) {
	s := time.Second
	for name, c := range map[string]struct {
		at       []time.Duration
		kind     MarkKind // of the last
		want     int      // how many the first stands for
		leftward bool
	}{
		"at one instant":            {[]time.Duration{s, s, s}, MarkFailed, 3, false},
		"nearly so":                 {[]time.Duration{s, s + 100*time.Millisecond}, MarkFailed, 2, false},
		"each near the one before":  {[]time.Duration{s, 13 * s / 10, 16 * s / 10, 19 * s / 10}, MarkFailed, 4, false},
		"but not too many":          {[]time.Duration{s, 13 * s / 10, 16 * s / 10, 19 * s / 10, 22 * s / 10, 25 * s / 10}, MarkFailed, 1, false},
		"beside each other":         {[]time.Duration{s, 2 * s}, MarkFailed, 1, false},
		"of another kind, too near": {[]time.Duration{s, s, s}, MarkOK, 1, false},
		"no room before the next":   {[]time.Duration{s, s, 2 * s}, MarkFailed, 1, false},
		"room before the first":     {[]time.Duration{3 * s, 3 * s, 4 * s}, MarkFailed, 2, true},
		"room before the next":      {[]time.Duration{s, s, 20 * s}, MarkFailed, 2, false},
		"no room before the end":    {[]time.Duration{60 * s, 60 * s}, MarkFailed, 2, true},
	} {
		f, p := drawn(t, Look{}, marked(t, nil))
		l := &lanePlotter{f: f, pen: p, x: func(d time.Duration) float64 { return 100 + 10*d.Seconds() }}
		var marks []Mark
		for _, at := range c.at {
			marks = append(marks, Mark{At: at, Kind: MarkFailed})
		}
		marks[len(marks)-1].Kind = c.kind
		n, leftward := l.heap(marks, 0, markRadius, l.x(0)-plotPad)
		assert.Equal(t, c.want, n, name)
		assert.Equal(t, c.leftward, leftward, name)
	}
}

// TestHeapsInLanesKeepLinesOffTheirNumbers, on the ground that lies behind them.
func TestHeapsInLanesKeepLinesOffTheirNumbers(t *testing.T) {
	const s = time.Second
	for at, ground := range map[time.Duration]string{5 * s: "bg", 20 * s: "outage", 29*s + 999*time.Millisecond: "outage", 30 * s: "bg"} {
		h := marked(t, nil)
		for i := range 4 { // the last is of another caller, as one alone has no lane
			h.Marks = append(h.Marks, Mark{Kind: MarkFailed, At: at, Start: at - 4*s, Call: i + 1, Caller: []string{"a", "b"}[i/3], Breaker: "breaker0", Target: "target0"})
		}
		svg := pictured(t, "timeline", Look{}, h).SVG()
		heap := regexp.MustCompile(`(?s), and 2 more until .*?</g>`).FindString(svg)
		assert.Regexp(t, `^[^\n]*\n\s*<path [^\n]*class="f-`+ground+`"/>\n(?s:.*)>×3</text>`, heap, "%v", at)
	}
}
