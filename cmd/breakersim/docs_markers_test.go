package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// found is a region as tests say it: the marker's words | what is between, as a
// Go string | the prefix.
func found(src string, regions []region) (all []string) {
	for _, r := range regions {
		all = append(all, fmt.Sprintf("%s | %q | %q", strings.TrimSpace(r.words), src[r.from:r.to], r.prefix))
	}
	return all
}

const (
	begin = "<!-- breakersim: table x -->"
	end   = "<!-- /breakersim -->"
)

func TestFindRegions(t *testing.T) {
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"nothing":                    {"", nil},
		"empty":                      {begin + "\n" + end, []string{`table x | "" | ""`}},
		"one":                        {"a\n\n" + begin + "\nold\n" + end + "\nb", []string{`table x | "old\n" | ""`}},
		"right after a paragraph":    {"a\n" + begin + "\nold\n" + end + "\nb", []string{`table x | "old\n" | ""`}},
		"two":                        {begin + "\n" + end + "\n" + begin + "\n1\n2\n" + end + "\n", []string{`table x | "" | ""`, `table x | "1\n2\n" | ""`}},
		"CRLF":                       {begin + "\r\nold\r\n" + end + "\r\n", []string{`table x | "old\r\n" | ""`}},
		"old Macintosh":              {begin + "\rold\r" + end, []string{`table x | "old\r" | ""`}},
		"byte order mark":            {"\ufeff" + begin + "\n" + end, []string{`table x | "" | ""`}},
		"without blanks":             {"<!--breakersim:table x-->\n<!--/breakersim-->", []string{`table x | "" | ""`}},
		"indented a little":          {"  " + begin + "\n  old\n  " + end, []string{`table x | "  old\n" | "  "`}},
		"in a list":                  {"- a\n\n  " + begin + "\n  old\n  " + end + "\n- b", []string{`table x | "  old\n" | "  "`}},
		"an item of its own":         {"1. " + begin + "\n   old\n   " + end, []string{`table x | "   old\n" | "   "`}},
		"deep in a list":             {"- a\n  - b\n    - c\n\n      " + begin + "\n      " + end, []string{`table x | "" | "      "`}},
		"in a quote":                 {"> a\n>\n> " + begin + "\n> old\n> " + end, []string{`table x | "> old\n" | "> "`}},
		"in a quote's list":          {"> - " + begin + "\n>   " + end, []string{`table x | "" | ">   "`}},
		"in a div":                   {"<div>\n" + begin + "\n" + end + "\n</div>", []string{`table x | "" | ""`}},
		"in details":                 {"<details><summary>s</summary>\n\n" + begin + "\n\nold\n\n" + end + "\n\n</details>", []string{`table x | "\nold\n\n" | ""`}},
		"as MDX in Markdown":         {"{/* breakersim: table x */}\nold\n{/* /breakersim */}", []string{`table x | "old\n" | ""`}},
		"end above a rule":           {"{/* breakersim: table x */}\n{/* /breakersim */}\n---\n", []string{`table x | "" | ""`}},
		"code between":               {begin + "\n```\n" + end + "\n```\n" + end, []string{`table x | "` + "```" + `\n<!-- /breakersim -->\n` + "```" + `\n" | ""`}},
		"in a fence":                 {"```md\n" + begin + "\n" + end + "\n```\n", nil},
		"in a fence of tildes":       {"~~~~\n```\n" + begin + "\n" + end + "\n~~~\n~~~~\n", nil},
		"in a fence in a list":       {"- a\n\n  ```\n  " + begin + "\n  " + end + "\n  ```\n", nil},
		"after a fence in a list":    {"- ```\n\n" + begin + "\n" + end, []string{`table x | "" | ""`}},
		"in a fence that never ends": {"```\n" + begin + "\n" + end, nil},
		"in indented code":           {"a\n\n    " + begin + "\n    " + end, nil},
		"in a code span":             {"Write `" + begin + "` and `" + end + "`.", nil},
		"in code over two lines":     {"Write `` a\n{/* breakersim: table x */}\n`` so.", nil},
		"escaped":                    {"Write \\" + begin + " so.", nil},
		"in pre":                     {"<pre>\n" + begin + "\n\n" + end + "\n</pre>", nil},
		"in a script":                {"<script>\n" + begin + "\n\n" + end + "\n</script>", nil},
		"in a comment":               {"<!-- not now:\n" + begin + "\n", nil},
		"in a comment in a div":      {"<div>\n<!-- a\n" + begin + "\n</div>", nil},
		"in front matter":            {"---\na: |\n  " + begin + "\n---\n" + begin + "\n" + end, []string{`table x | "" | ""`}},
		"in TOML front matter":       {"+++\na = '''\n" + begin + "'''\n+++\n", nil},
		"a rule at the start":        {"---\n\n" + begin + "\n" + end, []string{`table x | "" | ""`}},
		"words about us":             {"<!-- breakersim is a tool -->\n\n<!-- see breakersim: -->", nil},
		"not UTF-8":                  {"\xff\xfe\n\n" + begin + "\n\xff\n" + end, []string{`table x | "\xff\n" | ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			regions, faults := findRegions([]byte(c.src), false)
			assert.Empty(t, faults)
			assert.Equal(t, c.want, found(c.src, regions))
		})
	}
}

func TestFindRegionsOfMDX(t *testing.T) {
	const begin, end = "{/* breakersim: table x */}", "{/* /breakersim */}"
	for name, c := range map[string]struct {
		src  string
		want []string
	}{
		"one":                      {"a\n\n" + begin + "\nold\n" + end + "\nb", []string{`table x | "old\n" | ""`}},
		"in tags":                  {"<Tabs>\n  <Tab>\n      " + begin + "\n\n      old\n\n      " + end + "\n  </Tab>\n</Tabs>", []string{`table x | "\n      old\n\n" | "      "`}},
		"in a list":                {"1. a\n\n   " + begin + "\n   " + end, []string{`table x | "" | "   "`}},
		"in a fence":               {"```\n" + begin + "\n" + end + "\n```\n", nil},
		"in a fence in tags":       {"<Tab>\n\n      ```md\n      " + begin + "\n\n      " + end + "\n      ```\n\n      " + begin + "\n      " + end + "\n</Tab>", []string{`table x | "" | "      "`}},
		"in a code span":           {"Write `" + begin + "`.", nil},
		"in a comment":             {"{/* a\n\n" + begin + "\n", nil},
		"after a comment":          {"{/* a\n\nb */}\n\n" + begin + "\n" + end, []string{`table x | "" | ""`}},
		"no code by indentation":   {"a\n\n     " + begin + "\n     " + end, []string{`table x | "" | "     "`}},
		"a comment without end":    {"{/* a\n\n<!-- -->", nil},
		"in pre, which is no code": {"<pre>\n" + begin + "\n" + end + "\n</pre>", []string{`table x | "" | ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			regions, faults := findRegions([]byte(c.src), true)
			assert.Empty(t, faults)
			assert.Equal(t, c.want, found(c.src, regions))
		})
	}
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		src          string
		line, column int
	}{
		{"x", 1, 1}, {"a\nbx", 2, 2}, {"ä€x", 1, 3}, {"\ufeffx", 1, 1}, {"a\r\n\r\nx", 3, 1}, {"a\rbx", 2, 2},
	} {
		line, column := place([]byte(c.src), strings.Index(c.src, "x"))
		assert.Equal(t, [2]int{c.line, c.column}, [2]int{line, column}, "%q", c.src)
	}
}

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{" table  x ", []string{"table", "x"}},
		{`a alt="b c" d`, []string{"a", "alt=b c", "d"}},
		{`alt="a \"b\" \\" c`, []string{`alt=a "b" \`, "c"}},
		{`'set=a.b={c: "d"}'`, []string{`set=a.b={c: "d"}`}},
		{`set=a.b='x y'`, []string{"set=a.b=x y"}},
		{`alt=isn't`, []string{"alt=isn't"}},
		{`alt="ä € ` + "\xff" + `"`, []string{"alt=ä € \xff"}},
		{"", nil},
	} {
		words, fault := splitWords(c.text, 0)
		require.Nil(t, fault, c.text)
		var got []string
		for _, w := range words {
			got = append(got, w.text)
		}
		assert.Equal(t, c.want, got, c.text)
	}
	_, fault := splitWords(`a b="c`, 10)
	assert.Equal(t, &misplaced{14, `this quote does not end; write " after the value`}, fault)
}

// FuzzPage holds that no file makes the search for markers fall over, that what
// is outside of them stays, and that writing twice is writing once.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		begin + "\nold\n" + end, "\ufeff---\r\na\r\n---\r\n> - " + begin + "\r\n>   " + end, "```\n" + begin + "\n```\n",
		"{/* breakersim: table x */}\n\n{/* /breakersim */}\n---", "<div>\n" + begin + "\n" + end + "\n</div>", "a `" + begin + "`", "\t- \t" + begin + "\r" + end,
		"<!-- a\n" + begin, "1. a\n   " + begin + "\n   " + end + " b",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, mdx bool) {
		regions, faults := findRegions(src, mdx)
		for _, x := range faults {
			line, column := place(src, x.at)
			require.Positive(t, line*column)
		}
		p := &page{path: "x", mdx: mdx, src: src}
		for i := range regions {
			parseRequest(&regions[i])
			p.parts = append(p.parts, part{region: regions[i], body: "![a](b)\n"})
		}
		if len(faults) > 0 {
			return
		}
		p.write()
		rest := p.text
		at := 0
		for _, r := range regions {
			require.LessOrEqual(t, at, r.from)
			require.LessOrEqual(t, r.from, r.to)
			before := src[at:r.from]
			require.True(t, bytes.HasPrefix(rest, before), "what is outside stays")
			rest = rest[len(before):]
			_, rest, _ = bytes.Cut(rest, []byte("![a](b)"))
			at = r.to
		}
		require.True(t, bytes.HasSuffix(rest, src[at:]), "what is outside stays")
		if p.check() != nil {
			return // such a page is refused
		}
		again, _ := findRegions(p.text, mdx)
		q := &page{path: "x", mdx: mdx, src: p.text}
		for i := range again {
			q.parts = append(q.parts, part{region: again[i], body: "![a](b)\n"})
		}
		q.write()
		require.Equal(t, string(p.text), string(q.text), "writing twice is writing once")
	})
}
