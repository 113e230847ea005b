package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	deepest  = 32     // nesting that no scenario needs
	mostKeys = 10_000 // keys of one mapping
)

// guard refuses what the parser must not see: its memory grows with the square
// of the nesting, and running out of memory cannot be recovered from; its time
// grows with the square of the keys of one mapping. guard looks at bytes, so it
// also counts what stands within quotes; that can only hurt a file with dozens of
// unbalanced brackets there.
func guard(src []byte) (line int, message string) {
	var g guarded
	for i, text := range bytes.Split(src, []byte("\n")) {
		g.block(text)
		for _, c := range text {
			g.flow(c)
		}
		switch {
		case g.depth > deepest:
			return i + 1, fmt.Sprintf("nested more than %d deep; no scenario needs that", deepest)
		case g.most > mostKeys:
			return i + 1, fmt.Sprintf("more than %d keys in one mapping", mostKeys)
		}
	}
	return 0, ""
}

// guarded counts along a file.
type guarded struct {
	depth, most int
	blocks      []blockKeys // mappings under way, by their indentation
	open        []int       // keys of the brackets under way
}

type blockKeys struct{ indent, keys int }

// block takes a line as one of block style: a key of a mapping, or the begin of
// list items, each of which begins mappings anew.
func (g *guarded) block(text []byte) {
	indent := len(text) - len(bytes.TrimLeft(text, " \t"))
	g.depth = max(g.depth, markers(text), indent/8)
	if len(g.open) > 0 || indent == len(text) {
		return
	}
	dash := text[indent] == '-'
	for n := len(g.blocks); n > 0 && (g.blocks[n-1].indent > indent || dash && g.blocks[n-1].indent == indent); n-- {
		g.blocks = g.blocks[:n-1]
	}
	if dash {
		return
	}
	if n := len(g.blocks); n == 0 || g.blocks[n-1].indent < indent {
		g.blocks = append(g.blocks, blockKeys{indent: indent})
	}
	last := &g.blocks[len(g.blocks)-1]
	last.keys++
	g.most = max(g.most, last.keys)
}

// flow takes a byte as one of flow style.
func (g *guarded) flow(c byte) {
	n := len(g.open)
	switch c {
	case '[', '{':
		g.open = append(g.open, 0)
		g.depth = max(g.depth, n+1)
	case ']', '}':
		g.open = g.open[:max(0, n-1)]
	case ':':
		if n > 0 {
			g.open[n-1]++
			g.most = max(g.most, g.open[n-1])
		}
	}
}

// markers counts the block markers ("- ", "? ", ": ") with which a line begins,
// each of which nests by one.
func markers(line []byte) int {
	n := 0
	for i, c := range line {
		switch c {
		case ' ', '\t':
		case '-', '?', ':':
			if i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' && line[i+1] != '\r' {
				return n
			}
			n++
		default:
			return n
		}
	}
	return n
}

// parse reads the one document of a file into a tree, or adds the fault.
func (d *decoder) parse(src []byte) (root ast.Node) {
	defer func() { // a fault of the parser is a fault of the file, as far as the user can tell
		if p := recover(); p != nil {
			d.at(1, 1, 1, "this is not YAML that can be read: %v", p)
			root = nil
		}
	}()
	switch {
	case len(bytes.TrimSpace(src)) == 0:
		d.at(1, 1, 1, "the file is empty; a scenario begins with `scenario: its-name`")
		return nil
	case bytes.IndexByte(src, 0) >= 0 || !utf8.Valid(src):
		d.at(1, 1, 1, "this is not text in UTF-8; is it a scenario file?")
		return nil
	}
	if line, message := guard(src); message != "" {
		d.at(line, 1, 1, "%s", message)
		return nil
	}
	f, err := parser.ParseBytes(src, 0)
	var bad yaml.Error
	switch {
	case errors.As(err, &bad) && bad.GetToken() != nil:
		d.token(bad.GetToken(), "this is not YAML: %s", bad.GetMessage())
		return nil
	case err != nil:
		d.at(1, 1, 1, "this is not YAML: %v", err)
		return nil
	}
	var body ast.Node
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			d.fault(doc.Body, "a second document; a file holds one scenario")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		d.at(1, 1, 1, "there is nothing but comments here; a scenario begins with `scenario: its-name`")
	}
	return body
}

func (d *decoder) at(line, column, length int, format string, a ...any) {
	d.faults.Faults = append(d.faults.Faults, Fault{line, column, max(1, length), fmt.Sprintf(format, a...)})
}

func (d *decoder) token(t *token.Token, format string, a ...any) {
	d.at(max(1, t.Position.Line), max(1, t.Position.Column), utf8.RuneCountInString(strings.TrimSpace(t.Value)), format, a...)
}

// fault reports something about the node n.
func (d *decoder) fault(n ast.Node, format string, a ...any) {
	d.token(place(n), format, a...)
}

// place is the token to point at: of a mapping its first key, not its colon.
func place(n ast.Node) *token.Token {
	switch x := n.(type) {
	case *ast.MappingValueNode:
		return place(x.Key)
	case *ast.MappingKeyNode:
		return place(x.Value)
	case *ast.MappingNode:
		if x.IsFlowStyle || len(x.Values) == 0 {
			return x.GetToken()
		}
		return place(x.Values[0])
	case *ast.SequenceNode:
		return x.GetToken()
	}
	return n.GetToken()
}
