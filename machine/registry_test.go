package machine_test

import (
	"context"
	"math"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

func newRegistry(t testing.TB, change func(*machine.RegistrySettings)) *machine.Registry {
	t.Helper()
	settings := machine.RegistrySettings{Tool: machine.DefaultToolSettings()}
	if change != nil {
		change(&settings)
	}
	r, err := machine.NewRegistry(settings)
	require.NoError(t, err)
	return r
}

// TestEWMA is H2's table.
func TestEWMA(t *testing.T) {
	var st machine.Stats
	assert.Equal(t, 1_000_000, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 700_000, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 490_000, st.Read().EWMA)
	st.Record(0, true)
	assert.Equal(t, 643_000, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 450_100, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 315_070, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 220_549, st.Read().EWMA)
	st.Record(0, false)
	assert.Equal(t, 154_384, st.Read().EWMA, "154384.3, truncated")
}

func TestStatsCountAndSaturate(t *testing.T) {
	var st machine.Stats
	assert.Equal(t, machine.StatsSnapshot{EWMA: 1_000_000}, st.Read())
	assert.Equal(t, time.Duration(0), st.Read().Mean())
	st.Record(2*s, true)
	st.Record(4*s, false)
	st.Record(-s, true)
	assert.Equal(t, machine.StatsSnapshot{Successes: 2, Failures: 1, Sum: 6 * s, Longest: 4 * s, EWMA: 790_000}, st.Read())
	assert.Equal(t, 2*s, st.Read().Mean())
	st.Record(math.MaxInt64, true)
	st.Record(1, true)
	assert.Equal(t, time.Duration(math.MaxInt64), st.Read().Sum, "it saturates")
	assert.Equal(t, time.Duration(math.MaxInt64), st.Read().Longest)
}

// TestScoreIsExact holds the score and the health against fractions.
func TestScoreIsExact(t *testing.T) {
	ratio := big.NewRat
	rapid.Check(t, func(t *rapid.T) {
		var st machine.Stats
		ok, all, ewma := int64(0), int64(0), int64(1_000_000)
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			good := rapid.Bool().Draw(t, "good")
			st.Record(0, good)
			all++
			ewma *= 7
			if good {
				ok++
				ewma += 3_000_000
			}
			ewma /= 10
		}
		rate := ratio(1, 1)
		if all > 0 {
			rate = ratio(ok, all)
		}
		score := new(big.Rat).Add(new(big.Rat).Mul(ratio(3, 10), rate), ratio(7*ewma, 10_000_000))
		want := machine.Unhealthy
		switch {
		case score.Cmp(ratio(8, 10)) >= 0:
			want = machine.Healthy
		case score.Cmp(ratio(5, 10)) >= 0:
			want = machine.Degraded
		}
		exact, _ := score.Float64()
		assert.InDelta(t, exact, st.Read().Score(), 1e-12)
		assert.Equal(t, want, st.Read().Health(machine.Closed))
		assert.Equal(t, want, st.Read().Health(machine.HalfOpen))
		assert.Equal(t, machine.Unhealthy, st.Read().Health(machine.Open), "H4, whatever the score")
	})
}

// TestHealthIsInclusive takes the two scores at which it changes (H4).
func TestHealthIsInclusive(t *testing.T) {
	at := func(successes, failures uint64, ewma int) machine.Health {
		return machine.StatsSnapshot{Successes: successes, Failures: failures, EWMA: ewma}.Health(machine.Closed)
	}
	assert.Equal(t, machine.Healthy, at(8, 2, 800_000))
	assert.Equal(t, machine.Degraded, at(8, 2, 799_999))
	assert.Equal(t, machine.Degraded, at(5, 5, 500_000))
	assert.Equal(t, machine.Unhealthy, at(5, 5, 499_999))
	assert.Equal(t, machine.Healthy, at(0, 0, 1_000_000), "without calls")
	assert.Equal(t, "healthy degraded unhealthy", machine.Healthy.String()+" "+machine.Degraded.String()+" "+machine.Unhealthy.String())
}

// TestStatsFromManyGoroutines loses no call.
func TestStatsFromManyGoroutines(t *testing.T) {
	var st machine.Stats
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				st.Record(time.Duration(g*1000+i), g%2 == 0)
			}
		})
	}
	wg.Wait()
	got := st.Read()
	assert.Equal(t, []uint64{4000, 4000}, []uint64{got.Successes, got.Failures})
	assert.Equal(t, time.Duration(8000*7999/2), got.Sum)
	assert.Equal(t, time.Duration(7999), got.Longest)
	assert.GreaterOrEqual(t, got.EWMA, 0)
	assert.LessOrEqual(t, got.EWMA, 1_000_000)
}

func TestRegistryMakesAToolAtFirstSight(t *testing.T) {
	var heard []string
	r := newRegistry(t, func(rs *machine.RegistrySettings) {
		rs.Tools = map[string]machine.ToolSettings{"nervous": {FailureThreshold: 1, RecoveryDuration: s}}
		rs.Hooks = func(tool string) machine.Hooks {
			return machine.Hooks{OnTransition: func(tr machine.Transition) { heard = append(heard, tool+" "+tr.To.String()) }}
		}
	})
	assert.True(t, r.Available(0, "search"))
	assert.Empty(t, r.Health(0), "reading makes none")
	assert.Same(t, r.Tool("search"), r.Tool("search"))
	r.Tool("nervous").Breaker.Failure(0)
	r.Tool("search").Breaker.Failure(0)
	assert.Equal(t, []string{"nervous open"}, heard)
	assert.False(t, r.Available(s-1, "nervous"))
	assert.True(t, r.Available(s, "nervous"))
	assert.True(t, r.Available(0, "search"))

	_, err := machine.NewRegistry(machine.RegistrySettings{Tool: machine.ToolSettings{FailureThreshold: -1}})
	assert.EqualError(t, err, "failure_threshold is -1; it must not be negative")
	_, err = machine.NewRegistry(machine.RegistrySettings{Tools: map[string]machine.ToolSettings{"x": {ProbeTimeout: -1}}})
	assert.EqualError(t, err, `tool "x": probe_timeout is -1ns; it must not be negative`)
}

// TestRegistryFromManyGoroutines: one name is one tool.
func TestRegistryFromManyGoroutines(t *testing.T) {
	r := newRegistry(t, nil)
	var wg sync.WaitGroup
	tools := make([]*machine.Tool, 16)
	for g := range tools {
		wg.Go(func() { tools[g] = r.Tool("search") })
	}
	wg.Wait()
	for _, tool := range tools {
		assert.Same(t, tools[0], tool)
	}
}

// TestToolDoRecords every ending but those that say nothing of the tool.
func TestToolDoRecords(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			tool := newRegistry(t, nil).Tool("search")
			clock := &hand{now: 5 * s}
			ctx, because := context.WithCancelCause(context.Background())
			cancel := func() { because(errTired) }
			defer cancel()
			aside(func() {
				_ = tool.Do(ctx, clock.read, func(ctx context.Context) error {
					clock.now += 3 * s
					return e.fn(ctx, cancel)
				})
			})
			want := map[string]machine.StatsSnapshot{
				"success": {Successes: 1, Sum: 3 * s, Longest: 3 * s, EWMA: 1_000_000},
				"nothing": {EWMA: 1_000_000},
			}
			w, ok := want[e.want]
			if !ok {
				w = machine.StatsSnapshot{Failures: 1, Sum: 3 * s, Longest: 3 * s, EWMA: 700_000}
			}
			assert.Equal(t, w, tool.Stats.Read())
		})
	}
}

func TestHealthSummary(t *testing.T) {
	r := newRegistry(t, nil)
	clock := &hand{}
	use := func(tool string, err error) {
		_ = r.Tool(tool).Do(context.Background(), clock.read, func(context.Context) error {
			clock.now += s
			return err
		})
	}
	for range 3 {
		use("search", errBroken)
	}
	use("search", nil) // refused: no call
	use("fetch", nil)
	use("fetch", errBroken)
	all := r.Health(clock.now)
	require.Len(t, all, 2)
	assert.Equal(t, "fetch: degraded, score 0.64, breaker closed, 1 of 2 calls failed, mean 1s, longest 1s", all[0].String())
	assert.Equal(t, "search: unhealthy, score 0.24, breaker open, 3 of 3 calls failed, mean 1s, longest 1s", all[1].String())
}

// TestRouter is H7.
func TestRouter(t *testing.T) {
	out := map[string]bool{}
	var asked []string
	router := machine.Router{
		Available:   func(now time.Duration, tool string) bool { asked = append(asked, tool); return !out[tool] },
		Substitutes: map[string][]string{"search": {"b1", "b2"}, "b1": {"b3"}},
	}
	resolve := func(want string, looked ...string) {
		t.Helper()
		asked = nil
		assert.Equal(t, want, router.Resolve(s, "search"))
		assert.Equal(t, looked, asked)
	}
	resolve("search", "search")
	out["search"] = true
	resolve("b1", "search", "b1")
	out["b1"] = true
	resolve("b2", "search", "b1", "b2")
	out["b2"] = true
	resolve("search", "search", "b1", "b2")
	assert.Equal(t, "b3", router.Resolve(s, "b1"), "its own list counts where it is asked for itself")
}

// TestRouterTakesNoProbe: resolving as often as one likes leaves the slot to the call.
func TestRouterTakesNoProbe(t *testing.T) {
	r := newRegistry(t, nil)
	router := machine.Router{Available: r.Available, Substitutes: map[string][]string{"search": {"backup"}}}
	trip(t, r.Tool("search").Breaker)
	for range 100 {
		assert.Equal(t, "backup", router.Resolve(33*s-1, "search"))
		assert.Equal(t, "search", router.Resolve(33*s, "search"))
	}
	p, err := r.Tool("search").Breaker.Allow(33 * s)
	require.NoError(t, err)
	assert.True(t, p.Probe())
}
