package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestManyWaits ranks more waits than are kept, and holds the ranks against
// those of a sorted list.
func TestManyWaits(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	var w waits
	var all []time.Duration
	for i := range exactWaits + 200_000 {
		d := time.Duration(draw.ExpFloat64() * float64(time.Second))
		if i%10 == 0 {
			d = 0
		}
		w.add(d)
		all = append(all, d)
	}
	for range 100_000 {
		w.add(0)
	}
	all = append(all, make([]time.Duration, 100_000)...)
	slices.Sort(all)
	assert.NotNil(t, w.sketch)
	assert.Empty(t, w.some)
	var c Cost
	w.ranks(&c)
	rank := func(perMille int) time.Duration { return all[(len(all)*perMille+999)/1000-1] }
	assert.Equal(t, len(all), c.Finished)
	assert.Equal(t, 130_000, c.AtOnce)
	assert.InEpsilon(t, rank(500), c.WaitP50, 1e-3)
	assert.InEpsilon(t, rank(900), c.WaitP90, 1e-3)
	assert.InEpsilon(t, rank(990), c.WaitP99, 1e-3)
	assert.InEpsilon(t, rank(999), c.WaitP999, 1e-3)
	assert.Equal(t, rank(1000), c.WaitMax)
}

// TestFewWaits are ranked to the nanosecond.
func TestFewWaits(t *testing.T) {
	var w waits
	for _, d := range []time.Duration{0, 3, 1, 0, 2} {
		w.add(d)
	}
	var c Cost
	w.ranks(&c)
	assert.Equal(t, Cost{Finished: 5, AtOnce: 2, WaitP50: 1, WaitP90: 3, WaitP99: 3, WaitP999: 3, WaitMax: 3}, c)
	c = Cost{}
	new(waits).ranks(&c)
	assert.Equal(t, Cost{}, c)
}
