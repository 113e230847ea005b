// Package foreign puts circuit breakers of other people, unmodified, behind one
// small port: ask for a call, say how it ended, read the state where that has no
// effect. It imports nothing of ours, and nothing else of ours needs it: a
// program that uses package machine pulls in none of these libraries.
//
// They read time.Now themselves, so they are made and driven inside a bubble of
// testing/synctest, after the bubble's clock has passed the real now: what a
// library took from the clock when the program began must not lie in the future.
//
// Some libraries finish their work on goroutines of their own. Whoever drives a
// breaker therefore lets the bubble come to rest (synctest.Wait) after each call
// of Allow, and after each report. Nothing here waits by itself, because only one
// goroutine of a bubble may.
package foreign

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings are those of our tool breaker, in plain types.
type Settings struct {
	FailureThreshold int           // failures in a row that open it; 0: it never opens
	RecoveryDuration time.Duration // how long it stays open after the last failure
	ProbeTimeout     time.Duration // the probe's lease; 0: none
	IgnoreStale      bool          // in Closed, ignore results of calls admitted before it last opened
}

// Breaker is somebody else's breaker as one drives it here. It can also have:
//
//   - Do(f func() error) error, which runs f under the breaker and gives its error
//     or that of a refusal. Where f panics or calls runtime.Goexit, the library
//     does what it does: call Do on a goroutine that may end, or wait for ever.
//   - Look() string, which reads the state with the library's own call, with
//     whatever effect that has.
//   - Reset(), which closes it.
//   - Close(), which releases the goroutines of calls that never ended. After it,
//     the breaker is of no more use.
type Breaker interface {
	// Allow asks for a call now. It gives what to call with how the call ended,
	// at most once and maybe never, or the library's error for a refused call.
	Allow() (done func(ok bool), err error)
	// State is "closed", "open" or "half-open", read without effect.
	State() string
}

// Library is one library under one kind of settings.
type Library struct {
	Name    string // as one asks for it, e.g. "gobreaker"
	Of      string // the row that this is a variant of; empty where the settings are those that come closest to ours
	Module  string // the Go module's path
	Version string // the module's version, as in go.mod
	Note    string // what of the library is driven, with which settings

	// New makes a closed breaker, whose settings come as close to s as the
	// library can. It must be called inside a bubble.
	New func(s Settings) Breaker
	// Cannot says what of s the library cannot express, a clause each.
	Cannot func(s Settings) []string
	// Anonymous says that it does not know of which call a result is.
	Anonymous bool
	// Claims is what the library's own documentation says about half-open,
	// probes, concurrency and panics, with its address.
	Claims string
	// PanicKills says that Do runs its function on a goroutine of the library's,
	// which catches no panic: one ends the whole process.
	PanicKills bool
}

// Libraries are all that can be compared, each followed by its variants: the
// settings that one would try where the first row departs from a rule.
var Libraries = slices.Concat(gobreakerRows, failsafeRows, eapacheRows, hystrixRows, rubyistRows, bytedanceRows)

// WithLease ends the name of a row with our lease around it.
const WithLease = "+lease"

// Lookup finds a row by its name. With "+lease" after it, the row has our lease
// around it.
func Lookup(name string) (Library, error) {
	plain, withLease := strings.CutSuffix(name, WithLease)
	i := slices.IndexFunc(Libraries, func(l Library) bool { return l.Name == plain })
	if i < 0 {
		var names []string
		for _, l := range Libraries {
			names = append(names, l.Name)
		}
		return Library{}, fmt.Errorf("unknown library %q; write one of %s, with %s after it for our lease around it", name, strings.Join(names, ", "), WithLease)
	}
	if withLease {
		return Libraries[i].Leased(), nil
	}
	return Libraries[i], nil
}

// What several libraries cannot express.
const (
	noLease      = "no lease: a probe that never reports is never given up"
	countsStale  = "results of calls admitted before it opened count like any other; they cannot be ignored"
	ignoresStale = "results of calls admitted before it opened are always ignored; they cannot be made to count"
	noZeroWait   = "no cooldown of zero: one of 1 ns stands for it"
)

// atLeast1 is for libraries that take a duration of zero for their default.
func atLeast1(d time.Duration) time.Duration { return max(d, 1) }

// sentences lists those whose condition holds.
func sentences(all ...sentence) (hold []string) {
	for _, s := range all {
		if s.holds {
			hold = append(hold, s.text)
		}
	}
	return hold
}

type sentence struct {
	holds bool
	text  string
}
