package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	f.Faults = slices.Compact(f.Faults) // a breaker is looked at again for each policy
}

// Nearest is the one of known that word most likely means, or "".
func Nearest(word string, known []string) string {
	w := []rune(word)
	if len(w) > 64 {
		return ""
	}
	best, nearest := 1+min(3, max(1, len(w)/3)), ""
	for _, k := range known {
		if d := distance(w, []rune(k), best); d < best {
			best, nearest = d, k
		}
	}
	for _, k := range known { // or it is the beginning of one
		if nearest == "" && len(w) >= 3 && strings.HasPrefix(k, word) {
			nearest = k
		}
	}
	return nearest
}

// distance counts the characters to insert, delete, change, or swap with their
// neighbour to get from x to y; or it is limit, if they are at least that many.
func distance(x, y []rune, limit int) int {
	if len(x)-len(y) >= limit || len(y)-len(x) >= limit {
		return limit
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		least := row[0]
		for j := range y {
			change := last[j]
			if x[i] != y[j] {
				change++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least >= limit { // the rows below do not get less
			return limit
		}
		before, last, row = last, row, before
	}
	return min(limit, last[len(y)])
}

// meant is the end of a message about a name that nothing defines. It stops
// looking for near ones in long lists after some, which is more than are shown.
func (d *decoder) meant(word string, known []string) string {
	if len(known) > 100 {
		if d.searched++; d.searched > 2*mostShown {
			return ""
		}
	}
	return meant(word, known)
}

// meant is the end of a message about a word that is none of a few.
func meant(word string, known []string) string {
	switch near := Nearest(word, known); {
	case near != "":
		return fmt.Sprintf("; did you mean %q?", near)
	case len(known) == 0:
		return "; there is none here"
	case len(known) > 60:
		return ""
	default:
		return "; known here: " + strings.Join(known, ", ")
	}
}
