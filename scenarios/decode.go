package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// decoder walks the tree along the types of wire.go, and collects every fault.
type decoder struct {
	kind     string // of file: "scenario" or "sweep"
	faults   Faults
	searched int // long lists in which a near name was looked for
	// What was refused as it was read, so that nothing else is said of it.
	refused map[ast.Node]bool
	// The keys that mappings may have meant by one that was refused; "": any.
	lost map[ast.Node][]string
	read bool // the tree is decoded: from here on it is about meaning
}

func newDecoder(file string) *decoder {
	return &decoder{kind: "scenario", faults: Faults{File: file}, refused: map[ast.Node]bool{}, lost: map[ast.Node][]string{}}
}

// perhaps says whether one of these keys is in the mapping n after all, but was
// refused, by a misspelt name or otherwise.
func (d *decoder) perhaps(n ast.Node, keys ...string) bool {
	return slices.ContainsFunc(d.lost[n], func(k string) bool { return k == "" || slices.Contains(keys, k) })
}

const writeItOut = "anchors, aliases, merge keys and tags are not read here; write it out"

// val is a value of the file together with its place. A zero place says that
// the file does not have it.
type val[T any] struct {
	V    T
	node ast.Node
}

func (v *val[T]) said() bool { return v.node != nil }

func (v *val[T]) put(n ast.Node) { v.node = n }

func (v *val[T]) decodeNode(d *decoder, n ast.Node, what string) {
	v.node = n
	d.decode(n, reflect.ValueOf(&v.V).Elem(), what)
}

// named is a mapping from names to T, in the order of the file.
type named[T any] struct {
	node  ast.Node
	items []item[T]
}

func (m *named[T]) put(n ast.Node) { m.node = n }

type item[T any] struct {
	name string
	key  ast.Node
	node ast.Node // what belongs to the name
	v    T
}

func (m *named[T]) decodeNode(d *decoder, n ast.Node, what string) {
	m.node = n
	for _, kv := range d.pairs(n, what) {
		it := item[T]{name: keyText(kv.Key), key: keyNode(kv.Key), node: kv.Value}
		if _, null := kv.Value.(*ast.NullNode); !null {
			d.decode(kv.Value, reflect.ValueOf(&it.v).Elem(), it.name)
		}
		m.items = append(m.items, it)
	}
}

func (*named[T]) empty() bool { return true }

func (m *named[T]) names() []string {
	var all []string
	for i := range m.items {
		all = append(all, m.items[i].name)
	}
	return all
}

// nodeDecoder is for values with more than one shape.
type nodeDecoder interface {
	decodeNode(d *decoder, n ast.Node, what string)
}

// textDecoder is for scalars. The error says what is wrong with the text.
type textDecoder interface{ parse(text string) error }

// decode reads the node n, which the file calls what, into v.
func (d *decoder) decode(n ast.Node, v reflect.Value, what string) {
	if p, ok := v.Addr().Interface().(interface{ put(ast.Node) }); ok {
		p.put(n) // also where it turns out to be wrong, so that its place is known
	}
	switch x := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		d.fault(n, writeItOut)
		return
	case *ast.NullNode: // a list or mapping that is still empty
		if d.mayBeEmpty(v) {
			return
		}
		d.fault(x, "%s has no value", what)
		return
	}
	switch to := v.Addr().Interface().(type) {
	case nodeDecoder:
		to.decodeNode(d, n, what)
		return
	case textDecoder:
		if text, ok := d.scalar(n, what); ok {
			if err := to.parse(text); err != nil {
				d.fault(n, "%v", err)
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, v, what)
	case reflect.Slice:
		d.list(n, v, what)
	case reflect.String:
		if text, ok := d.scalar(n, what); ok {
			v.SetString(text)
		}
	case reflect.Int, reflect.Uint64, reflect.Float64, reflect.Bool:
		d.number(n, v, what)
	default:
		panic("scenarios: no way to decode a " + v.Type().String())
	}
}

// mayBeEmpty says whether nothing at all is a value of v.
func (d *decoder) mayBeEmpty(v reflect.Value) bool {
	if e, ok := v.Addr().Interface().(interface{ empty() bool }); ok {
		return e.empty()
	}
	return v.Kind() == reflect.Slice
}

// scalar is the text of a single value.
func (d *decoder) scalar(n ast.Node, what string) (string, bool) {
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.LiteralNode:
		return x.Value.Value, true
	case *ast.MappingNode, *ast.MappingValueNode:
		d.fault(n, "%s wants one value, not a mapping", what)
		return "", false
	case *ast.SequenceNode:
		d.fault(n, "%s wants one value, not a list", what)
		return "", false
	}
	return n.GetToken().Value, true
}

func (d *decoder) number(n ast.Node, v reflect.Value, what string) {
	text, ok := d.scalar(n, what)
	if !ok {
		return
	}
	if s, ok := n.(*ast.StringNode); ok && s.Token.Type != token.StringType {
		text = "\x00" + text // a number in quotes is none; one such as 1e-6 is taken for a word
	}
	var err error
	switch v.Kind() {
	case reflect.Int:
		var i int64
		if i, err = strconv.ParseInt(text, 10, 32); err == nil {
			v.SetInt(i)
			return
		}
		if errors.Is(err, strconv.ErrRange) {
			d.fault(n, "%s is %s; it must be from %d to %d", what, clip(text), math.MinInt32, math.MaxInt32)
			return
		}
		d.fault(n, "%s wants a whole number", what)
	case reflect.Uint64:
		var u uint64
		if u, err = strconv.ParseUint(text, 10, 64); err == nil {
			v.SetUint(u)
			return
		}
		if errors.Is(err, strconv.ErrRange) {
			d.fault(n, "%s is %s; it must be from 0 to %d", what, clip(text), uint64(math.MaxUint64))
			return
		}
		d.fault(n, "%s wants a whole number from 0 on", what)
	case reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.SetFloat(f)
			return
		}
		d.fault(n, "%s wants a number", what)
	default:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			d.fault(n, "%s wants true or false", what)
			return
		}
		v.SetBool(b.Value)
	}
}

func (d *decoder) list(n ast.Node, v reflect.Value, what string) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fault(n, "%s wants a list: [...], or items that begin with a dash and a space", what)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	for i, it := range s.Values {
		d.decode(it, v.Index(i), "an item of "+what)
	}
}

// structure reads a mapping whose keys are the struct's yaml tags.
func (d *decoder) structure(n ast.Node, v reflect.Value, what string) {
	fields, known := fieldsOf(v.Type())
	for _, kv := range d.pairs(n, what) {
		key := keyText(kv.Key)
		i, ok := fields[key]
		if !ok {
			d.fault(keyNode(kv.Key), "unknown key %q%s", clip(key), meant(key, known))
			d.lost[n] = append(d.lost[n], Nearest(key, known))
			continue
		}
		d.decode(kv.Value, v.FieldByIndex(i), key)
		if d.refused[kv.Value] {
			d.lost[n] = append(d.lost[n], key)
		}
	}
}

// fieldsOf finds the fields of t that files can set, by their keys; those of
// embedded structs are among them.
func fieldsOf(t reflect.Type) (map[string][]int, []string) {
	fields := map[string][]int{}
	var known []string
	for _, f := range reflect.VisibleFields(t) {
		if key := f.Tag.Get("yaml"); key != "" {
			fields[key] = f.Index
			known = append(known, key)
		}
	}
	return fields, known
}

// pairs are the entries of a mapping.
func (d *decoder) pairs(n ast.Node, what string) []*ast.MappingValueNode {
	var all []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		all = m.Values
	case *ast.MappingValueNode:
		all = []*ast.MappingValueNode{m}
	default:
		d.fault(n, "%s wants `key: value` pairs", what)
		return nil
	}
	kept := all[:0:0]
	first := map[string]int{}
	for _, kv := range all {
		switch keyNode(kv.Key).(type) {
		case *ast.MergeKeyNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
			d.fault(kv.Key, writeItOut)
			d.lost[n] = append(d.lost[n], "")
			continue
		}
		key, at := keyText(kv.Key), place(kv.Key).Position.Line
		if line, twice := first[key]; twice {
			d.fault(keyNode(kv.Key), "%q is here twice; the first is in line %d", clip(key), line)
			d.lost[n] = append(d.lost[n], key)
			continue
		}
		first[key] = at
		kept = append(kept, kv)
	}
	return kept
}

// keyNode is the key itself, also of the form `? key`.
func keyNode(k ast.MapKeyNode) ast.Node {
	if q, ok := k.(*ast.MappingKeyNode); ok {
		return q.Value
	}
	return k
}

func keyText(k ast.MapKeyNode) string {
	n := keyNode(k)
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return n.GetToken().Value
}

// clip keeps a quoted word from filling the screen.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}

// oneOf reads a word of a list.
func oneOf(text, what string, known []string) (int, error) {
	for i, k := range known {
		if k == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s cannot be %q%s", what, clip(text), strings.Replace(meant(text, known), "known here", "it is one of", 1))
}
