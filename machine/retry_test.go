package machine_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/machine"
)

const ms = time.Millisecond

// climb lets a call fail again and again at once, and returns its waits and the
// rule by which it ended.
func climb(l machine.Ladder, k machine.Kind, retryAfter time.Duration, u float64) (waits []time.Duration, end machine.Rule) {
	r := l.Start(0)
	now := time.Duration(0)
	for {
		step := r.Next(now, k, retryAfter, u)
		if !step.Retry {
			return waits, step.Rule
		}
		waits = append(waits, step.Wait)
		now += step.Wait
	}
}

func TestLadders(t *testing.T) {
	with := func(change func(*machine.Ladder)) machine.Ladder {
		l := machine.DefaultLadder()
		l.Jitter = "none"
		change(&l)
		return l
	}
	tests := []struct {
		name       string
		l          machine.Ladder
		k          machine.Kind
		retryAfter time.Duration
		waits      []time.Duration
		end        machine.Rule
	}{
		{"L1: 1 + 3 tries", with(func(*machine.Ladder) {}), machine.Transient, -1, []time.Duration{100 * ms, 200 * ms, 400 * ms}, machine.L1},
		{"L1: the cap", with(func(l *machine.Ladder) { l.Attempts, l.Cap = 6, 300*ms }), machine.Transient, -1, []time.Duration{100 * ms, 200 * ms, 300 * ms, 300 * ms, 300 * ms}, machine.L1},
		{"L1: one try", with(func(l *machine.Ladder) { l.Attempts = 1 }), machine.Transient, -1, nil, machine.L1},
		{"fixed", with(func(l *machine.Ladder) { l.Curve = "fixed" }), machine.Transient, -1, []time.Duration{100 * ms, 100 * ms, 100 * ms}, machine.L1},
		{"no wait", with(func(l *machine.Ladder) { l.Base = 0 }), machine.Transient, -1, []time.Duration{0, 0, 0}, machine.L1},
		{"the deadline: no wait may end at it", with(func(l *machine.Ladder) { l.Deadline = 300 * ms }), machine.Transient, -1, []time.Duration{100 * ms}, machine.L1},
		{"the deadline, a nanosecond later", with(func(l *machine.Ladder) { l.Deadline = 300*ms + 1 }), machine.Transient, -1, []time.Duration{100 * ms, 200 * ms}, machine.L1},
		{"no deadline", with(func(l *machine.Ladder) { l.Attempts, l.Deadline, l.Base, l.Cap = 3, 0, time.Hour, 9*time.Hour }), machine.Transient, -1, []time.Duration{time.Hour, 2 * time.Hour}, machine.L1},
		{"a wait that cannot be doubled", with(func(l *machine.Ladder) { l.Attempts, l.Deadline, l.Base, l.Cap = 3, 0, 1<<62+1, math.MaxInt64 }), machine.Transient, -1, []time.Duration{1<<62 + 1}, machine.L1},
		{"L2: 5 s where nothing is named", with(func(*machine.Ladder) {}), machine.RateLimit, -1, []time.Duration{5 * s, 5 * s, 5 * s}, machine.L2},
		{"L2: as long as it was told", with(func(*machine.Ladder) {}), machine.RateLimit, 20 * s, []time.Duration{20 * s, 20 * s, 20 * s}, machine.L2},
		{"L2: at once if it was told so", with(func(*machine.Ladder) {}), machine.RateLimit, 0, []time.Duration{0, 0, 0}, machine.L2},
		{"L2: 60 s at most", with(func(*machine.Ladder) {}), machine.RateLimit, time.Hour, []time.Duration{60 * s, 60 * s, 60 * s}, machine.L2},
		{"L1: a rate limit as any failure", with(func(l *machine.Ladder) { l.IgnoreRetryAfter = true }), machine.RateLimit, 40 * time.Second, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond}, machine.L1},
		{"L2: fail wins", with(func(l *machine.Ladder) { l.IgnoreRetryAfter, l.FailOnRateLimit = true, true }), machine.RateLimit, -1, nil, machine.L2},
		{"L2: fail", with(func(l *machine.Ladder) { l.FailOnRateLimit = true }), machine.RateLimit, -1, nil, machine.L2},
		{"L3", with(func(*machine.Ladder) {}), machine.Permanent, -1, nil, machine.L3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.l.Validate())
			waits, end := climb(tt.l, tt.k, tt.retryAfter, 0.5)
			assert.Equal(t, tt.waits, waits)
			assert.Equal(t, tt.end, end)
		})
	}
}

// TestBudgetsAreApart mixes both kinds: rate limits take nothing from L1, and
// the waits of L1 go on where they were.
func TestBudgetsAreApart(t *testing.T) {
	l := machine.DefaultLadder()
	l.Jitter = "none"
	r := l.Start(0)
	var got []string
	for _, k := range []machine.Kind{machine.Transient, machine.RateLimit, machine.Transient, machine.RateLimit, machine.RateLimit, machine.Transient, machine.RateLimit} {
		step := r.Next(0, k, -1, 0)
		got = append(got, fmt.Sprint(step.Wait, " ", step.Rule, " ", step.Retry))
	}
	assert.Equal(t, []string{"100ms L1 true", "5s L2 true", "200ms L1 true", "5s L2 true", "5s L2 true", "400ms L1 true", "0s L2 false"}, got)
}

// TestJitters has each kind at the ends and in the middle of its draw.
func TestJitters(t *testing.T) {
	for jitter, want := range map[string][3][]time.Duration{ // for u = 0, 0.5 and almost 1
		"none":         {{100 * ms, 200 * ms, 400 * ms}, {100 * ms, 200 * ms, 400 * ms}, {100 * ms, 200 * ms, 400 * ms}},
		"proportional": {{90 * ms, 180 * ms, 360 * ms}, {100 * ms, 200 * ms, 400 * ms}, {110 * ms, 220 * ms, 440 * ms}},
		"full":         {{0, 0, 0}, {50 * ms, 100 * ms, 200 * ms}, {100 * ms, 200 * ms, 400 * ms}},
		"equal":        {{50 * ms, 100 * ms, 200 * ms}, {75 * ms, 150 * ms, 300 * ms}, {100 * ms, 200 * ms, 400 * ms}},
		"decorrelated": {{100 * ms, 100 * ms, 100 * ms}, {200 * ms, 350 * ms, 575 * ms}, {300 * ms, 900 * ms, 2700 * ms}},
	} {
		l := machine.DefaultLadder()
		l.Jitter = jitter
		for i, u := range []float64{0, 0.5, 1 - 0x1p-53} {
			waits, _ := climb(l, machine.Transient, -1, u)
			assert.Equal(t, want[i], waits, "%s at %v", jitter, u)
		}
	}
	for _, j := range machine.Jitters {
		l := machine.DefaultLadder()
		l.Jitter = j.Name
		assert.NoError(t, l.Validate())
	}
}

// TestWaitsStayInRange draws ladders of any size: no wait is negative or past
// what its jitter allows, whatever overflows.
func TestWaitsStayInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := machine.Ladder{Curve: some(t, "curve", "exponential", "fixed"), Jitter: some(t, "jitter", "none", "proportional", "full", "equal", "decorrelated"),
			Attempts: rapid.IntRange(1, 200).Draw(t, "attempts"), Base: some(t, "base", 0, 1, time.Second, time.Hour, math.MaxInt64/4),
			Cap: some(t, "cap", 0, time.Second, time.Hour, math.MaxInt64/2)}
		waits, end := climb(l, machine.Transient, -1, rapid.Float64Range(0, 0.999).Draw(t, "u"))
		assert.Equal(t, machine.L1, end)
		for _, w := range waits {
			assert.GreaterOrEqual(t, w, time.Duration(0))
			assert.LessOrEqual(t, w, l.Cap+l.Cap/10+1)
		}
	})
}

func TestLaddersAreChecked(t *testing.T) {
	with := func(change func(*machine.Ladder)) error {
		l := machine.DefaultLadder()
		change(&l)
		return l.Validate()
	}
	assert.EqualError(t, with(func(l *machine.Ladder) { l.Curve = "steep" }), `no ladder is named "steep"`)
	assert.EqualError(t, with(func(l *machine.Ladder) { l.Jitter = "some" }), `no jitter is named "some"`)
	assert.EqualError(t, with(func(l *machine.Ladder) { l.Attempts = 0 }), "attempts is 0; a call needs at least 1")
	assert.EqualError(t, with(func(l *machine.Ladder) { l.Cap = -1 }), "base is 100ms, cap -1ns, deadline 5m0s; none may be negative")
	r := machine.DefaultLadder().Start(10 * s)
	assert.Equal(t, 310*s, r.Deadline())
	r = machine.Ladder{}.Start(10 * s)
	assert.Equal(t, time.Duration(math.MaxInt64), r.Deadline(), "no deadline")
}

// TestDefaultLadder is L1's.
func TestDefaultLadder(t *testing.T) {
	assert.Equal(t, machine.Ladder{Curve: "exponential", Jitter: "proportional", Attempts: 4, Base: 100 * ms, Cap: 10 * s, Deadline: 5 * time.Minute}, machine.DefaultLadder())
	l := machine.DefaultLadder()
	l.Base, l.Cap = 0, 0
	assert.NoError(t, l.Validate())
	l.Cap = -1
	assert.Error(t, l.Validate())
}
