package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// charts are the kinds of picture that are made from figures.
var charts = []string{"load", "cost", "latency"}

// resultsOf are the results of so many policies: figures made up for the layout,
// each policy's as many times those of the one before.
func resultsOf(t testing.TB, w world, policies int, times float64, change func(*Results)) *Results {
	t.Helper()
	r := new(Results)
	name, size := w.policy, 1.0
	for i := range policies {
		w.policy = fmt.Sprintf("%s-%d", name, i)
		h := w.history(t)
		s := &Series{Policy: w.policy, Bin: time.Second}
		for len(s.Bins) < 7200 && time.Duration(len(s.Bins))*s.Bin < max(w.end, 1) {
			k := len(s.Bins)
			n := int(size * float64(k%7+1))
			s.Bins = append(s.Bins, Bin{Attempts: n, Good: n / 2, Refused: n * (i % 3) * (k % 2), Busy: 3, Queue: n})
		}
		ms := time.Duration(size * float64(time.Millisecond))
		calls := int(size * 10)
		r.Panels, r.Series = append(r.Panels, h), append(r.Series, s)
		r.Rows = append(r.Rows, Row{w.policy, Cost{Calls: calls + 1, Attempts: 3 * calls, Wasted: calls / 3, Failed: calls / 2, Finished: calls, AtOnce: calls * (i % 3) / 2,
			WaitTotal: 9 * ms, WaitWasted: 7 * ms, WaitP50: ms * time.Duration(i%3), WaitP90: 2 * ms, WaitP99: 3 * ms, WaitP999: 100 * ms, WaitMax: 101 * ms, Harm: i}})
		size *= times
	}
	if change != nil {
		change(r)
	}
	return r
}

// varied adds variants of all policies, as many calls as the original has.
func varied(r *Results, sets ...string) *Results {
	for _, set := range sets {
		for i, row := range r.Rows {
			h := *r.Panels[i]
			run := *h.Run
			run.Policy += " with " + set
			h.Run, h.Set = &run, set
			r.Panels, r.Variants = append(r.Panels, &h), append(r.Variants, Variant{row, r.Series[i]})
		}
	}
	return r
}

// countedWorlds are results that a layout could stumble over.
func countedWorlds(t testing.TB) map[string]*Results {
	plain := world{title: "An ordinary outage", policy: "breaker", end: 2 * time.Minute, targets: 2, tools: 1, calls: 40}
	with := func(change func(*world)) world {
		w := plain
		change(&w)
		return w
	}
	rows := func(change func(*Cost)) func(*Results) {
		return func(r *Results) {
			for i := range r.Rows {
				change(&r.Rows[i].Cost)
			}
		}
	}
	return map[string]*Results{
		"one policy": resultsOf(t, plain, 1, 1, nil),
		"four":       resultsOf(t, plain, 4, 3, nil),
		"seventeen":  resultsOf(t, plain, 17, 2, nil),
		"far apart":  resultsOf(t, plain, 7, 30, nil),
		"long names": resultsOf(t, with(func(w *world) {
			w.longNames, w.policy = true, strings.Repeat("long-", 20)
			w.title = strings.Repeat("A very long title ", 9)
		}), 3, 5, nil),
		"one word":    resultsOf(t, with(func(w *world) { w.title = strings.Repeat("Donaudampfschiff", 12) }), 2, 5, nil),
		"targets":     resultsOf(t, with(func(w *world) { w.targets, w.tools = 50, 0 }), 2, 2, nil),
		"a moment":    resultsOf(t, with(func(w *world) { w.end = 1 }), 2, 2, nil),
		"at once":     resultsOf(t, with(func(w *world) { w.end = 0 }), 2, 2, nil),
		"ten years":   resultsOf(t, with(func(w *world) { w.end = 87600 * time.Hour }), 3, 9, func(r *Results) { r.Series[1].Bin, r.Series[2].Bin = time.Minute, 2400*time.Hour }),
		"ages":        resultsOf(t, plain, 3, 1, rows(func(c *Cost) { c.WaitWasted, c.WaitTotal, c.WaitMax, c.WaitP999 = forever, forever, forever, forever/2 })),
		"nanoseconds": resultsOf(t, plain, 2, 1, rows(func(c *Cost) { c.WaitP50, c.WaitP90, c.WaitP99, c.WaitP999, c.WaitMax = 1, 1, 1, 1, 1 })),
		"no waits": resultsOf(t, plain, 2, 1, rows(func(c *Cost) {
			c.AtOnce = c.Finished
			c.WaitP50, c.WaitP90, c.WaitP99, c.WaitP999, c.WaitMax = 0, 0, 0, 0, 0
		})),
		"one unended": resultsOf(t, plain, 3, 1, func(r *Results) { r.Rows[1].Cost = Cost{Calls: 7, Unfinished: 7} }),
		"priced":      resultsOf(t, plain, 3, 4, rows(func(c *Cost) { c.Priced, c.Money, c.Tokens = true, 1234567.891, 1<<40 })),
		"variants":    varied(resultsOf(t, plain, 3, 2, nil), "seed=7", "breakers.search.recovery_duration=10s"),
		"far from it": varied(resultsOf(t, with(func(w *world) { w.policy = strings.Repeat("long-", 20) }), 3, 2, nil), "a", strings.Repeat("a_long_setting=1,", 30), strings.Repeat("other settings=1, ", 30)),
		"never calm": resultsOf(t, plain, 2, 1, func(r *Results) {
			r.Panels[0].Bursts["target0"] = []trace.Span{{From: 0, To: time.Second}, {From: time.Minute, To: 2 * time.Minute}}
		}),
	}
}

// chartPen draws a chart, and returns the pen that did.
func chartPen(d *Drawing) *pen {
	w, h := d.size()
	return d.on(newSVG(vg.Length(w*pixel), vg.Length(h*pixel), "", "", "", d.themes))
}

// TestNothingOverlapsInCharts looks at every piece of text: none lies on another,
// and none leaves the picture.
func TestNothingOverlapsInCharts(t *testing.T) {
	for name, r := range countedWorlds(t) {
		for _, kind := range charts {
			for _, look := range []Look{{Width: 480}, {Theme: "dark"}, {Width: 960, Theme: "print"}, {Width: 1440, NoCaption: true}} {
				t.Run(fmt.Sprintf("%s of %s at %d", kind, name, look.Width), func(t *testing.T) {
					d, err := KindOf(kind).Draw(r, look)
					require.NoError(t, err)
					p := chartPen(d)
					w, h := d.size()
					assert.NotEmpty(t, p.texts)
					for i, a := range p.texts {
						assert.True(t, a.x >= 0 && a.y >= 0 && a.x+a.w <= w && a.y+a.h <= h, "%q leaves the picture: %+v of %v x %v", a.text, a.box, w, h)
						for _, b := range p.texts[:i] {
							if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
								t.Errorf("%q %+v lies on %q %+v", a.text, a.box, b.text, b.box)
							}
						}
					}
				})
			}
		}
	}
}

// TestChartFiles reads the SVG as a browser does: well-formed, described, and the
// same each time.
func TestChartFiles(t *testing.T) {
	for name, r := range countedWorlds(t) {
		for _, kind := range charts {
			d, err := KindOf(kind).Draw(r, Look{})
			require.NoError(t, err)
			again, err := KindOf(kind).Draw(r, Look{})
			require.NoError(t, err)
			svg := d.SVG()
			assert.Equal(t, svg, again.SVG(), "%s of %s: two drawings differ", kind, name)
			assert.NotContains(t, svg, "NaN", "%s of %s", kind, name)
			assert.NotContains(t, svg, "Inf", "%s of %s", kind, name)
			elements := map[string]int{}
			for x := xml.NewDecoder(strings.NewReader(svg)); ; {
				token, err := x.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err, "%s of %s", kind, name)
				if s, ok := token.(xml.StartElement); ok {
					elements[s.Name.Local]++
				}
			}
			assert.Equal(t, 1, elements["desc"])
			assert.Greater(t, elements["title"], 1, "a title, and tooltips")
		}
	}
}

func TestChartsOfNothing(t *testing.T) {
	h := world{policy: "breaker", end: time.Minute, targets: 1}.history(t)
	nothing := &Results{Panels: []*History{h}, Rows: []Row{{Policy: "breaker"}}, Series: []*Series{{Bin: time.Second, Bins: make([]Bin, 60)}}}
	for _, kind := range charts {
		_, err := KindOf(kind).Draw(nothing, Look{})
		assert.ErrorIs(t, err, ErrNothingToDraw, kind)
		_, err = KindOf(kind).Draw(&Results{Panels: []*History{h}}, Look{})
		assert.ErrorIs(t, err, ErrNothingToDraw, "%s of variants only", kind)
	}
}

// TestChartsOfVariants has a row or a strip for every variant, by a name that no
// other has; where the settings do not fit they are told below, caption or none.
func TestChartsOfVariants(t *testing.T) {
	short, long := "seed=7", strings.Repeat("a.long.setting=1,", 9)+"b=2"
	for _, kind := range charts {
		all := textsOf(t, kind, varied(resultsOf(t, world{policy: "p", end: time.Minute}, 2, 2, nil), short), Look{})
		assert.Subset(t, all, []string{"p-0", "p-1", "p-0 with seed=7", "p-1 with seed=7"}, kind)
		all = textsOf(t, kind, varied(resultsOf(t, world{policy: "p", end: time.Minute}, 2, 2, nil), long), Look{NoCaption: true})
		assert.Subset(t, all, []string{"p-0", "p-1", "p-0, variant", "p-1, variant"}, kind)
		assert.Contains(t, strings.Join(all, " "), "Variant: with "+strings.Repeat("a.long.setting=1, ", 9)+"b=2.", kind)
		all = textsOf(t, kind, varied(resultsOf(t, world{policy: strings.Repeat("policy-", 20), end: time.Minute}, 1, 2, nil), short, long), Look{})
		assert.Contains(t, all, "Variant 1: with seed=7.", kind)
		for _, ending := range []string{"…", "…, variant 1", "…, variant 2"} {
			assert.True(t, slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, "policy-") && strings.HasSuffix(s, ending) }), "%s: %q", kind, ending)
		}
	}
}

// TestLoadOfOtherTargets says that the lanes at the top are not those of variants
// that change the targets.
func TestLoadOfOtherTargets(t *testing.T) {
	const note = "Targets fare otherwise under some variant"
	r := varied(resultsOf(t, world{policy: "p", end: time.Minute, targets: 1}, 1, 1, nil), "seed=7")
	assert.NotContains(t, strings.Join(textsOf(t, "load", r, Look{}), " "), note)
	r.Panels[1].Run.Targets = []trace.Target{{Name: "target0", Segments: []trace.Segment{{Success: 1}}}}
	assert.Contains(t, strings.Join(textsOf(t, "load", r, Look{}), " "), note)
}

// TestChartsLeaveOutWhatNobodyCounted has a panel more than there are rows.
func TestChartsLeaveOutWhatNobodyCounted(t *testing.T) {
	r := countedWorlds(t)["four"]
	for _, kind := range charts {
		want, err := KindOf(kind).Draw(r, Look{})
		require.NoError(t, err)
		got, err := KindOf(kind).Draw(&Results{Panels: append(r.Panels[:4:4], r.Panels[0]), Rows: r.Rows, Series: r.Series}, Look{})
		require.NoError(t, err)
		assert.Equal(t, want.SVG(), got.SVG(), kind)
	}
}

func TestRoundSteps(t *testing.T) {
	for least, want := range map[float64]float64{1: 1, 1.1: 2, 2.5: 5, 7: 10, 0.03: 0.05, 4000: 5000} {
		assert.InEpsilon(t, want, roundStep(least), 1e-9, "%v", least)
	}
}

// TestHatchesStayInside strokes boxes in both directions: every stroke is at 45
// degrees and within a box, and neighbours share their strokes' ends.
func TestHatchesStayInside(t *testing.T) {
	boxes := []box{{10, 20, 13, 30}, {23, 35, 8, 15}}
	for _, falling := range []bool{false, true} {
		c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&light})
		(&pen{c: c, height: 100 * pixel, theme: &light}).hatch("ink", 6, falling, boxes...)
		var strokes int
		path, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(c.body.String()), `<path d="M`), `"`)
		for s := range strings.SplitSeq(path, "M") {
			var x0, y0, x1, y1 float64
			_, err := fmt.Sscanf(s, "%f %fL%f %f", &x0, &y0, &x1, &y1)
			require.NoError(t, err, s)
			strokes++
			assert.InDelta(t, math.Abs(x1-x0), math.Abs(y1-y0), 0.02)
			assert.Equal(t, falling, (y1-y0)*(x1-x0) > 0 || x1 == x0 && falling, s)
			inside := false
			for _, b := range boxes {
				inside = inside || min(x0, x1) >= b.x-0.01 && max(x0, x1) <= b.x+b.w+0.01 && min(y0, y1) >= b.y-0.01 && max(y0, y1) <= b.y+b.h+0.01
			}
			assert.True(t, inside, s)
		}
		assert.GreaterOrEqual(t, strokes, 10)
	}
}
