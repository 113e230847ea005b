package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Row is what a run under one policy cost.
type Row struct {
	Policy string `json:"policy"`
	Cost   Cost   `json:"cost"`
}

// WriteJSON writes the rows with every figure by its name, all outages and
// breakers listed, durations in nanoseconds.
func WriteJSON(w io.Writer, rows []Row) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}

// WriteCSV writes the cost table as CSV: a line for each policy and a column for
// each figure, by its name in JSON. Durations are in nanoseconds; what is
// undefined is empty.
func WriteCSV(w io.Writer, rows []Row) error {
	c := csv.NewWriter(w)
	line := []string{"policy"}
	for i := range Columns {
		line = append(line, Columns[i].Name)
	}
	c.Write(line) // the writer keeps its first error
	for k := range rows {
		line = append(line[:0], rows[k].Policy)
		for i := range Columns {
			text := ""
			if v, ok := Columns[i].get(&rows[k].Cost); ok {
				text = strconv.FormatFloat(v, 'f', -1, 64)
			}
			line = append(line, text)
		}
		c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// undefined stands in tables where there is no figure.
const undefined = "–"

// narrowest is the least width that tables and pictures of text are made for.
const narrowest = 40

// leastAbout is the room in which a column can say what each figure is.
const leastAbout = 24

// WriteTable writes the cost table for a terminal: a line for each figure and a
// column for each policy, so that all figures fit. Policies that do not fit
// beside each other come below each other. Where there is room a last column says
// what each figure is.
func WriteTable(w io.Writer, rows []Row, o TerminalOptions) error {
	for first := true; len(rows) > 0 || first; first = false {
		if !first {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		n := fitting(rows, &o)
		g := grid(rows[:n], false, &o)
		if room := o.width() - gridWidth(g) - 2; room >= leastAbout {
			g = wrapLast(grid(rows[:n], true, &o), room)
		}
		if err := writePlain(w, g, n, &o); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// fitting is how many of the policies to put beside each other: as many as fit,
// or fewer if that makes blocks of one size.
func fitting(rows []Row, o *TerminalOptions) int {
	n := len(rows)
	for n > 1 && gridWidth(grid(rows[:n], false, o)) > o.width() {
		n--
	}
	if n == 0 {
		return 0
	}
	blocks := (len(rows) + n - 1) / n
	return (len(rows) + blocks - 1) / blocks
}

// wrapLast wraps the last column to so many cells.
func wrapLast(lines [][]string, room int) (wrapped [][]string) {
	for _, line := range lines {
		last := len(line) - 1
		for k, part := range wrap(line[last], room) {
			if k > 0 {
				line = make([]string, last+1)
			}
			wrapped = append(wrapped, append(slices.Clone(line[:last]), part))
		}
	}
	return wrapped
}

// WriteMarkdown writes the cost table as a Markdown table, a line for each
// figure and a column for each policy, with a last column that says what it is.
func WriteMarkdown(w io.Writer, rows []Row) error {
	lines := grid(rows, true, nil)
	for _, line := range lines {
		for k := range line {
			line[k] = InlineMarkdown(line[k])
		}
	}
	text, err := render(renderer.NewMarkdown(), lines, len(rows))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// grid is the table's text: the head, then a line for each figure. For a
// terminal (o is not nil) an empty line parts the groups, and long names are cut.
func grid(rows []Row, about bool, o *TerminalOptions) [][]string {
	head := []string{""}
	for i := range rows {
		name := rows[i].Policy
		if o != nil {
			name = o.cut(name, o.width()-longestHeading-3)
		}
		head = append(head, name)
	}
	if about {
		head = append(head, "what it is")
	}
	lines := [][]string{head}
	for i := range Columns {
		c := &Columns[i]
		if c.Group == "price" && !slices.ContainsFunc(rows, func(r Row) bool { return r.Cost.Priced }) {
			continue
		}
		if o != nil && i > 0 && c.Group != Columns[i-1].Group {
			lines = append(lines, make([]string, len(head)))
		}
		line := []string{c.Heading}
		for k := range rows {
			figure := c.text(&rows[k].Cost)
			if o != nil {
				figure = o.Text(figure)
			}
			line = append(line, figure)
		}
		if about {
			line = append(line, c.About)
		}
		lines = append(lines, line)
	}
	return lines
}

// longestHeading is the width of "amplification", the widest first column.
const longestHeading = len("amplification")

// text is the figure for people.
func (c *Column) text(cost *Cost) string {
	v, ok := c.get(cost)
	switch {
	case !ok:
		return undefined
	case c.Unit == Duration:
		return approx(nanoseconds(v))
	case c.Unit == Ratio:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return Thousands(int64(v))
	}
}

// gridWidth is how many cells writePlain takes for the lines.
func gridWidth(lines [][]string) int {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, s := range line {
			widths[i] = max(widths[i], displaywidth.String(s))
		}
	}
	total := -2 // nothing beside the first and the last column
	for _, n := range widths {
		total += n + 2
	}
	return total
}

// writePlain writes the lines with nothing but a rule below the head.
func writePlain(w io.Writer, lines [][]string, policies int, o *TerminalOptions) error {
	rule := o.signs().line
	style := tw.Rendition{Borders: tw.BorderNone, Symbols: tw.NewSymbolCustom("plain").WithRow(rule).WithCenter(rule),
		Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.Lines{ShowHeaderLine: tw.On}}}
	text, err := render(renderer.NewBlueprint(style), lines, policies)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		cells := []rune(strings.TrimSuffix(line, "\n"))
		line = string(cells[1 : len(cells)-1]) // without the padding beside the table
		if _, err := io.WriteString(w, strings.TrimRight(line, " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// render lays the lines out: the policies' columns to the right, the others to
// the left, nothing wrapped or upper-cased.
func render(r tw.Renderer, lines [][]string, policies int) (string, error) {
	var b strings.Builder
	align := make([]tw.Align, len(lines[0]))
	for i := range align {
		align[i] = tw.AlignLeft
		if i > 0 && i <= policies {
			align[i] = tw.AlignRight
		}
	}
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Padding:    tw.CellPadding{Global: tw.PaddingDefault},
		Alignment:  tw.CellAlignment{PerColumn: align},
	}
	t := tablewriter.NewTable(&b, tablewriter.WithRenderer(r), tablewriter.WithHeaderConfig(cells), tablewriter.WithRowConfig(cells))
	t.Header(lines[0])
	for _, line := range lines[1:] {
		if err := t.Append(line); err != nil {
			return "", err
		}
	}
	err := t.Render()
	return b.String(), err
}

// nanoseconds is the duration that a figure stands for, the longest one if the
// figure was rounded beyond it.
func nanoseconds(v float64) time.Duration {
	if v >= float64(forever) {
		return forever
	}
	return time.Duration(v)
}
