package machine_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

// TestMain plays more random operations than is usual: the judges are quick.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", "1500"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// heard turns what the hooks say into what the judges say.
func heard(news *[]did) machine.Hooks {
	return machine.Hooks{
		OnTransition: func(t machine.Transition) {
			*news = append(*news, did{"transition", t.From.String(), t.To.String(), t.Effective, string(t.Rule), t.Failures})
			if t.Effective > t.At {
				*news = append(*news, did{what: "took effect in the future"})
			}
		},
		OnSwitch: func(s machine.Switch) {
			*news = append(*news, did{what: "switch", from: s.From, to: s.To, effective: s.Effective, rule: string(s.Rule)})
		},
	}
}

func some[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// later draws the next instant: mostly around the deadline, sometimes backwards.
func later(t *rapid.T, now time.Duration, deadline time.Duration, has bool) time.Duration {
	if has && rapid.Bool().Draw(t, "by the deadline") {
		return deadline + some(t, "edge", -1*time.Nanosecond, 0, time.Nanosecond)
	}
	return now + some(t, "step", 0, 0, time.Nanosecond, time.Second, 5*time.Second, 29*time.Second, time.Minute, -3*time.Second)
}

// TestToolIsJudged plays random operations on the tool breaker and on its
// judge: every answer, every transition and every reading must agree.
func TestToolIsJudged(t *testing.T) { rapid.Check(t, judgeTool) }

// FuzzToolIsJudged lets the fuzzer choose the operations.
func FuzzToolIsJudged(f *testing.F) { f.Fuzz(rapid.MakeFuzz(judgeTool)) }

func judgeTool(t *rapid.T) {
	s := machine.ToolSettings{FailureThreshold: rapid.IntRange(0, 3).Draw(t, "threshold"), RecoveryDuration: some(t, "cooldown", 0, 5*time.Second, 30*time.Second),
		ProbeTimeout: some(t, "lease", 0, time.Second, 30*time.Second), IgnoreStale: rapid.Bool().Draw(t, "ignore stale")}
	var news []did
	b, err := machine.NewToolBreaker(s, heard(&news))
	require.NoError(t, err)
	judge := newDumbTool(s)
	permits := map[int]*machine.Permit{}
	calls := 0
	now := time.Duration(0)
	for range rapid.IntRange(1, 60).Draw(t, "operations") {
		deadline, has := b.Deadline(now)
		now = max(0, later(t, now, deadline, has))
		before := b.Snapshot(now)
		would := b.WouldAllow(now)
		assert.Equal(t, before, b.Snapshot(now), "WouldAllow changes nothing")
		switch op := some(t, "operation", "allow", "allow", "allow", "success", "failure", "failure", "cancel", "anonymous success", "anonymous failure", "reset", "settle"); op {
		case "allow":
			calls++
			p, err := b.Allow(now)
			admitted, rule := judge.allow(now, calls)
			assert.Equal(t, admitted, err == nil)
			assert.Equal(t, would, admitted, "WouldAllow says what Allow does")
			if err != nil {
				var r *machine.Refusal
				require.ErrorAs(t, err, &r)
				until, known := judge.until()
				assert.Equal(t, machine.Refusal{Rule: machine.Rule(rule), Until: until, Known: known}, *r)
				assert.Equal(t, machine.Verdict{Repeated: true}, p.Success(now), "a refused call has nothing to report")
				break
			}
			assert.Equal(t, rule, string(p.Rule()))
			assert.Equal(t, rule == "T5", p.Probe())
			permits[calls] = &p
		case "success", "failure", "cancel":
			if calls == 0 {
				break
			}
			call := rapid.IntRange(1, calls).Draw(t, "call")
			p := permits[call]
			if p == nil {
				break
			}
			switch op {
			case "cancel":
				want := machine.Verdict{Rule: machine.T16}
				if judge.ended[call] {
					want = machine.Verdict{Repeated: true}
				} else {
					judge.settle(now)
				}
				judge.ended[call] = true
				assert.Equal(t, want, p.Cancel(now))
			case "success":
				assert.Equal(t, judge.report(now, call, true), p.Success(now))
			default:
				assert.Equal(t, judge.report(now, call, false), p.Failure(now))
			}
		case "anonymous success":
			assert.Equal(t, judge.report(now, 0, true), b.Success(now))
		case "anonymous failure":
			assert.Equal(t, judge.report(now, 0, false), b.Failure(now))
		case "reset":
			judge.reset(now)
			b.Reset(now)
		case "settle":
			judge.settle(now)
			b.Settle(now)
		}
		assert.Equal(t, judge.news, news)
		compareTool(t, judge, b, now)
	}
}

func compareTool(t *rapid.T, judge *dumbTool, b *machine.ToolBreaker, now time.Duration) {
	later := judge.copy() // a reading applies T7 to a copy
	later.tick(now)
	got := b.Snapshot(now)
	assert.Equal(t, later.state, got.State.String())
	assert.Equal(t, later.failures, got.ConsecutiveFailures)
	assert.Equal(t, []uint64{uint64(len(later.openedAt)), later.probes}, []uint64{got.Openings, got.Probes})
	deadline, has := b.Deadline(now)
	if later.state != "open" {
		assert.Zero(t, got.LastFailure)
	}
	if later.state != "half-open" {
		assert.Zero(t, got.ProbeStarted)
	}
	switch {
	case later.state == "open":
		assert.Equal(t, later.lastFailure, got.LastFailure)
		assert.Equal(t, []any{later.lastFailure + later.cooldown, true}, []any{deadline, has})
	case later.state == "half-open" && later.lease > 0:
		assert.Equal(t, later.probeStart, got.ProbeStarted)
		assert.Equal(t, []any{later.probeStart + later.lease, true}, []any{deadline, has})
	default:
		assert.False(t, has)
		assert.Zero(t, deadline)
	}
}
