package machine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

// TestModelIsJudged does the same for the model breaker.
func TestModelIsJudged(t *testing.T) { rapid.Check(t, judgeModel) }

// FuzzModelIsJudged lets the fuzzer choose the operations.
func FuzzModelIsJudged(f *testing.F) { f.Fuzz(rapid.MakeFuzz(judgeModel)) }

func judgeModel(t *rapid.T) {
	s := machine.ModelSettings{Primary: "p", TripThreshold: rapid.IntRange(0, 3).Draw(t, "trip"), RecoveryTimeout: some(t, "cooldown", 0, 5*time.Second, time.Minute),
		RecoverySuccessesNeeded: rapid.IntRange(0, 3).Draw(t, "needed"), ProbationFailures: rapid.IntRange(0, 2).Draw(t, "probation")}
	if rapid.Bool().Draw(t, "beyond M17") {
		beyond(t, &s)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "chain") {
		s.Chain = append(s.Chain, machine.Backup{Name: fmt.Sprint("b", i), MaxFailCount: rapid.IntRange(-1, 3).Draw(t, "budget")})
	}
	if len(s.Chain) == 0 {
		s.LastResort = ""
	}
	var news []did
	b, err := machine.NewModelBreaker(s, heard(&news))
	require.NoError(t, err)
	judge := newDumbModel(s)
	turns := map[int]*machine.Turn{}
	calls, now := 0, time.Duration(0)
	for range rapid.IntRange(1, 60).Draw(t, "operations") {
		deadline, has := b.Deadline()
		now = max(0, later(t, now, deadline, has))
		before := b.Snapshot()
		wouldServe, would := b.WouldServe(now)
		assert.Equal(t, before, b.Snapshot(), "WouldServe changes nothing")
		switch op := some(t, "operation", "begin", "begin", "begin", "success", "end", "end", "end", "cancel", "anonymous success", "anonymous end", "settle", "reset", "switch"); op {
		case "begin":
			calls++
			waited := time.Duration(0)
			if rapid.Bool().Draw(t, "again") {
				waited = some(t, "waited", 0, time.Second, 10*time.Second)
			}
			turn, err := b.Resume(now, waited)
			model, rule := judge.begin(now, waited, calls)
			if waited == 0 {
				assert.Equal(t, []any{wouldServe, would}, []any{turn.Model(), err == nil}, "WouldServe says what Begin does")
			}
			if rule == "M3" || rule == "M22" {
				var x *machine.Exhausted
				require.ErrorAs(t, err, &x)
				assert.Equal(t, machine.Exhausted{Until: judge.next(), Wait: rule == "M22"}, *x)
				assert.Equal(t, machine.Rule(rule), x.Rule())
				assert.Equal(t, machine.Verdict{Repeated: true}, turn.Failure(now, machine.Transient))
				break
			}
			require.NoError(t, err)
			assert.Equal(t, []any{model, rule, rule == "M2" || rule == "M6"}, []any{turn.Model(), string(turn.Rule()), turn.Probe()})
			turns[calls] = &turn
		case "end", "success", "cancel":
			if calls == 0 {
				break
			}
			call := rapid.IntRange(1, calls).Draw(t, "call")
			turn := turns[call]
			if turn == nil {
				break
			}
			switch op {
			case "cancel":
				assert.Equal(t, judge.report(now, call, machine.Ending{Kind: machine.Cancelled}), turn.Cancel(now))
			case "success":
				assert.Equal(t, judge.report(now, call, machine.Ending{OK: true}), turn.Success(now))
			default:
				e := badEnding(t)
				assert.Equal(t, judge.report(now, call, e), turn.End(now, e))
			}
		case "anonymous success":
			assert.Equal(t, judge.report(now, 0, machine.Ending{OK: true}), b.Success(now))
		case "anonymous end":
			e := badEnding(t)
			assert.Equal(t, judge.report(now, 0, e), b.End(now, e))
		case "settle":
			judge.tick(now)
			b.Settle(now)
		case "reset":
			judge.reset(now)
			b.Reset(now)
		case "switch":
			if len(s.Chain) == 0 {
				judge.tick(now) // an instant seen, if for nothing
				assert.Error(t, b.SetAvailable(now, "b0", true))
				break
			}
			name := s.Chain[rapid.IntRange(0, len(s.Chain)-1).Draw(t, "entry")].Name
			available := rapid.Bool().Draw(t, "available")
			judge.setAvailable(now, name, available)
			assert.NoError(t, b.SetAvailable(now, name, available))
		}
		assert.Equal(t, judge.news, news)
		compareModel(t, judge, b)
	}
}

// beyond draws settings that M1 to M17 know nothing of.
func beyond(t *rapid.T, s *machine.ModelSettings) {
	take := func(of string) machine.Take {
		return some(t, of+" counts as", machine.AsItIs, machine.AsItIs, machine.AsFailure, machine.AsSuccess, machine.AsNothing)
	}
	s.Counts = machine.Counts{Failure: take("failure"), Timeout: take("timeout"), RateLimit: take("rate limit"), Permanent: take("permanent"), Cancelled: take("cancelled")}
	s.Cooldown = machine.Cooldown{Growth: some(t, "growth", 0, 1, 1.5, 2), Longest: some(t, "longest", 0, time.Second, 3*time.Minute), Forget: some(t, "forget", 0, 5*time.Second, time.Minute),
		Jitter: some(t, "jitter", 0, 0, 0.25, 1), Seed: rapid.Uint64().Draw(t, "seed"), RetryAfter: rapid.Bool().Draw(t, "heeds")}
	s.Probes, s.ProbeTimeout = rapid.IntRange(0, 2).Draw(t, "probes"), some(t, "lease", 0, 5*time.Second)
	s.Wait, s.LastResort = some(t, "wait", 0, 0, 5*time.Second, time.Minute), some(t, "last resort", "", "last")
	s.EntryCooldown = some(t, "entry cooldown", 0, 5*time.Second, 30*time.Second)
}

// badEnding draws how a turn ended that was no success.
func badEnding(t *rapid.T) machine.Ending {
	return machine.Ending{Kind: some(t, "kind", machine.Transient, machine.RateLimit, machine.Permanent, machine.Timeout, machine.Cancelled),
		RetryAfter: some(t, "retry after", 0, 0, time.Second, time.Minute)}
}

func compareModel(t *rapid.T, judge *dumbModel, b *machine.ModelBreaker) {
	got := b.Snapshot()
	assert.Equal(t, judge.state, got.State.String())
	assert.Equal(t, judge.serves(), got.Serves)
	assert.Equal(t, []any{judge.failures, judge.successes, judge.probation, judge.activated}, []any{got.ConsecutiveFailures, got.PrimarySuccesses, got.ProbationFailures, got.FallbackActivated})
	assert.Len(t, got.Chain, len(judge.names))
	for i, e := range got.Chain {
		n := judge.names[i]
		want := machine.BackupSnapshot{Name: n, Available: !judge.off[n], Attempts: judge.strikes[n], Budget: judge.budget[n]}
		if judge.set.EntryCooldown > 0 && judge.spent(n) {
			want.WholeAt = judge.lastStrike[n] + judge.set.EntryCooldown
		}
		assert.Equal(t, want, e)
		assert.Equal(t, judge.off[n] || judge.strikes[n] >= judge.budget[n], e.Failed())
	}
	var places []time.Duration
	for _, call := range judge.order {
		places = append(places, judge.out[call])
	}
	assert.Equal(t, places, got.Probes)
	deadline, has := b.Deadline()
	assert.Equal(t, judge.state == "fallback", has)
	if has {
		assert.Equal(t, judge.until(), deadline)
		assert.Equal(t, deadline, got.Until)
	} else {
		assert.Zero(t, deadline)
	}
}
