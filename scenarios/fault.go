package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	Line, Column int    // from 1; Column counts characters
	Length       int    // characters that are wrong, at least 1
	Message      string // what is wrong, and what to write instead
}

// Faults are all the things that are wrong with a file, in the order of their places.
type Faults struct {
	File   string
	Faults []Fault
	lines  []string
}

// mostShown bounds what Error prints: nobody reads more.
const mostShown = 50

// Error prints each fault as compilers do: the place, the message, and the line
// with the place marked.
func (f *Faults) Error() string {
	var b strings.Builder
	for i, x := range f.Faults {
		if i == mostShown {
			fmt.Fprintf(&b, "%s: ... and %d more\n", f.File, len(f.Faults)-mostShown)
			break
		}
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", f.File, x.Line, x.Column, x.Message)
		if x.Line <= len(f.lines) {
			f.excerpt(&b, x)
		}
	}
	return b.String()
}

// excerpt prints the line with carets below what is wrong, cut to what a
// terminal shows.
func (f *Faults) excerpt(b *strings.Builder, x Fault) {
	const before, width = 40, 100
	line := []rune(strings.ToValidUTF8(f.lines[x.Line-1], "\uFFFD"))
	for i, r := range line {
		if r < ' ' || r == 0x7f {
			line[i] = ' '
		}
	}
	column := min(x.Column-1, len(line))
	from, lead := max(0, column-before), ""
	if len(line) <= width {
		from = 0
	} else if from > 0 {
		lead = "..."
	}
	to, trail := min(len(line), from+width), ""
	if to < len(line) {
		trail = "..."
	}
	length := max(1, min(x.Length, to-column))
	fmt.Fprintf(b, "%5d | %s%s%s\n", x.Line, lead, string(line[from:to]), trail)
	fmt.Fprintf(b, "      | %s%s\n", strings.Repeat(" ", column-from+len(lead)), strings.Repeat("^", length))
}

func (f *Faults) sort() {
	slices.SortStableFunc(f.Faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Nearest is the one of known that word most likely means, or "".
func Nearest(word string, known []string) string {
	if utf8.RuneCountInString(word) > 64 {
		return ""
	}
	best, nearest := 1+min(3, max(1, len(word)/3)), ""
	for _, k := range known {
		if d := distance(word, k); d < best {
			best, nearest = d, k
		}
	}
	for _, k := range known { // or it is the beginning of one
		if nearest == "" && len(word) >= 3 && strings.HasPrefix(k, word) {
			nearest = k
		}
	}
	return nearest
}

// distance counts the characters to insert, delete, change, or swap with their
// neighbour to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			change := rows[i][j]
			if x[i] != y[j] {
				change++
			}
			d := min(rows[i][j+1]+1, rows[i+1][j]+1, change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(x)][len(y)]
}

// meant is the end of a message about a word that nothing defines.
func meant(word string, known []string) string {
	switch near := Nearest(word, known); {
	case near != "":
		return fmt.Sprintf("; did you mean %q?", near)
	case len(known) == 0:
		return "; there is none here"
	case len(known) > 30:
		return ""
	default:
		return "; known here: " + strings.Join(known, ", ")
	}
}
