package scenarios

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/breakersim/breakersim/machine"
)

// Limits bound what a scenario may cost.
type Limits struct {
	Bytes int // of the file
	Calls int // of a run
	Cells int // of a sweep
}

// DefaultLimits are 1 MiB, 10,000,000 calls and 10,000 cells.
func DefaultLimits() Limits { return Limits{Bytes: 1 << 20, Calls: 10_000_000, Cells: 10_000} }

const defaultTimeout = 2 * time.Minute

// Load reads a scenario, or says all that is wrong with it: the error is a
// [*Faults]. file is only for messages.
func Load(file string, src []byte, lim Limits) (*Scenario, error) {
	d := newDecoder(file)
	root := d.tree(src, lim)
	if root == nil {
		return nil, &d.faults
	}
	var f val[fileW]
	f.decodeNode(d, root, "a scenario, which begins with `scenario: its-name`,")
	d.read = true
	r := resolver{d: d, f: &f.V, root: root, s: &Scenario{File: file, Seed: 1, MaxCalls: lim.Calls}}
	r.resolve()
	if len(d.faults.Faults) > 0 {
		d.faults.sort()
		return nil, &d.faults
	}
	return r.s, nil
}

// tree reads a file into a tree, or adds the fault.
func (d *decoder) tree(src []byte, lim Limits) ast.Node {
	if len(src) > lim.Bytes {
		d.at(1, 1, 1, "the file is larger than %d bytes; --limit=%dMiB would take it", lim.Bytes, 2*max(1, lim.Bytes>>20))
		return nil
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(src), "\ufeff"))
	d.faults.lines = strings.Split(text, "\n")
	return d.parse(text)
}

// resolver gives the file its meaning: names, defaults, and what cannot be.
type resolver struct {
	d        *decoder
	f        *fileW
	root     ast.Node
	s        *Scenario
	targets  []string
	breakers []string
	callable []string          // targets and model breakers
	guarded  map[string]string // targets, and the tool breakers that gate them
	bursty   float64           // how many bursts the targets have, about
	// Where the file names an instance of a breaker.
	references []reference
	// Some were refused: an unknown name may be one of them.
	anyTarget, anyBreaker, anyPolicy bool
}

func (r *resolver) resolve() {
	r.head()
	r.targets = r.f.Targets.names()
	r.breakers = r.f.Breakers.names()
	r.anyTarget = r.d.perhaps(r.root, "targets") || r.d.perhaps(r.f.Targets.node)
	r.anyBreaker = r.d.perhaps(r.root, "breakers") || r.d.perhaps(r.f.Breakers.node)
	r.anyPolicy = r.d.perhaps(r.root, "policies")
	r.resolveTargets()
	r.resolveBreakers()
	r.resolveSubstitutes()
	r.callable = slices.Clone(r.targets)
	for i := range r.s.Breakers {
		if r.s.Breakers[i].Model != nil {
			r.callable = append(r.callable, r.s.Breakers[i].Name)
		}
	}
	for i := range r.s.Targets {
		for k := range r.s.Targets[i].Hosts {
			r.callable = append(r.callable, r.s.Targets[i].Hosts[k].Name)
		}
	}
	r.resolveCalls()
	r.resolveCallers()
	if len(r.f.Calls) == 0 && len(r.f.Callers) == 0 && !r.d.perhaps(r.root, "calls", "callers") {
		r.d.fault(r.root, "nobody calls anything; add calls or callers")
	}
	r.resolvePolicies()
	r.configured()
	r.resolveExpect()
	r.checkInstances()
}

var idPattern = regexp.MustCompile(`^[a-z0-9-]+$`)

// id checks the name that a file begins with, under its key.
func (d *decoder) id(name val[string], root ast.Node, key string) {
	switch {
	case name.said():
		if !idPattern.MatchString(name.V) || len(name.V) > 64 {
			d.fault(name.node, "an id has at most 64 lower-case letters, digits and '-'")
		}
	case !d.perhaps(root, key):
		d.fault(root, "the %s has no id; begin with `%[1]s: its-name`", key)
	}
}

func (r *resolver) head() {
	f := r.f
	r.d.id(f.Scenario, r.root, "scenario")
	r.s.Name, r.s.Title, r.s.About = f.Scenario.V, strings.TrimSpace(f.Title.V), strings.TrimSpace(f.About.V)
	if r.s.Title == "" {
		r.s.Title = r.s.Name
	}
	if f.Title.said() && strings.ContainsFunc(r.s.Title, unicode.IsControl) {
		r.d.fault(f.Title.node, "a title is one line, without control characters")
	}
	if strings.ContainsFunc(r.s.About, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }) {
		r.d.fault(f.About.node, "about is text, without control characters")
	}
	r.s.Open, r.s.Duration = !f.Duration.said(), time.Duration(f.Duration.V)
	if f.Seed.said() {
		r.s.Seed = f.Seed.V
	}
}

var namePattern = regexp.MustCompile(`^[\pL\pN._+/:@-]+$`)

func (r *resolver) name(name string, n ast.Node) {
	if !namePattern.MatchString(name) || len(name) > 64 {
		r.d.fault(n, "a name has at most 64 letters, digits and - _ . + / : @")
	}
}

// missing reports a key that must be there.
func (r *resolver) missing(in ast.Node, what, key string) {
	r.lacks(in, []string{key}, "%s has no %s", what, key)
}

// lacks reports that a mapping has none of some keys.
func (r *resolver) lacks(in ast.Node, keys []string, format string, a ...any) {
	if !r.d.perhaps(in, keys...) {
		r.d.fault(in, format, a...)
	}
}

// mostPhases of one target: each is laid over all of them.
const mostPhases = 5000

func (r *resolver) resolveCalls() {
	for i := range r.f.Calls {
		w := &r.f.Calls[i]
		c := Call{At: time.Duration(w.V.At.V), Timeout: defaultTimeout}
		if !w.V.At.said() {
			r.missing(w.node, "the entry", "at")
		}
		r.operation(w, &c)
		if c.Op != OpCall {
			for _, k := range []struct {
				key  string
				said bool
			}{{"outcome", w.V.Outcome.said()}, {"takes", w.V.Takes.said()}, {"timeout", w.V.Timeout.said()}, {"retry_after", w.V.RetryAfter.said()}, {"name", w.V.Name.said()}, {"inside", w.V.Inside.said()}} {
				if k.said {
					r.d.fault(w.node, "%s is for calls; this entry makes none", k.key)
				}
			}
		}
		if w.V.Outcome.said() {
			c.Outcome = &w.V.Outcome.V
		}
		c.Takes, c.RetryAfter = span(&w.V.Takes), span(&w.V.RetryAfter)
		r.timeout(&w.V.Timeout, &c.Timeout)
		c.Name = w.V.Name.V
		r.s.Calls = append(r.s.Calls, c)
	}
	r.resolveInside()
}

func (r *resolver) timeout(w *val[duration], to *time.Duration) {
	if w.said() {
		if *to = time.Duration(w.V); *to == 0 {
			r.d.fault(w.node, "0s leaves no time for an answer")
		}
	}
}

// anyBackup says whether something in the breaker's chain was refused.
func (r *resolver) anyBackup(breaker string) bool {
	it := r.item(breaker)
	return r.d.perhaps(it.node, "chain") || slices.ContainsFunc(it.v.Chain.V, func(e backupW) bool { return !e.Name.said() || r.d.refused[e.Name.node] })
}

// item is what the file says of a breaker that it has.
func (r *resolver) item(breaker string) *item[breakerW] {
	k := slices.IndexFunc(r.f.Breakers.items, func(i item[breakerW]) bool { return i.name == breaker })
	return &r.f.Breakers.items[k]
}

func chainNames(m *machine.ModelSettings) []string {
	var names []string
	for _, e := range m.Chain {
		names = append(names, e.Name)
	}
	return names
}

// destination checks where a call goes: a target or a model breaker.
func (r *resolver) destination(to *val[string]) {
	if slices.Contains(r.callable, to.V) || r.anyTarget || r.anyBreaker {
		return
	}
	for i := range r.s.Breakers {
		if b := &r.s.Breakers[i]; b.Name == to.V && b.Tool != nil {
			if slices.Contains(r.targets, b.Guards) { // otherwise the breaker is at fault
				r.d.fault(to.node, "%s is a breaker; name the target that it guards: %s", to.V, b.Guards)
			}
			return
		}
	}
	if slices.Contains(r.breakers, to.V) { // it may be a model breaker, and has faults of its own
		return
	}
	r.d.fault(to.node, "unknown target %q%s", clip(to.V), r.d.meant(to.V, r.callable))
}

// breaker finds a breaker, or says that there is none of that name. The name may
// be that of one instance.
func (r *resolver) breaker(name *val[string]) *Breaker {
	base, part := SplitName(name.V)
	if base != name.V {
		r.references = append(r.references, reference{name.node, base, part})
	}
	for i := range r.s.Breakers {
		if r.s.Breakers[i].Name == base {
			return &r.s.Breakers[i]
		}
	}
	if !slices.Contains(r.breakers, base) && !r.anyBreaker { // otherwise it is there, and has faults of its own
		r.d.fault(name.node, "unknown breaker %q%s", clip(base), r.d.meant(base, r.breakers))
	}
	return nil
}
