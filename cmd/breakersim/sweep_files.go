package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/sweep"
)

// concludeSweep makes the tables and the pictures of a whole record, and tells
// the front.
func concludeSweep(s streams, rec recordFile, pictures sweepPictures) error {
	f, err := openFolder(rec.dir)
	defer f.discard()
	if err != nil {
		return err
	}
	result, err := summarize(rec, f)
	if err != nil {
		return err
	}
	drawn, err := pictures.write(f, result)
	err = errors.Join(err,
		f.write("summary.csv", result.WriteCSV),
		f.write("summary.json", result.WriteJSON),
		f.write("README.md", func(w io.Writer) error { return result.WriteMarkdown(w, drawn) }),
	)
	if err == nil {
		err = f.commit()
	}
	if err != nil {
		return err
	}
	o := s.options()
	if err := report.WriteTitle(s.out, result.Title, o); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	if err := result.WriteFront(s.out, o); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "\n%s runs, %s events; written to %s: README.md, summary.csv, results.csv and more\n", report.Thousands(int64(result.Runs)), report.Thousands(int64(result.Events)), o.Text(rec.dir))
	return err
}

// summarize reads a record row by row: into a table of all runs, and into sums.
func summarize(rec recordFile, f *folder) (*report.Sweep, error) {
	file, err := os.Open(rec.path())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in, err := sweep.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rec.path(), err)
	}
	p, err := in.Plan()
	if err != nil {
		return nil, err
	}
	in.For(p)
	sums := sweep.NewSummarizer(p)
	err = f.write("results.csv", func(w io.Writer) error {
		table := newRunTable(w, p)
		for {
			row, err := in.Next()
			if row == nil || err != nil {
				return errors.Join(err, table.close())
			}
			sums.Row(row)
			table.row(row)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rec.path(), err)
	}
	return sweepResult(sums.Summary(), in.Precision), nil
}

// runTable writes a line for each run.
type runTable struct {
	w    *csv.Writer
	p    *sweep.Plan
	line []string
}

func newRunTable(w io.Writer, p *sweep.Plan) *runTable {
	t := &runTable{w: csv.NewWriter(w), p: p}
	line := []string{"cell"}
	for i := range p.Axes {
		line = append(line, p.Axes[i].Label)
	}
	line = append(line, "policy", "replication", "seed", "events")
	for _, m := range p.Metrics {
		line = append(line, m.Name)
	}
	t.w.Write(line) // the writer keeps its first error
	return t
}

func (t *runTable) row(r *sweep.Row) {
	line := append(t.line[:0], strconv.Itoa(r.Cell))
	line = append(line, t.p.Settings(r.Cell)...)
	line = append(line, t.p.Cells[r.Cell].Policy, strconv.Itoa(r.Replication), strconv.FormatUint(r.Seed, 10), strconv.Itoa(r.Events))
	for _, v := range r.Metrics {
		text := ""
		if !math.IsNaN(v) {
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		line = append(line, text)
	}
	t.line = line
	t.w.Write(line)
}

func (t *runTable) close() error {
	t.w.Flush()
	return t.w.Error()
}

// sweepResult is the summary as reports take it.
func sweepResult(s *sweep.Summary, precision float64) *report.Sweep {
	r := &report.Sweep{Name: s.Sweep.Name, Title: s.Title, About: s.About, Base: s.Base.Name, Reference: s.Against, Runs: s.Rows, Events: s.Events, Precision: precision}
	for i := range s.Axes {
		a := &s.Axes[i]
		r.Axes = append(r.Axes, report.SweepAxis{Path: a.Path, Label: a.Label, Values: a.Values})
	}
	for _, m := range s.Plan.Metrics {
		r.Metrics = append(r.Metrics, m.Name)
	}
	for i := range s.Cells {
		c := report.SweepCell{Policy: s.Cells[i].Policy, Replications: s.Count[i]}
		if s.Cells[i].Setting >= 0 {
			c.Values = s.Cells[i].Values
		}
		for _, f := range s.Figures[i] {
			c.Figures = append(c.Figures, report.SweepFigure{SweepMean: report.SweepMean(f.Estimate), Deviation: f.Deviation,
				Least: f.Least, P10: f.P10, P50: f.P50, P90: f.P90, Most: f.Most, Against: report.SweepMean(f.Against), Beside: report.SweepMean(f.Beside)})
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

type mergeCmd struct {
	Out    string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where to write: DIR/<sweep>/results.csv and more (${default})."`
	Theme  string   `placeholder:"NAME" help:"Of pictures: light, dark or print (an SVG is light, and dark where the reader prefers that)."`
	Format []string `default:"svg" placeholder:"LIST" help:"Of pictures: svg, png, pdf (${default})."`
	Dirs   []string `arg:"" name:"dir" help:"Folders with shards, or their files."`
}

// Run puts shards together.
func (c *mergeCmd) Run(s streams) error {
	pictures := sweepPictures{c.Theme, c.Format}
	if err := pictures.check(); err != nil {
		return err
	}
	files, err := findShards(c.Dirs)
	if err != nil {
		return wrong{err}
	}
	var parts []sweep.Part
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return wrong{err}
		}
		defer file.Close()
		r, err := sweep.NewReader(file)
		if err != nil {
			return wrong{fmt.Errorf("%s: %w", name, err)}
		}
		parts = append(parts, sweep.Part{Name: name, Reader: r})
	}
	p, h, each, err := sweep.Merge(parts)
	if err != nil {
		return wrong{err}
	}
	rec := newRecordFile(filepath.Join(c.Out, p.Sweep.Name), sweep.Shard{})
	if err := rec.write(p, h, each); err != nil {
		return err
	}
	return concludeSweep(s, rec, pictures)
}

// write makes a record of rows that are there.
func (r recordFile) write(p *sweep.Plan, h sweep.Header, each func(func(*sweep.Row) error) error) error {
	f, err := openFolder(r.dir)
	defer f.discard()
	if err != nil {
		return err
	}
	file, err := f.create(r.name)
	if err != nil {
		return err
	}
	w, err := sweep.NewWriter(file, p, h)
	if err != nil {
		return err
	}
	if err := each(w.Row); err != nil {
		return wrong{err}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.commit()
}

// findShards are the records of shards in folders, and in the folders right
// within those. Each is there once, by however many ways it was named.
func findShards(dirs []string) (files []string, err error) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		var found []string
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return nil, err
		case !info.IsDir():
			found = []string{dir}
		default:
			for _, pattern := range []string{"shard-*-of-*.jsonl*", filepath.Join("*", "shard-*-of-*.jsonl*")} {
				some, err := filepath.Glob(filepath.Join(dir, pattern))
				if err != nil {
					return nil, err
				}
				found = append(found, some...)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("%s holds no shard of a sweep; sweep --shard 1/4 -o %[1]s makes one", dir)
			}
		}
		for _, file := range found {
			whole, err := filepath.Abs(file)
			if err != nil {
				return nil, err
			}
			if !seen[whole] {
				files = append(files, file)
			}
			seen[whole] = true
		}
	}
	return files, nil
}
