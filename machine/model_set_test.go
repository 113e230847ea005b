package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// modelOf is a breaker of opus, b1 and b2 that trips at once and spends a backup
// at once.
func modelOf(t *testing.T, change func(*machine.ModelSettings), h machine.Hooks) *machine.ModelBreaker {
	t.Helper()
	m := machine.DefaultModelSettings()
	m.Primary, m.Chain, m.TripThreshold = "opus", []machine.Backup{{Name: "b1", MaxFailCount: 1}, {Name: "b2", MaxFailCount: 1}}, 1
	change(&m)
	b, err := machine.NewModelBreaker(m, h)
	require.NoError(t, err)
	return b
}

// ends plays a turn of that model, by that rule, which ends at once.
func ends(t *testing.T, b *machine.ModelBreaker, at time.Duration, model string, rule machine.Rule, e machine.Ending) machine.Verdict {
	t.Helper()
	turn, err := b.Begin(at)
	require.NoError(t, err)
	assert.Equal(t, []any{model, rule}, []any{turn.Model(), turn.Rule()})
	return turn.End(at, e)
}

func nobody(t *testing.T, b *machine.ModelBreaker, at, waited time.Duration) machine.Exhausted {
	t.Helper()
	_, err := b.Resume(at, waited)
	var x *machine.Exhausted
	require.ErrorAs(t, err, &x)
	return *x
}

var failed = machine.Ending{Kind: machine.Transient}

func TestResultsOfAModelThatCountOtherwise(t *testing.T) {
	b := modelOf(t, func(m *machine.ModelSettings) {
		m.Counts = machine.Counts{Timeout: machine.AsNothing, Permanent: machine.AsSuccess, Cancelled: machine.AsFailure}
		m.TripThreshold = 2
	}, machine.Hooks{})
	assert.Equal(t, machine.Verdict{Rule: machine.M10, Applied: true}, ends(t, b, 1*s, "opus", machine.M1, failed))
	assert.Equal(t, machine.Verdict{Rule: machine.M20}, ends(t, b, 2*s, "opus", machine.M1, machine.Ending{Kind: machine.Timeout}))
	assert.Equal(t, 1, b.Snapshot().ConsecutiveFailures)
	assert.Equal(t, machine.Verdict{Rule: machine.M7, Applied: true}, ends(t, b, 3*s, "opus", machine.M1, machine.Ending{Kind: machine.Permanent}))
	assert.Equal(t, 0, b.Snapshot().ConsecutiveFailures)
	ends(t, b, 4*s, "opus", machine.M1, machine.Ending{Kind: machine.Cancelled})
	ends(t, b, 5*s, "opus", machine.M1, machine.Ending{Kind: machine.Cancelled})
	assert.Equal(t, machine.Fallback, b.Snapshot().State)
}

func TestProbesBesideTheTraffic(t *testing.T) {
	b := modelOf(t, func(m *machine.ModelSettings) { m.Probes, m.ProbeTimeout = 1, 8*s }, machine.Hooks{})
	ends(t, b, 0, "opus", machine.M1, failed)
	probe, err := b.Begin(60 * s)
	require.NoError(t, err)
	assert.True(t, probe.Probe())
	beside, err := b.Begin(61 * s)
	require.NoError(t, err)
	assert.Equal(t, []any{"b1", machine.M21, false}, []any{beside.Model(), beside.Rule(), beside.Probe()})
	assert.Equal(t, machine.Verdict{Rule: machine.M11, Applied: true}, beside.End(61*s, failed), "b1 is spent")
	assert.Equal(t, machine.Verdict{Rule: machine.M8}, ends(t, b, 61*s, "b2", machine.M21, machine.Ending{OK: true}))
	model, ok := b.WouldServe(68*s - 1)
	assert.Equal(t, []any{"b2", true}, []any{model, ok})
	model, _ = b.WouldServe(68 * s)
	assert.Equal(t, "opus", model, "the lease is over")
	assert.Equal(t, machine.Verdict{Rule: machine.M14, Applied: true}, probe.Cancel(62*s), "its place is free again")
	assert.Equal(t, machine.Verdict{Rule: machine.M9, Applied: true}, ends(t, b, 62*s, "opus", machine.M6, machine.Ending{OK: true}))
	assert.Equal(t, machine.Verdict{Rule: machine.M9, Applied: true}, ends(t, b, 62*s, "opus", machine.M6, machine.Ending{OK: true}))
	assert.Equal(t, machine.Primary, b.Snapshot().State)
}

func TestMoreProbesThanPlacesWhereNobodyElseIsLeft(t *testing.T) {
	b := modelOf(t, func(m *machine.ModelSettings) { m.Probes, m.Chain = 1, nil }, machine.Hooks{})
	ends(t, b, 0, "opus", machine.M1, failed)
	for _, rule := range []machine.Rule{machine.M2, machine.M6, machine.M6} {
		turn, err := b.Begin(60 * s)
		require.NoError(t, err)
		assert.Equal(t, []any{"opus", rule}, []any{turn.Model(), turn.Rule()})
	}
	assert.Equal(t, []time.Duration{60 * s}, b.Snapshot().Probes, "one place")
}

func TestTurnsWaitOrGoToTheLastResort(t *testing.T) {
	b := modelOf(t, func(m *machine.ModelSettings) { m.Wait = 5 * s }, machine.Hooks{})
	ends(t, b, 0, "opus", machine.M1, failed)
	ends(t, b, 1*s, "b1", machine.M4, failed)
	ends(t, b, 2*s, "b2", machine.M4, failed)
	assert.Equal(t, machine.Exhausted{Until: 60 * s}, nobody(t, b, 55*s-1, 0))
	assert.Equal(t, machine.Exhausted{Until: 60 * s, Wait: true}, nobody(t, b, 55*s, 0))
	assert.Equal(t, machine.Exhausted{Until: 60 * s, Wait: true}, nobody(t, b, 57*s, 2*s))
	assert.Equal(t, machine.Exhausted{Until: 60 * s}, nobody(t, b, 57*s, 2*s+1), "no longer than that in all")

	last := modelOf(t, func(m *machine.ModelSettings) { m.Wait, m.LastResort = 5*s, "mini" }, machine.Hooks{})
	ends(t, last, 0, "opus", machine.M1, failed)
	ends(t, last, 1*s, "b1", machine.M4, failed)
	ends(t, last, 2*s, "b2", machine.M4, failed)
	assert.Equal(t, machine.Verdict{Rule: machine.M11}, ends(t, last, 3*s, "mini", machine.M23, failed), "it is never charged")
	assert.Equal(t, machine.Verdict{Rule: machine.M8}, ends(t, last, 4*s, "mini", machine.M23, machine.Ending{OK: true}))
	assert.Equal(t, machine.Exhausted{Until: 60 * s, Wait: true}, nobody(t, last, 55*s, 0), "waiting comes first")
}

func TestBackupsAreWholeAgain(t *testing.T) {
	var switches []machine.Switch
	b := modelOf(t, func(m *machine.ModelSettings) { m.EntryCooldown = 10 * s }, machine.Hooks{OnSwitch: func(s machine.Switch) { switches = append(switches, s) }})
	ends(t, b, 0, "opus", machine.M1, failed)
	late, err := b.Begin(1 * s)
	require.NoError(t, err)
	ends(t, b, 1*s, "b1", machine.M4, failed)
	ends(t, b, 2*s, "b2", machine.M4, failed)
	assert.Equal(t, machine.Exhausted{Until: 11 * s}, nobody(t, b, 3*s, 0))
	late.End(5*s, failed)
	assert.Equal(t, machine.Exhausted{Until: 12 * s}, nobody(t, b, 12*s-1, 0), "b1 had its last strike at 5 s")
	ends(t, b, 20*s, "b1", machine.M4, machine.Ending{OK: true})
	assert.Equal(t, []machine.Switch{{From: "", To: "b2", At: 20 * s, Effective: 12 * s, Rule: machine.M24}, {From: "b2", To: "b1", At: 20 * s, Effective: 15 * s, Rule: machine.M24}}, switches[3:])
}

func TestCooldownsOfAModelVary(t *testing.T) {
	for name, c := range map[string]struct {
		cooldown machine.Cooldown
		hint     time.Duration
		want     []time.Duration // ends of the cooldowns: after a trip at 0, a rate limit then, and one more; after a recovery of 30 s
	}{
		"as ever":     {machine.Cooldown{}, time.Hour, []time.Duration{60 * s, 120 * s, 180 * s, 270 * s}},
		"growth":      {machine.Cooldown{Growth: 2}, 0, []time.Duration{60 * s, 180 * s, 420 * s, 510 * s}},
		"longest":     {machine.Cooldown{Growth: 2, Longest: 90 * s}, 0, []time.Duration{60 * s, 150 * s, 240 * s, 330 * s}},
		"forgets not": {machine.Cooldown{Growth: 2, Forget: 30*s + 1}, 0, []time.Duration{60 * s, 180 * s, 420 * s, 930 * s}},
		"hints":       {machine.Cooldown{RetryAfter: true}, 100 * s, []time.Duration{100 * s, 200 * s, 300 * s, 430 * s}},
		"short hints": {machine.Cooldown{RetryAfter: true}, 10 * s, []time.Duration{60 * s, 120 * s, 180 * s, 270 * s}},
		"cut hints":   {machine.Cooldown{RetryAfter: true, Longest: 70 * s}, 100 * s, []time.Duration{70 * s, 140 * s, 210 * s, 310 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			b := modelOf(t, func(m *machine.ModelSettings) { m.Cooldown, m.RecoverySuccessesNeeded = c.cooldown, 1 }, machine.Hooks{})
			limit := machine.Ending{Kind: machine.RateLimit, RetryAfter: c.hint}
			var got []time.Duration
			end := func() time.Duration {
				at, ok := b.Deadline()
				require.True(t, ok)
				got = append(got, at)
				return at
			}
			ends(t, b, 0, "opus", machine.M1, limit)
			ends(t, b, end(), "opus", machine.M2, limit)
			ends(t, b, end(), "opus", machine.M2, limit)
			back := end()
			ends(t, b, back, "opus", machine.M2, machine.Ending{OK: true})
			ends(t, b, back+30*s, "opus", machine.M1, limit)
			end()
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLateHintsOfThePrimary(t *testing.T) {
	b := modelOf(t, func(m *machine.ModelSettings) { m.Cooldown.RetryAfter = true }, machine.Hooks{})
	late, err := b.Begin(0)
	require.NoError(t, err)
	ends(t, b, 1*s, "opus", machine.M1, failed)
	assert.Equal(t, machine.Verdict{Rule: machine.M17, Applied: true}, late.End(10*s, machine.Ending{Kind: machine.RateLimit, RetryAfter: 80 * s}))
	at, _ := b.Deadline()
	assert.Equal(t, 90*s, at)
	ends(t, b, 11*s, "b1", machine.M4, machine.Ending{Kind: machine.RateLimit, RetryAfter: time.Hour})
	at, _ = b.Deadline()
	assert.Equal(t, 90*s, at, "a backup's hint says nothing of the primary")
}

func TestJitterIsDrawnBySeedAndTrip(t *testing.T) {
	length := func(seed uint64) time.Duration {
		b := modelOf(t, func(m *machine.ModelSettings) { m.Cooldown = machine.Cooldown{Jitter: 0.25, Seed: seed} }, machine.Hooks{})
		ends(t, b, 0, "opus", machine.M1, failed)
		at, _ := b.Deadline()
		assert.GreaterOrEqual(t, at, 45*s)
		assert.LessOrEqual(t, at, 75*s)
		return at
	}
	assert.Equal(t, length(7), length(7))
	assert.NotEqual(t, length(7), length(8))
}

func TestModelSettingsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*machine.ModelSettings){
		`"b1" is the last resort, and in the chain or the primary too`:                                       func(m *machine.ModelSettings) { m.LastResort = "b1" },
		`"opus" is the last resort, and in the chain or the primary too`:                                     func(m *machine.ModelSettings) { m.LastResort = "opus" },
		`last_resort is "mini", and there is no chain before it; without one the primary keeps serving (M5)`: func(m *machine.ModelSettings) { m.LastResort, m.Chain = "mini", nil },
		"probes is -1; it must not be negative":                                                              func(m *machine.ModelSettings) { m.Probes = -1 },
		"probe_timeout is -1s; it must not be negative":                                                      func(m *machine.ModelSettings) { m.ProbeTimeout = -s },
		"exhausted_wait is -1s; it must not be negative":                                                     func(m *machine.ModelSettings) { m.Wait = -s },
		"entry_cooldown is -1s; it must not be negative":                                                     func(m *machine.ModelSettings) { m.EntryCooldown = -s },
		"recovery_jitter is 2; it must be a share from 0 to 1":                                               func(m *machine.ModelSettings) { m.Cooldown.Jitter = 2 },
	} {
		m := machine.DefaultModelSettings()
		m.Primary, m.Chain = "opus", []machine.Backup{{Name: "b1"}}
		change(&m)
		assert.EqualError(t, m.Validate(), want)
	}
}
