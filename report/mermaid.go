package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// WriteMermaid writes what a breaker can do and what it did as a Mermaid state
// diagram, for pages that draw those: every move that its picture has, with its
// rule and how often the run made it.
func WriteMermaid(w io.Writer, h *History, breaker string) error {
	all := h.tallies(0, 0)
	i := slices.IndexFunc(all, func(t *tally) bool { return t.Name == breaker })
	if i < 0 {
		return unknownBreaker(all, breaker)
	}
	_, err := io.WriteString(w, all[i].mermaid())
	return err
}

func unknownBreaker(all []*tally, name string) error {
	if len(all) == 0 {
		return errors.New("there are no breakers in this run, so none has states to draw")
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return fmt.Errorf("there is no breaker %q; write one of %s", name, strings.Join(names, ", "))
}

func (t *tally) mermaid() string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, "    "+format+"\n", a...) }
	m := t.machine()
	b.WriteString("---\ntitle: " + yamlString(t.heading()+", policy "+t.h.Run.Policy) + "\n---\nstateDiagram-v2\n")
	for _, state := range t.states() {
		words := slices.Concat([]string{state}, t.timeIn(state)[0], t.served(state), t.notes(state))
		for i := range words {
			words[i] = mermaidText(words[i])
		}
		line(`state "%s" as %s`, strings.Join(words, "<br/>"), mermaidID(state))
	}
	if m.index(t.first) >= 0 {
		line("[*] --> %s", mermaidID(t.first))
	}
	for _, row := range t.moves() {
		how := strings.TrimSpace(row.Rule + " ×" + Thousands(int64(t.taken[row])))
		line("%s --> %s : %s, %s", mermaidID(row.From), mermaidID(row.To), how, mermaidText(t.cause(&row)))
	}
	if m.index(t.last) >= 0 {
		line("%s --> [*]", mermaidID(t.last))
	}
	for _, state := range t.states() {
		look, id := stateLook(state), mermaidID(state)
		line("classDef %s_look fill:%s,stroke:%s,color:%s", id, light.colors[look], light.colors[look+"-edge"], light.colors[look+"-ink"])
		line("class %s %[1]s_look", id)
	}
	return b.String()
}

// mermaidID is a state as Mermaid takes it for a name.
func mermaidID(state string) string { return strings.ReplaceAll(state, "-", "_") }

// mermaidText is text that Mermaid takes for nothing else: what could be syntax
// is written by its number.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" -_.,()·×'/+", r):
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// yamlString is text in quotes, which YAML reads as JSON does.
func yamlString(s string) string {
	b, _ := json.Marshal(s) // of a string it cannot fail
	return string(b)
}
