package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"

	"github.com/breakersim/breakersim/sim/trace"
)

// WhatIf is what became of a scenario with other settings, beside the original.
type WhatIf struct {
	Set      string         `json:"set"`      // the settings, as given
	Policies []PolicyWhatIf `json:"policies"` // those that both have, in the order of the original
	Gone     []string       `json:"gone"`     // policies of the original only
	New      []string       `json:"new"`      // policies of the variant only
	Failures []string       `json:"failures"` // what the original expects and the variant does not do, a line each
}

// PolicyWhatIf is the difference that other settings make under one policy.
type PolicyWhatIf struct {
	Policy            string
	First             *Departure // nil: no event differs
	Original, Variant Cost
}

// Departure is the first event of a variant that is not the original's, and the
// one that the original has in its place; each as a line of a trace.
type Departure struct {
	Original json.RawMessage `json:"original"`
	Variant  json.RawMessage `json:"variant"`
}

// Along is a sink that reads the trace of the original while the variant is
// played, up to the first event that differs. It keeps one event of each.
type Along struct {
	original *bufio.Reader
	played   bytes.Buffer
	writer   *trace.Writer
	first    *Departure
}

// NewAlong reads the original as JSON Lines.
func NewAlong(original io.Reader) *Along {
	a := &Along{original: bufio.NewReaderSize(original, 64<<10)}
	a.writer = trace.NewWriter(&a.played)
	return a
}

// First is the first event that differs, or nil.
func (a *Along) First() *Departure { return a.first }

// Event compares one event with the one in the same place of the original. The
// settings, which Run tells, are not compared: they differ, that is the point.
func (a *Along) Event(e *trace.Event) error {
	if a.first != nil {
		return nil
	}
	a.played.Reset()
	if err := errors.Join(a.writer.Event(e), a.writer.Flush()); err != nil {
		return err
	}
	line, err := a.line()
	if err != nil {
		return fmt.Errorf("reading the original's trace: %w", err)
	}
	if e.Kind != trace.Run && !bytes.Equal(line, a.played.Bytes()) {
		a.first = &Departure{Original: bytes.TrimSpace(bytes.Clone(line)), Variant: bytes.TrimSpace(bytes.Clone(a.played.Bytes()))}
	}
	return nil
}

// line is the next of the original, until it is asked for another.
func (a *Along) line() ([]byte, error) {
	line, err := a.original.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	rest, err := a.original.ReadBytes('\n')
	return append(long, rest...), err
}

// eventText is an event as people read it, from a line of a trace.
func eventText(line []byte) (string, error) {
	e, err := trace.NewReader(bytes.NewReader(line)).Next()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := trace.NewTextWriter(&b)
	err = errors.Join(w.Event(&e), w.Flush())
	return strings.TrimSpace(b.String()), err
}

// texts are both events as people read them.
func (d *Departure) texts() (original, variant string, err error) {
	original, err1 := eventText(d.Original)
	variant, err2 := eventText(d.Variant)
	return original, variant, errors.Join(err1, err2)
}

// columnDifference is a column in which two costs are not the same.
type columnDifference struct {
	*Column
	original, variant *Cost
}

// differences are the columns that differ, in the order of the table.
func (p *PolicyWhatIf) differences() []columnDifference {
	var all []columnDifference
	for i := range Columns {
		was, defined := Columns[i].get(&p.Original)
		is, still := Columns[i].get(&p.Variant)
		if defined != still || defined && was != is {
			all = append(all, columnDifference{&Columns[i], &p.Original, &p.Variant})
		}
	}
	return all
}

// by is how much more the variant has, in nanoseconds if it is a duration; it is
// false where one of them has no such figure.
func (d *columnDifference) by() (float64, bool) {
	was, defined := d.get(d.original)
	is, still := d.get(d.variant)
	return is - was, defined && still
}

// byText is the same for people, with its sign.
func (d *columnDifference) byText() string {
	by, ok := d.by()
	sign := "+"
	if by < 0 {
		sign = "-"
	}
	by = math.Abs(by)
	switch {
	case !ok:
		return undefined
	case d.Unit == Duration:
		return sign + approx(nanoseconds(by))
	case d.Unit == Count:
		return sign + Thousands(int64(by))
	case by < 0.005: // it would look like nothing
		return sign + strconv.FormatFloat(by, 'f', int(math.Ceil(-math.Log10(by))), 64)
	default:
		return sign + strconv.FormatFloat(by, 'f', 2, 64)
	}
}

// same says how many columns do not differ.
func (p *PolicyWhatIf) same() string {
	switch n := len(Columns) - len(p.differences()); n {
	case len(Columns):
		return "all figures are the same"
	case 0:
		return "no figure is the same"
	case 1:
		return "the other figure is the same"
	default:
		return "the other " + strconv.Itoa(n) + " figures are the same"
	}
}

// grid is the text of the table of differences, with its head.
func (p *PolicyWhatIf) grid() [][]string {
	lines := [][]string{{"", "original", "variant", "difference"}}
	for _, d := range p.differences() {
		lines = append(lines, []string{d.Heading, d.text(d.original), d.text(d.variant), d.byText()})
	}
	return lines
}

// notes say which policies are not in both, and what did not come as expected.
func (x *WhatIf) notes() []string {
	var lines []string
	if len(x.Gone) > 0 {
		lines = append(lines, "not in the variant: "+strings.Join(x.Gone, ", "))
	}
	if len(x.New) > 0 {
		lines = append(lines, "only in the variant: "+strings.Join(x.New, ", "))
	}
	for _, failure := range x.Failures {
		lines = append(lines, "other than expected, "+failure)
	}
	return lines
}

// WriteWhatIf writes for a terminal what other settings change: under each policy
// the first event that differs, in full, and a table of the figures that do. Where
// that is too wide it leaves out the original's figures first, which the cost
// table has.
func WriteWhatIf(w io.Writer, x *WhatIf, o TerminalOptions) error {
	var b strings.Builder
	// a Builder takes everything
	say := func(head, s string) { _ = writeLines(&b, hang(head, o.Text(s), o.proseWidth())) }
	say("", "what if "+x.Set)
	for i := range x.Policies {
		p := &x.Policies[i]
		b.WriteString("\n")
		if p.First == nil {
			say("", "under "+p.Policy+" no event differs")
			if len(p.differences()) == 0 {
				continue
			}
		} else {
			original, variant, err := p.First.texts()
			if err != nil {
				return err
			}
			say("", "under "+p.Policy+" the first event that differs is")
			say("original: ", original)
			say("variant:  ", variant)
		}
		if err := p.writeTable(&b, &o); err != nil {
			return err
		}
		say("", p.same())
	}
	for i, line := range x.notes() {
		if i == 0 {
			b.WriteString("\n")
		}
		say("", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTable writes the figures that differ, if any do.
func (p *PolicyWhatIf) writeTable(b *strings.Builder, o *TerminalOptions) error {
	lines := p.grid()
	if len(lines) == 1 {
		return nil
	}
	for _, line := range lines {
		for k := range line {
			line[k] = o.Text(line[k])
		}
	}
	for len(lines[0]) > 2 && gridWidth(lines) > o.width() {
		for k := range lines {
			lines[k] = slices.Delete(lines[k], 1, 2)
		}
	}
	b.WriteString("\n")
	return writePlain(b, lines, len(lines[0])-1, o)
}

// WriteWhatIfMarkdown writes the same as a page, for all variants of a scenario.
func WriteWhatIfMarkdown(w io.Writer, title string, all []WhatIf) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", InlineMarkdown(title))
	for i := range all {
		x := &all[i]
		fmt.Fprintf(&b, "\n## What if %s\n", InlineMarkdown(x.Set))
		for k := range x.Policies {
			if err := x.Policies[k].markdown(&b); err != nil {
				return err
			}
		}
		for k, line := range x.notes() {
			if k == 0 {
				b.WriteString("\n")
			}
			b.WriteString("- " + InlineMarkdown(line) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *PolicyWhatIf) markdown(b *strings.Builder) error {
	fmt.Fprintf(b, "\n### Under %s\n\n", InlineMarkdown(p.Policy))
	if p.First == nil {
		b.WriteString("No event differs.\n")
		if len(p.differences()) == 0 {
			return nil
		}
	} else {
		original, variant, err := p.First.texts()
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "The first event that differs:\n\n    original: %s\n    variant:  %s\n", original, variant)
	}
	if lines := p.grid(); len(lines) > 1 {
		for _, line := range lines {
			for k := range line {
				line[k] = InlineMarkdown(line[k])
			}
		}
		text, err := render(renderer.NewMarkdown(), lines, len(lines[0])-1)
		if err != nil {
			return err
		}
		b.WriteString("\n" + text)
	}
	same := p.same()
	fmt.Fprintf(b, "\n%s.\n", strings.ToUpper(same[:1])+same[1:])
	return nil
}

// WriteWhatIfJSON writes all variants of a scenario, durations in nanoseconds.
func WriteWhatIfJSON(w io.Writer, all []WhatIf) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// MarshalJSON writes the columns that differ, with null where there is no figure.
func (p PolicyWhatIf) MarshalJSON() ([]byte, error) {
	type column struct {
		Name       string   `json:"name"`
		Unit       string   `json:"unit"`
		Original   *float64 `json:"original"`
		Variant    *float64 `json:"variant"`
		Difference *float64 `json:"difference"`
	}
	orNull := func(v float64, ok bool) *float64 {
		if !ok {
			return nil
		}
		return &v
	}
	columns := []column{}
	for _, d := range p.differences() {
		columns = append(columns, column{d.Name, d.Unit.String(), orNull(d.get(d.original)), orNull(d.get(d.variant)), orNull(d.by())})
	}
	return json.Marshal(struct {
		Policy  string     `json:"policy"`
		First   *Departure `json:"first"`
		Columns []column   `json:"columns"`
		Same    int        `json:"same"` // columns that do not differ
	}{p.Policy, p.First, columns, len(Columns) - len(columns)})
}

var _ trace.Sink = (*Along)(nil)
