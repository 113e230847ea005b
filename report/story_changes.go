package report

import (
	"fmt"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// changes are the beats of the breaker's transitions, of its switches apart from
// them, and of operators.
func (t *teller) changes() (all []beat) {
	done := map[time.Duration]bool{} // acts that a change tells
	tripped := false
	var left time.Duration // the latest opening from rest
	for i := range t.h.changes {
		c := &t.h.changes[i]
		if c.act != nil { // told below
			continue
		}
		if c.moment < 0 {
			if c.change.Breaker == t.b.Name {
				all = append(all, t.switched(&c.change))
				done[c.change.T] = true
			}
			continue
		}
		m := &t.h.Moments[c.moment]
		if m.Breaker != t.b.Name {
			continue
		}
		b := beat{at: m.Effective, kind: meaning(m), rule: m.like(), counts: m.like(), k: 1}
		if b.kind == beatTrips {
			left = m.Effective
		}
		switch {
		case t.b.others():
			b.later = t.seeing(m, left)
		case b.kind == beatProbes:
			possible := m.Effective
			if c := t.b.cooledBefore(m); c != nil {
				possible = c.until
			}
			b.later = func() []string { return t.granted(m, possible) }
		default:
			b.later = t.moving(m, tripped, left)
		}
		tripped = tripped || b.kind == beatTrips
		all = append(all, b)
		done[m.T] = true
	}
	return append(all, t.acts(done)...)
}

// meaning is what a transition means for the parts of the story.
func meaning(m *Moment) beatKind {
	switch {
	case m.From == "closed" || m.From == "primary":
		return beatTrips
	case m.To == "closed" || m.To == "primary":
		return beatRests
	case m.To == "half-open" || m.To == "recovering":
		return beatProbes
	default:
		return beatAside
	}
}

// granted are T5 and M2: a call goes as a probe, at once or some time after it
// could.
func (t *teller) granted(m *Moment, possible time.Duration) []string {
	at, end := t.clock(m.Effective), t.clock(possible)
	call := fmt.Sprintf("call %d", m.Call)
	became := "became the probe"
	if t.b.Model != nil {
		became = "went to " + t.b.Model.Primary + " as a probe"
	}
	switch {
	case m.Call == 0:
		return tagged(m.Rule, "At "+at+" the cooldown was over, and a probe went out", "A probe went out at "+at+", after the cooldown")
	case m.Effective <= possible:
		return tagged(m.Rule, "At "+at+" "+call+" asked, the cooldown was over, and it "+became, "The cooldown was over at "+at+", and "+call+" "+became,
			capital(call)+" asked at "+at+", just when the cooldown was over, and "+became)
	}
	return tagged(m.Rule, "The cooldown was over at "+end+"; "+call+", which asked at "+at+", "+became,
		"At "+at+" "+call+" asked, "+t.clock(rounded(m.Effective-possible))+" after the end of the cooldown, and "+became,
		capital(call)+" was the first to ask after the cooldown, which ended at "+end+", and "+became+" at "+at)
}

// moving makes the ways to tell the other transitions.
func (t *teller) moving(m *Moment, again bool, left time.Duration) func() []string {
	return func() []string {
		t.opened = left
		return t.moved(m, again)
	}
}

// moved are the other transitions.
func (t *teller) moved(m *Moment, again bool) []string {
	at := t.clock(m.Effective)
	once := ""
	if again {
		once = " again"
	}
	switch m.Rule {
	case "T3":
		return t.tripped(m, "failure", func(when string) string { return it + " opened" + once + when }, "opened "+it+once)
	case "M10":
		return t.tripped(m, "failed turn", func(when string) string { return it + " " + t.fellBack(m, once+when) }, "made "+it+" fall back"+once)
	case "T7":
		if m.To == "closed" {
			return t.plainly(m, it+" closed"+once, m.Reason())
		}
		return t.lapsed(m)
	case "T21", "T22":
		return t.plainly(m, it+" opened"+once, m.Reason())
	case "T31", "T32":
		how := "forced " + it + " " + m.To
		return tagged(m.Rule, "At "+at+" an operator "+how, "An operator "+how+" at "+at)
	case "T33":
		return t.plainly(m, it+either(m.To == "open", " opened", " closed")+once, m.Reason())
	case "T34":
		return t.plainly(m, it+" closed"+once, m.Reason())
	case "T8":
		if m.several() {
			return t.plainly(m, it+" closed"+once, m.Reason())
		}
		return tagged(m.Rule, t.probe(m)+" succeeded at "+at+t.since(m)+", and "+it+" closed", "At "+at+closed(t.since(m))+" "+uncapital(t.probe(m))+" succeeded, which closed "+it,
			capIt+" closed at "+at+t.since(m)+": "+uncapital(t.probe(m))+" had succeeded")
	case "T9":
		if m.several() {
			return t.plainly(m, it+" opened again", m.Reason())
		}
		past, perfect := did(m.Outcome)
		return tagged(m.Rule, t.probe(m)+" "+past+" at "+at+", and "+it+" opened again", "At "+at+" "+uncapital(t.probe(m))+" "+past+", so "+it+" was open again",
			capIt+" opened again at "+at+", as "+uncapital(t.probe(m))+" "+perfect)
	case "M9":
		return t.restored(m)
	case "M12", "M13":
		past, perfect := did(m.Outcome)
		many := ""
		if m.Rule == "M13" {
			many = ", one failure too many on probation"
		}
		call := fmt.Sprintf("call %d", m.Call)
		return tagged(m.Rule, "The probe, "+call+", "+past+" at "+at+many+", and "+it+" "+t.fellBack(m, " at once"), "At "+at+" "+call+" "+past+many+", and "+it+" "+t.fellBack(m, " at once"),
			capIt+" "+t.fellBack(m, " at "+at)+", as "+call+" "+perfect)
	case "T15", "M16":
		rest := "it closed"
		if t.b.Model != nil {
			rest = "it was back on " + t.b.Model.Primary
		}
		return tagged(m.Rule, "At "+at+" an operator reset "+it+", and "+rest, "An operator reset "+it+" at "+at+", and "+rest)
	default:
		return tagged(m.Rule, "At "+at+" "+it+" went from "+m.From+" to "+m.To, capIt+" went from "+m.From+" to "+m.To+" at "+at)
	}
}

// tripped are T3 and M10: one failure, or the last of several in a row.
func (t *teller) tripped(m *Moment, what string, moved func(when string) string, which string) []string {
	at := t.clock(m.Effective)
	past, _ := did(m.Outcome)
	call := fmt.Sprintf("call %d", m.Call)
	if m.Call == 0 {
		call, past = "a call", "failed"
	}
	call += t.echo(m)
	streak := ", the " + ordinalWord(m.Failures) + " " + what + inARow(m.set) + ","
	if m.Failures <= 1 {
		streak = ","
	}
	into := t.into(m.Effective)
	return tagged(m.Rule, "At "+at+closed(into)+" "+call+" "+past+streak+" and "+moved(""), capital(moved(" at "+at+into))+", when "+call+" "+past+trimmed(streak),
		capital(call)+" "+past+" at "+at+into+streak+" which "+which)
}

// echo says of a call that it began in another age of the breaker.
func (t *teller) echo(m *Moment) string {
	start, ok := t.started(m.Call, m.T)
	if !ok || len(t.b.Bands) == 0 {
		return ""
	}
	if band := t.b.bandAt(m.Effective, -1); band > 0 && start < t.b.Bands[band].From {
		return ", begun at " + t.clock(start) + ","
	}
	return ""
}

// started is when the attempt began that ended at that instant.
func (t *teller) started(call int, end time.Duration) (time.Duration, bool) {
	i := t.h.after(end)
	for i--; i >= 0 && t.h.Marks[i].At == end; i-- {
		if m := &t.h.Marks[i]; m.Call == call && m.Outcome != "" {
			return m.Start, true
		}
	}
	return 0, false
}

// fellBack is what a model breaker did, how, and who serves then.
func (t *teller) fellBack(m *Moment, how string) string {
	switch {
	case !m.Switched:
		return "tripped" + how + ", though there is no backup and " + t.b.Model.Primary + " went on serving"
	case m.Serves == "":
		return "fell back" + how + ", with nobody left to serve"
	default:
		return "fell back to " + m.Serves + how
	}
}

func (t *teller) lapsed(m *Moment) []string {
	at := t.clock(m.Effective)
	var ways []string
	switch {
	case m.Cancelled:
		ways = []string{"The probe's caller had given it up, which says nothing (T16), so its lease ran out at " + at + " and " + it + " opened again",
			"Nothing was to be learned from a probe that its caller gave up (T16): at " + at + " its lease ended, and " + it + " opened again"}
	case m.Answered:
		ways = []string{"The probe had not answered when its lease ended at " + at + ", and " + it + " opened again",
			"At " + at + " the probe's lease ended before its answer came, so " + it + " was open again",
			capIt + " opened again at " + at + ", when the probe's lease ended and its answer was still to come"}
	default:
		ways = []string{"The probe never answered: at " + at + " its lease ended, and " + it + " opened again",
			"At " + at + " the probe's lease ended without an answer, so " + it + " was open again",
			"No answer came from the probe before its lease ended at " + at + ", and " + it + " opened again"}
	}
	ways = tagged(m.Rule, ways...)
	if m.T == m.Effective {
		return ways
	}
	by := ", when call " + fmt.Sprint(m.Call) + " came,"
	if m.Call == 0 {
		by = ""
	}
	if m.T == t.h.End && m.Call == 0 {
		by = ", at the end of the run,"
	}
	for i := range ways {
		ways[i] += " That was only noticed at " + t.clock(m.T) + by + " and backdated."
	}
	return ways
}

// probe is who gave the probe's verdict: an anonymous result is taken for the
// probe's, whosever it is.
func (t *teller) probe(m *Moment) string {
	if m.Call != 0 && m.ProbeCall != 0 && m.Call != m.ProbeCall {
		return fmt.Sprintf("Call %d, taken for the probe although that is call %d,", m.Call, m.ProbeCall)
	}
	return "The probe"
}

func (t *teller) restored(m *Moment) []string {
	at, primary := t.clock(m.Effective)+t.since(m), t.b.Model.Primary
	need := max(1, t.b.Model.RecoverySuccessesNeeded)
	if need == 1 {
		return tagged(m.Rule, "The probe succeeded at "+at+", and "+it+" was back on "+primary, "At "+closed(at)+" the probe succeeded, which brought "+it+" back to "+primary)
	}
	return tagged(m.Rule, fmt.Sprintf("At %s call %d succeeded, the %s good probe in a row, and %s was back on %s", closed(at), m.Call, ordinalWord(need), it, primary),
		fmt.Sprintf("%s was back on %s at %s, after %s good probes in a row", capIt, primary, at, number(need)))
}

// switched is another model that serves although the state is the same.
func (t *teller) switched(e *trace.Event) beat {
	at := t.clock(e.T)
	next := e.To + " took over"
	if e.To == "" {
		next = "nobody was left to serve"
	}
	b := beat{at: sinceWhen(e), rule: e.Rule, counts: "switch", k: 1}
	switch e.Rule {
	case "M24":
		at = t.clock(b.at)
		b.ways = tagged(e.Rule, "At "+at+" the backup "+e.To+" had cooled down, and turns went to it", "The backup "+e.To+" was whole again at "+at+", and turns went to it")
	case "M11":
		b.ways = tagged(e.Rule, "At "+at+" the backup "+e.From+" had failed too often, and "+next, "The backup "+e.From+" had spent its budget at "+at+", and "+next,
			"With one failure more at "+at+" "+e.From+" was spent, and "+next)
	case "M15":
		what := "switched a backup"
		for _, a := range t.h.Acts {
			if a.T == e.T && a.Breaker == e.Breaker && a.Name != "" {
				what = "switched " + a.Name + " " + onOff(a.Available)
			}
		}
		b.ways = tagged(e.Rule, "At "+at+" an operator "+what+", and "+next, "An operator "+what+" at "+at+", and "+next)
	case "M17":
		b.ways = tagged(e.Rule, "A late failure spent the budget of "+e.From+" at "+at+", and "+next, "At "+at+" a late failure spent the budget of "+e.From+", and "+next)
	default:
		b.ways = tagged(e.Rule, "At "+at+" "+next)
	}
	return b
}

// acts are those of operators that changed nothing at once.
func (t *teller) acts(done map[time.Duration]bool) (all []beat) {
	for _, a := range t.h.Acts {
		if a.Breaker != t.b.Name || done[a.T] {
			continue
		}
		b := beat{at: a.T, rule: a.Op}
		if ways := t.operated(&a); ways != nil {
			b.ways = ways
		} else if a.Op == trace.Reset {
			b.ways = []string{"At " + t.clock(a.T) + " an operator reset " + it + ", which changed nothing.", "An operator reset " + it + " at " + t.clock(a.T) + "; nothing changed."}
		} else {
			b.ways = tagged("M15", "At "+t.clock(a.T)+" an operator switched "+a.Name+" "+onOff(a.Available)+", which changed nothing for now",
				"An operator switched "+a.Name+" "+onOff(a.Available)+" at "+t.clock(a.T)+", for later")
		}
		all = append(all, b)
	}
	return all
}

// plainly tells a transition and why it came.
func (t *teller) plainly(m *Moment, what, why string) []string {
	at := t.clock(m.Effective)
	return tagged(m.Rule, "At "+at+" "+what+": "+why, capital(what)+" at "+at+": "+why)
}

// operated tells what an operator did beside resets and switches, or is nil.
func (t *teller) operated(a *trace.Event) []string {
	at := t.clock(a.T)
	switch a.Op {
	case trace.Configure:
		return tagged("T33", "At "+at+" an operator changed the settings of "+it, "An operator changed the settings of "+it+" at "+at)
	case trace.ForceOpen:
		return tagged("T31", "At "+at+" an operator forced "+it+" to stay open", "An operator forced "+it+" at "+at+" to stay open")
	case trace.ForceClosed:
		return tagged("T32", "At "+at+" an operator forced "+it+" to stay closed", "An operator forced "+it+" at "+at+" to stay closed")
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// restarts are late failures that began a cooldown anew.
func (t *teller) restarts() (all []beat) {
	for _, band := range t.b.Bands {
		n := len(band.Restarts)
		if n == 0 || t.b.Tool == nil {
			continue
		}
		last := band.Restarts[n-1]
		at, until := t.clock(last), t.clock(t.b.coolingOf(band.From, band.To).until)
		b := beat{at: band.Restarts[0], rule: "T11", counts: "T11", k: n}
		if n == 1 {
			b.ways = tagged("T11", "A late failure at "+at+" restarted the cooldown, which now ran until "+until, "At "+at+" a late failure came in, and the cooldown began anew, until "+until)
		} else {
			b.ways = tagged("T11", capital(number(n))+" late failures restarted the cooldown, the last at "+at+", so that it ran until "+until,
				"The cooldown was restarted "+times(n)+" by late failures, the last time at "+at+", and ran until "+until,
				"Late failures restarted the cooldown "+times(n)+", the last one at "+at+", so that it ran until "+until)
		}
		all = append(all, b)
	}
	return all
}

// detours are stretches in which substitutes took the tool's calls.
func (t *teller) detours() (all []beat) {
	for _, d := range t.h.detours {
		if d.breaker != t.b.Name {
			continue
		}
		from, to, n := t.clock(d.first), t.clock(d.last), len(d.calls)
		b := beat{at: d.first, rule: "H7", counts: "rerouted", k: n}
		if n == 1 {
			b.ways = tagged("H7", "At "+from+" a call went to "+d.to+" instead", "One call went to "+d.to+" instead, at "+from)
		} else {
			b.ways = tagged("H7", then("From "+from+" to "+to, number(n)+" calls went to "+d.to+" instead"), capital(number(n))+" calls went to "+d.to+" instead, from "+from+" to "+to,
				"The substitute "+d.to+" took "+number(n)+" calls, from "+from+" to "+to)
		}
		all = append(all, b)
	}
	return all
}
