package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// ourOwn is the name of our own breaker among those that are compared.
const ourOwn = "ours"

// conformance holds breakers against the rules, tells what each does, and writes
// it to the folder compare in out. Ours is the first, whether it is named or not.
func conformance(breakers []string, out string, s streams) error {
	columns, err := conformanceColumns(breakers)
	if err != nil {
		return err
	}
	all, err := askAll(columns)
	if err != nil {
		return err
	}
	dir := filepath.Join(out, "compare")
	f, err := openFolder(dir)
	defer f.discard()
	if err != nil {
		return err
	}
	m := matrixOf(columns, all)
	if err := writeMatrix(f, m, all); err != nil {
		return err
	}
	if err := f.commit(); err != nil {
		return err
	}
	if err := m.WriteTerminal(s.out, report.TerminalOptions{Width: s.width, Color: s.color, ASCII: s.ascii}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "\nwhat each no is about, with scenario and picture: %s\n", filepath.Join(dir, "README.md"))
	return err
}

// conformanceColumns are the libraries that are shown, and ours before them,
// which is nobody's.
func conformanceColumns(names []string) ([]foreign.Library, error) {
	columns := []foreign.Library{{Name: ourOwn}}
	if len(names) == 0 {
		return append(columns, slices.DeleteFunc(slices.Clone(foreign.Libraries), func(l foreign.Library) bool { return l.Of != "" })...), nil
	}
	for _, name := range names {
		l, err := foreign.Lookup(name)
		switch {
		case name == ourOwn:
			continue
		case err != nil:
			return nil, wrong{fmt.Errorf("--breakers: %w; or %s", err, ourOwn)}
		case slices.ContainsFunc(columns, func(c foreign.Library) bool { return c.Name == name }):
			return nil, wrong{fmt.Errorf("--breakers: %s is there twice", name)}
		}
		columns = append(columns, l)
	}
	return columns, nil
}

// family are all rows of a library, each with and without our lease around it.
func family(l *foreign.Library) (rows []foreign.Library) {
	for _, other := range foreign.Libraries {
		if other.Module == l.Module {
			rows = append(rows, other, other.Leased())
		}
	}
	return rows
}

// ruleNews is what came of one rule, as it comes over the pipe.
type ruleNews struct {
	Rule   int // its index
	Answer breakertest.Answer
	Why    string
	Trace  []byte // JSON Lines; empty if it was not played
}

// founds is a sink for what came of each rule, in the order of the rules.
type founds []ruleNews

func (*founds) Event(*trace.Event) error  { return nil }
func (f *founds) found(x *ruleNews) error { *f = append(*f, *x); return nil }
func (t *teller) found(x *ruleNews) error { return t.messages.Encode(&news{Found: x}) }

// tellFound hands on what came of a rule to the sinks that take it.
func tellFound(x *ruleNews, sinks []trace.Sink) error {
	for _, s := range sinks {
		if s, ok := s.(interface{ found(*ruleNews) error }); ok {
			if err := s.found(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRules holds the job's breaker against the rules.
func (j *bubbleJob) checkRules(t *testing.T, sinks []trace.Sink) error {
	others, opts, err := toCheck(j.Breaker)
	if err != nil {
		return err
	}
	for i, f := range breakertest.Check(t, others, opts...) {
		x := &ruleNews{Rule: i, Answer: f.Answer, Why: f.Why}
		if f.Trace != nil {
			var b bytes.Buffer
			w := trace.NewWriter(&b)
			for k := range f.Trace {
				if err := w.Event(&f.Trace[k]); err != nil {
					return err
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			x.Trace = b.Bytes()
		}
		if err := tellFound(x, sinks); err != nil {
			return err
		}
	}
	return nil
}

// toCheck is the breaker of that name, and what is known of it beforehand.
func toCheck(name string) (replay.Others, []breakertest.Option, error) {
	if name == ourOwn {
		return breakertest.Ours(), nil, nil
	}
	l, err := foreign.Lookup(name)
	if l.PanicKills {
		return others(&l), []breakertest.Option{breakertest.PanicKills()}, err
	}
	return others(&l), nil, err
}

// askAll holds every breaker that is shown, and all rows of its library, against
// the rules: a child each.
func askAll(columns []foreign.Library) (map[string]founds, error) {
	all := map[string]founds{ourOwn: nil}
	for i := range columns[1:] {
		for _, row := range family(&columns[1+i]) {
			all[row.Name] = nil
		}
	}
	names := slices.Sorted(maps.Keys(all))
	answers := make([]founds, len(names))
	err := make(slots, runtime.GOMAXPROCS(0)).each(len(names), func(i int) error {
		var child abroad
		defer child.close()
		return child.play(&bubbleJob{Breaker: names[i], Rules: true}, &answers[i])
	})
	for i, name := range names {
		all[name] = answers[i]
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// matrixOf is what is shown of it all.
func matrixOf(columns []foreign.Library, all map[string]founds) *report.Matrix {
	d := machine.DefaultToolSettings()
	settings := foreign.Settings{FailureThreshold: d.FailureThreshold, RecoveryDuration: d.RecoveryDuration, ProbeTimeout: d.ProbeTimeout}
	m := &report.Matrix{About: fmt.Sprintf("All are asked to open after %d failures in a row, with a cooldown of %s and a lease of %s for the probe; in some scenarios the cooldown is 10 s. "+
		"A library is driven with the settings that come closest to these; where it does otherwise than the rule, its other settings were tried, and each with our lease around it, %s: a probe that has not reported when the lease ends is reported as failed.",
		d.FailureThreshold, report.Clock(d.RecoveryDuration), report.Clock(d.ProbeTimeout), foreign.WithLease)}
	for i := range columns {
		l := &columns[i]
		b := report.MatrixBreaker{Name: l.Name, Module: l.Module, Version: l.Version, Note: l.Note, Claims: l.Claims}
		if l.Cannot != nil {
			b.Cannot = l.Cannot(settings)
		}
		m.Breakers = append(m.Breakers, b)
	}
	for k := range breakertest.Rules {
		r := &breakertest.Rules[k]
		s := r.Scenario()
		file, _ := r.Source()
		row := report.MatrixRule{ID: r.ID, Title: s.Title, About: strings.Join(strings.Fields(s.About), " "), Scenario: file}
		for i := range columns {
			row.Cells = append(row.Cells, cellOf(&columns[i], k, all))
		}
		m.Rules = append(m.Rules, row)
	}
	return m
}

// conforms are the answers as reports have them.
var conforms = map[breakertest.Answer]report.Conforms{breakertest.Yes: report.ConformsYes, breakertest.No: report.ConformsNo, breakertest.Cannot: report.ConformsCannot}

// cellOf is what the library does about the rule of that index, and of a no what
// its other rows do.
func cellOf(l *foreign.Library, rule int, all map[string]founds) report.MatrixCell {
	own := all[l.Name][rule]
	c := report.MatrixCell{Answer: conforms[own.Answer], Why: own.Why}
	if own.Answer != breakertest.No || l.Module == "" {
		return c
	}
	for _, other := range family(l) {
		if other.Name != l.Name {
			x := all[other.Name][rule]
			c.Tried = append(c.Tried, report.MatrixTried{Name: other.Name, Note: other.Note, Answer: conforms[x.Answer], Why: x.Why})
		}
	}
	return c
}

// writeMatrix writes the pages, and beside them the scenarios and pictures of
// the rules.
func writeMatrix(f *folder, m *report.Matrix, all map[string]founds) error {
	for k := range breakertest.Rules {
		file, src := breakertest.Rules[k].Source()
		picture := strings.TrimSuffix(file, ".yaml") + ".svg"
		drawn, err := drawRule(f, picture, k, m, all)
		if err != nil {
			return fmt.Errorf("%s: %w", picture, err)
		}
		m.Rules[k].Picture = drawn
		if err := f.write(file, func(w io.Writer) error { _, err := w.Write(src); return err }); err != nil {
			return err
		}
	}
	return errors.Join(f.write("README.md", m.WriteMarkdown), f.write("index.html", m.WriteHTML), f.write("conformance.json", m.WriteJSON))
}

// drawRule draws the rule's scenario under each breaker under which it was played.
func drawRule(f *folder, name string, rule int, m *report.Matrix, all map[string]founds) (*report.PagePicture, error) {
	res := new(report.Results)
	for i := range m.Breakers {
		b := &m.Breakers[i]
		h, err := history(b, rule, all[b.Name][rule].Trace)
		if err != nil {
			return nil, err
		}
		if h != nil {
			titled := *h.Run
			titled.Policy, titled.PolicyAbout = b.Name, "" // the settings say whose it is
			h.Run = &titled
			res.Panels = append(res.Panels, h)
		}
	}
	timeline := &report.Kinds[0]
	d, err := timeline.Draw(res, report.Look{NoCaption: true})
	if err != nil {
		return nil, err
	}
	p := timeline.Picture(d, name, "")
	return &p, f.write(name, d.WriteSVG)
}

// history is what the breaker did in the rule's scenario; nil if it was not
// played. Ours says why, where it can be played as the scenario is written.
func history(b *report.MatrixBreaker, rule int, record []byte) (*report.History, error) {
	h := new(report.History)
	if r := &breakertest.Rules[rule]; b.Name == ourOwn && !r.Ending() {
		s := r.Scenario()
		_, err := replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{h}})
		return h, err
	}
	if len(record) == 0 {
		return nil, nil
	}
	events := trace.NewReader(bytes.NewReader(record))
	for {
		e, err := events.Next()
		if err == io.EOF {
			return h, nil
		}
		if err == nil {
			err = h.Event(&e)
		}
		if err != nil {
			return nil, err
		}
	}
}
