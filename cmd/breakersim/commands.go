package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

type traceCmd struct {
	limits
	Policy   string `placeholder:"NAME" help:"One of the scenario's policies (the first)."`
	Format   string `enum:"jsonl,text" default:"jsonl" help:"jsonl or text (${default})."`
	Scenario string `arg:"" predictor:"scenario" help:"A file, a built-in name, or -."`
}

// Run prints the trace as it is made: nothing is kept.
func (c *traceCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	sc, err := loadOne(c.Scenario, s.in, lim)
	if err != nil {
		return err
	}
	p, err := policy(sc, c.Policy)
	if err != nil {
		return err
	}
	w := trace.NewWriter(s.out)
	if c.Format == "text" {
		w = trace.NewTextWriter(s.out)
	}
	if _, err := replayOne(sc, p, report.NewMeter(), w); err != nil {
		return err
	}
	return w.Flush()
}

// policy finds one of the scenario's policies by name; the empty name is the first.
func policy(s *scenarios.Scenario, name string) (*scenarios.Policy, error) {
	var names []string
	for i := range s.Policies {
		if name == "" || s.Policies[i].Name == name {
			return &s.Policies[i], nil
		}
		names = append(names, s.Policies[i].Name)
	}
	return nil, wrong{fmt.Errorf("the scenario %s has no policy %q; %s", s.Name, name, meant(name, names, fmt.Sprintf("it has %q", names)))}
}

type testCmd struct {
	limits
	Format    string   `enum:"text,tap,junit" default:"text" help:"text, tap or junit (${default})."`
	Scenarios []string `arg:"" name:"scenario" predictor:"scenario" help:"Files, directories, built-in names, or -."`
}

// Run checks every scenario under each of its policies.
func (c *testCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	all, err := load(c.Scenarios, s.in, lim)
	if err != nil {
		return err
	}
	var checks []tested
	var policies []*scenarios.Policy
	for _, sc := range all {
		for i := range sc.Policies {
			p := &sc.Policies[i]
			policies = append(policies, p)
			checks = append(checks, tested{sc, p.Name, replay.Expectations(sc, p), nil})
		}
	}
	err = make(slots, runtime.GOMAXPROCS(0)).each(len(checks), func(i int) (err error) {
		checks[i].failures, err = replayOne(checks[i].scenario, policies[i], report.NewMeter())
		return err
	})
	if err != nil {
		return err
	}
	failed := slices.ContainsFunc(checks, func(c tested) bool { return len(c.failures) > 0 })
	if err := writeChecks(s.out, c.Format, checks); err != nil {
		return err
	}
	if failed {
		return errExpectation
	}
	return nil
}

type listCmd struct{}

// Run prints name and title of each built-in scenario.
func (listCmd) Run(s streams) error {
	longest := 0
	for _, name := range scenarios.Names() {
		longest = max(longest, len(name))
	}
	for _, name := range scenarios.Names() {
		sc, err := loadOne(name, s.in, scenarios.DefaultLimits())
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.out, "%-*s  %s\n", longest, name, sc.Title); err != nil {
			return err
		}
	}
	return nil
}

type showCmd struct {
	Sweep bool   `help:"A built-in sweep, not a scenario."`
	Name  string `arg:"" predictor:"builtin" help:"A built-in scenario, or with --sweep a sweep."`
}

// Run prints the file as it is.
func (c *showCmd) Run(s streams) error {
	src, ok := scenarios.Source(c.Name)
	if c.Sweep {
		if src, ok = scenarios.SweepSource(c.Name); !ok {
			return wrong{fmt.Errorf("no built-in sweep is named %q; %s", c.Name, meant(c.Name, scenarios.SweepNames(), "they are "+strings.Join(scenarios.SweepNames(), ", ")))}
		}
	}
	if !ok {
		return wrong{unknownName(c.Name)}
	}
	_, err := s.out.Write(src)
	return err
}

type schemaCmd struct {
	Sweep bool `help:"That of sweep files."`
}

// Run prints the schema, for editors.
func (c schemaCmd) Run(s streams) error {
	schema := scenarios.Schema
	if c.Sweep {
		schema = scenarios.SweepSchema
	}
	_, err := s.out.Write(schema())
	return err
}
