package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// madeUp is a sweep with so many values of each axis, under so many policies. Its
// figures follow a formula.
func madeUp(values []int, policies int, figure func(cell, metric int) float64) *Sweep {
	s := &Sweep{Name: "made-up", Title: "Which settings?", About: "Nobody knows.", Base: "base", Metrics: []string{Failed, Wasted, "wait_wasted", "detect"}}
	n := 1
	for i, k := range values {
		a := SweepAxis{Path: fmt.Sprintf("breakers.search.setting_%d", i), Label: fmt.Sprintf("setting_%d", i)}
		for v := range k {
			a.Values = append(a.Values, fmt.Sprintf("%ds", v*v+1))
		}
		s.Axes = append(s.Axes, a)
		n *= k
	}
	mean := func(m float64) SweepMean { return SweepMean{40, m, m - 0.1*math.Abs(m), m + 0.1*math.Abs(m)} }
	add := func(values []int, policy string) {
		c := SweepCell{Values: values, Policy: policy, Replications: 40}
		for m := range s.Metrics {
			v := figure(len(s.Cells), m)
			f := SweepFigure{SweepMean: mean(v), Against: mean(v - 100), Beside: mean(1)}
			if math.IsNaN(v) {
				f.SweepMean = SweepMean{0, v, v, v}
			}
			c.Figures = append(c.Figures, f)
		}
		s.Cells = append(s.Cells, c)
	}
	for setting := range n {
		all, rest := make([]int, len(values)), setting
		for i := len(values) - 1; i >= 0; i-- {
			all[i], rest = rest%values[i], rest/values[i]
		}
		for p := range policies {
			add(all, fmt.Sprintf("policy-%d", p))
		}
	}
	add(nil, "no-protection")
	s.Runs, s.Events = 40*len(s.Cells), 1_000_000
	return s
}

func plainFigure(cell, metric int) float64 {
	switch metric {
	case 0:
		return 1200 / float64(cell+1)
	case 1:
		return float64(cell * cell)
	case 2:
		return float64(cell+1) * 7e10
	default:
		return math.NaN()
	}
}

// fewest is a front by hand: cells with these failed and wasted.
func points(failedWasted ...[2]float64) *Sweep {
	return madeUp([]int{len(failedWasted) - 1}, 1, func(cell, metric int) float64 {
		if metric < 2 {
			return failedWasted[cell][metric]
		}
		return 1
	})
}

func TestFront(t *testing.T) {
	s := points([2]float64{100, 5}, [2]float64{50, 10}, [2]float64{60, 20}, [2]float64{10, 90}, [2]float64{50, 10}, [2]float64{math.NaN(), 0}, [2]float64{200, 5})
	assert.Equal(t, []int{0, 1, 3}, s.Front(), "of two that are alike the first one")
	assert.Equal(t, 1, s.Recommended())
	s.Reference = 1
	assert.Contains(t, s.Recommendation(), "Of 7 cells, 3 are on the front")
	assert.Contains(t, s.Recommendation(), "Take setting_0 2s under policy-0, the knee of the front. It costs 50 ± 5 failed calls and 10 ± 1 wasted attempts in a world, on average. It is the reference itself.")
	s.Reference = 0
	assert.Contains(t, s.Recommendation(), "that is 50 ± 5 fewer failed calls and 90 ± 9 fewer wasted attempts.")
	for k := range 2 {
		s.Cells[1].Figures[k].Against = SweepMean{40, -1, -3, 1}
	}
	assert.Contains(t, s.Recommendation(), "that is no sure difference in failed calls and no sure difference in wasted attempts.")
	none := points([2]float64{math.NaN(), 1}, [2]float64{math.NaN(), 1})
	assert.Equal(t, -1, none.Recommended())
	assert.Equal(t, "No setting has both figures of the front; there is nothing to recommend.", none.Recommendation())
}

// TestFrontIsWhatNobodyBeats holds the front against its definition, pair by pair.
func TestFrontIsWhatNobodyBeats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all [][2]float64
		for range rapid.IntRange(2, 12).Draw(t, "cells") {
			all = append(all, [2]float64{float64(rapid.IntRange(0, 6).Draw(t, "failed")), float64(rapid.IntRange(0, 6).Draw(t, "wasted"))})
		}
		s := points(all...)
		on := map[[2]float64]bool{}
		for _, i := range s.Front() {
			assert.False(t, on[all[i]], "one of those that are alike")
			on[all[i]] = true
		}
		for _, p := range all {
			beaten := false
			for _, q := range all {
				beaten = beaten || q != p && q[0] <= p[0] && q[1] <= p[1]
			}
			assert.Equal(t, !beaten, on[p], "%v of %v", p, all)
		}
	})
}

// sweepsToDraw are those that a layout could stumble over.
func sweepsToDraw() map[string]*Sweep {
	long := madeUp([]int{4, 4}, 2, plainFigure)
	long.Title = strings.Repeat("A very long title ", 9)
	for i := range long.Axes {
		long.Axes[i].Label = strings.Repeat("long_", 15)
		long.Axes[i].Values = []string{strings.Repeat("v", 40), "1", "{lognormal: {p50: 4m, p99: 1h}}", "2"}
	}
	for i := range long.Cells {
		long.Cells[i].Policy = strings.Repeat("policy-", 12)
	}
	return map[string]*Sweep{
		"one axis":   madeUp([]int{5}, 1, plainFigure),
		"eight":      madeUp([]int{8, 8}, 1, plainFigure),
		"three axes": madeUp([]int{3, 4, 5}, 2, plainFigure),
		"four axes":  madeUp([]int{2, 2, 12, 2}, 3, plainFigure),
		"many":       madeUp([]int{30, 25}, 1, plainFigure),
		"alike":      madeUp([]int{3, 3}, 1, func(int, int) float64 { return 7 }),
		"nothing":    madeUp([]int{3, 3}, 1, func(int, int) float64 { return 0 }),
		"huge":       madeUp([]int{3, 3}, 7, func(cell, metric int) float64 { return float64(cell+metric+1) * 1e10 }),
		"long":       long,
	}
}

// TestSweepPictures draws all of them: no text lies on another one or leaves the
// picture, whatever the width, and a theme moves nothing.
func TestSweepPictures(t *testing.T) {
	for name, s := range sweepsToDraw() {
		for _, kind := range s.Pictures() {
			for _, w := range []int{480, 720, 1440} {
				moved := ""
				for _, theme := range ThemeNames {
					d, err := s.Draw(kind, Look{Width: w, Theme: theme})
					if err != nil {
						require.ErrorIs(t, err, ErrNothingToDraw)
						continue
					}
					where := fmt.Sprintf("%s of %s, %s at %d", kind, name, theme, w)
					standsApart(t, where, d)
					places := fmt.Sprint(d.Placed())
					assert.True(t, theme == "print" || moved == "" || moved == places, where)
					moved = places
				}
			}
		}
	}
}

func standsApart(t *testing.T, where string, d *Drawing) {
	t.Helper()
	w, h := d.Size()
	var texts []Placed
	for _, p := range d.Placed() {
		if p.Text == "" {
			continue
		}
		if p.X < 0 || p.Y < 0 || p.X+p.W > w || p.Y+p.H > h {
			t.Errorf("%s: %q leaves the picture", where, p.Text)
		}
		for _, q := range texts {
			if p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Errorf("%s: %q lies on %q", where, p.Text, q.Text)
			}
		}
		texts = append(texts, p)
	}
	assert.NotEmpty(t, texts, where)
}

func sweepTexts(t *testing.T, s *Sweep, kind string) (all []string) {
	t.Helper()
	d, err := s.Draw(kind, Look{})
	require.NoError(t, err)
	for _, p := range d.Placed() {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return all
}

// TestWhatSweepPicturesSay holds what is written against the figures.
func TestWhatSweepPicturesSay(t *testing.T) {
	s := madeUp([]int{2, 3}, 1, plainFigure)
	s.Reference = 1
	assert.Subset(t, sweepTexts(t, s, "heat-failed"), []string{"setting_0 (down)", "setting_1 (across)", "1s", "2s", "5s", "1,200", "600", "400", "300", "240", "200", "200 to 400", "1,000 to 1,200", "dashed: the reference"})
	assert.Subset(t, sweepTexts(t, s, "heat-wait_wasted"), []string{"2.33", "7.00"}, "70 s and 420 s in minutes")
	assert.Subset(t, sweepTexts(t, s, "tornado"), []string{"failed", "setting_0", "setting_1", "wasted", "in vain, in min"})
	texts := sweepTexts(t, s, "front")
	assert.Subset(t, texts, []string{"failed calls in a world", "wasted attempts in a world", "setting_0 1s, setting_1 1s under policy-0", "1,200 ± 120", "0 ± 0", "no-protection"})
	d, err := layOutTornado(s, new(Look))
	require.NoError(t, err)
	b := d.(*tornado).blocks[0]
	assert.InDelta(t, 600, b.reference, 0)
	assert.Equal(t, []int{1, 0}, []int{b.bars[0].axis, b.bars[1].axis}, "1,200 to 400 is longer than 600 to 240")
	assert.Equal(t, [2]int{2, 0}, b.bars[0].ends)
	_, err = s.Draw("heat-detect", Look{})
	assert.ErrorIs(t, err, ErrNothingToDraw)
	_, err = s.Draw("map", Look{})
	assert.ErrorContains(t, err, `a sweep has no picture "map"; write one of front, tornado, heat-failed`)
	_, err = s.Draw("front", Look{Theme: "pink"})
	assert.ErrorContains(t, err, "no theme")
}

// TestSweepSlices: what a map leaves out it says.
func TestSweepSlices(t *testing.T) {
	four := sweepsToDraw()["four axes"]
	assert.Contains(t, strings.Join(sweepTexts(t, four, "heat-failed"), " "), "A slice at the reference's setting_2 1s, setting_3 1s; summary.csv has the other cells.")
	three := sweepTexts(t, sweepsToDraw()["three axes"], "heat-failed")
	assert.Subset(t, three, []string{"policy-0, setting_2 1s", "policy-1, setting_2 17s"})
}

// TestSweepTables holds the summary's forms against one another.
func TestSweepTables(t *testing.T) {
	s := madeUp([]int{2, 2}, 1, plainFigure)
	var table, object, page bytes.Buffer
	require.NoError(t, s.WriteCSV(&table))
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	require.Len(t, lines, 1+5*4)
	assert.Equal(t, "cell,setting_0,setting_1,policy,replications,metric,unit,n,mean,low,high,deviation,min,p10,p50,p90,max,against_n,against_mean,against_low,against_high,beside_n,beside_mean,beside_low,beside_high", lines[0])
	assert.Equal(t, "0,1s,1s,policy-0,40,failed,count,40,1200,1080,1320,0,0,0,0,0,0,40,1100,990,1210,40,1,0.9,1.1", lines[1])
	assert.Equal(t, "4,,,no-protection,40,detect,duration,0,,,,0,0,0,0,0,0,40,,,,40,1,0.9,1.1", lines[20])
	require.NoError(t, s.WriteJSON(&object))
	var read struct {
		Front       []int
		Recommended int
		Cells       []struct {
			Settings []string
			Metrics  map[string]map[string]*float64
		}
	}
	require.NoError(t, json.Unmarshal(object.Bytes(), &read))
	assert.Equal(t, s.Front(), read.Front)
	assert.InDelta(t, 1200, *read.Cells[0].Metrics["failed"]["mean"], 0)
	assert.Nil(t, read.Cells[0].Metrics["detect"]["mean"])
	require.NoError(t, s.WriteMarkdown(&page, []PagePicture{{Alt: "the front", File: "front.svg"}}))
	assert.Contains(t, page.String(), "# Which settings?\n")
	assert.Contains(t, page.String(), "![the front](front.svg)")
	assert.Contains(t, page.String(), "200 runs of base, 1,000,000 events.")
}

// TestSummaryDigits: what machines could differ in is not written.
func TestSummaryDigits(t *testing.T) {
	assert.Equal(t, "1.333333", sweepNumber(4.0/3).text())
	assert.Equal(t, "123456800000", sweepNumber(123456789012).text())
	assert.Empty(t, sweepNumber(math.NaN()).text())
}
