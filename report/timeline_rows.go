package report

import (
	"slices"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// rowKind is a row of calls below a band, by what became of them.
type rowKind struct {
	name  string     // where it holds several kinds
	kinds []MarkKind // the commonest first
	gated bool       // only a breaker can do it
}

var rowKinds = []rowKind{
	{"served", []MarkKind{MarkOK}, false},
	{"failed", []MarkKind{MarkFailed, MarkRateLimited}, false},
	{"cancelled", []MarkKind{MarkCancelled}, false}, // that is no failure (T16)
	{"vanished", []MarkKind{MarkLost}, false},
	{"ignored", []MarkKind{MarkLate}, true},
	{"rerouted", []MarkKind{MarkRerouted}, true},
	{"waited", []MarkKind{MarkWaited}, true},
	{"turned away", []MarkKind{MarkRefused, MarkExhausted}, true},
}

// rowWords name the rows of one kind.
var rowWords = map[MarkKind]string{MarkOK: "served", MarkFailed: "failed", MarkRateLimited: "rate-limited", MarkCancelled: "cancelled", MarkLost: "vanished",
	MarkLate: "ignored", MarkRerouted: "rerouted", MarkRefused: "refused", MarkExhausted: "exhausted", MarkWaited: "waited"}

// of is the row for those of its kinds alone, under their name if they are one.
func (k rowKind) of(kinds []MarkKind) rowKind {
	if k.kinds = kinds; len(kinds) == 1 {
		k.name = rowWords[kinds[0]]
	}
	return k
}

// markRow is a row of single marks or, where those would touch, of bars of one
// kind; of small marks, where no bar would be higher than another.
type markRow struct {
	rowKind
	y     float64
	lane  bool // of one caller
	tall  bool // has arcs
	marks []Mark
	dense bool // bars or small marks
	bins  []int
	per   time.Duration // what a bin covers
	most  int           // in one bin
	full  int           // what a bar of the full height stands for
	own   bool          // full is of this row alone
}

// ticked says whether small marks will do.
func (r *markRow) ticked() bool { return r.dense && r.full == 1 }

// bars says whether it has any.
func (r *markRow) bars() bool { return r.dense && r.full > 1 }

// layRows are the lanes of calls of every group: one for each caller, or one for
// each kind of outcome.
func (f *figure) layRows(panels []*History) map[*group][]*markRow {
	if f.t.Lanes == "none" {
		return nil
	}
	rows, held := map[*group][]*markRow{}, f.heldBy(panels)
	for _, h := range panels {
		for _, g := range h.groups() {
			if names := f.callers(panels, g.main()); len(names) > 0 {
				for _, name := range names {
					if g.breaker != nil && g.breaker.Per == trace.PerCaller && !slices.ContainsFunc(g.marks, func(m Mark) bool { return m.Caller == name || m.Caller == "" && name == scripted }) {
						continue // it has a breaker of its own
					}
					rows[g] = append(rows[g], newLane(name, g.marks, f))
				}
				continue
			}
			for _, k := range rowKinds {
				kinds := slices.DeleteFunc(slices.Clone(k.kinds), func(kind MarkKind) bool { return !held[g.main()][kind] })
				if len(kinds) > 0 && (!k.gated || g.breaker != nil || g.fleet != nil) {
					rows[g] = append(rows[g], newRow(k.of(kinds), g.marks, f))
				}
			}
		}
	}
	f.liken(rows)
	return rows
}

// heldBy are the kinds of marks of each target in any panel: it has the same rows
// in all of them.
func (f *figure) heldBy(panels []*History) map[string]map[MarkKind]bool {
	held := map[string]map[MarkKind]bool{}
	for _, h := range panels {
		for _, g := range h.groups() {
			kinds := held[g.main()]
			if kinds == nil {
				kinds = map[MarkKind]bool{}
				held[g.main()] = kinds
			}
			for i := range g.marks {
				if f.within(g.marks[i].At) {
					kinds[g.marks[i].Kind] = true
				}
			}
		}
	}
	return held
}

func newRow(k rowKind, marks []Mark, f *figure) *markRow {
	r := &markRow{rowKind: k}
	for _, m := range marks {
		if slices.Contains(k.kinds, m.Kind) && f.within(m.At) {
			r.marks = append(r.marks, m)
		}
	}
	return r
}

// liken gives rows of one name one manner, and their bars one scale, so that
// panels can be compared.
func (f *figure) liken(rows map[*group][]*markRow) {
	each := func(do func(r *markRow)) {
		for _, all := range rows {
			for _, r := range all {
				if !r.lane {
					do(r)
				}
			}
		}
	}
	dense, mixed, full := map[string]bool{}, map[string]bool{}, map[string]int{}
	each(func(r *markRow) {
		dense[r.name] = dense[r.name] || f.touching(r.marks)
		mixed[r.name] = mixed[r.name] || f.mixed(r.marks)
	})
	for g := range rows {
		rows[g] = f.parted(rows[g], dense, mixed)
	}
	each(func(r *markRow) {
		if r.dense = dense[r.name] && len(r.marks) > 0; r.dense {
			f.count(r)
			full[r.name] = max(full[r.name], r.most)
		} else {
			r.tall = f.arcs(r)
		}
	})
	each(func(r *markRow) {
		if r.full = full[r.name]; r.dense && float64(r.most)*tallestBar < leastBar*float64(r.full) {
			r.full, r.own = r.most, true
		}
	})
}

// mixed says whether marks of two kinds would lie on each other.
func (f *figure) mixed(marks []Mark) bool {
	for i := 1; i < len(marks); i++ {
		if marks[i].Kind != marks[i-1].Kind && f.along(marks[i].At)-f.along(marks[i-1].At) < 2*markRadius+markAir {
			return true
		}
	}
	return false
}

// parted makes rows of one kind each of those that are dense, as in bars nothing
// but the colour would tell kinds apart, and of those that are mixed. It notes the
// names that come of dense ones.
func (f *figure) parted(rows []*markRow, dense, mixed map[string]bool) (all []*markRow) {
	for _, r := range rows {
		if len(r.kinds) < 2 || !dense[r.name] && !mixed[r.name] {
			all = append(all, r)
			continue
		}
		for i := range r.kinds {
			one := newRow(r.of(r.kinds[i:i+1]), r.marks, f)
			dense[one.name] = dense[one.name] || dense[r.name]
			all = append(all, one)
		}
	}
	return all
}

// count puts the row's marks into bins.
func (f *figure) count(r *markRow) {
	r.per = stepOf(max(1, time.Duration(float64(f.end-f.begin)*binWidth/f.room())))
	r.bins = make([]int, (f.end-f.begin)/r.per+1)
	for i := range r.marks {
		k := (r.marks[i].At - f.begin) / r.per
		r.bins[k]++
		r.most = max(r.most, r.bins[k])
	}
}

// barWords stand below the name of a row of bars.
func (r *markRow) barWords() string {
	if r.own {
		return "max " + Thousands(int64(r.most)) + ", own scale"
	}
	return "max " + Thousands(int64(r.most)) + " in " + Clock(r.per)
}

func (r *markRow) height() float64 {
	h := rowHeight
	switch {
	case r.bars():
		return densityHeight
	case r.lane:
		h = laneHeight
	}
	if r.tall {
		h += arcRise
	}
	return h
}
