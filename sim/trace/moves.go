package trace

// Move is a change of state that a rule makes.
type Move struct {
	From, To string
	Rule     string
	Words    string // what causes it, in a few words
}

// Moves are all of them, those of a tool breaker first. A breaker that changes
// its state otherwise is none of ours.
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

// MoveOf is the row of that transition, or nil.
func MoveOf(from, to, rule string) *Move {
	for i := range Moves {
		if m := &Moves[i]; m.From == from && m.To == to && m.Rule == rule {
			return m
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
