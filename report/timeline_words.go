package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// mostMoments is how many transitions a picture numbers and tells.
const mostMoments = 12

// numbered is a moment with its number in the picture. Without a number it is a
// switch apart from the transitions.
type numbered struct {
	n      int
	rank   int // by importance among those of its panel, 0 first
	panel  int
	policy string // where there are several
	moment *Moment
	change *change  // of a switch
	lines  []string // its words, laid out
}

// keyMoments numbers the most important transitions of each panel, and says how
// many it leaves out. Where all are told there may be room for the other
// switches.
func keyMoments(panels []*History, within func(time.Duration) bool) (all []numbered, more string) {
	total, busy, changes := 0, 0, 0
	for _, h := range panels {
		changes += len(h.changes)
		here := h.momentsWithin(within)
		total += here
		if here > 0 {
			busy++
		}
	}
	n := 0
	for i, h := range panels {
		shown := len(h.tellable())
		if total > mostMoments {
			shown = min(shown, max(1, mostMoments/max(1, busy)))
		}
		for _, m := range h.told(shown, changes <= mostMoments, within) {
			m.panel = i
			if busy > 1 {
				m.policy = h.Run.Policy
			}
			if m.moment != nil {
				n++
				m.n = n
			}
			all = append(all, m)
		}
	}
	if left := total - n; left > 0 {
		more = plural(left, "more transition is", "more transitions are") + " left out here; the trace has them all"
		if slices.ContainsFunc(panels, func(h *History) bool { return len(h.acts()) > 0 }) {
			more = plural(left, "more moment is", "more moments are") + " left out here; the trace has them all"
		}
	}
	return all, more
}

// told are the most important moments and, if asked for, the switches apart
// from them, in their order.
func (h *History) told(moments int, switches bool, within func(time.Duration) bool) (all []numbered) {
	rank := map[*Moment]int{}
	ranks := h.ranks(within)
	for i, m := range h.tellable() {
		rank[m] = ranks[i]
	}
	for k := range h.changes {
		switch c := &h.changes[k]; {
		case c.act != nil:
			if within(c.act.Effective) && rank[c.act] < moments {
				all = append(all, numbered{moment: c.act, rank: rank[c.act]})
			}
		case c.moment < 0 && !within(c.change.T) || c.moment >= 0 && !within(h.Moments[c.moment].Effective):
		case c.moment < 0 && switches:
			all = append(all, numbered{change: c})
		case c.moment >= 0 && rank[&h.Moments[c.moment]] < moments:
			all = append(all, numbered{moment: &h.Moments[c.moment], rank: rank[&h.Moments[c.moment]]})
		}
	}
	return all
}

func (h *History) momentsWithin(within func(time.Duration) bool) (n int) {
	for _, m := range h.tellable() {
		if within(m.Effective) {
			n++
		}
	}
	return n
}

// words are the moment as a line of the list below the picture.
func (n *numbered) words(h *History) string {
	at, breaker, what := time.Duration(0), "", ""
	if c := n.change; c != nil {
		at, breaker = c.change.T, c.change.Breaker
		what = "still " + c.state + ", " + switchReason(&c.change)
	} else {
		m := n.moment
		at, breaker = m.Effective, m.Breaker
		what = fmt.Sprintf("%s, %s: %s", m.move(), m.Rule, m.Reason()+m.onward())
	}
	if len(h.Breakers) > 1 {
		what = breaker + ": " + what
	}
	if len(h.Breakers) > 1 {
		what = moment(at, h.End) + ", " + what
	} else {
		what = moment(at, h.End) + ": " + what
	}
	if n.policy != "" {
		what = n.policy + ", " + what
	}
	return what
}

// move is what became of the state.
func (m *Moment) move() string {
	if m.aside() {
		return "still " + m.To
	}
	return m.From + " → " + m.To
}

// momentLines lays the list out and says how many lines it takes.
func (f *figure) momentLines(room float64) int {
	n := 0
	for i := range f.moments {
		m := &f.moments[i]
		m.lines = wrapped(m.words(f.panels[m.panel].h), smallSize, false, room-22)
		n += len(m.lines)
	}
	if f.more != "" {
		n++
	}
	return n
}

// drawMoments draws the list from the height y down, and returns where it ends.
func (f *figure) drawMoments(p *pen, y float64) float64 {
	for _, m := range f.moments {
		if m.n == 0 {
			switchMark(p, margin+8, y+leading/2-2)
		} else {
			m.mark(p, margin+8, y+leading/2)
		}
		for _, line := range m.lines {
			p.text("ink", margin+22, y+leading/2, smallSize, false, left, line)
			y += leading
		}
	}
	if f.more != "" {
		p.text("muted", margin+22, y+leading/2, smallSize, false, left, f.more)
		y += leading
	}
	return y
}

// allCaptions say what is drawn, before what the runs are.
func (f *figure) allCaptions() []string {
	lines := f.t.captions()
	if s := f.unsaid(); s != "" {
		lines = slices.Insert(lines, len(lines)-1, s)
	}
	lines = slices.Concat(f.departures(), f.unbracketed(), lines)
	if f.begin > 0 || f.end < f.whole {
		lines = append([]string{fmt.Sprintf("Drawn from %s to %s, of %s", moment(f.begin, f.whole), moment(f.end, f.whole), moment(f.whole, f.whole))}, lines...)
	}
	return lines
}

// unsaid is what the targets' lanes have no room to say.
func (f *figure) unsaid() string {
	const most = 4
	var all []string
	for _, h := range f.t.panels {
		for _, g := range h.groups() {
			for _, t := range g.targets {
				for _, s := range f.truth(h, t) {
					if !f.meetsSpan(s.Span) || !s.untold(f.along(s.To)-f.along(s.From)) {
						continue
					}
					if line := fmt.Sprintf("%s from %s to %s: %s", t.Name, moment(s.From, f.whole), moment(s.To, f.whole), s.words[0]); !slices.Contains(all, line) {
						all = append(all, line)
					}
				}
			}
		}
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], "and "+plural(n, "more stretch", "more stretches"))
	}
	return strings.Join(all, " · ")
}

// captions tell the settings of every breaker, and what is to be known of the
// world, once where the panels agree.
func (t *timeline) captions() []string {
	var lines []string
	under := map[string][]string{} // the panels that a line is about
	most := map[string]int{}       // the panels that it could be about
	with := 0
	for _, h := range t.panels {
		if len(h.Run.Breakers) > 0 {
			with++
		}
	}
	for _, h := range t.panels {
		for k := range h.Run.Breakers {
			b := &h.Run.Breakers[k]
			s := strings.Join(append([]string{t.settings(b, h.End)}, h.changed(b)...), " · ")
			if len(under[s]) == 0 {
				lines = append(lines, s)
			}
			under[s], most[s] = append(under[s], h.Run.Policy), with
		}
	}
	for _, h := range t.panels {
		for _, s := range slices.Concat(h.onFleets(), h.atOnce(), inWords(h.Run, h.End)) {
			if len(under[s]) == 0 {
				lines = append(lines, s)
			}
			under[s], most[s] = append(under[s], h.Run.Policy), len(t.panels)
		}
	}
	for i, s := range lines {
		if len(under[s]) < most[s] {
			lines[i] = "Under " + strings.Join(under[s], ", ") + ": " + s
		}
	}
	return append(lines, provenance(t.panels))
}

// atOnce tells of late failures that no lane shows, as they restart a cooldown at
// the instant at which it begins.
func (h *History) atOnce() (lines []string) {
	for _, b := range h.Breakers {
		if b.AtOnce > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s came at the instant of an opening, and no cooldown ends later for it (T11)", b.Name, plural(b.AtOnce, "late failure", "late failures")))
		}
	}
	return lines
}

// provenance says where the runs come from: the seed and, if there is one, the
// policy.
func provenance(panels []*History) string {
	var seeds []string
	for _, h := range panels {
		if s := strconv.FormatUint(h.Run.Seed, 10); !slices.Contains(seeds, s) {
			seeds = append(seeds, s)
		}
	}
	last := "Virtual time · seed " + strings.Join(seeds, " or ")
	if len(panels) == 1 {
		last += " · policy " + panels[0].Run.Policy
		if about := panels[0].about(); about != "" {
			last += ": " + about
		}
	}
	return last
}

// inWords is what no lane shows of targets and substitutes.
func inWords(r *trace.RunInfo, end time.Duration) (lines []string) {
	span := spanIn(end)
	for i := range r.Targets {
		target := &r.Targets[i]
		if l := target.Limit; l != nil {
			lines = append(lines, fmt.Sprintf("%s takes one call every %s, and up to %s at once", target.Name, span(l.Every), Thousands(int64(l.Burst))))
		}
		if target.Capacity != nil {
			lines = append(lines, target.Name+" "+capacity(target.Capacity, span))
		}
		lines = append(lines, moods(target, span)...)
	}
	for _, s := range r.Substitutes {
		lines = append(lines, "While "+s.Target+" is out, its calls go to "+strings.Join(s.By, ", or else to "))
	}
	return lines
}

// capacity is what a target serves at one time, in words.
func capacity(c *trace.Capacity, span func(time.Duration) string) string {
	s := "serves any number at a time"
	if c.Servers > 0 {
		s = "serves " + Thousands(int64(c.Servers)) + " at a time"
	}
	if c.Slowdown > 0 {
		s += ", each slowing the others by " + span(c.Slowdown)
	}
	switch {
	case c.Queue == nil:
	case *c.Queue == 0:
		s += ", without a queue"
	default:
		s += ", with a queue of " + Thousands(int64(*c.Queue))
	}
	if c.CancelOnTimeout {
		s += ", and stops when the caller does"
	}
	return s
}

// moods are what makes a target slower or worse than its lane says.
func moods(t *trace.Target, span func(time.Duration) string) (lines []string) {
	if t.Network != "" {
		lines = append(lines, "network to "+t.Name+", each way: "+t.Network)
	}
	if t.Warmup > 0 {
		lines = append(lines, t.Name+" is slow for "+span(t.Warmup)+" after an outage")
	}
	if b := t.Bursts; b != nil {
		what := b.Outcome
		if what != "" {
			what = outcomeWord(what)
		}
		if b.Latency != "" {
			what = strings.TrimPrefix(what+", latency "+b.Latency, ", ")
		}
		lines = append(lines, fmt.Sprintf("%s has bursts of trouble by chance, on average %s apart and %s long: %s", t.Name, span(b.Apart), span(b.For), what))
	}
	return lines
}
