package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// furtherToolSettings are those of a tool breaker beyond its own rules. Lists
// leave out what is not set; beside a panel that sets it, its absence is told.
var furtherToolSettings = []setting{
	{"window, failure_rate, window_failures, slow_rate, minimum_calls", func(b *trace.Breaker) bool { return b.Window == nil }, windowed},
	{"slow_after, slow", func(b *trace.Breaker) bool { return b.SlowAfter == 0 }, func(b worded) string {
		if b.SlowAfter == 0 {
			return "no call is slow"
		}
		return "calls over " + b.span(b.SlowAfter) + " are slow" + either(b.Slow == "failure", " and fail", "")
	}},
	{"success_clears", func(b *trace.Breaker) bool { return clears(b) }, func(b worded) string {
		return either(clears(b.Breaker), "a success zeroes the count", "a success leaves the count")
	}},
	{"forget_failures_after", func(b *trace.Breaker) bool { return b.ForgetFailuresAfter == 0 }, func(b worded) string {
		return either(b.ForgetFailuresAfter == 0, "no failure forgotten", "failures forgotten after "+b.span(b.ForgetFailuresAfter)+" without one")
	}},
	{"probe", func(b *trace.Breaker) bool { return b.Probe != "none" }, func(b worded) string {
		return either(b.Probe == "none", "closes without a probe", "a probe before it closes")
	}},
	{"probes, probes_in_all", func(b *trace.Breaker) bool { return b.Probes <= 1 && b.ProbesInAll == 0 }, func(b worded) string {
		at := "any number of probes"
		if b.Probes < trace.AnyProbes {
			at = plural(max(1, b.Probes), "probe", "probes")
		}
		return at + " at a time" + either(b.ProbesInAll == 0, "", ", "+Thousands(int64(b.ProbesInAll))+" in all")
	}},
	{"probe_successes, probe_failure_rate, probe_slow_rate", func(b *trace.Breaker) bool { return b.ProbeSuccesses <= 1 && b.ProbeFailureRate == 0 }, func(b worded) string {
		n := max(1, b.ProbeSuccesses)
		if b.ProbeFailureRate == 0 {
			return "closes after " + plural(n, "good probe", "good probes in a row")
		}
		slow := either(b.ProbeSlowRate == 0, "", " and "+inPercent(b.ProbeSlowRate)+" slow")
		return "closes below " + inPercent(b.ProbeFailureRate) + " failed" + slow + " of " + plural(n, "probe", "probes")
	}},
	{"cancelled_probe", func(b *trace.Breaker) bool { return b.CancelledProbe != "release" }, func(b worded) string {
		return either(b.CancelledProbe == "release", "a cancelled probe gives its slot back", "a cancelled probe holds its slot")
	}},
	{"ramp, ramp_from", func(b *trace.Breaker) bool { return b.Ramp == 0 }, func(b worded) string {
		return either(b.Ramp == 0, "no ramp", "after closing "+b.span(b.Ramp)+" from "+inPercent(b.RampFrom)+" of the calls to all")
	}},
	{"late_failures", func(b *trace.Breaker) bool { return b.LateFailures != "ignore" }, func(b worded) string {
		return either(b.LateFailures == "ignore", "late failures ignored", "late failures restart the cooldown")
	}},
}

// furtherSettings are those of either kind.
var furtherSettings = []setting{
	{"counts", func(b *trace.Breaker) bool { return b.Counts == nil }, func(b worded) string { return countsAs(b.Counts) }},
	{"recovery_growth, recovery_longest, recovery_forget", func(b *trace.Breaker) bool { return b.RecoveryGrowth <= 1 && b.RecoveryLongest == 0 }, grown},
	{"recovery_jitter", func(b *trace.Breaker) bool { return b.RecoveryJitter == 0 }, func(b worded) string {
		return either(b.RecoveryJitter == 0, "no jitter on the cooldown", "cooldown drawn from "+inPercent(b.RecoveryJitter)+" less to "+inPercent(b.RecoveryJitter)+" more")
	}},
	{"retry_after", func(b *trace.Breaker) bool { return b.RetryAfter != "heed" }, func(b worded) string {
		return either(b.RetryAfter == "heed", either(b.Tool != nil, "open", "no probe")+" for as long as a failure asks", "hints to wait ignored")
	}},
}

func clears(b *trace.Breaker) bool { return b.SuccessClears == nil || *b.SuccessClears }

// windowed is "opens at 50% failures of the last 100 calls, from 20 calls on".
func windowed(b worded) string {
	if b.Window == nil {
		return "no window"
	}
	var at []string
	for _, x := range []struct {
		set  bool
		text string
	}{{b.FailureRate > 0, inPercent(b.FailureRate) + " failures"}, {b.WindowFailures > 0, plural(b.WindowFailures, "failure", "failures")}, {b.SlowRate > 0, inPercent(b.SlowRate) + " slow calls"}} {
		if x.set {
			at = append(at, x.text)
		}
	}
	last := plural(b.Window.Calls, "call", "calls")
	if b.Window.Time > 0 {
		last = b.span(b.Window.Time)
	}
	return "opens at " + strings.Join(at, " or ") + " of the last " + last + either(b.MinimumCalls <= 1, "", ", from "+Thousands(int64(b.MinimumCalls))+" calls on")
}

// countsAs is "permanent errors count as nothing, cancelled calls as failures".
func countsAs(c *trace.Counts) string {
	if c == nil {
		return "each result counts as it is"
	}
	as := map[string]string{"failure": "failures", "success": "successes", "ignore": "nothing"}
	var parts []string
	for _, k := range []struct{ kind, take string }{{"failures", c.Failure}, {"timeouts", c.Timeout}, {"rate limits", c.RateLimit}, {"permanent errors", c.Permanent}, {"cancelled calls", c.Cancelled}} {
		if k.take != "" {
			parts = append(parts, k.kind+either(parts == nil, " count", "")+" as "+as[k.take])
		}
	}
	return strings.Join(parts, ", ")
}

// grown is "cooldown 2 times as long each time, up to 10 min, until 5 min went well".
func grown(b worded) string {
	var parts []string
	if b.RecoveryGrowth > 1 {
		parts = append(parts, fmt.Sprintf("cooldown %.6g times as long each time", b.RecoveryGrowth))
	}
	for _, x := range []struct {
		d    time.Duration
		text string
	}{{b.RecoveryLongest, "up to "}, {b.RecoveryForget, "until it was " + b.rest() + " for "}} {
		if x.d > 0 {
			parts = append(parts, x.text+b.span(x.d))
		}
	}
	if b.RecoveryGrowth <= 1 {
		return either(parts == nil, "cooldown always as long", "cooldown "+strings.Join(parts, ", "))
	}
	return strings.Join(parts, ", ")
}

// rest names the state in which all is well.
func (b worded) rest() string { return either(b.Tool != nil, "closed", "in primary") }

// inPercent writes a share, to six digits.
func inPercent(share float64) string { return fmt.Sprintf("%.6g %%", float64(share*100)) }
