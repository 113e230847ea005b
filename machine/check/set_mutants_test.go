package check

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// wrong is the real machine with a fault: other settings than it is said to
// have, or something that it does beside what it should.
type wrong struct {
	*realTool
	asks      func(w *wrong, now time.Duration, slot int) (admitted, probe bool)
	would     func(w *wrong, now time.Duration) bool
	ends      func(w *wrong, now time.Duration, slot int, e machine.Ending)
	forces    func(w *wrong, now time.Duration, to machine.State)
	changes   func(w *wrong, now time.Duration, s machine.ToolSettings)
	transform func(*machine.Transition)
}

func (w *wrong) ask(now time.Duration, slot int) (admitted, probe bool) {
	if w.asks != nil {
		return w.asks(w, now, slot)
	}
	return w.realTool.ask(now, slot)
}

func (w *wrong) wouldAllow(now time.Duration) bool {
	if w.would != nil {
		return w.would(w, now)
	}
	return w.realTool.wouldAllow(now)
}

func (w *wrong) end(now time.Duration, slot int, e machine.Ending) {
	if w.ends != nil {
		w.ends(w, now, slot, e)
		return
	}
	w.realTool.end(now, slot, e)
}

func (w *wrong) force(now time.Duration, to machine.State) {
	if w.forces != nil {
		w.forces(w, now, to)
		return
	}
	w.realTool.force(now, to)
}

func (w *wrong) configure(now time.Duration, s machine.ToolSettings) {
	if w.changes != nil {
		w.changes(w, now, s)
		return
	}
	w.realTool.configure(now, s)
}

func (w *wrong) moved() []machine.Transition {
	news := w.realTool.moved()
	for i := range news {
		if w.transform != nil {
			w.transform(&news[i])
		}
	}
	return news
}

// TestEachInvariantCanFail explores a machine with a fault for each, and holds
// the shortest script that breaks it, as the scenario file that it is written
// as. UPDATE=1 rewrites them.
func TestEachInvariantCanFail(t *testing.T) {
	variants := map[string]Variant{}
	for _, v := range ToolVariants() {
		variants[v.Name] = v
	}
	tests := []struct {
		variant, breaks, why string
		set                  func(*machine.ToolSettings) // what it really has
		fault                wrong
	}{
		{variant: "probe-successes", breaks: "one-probe", why: "two at one time", set: func(s *machine.ToolSettings) { s.Probing.AtOnce = 2 }},
		{variant: "probes", breaks: "probes-at-once", why: "one more", set: func(s *machine.ToolSettings) { s.Probing.AtOnce++ }},
		{variant: "probes-in-all", breaks: "probes-in-all", why: "any number", set: func(s *machine.ToolSettings) { s.Probing.InAll = 0 }},
		{variant: "cancelled-probe", breaks: "slot-back", why: "its lease is held", set: func(s *machine.ToolSettings) { s.Probing.Release = false }},
		{variant: "late-failures", breaks: "peek", why: "reading lies", fault: wrong{would: func(*wrong, time.Duration) bool { return true }}},
		{variant: "late-failures", breaks: "stale-success", why: "any success closes it", fault: wrong{ends: func(w *wrong, now time.Duration, slot int, e machine.Ending) {
			w.realTool.end(now, slot, e)
			if e.OK && w.b.Snapshot(now).State == machine.Open {
				w.b.Reset(now)
			}
		}}},
		{variant: "late-failures", breaks: "no-wedge", why: "a probe never ends", set: func(s *machine.ToolSettings) { s.ProbeTimeout = 0 }},
		{variant: "late-failures", breaks: "no-shortcut", why: "it is said to be closed", fault: wrong{transform: func(t *machine.Transition) {
			if t.To == machine.HalfOpen {
				t.From = machine.Closed
			}
		}}},
		{variant: "late-failures", breaks: "cooldown", why: "it is shorter", set: func(s *machine.ToolSettings) { s.RecoveryDuration = time.Second }},
		{variant: "recovery-growth", breaks: "cooldown-bounds", why: "no cap", set: func(s *machine.ToolSettings) { s.Cooldown.Longest = 0 }},
		{variant: "recovery-forget", breaks: "cooldown-bounds", why: "any recovery ends the growth", set: func(s *machine.ToolSettings) { s.Cooldown.Forget = 0 }},
		{variant: "recovery-jitter", breaks: "cooldown-bounds", why: "more of it", set: func(s *machine.ToolSettings) { s.Cooldown.Jitter = 0.9 }},
		{variant: "retry-after", breaks: "retry-after", why: "it is ignored", set: func(s *machine.ToolSettings) { s.Cooldown.RetryAfter = false }},
		{variant: "retry-after-bounded", breaks: "retry-after", why: "no bound", set: func(s *machine.ToolSettings) { s.Cooldown.Longest = 0 }},
		{variant: "late-failures", breaks: "late-failures", why: "they extend it", set: func(s *machine.ToolSettings) { s.Cooldown.LateKeep = false }},
		{variant: "late-failures", breaks: "lease-end", why: "told as of now", fault: wrong{transform: func(t *machine.Transition) { t.Effective = t.At }}},
		{variant: "counts-success", breaks: "counted", why: "failures all the same", set: func(s *machine.ToolSettings) { s.Counts = machine.Counts{} }},
		{variant: "counts-ignore", breaks: "ignored", why: "they count", set: func(s *machine.ToolSettings) { s.Counts = machine.Counts{} }},
		{variant: "late-failures", breaks: "threshold", why: "one later", set: func(s *machine.ToolSettings) { s.FailureThreshold++ }},
		{variant: "success-clears-not", breaks: "count-kept", why: "it clears", set: func(s *machine.ToolSettings) { s.Trip.KeepsCount = false }},
		{variant: "forget-failures", breaks: "count-forgotten", why: "never", set: func(s *machine.ToolSettings) { s.Trip.ForgetAfter = 0 }},
		{variant: "window-of-time", breaks: "window", why: "more buckets", set: func(s *machine.ToolSettings) { s.Trip.Window.Buckets = 4 }},
		{variant: "failure-rate", breaks: "minimum", why: "none", set: func(s *machine.ToolSettings) { s.Trip.MinCalls = 0 }},
		{variant: "failure-rate", breaks: "window-opens", why: "a higher share", set: func(s *machine.ToolSettings) { s.Trip.FailureRate = 0.75 }},
		{variant: "slow-rate", breaks: "slow", why: "later than said", set: func(s *machine.ToolSettings) { s.Trip.SlowerThan *= 2 }},
		{variant: "slow-fails", breaks: "slow", why: "they do no harm", set: func(s *machine.ToolSettings) { s.Trip.SlowFails = false }},
		{variant: "probe-successes", breaks: "needed", why: "one is enough", set: func(s *machine.ToolSettings) { s.Probing.Needed = 1 }},
		{variant: "late-failures", breaks: "probe-verdict", why: "failed probes are not heard", fault: wrong{ends: func(w *wrong, now time.Duration, slot int, e machine.Ending) {
			if w.permits[slot].Probe() && !e.OK {
				e = machine.Ending{Kind: machine.Cancelled}
			}
			w.realTool.end(now, slot, e)
		}}},
		{variant: "probe-failure-rate", breaks: "probe-share", why: "any failure opens it", set: func(s *machine.ToolSettings) { s.Probing.FailureRate = 0 }},
		{variant: "probe-slow-rate", breaks: "probe-share", why: "slow ones do no harm", set: func(s *machine.ToolSettings) { s.Probing.SlowRate = 0 }},
		{variant: "ramp", breaks: "ramp", why: "it begins higher", set: func(s *machine.ToolSettings) { s.Probing.RampFrom = 0.5 }},
		{variant: "probe-none", breaks: "skip", why: "there is one", set: func(s *machine.ToolSettings) { s.Probing.Skip = false }},
		{variant: "forced", breaks: "forced", why: "a result ends it", fault: wrong{ends: func(w *wrong, now time.Duration, slot int, e machine.Ending) {
			if w.b.Snapshot(now).Forced {
				w.b.Reset(now)
			}
			w.realTool.end(now, slot, e)
		}}},
		{variant: "configured", breaks: "configure", why: "it begins anew", fault: wrong{changes: func(w *wrong, now time.Duration, s machine.ToolSettings) {
			w.b.Reset(now)
			w.realTool.configure(now, s)
		}}},
	}
	covered := map[string]bool{}
	for _, test := range tests {
		v := variants[test.variant]
		covered[test.breaks] = true
		t.Run(test.breaks+"/"+test.variant+"/"+test.why, func(t *testing.T) {
			really := v.Settings
			if test.set != nil {
				test.set(&really)
			}
			r, err := exploreSet(v.Settings, false, v.Options, func() setMachine {
				w := test.fault
				w.realTool, _ = newRealTool(really, false, v.Options.Calls)
				return &w
			})
			require.NoError(t, err)
			require.Contains(t, names(r), test.breaks)
			assert.Contains(t, r.Invariants, r.Violations[0].Invariant)
			for i := range r.Violations {
				if broken := &r.Violations[i]; broken.Invariant.Name == test.breaks {
					var got bytes.Buffer
					name := "set-" + test.variant + "-" + test.breaks
					require.NoError(t, broken.WriteTool(&got, name, v.Settings, false))
					if test.variant != "recovery-jitter" && test.why != "no cap" {
						golden(t, name+".yaml", got.Bytes())
					}
				}
			}
		})
	}
	for _, i := range SetToolInvariants {
		assert.True(t, covered[i.Name], "nothing breaks %s", i.Name)
	}
}
