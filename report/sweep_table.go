package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/olekukonko/tablewriter/renderer"
)

// summaryDigits is how many digits of a mean are written: more than it is worth,
// and fewer than machines could differ in.
const summaryDigits = 7

// sweepNumber is a figure for programs: null or empty where it is undefined.
type sweepNumber float64

// MarshalJSON writes null for NaN.
func (n sweepNumber) MarshalJSON() ([]byte, error) {
	if text := n.text(); text != "" {
		return []byte(text), nil
	}
	return []byte("null"), nil
}

func (n sweepNumber) text() string {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return ""
	}
	return strconv.FormatFloat(toDigits(float64(n), summaryDigits), 'f', -1, 64)
}

// sweepColumns are what the summary has of each metric of each cell.
var sweepColumns = []struct {
	name string
	get  func(*SweepFigure) sweepNumber
}{
	{"n", func(f *SweepFigure) sweepNumber { return sweepNumber(f.N) }},
	{"mean", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Mean) }},
	{"low", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Low) }},
	{"high", func(f *SweepFigure) sweepNumber { return sweepNumber(f.High) }},
	{"deviation", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Deviation) }},
	{"min", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Least) }},
	{"p10", func(f *SweepFigure) sweepNumber { return sweepNumber(f.P10) }},
	{"p50", func(f *SweepFigure) sweepNumber { return sweepNumber(f.P50) }},
	{"p90", func(f *SweepFigure) sweepNumber { return sweepNumber(f.P90) }},
	{"max", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Most) }},
	{"against_n", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Against.N) }},
	{"against_mean", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Against.Mean) }},
	{"against_low", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Against.Low) }},
	{"against_high", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Against.High) }},
	{"beside_n", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Beside.N) }},
	{"beside_mean", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Beside.Mean) }},
	{"beside_low", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Beside.Low) }},
	{"beside_high", func(f *SweepFigure) sweepNumber { return sweepNumber(f.Beside.High) }},
}

// WriteCSV writes the summary: a line for each metric of each cell. Durations are
// in nanoseconds; what is undefined is empty.
func (s *Sweep) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	line := []string{"cell"}
	for i := range s.Axes {
		line = append(line, s.Axes[i].Label)
	}
	line = append(line, "policy", "replications", "metric", "unit")
	for _, col := range sweepColumns {
		line = append(line, col.name)
	}
	c.Write(line) // the writer keeps its first error
	for i := range s.Cells {
		cell := &s.Cells[i]
		head := append([]string{strconv.Itoa(i)}, s.valuesOf(i)...)
		head = append(head, cell.Policy, strconv.Itoa(cell.Replications))
		for k, metric := range s.Metrics {
			line = append(append(line[:0], head...), metric, columnNamed(metric).Unit.String())
			for _, col := range sweepColumns {
				line = append(line, col.get(&cell.Figures[k]).text())
			}
			c.Write(line)
		}
	}
	c.Flush()
	return c.Error()
}

// valuesOf are the cell's values by axis, empty where no axis changes it.
func (s *Sweep) valuesOf(cell int) []string {
	all := make([]string, len(s.Axes))
	for i, v := range s.Cells[cell].Values {
		all[i] = s.Axes[i].Values[v]
	}
	return all
}

// WriteJSON writes the summary, the front and the recommendation. Durations are
// in nanoseconds; what is undefined is null.
func (s *Sweep) WriteJSON(w io.Writer) error {
	type jsonCell struct {
		Cell         int                               `json:"cell"`
		Settings     []string                          `json:"settings"`
		Policy       string                            `json:"policy"`
		Replications int                               `json:"replications"`
		Metrics      map[string]map[string]sweepNumber `json:"metrics"`
	}
	type jsonAxis struct {
		Path   string   `json:"path"`
		Label  string   `json:"label"`
		Values []string `json:"values"`
	}
	out := struct {
		Sweep          string     `json:"sweep"`
		Title          string     `json:"title"`
		Base           string     `json:"base"`
		Axes           []jsonAxis `json:"axes"`
		Metrics        []string   `json:"metrics"`
		Reference      int        `json:"reference"`
		Runs           int        `json:"runs"`
		Events         int        `json:"events"`
		Precision      float64    `json:"precision,omitempty"`
		Front          []int      `json:"front"`
		Recommended    int        `json:"recommended"`
		Recommendation string     `json:"recommendation"`
		Cells          []jsonCell `json:"cells"`
	}{s.Name, s.Title, s.Base, nil, s.Metrics, s.Reference, s.Runs, s.Events, s.Precision, append([]int{}, s.Front()...), s.Recommended(), s.Recommendation(), nil}
	for _, a := range s.Axes {
		out.Axes = append(out.Axes, jsonAxis(a))
	}
	for i := range s.Cells {
		c := jsonCell{i, s.valuesOf(i), s.Cells[i].Policy, s.Cells[i].Replications, map[string]map[string]sweepNumber{}}
		for k, metric := range s.Metrics {
			figures := map[string]sweepNumber{}
			for _, col := range sweepColumns {
				figures[col.name] = col.get(&s.Cells[i].Figures[k])
			}
			c.Metrics[metric] = figures
		}
		out.Cells = append(out.Cells, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// frontGrid is the table of the settings on the front: the text of its cells. For
// a terminal (o is not nil) it has no more columns than the front needs.
func (s *Sweep) frontGrid() [][]string {
	head := []string{"", "policy"}
	for i := range s.Axes {
		head = append(head, s.Axes[i].Label)
	}
	head = append(head, "failed", "wasted", "failed, to the reference", "wasted, to the reference")
	lines := [][]string{head}
	best := s.Recommended()
	for n, i := range s.Front() {
		mark := strconv.Itoa(n + 1)
		if i == best {
			mark += " *"
		}
		line := append([]string{mark, s.Cells[i].Policy}, s.valuesOf(i)...)
		for k, v := range line {
			if v == "" {
				line[k] = undefined
			}
		}
		failed, wasted := s.figure(i, Failed), s.figure(i, Wasted)
		line = append(line, s.give(Failed, &failed.SweepMean), s.give(Wasted, &wasted.SweepMean))
		if i == s.Reference {
			line = append(line, "is it", "is it")
		} else {
			line = append(line, s.signed(Failed, &failed.Against), s.signed(Wasted, &wasted.Against))
		}
		lines = append(lines, line)
	}
	return lines
}

// signed is a difference, with a plus where it is one.
func (s *Sweep) signed(metric string, m *SweepMean) string {
	if m.N > 0 && m.Mean > 0 {
		return "+" + s.give(metric, m)
	}
	return s.give(metric, m)
}

// WriteFront writes the settings on the front and the recommendation for a
// terminal.
func (s *Sweep) WriteFront(w io.Writer, o TerminalOptions) error {
	lines := s.frontGrid()
	if len(s.policies()) == 1 {
		lines = without(lines, 1)
	}
	for gridWidth(lines) > o.width() && len(lines[0]) > 4 { // the last columns are the least
		lines = without(lines, len(lines[0])-1)
	}
	for _, line := range lines {
		for k := range line {
			line[k] = o.Text(line[k])
		}
	}
	if err := writePlain(w, lines, len(lines[0])-1, &o); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	if err == nil {
		err = writeLines(w, wrap(o.Text(s.Recommendation()), o.proseWidth()))
	}
	return err
}

// without is the lines without a column.
func without(lines [][]string, column int) [][]string {
	var all [][]string
	for _, line := range lines {
		all = append(all, append(append([]string{}, line[:column]...), line[column+1:]...))
	}
	return all
}

// WriteMarkdown writes the page of a sweep: what was asked, what is recommended,
// the front, and the pictures, which are in files of the page's folder.
func (s *Sweep) WriteMarkdown(w io.Writer, pictures []PagePicture) error {
	fmt.Fprintf(w, "# %s\n\n", InlineMarkdown(s.Title))
	for _, p := range Paragraphs(s.About) {
		fmt.Fprintf(w, "%s\n\n", plainMarkdown(p))
	}
	fmt.Fprintf(w, "%s\n\n## Settings on the front\n\n", plainMarkdown(s.Recommendation()))
	lines := s.frontGrid()
	for _, line := range lines {
		for k := range line {
			line[k] = InlineMarkdown(line[k])
		}
	}
	text, err := render(renderer.NewMarkdown(), lines, len(lines[0])-1)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text)
	fmt.Fprintf(w, "\n%s\n\n", plainMarkdown(s.smallPrint()))
	for _, p := range pictures {
		fmt.Fprintf(w, "![%s](%s)\n\n", InlineMarkdown(p.Alt), p.File)
	}
	_, err = fmt.Fprintf(w, "Every run is a line of [results.csv](results.csv) and [results.jsonl](results.jsonl); every figure with its interval is in [summary.csv](summary.csv) and [summary.json](summary.json).\n")
	return err
}

// smallPrint says how the figures were come to.
func (s *Sweep) smallPrint() string {
	text := "The knee (*) is where both, each as a share of its range along the front, sum to the least. Behind ± is half of the 95% confidence interval of the mean, by independent replications; " +
		"differences are of pairs, each in one world. The reference is " + s.cellName(s.Reference) + ". "
	text += fmt.Sprintf("%s runs of %s, %s events.", Thousands(int64(s.Runs)), s.Base, Thousands(int64(s.Events)))
	if s.Precision > 0 {
		text += fmt.Sprintf(" Each cell was played until half of every interval was at most %s %% of its mean, or for a hundred times the replications.", decimalText(s.Precision*100))
	}
	return text
}
