package replay

import (
	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// furtherTool is a tool breaker's settings beyond its own rules, as the record
// has them: what is not set is not there.
func furtherTool(s *machine.ToolSettings) trace.FurtherTool {
	t, p := &s.Trip, &s.Probing
	f := trace.FurtherTool{FailureRate: t.FailureRate, WindowFailures: t.Failures, MinimumCalls: t.MinCalls,
		SlowAfter: t.SlowerThan, Slow: where(t.SlowFails, "failure"), SlowRate: t.SlowRate, ForgetFailuresAfter: t.ForgetAfter,
		Probe: where(p.Skip, "none"), Probes: min(p.AtOnce, trace.AnyProbes), ProbesInAll: p.InAll, ProbeSuccesses: p.Needed,
		ProbeFailureRate: p.FailureRate, ProbeSlowRate: p.SlowRate, CancelledProbe: where(p.Release, "release"), Ramp: p.Ramp, RampFrom: p.RampFrom,
		LateFailures: where(s.Cooldown.LateKeep, "ignore")}
	if w := t.Window; w != (machine.Window{}) {
		f.Window = &trace.Window{Calls: w.Calls, Time: w.Span, Buckets: w.Buckets}
	}
	if t.KeepsCount {
		f.SuccessClears = new(false)
	}
	return f
}

// further is likewise of a breaker of either kind.
func further(c *machine.Counts, d *machine.Cooldown) trace.Further {
	f := trace.Further{RecoveryGrowth: d.Growth, RecoveryLongest: d.Longest, RecoveryForget: d.Forget, RecoveryJitter: d.Jitter, RetryAfter: where(d.RetryAfter, "heed")}
	if *c != (machine.Counts{}) {
		f.Counts = &trace.Counts{Failure: take(c.Failure), Timeout: take(c.Timeout), RateLimit: take(c.RateLimit), Permanent: take(c.Permanent), Cancelled: take(c.Cancelled)}
	}
	return f
}

func where(set bool, word string) string {
	if set {
		return word
	}
	return ""
}

func take(t machine.Take) string {
	return [...]string{machine.AsItIs: "", machine.AsFailure: "failure", machine.AsSuccess: "success", machine.AsNothing: "ignore"}[t]
}

// beyond are the keys of a tool breaker's settings that are set and that T1 to
// T16 do not know, in the order of the record. What results count as is not among
// them, as whoever reports can see to that, unless some count as nothing; nor is
// what a late failure does, which differs from library to library anyway.
func beyond(b *scenarios.Breaker) (keys []string) {
	c, f, g := &b.Tool.Counts, furtherTool(b.Tool), further(&b.Tool.Counts, &b.Tool.Cooldown)
	for _, k := range []struct {
		key string
		set bool
	}{
		{"counts", c.Failure == machine.AsNothing || c.Timeout == machine.AsNothing || c.RateLimit == machine.AsNothing || c.Permanent == machine.AsNothing}, {"window", f.Window != nil}, {"failure_rate", f.FailureRate > 0}, {"window_failures", f.WindowFailures > 0},
		{"slow_after", f.SlowAfter > 0}, {"success_clears", f.SuccessClears != nil}, {"forget_failures_after", f.ForgetFailuresAfter > 0},
		{"probe", f.Probe != ""}, {"probes", f.Probes > 1}, {"probes_in_all", f.ProbesInAll > 0}, {"probe_successes", f.ProbeSuccesses > 1},
		{"probe_failure_rate", f.ProbeFailureRate > 0}, {"cancelled_probe", f.CancelledProbe != ""}, {"ramp", f.Ramp > 0},
		{"recovery_growth", g.RecoveryGrowth > 1}, {"recovery_jitter", g.RecoveryJitter > 0}, {"retry_after", g.RetryAfter != ""},
	} {
		if k.set {
			keys = append(keys, k.key)
		}
	}
	return keys
}
