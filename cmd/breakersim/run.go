package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

type runCmd struct {
	limits
	pictures
	Out       string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where to write: DIR/<scenario>/timeline.png and more (${default})."`
	Set       []string `sep:"none" placeholder:"PATH=VALUE" help:"Play a variant as well, and say what differs: --set breakers.search.recovery_duration=10s. Commas part several changes of one variant; each further --set is another variant."`
	Scenarios []string `arg:"" optional:"" name:"scenario" predictor:"scenario" help:"Files, directories, built-in names, or -; without any, all the built-in scenarios."`
}

// Run plays the scenarios beside each other and prints them in order.
func (c *runCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	if err := c.pictures.check(); err != nil {
		return err
	}
	names := c.Scenarios
	if len(names) == 0 {
		names = scenarios.Names()
	}
	settings, err := parseSettings(c.Set)
	if err != nil {
		return err
	}
	all, err := loadVariants(names, s.in, lim, settings)
	if err != nil {
		return err
	}
	done := make([]chan played, len(all))
	turns, slots := make(slots, runtime.GOMAXPROCS(0)), make(slots, runtime.GOMAXPROCS(0))
	for i := range all {
		done[i] = make(chan played, 1)
		go turns.do(func() { done[i] <- c.play(&all[i], s, slots, len(all) > 1) })
	}
	var failed error
	var entries []report.GalleryEntry
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
		entries = append(entries, p.entry)
	}
	if len(all) > 1 && slices.Contains(c.Format, "html") {
		if err := writeGallery(c.Out, entries); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "all of them: %s\n", filepath.Join(c.Out, "index.html"))
	}
	return failed
}

// played is what came of one scenario: what to print, and the error to end with.
type played struct {
	text  []byte
	entry report.GalleryEntry
	err   error
}

// slots bound how much is done at one time.
type slots chan struct{}

// do does one thing once there is a slot for it.
func (s slots) do(f func()) {
	s <- struct{}{}
	defer func() { <-s }()
	f()
}

// each does n things, each in a slot. The error is that of the first which
// fails, by number; those beyond one that failed may be left undone.
func (s slots) each(n int, do func(i int) error) error {
	var all sync.WaitGroup
	var lock sync.Mutex
	first, failed := n, error(nil)
	fails := func(i int, err error) (beyond bool) {
		lock.Lock()
		defer lock.Unlock()
		if err != nil && i < first {
			first, failed = i, err
		}
		return i > first
	}
	for i := range n {
		all.Go(func() {
			s.do(func() {
				if !fails(i, nil) {
					fails(i, do(i))
				}
			})
		})
	}
	all.Wait()
	return failed
}

// play plays a scenario and its variants, and writes what came of them.
func (c *runCmd) play(s *loaded, out streams, slots slots, gallery bool) played {
	dir := filepath.Join(c.Out, s.Name)
	f, err := openFolder(dir)
	defer f.discard()
	if err != nil {
		return played{err: err}
	}
	res, err := replayAll(s.Scenario, f, slots)
	if err == nil {
		err = res.replayVariants(s.variants, f, slots)
	}
	if err != nil {
		return played{err: err}
	}
	res.source = s.source
	up := ""
	if gallery {
		up = "../index.html"
	}
	var text bytes.Buffer
	var drawn []report.PagePicture
	slots.do(func() {
		if drawn, err = res.write(f, &c.pictures, up); err == nil {
			err = res.print(&text, out, f.names, dir)
		}
	})
	if err != nil {
		return played{err: err}
	}
	if err := f.commit(); err != nil {
		return played{err: err}
	}
	p := played{text: text.Bytes(), entry: res.entry(drawn)}
	if len(res.failures) > 0 {
		p.err = errExpectation
	}
	return p
}

// results are a scenario's runs under all its policies.
type results struct {
	report.Results // its panels end with those of the variants
	scenario       *scenarios.Scenario
	source         []byte // of the scenario
	failures       []replay.Failure
	whatIfs        []report.WhatIf
	alike          map[*report.History]bool // variants in which no event differs
}

// replayAll runs the scenario under each of its policies, beside each other,
// and writes the traces, if there is a folder for them. What came of them is in
// the order of the file.
func replayAll(s *scenarios.Scenario, f *folder, slots slots) (*results, error) {
	n := len(s.Policies)
	res := &results{scenario: s, Results: report.Results{Panels: make([]*report.History, n), Rows: make([]report.Row, n), Series: make([]*report.Series, n)}, alike: map[*report.History]bool{}}
	records, failures := make([]*trace.Writer, n), make([][]replay.Failure, n)
	for i := 0; i < n && f != nil; i++ {
		file, err := f.create(s.Policies[i].TraceFile())
		if err != nil {
			return nil, err
		}
		records[i] = trace.NewWriter(file)
	}
	err := slots.each(n, func(i int) (err error) {
		p, history, meter := &s.Policies[i], new(report.History), report.NewMeter()
		res.Series[i] = report.NewSeries()
		sinks := []trace.Sink{history, res.Series[i]}
		if records[i] != nil {
			sinks = append(sinks, records[i])
		}
		if failures[i], err = replayOne(s, p, meter, sinks...); err != nil {
			return err
		}
		res.Panels[i], res.Rows[i] = history, report.Row{Policy: p.Name, Cost: meter.Cost()}
		if records[i] != nil {
			err = records[i].Flush()
		}
		return err
	})
	res.failures = slices.Concat(failures...)
	return res, err
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
	if errors.Is(err, replay.ErrTooManyCalls) || errors.Is(err, replay.ErrTooManyBursts) {
		err = wrong{err}
	}
	return failures, err
}

// write makes the pictures, the tables and the page, which leads up to the gallery.
func (r *results) write(f *folder, p *pictures, up string) ([]report.PagePicture, error) {
	drawn, err := p.write(f, &r.Results)
	return drawn, errors.Join(
		err,
		f.write("cost.md", func(w io.Writer) error { return report.WriteMarkdown(w, r.Rows) }),
		f.write("cost.json", func(w io.Writer) error { return report.WriteJSON(w, r.Rows) }),
		f.write("cost.csv", func(w io.Writer) error { return report.WriteCSV(w, r.Rows) }),
		f.write("series.csv", func(w io.Writer) error { return report.WriteSeries(w, r.Series) }),
		r.writeWhatIf(f),
		r.writePage(f, p, drawn, up),
	)
}

// print tells the scenario in the terminal.
func (r *results) print(w io.Writer, s streams, files []string, dir string) error {
	o := s.options()
	if err := report.WriteTitle(w, r.scenario.Title, o); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := r.printTimeline(w, o); err != nil {
		return err
	}
	fmt.Fprintln(w)
	if err := report.WriteTable(w, r.Rows, o); err != nil {
		return err
	}
	for i := range r.whatIfs {
		fmt.Fprintln(w)
		if err := report.WriteWhatIf(w, &r.whatIfs[i], o); err != nil {
			return err
		}
	}
	r.printFailures(w, o)
	fmt.Fprintf(w, "\nwritten to %s:\n", o.Text(dir))
	line := ""
	for _, name := range files {
		if line != "" && len(line)+2+len(name) > s.width {
			fmt.Fprintln(w, line)
			line = ""
		}
		line += "  " + o.Text(name)
	}
	fmt.Fprint(w, line, "\n\n")
	return nil
}

// printFailures tells which expectations did not hold. Those are not wrapped:
// people search for them.
func (r *results) printFailures(w io.Writer, o report.TerminalOptions) {
	for i, x := range r.failures {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, o.Text(fmt.Sprintf("%s:%d: under %s: %s", r.scenario.File, x.Line, x.Policy, x.Message)))
		for _, e := range x.Around {
			fmt.Fprintln(w, "    "+o.Text(e))
		}
	}
}

// printTimeline draws and tells every run in which anything differs.
func (r *results) printTimeline(w io.Writer, o report.TerminalOptions) error {
	panels := slices.DeleteFunc(slices.Clone(r.Panels), func(h *report.History) bool { return r.alike[h] })
	if err := report.WriteTerminal(w, panels, o); err != nil {
		return err
	}
	return report.WriteMoments(w, panels, o)
}
