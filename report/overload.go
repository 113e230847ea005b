package report

import (
	"sort"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// overload is a stretch in which more attempts wait for a target than it serves,
// by what is told of whole seconds.
type overload struct {
	trace.Span
	most int // that wait
}

// measured begins a stretch of overload, or ends it.
func (h *History) measured(e *trace.Event) {
	all := h.overloads[e.Target]
	n := len(all)
	under := n > 0 && all[n-1].To < 0
	switch over := e.Waiting > e.Busy; {
	case over && !under:
		h.overloads[e.Target] = append(all, overload{trace.Span{From: e.T, To: -1}, e.Waiting})
	case over:
		all[n-1].most = max(all[n-1].most, e.Waiting)
	case under:
		all[n-1].To = e.T
	}
}

// truth is how a target fares by its script and, where that says nothing, by
// what is asked of it, or by the scripts of single calls. Overloads shorter than
// that are left out, and shorter breaks between them.
func (h *History) truth(t *trace.Target, least time.Duration) (all []stretchOfTruth) {
	overloads := drawable(h.overloads[t.Name], least)
	for _, s := range truth(t, max(h.End, 1)) {
		if s.look != "up" {
			all = append(all, s)
			continue
		}
		first := sort.Search(len(overloads), func(i int) bool { return overloads[i].To > s.From })
		for _, o := range overloads[first:] {
			from, to := max(o.From, s.From), min(o.To, s.To)
			if from >= to {
				break
			}
			if s.From < from {
				before := s
				before.To = from
				all = append(all, before)
			}
			all = append(all, stretchOfTruth{Span: trace.Span{From: from, To: to}, look: "slow", words: []string{"overloaded, up to " + Thousands(int64(o.most)) + " wait", "overloaded"}, overload: true})
			s.From = to
		}
		if s.From < s.To {
			all = append(all, s)
		}
	}
	for i := range all {
		if h.singled(t, &all[i]) {
			all[i].words = singledWords
		}
	}
	return all
}

// drawable puts overloads together that are closer than that, and leaves those
// out that are shorter even so.
func drawable(overloads []overload, least time.Duration) (all []overload) {
	for _, o := range overloads {
		n := len(all)
		switch {
		case n > 0 && o.From-all[n-1].To < least:
			all[n-1].To, all[n-1].most = o.To, max(all[n-1].most, o.most)
			continue
		case n > 0 && all[n-1].To-all[n-1].From < least:
			all = all[:n-1]
		}
		all = append(all, o)
	}
	if n := len(all); n > 0 && all[n-1].To-all[n-1].From < least {
		all = all[:n-1]
	}
	return all
}
