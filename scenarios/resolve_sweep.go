package scenarios

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// sweepResolver gives a sweep file its meaning.
type sweepResolver struct {
	d     *decoder
	f     *sweepW
	root  ast.Node
	s     *Sweep
	all   []byte // see company
	sound bool   // that makes sense
}

func (r *sweepResolver) resolve(open func(string) (string, []byte, error)) error {
	r.head()
	r.counts()
	r.metrics()
	if err := r.base(open); err != nil {
		return err
	}
	if r.s.Base.text != nil {
		r.worlds()
		r.policies()
	}
	r.axes()
	r.reference()
	if len(r.d.faults.Faults) == 0 {
		r.flat()
	}
	if len(r.d.faults.Faults) == 0 {
		r.pairs()
	}
	return nil
}

func (r *sweepResolver) head() {
	f, s := r.f, r.s
	r.d.id(f.Sweep, r.root, "sweep")
	s.Name, s.Title, s.About = f.Sweep.V, strings.TrimSpace(f.Title.V), strings.TrimSpace(f.About.V)
	if s.Title == "" {
		s.Title = s.Name
	}
	if f.Title.said() && strings.ContainsFunc(s.Title, unicode.IsControl) {
		r.d.fault(f.Title.node, "a title is one line, without control characters")
	}
}

func (r *sweepResolver) counts() {
	if w := &r.f.Replications; w.said() {
		if r.s.Replications = w.V; w.V < 2 || w.V > mostReplications {
			r.d.fault(w.node, "replications is %d; it must be from 2 (one says nothing of the others) to %d", w.V, mostReplications)
		}
	}
	if r.f.Seed.said() {
		r.s.Seed = r.f.Seed.V
	}
}

func (r *sweepResolver) metrics() {
	var known []string
	for _, m := range Metrics {
		known = append(known, m.Name)
	}
	add := func(name string) bool {
		i := slices.Index(known, name)
		if i >= 0 {
			r.s.Metrics = append(r.s.Metrics, Metrics[i])
		}
		return i >= 0
	}
	if !r.f.Metrics.said() {
		for _, name := range defaultMetrics {
			add(name)
		}
		return
	}
	if len(r.f.Metrics.V) == 0 {
		r.d.fault(r.f.Metrics.node, "metrics is empty; name some, such as failed, or leave it out")
	}
	for i := range r.f.Metrics.V {
		w := &r.f.Metrics.V[i]
		switch {
		case slices.ContainsFunc(r.s.Metrics, func(m Metric) bool { return m.Name == w.V }):
			r.d.fault(w.node, "the metric %s is here twice", w.V)
		case !add(w.V):
			r.d.fault(w.node, "unknown metric %q%s", clip(w.V), meant(w.V, known))
		}
	}
}

// base reads the scenario that the sweep is about.
func (r *sweepResolver) base(open func(string) (string, []byte, error)) error {
	w := &r.f.Base
	if !w.said() {
		if !r.d.perhaps(r.root, "base") {
			r.d.fault(r.root, "the sweep has no base; name a scenario, such as base: five-minute-outage")
		}
		return nil
	}
	if r.d.refused[w.node] {
		return nil
	}
	b := &r.s.Base
	b.Name = w.V
	var err error
	if b.File, b.Source, err = open(w.V); err != nil {
		r.d.fault(w.node, "%v", err)
		return nil
	}
	if _, err := Load(b.File, b.Source, r.s.limits); err != nil {
		return err // it tells its own places
	}
	// What is expected of the base may not hold of other settings.
	if b.text, err = Set(b.File, b.Source, "expect", "[]"); err != nil {
		r.d.fault(w.node, "%v", err)
		b.text = nil
	}
	return nil
}

// tried is the base with one value changed, or what is wrong with that. What makes
// no sense by itself may make some beside what the sweep changes besides.
func (r *sweepResolver) tried(path, value string) (text []byte, wrong string) {
	var faults *Faults
	text, err := r.s.set(r.s.Base.text, path, value)
	if err != nil {
		return nil, strings.TrimPrefix(err.Error(), clip(path)+": ")
	}
	_, err = Load(r.s.Base.File, text, r.s.limits)
	if err == nil {
		return text, ""
	}
	if beside, e := r.s.set(r.company(), path, value); e == nil {
		_, e = Load(r.s.Base.File, beside, r.s.limits)
		if e == nil {
			return text, ""
		}
		if r.sound {
			err = e
		}
	}
	if errors.As(err, &faults) {
		return nil, faults.Faults[0].Message
	}
	return nil, err.Error()
}

// company is the base with all that the sweep changes: of what it draws or tries,
// one value.
func (r *sweepResolver) company() []byte {
	if r.all != nil {
		return r.all
	}
	r.all = r.s.Base.text
	change := func(path, value string) {
		if text, err := r.s.set(r.all, path, value); err == nil {
			r.all = text
		}
	}
	for i := range r.f.Worlds.items {
		if it := &r.f.Worlds.items[i]; len(it.v.choices) > 0 {
			change(it.name, it.v.choices[0].Value)
		}
	}
	if w := &r.f.Policies; w.said() && !r.d.refused[w.node] {
		change("policies", (&edit{}).flow(w.node))
	}
	for i := range r.f.Axes.items {
		if it := &r.f.Axes.items[i]; len(it.v.values) > 0 {
			change(it.name, it.v.values[r.referred(it.name, it.v.values)])
		}
	}
	_, err := Load(r.s.Base.File, r.all, r.s.limits)
	r.sound = err == nil
	return r.all
}

// worlds changes the base for all runs, and gathers what is drawn.
func (r *sweepResolver) worlds() {
	combinations := 1
	for i := range r.f.Worlds.items {
		it := &r.f.Worlds.items[i]
		if r.d.refused[it.node] || len(it.v.choices) == 0 {
			continue
		}
		var text []byte
		for k, c := range it.v.choices {
			var wrong string
			if text, wrong = r.tried(it.name, c.Value); wrong != "" {
				at := it.key
				if len(it.v.choices) > 1 && k > 0 {
					at = it.v.nodes[k]
				}
				r.d.fault(at, "%s cannot be %s: %s", clip(it.name), clip(c.Value), wrong)
				break
			}
		}
		if len(it.v.choices) > 1 {
			r.s.Worlds = append(r.s.Worlds, World{it.name, it.v.choices})
			if combinations *= len(it.v.choices); combinations > mostWorlds {
				r.d.fault(it.key, "up to here the worlds are of %d kinds; no more than %d are told apart", combinations, mostWorlds)
				combinations = 1
			}
		} else if text != nil {
			r.s.Base.text = text
		}
	}
}

// mostWorlds bounds the kinds of worlds that choices make together.
const mostWorlds = 1000

// policies puts those of the sweep in the place of the base's.
func (r *sweepResolver) policies() {
	w := &r.f.Policies
	if !w.said() || r.d.refused[w.node] {
		return
	}
	text, wrong := r.tried("policies", (&edit{}).flow(w.node))
	if wrong != "" {
		r.d.fault(w.node, "%s", wrong)
		return
	}
	r.s.Base.text = text
}

func (r *sweepResolver) axes() {
	w := &r.f.Axes
	switch {
	case len(w.items) == 0 && !r.d.perhaps(r.root, "axes") && !(w.node != nil && r.d.refused[w.node]):
		at := r.root
		if w.node != nil {
			at = w.node
		}
		r.d.fault(at, "the sweep has no axes; write what to try, such as axes: {breakers.search.failure_threshold: [1, 3, 5]}")
		return
	}
	cells := 1.0
	for i := range w.items {
		it := &w.items[i]
		values := it.v.values
		if len(values) == 0 {
			if !r.d.refused[it.node] {
				r.d.fault(it.node, "the axis %s is empty; write a list such as [1, 3, 5], or {from: 5s, to: 2m, steps: 8}", clip(it.name))
			}
			continue
		}
		cells *= float64(len(values))
		r.s.Axes = append(r.s.Axes, Axis{Path: it.name, Values: values})
		if cells > float64(r.s.limits.Cells) {
			r.d.fault(it.key, "up to here the axes make %.0f cells, more than %d; give fewer values, or raise the limit with --limit=%.0f if you mean it", cells, r.s.limits.Cells, cells)
			cells = math.Inf(-1) // said once
		}
		if cells > 0 && r.s.Base.text != nil {
			r.axis(it)
		}
	}
	label(r.s.Axes)
}

// axis tries every value by itself. A setting that takes none of them is itself
// at fault.
func (r *sweepResolver) axis(it *item[axisW]) {
	first := ""
	var at []int
	for k, v := range it.v.values {
		if _, wrong := r.tried(it.name, v); wrong != "" {
			if first == "" {
				first = wrong
			}
			at = append(at, k)
		}
	}
	switch {
	case len(at) == len(it.v.values):
		r.d.fault(it.key, "the axis %s: %s", clip(it.name), first)
	case len(at) > 0:
		r.d.fault(it.v.place(at[0], it.node), "the axis %s cannot be %s: %s", clip(it.name), clip(it.v.values[at[0]]), first)
	}
}

// label gives each axis the end of its path that no other axis has.
func label(axes []Axis) {
	for i := range axes {
		parts := strings.Split(axes[i].Path, ".")
		for n := 1; n <= len(parts); n++ {
			axes[i].Label = strings.Join(parts[len(parts)-n:], ".")
			if !slices.ContainsFunc(axes, func(a Axis) bool {
				return a.Path != axes[i].Path && strings.HasSuffix("."+a.Path, "."+axes[i].Label)
			}) {
				break
			}
		}
	}
}

// reference finds the values that the others are compared with; the default is
// the middle one of each axis.
func (r *sweepResolver) reference() {
	var paths []string
	for i := range r.s.Axes {
		paths = append(paths, r.s.Axes[i].Path)
		r.s.Reference = append(r.s.Reference, r.referred(r.s.Axes[i].Path, r.s.Axes[i].Values))
	}
	for i := range r.f.Reference.items {
		it := &r.f.Reference.items[i]
		k := slices.Index(paths, it.name)
		if k < 0 {
			r.d.fault(it.key, "the reference names no axis %q%s", clip(it.name), meant(it.name, paths))
			continue
		}
		if !slices.Contains(r.s.Axes[k].Values, it.v.text) {
			r.d.fault(it.node, "%s is no value of the axis %s; write one of %s", clip(it.v.text), clip(it.name), strings.Join(r.s.Axes[k].Values, ", "))
		}
	}
}

// referred is which of the axis's values the others are compared with.
func (r *sweepResolver) referred(path string, values []string) int {
	for i := range r.f.Reference.items {
		if it := &r.f.Reference.items[i]; it.name == path && slices.Contains(values, it.v.text) {
			return slices.Index(values, it.v.text)
		}
	}
	return (len(values) - 1) / 2
}

// pairs finds a value that does not go with the reference's, or two that do not
// go together, before anything is played.
func (r *sweepResolver) pairs() {
	cell, choices := slices.Clone(r.s.Reference), make([]int, len(r.s.Worlds))
	wrong := func(k int, with string) bool {
		_, err := r.s.Scenario(cell, choices)
		if err != nil {
			a := &r.s.Axes[k]
			r.d.fault(r.axisKey(a.Path), "%s %s does not go with %s: %s; write them as one axis of mappings, or leave one out", a.Label, clip(a.Values[cell[k]]), with, firstOf(err))
		}
		return err != nil
	}
	for k := range r.s.Axes {
		for cell[k] = range r.s.Axes[k].Values {
			if wrong(k, "the reference's values") {
				return
			}
			for i := 0; i < k && cell[k] != r.s.Reference[k]; i++ {
				for cell[i] = range r.s.Axes[i].Values {
					if cell[i] != r.s.Reference[i] && wrong(k, r.s.Axes[i].Label+" "+clip(r.s.Axes[i].Values[cell[i]])) {
						return
					}
				}
				cell[i] = r.s.Reference[i]
			}
		}
		cell[k] = r.s.Reference[k]
	}
}

// axisKey is where the file has the axis.
func (r *sweepResolver) axisKey(path string) ast.Node {
	for i := range r.f.Axes.items {
		if r.f.Axes.items[i].name == path {
			return r.f.Axes.items[i].key
		}
	}
	return r.root
}

// flat lists the policies, and says for which of them no axis changes anything.
func (r *sweepResolver) flat() {
	choices := make([]int, len(r.s.Worlds))
	s, err := r.s.Scenario(r.s.Reference, choices)
	if err != nil {
		r.d.fault(r.root, "the reference's values do not go together: %s", firstOf(err))
		return
	}
	ofBreakers := !slices.ContainsFunc(r.s.Axes, func(a Axis) bool { return !strings.HasPrefix(a.Path, "breakers.") })
	for i := range s.Policies {
		p := &s.Policies[i]
		r.s.Policies = append(r.s.Policies, SweepPolicy{p.Name, ofBreakers && p.Breakers == nil})
	}
}

// firstOf is the first thing that is wrong.
func firstOf(err error) string {
	var faults *Faults
	if errors.As(err, &faults) {
		return faults.Faults[0].Message
	}
	return err.Error()
}
