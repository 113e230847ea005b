package sweep

// batch is how many replications a cell gets before the next one has its turn.
// A sweep that is interrupted has about as many of every cell, and with a
// precision it is decided after each batch which cells go on.
const batch = 20

// patience bounds a precision: no cell gets more than so many times the
// replications that the sweep names.
const patience = 100

// task is one run.
type task struct{ cell, replication int }

// schedule is the order in which runs are told, whoever plays them: batch by
// batch, in each cell by cell. It depends on nothing but the plan and, with a
// precision, on what was told so far.
type schedule struct {
	open        []int // cells that go on
	from, to    int   // replications of the batch
	at, next    int   // index of the cell, and its next replication
	untold      int   // runs given out and not told yet
	least, most int   // replications
	precision   float64
	told        [][]moments // with a precision: by cell and metric
}

func newSchedule(p *Plan, cells []int, precision float64) *schedule {
	s := &schedule{open: cells, least: p.Replications, most: p.Replications, precision: precision}
	if precision > 0 {
		s.most *= patience
		s.told = make([][]moments, len(p.Cells))
		for i := range s.told {
			s.told[i] = make([]moments, len(p.Metrics))
		}
	}
	s.begin(0)
	return s
}

// begin begins a batch.
func (s *schedule) begin(from int) {
	s.from, s.to, s.at, s.next = from, min(from+batch, s.most), 0, from
}

// give is the next run. It is false if there is none, or if it is not known as
// yet whether there is one.
func (s *schedule) give() (t task, ok bool) {
	if s.at == len(s.open) {
		if s.precision > 0 && s.untold > 0 {
			return t, false
		}
		s.decide()
	}
	if len(s.open) == 0 || s.from >= s.most {
		return t, false
	}
	t = task{s.open[s.at], s.next}
	s.untold++
	if s.next++; s.next == s.to {
		s.at, s.next = s.at+1, s.from
	}
	return t, true
}

// decide ends a batch, and drops the cells that need no further one.
func (s *schedule) decide() {
	if s.precision > 0 && s.to >= s.least {
		var open []int
		for _, c := range s.open {
			if !s.narrow(c) {
				open = append(open, c)
			}
		}
		s.open = open
	}
	s.begin(s.to)
}

// narrow says whether every interval of the cell is as narrow as was asked for.
func (s *schedule) narrow(cell int) bool {
	for i := range s.told[cell] {
		m := &s.told[cell][i]
		if half := m.half(); m.n > 1 && !(half <= s.precision*max(m.mean, -m.mean)) {
			return false
		}
	}
	return true
}

// tell takes what came of a run, in the order in which they were given.
func (s *schedule) tell(r *Row) {
	s.untold--
	if s.precision > 0 {
		for i, v := range r.Metrics {
			s.told[r.Cell][i].add(v)
		}
	}
}

// runs is how many runs there will be at least.
func (s *schedule) runs() int { return len(s.open) * s.least }
