package foreign

import (
	"slices"
	"sync/atomic"
	"time"
)

// Lease puts our lease around a breaker: a call that was admitted while the
// breaker was not closed, a probe, and that has not reported when the lease ends
// is reported as failed at that instant. Its own result, at that instant or
// later, is dropped. A lease of zero or less is none.
//
// That mends a breaker that is wedged by a lost, panicking or exiting probe, and
// one that is closed by a probe's late success. It mends nothing that the library
// decides by itself: who is let in at half-open, when the cooldown is over, what
// a result of an older call does, and what a failure in Open does. A breaker that
// does not say its state gets no leases.
func Lease(b Breaker, lease time.Duration) Breaker {
	if lease <= 0 {
		return b
	}
	l := &leasing{b: b, lease: lease}
	if r, ok := b.(resetter); ok {
		return &resetLeasing{l, r}
	}
	return l
}

// Leased is the library with our lease, [Settings.ProbeTimeout], around it.
func (l Library) Leased() Library {
	inner := l
	l.Name, l.Of = inner.Name+WithLease, inner.Name
	l.Note = "Our lease around it: a probe that has not reported when the lease ends is reported as failed. " + inner.Note
	l.PanicKills = false
	l.New = func(s Settings) Breaker { return Lease(inner.New(s), s.ProbeTimeout) }
	l.Cannot = func(s Settings) []string {
		return slices.DeleteFunc(inner.Cannot(s), func(c string) bool { return c == noLease })
	}
	return l
}

type leasing struct {
	b      Breaker
	lease  time.Duration
	resets atomic.Uint64 // a lease from before the last one is void
}

// Allow asks the library, and leases what it admits while it is not closed.
func (l *leasing) Allow() (func(ok bool), error) {
	done, err := l.b.Allow()
	if err != nil {
		return nil, err
	}
	if state := l.b.State(); state == "closed" || state == "" {
		return done, nil
	}
	var over atomic.Bool
	resets := l.resets.Load()
	end := time.AfterFunc(l.lease, func() {
		if l.resets.Load() == resets && over.CompareAndSwap(false, true) {
			done(false)
		}
	})
	return func(ok bool) {
		if over.CompareAndSwap(false, true) {
			end.Stop()
			done(ok)
		}
	}, nil
}

// Do asks, runs f and reports. It leaves an f that does not return to the lease.
func (l *leasing) Do(f func() error) error { return straight(l, f) }

// Look is the library's, or what State says where it has none.
func (l *leasing) Look() string {
	if b, ok := l.b.(interface{ Look() string }); ok {
		return b.Look()
	}
	return l.b.State()
}

// State is the library's.
func (l *leasing) State() string { return l.b.State() }

// Close releases what the library holds.
func (l *leasing) Close() {
	if c, ok := l.b.(interface{ Close() }); ok {
		c.Close()
	}
}

type resetter interface{ Reset() }

// resetLeasing is of a library that can be reset.
type resetLeasing struct {
	*leasing
	r resetter
}

// Reset is the library's; it ends the leases that run.
func (l *resetLeasing) Reset() {
	l.resets.Add(1)
	l.r.Reset()
}
