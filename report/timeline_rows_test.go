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
	for _, row := range regexp.MustCompile(`<path d="(\S[^"]*)" fill="#0072b2"`).FindAllStringSubmatch(b.String(), -1) {
		for _, m := range regexp.MustCompile(`M\S+ (\S+?)L\S+ \S+?L\S+ (\S+?)L\S+ \S+?Z`).FindAllStringSubmatch(row[1], -1) {
			top, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			bottom, err := strconv.ParseFloat(m[2], 64)
			require.NoError(t, err)
			heights[decimals(bottom-top)]++
		}
	}
	assert.Equal(t, map[string]int{"24": 120, "12": 120, "7": 1, "11": 1}, heights, "7 and 11: the legend's")
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

// TestBarsDifferWithoutColours: whatever became of calls, in every theme; a plain
// bar is told from another by how dark it is.
func TestBarsDifferWithoutColours(t *testing.T) {
	kinds := []MarkKind{MarkOK, MarkFailed, MarkRateLimited, MarkCancelled, MarkLate, MarkLost, MarkRefused, MarkExhausted, MarkRerouted}
	for name, theme := range themes {
		for i, a := range kinds {
			for _, b := range kinds[:i] {
				if pattern := theme.barPattern(a); pattern != plain || name == "print" {
					assert.True(t, pattern != theme.barPattern(b) || contrast(theme, markColor[a], markColor[b]) >= 2, "%s: %s and %s", name, markWords[a], markWords[b])
				}
			}
		}
	}
	for k, want := range map[MarkKind]string{
		MarkFailed:  "fill #000000",                               // plain
		MarkRefused: "fill #555555",                               // likewise
		MarkOK:      "fill #b4b4b4, fill #000000",                 // pale, with its edges
		MarkLate:    "fill #ffffff, stroke #4a4a4a, fill #4a4a4a", // hatched, with its edges
	} {
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&paper})
		drawBars(&pen{c: c, height: 100 * pixel, theme: &paper}, k, []box{{10, 10, 3.4, 20}, {20, 10, 8, 20}})
		var got []string
		for _, m := range regexp.MustCompile(`(fill|stroke)="(#\w+)"`).FindAllStringSubmatch(c.body.String(), -1) {
			got = append(got, m[1]+" "+m[2])
		}
		assert.Equal(t, want, strings.Join(got, ", "), markWords[k])
	}
}

// TestThinBarsHaveNoSides, which would fill them.
func TestThinBarsHaveNoSides(t *testing.T) {
	assert.Equal(t, []box{{10, 20, 3.4, 1}}, edges([]box{{10, 20, 3.4, 30}}))
	assert.Equal(t, []box{{10, 20, 8, 1}, {10, 20, 1, 30}, {17, 20, 1, 30}}, edges([]box{{10, 20, 8, 30}}))
	assert.Equal(t, []box{{10, 20, 3.4, 0.5}}, edges([]box{{10, 20, 3.4, 0.5}}), "no higher than the bar")
}

// TestOneShapeAtEverySize draws a mark of the usual size and the least: of each
// kind both are the same shape, and of no two kinds.
func TestOneShapeAtEverySize(t *testing.T) {
	shape := func(k MarkKind, r float64) string { // at the scale of the radius, from its middle
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&light})
		drawMark(&pen{c: c, height: 100 * pixel, theme: &light}, k, 0, 0, r)
		var parts []string
		for _, m := range regexp.MustCompile(`d="([^"]*)" fill="(none)?`).FindAllStringSubmatch(c.body.String(), -1) {
			parts = append(parts, regexp.MustCompile(`-?[\d.]+`).ReplaceAllStringFunc(m[1], func(s string) string {
				v, err := strconv.ParseFloat(s, 64)
				require.NoError(t, err)
				if v/r > 0.3 {
					return "+"
				} else if v/r < -0.3 {
					return "-"
				}
				return "0"
			})+m[2])
		}
		return strings.Join(parts, " ")
	}
	seen := map[string]MarkKind{}
	for k := MarkOK; k <= MarkWaited; k++ {
		s := shape(k, markRadius)
		assert.Equal(t, s, shape(k, leastRadius), markWords[k])
		other, twice := seen[s]
		assert.False(t, twice, "%s and %s", markWords[k], markWords[other])
		seen[s] = k
	}
}

// TestKindsOnEachOtherHaveRows of their own, in all panels.
func TestKindsOnEachOtherHaveRows(t *testing.T) {
	at := func(apart time.Duration, kinds ...MarkKind) *History {
		h := marked(t, nil)
		for i, k := range kinds {
			h.Marks = append(h.Marks, Mark{Kind: k, At: time.Duration(i) * apart, Call: i + 1, Breaker: "breaker0", Target: "target0"})
		}
		return h
	}
	one := at(time.Second, MarkFailed)
	assert.Equal(t, []string{"failed; rate-limited", "failed; rate-limited"}, rowsOf(t, at(time.Second/2, MarkFailed, MarkRateLimited), one))
	assert.Equal(t, []string{"failed", "failed"}, rowsOf(t, at(2*time.Second, MarkFailed, MarkRateLimited), one), "beside each other")
}
