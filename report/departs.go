package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Deeds is a sink that keeps what our breakers do in a run, so that those of
// others can be held against it.
type Deeds struct {
	history *History
	all     []deed // in the order of the events
	moments int
}

// deed is what a breaker did: its verdict on a call, what it made of a result, or
// a change of its state.
type deed struct {
	kind    trace.Kind // Admit, Refuse, Result, Transition or End
	at      time.Duration
	call    int
	attempt int
	breaker string
	rule    string
	reason  string        // of theirs: what the refused caller reads
	from    string        // of a Transition, as the next one
	to      string        //
	since   time.Duration // of a Transition: when it took effect
	until   time.Duration // of a Refuse, if it is known
	known   bool
	probe   bool // of an Admit
	moment  int  // of a Transition of ours: its index in the history
}

// NewDeeds gathers the deeds of a run whose history is gathered beside it.
func NewDeeds(h *History) *Deeds { return &Deeds{history: h} }

// Event takes one event of our run.
func (d *Deeds) Event(e *trace.Event) error {
	x, ok := deedOf(e)
	if !ok {
		return nil
	}
	if x.kind == trace.Transition {
		x.moment = d.moments
		d.moments++
	}
	x.reason = "" // the rule says more
	d.all = append(d.all, x)
	return nil
}

// deedOf is what the event tells of a breaker, if anything.
func deedOf(e *trace.Event) (deed, bool) {
	switch e.Kind {
	case trace.Admit, trace.Refuse, trace.Result, trace.Transition, trace.End:
	default:
		return deed{}, false
	}
	x := deed{kind: e.Kind, at: e.T, call: e.Call, attempt: e.Attempt, breaker: e.Breaker, rule: e.Rule, reason: e.Reason,
		from: e.From, to: e.To, since: e.Effective, until: e.Until, known: e.Known, probe: e.Probe}
	return x, x.breaker != "" || x.kind == trace.End
}

// verdict says whether the deed decides about a call, or ends the run.
func (x *deed) verdict() bool {
	return x.kind == trace.Admit || x.kind == trace.Refuse || x.kind == trace.End
}

// Difference is an instant at which a breaker of others does not do what ours does.
type Difference struct {
	At     time.Duration `json:"at"` // since the start
	Theirs string        `json:"theirs"`
	Ours   string        `json:"ours"`
}

// Beside is a sink that holds a run with breakers of others against ours, up to
// the first call that fares otherwise. A state that differs and comes to the same
// again before that is no matter: a breaker may open only when somebody asks. Nor
// is half-open, which a breaker may not know.
type Beside struct {
	ours        *Deeds
	next        int // the first deed of ours that was not held against anything
	pairs       map[string]*pair
	differences []Difference
	over        bool
}

// pair is a breaker of ours and the one in its place.
type pair struct {
	ours, theirs sideOf
	apart        *Difference // since their states differ
	before       *Difference // the same at the verdict before
}

// sideOf is where a breaker stands, and what it did since the last verdict.
type sideOf struct {
	state string
	moves []deed // but to half-open
}

func (s *sideOf) move(x *deed) {
	s.state = x.to
	if x.to != "half-open" {
		s.moves = append(s.moves, *x)
	}
}

// Beside holds another run against this one, which is over.
func (d *Deeds) Beside() *Beside {
	b := &Beside{ours: d, pairs: map[string]*pair{}}
	for _, x := range d.history.Breakers {
		b.pairs[x.Name] = &pair{ours: sideOf{state: "closed"}, theirs: sideOf{state: "closed"}}
	}
	return b
}

// Differences are the instant from which the run is another than ours and, if that
// is another instant, the first call that fares otherwise; none if it is as ours.
func (b *Beside) Differences() []Difference { return b.differences }

// Event holds one event of their run against ours.
func (b *Beside) Event(e *trace.Event) error {
	theirs, ok := deedOf(e)
	switch {
	case b.over || !ok:
	case theirs.kind == trace.Transition:
		if p := b.pairs[theirs.breaker]; p != nil {
			p.theirs.move(&theirs)
		}
	case theirs.verdict():
		ours := b.advance()
		b.settle()
		b.compare(&theirs, ours)
	}
	return nil
}

// advance is the next verdict of ours, once what ours did before it is done.
func (b *Beside) advance() *deed {
	for b.next < len(b.ours.all) {
		x := &b.ours.all[b.next]
		b.next++
		if x.verdict() {
			return x
		}
		if p := b.pairs[x.breaker]; p != nil && x.kind == trace.Transition {
			p.ours.move(x)
		}
	}
	return nil
}

// settle notes since when the two breakers of a pair are in different states.
func (b *Beside) settle() {
	for _, p := range b.pairs {
		theirs, ours := p.theirs.moves, p.ours.moves
		p.before = p.apart
		for len(theirs) > 0 && len(ours) > 0 && theirs[0].to == ours[0].to {
			theirs, ours = theirs[1:], ours[1:]
		}
		switch {
		case p.theirs.state == p.ours.state:
			p.apart = nil
		case p.apart != nil:
		case len(ours) > 0 && (len(theirs) == 0 || ours[0].since <= theirs[0].since):
			p.apart = &Difference{ours[0].since, b.stays(ours[0].breaker, ours[0].from), "ours " + b.moved(&ours[0])}
		case len(theirs) > 0:
			p.apart = &Difference{theirs[0].since, b.subject(theirs[0].breaker) + " " + movedBy(&theirs[0]), b.stayed(&theirs[0])}
		}
		p.theirs.moves, p.ours.moves = nil, nil
	}
}

// compare holds a verdict against that of ours.
func (b *Beside) compare(theirs, ours *deed) {
	if theirs.kind == trace.End {
		b.end()
		return
	}
	p := b.pairs[theirs.breaker]
	if p == nil {
		return
	}
	theirs.probe = theirs.kind == trace.Admit && p.theirs.state != "closed"
	if ours != nil && theirs.kind == ours.kind && theirs.at == ours.at && theirs.call == ours.call && theirs.attempt == ours.attempt && theirs.probe == ours.probe {
		return
	}
	b.over = true
	if since := cmp.Or(p.apart, p.before); since != nil { // their states may be the same again, for another reason
		b.differences = append(b.differences, *since)
	}
	b.differences = append(b.differences, Difference{theirs.at, verdictOf(theirs), b.decided(ours, theirs)})
}

// end finds states that still differ.
func (b *Beside) end() {
	b.over = true
	for _, x := range b.ours.history.Breakers {
		if p := b.pairs[x.Name]; p.apart != nil {
			b.differences = append(b.differences, *p.apart)
			return
		}
	}
}

// heard is what ours made of the result at that instant, or nil.
func (b *Beside) heard(call int, at time.Duration) *deed {
	all := b.ours.all
	from := sort.Search(len(all), func(i int) bool { return all[i].at >= at })
	i := slices.IndexFunc(all[from:], func(x deed) bool {
		return x.at > at || x.kind == trace.Result && x.call == call
	})
	if i < 0 || all[from+i].at > at {
		return nil
	}
	return &all[from+i]
}

// subject is their breaker in a sentence.
func (b *Beside) subject(breaker string) string {
	if len(b.pairs) == 1 {
		return "it"
	}
	return "the breaker " + breaker
}

func (b *Beside) stays(breaker, state string) string {
	return fmt.Sprintf("%s was still %s", b.subject(breaker), state)
}

// moved is what ours did, and why.
func (b *Beside) moved(x *deed) string {
	why := strings.NewReplacer(" (", ", ", ")", "").Replace(b.ours.history.Moments[x.moment].Reason())
	return fmt.Sprintf("%s (%s: %s)", went(x.from, x.to), x.rule, why)
}

// stayed is what ours did while theirs changed its state.
func (b *Beside) stayed(theirs *deed) string {
	state := b.pairs[theirs.breaker].ours.state
	if heard := b.heard(theirs.call, theirs.at); heard != nil && madeOfResults[heard.rule] != "" {
		return fmt.Sprintf("ours stayed %s (%s: %s)", state, heard.rule, madeOfResults[heard.rule])
	}
	return "ours stayed " + state
}

// madeOfResults is what our rules make of a result that changes no state.
var madeOfResults = map[string]string{
	"T2":  "a success only zeroes the count of failures",
	"T3":  "there were too few failures in a row",
	"T10": "a late success proves nothing",
	"T11": "a late failure restarts the cooldown",
	"T13": "the result was not the probe's",
}

// movedBy is what theirs did, and what was seen of why.
func movedBy(x *deed) string {
	how := ""
	switch x.rule {
	case trace.MovedByAsk:
		how = fmt.Sprintf(" as call %d asked", x.call)
	case trace.MovedByEnd:
		how = fmt.Sprintf(" on the result of call %d", x.call)
	case trace.MovedByTime:
		how = " by itself"
	case trace.MovedByReset:
		how = " when an operator reset it"
	}
	return went(x.from, x.to) + how + " (" + x.rule + ")"
}

// verdictOf is theirs on a call.
func verdictOf(x *deed) string {
	switch {
	case x.kind == trace.Refuse:
		return fmt.Sprintf("call %d was refused (%s: %s)", x.call, x.rule, x.reason)
	case x.probe:
		return fmt.Sprintf("call %d was let through as a test (%s)", x.call, x.rule)
	default:
		return fmt.Sprintf("call %d was let through (%s)", x.call, x.rule)
	}
}

// decided is our verdict on the same call.
func (b *Beside) decided(x, theirs *deed) string {
	switch {
	case x == nil || x.call != theirs.call || x.attempt != theirs.attempt || x.kind == trace.End:
		return "ours was not asked"
	case x.kind == trace.Refuse:
		return "ours refused it (" + b.ours.history.byName[x.breaker].refusal(&Mark{At: x.at, Rule: x.rule, Until: x.until, Known: x.known}, b.ours.history.End) + ")"
	case x.probe:
		return "ours made it the probe (" + x.rule + ": the cooldown was over)"
	default:
		return "ours let it through (" + x.rule + ": it was closed)"
	}
}

var (
	_ trace.Sink = (*Deeds)(nil)
	_ trace.Sink = (*Beside)(nil)
)
