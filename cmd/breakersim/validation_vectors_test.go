package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

var vectors = block{
	id:    "V5",
	title: "Exact vectors",
	claim: "The standard retry mode of the AWS SDKs doubles its waits and pays for retries out of a quota: at first 500, 5 for a retry, 10 for one after a timeout; a success by a retry brings back what that took, another one 1. " +
		"And retries in layers multiply: where each of k layers makes n attempts, the last one gets nᵏ.",
	source: "Published: the test vectors of “Retry Behavior 2.0”, AWS SDKs, standard mode, with a randomness of 1. Derived: the layers.",
	how: "The ladder and the budget of package `machine`, outcome by outcome. A step is the wait before the next attempt and the quota after it, or how the call ends. " +
		"The layers are ladders inside each other, over an attempt that always fails. Nothing here is left to chance.",
	columns: "what is played",
	play:    playVectors,
}

// vector is a call, outcome by outcome, and what must follow each.
type vector struct {
	quota    float64 // at first
	attempts int
	longest  time.Duration // wait
	outcomes string        // f a failure, t a timeout, s a success
	want     string
}

var quotaVectors = []vector{
	{500, 3, 20 * time.Second, "ffs", "1s, 495 · 2s, 490 · success, 495"},
	{500, 3, 20 * time.Second, "fff", "1s, 495 · 2s, 490 · exhausted, 490"},
	{5, 3, 20 * time.Second, "ff", "1s, 0 · quota exceeded, 0"},
	{0, 3, 20 * time.Second, "f", "quota exceeded, 0"},
	{500, 5, 20 * time.Second, "fffff", "1s, 495 · 2s, 490 · 4s, 485 · 8s, 480 · exhausted, 480"},
	{500, 5, 3 * time.Second, "fffff", "1s, 495 · 2s, 490 · 3s, 485 · 3s, 480 · exhausted, 480"},
	{500, 3, 20 * time.Second, "tts", "1s, 490 · 2s, 480 · success, 490"},
	{480, 3, 20 * time.Second, "s", "success, 481"},
	{500, 3, 20 * time.Second, "s", "success, 500"},
}

// play is what follows each outcome.
func (v *vector) play(t *testing.T) string {
	t.Helper()
	b, err := machine.NewBudget(machine.BudgetSettings{Tokens: 500, Start: v.quota, PerRetry: 5, PerTimeout: 10, PerSuccess: 1, Refund: true})
	require.NoError(t, err)
	r := machine.Ladder{Curve: "exponential", Jitter: "none", Attempts: v.attempts, Base: time.Second, Cap: v.longest}.Start(0)
	retried, timeout := false, false
	var steps []string
	for _, o := range v.outcomes {
		said := ""
		if o == 's' {
			b.Success(retried, timeout)
			said = "success"
		} else if step := r.Next(0, machine.Transient, -1, 0); !step.Retry {
			said = "exhausted"
		} else if timeout = o == 't'; !b.Take(timeout) {
			said = "quota exceeded"
		} else {
			retried = true
			said = step.Wait.String()
		}
		steps = append(steps, fmt.Sprintf("%s, %v", said, b.Tokens()))
	}
	return strings.Join(steps, " · ")
}

func (v *vector) name() string {
	var all []string
	for _, o := range v.outcomes {
		all = append(all, map[rune]string{'f': "failure", 't': "timeout", 's': "success"}[o])
	}
	return fmt.Sprintf("quota %v, %d attempts, waits up to %v: %s", v.quota, v.attempts, v.longest, strings.Join(all, ", "))
}

// layered counts the attempts that reach the bottom of so many layers of
// ladders, each over the next, where every attempt fails.
func layered(layers int, l machine.Ladder) int {
	if layers == 0 {
		return 1
	}
	reached := 0
	r := l.Start(0)
	for {
		reached += layered(layers-1, l)
		if !r.Next(0, machine.Transient, -1, 0).Retry {
			return reached
		}
	}
}

func playVectors(t *testing.T) findings {
	var f findings
	for i := range quotaVectors {
		v := &quotaVectors[i]
		f.rows = append(f.rows, finding{v.name(), []figure{same(v.want, v.play(t))}, "nothing"})
	}
	for _, l := range []struct{ layers, attempts, reached int }{{3, 4, 64}, {5, 3, 243}} {
		got := layered(l.layers, machine.Ladder{Curve: "fixed", Jitter: "none", Attempts: l.attempts})
		require.Equal(t, int(math.Pow(float64(l.attempts), float64(l.layers))), l.reached)
		f.rows = append(f.rows, finding{fmt.Sprintf("%d layers of %d attempts: attempts at the bottom", l.layers, l.attempts), []figure{exactly(float64(l.reached), float64(got))}, "nothing"})
	}
	return f
}
