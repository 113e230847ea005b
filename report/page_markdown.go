package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
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
	fmt.Fprintf(&b, "\n## %s\n", partHappened)
	for _, run := range p.stories() {
		if run.Policy != "" {
			fmt.Fprintf(&b, "\n### Under %s\n", plainMarkdown(run.Policy))
			if run.About != "" {
				fmt.Fprintf(&b, "\n*%s*\n", plainMarkdown(capital(run.About)))
			}
		}
		for _, s := range run.Story {
			fmt.Fprintf(&b, "\n%s\n", plainMarkdown(s.String()))
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
		fence := fenceFor(p.Source)
		fmt.Fprintf(b, "\n<details>\n<summary>%s</summary>\n\n%syaml\n%s\n%[2]s\n\n</details>\n", partSource, fence, strings.TrimRight(p.Source, "\n"))
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

var (
	markup    = regexp.MustCompile("[\\\\`*_{\\[<|~&$]")
	lineStart = regexp.MustCompile(`^([#+=>-]|\d+[.)](?:\s|$))`)
	fences    = regexp.MustCompile("`{3,}")
)

// plainMarkdown is a paragraph that Markdown, GitHub's or MDX's, shows as it is,
// on one line.
func plainMarkdown(s string) string {
	s = inlineMarkdown(s)
	if at := lineStart.FindString(s); at != "" {
		n := strings.IndexAny(at, "#+=>-.)")
		s = s[:n] + `\` + s[n:]
	}
	return s
}

// inlineMarkdown is text within a line, such as a cell of a table.
func inlineMarkdown(s string) string {
	s = markup.ReplaceAllString(strings.Join(strings.Fields(s), " "), `\$0`)
	return strings.NewReplacer("://", `\://`, "www.", `www\.`).Replace(s)
}

// fenceFor is a fence that no line of the text closes.
func fenceFor(text string) string {
	fence := "```"
	for _, run := range fences.FindAllString(text, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	return fence
}
