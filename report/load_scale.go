package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// measure is what a strip's heights stand for.
type measure struct {
	above, below float64 // what has room on either side of zero
	tick         float64 // from one figure to the next
	pixels       float64 // for one
}

// leastTick is how many pixels are between two figures, at least.
const leastTick = 16.0

// measureFor fits as much into the room, with a figure at or above the most of it.
// Below zero, what is less than half a tick has none. Whole ones have no figures
// between them.
func measureFor(above, below, room float64, whole bool) measure {
	if above+below == 0 {
		above = 1
	}
	tick := roundStep(leastTick / room * (above + below))
	if whole {
		tick = max(tick, 1)
	}
	for ; ; tick = roundStep(tick * 1.01) {
		m := measure{above: upTo(above, tick), below: below, tick: tick}
		if below >= tick/2 {
			m.below = upTo(below, tick)
		}
		if m.pixels = room / (m.above + m.below); m.pixels*tick >= leastTick {
			return m
		}
	}
}

// upTo is the least multiple of the tick that is no less than v.
func upTo(v, tick float64) float64 { return math.Ceil(v/tick-1e-9) * tick }

// A strip has a scale of its own, or one with its likes, where it is so much less
// than the next one or than the first of those that have a scale together.
const (
	muchLess = 3.0
	lost     = 8.0
	worth    = 2.0 // times as large: less is not worth a scale
)

// scaled gives every strip its scale in that room, and returns those that have one
// together, the largest first.
func scaled(strips []*strip, room float64) (groups [][]*strip) {
	groups = alike(strips)
	for _, g := range groups {
		scale(g, room)
	}
	for i := 1; i < len(groups); i++ {
		if groups[i][0].perSecond() < worth*groups[0][0].perSecond() {
			groups[0] = append(groups[0], groups[i]...)
			scale(groups[0], room)
			groups, i = slices.Delete(groups, i, i+1), 0
		}
	}
	for _, s := range strips {
		if per := s.rate.per.Seconds(); s.cut() && peakOf(s.steps, spike{})*per <= s.scale.above {
			s.spike = spike{} // another strip makes room for it
		}
	}
	return groups
}

// scale gives strips one scale, and no more room below zero than each needs.
func scale(strips []*strip, room float64) {
	above, below := 0.0, 0.0
	for _, s := range strips {
		above, below = max(above, s.above()), max(below, s.peak.refused)
	}
	unit := rateFor(max(above, below))
	per := unit.per.Seconds()
	for _, s := range strips {
		s.rate, s.scale = unit, measureFor(above*per, below*per, room, false)
		if own := s.peak.refused * per; own < s.scale.tick/2 {
			s.scale.below = own
		} else {
			s.scale.below = min(s.scale.below, upTo(own, s.scale.tick))
		}
	}
}

// perSecond is how many pixels stand for one per second.
func (s *strip) perSecond() float64 { return s.scale.pixels * s.rate.per.Seconds() }

// alike puts strips together that can have one scale, the largest first.
func alike(strips []*strip) (groups [][]*strip) {
	all := slices.Clone(strips)
	slices.SortStableFunc(all, func(a, b *strip) int { return cmp.Compare(b.extent(), a.extent()) })
	first, last := 0.0, 0.0
	for _, s := range all {
		v := s.extent()
		if len(groups) == 0 || v > 0 && (v*muchLess < last || v*lost < first) {
			groups, first = append(groups, nil), v
		}
		g := &groups[len(groups)-1]
		*g = append(*g, s)
		last = v
	}
	return groups
}

// extent is how much the strip is to show on one side of zero.
func (s *strip) extent() float64 { return max(s.above(), s.peak.refused) }

// above is how much it is to show above zero, a spike cut.
func (s *strip) above() float64 { return peakOf(s.steps, s.spike) }

// peakOf is the most above zero of the steps that are not in the spike.
func peakOf(steps []loadStep, but spike) (most float64) {
	for i := range steps {
		if i < but.from || i >= but.to {
			most = max(most, steps[i].above())
		}
	}
	return most
}

func (o *loadStep) above() float64 { return max(o.attempts, o.good) }

// enlarged says how much larger the strip is drawn than the largest: to a tenth,
// or from ten times on to a whole.
func (s *strip) enlarged() string {
	if s.times < 10 {
		return "enlarged " + strconv.FormatFloat(math.Round(s.times*10)/10, 'f', -1, 64) + " times"
	}
	return "enlarged " + Thousands(int64(math.Round(s.times))) + " times"
}

// spikeWords say how high a spike is that is cut off.
func (s *strip) spikeWords() string {
	most := peak(s.steps[s.spike.from:s.spike.to])
	what := " attempts"
	if most.good > most.attempts {
		what = " good"
	}
	return s.rate.text(most.above()) + what + ", cut off here"
}

// spike is a step or two, [from, to), that would leave no room for the others.
type spike struct{ from, to int }

const (
	spikeTimes = 4.0 // as high as any other step
	spikeAmong = 12  // steps in which something happens, at least
)

// spikeOf finds the only one, or none.
func spikeOf(steps []loadStep) spike {
	busy, top := 0, 0
	for i := range steps {
		if steps[i].above() > 0 {
			busy++
		}
		if steps[i].above() > steps[top].above() {
			top = i
		}
	}
	if busy < spikeAmong {
		return spike{}
	}
	for _, s := range []spike{{top, top + 1}, {top, top + 2}, {top - 1, top + 1}} {
		if s.from < 0 || s.to > len(steps) {
			continue
		}
		rest := peakOf(steps, s)
		if rest > 0 && min(steps[s.from].above(), steps[s.to-1].above()) >= spikeTimes*rest {
			return s
		}
	}
	return spike{}
}
