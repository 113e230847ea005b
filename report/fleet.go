package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// mostApart is how many instances of a breaker are told and drawn one by one. More
// of them are a [Fleet].
const mostApart = 6

// Fleet is the many instances of one breaker, which are told and drawn as one.
type Fleet struct {
	*trace.Breaker
	Members []*BreakerHistory // in the order of the scenario
}

// enlist makes the histories of a breaker: one or, where it has instances, one for
// each, which are a fleet if they are many.
func (h *History) enlist(of *trace.Breaker) {
	var fleet *Fleet
	if of.Size() > mostApart {
		fleet = &Fleet{Breaker: of}
		h.Fleets = append(h.Fleets, fleet)
	}
	for name := range of.Each() {
		b := &BreakerHistory{Breaker: of.Instance(name), fleet: fleet}
		b.setTo(b.Breaker, 0)
		first := Band{State: "closed"}
		if b.Model != nil {
			first = Band{State: "primary", Serves: b.Model.Primary}
		}
		b.Bands = []Band{first}
		h.byName[name] = b
		if fleet != nil {
			fleet.Members = append(fleet.Members, b)
		} else {
			h.Breakers = append(h.Breakers, b)
		}
	}
}

// machine is that of each member.
func (f *Fleet) machine() machine { return f.Members[0].machine() }

// resting is the state in which the members begin.
func (f *Fleet) resting() string { return f.machine()[0] }

// who are the members, in words: "100 callers".
func (f *Fleet) who() string {
	if f.Per == trace.PerHost {
		return plural(len(f.Members), "host", "hosts")
	}
	return plural(len(f.Members), "caller", "callers")
}

// shares are the members' shares of n equal columns of [from, to), by their looks.
func (f *Fleet) shares(from, to time.Duration, n int) []share {
	columns := make([]share, n)
	for _, b := range f.Members {
		for c, s := range sharesIn(b.Bands, from, to, n) {
			for k, v := range s {
				columns[c][k] += v
			}
		}
	}
	return columns
}

// peak is the most members that were in trouble at one instant, and the first at
// which they were.
func (f *Fleet) peak() (most int, at time.Duration) {
	type step struct {
		at time.Duration
		by int
	}
	var steps []step
	for _, b := range f.Members {
		for i := range b.Bands {
			if s := &b.Bands[i]; s.State != f.resting() && s.From < s.To {
				steps = append(steps, step{s.From, 1}, step{s.To, -1})
			}
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	n := 0
	for _, s := range steps {
		if n += s.by; n > most {
			most, at = n, s.at
		}
	}
	return most, at
}

// describe tells what the fleet did, for those who cannot see it.
func (f *Fleet) describe(end time.Duration) string {
	most, at := f.peak()
	if most == 0 {
		return fmt.Sprintf("The %s breakers of %s are %s throughout. ", Thousands(int64(len(f.Members))), f.Name, f.resting())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of the %s breakers of %s, one for each of %s, at most %s are not %s at one time, first at %s", Thousands(int64(len(f.Members))), f.Name, f.who(),
		Thousands(int64(most)), f.resting(), moment(at, end))
	fmt.Fprintf(&b, "; at the end it is %s. ", Thousands(int64(f.astray(end))))
	return b.String()
}

// astray is how many members are not at rest at the end.
func (f *Fleet) astray(end time.Duration) (n int) {
	for _, b := range f.Members {
		if b.Bands[len(b.Bands)-1].State != f.resting() {
			n++
		}
	}
	return n
}
