package report

import (
	"slices"
	"time"
)

const (
	// steadyCalls is how many calls have to come one interval after the other, of
	// each caller, and steadyShare how many of a hundred.
	steadyCalls = 4
	steadyShare = 80
	// manyBeats is how many beats a step has, at least, that need not be a multiple
	// of them: one more or less is not seen.
	manyBeats = 20
	// mostHeard is how many marks of a run tell its rhythm.
	mostHeard = 20_000
)

// rhythms are the intervals at which callers call in any of the runs, each once,
// the shortest first. Scripted calls have one too if they are written so.
func rhythms(panels []*History) (all []time.Duration) {
	for _, h := range panels {
		for _, starts := range h.firstStarts() {
			if d := rhythm(starts); d > 0 && !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	slices.Sort(all)
	return all
}

// firstStarts are when calls began, by who made them, in order.
func (h *History) firstStarts() map[string][]time.Duration {
	starts, seen := map[string][]time.Duration{}, map[int]bool{}
	for i := range min(len(h.Marks), mostHeard) {
		if m := &h.Marks[i]; !seen[m.Call] {
			seen[m.Call] = true
			starts[m.Caller] = append(starts[m.Caller], m.Start)
		}
	}
	for _, s := range starts {
		slices.Sort(s)
	}
	return starts
}

// rhythm is the interval at which nearly all of them come, or 0 if they come as
// they like. Calls at one instant are one beat.
func rhythm(starts []time.Duration) time.Duration {
	gaps, most, n := map[time.Duration]int{}, time.Duration(0), 0
	for i := 1; i < len(starts); i++ {
		gap := starts[i] - starts[i-1]
		if gap == 0 {
			continue
		}
		n++
		if gaps[gap]++; gaps[gap] > gaps[most] {
			most = gap
		}
	}
	if gaps[most] < steadyCalls-1 || gaps[most]*100 < n*steadyShare {
		return 0
	}
	return most
}

// inRhythm are the steps of a clock from least on that hold whole bins and whole
// beats of every rhythm, the narrowest first. Where no more than most of the time
// would be too little for that, rhythms count for nothing. Where they do count,
// multiples of them are steps as well.
func inRhythm(rhythms []time.Duration, bin, least, most time.Duration) (steps []time.Duration) {
	common := bin
	for _, r := range rhythms {
		if r*manyBeats <= least {
			continue
		}
		if common = multiple(common, r, most); common == 0 {
			common = bin
			break
		}
	}
	for _, s := range tickSteps {
		if s >= least && s%common == 0 {
			steps = append(steps, s)
		}
	}
	if common == bin {
		return steps
	}
	for s := upToWhole(least, common); s <= most; s += common {
		steps = append(steps, s)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// upToWhole is the least multiple of the unit that is no less than d.
func upToWhole(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }

// multiple is the least one of both, or 0 if it is beyond most.
func multiple(a, b, most time.Duration) time.Duration {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if a/x > most/b {
		return 0
	}
	return a / x * b
}
