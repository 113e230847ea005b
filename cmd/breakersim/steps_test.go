package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestCountersAreTheMachines plays every built-in scenario under all its
// policies, does to real breakers what the trace says, and holds the counters of
// the steps against theirs: after every event, and between two.
func TestCountersAreTheMachines(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, s := range library(t) {
		for i := range s.Policies {
			p := &s.Policies[i]
			if len(p.Breakers) == 0 {
				continue
			}
			t.Run(s.Name+"/"+p.Name, func(t *testing.T) {
				j := newJudge(t, s, p)
				_, err := replayOne(s, p, report.NewMeter(), j)
				require.NoError(t, err)
				assert.Equal(t, trace.End, j.held.Kind)
				compared += j.compared
			})
		}
	}
	assert.Greater(t, compared, 100_000)
}

// judge is the breakers of a policy, moved by the events of a trace.
type judge struct {
	t          *testing.T
	policy     *scenarios.Policy
	steps      report.Steps
	tools      map[string]*machine.ToolBreaker
	models     map[string]*machine.ModelBreaker
	nameless   map[string]bool
	configured map[string][]machine.ToolSettings // still to come, by breaker
	permits    map[[2]int]*machine.Permit        // by call and attempt
	turns      map[[2]int]*machine.Turn
	held       trace.Event // which is judged once the next one is known
	last       time.Duration
	compared   int
}

func newJudge(t *testing.T, s *scenarios.Scenario, p *scenarios.Policy) *judge {
	return &judge{t: t, policy: p, configured: configured(s, p), tools: map[string]*machine.ToolBreaker{}, models: map[string]*machine.ModelBreaker{}, nameless: map[string]bool{},
		permits: map[[2]int]*machine.Permit{}, turns: map[[2]int]*machine.Turn{}}
}

// begin makes the machines of the breakers that have counters: of a fleet nothing
// is told one by one.
func (j *judge) begin() {
	for _, of := range j.steps.Breakers {
		i := slices.IndexFunc(j.policy.Breakers, func(b scenarios.Breaker) bool { return b.Name == trace.Whole(of.Name) })
		b := &j.policy.Breakers[i]
		var err error
		if b.Tool != nil {
			j.tools[of.Name], err = machine.NewToolBreaker(*b.Tool, machine.Hooks{})
		} else {
			j.models[of.Name], err = machine.NewModelBreaker(*b.Model, machine.Hooks{})
		}
		require.NoError(j.t, err)
		j.nameless[of.Name] = b.Anonymous
	}
}

// configured are the settings that a policy's breakers get, in their order.
func configured(s *scenarios.Scenario, p *scenarios.Policy) map[string][]machine.ToolSettings {
	all := map[string][]machine.ToolSettings{}
	entries := slices.Sorted(maps.Keys(p.Configured))
	slices.SortStableFunc(entries, func(a, b int) int { return cmp.Compare(s.Calls[a].At, s.Calls[b].At) })
	for _, i := range entries {
		all[s.Calls[i].To] = append(all[s.Calls[i].To], p.Configured[i])
	}
	return all
}

// Event takes an event and judges the one before. It stops at the first fault.
func (j *judge) Event(e *trace.Event) error {
	if j.held.Kind != 0 {
		j.event(&j.held, e)
	}
	j.held = *e
	if j.t.Failed() {
		return errors.New("the counters differ")
	}
	return nil
}

// event takes an event and compares: before it, at the end of the instant before
// and on the way to this one; and after it, unless the machines have done more
// than the trace has told so far, or the trace has told more.
func (j *judge) event(e, next *trace.Event) {
	require.NoError(j.t, j.steps.Event(e))
	if e.Kind == trace.Run {
		j.begin()
	}
	if before := j.last; e.T > before {
		j.compare(before, j.at(before))
		j.compare(before+(e.T-before)/2, j.at(before+(e.T-before)/2))
		j.compare(e.T-1, j.at(e.T-1))
	}
	j.last = e.T
	j.move(e)
	told := func(e *trace.Event) bool { return e.Kind != trace.Transition && e.Kind != trace.Switch }
	if told(e) && told(next) {
		j.compare(e.T, len(j.steps.All)-1)
	}
}

// at is the last step up to an instant.
func (j *judge) at(t time.Duration) int {
	i := len(j.steps.All) - 1
	for j.steps.All[i].At > t {
		i--
	}
	return i
}

// move does to the machines what the trace says of the world.
func (j *judge) move(e *trace.Event) {
	tool, model := j.tools[e.Breaker], j.models[e.Breaker]
	if tool == nil && model == nil {
		return
	}
	switch {
	case e.Kind == trace.Admit && tool != nil:
		permit, err := tool.Allow(e.T)
		require.NoError(j.t, err)
		j.permits[[2]int{e.Call, e.Attempt}] = &permit
		j.permits[[2]int{e.Call, 0}] = &permit
	case e.Kind == trace.Admit:
		turn, err := model.Begin(e.T)
		require.NoError(j.t, err)
		assert.Equal(j.t, e.Rule, string(turn.Rule()))
		assert.Equal(j.t, e.Target, turn.Model())
		j.turns[[2]int{e.Call, e.Attempt}] = &turn
		j.turns[[2]int{e.Call, 0}] = &turn
	case e.Kind == trace.Exhausted, e.Kind == trace.Waits:
		_, err := model.Begin(e.T)
		x, _ := errors.AsType[*machine.Exhausted](err)
		require.NotNil(j.t, x)
		assert.Equal(j.t, e.Rule, string(x.Rule()))
	case e.Kind == trace.Switch && e.Rule == "M24":
		model.Settle(e.T)
	case e.Kind == trace.Refuse && tool != nil:
		_, err := tool.Allow(e.T)
		require.Error(j.t, err)
	case e.Kind == trace.Result && tool != nil:
		j.toolResult(tool, e)
	case e.Kind == trace.Result:
		j.modelResult(model, e)
	case e.Kind == trace.GiveUp && tool != nil:
		v := of(j.permits, e).Cancel(e.T)
		assert.Equal(j.t, machine.Verdict{Rule: machine.Rule(e.Verdict), Applied: e.Applied}, v, "call %d at %v", e.Call, e.T)
	case e.Kind == trace.Operate && tool != nil:
		j.operate(tool, e)
	case e.Kind == trace.Operate && e.Op == "reset":
		model.Reset(e.T)
	case e.Kind == trace.Operate:
		require.NoError(j.t, model.SetAvailable(e.T, e.Name, e.Available))
	}
}

// operate does to a tool breaker what an operator does.
func (j *judge) operate(tool *machine.ToolBreaker, e *trace.Event) {
	switch e.Op {
	case trace.ForceOpen:
		tool.ForceOpen(e.T)
	case trace.ForceClosed:
		tool.ForceClosed(e.T)
	case trace.Configure:
		require.NoError(j.t, tool.Configure(e.T, j.configured[e.Breaker][0]))
		j.configured[e.Breaker] = j.configured[e.Breaker][1:]
	default:
		tool.Reset(e.T)
	}
}

// of is what the call holds: for the attempt, or for all its attempts.
func of[T any](all map[[2]int]*T, e *trace.Event) *T {
	if x := all[[2]int{e.Call, e.Attempt}]; x != nil {
		return x
	}
	return all[[2]int{e.Call, 0}]
}

func (j *judge) toolResult(tool *machine.ToolBreaker, e *trace.Event) {
	var v machine.Verdict
	if j.nameless[e.Breaker] {
		v = tool.End(e.T, endingOf(e))
	} else {
		v = of(j.permits, e).End(e.T, endingOf(e))
	}
	assert.Equal(j.t, machine.Verdict{Rule: machine.Rule(e.Rule), Applied: e.Applied}, v, "call %d at %v", e.Call, e.T)
}

func (j *judge) modelResult(model *machine.ModelBreaker, e *trace.Event) {
	var v machine.Verdict
	if j.nameless[e.Breaker] {
		v = model.End(e.T, endingOf(e))
	} else {
		v = of(j.turns, e).End(e.T, endingOf(e))
	}
	assert.Equal(j.t, machine.Verdict{Rule: machine.Rule(e.Rule), Applied: e.Applied}, v, "call %d at %v", e.Call, e.T)
}

// endingOf is how an attempt ended.
func endingOf(e *trace.Event) machine.Ending {
	kind := map[string]machine.Kind{trace.RateLimit: machine.RateLimit, trace.Permanent: machine.Permanent, trace.Timeout: machine.Timeout, trace.Cancelled: machine.Cancelled}[e.Outcome]
	return machine.Ending{OK: e.Outcome == trace.Success, Kind: kind, RetryAfter: e.Wait}
}

// compare holds the counters after a step against the machines at now.
func (j *judge) compare(now time.Duration, step int) {
	for _, b := range j.steps.Breakers {
		got := *b.At(step)
		if m := j.tools[b.Name]; m != nil {
			assert.Equal(j.t, m.Snapshot(now).ProbesInFlight > 0, got.Probe > 0, "%s at %v", b.Name, now)
			got.Probe = 0 // the machine numbers its probes, and not by calls
			assert.Equal(j.t, countersOfTool(m, now), got, "%s at %v", b.Name, now)
		} else {
			if b.Model.PlaceFor > 0 { // the machine takes places back that are held no longer when it needs one
				got.Probes = len(j.models[b.Name].Snapshot().Probes)
			}
			assert.Equal(j.t, countersOfModel(j.models[b.Name]), got, "%s at %v", b.Name, now)
		}
		j.compared++
	}
}

func countersOfTool(m *machine.ToolBreaker, now time.Duration) report.Counters {
	s := m.Snapshot(now)
	c := report.Counters{State: s.State.String(), Failures: s.ConsecutiveFailures, Began: s.LastFailure + s.ProbeStarted}
	c.Until, c.Ends = m.Deadline(now)
	return c
}

func countersOfModel(m *machine.ModelBreaker) report.Counters {
	s := m.Snapshot()
	c := report.Counters{State: s.State.String(), Serves: s.Serves, Failures: s.ConsecutiveFailures, Successes: s.PrimarySuccesses,
		Probation: s.ProbationFailures, Activated: s.FallbackActivated, Probes: len(s.Probes)}
	if c.Until, c.Ends = m.Deadline(); c.Ends {
		c.Began = s.SwitchedAt
	}
	for _, e := range s.Chain {
		c.Chain = append(c.Chain, report.Strikes{Name: e.Name, Available: e.Available, Count: e.Attempts, Of: e.Budget})
	}
	return c
}
