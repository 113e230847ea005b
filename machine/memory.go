package machine

import "time"

// ToolMemory is all that a [ToolBreaker] remembers: of two breakers with the
// same settings whose memories are the same, instants taken relative to now,
// either does what the other does from now on. It is as the last operation left
// it: a T7 that is due may not have been applied yet.
type ToolMemory struct {
	State       State
	Forced      State         // what an operator keeps it in (T31, T32); 0: nobody does
	Failures    int           // consecutive_failures
	LastFailure time.Duration // when a failure last counted, or when it opened if that is later
	Cooldown    time.Duration // meaningful in Open: how long this one is (T27, T28)
	NotBefore   time.Duration // until when failures said to stay away (T29); 0: none did
	Streak      int           // openings that no recovery came between (T27)
	Openings    uint64        // transitions to Open so far; they name the next draw (T28)

	Probes  []uint32        // the numbers of the probes in flight, the oldest first
	Began   []time.Duration // when their leases began
	Tested  ToolTally       // what came of the other probes of this half-open period (T24)
	Closed  time.Duration   // when it last closed; 0: it never opened
	Ramping bool            // the share of calls admitted still grows (T26)
	Credit  float64         // what that share has added up to and not yet spent

	Window     []ToolTally   // meaningful in Closed: the last calls or buckets of time, the oldest first (T21); nil: no window
	WindowEnds time.Duration // when the latest bucket of time ends; 0: a ring
}

// ToolTally is what came of some calls.
type ToolTally struct{ Calls, Failures, Slow int }

func (t tally) told() ToolTally { return ToolTally{t.calls, t.failures, t.slow} }

// Memory reads what the breaker remembers, and changes nothing.
func (b *ToolBreaker) Memory() ToolMemory {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.m
	r := ToolMemory{State: m.state, Forced: m.forced, Failures: m.failures, LastFailure: m.lastFailure, Cooldown: m.cooldown, NotBefore: m.notBefore,
		Streak: m.streak, Openings: m.opens, Tested: m.tested.told(), Closed: m.closed, Ramping: m.ramping, Credit: m.credit}
	for _, l := range m.leases {
		r.Probes = append(r.Probes, l.probe)
		r.Began = append(r.Began, l.since)
	}
	if w := m.window; w != nil {
		r.Window, r.WindowEnds = w.told(), w.end
	}
	return r
}

// told is what the window holds, the oldest first.
func (w *window) told() []ToolTally {
	all := make([]ToolTally, 0, len(w.ring)+len(w.buckets))
	for k := range w.ring {
		all = append(all, w.ring[(w.i+1+k)%len(w.ring)].tally().told())
	}
	for k := range w.buckets {
		all = append(all, w.buckets[(w.i+1+k)%len(w.buckets)].told())
	}
	return all
}
