package report

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Variant is what charts must know of a run with other settings, besides its
// panel, which stands behind those of the originals.
type Variant struct {
	Row
	Series *Series
}

// counted are the runs that charts are made of, those of variants below the
// originals, by the names that their panels have.
func (r *Results) counted() (rows []Row, series []*Series) {
	rows, series = slices.Clone(r.Rows), slices.Clone(r.Series)
	for _, v := range r.Variants {
		rows, series = append(rows, v.Row), append(series, v.Series)
	}
	for i := range min(len(rows), len(r.Panels)) {
		if r.Panels[i].Set != "" {
			rows[i].Policy = r.Panels[i].Run.Policy
		}
	}
	return rows, series
}

// label is what a chart calls a run: its policy and, of a variant, what tells it
// from the others.
type label struct{ policy, variant string }

func (l label) String() string { return l.policy + l.variant }

// fitted is the label, its policy cut if it must be.
func (l label) fitted(size float64, bold bool, most float64) string {
	if l.variant == "" || width(l.String(), size, bold) <= most {
		return fitted(l.String(), size, bold, most)
	}
	return fitted(fitted(l.policy, size, bold, most-width(l.variant, size, bold))+l.variant, size, bold, most)
}

// labels are those of the runs in a chart. Where settings do not fit beside a
// policy, all variants have numbers, and lines below the chart say of what.
func (r *Results) labels(fits func(run int, name string) bool) (labels []label, lines []string) {
	for i := range r.Rows {
		labels = append(labels, label{policy: r.Rows[i].Policy})
	}
	for i := range r.Variants {
		labels = append(labels, label{policy: r.Variants[i].Policy})
	}
	var sets []string
	long := true
	for i := range min(len(labels), len(r.Panels)) {
		set := r.Panels[i].Set
		if set == "" {
			continue
		}
		labels[i].variant = " with " + set
		long = long && fits(i, labels[i].String())
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	if long {
		return labels, nil
	}
	name := func(set string) string {
		if len(sets) == 1 {
			return "ariant"
		}
		return "ariant " + strconv.Itoa(slices.Index(sets, set)+1)
	}
	for i := range min(len(labels), len(r.Panels)) {
		if set := r.Panels[i].Set; set != "" {
			labels[i].variant = ", v" + name(set)
		}
	}
	for _, set := range sets {
		lines = append(lines, "V"+name(set)+": with "+spaced(set)+".")
	}
	return labels, lines
}

// spaced is a list that can be wrapped after its commas.
func spaced(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, ", ", ","), ",", ", ")
}

// sameHealth says whether targets fare alike in two runs, as far as both go.
func sameHealth(a, b *History) bool {
	end := max(min(a.End, b.End), 1)
	if len(a.Run.Targets) != len(b.Run.Targets) {
		return false
	}
	begins := func(all []trace.Span) (starts []time.Duration) {
		for _, s := range all {
			if s.From < end {
				starts = append(starts, s.From)
			}
		}
		return starts
	}
	for i := range a.Run.Targets {
		x, y := &a.Run.Targets[i], &b.Run.Targets[i]
		if x.Name != y.Name || !reflect.DeepEqual(truth(x, end), truth(y, end)) || !slices.Equal(begins(a.Bursts[x.Name]), begins(b.Bursts[y.Name])) {
			return false
		}
	}
	return true
}
