package replay

import (
	"math"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim"
	"github.com/breakersim/breakersim/sim/trace"
)

// servers serve a target's attempts, first come, first served. What an attempt
// takes is then the work for a server; waiting for one comes on top.
type servers struct {
	all      int
	busy     int
	room     int // for those that wait
	waits    int // of the queue, those whose work was not taken back
	cancel   bool
	slowdown time.Duration // of work that begins, by each other that is being done
	queue    []waiting
	head     int     // of the queue, what still waits
	backlog  float64 // the work of those that still wait, in nanoseconds

	toldBusy, toldWaits int
}

// waiting is work that no server has begun.
type waiting struct {
	slot   int // of its call
	number uint64
	work   time.Duration
}

// arrival is work on its way to a target.
type arrival struct {
	target int
	waiting
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
	return &limit{every: l.Every, slack: times(l.Burst-1, l.Every)}
}

// times is n times d, or the longest span there is.
func times(n int, d time.Duration) time.Duration {
	return time.Duration(min(float64(n)*float64(d), float64(longest)))
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
	s := &servers{all: c.Servers, room: math.MaxInt, cancel: c.CancelOnTimeout, slowdown: c.Slowdown}
	if c.Servers == 0 {
		s.all = math.MaxInt
	}
	if c.Queue != nil {
		s.room = *c.Queue
	}
	return s
}

// send lets the attempt's work go to the target.
func (r *run) send(c *call) {
	now := r.clock.Now()
	c.done, c.job, c.there = -1, -1, false
	if c.fate.within < math.MaxInt64-now {
		r.endAt(c, now+c.fate.within)
	}
	a := arrival{c.seat, waiting{c.slot, c.number, c.fate.takes}}
	if c.fate.there == 0 {
		r.arrive(a)
		return
	}
	at := len(r.under)
	if n := len(r.landed); n > 0 {
		at = r.landed[n-1]
		r.landed = r.landed[:n-1]
		r.under[at] = a
	} else {
		r.under = append(r.under, a)
	}
	r.clock.Schedule(sim.Event{At: now + c.fate.there, Class: classArrive, Seq: c.number, What: uint32(at)})
}

// land ends the way of an arrival.
func (r *run) land(at int) {
	a := r.under[at]
	r.landed = append(r.landed, at)
	r.arrive(a)
}

// arrive lets work begin, wait, or be turned away. Its call may have stopped
// waiting.
func (r *run) arrive(a arrival) {
	s, c := r.targets[a.target].servers, r.calls[a.slot]
	waited := c.number == a.number
	if waited {
		c.there = true
	} else if s.cancel {
		return // its caller took it back
	}
	switch {
	case s.busy < s.all:
		r.begin(a.target, a.waiting)
	case s.waits < s.room:
		r.tidy(s)
		s.queue = append(s.queue, a.waiting)
		s.backlog += float64(a.work)
		s.waits++
	case waited:
		c.fate.outcome, c.there = scenarios.Failure, false
		r.answerAt(c, r.clock.Now())
	}
}

// tidy takes out of the queue what was taken back, once that is most of it.
func (r *run) tidy(s *servers) {
	if !s.cancel || len(s.queue)-s.head <= 2*s.waits+64 {
		return
	}
	waits := s.queue[:0]
	for _, w := range s.queue[s.head:] {
		if r.calls[w.slot].number == w.number {
			waits = append(waits, w)
		}
	}
	s.queue, s.head = waits, 0
}

// wait is about how long work that comes now would wait for a server: as if the
// servers shared evenly what waits already.
func (s *servers) wait() time.Duration {
	if s == nil || s.busy < s.all {
		return 0
	}
	return time.Duration(min(s.backlog/float64(s.all), float64(longest)))
}

// full says whether work that comes now is turned away.
func (s *servers) full() bool { return s != nil && s.busy >= s.all && s.waits >= s.room }

// answerAt plans the answer of work that is done at that instant, if its caller
// waits for it.
func (r *run) answerAt(c *call, done time.Duration) {
	c.done = done + c.fate.back
	if c.done-c.began <= c.fate.within {
		r.endAt(c, c.done)
	}
}

// begin lets a server do the work.
func (r *run) begin(target int, w waiting) {
	now, s := r.clock.Now(), r.targets[target].servers
	done := now + w.work + times(s.busy, s.slowdown)
	s.busy++
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
	r.clock.Schedule(sim.Event{At: done, Class: classFree, Seq: r.served, What: uint32(at)})
	if c := r.calls[w.slot]; c.number == w.number {
		c.job, c.work = at, r.served
		r.work(c, now)
		r.answerAt(c, done)
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
	s.busy--
	for s.busy < s.all && s.head < len(s.queue) {
		w := s.queue[s.head]
		if s.head++; s.head > len(s.queue)/2 && s.head > 64 {
			s.queue = s.queue[:copy(s.queue, s.queue[s.head:])]
			s.head = 0
		}
		if s.cancel && r.calls[w.slot].number != w.number {
			continue // its caller took it back
		}
		s.gone(w.work)
		r.begin(j.target, w)
	}
}

// leave is the end of an attempt: with its answer, or because its caller waits
// no longer.
func (r *run) leave(c *call, tg *target) {
	if c.done >= 0 && c.done <= r.clock.Now() {
		return
	}
	c.fate.outcome = c.fate.cut
	r.takeBack(c, tg)
}

// takeBack takes the work of an attempt from the target, if that can be done.
func (r *run) takeBack(c *call, tg *target) {
	switch s := tg.servers; {
	case s == nil || !s.cancel || c.done == noWork:
	case c.job >= 0:
		r.free(c.job, c.work) // nothing if it is done
	case c.there:
		s.gone(c.fate.takes)
	}
}

// gone says that so much work waits no more.
func (s *servers) gone(work time.Duration) {
	s.waits--
	if s.backlog -= float64(work); s.waits == 0 {
		s.backlog = 0 // whatever was lost to rounding
	}
}

// noWork is when the answer comes to an attempt that was none for a server.
const noWork = time.Duration(math.MinInt64)

// measure reads what bounded targets do at the whole second before t, or at t,
// if something happened since the last one: before what happens at t.
func (r *run) measure(t time.Duration) {
	if len(r.bounded) == 0 || t < r.second {
		return
	}
	for _, i := range r.bounded {
		tg := &r.targets[i]
		if s := tg.servers; s.busy != s.toldBusy || s.waits != s.toldWaits {
			s.toldBusy, s.toldWaits = s.busy, s.waits
			r.loads = append(r.loads, trace.Event{T: r.second, Kind: trace.Load, Target: tg.name, Busy: s.busy, Waiting: s.waits})
		}
	}
	r.second = t - t%time.Second + time.Second
}

// tellLoads tells what was measured up to the instant t.
func (r *run) tellLoads(t time.Duration) {
	n := 0
	for n < len(r.loads) && r.loads[n].T <= t {
		r.emit(r.loads[n])
		n++
	}
	r.loads = r.loads[:copy(r.loads, r.loads[n:])]
}
