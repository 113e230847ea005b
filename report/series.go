package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Series is a sink that counts a run second by second. A run too long for that
// is counted in wider bins, so that its memory is bounded.
type Series struct {
	Policy string
	Bin    time.Duration // how wide a bin is: one of bins
	Bins   []Bin         // from 0 to the end

	parts  []*seriesPart          // by target, in the order of the scenario; none where they are many
	byName map[string]*seriesPart // of targets
	gates  map[string]string      // the target of each breaker

	inside map[string]Bin // what each target of bounded capacity does, by its last Load
	busy   int            // over all of them
	queue  int
}

// seriesPart is the share of one target: what is asked of it, and what is turned
// away by its breaker.
type seriesPart struct {
	target string
	Series
}

// mostParts is how many targets a run can have that is counted by target as well.
const mostParts = 4

// Bin is what happened within [k, k+1) times the width.
type Bin struct {
	Attempts int // started
	Good     int // calls that succeeded
	Refused  int // calls refused, or exhausted
	Busy     int // attempts being served by targets of bounded capacity; the most at any whole second
	Queue    int // attempts that wait for those; likewise
}

// bins are the widths, each a multiple of the one before.
var bins = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 2400 * time.Hour}

// mostBins is when they become wider: two hours of seconds.
const mostBins = 7200

// NewSeries is for one run.
func NewSeries() *Series { return &Series{Bin: bins[0], inside: map[string]Bin{}} }

// Event counts one event.
func (s *Series) Event(e *trace.Event) error {
	switch e.Kind {
	case trace.Run:
		s.begin(e.Run)
		return nil
	case trace.End:
		for _, p := range s.parts {
			p.count(e)
		}
	default:
		if p := s.partOf(e); p != nil {
			p.count(e)
		}
	}
	s.count(e)
	return nil
}

func (s *Series) begin(r *trace.RunInfo) {
	s.Policy = r.Policy
	if len(r.Targets) < 2 || len(r.Targets) > mostParts {
		return
	}
	s.byName, s.gates = map[string]*seriesPart{}, map[string]string{}
	for i := range r.Targets {
		p := &seriesPart{r.Targets[i].Name, *NewSeries()}
		s.parts = append(s.parts, p)
		s.byName[p.target] = p
	}
	for i := range r.Breakers {
		s.gates[r.Breakers[i].Name] = r.Breakers[i].Main()
	}
}

// partOf is the one that the event belongs to; nil is none.
func (s *Series) partOf(e *trace.Event) *seriesPart {
	if e.Kind == trace.Refuse || e.Kind == trace.Exhausted {
		return s.byName[s.gates[e.Breaker]]
	}
	return s.byName[e.Target]
}

// count takes an event that belongs to it.
func (s *Series) count(e *trace.Event) {
	switch {
	case e.Kind == trace.Admit, e.Kind == trace.Call && e.Target != "":
		s.at(e.T).Attempts++
	case e.Kind == trace.Result && e.Outcome == trace.Success:
		s.at(e.T).Good++
	case e.Kind == trace.Refuse, e.Kind == trace.Exhausted:
		s.at(e.T).Refused++
	case e.Kind == trace.Load:
		b := s.at(e.T)
		before := s.inside[e.Target]
		s.busy += e.Busy - before.Busy
		s.queue += e.Waiting - before.Queue
		s.inside[e.Target] = Bin{Busy: e.Busy, Queue: e.Waiting}
		if e.T%s.Bin == 0 { // the bin begins with it, not with what was before
			b.Busy, b.Queue = s.busy, s.queue
		}
		b.Busy, b.Queue = max(b.Busy, s.busy), max(b.Queue, s.queue)
	case e.Kind == trace.End:
		if e.T > 0 {
			s.at(e.T - 1)
		}
	}
}

// at is the bin of the instant t, which is in the last one or after it.
func (s *Series) at(t time.Duration) *Bin {
	for int(t/s.Bin) >= mostBins && s.Bin < bins[len(bins)-1] {
		s.widen()
	}
	for len(s.Bins) <= int(t/s.Bin) {
		s.Bins = append(s.Bins, Bin{Busy: s.busy, Queue: s.queue})
	}
	return &s.Bins[t/s.Bin]
}

// asked says whether anybody called.
func (s *Series) asked() bool {
	return slices.ContainsFunc(s.Bins, func(b Bin) bool { return b.Attempts+b.Refused > 0 })
}

// bounded says whether attempts were counted within a target of bounded capacity.
func (s *Series) bounded() bool {
	return slices.ContainsFunc(s.Bins, func(b Bin) bool { return b.Busy+b.Queue > 0 })
}

// widen puts bins together into the next wider ones.
func (s *Series) widen() {
	k := 0
	for bins[k] != s.Bin {
		k++
	}
	factor := int(bins[k+1] / bins[k])
	s.Bin = bins[k+1]
	var wide []Bin
	for i, b := range s.Bins {
		if i%factor == 0 {
			wide = append(wide, Bin{})
		}
		w := &wide[len(wide)-1]
		w.Attempts += b.Attempts
		w.Good += b.Good
		w.Refused += b.Refused
		w.Busy, w.Queue = max(w.Busy, b.Busy), max(w.Queue, b.Queue)
	}
	s.Bins = wide
}

// WriteSeries writes the series of runs as CSV, a line for each bin: where it
// begins and how wide it is, in seconds, and what is in it.
func WriteSeries(w io.Writer, all []*Series) error {
	c := csv.NewWriter(w)
	c.Write([]string{"policy", "second", "width", "attempts", "goodput", "refused", "busy", "waiting"}) // the writer keeps its first error
	for _, s := range all {
		width := int(s.Bin / time.Second)
		for k, b := range s.Bins {
			line := []string{s.Policy}
			for _, v := range []int{k * width, width, b.Attempts, b.Good, b.Refused, b.Busy, b.Queue} {
				line = append(line, strconv.Itoa(v))
			}
			c.Write(line)
		}
	}
	c.Flush()
	return c.Error()
}
