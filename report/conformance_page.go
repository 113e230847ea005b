package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/renderer"
)

// headings of the page of a matrix.
const (
	matrixTitle = "Which rules of ours other breakers follow"
	matrixTried = "Other settings that were tried"
	matrixWhose = "Whose breakers these are, and what they promise"
)

// anchor is the address of a rule within the page.
func (r *MatrixRule) anchor() string { return strings.ToLower(r.ID) }

// WriteMarkdown writes the page for code hosts. A no leads to its rule, with the
// scenario, the picture and a sentence.
func (m *Matrix) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n", matrixTitle, plainMarkdown(fairness), plainMarkdown(m.About))
	table, err := m.markdownTable()
	if err != nil {
		return err
	}
	b.WriteString(table)
	for i := range m.Rules {
		m.markdownRule(&b, &m.Rules[i])
	}
	if notes := m.notes(); len(notes) > 0 {
		fmt.Fprintf(&b, "\n## %s\n\n", matrixTried)
		for _, t := range notes {
			fmt.Fprintf(&b, "- **%s** %s\n", InlineMarkdown(t.Name), InlineMarkdown(t.Note))
		}
	}
	fmt.Fprintf(&b, "\n## %s\n", matrixWhose)
	for i := range m.Breakers {
		m.Breakers[i].markdown(&b)
	}
	_, err = b.WriteTo(w)
	return err
}

func (m *Matrix) markdownTable() (string, error) {
	head := []string{"rule", ""}
	for i := range m.Breakers {
		head = append(head, InlineMarkdown(m.Breakers[i].Title()))
	}
	lines := [][]string{head}
	for i := range m.Rules {
		r := &m.Rules[i]
		line := []string{"[" + r.ID + "](#" + r.anchor() + ")", InlineMarkdown(r.Title)}
		for _, c := range r.Cells {
			text := c.Answer.Short()
			if c.Answer == ConformsNo {
				text = "[**no**](#" + r.anchor() + ")"
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	return render(renderer.NewMarkdown(), lines, 0)
}

func (m *Matrix) markdownRule(b *bytes.Buffer, r *MatrixRule) {
	fmt.Fprintf(b, "\n<a id=\"%s\"></a>\n\n## %s: %s\n\n%s\n", r.anchor(), r.ID, InlineMarkdown(r.Title), plainMarkdown(r.About))
	fmt.Fprintf(b, "\nThe scenario: [`%s`](%s)\n", r.Scenario, r.Scenario)
	if r.Picture != nil {
		r.Picture.markdown(b)
	}
	b.WriteString("\n")
	for i, c := range r.Cells {
		answer := string(c.Answer)
		if c.Answer == ConformsNo {
			answer = "**no**"
		}
		fmt.Fprintf(b, "- %s: %s. %s.", InlineMarkdown(m.Breakers[i].Name), answer, InlineMarkdown(capital(c.Why)))
		if s := c.mended(); s != "" {
			b.WriteString(" " + InlineMarkdown(s))
		}
		b.WriteString("\n")
	}
}

func (x *MatrixBreaker) markdown(b *bytes.Buffer) {
	if x.Module == "" {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n`%s` %s. %s\n", InlineMarkdown(x.Name), x.Module, InlineMarkdown(x.Version), InlineMarkdown(x.Note))
	if len(x.Cannot) > 0 {
		b.WriteString("\nWhat of these settings it cannot express:\n\n")
		for _, c := range x.Cannot {
			fmt.Fprintf(b, "- %s\n", InlineMarkdown(c))
		}
	}
	b.WriteString("\nIts own documentation: ")
	for _, c := range x.claims() {
		if c.Address != "" {
			b.WriteString("<" + c.Address + ">")
		} else {
			b.WriteString(inlinePiece(c.Text))
		}
	}
	b.WriteString("\n")
}

// inlinePiece is a part of a line, whose blanks at both ends stay.
func inlinePiece(s string) string {
	text := InlineMarkdown(s)
	if strings.HasPrefix(s, " ") {
		text = " " + text
	}
	if strings.HasSuffix(s, " ") && strings.TrimSpace(s) != "" {
		text += " "
	}
	return text
}

//go:embed conformance.html
var matrixText string

var matrixTemplate = template.Must(template.Must(pageTemplate.Clone()).Parse(matrixText))

// WriteHTML writes the page as one file without scripts, with the pictures beside it.
func (m *Matrix) WriteHTML(w io.Writer) error {
	type cell struct {
		MatrixCell
		Breaker, Mended string
	}
	type rule struct {
		*MatrixRule
		Anchor string
		Cells  []cell
	}
	type breaker struct {
		*MatrixBreaker
		Promises []claim
	}
	var rules []rule
	for i := range m.Rules {
		r := rule{MatrixRule: &m.Rules[i], Anchor: m.Rules[i].anchor()}
		for k, c := range m.Rules[i].Cells {
			r.Cells = append(r.Cells, cell{c, m.Breakers[k].Name, c.mended()})
		}
		rules = append(rules, r)
	}
	var breakers []breaker
	for i := range m.Breakers {
		breakers = append(breakers, breaker{&m.Breakers[i], m.Breakers[i].claims()})
	}
	return matrixTemplate.ExecuteTemplate(w, "matrix", map[string]any{"Title": matrixTitle, "Fairness": fairness, "About": m.About, "Rules": rules,
		"Breakers": breakers, "Notes": m.notes(), "Tried": matrixTried, "Whose": matrixWhose, "No": ConformsNo})
}
