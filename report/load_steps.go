package report

import (
	"math"
	"strconv"
	"time"
)

// loadStep is what happened in one step of the picture: means per second, and
// the most at any instant of what a target holds.
type loadStep struct {
	from, to                time.Duration
	attempts, good, refused float64
	busy, queue             float64
}

// stepsOf puts the bins of a run together into steps, as far as they are in
// [from, to). What happens at the very end is in none: no time follows it that a
// rate could be over.
func stepsOf(s *Series, step, from, to, end time.Duration) []loadStep {
	var steps []loadStep
	for first := from / step * step; first < to && first < end; first += step {
		o := loadStep{from: max(first, from), to: min(first+step, to, end)}
		bins := s.Bins[min(len(s.Bins), int(first/s.Bin)):min(len(s.Bins), int(min(first+step, end+s.Bin-1)/s.Bin))]
		for _, b := range bins {
			o.attempts += float64(b.Attempts)
			o.good += float64(b.Good)
			o.refused += float64(b.Refused)
			o.busy, o.queue = max(o.busy, float64(b.Busy)), max(o.queue, float64(b.Queue))
		}
		if seconds := float64(len(bins)) * s.Bin.Seconds(); seconds > 0 {
			o.attempts, o.good, o.refused = o.attempts/seconds, o.good/seconds, o.refused/seconds
		}
		steps = append(steps, o)
	}
	return steps
}

// loadStepWidth is how wide a step is in pixels, at least.
const loadStepWidth = 4.0

// widestStep is how much a step of the picture covers: a step of a clock that
// holds whole bins of every series.
func widestStep(all []*Series, span time.Duration, room float64) time.Duration {
	bin := time.Second
	for _, s := range all {
		bin = max(bin, s.Bin)
	}
	least := time.Duration(float64(span) * loadStepWidth / room)
	for _, s := range tickSteps {
		if s >= least && s >= bin && s%bin == 0 {
			return s
		}
	}
	return max(bin, least/bin*bin)
}

// peak is the most of each measure in any step.
func peak(steps []loadStep) (most loadStep) {
	for _, s := range steps {
		most.attempts, most.good, most.refused = max(most.attempts, s.attempts), max(most.good, s.good), max(most.refused, s.refused)
		most.busy, most.queue = max(most.busy, s.busy), max(most.queue, s.queue)
	}
	return most
}

// rate is the unit in which a picture counts how often something happens.
type rate struct {
	per  time.Duration
	name string
}

var rates = []rate{{time.Second, "s"}, {time.Minute, "min"}, {time.Hour, "h"}, {24 * time.Hour, "day"}}

// rateFor is the first unit in which the most, per second, is at least one.
func rateFor(most float64) rate {
	for _, r := range rates {
		if most*r.per.Seconds() >= 1-1e-9 {
			return r
		}
	}
	return rates[len(rates)-1]
}

// text writes so many per second in the unit: "312/s", "4.5/min".
func (r rate) text(perSecond float64) string {
	if perSecond == 0 {
		return "0"
	}
	return figure3(perSecond*r.per.Seconds()) + "/" + r.name
}

// figure3 writes a number to three digits, or to the next whole one: "16,801",
// "4.52", "0.5".
func figure3(v float64) string {
	if v == 0 || v >= 99.95 {
		return Thousands(int64(math.Round(v)))
	}
	digits := int(math.Pow(10, max(0, 2-math.Floor(math.Log10(v)))))
	return strconv.FormatFloat(math.Round(v*float64(digits))/float64(digits), 'f', -1, 64)
}
