package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/runs"
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
	return c.pictures.gather(s.out, filepath.Join(c.Out, "index.html"), done)
}

// gather prints what came of the scenarios, in their order, and writes the page
// that leads to them where there are several.
func (p *pictures) gather(out io.Writer, gallery string, done []chan played) error {
	var failed error
	var skipped []error
	var entries []report.GalleryEntry
	for _, d := range done {
		p := <-d
		if _, err := out.Write(p.text); err != nil {
			return err
		}
		switch {
		case errors.As(p.err, new(unplayed)):
			skipped = append(skipped, p.err)
			continue
		case p.err != nil && !errors.Is(p.err, errExpectation):
			return p.err
		case p.err != nil:
			failed = p.err
		}
		entries = append(entries, p.entry)
	}
	if len(skipped) > 0 {
		if err := errors.Join(skipped...); len(entries) == 0 {
			return wrong{err}
		}
		fmt.Fprintf(out, "not played:\n%v\n", errors.Join(skipped...))
	}
	if len(done) > 1 && slices.Contains(p.Format, "html") {
		if err := writeGallery(gallery, entries); err != nil {
			return err
		}
		fmt.Fprintf(out, "all of them: %s\n", gallery)
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
	f, err := openFolder(filepath.Join(c.Out, s.Name))
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
	return res.publish(f, &c.pictures, out, slots, up)
}

// publish writes what came of a scenario, whose page leads up to the gallery, and says
// what to print of it.
func (r *results) publish(f *folder, p *pictures, out streams, slots slots, up string) played {
	var text bytes.Buffer
	var drawn []report.PagePicture
	var err error
	slots.do(func() {
		if drawn, err = r.write(f, p, up); err == nil {
			err = r.print(&text, out, f.names, f.dir)
		}
	})
	if err == nil {
		err = f.commit()
	}
	done := played{text: text.Bytes(), entry: r.entry(drawn), err: err}
	if err == nil && len(r.Failures) > 0 {
		done.err = errExpectation
	}
	return done
}

// results are a scenario's runs under all its policies.
type results struct {
	runs.Runs        // its panels end with those of the variants
	source    []byte // of the scenario
	whatIfs   []report.WhatIf
	alike     map[*report.History]bool // variants in which no event differs
	compared  []report.Compared        // breakers of others
}

// replayAll runs the scenario under each of its policies, beside each other,
// and writes the traces, if there is a folder for them.
func replayAll(s *scenarios.Scenario, f *folder, slots slots) (*results, error) {
	var records []*trace.Writer
	var sinks []trace.Sink
	for i := 0; i < len(s.Policies) && f != nil; i++ {
		file, err := f.create(s.Policies[i].TraceFile())
		if err != nil {
			return nil, err
		}
		w := trace.NewWriter(file)
		records, sinks = append(records, w), append(sinks, w)
	}
	r, err := runs.All(s, slots.each, sinks...)
	for _, w := range records {
		err = cmp.Or(err, w.Flush())
	}
	return &results{Runs: *r, alike: map[*report.History]bool{}}, blamed(err)
}

// recorded is a run with all that is gathered of it.
type recorded struct {
	history *report.History
	meter   *report.Meter
	series  *report.Series
	file    string        // of the trace; empty: it is not kept
	trace   *trace.Writer // nil if it is not
}

// record makes ready to gather a run, and keeps its trace if there is a folder.
func record(f *folder, p *scenarios.Policy) (*recorded, error) {
	r := &recorded{history: new(report.History), meter: report.NewMeter(), series: report.NewSeries()}
	if f == nil {
		return r, nil
	}
	r.file = p.TraceFile()
	w, err := f.create(r.file)
	r.trace = trace.NewWriter(w)
	return r, err
}

// sinks are all but the meter.
func (r *recorded) sinks() []trace.Sink {
	sinks := []trace.Sink{r.history, r.series}
	if r.trace != nil {
		sinks = append(sinks, r.trace)
	}
	return sinks
}

// add takes a run that is over, the next in order.
func (r *results) add(run *recorded) error {
	r.Panels = append(r.Panels, run.history)
	r.Rows = append(r.Rows, report.Row{Policy: run.history.Run.Policy, Cost: run.meter.Cost()})
	r.Series = append(r.Series, run.series)
	if run.trace == nil {
		return nil
	}
	return run.trace.Flush()
}

// replayOne runs one policy.
func replayOne(s *scenarios.Scenario, p *scenarios.Policy, meter *report.Meter, sinks ...trace.Sink) ([]replay.Failure, error) {
	failures, err := runs.One(s, p, meter, sinks...)
	return failures, blamed(err)
}

// blamed says that the file is to blame for a run without end, not the program.
func blamed(err error) error {
	if errors.Is(err, replay.ErrTooManyCalls) || errors.Is(err, replay.ErrTooManyBursts) {
		return wrong{err}
	}
	return err
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
		r.writeCompared(f),
		r.writePage(f, p, drawn, up),
	)
}

// print tells the scenario in the terminal.
func (r *results) print(w io.Writer, s streams, files []string, dir string) error {
	o := s.options()
	if err := report.WriteTitle(w, r.Scenario.Title, o); err != nil {
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
	if err := r.printCompared(w, o); err != nil {
		return err
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
	for i, x := range r.Failures {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, o.Text(fmt.Sprintf("%s:%d: under %s: %s", r.Scenario.File, x.Line, x.Policy, x.Message)))
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
