package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/breakersim/breakersim/sim/trace"
)

var retries = block{
	id:    "V3",
	title: "Retries and their budgets",
	claim: "Where failures do not depend on load, n retries at a failure rate of p turn success into 1 - pⁿ⁺¹ and one call into (1 - pⁿ⁺¹)/(1 - p) attempts. A bucket of tokens bounds that: one that gains 0.1 with each success lets, " +
		"in the long run, (1 - p)/(1 - 0.1(1 - p)) of the calls succeed, with 1 + 0.1 × that many attempts a call. But what a bucket starts with is spent freely: many clients with few calls each retry everything. A breaker on retries, which lets them go while there was at most one failure for ten calls, is all or nothing: below that it retries everything, above it nothing.",
	source: "Published: [Fixing retries with token buckets and circuit breakers](https://brooker.co.za/blog/2022/02/28/retries.html), M. Brooker, February 2022. Derived: the formulas. " +
		"Measured: the other figures are those of an independent, seeded re-implementation.",
	how: "One scenario a row; failed attempts are tried again at once. The bucket of the measured rows holds 5, is full at first, gains 0.1 with each call that starts, and gives 1 to a retry as long as more than 1 is left; " +
		"ours gives as long as there is enough, so a retry takes 1.0001 here. Every row is 200,000 calls: where calls do not depend on each other, the standard error of a success rate is then 0.0011 at most.",
	scenario: retryScenario(0.2, crowdOfCalls, bucketOfCalls),
	columns:  "failure rate and retries: success / attempts a call",
	play:     playRetries,
}

// clientele is how many clients make how many calls each.
type clientele struct{ clients, calls int }

var (
	crowdOfCalls = clientele{2000, 100}
	longRun      = clientele{20, 10_000}
	shortLives   = clientele{20_000, 10}
	singleCalls  = clientele{200_000, 1}
)

const (
	bucketOfCalls     = "attempts: 1000, budget: {tokens: 5, per_call: 0.1, per_success: 0, per_retry: 1.0001}"
	bucketOfSuccesses = "attempts: 1000, budget: {tokens: 5, per_success: 0.1}"
)

func retryScenario(p float64, c clientele, retry string) string {
	return fmt.Sprintf(`
scenario: retries
duration: %ds
targets:
  api: {mix: {success: %v, failure: %v}}
callers:
  - {to: api, count: %d, every: 1s, until: %ds}
policies:
  - {name: retries, breakers: none, retry: {%s, base: 1us, cap: 1us, jitter: none}}
`, c.calls+1, 1-p, p, c.clients, c.calls, retry)
}

// rates are what becomes of a call: the chance that it succeeds, and how many
// attempts it makes.
type rates struct{ success, attempts float64 }

// retryRow is a way to retry, and what is known of it at each failure rate.
type retryRow struct {
	name    string
	retry   string
	clients clientele
	within  float64
	known   map[float64]rates
	drawn   *series // what the picture's series looks like; nil: not in it
}

var failureRates = []float64{0.05, 0.1, 0.2, 0.5}

var retryRows = []retryRow{
	{"1 retry", "attempts: 2", crowdOfCalls, 0.01, byFormula(retried(1), failureRates...), nil},
	{"3 retries", "attempts: 4", crowdOfCalls, 0.01, byFormula(retried(3), failureRates...), &series{name: "3 retries", color: "ok", glyph: draw.CircleGlyph{}}},
	{"bucket, + 0.1 a success, long", bucketOfSuccesses, longRun, 0.01, byFormula(bucketed, 0.2, 0.5), nil}, // below that it is never empty
	{"bucket, 100 calls a client", bucketOfCalls, crowdOfCalls, 0.02, map[float64]rates{0.05: {0.9999, 1.052}, 0.1: {0.9920, 1.102}, 0.2: {0.9078, 1.135}, 0.5: {0.5698, 1.140}},
		&series{name: "bucket, 100 calls", color: "bad", glyph: draw.BoxGlyph{}}},
	{"bucket, long", bucketOfCalls, longRun, 0.02, map[float64]rates{0.05: {0.9998, 1.052}, 0.1: {0.9840, 1.093}, 0.2: {0.8796, 1.100}, 0.5: {0.550, 1.100}},
		&series{name: "bucket, long", color: "limited", glyph: draw.PyramidGlyph{}}},
	{"bucket, 10 calls a client", bucketOfCalls, shortLives, 0.02, map[float64]rates{0.5: {0.741, math.NaN()}}, nil},
	{"bucket, 1 call a client", bucketOfCalls, singleCalls, 0.02, map[float64]rates{0.5: {0.969, math.NaN()}}, nil},
	{"breaker, 100 calls a client", "attempts: 4, max_failure_rate: 0.1", crowdOfCalls, 0.02, map[float64]rates{0.05: {0.9862, 1.038}, 0.1: {0.9283, 1.031}, 0.2: {0.8024, 1.003}, 0.5: {0.4996, 1}},
		&series{name: "breaker, 100 calls", color: "probe", glyph: diamond{}}},
	{"breaker, long", "attempts: 4, max_failure_rate: 0.1", longRun, 0.02, map[float64]rates{0.05: {0.9999, 1.052}, 0.1: {0.913, 1.015}, 0.2: {0.7995, 1}, 0.5: {0.5, 1}},
		&series{name: "breaker, long", color: "ink", glyph: cross{}}},
}

// retried is what n retries come to.
func retried(n int) func(p float64) rates {
	return func(p float64) rates {
		success := 1 - math.Pow(p, float64(n+1))
		return rates{success, success / (1 - p)}
	}
}

// bucketed is what a bucket comes to that gains 0.1 a success and is always empty.
func bucketed(p float64) rates {
	success := (1 - p) / (1 - 0.1*(1-p))
	return rates{success, 1 + 0.1*success}
}

func byFormula(f func(p float64) rates, at ...float64) map[float64]rates {
	all := map[float64]rates{}
	for _, p := range at {
		all[p] = f(p)
	}
	return all
}

// attempts counts calls, their attempts, and those that succeeded.
type attempts struct{ calls, attempts, ok float64 }

func (a *attempts) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.Call:
		a.attempts++
		if e.Attempt == 1 {
			a.calls++
		}
	case trace.Result:
		if e.Outcome == trace.Success {
			a.ok++
		}
	}
	return nil
}

func playRetries(t *testing.T) findings {
	var f findings
	success := panel{title: "Success", x: failureAxis(), y: axis{min: 0.48, max: 1.01, ticks: ticks(plain, 0.5, 0.6, 0.7, 0.8, 0.9, 1)}}
	tries := panel{title: "Attempts a call", x: failureAxis(), y: axis{min: 0.98, max: 1.9, ticks: ticks(plain, 1, 1.2, 1.4, 1.6, 1.8)}}
	for _, row := range retryRows {
		var a, b series
		if row.drawn != nil {
			a, b = *row.drawn, *row.drawn
		}
		for _, p := range failureRates {
			known, listed := row.known[p]
			if !listed {
				continue
			}
			n := new(attempts)
			playText(t, retryScenario(p, row.clients, row.retry), n)
			assert.Equal(t, float64(row.clients.clients*row.clients.calls), n.calls)
			ours := rates{n.ok / n.calls, n.attempts / n.calls}
			r := finding{what: fmt.Sprintf("%v, %s", p, row.name), within: fmt.Sprintf("%v%%", row.within*100)}
			r.figures = append(r.figures, near(known.success, ours.success, row.within*known.success, 4))
			if !math.IsNaN(known.attempts) {
				r.figures = append(r.figures, near(known.attempts, ours.attempts, row.within*known.attempts, 3))
			}
			f.rows = append(f.rows, r)
			a.known, a.ours = append(a.known, plotter.XY{X: p, Y: known.success}), append(a.ours, plotter.XY{X: p, Y: ours.success})
			b.known, b.ours = append(b.known, plotter.XY{X: p, Y: known.attempts}), append(b.ours, plotter.XY{X: p, Y: ours.attempts})
		}
		if row.drawn != nil {
			success.series, tries.series = append(success.series, a), append(tries.series, b)
		}
	}
	formulas(&success, func(r rates) float64 { return r.success })
	formulas(&tries, func(r rates) float64 { return r.attempts })
	f.picture = &chart{
		name:  "retries",
		title: "Retries: success and attempts a call against the failure rate, known and ours",
		about: "Two charts against failure rates of 0.05 to 0.5. Left, success: with 3 retries it falls to 0.94 only, with buckets to 0.57 and 0.55, not far above 0.5 without retries. " +
			"Right, attempts a call: with 3 retries they rise to 1.88, with buckets they stay below 1.15, and with a breaker on retries at 1 from a failure rate of 0.2 on. Ours lie within the rings of the known figures, and on the curves of the formulas.",
		line:   "theory",
		panels: []panel{success, tries},
	}
	return f
}

func failureAxis() axis {
	return axis{label: "failure rate", min: 0, max: 0.5, ticks: ticks(plain, 0, 0.1, 0.2, 0.3, 0.4, 0.5)}
}

// formulas adds curves: of 3 retries to its series, and of none as one more.
func formulas(p *panel, of func(rates) float64) {
	none := series{name: "no retries", color: "muted", dashes: []vg.Length{px(4), px(3)}}
	three := retried(3)
	const pieces = 50
	for i := range pieces + 1 {
		x := 0.5 * float64(i) / pieces
		none.curve = append(none.curve, plotter.XY{X: x, Y: of(rates{1 - x, 1})})
		for k := range p.series {
			if p.series[k].name == "3 retries" {
				p.series[k].curve = append(p.series[k].curve, plotter.XY{X: x, Y: of(three(x))})
			}
		}
	}
	p.series = append(p.series, none)
}
