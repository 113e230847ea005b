package check

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
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
		"counts": func(s *machine.ModelSettings) {
			s.Counts = machine.Counts{Timeout: machine.AsNothing, Permanent: machine.AsSuccess, Cancelled: machine.AsFailure}
		},
		"growth": func(s *machine.ModelSettings) {
			s.Cooldown = machine.Cooldown{Growth: 2, Longest: 3 * time.Minute, Forget: 10 * time.Second}
		},
		"jitter": func(s *machine.ModelSettings) {
			s.TripThreshold = 1
			s.Cooldown = machine.Cooldown{Jitter: 0.5, Seed: 7}
		},
		"hints": func(s *machine.ModelSettings) {
			s.TripThreshold = 2
			s.Cooldown = machine.Cooldown{RetryAfter: true, Longest: 90 * time.Second}
		},
		"probes":  func(s *machine.ModelSettings) { s.TripThreshold = 1; s.Probes, s.ProbeTimeout = 1, 10*time.Second },
		"waiting": func(s *machine.ModelSettings) { s.Wait = 10 * time.Second },
		"last resort": func(s *machine.ModelSettings) {
			s.LastResort, s.Probes, s.ProbeTimeout = "last", 1, 10*time.Second
			s.TripThreshold = 1
		},
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

// TestBackupsThatCoolDownHold goes no further than nine moves: backups can be
// struck at ever new instants, so there is no end to what follows.
func TestBackupsThatCoolDownHold(t *testing.T) {
	s := chainOf(2)
	s.TripThreshold, s.EntryCooldown, s.Wait, s.Chain[0].MaxFailCount = 1, 20*time.Second, 5*time.Second, 1
	r, err := Model(s, false, Options{Calls: 2, Depth: 9})
	require.NoError(t, err)
	assert.Empty(t, r.Violations)
	assert.Equal(t, 9, r.Depth)
}

// TestOtherSettingsAreCaught explores a machine that is set otherwise than the
// explorer is told: what is set beyond M1 to M17 has an invariant that notices.
func TestOtherSettingsAreCaught(t *testing.T) {
	plain := chainOf(1)
	plain.TripThreshold, plain.RecoverySuccessesNeeded, plain.Chain[0].MaxFailCount = 1, 1, 1
	type change func(*machine.ModelSettings)
	pairs := map[string]struct{ told, is change }{
		"waits":       {func(s *machine.ModelSettings) { s.Wait = 10 * time.Second }, func(s *machine.ModelSettings) { s.Wait = 10*time.Second - 1 }},
		"places":      {func(s *machine.ModelSettings) { s.Probes, s.ProbeTimeout = 2, 10*time.Second }, func(s *machine.ModelSettings) { s.Probes, s.ProbeTimeout = 1, 10*time.Second }},
		"last-resort": {func(s *machine.ModelSettings) { s.LastResort = "last" }, func(s *machine.ModelSettings) { s.LastResort = "another" }},
		"whole":       {func(s *machine.ModelSettings) { s.EntryCooldown = 10 * time.Second }, func(s *machine.ModelSettings) { s.EntryCooldown = 10*time.Second - 1 }},
		"cooldown":    {func(s *machine.ModelSettings) { s.Cooldown = machine.Cooldown{Growth: 2, Longest: 3 * time.Minute} }, func(s *machine.ModelSettings) { s.Cooldown = machine.Cooldown{Growth: 2, Longest: 4 * time.Minute} }},
		"recovers":    {func(s *machine.ModelSettings) { s.Probes = 1 }, func(s *machine.ModelSettings) { s.Probes = 1 }}, // no lease: a lost probe keeps its place
	}
	for invariant, set := range pairs {
		t.Run(invariant, func(t *testing.T) {
			told, is := plain, plain
			set.told(&told)
			set.is(&is)
			r, err := exploreModel(told, Options{Calls: 2, Depth: 9}, func() modelMachine {
				m, err := newRealModel(is, false, 2)
				require.NoError(t, err)
				return m
			})
			require.NoError(t, err)
			assert.Contains(t, names(r), invariant)
			var file bytes.Buffer
			require.NoError(t, r.Violations[0].WriteModel(&file, "x", told, false))
			assert.Contains(t, file.String(), FurtherModel(told))
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
		{"anonymous-reports", anonymousReports, -1, []string{"stale-success"}},
		{"peek-that-mutates", peekMutates, -1, []string{"peek"}},
		{"late-failures-ignored", lateFailuresIgnored, -1, []string{"cooldown"}},
		{"peek-that-lies", peekLies, -1, []string{"peek"}},
		{"closed-to-half-open", closedToHalfOpen, -1, []string{"no-shortcut"}},
		{"model-without-a-fault", none, 2, nil},
		{"entries-not-cleared", entriesNotCleared, 2, []string{"fresh-chain"}},
		{"chain-charged-for-the-primary", chainChargedForPrimary, 2, []string{"own-strikes"}},
		{"charges-the-active-entry", chargesTheActive, 2, []string{"own-strikes"}},
		{"exhausted-without-a-chain", exhaustedWithoutChain, 0, []string{"exhausted"}},
		{"forgets-that-it-tripped", forgetsThatItTripped, 2, []string{"sticky"}},
		{"served-by-a-failed-entry", servedByAFailedEntry, 2, []string{"never-failed", "exhausted"}},
		{"never-recovers", recoversNever, 2, []string{"recovers", "exhausted"}},
		{"says-that-it-tripped", saysThatItTripped, 2, []string{"sticky"}},
		{"model-peek-that-lies", peekLies, 2, []string{"peek"}},
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

// TestAnonymousReportsAreCaughtOnTheRealMachines: that form is the seed's letter,
// and what it costs.
func TestAnonymousReportsAreCaughtOnTheRealMachines(t *testing.T) {
	tool, err := Tool(machine.DefaultToolSettings(), true, Options{Calls: 4})
	require.NoError(t, err)
	assert.Equal(t, []string{"stale-success"}, names(tool))
	var got bytes.Buffer
	require.NoError(t, tool.Violations[0].WriteTool(&got, "anonymous", machine.ToolSettings{IgnoreStale: true}, true))
	assert.Contains(t, got.String(), "stale_results: ignore, reports: anonymous}")

	model, err := Model(chainOf(2), true, Options{Calls: 2})
	require.NoError(t, err)
	assert.Equal(t, []string{"own-strikes"}, names(model))
}

// TestWithoutALeaseTheRealMachineWedges, which is why there is one.
func TestWithoutALeaseTheRealMachineWedges(t *testing.T) {
	s := machine.DefaultToolSettings()
	s.ProbeTimeout = 0
	r, err := Tool(s, false, Options{Calls: 4})
	require.NoError(t, err)
	assert.Equal(t, []string{"no-wedge"}, names(r))
	assert.Equal(t, Step{At: 35 * time.Second, Do: Ask, Call: 4}, r.Violations[0].Script[r.Violations[0].Traffic-1], "the probe that is lost")
}

// TestTheScriptIsTheSameHoweverTheWorkIsSpread keeps the order of the work from
// showing.
func TestTheScriptIsTheSameHoweverTheWorkIsSpread(t *testing.T) {
	explored := func(workers int) *Result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		r, err := Tool(machine.DefaultToolSettings(), true, Options{Calls: 5})
		require.NoError(t, err)
		return r
	}
	assert.Equal(t, explored(1), explored(7))
}

func TestDepthAndProgress(t *testing.T) {
	var told []Progress
	o := Options{Calls: 2, Depth: 3, Progress: func(p Progress) { told = append(told, p) }}
	r, err := Tool(machine.DefaultToolSettings(), false, o)
	require.NoError(t, err)
	assert.False(t, r.Complete)
	assert.Equal(t, 3, r.Depth)
	assert.Len(t, told, 4, "each depth, and the start")
	assert.Equal(t, r.Progress, told[3])
}

func TestWhatCannotBeExplored(t *testing.T) {
	refused := func(err error, want string) {
		t.Helper()
		assert.EqualError(t, err, want)
	}
	_, err := Tool(machine.ToolSettings{ProbeTimeout: -1}, false, Options{Calls: 1})
	refused(err, "probe_timeout is -1ns; it must not be negative")
	_, err = Model(machine.ModelSettings{}, false, Options{Calls: 1})
	refused(err, "the primary has no name")
	_, err = Model(chainOf(9), false, Options{Calls: 1})
	refused(err, "a chain of 9 backups cannot be explored; 8 at most can")
	_, err = Tool(machine.DefaultToolSettings(), false, Options{})
	refused(err, "0 calls in flight cannot be explored; write 1 to 16")
	_, err = Tool(machine.DefaultToolSettings(), false, Options{Calls: 1, Depth: -1})
	refused(err, "the depth is -1; it must not be negative")
	_, err = Tool(machine.DefaultToolSettings(), false, Options{Calls: 4, Work: 1000})
	refused(err, "32 states by 152 moves, 8 in a row, and no end; explore fewer calls in flight, lower thresholds or a smaller depth")
}

// TestNamesAreQuoted keeps YAML from reading a word of its own in a name.
func TestNamesAreQuoted(t *testing.T) {
	s := machine.ModelSettings{Primary: "model", Chain: []machine.Backup{{Name: "a:b", MaxFailCount: 1}}}
	v := Violation{Invariant: ModelInvariants[0], Why: "élan", Script: []Step{{At: time.Second, Do: SwitchOn, Name: "a:b"}, {At: time.Second, Do: Reset}, {At: time.Second, Do: Peek}}, Traffic: 3}
	var got bytes.Buffer
	require.NoError(t, v.WriteModel(&got, "x", s, true))
	assert.Equal(t, `scenario: x
title: "Broken: a backup is never charged for another's failure"
about: >
  The shortest script that breaks it: élan.
breakers:
  model-breaker: {kind: model, primary: "model", chain: [{name: "a:b", max_fail_count: 1}], trip_threshold: 0, recovery_timeout: 0s, recovery_successes_needed: 0, probation_failures: 0, reports: anonymous}
targets:
  "model": {outcome: success}
  "a:b": {outcome: success}
calls:
  - {at: 1s, set_available: {breaker: model-breaker, name: "a:b", available: true}}
  - {at: 1s, reset: model-breaker}
  - {at: 1s, peek: model-breaker}
`, got.String())
}

// TestStepsOfOneInstant are those that a scenario plays in the same order.
func TestStepsOfOneInstant(t *testing.T) {
	tests := []struct {
		name  string
		steps []Step
		fits  bool // the last one
	}{
		{"asking twice", []Step{{Do: Ask, Call: 1}, {Do: Ask, Call: 2}}, true},
		{"a call of no time", []Step{{Do: Ask, Call: 1}, {Do: Failure, Call: 1}}, true},
		{"another after it", []Step{{Do: Ask, Call: 1}, {Do: Failure, Call: 1}, {Do: Ask, Call: 2}}, true},
		{"an earlier call's end after asking", []Step{{Do: Ask, Call: 1}, {Do: Ask, Call: 2}, {Do: Failure, Call: 1}}, false},
		{"a vanished call is no event", []Step{{Do: Ask, Call: 1}, {Do: Peek}, {Do: Vanish, Call: 1}}, true},
		{"an operation after asking", []Step{{Do: Ask, Call: 1}, {Do: Reset}}, false},
		{"an operation after a result", []Step{{Do: Success, Call: 1}, {Do: SwitchOff}}, true},
		{"reading is last", []Step{{Do: Peek}, {Do: Ask, Call: 1}}, false},
		{"a later instant", []Step{{Do: Peek}, {Do: Ask, Call: 1, At: 1}}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var o ordering
			fits := false
			for _, s := range test.steps {
				fits = o.fits(s)
			}
			assert.Equal(t, test.fits, fits)
		})
	}
}

// TestAScriptThatBearsNoDelayIsToldAsItIs: with a cooldown of 1 ns a nanosecond
// changes everything.
func TestAScriptThatBearsNoDelayIsToldAsItIs(t *testing.T) {
	s := machine.ToolSettings{FailureThreshold: 1, RecoveryDuration: 1, ProbeTimeout: 1}
	r, err := Tool(s, true, Options{Calls: 4})
	require.NoError(t, err)
	first := &r.Violations[0]
	assert.True(t, first.Unsayable)
	assert.Equal(t, []Step{{Do: Ask, Call: 1}, {Do: Ask, Call: 2}, {Do: Failure, Call: 1}, {At: 1, Do: Ask, Call: 3}, {At: 1, Do: Success, Call: 2}}, first.Script)
	var got bytes.Buffer
	require.NoError(t, first.WriteTool(&got, "x", s, true))
	assert.Contains(t, got.String(), "Mind that within an instant its order is another")
}

// TestLargeCountsAreNotMixedUp: a state is told from another by all of a count.
func TestLargeCountsAreNotMixedUp(t *testing.T) {
	s := machine.DefaultToolSettings()
	s.FailureThreshold = 300
	r, err := Tool(s, false, Options{Calls: 1})
	require.NoError(t, err)
	assert.Empty(t, r.Violations)
	assert.True(t, r.Complete)
	assert.Greater(t, r.Depth, 2*300, "it takes so many moves to trip it")
}
