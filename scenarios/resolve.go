package scenarios

import (
	"fmt"
	"math"
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
}

// DefaultLimits are 1 MiB and 10,000,000 calls.
func DefaultLimits() Limits { return Limits{Bytes: 1 << 20, Calls: 10_000_000} }

const defaultTimeout = 2 * time.Minute

// Load reads a scenario, or says all that is wrong with it: the error is a
// [*Faults]. file is only for messages.
func Load(file string, src []byte, lim Limits) (*Scenario, error) {
	d := newDecoder(file)
	if len(src) > lim.Bytes {
		d.at(1, 1, 1, "the file is larger than %d bytes; --limit=%dMiB would take it", lim.Bytes, 2*max(1, lim.Bytes>>20))
		return nil, &d.faults
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(src), "\ufeff"))
	d.faults.lines = strings.Split(text, "\n")
	root := d.parse(text)
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
	r.resolveCalls()
	r.resolveCallers()
	if len(r.f.Calls) == 0 && len(r.f.Callers) == 0 && !r.d.perhaps(r.root, "calls", "callers") {
		r.d.fault(r.root, "nobody calls anything; add calls or callers")
	}
	r.resolvePolicies()
	r.resolveExpect()
}

var idPattern = regexp.MustCompile(`^[a-z0-9-]+$`)

func (r *resolver) head() {
	f := r.f
	switch {
	case !f.Scenario.said() && r.d.perhaps(r.root, "scenario"):
	case !f.Scenario.said():
		r.d.fault(r.root, "the scenario has no id; begin with `scenario: its-name`")
	case !idPattern.MatchString(f.Scenario.V) || len(f.Scenario.V) > 64:
		r.d.fault(f.Scenario.node, "an id has at most 64 lower-case letters, digits and '-'")
	}
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

func (r *resolver) resolveTargets() {
	for i := range r.f.Targets.items {
		it := &r.f.Targets.items[i]
		r.name(it.name, it.key)
		t := Target{Name: it.name, Base: r.behavior(&it.v.behaviorW)}
		if t.Base.Mix == nil {
			t.Base.Mix = Mix{{Success, 1}}
		}
		if t.Base.Latency == nil {
			t.Base.Latency = &Dist{}
		}
		if n := len(it.v.Phases); n > mostPhases {
			r.d.fault(it.v.Phases[mostPhases].node, "%s has %d phases; no more than %d are played", clip(it.name), n, mostPhases)
		}
		if it.v.Limit.said() {
			t.Limit = r.limit(&it.v.Limit)
		}
		if it.v.Capacity.said() {
			t.Capacity = r.capacity(&it.v.Capacity)
		}
		t.Network, t.Warmup = it.v.Network.V.Dist, time.Duration(it.v.Warmup.V)
		if it.v.Bursts.said() {
			t.Bursts = r.bursts(&it.v.Bursts)
		}
		if it.v.Price.said() {
			t.Price = r.price(&it.v.Price)
		}
		for k := range it.v.Phases {
			t.Phases = append(t.Phases, r.phase(&it.v.Phases[k]))
		}
		r.s.Targets = append(r.s.Targets, t)
	}
}

func (r *resolver) limit(w *val[limitW]) *Limit {
	rate, l := w.V.Rate.V, &Limit{Burst: w.V.Burst.V}
	if !w.V.Rate.said() {
		if isMapping(w.node) { // else that was said
			r.missing(w.node, "the limit", "rate")
		}
		return nil
	}
	r.running(&w.V.Rate)
	if rate.Count > 0 { // else that was said
		l.Every = max(1, time.Duration(math.Round(float64(rate.Per)/rate.Count)))
	}
	switch {
	case !w.V.Burst.said():
		l.Burst = max(1, int(time.Second/max(1, l.Every)))
	case l.Burst < 1 || l.Burst > 1_000_000_000:
		r.d.fault(w.V.Burst.node, "burst must be from 1 to 1000000000")
	}
	return l
}

func isMapping(n ast.Node) bool {
	return n.Type() == ast.MappingType || n.Type() == ast.MappingValueType
}

const mostServers = 1_000_000

func (r *resolver) capacity(w *val[capacityW]) *Capacity {
	c := &Capacity{Servers: w.V.Servers.V, CancelOnTimeout: w.V.CancelOnTimeout.V, Slowdown: time.Duration(w.V.Slowdown.V)}
	switch {
	case !w.V.Servers.said():
		if isMapping(w.node) && !w.V.Slowdown.said() { // else that was said
			r.lacks(w.node, []string{"servers", "slowdown"}, "the capacity has no servers, nor a slowdown")
		}
	case c.Servers < 1 || c.Servers > mostServers:
		r.d.fault(w.V.Servers.node, "servers must be from 1 to %d", mostServers)
	}
	if w.V.Queue.said() {
		c.Queue = &w.V.Queue.V
		if *c.Queue < 0 {
			r.d.fault(w.V.Queue.node, "queue is %d; it must not be negative (leave it out if any number may wait)", *c.Queue)
		}
	}
	return c
}

// shortestBurst bounds how often a target changes between two events of a run,
// and MostBursts how often all of them do in all, as a limit of calls bounds those.
const (
	shortestBurst = time.Millisecond
	MostBursts    = 5_000_000
)

func (r *resolver) bursts(w *val[burstsW]) *Bursts {
	b := &Bursts{Apart: time.Duration(w.V.Apart.V), For: time.Duration(w.V.For.V), Behavior: r.behavior(&w.V.behaviorW)}
	if !isMapping(w.node) { // that was said
		return b
	}
	for _, k := range []struct {
		name string
		v    *val[duration]
	}{{"apart", &w.V.Apart}, {"for", &w.V.For}} {
		switch {
		case !k.v.said():
			r.lacks(w.node, []string{k.name}, "bursts have no %s", k.name)
		case time.Duration(k.v.V) < shortestBurst && !r.d.refused[k.v.node]:
			r.d.fault(k.v.node, "%s is %s; bursts are at least %s long and apart", k.name, short(k.v.V), shortestBurst)
		}
	}
	if b.Mix == nil && b.Latency == nil && b.RetryAfter == nil {
		r.lacks(w.node, []string{"outcome", "mix", "latency", "retry_after"}, "bursts change nothing; say outcome, mix, latency or retry_after")
	}
	if min(b.Apart, b.For) < shortestBurst { // that was said
		return b
	}
	if r.bursty += r.s.Duration.Seconds() / (b.Apart + b.For).Seconds(); r.bursty > MostBursts {
		r.d.fault(w.node, "up to here that is about %.0f bursts, more than %d; make them longer, or the run shorter", r.bursty, MostBursts)
		r.bursty = math.Inf(-1) // said once
	}
	return b
}

func (r *resolver) price(w *val[priceW]) *Price {
	p := &Price{Call: w.V.Call.V, Tokens: w.V.Tokens.V}
	switch {
	case p.Call < 0 || p.Call > 1e9:
		r.d.fault(w.V.Call.node, "a call costs %v; it must be from 0 to 1000000000", p.Call)
	case p.Tokens < 0 || p.Tokens > 1e9:
		r.d.fault(w.V.Tokens.node, "a call costs %d tokens; it must be from 0 to 1000000000", p.Tokens)
	case !w.V.Call.said() && !w.V.Tokens.said() && isMapping(w.node):
		r.lacks(w.node, []string{"call", "tokens"}, "the price is of nothing; say call or tokens")
	}
	return p
}

func (r *resolver) phase(w *val[phaseW]) Phase {
	p := Phase{At: time.Duration(w.V.At.V), Behavior: r.behavior(&w.V.behaviorW)}
	if !w.V.At.said() {
		r.missing(w.node, "the phase", "at")
	}
	if w.V.For.said() {
		d := time.Duration(w.V.For.V)
		p.For = &d
		if d == 0 {
			r.d.fault(w.V.For.node, "a phase of 0s never is; leave for out if it lasts to the end")
		}
	}
	if p.Mix == nil && p.Latency == nil && p.RetryAfter == nil && !w.V.Mix.said() && !w.V.Latency.said() {
		r.lacks(w.node, []string{"outcome", "mix", "latency", "retry_after"}, "the phase changes nothing; say outcome, mix, latency or retry_after")
	}
	return p
}

func (r *resolver) behavior(w *behaviorW) Behavior {
	var b Behavior
	if w.Outcome.said() && w.Mix.said() {
		r.d.fault(w.Mix.node, "outcome and mix say the same thing; keep one of them")
	}
	if w.Mix.said() {
		b.Mix = w.Mix.V.Mix
	}
	if w.Outcome.said() {
		b.Mix = Mix{{w.Outcome.V, 1}}
	}
	if w.Latency.said() {
		b.Latency = &w.Latency.V.Dist
	}
	b.RetryAfter = span(&w.RetryAfter)
	return b
}

// span is the duration if the file has it.
func span(v *val[duration]) *time.Duration {
	if !v.said() {
		return nil
	}
	d := time.Duration(v.V)
	return &d
}

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
			}{{"outcome", w.V.Outcome.said()}, {"takes", w.V.Takes.said()}, {"timeout", w.V.Timeout.said()}, {"retry_after", w.V.RetryAfter.said()}} {
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
		r.s.Calls = append(r.s.Calls, c)
	}
}

func (r *resolver) timeout(w *val[duration], to *time.Duration) {
	if w.said() {
		if *to = time.Duration(w.V); *to == 0 {
			r.d.fault(w.node, "0s leaves no time for an answer")
		}
	}
}

// operation finds the one thing that the entry does.
func (r *resolver) operation(w *val[callW], c *Call) {
	n := 0
	keys := []string{"to", "peek", "reset", "set_available"}
	for _, said := range []bool{w.V.To.said(), w.V.Peek.said(), w.V.Reset.said(), w.V.SetAvailable.said()} {
		if said {
			n++
		}
	}
	if n != 1 {
		r.lacks(w.node, keys, "an entry does one thing: to, peek, reset or set_available")
		return
	}
	switch {
	case w.V.To.said():
		c.To = w.V.To.V
		r.destination(&w.V.To)
	case w.V.Peek.said():
		c.Op, c.To = OpPeek, w.V.Peek.V
		r.breaker(&w.V.Peek)
	case w.V.Reset.said():
		c.Op, c.To = OpReset, w.V.Reset.V
		r.breaker(&w.V.Reset)
	default:
		c.Op = OpSetAvailable
		r.setAvailable(&w.V.SetAvailable, c)
	}
}

func (r *resolver) setAvailable(w *val[availableW], c *Call) {
	a := &w.V
	if !a.Breaker.said() || !a.Name.said() || !a.Available.said() {
		r.lacks(w.node, []string{"breaker", "name", "available"}, "set_available wants breaker, name and available: {breaker: llm, name: sonnet, available: false}")
		return
	}
	c.To, c.Backup, c.Available = a.Breaker.V, a.Name.V, a.Available.V
	b := r.breaker(&a.Breaker)
	switch {
	case b == nil:
	case b.Model == nil:
		r.d.fault(a.Breaker.node, "%s is a tool breaker; only a model breaker has a chain", c.To)
	default:
		if names := chainNames(b.Model); !slices.Contains(names, c.Backup) && !r.anyBackup(c.To) {
			r.d.fault(a.Name.node, "%q is not in the chain of %s%s", clip(c.Backup), c.To, r.d.meant(c.Backup, names))
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

// breaker finds a breaker, or says that there is none of that name.
func (r *resolver) breaker(name *val[string]) *Breaker {
	for i := range r.s.Breakers {
		if r.s.Breakers[i].Name == name.V {
			return &r.s.Breakers[i]
		}
	}
	if !slices.Contains(r.breakers, name.V) && !r.anyBreaker { // otherwise it is there, and has faults of its own
		r.d.fault(name.node, "unknown breaker %q%s", clip(name.V), r.d.meant(name.V, r.breakers))
	}
	return nil
}

func (r *resolver) resolveCallers() {
	total := float64(len(r.s.Calls))
	seen := map[string]bool{}
	for i := range r.f.Callers {
		w := &r.f.Callers[i]
		c := Callers{Name: fmt.Sprintf("callers-%d", i+1), To: w.V.To.V, Count: 1, Timeout: defaultTimeout,
			Every: time.Duration(w.V.Every.V), Think: time.Duration(w.V.Think.V), Jitter: w.V.Jitter.V, Start: w.V.Start.V.Dist, Rates: r.rates(&w.V.Rate), Poisson: bool(w.V.Arrivals.V)}
		at := w.node
		if w.V.Name.said() {
			c.Name, at = w.V.Name.V, w.V.Name.node
			r.name(c.Name, at)
		}
		if seen[c.Name] {
			r.d.fault(at, "two callers are named %s; their draws would be the same", c.Name)
		}
		seen[c.Name] = true
		if w.V.Count.said() {
			if c.Count = w.V.Count.V; c.Count < 1 || c.Count > 1_000_000 {
				r.d.fault(w.V.Count.node, "count must be from 1 to 1000000")
				c.Count = 0
			}
		}
		if !w.V.To.said() {
			r.missing(w.node, "the callers entry", "to")
		} else {
			r.destination(&w.V.To)
		}
		r.timeout(&w.V.Timeout, &c.Timeout)
		r.timeout(&w.V.Patience, &c.Patience)
		r.rhythm(w, &c)
		r.until(w, &c)
		total += c.estimate()
		if total > float64(r.s.MaxCalls) {
			r.d.fault(w.node, "up to here that is about %.0f calls, more than %d; raise the limit with --limit=%.0f if you mean it", total, r.s.MaxCalls, math.Ceil(total))
			total = math.Inf(-1) // said once
		}
		r.s.Callers = append(r.s.Callers, c)
	}
}

// rhythm checks what says when the calls start.
func (r *resolver) rhythm(w *val[callersW], c *Callers) {
	v := &w.V
	for _, k := range []struct {
		name string
		v    *val[duration]
	}{{"every", &v.Every}, {"think", &v.Think}} {
		if k.v.said() && k.v.V == 0 {
			r.d.fault(k.v.node, "%s: 0s would let no time pass; write a duration above 0", k.name)
		}
		if k.v.said() && v.Rate.said() {
			r.d.fault(k.v.node, "a stream has a rate and no %s", k.name)
		}
	}
	switch {
	case v.Every.said() && v.Think.said():
		r.d.fault(v.Think.node, "every and think exclude each other: from start to start, or from end to start")
	case v.Jitter.said() && !v.Every.said() && !v.Think.said() && !r.d.perhaps(w.node, "every", "think"):
		r.d.fault(v.Jitter.node, "jitter is for every or think; this entry has neither")
	}
	if v.Jitter.said() && (c.Jitter < 0 || c.Jitter > 1) {
		r.d.fault(v.Jitter.node, "jitter must be from 0 to 1")
	}
	if v.Count.said() && v.Rate.said() {
		r.d.fault(v.Count.node, "a stream has a rate and no count")
	}
	if v.Arrivals.said() && !v.Rate.said() && !r.d.perhaps(w.node, "rate") {
		r.d.fault(v.Arrivals.node, "arrivals is for a stream; add a rate, such as 5/s")
	}
}

// until settles when the last call may start.
func (r *resolver) until(w *val[callersW], c *Callers) {
	once := c.Every == 0 && c.Think == 0 && !w.V.Rate.said()
	switch {
	case w.V.Until.said():
		c.Until = time.Duration(w.V.Until.V)
	case !r.s.Open:
		c.Until = r.s.Duration + 1 // a call at the very end is played
	case once:
		c.Until = math.MaxInt64
	case !r.d.perhaps(r.root, "duration"):
		r.lacks(w.node, []string{"until"}, "these callers would call for ever; add until, or a duration to the scenario")
	}
}

// estimate is about how many calls there will be.
func (c *Callers) estimate() float64 {
	span := max(0, c.Until.Seconds()-c.Start.A.Seconds())
	switch {
	case c.Open():
		return c.Area(span)
	case c.Every+c.Think > 0:
		return float64(c.Count) * math.Ceil(span/(c.Every+c.Think).Seconds())
	default:
		return float64(c.Count)
	}
}

// mostStages of one stream.
const mostStages = 1000

// rates are the stages of a stream, the first at 0.
func (r *resolver) rates(w *val[rateW]) []Stage {
	if !w.said() || r.d.refused[w.node] {
		return nil
	}
	if w.V.stages == nil {
		r.running(&val[Rate]{w.V.one, w.node})
		return []Stage{{Hertz: w.V.one.hertz()}}
	}
	if len(w.V.stages) > mostStages {
		r.d.fault(w.V.stages[mostStages].node, "the rate has %d stages; no more than %d are played", len(w.V.stages), mostStages)
		return nil
	}
	var all []Stage
	for i := range w.V.stages {
		v := &w.V.stages[i]
		s := Stage{At: time.Duration(v.V.At.V), Hertz: v.V.Rate.V.hertz(), Ramp: v.V.Ramp.V}
		if !v.V.At.said() && isMapping(v.node) {
			r.missing(v.node, "the stage", "at")
		}
		if !v.V.Rate.said() && isMapping(v.node) {
			r.missing(v.node, "the stage", "rate")
		}
		if n := len(all); n > 0 && v.V.At.said() && s.At <= all[n-1].At {
			r.d.fault(v.V.At.node, "stages are in the order of time; this one is not after %s", short(all[n-1].At))
		}
		if i == 0 && s.At > 0 { // no calls until then
			all = append(all, Stage{})
		}
		all = append(all, s)
	}
	return all
}

// running refuses a rate of 0, which only a stage can have.
func (r *resolver) running(w *val[Rate]) {
	if w.V.Count == 0 && w.V.Per > 0 {
		r.d.fault(w.node, "a rate of 0 is for one stage of several; write one above 0")
	}
}

func (r Rate) hertz() float64 {
	if r.Per == 0 {
		return 0
	}
	return r.Count / r.Per.Seconds()
}

// Area is how many calls a stream has made on average in its first seconds.
func (c *Callers) Area(seconds float64) float64 {
	area := 0.0
	for i := range c.Rates {
		from, to := c.Rates[i].At.Seconds(), math.Inf(1)
		first, last := c.Rates[i].Hertz, c.Rates[i].Hertz
		if i+1 < len(c.Rates) {
			next := &c.Rates[i+1]
			if to = next.At.Seconds(); next.Ramp {
				last = next.Hertz
			}
		}
		if seconds <= from {
			break
		}
		if seconds < to {
			if last != first {
				last = first + (last-first)*(seconds-from)/(to-from)
			}
			to = seconds
		}
		area += (to - from) * (first + last) / 2
	}
	return area
}
