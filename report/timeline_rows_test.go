package report

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// marked is a run of a minute with so many marks of each kind, evenly over it.
func marked(t *testing.T, counts map[MarkKind]int) *History {
	t.Helper()
	h := world{policy: "p", end: time.Minute, targets: 1, tools: 1}.history(t)
	for k := MarkOK; k <= MarkRerouted; k++ {
		for i := range counts[k] {
			at := time.Minute * time.Duration(i) / time.Duration(counts[k])
			h.Marks = append(h.Marks, Mark{Kind: k, At: at, Start: at, Call: i + 1, Breaker: "breaker0", Target: "target0"})
		}
	}
	return h
}

// rowsOf are the rows of each panel in one line: their names, and how they are drawn.
func rowsOf(t *testing.T, panels ...*History) (all []string) {
	t.Helper()
	f, _ := drawn(t, Look{}, panels...)
	for _, p := range f.panels {
		var parts []string
		for _, r := range p.groups[0].rows {
			s := r.name
			switch {
			case r.ticked():
				s += ": ticks"
			case r.bars():
				s += ": " + r.barWords()
			}
			parts = append(parts, s)
		}
		all = append(all, strings.Join(parts, "; "))
	}
	return all
}

// TestRowsOfOneNameAreAlike in all panels, whichever of them has more.
func TestRowsOfOneNameAreAlike(t *testing.T) {
	for name, c := range map[string]struct {
		panels []map[MarkKind]int
		want   []string
	}{
		"few": {[]map[MarkKind]int{{MarkOK: 3}, {MarkFailed: 4}}, []string{"served; failed", "served; failed"}},
		"one scale": {[]map[MarkKind]int{{MarkOK: 12_000}, {MarkOK: 6_000}, {MarkOK: 1080}, {MarkOK: 240}, {MarkOK: 3}, {}},
			[]string{"served: max 100 in 500 ms", "served: max 50 in 500 ms", "served: max 9 in 500 ms", "served: max 2, own scale", "served: ticks", "served"}},
		"one each": {[]map[MarkKind]int{{MarkOK: 120}, {MarkOK: 3}}, []string{"served: ticks", "served: ticks"}},
		"two each in one of them": {[]map[MarkKind]int{{MarkOK: 120}, {MarkOK: 240}},
			[]string{"served: max 1 in 500 ms", "served: max 2 in 500 ms"}},
		"kinds part in all": {[]map[MarkKind]int{{MarkFailed: 240, MarkRateLimited: 1}, {MarkRateLimited: 2}},
			[]string{"failed: max 2 in 500 ms; rate-limited: ticks", "failed; rate-limited: ticks"}},
		"named for what they hold": {[]map[MarkKind]int{{MarkExhausted: 3, MarkRateLimited: 1}}, []string{"rate-limited; exhausted"}},
		"or for all that":          {[]map[MarkKind]int{{MarkExhausted: 3}, {MarkRefused: 1}}, []string{"turned away", "turned away"}},
		"refused":                  {[]map[MarkKind]int{{MarkRefused: 1}}, []string{"refused"}},
	} {
		var panels []*History
		for _, counts := range c.panels {
			panels = append(panels, marked(t, counts))
		}
		got := rowsOf(t, panels...)
		assert.Equal(t, c.want, got, name)
	}
}

// TestBarsAreToOneScale measures the bars of two panels, one of which has half as
// many calls.
func TestBarsAreToOneScale(t *testing.T) {
	d := pictured(t, "timeline", Look{}, marked(t, map[MarkKind]int{MarkOK: 12_000}), marked(t, map[MarkKind]int{MarkOK: 6_000}))
	var b bytes.Buffer
	require.NoError(t, d.WriteSVG(&b))
	heights := map[string]int{} // from the top to the bottom of a bar
	for _, m := range regexp.MustCompile(`<path d="M\S+ (\S+)L\S+ \S+L\S+ (\S+)L\S+ \S+Z" fill="#0072b2"`).FindAllStringSubmatch(b.String(), -1) {
		top, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		bottom, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		heights[decimals(bottom-top)]++
	}
	assert.Equal(t, map[string]int{"24": 120, "12": 120, "11": 1}, heights, "11: the legend's")
	assert.Contains(t, b.String(), ">bars: calls in each 500 ms; rows of one name have one scale, unless marked</text>")
}

// TestTicksAreAsLowAsMarks, and the legend has them.
func TestTicksAreAsLowAsMarks(t *testing.T) {
	f, _ := drawn(t, Look{}, marked(t, map[MarkKind]int{MarkOK: 120, MarkFailed: 2}))
	rows := f.panels[0].groups[0].rows
	require.Len(t, rows, 2)
	assert.InDelta(t, rowHeight, rows[0].height(), 1e-9)
	assert.InDelta(t, rowHeight, rows[1].height(), 1e-9)
	var texts []string
	for _, k := range f.keys {
		texts = append(texts, k.text)
	}
	assert.Subset(t, texts, []string{"served", "failed or timed out"})
	assert.NotContains(t, strings.Join(texts, ", "), "bars")
}

// TestBarsDifferWithoutColours: what was served, failed and was rate-limited, and what was refused.
func TestBarsDifferWithoutColours(t *testing.T) {
	kinds := []MarkKind{MarkOK, MarkFailed, MarkRateLimited, MarkRefused}
	for i, a := range kinds {
		for _, b := range kinds[:i] {
			pattern := func(k MarkKind) pattern { return paper.patterns[markColor[k]] }
			if pattern(a) == pattern(b) {
				assert.GreaterOrEqual(t, contrast(&paper, markColor[a], markColor[b]), 2.0, "%s and %s", markWords[a], markWords[b])
			}
		}
	}
	assert.NotEqual(t, paper.patterns[markColor[MarkOK]], paper.patterns[markColor[MarkFailed]], "both are black")
	outlined := func(k MarkKind) bool {
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&paper})
		drawBar(&pen{c: c, height: 100 * pixel, theme: &paper}, k, box{10, 10, 5, 20})
		return strings.Contains(c.body.String(), "stroke=")
	}
	assert.True(t, outlined(MarkOK))
	assert.True(t, outlined(MarkRateLimited))
	assert.False(t, outlined(MarkFailed))
	tick := func(k MarkKind) string {
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&paper})
		drawTick(&pen{c: c, height: 100 * pixel, theme: &paper}, k, 10, 20)
		return regexp.MustCompile(`d="(.*?)"`).FindStringSubmatch(c.body.String())[1]
	}
	assert.Equal(t, []string{"M10 25.5L10 14.5", "M8 25.5L12 14.5", "M12 25.5L8 14.5"}, []string{tick(MarkOK), tick(MarkFailed), tick(MarkExhausted)})
}
