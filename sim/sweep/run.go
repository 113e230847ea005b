package sweep

import (
	"context"
	"sync"

	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// Meter measures one run as it goes.
type Meter interface {
	trace.Sink
	// Metric is a column of the cost table after the run's end, in nanoseconds if
	// it is a duration. It says false where it is undefined.
	Metric(name string) (float64, bool)
}

// Options are how a plan is played.
type Options struct {
	Workers   int                  // at one time; 0: one
	Meter     func() Meter         // a new one for each run
	Shard     Shard                // the zero one: everything
	Precision float64              // half of each interval as a share of its mean; 0: as many replications as the sweep says
	Kept      func() (*Row, error) // rows of an earlier try, in order; nil, nil at their end; nil: there are none
}

// Row is what came of one run.
type Row struct {
	Cell        int
	Replication int
	Seed        uint64
	Events      int       // of its trace
	Metrics     []float64 // by metric of the plan; NaN: undefined
}

// Progress is how far a sweep has come.
type Progress struct {
	Done   int // runs
	Of     int // at least
	Played int // runs that were not kept from an earlier try
	Events int // of those
	Cells  int // that go on
}

// Play plays the runs and tells what came of each, always in the same order,
// whatever the number of workers. Those that were kept are not told again. It
// ends early, without an error, when ctx does.
func (p *Plan) Play(ctx context.Context, o Options, tell func(*Row, Progress) error) error {
	s := newSchedule(p, p.cells(o.Shard), o.Precision)
	progress := Progress{Of: s.runs()}
	if o.Kept != nil {
		n, err := s.keep(o.Kept)
		if err != nil {
			return err
		}
		progress.Done = n
	}
	c := newCrew(p, o)
	defer c.leave()
	for ctx.Err() == nil {
		c.fill(s)
		if len(c.pending) == 0 {
			return nil
		}
		j := c.pending[0]
		select {
		case <-ctx.Done():
			return nil
		case <-j.done:
		}
		c.pending = c.pending[1:]
		if j.err != nil {
			return j.err
		}
		s.tell(&j.row)
		progress.Done++
		progress.Played++
		progress.Events += j.row.Events
		progress.Of, progress.Cells = max(progress.Of, progress.Done), len(s.open)
		if err := tell(&j.row, progress); err != nil {
			return err
		}
	}
	return nil
}

// keep takes what an earlier try left, and says how much that was.
func (s *schedule) keep(next func() (*Row, error)) (n int, err error) {
	for {
		r, err := next()
		if r == nil || err != nil {
			return n, err
		}
		if t, ok := s.give(); !ok || t != (task{r.Cell, r.Replication}) {
			return n, ErrOutOfOrder
		}
		s.tell(r)
		n++
	}
}

// job is a run that a worker has, or will have.
type job struct {
	task
	row  Row
	err  error
	done chan struct{}
}

// crew is workers, and the jobs that they were given, in order.
type crew struct {
	jobs    chan *job
	pending []*job
	ahead   int // jobs that wait for an earlier one, at most
	workers sync.WaitGroup
}

func newCrew(p *Plan, o Options) *crew {
	n := max(1, o.Workers)
	c := &crew{ahead: 16 * n}
	c.jobs = make(chan *job, c.ahead)
	for range n {
		c.workers.Go(func() {
			for j := range c.jobs {
				j.row, j.err = p.play(j.task, o.Meter())
				close(j.done)
			}
		})
	}
	return c
}

// fill gives out runs as far ahead as may be.
func (c *crew) fill(s *schedule) {
	for len(c.pending) < c.ahead {
		t, ok := s.give()
		if !ok {
			return
		}
		j := &job{task: t, done: make(chan struct{})}
		c.pending = append(c.pending, j)
		c.jobs <- j
	}
}

// leave sends the workers home. What nobody began is left undone.
func (c *crew) leave() {
	close(c.jobs)
	for range c.jobs { // nobody needs these any more
	}
	c.workers.Wait()
}

// counted counts events on their way to the meter.
type counted struct {
	Meter
	n int
}

func (c *counted) Event(e *trace.Event) error {
	c.n++
	return c.Meter.Event(e)
}

// play plays one run. The first of each cell is held against the rules of traces.
func (p *Plan) play(t task, meter Meter) (Row, error) {
	s, policy, err := p.scenario(t.cell, t.replication)
	if err != nil {
		return Row{}, err
	}
	count := counted{Meter: meter}
	sinks := []trace.Sink{&count}
	check := new(trace.Validator)
	if t.replication == 0 {
		sinks = append(sinks, check)
	}
	_, err = replay.Run(s, policy, replay.Options{Sinks: sinks})
	if err == nil && t.replication == 0 {
		err = check.Done()
	}
	if err != nil {
		return Row{}, &CellError{p.Name(t.cell), err}
	}
	r := Row{Cell: t.cell, Replication: t.replication, Seed: s.Seed, Events: count.n}
	for _, m := range p.Metrics {
		v, ok := meter.Metric(m.Name)
		if !ok {
			v = undefined
		}
		r.Metrics = append(r.Metrics, v)
	}
	return r, nil
}
