package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

var (
	markup    = regexp.MustCompile("[\\\\`*_{\\[\\]<|~&$]")
	lineStart = regexp.MustCompile(`^([#+=>-]|\d+[.)](?:\s|$))`)
	fences    = regexp.MustCompile("`{3,}")
)

// plainMarkdown is a paragraph that Markdown, GitHub's or MDX's, shows as it is,
// on one line.
func plainMarkdown(s string) string {
	s = InlineMarkdown(s)
	if at := lineStart.FindString(s); at != "" {
		n := strings.IndexAny(at, "#+=>-.)")
		s = s[:n] + `\` + s[n:]
	}
	return s
}

// InlineMarkdown is text that Markdown, GitHub's or MDX's, shows as it is within a
// line, such as a cell of a table.
func InlineMarkdown(s string) string {
	s = markup.ReplaceAllString(strings.Join(strings.Fields(s), " "), `\$0`)
	return strings.NewReplacer("://", `\://`, "www.", `www\.`).Replace(s)
}

// WriteFence writes code in a fence that none of its lines closes.
func WriteFence(w io.Writer, language, code string) error {
	fence := "```"
	for _, run := range fences.FindAllString(code, -1) {
		if len(run) >= len(fence) {
			fence = run + "`"
		}
	}
	_, err := fmt.Fprintf(w, "%s%s\n%s\n%s\n", fence, language, strings.TrimRight(code, "\n"), fence)
	return err
}

// WriteMarkdown writes the story as Markdown, paragraph by paragraph.
func (s Story) WriteMarkdown(w io.Writer) error {
	for i, p := range s {
		between := "\n"
		if i == 0 {
			between = ""
		}
		if _, err := fmt.Fprintf(w, "%s%s\n", between, plainMarkdown(p.String())); err != nil {
			return err
		}
	}
	return nil
}
