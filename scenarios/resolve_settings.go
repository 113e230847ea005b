package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// change takes over what one place of the file, the mapping at,
// says of a breaker: first its preset, then what stands beside that.
func (r *resolver) change(b *Breaker, reports *val[reportsWord], w *settingsW, at ast.Node) {
	if w.Like.said() {
		r.like(b, w)
	}
	r.put(b, reports, w)
	r.contradictions(b, reports, w, at)
}

// put takes over what stands beside a preset. A rate replaces the count of
// failures in a row, and the absence of probes what was said of them, unless the
// same place says otherwise.
func (r *resolver) put(b *Breaker, reports *val[reportsWord], w *settingsW) {
	if reports.said() {
		b.Anonymous = bool(reports.V)
	}
	if b.Tool == nil {
		r.settings(b, w)
		return
	}
	if w.Probe.said() && bool(w.Probe.V) {
		b.Tool.Probing = machine.Probing{Ramp: b.Tool.Probing.Ramp, RampFrom: b.Tool.Probing.RampFrom}
	}
	counted := !rated(&b.Tool.Trip)
	r.settings(b, w)
	if counted && rated(&b.Tool.Trip) && !w.FailureThreshold.said() {
		b.Tool.FailureThreshold = 0
	}
}

// like begins anew with a preset. Whom a model breaker routes to stays.
func (r *resolver) like(b *Breaker, w *settingsW) {
	if r.d.refused[w.Like.node] {
		return
	}
	if _, err := oneOf(w.Like.V, "like", presetNames("")); err != nil {
		r.d.fault(w.Like.node, "%v", err)
		return
	}
	p, settings := presetOf(w.Like.V)
	kind := kindWords[0]
	if b.Model != nil {
		kind = kindWords[1]
	}
	if p.Kind != kind {
		r.d.fault(w.Like.node, "%s is a preset of %s breakers, and this is a %s breaker; for one there is %s", p.Name, p.Kind, kind, strings.Join(presetNames(kind), ", "))
		return
	}
	b.Anonymous = false
	if b.Tool != nil {
		*b.Tool = machine.DefaultToolSettings()
	} else {
		was := *b.Model
		*b.Model = machine.DefaultModelSettings()
		b.Model.Primary, b.Model.Chain, b.Model.LastResort = was.Primary, was.Chain, was.LastResort
	}
	r.put(b, &settings.Reports, &settings.settingsW)
}

// rated says whether a rate, or a number, of failures in a window opens it.
func rated(t *machine.Trip) bool { return t.FailureRate > 0 || t.Failures > 0 || t.SlowRate > 0 }

// cooldown is how the breaker's cooldown varies.
func (b *Breaker) cooldown() *machine.Cooldown {
	if b.Tool != nil {
		return &b.Tool.Cooldown
	}
	return &b.Model.Cooldown
}

// furtherSettings are those beyond the breakers' own rules (T20 onwards).
func furtherSettings(w *settingsW) []setting {
	return slices.Concat([]setting{
		{key: "counts", node: w.Counts.node, tool: func(s *machine.ToolSettings) { w.Counts.V.change(&s.Counts) },
			model: func(s *machine.ModelSettings) { w.Counts.V.change(&s.Counts) }},
	}, w.trip(), w.probing(), w.cooldowns(), w.routing())
}

// change takes over the kinds of result that the file names.
func (w *countsW) change(c *machine.Counts) {
	for _, k := range []struct {
		v  *val[takeWord]
		to *machine.Take
	}{{&w.Failure, &c.Failure}, {&w.Timeout, &c.Timeout}, {&w.RateLimit, &c.RateLimit}, {&w.Permanent, &c.Permanent}, {&w.Cancelled, &c.Cancelled}} {
		if k.v.said() {
			*k.to = machine.Take(k.v.V)
		}
	}
}

func (w *tripW) trip() []setting {
	trip := func(key string, node ast.Node, count *int, change func(*machine.Trip)) setting {
		return setting{key: key, node: node, count: count, tool: func(s *machine.ToolSettings) { change(&s.Trip) }}
	}
	return []setting{
		trip("window", w.Window.node, nil, func(t *machine.Trip) { t.Window = w.Window.V.Window }),
		trip("failure_rate", w.FailureRate.node, nil, func(t *machine.Trip) { t.FailureRate = float64(w.FailureRate.V) }),
		trip("window_failures", w.WindowFailures.node, &w.WindowFailures.V, func(t *machine.Trip) { t.Failures = w.WindowFailures.V }),
		trip("minimum_calls", w.MinimumCalls.node, &w.MinimumCalls.V, func(t *machine.Trip) { t.MinCalls = w.MinimumCalls.V }),
		trip("slow_after", w.SlowAfter.node, nil, func(t *machine.Trip) { t.SlowerThan = time.Duration(w.SlowAfter.V) }),
		trip("slow", w.Slow.node, nil, func(t *machine.Trip) { t.SlowFails = bool(w.Slow.V) }),
		trip("slow_rate", w.SlowRate.node, nil, func(t *machine.Trip) { t.SlowRate = float64(w.SlowRate.V) }),
		trip("success_clears", w.SuccessClears.node, nil, func(t *machine.Trip) { t.KeepsCount = !w.SuccessClears.V }),
		trip("forget_failures_after", w.ForgetFailuresAfter.node, nil, func(t *machine.Trip) { t.ForgetAfter = time.Duration(w.ForgetFailuresAfter.V) }),
	}
}

func (w *probingW) probing() []setting {
	probing := func(key string, node ast.Node, count *int, change func(*machine.Probing)) setting {
		return setting{key: key, node: node, count: count, tool: func(s *machine.ToolSettings) { change(&s.Probing) }}
	}
	return []setting{
		probing("probe", w.Probe.node, nil, func(p *machine.Probing) { p.Skip = bool(w.Probe.V) }),
		{key: "probes", node: w.Probes.node, tool: func(s *machine.ToolSettings) { s.Probing.AtOnce = int(w.Probes.V) },
			model: func(s *machine.ModelSettings) { s.Probes = int(w.Probes.V) % AnyProbes }},
		probing("probes_in_all", w.ProbesInAll.node, &w.ProbesInAll.V, func(p *machine.Probing) { p.InAll = w.ProbesInAll.V }),
		probing("probe_successes", w.ProbeSuccesses.node, &w.ProbeSuccesses.V, func(p *machine.Probing) { p.Needed = w.ProbeSuccesses.V }),
		probing("probe_failure_rate", w.ProbeFailureRate.node, nil, func(p *machine.Probing) { p.FailureRate = float64(w.ProbeFailureRate.V) }),
		probing("probe_slow_rate", w.ProbeSlowRate.node, nil, func(p *machine.Probing) { p.SlowRate = float64(w.ProbeSlowRate.V) }),
		probing("cancelled_probe", w.CancelledProbe.node, nil, func(p *machine.Probing) { p.Release = bool(w.CancelledProbe.V) }),
		probing("ramp", w.Ramp.node, nil, func(p *machine.Probing) { p.Ramp = time.Duration(w.Ramp.V) }),
		probing("ramp_from", w.RampFrom.node, nil, func(p *machine.Probing) { p.RampFrom = float64(w.RampFrom.V) }),
	}
}

func (w *routingW) routing() []setting {
	return []setting{
		{key: "exhausted_wait", node: w.ExhaustedWait.node, model: func(s *machine.ModelSettings) { s.Wait = time.Duration(w.ExhaustedWait.V) }},
		{key: "last_resort", node: w.LastResort.node, model: func(s *machine.ModelSettings) { s.LastResort = w.LastResort.V }},
		{key: "entry_cooldown", node: w.EntryCooldown.node, model: func(s *machine.ModelSettings) { s.EntryCooldown = time.Duration(w.EntryCooldown.V) }},
	}
}

func (w *cooldownW) cooldowns() []setting {
	return []setting{
		{key: "recovery_growth", node: w.RecoveryGrowth.node, cooldown: func(c *machine.Cooldown) { c.Growth = w.RecoveryGrowth.V }},
		{key: "recovery_longest", node: w.RecoveryLongest.node, cooldown: func(c *machine.Cooldown) { c.Longest = time.Duration(w.RecoveryLongest.V) }},
		{key: "recovery_forget", node: w.RecoveryForget.node, cooldown: func(c *machine.Cooldown) { c.Forget = time.Duration(w.RecoveryForget.V) }},
		{key: "recovery_jitter", node: w.RecoveryJitter.node, cooldown: func(c *machine.Cooldown) { c.Jitter = float64(w.RecoveryJitter.V) }},
		{key: "retry_after", node: w.RetryAfter.node, cooldown: func(c *machine.Cooldown) { c.RetryAfter = bool(w.RetryAfter.V) }},
		{key: "late_failures", node: w.LateFailures.node, tool: func(s *machine.ToolSettings) { s.Cooldown.LateKeep = bool(w.LateFailures.V) }},
	}
}
