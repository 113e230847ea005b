package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestWhatDecidedAmongProbes: failures, slow ones, or a row of good ones.
func TestWhatDecidedAmongProbes(t *testing.T) {
	set := func(d trace.FurtherTool) *trace.Breaker {
		return &trace.Breaker{Name: "api", Tool: &trace.Tool{FurtherTool: d}}
	}
	slow := trace.FurtherTool{ProbeFailureRate: 0.75, ProbeSlowRate: 0.5, SlowAfter: time.Second}
	for want, m := range map[string]Moment{
		"the probe of call 7 failed, 3 of 4 probes failed, and the limit is 75 %":                                       {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Failure, set: set(slow), tried: probed{1, 3, 1}},
		"the probe of call 7 was slow, 2 of 4 probes were slow, and the limit is 50 %":                                  {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Success, set: set(slow), tried: probed{3, 1, 2}},
		"the probe of call 7 succeeded, 2 of 4 probes failed, and the limit is 75 %; 1 was slow, and the limit is 50 %": {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(slow), tried: probed{2, 2, 1}},
		"the probe of call 7 succeeded, 0 of 2 probes failed, and the limit is 75 %":                                    {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{ProbeFailureRate: 0.75}), tried: probed{2, 0, 0}},
		"the probe of call 7 succeeded, the 3rd of the 3 in a row that it takes":                                        {Event: trace.Event{Rule: "T8", To: "closed", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{ProbeSuccesses: 3}), tried: probed{3, 0, 0}},
		"the probe was slow (call 7)":                   {Event: trace.Event{Rule: "T9", To: "open", Call: 7}, Outcome: trace.Success, set: set(trace.FurtherTool{SlowAfter: time.Second, Slow: "failure"}), tried: probed{0, 1, 1}},
		"the 3rd failure in a row (call 7: timeout)":    {Event: trace.Event{Rule: "T3", To: "open", Call: 7, Failures: 3}, Outcome: trace.Timeout, set: set(trace.FurtherTool{})},
		"the 3rd failure that counts (call 7: timeout)": {Event: trace.Event{Rule: "T3", To: "open", Call: 7, Failures: 3}, Outcome: trace.Timeout, set: set(trace.FurtherTool{SuccessClears: new(bool)})},
	} {
		assert.Equal(t, want, m.Reason())
	}
}
