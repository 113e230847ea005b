package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// setting is one --set: what a variant has otherwise.
type setting struct {
	text        string // as it was given
	assignments []assignment
}

type assignment struct{ path, value string }

// parseSettings reads the flags. A comma outside of brackets and quotes parts
// two assignments of one variant.
func parseSettings(flags []string) ([]setting, error) {
	var all []setting
	for _, text := range flags {
		s := setting{text: text}
		for _, part := range parted(text) {
			path, value, ok := strings.Cut(part, "=")
			if !ok {
				return nil, wrong{fmt.Errorf("--set %s: %q has no value; write it like breakers.search.recovery_duration=10s, and quote a value that has a comma", text, part)}
			}
			s.assignments = append(s.assignments, assignment{strings.TrimSpace(path), value})
		}
		all = append(all, s)
	}
	return all, nil
}

// parted splits text at its commas outside of brackets and quotes.
func parted(text string) []string {
	var parts []string
	from, depth := 0, 0
	quote, before := rune(0), '=' // before: the last character that is not blank
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '\'' || c == '"') && strings.ContainsRune("=[{,:", before): // not the one of isn't
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
		if c != ' ' {
			before = c
		}
	}
	return append(parts, text[from:])
}

// variant is a scenario with other settings.
type variant struct {
	*scenarios.Scenario
	set string
}

// vary makes the variant of a scenario, which came from src.
func (s *setting) vary(original *scenarios.Scenario, src []byte, lim scenarios.Limits) (variant, error) {
	file := original.File + " with --set " + s.text
	src, err := s.change(original.File, src)
	if err != nil {
		return variant{}, err
	}
	changed, err := scenarios.Load(file, src, lim)
	if err != nil {
		return variant{}, err
	}
	if changed.Name != original.Name {
		return variant{}, wrong{fmt.Errorf("%s: --set %s changes the scenario's id; a variant is of the same scenario", original.File, s.text)}
	}
	return variant{changed, s.text}, nil
}

// change gives the text of a scenario file with the other settings.
func (s *setting) change(file string, src []byte) ([]byte, error) {
	var faults *scenarios.Faults
	for _, a := range s.assignments {
		changed, err := scenarios.Set(file+" with --set "+s.text, src, a.path, a.value)
		switch {
		case errors.As(err, &faults):
			return nil, err
		case err != nil:
			return nil, wrong{fmt.Errorf("%s: --set %w", file, err)}
		}
		src = changed
	}
	return src, nil
}

// changedRun is what came of one variant under one of its policies.
type changedRun struct {
	variant  *variant
	policy   *scenarios.Policy
	original int // the index of the policy of that name in the original, or -1
	history  *report.History
	series   *report.Series
	cost     report.Cost
	first    *report.Departure
	failures []replay.Failure
}

// replayVariants plays every variant under each of its policies, beside each
// other. Each reads the trace along that the original left under the policy.
func (r *results) replayVariants(variants []variant, f *folder, s slots) error {
	var runs []*changedRun
	for i := range variants {
		v := &variants[i]
		for k := range v.Policies {
			p := &v.Policies[k]
			original := slices.IndexFunc(r.Rows, func(row report.Row) bool { return row.Policy == p.Name })
			runs = append(runs, &changedRun{variant: v, policy: p, original: original})
		}
	}
	if err := s.each(len(runs), func(i int) error { return runs[i].replay(r.Scenario, f) }); err != nil {
		return err
	}
	for i := range variants {
		own := slices.DeleteFunc(slices.Clone(runs), func(c *changedRun) bool { return c.variant != &variants[i] })
		r.whatIfs = append(r.whatIfs, r.compare(&variants[i], own))
		for _, c := range own {
			r.Panels = append(r.Panels, c.history)
			r.Variants = append(r.Variants, report.Variant{Row: report.Row{Policy: c.policy.Name, Cost: c.cost}, Series: c.series})
			if c.first == nil && c.original >= 0 {
				r.alike[c.history] = true
			}
		}
	}
	return nil
}

func (c *changedRun) replay(original *scenarios.Scenario, f *folder) error {
	c.history, c.series = new(report.History), report.NewSeries()
	meter, sinks := report.NewMeter(), []trace.Sink{c.history, c.series}
	var along *report.Along
	if c.original >= 0 {
		record, err := f.open(original.Policies[c.original].TraceFile())
		if err != nil {
			return err
		}
		defer record.Close()
		along = report.NewAlong(record)
		sinks = append(sinks, along)
	}
	var err error
	if c.failures, err = replayOne(c.variant.Scenario, c.policy, meter, sinks...); err != nil {
		return err
	}
	if along != nil {
		c.first = along.First()
	}
	c.cost = meter.Cost()
	titleVariant(c.history, c.variant.set)
	return nil
}

// titleVariant has pictures of a run say what the variant has otherwise.
func titleVariant(h *report.History, set string) {
	h.Set = set
	retitle(h, h.Run.Policy+" with "+shortened(set), h.Run.PolicyAbout)
}

// retitle has pictures of a run say otherwise under what it was played.
func retitle(h *report.History, policy, about string) {
	titled := *h.Run
	titled.Policy, titled.PolicyAbout = policy, about
	h.Run = &titled
}

// shortened keeps a long setting from filling a picture.
func shortened(set string) string {
	if r := []rune(set); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return set
}

// compare puts the runs of a variant beside those of the original.
func (r *results) compare(v *variant, runs []*changedRun) report.WhatIf {
	x := report.WhatIf{Set: v.set, Policies: []report.PolicyWhatIf{}, Gone: []string{}, New: []string{}, Failures: []string{}}
	for i := range r.Rows {
		row := &r.Rows[i]
		k := slices.IndexFunc(runs, func(c *changedRun) bool { return c.original == i })
		if k < 0 {
			x.Gone = append(x.Gone, row.Policy)
			continue
		}
		x.Policies = append(x.Policies, report.PolicyWhatIf{Policy: row.Policy, First: runs[k].first, Original: row.Cost, Variant: runs[k].cost})
	}
	for _, c := range runs {
		if c.original < 0 {
			x.New = append(x.New, c.policy.Name)
		}
		for _, failure := range c.failures {
			x.Failures = append(x.Failures, r.failure(v, failure))
		}
	}
	return x
}

// failure is what a variant does not do, with its line in the file as it is.
func (r *results) failure(v *variant, x replay.Failure) string {
	file, line := v.File, x.Line
	i := slices.IndexFunc(v.Expect, func(e scenarios.Expect) bool { return e.Line == x.Line })
	if i >= 0 && len(v.Expect) == len(r.Scenario.Expect) {
		file, line = r.Scenario.File, r.Scenario.Expect[i].Line
	}
	return fmt.Sprintf("%s:%d: under %s: %s", file, line, x.Policy, x.Message)
}

// writeWhatIf writes what the variants change, where there are any.
func (r *results) writeWhatIf(f *folder) error {
	if len(r.whatIfs) == 0 {
		return nil
	}
	return errors.Join(
		f.write("whatif.md", func(w io.Writer) error { return report.WriteWhatIfMarkdown(w, r.Scenario.Title, r.whatIfs) }),
		f.write("whatif.json", func(w io.Writer) error { return report.WriteWhatIfJSON(w, r.whatIfs) }),
	)
}
