package sweep

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/breakersim/breakersim/scenarios"
)

// Format is the version of the record of a sweep.
const Format = 1

// Header is the first line of a record: all that it takes to know what the rows
// are of, so that a record needs no other file.
type Header struct {
	Format     int     `json:"format"`
	Version    string  `json:"version"` // of the program
	Sweep      string  `json:"sweep"`
	Digest     string  `json:"digest"` // of the two files
	Shard      string  `json:"shard,omitempty"`
	Precision  float64 `json:"precision,omitempty"`
	File       string  `json:"file"` // for messages
	Source     string  `json:"source"`
	BaseFile   string  `json:"base_file"`
	BaseSource string  `json:"base_source"`
}

// NewHeader is that of a plan. source is the sweep's file. Folders are not in it:
// each machine may have its own.
func NewHeader(p *Plan, version string, source []byte, shard Shard, precision float64) Header {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", source, p.Base.Source)
	return Header{Format: Format, Version: version, Sweep: p.Sweep.Name, Digest: hex.EncodeToString(h.Sum(nil))[:16], Shard: shard.String(), Precision: precision,
		File: filepath.Base(p.File), Source: string(source), BaseFile: filepath.Base(p.Base.File), BaseSource: string(p.Base.Source)}
}

// Plan is the plan that the record is of.
func (h *Header) Plan() (*Plan, error) {
	lim := scenarios.Limits{Bytes: math.MaxInt / 2, Calls: scenarios.DefaultLimits().Calls, Cells: math.MaxInt}
	s, err := scenarios.LoadSweep(h.File, []byte(h.Source), lim, func(string) (string, []byte, error) { return h.BaseFile, []byte(h.BaseSource), nil })
	if err != nil {
		return nil, err
	}
	return NewPlan(s), nil
}

// Whole is the header of a record that has every shard.
func (h Header) Whole() Header {
	h.Shard = ""
	return h
}

// rowLine is a row as the record has it.
type rowLine struct {
	Cell        *int                `json:"cell"`
	Settings    []string            `json:"settings"`
	Policy      string              `json:"policy"`
	Replication int                 `json:"replication"`
	Seed        uint64              `json:"seed"`
	Events      int                 `json:"events"`
	Metrics     map[string]*float64 `json:"metrics"`
	End         *int                `json:"end"` // in the last line: how many rows there are
}

// Writer writes a record as JSON Lines: a header, a line for each row, and one
// that says how many there were. Whoever reads a record without that last line
// knows that the sweep was not done.
type Writer struct {
	w    *bufio.Writer
	p    *Plan
	line []byte
	rows int
}

// NewWriter begins a record.
func NewWriter(w io.Writer, p *Plan, h Header) (*Writer, error) {
	b := &Writer{w: bufio.NewWriterSize(w, 1<<16), p: p}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	_, err = b.w.Write(append(line, '\n'))
	return b, err
}

// ContinueWriter goes on with a record that has so many rows.
func ContinueWriter(w io.Writer, p *Plan, rows int) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 1<<16), p: p, rows: rows}
}

// Rows is how many were written.
func (w *Writer) Rows() int { return w.rows }

// Row writes one.
func (w *Writer) Row(r *Row) error {
	w.rows++
	b := append(w.line[:0], `{"cell":`...)
	b = strconv.AppendInt(b, int64(r.Cell), 10)
	b = append(b, `,"settings":`...)
	b = appendJSON(b, w.p.Settings(r.Cell))
	b = append(b, `,"policy":`...)
	b = appendJSON(b, w.p.Cells[r.Cell].Policy)
	b = append(b, `,"replication":`...)
	b = strconv.AppendInt(b, int64(r.Replication), 10)
	b = append(b, `,"seed":`...)
	b = strconv.AppendUint(b, r.Seed, 10)
	b = append(b, `,"events":`...)
	b = strconv.AppendInt(b, int64(r.Events), 10)
	b = append(b, `,"metrics":{`...)
	for i, m := range w.p.Metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, m.Name...)
		b = append(b, `":`...)
		if v := r.Metrics[i]; math.IsNaN(v) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, v, 'f', -1, 64)
		}
	}
	w.line = append(b, "}}\n"...)
	_, err := w.w.Write(w.line)
	return err
}

func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("sweep: " + err.Error()) // words encode
	}
	return append(b, text...)
}

// Flush puts the rows so far where they can be read.
func (w *Writer) Flush() error { return w.w.Flush() }

// Close says that there are no more rows.
func (w *Writer) Close() error {
	fmt.Fprintf(w.w, "{\"end\":%d}\n", w.rows) // the writer keeps its first error
	return w.w.Flush()
}

// What a record can lack.
var (
	ErrOutOfOrder = errors.New("the rows are not in the order in which this version of the program plays them")
	ErrEmpty      = errors.New("the record is empty")
	errNoRecord   = errors.New("this is no record of a sweep: its first line says nothing of one")
)

// Reader reads a record.
type Reader struct {
	Header
	r      *bufio.Reader
	p      *Plan
	line   int
	rows   int
	offset int64 // of the end of the last whole row
	ended  bool
}

// NewReader reads a record's header.
func NewReader(r io.Reader) (*Reader, error) {
	b := &Reader{r: bufio.NewReaderSize(r, 1<<16)}
	text, err := b.next()
	switch {
	case err != nil:
		return nil, err
	case text == nil:
		return nil, ErrEmpty
	}
	if json.Unmarshal(text, &b.Header) != nil || b.Sweep == "" {
		return nil, errNoRecord
	}
	if b.Format != Format {
		return nil, fmt.Errorf("the record has the format %d; this version of the program reads %d", b.Format, Format)
	}
	return b, nil
}

// For says what plan the rows are of. It comes before the first of them.
func (r *Reader) For(p *Plan) { r.p = p }

// next is a line without its end, or nil if there is no whole one.
func (r *Reader) next() ([]byte, error) {
	text, err := r.r.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, nil // one that was cut off is none
	}
	if err != nil {
		return nil, err
	}
	r.line++
	r.offset += int64(len(text))
	return text[:len(text)-1], nil
}

// Next is the next row, or nil if there is no more.
func (r *Reader) Next() (*Row, error) {
	before := r.offset
	text, err := r.next()
	if text == nil || err != nil {
		return nil, err
	}
	var l rowLine
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("line %d is no row: %w", r.line, err)
	}
	if l.End != nil {
		r.offset = before
		if r.ended = true; *l.End != r.rows {
			return nil, fmt.Errorf("line %d: the record has %d rows and says that there are %d", r.line, r.rows, *l.End)
		}
		return nil, nil
	}
	if l.Cell == nil || *l.Cell < 0 || *l.Cell >= len(r.p.Cells) || l.Policy != r.p.Cells[*l.Cell].Policy {
		return nil, fmt.Errorf("line %d is of no cell of the sweep", r.line)
	}
	row := &Row{Cell: *l.Cell, Replication: l.Replication, Seed: l.Seed, Events: l.Events}
	for _, m := range r.p.Metrics {
		v, ok := l.Metrics[m.Name]
		switch {
		case !ok:
			return nil, fmt.Errorf("line %d has no %s", r.line, m.Name)
		case v == nil:
			row.Metrics = append(row.Metrics, undefined)
		default:
			row.Metrics = append(row.Metrics, *v)
		}
	}
	r.rows++
	return row, nil
}

// Done says, once there is no more row, whether the sweep was done.
func (r *Reader) Done() bool { return r.ended }

// Rows is how many were read, and Offset where the last of them ends, in bytes.
func (r *Reader) Rows() int { return r.rows }

// Offset is where the last row that was read ends, in bytes.
func (r *Reader) Offset() int64 { return r.offset }
