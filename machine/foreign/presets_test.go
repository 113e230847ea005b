package foreign

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/eapache/go-resiliency/breaker"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
)

// knobs are what a script of a preset is played with: its own settings in one
// script of two, others in the other.
type knobs struct {
	threshold int
	probes    int
	cooldown  time.Duration
}

// rival is a library and its preset, set alike.
type rival struct {
	preset  string
	usual   knobs
	some    func(r *rand.Rand) knobs
	library func(k knobs) Breaker
	keys    func(k knobs) string // what a breaker like it says to be set so
	timer   bool                 // it is half-open when a timer rings, not with the next call
}

var rivals = []rival{
	{
		preset: "gobreaker", usual: knobs{6, 1, time.Minute},
		some: func(r *rand.Rand) knobs {
			return knobs{1 + r.IntN(4), 1 + r.IntN(3), time.Duration(1+r.IntN(20)) * time.Second}
		},
		library: func(k knobs) Breaker {
			b := &twoStep{}
			b.cb = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{MaxRequests: uint32(k.probes), Timeout: k.cooldown,
				ReadyToTrip:   func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(k.threshold) },
				OnStateChange: func(_ string, _, to gobreaker.State) { b.now.Store(int32(to)) }})
			return b
		},
		keys: func(k knobs) string {
			return fmt.Sprintf("failure_threshold: %d, recovery_duration: %dns, probes: %d, probes_in_all: %d, probe_successes: %d", k.threshold, k.cooldown, k.probes, k.probes, k.probes)
		},
	},
	{
		preset: "failsafe-go", usual: knobs{1, 1, time.Minute},
		some: func(r *rand.Rand) knobs {
			return knobs{1 + r.IntN(4), 1 + r.IntN(3), time.Duration(1+r.IntN(20)) * time.Second}
		},
		library: func(k knobs) Breaker {
			return newFailsafe(circuitbreaker.NewBuilder[struct{}]().WithFailureThreshold(uint(k.threshold)).WithSuccessThreshold(uint(k.probes)).WithDelay(k.cooldown).Build())
		},
		keys: func(k knobs) string {
			return fmt.Sprintf("failure_threshold: %d, recovery_duration: %dns, probes: %d, probe_successes: %d", k.threshold, k.cooldown, k.probes, k.probes)
		},
	},
	{
		preset: "eapache", usual: knobs{3, 1, 5 * time.Second}, timer: true,
		some: func(r *rand.Rand) knobs {
			return knobs{1 + r.IntN(4), 1 + r.IntN(3), time.Duration(1+r.IntN(20)) * time.Second}
		},
		library: func(k knobs) Breaker {
			cb := breaker.New(k.threshold, k.probes, k.cooldown)
			return eapache{newCalls(neverCancels(cb.Run)), cb}
		},
		keys: func(k knobs) string {
			return fmt.Sprintf("failure_threshold: %d, recovery_duration: %dns, forget_failures_after: %dns, probe_successes: %d", k.threshold, k.cooldown, k.cooldown, k.probes)
		},
	},
}

// settingsLike are those of a breaker that says like: and some keys beside it.
func settingsLike(t *testing.T, preset, keys string) (machine.ToolSettings, bool) {
	t.Helper()
	file := "scenario: like\ntargets: {a: {}}\ncalls: [{at: 0s, to: a}]\nbreakers: {a: {kind: tool, like: " + preset + ", " + keys + "}}\n"
	s, err := scenarios.Load("like.yaml", []byte(file), scenarios.DefaultLimits())
	require.NoError(t, err)
	b := &s.Policies[0].Breakers[0]
	return *b.Tool, b.Anonymous
}

// TestPresetsAreTheLibraries plays 1,000 random scripts on each library and on
// our own breaker with its preset: every call is admitted by both or by neither,
// and every operation leaves both in the same state. Calls come at whole
// milliseconds and cooldowns end a microsecond beside one, as a library is
// half-open strictly after the cooldown.
func TestPresetsAreTheLibraries(t *testing.T) {
	for _, l := range rivals {
		t.Run(l.preset, func(t *testing.T) {
			t.Parallel()
			var seen tally
			for script := range 1000 {
				r := rand.New(rand.NewPCG(uint64(script), 9))
				k := l.usual
				if script%2 == 1 {
					k = l.some(r)
				}
				k.cooldown += time.Microsecond
				if !l.play(t, k, r, &seen) {
					t.Fatalf("script %d, with %+v", script, k)
				}
			}
			t.Logf("%+v", seen)
			for what, n := range map[string]int{"admitted": seen.admitted, "refused": seen.refused, "openings": seen.openings, "closings": seen.closings, "late results": seen.late} {
				assert.Greater(t, n, 500, "%s: the scripts try too little", what)
			}
		})
	}
}

// tally is what came of all scripts.
type tally struct{ admitted, refused, openings, closings, late int }

func (l *rival) play(t *testing.T, k knobs, r *rand.Rand, seen *tally) (same bool) {
	settings, anonymous := settingsLike(t, l.preset, l.keys(k))
	same = true
	bubble(t, func(t *testing.T) {
		d := &driver{t, defaults, l.library(k), time.Now()}
		defer d.release()
		ours, err := machine.NewToolBreaker(settings, machine.Hooks{OnTransition: func(tr machine.Transition) {
			switch tr.To {
			case machine.Open:
				seen.openings++
			case machine.Closed:
				seen.closings++
			}
		}})
		require.NoError(t, err)
		m := match{driver: d, ours: ours, anonymous: anonymous, timer: l.timer, seen: seen}
		for range 60 {
			if same = m.step(r, k); !same {
				t.Errorf("%s: %s", l.preset, strings.Join(m.told[max(0, len(m.told)-40):], ", "))
				return
			}
		}
	})
	return same
}

// match is a script under way on both.
type match struct {
	*driver
	ours      *machine.ToolBreaker
	anonymous bool
	timer     bool
	now       time.Duration
	out       []pending
	told      []string
	seen      *tally
}

// pending is a call in flight on both.
type pending struct {
	done     func(ok bool)
	permit   *machine.Permit
	openings uint64
}

// step does one thing to both, and says whether they still agree.
func (m *match) step(r *rand.Rand, k knobs) bool {
	waits := []time.Duration{0, 0, time.Millisecond, time.Second, k.cooldown.Truncate(time.Second) / 2, k.cooldown.Truncate(time.Millisecond), k.cooldown.Truncate(time.Millisecond) + time.Millisecond}
	m.now += waits[r.IntN(len(waits))]
	m.at(m.now)
	due := m.timer && m.ours.Snapshot(m.now).State == machine.Open && m.ours.WouldAllow(m.now)
	if len(m.out) == 0 || due || r.IntN(2) == 0 { // a result before the first call after a timer rang is what the preset cannot express
		return m.asks()
	}
	i := r.IntN(len(m.out))
	c := m.out[i]
	m.out = append(m.out[:i], m.out[i+1:]...)
	ok := r.IntN(5) < 2
	m.told = append(m.told, fmt.Sprintf("%v result %v", m.now, ok))
	if c.openings != m.ours.Snapshot(m.now).Openings {
		m.seen.late++
	}
	if m.timer && ok && c.openings != m.ours.Snapshot(m.now).Openings && m.ours.Snapshot(m.now).State == machine.HalfOpen {
		ok = false // nor the late success of a call from closed
	}
	m.report(c.done, ok)
	e := machine.Ending{OK: ok}
	if m.anonymous {
		m.ours.End(m.now, e)
	} else {
		c.permit.End(m.now, e)
	}
	return m.agrees()
}

func (m *match) asks() bool {
	done := m.ask()
	p, err := m.ours.Allow(m.now)
	m.told = append(m.told, fmt.Sprintf("%v ask %v/%v", m.now, done != nil, err == nil))
	if (done != nil) != (err == nil) {
		return false
	}
	if err != nil {
		m.seen.refused++
		return m.agrees()
	}
	m.seen.admitted++
	m.out = append(m.out, pending{done, &p, m.ours.Snapshot(m.now).Openings})
	return m.agrees()
}

// agrees compares the states. Once the cooldown is over half-open is what ours
// will be with the next call; gobreaker is so with any result, eapache by itself.
func (m *match) agrees() bool {
	theirs, own := m.b.State(), m.ours.Snapshot(m.now).State.String()
	m.told = append(m.told, fmt.Sprintf("%s/%s", theirs, own))
	return theirs == own || theirs == "half-open" && own == "open" && m.ours.WouldAllow(m.now)
}
