package report

import (
	"fmt"
	"strings"

	"github.com/breakersim/breakersim/sim/trace"
)

// mostMoments is how many transitions a picture numbers and tells.
const mostMoments = 12

// numbered is a moment with its number in the picture.
type numbered struct {
	n      int
	panel  int
	policy string // where there are several
	moment *Moment
	lines  []string // its words, laid out
}

// keyMoments numbers the first transitions of each panel, and says how many it
// leaves out.
func keyMoments(panels []*History) (all []numbered, more string) {
	total, busy := 0, 0
	for _, h := range panels {
		total += len(h.Moments)
		if len(h.Moments) > 0 {
			busy++
		}
	}
	for i, h := range panels {
		shown := len(h.Moments)
		if total > mostMoments {
			shown = min(shown, max(1, mostMoments/max(1, busy)))
		}
		for k := range shown {
			m := numbered{n: len(all) + 1, panel: i, moment: &h.Moments[k]}
			if busy > 1 {
				m.policy = h.Run.Policy
			}
			all = append(all, m)
		}
	}
	if left := total - len(all); left > 0 {
		more = "and " + plural(left, "more transition", "more transitions") + ", which the trace has"
	}
	return all, more
}

// words are the moment as a line of the list below the picture.
func (n *numbered) words(breakers int) string {
	m := n.moment
	var b strings.Builder
	if n.policy != "" {
		b.WriteString(n.policy + ", ")
	}
	b.WriteString(moment(m.Effective, m.end) + ": ")
	if breakers > 1 {
		b.WriteString(m.Breaker + " ")
	}
	fmt.Fprintf(&b, "%s → %s, %s: %s", m.From, m.To, m.Rule, m.Reason())
	if m.Switched {
		b.WriteString("; " + servedBy(m.Serves))
	}
	return b.String()
}

// momentLines lays the list out and says how many lines it takes.
func (f *figure) momentLines(room float64) int {
	n := 0
	for i := range f.moments {
		m := &f.moments[i]
		m.lines = wrapped(m.words(len(f.panels[m.panel].h.Breakers)), smallSize, false, room-22)
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
		numberMark(p, margin+8, y+leading/2, m.n)
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

// captions tell the settings of every breaker, once where the policies agree.
func (t *Timeline) captions() []string {
	var lines []string
	policies := map[string][]string{}
	with := 0
	for _, h := range t.Panels {
		if len(h.Breakers) > 0 {
			with++
		}
		for _, b := range h.Breakers {
			s := settings(b.Breaker)
			if len(policies[s]) == 0 {
				lines = append(lines, s)
			}
			policies[s] = append(policies[s], h.Run.Policy)
		}
	}
	for i, s := range lines {
		if len(policies[s]) < with {
			lines[i] = "Under " + strings.Join(policies[s], ", ") + ": " + s
		}
	}
	run := t.Panels[0].Run
	last := fmt.Sprintf("Virtual time · seed %d", run.Seed)
	if len(t.Panels) == 1 {
		last += " · policy " + run.Policy
		if run.PolicyAbout != "" {
			last += ": " + run.PolicyAbout
		}
	}
	return append(lines, last)
}

// settings are a breaker's settings in words.
func settings(b *trace.Breaker) string {
	var parts []string
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	switch t, m := b.Tool, b.Model; {
	case t != nil:
		if t.FailureThreshold == 0 {
			add("never opens")
		} else {
			add("opens at %s", plural(t.FailureThreshold, "failure", "failures in a row"))
		}
		add("cooldown %s", Clock(t.RecoveryDuration))
		if t.ProbeTimeout == 0 {
			add("no lease on the probe")
		} else {
			add("probe's lease %s", Clock(t.ProbeTimeout))
		}
		if t.StaleResults == "ignore" {
			add("stale results ignored")
		}
	default:
		add("%s, then %s", m.Primary, chainWords(m.Chain))
		add("trips at %s", plural(max(1, m.TripThreshold), "failed turn", "failed turns in a row"))
		add("cooldown %s", Clock(m.RecoveryTimeout))
		add("back after %s", plural(max(1, m.RecoverySuccessesNeeded), "good probe", "good probes in a row"))
		if m.ProbationFailures > 0 {
			add("back to the backups after %s", plural(m.ProbationFailures, "failed probe", "failed probes"))
		}
	}
	if b.Reports == "anonymous" {
		add("anonymous reports")
	}
	return b.Name + " (" + b.Kind + " breaker): " + strings.Join(parts, " · ")
}

func chainWords(chain []trace.Backup) string {
	if len(chain) == 0 {
		return "nobody"
	}
	var parts []string
	for _, e := range chain {
		parts = append(parts, fmt.Sprintf("%s (%s)", e.Name, plural(max(1, e.MaxFailCount), "strike", "strikes")))
	}
	return strings.Join(parts, ", ")
}
