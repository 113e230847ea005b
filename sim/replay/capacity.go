package replay

import (
	"math"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
)

// servers serve a target's attempts, first come, first served. What an attempt
// takes is then the work for a server; waiting for one comes on top.
type servers struct {
	free   int
	room   int // for those that wait
	waits  int // of the queue, those whose work was not taken back
	cancel bool
	queue  []waiting
	head   int // of the queue, what still waits
}

// waiting is work that no server has begun.
type waiting struct {
	slot   int // of its call
	number uint64
	work   time.Duration
}

// job is work that a server does.
type job struct {
	target int
	start  uint64 // which one it is; what else is done is of an earlier one
}

// limit is a rate limit: attempts may come as fast as one each `every`, and after
// a pause as many at once as the burst. It keeps the instant by which all that
// came so far would have come at that pace.
type limit struct {
	every, slack time.Duration
	paced        time.Duration
}

func newLimit(l *scenarios.Limit) *limit {
	if l == nil {
		return nil
	}
	return &limit{every: l.Every, slack: time.Duration(min(float64(l.Burst-1)*float64(l.Every), math.MaxInt64/4))}
}

// takes says whether an attempt at now is within the limit.
func (l *limit) takes(now time.Duration) bool { return l.paced-now <= l.slack }

// take counts it, if it is.
func (l *limit) take(now time.Duration) bool {
	if !l.takes(now) {
		return false
	}
	l.paced = max(l.paced, now) + l.every
	return true
}

// wait is how long it will be until an attempt is within the limit again.
func (l *limit) wait(now time.Duration) time.Duration { return l.paced - l.slack - now }

// limited says whether the target's limit counts the attempt: what is scripted
// to end in some way ends so.
func (r *run) limited(c *call, tg *target) bool {
	return tg.limit != nil && (c.script < 0 || r.s.Calls[c.script].Outcome == nil)
}

func newServers(c *scenarios.Capacity) *servers {
	if c == nil {
		return nil
	}
	s := &servers{free: c.Servers, room: math.MaxInt, cancel: c.CancelOnTimeout}
	if c.Queue != nil {
		s.room = *c.Queue
	}
	return s
}

// arrive lets the attempt's work begin, wait, or be turned away.
func (r *run) arrive(c *call, tg *target) {
	now, s := r.clock.Now(), tg.servers
	c.done, c.job = -1, -1
	switch w := (waiting{c.slot, c.number, c.fate.takes}); {
	case s.free > 0:
		r.begin(c.seat, w)
	case s.waits < s.room:
		s.queue = append(s.queue, w)
		s.waits++
	default:
		c.fate.outcome, c.done = scenarios.Failure, now
		r.endAt(c, now)
		return
	}
	if c.fate.within < math.MaxInt64-now {
		r.endAt(c, now+c.fate.within)
	}
}

// begin lets a server do the work. Its call may have stopped waiting.
func (r *run) begin(target int, w waiting) {
	now := r.clock.Now()
	r.targets[target].servers.free--
	r.served++
	j := job{target, r.served}
	at := len(r.jobs)
	if n := len(r.idle); n > 0 {
		at = r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.jobs[at] = j
	} else {
		r.jobs = append(r.jobs, j)
	}
	done := now + w.work
	r.clock.Schedule(sim.Event{At: done, Class: classFree, Seq: r.served, What: uint32(at)})
	if c := r.calls[w.slot]; c.number == w.number {
		c.done, c.job = done, at
		if done-c.began <= c.fate.within {
			r.endAt(c, done)
		}
	}
}

// free ends a job, and begins what waits.
func (r *run) free(at int, start uint64) {
	j := r.jobs[at]
	if j.start != start {
		return
	}
	r.jobs[at].start = 0
	r.idle = append(r.idle, at)
	s := r.targets[j.target].servers
	s.free++
	for s.free > 0 && s.head < len(s.queue) {
		w := s.queue[s.head]
		if s.head++; s.head > len(s.queue)/2 && s.head > 64 {
			s.queue = s.queue[:copy(s.queue, s.queue[s.head:])]
			s.head = 0
		}
		if s.cancel && r.calls[w.slot].number != w.number {
			continue // its caller took it back
		}
		s.waits--
		r.begin(j.target, w)
	}
}

// leave is the end of an attempt: with its work done, or because its caller
// waits no longer.
func (r *run) leave(c *call, tg *target) {
	if c.done >= 0 && c.done <= r.clock.Now() {
		return
	}
	c.fate.outcome = scenarios.Timeout
	switch s := tg.servers; {
	case s.cancel && c.job >= 0:
		r.free(c.job, r.jobs[c.job].start)
	case s.cancel:
		s.waits--
	}
}
