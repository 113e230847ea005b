package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// Knob is a number of a breaker that can be turned. Set takes its Path and the
// value of a step.
type Knob struct {
	Path    string `json:"path"`
	Policy  string `json:"policy"` // whose own setting it is; empty: that of all
	Breaker string `json:"breaker"`
	Key     string `json:"key"`
	About   string `json:"about"`
	Steps   []Step `json:"steps"`
	At      int    `json:"at"` // the step where it stands
}

// Step is a value that a knob may have.
type Step struct {
	Value string `json:"value"` // as a file has it
	Text  string `json:"text"`  // as one reads it
}

// setting is a number that breakers of one kind have.
type setting[S any] struct {
	key, about string
	steps      func(*S) ([]Step, int) // none: the breaker does not have it set
}

var toolSettings = []setting[machine.ToolSettings]{
	{"failure_threshold", "failures in a row that open it; 0: never", func(s *machine.ToolSettings) ([]Step, int) { return counts(s.FailureThreshold) }},
	{"recovery_duration", "the cooldown", func(s *machine.ToolSettings) ([]Step, int) { return durations(s.RecoveryDuration) }},
	{"probe_timeout", "the probe's lease; 0: none", func(s *machine.ToolSettings) ([]Step, int) { return durations(s.ProbeTimeout) }},
	{"failure_rate", "the share of failures in the window from which on it opens", func(s *machine.ToolSettings) ([]Step, int) { return shares(s.Trip.FailureRate) }},
	{"window_failures", "the failures in the window from which on it opens", func(s *machine.ToolSettings) ([]Step, int) { return within(s.Trip.Failures, s.Trip.Window.Calls) }},
	{"minimum_calls", "results in the window below which no rate opens it", func(s *machine.ToolSettings) ([]Step, int) { return within(s.Trip.MinCalls, s.Trip.Window.Calls) }},
	{"slow_after", "a call that takes longer is slow", func(s *machine.ToolSettings) ([]Step, int) { return spans(s.Trip.SlowerThan) }},
	{"slow_rate", "the share of slow calls in the window from which on it opens", func(s *machine.ToolSettings) ([]Step, int) { return shares(s.Trip.SlowRate) }},
	{"forget_failures_after", "the count is zeroed where the last failure is longer ago", func(s *machine.ToolSettings) ([]Step, int) { return spans(s.Trip.ForgetAfter) }},
	{"probes", "probes at one time", func(s *machine.ToolSettings) ([]Step, int) { return atOnce(s.Probing.AtOnce, s.Probing.InAll) }},
	{"probe_successes", "probes that must come back before it closes", func(s *machine.ToolSettings) ([]Step, int) { return within(s.Probing.Needed, s.Probing.InAll) }},
	{"probe_failure_rate", "the share of failed probes from which on it opens", func(s *machine.ToolSettings) ([]Step, int) { return shares(s.Probing.FailureRate) }},
	{"ramp", "how long the share of calls admitted grows after closing", func(s *machine.ToolSettings) ([]Step, int) { return spans(s.Probing.Ramp) }},
	{"recovery_growth", growth, func(s *machine.ToolSettings) ([]Step, int) { return factors(s.Cooldown.Growth) }},
	{"recovery_longest", longest, func(s *machine.ToolSettings) ([]Step, int) { return spans(s.Cooldown.Longest) }},
	{"recovery_jitter", jitter, func(s *machine.ToolSettings) ([]Step, int) { return shares(s.Cooldown.Jitter) }},
}

const (
	growth  = "how many times as long the cooldown is at each further opening"
	longest = "the cooldown grows no longer than that"
	jitter  = "how far a cooldown is drawn from its length"
)

var modelSettings = []setting[machine.ModelSettings]{
	{"trip_threshold", "failed turns in a row that trip it", func(s *machine.ModelSettings) ([]Step, int) { return counts(s.TripThreshold) }},
	{"recovery_timeout", "the cooldown", func(s *machine.ModelSettings) ([]Step, int) { return durations(s.RecoveryTimeout) }},
	{"recovery_successes_needed", "probes in a row that lead back", func(s *machine.ModelSettings) ([]Step, int) { return counts(s.RecoverySuccessesNeeded) }},
	{"probation_failures", "transient failures of a probation that trip it again; 0: no limit", func(s *machine.ModelSettings) ([]Step, int) { return counts(s.ProbationFailures) }},
	{"probes", "probes at one time", func(s *machine.ModelSettings) ([]Step, int) { return atOnce(s.Probes, 0) }},
	{"probe_timeout", "how long a probe keeps its place among them", func(s *machine.ModelSettings) ([]Step, int) { return spans(s.ProbeTimeout) }},
	{"exhausted_wait", "how long a turn waits for somebody to serve it", func(s *machine.ModelSettings) ([]Step, int) { return spans(s.Wait) }},
	{"entry_cooldown", "when a spent backup is whole again", func(s *machine.ModelSettings) ([]Step, int) { return spans(s.EntryCooldown) }},
	{"recovery_growth", growth, func(s *machine.ModelSettings) ([]Step, int) { return factors(s.Cooldown.Growth) }},
	{"recovery_longest", longest, func(s *machine.ModelSettings) ([]Step, int) { return spans(s.Cooldown.Longest) }},
	{"recovery_jitter", jitter, func(s *machine.ModelSettings) ([]Step, int) { return shares(s.Cooldown.Jitter) }},
}

// knobs are those of the breakers of a scenario, which was read from the text,
// and then those that a policy sets for itself.
func knobs(s *scenarios.Scenario, text string) (all []Knob) {
	var shared []Knob
	for i := range s.Breakers {
		b := &s.Breakers[i]
		shared = append(shared, settings(b)...)
		all = append(all, settings(b)...)
		if b.Model != nil {
			all = append(all, budgets(b, text)...)
		}
	}
	other := elsewhere(shared, text)
	for i := range s.Policies {
		p := &s.Policies[i]
		for k := range p.Breakers {
			now := settings(&p.Breakers[k])
			for _, then := range settings(breakerOf(other, p.Name, k)) {
				n := slices.IndexFunc(now, func(x Knob) bool { return x.Key == then.Key })
				if n >= 0 && now[n].Steps[now[n].At] == then.Steps[then.At] { // it is not turned along
					now[n].Policy, now[n].Path = p.Name, "policies."+p.Name+"."+now[n].Path
					all = append(all, now[n])
				}
			}
		}
	}
	return all
}

// elsewhere is the scenario with every shared setting turned, or nil.
func elsewhere(shared []Knob, text string) *scenarios.Scenario {
	b := []byte(text)
	for _, k := range shared {
		var err error
		if b, err = scenarios.Set(file, b, k.Path, k.Steps[(k.At+1)%len(k.Steps)].Value); err != nil {
			return nil
		}
	}
	s, err := scenarios.Load(file, b, limits())
	if err != nil {
		return nil
	}
	return s
}

// breakerOf is the policy's breaker with that index; if there is none, one
// without settings.
func breakerOf(s *scenarios.Scenario, policy string, k int) *scenarios.Breaker {
	if s != nil {
		for i := range s.Policies {
			if p := &s.Policies[i]; p.Name == policy && k < len(p.Breakers) {
				return &p.Breakers[k]
			}
		}
	}
	return new(scenarios.Breaker)
}

// settings are the knobs of a breaker that a policy may set, too.
func settings(b *scenarios.Breaker) []Knob {
	switch {
	case b.Tool != nil:
		return turned(toolSettings, b.Tool, b.Name)
	case b.Model != nil:
		return turned(modelSettings, b.Model, b.Name)
	}
	return nil
}

func turned[S any](settings []setting[S], s *S, breaker string) (all []Knob) {
	for _, x := range settings {
		steps, at := x.steps(s)
		if len(steps) == 0 {
			continue
		}
		all = append(all, Knob{Path: "breakers." + breaker + "." + x.key, Breaker: breaker, Key: x.key, About: x.about, Steps: steps, At: at})
	}
	return all
}

// budgets are those of the backups: each has its own, or that of the breaker.
func budgets(b *scenarios.Breaker, text string) (all []Knob) {
	shared := false
	for _, backup := range b.Model.Chain {
		steps, at := counts(backup.MaxFailCount)
		k := Knob{Path: "breakers." + b.Name + ".chain." + backup.Name + ".max_fail_count", Breaker: b.Name, Key: "max_fail_count of " + backup.Name,
			About: "failed turns that the backup may have", Steps: steps, At: at}
		if _, err := scenarios.Set(file, []byte(text), k.Path, steps[at].Value); err != nil { // it is written as a mere name
			k.Path, k.Key, k.About = "breakers."+b.Name+".max_fail_count", "max_fail_count", "failed turns that a backup may have which states nothing else"
			if shared {
				continue
			}
			shared = true
		}
		all = append(all, k)
	}
	return all
}

// counts are the steps from 0 to some way beyond n.
func counts(n int) (steps []Step, at int) {
	for i := 0; i <= max(10, 2*n) && i <= 100; i++ {
		text := report.Thousands(int64(i))
		steps = append(steps, Step{text, text})
	}
	if n >= len(steps) { // more than anybody turns to
		at = len(steps)
		steps = append(steps, Step{strings.ReplaceAll(report.Thousands(int64(n)), ",", ""), report.Thousands(int64(n))})
		return steps, at
	}
	return steps, n
}

// within are the steps from 1 to some way beyond n, and to no more than most; if
// n is 0 there are none, and if most is, no bound.
func within(n, most int) ([]Step, int) {
	if n == 0 {
		return nil, 0
	}
	steps, at := counts(n)
	if steps = steps[1:]; most > 0 && len(steps) > most {
		steps = steps[:max(most, at)]
	}
	return steps, at - 1
}

// atOnce are the steps of a number of probes; where it is not bounded there are none.
func atOnce(n, most int) ([]Step, int) {
	if n == scenarios.AnyProbes {
		return nil, 0
	}
	return within(n, most)
}

// shares are the tenths, and p among them; if p is 0 there are none.
func shares(p float64) ([]Step, int) {
	return among([]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, p, func(x float64) string { return fmt.Sprintf("%.6g %%", float64(x*100)) })
}

// factors are those that something grows by, and x among them; if nothing grows
// there are none.
func factors(x float64) ([]Step, int) {
	if x == 1 {
		return nil, 0
	}
	return among([]float64{1.25, 1.5, 2, 3, 4, 5, 10}, x, func(x float64) string { return fmt.Sprintf("%.6g", x) })
}

// among are the usual steps with x among them; if x is 0 there are none.
func among(usual []float64, x float64, told func(float64) string) (steps []Step, at int) {
	if x == 0 {
		return nil, 0
	}
	at, found := slices.BinarySearch(usual, x)
	if !found {
		usual = slices.Insert(usual, at, x)
	}
	for _, x := range usual {
		steps = append(steps, Step{strconv.FormatFloat(x, 'f', -1, 64), told(x)})
	}
	return steps, at
}

// spans are the usual durations but 0, and d among them; if d is 0 there are none.
func spans(d time.Duration) ([]Step, int) {
	if d == 0 {
		return nil, 0
	}
	steps, at := durations(d)
	return steps[1:], at - 1
}

// usual are the durations that a knob stops at.
var usual = []time.Duration{
	0, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second, 45 * time.Second,
	1 * time.Minute, 90 * time.Second, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 25 * time.Minute, 30 * time.Minute,
	1 * time.Hour, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// durations are the usual ones, and d among them.
func durations(d time.Duration) (steps []Step, at int) {
	all := slices.Clone(usual)
	at, found := slices.BinarySearch(all, d)
	if !found {
		all = slices.Insert(all, at, d)
	}
	for _, x := range all {
		steps = append(steps, Step{written(x), report.Clock(x)})
	}
	return steps, at
}

// written is the duration as one writes it: 1m, not 1m0s.
func written(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
