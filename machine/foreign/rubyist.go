package foreign

import (
	"sync"
	"time"

	circuit "github.com/rubyist/circuitbreaker"
)

const rubyistClaims = `"When a circuit breaker is tripped any future calls will avoid making the remote call and return an error to the caller. In the meantime, the circuit breaker will periodically allow some calls to be tried again ` +
	`and will close the circuit if those are successful." (https://github.com/rubyist/circuitbreaker#readme) How many calls that is, and what becomes of one that never ends, it does not say.`

var rubyistRows = []Library{
	rubyistRow("rubyist", "", "Call without a timeout; constant BackOff of the cooldown.", noLease,
		func(s Settings) Breaker { return newRubyist(s, 0, constant(s.RecoveryDuration)) }),
	rubyistTimeout(rubyistRow("rubyist-timeout", "rubyist", "Call with a timeout of the lease's length; constant BackOff of the cooldown.",
		"no lease for the probe alone: the timeout fails every call that takes as long, in Closed too",
		func(s Settings) Breaker { return newRubyist(s, s.ProbeTimeout, constant(s.RecoveryDuration)) })),
	rubyistRow("rubyist-backoff", "rubyist", "Call without a timeout; a BackOff that grows from the cooldown, less 1 ns, by lease and cooldown with each probe. "+
		"That keeps a herd out, admits at the cooldown's end and gives a lost probe up; but a failed probe, too, is followed by the longer wait.",
		"no lease: a probe that never reports is not given up, a second one is let in beside it",
		func(s Settings) Breaker {
			return newRubyist(s, 0, &growing{first: max(s.RecoveryDuration-1, 0), step: s.ProbeTimeout + s.RecoveryDuration})
		}),
}

func rubyistRow(name, of, note, lease string, make func(Settings) Breaker) Library {
	return Library{
		Name: name, Of: of, Module: "github.com/rubyist/circuitbreaker", Version: "v2.2.1+incompatible", Note: note, New: make, Claims: rubyistClaims, Anonymous: true,
		Cannot: func(s Settings) []string {
			return sentences(
				sentence{s.ProbeTimeout > 0, lease},
				sentence{s.IgnoreStale, countsStale},
			)
		},
	}
}

// rubyistTimeout is a row whose calls run on a goroutine of the library's.
func rubyistTimeout(l Library) Library {
	l.PanicKills = true
	return l
}

// constant waits as long each time.
type constant time.Duration

func (c constant) NextBackOff() time.Duration { return time.Duration(c) }

func (constant) Reset() {}

// growing waits from the last failure: first, then longer by step each time. The
// library takes the next wait when it lets a probe in, and resets at a success. A
// wait of -1 ns would mean never to it.
type growing struct{ first, step, more time.Duration }

func (g *growing) NextBackOff() time.Duration {
	wait := g.first + g.more
	g.more += g.step
	return wait
}

func (g *growing) Reset() { g.more = 0 }

type rubyist struct {
	calls
	cb     *circuit.Breaker
	events chan circuit.ListenerEvent // holds the latest only: the library drops older ones

	mu    sync.Mutex
	tells circuit.BreakerEvent // the latest event that State has seen
}

func newRubyist(s Settings, timeout time.Duration, wait interface {
	NextBackOff() time.Duration
	Reset()
}) *rubyist {
	o := circuit.Options{BackOff: wait}
	if s.FailureThreshold > 0 {
		o.ShouldTrip = circuit.ConsecutiveTripFunc(int64(s.FailureThreshold))
	}
	b := &rubyist{cb: circuit.NewBreakerWithOptions(&o), events: make(chan circuit.ListenerEvent, 1)}
	b.cb.AddListener(b.events)
	b.calls = newCalls(neverCancels(func(f func() error) error { return b.cb.Call(f, timeout) }))
	return b
}

// State is open or closed as the library's Tripped says, which is pure. Ready,
// which lets a probe in, it tells by an event.
func (b *rubyist) State() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case e := <-b.events:
		b.tells = e.Event
	default:
	}
	switch {
	case !b.cb.Tripped():
		return "closed"
	case b.tells == circuit.BreakerReady:
		return "half-open"
	}
	return "open"
}

func (b *rubyist) Look() string {
	if b.cb.Tripped() {
		return "open"
	}
	return "closed"
}

// Reset is the library's.
func (b *rubyist) Reset() { b.cb.Reset() }
