package sim

import (
	"math/bits"
	"slices"
	"time"
)

// entry is an event in the queue: its instant, and the rest of it in one word
// whose order is that of class and sequence.
type entry struct {
	at   int64
	rest uint64
}

// Bits of the word.
const (
	whatBits = 28
	seqBits  = 32
)

// What an event can have at most.
const (
	MaxSeq  = 1<<seqBits - 1
	MaxWhat = 1<<whatBits - 1
)

func pack(e Event) entry {
	if e.Class >= 1<<(64-whatBits-seqBits) || e.Seq > MaxSeq || e.What > MaxWhat {
		panic("sim: an event's class, sequence or number is too large")
	}
	return entry{int64(e.At), uint64(e.Class)<<(whatBits+seqBits) | e.Seq<<whatBits | uint64(e.What)}
}

func unpack(at time.Duration, rest uint64) Event {
	return Event{At: at, Class: Class(rest >> (whatBits + seqBits)), Seq: rest >> whatBits & (1<<seqBits - 1), What: uint32(rest & (1<<whatBits - 1))}
}

// later is a monotone radix queue of the events after its base. An event lies by
// the highest digit in which its instant differs from the base, so those of the
// lowest level that is not empty come first. As the base moves up, what is left
// of a slot is spread over the levels below it: each event moves once a level
// at most, and equal instants stay together.
type later struct {
	base   int64
	filled [levels]uint64 // a bit for each slot that has events
	slots  [levels][slots]slot
	spare  *chunk
}

const (
	digit  = 6
	slots  = 1 << digit
	levels = (63 + digit - 1) / digit
)

// slot is a few events in no order: the first of them, and chunks of more.
type slot struct {
	first entry
	more  *chunk
}

type chunk struct {
	next *chunk
	n    int
	e    [15]entry
}

// put takes an event that is later than the base.
func (q *later) put(e entry) {
	level := (bits.Len64(uint64(e.at^q.base)) - 1) / digit
	i := uint64(e.at) >> (level * digit) & (slots - 1)
	s := &q.slots[level][i]
	if bit := uint64(1) << i; q.filled[level]&bit == 0 {
		q.filled[level] |= bit
		s.first = e
		return
	}
	if s.more == nil || s.more.n == len(s.more.e) {
		c := q.spare
		if c == nil {
			c = new(chunk)
		} else {
			q.spare = c.next
		}
		c.next, c.n = s.more, 0
		s.more = c
	}
	s.more.e[s.more.n] = e
	s.more.n++
}

// next moves the base to the earliest instant that has events, if that is not
// after end, and appends the rests of its events to due.
func (q *later) next(end int64, due []uint64) ([]uint64, bool) {
	level := 0
	for q.filled[level] == 0 {
		if level++; level == levels {
			return due, false
		}
	}
	i := bits.TrailingZeros64(q.filled[level])
	s := &q.slots[level][i]
	earliest := s.first.at
	if level > 0 { // in level 0 all are of one instant
		for c := s.more; c != nil; c = c.next {
			for k := range c.e[:c.n] {
				earliest = min(earliest, c.e[k].at)
			}
		}
	}
	if earliest > end {
		return due, false
	}
	q.base = earliest
	q.filled[level] &^= 1 << i
	first, more := s.first, oldestFirst(s.more) // events of one instant mostly came in their order
	s.more = nil
	due = q.move(first, due)
	for more != nil {
		c := more
		for k := range c.e[:c.n] {
			due = q.move(c.e[k], due)
		}
		more = c.next
		c.next, q.spare = q.spare, c
	}
	return due, true
}

// oldestFirst turns a list of chunks round.
func oldestFirst(c *chunk) *chunk {
	var done *chunk
	for c != nil {
		c, c.next, done = c.next, done, c
	}
	return done
}

// move puts e where it belongs now that the base has moved.
func (q *later) move(e entry, due []uint64) []uint64 {
	if e.at == q.base {
		return append(due, e.rest)
	}
	q.put(e)
	return due
}

// due holds the rests of the events of one instant: a run in order, which most
// of them continue, and a heap of those that do not.
type due struct {
	run  []uint64
	from int // of the run, what is still to come
	heap []uint64
}

func (d *due) empty() bool { return d.from == len(d.run) && len(d.heap) == 0 }

// fill starts a run, from events in no order.
func (d *due) fill(rests []uint64) {
	if !slices.IsSorted(rests) {
		slices.Sort(rests)
	}
	d.run, d.from = rests, 0
}

func (d *due) put(rest uint64) {
	if n := len(d.run); d.from == n {
		d.run, d.from = append(d.run[:0], rest), 0
		return
	} else if rest >= d.run[n-1] {
		if n == cap(d.run) && d.from > n/2 { // the front is free again
			d.run = d.run[:copy(d.run, d.run[d.from:])]
			d.from = 0
		}
		d.run = append(d.run, rest)
		return
	}
	d.heap = append(d.heap, rest)
	i := len(d.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if rest >= d.heap[parent] {
			break
		}
		d.heap[i] = d.heap[parent]
		i = parent
	}
	d.heap[i] = rest
}

// take takes the first of them off; there is one.
func (d *due) take() uint64 {
	if len(d.heap) == 0 || d.from < len(d.run) && d.run[d.from] <= d.heap[0] {
		d.from++
		return d.run[d.from-1]
	}
	first := d.heap[0]
	n := len(d.heap) - 1
	last := d.heap[n]
	d.heap = d.heap[:n]
	if n == 0 {
		return first
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for k := child + 1; k < min(child+4, n); k++ {
			if d.heap[k] < d.heap[least] {
				least = k
			}
		}
		if d.heap[least] >= last {
			break
		}
		d.heap[i] = d.heap[least]
		i = least
	}
	d.heap[i] = last
	return first
}
