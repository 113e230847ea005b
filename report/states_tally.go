package report

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// tally is what one breaker did in a stretch of its run, by its states.
type tally struct {
	*BreakerHistory
	h           *History
	policies    []string // under which it did the same
	from, to    time.Duration
	first, last string            // the states at both ends
	shares      map[string][]part // by state, in the order of their first times
	taken       map[trace.Move]int
	unknown     int                      // transitions that no rule of ours makes
	sights      []sight                  // of a breaker that is not ours
	seen        []trace.Move             // likewise, with how often they were taken in taken
	incidents   map[[2]string]int64      // by state and rule
	forced      map[string]time.Duration // by state: how long an operator kept it so
	cooled      trace.Span               // the shortest cooldown and the longest, where they vary
	timeless    bool                     // what a breaker can do, and not what it did
	mean        bool                     // of a fleet: its times are those of its members on average
}

// part is the time that a breaker spent in one state while one model served, or
// nobody.
type part struct {
	look, serves string
	spent        time.Duration
}

// tallies are of all breakers of a run in [from, to], by effective times; to 0
// is the end.
func (h *History) tallies(from, to time.Duration) []*tally {
	if to == 0 {
		to = h.End
	}
	to = min(to, h.End)
	from = min(from, to)
	var all []*tally
	byName := map[string]*tally{}
	for _, b := range h.Breakers {
		t := h.tally(b, from, to)
		all = append(all, t)
		byName[b.Name] = t
	}
	for i := range h.Moments {
		if m := &h.Moments[i]; m.Effective >= from && m.Effective <= to {
			byName[m.Breaker].move(m)
		}
	}
	fleets := map[*Fleet][]*tally{}
	for _, f := range h.Fleets {
		for _, b := range f.Members {
			t := h.tally(b, from, to)
			for i := range b.moved {
				if e := &b.moved[i]; e.Effective >= from && e.Effective <= to {
					t.move(&Moment{Event: *e})
				}
			}
			fleets[f] = append(fleets[f], t)
			byName[b.Name] = t
		}
	}
	for _, t := range all {
		t.settleSights()
	}
	for i := range h.Marks {
		m := &h.Marks[i]
		if t := byName[m.Breaker]; t != nil {
			t.incident(m.Rule, m.At)
		}
	}
	for i := range h.Acts {
		if e := &h.Acts[i]; e.Op == trace.Configure && byName[e.Breaker] != nil {
			byName[e.Breaker].incident("T33", e.T)
		}
	}
	for _, f := range h.Fleets {
		all = append(all, summed(f, fleets[f]))
	}
	return all
}

func (h *History) tally(b *BreakerHistory, from, to time.Duration) *tally {
	t := &tally{BreakerHistory: b, h: h, policies: []string{h.Run.Policy}, from: from, to: to, shares: map[string][]part{}, taken: map[trace.Move]int{}, incidents: map[[2]string]int64{}, forced: map[string]time.Duration{}}
	t.share()
	for _, n := range b.noted {
		t.incident(n.rule, n.at)
	}
	for _, f := range b.Forced {
		if spent := min(f.To, to) - max(f.From, from); spent > 0 {
			t.forced[f.State] += spent
		}
	}
	t.cool()
	return t
}

// summed is what all members of a fleet did together, in the mean of their times.
// It ends as most of them do.
func summed(f *Fleet, members []*tally) *tally {
	sum := *members[0]
	sum.BreakerHistory = &BreakerHistory{Breaker: f.Breaker, Bands: members[0].Bands, sets: members[0].sets}
	last := map[string]int{}
	for i, t := range members {
		if last[t.last]++; last[t.last] > last[sum.last] {
			sum.last = t.last
		}
		if i == 0 {
			continue
		}
		for _, state := range t.machine() {
			for _, p := range t.shares[state] {
				sum.add(state, p)
			}
		}
		for move, n := range t.taken {
			sum.taken[move] += n
		}
		for k, n := range t.incidents {
			sum.incidents[k] += n
		}
		for state, spent := range t.forced {
			sum.forced[state] += spent
		}
		sum.cooled = wider(sum.cooled, t.cooled)
		sum.unknown += t.unknown
	}
	sum.mean = true
	mean := func(d time.Duration) time.Duration { return (d / time.Duration(len(members))).Round(time.Millisecond) }
	for _, parts := range sum.shares {
		for i := range parts {
			parts[i].spent = mean(parts[i].spent)
		}
	}
	for state, spent := range sum.forced {
		sum.forced[state] = mean(spent)
	}
	return &sum
}

// joined are the tallies, those of one breaker that did the same under several
// policies as one.
func joined(all []*tally) (some []*tally) {
	for _, t := range all {
		i := slices.IndexFunc(some, t.same)
		if i < 0 {
			some = append(some, t)
			continue
		}
		some[i].policies = append(some[i].policies, t.policies...)
	}
	return some
}

// same says whether the other one has the same breaker, which did the same.
func (t *tally) same(o *tally) bool {
	return reflect.DeepEqual(t.Breaker, o.Breaker) && t.from == o.from && t.to == o.to && t.first == o.first && t.last == o.last && t.unknown == o.unknown &&
		reflect.DeepEqual(t.shares, o.shares) && maps.Equal(t.taken, o.taken) && maps.Equal(t.incidents, o.incidents) && maps.Equal(t.forced, o.forced) && t.cooled == o.cooled
}

// parted are the tallies that a picture shows, and those of breakers that never
// moved, for which a line is enough. If none moved it shows them all.
func parted(all []*tally) (shown, still []*tally) {
	for _, t := range all {
		if len(t.taken) > 0 || t.unknown > 0 {
			shown = append(shown, t)
		} else {
			still = append(still, t)
		}
	}
	if len(shown) == 0 {
		return still, nil
	}
	return shown, still
}

// share parts the time among the states.
func (t *tally) share() {
	t.first, t.last = t.stateAt(t.from), t.stateAt(t.to)
	if t.from == 0 {
		t.first = t.Bands[0].State
	}
	for i := range t.Bands {
		b := &t.Bands[i]
		if spent := min(b.To, t.to) - max(b.From, t.from); spent > 0 {
			t.spend(b, spent)
		}
	}
}

func (t *tally) spend(b *Band, spent time.Duration) { t.add(b.State, part{b.look(), b.Serves, spent}) }

func (t *tally) add(state string, p part) {
	parts := t.shares[state]
	for i := range parts {
		if parts[i].serves == p.serves {
			parts[i].spent += p.spent
			return
		}
	}
	t.shares[state] = append(parts, p)
}

// spent is all the time in a state.
func (t *tally) spent(state string) (sum time.Duration) {
	for _, p := range t.shares[state] {
		sum += p.spent
	}
	return sum
}

// bandAt is the index of the band at an instant; of several the last.
func (t *tally) bandAt(at time.Duration) int {
	return max(0, sort.Search(len(t.Bands), func(i int) bool { return t.Bands[i].From > at })-1)
}

func (t *tally) stateAt(at time.Duration) string { return t.Bands[t.bandAt(at)].State }

func (t *tally) move(m *Moment) {
	switch row := trace.MoveOf(m.From, m.To, m.Rule); {
	case t.others():
		t.see(m)
	case row != nil:
		t.taken[*row]++
	default:
		t.unknown++
	}
}

// incidents are the rules that leave the state as it is, or may, and what they
// make of a call, in the order in which a state tells them.
var incidents = []struct {
	rule      string
	states    []string
	one, many string
}{
	{"T3", []string{"closed"}, "failure", "failures"},
	{"T4", []string{"open"}, "refused", "refused"},
	{"T6", []string{"half-open"}, "refused", "refused"},
	{"T20", []string{"closed", "open", "half-open"}, "result counted as nothing", "results counted as nothing"},
	{"T21", []string{"closed"}, "result in the window", "results in the window"},
	{"T23", []string{"half-open"}, "further probe", "further probes"},
	{"T24", []string{"half-open"}, "probe's result, more awaited", "probes' results, more awaited"},
	{"T25", []string{"half-open"}, "cancelled probe's slot free again", "cancelled probes' slots free again"},
	{"T26", []string{"closed"}, "held back by the ramp", "held back by the ramp"},
	{"T30", []string{"open"}, "late failure ignored", "late failures ignored"},
	{"T31", []string{"open"}, "refused by force", "refused by force"},
	{"T32", []string{"closed"}, "result not counted", "results not counted"},
	{"T33", []string{"closed", "open", "half-open"}, "change of settings", "changes of settings"},
	{trace.TurnedAway, []string{"closed", "open", "half-open"}, "refused", "refused"},
	{"T10", []string{"open"}, "late success ignored", "late successes ignored"},
	{"T11", []string{"open"}, "late failure, new cooldown", "late failures, new cooldown"},
	{"T13", []string{"half-open", "closed"}, "stale result ignored", "stale results ignored"},
	{"M10", []string{"primary"}, "failed turn", "failed turns"},
	{"M11", []string{"fallback"}, "failed turn", "failed turns"},
	{"M3", []string{"fallback"}, "turn exhausted", "turns exhausted"},
	{"M22", []string{"fallback"}, "turn waited", "turns waited"},
	{"M23", []string{"fallback"}, "turn to the last resort", "turns to the last resort"},
	{"M24", []string{"fallback"}, "backup whole again", "backups whole again"},
	{"M21", []string{"recovering"}, "turn to a backup", "turns to backups"},
	{"M20", []string{"primary", "fallback", "recovering"}, "result counted as nothing", "results counted as nothing"},
	{"M9", []string{"recovering"}, "good probe", "good probes"},
	{"M13", []string{"recovering"}, "failed probe", "failed probes"},
	{"M17", []string{"primary", "fallback", "recovering"}, "late result", "late results"},
}

// incident counts what came by a rule. Of one that several states know it is that of
// the instant: the last one then, if others passed in no time.
func (t *tally) incident(rule string, at time.Duration) {
	if at < t.from || at > t.to {
		return
	}
	for i := range incidents {
		k := &incidents[i]
		if k.rule != rule {
			continue
		}
		state := k.states[0]
		if len(k.states) > 1 {
			state = t.lastOf(k.states, at)
		}
		t.incidents[[2]string{state, k.rule}]++
		return
	}
}

// lastOf is the last of those states that the breaker was in up to an instant.
func (t *tally) lastOf(states []string, at time.Duration) string {
	for i := t.bandAt(at); i >= 0; i-- {
		for _, s := range states {
			if t.Bands[i].State == s {
				return s
			}
		}
	}
	return states[0]
}

// machine is the three states of a kind of breaker: where it begins, where it
// goes in trouble, and where it tests whether that is over.
type machine [3]string

var (
	toolMachine  = machine{"closed", "open", "half-open"}
	modelMachine = machine{"primary", "fallback", "recovering"}
)

func (b *BreakerHistory) machine() machine {
	if b.Model != nil {
		return modelMachine
	}
	return toolMachine
}

// index is that of a state, or -1.
func (m machine) index(state string) int {
	for i, s := range m {
		if s == state {
			return i
		}
	}
	return -1
}
