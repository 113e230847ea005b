package sweep

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/scenarios"
)

// TestMoments holds running sums against those that see all values at once, and
// an interval against one by hand.
func TestMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 50).Draw(t, "values")
		var m moments
		for _, v := range values {
			m.add(v)
			m.add(math.NaN())
		}
		mean, deviation := stat.MeanStdDev(values, nil)
		assert.Equal(t, len(values), m.n)
		assert.InDelta(t, mean, m.mean, 1e-6)
		assert.InDelta(t, deviation, m.deviation(), 1e-4)
	})
	var m moments
	for _, v := range []float64{1, 2, 3, 4, 5} {
		m.add(v)
	}
	e := m.estimate()
	assert.InDelta(t, 3, e.Mean, 0)
	assert.InDelta(t, 1.9632, e.High-e.Mean, 1e-4, "2.7764 times the root of 2.5/5")
	var none moments
	assert.True(t, math.IsNaN(none.estimate().Mean))
	none.add(7)
	assert.Equal(t, "7 NaN NaN", fmt.Sprint(none.estimate().Mean, none.estimate().Low, none.estimate().High), "one value says nothing of the others")
}

// TestRanks holds quantiles against sorting: exactly while the values are few,
// and to a hundredth beyond.
func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 7, 100, exactValues, exactValues + 1, 3000}).Draw(t, "n")
		unit := rapid.SampledFrom([]scenarios.Unit{scenarios.Count, scenarios.Duration, scenarios.Ratio}).Draw(t, "unit")
		seed := rapid.Uint64().Draw(t, "seed")
		r := newRanks(scenarios.Metric{Unit: unit})
		var all []float64
		for i := range n {
			v := float64((seed+uint64(i))*0x9e3779b97f4a7c15>>40) + 1
			if unit == scenarios.Ratio {
				v /= 1000
			}
			all = append(all, v)
			r.add(v)
			r.add(math.NaN())
		}
		slices.Sort(all)
		for _, perMille := range []int{0, 100, 500, 900, 1000} {
			want := all[max(1, (n*perMille+999)/1000)-1]
			if n <= exactValues {
				assert.InDelta(t, want, r.at(perMille), 0)
			} else {
				assert.InEpsilon(t, want, r.at(perMille), 0.012, "%d of %d", perMille, n)
			}
		}
	})
	none := newRanks(scenarios.Metric{})
	assert.True(t, math.IsNaN(none.at(500)))
}

// TestSchedule: batches go round the cells, and a cell that is sure drops out.
func TestSchedule(t *testing.T) {
	p := &Plan{Sweep: &scenarios.Sweep{Replications: 30}, Cells: make([]Cell, 2), Metrics: make([]scenarios.Metric, 1)}
	order := func(s *schedule, value func(task) float64) (all []task) {
		for {
			given, ok := s.give()
			if !ok {
				return all
			}
			all = append(all, given)
			s.tell(&Row{Cell: given.cell, Replication: given.replication, Metrics: []float64{value(given)}})
		}
	}
	all := order(newSchedule(p, []int{0, 1}, 0), func(task) float64 { return 1 })
	assert.Len(t, all, 60)
	assert.Equal(t, []task{{0, 19}, {1, 0}}, all[19:21])
	assert.Equal(t, []task{{1, 19}, {0, 20}}, all[39:41])
	assert.Equal(t, task{1, 29}, all[59])

	p.Replications = 10
	all = order(newSchedule(p, []int{0, 1}, 0.02), func(t task) float64 {
		if t.cell == 0 {
			return 5 // always: it is sure at once
		}
		return float64(t.replication % 2) // 0.5, give or take 1.96*0.5/sqrt(n): 9,604 would be sure
	})
	count := [2]int{}
	for _, t := range all {
		count[t.cell]++
	}
	assert.Equal(t, [2]int{20, 10 * patience}, count)
	all = order(newSchedule(p, []int{1}, 0.2), func(t task) float64 { return float64(t.replication % 2) })
	assert.Len(t, all, 100, "1.98*0.5025/10 is a fifth of a half")
}
