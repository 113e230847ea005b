package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
)

// candidate is a finding that is still to be shown.
type candidate struct {
	at      scenarios.Fault
	says    string
	instead string
	breaker string
	script  *script
}

// finding is the candidate as a finding, if its script shows it; else nil.
func (c *candidate) finding(r *Rule, file string) *Finding {
	if c.script.tooLong || !shows(c.script.text(r.ID, r)) {
		return nil
	}
	c.at.Message = c.says
	return &Finding{Rule: r, File: file, At: c.at, Instead: c.instead, Breaker: c.breaker, script: c.script}
}

// Script is a scenario that shows the finding. The name becomes its id, as far
// as ids can have it.
func (f *Finding) Script(name string) []byte { return f.script.text(ID(name), f.Rule) }

var notInIDs = regexp.MustCompile(`[^a-z0-9]+`)

// ID is the nearest to a name that a scenario can be called.
func ID(name string) string {
	id := strings.Trim(notInIDs.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return cmp.Or(strings.TrimRight(id[:min(len(id), 60)], "-"), "script")
}

// mended is the policy of a script that has what to write instead.
const mended = "mended"

// script is a scenario in the making. Entries are YAML in flow style.
type script struct {
	about    string
	duration time.Duration // 0: to the last thing in it
	breaker  string
	targets  []string
	script   []string // calls
	tooLong  bool     // more of them than anybody reads
	callers  []string
	asIs     string // a policy
	mended   string // likewise
	expect   []string
}

// text is the scenario.
func (s *script) text(name string, r *Rule) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "scenario: %s\ntitle: %s\nabout: >\n%s\n%s", name, r.Title, folded(r.Why), folded(s.about))
	if s.duration > 0 {
		fmt.Fprintf(&b, "duration: %s\n", short(s.duration))
	}
	if s.breaker != "" {
		fmt.Fprintf(&b, "breakers:\n  %s\n", s.breaker)
	}
	fmt.Fprintf(&b, "targets:\n  %s\n", strings.Join(s.targets, "\n  "))
	for _, l := range []struct {
		key   string
		items []string
	}{{"calls", s.script}, {"callers", s.callers}, {"policies", []string{s.asIs, s.mended}}, {"expect", s.expect}} {
		if len(l.items) > 0 {
			fmt.Fprintf(&b, "%s:\n  - %s\n", l.key, strings.Join(l.items, "\n  - "))
		}
	}
	return []byte(b.String())
}

// width is that of the lines of a folded paragraph.
const width = 118

// folded is a paragraph for YAML's folded style.
func folded(text string) string {
	var b strings.Builder
	column := 0
	for i, w := range strings.Fields(text) {
		switch {
		case i == 0:
			b.WriteString("  ")
			column = 2
		case column+1+len(w) > width:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String() + "\n"
}

// shows plays a script under both its policies, and says whether all came as it
// expects. One that cannot be played shows nothing.
func shows(text []byte) bool {
	s, err := scenarios.Load("script.yaml", text, scenarios.DefaultLimits())
	if err != nil {
		return false
	}
	for i := range s.Policies {
		w := newWitness(s, &s.Policies[i])
		failures, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: sinks(w), Metric: w.metric})
		if err != nil || len(failures) > 0 {
			return false
		}
	}
	return true
}

// beside is the script of a breaker: its settings as they are and, beside them,
// with some changed: key, value, key, value. Whom it is for is left out.
func (x *subject) beside(change ...string) *script {
	return x.besideAs(pairs(x.doc.Pairs("breakers", x.b.Name)).without("per"), x.changes().without("per"), change...)
}

// besideAs is the same with the settings that the file has for all policies and
// those that it has for this one.
func (x *subject) besideAs(base, own pairs, change ...string) *script {
	name := word(x.b.Name)
	s := &script{breaker: name + ": " + base.String(), asIs: "breaker"}
	if len(own) > 0 {
		s.asIs = fmt.Sprintf("{name: %s, breakers: {%s: %s}}", asItIs, name, own)
	}
	for i := 0; i < len(change); i += 2 {
		own = own.with(change[i], change[i+1])
	}
	s.mended = fmt.Sprintf("{name: %s, breakers: {%s: %s}}", mended, name, own)
	s.targets = []string{word(x.callee()) + ": {}"}
	if x.b.Model != nil {
		s.targets = []string{word(x.b.Model.Primary) + ": {}"}
		for _, e := range x.b.Model.Chain {
			s.targets = append(s.targets, word(e.Name)+": {}")
		}
	}
	return s
}

// calls scripts n of them alike; no outcome is as the target has it.
func (s *script) calls(n int, at time.Duration, to, outcome string, takes time.Duration) {
	if n > mostScripted-len(s.script) {
		s.tooLong = true
		return
	}
	c := fmt.Sprintf("{at: %s, to: %s", short(at), word(to))
	if outcome != "" {
		c += ", outcome: " + outcome
	}
	if takes > 0 {
		c += ", takes: " + short(takes)
	}
	for range n {
		s.script = append(s.script, c+"}")
	}
}

// before and after are what must come of the settings as they are, and mended.
func (s *script) before(format string, a ...any) {
	s.expect = append(s.expect, fmt.Sprintf("{policy: %s, "+format+"}", append([]any{policyName(s.asIs)}, a...)...))
}

func (s *script) after(format string, a ...any) {
	s.expect = append(s.expect, fmt.Sprintf("{policy: %s, "+format+"}", append([]any{mended}, a...)...))
}

// policyName is that of a policy in a script: the built-in ones stand there by
// name, all others are called alike.
func policyName(flow string) string {
	if strings.HasPrefix(flow, "{") {
		return asItIs
	}
	return flow
}

// asItIs is what a script calls a policy of the file.
const asItIs = "as-it-is"

// opens scripts calls at 0s that open the breaker, and gives the instant at
// which it does; false if nothing that can be scripted opens it.
func (s *script) opens(x *subject) (time.Duration, bool) {
	n, outcome, takes := x.failuresToOpen(), x.failing(), time.Duration(0)
	if t := x.tool(); t != nil && onlySlow(t) {
		takes = t.Trip.SlowerThan + time.Millisecond
	}
	if outcome == "" {
		return 0, false
	}
	s.calls(n, 0, x.callee(), outcome, takes)
	return takes, n > 0
}

// mostScripted bounds the calls of a script: people read it.
const mostScripted = 1000

// failing is an outcome that counts as a failure, or empty if none does.
func (x *subject) failing() string {
	var c machine.Counts
	if x.b.Model != nil {
		c = x.b.Model.Counts
	} else {
		c = x.b.Tool.Counts
	}
	for _, o := range []struct {
		outcome string
		as      machine.Take
	}{{"failure", c.Failure}, {"timeout", c.Timeout}, {"rate_limit", c.RateLimit}, {"permanent", c.Permanent}} {
		if o.as == machine.AsItIs || o.as == machine.AsFailure {
			return o.outcome
		}
	}
	return ""
}

// failuresToOpen is how many failures at one instant open the breaker; 0: none do.
func (x *subject) failuresToOpen() int {
	if m := x.model(); m != nil {
		return max(1, m.TripThreshold)
	}
	t := x.tool()
	var all []int
	if t.FailureThreshold > 0 {
		all = append(all, t.FailureThreshold)
	}
	if t.Trip.FailureRate > 0 || t.Trip.SlowRate > 0 {
		all = append(all, max(1, t.Trip.MinCalls))
	}
	if t.Trip.Failures > 0 {
		all = append(all, t.Trip.Failures)
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}

// cooldown is the longest that the first one can be.
func (x *subject) cooldown() time.Duration {
	jitter := 0.0
	if m := x.model(); m != nil {
		jitter = m.Cooldown.Jitter
	} else {
		jitter = x.tool().Cooldown.Jitter
	}
	return x.base() + time.Duration(float64(x.base())*jitter)
}

// successesToClose is how many probes must succeed.
func (x *subject) successesToClose() int {
	if m := x.model(); m != nil {
		return max(1, m.RecoverySuccessesNeeded)
	}
	return max(1, x.tool().Probing.Needed)
}

// short writes a duration as a file would: 2m, not 2m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var (
	plain    = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)
	yamlWord = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// word is a name as YAML writes it, so that no word of YAML's own comes of it.
func word(name string) string {
	if plain.MatchString(name) && !slices.Contains(yamlWord, name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}
