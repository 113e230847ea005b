package report

import (
	"regexp"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// slowness is the latency that a phase gives the target at that instant, in words,
// and whether that is slower than usual. Without such a phase it is empty. The run
// ends at end.
func slowness(t *trace.Target, at, end time.Duration) (latency string, slow bool) {
	for i := len(t.Phases) - 1; i >= 0; i-- { // the later wins
		p := &t.Phases[i]
		if p.Latency != "" && p.At <= at && (p.For == nil || at-p.At < *p.For) {
			return inUnits(p.Latency, end), typical(p.Latency) > typical(t.Latency)
		}
	}
	return "", false
}

// spans are the durations in a latency: of files ("1m30s") or in words ("1 min 30 s").
var spans = regexp.MustCompile(`\d[\d,.]* ?(?:h|min|ms|m|s|µs|us|ns)(?: ?\d[\d,.]* ?(?:h|min|ms|m|s|µs|us|ns))*\b`)

// duration is one of the spans.
func duration(span string) time.Duration {
	d, _ := time.ParseDuration(strings.NewReplacer(" ", "", ",", "", "min", "m").Replace(span)) // 0: too long for us
	return d
}

// typical is about how long a latency takes that is written like this: "1s",
// "uniform 1s to 3s", "exponential, mean 1s", "lognormal, p50 1s, p99 9s".
func typical(latency string) time.Duration {
	all := spans.FindAllString(latency, 2)
	switch {
	case len(all) == 0:
		return 0
	case len(all) == 2 && strings.HasPrefix(latency, "uniform"):
		low, high := duration(all[0]), duration(all[1])
		return low + (high-low)/2
	}
	return duration(all[0])
}

// inUnits writes the durations in a latency as all others are: "300 ms" for "300ms".
func inUnits(latency string, end time.Duration) string {
	return spans.ReplaceAllStringFunc(latency, func(span string) string { return moment(duration(span), end) })
}
