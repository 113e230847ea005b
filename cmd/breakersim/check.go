package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/machine/check"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

type checkCmd struct {
	limits
	Machine     string   `enum:"tool,model," default:"" placeholder:"tool|model" help:"Explore only this machine."`
	Calls       int      `placeholder:"N" help:"Calls in flight at one time, 1 to 16 (tool: 16, model: 7, fewer with a long chain)."`
	Depth       int      `placeholder:"N" help:"Moves in a row (until nothing new comes)."`
	AllSettings bool     `help:"Explore a small tool breaker with each further setting on by itself, and with none."`
	Set         []string `sep:"none" placeholder:"KEY=VALUE" help:"A setting of --machine as in a scenario, such as probe_timeout=0s. May be given again. A model's backups are called backup-1 to backup-8."`
	Out         string   `short:"o" default:"outputs" placeholder:"DIR" help:"Where the script of a broken invariant goes: DIR/check/<machine>-<invariant>.yaml (${default})."`
	Scenarios   []string `arg:"" optional:"" name:"scenario" predictor:"scenario" help:"Explore the breakers of these scenarios, with their settings."`
}

// toolCalls are the calls in flight that are explored unless --calls says otherwise.
const toolCalls = 16

// modelCalls are the same for model breakers, by the length of the chain: so
// many that two cores explore them in a minute.
var modelCalls = []int{7, 7, 7, 4, 3, 2, 2, 1, 1}

// subject is a breaker to explore.
type subject struct {
	name string // of its files
	scenarios.Breaker
	policy string        // whose settings they are; empty: the scenario's
	o      check.Options // zero: as is usual
}

// standards are the breakers that are explored without any being named.
var standards = []struct{ name, machine, settings string }{
	{"tool", "tool", ""},
	{"tool-stale-ignored", "tool", "stale_results: ignore"},
	{"model", "model", "chain: [backup-1, backup-2]"},
	{"model-without-chain", "model", "chain: []"},
}

// Run explores each machine and tells what holds.
func (c *checkCmd) Run(s streams) error {
	subjects, err := c.subjects(s.in)
	if err != nil {
		return err
	}
	broken := false
	for i := range subjects {
		violated, err := c.explore(&subjects[i], s)
		if err != nil {
			return err
		}
		broken = broken || violated
	}
	if broken {
		return errExpectation
	}
	return nil
}

func (c *checkCmd) subjects(in io.Reader) ([]subject, error) {
	lim, err := c.limits.parse()
	switch {
	case err != nil:
		return nil, err
	case c.AllSettings && (len(c.Set) > 0 || len(c.Scenarios) > 0 || c.Machine == "model"):
		return nil, wrong{fmt.Errorf("--all-settings has tool breakers of its own; say it without --set, --machine model and scenarios")}
	case c.AllSettings:
		return eachSetting(), nil
	case len(c.Set) > 0 && len(c.Scenarios) > 0:
		return nil, wrong{fmt.Errorf("--set changes the standard settings; for a scenario, change its file")}
	case len(c.Set) > 0 && c.Machine == "":
		return nil, wrong{fmt.Errorf("--set wants --machine tool or --machine model beside it")}
	case len(c.Scenarios) > 0:
		return c.ofScenarios(in, lim)
	case len(c.Set) > 0:
		b, err := c.withSettings(lim)
		return []subject{{name: c.Machine, Breaker: b}}, err
	}
	var all []subject
	for _, st := range standards {
		if c.Machine != "" && c.Machine != st.machine {
			continue
		}
		b, err := standard(st.machine, []string{st.settings}, lim)
		if err != nil {
			return nil, err
		}
		all = append(all, subject{name: st.name, Breaker: b})
	}
	return all, nil
}

// eachSetting are the breakers of --all-settings.
func eachSetting() (all []subject) {
	for _, v := range check.ToolVariants() {
		all = append(all, subject{name: "tool-" + v.Name, Breaker: scenarios.Breaker{Name: v.Name, Tool: &v.Settings}, o: v.Options})
	}
	return all
}

// underPolicies are the scenario's i-th breaker, and what its settings are under
// each policy that changes them, each once.
func underPolicies(s *scenarios.Scenario, i int) []subject {
	b := s.Breakers[i]
	all := []subject{{name: fmt.Sprintf("%s-%d", s.Name, i+1), Breaker: b, o: operated(s, b.Name, nil)}}
	for _, p := range s.Policies {
		at := slices.IndexFunc(p.Breakers, func(other scenarios.Breaker) bool { return other.Name == b.Name })
		if at < 0 {
			continue
		}
		next := subject{name: fmt.Sprintf("%s-%d-%s", s.Name, i+1, p.Name), Breaker: p.Breakers[at], policy: p.Name, o: operated(s, b.Name, p.Configured)}
		if !slices.ContainsFunc(all, next.same) {
			all = append(all, next)
		}
	}
	return all
}

// same says whether both come to the same exploration.
func (b *subject) same(other subject) bool {
	return b.Anonymous == other.Anonymous && reflect.DeepEqual(b.Tool, other.Tool) && reflect.DeepEqual(b.Model, other.Model) &&
		(other.policy == "" && b.o.Between == nil || reflect.DeepEqual(b.o, other.o))
}

// operated is what operators do to a breaker of the scenario: whether they force
// it, and the first settings that they give it.
func operated(s *scenarios.Scenario, breaker string, settings map[int]machine.ToolSettings) (o check.Options) {
	for n, c := range s.Calls {
		switch {
		case c.To != breaker:
		case c.Op == scenarios.OpForceOpen || c.Op == scenarios.OpForceClosed:
			o.Forced = true
		case c.Op == scenarios.OpConfigure && o.Between == nil:
			if to, ok := settings[n]; ok {
				o.Between = &to
			}
		}
	}
	return o
}

// withSettings is the standard breaker changed by --set.
func (c *checkCmd) withSettings(lim scenarios.Limits) (scenarios.Breaker, error) {
	var settings []string
	chain := c.Machine == "model"
	for _, s := range c.Set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return scenarios.Breaker{}, wrong{fmt.Errorf("--set %s has no value; write it like --set probe_timeout=0s", s)}
		}
		settings = append(settings, key+": "+value)
		chain = chain && key != "chain"
	}
	if chain {
		settings = append(settings, "chain: [backup-1, backup-2]")
	}
	return standard(c.Machine, settings, lim)
}

// ofScenarios are the breakers of the scenarios that are named.
func (c *checkCmd) ofScenarios(in io.Reader, lim scenarios.Limits) ([]subject, error) {
	loaded, err := load(c.Scenarios, in, lim)
	if err != nil {
		return nil, err
	}
	var all []subject
	for _, sc := range loaded {
		for i, b := range sc.Breakers {
			if c.Machine == "" || (c.Machine == "tool") == (b.Tool != nil) {
				all = append(all, underPolicies(sc, i)...)
			}
		}
	}
	if len(all) == 0 {
		return nil, wrong{fmt.Errorf("%s: no %s to explore", strings.Join(c.Scenarios, ", "), strings.TrimSpace(c.Machine+" breaker"))}
	}
	return all, nil
}

// standard is a breaker with these settings, read as a scenario's are.
func standard(kind string, settings []string, lim scenarios.Limits) (scenarios.Breaker, error) {
	lines := []string{"scenario: check", "breakers:", "  " + kind + ":", "    kind: " + kind}
	targets := []string{kind}
	if kind == "model" {
		targets = []string{"primary"}
		lines = append(lines, "    primary: primary")
		for i := range 8 {
			targets = append(targets, fmt.Sprintf("backup-%d", i+1))
		}
	}
	for _, s := range settings {
		lines = append(lines, "    "+s)
	}
	lines = append(lines, "targets:")
	for _, t := range targets {
		lines = append(lines, "  "+t+": {}")
	}
	s, err := scenarios.Load("--set", []byte(strings.Join(lines, "\n")+"\ncalls: [{at: 0s, peek: "+kind+"}]\n"), lim)
	if err != nil {
		return scenarios.Breaker{}, err
	}
	return s.Breakers[0], nil
}

// explore explores one breaker, tells what came of it, and writes the scripts
// of what is broken.
func (c *checkCmd) explore(b *subject, s streams) (broken bool, err error) {
	o := b.o
	o.Calls, o.Depth = cmp.Or(c.Calls, o.Calls), c.Depth
	if s.errTerminal {
		o.Progress = progress(s.err)
	}
	var r *check.Result
	if b.Tool != nil {
		o = c.bounded(b.Tool, o)
		r, err = check.Tool(*b.Tool, b.Anonymous, o)
	} else {
		o.Calls = cmp.Or(o.Calls, modelCalls[min(len(b.Model.Chain), len(modelCalls)-1)])
		r, err = check.Model(*b.Model, b.Anonymous, o)
	}
	if s.errTerminal {
		fmt.Fprint(s.err, "\r\x1b[K")
	}
	if err != nil {
		return false, wrong{err}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n  %s\n", b.words(), explored(o.Calls, r))
	scripts := map[string]string{}
	if len(r.Violations) > 0 {
		if scripts, err = c.write(b, r.Violations); err != nil {
			return true, err
		}
	}
	for _, i := range r.Invariants {
		if file, is := scripts[i.Name]; is {
			v := r.Violations[slices.IndexFunc(r.Violations, func(v check.Violation) bool { return v.Invariant.Name == i.Name })]
			fmt.Fprintf(&text, "  BROKEN  %-14s %s\n          %s\n          %d steps: breakersim run %s\n", i.Name, i.About, v.Why, len(v.Script), file)
		} else {
			fmt.Fprintf(&text, "  holds   %-14s %s\n", i.Name, i.About)
		}
	}
	_, err = fmt.Fprintln(s.out, text.String())
	return len(r.Violations) > 0, err
}

// bounded are the options with what is usual: as many calls as end in a minute.
// What a breaker can be set to may have no end of states; then it is explored as
// deep as can be in seconds, unless --depth says how deep.
func (c *checkCmd) bounded(s *machine.ToolSettings, o check.Options) check.Options {
	if check.Plainly(s, &o) {
		o.Calls = cmp.Or(o.Calls, toolCalls)
		return o
	}
	o.Calls = cmp.Or(o.Calls, setCalls)
	if c.Depth == 0 {
		o.Enough = cmp.Or(o.Enough, setWork)
	}
	return o
}

// setCalls and setWork bound the exploration of a tool breaker that is set to
// more than T1 to T16.
const (
	setCalls = 3
	setWork  = 2_000_000
)

// write writes the script of each violation, and says where by invariant.
func (c *checkCmd) write(b *subject, violations []check.Violation) (map[string]string, error) {
	dir := filepath.Join(c.Out, "check")
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer f.discard()
	scripts := map[string]string{}
	for i := range violations {
		v := &violations[i]
		name := b.name + "-" + v.Invariant.Name
		err := f.write(name+".yaml", func(w io.Writer) error {
			if b.Tool != nil {
				return v.WriteTool(w, name, *b.Tool, b.Anonymous)
			}
			return v.WriteModel(w, name, *b.Model, b.Anonymous)
		})
		if err != nil {
			return nil, err
		}
		scripts[v.Invariant.Name] = filepath.Join(dir, name+".yaml")
	}
	return scripts, f.commit()
}

// explored says how far it went.
func explored(calls int, r *check.Result) string {
	text := fmt.Sprintf("%s states, %s moves, up to %d in a row, %d calls in flight", report.Thousands(int64(r.States)), report.Thousands(int64(r.Moves)), r.Depth, calls)
	if r.Complete {
		return text + "; nothing new beyond, so longer sequences are covered"
	}
	return text
}

// words are the breaker's settings.
func (b *subject) words() string {
	reports, whose := "", ""
	if b.policy != "" {
		whose = " under " + b.policy
	}
	if b.Anonymous {
		reports = ", reports anonymous"
	}
	if s := b.Tool; s != nil {
		stale := "count"
		if s.IgnoreStale {
			stale = "ignore"
		}
		var further strings.Builder
		for _, f := range check.Further(s) {
			further.WriteString(", " + strings.Replace(f, ": ", " ", 1))
		}
		return fmt.Sprintf("tool breaker %s%s: failure_threshold %d, recovery_duration %v, probe_timeout %v, stale_results %s%s%s%s",
			b.Name, whose, s.FailureThreshold, s.RecoveryDuration, s.ProbeTimeout, stale, further.String(), b.operators(), reports)
	}
	s := b.Model
	var chain []string
	for _, e := range s.Chain {
		chain = append(chain, fmt.Sprintf("%s (%d)", e.Name, e.MaxFailCount))
	}
	return fmt.Sprintf("model breaker %s%s: chain [%s], trip_threshold %d, recovery_timeout %v, recovery_successes_needed %d, probation_failures %d%s%s",
		b.Name, whose, strings.Join(chain, ", "), s.TripThreshold, s.RecoveryTimeout, s.RecoverySuccessesNeeded, s.ProbationFailures, strings.ReplaceAll(check.FurtherModel(*s), ": ", " "), reports)
}

// operators says what they do to the breaker.
func (b *subject) operators() string {
	text := ""
	if b.o.Forced {
		text += ", forced by an operator"
	}
	if b.o.Between != nil {
		text += ", configured while it runs"
	}
	return text
}

// progress tells a terminal how far the exploration is, now and then.
func progress(w io.Writer) func(check.Progress) {
	var last time.Time
	return func(p check.Progress) {
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			fmt.Fprintf(w, "\r\x1b[K%d moves in a row, %s states, %s moves", p.Depth, report.Thousands(int64(p.States)), report.Thousands(int64(p.Moves)))
		}
	}
}
