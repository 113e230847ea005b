package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// region is what stands between a marker and its end, in a Markdown file.
type region struct {
	words    string // of the marker, after "breakersim:"
	wordsAt  int    // where they begin in the file, in bytes
	from, to int    // the lines in between, in bytes: [from, to)
	prefix   string // of each of these lines: the marker's indentation and quotes
	newline  string // the file's way to end a line
}

// misplaced is a fault at a place of a file, in bytes.
type misplaced struct {
	at  int
	why string
}

// findRegions finds the regions of a Markdown file in their order, and what is
// wrong with its markers. What stands in code, or in another comment, is none.
// A region without an end is there, too, but empty: so all faults are told at once.
func findRegions(src []byte, mdx bool) ([]region, []misplaced) {
	s := newScanner(src, mdx)
	s.scan()
	var regions []region
	var open *marker
	unended := func() { regions = append(regions, region{words: open.words, wordsAt: open.wordsAt}) }
	for i := range s.markers {
		m := &s.markers[i]
		switch {
		case m.end && open == nil:
			s.fault(m.at, "this ends nothing; write %s before it, or remove it", s.comment("breakersim: KIND SCENARIO"))
		case m.end:
			regions = append(regions, s.region(open, m))
			open = nil
		case open != nil:
			line, _ := place(src, open.at)
			s.fault(m.at, "the marker of line %d has not ended; write %s before this one", line, s.comment("/breakersim"))
			unended()
			open = m
		default:
			open = m
		}
	}
	if open != nil {
		s.fault(open.at, "this has no end; write %s below it, on a line of its own", s.comment("/breakersim"))
		unended()
	}
	return regions, s.faults
}

// place is the line and the column of a byte of the file, in characters, both from 1.
func place(src []byte, at int) (line, column int) {
	before := bytes.TrimPrefix(evenLines(src[:at]), bom)
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

var bom = []byte("\ufeff")

// evenLines has all lines end in \n, and all else where it was.
func evenLines(src []byte) []byte {
	even := bytes.ReplaceAll(src, []byte("\r\n"), []byte(" \n"))
	return bytes.ReplaceAll(even, []byte("\r"), []byte("\n"))
}

// marker is a comment that speaks to breakersim, alone on its line.
type marker struct {
	end     bool
	at      int // the comment
	words   string
	wordsAt int
}

// scanner reads a file for markers.
type scanner struct {
	src     []byte // as it is
	text    []byte // with even lines; every byte stands where it does in src
	start   int    // of the Markdown, after a byte order mark and front matter
	mdx     bool
	until   string // the end of a comment over several lines that the scanner is in
	markers []marker
	faults  []misplaced
}

func newScanner(src []byte, mdx bool) *scanner {
	s := &scanner{src: src, text: evenLines(src), mdx: mdx}
	if bytes.HasPrefix(src, bom) {
		s.start = len(bom)
	}
	if m := frontMatter.FindIndex(s.text[s.start:]); m != nil {
		s.start += m[1]
	}
	return s
}

// frontMatter is YAML or TOML at the very start, which is no Markdown.
var frontMatter = regexp.MustCompile(`\A(?:---[ \t]*\n(?s:.*?\n)??---|\+\+\+[ \t]*\n(?s:.*?\n)??\+\+\+)[ \t]*(?:\n|\z)`)

func (s *scanner) fault(at int, format string, values ...any) {
	s.faults = append(s.faults, misplaced{at, fmt.Sprintf(format, values...)})
}

// comment is how a comment is written in the file.
func (s *scanner) comment(words string) string {
	if s.mdx {
		return "{/* " + words + " */}"
	}
	return "<!-- " + words + " -->"
}

// scan goes through the blocks of the Markdown that can hold comments.
func (s *scanner) scan() {
	doc := parserOf(s.mdx).Parse(text.NewReader(s.text[s.start:]))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			s.html(n)
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			s.prose(n)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}

// parserOf tells blocks apart and, within them, what is code. MDX knows neither
// HTML blocks nor code by indentation.
func parserOf(mdx bool) parser.Parser {
	blocks := parser.DefaultBlockParsers()
	inlines := []util.PrioritizedValue{util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewRawHTMLParser(), 400)}
	if mdx {
		inlines = inlines[:1]
		blocks = slices.DeleteFunc(blocks, func(b util.PrioritizedValue) bool {
			return b.Value == parser.NewHTMLBlockParser() || b.Value == parser.NewCodeBlockParser() || b.Value == parser.NewFencedCodeBlockParser() || b.Value == parser.NewParagraphParser()
		})
		blocks = append(blocks, util.Prioritized(mdxParagraphs{parser.NewParagraphParser()}, 1000), util.Prioritized(&mdxFences{parser.NewFencedCodeBlockParser(), map[ast.Node][]byte{}}, 700))
	}
	return parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(inlines...))
}

// mdxParagraphs are paragraphs at any indentation.
type mdxParagraphs struct{ parser.BlockParser }

func (mdxParagraphs) CanAcceptIndentedLine() bool { return true }

// mdxFences are fences of code at any indentation, as tags around them bring it.
type mdxFences struct {
	parser.BlockParser
	fences map[ast.Node][]byte
}

func (*mdxFences) CanAcceptIndentedLine() bool { return true }

func (f *mdxFences) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := r.PeekLine()
	node, state := f.BlockParser.Open(parent, r, pc)
	if node != nil {
		line = bytes.TrimLeft(line, " \t")
		f.fences[node] = line[:len(line)-len(bytes.TrimLeft(line, string(line[0])))]
	}
	return node, state
}

func (f *mdxFences) Continue(node ast.Node, r text.Reader, pc parser.Context) parser.State {
	line, _ := r.PeekLine()
	rest, closes := bytes.CutPrefix(bytes.TrimSpace(line), f.fences[node])
	if closes && len(bytes.Trim(rest, string(f.fences[node][0]))) == 0 {
		r.AdvanceToEOL()
		return parser.Close
	}
	return f.BlockParser.Continue(node, r, pc)
}

// html reads a block of HTML. Scripts and the like are code, and a comment holds
// no other.
func (s *scanner) html(n *ast.HTMLBlock) {
	switch n.HTMLBlockType {
	case ast.HTMLBlockType2:
		s.line(s.start+n.Lines().At(0).Start, nil)
	case ast.HTMLBlockType6, ast.HTMLBlockType7:
		for i := range n.Lines().Len() {
			s.line(s.start+n.Lines().At(i).Start, nil)
		}
	}
	if !s.mdx {
		s.until = "" // comments end with their block
	}
}

// prose reads a paragraph or a heading.
func (s *scanner) prose(n ast.Node) {
	code := s.codeOf(n)
	for i := range n.Lines().Len() {
		s.line(s.start+n.Lines().At(i).Start, code)
	}
}

// span is a stretch of bytes.
type span struct{ from, to int }

// codeOf are the stretches of code in a paragraph.
func (s *scanner) codeOf(n ast.Node) (code []span) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // nor does this one
		if t, ok := n.(*ast.Text); ok && entering && n.Parent().Kind() == ast.KindCodeSpan {
			code = append(code, span{s.start + t.Segment.Start, s.start + t.Segment.Stop})
		}
		return ast.WalkContinue, nil
	})
	return code
}

// opener begins a comment of HTML or of MDX.
var opener = regexp.MustCompile(`<!--|\{/\*`)

var closers = map[string]string{"<!--": "-->", "{/*": "*/}"}

// line reads the comments of a line from a byte on.
func (s *scanner) line(at int, code []span) {
	end := len(s.text)
	if n := bytes.IndexByte(s.text[at:], '\n'); n >= 0 {
		end = at + n
	}
	for at < end {
		if s.until != "" {
			n := bytes.Index(s.text[at:end], []byte(s.until))
			if n < 0 {
				return
			}
			at += n + len(s.until)
			s.until = ""
		}
		m := opener.FindIndex(s.text[at:end])
		if m == nil {
			return
		}
		from, inner := at+m[0], at+m[1]
		at = inner
		if s.literal(from, code) {
			continue
		}
		closer := closers[string(s.text[from:inner])]
		n := bytes.Index(s.text[inner:end], []byte(closer))
		if n < 0 {
			s.unclosed(from, inner, end, closer)
			return
		}
		at = inner + n + len(closer)
		s.take(from, inner, inner+n, at, end)
	}
}

// literal says whether a comment's beginning is none, as it is code or escaped.
func (s *scanner) literal(at int, code []span) bool {
	before := s.text[s.start:at]
	escapes := len(before) - len(bytes.TrimRight(before, `\`))
	return escapes%2 == 1 || slices.ContainsFunc(code, func(c span) bool { return c.from <= at && at < c.to })
}

// unclosed takes a comment that does not end on its line.
func (s *scanner) unclosed(from, inner, end int, closer string) {
	if toUs.Match(s.text[inner:end]) {
		s.fault(from, "a marker ends on its line; write %s", closer)
		return
	}
	if bytes.Contains(s.text[end:], []byte(closer)) {
		s.until = closer
	}
}

// toUs is how comments begin that speak to breakersim.
var toUs = regexp.MustCompile(`(?i)^\s*(/?)\s*breakersim\b\s*(:?)\s*(\S*)`)

// beforeMarker is what may stand before a marker on its line: indentation,
// quotes, and the bullet of a list's item.
var beforeMarker = regexp.MustCompile(`^(?:[ \t]*(?:>|[-+*]|[0-9]{1,9}[.)]))*[ \t]*$`)

// take takes the comment in [from, to), whose text is in [inner, outer), of a
// line that ends at end.
func (s *scanner) take(from, inner, outer, to, end int) {
	words := s.text[inner:outer]
	m := toUs.FindSubmatchIndex(words)
	if m == nil {
		return
	}
	trimmed := string(bytes.TrimSpace(words))
	ends, colon := m[2] < m[3], m[4] < m[5]
	switch {
	case !ends && !colon && kindOf(string(words[m[6]:m[7]])) == nil: // it only speaks of us
		return
	case s.mdx && s.text[from] == '<':
		s.fault(from, "MDX has no HTML comments; write {/* %s */}", trimmed)
		return
	case ends && trimmed != "/breakersim":
		s.fault(from, "an end says nothing more; write %s", s.comment("/breakersim"))
	case !ends && !strings.HasPrefix(trimmed, "breakersim:"):
		s.fault(from, `a marker begins with "breakersim:", in small letters and with a colon`)
	case !beforeMarker.Match(s.lineBefore(from)) || len(bytes.TrimSpace(s.text[to:end])) > 0:
		s.fault(from, "a marker stands on a line of its own; move what is beside it")
	}
	s.markers = append(s.markers, marker{ends, from, string(words[m[6]:]), inner + m[6]})
}

// lineBefore is what stands before a byte on its line.
func (s *scanner) lineBefore(at int) []byte {
	before := s.text[s.start:at]
	return before[bytes.LastIndexByte(before, '\n')+1:]
}

// region is what stands between two markers.
func (s *scanner) region(from, to *marker) region {
	b := region{words: from.words, wordsAt: from.wordsAt}
	b.from = from.at + bytes.IndexByte(append(s.text[from.at:len(s.text):len(s.text)], '\n'), '\n')
	b.newline = lineEnd.FindString(string(s.src[max(0, b.from-1):min(len(s.src), b.from+1)]))
	b.from = min(b.from+1, to.at)
	b.to = max(b.from, to.at-len(s.lineBefore(to.at)))
	b.prefix = bullet.ReplaceAllStringFunc(string(s.lineBefore(from.at)), func(s string) string { return strings.Repeat(" ", len(s)) })
	return b
}

var (
	lineEnd = regexp.MustCompile(`\r\n|\r|\n`)
	bullet  = regexp.MustCompile(`[^ \t>]+`)
)
