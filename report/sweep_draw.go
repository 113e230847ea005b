package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Pictures are the names of the sweep's pictures: the front, what each axis does
// by itself, and a heat map for each metric.
func (s *Sweep) Pictures() []string {
	all := []string{"front", "tornado"}
	for _, m := range s.Metrics {
		all = append(all, "heat-"+m)
	}
	return all
}

// Draw lays out the picture of that name. The error is [ErrNothingToDraw] or says
// what is wrong with the look.
func (s *Sweep) Draw(name string, look Look) (*Drawing, error) {
	if err := look.Check(); err != nil {
		return nil, err
	}
	var d drawing
	var err error
	switch metric, heat := strings.CutPrefix(name, "heat-"); {
	case heat && s.metric(metric) >= 0:
		d, err = layOutHeat(s, metric, &look)
	case name == "front":
		d, err = layOutFront(s, &look)
	case name == "tornado":
		d, err = layOutTornado(s, &look)
	default:
		err = fmt.Errorf("a sweep has no picture %q; write one of %s", name, strings.Join(s.Pictures(), ", "))
	}
	if err != nil {
		return nil, err
	}
	return &Drawing{d, look.themes()}, nil
}

func newSweepSheet(kind string, s *Sweep, look *Look, about string) sheet {
	run := &trace.RunInfo{Scenario: s.Name, Title: s.Title}
	return newSheet("sweep-"+kind, &Results{Panels: []*History{{Run: run}}}, look, about)
}

// replications says in how many worlds cells were played.
func (s *Sweep) replications() string {
	least, most := math.MaxInt, 0
	for i := range s.Cells {
		least, most = min(least, s.Cells[i].Replications), max(most, s.Cells[i].Replications)
	}
	if least == most {
		return plural(most, "world", "worlds")
	}
	return Thousands(int64(least)) + " to " + Thousands(int64(most)) + " worlds"
}

// sweepUnit is what the figures of a metric are written in within one picture, so
// that they can be compared.
type sweepUnit struct {
	name string // empty: none
	size float64
}

// unitFor is the largest unit in which that is still two or more.
func unitFor(metric string, most float64) sweepUnit {
	if columnNamed(metric).Unit != Duration {
		return sweepUnit{"", 1}
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if most >= 2*float64(u.size) {
			return sweepUnit{u.name, float64(u.size)}
		}
	}
	return sweepUnit{"ns", 1}
}

// metricTitle is what a metric is called over a picture, with its unit.
func metricTitle(metric string, u sweepUnit) string {
	heading := columnNamed(metric).Heading
	if u.name != "" {
		heading += ", in " + u.name
	}
	return heading
}

// cellAt is the cell with those values under that policy, or -1.
func (s *Sweep) cellAt(values []int, policy string) int {
	return slices.IndexFunc(s.Cells, func(c SweepCell) bool {
		return c.Policy == policy && c.Values != nil && slices.Equal(c.Values, values)
	})
}

// scaleTicks are round values from least to most, about that many.
func scaleTicks(least, most float64, about int) (ticks []float64) {
	if most <= least {
		return []float64{least}
	}
	step := roundStep((most - least) / float64(about))
	for i := math.Ceil(least / step); i*step <= most*(1+1e-12); i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}
