package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Text is a piece of text, in one line, as the terminal can show it: without
// characters that would act on it, and in ASCII if that is all it has.
func (o *TerminalOptions) Text(s string) string {
	s = harmless(s)
	if o.ASCII {
		s = ascii(s)
	}
	return s
}

// harmless is text in one line, with a question mark for each character that
// would act on a terminal: controls, and what turns the direction of writing.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '?'
		}
		return r
	}, s)
}

// standIns are ASCII for the characters that our own sentences use.
var standIns = strings.NewReplacer("→", "->", "…", "...", "–", "-", "—", "-", "─", "-", "·", "-", "×", "x", "≤", "<=", "≥", ">=", "µ", "u",
	"“", `"`, "”", `"`, "‘", "'", "’", "'", "\u00a0", " ")

// ascii keeps the room that each other character takes.
func ascii(s string) string {
	var b strings.Builder
	for g := displaywidth.StringGraphemes(standIns.Replace(s)); g.Next(); {
		if v := g.Value(); len(v) == 1 && v[0] < utf8.RuneSelf {
			b.WriteString(v)
		} else {
			b.WriteString(strings.Repeat("?", g.Width()))
		}
	}
	return b.String()
}

// wrap breaks text at its blanks into lines of so many cells, and within a word
// that is longer than a line. A unit stays with its number: "80 s".
func wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range words(s) {
		w := displaywidth.String(word)
		if used > 0 && used+1+w <= width {
			line, used = line+" "+word, used+1+w
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		for w > width {
			head := displaywidth.TruncateString(word, width, "")
			if head == "" {
				break // one character alone is wider than the line
			}
			lines = append(lines, head)
			word = word[len(head):]
			w = displaywidth.String(word)
		}
		line, used = word, w
	}
	return append(lines, line)
}

// unit begins with the unit of a number before it.
var unit = regexp.MustCompile(`^(s|ms|us|µs|ns|min|h)\b`)

// words are what a line may break between.
func words(s string) (all []string) {
	for _, word := range strings.Fields(s) {
		if n := len(all); n > 0 && unit.MatchString(word) && unicode.IsDigit(rune(all[n-1][len(all[n-1])-1])) {
			all[n-1] += " " + word
		} else {
			all = append(all, word)
		}
	}
	return all
}

// hang wraps text behind a head; the lines after the first begin below its end.
func hang(head, s string, width int) []string {
	indent := displaywidth.String(head)
	lines := wrap(s, width-indent)
	for i := range lines {
		if i == 0 {
			lines[i] = strings.TrimRight(head+lines[i], " ")
		} else {
			lines[i] = strings.Repeat(" ", indent) + lines[i]
		}
	}
	return lines
}

// cut shortens text to so many cells, visibly.
func (o *TerminalOptions) cut(s string, width int) string {
	tail := "…"
	if o.ASCII {
		tail = "~"
	}
	return displaywidth.TruncateString(o.Text(s), width, tail)
}

// fill puts blanks behind text up to so many cells.
func fill(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displaywidth.String(s)))
}

// colored is text in a colour, if the terminal has any.
func (o *TerminalOptions) colored(c ansi, s string) string {
	if !o.Color || c == 0 || s == "" {
		return s
	}
	return c.on() + s + colorOff
}
