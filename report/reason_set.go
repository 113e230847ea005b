package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// held is T21 and T22: what of the window was too much, and the limit.
func held(m *Moment) string {
	b, w := m.set, m.Seen
	if b == nil || b.Tool == nil || b.Window == nil || w.Calls == 0 {
		return either(m.Rule == "T22", "too many calls in the window were slow", "too many calls in the window failed")
	}
	last := "the last " + plural(w.Calls, "call", "calls")
	if b.Window.Time > 0 {
		last = plural(w.Calls, "call", "calls") + " in the last " + spanIn(m.end)(b.Window.Time)
	}
	switch {
	case m.Rule == "T22":
		return fmt.Sprintf("%s of %s took longer than %s, and the limit is %s", Thousands(int64(w.Slow)), last, spanIn(m.end)(b.SlowAfter), inPercent(b.SlowRate))
	case b.WindowFailures > 0 && w.Failures >= b.WindowFailures:
		return fmt.Sprintf("%s of %s failed, and the limit is %s", Thousands(int64(w.Failures)), last, Thousands(int64(b.WindowFailures)))
	default:
		return fmt.Sprintf("%s of %s failed, and the limit is %s", Thousands(int64(w.Failures)), last, inPercent(b.FailureRate))
	}
}

// heldShort is T21 and T22 in few words: "5 of 10 failed".
func heldShort(m *Moment, what, unknown string) string {
	n := m.Seen.Failures
	if m.Rule == "T22" {
		n = m.Seen.Slow
	}
	if m.Seen.Calls == 0 {
		return unknown
	}
	return Thousands(int64(n)) + " of " + Thousands(int64(m.Seen.Calls)) + " " + what
}

// slowSuccess is the outcome of a success that counts as a failure, as it was slow.
const slowSuccess = "slow"

// theProbe is "the probe", or the first of several.
func theProbe(m *Moment) string {
	return either(m.set != nil && m.set.Tool != nil && (m.set.Probes > 1 || m.set.ProbeSuccesses > 1 || m.set.ProbeFailureRate > 0), "the first probe", "the probe")
}

// probes are what decided, in few words: "probe fails", "3rd probe in a row
// succeeds", "5 of 5 probes failed".
func (m *Moment) probes(does string) string {
	n := m.tried.well + m.tried.failed
	switch {
	case !m.several():
		return "probe " + does
	case m.set.ProbeFailureRate > 0:
		return fmt.Sprintf("%s of %s failed", Thousands(int64(m.tried.failed)), plural(n, "probe", "probes"))
	default:
		return ordinal(n) + " probe " + does
	}
}

// untilWhen is when what an operator forced ended, or empty: it did not.
func (m *Moment) untilWhen(until string) string {
	return either(m.until == 0, "", until+moment(m.until, m.end))
}

// resetByHand is T15 and M16.
func resetByHand(m *Moment) string {
	s := "an operator reset the breaker"
	switch {
	case m.freed != "":
		return s + ", forced " + m.freed + " until then"
	case m.aside():
		return s + ", which forgot what it had counted"
	}
	return s
}

// reconfigured is T33: by new settings the probes so far are enough.
func reconfigured(m *Moment) string {
	s := "an operator changed the settings"
	if words := changedSettings(m.before, m.set, m.end); words != "" {
		s += " (" + words + ")"
	}
	if m.aside() {
		return s
	}
	return s + ", by which " + either(m.To == "open", "too many of the probes so far have failed", "the probes so far are enough")
}

// several says whether more than one probe decided.
func (m *Moment) several() bool {
	return m.set != nil && m.set.Tool != nil && (m.set.ProbeSuccesses > 1 || m.set.ProbeFailureRate > 0) && m.tried.well+m.tried.failed > 1
}

// outcome is T8 and T9 after several probes.
func (m *Moment) outcome(did string) string {
	return fmt.Sprintf("the probe of call %d %s, ", m.Call, did) + m.sums()
}

// sums are what came of the probes, and what was wanted.
func (m *Moment) sums() string {
	n := m.tried.well + m.tried.failed
	probes := func(some int, did string, limit float64) string {
		return fmt.Sprintf("%s of %s %s, and the limit is %s", Thousands(int64(some)), plural(n, "probe", "probes"), did, inPercent(limit))
	}
	wereSlow := either(m.tried.slow == 1, "was slow", "were slow")
	failed, slow := m.set.ProbeFailureRate, m.set.ProbeSlowRate
	switch {
	case slow > 0 && m.To == "open" && m.tried.tooSlow(slow):
		return probes(m.tried.slow, wereSlow, slow)
	case slow > 0 && failed > 0 && m.To == "closed":
		return probes(m.tried.failed, "failed", failed) + "; " + Thousands(int64(m.tried.slow)) + " " + wereSlow + ", and the limit is " + inPercent(slow)
	case failed > 0:
		return probes(m.tried.failed, "failed", failed)
	}
	return fmt.Sprintf("%s of the %s in a row that it takes", either(m.tried.failed == 0, "the "+ordinal(m.tried.well), "after "+Thousands(int64(m.tried.well))), Thousands(int64(m.set.ProbeSuccesses)))
}

// tooSlow says whether that share of the probes was slow.
func (p *probed) tooSlow(limit float64) bool {
	return float64(p.slow) >= limit*float64(p.well+p.failed)
}

// cooldown says how long it is open, where that is not what it is set to.
func (m *Moment) cooldown() string {
	if words := m.cools.words(m.end); words != "" {
		return "; the cooldown runs until " + moment(m.cools.until, m.end) + words
	}
	return ""
}

// words say why the cooldown is another than it is set to: " (60 s: 2 times 30 s,
// T27)". They are empty if it is not.
func (c *cooling) words(end time.Duration) string {
	rules := strings.Split(strings.TrimPrefix(c.rules(), ", "), ", ")
	if rules[0] == "" {
		return ""
	}
	span := spanIn(end)
	length := c.until - c.from
	if c.told() {
		return ", when the other side said to come back (" + rules[0] + ")"
	}
	why := "drawn, " + rules[0]
	if c.grown > c.usual {
		why = fmt.Sprintf("%.4g times %s, %s", float64(c.grown)/float64(c.usual), span(c.usual), rules[0])
		if len(rules) > 1 {
			why += ", and drawn, " + rules[1]
		}
	}
	return " (" + span(length) + ": " + why + ")"
}

// changedSettings are those of after that are others than before.
func changedSettings(before, after *trace.Breaker, end time.Duration) string {
	if before == nil || after == nil {
		return ""
	}
	var own []string
	for _, s := range settingsTable(after) {
		if here := s.words(worded{after, spanIn(end)}); here != s.words(worded{before, spanIn(end)}) {
			own = append(own, here)
		}
	}
	return strings.Join(own, ", ")
}

// lettingIn says how a breaker that closes lets in more and more of the calls.
func (m *Moment) lettingIn() string {
	if m.ramp == nil {
		return ""
	}
	return fmt.Sprintf("; from %s of the calls at first it comes to let in all within %s (T26)", inPercent(m.ramp.from), spanIn(m.end)(m.ramp.length))
}

// ramping is lettingIn in few words.
func (m *Moment) ramping() string { return either(m.ramp == nil, "", " with a ramp") }

// rampWords say what of the calls the ramp lets in at an instant.
func (b *BreakerHistory) rampWords(at, end time.Duration) string {
	r := b.rampAt(at)
	if r == nil {
		return "the ramp lets in only a growing share of the calls"
	}
	return fmt.Sprintf("%s after it closed it lets in %.0f %% of the calls, and all from %s on", spanIn(end)(at-r.since), 100*r.share(at), moment(later(r.since, r.length), end))
}

// lasting is " for 60 s" or " until 95.1 s", where it is open for longer or shorter
// than it is set to.
func (m *Moment) lasting() string {
	switch c := m.cools; {
	case c.rules() == "":
		return ""
	case c.told():
		return " until " + moment(c.until, m.end)
	default:
		return " for " + spanIn(m.end)(c.until-c.from)
	}
}

// told says whether the other side said how long it is.
func (c *cooling) told() bool {
	return float64(c.until-c.from) > float64(c.grown)*(1+c.jitter)+1
}

// rules are those by which it is another than it is set to: ", T27, T28"; empty:
// it is not.
func (c *cooling) rules() (s string) {
	grew, drawn, told := "T27", "T28", "T29"
	if c != nil && c.model {
		grew, drawn, told = "M25", "M26", "M27"
	}
	switch {
	case c == nil || c.until-c.from == c.usual:
	case c.told():
		s += ", " + told
	default:
		if c.grown > c.usual {
			s += ", " + grew
		}
		if c.jitter > 0 {
			s += ", " + drawn
		}
	}
	return s
}

// probesOut is T6: until when the lease runs that is in the way.
func (b *BreakerHistory) probesOut(m *Mark, end time.Duration) string {
	set := b.setAt(m.At)
	several := set.Probes > 1 || set.ProbesInAll > 1 || set.ProbeSuccesses > 1 || set.ProbeFailureRate > 0
	until, ok := b.leaseInTheWay(m.At)
	switch {
	case !ok:
		return "T6: " + either(several, "as many probes are out as may be", "a probe is out")
	case several:
		return "T6: as many probes are out as may be; the oldest one's lease runs until " + moment(until, end)
	}
	return "T6: the probe's lease runs until " + moment(until, end)
}

// leaseInTheWay is when the lease ends by which a call was refused at an instant,
// if that is known.
func (b *BreakerHistory) leaseInTheWay(at time.Duration) (ends time.Duration, ok bool) {
	if l := b.oldestLease(at); l != nil && l.limited {
		return l.ends, true
	}
	return 0, false
}
