package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/sweep"
)

type sweepCmd struct {
	Out          string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where to write: DIR/<sweep>/results.csv and more (${default})."`
	Workers      int      `placeholder:"N" help:"Runs at one time (as many as there are processors)."`
	Replications int      `placeholder:"N" help:"Worlds for each setting, instead of what the file says."`
	Precision    string   `placeholder:"SHARE" help:"Go on with each cell until half of its confidence intervals is at most that share of the mean, such as 2%."`
	Shard        string   `placeholder:"I/N" help:"Play the I-th of N parts; merge puts them together."`
	Resume       bool     `help:"Go on with what was interrupted."`
	Set          []string `sep:"none" placeholder:"PATH=VALUE" help:"Change the sweep: --set replications=20, --set 'worlds.callers.agents.count=40'."`
	Limit        []string `sep:"none" placeholder:"N" help:"Allow more than 10,000 cells (--limit=20000), or files of more than 1MiB (--limit=4MiB)."`
	Theme        string   `placeholder:"NAME" help:"Of pictures: light, dark or print (an SVG is light, and dark where the reader prefers that)."`
	Format       []string `default:"svg" placeholder:"LIST" help:"Of pictures: svg, png, pdf (${default})."`
	Example      string   `placeholder:"NAME" help:"Print a file for several machines, to start from: ${examples}."`
	Sweep        string   `arg:"" optional:"" predictor:"sweep" help:"A file, a built-in sweep (${sweeps}), or -."`
}

// Run plays a sweep, and writes what comes of it.
func (c *sweepCmd) Run(s streams) error {
	if c.Example != "" {
		return printExample(s.out, c.Example)
	}
	if c.Sweep == "" {
		return wrong{fmt.Errorf("name a sweep: a file, or one of %s", strings.Join(scenarios.SweepNames(), ", "))}
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	pictures := sweepPictures{c.Theme, c.Format}
	if err := pictures.check(); err != nil {
		return err
	}
	p, src, err := c.load(s.in)
	if err != nil {
		return err
	}
	rec := newRecordFile(filepath.Join(c.Out, p.Sweep.Name), o.Shard)
	if os.Getenv("GOGC") == "" { // a run leaves little behind; a small heap would be gone through all the time
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	header := sweep.NewHeader(p, version(), src, o.Shard, o.Precision)
	done, err := rec.play(p, header, o, c.Resume, newProgressBar(s))
	if err != nil {
		return err
	}
	if o.Shard.N > 0 {
		_, err := fmt.Fprintf(s.out, "shard %s of %s: %s runs, in %s; with all shards: breakersim merge %s -o %s\n", o.Shard, p.Sweep.Name, report.Thousands(int64(done)), rec.path(), rec.dir, c.Out)
		return err
	}
	return concludeSweep(s, rec, pictures)
}

// options are what the flags say of the play.
func (c *sweepCmd) options() (o sweep.Options, err error) {
	o.Meter = func() sweep.Meter { return costMeter{report.NewMeter()} }
	if o.Workers = c.Workers; c.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if c.Workers < 0 {
		return o, wrong{fmt.Errorf("--workers %d: write 1 or more", c.Workers)}
	}
	if c.Shard != "" {
		if o.Shard, err = sweep.ParseShard(c.Shard); err != nil {
			return o, wrong{fmt.Errorf("--shard: %w", err)}
		}
	}
	if c.Precision != "" {
		number, ok := strings.CutSuffix(c.Precision, "%")
		n, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(n > 0 && n <= 100) {
			return o, wrong{fmt.Errorf("--precision %s is no share above 0; write it like 2%%", c.Precision)}
		}
		o.Precision = n / 100
	}
	return o, nil
}

// costMeter is the meter of the cost table.
type costMeter struct{ *report.Meter }

func (m costMeter) Metric(name string) (float64, bool) {
	cost := m.Cost()
	return cost.Metric(name)
}

// load reads the sweep, with what the flags change of it, and its base. The
// source is the text that the plan was made from.
func (c *sweepCmd) load(in io.Reader) (*sweep.Plan, []byte, error) {
	lim, err := c.limits()
	if err != nil {
		return nil, nil, err
	}
	file, src, err := readSweep(c.Sweep, in, lim)
	if err != nil {
		return nil, nil, err
	}
	changes := c.Set
	if c.Replications != 0 {
		changes = append(changes, fmt.Sprintf("replications=%d", c.Replications))
	}
	settings, err := parseSettings(changes)
	if err != nil {
		return nil, nil, err
	}
	for i := range settings {
		if src, err = settings[i].change(file, src); err != nil {
			return nil, nil, err
		}
	}
	sw, err := scenarios.LoadSweep(file, src, lim, func(name string) (string, []byte, error) { return readBase(file, name, lim) })
	if err != nil {
		return nil, nil, err
	}
	return sweep.NewPlan(sw), src, nil
}

// limits reads the flag: a plain number is of cells.
func (c *sweepCmd) limits() (scenarios.Limits, error) {
	lim, err := limits{c.Limit}.parse()
	if err != nil {
		return lim, err
	}
	if calls := scenarios.DefaultLimits().Calls; lim.Calls != calls {
		lim.Calls, lim.Cells = calls, lim.Calls
	}
	return lim, nil
}

// readSweep reads a built-in sweep, a file, or standard input.
func readSweep(arg string, in io.Reader, lim scenarios.Limits) (file string, src []byte, err error) {
	if src, ok := scenarios.SweepSource(arg); ok {
		return arg + ".yaml", src, nil
	}
	from := fileSource(arg)
	if arg == "-" {
		from = source{"<standard input>", func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}
	} else if info, err := os.Stat(arg); err != nil {
		return "", nil, wrong{fmt.Errorf("no file and no built-in sweep is named %q; %s", arg, meant(arg, scenarios.SweepNames(), "the built-in ones are "+strings.Join(scenarios.SweepNames(), ", ")))}
	} else if info.IsDir() {
		return "", nil, wrong{fmt.Errorf("%s is a directory; name the file of one sweep", arg)}
	}
	src, err = from.read(lim)
	return from.file, src, err
}

// readBase reads the scenario that a sweep is about: a built-in one, or a file
// from where the sweep's file is.
func readBase(sweepFile, name string, lim scenarios.Limits) (file string, src []byte, err error) {
	if src, ok := scenarios.Source(name); ok {
		return name + ".yaml", src, nil
	}
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(filepath.Dir(sweepFile), name)
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", nil, unknownName(name)
	}
	src, err = fileSource(path).read(lim)
	return path, src, err
}

// recordFile is the record of a sweep in its folder. Until it is whole its name
// ends in .partial; what is in there is kept whatever happens.
type recordFile struct{ dir, name string }

func newRecordFile(dir string, shard sweep.Shard) recordFile {
	name := "results.jsonl"
	if shard.N > 0 {
		name = fmt.Sprintf("shard-%d-of-%d.jsonl", shard.I, shard.N)
	}
	return recordFile{dir, name}
}

func (r recordFile) path() string    { return filepath.Join(r.dir, r.name) }
func (r recordFile) partial() string { return r.path() + ".partial" }

// flushEach is after how many runs they are written down: a kill costs no more.
const flushEach = 20

// play plays the runs that the record does not have yet, and says how many it
// has in the end.
func (r recordFile) play(p *sweep.Plan, h sweep.Header, o sweep.Options, resume bool, bar *progressBar) (done int, err error) {
	if done, ok, err := r.whole(h); resume && (ok || err != nil) {
		return done, err
	}
	if err := os.MkdirAll(r.dir, 0o777); err != nil {
		return 0, err
	}
	file, w, kept, err := r.open(p, h, resume)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	o.Kept = kept
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	flushed := make(chan struct{})
	forget := beforeEnding(func() { // the runs so far are kept
		stop()
		<-flushed
		bar.interrupted(done, r.partial())
	})
	defer forget()
	err = p.Play(ctx, o, func(row *sweep.Row, at sweep.Progress) error {
		done = at.Done
		if err := w.Row(row); err != nil {
			return err
		}
		if bar.due() {
			bar.show(at)
		}
		if at.Played%flushEach == 0 {
			return w.Flush()
		}
		return nil
	})
	err = errors.Join(err, w.Flush())
	close(flushed)
	if ctx.Err() != nil {
		select {} // the process ends by the signal
	}
	bar.close()
	var cell *sweep.CellError
	if errors.As(err, &cell) {
		err = wrong{err}
	}
	if err != nil {
		return done, err
	}
	if err := errors.Join(w.Close(), file.Sync(), file.Close()); err != nil {
		return done, err
	}
	return max(done, w.Rows()), os.Rename(r.partial(), r.path())
}

// whole says whether the record of just this sweep is there already, and whole.
func (r recordFile) whole(h sweep.Header) (rows int, ok bool, err error) {
	file, err := os.Open(r.path())
	if err != nil {
		return 0, false, nil
	}
	defer file.Close()
	in, err := sweep.NewReader(file)
	if err != nil || in.Header != h {
		return 0, false, nil // of another sweep: it is played anew
	}
	p, err := in.Plan()
	if err != nil {
		return 0, false, err
	}
	in.For(p)
	if err := drain(in); err != nil {
		return 0, false, fmt.Errorf("%s: %w", r.path(), err)
	}
	return in.Rows(), in.Done(), nil
}

func drain(in *sweep.Reader) error {
	for {
		if row, err := in.Next(); row == nil || err != nil {
			return err
		}
	}
}

// open begins the record, or goes on with it.
func (r recordFile) open(p *sweep.Plan, h sweep.Header, resume bool) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
	_, err := os.Stat(r.partial())
	switch {
	case err == nil && resume:
		if file, w, kept, err := r.reopen(p, h); !errors.Is(err, sweep.ErrEmpty) {
			return file, w, kept, err
		}
	case err == nil:
		return nil, nil, nil, wrong{fmt.Errorf("%s holds an interrupted sweep; go on with it by --resume, or remove the file", r.partial())}
	}
	file, err := os.Create(r.partial())
	if err != nil {
		return nil, nil, nil, err
	}
	w, err := sweep.NewWriter(file, p, h)
	if err == nil {
		err = w.Flush()
	}
	return file, w, nil, err
}

// reopen reads what there is, cuts off a line that is not whole, and gives the
// rows once more to who goes on.
func (r recordFile) reopen(p *sweep.Plan, h sweep.Header) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
	fail := func(err error) (*os.File, *sweep.Writer, func() (*sweep.Row, error), error) {
		return nil, nil, nil, wrong{fmt.Errorf("%s: %w; remove the file to begin anew", r.partial(), err)}
	}
	file, err := os.OpenFile(r.partial(), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	in, err := sweep.NewReader(file)
	if err != nil {
		return fail(err)
	}
	if in.Header != h {
		return fail(errors.New("it is of another state of the sweep, of its base, of the flags or of the program"))
	}
	in.For(p)
	if err := drain(in); err != nil {
		return fail(err)
	}
	rows, end := in.Rows(), in.Offset()
	if err := file.Truncate(end); err != nil {
		return nil, nil, nil, err
	}
	again, err := os.Open(r.partial())
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := file.Seek(end, io.SeekStart); err != nil {
		return nil, nil, nil, err
	}
	kept, err := sweep.NewReader(again)
	if err != nil {
		return fail(err)
	}
	kept.For(p)
	next := func() (*sweep.Row, error) {
		row, err := kept.Next()
		if row == nil {
			again.Close()
		}
		return row, err
	}
	return file, sweep.ContinueWriter(file, p, rows), next, nil
}

// ending is what to do before a signal ends the process.
var ending struct {
	sync.Mutex
	do func()
}

// beforeEnding has something done before a signal ends the process, until it is
// forgotten.
func beforeEnding(do func()) (forget func()) {
	ending.Lock()
	defer ending.Unlock()
	ending.do = do
	return func() {
		ending.Lock()
		defer ending.Unlock()
		ending.do = nil
	}
}
