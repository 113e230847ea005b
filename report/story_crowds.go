package report

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// crowd is what befell several calls alike while the breaker was in one band.
type crowd struct {
	what        string // what befell them: a rule or another word
	who         string // served them; of calls that a breaker of others refused, what their callers read
	band        int
	n           int
	failed      int // of those served
	would       int // of those refused: that would have succeeded
	first, last Mark
	calls       map[int]bool // of those served, which may have several attempts
}

// crowds are the beats of the calls that were refused, ignored, cancelled or
// served by another, folded band by band.
func (t *teller) crowds() (all []beat) {
	type key struct {
		band      int
		what, who string
	}
	var found []*crowd
	by := map[key]*crowd{}
	band := 0
	for i := range t.h.Marks {
		m := &t.h.Marks[i]
		if m.Breaker != t.b.Name {
			continue
		}
		band = t.b.bandAt(m.At, band)
		what, who := t.befell(m, band)
		if what == "" {
			continue
		}
		c := by[key{band, what, who}]
		if c == nil {
			c = &crowd{what: what, who: who, band: band, first: *m}
			by[key{band, what, who}] = c
			found = append(found, c)
		}
		c.add(m)
	}
	for _, c := range found {
		word := c.word()
		all = append(all, beat{at: c.first.At, rule: word, counts: word, k: c.n, later: func() []string { return t.crowded(c) }},
			beat{at: c.first.At, rule: "harm", later: c.harm})
	}
	return all
}

func (c *crowd) add(m *Mark) {
	c.last = *m
	if m.Would == trace.Success {
		c.would++
	}
	if c.what == "served" {
		if c.calls[m.Call] {
			return
		}
		if c.calls == nil {
			c.calls = map[int]bool{}
		}
		c.calls[m.Call] = true
		if m.Outcome != trace.Success {
			c.failed++
		}
	}
	c.n++
}

// bandAt is the index of the band in which an instant lies: of several that
// begin there the last. It looks from the band that it is given on, -1: from
// the first one, and then takes the last band that ended before.
func (b *BreakerHistory) bandAt(at time.Duration, from int) int {
	if from < 0 {
		return max(0, sort.Search(len(b.Bands), func(i int) bool { return b.Bands[i].From >= at })-1)
	}
	for from+1 < len(b.Bands) && b.Bands[from+1].From <= at {
		from++
	}
	return from
}

// after is the index of the first mark later than that.
func (h *History) after(at time.Duration) int {
	return sort.Search(len(h.Marks), func(i int) bool { return h.Marks[i].At > at })
}

// befell is what the story says of a mark, and who served.
func (t *teller) befell(m *Mark, band int) (what, who string) {
	switch m.Kind {
	case MarkRefused:
		return m.Rule, m.Reason
	case MarkExhausted:
		return "M3", ""
	case MarkWaited:
		return "M22", ""
	case MarkCancelled:
		return "cancelled", ""
	case MarkLate:
		if t.ghosts[m.Call] {
			return "ghost", ""
		}
		return "late " + m.Rule, ""
	case MarkOK, MarkFailed, MarkRateLimited:
		b := &t.b.Bands[band]
		switch {
		case t.b.Model == nil:
		case m.Rule == "M20":
			return "M20", ""
		case b.State == "recovering" && m.Rule == "M13":
			return "M13", ""
		case b.State == "recovering" && t.b.Model.AtOnce > 0 && m.Start >= b.From && m.Target != t.b.Model.Primary && (m.Rule == "M8" || m.Rule == "M11"):
			return "M21", m.Target
		case b.State == "fallback" && m.Target == b.Serves && m.Target != t.b.Model.Primary:
			return "served", m.Target
		case m.Target != t.b.Model.Primary && band > 0 && m.Target == t.b.Bands[band-1].Serves && m.At == b.From:
			return "", "" // the failure that spent a backup is told with the switch
		}
	case MarkLost, MarkProbe, MarkRerouted:
	}
	return "", ""
}

// word is what a summary counts the crowd as.
func (c *crowd) word() string {
	switch {
	case c.what == "ghost" || strings.HasPrefix(c.what, "late "):
		return "late"
	case c.what == "M13":
		return "anew" // M13 is a transition, too
	case c.what == "M3" || c.what == "M22" || c.what == "cancelled" || c.what == "served":
		return c.what
	case c.what == "M21":
		return "served"
	case c.what == "M20":
		return "nothing"
	default:
		return "refused"
	}
}

func (t *teller) crowded(c *crowd) []string {
	switch what := c.what; {
	case what == "T4":
		return t.refused(c, "the cooldown ran until "+t.clock(c.last.Until))
	case what == "T26":
		return t.refused(c, it+" had only just closed, and let a growing share of the calls through")
	case what == "T31":
		return t.refused(c, "an operator kept "+it+" open")
	case what == "T6":
		why := "the probe was out" + either(c.last.Known, "", ", and had no lease")
		if ends, ok := t.b.leaseInTheWay(c.last.At); ok && c.last.Known {
			why = "the probe's lease ran until " + t.clock(ends)
		}
		return t.refused(c, why)
	case what == "M3":
		turns, ended := counted(c.n, "turn", "turns"), t.span(c.first.At, c.last.At)
		return tagged("M3", then(capital(ended), turns+" ended as exhausted, as nobody was left to serve"), capital(turns)+" ended as exhausted "+ended+": nobody was left",
			"Nobody was left to serve, and "+turns+" ended as exhausted "+ended)
	case what == "M22":
		turns, ended := counted(c.n, "turn", "turns"), t.span(c.first.At, c.last.At)
		return tagged("M22", then(capital(ended), turns+" found nobody to serve and waited"), capital(turns)+" came "+ended+", found nobody to serve, and waited")
	case what == "M20":
		results, when := counted(c.n, "result", "results"), t.span(c.first.At, c.last.At)
		return tagged("M20", then(capital(when), results+" counted as nothing"), capital(results)+" counted as nothing "+when)
	case what == "M21":
		turns, when := counted(c.n, "turn", "turns"), t.span(c.first.At, c.last.At)
		return tagged("M21", then(capital(when), c.who+" served "+turns+" while a probe was out"), capital(turns)+" went to "+c.who+" "+when+", as a probe was out")
	case what == "M13":
		probes, began := counted(c.n, "probe", "probes"), t.span(c.first.At, c.last.At)
		return tagged("M13", then(capital(began), probes+" failed, and the count of good ones began anew"), "The count of good probes began anew when "+probes+" failed "+began)
	case what == "cancelled":
		rule := "T16"
		switch {
		case t.b.Model != nil:
			rule = "M14"
		case t.b.others():
			rule = ""
		}
		calls, when := counted(c.n, "call was", "calls were"), t.span(c.first.At, c.last.At)
		return tagged(rule, then(capital(when), calls+" cancelled, which tells "+it+" nothing"), capital(calls)+" cancelled "+when+"; "+it+" learned nothing from that")
	case what == "served":
		return t.served(c)
	case strings.HasPrefix(what, "late ") || what == "ghost":
		return t.late(c)
	case c.who != "":
		return tagged(what, t.turnedAway(c)...)
	default: // a refusal of which nothing is known
		return tagged(what, then(capital(t.span(c.first.At, c.last.At)), counted(c.n, "call was", "calls were")+" refused"))
	}
}

// refused are T4 and T6.
func (t *teller) refused(c *crowd, why string) []string {
	when := t.span(c.first.At, c.last.At)
	calls, called := counted(c.n, "call was", "calls were"), counted(c.n, "call", "calls")
	rest, _ := strings.CutPrefix(why, "the ")
	ways := tagged(c.what, then(capital(when), calls+" refused: "+why), capIt+" refused "+called+" "+when+", as "+why, "The "+rest+", and "+called+" "+when+" met with a refusal")
	if c.n == 1 {
		call := fmt.Sprintf("call %d", c.first.Call)
		ways = tagged(c.what, capital(when)+" "+call+" was refused: "+why, capital(call)+" was refused "+when+", as "+why, "The "+rest+", so "+call+" was refused "+when)
	}
	return ways
}

// harm says how many of the refused would have been served.
func (c *crowd) harm() []string {
	some := number(c.would)
	switch {
	case c.would == 0:
		return nil
	case c.n == 1:
		return []string{"It would have succeeded.", "The call would have succeeded.", "That one would have succeeded."}
	case c.would == c.n && c.n == 2:
		return []string{"Both would have succeeded.", "Neither would have failed.", "The two would have succeeded."}
	case c.would == c.n:
		return []string{"All of them would have succeeded.", "None of these would have failed.", "Every one would have succeeded."}
	default:
		return []string{"Of these, " + some + " would have succeeded.", "The target would have served " + some + " of them.", "Among them were " + some + " that would have succeeded."}
	}
}

// served are the turns that a backup took.
func (t *teller) served(c *crowd) []string {
	turns, when := counted(c.n, "turn", "turns"), t.span(c.first.At, c.last.At)
	failed := ""
	switch {
	case c.failed == 0:
	case c.n == 1:
		failed = ", which failed"
	case c.failed == c.n && c.n == 2:
		failed = ", and both failed"
	case c.failed == c.n:
		failed = ", and all of them failed"
	case c.failed == 1:
		failed = ", one of which failed"
	default:
		failed = ", " + number(c.failed) + " of which failed"
	}
	rule, name := "(M4)", "The backup "
	if c.who == t.b.Model.LastResort {
		rule, name = "(M23)", "The last resort "
	}
	return []string{capital(when) + " " + c.who + " served " + turns + " instead " + rule + failed + ".", capital(turns) + " went to " + c.who + " " + when + " " + rule + failed + ".",
		name + c.who + " took " + turns + " " + when + " " + rule + failed + "."}
}

// late are results that the breaker did not take into account.
func (t *teller) late(c *crowd) []string {
	when, past := t.clock(c.first.At), ""
	past, _ = did(c.first.Outcome)
	call := fmt.Sprintf("call %d", c.first.Call)
	stretch, results := t.span(c.first.At, c.last.At), counted(c.n, "late result", "late results")
	if c.what == "ghost" && c.n == 1 {
		return tagged("T12, "+c.first.Rule, "At "+when+" "+call+", the probe whose lease had run out, "+past+", and nobody listened any more",
			capital(call)+" "+past+" at "+when+", but its lease had run out, so that decided nothing")
	}
	rule, why := c.first.Rule, "had begun before "+it+" last opened"
	switch {
	case c.what == "ghost":
		rule, why = "T12", "had been probes, and their leases had run out"
	case rule == "M17":
		why = "had begun before the last transition"
	case rule == "T13" && t.b.Bands[c.band].State == "half-open":
		why = "was not the probe"
		if c.n > 1 {
			why = "were not the probe"
		}
	}
	if c.n == 1 {
		return tagged(rule, "At "+when+" "+call+" "+past+", but it "+why+", so that counted for nothing", capital(call)+" "+past+" at "+when+", which was ignored, as it "+why)
	}
	return tagged(rule, then(capital(stretch), results+" were ignored: those calls "+why), capital(results)+" were ignored "+stretch+", as those calls "+why)
}
