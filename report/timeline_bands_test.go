package report

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestSliversAreLines: what lasts for less than a mark is wide is a line, which
// takes hardly anything from its neighbours, and the test of the target lies
// above them. The lease of such a probe has no bracket, and no entry in the legend.
func TestSliversAreLines(t *testing.T) {
	const lease = 30 * time.Second
	for _, c := range []struct {
		probe time.Duration // of an hour
		line  bool
		says  bool // that there is a lease
	}{
		{200 * time.Millisecond, true, false},
		{10 * time.Second, true, false},
		{60 * time.Second, false, true},
	} {
		begin := 30 * time.Minute
		info := &trace.RunInfo{Scenario: "made-up", Policy: "p", Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Reports: "permit",
			Tool: &trace.Tool{Guards: "s", FailureThreshold: 1, RecoveryDuration: time.Second, ProbeTimeout: 10 * lease, StaleResults: "count"}}}, Targets: []trace.Target{{Name: "s"}}}
		h := recorded(t, info,
			trace.Event{T: begin - time.Second, Kind: trace.Transition, Breaker: "b", From: "closed", To: "open", Effective: begin - time.Second, Rule: "T3", Failures: 1},
			trace.Event{T: begin, Kind: trace.Call, Call: 1, Attempt: 1, To: "s"},
			trace.Event{T: begin, Kind: trace.Transition, Breaker: "b", From: "open", To: "half-open", Effective: begin, Rule: "T5", Call: 1},
			trace.Event{T: begin, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "b", Target: "s", Probe: true, Rule: "T5"},
			trace.Event{T: begin + c.probe, Kind: trace.Result, Call: 1, Attempt: 1, Target: "s", Outcome: "success", Took: c.probe, Breaker: "b", Applied: true, Rule: "T8"},
			trace.Event{T: begin + c.probe, Kind: trace.Transition, Breaker: "b", From: "half-open", To: "closed", Effective: begin + c.probe, Rule: "T8", Call: 1},
			trace.Event{T: time.Hour, Kind: trace.End, States: []trace.BreakerState{{Breaker: "b", State: "closed"}}})
		var b bytes.Buffer
		require.NoError(t, pictured(t, "timeline", Look{}, h).WriteSVG(&b))
		band := regexp.MustCompile(`<g><title>b: half-open from [^<]*</title>\n.*\n`).FindAllString(b.String(), -1)
		require.NotEmpty(t, band, c.probe)
		last := band[len(band)-1]
		assert.Equal(t, c.line, regexp.MustCompile(`class="f-half-open-edge"`).MatchString(last), "%v: %s", c.probe, last)
		assert.Equal(t, c.says, bytes.Contains(b.Bytes(), []byte(">the probe&#39;s lease<")) || bytes.Contains(b.Bytes(), []byte(">the probe's lease<")), "%v", c.probe)
	}
}
