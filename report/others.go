package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// A breaker that is not ours says only what can be seen of it: whom it lets
// through and refuses, and which state it is in. Nothing here claims a rule of
// ours for it.

// others says whether the breaker is not ours.
func (b *BreakerHistory) others() bool { return b.By != "" }

// library is whose breaker it is, without the version.
func library(by string) string {
	name, _, _ := strings.Cut(by, " ")
	return name
}

// like is the rule of ours that makes such a change of state: for what goes by
// the kind of a change, not by who made it.
func (m *Moment) like() string {
	if m.By == "" {
		return m.Rule
	}
	switch {
	case m.Rule == trace.MovedByReset:
		return "T15"
	case m.To == "half-open":
		return "T5"
	case m.To == "closed":
		return "T8"
	case m.From == "half-open":
		return "T9"
	default:
		return "T3"
	}
}

// seen is what was seen of a change of state, as a sentence.
func seen(m *Moment) string {
	how := ""
	switch {
	case m.Rule == trace.MovedByReset:
		how = " when an operator reset it"
	case m.Rule == trace.MovedByTime && m.ProbeCall != 0:
		how = fmt.Sprintf(", as our lease on call %d was over", m.ProbeCall)
	case m.Rule == trace.MovedByTime:
		how = " by itself"
	case m.Rule == trace.MovedByEnd && m.Call != 0:
		how = fmt.Sprintf(" on the result of call %d", m.Call)
		if m.Outcome != "" {
			how += ", a " + outcomeWord(m.Outcome)
		}
	case m.Rule == trace.MovedByAsk && m.Call != 0:
		how = fmt.Sprintf(" as call %d asked", m.Call)
	}
	return library(m.By) + " " + went(m.From, m.To) + how
}

// seenShort is the same in the few words that fit into a picture.
func seenShort(m *Moment) string {
	does := m.To
	switch {
	case m.To == "closed":
		does = "closes"
	case m.To == "open":
		does = "opens"
		if m.From == "half-open" {
			does += " again"
		}
	}
	switch {
	case m.Rule == trace.MovedByReset:
		return "reset by hand"
	case m.Rule == trace.MovedByEnd && m.Call != 0 && m.Outcome == trace.Success:
		return fmt.Sprintf("call %d succeeds: %s", m.Call, does)
	case m.Rule == trace.MovedByEnd && m.Call != 0:
		return fmt.Sprintf("call %d fails: %s", m.Call, does)
	case m.Rule == trace.MovedByAsk && m.Call != 0:
		return fmt.Sprintf("call %d asks: %s", m.Call, does)
	case m.Rule == trace.MovedByTime && m.ProbeCall != 0:
		return "our lease is over: " + does
	default:
		return does + " by itself"
	}
}

// went is a change of state as a verb.
func went(from, to string) string {
	switch {
	case to == "closed":
		return "closed"
	case to == "half-open":
		return "went to half-open"
	case from == "half-open":
		return "opened again"
	default:
		return "opened"
	}
}

// lend notes our lease around a probe of others: it ends by itself.
func (b *BreakerHistory) lend(e *trace.Event) {
	if b.Tool.ProbeTimeout > 0 {
		b.Leases = append(b.Leases, Lease{Call: e.Call, From: e.T, To: e.T + b.Tool.ProbeTimeout, RanOut: true, limited: true})
	}
}

// giveBack ends the lease of a call that answered in time.
func (b *BreakerHistory) giveBack(call int, at time.Duration) {
	for i := range slices.Backward(b.Leases) {
		if l := &b.Leases[i]; l.Call == call && at < l.To {
			l.To, l.RanOut = at, false
			return
		}
	}
}

// cutLeases ends what is lent at the end of the run.
func (b *BreakerHistory) cutLeases(end time.Duration) {
	for i := range b.Leases {
		if l := &b.Leases[i]; l.To > end {
			l.To, l.RanOut = end, false
		}
	}
}

// sight is a change of state of a breaker that is not ours, as often as it was
// seen, by what was seen of why.
type sight struct {
	from, to string
	by       map[string]int
}

// sightWords say how a change of state came about.
var sightWords = []struct{ rule, words string }{
	{trace.MovedByEnd, "on a result"},
	{trace.MovedByAsk, "as a call asked"},
	{trace.MovedByTime, "by itself"},
	{trace.MovedByReset, "by hand"},
}

// see counts a change of state.
func (t *tally) see(m *Moment) {
	i := slices.IndexFunc(t.sights, func(s sight) bool { return s.from == m.From && s.to == m.To })
	if i < 0 {
		i = len(t.sights)
		t.sights = append(t.sights, sight{m.From, m.To, map[string]int{}})
	}
	t.sights[i].by[m.Rule]++
}

// settleSights makes moves of what was seen. None of them has a rule.
func (t *tally) settleSights() {
	for _, s := range t.sights {
		row, n := trace.Move{From: s.from, To: s.to}, 0
		var words []string
		for _, w := range sightWords {
			if k := s.by[w.rule]; k > 0 {
				n += k
				words = append(words, w.words)
			}
		}
		row.Words = strings.Join(words, " or ")
		t.seen = append(t.seen, row)
		t.taken[row] = n
	}
}
