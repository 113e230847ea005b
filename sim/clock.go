// Package sim is a virtual-time engine: a clock with what is still to come, and
// randomness that has a name. It knows nothing of breakers.
package sim

import (
	"iter"
	"time"
)

// Class orders what happens at one instant: lower first.
type Class uint8

// Event is something due at an instant. What is the owner's: the engine does
// not look at it.
type Event struct {
	At    time.Duration // since the start
	Class Class
	What  uint32
	Seq   uint64 // orders events of one class at one instant: lower first
}

// before is the one order of events: by instant, class and sequence. Events
// that agree in all three are equal, and their owner must not care.
func (e *Event) before(o *Event) bool {
	if e.At != o.At {
		return e.At < o.At
	}
	if e.Class != o.Class {
		return e.Class < o.Class
	}
	return e.Seq < o.Seq
}

// Clock is virtual time and a queue of what is due: a four-ary heap of values,
// which neither allocates nor chases pointers. The zero Clock stands at 0.
type Clock struct {
	now  time.Duration
	heap []Event
}

// Now is the instant of the event being played, at first 0.
func (c *Clock) Now() time.Duration { return c.now }

// Schedule puts e in the queue. An event due before now is played now.
func (c *Clock) Schedule(e Event) {
	e.At = max(e.At, c.now)
	c.heap = append(c.heap, e)
	i := len(c.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&c.heap[parent]) {
			break
		}
		c.heap[i] = c.heap[parent]
		i = parent
	}
	c.heap[i] = e
}

// Until plays events in order, those at end included. The body may schedule
// more; the queue is looked at anew after each. What is later stays queued.
func (c *Clock) Until(end time.Duration) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for len(c.heap) > 0 && c.heap[0].At <= end {
			e := c.pop()
			c.now = e.At
			if !yield(e) {
				return
			}
		}
	}
}

func (c *Clock) pop() Event {
	first := c.heap[0]
	last := c.heap[len(c.heap)-1]
	c.heap = c.heap[:len(c.heap)-1]
	if len(c.heap) > 0 {
		c.sink(last)
	}
	return first
}

// sink places e at the root and moves it down to where it belongs.
func (c *Clock) sink(e Event) {
	i := 0
	for {
		child := 4*i + 1
		if child >= len(c.heap) {
			break
		}
		least := child
		for k := child + 1; k < min(child+4, len(c.heap)); k++ {
			if c.heap[k].before(&c.heap[least]) {
				least = k
			}
		}
		if !c.heap[least].before(&e) {
			break
		}
		c.heap[i] = c.heap[least]
		i = least
	}
	c.heap[i] = e
}
