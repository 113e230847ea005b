package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/breakersim/breakersim/sim/lint"
)

type lintCmd struct {
	limits
	Format    string   `enum:"text,json,sarif" default:"text" help:"text, json, or sarif for code scanning (${default})."`
	Script    string   `placeholder:"DIR" help:"Write there, for each finding, a scenario that shows it: the settings as they are, and mended."`
	Only      []string `placeholder:"ID" help:"Look for these findings only: ${findings}."`
	Except    []string `placeholder:"ID" help:"Do not look for these."`
	Explain   string   `placeholder:"ID" help:"Say why it goes wrong and what to write instead; no scenario is needed."`
	Scenarios []string `arg:"" optional:"" name:"scenario" predictor:"scenario" help:"Files, directories, built-in names, or -. A file may have breakers, and perhaps policies, and nothing besides."`
}

// Help stands below the flags in the command's help.
func (lintCmd) Help() string {
	return "A finding is told only where it is so: each has a script that was played and showed it. Exit status: 0 no finding, 1 findings, 2 a file that makes no sense."
}

// errFindings says that there were some, which has been told already.
var errFindings = errors.New("there are findings")

func findingNames() (names []string) {
	for i := range lint.Rules {
		names = append(names, lint.Rules[i].ID)
	}
	return names
}

// linted is a finding with the file that shows it.
type linted struct {
	*lint.Finding
	doc     *lint.Document
	written string // where its script is; empty: nowhere
}

// Run looks at every file, and tells what it finds in the good ones even if
// others make no sense.
func (c *lintCmd) Run(s streams) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	if c.Explain != "" {
		return explain(s.out, c.Explain)
	}
	if len(c.Scenarios) == 0 {
		return wrong{errors.New("name scenarios to look at: files, directories, built-in names, or -")}
	}
	sources, err := find(c.Scenarios, s.in)
	if err != nil {
		return err
	}
	all, faults := lintAll(sources, o)
	if err := c.write(all); err != nil {
		return err
	}
	if err := c.tell(s.out, all); err != nil {
		return err
	}
	if faults == nil && len(all) > 0 {
		return errFindings
	}
	return faults
}

// lintAll looks at every file. The error is of all that make no sense.
func lintAll(sources []source, o lint.Options) (all []linted, err error) {
	var faults []error
	for _, src := range sources {
		b, err := src.read(o.Limits)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		doc, err := lint.Check(src.file, b, o)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for i := range doc.Findings {
			all = append(all, linted{&doc.Findings[i], doc, ""})
		}
	}
	return all, errors.Join(faults...)
}

func (c *lintCmd) options() (lint.Options, error) {
	o := lint.Options{Only: c.Only, Except: c.Except}
	for _, id := range append(append([]string{}, c.Only...), c.Except...) {
		if _, err := lint.Find(id); err != nil {
			return o, wrong{err}
		}
	}
	var err error
	o.Limits, err = c.limits.parse()
	return o, err
}

func explain(w io.Writer, id string) error {
	r, err := lint.Find(id)
	if err != nil {
		return wrong{err}
	}
	_, err = fmt.Fprintf(w, "%s: %s\n\n%s\n\nInstead: %s\n", r.ID, r.Title, r.Why, r.Instead)
	return err
}

// write writes the script of each finding, if that is wanted.
func (c *lintCmd) write(all []linted) error {
	if c.Script == "" || len(all) == 0 {
		return nil
	}
	f, err := openFolder(c.Script)
	if err != nil {
		return err
	}
	defer f.discard()
	taken := map[string]int{}
	for i := range all {
		l := &all[i]
		name := lint.ID(strings.TrimSuffix(filepath.Base(l.File), filepath.Ext(l.File)) + "-" + l.Rule.ID)
		if taken[name]++; taken[name] > 1 {
			name += fmt.Sprintf("-%d", taken[name])
		}
		l.written = filepath.Join(c.Script, name+".yaml")
		if err := f.write(name+".yaml", func(w io.Writer) error { _, err := w.Write(l.Script(name)); return err }); err != nil {
			return err
		}
	}
	return f.commit()
}

// tell writes the findings in the form that is wanted.
func (c *lintCmd) tell(w io.Writer, all []linted) error {
	switch c.Format {
	case "json":
		return tellJSON(w, all)
	case "sarif":
		return tellSARIF(w, all)
	}
	for i := range all {
		l := &all[i]
		at := l.At
		at.Message = l.Rule.ID + ": " + at.Message
		text := l.doc.Faults(at).Error() + "      = write " + l.Instead + "\n"
		if l.written != "" {
			text += "      = shown by breakersim run " + l.written + "\n"
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	count := "1 finding"
	if len(all) > 1 {
		count = fmt.Sprintf("%d findings", len(all))
	}
	_, err := fmt.Fprintf(w, "%s; breakersim lint --explain ID says why, --script DIR shows it\n", count)
	return err
}
