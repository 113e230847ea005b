package runs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// Expectations are what the scenario expects, in words, each with what came
// instead.
func (r *Runs) Expectations() (all []report.Expectation) {
	for i := range r.Scenario.Expect {
		x := &r.Scenario.Expect[i]
		e := report.Expectation{Text: inWords(x, r.Panels[0].Clock)}
		for _, f := range r.Failures {
			if f.Line == x.Line {
				e.Failed = append(e.Failed, "under "+f.Policy+": "+f.Message)
			}
		}
		all = append(all, e)
	}
	return all
}

// inWords is what the scenario expects, as a sentence.
func inWords(e *scenarios.Expect, clock func(time.Duration) string) string {
	s := expectation(e, clock)
	if e.Policy != "" {
		return "Under " + e.Policy + ", " + s + "."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func expectation(e *scenarios.Expect, clock func(time.Duration) string) string {
	at := "at " + clock(e.At) + " the breaker " + e.Breaker
	switch {
	case e.State != 0:
		return at + " is " + e.State.String()
	case e.Allows != nil && *e.Allows:
		return at + " would let a call through"
	case e.Allows != nil:
		return at + " would let no call through"
	case e.Transitions != nil:
		return "the breaker " + e.Breaker + " " + moves(e.Transitions, clock)
	case e.Metric != "":
		return bounds(e, clock)
	default:
		return fmt.Sprintf("call %d %s", e.Call, cmp.Or(becomes[e.Is], "ends as "+e.Is))
	}
}

// becomes says what becomes of a call.
var becomes = map[string]string{
	"admitted": "is admitted", "refused": "is refused", "exhausted": "finds nobody left to serve it",
	"success": "succeeds", "failure": "fails", "timeout": "times out", "rate_limit": "is rate-limited",
	"permanent": "gets a permanent error", "vanish": "is never heard of again", "cancelled": "is cancelled",
}

// moves are all the transitions of a breaker.
func moves(all []scenarios.Moment, clock func(time.Duration) string) string {
	if len(all) == 0 {
		return "never changes"
	}
	var parts []string
	for _, m := range all {
		parts = append(parts, m.State.String()+" at "+clock(m.At))
	}
	return "goes " + strings.Join(parts, ", then ") + ", and nowhere else"
}

// bounds say what a metric must come to.
func bounds(e *scenarios.Expect, clock func(time.Duration) string) string {
	unit := scenarios.Count
	for _, m := range scenarios.Metrics {
		if m.Name == e.Metric {
			unit = m.Unit
		}
	}
	s := "the figure " + e.Metric
	if e.To != 0 {
		s += ", counted from " + clock(e.From) + " to " + clock(e.To) + ","
	}
	switch {
	case e.About != nil:
		return s + " is about " + amount(*e.About, unit) + ": " + amount(*e.Min, unit) + " to " + amount(*e.Max, unit)
	case e.Min != nil && e.Max != nil && *e.Min == *e.Max:
		return s + " is " + amount(*e.Min, unit)
	case e.Min != nil && e.Max != nil:
		return s + " is " + amount(*e.Min, unit) + " to " + amount(*e.Max, unit)
	case e.Min != nil:
		return s + " is at least " + amount(*e.Min, unit)
	default:
		return s + " is at most " + amount(*e.Max, unit)
	}
}

func amount(v float64, unit scenarios.Unit) string {
	switch {
	case unit == scenarios.Duration:
		return report.Clock(time.Duration(v))
	default:
		whole, rest, some := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			whole = report.Thousands(n)
		}
		if some {
			whole += "." + rest
		}
		return whole
	}
}
