package report

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// weight is how much a transition by that rule tells.
var weight = map[string]int{"T15": 80, "M16": 80, "T7": 70, "M12": 65, "M13": 65, "T31": 80, "T32": 80, "T33": 75, "M15": 60, "T3": 60, "T21": 60, "T22": 60, "T34": 50, "M10": 60, "T8": 55, "M9": 55, "T9": 45, "T5": 40, "M2": 40}

// ranks are the places of all that can be told ([History.tellable]) by importance: what a breaker does for the
// first time, also with another model, then where it ends, then those that lie farthest from all that are
// told before, so that they are spread over the run.
func (h *History) ranks(within func(time.Duration) bool) []int {
	type turn struct{ breaker, rule, serves string }
	var first, last, rest, without []int
	all := h.tellable()
	seen, ends := map[turn]bool{}, map[string]int{}
	for i, m := range all {
		if within(m.Effective) {
			ends[m.Breaker] = i
		}
	}
	for i, m := range all {
		k := turn{m.Breaker, m.like(), m.Serves}
		switch {
		case !within(m.Effective):
			without = append(without, i)
			continue
		case !seen[k]:
			first = append(first, i)
		case ends[m.Breaker] == i:
			last = append(last, i)
		default:
			rest = append(rest, i)
		}
		seen[k] = true
	}
	byWeight := func(a, b int) int { return cmp.Compare(weight[all[b].like()], weight[all[a].like()]) }
	slices.SortStableFunc(first, byWeight)
	slices.SortStableFunc(last, byWeight)
	order := scatter(all, append(first, last...), rest)
	rank := make([]int, len(all))
	for place, i := range append(order, without...) {
		rank[i] = place
	}
	return rank
}

// nearly is the share of the time between a breaker's first moment and its last in
// which two distances are taken to be the same.
const nearly = 1.0 / 40

// scatter puts the rest of the moments behind those told before: as many as a
// picture tells each as far as can be from all of its breaker before it, the
// weightier of those that are about as far, and then the others.
func scatter(all []*Moment, told, rest []int) []int {
	from, to := time.Duration(math.MaxInt64), time.Duration(0)
	for _, i := range slices.Concat(told, rest) {
		from, to = min(from, all[i].Effective), max(to, all[i].Effective)
	}
	unit := max(1, time.Duration(nearly*float64(to-from)))
	apart := make([]time.Duration, len(rest)) // from the nearest that is told
	for k := range apart {
		apart[k] = math.MaxInt64
	}
	tell := func(i int) {
		for k, other := range rest {
			if a, b := all[i], all[other]; a.Breaker == b.Breaker {
				apart[k] = min(apart[k], (b.Effective - a.Effective).Abs())
			}
		}
	}
	for _, i := range told {
		tell(i)
	}
	for len(told) < mostMoments && len(rest) > 0 {
		best := 0
		for k := range rest {
			far := cmp.Compare(apart[k]/unit, apart[best]/unit)
			if far > 0 || far == 0 && weight[all[rest[k]].like()] > weight[all[rest[best]].like()] {
				best = k
			}
		}
		told = append(told, rest[best])
		rest, apart = slices.Delete(rest, best, best+1), slices.Delete(apart, best, best+1)
		tell(told[len(told)-1])
	}
	return append(told, rest...)
}
