package scenarios

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parse reads the one document of a file into a tree, or adds the fault.
func (d *decoder) parse(text string) (root ast.Node) {
	defer func() { // a fault of the parser is a fault of the file, as far as the user can tell
		if p := recover(); p != nil {
			d.at(1, 1, 1, "this is not YAML that can be read: %v", p)
			root = nil
		}
	}()
	switch {
	case strings.TrimSpace(text) == "":
		d.at(1, 1, 1, "the file is empty; a %s begins with `%[1]s: its-name`", d.kind)
		return nil
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		d.at(1, 1, 1, "this is not text in UTF-8; is it a %s file?", d.kind)
		return nil
	}
	tokens := lexer.Tokenize(text)
	if t, message := guard(tokens); t != nil {
		d.at(t.Position.Line, t.Position.Column, 1, "%s", message)
		return nil
	}
	f, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // the decoder reports them with all else
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
			d.fault(doc.Body, "a second document; a file holds one %s", d.kind)
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		d.at(1, 1, 1, "there is nothing but comments here; a %s begins with `%[1]s: its-name`", d.kind)
	}
	return body
}

// longestMessage is in characters; a message may quote what the file says.
const longestMessage = 1000

func (d *decoder) at(line, column, length int, format string, a ...any) {
	message := []rune(fmt.Sprintf(format, a...))
	if len(message) > longestMessage {
		message = append(message[:longestMessage-3], []rune("...")...)
	}
	for i, r := range message {
		if unicode.IsControl(r) { // it would act on the terminal
			message[i] = ' '
		}
	}
	d.faults.Faults = append(d.faults.Faults, Fault{line, column, max(1, length), string(message)})
}

func (d *decoder) token(t *token.Token, format string, a ...any) {
	d.at(max(1, t.Position.Line), max(1, t.Position.Column), utf8.RuneCountInString(strings.TrimSpace(t.Value)), format, a...)
}

// fault reports something about the node n, unless that was refused already.
func (d *decoder) fault(n ast.Node, format string, a ...any) {
	if d.refused[n] {
		return
	}
	if !d.read {
		d.refused[n] = true
	}
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
