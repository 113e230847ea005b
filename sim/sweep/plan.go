// Package sweep plays a scenario with many settings in many drawn worlds, and
// says how sure the figures are that come of it.
package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
)

// Plan is a sweep's cells and worlds, before anything is played.
type Plan struct {
	*scenarios.Sweep
	Cells   []Cell // by setting, and below that by policy; those that no axis changes come last
	Metrics []scenarios.Metric
	root    sim.Key
	lock    sync.Mutex
	loaded  map[[2]int]*loaded // scenarios by setting and kind of world
}

// Cell is one value of each axis under one policy.
type Cell struct {
	Setting int   // -1: no axis changes it
	Values  []int // by axis
	Policy  string
}

// loaded is a scenario, read once.
type loaded struct {
	once sync.Once
	s    *scenarios.Scenario
	err  error
}

// always are metrics that every sweep measures: those of the front.
var always = []string{"failed", "wasted_attempts"}

// NewPlan lays out the cells of a sweep.
func NewPlan(s *scenarios.Sweep) *Plan {
	p := &Plan{Sweep: s, Metrics: slices.Clone(s.Metrics), root: sim.NewKey(s.Seed), loaded: map[[2]int]*loaded{}}
	for _, m := range scenarios.Metrics {
		if slices.Contains(always, m.Name) && !slices.Contains(p.Metrics, m) {
			p.Metrics = append(p.Metrics, m)
		}
	}
	for setting := range s.Settings() {
		values := p.values(setting)
		for _, policy := range s.Policies {
			if !policy.Flat {
				p.Cells = append(p.Cells, Cell{setting, values, policy.Name})
			}
		}
	}
	for _, policy := range s.Policies {
		if policy.Flat {
			p.Cells = append(p.Cells, Cell{-1, s.Reference, policy.Name})
		}
	}
	return p
}

// values are those of a setting: the last axis changes fastest.
func (p *Plan) values(setting int) []int {
	all := make([]int, len(p.Axes))
	for i := len(p.Axes) - 1; i >= 0; i-- {
		n := len(p.Axes[i].Values)
		all[i], setting = setting%n, setting/n
	}
	return all
}

// Reference is the cell that the others are compared with: the reference's
// values under the first policy that the axes change.
func (p *Plan) Reference() int {
	return slices.IndexFunc(p.Cells, func(c Cell) bool { return slices.Equal(c.Values, p.Sweep.Reference) })
}

// Settings are the cell's values in words, by axis; empty where it has none.
func (p *Plan) Settings(cell int) []string {
	c := &p.Cells[cell]
	all := make([]string, len(p.Axes))
	for i := range all {
		if c.Setting >= 0 {
			all[i] = p.Axes[i].Values[c.Values[i]]
		}
	}
	return all
}

// Seed is that of a replication, the same in every cell: its worlds are alike.
// It has 53 bits, so that every reader of JSON keeps it whole.
func (p *Plan) Seed(replication int) uint64 {
	return uint64(p.root.Name("replication").Number(uint64(replication))) >> 11
}

// choices draws the kind of world of a replication.
func (p *Plan) choices(replication int) (each []int, kind int) {
	for i := range p.Worlds {
		w := &p.Worlds[i]
		u := p.root.Name("worlds").Name(w.Path).Number(uint64(replication)).Uniform()
		k := 0
		for ; k < len(w.Choices)-1; k++ {
			if u -= w.Choices[k].P; u < 0 {
				break
			}
		}
		each, kind = append(each, k), kind*len(w.Choices)+k
	}
	return each, kind
}

// scenario is the world of a replication with the cell's settings.
func (p *Plan) scenario(cell, replication int) (*scenarios.Scenario, *scenarios.Policy, error) {
	c := &p.Cells[cell]
	choices, kind := p.choices(replication)
	key := [2]int{c.Setting, kind}
	p.lock.Lock()
	l := p.loaded[key]
	if l == nil {
		l = new(loaded)
		p.loaded[key] = l
	}
	p.lock.Unlock()
	l.once.Do(func() { l.s, l.err = p.Sweep.Scenario(c.Values, choices) })
	if l.err != nil {
		return nil, nil, &CellError{p.Name(cell), l.err}
	}
	own := *l.s
	own.Seed = p.Seed(replication)
	for i := range own.Policies {
		if own.Policies[i].Name == c.Policy {
			return &own, &own.Policies[i], nil
		}
	}
	return nil, nil, &CellError{p.Name(cell), errors.New("the base has no such policy with these settings")}
}

// CellError is what is wrong with a cell whose values do not go together.
type CellError struct {
	Cell string
	err  error
}

func (e *CellError) Error() string { return e.Cell + ": " + e.err.Error() }

// Unwrap is what was wrong.
func (e *CellError) Unwrap() error { return e.err }

// Name is the cell in words: "failure_threshold 3, recovery_duration 30s, breaker".
func (p *Plan) Name(cell int) string {
	var parts []string
	for i, v := range p.Settings(cell) {
		if v != "" {
			parts = append(parts, p.Axes[i].Label+" "+v)
		}
	}
	return strings.Join(append(parts, p.Cells[cell].Policy), ", ")
}

// Shard is a part of the cells, so that several machines share a sweep. The zero
// Shard is all of them.
type Shard struct{ I, N int } // I from 1 to N

// ParseShard reads "2/7".
func ParseShard(text string) (s Shard, err error) {
	i, n, ok := strings.Cut(text, "/")
	if s.I, err = strconv.Atoi(i); err == nil {
		s.N, err = strconv.Atoi(n)
	}
	switch {
	case !ok || err != nil || s.N < 1 || s.N > 1_000_000:
		return s, fmt.Errorf("%q is no shard; write the second of seven as 2/7", text)
	case s.I < 1 || s.I > s.N:
		return s, fmt.Errorf("there is no shard %d of %d; they count from 1 to %[2]d", s.I, s.N)
	}
	return s, nil
}

func (s Shard) String() string {
	if s.N == 0 {
		return ""
	}
	return strconv.Itoa(s.I) + "/" + strconv.Itoa(s.N)
}

// owners says by cell which of n shards plays it, from 1. The cells are dealt
// out in the order of their hashes: shards differ by one cell at most, and dear
// neighbours are spread.
func (p *Plan) owners(n int) []int {
	type hashed struct {
		hash uint64
		cell int
	}
	all := make([]hashed, len(p.Cells))
	for i := range all {
		h := fnv.New64a()
		fmt.Fprintf(h, "%q %q", p.Settings(i), p.Cells[i].Policy)
		all[i] = hashed{uint64(sim.NewKey(h.Sum64())), i}
	}
	slices.SortFunc(all, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.cell, b.cell)) })
	owner := make([]int, len(all))
	for rank, h := range all {
		owner[h.cell] = rank%max(1, n) + 1
	}
	return owner
}

// cells are those of the shard, in order.
func (p *Plan) cells(s Shard) (own []int) {
	owner := p.owners(s.N)
	for i := range p.Cells {
		if s.N == 0 || owner[i] == s.I {
			own = append(own, i)
		}
	}
	return own
}

// undefined is a metric that a run does not have.
var undefined = math.NaN()
