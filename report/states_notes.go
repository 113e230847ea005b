package report

import (
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// noted is what no mark tells: that a turn went to a backup or to the last resort
// (M21, M23), or that a backup was whole again (M24).
type noted struct {
	rule string
	at   time.Duration
}

// note takes an event that may be such.
func (b *BreakerHistory) note(e *trace.Event) {
	if e.Rule == "M21" || e.Rule == "M23" || e.Rule == "M24" {
		b.noted = append(b.noted, noted{e.Rule, sinceWhen(e)})
	}
}

// notes are what a state has to tell beside its time.
func (t *tally) notes(state string) (all []string) {
	if t.timeless {
		return nil
	}
	for i := range incidents {
		k := &incidents[i]
		if k.rule == "T31" || k.rule == "T32" {
			all = append(all, t.force(state, k.rule)...)
		}
		switch n := t.incidents[[2]string{state, k.rule}]; n {
		case 0:
		case 1:
			all = append(all, "1 "+k.one+" ("+k.rule+")")
		default:
			all = append(all, Thousands(n)+" "+k.many+" ("+k.rule+")")
		}
	}
	if trouble := t.machine()[1]; state == trouble && t.cooled != (trace.Span{}) {
		all = append(all, t.cooldowns())
	}
	return all
}

// force says how long an operator kept it in that state, if by that rule.
func (t *tally) force(state, rule string) []string {
	if spent := t.forced[state]; spent > 0 && (rule == "T31") == (state == "open") {
		return []string{either(t.mean, "a mean of ", "") + spell(spent, t.h.End) + " of it by force (" + rule + ")"}
	}
	return nil
}

// shaped are the rules by which its cooldowns vary, as it is set.
func (t *tally) shaped() (rules []string) {
	rule := func(is bool, tool, model string) {
		if is {
			rules = append(rules, either(t.Model == nil, tool, model))
		}
	}
	rule(t.RecoveryGrowth > 1, "T27", "M25")
	rule(t.RecoveryJitter > 0, "T28", "M26")
	rule(t.RetryAfter == "heed", "T29", "M27")
	return rules
}

// cool measures the cooldowns that begin in its stretch of the run.
func (t *tally) cool() {
	if t.others() || len(t.shaped()) == 0 {
		return
	}
	trouble := t.machine()[1]
	for i := 0; i < len(t.Bands); i++ {
		first := &t.Bands[i]
		if first.State != trouble {
			continue
		}
		for i+1 < len(t.Bands) && t.Bands[i+1].State == trouble && t.Bands[i+1].Serves != first.Serves { // other backups serve
			i++
		}
		if first.From < t.from || first.From > t.to {
			continue
		}
		if d := t.cooldown(first, &t.Bands[i]); d > 0 {
			t.cooled = wider(t.cooled, trace.Span{From: d, To: d})
		}
	}
}

// cooldown is how long the one is that began with first and lasts in last; of one
// that late failures began anew the last one.
func (t *tally) cooldown(first, last *Band) time.Duration {
	if c := t.coolingOf(first.From, last.To); c != nil {
		return c.until - c.from
	}
	return 0
}

// wider holds both; none is nothing.
func wider(a, b trace.Span) trace.Span {
	switch {
	case a == trace.Span{}:
		return b
	case b == trace.Span{}:
		return a
	}
	return trace.Span{From: min(a.From, b.From), To: max(a.To, b.To)}
}

// cooldowns says how long they were: "cooldowns of 30 s to 4 min (T27)".
func (t *tally) cooldowns() string {
	least, most := spell(t.cooled.From, t.h.End), spell(t.cooled.To, t.h.End)
	rules := " (" + strings.Join(t.shaped(), ", ") + ")"
	if least == most {
		return "cooldowns of " + least + rules
	}
	return "cooldowns of " + least + " to " + most + rules
}
