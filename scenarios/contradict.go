package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// contradiction is settings that do not go together.
type contradiction struct {
	// keys are who may be at fault: it is told at the first of them that the
	// place says, and not at all where it says none.
	keys   []string
	broken func(*Breaker) bool
	says   func(*Breaker) string
}

// toolContradictions are those of tool breakers.
var toolContradictions = []contradiction{
	{[]string{"failure_rate", "window_failures", "slow_rate", "window"},
		func(b *Breaker) bool { return rated(&b.Tool.Trip) && b.Tool.Trip.Window == machine.Window{} },
		func(b *Breaker) string {
			return fmt.Sprintf("%s on the results in a window, and there is none; write window: %s", looks(&b.Tool.Trip), windowShape)
		}},
	{[]string{"window", "failure_rate", "window_failures", "slow_rate"},
		func(b *Breaker) bool { return !rated(&b.Tool.Trip) && b.Tool.Trip.Window != machine.Window{} },
		func(*Breaker) string {
			return "the window has nothing to open the breaker by; write failure_rate: 50%, window_failures: 5 or slow_rate: 50% beside it, or window: none"
		}},
	{[]string{"minimum_calls", "window"},
		func(b *Breaker) bool { w := b.Tool.Trip.Window; return w.Calls > 0 && b.Tool.Trip.MinCalls > w.Calls },
		func(b *Breaker) string {
			return fmt.Sprintf("minimum_calls is %d, and the window holds only %d, so no rate would ever open it; write minimum_calls: %[2]d at most", b.Tool.Trip.MinCalls, b.Tool.Trip.Window.Calls)
		}},
	{[]string{"window_failures", "window"},
		func(b *Breaker) bool { w := b.Tool.Trip.Window; return w.Calls > 0 && b.Tool.Trip.Failures > w.Calls },
		func(b *Breaker) string {
			return fmt.Sprintf("window_failures is %d, and the window holds only %d, so they would never open it; write window_failures: %[2]d at most", b.Tool.Trip.Failures, b.Tool.Trip.Window.Calls)
		}},
	{[]string{"minimum_calls"},
		func(b *Breaker) bool {
			t := &b.Tool.Trip
			return t.MinCalls > 0 && t.FailureRate == 0 && t.SlowRate == 0
		},
		func(*Breaker) string {
			return "minimum_calls is for rates, and there is none; write failure_rate: 50% or slow_rate: 50% beside it"
		}},
	{[]string{"slow", "slow_rate", "probe_slow_rate", "slow_after"},
		func(b *Breaker) bool { return b.Tool.Trip.SlowerThan == 0 && slowness(b.Tool) },
		func(*Breaker) string {
			return "nothing says from when on a call is slow; write slow_after: 2s beside it"
		}},
	{[]string{"slow_after"},
		func(b *Breaker) bool { return b.Tool.Trip.SlowerThan > 0 && !slowness(b.Tool) },
		func(*Breaker) string {
			return "slow_after alone changes nothing; write what slow calls do: slow: failure, slow_rate: 50%, or probe_slow_rate: 50%"
		}},
	{[]string{"reports", "slow_after", "slow", "slow_rate", "probe_slow_rate"},
		func(b *Breaker) bool { return b.Anonymous && b.Tool.Trip.SlowerThan > 0 },
		func(*Breaker) string {
			return "an anonymous report does not say how long the call took, so none would be slow; write reports: permit, or slow_after: 0s"
		}},
	{append(slices.Clone(probeKeys), "probe"),
		func(b *Breaker) bool {
			p := b.Tool.Probing
			return p.Skip && p != machine.Probing{Skip: true, Ramp: p.Ramp, RampFrom: p.RampFrom}
		},
		func(*Breaker) string {
			return fmt.Sprintf("with probe: none there are no probes, and nothing to be said of them; write probe: call, or take out %s", strings.Join(probeKeys, ", "))
		}},
	{[]string{"probes_in_all", "probe_successes"},
		func(b *Breaker) bool { p := &b.Tool.Probing; return p.InAll > 0 && p.InAll < p.Needed },
		func(b *Breaker) string {
			return fmt.Sprintf("probes_in_all is %d, and %d results are waited for, so it would never close; write probes_in_all: %[2]d at least", b.Tool.Probing.InAll, b.Tool.Probing.Needed)
		}},
	{[]string{"probe_slow_rate", "probe_failure_rate"},
		func(b *Breaker) bool { return b.Tool.Probing.SlowRate > 0 && b.Tool.Probing.FailureRate == 0 },
		func(*Breaker) string {
			return "probe_slow_rate is looked at together with probe_failure_rate; write probe_failure_rate: 50% beside it"
		}},
	{[]string{"ramp_from"},
		func(b *Breaker) bool { return b.Tool.Probing.RampFrom > 0 && b.Tool.Probing.Ramp == 0 },
		func(*Breaker) string {
			return "ramp_from is where a ramp begins, and there is none; write ramp: 30s beside it"
		}},
}

// modelContradictions are those of model breakers.
var modelContradictions = []contradiction{
	{[]string{"last_resort", "exhausted_wait", "entry_cooldown"},
		func(b *Breaker) bool {
			m := b.Model
			return len(m.Chain) == 0 && (m.LastResort != "" || m.Wait > 0 || m.EntryCooldown > 0)
		},
		func(*Breaker) string {
			return "without backups the primary keeps serving, and none is ever spent; write chain: [NAME] beside it"
		}},
	{[]string{"probe_timeout"},
		func(b *Breaker) bool { return b.Model.ProbeTimeout > 0 && b.Model.Probes == 0 },
		func(*Breaker) string {
			return "probe_timeout is how long a probe keeps its place, and places are not counted; write probes: 1 beside it"
		}},
}

// cooldownContradictions are those of either kind.
var cooldownContradictions = []contradiction{
	{[]string{"recovery_growth"},
		func(b *Breaker) bool { g := b.cooldown().Growth; return g != 0 && !(g >= 1 && g <= mostGrowth) },
		func(b *Breaker) string {
			return fmt.Sprintf("recovery_growth is %v; it must be from 1 to %d", b.cooldown().Growth, mostGrowth)
		}},
	{[]string{"recovery_longest"},
		func(b *Breaker) bool { c := b.cooldown(); return c.Longest > 0 && c.Growth <= 1 && !c.RetryAfter },
		func(*Breaker) string {
			return "recovery_longest bounds a cooldown that grows, and this one does not; write recovery_growth: 2 or retry_after: heed beside it"
		}},
	{[]string{"recovery_forget"},
		func(b *Breaker) bool { c := b.cooldown(); return c.Forget > 0 && c.Growth <= 1 },
		func(*Breaker) string {
			return "recovery_forget ends the growth of the cooldown, and this one does not grow; write recovery_growth: 2 beside it"
		}},
}

const mostGrowth = 1000

// probeKeys are those that say something of probes.
var probeKeys = []string{"probes", "probes_in_all", "probe_successes", "probe_failure_rate", "probe_slow_rate", "cancelled_probe"}

// slowness says whether slow calls do anything.
func slowness(s *machine.ToolSettings) bool {
	return s.Trip.SlowFails || s.Trip.SlowRate > 0 || s.Probing.SlowRate > 0
}

// looks names what looks at the window.
func looks(t *machine.Trip) string {
	var keys []string
	for _, k := range []struct {
		key string
		set bool
	}{{"failure_rate", t.FailureRate > 0}, {"window_failures", t.Failures > 0}, {"slow_rate", t.SlowRate > 0}} {
		if k.set {
			keys = append(keys, k.key)
		}
	}
	if len(keys) == 1 {
		return keys[0] + " looks back"
	}
	return strings.Join(keys, " and ") + " look back"
}

// contradictions finds settings that do not go together, and says so at a key
// of the mapping at. What was wrong before that said anything is told there, and
// where a key was refused it may be the one that is missing.
func (r *resolver) contradictions(b *Breaker, reports *val[reportsWord], w *settingsW, at ast.Node) {
	if len(r.d.lost[at]) > 0 {
		return
	}
	said := map[string]ast.Node{}
	for _, s := range settingsOf(w) {
		if s.node != nil {
			said[s.key] = s.node
		}
	}
	if reports.said() {
		said["reports"] = reports.node
	}
	tell := func(all []contradiction) {
		for i := range all {
			c := &all[i]
			if !c.broken(b) {
				continue
			}
			for _, key := range c.keys {
				if at, ok := said[key]; ok {
					r.d.fault(at, "%s", c.says(b))
					break
				}
			}
		}
	}
	if b.Tool != nil {
		tell(toolContradictions)
	} else {
		tell(modelContradictions)
	}
	tell(cooldownContradictions)
}
