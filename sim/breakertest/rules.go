package breakertest

import (
	"embed"
	"runtime"
	"slices"

	"github.com/breakersim/breakersim/scenarios"
)

// Rule is one of the rules of our tool breaker, and how to see from outside
// whether another breaker follows it.
type Rule struct {
	ID    string // as our traces have it, such as "T7"; its parts are T13a to T13d
	file  string // of its scenario, without the ending
	judge func(*seen) verdict
	end   func() // what the function of the probe does that does not return; nil: it is no such rule
}

// Rules are all that a breaker is held against, in the order of their ids.
//
// T1 needs none of its own, as all begin with it; T9 is in T5, T15 an operator's,
// and T16 what panic and Goexit come to at worst.
var Rules = []Rule{
	{ID: "T2", file: "t2", judge: zeroes},
	{ID: "T3", file: "t3", judge: opens},
	{ID: "T4", file: "t4", judge: inclusive},
	{ID: "T5", file: "t5", judge: askerProbes},
	{ID: "T6", file: "t6", judge: oneProbe},
	{ID: "T7", file: "t7", judge: lease},
	{ID: "T8", file: "t8", judge: liveLease},
	{ID: "T10", file: "t10", judge: lateSuccess},
	{ID: "T11", file: "t11", judge: lateFailure},
	{ID: "T12", file: "t12", judge: ghost},
	{ID: "T13a", file: "t13-success", judge: otherSuccess},
	{ID: "T13b", file: "t13-failure", judge: otherFailure},
	{ID: "T13c", file: "t13-count", judge: staleCounts},
	{ID: "T13d", file: "t13-ignore", judge: staleIgnored},
	{ID: "T14", file: "t14", judge: reading},
	{ID: "panic", file: "panic", judge: ending("panicked"), end: func() { panic("the probe panics") }},
	{ID: "Goexit", file: "goexit", judge: ending("called runtime.Goexit"), end: runtime.Goexit},
}

//go:embed rules/*.yaml
var files embed.FS

// Source is the rule's scenario and the name of its file.
func (r *Rule) Source() (name string, src []byte) {
	name = r.file + ".yaml"
	src, err := files.ReadFile("rules/" + name)
	if err != nil {
		panic("breakertest: " + err.Error()) // it is compiled in
	}
	return name, src
}

// Scenario is the rule's scenario. Its title is what the rule says.
func (r *Rule) Scenario() *scenarios.Scenario {
	name, src := r.Source()
	s, err := scenarios.Load(name, src, scenarios.DefaultLimits())
	if err != nil {
		panic("breakertest: " + err.Error()) // a test loads them all
	}
	return s
}

// Ending says that the rule is about a probe whose function does not return. Its
// scenario has no word for that: the call vanishes there.
func (r *Rule) Ending() bool { return r.end != nil }

// ruleNamed is the row of that id, or nil.
func ruleNamed(id string) *Rule {
	if i := slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return &Rules[i]
	}
	return nil
}
