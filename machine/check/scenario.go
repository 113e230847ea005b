package check

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/breakersim/breakersim/machine"
)

// WriteTool writes the script of a violation as a scenario file of that name,
// lower-case letters, digits and '-', that plays it against a tool breaker with
// these settings.
func (v *Violation) WriteTool(w io.Writer, name string, s machine.ToolSettings, anonymous bool) error {
	stale := "count"
	if s.IgnoreStale {
		stale = "ignore"
	}
	return v.write(w, name, "tool", []string{"tool"}, fmt.Sprintf("{kind: tool, failure_threshold: %d, recovery_duration: %v, probe_timeout: %v, stale_results: %s%s%s}",
		s.FailureThreshold, s.RecoveryDuration, s.ProbeTimeout, stale, further(&s), reports(anonymous)))
}

func further(s *machine.ToolSettings) string {
	all := Further(s)
	if len(all) == 0 {
		return ""
	}
	return ", " + strings.Join(all, ", ")
}

// WriteModel does the same with a model breaker.
func (v *Violation) WriteModel(w io.Writer, name string, s machine.ModelSettings, anonymous bool) error {
	targets, chain := []string{s.Primary}, []string{}
	for _, b := range s.Chain {
		targets = append(targets, b.Name)
		chain = append(chain, fmt.Sprintf("{name: %s, max_fail_count: %d}", quoted(b.Name), b.MaxFailCount))
	}
	if s.LastResort != "" {
		targets = append(targets, s.LastResort)
	}
	return v.write(w, name, "model", targets, fmt.Sprintf("{kind: model, primary: %s, chain: [%s], trip_threshold: %d, recovery_timeout: %v, recovery_successes_needed: %d, probation_failures: %d%s%s}",
		quoted(s.Primary), strings.Join(chain, ", "), s.TripThreshold, s.RecoveryTimeout, s.RecoverySuccessesNeeded, s.ProbationFailures, FurtherModel(s), reports(anonymous)))
}

// FurtherModel are the settings beyond M1 to M17 that are set, as a scenario
// writes them after others.
func FurtherModel(s machine.ModelSettings) string {
	var out strings.Builder
	may := func(set bool, key string, value any) {
		if set {
			fmt.Fprintf(&out, ", %s: %v", key, value)
		}
	}
	var kinds []string
	for _, k := range []struct {
		key string
		as  machine.Take
	}{{"failure", s.Counts.Failure}, {"timeout", s.Counts.Timeout}, {"rate_limit", s.Counts.RateLimit}, {"permanent", s.Counts.Permanent}, {"cancelled", s.Counts.Cancelled}} {
		if word := map[machine.Take]string{machine.AsFailure: "failure", machine.AsSuccess: "success", machine.AsNothing: "ignore"}[k.as]; word != "" {
			kinds = append(kinds, k.key+": "+word)
		}
	}
	may(kinds != nil, "counts", "{"+strings.Join(kinds, ", ")+"}")
	c := &s.Cooldown
	may(c.Growth > 1, "recovery_growth", c.Growth)
	may(c.Longest > 0, "recovery_longest", c.Longest)
	may(c.Forget > 0, "recovery_forget", c.Forget)
	may(c.Jitter > 0, "recovery_jitter", c.Jitter)
	may(c.RetryAfter, "retry_after", "heed")
	may(s.Probes > 0, "probes", s.Probes)
	may(s.ProbeTimeout > 0, "probe_timeout", s.ProbeTimeout)
	may(s.Wait > 0, "exhausted_wait", s.Wait)
	may(s.LastResort != "", "last_resort", quoted(s.LastResort))
	may(s.EntryCooldown > 0, "entry_cooldown", s.EntryCooldown)
	return out.String()
}

func reports(anonymous bool) string {
	if anonymous {
		return ", reports: anonymous"
	}
	return ""
}

var plain = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)+$`)

// quoted is a name as YAML writes it, so that no word of YAML's own comes of it.
func quoted(name string) string {
	if name == "tool" || name == "primary" || plain.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

func (v *Violation) write(w io.Writer, name, kind string, targets []string, breaker string) error {
	out, guard := bufio.NewWriter(w), kind // the breaker's name
	fmt.Fprintf(out, "scenario: %s\n", name)
	fmt.Fprintf(out, "title: \"Broken: %s\"\n", v.Invariant.About)
	fmt.Fprintf(out, "about: >\n  The shortest script that breaks it: %s.\n", v.Why)
	if v.Unsayable {
		fmt.Fprintf(out, "  Mind that within an instant its order is another than the one that is played.\n")
	}
	for kind == "model" && slices.Contains(targets, guard) { // a call to it would have two ways to go
		guard += "-breaker"
	}
	fmt.Fprintf(out, "breakers:\n  %s: %s\n", guard, breaker)
	fmt.Fprintf(out, "targets:\n")
	for _, t := range targets {
		fmt.Fprintf(out, "  %s: {outcome: success}\n", quoted(t))
	}
	fmt.Fprintf(out, "calls:\n")
	for i, s := range v.Script {
		if i == v.Traffic {
			fmt.Fprintf(out, "  # from here on all is well again\n")
		}
		otherwise := "vanish"
		if i >= v.Traffic {
			otherwise = "success"
		}
		if line := entry(guard, s, v.Script[i+1:], otherwise); line != "" {
			fmt.Fprintf(out, "  - {at: %v, %s}\n", s.At, line)
		}
	}
	return out.Flush()
}

// entry is a step as a scripted entry. A call's end is told where it starts: one
// that has none, because it is refused or never heard of again, would end otherwise.
func entry(breaker string, s Step, later []Step, otherwise string) string {
	switch s.Do {
	case Ask:
		return "to: " + breaker + ", outcome: " + ending(s, later, otherwise)
	case Peek:
		return "peek: " + breaker
	case Reset:
		return "reset: " + breaker
	case ForceOpen:
		return "force_open: " + breaker
	case ForceClosed:
		return "force_closed: " + breaker
	case Configure:
		return fmt.Sprintf("configure: {breaker: %s, %s}", breaker, s.Name)
	case SwitchOff, SwitchOn:
		return fmt.Sprintf("set_available: {breaker: %s, name: %s, available: %v}", breaker, quoted(s.Name), s.Do == SwitchOn)
	default:
		return ""
	}
}

// ending is the outcome of the call that asks with s, and how long it takes.
func ending(s Step, later []Step, otherwise string) string {
	outcomes := map[Do]string{Success: "success", Failure: "failure", RateLimit: "rate_limit", Permanent: "permanent", Timeout: "timeout", Cancel: "cancelled"}
	for _, l := range later {
		if o, ok := outcomes[l.Do]; ok && l.Call == s.Call {
			if l.Wait > 0 {
				o += fmt.Sprintf(", retry_after: %v", l.Wait)
			}
			return fmt.Sprintf("%s, takes: %v", o, l.At-s.At)
		}
	}
	return otherwise
}
