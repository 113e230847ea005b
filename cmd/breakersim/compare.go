package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/runs"
	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

type compareCmd struct {
	limits
	pictures
	Out         string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where to write: DIR/compare/<scenario>/timeline.png and more (${default})."`
	Breakers    []string `predictor:"breaker" placeholder:"LIST" help:"Whose breakers, of ${breakers} and their variants; +lease after a name puts our lease around it (those named here)."`
	Conformance bool     `help:"Hold them against each rule of ours instead, and write a matrix: DIR/compare/README.md and more."`
	Policy      string   `placeholder:"NAME" help:"The policy in which others stand in for the tool breakers (the first that has one)."`
	Scenarios   []string `arg:"" optional:"" name:"scenario" predictor:"scenario" help:"Files, directories, built-in names, or -; without any, all the built-in scenarios with a tool breaker."`
}

// Run plays one scenario after another, each under all breakers beside each
// other, and prints them in order. One is drawn while the next is played.
func (c *compareCmd) Run(s streams) error {
	if c.Conformance {
		if len(c.Scenarios) > 0 || c.Policy != "" {
			return wrong{errors.New("--conformance has scenarios of its own; leave out those that are given, and --policy")}
		}
		return conformance(c.Breakers, c.Out, s)
	}
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	if err := c.pictures.check(); err != nil {
		return err
	}
	x := &comparison{limits: lim, slots: make(slots, runtime.GOMAXPROCS(0))}
	if err := x.choose(c.Breakers); err != nil {
		return err
	}
	defer x.close()
	all, err := c.matches(s.in, lim)
	if err != nil {
		return err
	}
	done := make([]chan played, len(all))
	for i := range done {
		done[i] = make(chan played, 1)
	}
	up := ""
	if len(all) > 1 {
		up = "../" + comparedGallery
	}
	var playing sync.WaitGroup
	stop := make(chan struct{})
	defer playing.Wait()
	defer close(stop)
	playing.Go(func() {
		for i := range all {
			select {
			case <-stop: // one before failed
				return
			default:
				c.play(x, &all[i], s, up, done[i])
			}
		}
	})
	return c.pictures.gather(s.out, filepath.Join(c.Out, "compare", comparedGallery), done)
}

// comparedGallery is the page that leads to those of several scenarios; index.html
// there is the matrix.
const comparedGallery = "scenarios.html"

// match is a scenario and the policy under which it is played.
type match struct {
	loaded
	policy *scenarios.Policy // nil: none has a tool breaker
}

// matches are the scenarios that are asked for.
func (c *compareCmd) matches(in io.Reader, lim scenarios.Limits) ([]match, error) {
	names := c.Scenarios
	if len(names) == 0 {
		names = scenarios.Names()
	}
	all, err := loadVariants(names, in, lim, nil)
	if err != nil {
		return nil, err
	}
	var matches []match
	var faults []error
	for _, s := range all {
		x := match{loaded: s}
		if i := slices.IndexFunc(s.Policies, hasTool); i >= 0 {
			x.policy = &s.Policies[i]
		}
		if c.Policy != "" {
			x.policy, err = policy(s.Scenario, c.Policy)
			faults = append(faults, err)
		}
		if x.policy != nil || len(c.Scenarios) > 0 {
			matches = append(matches, x)
		}
	}
	return matches, errors.Join(faults...)
}

func hasTool(p scenarios.Policy) bool {
	return slices.ContainsFunc(p.Breakers, func(b scenarios.Breaker) bool { return b.Tool != nil })
}

// play plays a scenario, and tells done once what came of it is written.
func (c *compareCmd) play(x *comparison, s *match, out streams, up string, done chan<- played) {
	f, err := openFolder(filepath.Join(c.Out, "compare", s.Name))
	var res *results
	if err == nil {
		res, err = x.replay(s, f)
	}
	if err != nil {
		f.discard()
		done <- played{err: err}
		return
	}
	go func() {
		defer f.discard()
		done <- res.publish(f, &c.pictures, out, x.slots, up)
	}()
}

// breakerNames are all that --breakers takes but for +lease; mainBreakers are
// what it is without being given.
func breakerNames() []string { return namesOf(func(*foreign.Library) bool { return true }) }
func mainBreakers() []string { return namesOf(func(l *foreign.Library) bool { return l.Of == "" }) }

func namesOf(which func(l *foreign.Library) bool) []string {
	names := []string{ourOwn}
	for i := range foreign.Libraries {
		if l := &foreign.Libraries[i]; which(l) {
			names = append(names, l.Name)
		}
	}
	return names
}

// comparison is who is compared.
type comparison struct {
	limits scenarios.Limits
	slots  slots
	ours   bool // ours are among them
	rivals []*rival
}

// rival is a library with the child in which its breakers run.
type rival struct {
	foreign.Library
	child abroad
}

// choose takes the names of breakers.
func (x *comparison) choose(names []string) error {
	if len(names) == 0 {
		names = mainBreakers()
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return wrong{fmt.Errorf("--breakers: %s is there twice", name)}
		}
		if name == ourOwn {
			x.ours = true
			continue
		}
		plain := strings.TrimSuffix(name, foreign.WithLease)
		if err := known("--breakers", "breaker", []string{plain}, breakerNames()); err != nil {
			return err
		}
		l, err := foreign.Lookup(name)
		if err != nil { // ours+lease
			return wrong{fmt.Errorf("--breakers: %w", err)}
		}
		x.rivals = append(x.rivals, &rival{Library: l})
	}
	if len(x.rivals) == 0 {
		return wrong{fmt.Errorf("--breakers: ours alone are compared with nothing; write some of %s as well", strings.Join(breakerNames()[1:], ","))}
	}
	return nil
}

// close ends the children.
func (x *comparison) close() {
	for _, r := range x.rivals {
		_ = r.child.close() // it has played all it had to
	}
}

// replay plays the scenario under ours and then under the others beside each
// other. The error is unplayed where none of those could play it.
func (x *comparison) replay(s *match, f *folder) (*results, error) {
	if s.policy == nil {
		return nil, unplayed{s.Name + ": no policy has a tool breaker in whose place another could stand"}
	}
	first, err := x.record(f, ourOwn, x.ours)
	if err != nil {
		return nil, err
	}
	deeds := report.NewDeeds(first.history)
	unexpected := *s.Scenario
	unexpected.Expect = nil // that is of ours
	if _, err := replayOne(&unexpected, s.policy, first.meter, append(first.sinks(), deeds)...); err != nil {
		return nil, err
	}
	retitle(first.history, ourOwn, "")
	res := &results{Runs: runs.Runs{Scenario: &unexpected}, source: s.source, compared: make([]report.Compared, len(x.rivals))}
	runs := []*recorded{first}
	for _, r := range x.rivals {
		run, err := x.record(f, r.Name, true)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	err = x.slots.each(len(x.rivals), func(i int) (err error) {
		res.compared[i], err = x.rivals[i].play(s, x.limits, runs[i+1], deeds.Beside())
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, res.take(s, f, runs, x.ours)
}

// record makes place for a run, and for its trace if that is kept.
func (x *comparison) record(f *folder, name string, keep bool) (*recorded, error) {
	if !keep {
		f = nil
	}
	return record(f, &scenarios.Policy{Name: name})
}

// play plays the scenario in the child. An error is of ours; what the library
// does is told.
func (r *rival) play(s *match, lim scenarios.Limits, run *recorded, beside *report.Beside) (report.Compared, error) {
	c := report.Compared{Name: r.Name, Module: r.Module, Version: r.Version, Note: r.Note, Claims: r.Claims, Cannot: r.cannot(s.policy), Differences: []report.Difference{}}
	check := new(trace.Validator)
	job := &bubbleJob{File: s.File, Source: s.source, Limits: lim, Policy: s.policy.Name, Breaker: r.Name}
	err := r.child.play(job, append([]trace.Sink{check, run.meter, beside}, run.sinks()...)...)
	var theirs abroadError
	switch {
	case errors.As(err, &theirs):
		c.Failed = theirs.Error()
		return c, nil
	case err == nil:
		err = check.Done()
	}
	if err != nil {
		return c, fmt.Errorf("%s under %s: %w", s.Name, r.Name, err)
	}
	run.history.Differences = beside.Differences()
	c.Differences = append(c.Differences, run.history.Differences...)
	retitle(run.history, r.Name, inShort(&c))
	return c, nil
}

// cannot lists what the library cannot express of the policy's tool breakers.
func (r *rival) cannot(p *scenarios.Policy) []string {
	all := []string{}
	for i := range p.Breakers {
		if b := &p.Breakers[i]; b.Tool != nil {
			for _, c := range r.Cannot(plainSettings(b.Tool)) {
				if !slices.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// inShort is what the breaker cannot express, for a heading; that there is no lease
// is one of the settings.
func inShort(c *report.Compared) string {
	var all []string
	for _, clause := range c.Cannot {
		clause, _, _ = strings.Cut(clause, ":")
		clause, _, _ = strings.Cut(clause, ";")
		if clause != "no lease" {
			all = append(all, clause)
		}
	}
	return strings.Join(all, ", ")
}

// take keeps the runs of those that could play the scenario.
func (r *results) take(s *match, f *folder, runs []*recorded, withOurs bool) error {
	if withOurs {
		if err := r.add(runs[0]); err != nil {
			return err
		}
	}
	var reasons []string
	who := map[string][]string{}
	for i, run := range runs[1:] {
		if why := r.compared[i].Failed; why != "" {
			if run.trace != nil {
				f.drop(run.file)
			}
			if who[why] == nil {
				reasons = append(reasons, why)
			}
			who[why] = append(who[why], r.compared[i].Name)
			continue
		}
		if err := r.add(run); err != nil {
			return err
		}
	}
	if len(r.Panels) > 1 || !withOurs && len(r.Panels) > 0 {
		return nil
	}
	for i, why := range reasons {
		reasons[i] = fmt.Sprintf("%s under %s: %s", s.Name, strings.Join(who[why], ", "), why)
	}
	return unplayed{strings.Join(reasons, "\n")}
}

// unplayed says why none but ours could play a scenario.
type unplayed struct{ string }

func (u unplayed) Error() string { return u.string }

// writeCompared writes where others depart from ours, where any were played.
func (r *results) writeCompared(f *folder) error {
	if len(r.compared) == 0 {
		return nil
	}
	return f.write("departures.json", func(w io.Writer) error { return report.WriteComparedJSON(w, r.compared) })
}

// printCompared tells it in the terminal.
func (r *results) printCompared(w io.Writer, o report.TerminalOptions) error {
	if len(r.compared) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return report.WriteCompared(w, r.compared, r.Panels[0].Clock, o)
}
