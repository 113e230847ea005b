package report

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// exactWaits is up to how many waits are ranked to the nanosecond. Beyond that
// they are counted in bins a thousandth wide, so that the memory is bounded.
const exactWaits = 100_000

// waits ranks how long finished calls waited.
type waits struct {
	zeros   int             // those that did not wait at all
	some    []time.Duration // the others, while they are few
	sketch  *hdrhistogram.Histogram
	longest time.Duration
}

func (w *waits) add(d time.Duration) {
	w.longest = max(w.longest, d)
	switch {
	case d == 0:
		w.zeros++
	case w.sketch != nil:
		w.count(d)
	case len(w.some) == exactWaits:
		w.sketch = hdrhistogram.New(1, math.MaxInt64/2, 3)
		for _, s := range append(w.some, d) {
			w.count(s)
		}
		w.some = nil
	default:
		w.some = append(w.some, d)
	}
}

func (w *waits) count(d time.Duration) {
	// The only error is a value out of range.
	_ = w.sketch.RecordValue(int64(min(d, math.MaxInt64/2)))
}

// ranks fills in the cost's waits by nearest rank: the smallest wait that at
// least that share of the finished calls did not exceed.
func (w *waits) ranks(c *Cost) {
	slices.Sort(w.some)
	n := len(w.some)
	if w.sketch != nil {
		n = int(w.sketch.TotalCount())
	}
	c.Finished = n + w.zeros
	c.AtOnce = w.zeros
	at := func(perMille int) time.Duration {
		i := (c.Finished*perMille+999)/1000 - w.zeros // of those that waited, from 1
		switch {
		case i <= 0:
			return 0
		case w.sketch == nil:
			return w.some[i-1]
		default: // half a rank less, so that no rounding makes it the next one
			return min(w.longest, time.Duration(w.sketch.ValueAtPercentile((float64(i)-0.5)/float64(n)*100)))
		}
	}
	c.WaitP50, c.WaitP90, c.WaitP99, c.WaitP999, c.WaitMax = at(500), at(900), at(990), at(999), w.longest
}
