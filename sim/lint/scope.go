package lint

import (
	"fmt"
	"slices"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// inStep is how many breakers of a fleet that probe in the same second are told of.
const inStep = 5

// fleetInStep: breakers that are each one caller's probe in the same second.
func fleetInStep(x *subject) []*candidate {
	t := x.tool()
	if t == nil || x.b.Per != scenarios.PerCaller || t.Cooldown.Jitter > 0 || t.Probing.Skip {
		return nil
	}
	fleet, when := 20, ""
	if x.w != nil {
		n, at := together(x.seen())
		if n < inStep {
			return nil
		}
		fleet, when = min(n, fleet), fmt.Sprintf(": under the policy %s %d of them probe in the second from %s on", x.p.Name, n, short(at))
	}
	s := x.besideAs(x.doc.Pairs("breakers", x.b.Name), x.changes(), "recovery_jitter", "50%")
	n := x.failuresToOpen()
	if n == 0 || n > mostScripted || t.RecoveryDuration < 4*time.Second {
		return nil
	}
	opens := time.Duration(n-1) * time.Second
	at := opens + t.RecoveryDuration
	s.targets[0] = word(x.b.Guards) + ": {outcome: failure}"
	s.callers = []string{fmt.Sprintf("{name: fleet, count: %d, to: %s, every: 1s}", fleet, word(x.b.Guards))}
	s.duration = at + t.RecoveryDuration
	s.about = fmt.Sprintf("%d callers have a breaker each, and all of them open at %s. At %s all of them probe.", fleet, short(opens), short(at))
	s.before("metric: attempts, from: %s, to: %s, min: %d", short(at), short(at+time.Second), fleet)
	s.after("metric: attempts, from: %s, to: %s, max: %d", short(at), short(at+time.Second), fleet/2)
	return x.found(x.at("recovery_duration", "per"), s, "recovery_jitter: 50%", "the breakers of %s are in step, one for each caller and all with the same cooldown%s", x.b.Name, when)
}

// together is the most of several breakers that probe within one second, and
// from when on.
func together(all []*seen) (most int, from time.Duration) {
	type probe struct {
		at time.Duration
		of int
	}
	var probes []probe
	for i, v := range all {
		for _, at := range v.probes {
			probes = append(probes, probe{at, i})
		}
	}
	slices.SortFunc(probes, func(a, b probe) int { return int(min(1, max(-1, a.at-b.at))) })
	first, count := 0, map[int]int{}
	for _, p := range probes {
		count[p.of]++
		for ; p.at-probes[first].at >= time.Second; first++ {
			if count[probes[first].of]--; count[probes[first].of] == 0 {
				delete(count, probes[first].of)
			}
		}
		if len(count) > most {
			most, from = len(count), probes[first].at
		}
	}
	return most, from
}

// sharedBreaker: in the run calls to hosts that were well are refused, for one
// that was out.
func sharedBreaker(x *subject) []*candidate {
	if x.tool() == nil || x.b.Per == scenarios.PerHost || x.w == nil || x.target() == nil {
		return nil
	}
	v := x.first(func(v *seen) bool { return v.harmed > 0 && len(v.opened) > 0 })
	if v == nil {
		return nil
	}
	ill, well := x.partly(v)
	if ill == "" {
		return nil
	}
	s := x.beside("per", "host")
	s.targets = []string{fmt.Sprintf("%s: {hosts: {%s: {}, %s: {}}}", word(x.b.Guards), word(ill), word(well))}
	s.calls(x.failuresToOpen(), 0, scenarios.PartName(x.b.Guards, ill, 0), x.failing(), 0)
	first := len(s.script) + 1
	s.calls(1, 0, scenarios.PartName(x.b.Guards, well, 0), "success", 0)
	s.about = fmt.Sprintf("%s fails, and the next call is for %s, which is well.", ill, well)
	s.before("call: %d, is: refused", first)
	s.after("call: %d, is: success", first)
	return x.found(x.at("per", "guards"), s, "per: host", "%s is one breaker for all hosts of %s: under the policy %s it opens at %s while %s is out and %s is well, and refuses calls that would succeed",
		x.b.Name, x.b.Guards, x.p.Name, short(v.opened[0]), ill, well)
}

// partly is a host that is out, and one that is not, when the breaker first opens.
func (x *subject) partly(v *seen) (ill, well string) {
	for i := range x.w.run.Targets {
		t := &x.w.run.Targets[i]
		whole, host := scenarios.SplitName(t.Name)
		switch at := v.opened[0]; {
		case whole != x.b.Guards || host == "":
		case slices.ContainsFunc(t.Outages(x.w.end), func(o trace.Span) bool { return o.From <= at && at < o.To }):
			ill = host
		default:
			well = host
		}
	}
	if ill == "" || well == "" {
		return "", ""
	}
	return ill, well
}
