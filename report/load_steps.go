package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// loadStep is what happened in one step of the picture: means per second, and
// the most at any instant of what a target holds.
type loadStep struct {
	from, to                time.Duration
	attempts, good, refused float64
	busy, queue             float64
}

// stepsOf puts the bins of a run together into steps, as far as they are in
// [from, to). The last has what is left of the run, if that is less than half a
// step. What happens at the very end is in none: no time follows it that a rate
// could be over. What is within the targets then is in the last.
func stepsOf(s *Series, marks []Mark, step, from, to, end time.Duration) []loadStep {
	var steps []loadStep
	var seconds []float64
	for first := from / step * step; first < min(to, end); {
		next := first + step
		if end-next < step/2 {
			next += step
		}
		o := loadStep{from: max(first, from), to: min(next, to, end)}
		for _, b := range s.within(first, min(next, (end+s.Bin-1)/s.Bin*s.Bin)) {
			o.attempts += float64(b.Attempts)
			o.good += float64(b.Good)
			o.refused += float64(b.Refused)
			o.busy, o.queue = max(o.busy, float64(b.Busy)), max(o.queue, float64(b.Queue))
		}
		if o.to == end {
			for _, b := range s.within(end, end+1) {
				o.busy, o.queue = max(o.busy, float64(b.Busy)), max(o.queue, float64(b.Queue))
			}
		}
		steps, seconds = append(steps, o), append(seconds, max(1, (min(next, end)-first).Seconds()))
		first = next
	}
	settle(steps, marks, step)
	for i, n := range seconds {
		o := &steps[i]
		o.attempts, o.good, o.refused = o.attempts/n, o.good/n, o.refused/n
	}
	return steps
}

const (
	// loadStepWidth is how wide a step is in pixels, at least.
	loadStepWidth = 4.0
	// busyStep is how many calls the busiest step of a policy has, at least: of
	// fewer, one more or less looks as if something had changed.
	busyStep = 5
	// leastSteps are so many that the picture still has a shape, even where their
	// calls are few.
	leastSteps = 14
	// fewestSteps are so many where callers that seldom come leave no choice.
	fewestSteps = 8
)

// stepFor is how much a step of the picture covers: a step of a clock that holds
// whole bins of every series, wide enough to be seen and to hold some calls, and
// preferably as many as the next. Where callers have a rhythm it is their interval,
// or a multiple of it.
func stepFor(all []*Series, rhythms []time.Duration, from, to time.Duration, room float64) time.Duration {
	bin := time.Second
	for _, s := range all {
		bin = max(bin, s.Bin)
	}
	least := max(bin, time.Duration(float64(to-from)*loadStepWidth/room))
	var full, calm, even, steady, widest time.Duration // even: not full, but calm; steady: and so is what succeeds
	for _, s := range inRhythm(rhythms, bin, least, (to-from)/fewestSteps) {
		if widest > 0 && s > (to-from)/leastSteps {
			break
		}
		few, restless := stepped(all, s, from, to)
		switch {
		case !few && !restless:
			calm = cmp.Or(calm, s)
		case !few:
			full = cmp.Or(full, s)
		case !restless:
			even = s
			if !slices.ContainsFunc(all, func(o *Series) bool { return wobble(o.perStep(s, from, to, goodOf)) }) {
				steady = s
			}
		}
		widest = s
	}
	best := cmp.Or(calm, full, steady, even)
	for _, s := range []time.Duration{20 * time.Second, 20 * time.Minute} { // slow calls often come in thirds
		if best == 0 && s >= least && s%bin == 0 && s <= (to-from)/leastSteps {
			if _, restless := stepped(all, s, from, to); !restless {
				best = s
			}
		}
	}
	return cmp.Or(best, widest, least/bin*bin)
}

// stepped says of steps so wide whether some run has few calls in each, and
// whether some run's wobble.
func stepped(all []*Series, step, from, to time.Duration) (few, restless bool) {
	for _, s := range all {
		calls := s.perStep(step, from, to, askedOf)
		few = few || slices.Max(calls) < busyStep && slices.Max(calls) > 0
		restless = restless || wobble(calls)
	}
	return few, restless
}

// askedOf and goodOf are what a bin counts.
func askedOf(b *Bin) int { return b.Attempts + b.Refused }
func goodOf(b *Bin) int  { return b.Good }

// perStep is how many of them there are in each step that meets [from, to).
func (s *Series) perStep(step, from, to time.Duration, count func(*Bin) int) (all []int) {
	for first := from / step * step; first < to; first += step {
		n := 0
		bins := s.within(first, first+step)
		for i := range bins {
			n += count(&bins[i])
		}
		all = append(all, n)
	}
	return all
}

// wobble says whether steps beat against the rhythm of the calls: often one has a
// call or two more than the next, and so few are much.
func wobble(calls []int) bool {
	pairs, differ := 0, 0
	for k := 1; k < len(calls); k++ {
		by := max(calls[k], calls[k-1]) - min(calls[k], calls[k-1])
		if calls[k]+calls[k-1] > 0 {
			pairs++
		}
		if by == 1 || by == 2 {
			differ++
		}
	}
	return slices.Max(calls) < 20 && differ*3 > pairs
}

// within are the bins that begin in [from, to).
func (s *Series) within(from, to time.Duration) []Bin {
	at := func(t time.Duration) int { return min(len(s.Bins), int((t+s.Bin-1)/s.Bin)) }
	return s.Bins[at(from):at(to)]
}

// settle counts calls that began in one step and succeeded in the next where they
// began, where the next has a few more that succeeded than were made and the first
// has room, or makes it in the same way: only where steps happen to begin makes
// that difference. What is left over is true, such as calls that hung and succeed
// together, or a queue that drains. The steps have counts yet, not rates.
func settle(steps []loadStep, marks []Mark, step time.Duration) {
	if len(steps) == 0 {
		return
	}
	last := len(steps) - 1
	number := func(t time.Duration) int { return min(int(t/step-steps[0].from/step), last) }
	across := make([]float64, len(steps)) // calls that began in the step before
	for i := range marks {
		m := &marks[i]
		if k := number(m.At); k > 0 && k == number(m.Start)+1 && m.At < steps[last].to && m.Outcome == trace.Success {
			across[k]++
		}
	}
	for k := range steps {
		n := steps[k].good - steps[k].attempts
		if n >= busyStep {
			continue
		}
		for to := k - 1; to >= 0 && n > 0; to-- {
			n = min(n, across[to+1])
			moved := min(n, steps[to].attempts-steps[to].good)
			if moved <= 0 {
				continue
			}
			steps[k].good -= moved
			steps[to].good += moved
			for via := to + 1; via <= k; via++ {
				across[via] -= moved
			}
			n = min(n-moved, steps[k].good-steps[k].attempts)
		}
	}
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

// text writes so many per second in the unit: "312/s", "4.5/min". What is next to
// none there is in a longer one: "5/h", not "0.0833/min".
func (r rate) text(perSecond float64) string {
	if perSecond == 0 {
		return "0"
	}
	if perSecond*r.per.Seconds() < 0.1 {
		r = rateFor(perSecond)
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
