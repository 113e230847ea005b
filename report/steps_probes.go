package report

import (
	"slices"

	"github.com/breakersim/breakersim/sim/trace"
)

// admit takes a call that the breaker let through. A model breaker's probe gets a
// place, where their number is bounded; with nobody else to serve there are more
// probes than places (M21).
func (b *Counted) admit(e *trace.Event) {
	if m := b.Model; m != nil {
		if e.Probe && len(b.leases) < m.AtOnce {
			b.leases = append(b.leases, lent{e.Call, e.Attempt, e.T})
			b.oldest()
		}
		return
	}
	if !b.ours() {
		return
	}
	b.began[[2]int{e.Call, e.Attempt}], b.began[[2]int{e.Call, 0}] = e.T, e.T
	switch {
	case e.Rule == "T5" && len(b.leases) > 0:
		b.leases[0].attempt = e.Attempt
	case e.Rule == "T23":
		b.leases = append(b.leases, lent{e.Call, e.Attempt, e.T})
		b.oldest()
	}
}

// forget lets go of an attempt that ended.
func (b *Counted) forget(e *trace.Event) { delete(b.began, [2]int{e.Call, e.Attempt}) }

// oldest makes the counters say what the oldest of the probes that are out holds;
// of a model breaker, how many have a place.
func (b *Counted) oldest() {
	c := &b.now
	if b.Model != nil {
		c.Probes = len(b.leases)
		return
	}
	c.Probe, c.Began, c.Until, c.Ends = 0, 0, 0, false
	if len(b.leases) == 0 {
		return
	}
	c.Probe, c.Began = b.leases[0].call, b.leases[0].since
	if lease := b.set.ProbeTimeout; lease > 0 {
		c.Until, c.Ends = later(c.Began, lease), true
	}
}

// toolResult is what a tool breaker makes of a result by its rules.
func (b *Counted) toolResult(e *trace.Event, rule string) {
	if !b.ours() {
		return
	}
	c := &b.now
	switch rule {
	case "T2":
		if e.Applied {
			c.Failures = 0
		}
	case "T3":
		b.fail(e)
	case "T11": // the cooldown begins anew
		b.fail(e)
		b.wait(e.T, e)
	case "T21":
		switch {
		case b.failure(e):
			b.fail(e)
		case clears(b.set):
			c.Failures = 0
		}
	case "T8", "T9", "T24":
		b.retire(e)
		if b.failure(e) {
			b.fail(e)
			b.tested.failed++
		} else {
			b.tested.well++
		}
	case "T20", "T25":
		if e.Applied {
			b.retire(e)
		}
	}
}

// fail counts a failure, after those that are forgotten.
func (b *Counted) fail(e *trace.Event) {
	if forget := b.set.ForgetFailuresAfter; forget > 0 && b.now.State == "closed" && e.T-b.failed > forget {
		b.now.Failures = 0
	}
	b.now.Failures++
	b.failed = e.T
}

// failure says whether a result counts as one (T20, T22).
func (b *Counted) failure(e *trace.Event) bool {
	since, ok := b.began[[2]int{e.Call, e.Attempt}]
	if !ok {
		since = b.began[[2]int{e.Call, 0}]
	}
	if b.Reports == "anonymous" { // nobody knows how long it took
		since = e.T
	}
	return countsAsFailure(b.set, e.Outcome, e.T-since)
}

// retire takes a probe's slot back.
func (b *Counted) retire(e *trace.Event) {
	i := slices.IndexFunc(b.leases, func(l lent) bool { return l.call == e.Call && l.attempt == e.Attempt })
	if i < 0 { // a later attempt of a call that asked once
		i = slices.IndexFunc(b.leases, func(l lent) bool { return l.call == e.Call })
	}
	if b.Reports == "anonymous" { // whosever it is
		i = min(0, len(b.leases)-1)
	}
	if i >= 0 {
		b.leases = slices.Delete(b.leases, i, i+1)
		b.oldest()
	}
}

// givenUp takes what a breaker made of a call whose caller gave it up between
// two attempts.
func (b *Counted) givenUp(e *trace.Event) {
	if b.Tool != nil && e.Breaker != "" {
		g := *e
		g.Outcome = trace.Cancelled
		b.toolResult(&g, e.Verdict)
	}
}

// configure takes new settings (T33).
func (b *Counted) configure(e *trace.Event) {
	b.set = e.Settings
	switch {
	case b.now.State == "half-open":
		b.oldest()
	case b.now.State == "open" && e.Known:
		b.now.Until = e.Until
	}
}

// runOut takes the lease of the oldest probe, which ran out, and gives the state
// that this leads to.
func (b *Counted) runOut() string {
	b.leases = slices.Delete(b.leases, 0, 1)
	b.tested.failed++
	if b.set.ProbeFailureRate == 0 {
		return "open"
	}
	switch n := b.tested.well + b.tested.failed; {
	case n < max(1, b.set.ProbeSuccesses):
		return "half-open"
	case float64(b.tested.failed)/float64(n) >= b.set.ProbeFailureRate:
		return "open"
	}
	return "closed"
}

// corrected takes the cooldown of a breaker whose lease ran out, as the record
// tells it once that is noticed.
func (b *Counted) corrected(e *trace.Event) {
	if last := &b.Changes[len(b.Changes)-1]; e.Known && b.now.State == "open" && last.Step == b.lapsed-1 {
		b.now.Until, last.Until = e.Until, e.Until
	}
	b.lapsed = 0
}
