package trace

// Move is a change of state that a rule makes.
type Move struct {
	From, To string
	Rule     string
	Words    string // what causes it, in a few words
}

// Moves are those of T1 to T16 and M1 to M17, those of a tool breaker first. A
// breaker that changes its state neither so nor by one of [SetMoves] is none of ours.
var Moves = []Move{
	{"closed", "open", "T3", "failures in a row"},
	{"open", "half-open", "T5", "cooldown over, a call asks"},
	{"half-open", "open", "T7", "the lease runs out"},
	{"half-open", "closed", "T8", "the probe succeeds"},
	{"half-open", "open", "T9", "the probe fails"},
	{"open", "closed", "T15", "an operator's reset"},
	{"half-open", "closed", "T15", "an operator's reset"},
	{"primary", "fallback", "M10", "failed turns in a row"},
	{"fallback", "recovering", "M2", "cooldown over, a turn asks"},
	{"recovering", "fallback", "M12", "a rate limit"},
	{"recovering", "primary", "M9", "enough probes succeed"},
	{"recovering", "fallback", "M13", "too many probes fail"},
	{"fallback", "primary", "M16", "an operator's reset"},
	{"recovering", "primary", "M16", "an operator's reset"},
}

// SetMoves are those of breakers that are set to more, and of operators who
// force one.
var SetMoves = []Move{
	{"closed", "open", "T21", "failures in the window"},
	{"closed", "open", "T22", "slow calls in the window"},
	{"closed", "open", "T31", "an operator forces it open"},
	{"half-open", "open", "T31", "an operator forces it open"},
	{"half-open", "closed", "T7", "a lease runs out, and few probes failed"},
	{"open", "closed", "T32", "an operator forces it closed"},
	{"half-open", "closed", "T32", "an operator forces it closed"},
	{"half-open", "open", "T33", "new settings, by which too many probes failed"},
	{"half-open", "closed", "T33", "new settings, by which the probes were enough"},
	{"open", "closed", "T34", "cooldown over, a call asks"},
}

// MoveOf is the row of that transition, or nil.
func MoveOf(from, to, rule string) *Move {
	for _, table := range [][]Move{Moves, SetMoves} {
		for i := range table {
			if m := &table[i]; m.From == from && m.To == to && m.Rule == rule {
				return m
			}
		}
	}
	return nil
}

// The rules of a breaker that is not ours, which does not say why: what can be
// seen of it from outside.
const (
	LetThrough   = "F1" // it let a call through
	TurnedAway   = "F2" // it refused a call
	MovedByAsk   = "F3" // its state changed as a call asked
	MovedByEnd   = "F4" // its state changed on a result
	MovedByTime  = "F5" // its state had changed since anybody last looked
	HeardOf      = "F6" // a result was reported to it, and its state stayed
	MovedByReset = "F7" // an operator's reset
)
