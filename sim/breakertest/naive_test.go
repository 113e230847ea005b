package breakertest_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// fault is what a breaker has that is written as one writes it at first.
type fault struct {
	name string
	blind, neverOpens, refusesAll, neverProbes, wakesOnly, leaseFromNotice,
	herd, peekTakesTheSlot, lateFailuresIgnored, opensOnTwo, hasDo bool
	otherwise map[string]breakertest.Answer // than yes
}

const (
	no     = breakertest.No
	cannot = breakertest.Cannot
)

// naiveAnswers are those of a breaker that asks of no result whose it is, and
// has no lease.
func naiveAnswers(except map[string]breakertest.Answer) map[string]breakertest.Answer {
	all := map[string]breakertest.Answer{"T7": no, "T8": no, "T10": no, "T12": no, "T13a": no, "T13b": no, "T13d": cannot, "panic": cannot, "Goexit": cannot}
	for id, a := range except {
		all[id] = a
	}
	return all
}

// never are the answers of a breaker that never comes to where rules begin.
func never(except map[string]breakertest.Answer) map[string]breakertest.Answer {
	all := map[string]breakertest.Answer{}
	for i := range breakertest.Rules {
		all[breakertest.Rules[i].ID] = cannot
	}
	for id, a := range except {
		all[id] = a
	}
	return all
}

type answers = map[string]breakertest.Answer

var faults = []fault{
	{name: "naive", otherwise: naiveAnswers(nil)},
	{name: "its state cannot be read", blind: true, otherwise: naiveAnswers(answers{"T12": cannot, "T13b": cannot, "T14": cannot})},
	{name: "never opens", neverOpens: true, otherwise: never(answers{"T3": no})},
	{name: "refuses all", refusesAll: true, otherwise: never(answers{"T2": no, "T3": no})},
	{name: "opens too early", opensOnTwo: true, otherwise: never(answers{"T2": no, "T3": no})},
	{name: "never lets a probe through", neverProbes: true, otherwise: never(answers{"T2": 0, "T3": 0, "T5": no, "T10": no})},
	{name: "the first to ask only wakes it", wakesOnly: true, otherwise: never(answers{"T2": 0, "T3": 0, "T4": no, "T5": no, "T6": 0, "T10": no})},
	{name: "a herd comes in", herd: true, otherwise: naiveAnswers(answers{"T6": no})},
	{name: "a herd comes in, and its state cannot be read", herd: true, blind: true,
		otherwise: naiveAnswers(answers{"T6": no, "T8": cannot, "T12": cannot, "T13a": cannot, "T13b": cannot, "T14": cannot})},
	{name: "late failures are ignored", lateFailuresIgnored: true, otherwise: naiveAnswers(answers{"T11": no})},
	{name: "looking takes the probe's slot", peekTakesTheSlot: true, otherwise: naiveAnswers(answers{"T14": no})},
	{name: "what is lost is given up only when somebody looks", leaseFromNotice: true, otherwise: naiveAnswers(nil)},
	{name: "what does not return is never heard of", hasDo: true, otherwise: naiveAnswers(answers{"panic": no, "Goexit": no})},
}

// TestJudgesSeeFaults: no judge takes a breaker for one that follows its rule, or
// not, because of another fault.
func TestJudgesSeeFaults(t *testing.T) {
	for i := range faults {
		f := &faults[i]
		t.Run(f.name, func(t *testing.T) {
			for _, found := range breakertest.Check(t, replay.Others{By: "naive", New: f.make}) {
				want := breakertest.Yes
				if a := f.otherwise[found.Rule.ID]; a != 0 {
					want = a
				}
				assert.Equal(t, want, found.Answer, "%s: %s", found.Rule.ID, found.Why)
				if found.Trace != nil {
					assert.NoError(t, trace.Validate(found.Trace), found.Rule.ID)
				}
			}
		})
	}
}

func (f *fault) make(_ string, s machine.ToolSettings, _ machine.Hooks) (replay.Port, error) {
	n := &naive{f: f, s: s, state: "closed"}
	switch {
	case f.hasDo:
		return doing{n}, nil
	case f.peekTakesTheSlot:
		return peeking{n}, nil
	}
	return n, nil
}

type naive struct {
	f        *fault
	s        machine.ToolSettings
	mu       sync.Mutex
	state    string
	failures int
	since    time.Time // it is open, or the probe under way
	awake    bool
}

func (n *naive) State() string {
	if n.f.blind {
		return ""
	}
	return n.state
}

func (n *naive) Allow() (func(ok bool), error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.admits() {
		return nil, errors.New("open")
	}
	return n.done, nil
}

func (n *naive) admits() bool {
	over := time.Since(n.since) >= n.s.RecoveryDuration
	switch {
	case n.f.refusesAll:
		return false
	case n.f.neverOpens || n.state == "closed":
		return true
	case n.state == "half-open" && n.f.leaseFromNotice && time.Since(n.since) >= n.s.ProbeTimeout:
		n.state, n.since = "open", time.Now()
		return false
	case n.state == "half-open":
		return n.f.herd
	case !over || n.f.neverProbes:
		return false
	case n.f.wakesOnly && !n.awake:
		n.awake = true
		return false
	}
	n.state, n.since = "half-open", time.Now()
	return true
}

func (n *naive) done(ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case ok:
		n.state, n.failures, n.awake = "closed", 0, false
	case n.state == "open" && n.f.lateFailuresIgnored:
	default:
		n.failures++
		threshold := n.s.FailureThreshold
		if n.f.opensOnTwo {
			threshold = 2
		}
		if n.state == "half-open" || n.failures >= threshold && !n.f.neverOpens {
			n.state, n.since, n.awake = "open", time.Now(), false
		}
	}
}

// peeking answers what it is asked by asking itself.
type peeking struct{ *naive }

func (p peeking) WouldAllow() bool {
	_, err := p.Allow()
	return err == nil
}

// doing runs functions as one does who defers nothing.
type doing struct{ *naive }

func (d doing) Do(f func() error) error {
	done, err := d.Allow()
	if err != nil {
		return err
	}
	err = f()
	done(err == nil)
	return err
}
