package foreign

import "github.com/eapache/go-resiliency/breaker"

const eapacheClaims = `"From open, the breaker half-closes after 'timeout'. From half-open, the breaker closes after 'successThreshold' consecutive successes, or opens on a single error." ` +
	`"It is safe to call Run concurrently on the same Breaker." (https://github.com/eapache/go-resiliency/blob/v1.7.0/breaker/breaker.go) ` +
	`How many calls half-open lets in, and what becomes of one that never ends, it does not say.`

// It has no settings but these three, so it has no variants.
var eapacheRows = []Library{{
	Name: "eapache", Module: "github.com/eapache/go-resiliency", Version: "v1.7.0",
	Note:      "breaker.Run, success threshold 1.",
	New:       func(s Settings) Breaker { return newEapache(s) },
	Claims:    eapacheClaims,
	Anonymous: true,
	Cannot: func(s Settings) []string {
		return sentences(
			sentence{s.ProbeTimeout > 0, noLease},
			sentence{s.FailureThreshold > 1, "no failures in a row: a success between them does not reset the count; only failures further apart than the cooldown are not added up"},
			sentence{s.IgnoreStale, countsStale},
		)
	},
}}

type eapache struct {
	calls
	cb *breaker.Breaker
}

// newEapache needs no care for a threshold of zero: it is never met.
func newEapache(s Settings) eapache {
	cb := breaker.New(s.FailureThreshold, 1, s.RecoveryDuration)
	return eapache{newCalls(neverCancels(cb.Run)), cb}
}

// State is the library's own read, which is pure.
func (b eapache) State() string {
	switch b.cb.GetState() {
	case breaker.Closed:
		return "closed"
	case breaker.Open:
		return "open"
	case breaker.HalfOpen:
		return "half-open"
	}
	return ""
}

func (b eapache) Look() string { return b.State() }
