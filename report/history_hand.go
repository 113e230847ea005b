package report

import (
	"slices"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Forced is a stretch in which an operator kept a breaker as it was (T31, T32).
type Forced struct {
	trace.Span
	State string
}

// Ramp is a stretch in which a closed breaker lets in a growing share of the
// calls (T26).
type Ramp struct {
	trace.Span
	Held   int           // calls that it held back
	since  time.Duration // when the breaker closed
	length time.Duration
	from   float64 // the share at first
}

// share is that of the calls which the ramp lets in at an instant.
func (r *Ramp) share(at time.Duration) float64 {
	return min(1, r.from+(1-r.from)*float64(at-r.since)/float64(r.length))
}

// beginRamp begins one, if the breaker closed by itself.
func (b *BreakerHistory) beginRamp(e *trace.Event) {
	if b.Tool != nil && e.Rule != "T15" && e.Rule != "T32" {
		b.goUp(e.Effective)
	}
}

// goUp begins a ramp at an instant, as far as it is not over by then.
func (b *BreakerHistory) goUp(at time.Duration) {
	if to := later(b.closed, b.now.Ramp); to > at {
		b.Ramps = append(b.Ramps, Ramp{Span: trace.Span{From: at, To: to}, since: b.closed, length: b.now.Ramp, from: b.now.RampFrom})
	}
}

// endRamp ends the ramp that is under way, if one is, and says whether.
func (b *BreakerHistory) endRamp(at time.Duration) bool {
	n := len(b.Ramps)
	if n == 0 || b.Ramps[n-1].To <= at {
		return false
	}
	b.Ramps[n-1].To = at
	return true
}

// rampAt is the ramp that is under way at an instant, or nil.
func (b *BreakerHistory) rampAt(at time.Duration) *Ramp {
	i := slices.IndexFunc(b.Ramps, func(r Ramp) bool { return r.From <= at && at < r.To })
	if i < 0 {
		return nil
	}
	return &b.Ramps[i]
}

// rampHolds notes a call that the ramp held back.
func (h *History) rampHolds(e *trace.Event) {
	if b := h.byName[e.Breaker]; b != nil && e.Rule == "T26" && len(b.Ramps) > 0 {
		b.Ramps[len(b.Ramps)-1].Held++
	}
}

// operated takes what an operator did. It is a moment of its own, unless a
// transition or a switch follows from it.
func (h *History) operated(e *trace.Event) {
	b := h.byName[e.Breaker]
	state := b.Bands[len(b.Bands)-1].State
	m := &Moment{Event: *e, By: b.By, before: b.now}
	m.Effective, m.From, m.To, m.Rule = e.T, state, state, b.ruleOf(e.Op)
	switch e.Op {
	case trace.Configure:
		b.setTo(e.Settings, e.T)
		b.relend()
		if state == "open" {
			b.cool(e)
		}
		if b.endRamp(e.T) {
			b.goUp(e.T)
		}
	case trace.Reset:
		m.freed = b.endForce(e.T)
		b.endRamp(e.T)
		b.streak = 0
	case trace.ForceOpen, trace.ForceClosed:
		b.endForce(e.T)
		b.endRamp(e.T)
		to := "open"
		if e.Op == trace.ForceClosed {
			to = "closed"
		}
		b.Forced = append(b.Forced, Forced{trace.Span{From: e.T, To: -1}, to})
	}
	m.set = b.now
	if b.fleet == nil && !b.others() {
		h.changes = append(h.changes, change{moment: -1, act: m})
	}
}

// setFrom are the settings of a breaker from an instant on.
type setFrom struct {
	at  time.Duration
	set *trace.Breaker
}

func (b *BreakerHistory) setTo(set *trace.Breaker, at time.Duration) {
	b.now = set
	b.sets = append(b.sets, setFrom{at, set})
}

// setAt are the settings at an instant.
func (b *BreakerHistory) setAt(at time.Duration) *trace.Breaker {
	for i := range slices.Backward(b.sets) {
		if b.sets[i].at <= at {
			return b.sets[i].set
		}
	}
	return b.Breaker
}

// ever says whether something held for the breaker's settings at any time.
func (b *BreakerHistory) ever(holds func(set *trace.Breaker) bool) bool {
	return holds(b.Breaker) || slices.ContainsFunc(b.sets, func(s setFrom) bool { return holds(s.set) })
}

// ruleOf is the rule by which the breaker takes what an operator did.
func (b *BreakerHistory) ruleOf(op string) string {
	switch op {
	case trace.Configure:
		return "T33"
	case trace.ForceOpen:
		return "T31"
	case trace.ForceClosed:
		return "T32"
	case trace.SetAvailable:
		return "M15"
	}
	return either(b.Tool != nil, "T15", "M16")
}

// byHand says whether an operator did it.
func (m *Moment) byHand() bool {
	return slices.Contains([]string{"T15", "T31", "T32", "T33", "M15", "M16", trace.MovedByReset}, m.Rule)
}

// aside says whether it changed no state.
func (m *Moment) aside() bool { return m.Op != "" }

// tookEffect takes back the moment of what an operator did, as what follows from
// it tells it, and returns it; nil: nobody did anything.
func (h *History) tookEffect(e *trace.Event) *Moment {
	n := len(h.changes)
	if n == 0 {
		return nil
	}
	m := h.changes[n-1].act
	if m == nil || m.Breaker != e.Breaker || m.T != e.T || m.Rule != e.Rule {
		return nil
	}
	h.changes = h.changes[:n-1]
	return m
}

// acts are the moments of what operators did and no transition tells, in order.
func (h *History) acts() (all []*Moment) {
	for i := range h.changes {
		if m := h.changes[i].act; m != nil {
			all = append(all, m)
		}
	}
	return all
}

// tellable are the transitions and what operators did beside them, by time.
func (h *History) tellable() []*Moment {
	var all []*Moment
	for i := range h.Moments {
		all = append(all, &h.Moments[i])
	}
	acts := h.acts()
	if len(acts) == 0 {
		return all
	}
	all = append(all, acts...)
	slices.SortStableFunc(all, func(a, b *Moment) int { return int(max(-1, min(1, a.T-b.T))) })
	return all
}

// finishHand says until when what begins at the moment lasts.
func (h *History) finishHand(m *Moment) {
	b := h.byName[m.Breaker]
	switch {
	case b == nil:
	case m.Rule == "T31" || m.Rule == "T32":
		for _, f := range b.Forced {
			if f.From == m.T && f.To < h.End {
				m.until = f.To
			}
		}
	case m.To == "closed" && !m.aside():
		m.ramp = b.rampAt(m.Effective)
	}
}

// endForce ends what an operator forced, if that lasts, and gives the state.
func (b *BreakerHistory) endForce(at time.Duration) string {
	if n := len(b.Forced); n > 0 && b.Forced[n-1].To < 0 {
		b.Forced[n-1].To = at
		return b.Forced[n-1].State
	}
	return ""
}

// forcedIn is from when on an operator kept the breaker as it was in the band, or
// the band's end.
func (b *BreakerHistory) forcedIn(s *Band) time.Duration {
	for _, f := range b.Forced {
		if f.From < s.To && f.To > s.From {
			return max(f.From, s.From)
		}
	}
	return s.To
}

// pieces are the breaker's bands, cut where an operator's hand or a ramp came or
// went.
func (b *BreakerHistory) pieces() []Band {
	if len(b.Forced) == 0 && len(b.Ramps) == 0 {
		return b.Bands
	}
	var all []Band
	for _, s := range b.Bands {
		var cuts []time.Duration
		for _, f := range b.Forced {
			cuts = append(cuts, f.From, f.To)
		}
		for i := range b.Ramps {
			cuts = append(cuts, b.Ramps[i].From, b.Ramps[i].To)
		}
		slices.Sort(cuts)
		for _, at := range cuts {
			if s.From < at && at < s.To {
				piece := s
				piece.To = at
				all = append(all, b.piece(piece))
				s.From = at
			}
		}
		all = append(all, b.piece(s))
	}
	return all
}

// piece says what is special about a piece of a band.
func (b *BreakerHistory) piece(s Band) Band {
	s.forced = slices.ContainsFunc(b.Forced, func(f Forced) bool { return f.From <= s.From && s.From < f.To && f.State == s.State })
	if s.State == "closed" {
		s.ramp = b.rampAt(s.From)
	}
	s.Restarts = slices.DeleteFunc(slices.Clone(s.Restarts), func(at time.Duration) bool { return at < s.From || at > s.To })
	return s
}
