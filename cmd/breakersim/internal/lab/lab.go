// Package lab is what the playground can do: it takes the text of a scenario and
// gives what a page shows. It has no side effects.
package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/runs"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// mostCalls bounds a run in a page; the program's own limit is higher.
const mostCalls = 1_000_000

func limits() scenarios.Limits {
	l := scenarios.DefaultLimits()
	l.Calls = mostCalls
	return l
}

// file is what messages call the text.
const file = "scenario.yaml"

// Shown is what the page shows of a scenario. With Faults or an Error there is
// nothing else.
type Shown struct {
	Faults  []Fault       `json:"faults"`
	Error   string        `json:"error"` // of the run
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	About   []string      `json:"about"` // a paragraph each
	Picture *Picture      `json:"picture"`
	Kinds   []Kind        `json:"kinds"` // of pictures
	Told    *report.Told  `json:"told"`
	Expect  []Expectation `json:"expect"`
	Knobs   []Knob        `json:"knobs"`
}

// Fault is one thing that is wrong with the text.
type Fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"` // counts characters from 1
	Length  int    `json:"length"`
	Message string `json:"message"`
}

// Expectation is what the scenario expects, in words, and what came instead.
type Expectation struct {
	Text   string   `json:"text"`
	Failed []string `json:"failed"`
}

// Picture is a drawing for a page.
type Picture struct {
	SVG    string `json:"svg"`
	Alt    string `json:"alt"`
	Width  int    `json:"width"` // in CSS pixels
	Height int    `json:"height"`
}

// Kind is a kind of picture.
type Kind struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Lab keeps the last runs, of which one may want more than one picture. The zero
// value is ready. It is not for several at a time.
type Lab struct {
	text string
	runs *runs.Runs
}

// Run plays the scenario under all its policies and shows what came of it, with
// a picture of that kind.
func (l *Lab) Run(text, kind string) *Shown {
	r, err := l.play(text)
	var faults *scenarios.Faults
	switch {
	case errors.As(err, &faults):
		return &Shown{Faults: listed(faults)}
	case err != nil:
		return &Shown{Error: worded(err)}
	}
	s := r.Scenario
	page := report.Page{Results: &r.Results, Stories: r.Panels}
	shown := &Shown{Name: s.Name, Title: s.Title, About: report.Paragraphs(s.About), Kinds: kinds(), Told: page.Told(), Expect: expected(r), Knobs: knobs(s, text)}
	d, err := l.draw(kind)
	if err != nil {
		shown.Error = worded(err)
		return shown
	}
	p := report.KindOf(kind).Picture(d, "", "")
	shown.Picture = &Picture{SVG: d.SVG(), Alt: p.Alt, Width: p.Width, Height: p.Height}
	return shown
}

// PNG is the picture as the program writes it.
func (l *Lab) PNG(text, kind string, scale int) ([]byte, error) {
	if _, err := l.play(text); err != nil {
		return nil, err
	}
	d, err := l.draw(kind)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = d.WritePNG(&b, scale)
	return b.Bytes(), err
}

// Trace writes the trace of one policy as JSON Lines; the empty name is the first.
func (l *Lab) Trace(w io.Writer, text, policy string) error {
	s, err := scenarios.Load(file, []byte(text), limits())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Policies, func(p scenarios.Policy) bool { return policy == "" || p.Name == policy })
	if i < 0 {
		return fmt.Errorf("the scenario has no policy %q", policy)
	}
	record := trace.NewWriter(w)
	if _, err := runs.One(s, &s.Policies[i], report.NewMeter(), record); err != nil {
		return err
	}
	return record.Flush()
}

// Set gives the text with one value changed.
func (l *Lab) Set(text, path, value string) (string, error) {
	changed, err := scenarios.Set(file, []byte(text), path, value)
	return string(changed), err
}

// play plays the scenario unless it was the last one.
func (l *Lab) play(text string) (*runs.Runs, error) {
	if l.runs != nil && l.text == text {
		return l.runs, nil
	}
	*l = Lab{}
	s, err := scenarios.Load(file, []byte(text), limits())
	if err != nil {
		return nil, err
	}
	r, err := runs.All(s, runs.InTurn)
	if err != nil {
		return nil, err
	}
	*l = Lab{text, r}
	return r, nil
}

func (l *Lab) draw(kind string) (*report.Drawing, error) {
	k := report.KindOf(kind)
	if k == nil {
		return nil, fmt.Errorf("there is no picture %q", kind)
	}
	return k.Draw(&l.runs.Results, report.Look{})
}

// worded is the error for a page, where there is no flag that raises a limit.
func worded(err error) string {
	switch {
	case errors.Is(err, replay.ErrTooManyCalls):
		return "The run makes more than " + report.Thousands(mostCalls) + " calls. That is as many as a page plays: make them fewer, or play it with breakersim run."
	case errors.Is(err, report.ErrNothingToDraw):
		return "This run has nothing that such a picture shows; choose another one."
	}
	return strings.TrimPrefix(err.Error(), file+": ")
}

func listed(faults *scenarios.Faults) (all []Fault) {
	for _, f := range faults.Faults {
		all = append(all, Fault(f))
	}
	return all
}

func expected(r *runs.Runs) (all []Expectation) {
	for _, e := range r.Expectations() {
		all = append(all, Expectation(e))
	}
	return all
}

func kinds() (all []Kind) {
	for i := range report.Kinds {
		all = append(all, Kind{report.Kinds[i].Name, report.Kinds[i].About})
	}
	return all
}
