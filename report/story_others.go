package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// seeing makes the ways to tell what was seen of a transition of a breaker that
// is not ours. left is when it last left its rest.
func (t *teller) seeing(m *Moment, left time.Duration) func() []string {
	return func() []string {
		t.opened = left
		return tagged(m.Rule, t.saw(m)...)
	}
}

func (t *teller) saw(m *Moment) []string {
	at, became, call := t.clock(m.Effective), went(m.From, m.To), fmt.Sprintf("call %d", m.Call)
	switch {
	case m.Rule == trace.MovedByReset:
		return []string{"At " + at + " an operator reset " + it, "An operator reset " + it + " at " + at}
	case m.Rule == trace.MovedByEnd && m.Call != 0:
		return t.sawEnd(m, became)
	case m.Rule == trace.MovedByAsk && m.Call != 0:
		return []string{"At " + at + " " + call + " asked, and " + it + " " + became, capIt + " " + became + " at " + at + ", as " + call + " asked"}
	case m.Rule == trace.MovedByTime && m.ProbeCall != 0:
		over := fmt.Sprintf("our lease on call %d was over", m.ProbeCall)
		return []string{"By " + at + " " + over + ", and " + it + " was open again", "At " + at + " " + it + " was open again, as " + over}
	}
	had := "had " + strings.Replace(became, "went", "gone", 1) + " by itself"
	return []string{"By " + at + " " + it + " " + had, capIt + " " + had + " when it was looked at next, at " + at}
}

// sawEnd is a change of state on a result.
func (t *teller) sawEnd(m *Moment, became string) []string {
	at, call := t.clock(m.Effective), fmt.Sprintf("call %d", m.Call)+t.echo(m)
	if m.To == "closed" {
		at += t.since(m)
	}
	past, _ := did(m.Outcome)
	return []string{"At " + closed(at) + " " + call + " " + past + ", and " + it + " " + became, capIt + " " + became + " at " + closed(at) + " when " + call + " " + past,
		capital(call) + " " + past + " at " + at + ", on which " + it + " " + became}
}

// turnedAway are calls that a breaker refused which is not ours, with what their
// callers read.
func (t *teller) turnedAway(c *crowd) []string {
	when, calls, called := t.span(c.first.At, c.last.At), counted(c.n, "call was", "calls were"), counted(c.n, "call", "calls")
	if c.n == 1 {
		called = fmt.Sprintf("call %d", c.first.Call)
		calls = called + " was"
	}
	says := ` refused: "` + c.who + `"`
	return []string{then(capital(when), calls+says), capital(calls) + ` refused ` + when + `: "` + c.who + `"`, capIt + " refused " + called + " " + when + `: "` + c.who + `"`}
}
