// Package lint says what will go wrong with a breaker's settings, and shows it.
// Each finding has a script: a scenario of a few lines that plays the settings
// as they are, and beside them mended. A finding is told only if its script was
// played and showed both; what depends on the world is looked for in runs of the
// scenario itself.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
)

// Rule is one thing that goes wrong.
type Rule struct {
	ID      string // stays as it is, for configurations and dashboards
	Title   string
	Why     string // it goes wrong
	Instead string // of the settings that do
	find    func(*subject) []*candidate
}

// Rules are all of them. A further one is one more row.
var Rules = []Rule{
	{"no-lease", "A lost probe wedges the breaker for good",
		"With probe_timeout 0 the probe holds its slot until its result comes. If its task is dropped, or its process killed, no result ever comes, and the breaker refuses every call from then on (T6, T7).",
		"Give the probe a lease somewhat longer than the slowest answer that is still good: probe_timeout: 30s.", noLease},
	{"lease-shorter-than-the-call", "A good probe comes too late to close the breaker",
		"A probe that succeeds after its lease has run out is stale, and never closes the breaker (T7, T12). Where good answers take longer than the lease, the breaker goes on refusing a healthy target.",
		"Make probe_timeout longer than the 99th percentile of good answers, and than the callers' timeout where one can be had.", shortLease},
	{"calls-outlast-the-cooldown", "Calls from before the outage open the breaker after it",
		"A call that may hang for longer than the cooldown comes back when the breaker has closed again, and counts there: an echo of the outage, which refuses a healthy target (T3, T13).",
		"Make the callers' timeout shorter than the cooldown, or write stale_results: ignore.", outlast},
	{"threshold-zero", "A threshold of 0 is not a small one",
		"A tool breaker of failure_threshold 0 that has no rate beside it never opens (T3). A model breaker of trip_threshold 0 trips at the first failed turn (M10).",
		"Write the number of failures in a row that shall open it, such as 3; for a tool breaker that shall never open, write no breaker.", zeroThreshold},
	{"minimum-never-reached", "The traffic never fills the minimum volume",
		"A rate opens a breaker only if the window holds minimum_calls results. Where calls are too few or take too long for that, not even an outage in which every call fails opens it (T21, T22).",
		"Lower minimum_calls below what one window sees in an outage, make the window longer, or add failure_threshold, which needs no volume.", neverReached},
	{"window-forgets-the-outage", "Failures are forgotten faster than they come",
		"A window of time, or forget_failures_after, lets failures go. Where calls are far apart or take long, an outage in which every call fails never has enough of them at one time (T21).",
		"Let the window be several times the time that a failing call takes, or count failures in a row, which are not forgotten: failure_threshold.", forgets},
	{"backup-out-with-the-primary", "A backup that is out whenever the primary is",
		"A chain entry helps only if it fails apart from the primary. The primary itself under another name, or what shares its account, key or region, is out when it is needed: each of its turns is lost before the next entry is asked (M11).",
		"Name a backup that fails apart from the primary, or take this one out of the chain.", sharedOutage},
	{"cooldown-outlives-the-outage", "The cooldown is far longer than the outage",
		"A breaker that is open sees nothing of a recovery. With a cooldown several times as long as the outages or limits that open it, it refuses or reroutes calls for long after they would be served (T4, M2).",
		"Take a cooldown about as long as the shortest outage worth waiting for; where limits name a time, retry_after: heed.", longCooldown},
	{"retries-times-threshold", "Each failure that counts is a whole ladder of attempts",
		"With gate: call the breaker hears of a call after its last attempt. A threshold of 3 with ladders of 4 attempts lets 12 attempts through to a target that is down, not 3.",
		"Write gate: attempt, so that each attempt asks and counts, or divide the threshold by the number of attempts.", retriesTimes},
	{"one-call-opens-it", "A single call opens the breaker by its own retries",
		"With gate: attempt each attempt counts. If a ladder has as many attempts as the threshold, one caller's bad request is enough to cut off all others.",
		"Make failure_threshold larger than the ladder's attempts, or write gate: call.", oneCall},
	{"hint-beyond-the-cap", "Retries come before the time that the rate limit named",
		"A ladder waits as long as a rate limit asks, but no longer than 60s (L2). If the hint is longer, all further attempts are refused as the first one was, and the call fails after three such waits.",
		"Write on_rate_limit: fail, so that the call fails at once and a breaker or a backup can act on it.", beyondTheCap},
	{"anonymous-overhang", "Results that do not say whose they are decide for others",
		"With reports: anonymous a result counts for whatever the breaker waits for when it comes. One of a call from before the outage closes or opens a half-open breaker (T13), or spends the budget of a backup that was never tried (M17).",
		"Report by permit, which is the default: leave reports: anonymous out.", anonymousOverhang},
	{"probation-without-limit", "A primary that is still ill keeps every turn",
		"After the cooldown every turn is a probe of the primary, and failures other than rate limits do not end the probation (M6, M13). While the primary is ill all turns fail, with healthy backups idle.",
		"Write probation_failures: 1.", endlessProbation},
}

// Finding is one thing that will go wrong in a file.
type Finding struct {
	Rule    *Rule
	File    string
	At      scenarios.Fault // the setting; the message says what will go wrong, in figures
	Instead string          // what to write
	Breaker string          // empty if it is about a policy without one
	script  *script
}

// Options choose what is looked for.
type Options struct {
	Limits       scenarios.Limits
	Only, Except []string // ids of rules; none: all of them
}

// Document is a file that was looked at.
type Document struct {
	*scenarios.Document
	Findings []Finding // in the order of their places
}

// Check reads a scenario, or breakers alone, and says what will go wrong. The
// error is a [*scenarios.Faults] if the file makes no sense, or that a run of it
// cannot be made.
func Check(file string, src []byte, o Options) (*Document, error) {
	doc, err := scenarios.Read(file, src, o.Limits)
	if err != nil {
		return nil, err
	}
	d := &Document{Document: doc}
	s, err := load(doc, file, src, o.Limits)
	var faults *scenarios.Faults
	if errors.As(err, &faults) && faults.OwnBackups() {
		d.add(ownBackups(doc, faults), o)
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	world := !bare(doc)
	for i := range s.Policies {
		if err := d.policy(s, i, world, o); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.At.Column, b.At.Column))
	})
	return d, nil
}

// bare says whether the file has settings and no world.
func bare(doc *scenarios.Document) bool {
	return !doc.Has("scenario") && !doc.Has("targets") && !doc.Has("calls") && !doc.Has("callers")
}

func load(doc *scenarios.Document, file string, src []byte, lim scenarios.Limits) (*scenarios.Scenario, error) {
	if bare(doc) {
		return scenarios.LoadBreakers(file, src, lim)
	}
	return scenarios.Load(file, src, lim)
}

// policy looks at one policy and at each of its breakers.
func (d *Document) policy(s *scenarios.Scenario, i int, world bool, o Options) error {
	x := subject{doc: d.Document, s: s, policy: i, p: &s.Policies[i]}
	if world {
		var err error
		if x.w, err = witnessed(s, x.p); err != nil {
			return err
		}
	}
	d.look(x, o)
	for k := range x.p.Breakers {
		of := x
		of.b = &x.p.Breakers[k]
		d.look(of, o)
	}
	return nil
}

// look tries every rule on a subject.
func (d *Document) look(x subject, o Options) {
	for i := range Rules {
		r := &Rules[i]
		if !o.wants(r.ID) {
			continue
		}
		for _, c := range r.find(&x) {
			if f := c.finding(r, x.s.File); f != nil && !d.told(f) {
				d.Findings = append(d.Findings, *f)
			}
		}
	}
}

// add takes findings that were made otherwise.
func (d *Document) add(all []Finding, o Options) {
	for _, f := range all {
		if o.wants(f.Rule.ID) {
			d.Findings = append(d.Findings, f)
		}
	}
}

func (o *Options) wants(id string) bool {
	return (len(o.Only) == 0 || slices.Contains(o.Only, id)) && !slices.Contains(o.Except, id)
}

// told says whether the same setting was complained of under another policy.
func (d *Document) told(f *Finding) bool {
	return slices.ContainsFunc(d.Findings, func(g Finding) bool {
		return g.Rule == f.Rule && g.Breaker == f.Breaker && g.At.Line == f.At.Line && g.At.Column == f.At.Column
	})
}

// subject is what a rule looks at: a breaker under a policy, or a policy.
type subject struct {
	doc    *scenarios.Document
	s      *scenarios.Scenario
	policy int
	p      *scenarios.Policy
	b      *scenarios.Breaker // nil: the policy itself
	w      *witness           // of the scenario's own run; nil: it has no world
}

func (x *subject) tool() *machine.ToolSettings {
	if x.b == nil {
		return nil
	}
	return x.b.Tool
}

func (x *subject) model() *machine.ModelSettings {
	if x.b == nil {
		return nil
	}
	return x.b.Model
}

// seen is what the scenario's own run showed of the breaker, or nil.
func (x *subject) seen() *seen {
	if x.w == nil || x.b == nil {
		return nil
	}
	return x.w.breakers[x.b.Name]
}

// target is the one that the breaker gates, or its primary; nil without a world.
func (x *subject) target() *scenarios.Target {
	name := x.b.Guards
	if x.b.Model != nil {
		name = x.b.Model.Primary
	}
	i := slices.IndexFunc(x.s.Targets, func(t scenarios.Target) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &x.s.Targets[i]
}

// callees are what calls name to reach the breaker.
func (x *subject) callee() string {
	if x.b.Model != nil {
		return x.b.Name
	}
	return x.b.Guards
}

// at is where the first of the settings stands that is written, in the policy
// or for all; else the breaker's name.
func (x *subject) at(keys ...string) scenarios.Fault {
	for _, k := range keys {
		if x.doc.Has(x.ofPolicy("breakers", x.b.Name, k)...) {
			return x.doc.At(x.ofPolicy("breakers", x.b.Name, k)...)
		}
		if x.doc.Has("breakers", x.b.Name, k) {
			return x.doc.At("breakers", x.b.Name, k)
		}
	}
	return x.doc.At("breakers", x.b.Name)
}

// ofPolicy is the path to something of the policy.
func (x *subject) ofPolicy(steps ...string) []string {
	return append([]string{"policies", strconv.Itoa(x.policy)}, steps...)
}

// settings are the breaker's, as the file writes them for this policy.
func (x *subject) settings() pairs {
	all := pairs(x.doc.Pairs("breakers", x.b.Name))
	for _, p := range x.doc.Pairs(x.ofPolicy("breakers", x.b.Name)...) {
		all = all.with(p.Key, p.Value)
	}
	return all
}

// pairs are the entries of a mapping.
type pairs []scenarios.Pair

// with has one entry set, in its place or at the end.
func (p pairs) with(key, value string) pairs {
	all := p.without(key)
	if i := slices.IndexFunc(p, func(e scenarios.Pair) bool { return e.Key == key }); i >= 0 {
		return slices.Insert(all, i, scenarios.Pair{Key: key, Value: value})
	}
	return append(all, scenarios.Pair{Key: key, Value: value})
}

func (p pairs) without(keys ...string) pairs {
	return slices.DeleteFunc(slices.Clone(p), func(e scenarios.Pair) bool { return slices.Contains(keys, e.Key) })
}

// String is the mapping on one line.
func (p pairs) String() string {
	var parts []string
	for _, e := range p {
		parts = append(parts, word(e.Key)+": "+e.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Find is the rule of that id.
func Find(id string) (*Rule, error) {
	var ids []string
	for i := range Rules {
		if Rules[i].ID == id {
			return &Rules[i], nil
		}
		ids = append(ids, Rules[i].ID)
	}
	if near := scenarios.Nearest(id, ids); near != "" {
		return nil, fmt.Errorf("no finding is named %q; did you mean %q?", id, near)
	}
	return nil, fmt.Errorf("no finding is named %q; they are %s", id, strings.Join(ids, ", "))
}
