package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sweep is what a sweep came to: its pictures and tables are made of it.
type Sweep struct {
	Name, Title, About string
	Base               string // the scenario's name
	Axes               []SweepAxis
	Metrics            []string // names of [Columns]; [Failed] and [Wasted] among them
	Cells              []SweepCell
	Reference          int // the cell that the others are compared with
	Runs, Events       int
	Precision          float64 // half of each interval as a share of its mean, that was asked for; 0: none
}

// The two metrics that a front is of: what callers lose, and what a target that
// is out must bear.
const (
	Failed = "failed"
	Wasted = "wasted_attempts"
)

// SweepAxis is one setting and the values that were tried.
type SweepAxis struct {
	Path, Label string
	Values      []string
}

// SweepCell is one value of each axis under one policy.
type SweepCell struct {
	Values       []int // by axis; nil: no axis changes it
	Policy       string
	Replications int
	Figures      []SweepFigure // by metric
}

// SweepMean is a mean over replications, and its 95% confidence interval. What
// is undefined is NaN.
type SweepMean struct {
	N               int // replications in which it is defined
	Mean, Low, High float64
}

// sure says that the interval does not hold 0.
func (m *SweepMean) sure() bool { return m.Low > 0 || m.High < 0 }

// SweepFigure is one metric of one cell.
type SweepFigure struct {
	SweepMean
	Deviation                  float64
	Least, P10, P50, P90, Most float64   // over replications
	Against                    SweepMean // the mean difference to the reference, world by world
	Beside                     SweepMean // likewise, to the first policy with the same settings
}

// metric is the place of a metric in the figures, or -1.
func (s *Sweep) metric(name string) int { return slices.Index(s.Metrics, name) }

func (s *Sweep) figure(cell int, metric string) *SweepFigure {
	return &s.Cells[cell].Figures[s.metric(metric)]
}

// policies are those of the cells, in order.
func (s *Sweep) policies() (all []string) {
	for i := range s.Cells {
		if !slices.Contains(all, s.Cells[i].Policy) {
			all = append(all, s.Cells[i].Policy)
		}
	}
	return all
}

// settings are the cell's values in words, such as "failure_threshold 3,
// recovery_duration 30s"; of a cell that no axis changes there are none.
func (s *Sweep) settings(cell int) string {
	var parts []string
	for i, v := range s.Cells[cell].Values {
		parts = append(parts, s.Axes[i].Label+" "+s.Axes[i].Values[v])
	}
	return strings.Join(parts, ", ")
}

// name is the cell in words, with its policy where there are several.
func (s *Sweep) cellName(cell int) string {
	c := &s.Cells[cell]
	switch settings := s.settings(cell); {
	case settings == "":
		return c.Policy
	case len(s.policies()) == 1:
		return settings
	default:
		return settings + " under " + c.Policy
	}
}

// Front are the cells that no other one beats in both [Failed] and [Wasted], by
// their means; the fewest wasted attempts come first.
func (s *Sweep) Front() []int {
	var front []int
	for i := range s.Cells {
		own := s.point(i)
		beaten := math.IsNaN(own[0] + own[1])
		for k := range s.Cells {
			other := s.point(k)
			alike := other == own
			if other[0] <= own[0] && other[1] <= own[1] && (!alike || k < i) && k != i {
				beaten = true
			}
		}
		if !beaten {
			front = append(front, i)
		}
	}
	slices.SortFunc(front, func(a, b int) int { return cmp.Compare(s.point(a)[0], s.point(b)[0]) })
	return front
}

// point is where the cell is in the front's picture: wasted, failed.
func (s *Sweep) point(cell int) [2]float64 {
	return [2]float64{s.figure(cell, Wasted).Mean, s.figure(cell, Failed).Mean}
}

// Recommended is the knee of the front: the cell at which the two metrics, each
// as a share of its range along the front, sum to the least.
func (s *Sweep) Recommended() int {
	front := s.Front()
	if len(front) == 0 {
		return -1
	}
	first, last := s.point(front[0]), s.point(front[len(front)-1])
	share := func(v, from, to float64) float64 {
		if from == to {
			return 0
		}
		return (v - from) / (to - from)
	}
	knee := func(i int) float64 {
		p := s.point(i)
		return share(p[0], first[0], last[0]) + share(p[1], last[1], first[1])
	}
	best := front[0]
	for _, i := range front[1:] {
		if knee(i) < knee(best) {
			best = i
		}
	}
	return best
}

// Recommendation says in sentences what the sweep recommends, and what that costs.
func (s *Sweep) Recommendation() string {
	front, best := s.Front(), s.Recommended()
	if best < 0 {
		return "No setting has both figures of the front; there is nothing to recommend."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %s, %s on the front: no other has both fewer failed calls and fewer wasted attempts. ", plural(len(s.Cells), "cell", "cells"), areOn(len(front)))
	fmt.Fprintf(&b, "Take %s, the knee of the front. It costs %s failed calls and %s wasted attempts in a world, on average.",
		s.cellName(best), s.give(Failed, &s.figure(best, Failed).SweepMean), s.give(Wasted, &s.figure(best, Wasted).SweepMean))
	if best == s.Reference {
		b.WriteString(" It is the reference itself.")
	} else {
		fmt.Fprintf(&b, " Compared with the reference (%s), world by world, that is %s and %s.", s.cellName(s.Reference), s.change(best, Failed, "failed calls"), s.change(best, Wasted, "wasted attempts"))
	}
	if few, waste := front[len(front)-1], front[0]; few != waste {
		fmt.Fprintf(&b, " Whoever wants the fewest failed calls takes %s (%s failed, %s wasted); whoever wants the fewest wasted attempts takes %s (%s failed, %s wasted).",
			s.cellName(few), s.text(Failed, s.point(few)[1]), s.text(Wasted, s.point(few)[0]), s.cellName(waste), s.text(Failed, s.point(waste)[1]), s.text(Wasted, s.point(waste)[0]))
	}
	return b.String()
}

func areOn(n int) string {
	if n == 1 {
		return "1 is"
	}
	return strconv.Itoa(n) + " are"
}

// change says how the cell's figure differs from the reference's.
func (s *Sweep) change(cell int, metric, what string) string {
	d := s.figure(cell, metric).Against
	switch {
	case d.N < 2 || !d.sure():
		return "no sure difference in " + what
	case d.Mean < 0:
		return s.give(metric, &SweepMean{d.N, -d.Mean, -d.High, -d.Low}) + " fewer " + what
	default:
		return s.give(metric, &d) + " more " + what
	}
}

// give is a mean, give or take half of its interval: "812 ± 23".
func (s *Sweep) give(metric string, m *SweepMean) string {
	if m.N == 0 {
		return undefined
	}
	text := s.text(metric, m.Mean)
	if m.N < 2 {
		return text
	}
	return text + " ± " + s.text(metric, toDigits((m.High-m.Low)/2, 2))
}

// text is a figure for people, with three digits.
func (s *Sweep) text(metric string, v float64) string {
	switch unit := columnNamed(metric).Unit; {
	case math.IsNaN(v):
		return undefined
	case unit == Duration && v < 0:
		return "-" + s.text(metric, -v)
	case unit == Duration:
		return approx(nanoseconds(toDigits(v, 3)))
	default:
		return decimalText(v)
	}
}

// decimalText is a number with three digits, or all before the point, and a
// comma at each thousand.
func decimalText(v float64) string {
	if math.Abs(v) >= 100 {
		return Thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(toDigits(v, 3), 'f', -1, 64)
}

// toDigits is v to so many digits.
func toDigits(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// columnNamed is the column of that name. There is one.
func columnNamed(name string) *Column {
	return &Columns[slices.IndexFunc(Columns, func(c Column) bool { return c.Name == name })]
}
