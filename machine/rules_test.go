package machine_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

const s = time.Second

func newTool(t testing.TB, change func(*machine.ToolSettings), h machine.Hooks) *machine.ToolBreaker {
	t.Helper()
	settings := machine.DefaultToolSettings()
	if change != nil {
		change(&settings)
	}
	b, err := machine.NewToolBreaker(settings, h)
	require.NoError(t, err)
	return b
}

func newModel(t testing.TB, change func(*machine.ModelSettings), h machine.Hooks) *machine.ModelBreaker {
	t.Helper()
	settings := machine.DefaultModelSettings()
	settings.Primary = "opus"
	settings.Chain = []machine.Backup{{Name: "b1", MaxFailCount: 2}, {Name: "b2", MaxFailCount: 2}}
	if change != nil {
		change(&settings)
	}
	b, err := machine.NewModelBreaker(settings, h)
	require.NoError(t, err)
	return b
}

// trip opens a breaker with failures at 1, 2 and 3 s.
func trip(t testing.TB, b *machine.ToolBreaker) {
	t.Helper()
	for _, at := range []time.Duration{1 * s, 2 * s, 3 * s} {
		p, err := b.Allow(at)
		require.NoError(t, err)
		assert.Equal(t, machine.Verdict{Rule: machine.T3, Applied: true}, p.Failure(at))
	}
}

func refused(t testing.TB, b *machine.ToolBreaker, at time.Duration) machine.Refusal {
	t.Helper()
	_, err := b.Allow(at)
	var r *machine.Refusal
	require.ErrorAs(t, err, &r)
	assert.EqualError(t, err, "tool temporarily unavailable: circuit breaker open", "H6, to the letter")
	return *r
}

// TestWorkedTimelineOfATool is the timeline that the rules work out.
func TestWorkedTimelineOfATool(t *testing.T) {
	var moves []machine.Transition
	b := newTool(t, nil, machine.Hooks{OnTransition: func(tr machine.Transition) { moves = append(moves, tr) }})
	trip(t, b)
	assert.Equal(t, machine.Refusal{Rule: machine.T4, Until: 33 * s, Known: true}, refused(t, b, 32999*time.Millisecond))
	probe, err := b.Allow(33 * s)
	require.NoError(t, err)
	assert.True(t, probe.Probe())
	assert.Equal(t, machine.Refusal{Rule: machine.T6, Until: 93 * s, Known: true}, refused(t, b, 40*s))
	assert.Equal(t, machine.Open, b.Snapshot(63*s).State, "read as it is, though nobody has noticed")
	assert.Equal(t, machine.Refusal{Rule: machine.T4, Until: 93 * s, Known: true}, refused(t, b, 80*s))
	assert.False(t, b.WouldAllow(93*s-1))
	assert.True(t, b.WouldAllow(93*s))
	second, err := b.Allow(95 * s)
	require.NoError(t, err)
	assert.Equal(t, machine.Verdict{Rule: machine.T13}, probe.Success(95100*time.Millisecond), "a ghost (T12)")
	assert.Equal(t, machine.Verdict{Rule: machine.T8, Applied: true}, second.Success(95200*time.Millisecond))
	assert.Equal(t, []machine.Transition{
		{From: machine.Closed, To: machine.Open, At: 3 * s, Effective: 3 * s, Rule: machine.T3, Failures: 3, Until: 33 * s},
		{From: machine.Open, To: machine.HalfOpen, At: 33 * s, Effective: 33 * s, Rule: machine.T5, Failures: 3},
		{From: machine.HalfOpen, To: machine.Open, At: 80 * s, Effective: 63 * s, Rule: machine.T7, Failures: 3, Until: 93 * s},
		{From: machine.Open, To: machine.HalfOpen, At: 95 * s, Effective: 95 * s, Rule: machine.T5, Failures: 3},
		{From: machine.HalfOpen, To: machine.Closed, At: 95200 * time.Millisecond, Effective: 95200 * time.Millisecond, Rule: machine.T8, Failures: 3},
	}, moves)
}

// TestWorkedTimelineOfAModel is the other one.
func TestWorkedTimelineOfAModel(t *testing.T) {
	var switches []machine.Switch
	b := newModel(t, nil, machine.Hooks{OnSwitch: func(sw machine.Switch) { switches = append(switches, sw) }})
	turn := func(at time.Duration, model string, rule machine.Rule) *machine.Turn {
		t.Helper()
		tr, err := b.Begin(at)
		require.NoError(t, err)
		assert.Equal(t, []any{model, rule}, []any{tr.Model(), tr.Rule()})
		return &tr
	}
	fail := func(at time.Duration, model string, rule machine.Rule, k machine.Kind) {
		t.Helper()
		turn(at, model, rule).Failure(at, k)
	}
	exhausted := func(at, until time.Duration) {
		t.Helper()
		_, err := b.Begin(at)
		var x *machine.Exhausted
		require.ErrorAs(t, err, &x)
		assert.Equal(t, until, x.Until)
		assert.ErrorContains(t, err, "fallback exhausted")
	}
	for _, at := range []time.Duration{1 * s, 2 * s, 3 * s} {
		fail(at, "opus", machine.M1, machine.Transient)
	}
	fail(4*s, "b1", machine.M4, machine.Transient)
	fail(5*s, "b1", machine.M4, machine.RateLimit)
	fail(6*s, "b2", machine.M4, machine.Transient)
	fail(7*s, "b2", machine.M4, machine.Permanent)
	exhausted(8*s, 63*s)
	exhausted(63*s-1, 63*s)
	fail(63*s, "opus", machine.M2, machine.RateLimit)
	exhausted(64*s, 123*s)
	for _, at := range []time.Duration{123 * s, 124 * s} {
		tr, err := b.Begin(at)
		require.NoError(t, err)
		assert.Equal(t, machine.Verdict{Rule: machine.M9, Applied: true}, tr.Success(at))
	}
	snapshot := b.Snapshot()
	assert.Equal(t, machine.ModelSnapshot{State: machine.Primary, Serves: "opus", FallbackActivated: true, Chain: []machine.BackupSnapshot{
		{Name: "b1", Available: true, Budget: 2}, {Name: "b2", Available: true, Budget: 2}}}, snapshot, "b1 and b2 are fresh again")
	assert.Equal(t, []machine.Switch{
		{From: "opus", To: "b1", At: 3 * s, Effective: 3 * s, Rule: machine.M10}, {From: "b1", To: "b2", At: 5 * s, Effective: 5 * s, Rule: machine.M11}, {From: "b2", To: "", At: 7 * s, Effective: 7 * s, Rule: machine.M11},
		{From: "", To: "opus", At: 63 * s, Effective: 63 * s, Rule: machine.M2}, {From: "opus", To: "", At: 63 * s, Effective: 63 * s, Rule: machine.M12}, {From: "", To: "opus", At: 123 * s, Effective: 123 * s, Rule: machine.M2},
	}, switches)
}

// TestEdgesAreInclusive has each deadline a nanosecond early, and exactly.
func TestEdgesAreInclusive(t *testing.T) {
	t.Run("the cooldown", func(t *testing.T) {
		b := newTool(t, nil, machine.Hooks{})
		trip(t, b)
		refused(t, b, 33*s-1)
		_, err := b.Allow(33 * s)
		assert.NoError(t, err)
	})
	t.Run("the lease", func(t *testing.T) {
		for late, rule := range map[time.Duration]machine.Rule{-1: machine.T8, 0: machine.T10} {
			b := newTool(t, nil, machine.Hooks{})
			trip(t, b)
			p, err := b.Allow(33 * s)
			require.NoError(t, err)
			assert.Equal(t, rule, p.Success(63*s+late).Rule, "a success %v after the lease's end", late)
		}
	})
	t.Run("the model's cooldown", func(t *testing.T) {
		b := newModel(t, func(m *machine.ModelSettings) { m.TripThreshold = 0 }, machine.Hooks{})
		tr, err := b.Begin(0)
		require.NoError(t, err)
		tr.Failure(0, machine.Transient)
		for at, model := range map[time.Duration]string{60*s - 1: "b1", 60 * s: "opus"} {
			got, ok := b.WouldServe(at)
			assert.Equal(t, []any{model, true}, []any{got, ok})
		}
	})
}

func TestNoLeaseWedgesForGood(t *testing.T) {
	b := newTool(t, func(s *machine.ToolSettings) { s.ProbeTimeout = 0 }, machine.Hooks{})
	trip(t, b)
	_, err := b.Allow(33 * s)
	require.NoError(t, err)
	assert.Equal(t, machine.Refusal{Rule: machine.T6}, refused(t, b, 1000*time.Hour), "and nobody can say until when")
	_, has := b.Deadline(1000 * time.Hour)
	assert.False(t, has)
}

// TestTimeNeverRunsBackwards takes an earlier instant for the latest one seen.
func TestTimeNeverRunsBackwards(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	trip(t, b)
	b.Failure(20 * s) // T11: the wait is until 50 s
	assert.Equal(t, machine.Verdict{Rule: machine.T11, Applied: true}, b.Failure(-5*s))
	assert.Equal(t, 20*s, b.Snapshot(0).LastFailure)
	assert.Equal(t, 50*s, refused(t, b, 10*s).Until)
}

// TestFarFuture has durations at whose sum the clock would overflow.
func TestFarFuture(t *testing.T) {
	b := newTool(t, func(s *machine.ToolSettings) { s.RecoveryDuration, s.ProbeTimeout = math.MaxInt64, math.MaxInt64 }, machine.Hooks{})
	trip(t, b)
	assert.Equal(t, machine.Refusal{Rule: machine.T4, Until: math.MaxInt64, Known: true}, refused(t, b, 1<<62))
	at, has := b.Deadline(4 * s)
	assert.Equal(t, []any{time.Duration(math.MaxInt64), true}, []any{at, has})
	m := newModel(t, func(s *machine.ModelSettings) { s.RecoveryTimeout, s.TripThreshold = math.MaxInt64, 1 }, machine.Hooks{})
	m.Failure(5*s, machine.Transient)
	at, has = m.Deadline()
	assert.Equal(t, []any{time.Duration(math.MaxInt64), true}, []any{at, has})
}

func TestSettingsAreChecked(t *testing.T) {
	for want, tool := range map[string]machine.ToolSettings{
		"failure_threshold is -1; it must not be negative":   {FailureThreshold: -1},
		"recovery_duration is -1ns; it must not be negative": {RecoveryDuration: -1},
		"probe_timeout is -1ns; it must not be negative":     {ProbeTimeout: -1},
	} {
		_, err := machine.NewToolBreaker(tool, machine.Hooks{})
		assert.EqualError(t, err, want)
	}
	for want, model := range map[string]machine.ModelSettings{
		"the primary has no name":                                  {},
		"a backup has no name":                                     {Primary: "p", Chain: []machine.Backup{{}}},
		`"b" is in the chain twice, or the primary too`:            {Primary: "p", Chain: []machine.Backup{{Name: "b"}, {Name: "b"}}},
		`"p" is in the chain twice, or the primary too`:            {Primary: "p", Chain: []machine.Backup{{Name: "p"}}},
		"trip_threshold is -1; it must not be negative":            {Primary: "p", TripThreshold: -1},
		"recovery_timeout is -1ns; it must not be negative":        {Primary: "p", RecoveryTimeout: -1},
		"recovery_successes_needed is -1; it must not be negative": {Primary: "p", RecoverySuccessesNeeded: -1},
		"probation_failures is -1; it must not be negative":        {Primary: "p", ProbationFailures: -1},
	} {
		_, err := machine.NewModelBreaker(model, machine.Hooks{})
		assert.EqualError(t, err, want)
	}
	b := newModel(t, nil, machine.Hooks{})
	assert.EqualError(t, b.SetAvailable(0, "nobody", false), `no backup named "nobody" in the chain`)
}

func TestRefusedCallsHaveNothingToReport(t *testing.T) {
	var p machine.Permit
	var tr machine.Turn
	again := machine.Verdict{Repeated: true}
	assert.Equal(t, []machine.Verdict{again, again, again}, []machine.Verdict{p.Success(0), p.Failure(0), p.Cancel(0)})
	assert.Equal(t, []machine.Verdict{again, again, again}, []machine.Verdict{tr.Success(0), tr.Failure(0, machine.Transient), tr.Cancel(0)})
}

// TestHooksMayUseTheBreaker has a hook that acts on the breaker that called it:
// nothing blocks, and what it causes is told after what caused it.
func TestHooksMayUseTheBreaker(t *testing.T) {
	var told []machine.Rule
	var b *machine.ToolBreaker
	b = newTool(t, func(s *machine.ToolSettings) { s.FailureThreshold = 1 }, machine.Hooks{OnTransition: func(tr machine.Transition) {
		told = append(told, tr.Rule)
		if tr.Rule == machine.T3 {
			b.Reset(tr.At)
			assert.Equal(t, machine.Closed, b.Snapshot(tr.At).State)
			assert.Len(t, told, 1, "its own change is told later")
		}
	}})
	b.Failure(1 * s)
	assert.Equal(t, []machine.Rule{machine.T3, machine.T15}, told)
}

// TestAPanickingHookWedgesNothing has a hook panic, and the next change told.
func TestAPanickingHookWedgesNothing(t *testing.T) {
	var told []machine.Rule
	b := newTool(t, func(s *machine.ToolSettings) { s.FailureThreshold = 1 }, machine.Hooks{OnTransition: func(tr machine.Transition) {
		if tr.Rule == machine.T3 {
			panic("a hook's own fault")
		}
		told = append(told, tr.Rule)
	}})
	assert.Panics(t, func() { b.Failure(1 * s) })
	b.Reset(2 * s)
	assert.Equal(t, []machine.Rule{machine.T15}, told)
}

// TestOneProbeInAHerd asks from many goroutines at the half-open instant.
func TestOneProbeInAHerd(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	trip(t, b)
	var admitted, turnedAway atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if p, err := b.Allow(33 * s); err != nil {
				turnedAway.Add(1)
			} else if p.Probe() {
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []int64{1, 99}, []int64{admitted.Load(), turnedAway.Load()})
}

// TestManyGoroutines uses everything at once; the race detector is the judge,
// and the hooks must tell a story in which each change starts where the last ended.
func TestManyGoroutines(t *testing.T) {
	state, model := machine.Closed, machine.Primary
	b := newTool(t, nil, machine.Hooks{OnTransition: func(tr machine.Transition) {
		assert.Equal(t, state, tr.From)
		state = tr.To
	}})
	m := newModel(t, nil, machine.Hooks{OnTransition: func(tr machine.Transition) {
		assert.Equal(t, model, tr.From)
		model = tr.To
	}, OnSwitch: func(machine.Switch) {}})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				now := time.Duration(i) * s
				if p, err := b.Allow(now); err == nil && (i+g)%5 > 0 {
					p.Failure(now + s)
					p.Success(now + s) // a second report
				}
				if tr, err := m.Begin(now); err == nil {
					tr.Failure(now, machine.RateLimit)
				}
				if i%50 == g {
					b.Reset(now)
					m.Reset(now)
				}
				b.WouldAllow(now)
				b.Deadline(now)
				m.WouldServe(now)
				m.Snapshot()
				_ = m.SetAvailable(now, "b1", i%2 == 0)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, state, b.Snapshot(0).State)
	assert.Equal(t, model, m.Snapshot().State)
}

func TestStatesPrintTheirWord(t *testing.T) {
	assert.Equal(t, "7 4", machine.State(7).String()+" "+machine.Health(4).String(), "no panic in a log")
	assert.Equal(t, "closed open half-open primary fallback recovering", machine.Closed.String()+" "+machine.Open.String()+" "+machine.HalfOpen.String()+
		" "+machine.Primary.String()+" "+machine.Fallback.String()+" "+machine.Recovering.String())
}

// TestAResetTakesBackTheRefusal: what was refused before says nothing after.
func TestAResetTakesBackTheRefusal(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	trip(t, b)
	refused(t, b, 4*s)
	b.Reset(5 * s)
	b.Failure(6 * s) // counted, so this is not the calm path
	assert.True(t, b.WouldAllow(7*s))
	p, err := b.Allow(7 * s)
	require.NoError(t, err)
	assert.Equal(t, machine.T1, p.Rule())
}

// TestAnInstantCountsWhenSomethingChanged is how time never runs backwards.
func TestAnInstantCountsWhenSomethingChanged(t *testing.T) {
	opened := func(before func(*machine.ToolBreaker)) time.Duration {
		b := newTool(t, func(ts *machine.ToolSettings) { ts.FailureThreshold = 2 }, machine.Hooks{})
		before(b)
		b.Failure(5 * s)
		b.Failure(5 * s)
		return b.Snapshot(0).LastFailure
	}
	assert.Equal(t, 5*s, opened(func(b *machine.ToolBreaker) { b.Success(10 * s); b.Reset(10 * s); b.WouldAllow(10 * s) }), "nothing changed at 10 s")
	assert.Equal(t, 10*s, opened(func(b *machine.ToolBreaker) { b.Failure(s); b.Success(10 * s) }), "the count went back to zero at 10 s")
	assert.Equal(t, 10*s, opened(func(b *machine.ToolBreaker) { b.Failure(10 * s); b.Reset(0) }), "a reset that zeroes it is no earlier than the failure")
}

// TestALeaseOfANanosecond is a lease.
func TestALeaseOfANanosecond(t *testing.T) {
	b := newTool(t, func(ts *machine.ToolSettings) { ts.ProbeTimeout = 1 }, machine.Hooks{})
	trip(t, b)
	_, err := b.Allow(33 * s)
	require.NoError(t, err)
	assert.Equal(t, machine.HalfOpen, b.Snapshot(33*s).State)
	assert.Equal(t, machine.Open, b.Snapshot(33*s+1).State)
}

// TestAFailedProbeCounts (T9).
func TestAFailedProbeCounts(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	trip(t, b)
	p, err := b.Allow(33 * s)
	require.NoError(t, err)
	p.Failure(34 * s)
	assert.Equal(t, 4, b.Snapshot(34*s).ConsecutiveFailures)
}

// TestAFailureInRecoveringStartsTheCountAnew (M13).
func TestAFailureInRecoveringStartsTheCountAnew(t *testing.T) {
	b := newModel(t, func(ms *machine.ModelSettings) { ms.TripThreshold = 1 }, machine.Hooks{})
	b.Failure(0, machine.Transient)
	for i, ok := range []bool{true, false, true} {
		turn, err := b.Begin(60 * s)
		require.NoError(t, err)
		if ok {
			turn.Success(60 * s)
		} else {
			turn.Failure(60*s, machine.Transient)
		}
		assert.Equal(t, machine.Recovering, b.Snapshot().State, "after %d turns", i+1)
	}
}

// TestATurnIsChargedToWhoServedIt, though another would serve by now (M11).
func TestATurnIsChargedToWhoServedIt(t *testing.T) {
	b := newModel(t, func(ms *machine.ModelSettings) { ms.TripThreshold = 1 }, machine.Hooks{})
	b.Failure(0, machine.Transient)
	turn, err := b.Begin(s)
	require.NoError(t, err)
	require.NoError(t, b.SetAvailable(2*s, "b1", false))
	turn.Failure(3*s, machine.Transient)
	chain := b.Snapshot().Chain
	assert.Equal(t, []int{1, 0}, []int{chain[0].Attempts, chain[1].Attempts})
}

// TestAskingAllocatesNothing, neither while all is well nor while it refuses.
func TestAskingAllocatesNothing(t *testing.T) {
	b := newTool(t, nil, machine.Hooks{})
	clock := &hand{now: 4 * s}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = b.Do(context.Background(), clock.read, works) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		p, _ := b.Allow(0)
		p.Success(0)
	}))
	trip(t, b)
	refused(t, b, 4*s)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = b.Do(context.Background(), clock.read, works) }))
}
