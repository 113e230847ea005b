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

// WriteTable writes the cost table for a terminal of that many cells (at least
// 40): a line for each figure and a column for each policy, so that all figures
// fit. Policies that do not fit beside each other come below each other. Where
// there is room a last column says what each figure is.
func WriteTable(w io.Writer, rows []Row, width int) error {
	width = max(width, narrowest)
	for first := true; len(rows) > 0 || first; first = false {
		if !first {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		n := len(rows)
		for n > 1 && gridWidth(grid(rows[:n], false, width)) > width {
			n--
		}
		g := grid(rows[:n], true, width)
		if gridWidth(g) > width {
			g = grid(rows[:n], false, width)
		}
		if err := writePlain(w, g, n); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// WriteMarkdown writes the cost table as a Markdown table, a line for each
// figure and a column for each policy, with a last column that says what it is.
func WriteMarkdown(w io.Writer, rows []Row) error {
	lines := grid(rows, true, 0)
	for _, line := range lines {
		for k := range line {
			line[k] = inlineMarkdown(line[k])
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
// terminal (width > 0) an empty line parts the groups, and long names are cut.
func grid(rows []Row, about bool, width int) [][]string {
	head := []string{""}
	for i := range rows {
		name := rows[i].Policy
		if width > 0 {
			name = displaywidth.TruncateString(name, width-longestHeading-3, "…")
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
		if width > 0 && i > 0 && c.Group != Columns[i-1].Group {
			lines = append(lines, make([]string, len(head)))
		}
		line := []string{c.Heading}
		for k := range rows {
			line = append(line, c.text(&rows[k].Cost))
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
func writePlain(w io.Writer, lines [][]string, policies int) error {
	style := tw.Rendition{Borders: tw.BorderNone, Symbols: tw.NewSymbolCustom("plain").WithRow("─").WithCenter("─"),
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
