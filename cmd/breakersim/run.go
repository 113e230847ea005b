package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

type runCmd struct {
	limits
	Out       string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where to write: DIR/<scenario>/timeline.png and more (${default})."`
	Scenarios []string `arg:"" optional:"" name:"scenario" predictor:"scenario" help:"Files, directories, built-in names, or -; without any, all the built-in scenarios."`
}

// reasonsShown is how many transitions are told for each policy.
const reasonsShown = 20

// Run plays the scenarios beside each other and prints them in order.
func (c *runCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	names := c.Scenarios
	if len(names) == 0 {
		names = scenarios.Names()
	}
	all, err := load(names, s.in, lim)
	if err != nil {
		return err
	}
	done := make([]chan played, len(all))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range all {
		done[i] = make(chan played, 1)
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			done[i] <- c.play(all[i], s)
		}()
	}
	var failed error
	for _, d := range done {
		p := <-d
		if _, err := s.out.Write(p.text); err != nil {
			return err
		}
		switch {
		case p.err != nil && !errors.Is(p.err, errExpectation):
			return p.err
		case p.err != nil:
			failed = p.err
		}
	}
	return failed
}

// played is what came of one scenario: what to print, and the error to end with.
type played struct {
	text []byte
	err  error
}

func (c *runCmd) play(s *scenarios.Scenario, out streams) played {
	dir := filepath.Join(c.Out, s.Name)
	f, err := openFolder(dir)
	defer f.discard()
	if err != nil {
		return played{err: err}
	}
	res, err := replayAll(s, f)
	if err != nil {
		return played{err: err}
	}
	if err := res.write(f); err != nil {
		return played{err: err}
	}
	var text bytes.Buffer
	if err := res.print(&text, out, f.names, dir); err != nil {
		return played{err: err}
	}
	if err := f.commit(); err != nil {
		return played{err: err}
	}
	p := played{text: text.Bytes()}
	if len(res.failures) > 0 {
		p.err = errExpectation
	}
	return p
}

// results are a scenario's runs under all its policies.
type results struct {
	scenario *scenarios.Scenario
	panels   []*report.History
	rows     []report.Row
	failures []replay.Failure
}

// replayAll runs the scenario under each of its policies, and writes the traces.
func replayAll(s *scenarios.Scenario, f *folder) (*results, error) {
	res := &results{scenario: s}
	for i := range s.Policies {
		p := &s.Policies[i]
		w, err := f.create(p.TraceFile())
		if err != nil {
			return nil, err
		}
		record := trace.NewWriter(w)
		history, meter := new(report.History), report.NewMeter()
		failures, err := replayOne(s, p, meter, record, history)
		if err != nil {
			return nil, err
		}
		if err := record.Flush(); err != nil {
			return nil, err
		}
		res.panels = append(res.panels, history)
		res.rows = append(res.rows, report.Row{Policy: p.Name, Cost: meter.Cost()})
		res.failures = append(res.failures, failures...)
	}
	return res, nil
}

// replayOne runs one policy. Every run is validated while it goes: a trace that
// breaks its own rules is a fault of ours, and is never drawn.
func replayOne(s *scenarios.Scenario, p *scenarios.Policy, meter *report.Meter, sinks ...trace.Sink) ([]replay.Failure, error) {
	check := new(trace.Validator)
	metric := func(name string) (float64, bool) {
		cost := meter.Cost()
		return cost.Metric(name)
	}
	failures, err := replay.Run(s, p, replay.Options{Sinks: append([]trace.Sink{check, meter}, sinks...), Metric: metric})
	if err == nil {
		err = check.Done()
	}
	if errors.Is(err, replay.ErrTooManyCalls) {
		err = wrong{err}
	}
	return failures, err
}

// write makes the pictures and the table.
func (r *results) write(f *folder) error {
	picture := &report.Timeline{Panels: r.panels}
	return errors.Join(
		f.write("timeline.svg", picture.WriteSVG),
		f.write("timeline.png", picture.WritePNG),
		f.write("cost.md", func(w io.Writer) error { return report.WriteMarkdown(w, r.rows) }),
		f.write("cost.json", func(w io.Writer) error { return report.WriteJSON(w, r.rows) }),
	)
}

// print tells the scenario in the terminal.
func (r *results) print(w io.Writer, s streams, files []string, dir string) error {
	fmt.Fprintf(w, "%s\n", r.scenario.Title)
	if err := report.WriteTerminal(w, r.panels, report.TerminalOptions{Width: s.width, Color: s.color}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := report.WriteTable(w, r.rows, s.width); err != nil {
		return err
	}
	for _, h := range r.panels {
		if len(h.Moments) == 0 {
			continue
		}
		if len(r.panels) > 1 {
			fmt.Fprintf(w, "\nunder %s:\n", h.Run.Policy)
		} else {
			fmt.Fprintln(w)
		}
		if err := report.WriteReasons(w, h, reasonsShown); err != nil {
			return err
		}
	}
	for _, x := range r.failures {
		fmt.Fprintf(w, "%s:%d: under %s: %s\n", r.scenario.File, x.Line, x.Policy, x.Message)
		for _, e := range x.Around {
			fmt.Fprintf(w, "    %s\n", e)
		}
	}
	fmt.Fprintf(w, "\nwritten to %s:", dir)
	for _, name := range files {
		fmt.Fprintf(w, " %s", name)
	}
	fmt.Fprint(w, "\n\n")
	return nil
}
