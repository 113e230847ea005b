package report

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// scenarioCalls is the part of a breaker that is for the scripted calls.
const scenarioCalls = "scripted calls"

// toldFleet tells of the many instances of one breaker together.
func (h *History) toldFleet(f *Fleet) Paragraph {
	n := len(f.Members)
	p := Paragraph{capital(f.of()) + " had a breaker of its own: " + number(n) + " of them, all set alike."}
	for i := range h.Run.Targets {
		if t := &h.Run.Targets[i]; t.Name == f.Main() {
			p = append(p, h.fared(t)...)
		}
	}
	first, times := f.openings()
	if len(first) == 0 {
		return append(p, "None of them ever opened.")
	}
	p = append(p, h.opened(f, first, times)...)
	if probes, at := h.inStep(f); probes > 1 {
		p = append(p, "At most "+number(probes)+" of them let a probe through within one second, the first time at "+h.Clock(at)+f.rules("", f.machine()[2])+".")
	}
	switch left := f.astray(h.End); {
	case left == n:
		p = append(p, "At the end none of them was "+f.resting()+".")
	case left > 0:
		p = append(p, "At the end "+number(left)+" of them "+either(left == 1, "was", "were")+" still not "+f.resting()+".")
	default:
		p = append(p, "The last of them was "+f.resting()+" again at "+h.Clock(f.restedBy())+f.rules("", f.resting())+".")
	}
	return p
}

// of is whom each instance is for.
func (f *Fleet) of() string { return "each " + either(f.Per == trace.PerHost, "host", "caller") }

// opened says how many did, and when.
func (h *History) opened(f *Fleet, first []time.Duration, times int) (p Paragraph) {
	n, k := len(f.Members), len(first)
	from, to, by := h.Clock(first[0]), h.Clock(first[k-1]), f.rules(f.machine()[0], f.machine()[1])
	switch {
	case k == 1:
		p = append(p, "One of them opened, at "+from+by+".")
	case from == to:
		p = append(p, capital(either(k == n, "all of them", number(k)+" of them"))+" opened at "+from+by+".")
	default:
		p = append(p, "The first opened at "+from+", and by "+to+" "+either(k == n, "all of them", number(k)+" of them")+" had"+by+".")
	}
	if times > k {
		p = append(p, "Up to the end they opened "+Thousands(int64(times))+" times in all.")
	}
	return p
}

// rules are those by which members came to a state, from another or from any
// (empty), in brackets after a blank.
func (f *Fleet) rules(from, to string) string {
	var rules []string
	for _, b := range f.Members {
		for i := range b.moved {
			if e := &b.moved[i]; e.To == to && (from == "" || e.From == from) && !slices.Contains(rules, e.Rule) {
				rules = append(rules, e.Rule)
			}
		}
	}
	if len(rules) == 0 {
		return ""
	}
	slices.Sort(rules)
	return " (" + strings.Join(rules, ", ") + ")"
}

// openings are the instants of the members' first ones, in order, and how often
// all of them opened.
func (f *Fleet) openings() (first []time.Duration, times int) {
	for _, b := range f.Members {
		opened := false
		for i := range b.moved {
			if to := b.moved[i].To; to == "open" || to == "fallback" {
				if times++; !opened {
					first = append(first, b.moved[i].Effective)
				}
				opened = true
			}
		}
	}
	slices.Sort(first)
	return first, times
}

// restedBy is when the last of them came to rest.
func (f *Fleet) restedBy() (at time.Duration) {
	for _, b := range f.Members {
		at = max(at, b.Bands[len(b.Bands)-1].From)
	}
	return at
}

// inStep is the most probes that members let through within one second, and when
// the first such second ends.
func (h *History) inStep(f *Fleet) (most int, at time.Duration) {
	var probes []time.Duration
	for i := range h.Marks {
		if m := &h.Marks[i]; m.Kind == MarkProbe && h.byName[m.Breaker] != nil && h.byName[m.Breaker].fleet == f {
			probes = append(probes, m.At)
		}
	}
	for i, t := range probes {
		from := sort.Search(i, func(k int) bool { return probes[k] > t-time.Second })
		if n := i + 1 - from; n > most {
			most, at = n, t
		}
	}
	return most, at
}
