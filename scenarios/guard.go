package scenarios

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// What the parser must not see, because its time or memory grows with the square
// of it, and running out of memory cannot be recovered from. No scenario comes near.
const (
	deepest    = 32        // nesting
	mostKeys   = 5_000     // keys of one mapping
	mostCostly = 10_000    // values left empty, tags, anchors, aliases and documents
	mostPaths  = 128 << 20 // bytes: each node of the tree holds the keys on the way to it
)

// guard reads the tokens, which cost little, and gives the first that is too
// much, with what to say about it; or nil.
func guard(tokens token.Tokens) (*token.Token, string) {
	var g guarded
	kept := tokens[:0:0]
	for _, t := range tokens {
		if t.Type != token.CommentType {
			kept = append(kept, t)
		}
	}
	for i, t := range kept {
		var prev, next *token.Token
		if i > 0 {
			prev = kept[i-1]
		}
		if i+1 < len(kept) {
			next = kept[i+1]
		}
		g.see(prev, t, next)
		for _, f := range g.frames {
			g.paths += f.key
		}
		switch {
		case len(g.frames) > deepest:
			return t, fmt.Sprintf("nested more than %d deep; no scenario needs that", deepest)
		case g.most > mostKeys:
			return t, fmt.Sprintf("more than %d keys in one mapping", mostKeys)
		case g.costly > mostCostly:
			return t, fmt.Sprintf("more than %d values left empty, tags, anchors and documents; no scenario needs that", mostCostly)
		case g.paths > mostPaths:
			return t, "such long keys, with so much below them, would take too much memory; names have at most 64 letters"
		}
	}
	return nil, ""
}

// guarded counts along the tokens.
type guarded struct {
	frames              []frame
	most, costly, paths int
}

// frame is a collection under way.
type frame struct {
	kind   token.Type // what opened it; MappingValueType: a mapping in block style
	column int        // of block style: where its keys or dashes stand
	key    int        // bytes of the key under way
	keys   int        // keys so far
	valued bool       // of flow style: the entry under way has a colon
}

func (f *frame) flow() bool {
	return f.kind == token.MappingStartType || f.kind == token.SequenceStartType
}

// top is the innermost frame in flow style, or nil within block style.
func (g *guarded) top() *frame {
	if n := len(g.frames); n > 0 && g.frames[n-1].flow() {
		return &g.frames[n-1]
	}
	return nil
}

func (g *guarded) see(prev, t, next *token.Token) {
	top := g.top()
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		g.frames = append(g.frames, frame{kind: t.Type})
	case token.CollectEntryType:
		if top != nil {
			g.entryEnds(top, prev)
		}
	case token.MappingEndType, token.SequenceEndType:
		if top != nil {
			g.entryEnds(top, prev)
		}
		g.close()
	case token.MappingValueType:
		switch {
		case top != nil:
			top.valued, top.key = true, len(prev.Value)
			if next == nil || ends(next) {
				g.costly++
			}
		case prev != nil && prev.Position.Line == t.Position.Line:
			g.block(t.Type, prev.Position.Column, len(prev.Value), next, t)
		default: // of the form `? key`, newline, `: value`
			g.block(t.Type, t.Position.Column, 0, next, t)
		}
	case token.SequenceEntryType:
		g.block(t.Type, t.Position.Column, 0, next, t)
	case token.MappingKeyType:
		g.block(t.Type, t.Position.Column, 0, next, t)
		g.costly++ // whether its value is empty shows only later
	case token.DocumentHeaderType, token.TagType, token.AnchorType, token.AliasType:
		g.costly++
	}
}

// ends says whether a token in flow style ends an entry.
func ends(t *token.Token) bool {
	return t.Type == token.CollectEntryType || t.Type == token.MappingEndType || t.Type == token.SequenceEndType
}

// entryEnds counts an entry in flow style, of which prev is the last token.
func (g *guarded) entryEnds(f *frame, prev *token.Token) {
	if empty := prev.Type == f.kind || prev.Type == token.CollectEntryType; f.kind == token.MappingStartType && !empty {
		f.keys++
		g.most = max(g.most, f.keys)
		if !f.valued {
			g.costly++
		}
	}
	f.key, f.valued = 0, false
}

// close ends the innermost collection in flow style.
func (g *guarded) close() {
	for n := len(g.frames); n > 0; n-- {
		if g.frames[n-1].flow() {
			g.frames = g.frames[:n-1]
			return
		}
	}
}

// block takes the colon of a key, a dash or a question mark in block style; its
// column is the key's. The value of t is empty if next stands no deeper.
func (g *guarded) block(kind token.Type, column, key int, next, t *token.Token) {
	dash := kind == token.SequenceEntryType
	n := len(g.frames)
	for ; n > 0; n-- {
		// A list may stand in the column of the key that it belongs to.
		f := &g.frames[n-1]
		if f.flow() || f.column < column || f.column == column && (f.kind == kind || dash) {
			break
		}
	}
	g.frames = g.frames[:n]
	if n == 0 || g.frames[n-1].kind != kind || g.frames[n-1].column != column {
		g.frames = append(g.frames, frame{kind: kind, column: column})
	}
	f := &g.frames[len(g.frames)-1]
	f.key = key
	if !dash {
		f.keys++
		g.most = max(g.most, f.keys)
	}
	listBelow := next != nil && next.Type == token.SequenceEntryType && !dash
	if next == nil || next.Position.Line > t.Position.Line && (next.Position.Column < column || next.Position.Column == column && !listBelow) {
		g.costly++
	}
}
