package report

import (
	"slices"

	"github.com/breakersim/breakersim/sim/trace"
)

// moves are what the breaker can do by its rules and settings, and whatever it did;
// or, of a breaker that is not ours, what was seen of it.
func (t *tally) moves() (rows []trace.Move) {
	if t.others() {
		return t.seen
	}
	for _, row := range t.machine().moves() {
		if t.taken[row] > 0 || t.can(&row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// states are those of the machine, without that of a test where there is none.
func (t *tally) states() []string {
	m := t.machine()
	tests := func(row trace.Move) bool { return row.From == m[2] || row.To == m[2] }
	if t.others() || t.spent(m[2]) > 0 || slices.ContainsFunc(t.moves(), tests) {
		return m[:]
	}
	return m[:2]
}

// moves are the rows of both tables that begin and end in states of the machine.
func (m machine) moves() (rows []trace.Move) {
	for _, table := range [][]trace.Move{trace.Moves, trace.SetMoves} {
		for _, row := range table {
			if m.index(row.From) >= 0 && m.index(row.To) >= 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// can says whether the breaker makes the move by its settings. An operator's moves
// are possible only where one does such a thing to it: a reset in the run, or
// anything where the question is what a breaker can do rather than what it did.
func (t *tally) can(row *trace.Move) bool {
	switch row.Rule {
	case "T15", "M16":
		return t.timeless || t.acted(trace.Reset)
	case "T31":
		return t.timeless && t.acted(trace.ForceOpen)
	case "T32":
		return t.timeless && t.acted(trace.ForceClosed)
	case "T33":
		return t.timeless && t.acted(trace.Configure)
	case "T3":
		return t.Tool.FailureThreshold > 0 || t.Window == nil
	case "T21":
		return t.Window != nil && (t.FailureRate > 0 || t.WindowFailures > 0)
	case "T22":
		return t.Window != nil && t.SlowRate > 0
	case "T34":
		return t.Probe == "none"
	case "T7":
		return t.Probe != "none" && (row.To == "open" || t.ProbeFailureRate > 0)
	case "T5", "T8", "T9":
		return t.Probe != "none"
	}
	return true
}

// acted says whether an operator did that to it in the run.
func (t *tally) acted(op string) bool {
	return slices.ContainsFunc(t.h.Acts, func(e trace.Event) bool { return e.Op == op && e.Breaker == t.Name })
}

// cause is what causes a move, in a few words, or why it cannot come by the
// breaker's settings.
func (b *BreakerHistory) cause(m *trace.Move) string {
	switch {
	case b.Model != nil:
		switch {
		case m.Rule == "M13" && b.Model.ProbationFailures == 0:
			return "never: no limit"
		case m.Rule == "M10" && b.Model.TripThreshold <= 1:
			return "a failed turn"
		}
	case b.others():
	case m.Rule == "T3" && !b.ever(func(set *trace.Breaker) bool { return set.FailureThreshold > 0 }):
		return "never: no threshold"
	case m.Rule == "T3" && b.Tool.FailureThreshold == 1:
		return "a failure"
	case m.Rule == "T3" && !clears(b.Breaker):
		return "enough failures"
	case m.Rule == "T7" && !b.ever(func(set *trace.Breaker) bool { return set.ProbeTimeout > 0 }):
		return "never: no lease"
	case m.Rule == "T8" && (b.ProbeSuccesses > 1 || b.ProbeFailureRate > 0):
		return "enough probes succeed"
	case m.Rule == "T9" && b.ProbeFailureRate > 0:
		return "too many probes fail"
	}
	return m.Words
}
