package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/cmd/breakersim/internal/runs"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// book is the Markdown files that are written together, and the scenarios they
// are about.
type book struct {
	lim    scenarios.Limits
	pages  []*page
	worlds map[string]*world // by source and variant
	order  []*world          // as they are first asked for
	slots  slots
	files  map[string]picture // what is drawn, by its place
	drawn  []string           // its places, as they are first asked for
}

// page is one Markdown file.
type page struct {
	path   string // as it was given
	mdx    bool
	src    []byte
	parts  []part
	faults []misplaced
	text   []byte // as it should be
}

// part is one region of a page, and what stands in it.
type part struct {
	region
	*request
	world *world
	body  string
}

// world is a scenario, or a variant of it, that pages are about.
type world struct {
	src      []byte // its text, with the variant's settings
	scenario *scenarios.Scenario
	set      string
	plays    bool
	results  *results
	err      error
}

// read reads a page and what its markers ask for.
func (b *book) read(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return wrong{err}
	}
	p := &page{path: path, mdx: strings.EqualFold(filepath.Ext(path), ".mdx"), src: src}
	b.pages = append(b.pages, p)
	regions, faults := findRegions(src, p.mdx)
	p.faults = faults
	for i := range regions {
		r, faults := parseRequest(&regions[i])
		p.faults = append(p.faults, faults...)
		if r == nil {
			continue
		}
		x, fault := b.world(p, r)
		if fault == nil && x.err == nil {
			fault = r.fits(x)
		}
		if fault != nil {
			p.faults = append(p.faults, *fault)
		}
		p.parts = append(p.parts, part{region: regions[i], request: r, world: x})
	}
	return nil
}

// fits holds the names of a request against its scenario.
func (r *request) fits(x *world) *misplaced {
	for _, name := range r.policies {
		if _, err := policy(x.scenario, name); err != nil {
			return &misplaced{r.at["policy"], err.Error()}
		}
	}
	var names []string
	for i := range x.scenario.Breakers {
		names = append(names, x.scenario.Breakers[i].Name)
	}
	if r.breaker == "" || slices.Contains(names, r.breaker) {
		return nil
	}
	return &misplaced{r.at["breaker"], fmt.Sprintf("the scenario %s has no breaker %q; %s", x.scenario.Name, r.breaker, meant(r.breaker, names, fmt.Sprintf("it has %q", names)))}
}

// faults are all that is wrong with the pages, in the order of their lines.
func (b *book) faults() error {
	var all docFaults
	for _, p := range b.pages {
		slices.SortStableFunc(p.faults, func(x, y misplaced) int { return x.at - y.at })
		for _, f := range p.faults {
			line, column := place(p.src, f.at)
			all = append(all, fmt.Sprintf("%s:%d:%d: %s", p.path, line, column, strings.TrimRight(f.why, "\n")))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// world is the scenario that a request asks for. What is wrong with it is told
// where it is first asked for.
func (b *book) world(p *page, r *request) (*world, *misplaced) {
	src, key, err := sourceFor(p.path, r.scenario)
	if err != nil {
		return nil, &misplaced{r.at["scenario"], err.Error()}
	}
	if len(r.set) > 0 {
		key += "\x00" + r.set[0].text
	}
	x, known := b.worlds[key]
	if !known {
		x = b.load(src, r.set)
		b.worlds[key] = x
		b.order = append(b.order, x)
	}
	x.plays = x.plays || r.kind != nil && !r.kind.source
	switch {
	case x.err == nil || known:
		return x, nil
	case len(r.set) > 0:
		return x, &misplaced{r.at["set"], x.err.Error()}
	}
	return x, &misplaced{r.at["scenario"], "this scenario cannot be read:\n" + x.err.Error()}
}

// sourceFor finds a scenario that a page names: one of the library, or a file
// from where the page is. The key is the same for the same one.
func sourceFor(page, name string) (src source, key string, err error) {
	if slices.Contains(scenarios.Names(), name) {
		found, err := findOne(name, nil)
		return found[0], name, err
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(page), path)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return source{}, "", fmt.Errorf("%s is a directory; name one of its files", name)
	case err == nil:
		return fileSource(path), realPath(path), nil
	}
	if here, err := filepath.Rel(filepath.Dir(page), name); err == nil {
		if _, err := os.Stat(name); err == nil {
			return source{}, "", fmt.Errorf("files are named from where this page is; write %s", filepath.ToSlash(here))
		}
	}
	return source{}, "", unknownName(name)
}

// load reads a scenario, with the settings of a variant if there are any.
func (b *book) load(src source, set []setting) *world {
	x := new(world)
	if x.src, x.err = src.read(b.lim); x.err != nil {
		return x
	}
	if x.scenario, x.err = scenarios.Load(src.file, x.src, b.lim); x.err != nil || len(set) == 0 {
		return x
	}
	var v variant
	if v, x.err = set[0].vary(x.scenario, x.src, b.lim); x.err != nil {
		return x
	}
	x.scenario, x.set = v.Scenario, v.set
	x.src, x.err = set[0].change(src.file, x.src)
	return x
}

// play replays every scenario once, beside each other.
func (b *book) play() error {
	turns := make(slots, cap(b.slots))
	return turns.each(len(b.order), func(i int) (err error) {
		x := b.order[i]
		if !x.plays {
			return nil
		}
		if x.results, err = replayAll(x.scenario, nil, b.slots); err != nil || x.set == "" {
			return err
		}
		x.results.Failures = nil // what a file expects is of the original
		for _, h := range x.results.Panels {
			titleVariant(h, x.set)
		}
		return nil
	})
}

// under is the world under some of its policies, in that order; none: all.
func (x *world) under(policies []string) *world {
	if len(policies) == 0 || x.results == nil {
		return x
	}
	chosen := *x
	all := x.results
	chosen.results = &results{Runs: runs.Runs{Scenario: all.Scenario}, alike: all.alike}
	for _, name := range policies {
		i := slices.IndexFunc(all.Rows, func(r report.Row) bool { return r.Policy == name })
		chosen.results.Panels = append(chosen.results.Panels, all.Panels[i])
		chosen.results.Rows = append(chosen.results.Rows, all.Rows[i])
		chosen.results.Series = append(chosen.results.Series, all.Series[i])
	}
	return &chosen
}

// job is a part to render, and what came of it.
type job struct {
	page *page
	part *part
	made picture
	err  error
}

// render makes what stands in every region, and the pages of it. What is of one
// world is made one after the other, as histories are not for several at a time.
func (b *book) render() error {
	var jobs []*job
	byWorld := map[*world][]*job{}
	for _, p := range b.pages {
		for i := range p.parts {
			j := &job{page: p, part: &p.parts[i]}
			jobs = append(jobs, j)
			byWorld[j.part.world] = append(byWorld[j.part.world], j)
		}
	}
	err := b.slots.each(len(b.order), func(i int) error {
		for _, j := range byWorld[b.order[i]] {
			j.made, j.err = j.part.render(j.page)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.files = map[string]picture{}
	for _, j := range jobs {
		var fault *misplaced
		if j.err != nil && !errors.As(j.err, &fault) {
			return fmt.Errorf("%s: %s: %w", j.page.path, j.part.kind.name, j.err)
		}
		if fault == nil {
			fault = b.keep(j.page, j.part, j.made)
		}
		if fault != nil {
			j.page.faults = append(j.page.faults, *fault)
		}
	}
	for _, p := range b.pages {
		p.write()
	}
	return b.faults()
}
