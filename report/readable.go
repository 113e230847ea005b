package report

import (
	"regexp"
	"slices"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// goSpan is a duration as scenarios and traces write it: "1m30s".
var goSpan = regexp.MustCompile(`\b(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|us|ns))+\b`)

// goShare is a percentage likewise.
var goShare = regexp.MustCompile(`(\d)%`)

// Readable is a text of a scenario or a trace with the durations and shares in
// it as we write them: "uniform 31 s to 1 min", "70 % success".
func Readable(s string) string {
	s = goSpan.ReplaceAllStringFunc(s, func(span string) string {
		d, err := time.ParseDuration(span)
		if err != nil { // too long for us
			return span
		}
		return Clock(d)
	})
	return goShare.ReplaceAllString(s, "$1 %")
}

// readable is what is known of a run, its texts as we write them.
func readable(r *trace.RunInfo) *trace.RunInfo {
	run := *r
	run.PolicyAbout = Readable(r.PolicyAbout)
	run.Targets = slices.Clone(r.Targets)
	for i := range run.Targets {
		t := &run.Targets[i]
		t.Latency, t.Network, t.Outcome = Readable(t.Latency), Readable(t.Network), Readable(t.Outcome)
		if t.Bursts != nil {
			b := *t.Bursts
			b.Outcome, b.Latency = Readable(b.Outcome), Readable(b.Latency)
			t.Bursts = &b
		}
		t.Phases = slices.Clone(t.Phases)
		for k := range t.Phases {
			p := &t.Phases[k]
			p.Outcome, p.Latency = Readable(p.Outcome), Readable(p.Latency)
		}
		t.Segments = slices.Clone(t.Segments)
		for k := range t.Segments {
			t.Segments[k].Outcome = Readable(t.Segments[k].Outcome)
		}
	}
	return &run
}
