package check

import (
	"time"

	"github.com/breakersim/breakersim/machine"
)

// Variant is a tool breaker with one thing set beyond T1 to T16.
type Variant struct {
	Name     string // of the setting
	Settings machine.ToolSettings
	Options  Options
}

// small is a breaker whose times are few seconds, so that there are few states.
func small() machine.ToolSettings {
	return machine.ToolSettings{FailureThreshold: 2, RecoveryDuration: 3 * time.Second, ProbeTimeout: 2 * time.Second}
}

// ToolVariants are a small breaker with nothing set, and with each setting on,
// beside what the setting needs.
func ToolVariants() []Variant {
	ring := func(calls int) machine.Window { return machine.Window{Calls: calls} }
	all := []Variant{{Name: "off", Settings: small()}}
	for _, v := range []struct {
		name string
		set  func(*machine.ToolSettings)
	}{
		{"counts-success", func(s *machine.ToolSettings) { s.Counts.Permanent = machine.AsSuccess }},
		{"counts-ignore", func(s *machine.ToolSettings) {
			s.Counts.Timeout, s.Counts.RateLimit = machine.AsNothing, machine.AsNothing
		}},
		{"counts-cancelled", func(s *machine.ToolSettings) { s.Counts.Cancelled = machine.AsFailure }},
		{"failure-rate", func(s *machine.ToolSettings) {
			s.FailureThreshold = 0
			s.Trip = machine.Trip{Window: ring(4), FailureRate: 0.5, MinCalls: 3}
		}},
		{"window-failures", func(s *machine.ToolSettings) { s.Trip = machine.Trip{Window: ring(3), Failures: 2} }},
		{"window-of-time", func(s *machine.ToolSettings) {
			s.FailureThreshold = 0
			s.Trip = machine.Trip{Window: machine.Window{Span: 4 * time.Second, Buckets: 2}, FailureRate: 0.5, MinCalls: 2}
		}},
		{"slow-fails", func(s *machine.ToolSettings) { s.Trip = machine.Trip{SlowerThan: time.Second, SlowFails: true} }},
		{"slow-rate", func(s *machine.ToolSettings) {
			s.Trip = machine.Trip{Window: ring(2), MinCalls: 2, SlowerThan: time.Second, SlowRate: 0.5}
		}},
		{"success-clears-not", func(s *machine.ToolSettings) { s.Trip.KeepsCount = true }},
		{"forget-failures", func(s *machine.ToolSettings) { s.Trip.ForgetAfter = 2 * time.Second }},
		{"probes", func(s *machine.ToolSettings) { s.Probing = machine.Probing{AtOnce: 2} }},
		{"probes-in-all", func(s *machine.ToolSettings) { s.Probing = machine.Probing{AtOnce: 3, InAll: 2, Needed: 2} }},
		{"probe-successes", func(s *machine.ToolSettings) { s.Probing = machine.Probing{Needed: 2} }},
		{"probe-failure-rate", func(s *machine.ToolSettings) { s.Probing = machine.Probing{AtOnce: 2, Needed: 3, FailureRate: 0.5} }},
		{"probe-slow-rate", func(s *machine.ToolSettings) {
			s.Trip.SlowerThan = time.Second
			s.Probing = machine.Probing{AtOnce: 2, Needed: 2, FailureRate: 1, SlowRate: 0.5}
		}},
		{"cancelled-probe", func(s *machine.ToolSettings) { s.Probing = machine.Probing{Release: true} }},
		{"probe-none", func(s *machine.ToolSettings) { s.Probing = machine.Probing{Skip: true} }},
		{"ramp", func(s *machine.ToolSettings) { s.Probing = machine.Probing{Ramp: 4 * time.Second, RampFrom: 0.25} }},
		{"recovery-growth", func(s *machine.ToolSettings) { s.Cooldown = machine.Cooldown{Growth: 2, Longest: 6 * time.Second} }},
		{"recovery-forget", func(s *machine.ToolSettings) {
			s.Cooldown = machine.Cooldown{Growth: 2, Longest: 6 * time.Second, Forget: 2 * time.Second}
		}},
		{"recovery-jitter", func(s *machine.ToolSettings) { s.Cooldown = machine.Cooldown{Jitter: 0.25, Seed: 1} }},
		{"retry-after", func(s *machine.ToolSettings) { s.Cooldown = machine.Cooldown{RetryAfter: true} }},
		{"retry-after-bounded", func(s *machine.ToolSettings) {
			s.Cooldown = machine.Cooldown{RetryAfter: true, Longest: 5 * time.Second}
		}},
		{"late-failures", func(s *machine.ToolSettings) { s.Cooldown = machine.Cooldown{LateKeep: true} }},
	} {
		s := small()
		v.set(&s)
		all = append(all, Variant{Name: v.name, Settings: s})
	}
	other := small()
	other.FailureThreshold, other.RecoveryDuration = 1, 2*time.Second
	all = append(all, Variant{Name: "forced", Settings: small(), Options: Options{Forced: true}},
		Variant{Name: "configured", Settings: small(), Options: Options{Between: &other}})
	for i := range all {
		all[i].Options.Calls, all[i].Options.Enough = variantCalls, variantWork
	}
	return all
}

// variantCalls are in flight at one time while variants are explored, and
// variantWork bounds how deep.
const (
	variantCalls = 3
	variantWork  = 600_000
)
