package check

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

func chainOf(n int) machine.ModelSettings {
	s := machine.DefaultModelSettings()
	s.Primary = "primary"
	for i := range n {
		s.Chain = append(s.Chain, machine.Backup{Name: "backup-" + string(rune('1'+i)), MaxFailCount: 2})
	}
	return s
}

// names lists the invariants that were broken.
func names(r *Result) []string {
	var all []string
	for _, v := range r.Violations {
		all = append(all, v.Invariant.Name)
	}
	return all
}

// TestTheRealMachinesHold explores them to the end.
func TestTheRealMachinesHold(t *testing.T) {
	tool := machine.DefaultToolSettings()
	for name, change := range map[string]func(*machine.ToolSettings){
		"defaults":         func(*machine.ToolSettings) {},
		"stale ignored":    func(s *machine.ToolSettings) { s.IgnoreStale = true },
		"no cooldown":      func(s *machine.ToolSettings) { s.RecoveryDuration = 0 },
		"one failure":      func(s *machine.ToolSettings) { s.FailureThreshold = 1 },
		"never trips":      func(s *machine.ToolSettings) { s.FailureThreshold = 0 },
		"a lease of 1 ns":  func(s *machine.ToolSettings) { s.ProbeTimeout = 1 },
		"cooldown < lease": func(s *machine.ToolSettings) { s.RecoveryDuration = time.Second },
	} {
		t.Run("tool/"+name, func(t *testing.T) {
			s := tool
			change(&s)
			r, err := Tool(s, false, Options{Calls: 6})
			require.NoError(t, err)
			assert.Empty(t, r.Violations)
			assert.True(t, r.Complete)
		})
	}
	for name, change := range map[string]func(*machine.ModelSettings){
		"defaults":          func(*machine.ModelSettings) {},
		"no chain":          func(s *machine.ModelSettings) { s.Chain = nil },
		"trips at once":     func(s *machine.ModelSettings) { s.TripThreshold = 0; s.RecoverySuccessesNeeded = 0 },
		"bounded probation": func(s *machine.ModelSettings) { s.ProbationFailures = 2 },
		"no cooldown":       func(s *machine.ModelSettings) { s.RecoveryTimeout = 0 },
	} {
		t.Run("model/"+name, func(t *testing.T) {
			s := chainOf(2)
			change(&s)
			r, err := Model(s, false, Options{Calls: 2})
			require.NoError(t, err)
			assert.Empty(t, r.Violations)
			assert.True(t, r.Complete)
		})
	}
}

// TestTheNaiveVariantsAreCaught holds the shortest script that breaks each, as
// the scenario file that it is written as. UPDATE=1 rewrites them.
func TestTheNaiveVariantsAreCaught(t *testing.T) {
	tool, model := machine.DefaultToolSettings(), chainOf(2)
	o := Options{Calls: 4}
	for _, v := range []struct {
		name   string
		fault  fault
		chain  int
		breaks []string
	}{
		{"tool-without-a-fault", none, -1, nil},
		{"no-lease", noLease, -1, []string{"no-wedge", "stale-success"}},
		{"several-probes", severalProbes, -1, []string{"one-probe"}},
		{"success-closes-while-open", successClosesOpen, -1, []string{"stale-success"}},
		{"lease-re-armed-from-now", leaseFromNow, -1, []string{"lease-end"}},
		{"anonymous-reports", anonymousReports, -1, []string{"stale-success", "cooldown"}},
		{"peek-that-mutates", peekMutates, -1, []string{"peek"}},
		{"closed-to-half-open", closedToHalfOpen, -1, []string{"no-shortcut"}},
		{"model-without-a-fault", none, 2, nil},
		{"entries-not-cleared", entriesNotCleared, 2, []string{"fresh-chain"}},
		{"chain-charged-for-the-primary", chainChargedForPrimary, 2, []string{"own-strikes"}},
		{"charges-the-active-entry", chargesTheActive, 2, []string{"own-strikes"}},
		{"exhausted-without-a-chain", exhaustedWithoutChain, 0, []string{"exhausted"}},
		{"forgets-that-it-tripped", forgetsThatItTripped, 2, []string{"sticky"}},
		{"served-by-a-failed-entry", servedByAFailedEntry, 2, []string{"never-failed", "exhausted"}},
		{"never-recovers", recoversNever, 2, []string{"recovers", "exhausted"}},
		{"model-peek-that-mutates", peekMutates, 2, []string{"peek"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			var r *Result
			var err error
			if v.chain < 0 {
				r, err = exploreTool(tool, o, func() toolMachine {
					return &naiveTool{f: v.fault, s: tool, r: machine.ToolSnapshot{State: machine.Closed}}
				})
			} else {
				model = chainOf(v.chain)
				r, err = exploreModel(model, Options{Calls: 2}, func() modelMachine { return newNaiveModel(v.fault, model) })
			}
			require.NoError(t, err)
			assert.Equal(t, v.breaks, names(r), "in the order of the shortest scripts")
			for i := range r.Violations {
				var got bytes.Buffer
				broken := &r.Violations[i]
				name := v.name + "-" + broken.Invariant.Name
				if v.chain < 0 {
					require.NoError(t, broken.WriteTool(&got, name, tool, false))
				} else {
					require.NoError(t, broken.WriteModel(&got, name, model, false))
				}
				golden(t, name+".yaml", got.Bytes())
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, got, 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}
