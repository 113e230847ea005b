package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/breakersim/breakersim/scenarios"
)

// limits is the flag that every command which reads scenarios has.
type limits struct {
	Limit []string `sep:"none" placeholder:"N" help:"Allow runs of more than 10,000,000 calls (--limit=20000000), or files of more than 1MiB (--limit=4MiB). May be given twice."`
}

// parse reads the flag: a plain number is of calls, one with a unit of bytes.
func (l limits) parse() (scenarios.Limits, error) {
	lim := scenarios.DefaultLimits()
	for _, s := range l.Limit {
		number, unit := s, 0
		for suffix, size := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
			if n, ok := strings.CutSuffix(s, suffix); ok {
				number, unit = n, size
			}
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || unit > 0 && n > 1<<40/unit {
			return lim, wrong{fmt.Errorf("--limit=%s is neither a number of calls, such as 20000000, nor a size, such as 4MiB", s)}
		}
		if unit > 0 {
			lim.Bytes = n * unit
		} else {
			lim.Calls = n
		}
	}
	return lim, nil
}

// source is one scenario file, not yet read.
type source struct {
	file string
	open func() (io.ReadCloser, error)
}

// find turns arguments into sources: - is standard input, then come the names
// of built-in scenarios, then files and directories. All that is wrong with
// them is told at once.
func find(args []string, in io.Reader) ([]source, error) {
	var all []source
	var faults []error
	for _, a := range args {
		list, err := findOne(a, in)
		all = append(all, list...)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, wrong{err}
	}
	return all, nil
}

func findOne(arg string, in io.Reader) ([]source, error) {
	if arg == "-" {
		return []source{{"<standard input>", func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}}, nil
	}
	if src, ok := scenarios.Source(arg); ok {
		return []source{{arg + ".yaml", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(src))), nil }}}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, unknownName(arg)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return []source{fileSource(arg)}, nil
	}
	return directory(arg)
}

func fileSource(path string) source {
	return source{path, func() (io.ReadCloser, error) { return os.Open(path) }}
}

func unknownName(arg string) error {
	return fmt.Errorf("no file and no built-in scenario is named %q; %s", arg, meant(arg, scenarios.Names(), "breakersim list names the built-in ones"))
}

// meant asks whether the nearest of the names was meant, if one is near, and
// otherwise says what to write.
func meant(name string, names []string, otherwise string) string {
	if near := scenarios.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// directory takes the scenario files right in dir, in the order of their names.
func directory(dir string) ([]source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []source
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, ext) {
			list = append(list, fileSource(filepath.Join(dir, e.Name())))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the directory %s holds no scenario: no file ends in .yaml, .yml or .json", dir)
	}
	return list, nil
}

// loaded is a scenario with its variants.
type loaded struct {
	*scenarios.Scenario
	source   []byte // as it was read
	variants []variant
}

// load reads and checks scenarios. All faults of all files are told at once.
func load(args []string, in io.Reader, lim scenarios.Limits) ([]*scenarios.Scenario, error) {
	all, err := loadVariants(args, in, lim, nil)
	var plain []*scenarios.Scenario
	for _, s := range all {
		plain = append(plain, s.Scenario)
	}
	return plain, err
}

// loadVariants does so for the variants as well, one of each scenario for each
// of the settings.
func loadVariants(args []string, in io.Reader, lim scenarios.Limits, settings []setting) ([]loaded, error) {
	sources, err := find(args, in)
	if err != nil {
		return nil, err
	}
	var all []loaded
	var faults []error
	from := map[string]string{}
	for _, src := range sources {
		s, err := src.load(lim, settings)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if first, ok := from[s.Name]; ok {
			faults = append(faults, wrong{fmt.Errorf("%s and %s both hold the scenario %s; give one of them another name", first, src.file, s.Name)})
		}
		from[s.Name] = src.file
		all = append(all, s)
	}
	return all, errors.Join(faults...)
}

// read reads no more than one byte past the limit.
func (src source) read(lim scenarios.Limits) ([]byte, error) {
	r, err := src.open()
	if err != nil {
		return nil, wrong{err}
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(lim.Bytes)+1))
	if err != nil {
		return nil, wrong{err}
	}
	return b, nil
}

// load reads and checks the scenario and its variants.
func (src source) load(lim scenarios.Limits, settings []setting) (loaded, error) {
	b, err := src.read(lim)
	if err != nil {
		return loaded{}, err
	}
	s, err := scenarios.Load(src.file, b, lim)
	if err != nil {
		return loaded{}, err
	}
	l := loaded{Scenario: s, source: b}
	var faults []error
	for i := range settings {
		v, err := settings[i].vary(s, b, lim)
		l.variants = append(l.variants, v)
		faults = append(faults, err)
	}
	return l, errors.Join(faults...)
}

// loadOne is for commands that take exactly one scenario.
func loadOne(arg string, in io.Reader, lim scenarios.Limits) (*scenarios.Scenario, error) {
	all, err := load([]string{arg}, in, lim)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, wrong{fmt.Errorf("%s holds %d scenarios; name one of them", arg, len(all))}
	}
	return all[0], nil
}
