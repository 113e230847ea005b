package sweep

// Figure is one metric of one cell over its replications.
type Figure struct {
	Estimate
	Deviation                  float64 // of a single replication
	Least, P10, P50, P90, Most float64 // over replications, by nearest rank
	// Against is the mean difference to the reference cell, and Beside that to the
	// first policy with the same settings: of pairs, each in one world. Of the
	// cell itself it is empty.
	Against, Beside Estimate
}

// Summary is what a sweep comes to.
type Summary struct {
	*Plan
	Against int // the cell that the others are compared with
	Rows    int
	Events  int
	Count   []int      // replications, by cell
	Figures [][]Figure // by cell and metric of the plan
}

// Summarizer takes rows in their order and keeps running sums.
type Summarizer struct {
	s      Summary
	cells  []cellSums
	beside []int       // by cell: the one of the first policy with the same settings
	block  [][]float64 // by cell: the metrics of the batch under way, a replication after the other
	from   int         // the batch's first replication
}

// cellSums are the sums of one cell, by metric.
type cellSums struct {
	moments, against, beside []moments
	ranks                    []ranks
}

// NewSummarizer begins with nothing.
func NewSummarizer(p *Plan) *Summarizer {
	z := &Summarizer{s: Summary{Plan: p, Against: p.Reference(), Count: make([]int, len(p.Cells))}, block: make([][]float64, len(p.Cells))}
	first := map[int]int{}
	for i := range p.Cells {
		n := len(p.Metrics)
		c := cellSums{make([]moments, n), make([]moments, n), make([]moments, n), nil}
		for _, m := range p.Metrics {
			c.ranks = append(c.ranks, newRanks(m))
		}
		z.cells = append(z.cells, c)
		setting := p.Cells[i].Setting
		if _, ok := first[setting]; !ok {
			first[setting] = i
		}
		z.beside = append(z.beside, first[setting])
	}
	return z
}

// Row takes the next one.
func (z *Summarizer) Row(r *Row) {
	if from := r.Replication - r.Replication%batch; from != z.from {
		z.pair()
		z.from = from
	}
	z.s.Rows++
	z.s.Events += r.Events
	z.s.Count[r.Cell]++
	c := &z.cells[r.Cell]
	for i, v := range r.Metrics {
		c.moments[i].add(v)
		c.ranks[i].add(v)
	}
	z.block[r.Cell] = append(z.block[r.Cell], r.Metrics...)
}

// pair ends a batch: the runs of one world are held against each other. A cell
// that has got fewer replications has no pairs with the others' further ones.
func (z *Summarizer) pair() {
	n := len(z.s.Plan.Metrics)
	add := func(sums []moments, own, other []float64) {
		for i := range min(len(own), len(other)) {
			sums[i%n].add(own[i] - other[i])
		}
	}
	for i := range z.cells {
		if i != z.s.Against {
			add(z.cells[i].against, z.block[i], z.block[z.s.Against])
		}
		if z.beside[i] != i {
			add(z.cells[i].beside, z.block[i], z.block[z.beside[i]])
		}
	}
	for i := range z.block {
		z.block[i] = z.block[i][:0]
	}
}

// Summary is what the rows so far come to.
func (z *Summarizer) Summary() *Summary {
	z.pair()
	s := z.s
	for i := range z.cells {
		c := &z.cells[i]
		var figures []Figure
		for k := range c.moments {
			q := &c.ranks[k]
			figures = append(figures, Figure{Estimate: c.moments[k].estimate(), Deviation: c.moments[k].deviation(),
				Least: q.at(0), P10: q.at(100), P50: q.at(500), P90: q.at(900), Most: q.at(1000),
				Against: c.against[k].estimate(), Beside: c.beside[k].estimate()})
		}
		s.Figures = append(s.Figures, figures)
	}
	return &s
}
