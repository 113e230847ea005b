package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// hostile are texts that HTML or Markdown would take for markup.
var hostile = []string{
	`<script>alert("x")</script>`, `a | b \| c`, "`code` ``more``", "*bold* _it_ __x__ ~~gone~~", "[x](https://example.org) ![y](z.png)",
	"<!-- comment -->", "# no heading", "- no item", "+ no item", "1. no list", "12) no list", "> no quote", "===", "---", "&lt;b&gt; & &amp;", `\<b>\`,
	"https://example.org/ www.example.org", "<https://example.org>", "$x^2$ {curly} {{template}}", `" onload="alert(1)`, "two\n\nparagraphs\nand <br> more", "</details></picture>",
	"| a | b |\n|---|---|", "    indented", "é 漢字 😀", "https:\\\\x", "~~~", "[^1]", "[ ] task", "a\u00a0b",
}

// hostilePage says the text everywhere.
func hostilePage(t *testing.T, text string) *report.Page {
	run := toolRun
	run.Title, run.Policy, run.PolicyAbout = text, text, text
	run.Targets = append([]trace.Target{}, run.Targets...)
	run.Targets = append(run.Targets, upAndDown(text, seconds(0, 5)))
	h := historyOf(t, written(t, run, toolText))
	r := &report.Results{Panels: []*report.History{h, h}, Rows: []report.Row{{Policy: text}, {Policy: "other"}}}
	return &report.Page{Name: "x", Title: text, About: text, Results: r, Stories: r.Panels, Source: text + "\n```\n" + text + "\n",
		Pictures: []report.PagePicture{{Name: "timeline", Alt: text, File: "timeline.svg", Dark: "timeline-dark.svg"}, {Name: "load", About: "the load", Alt: text, File: "load.svg"}},
		Expect:   []report.Expectation{{Text: text, Failed: []string{text}}}}
}

// shown is text as a reader sees it: without line breaks and runs of blanks.
func shown(s string) string { return strings.Join(strings.Fields(s), " ") }

// text is what is written in a node.
func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(text(c))
	}
	return b.String()
}

// found are the elements of that name.
func found(n *html.Node, name string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			all = append(all, d)
		}
	}
	return all
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// parsed is the page in a format, as a browser reads it; Markdown as code hosts
// render it.
func parsed(t *testing.T, p *report.Page, format string) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if format == "html" {
		require.NoError(t, p.WriteHTML(&b))
	} else {
		var md bytes.Buffer
		require.NoError(t, p.WriteMarkdown(&md))
		g := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(goldhtml.WithUnsafe()))
		require.NoError(t, g.Convert(md.Bytes(), &b))
	}
	doc, err := html.Parse(&b)
	require.NoError(t, err)
	return doc
}

// TestPagesShowTextsAsTheyAre reads pages whose texts look like markup with the
// parsers that readers have.
func TestPagesShowTextsAsTheyAre(t *testing.T) {
	for _, text1 := range hostile {
		for _, format := range []string{"html", "md"} {
			p := hostilePage(t, text1)
			doc := parsed(t, p, format)
			about := format + ": " + text1
			for _, element := range []string{"script", "br", "b", "del", "blockquote", "hr", "ol", "input", "sup", "iframe"} {
				assert.Empty(t, found(doc, element), "%s: %s", about, element)
			}
			heads := found(doc, "h1")
			require.Len(t, heads, 1, about)
			assert.Equal(t, shown(text1), shown(text(heads[0])), about)
			for _, a := range found(doc, "a") {
				assert.Contains(t, []string{"timeline.svg", "load.svg"}, attr(a, "href"), about)
			}
			imgs := found(doc, "img")
			require.Len(t, imgs, 2, about)
			for _, img := range imgs {
				assert.Equal(t, shown(text1), shown(attr(img, "alt")), about)
				assert.Empty(t, attr(img, "onload"), about)
			}
			tables := found(doc, "table")
			require.Len(t, tables, 1, about)
			assert.Equal(t, shown(text1), shown(text(found(tables[0], "th")[1])), about)
			codes := found(doc, "code")
			require.Len(t, codes, 1, about)
			assert.Equal(t, strings.TrimRight(p.Source, "\n"), strings.TrimRight(text(codes[0]), "\n"), about)
			assert.Contains(t, shown(text(doc)), "Under "+shown(text1), about)
			var items []string
			for _, li := range found(doc, "li") {
				items = append(items, shown(text(li)))
			}
			assert.Contains(t, strings.Join(items, "\n"), shown(text1)+" It did not come so: "+shown(text1), about)
		}
	}
}

// TestPagesHaveTheirParts in order, in both formats.
func TestPagesHaveTheirParts(t *testing.T) {
	h := historyOf(t, written(t, vanishedRun, vanishedText))
	r := &report.Results{Panels: []*report.History{h}, Rows: []report.Row{{Policy: "breaker", Cost: measured(t, written(t, vanishedRun, vanishedText))}}}
	p := &report.Page{Name: "vanished", Title: "Vanished", About: "One.\n\nTwo.", Results: r, Stories: r.Panels, Source: "scenario: vanished\n", Up: "../index.html",
		Expect:   []report.Expectation{{Text: "It opens."}},
		Pictures: []report.PagePicture{{Name: "timeline", Alt: "a band", File: "timeline.svg", Dark: "timeline-dark.svg", Width: 720, Height: 400}, {Name: "load", About: "calls a second", File: "load.svg"}}}
	for _, format := range []string{"html", "md"} {
		doc := parsed(t, p, format)
		var parts []string
		for d := range doc.Descendants() {
			switch d.Data {
			case "h1", "h2", "summary":
				parts = append(parts, text(d))
			case "img":
				parts = append(parts, attr(d, "src"))
			case "table":
				parts = append(parts, "table")
			}
		}
		assert.Equal(t, []string{"Vanished", "timeline.svg", "What happened", "What it cost", "table", "More pictures", "load.svg", "Settings", "What the scenario expects", "The scenario, to play it again"}, parts, format)
		assert.Equal(t, "timeline-dark.svg", attr(found(doc, "source")[0], "srcset"), format)
		assert.Contains(t, text(doc), "One.", format)
		assert.Empty(t, found(doc, "h3"), "one run needs no heading of its own")
		for _, s := range h.Story()[1] {
			assert.Contains(t, shown(text(doc)), s, format)
		}
	}
}

// TestTheCostTableCanBeReadAloud: every row and column has its heading.
func TestTheCostTableCanBeReadAloud(t *testing.T) {
	doc := parsed(t, hostilePage(t, "p"), "html")
	table := found(doc, "table")[0]
	assert.Len(t, found(table, "caption"), 1)
	columns, rows := 0, 0
	for _, th := range found(table, "th") {
		switch attr(th, "scope") {
		case "col":
			columns++
		case "row":
			rows++
			assert.NotEmpty(t, text(found(th, "small")[0]), "the figure is explained")
		default:
			t.Errorf("the heading %q is of neither a row nor a column", text(th))
		}
	}
	assert.Equal(t, 3, columns)
	assert.Equal(t, 22, rows, "all but the prices")
	assert.Len(t, found(table, "td"), 44)
}

// TestPagesAreSelfContained: no script, nothing from elsewhere, the same bytes again.
func TestPagesAreSelfContained(t *testing.T) {
	p := hostilePage(t, "p")
	var first, again bytes.Buffer
	require.NoError(t, p.WriteHTML(&first))
	require.NoError(t, p.WriteHTML(&again))
	assert.Equal(t, first.String(), again.String())
	assert.NotContains(t, first.String(), "://")
	doc := parsed(t, p, "html")
	assert.Empty(t, found(doc, "script"))
	assert.Empty(t, found(doc, "link"))
	assert.Len(t, found(doc, "style"), 1)
	assert.Equal(t, "en", attr(found(doc, "html")[0], "lang"))
}

// TestGallery has an entry for each scenario, in its group, with its texts as
// they are.
func TestGallery(t *testing.T) {
	bare := &report.Results{Panels: []*report.History{unguarded(t)}}
	tool := &report.Results{Panels: []*report.History{historyOf(t, written(t, toolRun, toolText))}}
	model := &report.Results{Panels: []*report.History{historyOf(t, written(t, modelRun, modelText))}}
	both := &report.Results{Panels: []*report.History{historyOf(t, written(t, vanishedRun, vanishedText))}}
	g := report.Gallery{Title: "All", Entries: []report.GalleryEntry{
		{Name: "a", Title: "<i>A</i>", About: "One.\nTwo.", Group: bare.Group()},
		{Name: "b", Title: "B", Group: tool.Group(), Picture: report.PagePicture{File: "timeline.svg", Dark: "timeline-dark.svg", Width: 720, Height: 300}},
		{Name: "c", Title: "C", Group: model.Group()},
		{Name: "d", Title: "D", Group: both.Group()},
		{Name: "e", Title: "E", Group: tool.Group()},
	}}
	var b bytes.Buffer
	require.NoError(t, g.WriteHTML(&b))
	doc, err := html.Parse(&b)
	require.NoError(t, err)
	var got []string
	for d := range doc.Descendants() {
		switch d.Data {
		case "h2":
			got = append(got, text(d))
		case "a":
			got = append(got, attr(d, "href")+" "+text(d))
		}
	}
	assert.Equal(t, []string{"Tools behind a breaker", "b/index.html B", "e/index.html E", "Models and their backups", "c/index.html C",
		"Tools and models at once", "d/index.html D", "Without a breaker", "a/index.html <i>A</i>"}, got)
	assert.Equal(t, "b/timeline.svg", attr(found(doc, "img")[0], "src"))
	assert.Equal(t, "b/timeline-dark.svg", attr(found(doc, "source")[0], "srcset"))
	assert.Contains(t, text(doc), "One.")
	assert.NotContains(t, text(doc), "Two.")
}
