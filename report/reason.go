package report

import (
	"fmt"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// reasons says for every rule that can cause a transition, in words, why it did:
// in a sentence, and in the few words that fit into a picture.
var reasons = []struct {
	rule   string
	reason func(m *Moment) string
	short  func(m *Moment) string
}{
	{"T3", func(m *Moment) string { return streak(m, "failure") }, func(m *Moment) string {
		return nth(m, "failure") + either(m.Outcome == slowSuccess, ", slow", "") + ": opens" + m.lasting()
	}},
	{"T5", func(m *Moment) string {
		return "the cooldown" + restarted(m) + " was over; " + asked(m, "the probe", "became "+theProbe(m))
	}, func(m *Moment) string { return asker(m, "a probe", "is "+theProbe(m)) }},
	{"T7", leaseRanOut, func(m *Moment) string {
		return "lease ran out: opens" + either(m.lasting() == "", " again", m.lasting())
	}},
	{"T8", func(m *Moment) string { return verdict(m, "succeeded") + m.lettingIn() }, func(m *Moment) string { return m.probes("succeeds") + ": closes" + m.ramping() }},
	{"T9", func(m *Moment) string { return verdict(m, "failed") }, func(m *Moment) string {
		return m.probes("fails") + ": opens" + either(m.lasting() == "", " again", m.lasting())
	}},
	{"T15", resetByHand, func(*Moment) string { return "reset by hand" }},
	{"T21", func(m *Moment) string { return held(m) + because(m) }, func(m *Moment) string { return heldShort(m, "failed", "too many failures") + ": opens" + m.lasting() }},
	{"T22", func(m *Moment) string { return held(m) + because(m) }, func(m *Moment) string { return heldShort(m, "slow", "too many slow calls") + ": opens" + m.lasting() }},
	{"T31", func(m *Moment) string { return "an operator forced it open" + m.untilWhen(", until ") }, func(m *Moment) string { return "forced open" + m.untilWhen(" until ") }},
	{"T32", func(m *Moment) string { return "an operator forced it closed" + m.untilWhen(", until ") }, func(m *Moment) string { return "forced closed" + m.untilWhen(" until ") }},
	{"T33", reconfigured, func(m *Moment) string { return "new settings" + either(m.aside(), "", ": "+m.To) }},
	{"T34", func(m *Moment) string {
		return "the cooldown" + restarted(m) + " was over; " + asked(m, "a call", "closed it without a probe") + m.lettingIn()
	}, func(m *Moment) string { return asker(m, "a call", "closes it") + m.ramping() }},
	{"M2", func(m *Moment) string { return "the cooldown was over; " + asked(m, "a turn", "probed the primary") }, func(m *Moment) string { return asker(m, "a turn", "probes the primary") }},
	{"M9", func(m *Moment) string { return "enough probes of the primary in a row succeeded" + because(m) }, func(*Moment) string { return "probes succeed: the primary again" }},
	{"M10", func(m *Moment) string { return streak(m, "failed turn") }, func(m *Moment) string { return nth(m, "failed turn") + ": " + next(m) + m.lasting() }},
	{"M12", func(m *Moment) string { return "a rate limit during recovery" + byCall(m) }, func(m *Moment) string { return "rate limit: " + next(m) + m.lasting() }},
	{"M13", func(m *Moment) string { return "one failure too many during recovery" + because(m) }, func(m *Moment) string { return "probes fail: " + next(m) + m.lasting() }},
	{"M15", func(m *Moment) string {
		return "an operator switched " + m.Name + " " + onOff(m.Available) + ", which changes nothing for now"
	}, func(m *Moment) string { return m.Name + " switched " + onOff(m.Available) }},
	{"M16", resetByHand, func(*Moment) string { return "reset by hand" }},
	{trace.MovedByAsk, seen, seenShort},
	{trace.MovedByEnd, seen, seenShort},
	{trace.MovedByTime, seen, seenShort},
	{trace.MovedByReset, seen, seenShort},
}

// short is the reason in a few words, with the rule: "lease ran out: opens again
// (T7)".
func (m *Moment) short() string {
	for i := range reasons {
		if reasons[i].rule == m.Rule {
			return reasons[i].short(m) + " (" + m.Rule + m.cools.rules() + either(m.ramp == nil, "", ", T26") + ")"
		}
	}
	if m.Rule == "" {
		return m.To
	}
	return m.To + " (" + m.Rule + ")"
}

// nth is "3rd failure", or "failure" if one is enough.
func nth(m *Moment, what string) string {
	if m.Failures <= 1 {
		return what
	}
	return ordinal(m.Failures) + " " + what
}

// asker is the call that asked, and what it does.
func asker(m *Moment, nobody, does string) string {
	if m.Call == 0 {
		return nobody
	}
	return fmt.Sprintf("call %d %s", m.Call, does)
}

// next is whom turns go to after the moment, who may well fail them.
func next(m *Moment) string {
	switch {
	case !m.Switched:
		return "on to a backup"
	case m.Serves == "":
		return "nobody is left"
	}
	return "on to " + m.Serves
}

// Reason is a sentence, without its full stop, that says why the transition
// happened.
func (m *Moment) Reason() string {
	for i := range reasons {
		if reasons[i].rule == m.Rule {
			return reasons[i].reason(m) + m.cooldown()
		}
	}
	return "by the breaker's own rules" + because(m)
}

// refusal says why the breaker refused a call: "T6: the probe's lease runs until
// 63 s".
func (b *BreakerHistory) refusal(m *Mark, end time.Duration) string {
	switch {
	case b.Tool == nil: // a foreign trace
		return m.Rule
	case m.Rule == "T6" && !m.Known:
		return "T6: a probe is out, and has no lease"
	case m.Rule == "T6":
		return b.probesOut(m, end)
	case m.Rule == "T4":
		return "T4: the cooldown runs until " + moment(m.Until, end) + b.coolingAt(m.At).words(end)
	case m.Rule == "T26":
		return "T26: " + b.rampWords(m.At, end)
	case m.Rule == "T31":
		return "T31: an operator keeps it open"
	case m.Reason != "":
		return m.Rule + ": " + m.Reason
	default:
		return m.Rule
	}
}

// streak is T3 and M10: failures in a row.
func streak(m *Moment, what string) string {
	if m.Failures <= 1 {
		return "a " + what + because(m)
	}
	return "the " + ordinal(m.Failures) + " " + what + inARow(m.set) + because(m)
}

// asked is T5 and M2: the call that asked goes.
func asked(m *Moment, nobody, does string) string {
	if m.Call == 0 {
		return nobody + " was let through"
	}
	return fmt.Sprintf("call %d asked and %s", m.Call, does)
}

// restarted says why a cooldown ended later than its breaker's opening promised.
func restarted(m *Moment) string {
	n := len(m.Restarts)
	if n == 0 {
		return ""
	}
	last := moment(m.Restarts[n-1], m.end)
	if n == 1 {
		return ", restarted at " + last + " by a late failure (T11),"
	}
	return ", restarted " + times(n) + " by late failures (T11), last at " + last + ","
}

func leaseRanOut(m *Moment) string {
	probe := "the probe"
	if m.ProbeCall != 0 {
		probe = fmt.Sprintf("the probe of call %d", m.ProbeCall)
	}
	s := probe + " never answered; its lease ended here"
	if m.Cancelled {
		s = probe + " was given up by its caller, which says nothing (T16); its lease ended here"
	}
	if m.Answered {
		s = probe + " had not answered when its lease ended"
	}
	if m.several() {
		s += ", " + m.sums()
	}
	if m.T > m.Effective {
		s += " (noticed at " + moment(m.T, m.end) + ")"
	}
	return s
}

// verdict is T8 and T9. An anonymous result is taken for the probe's, whosever
// it is.
func verdict(m *Moment, did string) string {
	if m.Rule == "T9" && m.Outcome == trace.Success && m.set != nil && m.set.SlowAfter > 0 {
		did = "was slow"
	}
	switch {
	case m.Call == 0:
		return "the probe " + did
	case m.several():
		return m.outcome(did)
	case did == "succeeded" && m.Outcome != "" && m.Outcome != trace.Success:
		return fmt.Sprintf("the probe of call %d ended in a %s, which counts as a success (T20)", m.Call, outcomeWord(m.Outcome))
	case m.ProbeCall != 0 && m.Call != m.ProbeCall:
		return fmt.Sprintf("call %d %s, and was taken for the probe, which is call %d", m.Call, did, m.ProbeCall)
	case m.Outcome == trace.Success || m.Outcome == "":
		return fmt.Sprintf("the probe %s (call %d)", did, m.Call)
	default:
		return "the probe " + did + because(m)
	}
}

// because is " (call 3: timeout)", as far as it is known and more than a plain
// failure.
func because(m *Moment) string {
	if m.Call == 0 || m.Outcome == "" || m.Outcome == trace.Success || m.Outcome == trace.Failure {
		return byCall(m)
	}
	return fmt.Sprintf(" (call %d: %s)", m.Call, outcomeWord(m.Outcome))
}

func byCall(m *Moment) string {
	if m.Call == 0 {
		return ""
	}
	return fmt.Sprintf(" (call %d)", m.Call)
}

// outcomeWord is an outcome as people say it.
func outcomeWord(outcome string) string {
	switch outcome {
	case trace.RateLimit:
		return "rate limit"
	case trace.Permanent:
		return "permanent error"
	case trace.Vanished:
		return "vanished"
	case slowSuccess:
		return "slow, which counts as a failure, T22"
	default:
		return outcome
	}
}

// reason says why calls go elsewhere, how many and how long.
func (d *detour) reason(end time.Duration) string {
	why := "H7: " + d.from + " is out; "
	if len(d.calls) == 1 {
		return why + "a call goes to " + d.to
	}
	return why + fmt.Sprintf("%s calls go to %s until %s", Thousands(int64(len(d.calls))), d.to, moment(d.last, end))
}

// goTo says to whom turns go from here on: whether it serves them, who knows.
func goTo(model string) string {
	if model == "" {
		return "nobody is left to serve"
	}
	return "turns go to " + model
}

// onward is the rest of the sentence: to whom turns go now, if that changed and
// the reason has not said so.
func (m *Moment) onward() string {
	if !m.Switched || m.Rule == "M2" {
		return ""
	}
	return "; " + goTo(m.Serves)
}

// switchReason says why turns go to another model although the state is the same.
func switchReason(e *trace.Event) string {
	why := switchCause(e)
	if why != "" {
		why += "; "
	}
	return e.Rule + ": " + why + goTo(e.To)
}

// switchCause is what made another model serve, or empty: a transition did.
func switchCause(e *trace.Event) string {
	switch e.Rule {
	case "M11":
		return e.From + " has spent its budget"
	case "M15":
		return "a backup was switched"
	case "M24":
		return "a backup is whole again"
	case "M17":
		return "a late failure spent the budget of " + e.From
	default:
		return ""
	}
}
