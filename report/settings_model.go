package report

import "github.com/breakersim/breakersim/sim/trace"

// furtherModelSettings are those of a model breaker beyond its own rules, told as
// those of a tool breaker are.
var furtherModelSettings = []setting{
	{"probes, probe_timeout", func(b *trace.Breaker) bool { return b.AtOnce == 0 }, func(b worded) string {
		if b.AtOnce == 0 {
			return "every turn is a probe"
		}
		return plural(b.AtOnce, "probe", "probes") + " at a time" + either(b.PlaceFor == 0, "", ", each for "+b.span(b.PlaceFor)+" at most")
	}},
	{"exhausted_wait", func(b *trace.Breaker) bool { return b.ExhaustedWait == 0 }, func(b worded) string {
		return either(b.ExhaustedWait == 0, "no waiting for somebody to serve", "turns wait up to "+b.span(b.ExhaustedWait)+" for somebody to serve")
	}},
	{"last_resort", func(b *trace.Breaker) bool { return b.LastResort == "" }, func(b worded) string {
		return either(b.LastResort == "", "no last resort", "last resort "+b.LastResort)
	}},
	{"entry_cooldown", func(b *trace.Breaker) bool { return b.EntryCooldown == 0 }, func(b worded) string {
		return either(b.EntryCooldown == 0, "a spent backup stays so until a recovery", "a spent backup is whole again after "+b.span(b.EntryCooldown))
	}},
}
