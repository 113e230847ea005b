package sweep

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/breakersim/breakersim/scenarios"
)

// moments are running sums, by Welford's method. Undefined values are not among
// them. A conversion after each product keeps the compiler from fusing it, so
// that every machine gets the same bits.
type moments struct {
	n        int
	mean, m2 float64
}

func (m *moments) add(v float64) {
	if math.IsNaN(v) {
		return
	}
	m.n++
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (v - m.mean))
}

// deviation is the standard deviation of one value.
func (m *moments) deviation() float64 {
	if m.n < 2 {
		return undefined
	}
	return math.Sqrt(m.m2 / float64(m.n-1))
}

// half is half of the 95% confidence interval of the mean: replications are
// independent, so their mean is about normal, and Student's t says how much wider
// the interval must be for a deviation that is estimated too.
func (m *moments) half() float64 {
	if m.n < 2 {
		return undefined
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(m.n - 1)}
	return t.Quantile(0.975) * m.deviation() / math.Sqrt(float64(m.n))
}

// Estimate is a mean and how sure it is.
type Estimate struct {
	N         int     // replications in which it is defined
	Mean      float64 // NaN if there is none
	Low, High float64 // the 95% confidence interval of the mean; NaN if N is below 2
}

// Sure says that the interval does not hold 0.
func (e *Estimate) Sure() bool { return e.Low > 0 || e.High < 0 }

func (m *moments) estimate() Estimate {
	if m.n == 0 {
		return Estimate{0, undefined, undefined, undefined}
	}
	half := m.half()
	return Estimate{m.n, m.mean, m.mean - half, m.mean + half}
}

// exactValues is up to how many replications are ranked exactly. Beyond that they
// are counted in bins a hundredth wide, so that the memory is bounded.
const exactValues = 1000

// ranks finds quantiles of values from 0 on.
type ranks struct {
	scale  float64 // what a value is multiplied with to be counted in whole numbers
	some   []float64
	sketch *hdrhistogram.Histogram
	n      int
	least  float64
	most   float64
}

// fine is the scale of ratios, whose decimals tell.
const fine = 1e6

func newRanks(m scenarios.Metric) ranks {
	if m.Unit == scenarios.Ratio {
		return ranks{scale: fine}
	}
	return ranks{scale: 1}
}

func (r *ranks) add(v float64) {
	if math.IsNaN(v) {
		return
	}
	if r.n == 0 {
		r.least, r.most = v, v
	}
	r.n++
	r.least, r.most = min(r.least, v), max(r.most, v)
	switch {
	case r.sketch != nil:
		r.count(v)
	case len(r.some) == exactValues:
		r.sketch = hdrhistogram.New(1, math.MaxInt64/2, 2)
		for _, s := range append(r.some, v) {
			r.count(s)
		}
		r.some = nil
	default:
		r.some = append(r.some, v)
	}
}

func (r *ranks) count(v float64) {
	// The only error is a value out of range.
	_ = r.sketch.RecordValue(int64(min(math.Round(v*r.scale), math.MaxInt64/2)))
}

// at is the quantile by nearest rank: the least value that at least that share
// of the replications did not exceed.
func (r *ranks) at(perMille int) float64 {
	if r.n == 0 {
		return undefined
	}
	i := max(1, (r.n*perMille+999)/1000)
	if r.sketch == nil {
		slices.Sort(r.some)
		return r.some[i-1]
	}
	v := float64(r.sketch.ValueAtPercentile((float64(i)-0.5)/float64(r.n)*100)) / r.scale
	return min(r.most, max(r.least, v))
}
