package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
)

// WriteMarkdown writes the page for code hosts, which show it beside its
// pictures. Nothing in the scenario's texts is taken for markup.
func (p *Page) WriteMarkdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", plainMarkdown(p.Title))
	for _, line := range p.abouts() {
		fmt.Fprintf(&b, "\n%s\n", plainMarkdown(line))
	}
	if t := p.timeline(); t != nil {
		t.markdown(&b)
	}
	p.markdownDepartures(&b)
	fmt.Fprintf(&b, "\n## %s\n", partHappened)
	for _, run := range p.stories() {
		if run.Policy != "" {
			fmt.Fprintf(&b, "\n### Under %s\n", plainMarkdown(run.Policy))
			if run.About != "" {
				fmt.Fprintf(&b, "\n*%s*\n", plainMarkdown(capital(run.About)))
			}
		}
		b.WriteString("\n")
		if err := run.Story.WriteMarkdown(&b); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "\n## %s\n\n", partCosts)
	if err := WriteMarkdown(&b, p.Results.Rows); err != nil {
		return err
	}
	if others := p.others(); len(others) > 0 {
		fmt.Fprintf(&b, "\n## %s\n", partMore)
		for i := range others {
			others[i].markdown(&b)
			fmt.Fprintf(&b, "\n*%s*\n", plainMarkdown(capital(others[i].About)))
		}
	}
	p.markdownLists(&b)
	_, err := b.WriteTo(w)
	return err
}

// markdownLists are the settings, the expectations and the source.
func (p *Page) markdownLists(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s\n\n", partSettings)
	for _, s := range p.settings() {
		fmt.Fprintf(b, "- %s\n", plainMarkdown(s))
	}
	p.markdownCompared(b)
	if len(p.Expect) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n", partExpected)
		for _, e := range p.Expect {
			fmt.Fprintf(b, "- %s\n", plainMarkdown(e.Text))
			for _, f := range e.Failed {
				fmt.Fprintf(b, "  - **It did not come so:** %s\n", plainMarkdown(f))
			}
		}
	}
	if p.Source != "" {
		fmt.Fprintf(b, "\n<details>\n<summary>%s</summary>\n\n", partSource)
		_ = WriteFence(b, "yaml", p.Source) // a Buffer takes everything
		b.WriteString("\n</details>\n")
	}
}

// markdown is the picture as HTML, for only that knows of dark pages.
func (x *PagePicture) markdown(b *bytes.Buffer) {
	alt := attribute(x.Alt)
	if x.Dark == "" {
		fmt.Fprintf(b, "\n<img src=\"%s\" alt=\"%s\">\n", attribute(x.File), alt)
		return
	}
	fmt.Fprintf(b, "\n<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"%s\">\n<img src=\"%s\" alt=\"%s\">\n</picture>\n",
		attribute(x.Dark), attribute(x.File), alt)
}

// attribute is text within the quotes of an HTML attribute, on one line: an
// empty one would end the HTML within Markdown.
func attribute(s string) string { return html.EscapeString(strings.Join(strings.Fields(s), " ")) }
