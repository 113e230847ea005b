package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/breakersim/breakersim/sim/trace"
)

// sum adds up what the beats count.
func sum(beats []beat) map[string]int {
	n := map[string]int{}
	for i := range beats {
		n[beats[i].counts] += beats[i].k
	}
	return n
}

// vain sums up probes in the middle of an episode, none of which led back.
func (t *teller) vain(beats []beat, probes int) {
	n := sum(beats)
	from, to := beats[0].at, beats[len(beats)-1].at
	var how []string
	ended := 0
	for _, x := range []struct{ rule, did string }{
		{"T9", "failed"}, {"T7", "had not answered when their lease ended"}, {"M12", "met a rate limit"}, {"M13", "failed"},
	} {
		k := n[x.rule]
		if k == 0 || t.b.others() { // why is not to be seen
			continue
		}
		ended += k
		did := quantity(k, probes) + " " + x.did
		if x.rule == "T7" && k == probes {
			did = "none had answered when its lease ended"
		}
		how = append(how, did+" ("+x.rule+")")
	}
	s := fmt.Sprintf("The next %s probes, %s, fared no better", number(probes), t.span(from, to))
	if ended == probes {
		s += ": " + listed(how)
	}
	s += "."
	t.current = append(t.current, s)
	if also := t.meanwhile(n); also != "" {
		t.current = append(t.current, "Meanwhile "+also+".")
	}
	t.last = "Meanwhile"
	for i := range beats {
		if beats[i].kind == beatOutage || beats[i].kind == beatWorld {
			if k := n["outages"]; k > 1 {
				t.current = append(t.current, fmt.Sprintf("In that time %s went down %s.", t.b.Main(), often(k)))
				break
			}
			t.tell(beats[i])
		}
	}
}

// quantity is "all", "both" or so many of them.
func quantity(k, of int) string {
	switch {
	case k == of && of == 2:
		return "both"
	case k == of:
		return "all of them"
	default:
		return number(k)
	}
}

// sumUp is a paragraph about episodes in the middle.
func (t *teller) sumUp(all [][]beat) {
	beats := slices.Concat(all...)
	n := sum(beats)
	first, last := beats[0].at, slices.MaxFunc(beats, func(x, y beat) int { return cmp.Compare(x.at, y.at) }).at
	opened, verb := n["T3"], "opened"
	if t.b.Model != nil {
		opened, verb = n["M10"], "fell back"
	}
	s := fmt.Sprintf("Between %s and %s it went on like this: %s %s %s more", t.clock(first), t.clock(last), it, verb, often(opened))
	if k := n["T5"] + n["M2"]; k > 0 {
		s += fmt.Sprintf(" and let %s through", counted(k, "probe", "probes"))
		if bad := n["T9"] + n["T7"] + n["M12"] + n["M13"]; bad > 0 {
			s += fmt.Sprintf(", %s in vain", quantity(bad, k))
		}
	}
	t.current = append(t.current, t.naming(s+"."))
	if also := t.meanwhile(n); also != "" {
		t.current = append(t.current, "In that time "+also+".")
	}
	t.last = "In"
}

// meanwhile are the calls that a stretch cost.
func (t *teller) meanwhile(n map[string]int) string {
	var parts []string
	for _, x := range []struct{ what, one, many string }{
		{"refused", "call was refused", "calls were refused"},
		{"M3", "turn ended as exhausted", "turns ended as exhausted"},
		{"M22", "turn waited to be served", "turns waited to be served"},
		{"served", "turn went to backups", "turns went to backups"},
		{"rerouted", "call went to substitutes", "calls went to substitutes"},
		{"late", "late result was ignored", "late results were ignored"},
		{"T11", "late failure restarted a cooldown", "late failures restarted a cooldown"},
	} {
		if k := n[x.what]; k > 0 {
			parts = append(parts, counted(k, x.one, x.many))
		}
	}
	return listed(parts)
}

// ending says how the breaker stood when the run was over.
func (t *teller) ending() beat {
	last := t.b.Bands[len(t.b.Bands)-1]
	end := t.clock(t.h.End)
	b := beat{at: t.h.End, rule: "ending"}
	if len(t.b.Bands) == 1 {
		b.ways = t.quiet()
	} else {
		state := last.State
		switch {
		case state == "closed" || state == "primary":
			b.ways = []string{"So it stayed until the run ended at " + end + ".", capIt + " stayed " + atRest(state) + " until the run ended at " + end + "."}
			if last.From == t.h.End {
				b.ways = []string{"There the run ended, at " + end + ".", "With that the run ended, at " + end + "."}
			}
		case state == "fallback" && last.Serves == "":
			b.ways = []string{"When the run ended at " + end + " nobody was left to serve.", "The run ended at " + end + ", with nobody left to serve."}
		case state == "fallback":
			b.ways = []string{"When the run ended at " + end + " " + last.Serves + " was still serving.", "The run ended at " + end + " with " + last.Serves + " still serving."}
		default:
			b.ways = []string{"When the run ended at " + end + " " + it + " was still " + state + ".", "The run ended at " + end + " with " + it + " still " + state + "."}
		}
	}
	if low, ok := t.b.lowest(); ok {
		for i := range b.ways {
			b.ways[i] += fmt.Sprintf(" The tool's health score was lowest at %s: %.2f.", t.clock(low.At), low.Score)
		}
	}
	return b
}

func atRest(state string) string {
	if state == "primary" {
		return "with the primary"
	}
	return state
}

// quiet is the end of a breaker that never changed.
func (t *teller) quiet() []string {
	if t.b.Model != nil {
		return []string{capIt + " stayed with " + t.b.Model.Primary + " throughout."}
	}
	s := capIt + " stayed closed throughout"
	if t.b.others() {
		return []string{s + "."}
	}
	switch n := t.b.Tool.FailureThreshold; {
	case len(t.b.Forced) > 0: // it had no say
	case !t.b.ever(func(set *trace.Breaker) bool { return !neverOpens(set) }):
		s += ", as one that never opens"
	case len(t.b.sets) > 1 || !t.failed(): // by which settings, and whether it was near
	case t.b.Window != nil && n == 0:
		s += ", as its window never held so much trouble (" + windowRules(t.b.Breaker) + ")"
	case t.b.Window != nil:
		s += fmt.Sprintf(", as it never saw %s failures%s (T3), nor so much trouble in its window (%s)", number(n), inARow(t.b.Breaker), windowRules(t.b.Breaker))
	case n > 1:
		s += fmt.Sprintf(", as it never saw %s failures%s (T3)", number(n), inARow(t.b.Breaker))
	}
	return []string{s + "."}
}

// windowRules are those by which the window opens the breaker.
func windowRules(b *trace.Breaker) string {
	switch fails := b.FailureRate > 0 || b.WindowFailures > 0; {
	case b.SlowRate == 0:
		return "T21"
	case !fails:
		return "T22"
	}
	return "T21, T22"
}

// failed says whether an attempt through the breaker failed.
func (t *teller) failed() bool {
	return slices.ContainsFunc(t.h.Marks, func(m Mark) bool {
		return m.Breaker == t.b.Name && (m.Kind == MarkFailed || m.Kind == MarkRateLimited)
	})
}
