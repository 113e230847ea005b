package report

import (
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// slowness is the latency that a phase gives the target at that instant, in words,
// and whether that is slower than usual. Without such a phase it is empty.
func slowness(t *trace.Target, at time.Duration) (latency string, slow bool) {
	for i := len(t.Phases) - 1; i >= 0; i-- { // the later wins
		p := &t.Phases[i]
		if p.Latency != "" && p.At <= at && (p.For == nil || at-p.At < *p.For) {
			return inUnits(p.Latency), typical(p.Latency) > typical(t.Latency)
		}
	}
	return "", false
}

// typical is about how long a latency takes that is written like this: "1s",
// "uniform 1s to 3s", "exponential, mean 1s", "lognormal, p50 1s, p99 9s".
func typical(latency string) time.Duration {
	var all []time.Duration
	for _, word := range strings.Fields(latency) {
		if d, err := time.ParseDuration(strings.TrimSuffix(word, ",")); err == nil {
			all = append(all, d)
		}
	}
	switch {
	case len(all) == 0:
		return 0
	case strings.HasPrefix(latency, "uniform"):
		return all[0] + (all[len(all)-1]-all[0])/2
	}
	return all[0]
}

// inUnits writes the durations in a latency as all others are: "300 ms" for "300ms".
func inUnits(latency string) string {
	words := strings.Fields(latency)
	for i, word := range words {
		bare := strings.TrimSuffix(word, ",")
		if d, err := time.ParseDuration(bare); err == nil {
			words[i] = Clock(d) + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}
