package report

import (
	"fmt"
	"slices"
	"time"
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

// reconfigured is T33: by new settings the probes so far are enough.
func reconfigured(m *Moment) string {
	return "an operator changed the settings, by which " + either(m.To == "open", "too many of the probes so far have failed", "the probes so far are enough")
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
	if c == nil || c.until-c.from == c.usual {
		return ""
	}
	span := spanIn(end)
	length := c.until - c.from
	why := ""
	switch {
	case float64(length) > float64(c.grown)*(1+c.jitter)+1:
		return ", when the other side said to come back (T29)"
	case c.grown > c.usual:
		why = fmt.Sprintf("%.4g times %s, T27", float64(c.grown)/float64(c.usual), span(c.usual))
		if c.jitter > 0 {
			why += ", and drawn, T28"
		}
	case c.jitter > 0:
		why = "drawn, T28"
	default:
		return ""
	}
	return " (" + span(length) + ": " + why + ")"
}

// probesOut is T6: until when the lease runs that is in the way.
func (b *BreakerHistory) probesOut(m *Mark, end time.Duration) string {
	until := b.leaseInTheWay(m.At, m.Until)
	if b.Probes > 1 || b.ProbesInAll > 1 || b.ProbeSuccesses > 1 {
		return "T6: as many probes are out as may be; the oldest one's lease runs until " + moment(until, end)
	}
	return "T6: the probe's lease runs until " + moment(until, end)
}

// leaseInTheWay is when the lease ends by which a call was refused that may be
// admitted again at until.
func (b *BreakerHistory) leaseInTheWay(at, until time.Duration) time.Duration {
	if l := b.oldestLease(at); l != nil && l.limited {
		return l.ends
	}
	return until - b.Tool.RecoveryDuration
}

// closedBefore is when the breaker last closed before an instant.
func (b *BreakerHistory) closedBefore(at time.Duration) time.Duration {
	i := slices.IndexFunc(b.Bands, func(s Band) bool { return s.From <= at && at <= s.To && s.State == "closed" })
	if i < 0 {
		return 0
	}
	return b.Bands[i].From
}
