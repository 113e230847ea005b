package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Document is a scenario file as it is written: where each key stands, and what
// belongs to it, word for word.
type Document struct {
	file  string
	root  ast.Node
	lines []string
}

// Pair is an entry of a mapping: its key, and its value in flow style, on one line.
type Pair struct{ Key, Value string }

// Read reads a file as it is written. That it is YAML is all that is asked of
// it; the error is a [*Faults].
func Read(file string, src []byte, lim Limits) (*Document, error) {
	d := newDecoder(file)
	root := d.tree(src, lim)
	if root == nil {
		return nil, &d.faults
	}
	return &Document{file, root, d.faults.lines}, nil
}

// Has says whether the path leads to something: keys, and of lists the index
// from 0, as text.
func (d *Document) Has(path ...string) bool {
	_, n := d.find(path)
	return n != nil
}

// At is where the key stands that the path ends with, or the item of a list.
// Length is that of the key. Of a path that leads nowhere it is the longest part
// that is there.
func (d *Document) At(path ...string) Fault {
	for n := len(path); n > 0; n-- {
		if at, value := d.find(path[:n]); value != nil {
			t := place(at)
			return Fault{Line: max(1, t.Position.Line), Column: max(1, t.Position.Column), Length: max(1, len([]rune(strings.TrimSpace(t.Value))))}
		}
	}
	return Fault{Line: 1, Column: 1, Length: 1}
}

// Pairs are the entries of the mapping that the path leads to, in their order.
func (d *Document) Pairs(path ...string) (all []Pair) {
	_, n := d.find(path)
	for _, kv := range entries(n) {
		all = append(all, Pair{keyText(kv.Key), (&edit{}).flow(kv.Value)})
	}
	return all
}

// Text is the value that the path leads to, in flow style; empty if there is none.
func (d *Document) Text(path ...string) string {
	if _, n := d.find(path); n != nil {
		return (&edit{}).flow(n)
	}
	return ""
}

// Faults are things that are wrong with the file, as [Load] reports them.
func (d *Document) Faults(all ...Fault) *Faults {
	return &Faults{File: d.file, Faults: all, lines: d.lines}
}

// find gives the key that the path ends with, and its value; of an item of a
// list that itself for both; nil if it leads nowhere.
func (d *Document) find(path []string) (at, value ast.Node) {
	at, value = d.root, d.root
	for _, step := range path {
		parent := value
		at, value = nil, nil
		for _, kv := range entries(parent) {
			if keyText(kv.Key) == step && value == nil {
				at, value = keyNode(kv.Key), kv.Value
			}
		}
		if list, ok := parent.(*ast.SequenceNode); ok {
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(list.Values) {
				at, value = list.Values[i], list.Values[i]
			}
		}
		if value == nil {
			return nil, nil
		}
	}
	return at, value
}

// LoadBreakers reads a file that has breakers, and perhaps policies, and nothing
// besides: settings without a world. What they guard and route to is taken to be
// there. The error is a [*Faults].
func LoadBreakers(file string, src []byte, lim Limits) (*Scenario, error) {
	d := newDecoder(file)
	root := d.tree(src, lim)
	if root == nil {
		return nil, &d.faults
	}
	var f val[fileW]
	f.decodeNode(d, root, "a file of settings, which begins with `breakers:`,")
	d.read = true
	r := resolver{d: d, f: &f.V, root: root, s: &Scenario{File: file, Name: "settings", Seed: 1, MaxCalls: lim.Calls}, anyTarget: true}
	r.breakers = r.f.Breakers.names()
	r.anyBreaker = d.perhaps(root, "breakers") || d.perhaps(r.f.Breakers.node)
	r.anyPolicy = d.perhaps(root, "policies")
	if len(r.breakers) == 0 && !r.anyBreaker {
		d.fault(root, "there are no breakers; write one, such as breakers: {search: {kind: tool}}")
	}
	r.resolveBreakers()
	r.resolvePolicies()
	if len(d.faults.Faults) > 0 {
		d.faults.sort()
		return nil, &d.faults
	}
	return r.s, nil
}

// itsOwnBackup is what is said of a chain that names its primary.
const itsOwnBackup = "it cannot be its own backup"

// OwnBackups says whether all that is wrong is that chains name their primary.
func (f *Faults) OwnBackups() bool {
	return !slices.ContainsFunc(f.Faults, func(x Fault) bool { return !strings.Contains(x.Message, itsOwnBackup) })
}
