package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// pageData is what the page's script reads. It has no thoughts of its own: what
// it shows is here, in words or as numbers of nanoseconds. Those are exact up to
// 104 days, and beyond that to a microsecond.
type pageData struct {
	End   int64     `json:"end"`
	Words []string  `json:"words"` // every text once; others name it by its number
	Runs  []pageRun `json:"runs"`

	numbers map[string]int
}

// pageRun is one run. Its steps are columns: the instant and the call as the
// difference from the step before, and the number of a form.
type pageRun struct {
	Policy   string        `json:"policy"`
	About    string        `json:"about"`
	At       []int64       `json:"at"`
	Form     []int         `json:"form"`
	Call     []int         `json:"call"`
	Span     []int64       `json:"span"`
	Forms    []pageForm    `json:"forms"`
	Breakers []pageBreaker `json:"breakers"`
}

// pageForm is what many steps have in common: words for what happens, why and
// by which rule; whether it matters; whether it begins with the call and ends
// with the span; which sum it adds to (from 1), and whether it is a transition.
type pageForm struct{ says, why, rule, matters, call, span, sum, moves int }

// MarshalJSON writes the fields without names.
func (f pageForm) MarshalJSON() ([]byte, error) {
	return json.Marshal([]int{f.says, f.why, f.rule, f.matters, f.call, f.span, f.sum, f.moves})
}

// pageBreaker is what a breaker holds, step by step.
type pageBreaker struct {
	Name    string      `json:"name"`
	Heading string      `json:"heading"` // with its settings
	Diagram int         `json:"diagram"`
	State   pageSeries  `json:"state"` // words
	Move    pageSeries  `json:"move"`  // words: the last transition, as the diagram names it; -1: none yet
	Fields  []pageField `json:"fields"`
}

// pageField is a counter: how the script writes its values is one of "word"
// (the number of one), "instant", "left" (the instant when it is over) and "call".
type pageField struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	As    string `json:"as"`
	Over  int    `json:"over"` // of "left": words for what holds once it is over
	pageSeries
}

// pageSeries is values, each from a step on: the steps as differences. -1 is none.
type pageSeries struct {
	At []int   `json:"at"`
	V  []int64 `json:"v"`

	last int
}

// add notes a value if it is another than before.
func (s *pageSeries) add(step int, v int64) {
	if n := len(s.V); n == 0 || s.V[n-1] != v {
		s.At = append(s.At, step-s.last)
		s.V = append(s.V, v)
		s.last = step
	}
}

// word is the number of a text.
func (d *pageData) word(s string) int {
	n, ok := d.numbers[s]
	if !ok {
		n = len(d.Words)
		d.numbers[s] = n
		d.Words = append(d.Words, s)
	}
	return n
}

func newPageData(runs []*Steps, diagrams *pageDiagrams) *pageData {
	d := &pageData{numbers: map[string]int{}}
	d.word("")
	for _, s := range runs {
		d.End = max(d.End, int64(s.History.End))
	}
	for _, s := range runs {
		d.Runs = append(d.Runs, d.run(s, diagrams))
	}
	return d
}

func (d *pageData) run(s *Steps, diagrams *pageDiagrams) pageRun {
	r := pageRun{Policy: s.History.Run.Policy, About: s.History.Run.PolicyAbout, Breakers: []pageBreaker{}}
	forms := map[pageForm]int{}
	at, call := time.Duration(0), 0
	for i := range s.All {
		w := s.words(i)
		f := pageForm{says: d.word(w.says), why: d.word(w.why), rule: d.word(w.rule), matters: one(s.All[i].Matters), sum: sumOf(&s.All[i].Event),
			call: one(w.call > 0), span: one(w.span >= 0), moves: one(s.All[i].Kind == trace.Transition)}
		n, ok := forms[f]
		if !ok {
			n = len(r.Forms)
			forms[f] = n
			r.Forms = append(r.Forms, f)
		}
		r.Form = append(r.Form, n)
		r.At = append(r.At, int64(s.All[i].At-at))
		r.Call = append(r.Call, w.call-call)
		r.Span = append(r.Span, int64(max(0, w.span)))
		at, call = s.All[i].At, w.call
	}
	for i, b := range s.Breakers {
		r.Breakers = append(r.Breakers, d.breaker(b, diagrams.of(&s.History, s.History.Breakers[i]), s.History.End))
	}
	return r
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pageSums are what a run has come to so far; [sumOf] says what adds to them.
var pageSums = []string{"calls", "attempts that succeeded", "that failed", "turned away"}

// sumOf is the number of the sum that an event adds to, from 1, or 0.
func sumOf(e *trace.Event) int {
	switch {
	case e.Kind == trace.Call && e.Attempt == 1:
		return 1
	case e.Kind == trace.Result && e.Outcome == trace.Success:
		return 2
	case e.Kind == trace.Result && e.Outcome != trace.Cancelled:
		return 3
	case e.Kind == trace.Refuse, e.Kind == trace.Exhausted:
		return 4
	default:
		return 0
	}
}

func (d *pageData) breaker(b *Counted, diagram int, end time.Duration) pageBreaker {
	p := pageBreaker{Name: b.Name, Heading: settings(b.Breaker, end), Diagram: diagram}
	p.Move.add(0, -1)
	for _, m := range b.Moves {
		p.Move.add(m.Step, int64(d.word(moveName(&m.Move))))
	}
	counters := d.counters(b)
	for i := range counters {
		p.Fields = append(p.Fields, counters[i].pageField)
	}
	for i := range b.Changes {
		c := &b.Changes[i]
		p.State.add(c.Step, int64(d.word(c.State)))
		for k := range counters {
			p.Fields[k].add(c.Step, counters[k].value(c))
		}
	}
	return p
}

// counter is a field and how its value follows from the counters.
type counter struct {
	pageField
	value func(c *Change) int64
}

const noValue = -1

// counters are the fields of a breaker; of another's breaker none is known.
func (d *pageData) counters(b *Counted) []counter {
	switch {
	case !b.ours():
		return nil
	case b.Tool != nil:
		return d.toolCounters()
	default:
		return d.modelCounters(b.Model)
	}
}

func (d *pageData) toolCounters() []counter {
	return []counter{
		d.opens(),
		instant("last_failure_time", "last failure", "open", func(c *Change) int64 { return int64(c.Began) }),
		d.left("cooldown-left", "cooldown left", "open", "the next call is the probe"),
		d.left("lease-left", "probe's lease left", "half-open", ""),
		{pageField{Name: "probe", Label: "probe", As: "call"}, func(c *Change) int64 {
			if c.Probe == 0 {
				return noValue
			}
			return int64(c.Probe)
		}},
	}
}

func (d *pageData) modelCounters(m *trace.Model) []counter {
	all := []counter{
		{pageField{Name: "serves", Label: "serves", As: "word"}, func(c *Change) int64 {
			if c.Serves == "" {
				return int64(d.word("nobody: every backup is spent"))
			}
			return int64(d.word(c.Serves))
		}},
		d.failures(func(*Change) string { return fmt.Sprintf("trips at %s", Thousands(int64(max(1, m.TripThreshold)))) }),
		instant("fallback_switched_at", "cooldown began", "fallback", func(c *Change) int64 { return int64(c.Began) }),
		d.left("cooldown-left", "cooldown left", "fallback", "the next turn probes the primary"),
		d.count("primary_success_count", "good probes in a row", max(1, m.RecoverySuccessesNeeded), func(c *Change) int { return c.Successes }),
	}
	if n := m.ProbationFailures; n > 0 {
		all = append(all, d.count("probation_failures", "failed probes", n, func(c *Change) int { return c.Probation }))
	}
	if n := m.AtOnce; n > 0 {
		all = append(all, d.count("probes", "probes in flight", n, func(c *Change) int { return c.Probes }))
	}
	for i, e := range m.Chain {
		all = append(all, counter{pageField{Name: "chain-" + e.Name, Label: "backup " + e.Name, As: "word"}, func(c *Change) int64 { return int64(d.word(c.Chain[i].words())) }})
	}
	return append(all, counter{pageField{Name: "fallback_activated", Label: "has tripped", As: "word"}, func(c *Change) int64 {
		if c.Activated {
			return int64(d.word("yes"))
		}
		return int64(d.word("no"))
	}})
}

// words say how many strikes the backup has.
func (s *Strikes) words() string {
	strikes := fmt.Sprintf("%d of %s", s.Count, plural(s.Of, "strike", "strikes"))
	switch {
	case !s.Available:
		return "switched off, " + strikes
	case s.Count >= s.Of:
		return "spent, " + strikes
	default:
		return strikes
	}
}

// failures are beside what they lead to; an open breaker may have counted more.
func (d *pageData) failures(lead func(c *Change) string) counter {
	return counter{pageField{Name: "consecutive_failures", Label: "failures in a row", As: "word"}, func(c *Change) int64 {
		return int64(d.word(Thousands(int64(c.Failures)) + " (" + lead(c) + ")"))
	}}
}

// opens are the failures of a tool breaker, as it is set then.
func (d *pageData) opens() counter {
	return d.failures(func(c *Change) string {
		switch n := c.set.FailureThreshold; {
		case neverOpens(c.set):
			return "never opens"
		case n == 0:
			return "its window opens it"
		case !clears(c.set):
			return "opens at " + Thousands(int64(n)) + ", successes or not"
		default:
			return "opens at " + Thousands(int64(n))
		}
	})
}

// count is a field such as "2 of 3".
func (d *pageData) count(name, label string, of int, n func(c *Change) int) counter {
	return counter{pageField{Name: name, Label: label, As: "word"}, func(c *Change) int64 {
		return int64(d.word(fmt.Sprintf("%s of %s", Thousands(int64(n(c))), Thousands(int64(of)))))
	}}
}

// instant is a field that has a value in one state.
func instant(name, label, state string, at func(c *Change) int64) counter {
	return counter{pageField{Name: name, Label: label, As: "instant"}, func(c *Change) int64 {
		if c.State != state {
			return noValue
		}
		return at(c)
	}}
}

// left is what is left, in one state, until the counters' Until.
func (d *pageData) left(name, label, state, over string) counter {
	return counter{pageField{Name: name, Label: label, As: "left", Over: d.word(over)}, func(c *Change) int64 {
		if c.State != state || !c.Ends {
			return noValue
		}
		return int64(c.Until)
	}}
}
