package check

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// word is one setting as a scenario has it.
type word struct{ key, value string }

// words are a tool breaker's settings beyond the four of T1 to T16, those that
// are off with the value that turns them off.
func words(s *machine.ToolSettings) []word {
	t, p, c := &s.Trip, &s.Probing, &s.Cooldown
	return []word{
		{"counts", counted(s.Counts)}, {"window", window(t.Window)},
		{"failure_rate", share(t.FailureRate)}, {"window_failures", number(t.Failures)}, {"minimum_calls", number(t.MinCalls)},
		{"slow_after", span(t.SlowerThan)}, {"slow", either(t.SlowFails, "failure", "success")}, {"slow_rate", share(t.SlowRate)},
		{"success_clears", either(t.KeepsCount, "false", "true")}, {"forget_failures_after", span(t.ForgetAfter)},
		{"probes", probes(p.AtOnce)}, {"probes_in_all", number(p.InAll)}, {"probe_successes", number(max(1, p.Needed))},
		{"probe_failure_rate", share(p.FailureRate)}, {"probe_slow_rate", share(p.SlowRate)}, {"cancelled_probe", either(p.Release, "release", "hold")},
		{"probe", either(p.Skip, "none", "call")}, {"ramp", span(p.Ramp)}, {"ramp_from", share(p.RampFrom)},
		{"recovery_growth", factor(c.Growth)}, {"recovery_longest", span(c.Longest)}, {"recovery_forget", span(c.Forget)}, {"recovery_jitter", share(c.Jitter)},
		{"retry_after", either(c.RetryAfter, "heed", "ignore")}, {"late_failures", either(c.LateKeep, "ignore", "extend")},
	}
}

// Further are the settings beyond the four of T1 to T16 that are not off, as a
// scenario has them, such as "probes: 2".
func Further(s *machine.ToolSettings) (all []string) {
	off := words(&machine.ToolSettings{})
	for i, w := range words(s) {
		if w != off[i] {
			all = append(all, w.key+": "+w.value)
		}
	}
	return all
}

// changed are the settings of to that are not those of from.
func changed(from, to *machine.ToolSettings) string {
	var all []string
	for _, w := range []struct{ key, from, to string }{
		{"failure_threshold", fmt.Sprint(from.FailureThreshold), fmt.Sprint(to.FailureThreshold)},
		{"recovery_duration", span(from.RecoveryDuration), span(to.RecoveryDuration)}, {"probe_timeout", span(from.ProbeTimeout), span(to.ProbeTimeout)},
		{"stale_results", either(from.IgnoreStale, "ignore", "count"), either(to.IgnoreStale, "ignore", "count")},
	} {
		if w.from != w.to {
			all = append(all, w.key+": "+w.to)
		}
	}
	was := words(from)
	for i, w := range words(to) {
		if w != was[i] {
			all = append(all, w.key+": "+w.value)
		}
	}
	return strings.Join(all, ", ")
}

func number(n int) string         { return fmt.Sprint(n) }
func span(d time.Duration) string { return d.String() }
func factor(f float64) string     { return fmt.Sprint(max(1, f)) }
func share(p float64) string      { return fmt.Sprint(p) }

// probes is how many there are at one time.
func probes(n int) string {
	if n >= math.MaxInt32 {
		return "any"
	}
	return number(max(1, n))
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func window(w machine.Window) string {
	switch {
	case w.Calls > 0:
		return fmt.Sprintf("{calls: %d}", w.Calls)
	case w.Buckets > 0:
		return fmt.Sprintf("{time: %v, buckets: %d}", w.Span, w.Buckets)
	case w.Span > 0:
		return fmt.Sprintf("{time: %v}", w.Span)
	}
	return "none"
}

// counted are the kinds of results that do not count as they are.
func counted(c machine.Counts) string {
	var all []string
	takes := [...]string{machine.AsFailure: "failure", machine.AsSuccess: "success", machine.AsNothing: "ignore"}
	for _, k := range []struct {
		key       string
		is, usual machine.Take
	}{
		{"failure", c.Failure, machine.AsFailure}, {"timeout", c.Timeout, machine.AsFailure}, {"rate_limit", c.RateLimit, machine.AsFailure},
		{"permanent", c.Permanent, machine.AsFailure}, {"cancelled", c.Cancelled, machine.AsNothing},
	} {
		if take := cmp.Or(k.is, k.usual); k.is != machine.AsItIs || c == (machine.Counts{}) {
			all = append(all, k.key+": "+takes[take])
		}
	}
	return "{" + strings.Join(all, ", ") + "}"
}
