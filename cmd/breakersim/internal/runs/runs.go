// Package runs plays scenarios and measures what comes of them: for the program,
// which writes it into files, and for the playground, which shows it in a page.
// It has no side effects.
package runs

import (
	"slices"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// Runs are a scenario's runs under all its policies, in the order of the file.
type Runs struct {
	report.Results
	Scenario *scenarios.Scenario
	Failures []replay.Failure // of what the scenario expects
}

// Each does n things, beside each other or not. The error is that of the first
// which fails, by number.
type Each func(n int, do func(i int) error) error

// InTurn does one thing after the other.
func InTurn(n int, do func(i int) error) error {
	for i := range n {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
}

// All plays the scenario under each of its policies. The events of policy i also
// go to sinks[i], if there is one.
func All(s *scenarios.Scenario, each Each, sinks ...trace.Sink) (*Runs, error) {
	n := len(s.Policies)
	r := &Runs{Scenario: s, Results: report.Results{Panels: make([]*report.History, n), Rows: make([]report.Row, n), Series: make([]*report.Series, n)}}
	failures := make([][]replay.Failure, n)
	err := each(n, func(i int) (err error) {
		p, history, meter, series := &s.Policies[i], new(report.History), report.NewMeter(), report.NewSeries()
		all := []trace.Sink{history, series}
		if i < len(sinks) {
			all = append(all, sinks[i])
		}
		failures[i], err = One(s, p, meter, all...)
		r.Panels[i], r.Rows[i], r.Series[i] = history, report.Row{Policy: p.Name, Cost: meter.Cost()}, series
		return err
	})
	r.Failures = slices.Concat(failures...)
	return r, err
}

// One plays one policy, and says which expectations did not hold. Every run is
// validated while it goes: a trace that breaks its own rules is a fault of ours,
// and is never drawn.
func One(s *scenarios.Scenario, p *scenarios.Policy, meter *report.Meter, sinks ...trace.Sink) ([]replay.Failure, error) {
	check := new(trace.Validator)
	metric := func(name string) (float64, bool) {
		cost := meter.Cost()
		return cost.Metric(name)
	}
	failures, err := replay.Run(s, p, replay.Options{Sinks: append([]trace.Sink{check, meter}, sinks...), Metric: metric})
	if err == nil {
		err = check.Done()
	}
	return failures, err
}
