package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Set gives a scenario file with one value changed, and the rest of its text as
// it was. The path is keys parted by dots; an item of a list is chosen by its
// index, from 0, or by its name: callers.agents.count, targets.search.phases.0.for.
// Where a key itself has dots the longest one that fits is meant. A key that is
// not there is added in front, and so are the mappings on the way to it. The value is
// YAML. Whether the result makes sense is for [Load] to say; file is only for
// messages, and a file that cannot be read gives a [*Faults] here as well.
func Set(file string, src []byte, path, value string) ([]byte, error) {
	d := newDecoder(file)
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(src), "\ufeff"))
	d.faults.lines = strings.Split(text, "\n")
	root := d.parse(text)
	if root == nil {
		return nil, &d.faults
	}
	v, err := flowValue(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(path), err)
	}
	s := newSetter(text)
	e, err := s.find(root, -1, path, "", v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(path), err)
	}
	changed, ok := s.apply(e)
	if !ok || !e.came(root, changed) {
		return nil, fmt.Errorf("%s: it is written in a way that is not changed from outside; change the file", clip(path))
	}
	return []byte(changed), nil
}

// flowValue is the value as it can stand anywhere, on one line.
func flowValue(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return "", errors.New("there is no value; write it like path=10s")
	}
	d := newDecoder("")
	n := d.parse(value)
	if n == nil {
		return "", fmt.Errorf("the value %s cannot be read: %s", clip(value), d.faults.Faults[0].Message)
	}
	for _, t := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType} {
		if len(ast.Filter(t, n)) > 0 {
			return "", errors.New(writeItOut)
		}
	}
	return (&edit{}).flow(n), nil
}

// edit is one change of a tree: text instead of the node at or, with a key, a
// new entry of the mapping at.
type edit struct {
	at   ast.Node
	lead int // the token that the value at comes after
	key  string
	text string
}

// came says whether the changed text is the tree with the edit, and nothing else.
func (e *edit) came(root ast.Node, changed string) bool {
	n := newDecoder("").parse(changed)
	return n != nil && (&edit{}).flow(n) == e.flow(root)
}

// flow writes the tree in flow style, with the edit in it.
func (e *edit) flow(n ast.Node) string {
	if n == e.at && e.key == "" {
		return e.text
	}
	switch x := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		var parts []string
		if n == e.at {
			parts = append(parts, e.key+": "+e.text)
		}
		for _, kv := range entries(n) {
			parts = append(parts, e.flow(keyNode(kv.Key))+": "+e.flow(kv.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case *ast.SequenceNode:
		var parts []string
		for _, it := range x.Values {
			parts = append(parts, e.flow(it))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *ast.LiteralNode:
		return strconv.Quote(x.Value.Value)
	case *ast.StringNode:
		if x.Token.Type == token.StringType {
			return plainOrQuoted(x.Value)
		}
		return strconv.Quote(x.Value)
	case *ast.NullNode:
		return "null"
	}
	return n.GetToken().Value
}

var plainText = regexp.MustCompile(`^[\pL\pN._+/]([\pL\pN._+/@%:-]*[\pL\pN._+/@%-])?$`)

// plainOrQuoted is text as a word in flow style.
func plainOrQuoted(text string) string {
	if plainText.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

// entries are the pairs of a mapping; of anything else there are none.
func entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// setter knows where the tokens of a text are.
type setter struct {
	text   string
	starts []int // of the lines, in bytes
	tokens token.Tokens
	depth  []int          // of flow style, after each token
	at     map[[2]int]int // tokens by line and column
}

func newSetter(text string) *setter {
	s := &setter{text: text, starts: []int{0}, tokens: lexer.Tokenize(text), at: map[[2]int]int{}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	depth := 0
	for i, t := range s.tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		s.depth = append(s.depth, depth)
		s.at[[2]int{t.Position.Line, t.Position.Column}] = i
	}
	return s
}

// find goes down the path from the node n, which comes after the token lead and
// which walked leads to.
func (s *setter) find(n ast.Node, lead int, path, walked, value string) (*edit, error) {
	if path == "" && walked != "" {
		return &edit{at: n, lead: lead, text: value}, nil
	}
	step, rest, more := strings.Cut(path, ".")
	if step == "" || more && rest == "" {
		return nil, errors.New("a step of the path is empty; write it like breakers.search.recovery_duration")
	}
	switch x := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		var keys []string
		pairs := entries(n)
		for _, kv := range pairs {
			keys = append(keys, keyText(kv.Key))
		}
		if i, rest := longest(keys, path); i >= 0 {
			return s.find(pairs[i].Value, s.index(pairs[i].Start), rest, join(walked, keys[i]), value)
		}
		if near := Nearest(step, keys); more && near != "" && !formatKeys()[step] {
			return nil, fmt.Errorf("%s has no %q; did you mean %q?", called(walked), clip(step), near)
		}
		below, err := nest(rest, join(walked, step), value)
		return &edit{at: n, lead: lead, key: plainOrQuoted(step), text: below}, err
	case *ast.SequenceNode:
		return s.item(x, path, walked, value)
	case *ast.NullNode:
		below, err := nest(path, walked, value)
		return &edit{at: n, lead: lead, text: below}, err
	}
	return nil, fmt.Errorf("%s is one value, %s; there is no %q in it", called(walked), clip((&edit{}).flow(n)), clip(step))
}

// item goes on in an item of a list.
func (s *setter) item(list *ast.SequenceNode, path, walked, value string) (*edit, error) {
	step, rest, _ := strings.Cut(path, ".")
	names := make([]string, len(list.Values))
	var known []string
	for i, it := range list.Values {
		if names[i] = itemName(it); names[i] != "" {
			known = append(known, names[i])
		}
	}
	i, err := strconv.Atoi(step)
	switch {
	case err != nil:
		if i, rest = longest(names, path); i < 0 {
			return nil, fmt.Errorf("%s has no item %q%s", called(walked), clip(step), meant(step, known))
		}
		step = names[i]
	case i < 0 || i >= len(list.Values):
		return nil, fmt.Errorf("%s has no item %s; it has %d, counted from 0", called(walked), clip(step), len(list.Values))
	}
	lead := s.index(place(list.Values[i])) - 1
	for lead >= 0 && s.tokens[lead].Type == token.CommentType {
		lead--
	}
	return s.find(list.Values[i], lead, rest, join(walked, step), value)
}

// itemName is what an item of a list is chosen by: its name or, of a plain
// value, that itself.
func itemName(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	for _, kv := range entries(n) {
		if s, ok := kv.Value.(*ast.StringNode); ok && keyText(kv.Key) == "name" {
			return s.Value
		}
	}
	return ""
}

// longest is the longest of the keys that the path begins with, or -1, and the
// path below it.
func longest(keys []string, path string) (best int, rest string) {
	best = -1
	for i, k := range keys {
		after, ok := strings.CutPrefix(path, k)
		if ok && k != "" && (after == "" || after[0] == '.' && after != ".") && (best < 0 || len(k) > len(keys[best])) {
			best, rest = i, strings.TrimPrefix(after, ".")
		}
	}
	return best, rest
}

// nest is the value below keys that are not there yet.
func nest(path, walked, value string) (string, error) {
	if path == "" {
		return value, nil
	}
	step, rest, more := strings.Cut(path, ".")
	switch _, err := strconv.Atoi(step); {
	case step == "" || more && rest == "":
		return "", errors.New("a step of the path is empty; write it like breakers.search.recovery_duration")
	case err == nil:
		return "", fmt.Errorf("%s is not there, so it has no item %s", walked, clip(step))
	}
	below, err := nest(rest, join(walked, step), value)
	return "{" + plainOrQuoted(step) + ": " + below + "}", err
}

func join(walked, step string) string { return strings.TrimPrefix(walked+"."+step, ".") }

// called is how messages call what a path led to.
func called(walked string) string {
	if walked == "" {
		return "the scenario"
	}
	return clip(walked)
}

// formatKeys are all the keys that the format has anywhere, as opposed to names.
var formatKeys = sync.OnceValue(func() map[string]bool {
	var schema any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		panic("scenarios: " + err.Error()) // it was just made
	}
	keys := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case []any:
			for _, item := range x {
				walk(item)
			}
		case map[string]any:
			properties, _ := x["properties"].(map[string]any)
			for k := range properties {
				keys[k] = true
			}
			for _, item := range x {
				walk(item)
			}
		}
	}
	walk(schema)
	return keys
})

// index finds a token of the tree among those of the text, or -1.
func (s *setter) index(t *token.Token) int {
	if i, ok := s.at[[2]int{t.Position.Line, t.Position.Column}]; ok {
		return i
	}
	return -1
}

// offset is where a token begins, in bytes.
func (s *setter) offset(t *token.Token) int {
	o, column := s.starts[t.Position.Line-1], 1
	for k := range s.text[o:] { // columns count characters
		if column >= t.Position.Column {
			return o + k
		}
		column++
	}
	return len(s.text)
}

// apply changes the text, unless it is written too strangely.
func (s *setter) apply(e *edit) (string, bool) {
	if e.key == "" {
		return s.replace(e.lead, e.text)
	}
	first := s.index(place(e.at))
	if first < 0 {
		return "", false
	}
	at, entry := s.offset(s.tokens[first]), e.key+": "+e.text
	if m, ok := e.at.(*ast.MappingNode); ok && m.IsFlowStyle {
		if len(m.Values) > 0 {
			entry += ", "
		}
		return s.text[:at+1] + entry + s.text[at+1:], true
	}
	column := len([]rune(s.text[strings.LastIndexByte(s.text[:at], '\n')+1 : at]))
	return s.text[:at] + entry + "\n" + strings.Repeat(" ", column) + s.text[at:], true
}

// replace puts a value after the token lead, instead of what is there.
func (s *setter) replace(lead int, value string) (string, bool) {
	if lead < 0 {
		return "", false
	}
	from, to := s.offset(s.tokens[lead])+1, len(s.text)
	end := s.end(lead)
	for end-1 > lead && s.tokens[end-1].Type == token.CommentType {
		end-- // comments after the value stay
	}
	if end < len(s.tokens) {
		to = s.offset(s.tokens[end])
	}
	if to < from {
		return "", false
	}
	old := s.text[from:to]
	blank := old[len(strings.TrimRight(old, " \t\n")):]
	if s.tokens[lead].Type != token.SequenceStartType {
		value = " " + value
	}
	return s.text[:from] + value + blank + s.text[to:], true
}

// end is the index of the first token after the value that begins after lead.
func (s *setter) end(lead int) int {
	first := s.tokens[lead]
	dash, column := first.Type == token.SequenceEntryType, first.Position.Column
	if key := lead - 1; first.Type == token.MappingValueType && key >= 0 && s.tokens[key].Position.Line == first.Position.Line {
		column = s.tokens[key].Position.Column
	}
	text := false // the next word is that of | or >
	for i := lead + 1; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case t.Type == token.CommentType:
			continue
		case text:
		case s.depth[lead] > 0:
			if s.depth[i] < s.depth[lead] || s.depth[i] == s.depth[lead] && t.Type == token.CollectEntryType {
				return i
			}
		case t.Type == token.DocumentHeaderType || t.Type == token.DocumentEndType:
			return i
		case s.depth[i-1] > 0, t.Position.Line == first.Position.Line:
		case t.Position.Column < column, t.Position.Column == column && (dash || t.Type != token.SequenceEntryType):
			return i
		}
		text = t.Type == token.LiteralType || t.Type == token.FoldedType
	}
	return len(s.tokens)
}
