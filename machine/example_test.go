package machine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// stopped is a clock for examples, moved by hand. In production it is
//
//	start := time.Now()
//	clock := func() time.Duration { return time.Since(start) }
type stopped struct{ now time.Duration }

func (c *stopped) read() time.Duration { return c.now }

// quick are settings that open at the first failure.
func quick() machine.ToolSettings {
	s := machine.DefaultToolSettings()
	s.FailureThreshold = 1
	return s
}

// modelsOf are settings that trip at the first failed turn.
func modelsOf(backups ...machine.Backup) machine.ModelSettings {
	s := machine.DefaultModelSettings()
	s.Primary, s.Chain, s.TripThreshold = "opus", backups, 1
	return s
}

// Guard a tool: Do asks, calls, and reports.
func ExampleToolBreaker() {
	search, err := machine.NewToolBreaker(machine.DefaultToolSettings(), machine.Hooks{OnTransition: func(t machine.Transition) {
		fmt.Printf("%v: %s, %s to %s\n", t.Effective, t.Rule, t.From, t.To)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := &stopped{}
	call := func(at time.Duration, result error) {
		clock.now = at
		err := search.Do(context.Background(), clock.read, func(context.Context) error { return result })
		fmt.Printf("%v: %v\n", at, err)
	}
	call(1*time.Second, errors.New("timeout"))
	call(2*time.Second, errors.New("timeout"))
	call(3*time.Second, errors.New("timeout"))
	call(20*time.Second, nil)
	call(33*time.Second, nil)
	// Output:
	// 1s: timeout
	// 2s: timeout
	// 3s: T3, closed to open
	// 3s: timeout
	// 20s: tool temporarily unavailable: circuit breaker open
	// 33s: T5, open to half-open
	// 33s: T8, half-open to closed
	// 33s: <nil>
}

// Where Do does not fit, for instance because a call ends elsewhere, take the
// permit along and report through it.
func ExamplePermit() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{})
	permit, err := b.Allow(1 * time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(permit.Failure(2 * time.Second))
	fmt.Println(permit.Success(3 * time.Second)) // too late: it has reported
	// Output:
	// {T3 true false}
	// { false true}
}

// A verdict says what became of a report, and by which rule.
func ExampleVerdict() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{})
	early, _ := b.Allow(0)
	b.Failure(1 * time.Second)
	if v := early.Success(2 * time.Second); !v.Applied {
		fmt.Println("ignored by", v.Rule)
	}
	// Output: ignored by T10
}

// Read a dashboard: WouldAllow, Snapshot and Deadline change nothing, so they
// cannot take the probe's slot.
func ExampleToolSnapshot() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{})
	b.Failure(5 * time.Second)
	for _, now := range []time.Duration{10 * time.Second, 35 * time.Second} {
		at, _ := b.Deadline(now)
		fmt.Println(now, b.Snapshot(now).State, b.WouldAllow(now), "a probe is possible from", at)
	}
	// Output:
	// 10s open false a probe is possible from 35s
	// 35s open true a probe is possible from 35s
}

// Look at what a breaker remembers of the calls that it saw.
func ExampleToolMemory() {
	s := quick()
	s.FailureThreshold = 3
	b, _ := machine.NewToolBreaker(s, machine.Hooks{})
	b.Failure(5 * time.Second)
	b.Failure(6 * time.Second)
	m := b.Memory()
	fmt.Println(m.State, m.Failures, m.LastFailure)
	// Output: closed 2 6s
}

// A window is told call by call, the oldest first.
func ExampleToolTally() {
	s := quick()
	s.Trip = machine.Trip{Window: machine.Window{Calls: 2}, FailureRate: 1, MinCalls: 2}
	s.FailureThreshold = 0
	b, _ := machine.NewToolBreaker(s, machine.Hooks{})
	b.Success(5 * time.Second)
	b.Failure(6 * time.Second)
	fmt.Println(b.Memory().Window)
	// Output: [{1 0 0} {1 1 0}]
}

// Tell a refusal from other errors, and say when to come back.
func ExampleRefusal() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{})
	b.Failure(5 * time.Second)
	_, err := b.Allow(6 * time.Second)
	if refusal, ok := errors.AsType[*machine.Refusal](err); ok && refusal.Known {
		fmt.Println(refusal.Rule, "until", refusal.Until)
	}
	// Output: T4 until 35s
}

// Settings are checked before a breaker is made of them.
func ExampleToolSettings() {
	_, err := machine.NewToolBreaker(machine.ToolSettings{FailureThreshold: 3, RecoveryDuration: -time.Second}, machine.Hooks{})
	fmt.Println(err)
	// Output: recovery_duration is -1s; it must not be negative
}

// Route a model: Do says who serves the turn.
func ExampleModelBreaker() {
	b, err := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet", MaxFailCount: machine.DefaultMaxFailCount}), machine.Hooks{})
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := &stopped{}
	turn := func(result error) {
		err := b.Do(context.Background(), clock.read, func(_ context.Context, model string) error {
			fmt.Println(clock.now, model, "serves")
			return result
		})
		if errors.As(err, new(*machine.Exhausted)) {
			fmt.Println(clock.now, err)
		}
	}
	turn(errors.New("overloaded"))
	clock.now = time.Second
	turn(nil)
	clock.now = time.Minute
	turn(&machine.KindError{Kind: machine.RateLimit, Err: errors.New("429")}) // a probe: trips again at once
	turn(nil)
	// Output:
	// 0s opus serves
	// 1s sonnet serves
	// 1m0s opus serves
	// 1m0s sonnet serves
}

// Where Do does not fit, begin a turn and report through it.
func ExampleTurn() {
	b, _ := machine.NewModelBreaker(modelsOf(), machine.Hooks{})
	turn, err := b.Begin(1 * time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(turn.Model(), turn.Rule(), turn.Failure(2*time.Second, machine.Transient))
	// Output: opus M1 {M10 true false}
}

// With every backup spent the turn fails honestly, and says when the primary is
// probed again.
func ExampleExhausted() {
	b, _ := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet", MaxFailCount: 1}), machine.Hooks{})
	b.Failure(1*time.Second, machine.Transient) // the primary's
	b.Failure(2*time.Second, machine.Transient) // the backup's
	_, err := b.Begin(3 * time.Second)
	if spent, ok := errors.AsType[*machine.Exhausted](err); ok {
		fmt.Println(err, "- until", spent.Until)
	}
	// Output: fallback exhausted: every backup has spent its failure budget - until 1m1s
}

// Names in a chain are unique, and not the primary's.
func ExampleModelSettings() {
	fmt.Println(modelsOf(machine.Backup{Name: "opus"}).Validate())
	// Output: "opus" is in the chain twice, or the primary too
}

// A chain is tried in order; each backup has a budget of failed turns.
func ExampleBackup() {
	b, _ := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet", MaxFailCount: 1}, machine.Backup{Name: "haiku", MaxFailCount: 3}), machine.Hooks{})
	for range 2 {
		b.Failure(0, machine.Transient)
		fmt.Println(b.WouldServe(time.Second))
	}
	// Output:
	// sonnet true
	// haiku true
}

// What a dashboard reads of a model breaker.
func ExampleModelSnapshot() {
	b, _ := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet", MaxFailCount: 2}), machine.Hooks{})
	b.Failure(0, machine.Transient)
	s := b.Snapshot()
	fmt.Println(s.State, "served by", s.Serves, "tripped before:", s.FallbackActivated)
	// Output: fallback served by sonnet tripped before: true
}

// The kill switch of a backup leaves its strikes as they are.
func ExampleBackupSnapshot() {
	b, _ := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet", MaxFailCount: 2}), machine.Hooks{})
	if err := b.SetAvailable(0, "sonnet", false); err != nil {
		fmt.Println(err)
	}
	entry := b.Snapshot().Chain[0]
	fmt.Printf("%+v failed: %v\n", entry, entry.Failed())
	// Output: {Name:sonnet Available:false Attempts:0 Budget:2 WholeAt:0s} failed: true
}

// Hooks hear each change once, in order, outside the lock.
func ExampleHooks() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{OnTransition: func(t machine.Transition) {
		if t.To == machine.Open {
			fmt.Println("page somebody:", t.Failures, "failure in a row")
		}
	}})
	b.Failure(0)
	// Output: page somebody: 1 failure in a row
}

// A lease that ran out takes effect at its end, however late anyone notices.
func ExampleTransition() {
	b, _ := machine.NewToolBreaker(quick(), machine.Hooks{OnTransition: func(t machine.Transition) {
		if t.Rule == machine.T7 {
			fmt.Println("noticed at", t.At, "effective at", t.Effective)
		}
	}})
	b.Failure(0)
	_, _ = b.Allow(30 * time.Second) // the probe, which is never heard of again
	_, _ = b.Allow(80 * time.Second)
	// Output: noticed at 1m20s effective at 1m0s
}

// A switch tells that another model serves.
func ExampleSwitch() {
	b, _ := machine.NewModelBreaker(modelsOf(machine.Backup{Name: "sonnet"}), machine.Hooks{OnSwitch: func(s machine.Switch) {
		fmt.Printf("%v: %s serves instead of %s (%s)\n", s.At, s.To, s.From, s.Rule)
	}})
	b.Failure(2*time.Second, machine.Transient)
	// Output: 2s: sonnet serves instead of opus (M10)
}

// Log every change with log/slog.
func ExampleLogTo() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // the same on every run
		}
		return a
	}}))
	b, _ := machine.NewToolBreaker(quick(), machine.LogTo(log, "search"))
	b.Failure(2 * time.Second)
	// Output: level=WARN msg="circuit breaker open" breaker=search from=closed to=open rule=T3 failures=1 at=2s effective=2s
}

// A clock is made once, and is monotonic.
func ExampleClock() {
	start := time.Now()
	clock := machine.Clock(func() time.Duration { return time.Since(start) })
	b, _ := machine.NewToolBreaker(machine.DefaultToolSettings(), machine.Hooks{})
	fmt.Println(b.Do(context.Background(), clock, func(context.Context) error { return nil }))
	// Output: <nil>
}

// Mark an error, so that the breaker knows of what kind it is.
func ExampleKindError() {
	err := error(&machine.KindError{Kind: machine.RateLimit, Err: errors.New("429 Too Many Requests")})
	fmt.Println(err)
	// Output: 429 Too Many Requests
}

// A permanent error is never retried (L3).
func ExampleKind() {
	retry := machine.DefaultLadder().Start(0)
	fmt.Println(retry.Next(0, machine.Permanent, -1, 0.5).Retry)
	// Output: false
}

// A state prints its word.
func ExampleState() {
	fmt.Println(machine.HalfOpen, machine.Recovering)
	// Output: half-open recovering
}

// Whatever is decided, a rule is named for it.
func ExampleRule() {
	b, _ := machine.NewToolBreaker(machine.DefaultToolSettings(), machine.Hooks{})
	permit, _ := b.Allow(0)
	fmt.Println(permit.Rule(), permit.Success(0).Rule)
	// Output: T1 T2
}

// Retry within a call: the ladder says how long to wait, or that it is over.
func ExampleLadder() {
	ladder := machine.DefaultLadder()
	retry := ladder.Start(0)
	now := time.Duration(0)
	for {
		step := retry.Next(now, machine.Transient, -1, 0.5)
		if !step.Retry {
			fmt.Println("given up:", step.Rule)
			return
		}
		fmt.Println("wait", step.Wait)
		now += step.Wait
	}
	// Output:
	// wait 100ms
	// wait 200ms
	// wait 400ms
	// given up: L1
}

// A budget bounds what a client spends on retries, however often its calls fail.
func ExampleBudget() {
	b, _ := machine.NewBudget(machine.BudgetSettings{Tokens: 2, Start: 2, PerRetry: 1, PerSuccess: 0.5})
	fmt.Println(b.Take(false), b.Take(false), b.Take(false))
	b.Success(false, false)
	b.Success(false, false)
	fmt.Println(b.Take(false))
	// Output:
	// true true false
	// true
}

// One retry for ten successes, and ten in reserve.
func ExampleBudgetSettings() {
	fmt.Printf("%+v\n", machine.DefaultBudgetSettings())
	// Output: {Tokens:10 Start:10 PerRetry:1 PerTimeout:0 PerCall:0 PerSuccess:0.1 Refund:false}
}

// One failed attempt for ten calls still lets a retry go.
func ExampleRetryBreaker() {
	b, _ := machine.NewRetryBreaker(0.1)
	for range 10 {
		b.Call()
	}
	b.Failure()
	fmt.Println("1 of 10:", b.Allow())
	b.Failure()
	fmt.Println("2 of 10:", b.Allow())
	// Output:
	// 1 of 10: true
	// 2 of 10: false
}

// A retry belongs to one call; a rate limit waits as long as it was told (L2).
func ExampleRetry() {
	retry := machine.DefaultLadder().Start(0)
	fmt.Println(retry.Next(0, machine.RateLimit, 20*time.Second, 0.5).Wait, "before", retry.Deadline())
	// Output: 20s before 5m0s
}

// A step says why.
func ExampleStep() {
	retry := machine.DefaultLadder().Start(0)
	fmt.Printf("%+v\n", retry.Next(0, machine.Permanent, -1, 0.5))
	// Output: {Retry:false Wait:0s Rule:L3}
}

// The ladders by name.
func ExampleCurve() {
	for _, c := range machine.Curves {
		fmt.Println(c.Name)
	}
	// Output:
	// exponential
	// fixed
}

// The kinds of jitter by name.
func ExampleJitter() {
	for _, j := range machine.Jitters {
		fmt.Println(j.Name)
	}
	// Output:
	// none
	// proportional
	// full
	// equal
	// decorrelated
}

// Keep the breaker and the stats of every tool by its name.
func ExampleRegistry() {
	tools, err := machine.NewRegistry(machine.RegistrySettings{Tool: machine.DefaultToolSettings()})
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := &stopped{}
	for _, result := range []error{nil, errors.New("timeout")} {
		_ = tools.Tool("search").Do(context.Background(), clock.read, func(context.Context) error {
			clock.now += time.Second
			return result
		})
	}
	for _, line := range tools.Health(clock.now) {
		fmt.Println(line)
	}
	// Output: search: degraded, score 0.64, breaker closed, 1 of 2 calls failed, mean 1s, longest 1s
}

// One tool may have settings of its own, and each a logger.
func ExampleRegistrySettings() {
	tools, err := machine.NewRegistry(machine.RegistrySettings{
		Tool:  machine.DefaultToolSettings(),
		Tools: map[string]machine.ToolSettings{"fragile": quick()},
		Hooks: func(tool string) machine.Hooks { return machine.LogTo(slog.Default(), tool) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tools.Available(0, "fragile"))
	// Output: true
}

// The breaker of a tool can be used by itself, too.
func ExampleTool() {
	tools, _ := machine.NewRegistry(machine.RegistrySettings{Tool: quick()})
	search := tools.Tool("search")
	search.Breaker.Failure(0)
	fmt.Println(search.Health(0).Health)
	// Output: unhealthy
}

// A line of the summary has everything behind it.
func ExampleToolHealth() {
	tools, _ := machine.NewRegistry(machine.RegistrySettings{Tool: quick()})
	tools.Tool("search").Stats.Record(time.Second, true)
	h := tools.Tool("search").Health(0)
	fmt.Println(h.Tool, h.State, h.Health, h.Total(), h.Score())
	// Output: search closed healthy 1 1
}

// Stats count calls without a lock.
func ExampleStats() {
	var s machine.Stats
	s.Record(2*time.Second, true)
	s.Record(4*time.Second, false)
	fmt.Printf("%+v\n", s.Read())
	// Output: {Successes:1 Failures:1 Sum:6s Longest:4s EWMA:700000}
}

// The score is made of the success rate and of the latest calls (H3).
func ExampleStatsSnapshot() {
	s := machine.StatsSnapshot{Successes: 9, Failures: 1, EWMA: 700_000}
	fmt.Printf("%.1f %.2f\n", s.SuccessRate(), s.Score())
	// Output: 0.9 0.76
}

// A health is for people and routers: it refuses nothing (H4).
func ExampleHealth() {
	s := machine.StatsSnapshot{Successes: 9, Failures: 1, EWMA: 700_000}
	fmt.Println(s.Health(machine.Closed), s.Health(machine.Open))
	// Output: degraded unhealthy
}

// Send a call to a substitute while its tool is out.
func ExampleRouter() {
	tools, _ := machine.NewRegistry(machine.RegistrySettings{Tool: quick()})
	router := machine.Router{Available: tools.Available, Substitutes: map[string][]string{"search": {"search_backup"}}}
	fmt.Println(router.Resolve(0, "search"))
	tools.Tool("search").Breaker.Failure(1 * time.Second)
	fmt.Println(router.Resolve(2*time.Second, "search"))
	// Output:
	// search
	// search_backup
}
