package sweep

import (
	"errors"
	"fmt"
	"strings"
)

// Part is a record of a shard, and what to call it in messages.
type Part struct {
	Name string
	*Reader
}

// Merge puts the records of all the shards of a sweep together: the rows come
// as they would from one machine. It refuses records that are not of one sweep,
// of one version and of one division, and what is there twice or not at all.
func Merge(parts []Part) (*Plan, Header, func(tell func(*Row) error) error, error) {
	fail := func(err error) (*Plan, Header, func(func(*Row) error) error, error) { return nil, Header{}, nil, err }
	if len(parts) == 0 {
		return fail(errors.New("there is nothing to merge"))
	}
	byShard, err := arrange(parts)
	if err != nil {
		return fail(err)
	}
	h := parts[0].Header
	p, err := h.Plan()
	if err != nil {
		return fail(err)
	}
	for _, part := range parts {
		part.For(p)
	}
	return p, h.Whole(), func(tell func(*Row) error) error { return interleave(p, h.Precision, byShard, tell) }, nil
}

// arrange finds the part of each shard, from the first.
func arrange(parts []Part) ([]Part, error) {
	first := parts[0]
	for _, p := range parts[1:] {
		switch {
		case p.Sweep != first.Sweep:
			return nil, fmt.Errorf("%s is of the sweep %s, and %s of %s; merge one sweep at a time", first.Name, first.Sweep, p.Name, p.Sweep)
		case p.Digest != first.Digest:
			return nil, fmt.Errorf("%s and %s are of two states of the sweep %s: its file or its base was changed in between; play the shards of one state", first.Name, p.Name, p.Sweep)
		case p.Version != first.Version:
			return nil, fmt.Errorf("%s was made by breakersim %s, and %s by %s; play all shards with one version", first.Name, first.Version, p.Name, p.Version)
		case p.Precision != first.Precision:
			return nil, fmt.Errorf("%s was played with a precision of %s, and %s with %s; play all shards with one", first.Name, percent(first.Precision), p.Name, percent(p.Precision))
		}
	}
	return complete(parts)
}

func percent(share float64) string {
	if share == 0 {
		return "none"
	}
	return fmt.Sprintf("%g%%", share*100)
}

// complete checks that every shard is there once.
func complete(parts []Part) ([]Part, error) {
	var all []Part
	n, by := 0, ""
	for _, p := range parts {
		if p.Shard == "" {
			return nil, fmt.Errorf("%s is of the whole sweep, and no shard; there is nothing to merge", p.Name)
		}
		s, err := ParseShard(p.Shard)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if n == 0 {
			n, by, all = s.N, p.Name, make([]Part, s.N)
		}
		switch {
		case s.N != n:
			return nil, fmt.Errorf("%s is one of %d shards, and %s one of %d; play all with one division", by, n, p.Name, s.N)
		case all[s.I-1].Reader != nil:
			return nil, fmt.Errorf("shard %d of %d is there twice: in %s and in %s; leave one of them out", s.I, n, all[s.I-1].Name, p.Name)
		}
		all[s.I-1] = p
	}
	var missing []string
	for i := range all {
		if all[i].Reader == nil {
			missing = append(missing, fmt.Sprint(i+1))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("of %d shards %s missing: %s; play them with --shard I/%[1]d", n, map[bool]string{true: "one is", false: "some are"}[len(missing) == 1], strings.Join(missing, ", "))
	}
	return all, nil
}

// interleave tells the rows of all shards in the order of one machine.
func interleave(p *Plan, precision float64, parts []Part, tell func(*Row) error) error {
	owner := p.owners(len(parts))
	s := newSchedule(p, p.cells(Shard{}), precision)
	for {
		t, ok := s.give()
		if !ok {
			break
		}
		part := &parts[owner[t.cell]-1]
		r, err := part.Next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", part.Name, err)
		case r == nil:
			return fmt.Errorf("%s is not done: replication %d of %s is missing; finish it with --resume", part.Name, t.replication, p.Name(t.cell))
		case t != task{r.Cell, r.Replication}:
			return fmt.Errorf("%s: %w", part.Name, ErrOutOfOrder)
		}
		s.tell(r)
		if err := tell(r); err != nil {
			return err
		}
	}
	for i := range parts {
		r, err := parts[i].Next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", parts[i].Name, err)
		case r != nil:
			return fmt.Errorf("%s has rows that are not of its shard", parts[i].Name)
		case !parts[i].Done():
			return fmt.Errorf("%s is not done; finish it with --resume", parts[i].Name)
		}
	}
	return nil
}
