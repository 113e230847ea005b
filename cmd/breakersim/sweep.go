package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

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
	defer collectSeldom()()
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

// collectSeldom has the garbage collector run less often, unless the user said how
// often, and returns what undoes it. A run leaves little behind, and a small heap
// would be gone through all the time.
func collectSeldom() (undo func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(400)
	return func() { debug.SetGCPercent(before) }
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
