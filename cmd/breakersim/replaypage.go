package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

type pageCmd struct {
	limits
	Out      string   `short:"o" required:"" placeholder:"FILE" help:"The file to write, such as outage.html."`
	Policy   []string `placeholder:"LIST" help:"The scenario's policies to show beside each other (all)."`
	Theme    string   `placeholder:"NAME" help:"light, dark or print (light, and dark where the reader prefers that)."`
	Scenario string   `arg:"" predictor:"scenario" help:"A file, a built-in name, or -."`
}

// Run plays the scenario and writes one file in which to step through it.
func (c *pageCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	sc, err := loadOne(c.Scenario, s.in, lim)
	if err != nil {
		return err
	}
	policies, err := policiesNamed(sc, c.Policy)
	if err != nil {
		return err
	}
	page := &report.ReplayPage{Title: titleOf(sc), About: sc.About, Theme: c.Theme}
	if page.Runs, err = stepsOf(sc, policies); err != nil {
		return err
	}
	return c.write(s, page)
}

// check refuses what is known to be wrong before anything is played.
func (c *pageCmd) check() error {
	look := report.Look{Theme: c.Theme}
	if err := look.Check(); err != nil {
		return wrong{err}
	}
	if info, err := os.Stat(c.Out); err == nil && info.IsDir() {
		return wrong{fmt.Errorf("-o %s is a directory; name a file in it, such as %s", c.Out, filepath.Join(c.Out, "page.html"))}
	}
	return nil
}

// policiesNamed are the policies of those names, in the scenario's order; of no
// names all.
func policiesNamed(sc *scenarios.Scenario, names []string) (all []*scenarios.Policy, err error) {
	for _, name := range names {
		if _, err := policy(sc, name); err != nil {
			return nil, err
		}
	}
	for i := range sc.Policies {
		if p := &sc.Policies[i]; len(names) == 0 || slices.Contains(names, p.Name) {
			all = append(all, p)
		}
	}
	return all, nil
}

// titleOf is the scenario's title or, if it has none, its name.
func titleOf(sc *scenarios.Scenario) string {
	if sc.Title == "" {
		return sc.Name
	}
	return sc.Title
}

// stepsOf plays the scenario under the policies, beside each other.
func stepsOf(sc *scenarios.Scenario, policies []*scenarios.Policy) ([]*report.Steps, error) {
	all := make([]*report.Steps, len(policies))
	err := make(slots, runtime.GOMAXPROCS(0)).each(len(policies), func(i int) error {
		all[i] = &report.Steps{Most: report.MostSteps}
		_, err := replayOne(sc, policies[i], report.NewMeter(), all[i])
		return err
	})
	n := 0
	for _, s := range all {
		if s != nil {
			n += len(s.All)
		}
	}
	if errors.Is(err, report.ErrTooManySteps) || err == nil && n > report.MostSteps {
		err = wrong{fmt.Errorf("%s has more events than the %s that a page holds; make it shorter, or choose some of its policies with --policy", sc.Name, report.Thousands(report.MostSteps))}
	}
	return all, err
}

// write makes the file, and says how large it is.
func (c *pageCmd) write(s streams, page *report.ReplayPage) error {
	f, err := openFolder(filepath.Dir(c.Out))
	defer f.discard()
	if err != nil {
		return err
	}
	if err := f.write(filepath.Base(c.Out), page.WriteHTML); err != nil {
		return err
	}
	if err := f.commit(); err != nil {
		return err
	}
	size := int64(0)
	if info, err := fs.Stat(os.DirFS(filepath.Dir(c.Out)), filepath.Base(c.Out)); err == nil {
		size = info.Size()
	}
	o := s.options()
	_, err = fmt.Fprintf(s.out, "written to %s: %s events, %s KiB\n", o.Text(c.Out), report.Thousands(int64(page.Steps())), report.Thousands((size+1023)>>10))
	return err
}
