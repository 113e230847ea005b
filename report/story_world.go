package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

const (
	mostConditions = 6 // of one target that are told
	mostTargets    = 4 // without a breaker that are told
)

// opening says what the run is about, and how those targets fared that no
// breaker is about.
func (h *History) opening() Paragraph {
	s := then("In "+moment(h.End, h.End), counted(h.Calls, "call was made", "calls were made"))
	p := Paragraph{s + "."}
	switch n := len(h.Breakers); {
	case n == 0 && len(h.Fleets) > 0: // they are told of one by one
		p = Paragraph{s + "."}
	case n == 0:
		p = Paragraph{s + ", and no breaker stood in the way." + h.outcomes()}
	case n > mostBreakersTold:
		p = Paragraph{s + ", and " + number(n) + " breakers watched over them."}
	default:
		p = append(p, capital(strings.Join(h.guards(), "; "))+".")
	}
	told := 0
	for i := range h.Run.Targets {
		target := &h.Run.Targets[i]
		if slices.ContainsFunc(h.Breakers, func(b *BreakerHistory) bool { return b.Main() == target.Name }) || h.toldElsewhere(target) {
			continue
		}
		if said := h.fared(target); len(said) > 0 && told < mostTargets {
			p = append(p, said...)
			told++
		}
	}
	return p
}

// toldElsewhere says whether a fleet guards the target, or its hosts are told of.
func (h *History) toldElsewhere(target *trace.Target) bool {
	return slices.ContainsFunc(h.Fleets, func(f *Fleet) bool { return f.Main() == target.Name }) ||
		slices.ContainsFunc(h.Run.Targets, func(t trace.Target) bool { return t.Of == target.Name })
}

// guards says what the breakers are for.
func (h *History) guards() (all []string) {
	var tools []string
	for _, b := range h.Breakers {
		switch {
		case b.others():
			all = append(all, "the breaker of "+b.By+" guarded "+b.Tool.Guards)
			continue
		case b.Per == trace.PerCaller:
			one := "the breaker " + b.Name + " was for the calls of " + trace.Part(b.Name) + " alone"
			if trace.Part(b.Name) == scenarioCalls {
				one = "the breaker " + b.Name + " was for the scripted calls alone"
			}
			all = append(all, one)
			continue
		case b.Tool != nil:
			tools = append(tools, b.Tool.Guards)
			continue
		}
		var chain []string
		for _, e := range b.Model.Chain {
			chain = append(chain, e.Name)
		}
		s := "the breaker " + b.Name + " sent turns to " + b.Model.Primary
		if len(chain) > 0 {
			s += ", with " + listed(chain) + " to fall back to"
		}
		all = append(all, s)
	}
	switch len(tools) {
	case 0:
		return all
	case 1:
		return append([]string{"a breaker guarded " + tools[0]}, all...)
	default:
		return append([]string{"breakers guarded " + listed(tools)}, all...)
	}
}

// outcomes say what became of the attempts.
func (h *History) outcomes() string {
	n, by := 0, map[string]int{}
	for i := range h.Marks {
		if o := h.Marks[i].Outcome; o != "" {
			past, _ := did(o)
			by[past]++
			n++
		}
	}
	var parts []string
	for _, o := range []string{trace.Success, trace.Failure, trace.RateLimit, trace.Permanent, trace.Timeout, trace.Cancelled} {
		past, _ := did(o)
		if k := by[past]; k > 1 {
			parts = append(parts, number(k)+" "+strings.Replace(past, "was ", "were ", 1))
		} else if k == 1 {
			parts = append(parts, "one "+past)
		}
	}
	success, _ := did(trace.Success)
	switch {
	case n == 0:
		return ""
	case by[success] == n:
		return " All attempts that ended succeeded."
	case len(parts) == 1:
		return " None of the attempts succeeded: " + parts[0] + "."
	default:
		return " Of " + counted(n, "attempt", "attempts") + " that ended, " + listed(parts) + "."
	}
}

// condition is how a target fared in a stretch, in words; empty: well.
type condition struct {
	trace.Span
	down  bool
	words string // what it was
}

// conditions are the stretches of a target up to the end.
func conditions(t *trace.Target, end time.Duration) (all []condition) {
	for span, s := range t.Stretches(end) {
		c := condition{span, s.Success <= 0, ""}
		switch {
		case c.down:
			c.words = "was down" + downWords(s.Outcome)
		case s.Success < 1:
			c.words = "failed in part (" + s.Outcome + ")"
		default:
			if latency, slow := slowness(t, span.From, end); slow {
				c.words = "was slow, with a latency of " + latency
			} else if latency != "" {
				c.words = "answered with a latency of " + latency
			}
		}
		if n := len(all); n > 0 && all[n-1].words == c.words {
			all[n-1].To = c.To
			continue
		}
		all = append(all, c)
	}
	return all
}

// downWords say how a target fails that is down.
func downWords(outcome string) string {
	switch outcome {
	case trace.Failure:
		return ": calls to it failed"
	case trace.Timeout:
		return ": calls to it got no answer"
	case trace.RateLimit:
		return ": it answered with rate limits"
	case trace.Permanent:
		return ": it answered with permanent errors"
	case trace.Vanished:
		return ": calls to it were never heard of again"
	default:
		return " (" + outcome + ")"
	}
}

// fared tells of a target without a breaker: when it was in trouble, and what
// became of the attempts begun then.
func (h *History) fared(target *trace.Target) (p Paragraph) {
	t := &teller{h: h}
	told := 0
	for _, c := range conditions(target, h.End) {
		if c.words == "" || c.To == c.From {
			continue
		}
		if told++; told > mostConditions {
			continue
		}
		when := "From " + t.clock(c.From) + " to " + t.clock(c.To)
		switch {
		case c.From == 0 && c.To < h.End:
			when = "Until " + t.clock(c.To)
		case c.From == 0 && c.To == h.End:
			when = "Throughout the run"
		case c.To == h.End:
			when = "From " + t.clock(c.From) + " on,"
		}
		p = append(p, when+" "+target.Name+" "+c.words+"."+h.attempts(target.Name, c))
	}
	if left := told - mostConditions; left > 0 {
		p = append(p, capital(counted(left, "such stretch", "such stretches"))+" more followed.")
	}
	if n := len(h.Bursts[target.Name]); n > 0 {
		p = append(p, t.bursts(target.Name))
	}
	return p
}

// attempts says how many began in a stretch of trouble, and what came of them.
func (h *History) attempts(target string, c condition) string {
	n, ok := 0, 0
	for i := range h.Marks {
		m := &h.Marks[i]
		if m.Target != target || m.Outcome == "" || m.Start < c.From || m.Start >= c.To {
			continue
		}
		n++
		if m.Outcome == trace.Success {
			ok++
		}
	}
	all := " Of " + counted(n, "attempt", "attempts") + " begun in that time, "
	switch {
	case n == 0:
		return ""
	case n == 1 && ok == 0:
		return " The one attempt begun in that time did not succeed."
	case n == 1:
		return " The one attempt begun in that time succeeded."
	case n == 2 && ok == 2:
		return all + "both succeeded."
	case n == 2 && ok == 0:
		return all + "neither succeeded."
	case ok == n:
		return all + "all succeeded."
	case ok == 0:
		return all + "none succeeded."
	default:
		return all + number(ok) + " succeeded."
	}
}

// bursts are stretches of trouble that came by chance.
func (t *teller) bursts(target string) string {
	all := t.h.Bursts[target]
	total := time.Duration(0)
	for _, s := range all {
		total += s.To - s.From
	}
	if len(all) == 1 {
		return capital(t.span(all[0].From, all[0].To)) + " a burst of trouble came over " + target + "."
	}
	return fmt.Sprintf("Bursts of trouble came over %s %s, %s in all, the first at %s and the last at %s.",
		target, often(len(all)), spell(total, t.h.End), t.clock(all[0].From), t.clock(all[len(all)-1].From))
}

// weather are the beats of the target that the breaker is about.
func (t *teller) weather() (all []beat) {
	i := slices.IndexFunc(t.h.Run.Targets, func(x trace.Target) bool { return x.Name == t.b.Main() })
	if i < 0 {
		return nil
	}
	target := &t.h.Run.Targets[i]
	found := conditions(target, t.h.End)
	for i, c := range found {
		if len(found) > 2*mostConditions && i >= mostConditions && i < len(found)-mostConditions {
			if i == mostConditions {
				s := fmt.Sprintf("In the time that followed %s changed %s more.", target.Name, often(len(found)-2*mostConditions))
				all = append(all, beat{at: c.From, kind: beatWorld, rule: "many changes", ways: []string{s}})
			}
			continue
		}
		if i > 0 || c.words != "" {
			all = append(all, t.condition(target.Name, i, found))
		}
	}
	if spans := t.h.Bursts[target.Name]; len(spans) > 0 {
		all = append(all, beat{at: spans[0].From, kind: beatWorld, rule: "bursts", ways: []string{t.bursts(target.Name)}})
	}
	return all
}

// condition is the beat of one change of the target.
func (t *teller) condition(target string, i int, all []condition) beat {
	c := all[i]
	at := t.clock(c.From)
	b := beat{at: c.From, kind: beatWorld, rule: "weather"}
	state := t.b.Bands[t.b.bandAt(c.From, 0)].State
	switch {
	case c.words == "":
		if all[i-1].down && (state == "open" || state == "half-open" || state == "fallback" || state == "recovering") {
			b.rule = "unseen"
			b.ways = []string{"At " + at + " " + target + " was well again, which " + it + " could not know.", "Meanwhile, at " + at + ", " + target + " had become well again.",
				"The outage was over at " + at + ", but " + it + " had yet to find out."}
			return b
		}
		b.rule = "well"
		b.ways = []string{"At " + at + " " + target + " was well again.", "By " + at + " " + target + " had recovered."}
	case c.From == 0:
		b.kind = beatOutage
		b.ways = []string{"From the start " + target + " " + c.words + "."}
	case c.down && i > 0 && all[i-1].down:
		b.ways = []string{"From " + at + " on, " + target + " was still down, in another way" + strings.TrimPrefix(c.words, "was down") + "."}
	case c.down:
		b.kind = beatOutage
		b.counts, b.k = "outages", 1
		rest, _ := strings.CutPrefix(c.words, "was down")
		b.ways = []string{"At " + at + " " + target + " went down" + rest + ".", "Trouble came at " + at + ", when " + target + " went down" + rest + ".", "The next outage of " + target + " began at " + at + rest + "."}
	default:
		b.kind = beatOutage
		b.ways = []string{"From " + at + " on, " + target + " " + c.words + ".", "Beginning at " + at + ", " + target + " " + c.words + "."}
	}
	return b
}

// into says how far the target is into an outage, if it was well before.
func (t *teller) into(at time.Duration) string {
	for _, o := range t.outages {
		if 0 < o.From && o.From < at && at < o.To {
			return ", " + t.clock(rounded(at-o.From)) + " into the outage"
		}
	}
	return ""
}

// since says how long after the end of an outage a breaker is at rest again
// that opened in it.
func (t *teller) since(m *Moment) string {
	for _, o := range slices.Backward(t.outages) {
		if o.To <= m.Effective {
			if o.To > t.opened && m.Effective > o.To {
				return ", " + t.clock(rounded(m.Effective-o.To)) + " after the end of the outage"
			}
			return ""
		}
	}
	return ""
}

// untold are the breakers that the story passes over.
func (h *History) untold(told []*BreakerHistory) string {
	changed := 0
	for _, b := range h.Breakers {
		if len(b.Bands) > 1 && !slices.Contains(told, b) {
			changed++
		}
	}
	left := len(h.Breakers) - len(told)
	if changed == 0 {
		return capital(counted(left, "other breaker", "other breakers")) + " never changed."
	}
	return fmt.Sprintf("Of the %s other breakers %s changed as well; the trace tells how.", number(left), number(changed))
}

// tried says what a rule of the ladders made of calls: so many, and how.
var tried = []struct {
	rule      string
	one, many string // both take the number
}{
	{"L1", "One failed attempt was made again", "Failed attempts were made again %s times"},
	{"L2", "One rate limit was waited out", "Rate limits were waited out %s times"},
	{"L8", "Once an answer was slow in coming, and another attempt began beside the first", "An answer was slow in coming %s times, and another attempt began beside the first"},
}

var givenUp = []struct{ rule, one, many string }{
	{"L1", "One call failed for good when its attempts were spent", "In the end %s calls failed for good, with their attempts spent"},
	{"L2", "One call had met too many rate limits and gave up", "In the end %s calls gave up after too many rate limits"},
	{"L3", "One call failed at once, as a permanent error is never tried again", "There was no second try for %s calls, as a permanent error is never tried again"},
	{"L5", "One call that had been refused was not tried again", "There was no second try for %s calls that had been refused"},
	{"L6", "One call was not tried again, as the retry budget was spent", "The retry budget was spent when %s calls wanted another try"},
	{"L7", "One call was not tried again, as too many attempts were failing", "Too many attempts were failing for %s calls to be tried again"},
	{"L9", "Who waited for one of the calls lost patience", "Whoever waited for a call lost patience %s times"},
}

// patience tells what callers did about failures, in aggregate: a paragraph, or
// none.
func (h *History) patience() Story {
	var p Paragraph
	add := func(rule, one, many string, n int) {
		switch {
		case n == 1:
			p = append(p, tagged(rule, one)...)
		case n > 1:
			p = append(p, tagged(rule, strings.Replace(fmt.Sprintf(many, number(n)), "two times", "twice", 1))...)
		}
	}
	for _, x := range tried {
		add(x.rule, x.one, x.many, h.Tries[x.rule])
	}
	for _, x := range givenUp {
		add(x.rule, x.one, x.many, h.GivenUp[x.rule])
	}
	if len(p) == 0 {
		return nil
	}
	return Story{p}
}
