package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// setting is one of a breaker's, or two that are told as one.
type setting struct {
	keys  string                      // in scenarios and traces
	usual func(b *trace.Breaker) bool // lists of settings leave it out then; nil: never
	words func(b worded) string
}

// worded is a breaker, and how spans of its run are written.
type worded struct {
	*trace.Breaker
	span func(time.Duration) string
}

// toolSettings are all of a tool breaker's, in the order in which they are told.
var toolSettings = slices.Concat([]setting{
	{"guards", func(b *trace.Breaker) bool { return trace.Whole(b.Guards) == trace.Whole(b.Name) }, func(b worded) string { return "guards " + trace.Whole(b.Guards) }},
	{"failure_threshold", func(b *trace.Breaker) bool { return b.FailureThreshold == 0 && b.Window != nil }, func(b worded) string {
		switch {
		case neverOpens(b.Breaker):
			return "never opens"
		case b.FailureThreshold == 0:
			return "failures in a row do not open it"
		}
		return "opens after " + plural(b.FailureThreshold, "failure", "failures"+inARow(b.Breaker))
	}},
	{"recovery_duration", nil, func(b worded) string { return "cooldown " + b.span(b.RecoveryDuration) }},
	{"probe_timeout", func(b *trace.Breaker) bool { return b.Probe == "none" }, func(b worded) string {
		return either(b.ProbeTimeout == 0, "no probe lease", "probe lease "+b.span(b.ProbeTimeout))
	}},
	{"stale_results", func(b *trace.Breaker) bool { return b.StaleResults != "ignore" }, func(b worded) string {
		return either(b.StaleResults == "ignore", "stale results ignored", "stale results counted")
	}},
}, furtherToolSettings, furtherSettings, []setting{reports, scope, whose})

// modelSettings are all of a model breaker's.
var modelSettings = slices.Concat([]setting{
	{"primary, chain", nil, func(b worded) string {
		names := []string{b.Primary}
		for _, e := range b.Chain {
			names = append(names, e.Name)
		}
		return either(len(b.Chain) == 0, b.Primary+", then nobody", strings.Join(names, ", then "))
	}},
	{"max_fail_count", func(b *trace.Breaker) bool { return len(b.Chain) == 0 }, func(b worded) string { return strikes(b.Chain) }},
	{"trip_threshold", nil, func(b worded) string {
		return "trips after " + plural(max(1, b.TripThreshold), "failed turn", "failed turns in a row")
	}},
	{"recovery_timeout", nil, func(b worded) string { return "cooldown " + b.span(b.RecoveryTimeout) }},
	{"recovery_successes_needed", nil, func(b worded) string {
		return "back after " + plural(max(1, b.RecoverySuccessesNeeded), "good probe", "good probes in a row")
	}},
	{"probation_failures", func(b *trace.Breaker) bool { return b.ProbationFailures == 0 }, func(b worded) string {
		return either(b.ProbationFailures == 0, "no limit on failed probes", "back to the backups after "+plural(b.ProbationFailures, "failed probe", "failed probes"))
	}},
}, furtherModelSettings, furtherSettings, []setting{reports, scope})

// neverOpens says whether no failure and no slow call opens the tool breaker.
func neverOpens(b *trace.Breaker) bool { return b.FailureThreshold == 0 && b.Window == nil }

// inARow is what its count of failures is of: successes in between leave it in
// some.
func inARow(b *trace.Breaker) string {
	return either(b == nil || b.Tool == nil || clears(b), " in a row", "")
}

// scope is whom one breaker is for; what is usual has a name that says it.
var scope = setting{"per, instances", func(*trace.Breaker) bool { return true }, func(b worded) string {
	return either(b.Per == "", "one breaker for all", "a breaker for each "+b.Per)
}}

// reports is a setting of both kinds.
var reports = setting{"reports", func(b *trace.Breaker) bool { return b.Reports != "anonymous" }, func(b worded) string {
	return either(b.Reports == "anonymous", "anonymous reports", "reports by permit")
}}

// whose the breaker is; only tool breakers are others'.
var whose = setting{"by", func(b *trace.Breaker) bool { return b.By == "" }, func(b worded) string {
	return either(b.By == "", "our own", "by "+b.By)
}}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// strikes are the budgets of the backups.
func strikes(chain []trace.Backup) string {
	count := func(e trace.Backup) string { return plural(max(1, e.MaxFailCount), "strike", "strikes") }
	switch {
	case len(chain) == 0:
		return "no strikes"
	case len(chain) == 1:
		return count(chain[0])
	case !slices.ContainsFunc(chain, func(e trace.Backup) bool { return count(e) != count(chain[0]) }):
		return count(chain[0]) + " each"
	}
	var parts []string
	for _, e := range chain {
		parts = append(parts, e.Name+" "+count(e))
	}
	return strings.Join(parts, ", ")
}

func settingsTable(b *trace.Breaker) []setting {
	if b.Tool != nil {
		return toolSettings
	}
	return modelSettings
}

// settingsOf are a breaker's settings one by one, in a run that ends at end.
func settingsOf(b *trace.Breaker, end time.Duration) (parts []string) {
	for _, s := range settingsTable(b) {
		if s.usual == nil || !s.usual(b) {
			parts = append(parts, s.words(worded{b, spanIn(end)}))
		}
	}
	return parts
}

// spanIn writes spans as the pictures of a run that ends at end do.
func spanIn(end time.Duration) func(time.Duration) string {
	return func(d time.Duration) string { return moment(d, end) }
}

// nameAndKind is "search (tool breaker)".
func nameAndKind(b *trace.Breaker) string {
	switch {
	case b.Per == "":
		return b.Name + " (" + b.Kind + " breaker)"
	case len(b.Instances) > 0:
		return fmt.Sprintf("%s (%s %s breakers, one for each %s)", b.Name, Thousands(int64(b.Size())), b.Kind, b.Per)
	default:
		return b.Name + " (" + b.Kind + " breaker of one " + b.Per + ")"
	}
}

// settings are all of a breaker's in one line.
func settings(b *trace.Breaker, end time.Duration) string {
	if b.Per != "" { // as all instances have them
		whole := *b
		whole.Name = trace.Whole(b.Name)
		b = &whole
	}
	head := nameAndKind(b)
	if b.By != "" { // what it makes of them is its own affair
		head += ", asked for"
	}
	return head + ": " + strings.Join(settingsOf(b, end), " · ")
}

// policyAbout says what the policy of a panel is for: first what it has of its
// own, then what it does.
func policyAbout(panels []*History, i int) string {
	own := differences(panels, i)
	if about := panels[i].about(); about != "" {
		own = append(own, about)
	}
	return strings.Join(own, "; ")
}

// differences are the settings of a panel's breakers that are others in another
// panel.
func differences(panels []*History, i int) (all []string) {
	h := panels[i]
	for k := range h.Run.Breakers {
		b := &h.Run.Breakers[k]
		var own []string
		for _, s := range settingsTable(b) {
			span := spanIn(h.End)
			here := s.words(worded{b, span})
			differs := func(other *History) bool {
				o := breakerNamed(other.Run, b.Name)
				return o != nil && o.Kind == b.Kind && s.words(worded{o, span}) != here
			}
			if slices.ContainsFunc(panels, differs) {
				own = append(own, here)
			}
		}
		switch line := strings.Join(own, ", "); {
		case line == "":
		case len(h.Run.Breakers) > 1:
			all = append(all, b.Name+": "+line)
		default:
			all = append(all, line)
		}
	}
	return all
}

func breakerNamed(r *trace.RunInfo, name string) *trace.Breaker {
	for i := range r.Breakers {
		if r.Breakers[i].Name == name {
			return &r.Breakers[i]
		}
	}
	return nil
}
