package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

// TestASetToolIsJudged plays random operations on a tool breaker with random
// settings of every sort, and on its judge.
func TestASetToolIsJudged(t *testing.T) { rapid.Check(t, judgeSet) }

// FuzzASetToolIsJudged lets the fuzzer choose settings and operations.
func FuzzASetToolIsJudged(f *testing.F) { f.Fuzz(rapid.MakeFuzz(judgeSet)) }

// anySettings are valid ones, each part off as often as on.
func anySettings(t *rapid.T) machine.ToolSettings {
	s := machine.ToolSettings{FailureThreshold: some(t, "threshold", 0, 1, 2, 3), RecoveryDuration: some(t, "cooldown", 0, 5*time.Second, 30*time.Second),
		ProbeTimeout: some(t, "lease", 0, time.Second, 30*time.Second), IgnoreStale: rapid.Bool().Draw(t, "ignore stale")}
	on := func(part string) bool { return rapid.Bool().Draw(t, part) }
	if on("counts") {
		take := func(k string) machine.Take {
			return some(t, k, machine.AsItIs, machine.AsFailure, machine.AsSuccess, machine.AsNothing)
		}
		s.Counts = machine.Counts{Failure: take("failure"), Timeout: take("timeout"), RateLimit: take("rate limit"), Permanent: take("permanent"), Cancelled: take("cancelled")}
	}
	if on("slow") {
		s.Trip.SlowerThan = some(t, "slower than", time.Nanosecond, time.Second, 10*time.Second)
		s.Trip.SlowFails = on("slow fails")
	}
	if on("window") {
		s.Trip.Window = some(t, "window", machine.Window{Calls: 1}, machine.Window{Calls: 4}, machine.Window{Span: 10 * time.Second, Buckets: 2}, machine.Window{Span: time.Minute})
		s.Trip.FailureRate = some(t, "rate", 0.1, 0.25, 0.5, 1)
		s.Trip.MinCalls = some(t, "volume", 0, 1, 3)
		if s.Trip.Window.Calls == 1 {
			s.Trip.MinCalls = 0
		}
		if s.Trip.SlowerThan > 0 {
			s.Trip.SlowRate = some(t, "slow rate", 0, 0.5)
		}
		if s.Trip.Window.Calls != 1 {
			s.Trip.Failures = some(t, "failures", 0, 2)
		}
	}
	if on("counting") {
		s.Trip.KeepsCount = on("keeps")
		s.Trip.ForgetAfter = some(t, "forget", 0, 5*time.Second)
	}
	switch some(t, "probing", "seed", "skip", "streak", "rate") {
	case "skip":
		s.Probing.Skip = true
	case "streak":
		s.Probing = machine.Probing{AtOnce: some(t, "at once", 0, 2, 3), Needed: some(t, "needed", 0, 2, 3), Release: on("release")}
		s.Probing.InAll = some(t, "in all", 0, max(1, s.Probing.Needed), 4)
	case "rate":
		s.Probing = machine.Probing{AtOnce: some(t, "at once", 0, 2, 3), Needed: some(t, "needed", 2, 3, 4), FailureRate: some(t, "probe rate", 0.5, 1), Release: on("release")}
		s.Probing.SlowRate = some(t, "probe slow rate", 0, 0.5)
	}
	if on("ramp") {
		s.Probing.Ramp, s.Probing.RampFrom = some(t, "ramp", time.Second, time.Minute), some(t, "ramp from", 0, 0.25, 1)
	}
	if on("cooldown") {
		s.Cooldown = machine.Cooldown{Growth: some(t, "growth", 0, 1, 2, 1.5), Longest: some(t, "longest", 0, 45*time.Second, time.Second), Forget: some(t, "growth forgets", 0, 20*time.Second),
			Jitter: some(t, "jitter", 0, 0.25, 1), Seed: rapid.Uint64().Draw(t, "seed"), RetryAfter: on("retry after"), LateKeep: on("late")}
	}
	return s
}

func anyEnding(t *rapid.T) machine.Ending {
	e := machine.Ending{OK: rapid.Bool().Draw(t, "ok")}
	if !e.OK {
		e.Kind = some(t, "kind", machine.Transient, machine.Transient, machine.RateLimit, machine.Permanent, machine.Timeout, machine.Cancelled)
		e.RetryAfter = some(t, "named wait", 0, 0, time.Second, time.Minute)
	}
	return e
}

func judgeSet(t *rapid.T) {
	s := anySettings(t)
	var news []did
	b, err := machine.NewToolBreaker(s, heard(&news))
	require.NoError(t, err, "%+v", s)
	judge := newDumbSet(s)
	permits := []*machine.Permit{nil}
	now := time.Duration(0)
	for range rapid.IntRange(1, 60).Draw(t, "operations") {
		deadline, has := b.Deadline(now)
		now = max(0, later(t, now, min(deadline, 1000*time.Hour), has))
		before := b.Snapshot(now)
		would := b.WouldAllow(now)
		assert.Equal(t, before, b.Snapshot(now), "WouldAllow changes nothing")
		switch some(t, "operation", "allow", "allow", "allow", "allow", "end", "end", "end", "end", "anonymous", "reset", "settle", "force", "configure") {
		case "allow":
			permits = append(permits, nil)
			p, err := b.Allow(now)
			admitted, rule := judge.allow(now, len(permits)-1)
			assert.Equal(t, admitted, err == nil, rule)
			assert.Equal(t, would, admitted, "WouldAllow says what Allow does")
			if err == nil {
				assert.Equal(t, rule, string(p.Rule()))
				assert.Equal(t, rule == "T5" || rule == "T23", p.Probe())
				permits[len(permits)-1] = &p
				break
			}
			var r *machine.Refusal
			require.ErrorAs(t, err, &r)
			until, known := judge.refusal(rule)
			assert.Equal(t, machine.Refusal{Rule: machine.Rule(rule), Until: until, Known: known}, *r)
		case "end":
			call := rapid.IntRange(0, len(permits)-1).Draw(t, "call")
			if e := anyEnding(t); permits[call] != nil {
				assert.Equal(t, judge.report(now, call, e), permits[call].End(now, e))
			}
		case "anonymous":
			e := anyEnding(t)
			assert.Equal(t, judge.report(now, 0, e), b.End(now, e))
		case "reset":
			judge.reset(now)
			b.Reset(now)
		case "settle":
			judge.settle(now)
			b.Settle(now)
		case "force":
			if rapid.Bool().Draw(t, "open") {
				judge.force(now, "open", "T31")
				b.ForceOpen(now)
			} else {
				judge.force(now, "closed", "T32")
				b.ForceClosed(now)
			}
		case "configure":
			other := anySettings(t)
			judge.configure(now, other)
			require.NoError(t, b.Configure(now, other))
		}
		assert.Equal(t, judge.news, news)
		compareSet(t, judge, b, now)
	}
}

func compareSet(t *rapid.T, judge *dumbSet, b *machine.ToolBreaker, now time.Duration) {
	d := judge.copy()
	d.settle(now)
	d.clock = max(d.clock, now)
	want := machine.ToolSnapshot{ConsecutiveFailures: d.failures, Openings: uint64(len(d.openings)), Probes: uint64(d.probes), Forced: d.forced != "", ProbesInFlight: len(d.out)}
	for _, r := range d.tested {
		if r.bad {
			want.ProbeFailures++
		} else {
			want.ProbeSuccesses++
		}
	}
	until, has := time.Duration(0), false
	switch d.state {
	case "open":
		want.State, want.LastFailure = machine.Open, d.lastBad
		until, has = d.until(), true
	case "half-open":
		want.State = machine.HalfOpen
		if len(d.out) > 0 {
			want.ProbeStarted = d.out[0].since
			if d.s.ProbeTimeout > 0 {
				until, has = d.out[0].since+d.s.ProbeTimeout, true
			}
		}
	default:
		want.State = machine.Closed
		want.WindowCalls, want.WindowFailures, want.WindowSlow = d.window()
		if d.s.Trip.Window == (machine.Window{}) {
			want.WindowCalls, want.WindowFailures, want.WindowSlow = 0, 0, 0
		}
	}
	if d.forced != "" {
		until, has = 0, false
	}
	assert.Equal(t, want, b.Snapshot(now))
	deadline, is := b.Deadline(now)
	assert.Equal(t, []any{until, has}, []any{deadline, is})
}
