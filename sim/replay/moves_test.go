package replay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// moved counts transitions, by the rows of the table and, as they are, those
// that are in none.
type moved struct {
	rows   map[trace.Move]int
	others map[string]int
}

func newMoved() moved { return moved{map[trace.Move]int{}, map[string]int{}} }

func (m moved) count(from, to, rule string) {
	if row := trace.MoveOf(from, to, rule); row != nil {
		m.rows[*row]++
	} else {
		m.others[fmt.Sprintf("%s to %s by %q", from, to, rule)]++
	}
}

// Event makes it a sink.
func (m moved) Event(e *trace.Event) error {
	if e.Kind == trace.Transition {
		m.count(e.From, e.To, e.Rule)
	}
	return nil
}

func (m moved) hooks() machine.Hooks {
	return machine.Hooks{OnTransition: func(t machine.Transition) { m.count(t.From.String(), t.To.String(), string(t.Rule)) }}
}

// TestMovesAreWhatTheMachinesDo does at random whatever can be done to breakers
// of many settings: their transitions are the rows of the table, all of them.
func TestMovesAreWhatTheMachinesDo(t *testing.T) {
	got := newMoved()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		playTool(t, r, got.hooks())
		playSet(t, r, got.hooks())
		playModel(t, r, got.hooks())
	}
	assert.Empty(t, got.others)
	for _, row := range slices.Concat(trace.Moves, trace.SetMoves) {
		assert.Positive(t, got.rows[row], "no machine goes from %s to %s by %s", row.From, row.To, row.Rule)
	}
}

func playTool(t *testing.T, r *rand.Rand, h machine.Hooks) {
	t.Helper()
	s := machine.ToolSettings{FailureThreshold: r.IntN(4), RecoveryDuration: time.Duration(r.IntN(4)), ProbeTimeout: time.Duration(r.IntN(4)), IgnoreStale: r.IntN(2) == 0}
	b, err := machine.NewToolBreaker(s, h)
	require.NoError(t, err)
	var permits []*machine.Permit
	for now := range time.Duration(100) {
		p, err := b.Allow(now)
		if err == nil {
			permits = append(permits, &p)
		}
		switch r.IntN(8) {
		case 0:
			b.Reset(now)
		case 1:
			b.Success(now)
		case 2:
			b.Failure(now)
		case 3, 4, 5:
			if len(permits) > 0 {
				permits[r.IntN(len(permits))].Failure(now)
			}
		case 6:
			if len(permits) > 0 {
				permits[r.IntN(len(permits))].Success(now)
			}
		}
	}
}

// playSet does it to a breaker that is set to more.
func playSet(t *testing.T, r *rand.Rand, h machine.Hooks) {
	t.Helper()
	s := machine.ToolSettings{RecoveryDuration: time.Duration(r.IntN(4)), ProbeTimeout: time.Duration(r.IntN(4))}
	s.Trip = machine.Trip{Window: machine.Window{Calls: 4}, MinCalls: r.IntN(4), FailureRate: 0.5, SlowerThan: 3, SlowRate: 0.5}
	s.Probing = machine.Probing{AtOnce: 3, Needed: 3, FailureRate: 0.5}
	if r.IntN(4) == 0 {
		s.Probing = machine.Probing{Skip: true}
	}
	b, err := machine.NewToolBreaker(s, h)
	require.NoError(t, err)
	var permits []*machine.Permit
	for now := range time.Duration(100) {
		p, err := b.Allow(now)
		if err == nil {
			permits = append(permits, &p)
		}
		switch k := r.IntN(12); {
		case k == 0:
			b.Reset(now)
		case k == 1 && now > 50:
			b.ForceOpen(now)
		case k == 2 && now > 50:
			b.ForceClosed(now)
		case k == 3 && !s.Probing.Skip:
			s.Probing.Needed = 1 + r.IntN(3)
			require.NoError(t, b.Configure(now, s))
		case len(permits) > 0:
			permits[r.IntN(len(permits))].End(now, machine.Ending{OK: k > 5})
		}
	}
}

func playModel(t *testing.T, r *rand.Rand, h machine.Hooks) {
	t.Helper()
	s := machine.ModelSettings{Primary: "p", TripThreshold: r.IntN(4), RecoveryTimeout: time.Duration(r.IntN(6)), RecoverySuccessesNeeded: r.IntN(3), ProbationFailures: r.IntN(3)}
	for i := range r.IntN(3) {
		s.Chain = append(s.Chain, machine.Backup{Name: fmt.Sprint(i), MaxFailCount: r.IntN(3)})
	}
	b, err := machine.NewModelBreaker(s, h)
	require.NoError(t, err)
	var turns []*machine.Turn
	for now := range time.Duration(100) {
		turn, err := b.Begin(now)
		if err == nil {
			turns = append(turns, &turn)
		}
		switch r.IntN(8) {
		case 0:
			b.Reset(now)
		case 1:
			b.Success(now)
		case 2, 3:
			b.Failure(now, machine.Kind(r.IntN(3)))
		case 4, 5:
			if len(turns) > 0 {
				turns[r.IntN(len(turns))].Failure(now, machine.Kind(r.IntN(3)))
			}
		case 6:
			if len(turns) > 0 {
				turns[r.IntN(len(turns))].Success(now)
			}
		}
	}
}

// TestMovesOccur plays the library and the vectors: no transition is beyond the
// table, and somewhere each of its rows can be seen.
func TestMovesOccur(t *testing.T) {
	nowhere := map[trace.Move]string{
		*trace.MoveOf("recovering", "primary", "M16"): "no script resets a model breaker on probation; TestMovesAreWhatTheMachinesDo does",
	}
	got := newMoved()
	play := func(file string, src []byte) {
		s, err := scenarios.Load(file, src, scenarios.DefaultLimits())
		require.NoError(t, err)
		for i := range s.Policies {
			_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{got}})
			require.NoError(t, err)
		}
	}
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		play(name+".yaml", src)
	}
	vectors, err := filepath.Glob("testdata/vectors/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, vectors)
	for _, file := range vectors {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		play(file, src)
	}
	assert.Empty(t, got.others)
	for _, row := range trace.Moves {
		if why := nowhere[row]; why != "" {
			assert.Zero(t, got.rows[row], "it does occur, though the test says: %s", why)
			continue
		}
		assert.Positive(t, got.rows[row], "nothing shows %s to %s by %s", row.From, row.To, row.Rule)
	}
}
