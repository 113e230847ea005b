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
	Class Class         // below 16
	What  uint32        // at most MaxWhat
	Seq   uint64        // at most MaxSeq; orders events of one class at one instant: lower first, then by What
}

// Clock is virtual time and a queue of what is due. The zero Clock stands at 0.
type Clock struct {
	now   time.Duration
	due   due // at now
	later later
}

// Now is the instant of the event being played, at first 0.
func (c *Clock) Now() time.Duration { return c.now }

// Schedule puts e in the queue. An event due before now is played now.
func (c *Clock) Schedule(e Event) {
	if e.At <= c.now {
		c.due.put(pack(e).rest)
		return
	}
	c.later.put(pack(e))
}

// Until plays events in order, those at end included. The body may schedule
// more; the queue is looked at anew after each. What is later stays queued.
func (c *Clock) Until(end time.Duration) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for c.now <= end {
			if c.due.empty() {
				rests, ok := c.later.next(int64(end), c.due.run[:0])
				if !ok {
					return
				}
				c.due.fill(rests)
				c.now = time.Duration(c.later.base)
			}
			if !yield(unpack(c.now, c.due.take())) {
				return
			}
		}
	}
}
