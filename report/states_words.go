package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// spell writes a span of a run that ends at end, to a tenth of a second at most:
// "47.3 s" in a short run, "12 min 3 s" in a longer one, "26 h" in a long one.
func spell(d, end time.Duration) string {
	switch {
	case d >= 2*time.Minute && end > 3*time.Hour:
		d = d.Round(time.Minute)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		return approx(d)
	}
	return moment(d, end)
}

// timeIn says how long the breaker was in a state: as one line, or as two where
// there is no room.
func (t *tally) timeIn(state string) [][]string {
	if t.timeless {
		return [][]string{{stateMeans(state)}}
	}
	spent, whole := t.spent(state), t.to-t.from
	if whole == 0 {
		return [][]string{{"no time"}}
	}
	long, all := "0 s", "of "+spell(whole, t.h.End)
	if spent > 0 {
		long = spell(spent, t.h.End)
	}
	if t.mean {
		long = "a mean of " + long
	}
	return [][]string{{long + " " + all}, {long, all}}
}

// stateMeans is what a state means for calls, in a few words.
func stateMeans(state string) string {
	for _, k := range bandKeys {
		if k.state == state {
			return strings.TrimPrefix(k.text, state+": ")
		}
	}
	return ""
}

// mostServed is how many backups a state names.
const mostServed = 3

// served says how long turns went to each backup, and how long to nobody: the
// longest first, where there are too many to be named.
func (t *tally) served(state string) []string {
	if state != "fallback" || len(t.shares[state]) == 0 {
		return nil
	}
	var all []string
	shares := slices.Clone(t.shares[state])
	if len(shares) > mostServed {
		slices.SortStableFunc(shares, func(a, b part) int { return cmp.Compare(b.spent, a.spent) })
	}
	for _, p := range shares {
		all = append(all, cmp.Or(p.serves, "nobody")+" "+spell(p.spent, t.h.End))
	}
	if left := len(all) - mostServed; left > 0 {
		all = append(all[:mostServed], plural(left, "more", "more"))
	}
	return all
}

// describe tells the diagram in words.
func (t *tally) describe(policies bool) string {
	var b strings.Builder
	if policies {
		b.WriteString("Under " + listed(t.policies) + ", ")
	}
	fmt.Fprintf(&b, "%s begins %s and ends %s. ", t.Name, t.first, t.last)
	for _, state := range t.states() {
		told := slices.Concat(t.timeIn(state)[0], t.served(state), t.notes(state))
		fmt.Fprintf(&b, "%s: %s. ", capital(state), strings.Join(told, ", "))
	}
	var never []string
	for _, m := range t.moves() {
		switch n := t.taken[m]; {
		case m.Rule == "":
			fmt.Fprintf(&b, "%s to %s: %s, %s. ", capital(m.From), m.To, times(n), m.Words)
		case n > 0:
			fmt.Fprintf(&b, "%s, %s to %s: %s. ", m.Rule, m.From, m.To, times(n))
		default:
			never = append(never, fmt.Sprintf("%s (%s to %s)", m.Rule, m.From, m.To))
		}
	}
	if len(never) > 0 {
		b.WriteString("Never: " + strings.Join(never, ", ") + ". ")
	}
	return strings.TrimSpace(b.String())
}

// stillness is what is told of breakers that never moved: of those together that
// have nothing else to tell.
func stillness(all []*tally, policies bool) (lines []string) {
	type same struct{ policies, state string }
	names := map[same][]string{}
	of := func(t *tally) same { return same{listed(t.policies), t.first} }
	for _, t := range all {
		if len(t.notes(t.first)) == 0 {
			names[of(t)] = append(names[of(t)], t.Name)
		}
	}
	for _, t := range all {
		who, notes := []string{t.Name}, t.notes(t.first)
		if len(notes) == 0 {
			who = names[of(t)]
			delete(names, of(t))
		}
		if len(who) == 0 { // told with another
			continue
		}
		s := listed(who) + either(len(who) == 1, " stays ", " stay ") + t.first + " all the time"
		if policies {
			s = "Under " + listed(t.policies) + " " + s
		}
		lines = append(lines, strings.Join(append([]string{s}, notes...), ", "))
	}
	return lines
}

// heading is the breaker and its kind, or whose it is.
func (t *tally) heading() string {
	if t.others() {
		return t.Name + " (" + t.By + ")"
	}
	return nameAndKind(t.Breaker)
}

// settings are the breaker's, one by one. No line ends within a backup's strikes.
func (t *tally) settings() []string {
	all := settingsOf(t.Breaker, t.h.End)
	if t.others() { // the heading says whose it is
		all = slices.DeleteFunc(all, func(s string) bool { return s == "by "+t.By })
		all[0] = "asked for: " + all[0]
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], " strike", "\u00a0strike")
	}
	return all
}

// flowed are the parts in lines no wider than the room, a dot between those that
// share one. A part too wide for a line is broken.
func flowed(parts []string, size, room float64) (lines []string) {
	const dot = " · "
	for _, s := range parts {
		if n := len(lines); n > 0 && width(lines[n-1]+dot+s, size, false) <= room {
			lines[n-1] += dot + s
			continue
		}
		lines = append(lines, balanced(s, size, room)...)
	}
	return lines
}

// balanced are as many lines as the text needs in that room, no wider than they
// must be.
func balanced(s string, size, room float64) []string {
	lines := wrapped(s, size, false, room)
	for len(lines) > 1 {
		next := wrapped(s, size, false, widest(lines, size)-0.5)
		if len(next) > len(lines) || strings.Contains(strings.Join(next, ""), "…") {
			return lines
		}
		lines = next
	}
	return lines
}

func widest(lines []string, size float64) (w float64) {
	for _, s := range lines {
		w = max(w, width(s, size, false))
	}
	return w
}
