// Package lint says what will go wrong with a breaker's settings, and shows it.
// Each finding has a script: a scenario of a few lines that plays the settings
// as they are, and beside them mended. A finding is told only if its script was
// played and showed both; what depends on the world is looked for in runs of the
// scenario itself.
package lint

import (
	"cmp"
	"errors"
	"slices"

	"github.com/breakersim/breakersim/scenarios"
)

// Finding is one thing that will go wrong in a file.
type Finding struct {
	Rule    *Rule
	File    string
	At      scenarios.Fault // the setting; the message says what will go wrong, in figures
	Instead string          // what to write
	Breaker string          // empty if it is about a policy without one
	script  *script
}

// Options choose what is looked for.
type Options struct {
	Limits       scenarios.Limits
	Only, Except []string // ids of rules; none: all of them
}

// Document is a file that was looked at.
type Document struct {
	*scenarios.Document
	Findings []Finding // in the order of their places
}

// Check reads a scenario, or breakers alone, and says what will go wrong. The
// error is a [*scenarios.Faults] if the file makes no sense, or that a run of it
// cannot be made.
func Check(file string, src []byte, o Options) (*Document, error) {
	doc, err := scenarios.Read(file, src, o.Limits)
	if err != nil {
		return nil, err
	}
	d := &Document{Document: doc}
	s, err := load(doc, file, src, o.Limits)
	var faults *scenarios.Faults
	if errors.As(err, &faults) && faults.OwnBackups() && o.wants(ownBackup) {
		d.Findings = ownBackups(faults)
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	world := !bare(doc)
	for i := range s.Policies {
		if err := d.policy(s, i, world, o); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return d, nil
}

// bare says whether the file has settings and no world.
func bare(doc *scenarios.Document) bool {
	return !doc.Has("scenario") && !doc.Has("targets") && !doc.Has("calls") && !doc.Has("callers")
}

func load(doc *scenarios.Document, file string, src []byte, lim scenarios.Limits) (*scenarios.Scenario, error) {
	if bare(doc) {
		return scenarios.LoadBreakers(file, src, lim)
	}
	return scenarios.Load(file, src, lim)
}

// policy looks at one policy and at each of its breakers.
func (d *Document) policy(s *scenarios.Scenario, i int, world bool, o Options) error {
	x := subject{doc: d.Document, s: s, policy: i, p: &s.Policies[i]}
	if world {
		var err error
		if x.w, err = witnessed(s, x.p); err != nil {
			return err
		}
	}
	d.look(x, o)
	for k := range x.p.Breakers {
		of := x
		of.b = &x.p.Breakers[k]
		d.look(of, o)
	}
	return nil
}

// look tries every rule on a subject.
func (d *Document) look(x subject, o Options) {
	for i := range Rules {
		r := &Rules[i]
		if !o.wants(r.ID) {
			continue
		}
		for _, c := range r.find(&x) {
			if f := c.finding(r, x.s.File); f != nil && !d.told(f) {
				d.Findings = append(d.Findings, *f)
			}
		}
	}
}

func (o *Options) wants(id string) bool {
	return (len(o.Only) == 0 || slices.Contains(o.Only, id)) && !slices.Contains(o.Except, id)
}

// told says whether the same setting was complained of under another policy.
func (d *Document) told(f *Finding) bool {
	return slices.ContainsFunc(d.Findings, func(g Finding) bool {
		return g.Rule == f.Rule && g.Breaker == f.Breaker && g.At.Line == f.At.Line && g.At.Column == f.At.Column
	})
}
