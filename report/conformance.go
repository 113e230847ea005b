package report

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Matrix says what each breaker does about each rule.
type Matrix struct {
	About    string          `json:"-"`        // the settings that all are made with
	Breakers []MatrixBreaker `json:"breakers"` // the columns; the first is ours
	Rules    []MatrixRule    `json:"rules"`
}

// MatrixBreaker is a breaker that is held against the rules.
type MatrixBreaker struct {
	Name    string   `json:"name"`
	Module  string   `json:"module,omitempty"` // empty: it is ours
	Version string   `json:"version,omitempty"`
	Note    string   `json:"note,omitempty"`   // what of it is driven, with which settings
	Cannot  []string `json:"cannot,omitempty"` // what of the settings it cannot express, a clause each
	Claims  string   `json:"claims,omitempty"` // what its own documentation says, with the address in brackets
}

// MatrixRule is a rule and what each breaker does about it.
type MatrixRule struct {
	ID       string       `json:"rule"`
	Title    string       `json:"title"` // what it says
	About    string       `json:"about"` // what happens in its scenario
	Scenario string       `json:"scenario"`
	Picture  *PagePicture `json:"-"`
	Cells    []MatrixCell `json:"cells"` // by breaker
}

// MatrixCell is what one breaker does about one rule.
type MatrixCell struct {
	Answer Conforms `json:"answer"`
	Why    string   `json:"why"`
	// Tried are other settings of the same library, and our lease around it; of a no.
	Tried []MatrixTried `json:"tried,omitempty"`
}

// MatrixTried is what the library does under other settings.
type MatrixTried struct {
	Name   string   `json:"name"`
	Note   string   `json:"note"`
	Answer Conforms `json:"answer"`
	Why    string   `json:"why"`
}

// Conforms is an answer.
type Conforms string

// The answers.
const (
	ConformsYes    Conforms = "yes"
	ConformsNo     Conforms = "no"
	ConformsCannot Conforms = "cannot be expressed"
)

// Short is the answer in a word, as a cell of a table has it.
func (c Conforms) Short() string {
	word, _, _ := strings.Cut(string(c), " ")
	return word
}

// Title is the breaker with its version in short.
func (b *MatrixBreaker) Title() string { return strings.TrimSpace(b.Name + " " + b.Short()) }

// commit is the version of a commit that has none of its own.
var commit = regexp.MustCompile(`^v0\.0\.0-(\d{4})(\d\d)(\d\d)\d{6}-[0-9a-f]+$`)

// Short is the version as one says it: "v2.4.0", "of 2018-05-02".
func (b *MatrixBreaker) Short() string {
	return commit.ReplaceAllString(strings.TrimSuffix(b.Version, "+incompatible"), "of $1-$2-$3")
}

// mended says by which settings the library does as the rule says.
func (c *MatrixCell) mended() string {
	var by []string
	for _, t := range c.Tried {
		if t.Answer == ConformsYes {
			by = append(by, t.Name)
		}
	}
	switch {
	case len(c.Tried) == 0:
		return ""
	case len(by) == 0:
		return "Tried without avail: " + listed(c.tried()) + "."
	}
	return "It does under " + listed(by) + "."
}

func (c *MatrixCell) tried() (names []string) {
	for _, t := range c.Tried {
		names = append(names, t.Name)
	}
	return names
}

// fairness is what every form of the matrix says first.
const fairness = "The rules are those of breakersim's own breaker. Other libraries follow their own documentation, which promises other things: " +
	"a no says what is different, and when, not that it is wrong. Where a breaker cannot, it has no such setting, or never comes to where the rule begins."

// notes are the settings that were tried, each once. What is around them, after a
// plus sign, the matrix's About says.
func (m *Matrix) notes() (all []MatrixTried) {
	for i := range m.Rules {
		for _, c := range m.Rules[i].Cells {
			for _, t := range c.Tried {
				known := slices.ContainsFunc(all, func(x MatrixTried) bool { return x.Name == t.Name })
				if !known && !strings.Contains(t.Name, "+") {
					all = append(all, MatrixTried{Name: t.Name, Note: t.Note})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b MatrixTried) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// address is where a claim was read.
var address = regexp.MustCompile(`https://[^\s()]+`)

// claim is a piece of what a library claims: text, or an address.
type claim struct{ Text, Address string }

func (b *MatrixBreaker) claims() (all []claim) {
	rest := b.Claims
	for {
		at := address.FindStringIndex(rest)
		if at == nil {
			return append(all, claim{Text: rest})
		}
		all = append(all, claim{Text: rest[:at[0]]}, claim{Address: rest[at[0]:at[1]]})
		rest = rest[at[1]:]
	}
}

// WriteJSON writes the matrix with all that was tried.
func (m *Matrix) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(m)
}

// WriteTerminal writes the matrix for a terminal, breakers that do not fit
// beside each other below each other; then what the rules say, and whose
// breakers they are.
func (m *Matrix) WriteTerminal(w io.Writer, o TerminalOptions) error {
	var b strings.Builder
	// a Builder takes everything
	say := func(head, s string) { _ = writeLines(&b, hang(o.Text(head), o.Text(s), o.proseWidth())) }
	for left := len(m.Breakers); left > 0; {
		from := len(m.Breakers) - left
		n := left
		for n > 1 && gridWidth(m.grid(from, from+n, &o)) > o.width() {
			n--
		}
		if err := writePlain(&b, m.grid(from, from+n, &o), 0, &o); err != nil {
			return err
		}
		b.WriteString("\n")
		left -= n
	}
	for i := range m.Rules {
		say(fmt.Sprintf("%-8s", m.Rules[i].ID), m.Rules[i].Title)
	}
	b.WriteString("\n")
	for i := range m.Breakers {
		if x := &m.Breakers[i]; x.Module != "" {
			say("", fmt.Sprintf("%s: %s %s", x.Name, x.Module, x.Version))
		}
	}
	say("", fairness)
	_, err := io.WriteString(w, b.String())
	return err
}

// grid is the table of the breakers [from, to).
func (m *Matrix) grid(from, to int, o *TerminalOptions) [][]string {
	head := []string{"rule"}
	for _, b := range m.Breakers[from:to] {
		head = append(head, o.cut(b.Name, o.width()/2))
	}
	lines := [][]string{head}
	for i := range m.Rules {
		line := []string{m.Rules[i].ID}
		for _, c := range m.Rules[i].Cells[from:to] {
			word := c.Answer.Short()
			if c.Answer == ConformsNo {
				word = "NO"
			}
			line = append(line, word)
		}
		lines = append(lines, line)
	}
	return lines
}
