package machine

import (
	"fmt"
	"time"
)

// Backup is one entry of a fallback chain.
type Backup struct {
	Name         string
	MaxFailCount int // failed turns until it is failed itself (M11); below 1 is taken as 1
}

// ModelSettings configure a [ModelBreaker]. What follows ProbationFailures is off
// in its zero value: the breaker is then one of M1 to M17 to the letter.
type ModelSettings struct {
	Primary                 string
	Chain                   []Backup      // tried in order; empty: the primary keeps serving (M5)
	TripThreshold           int           // failed turns in a row that trip it (M10); 0 and 1: the first does
	RecoveryTimeout         time.Duration // the cooldown before the primary is probed again (M2)
	RecoverySuccessesNeeded int           // probes in a row that must succeed (M9); 0 and 1: the first does
	ProbationFailures       int           // transient failures of one probation that trip it again (M13); 0: no limit

	Counts   Counts   // what each kind of result counts as (M20)
	Cooldown Cooldown // how the cooldown varies (M25 to M27); LateKeep means nothing here

	Probes       int           // in Recovering, probes in flight at one time; further turns go to a backup (M21). 0: every turn is a probe (M6)
	ProbeTimeout time.Duration // how long a probe keeps its place among them; 0: until it ends, and a lost one keeps it

	Wait          time.Duration // a turn that nobody is left to serve waits at most so long until somebody is (M22); 0: not at all
	LastResort    string        // serves while every backup is failed, and is never charged (M23); empty: nobody does
	EntryCooldown time.Duration // so long after its last strike a failed backup is whole again (M24); 0: only a recovery makes it so
}

// DefaultMaxFailCount is the budget of a backup that states none.
const DefaultMaxFailCount = 2

// DefaultModelSettings are 3 failed turns, a cooldown of 60 s and 2 probes, for
// the caller to name the models.
func DefaultModelSettings() ModelSettings {
	return ModelSettings{TripThreshold: 3, RecoveryTimeout: 60 * time.Second, RecoverySuccessesNeeded: 2}
}

// Validate says what is wrong with the settings, if anything is. Names must be
// given, and be unique within the chain and apart from the primary's (M15).
func (s ModelSettings) Validate() error {
	if s.Primary == "" {
		return fmt.Errorf("the primary has no name")
	}
	seen := map[string]bool{s.Primary: true}
	for _, e := range s.Chain {
		if e.Name == "" {
			return fmt.Errorf("a backup has no name")
		}
		if seen[e.Name] {
			return fmt.Errorf("%q is in the chain twice, or the primary too", e.Name)
		}
		seen[e.Name] = true
	}
	return firstError(
		s.lastResort(seen),
		notNegative("trip_threshold", s.TripThreshold),
		notBefore("recovery_timeout", s.RecoveryTimeout),
		notNegative("recovery_successes_needed", s.RecoverySuccessesNeeded),
		notNegative("probation_failures", s.ProbationFailures),
		s.Counts.validate(),
		s.Cooldown.validate(),
		notNegative("probes", s.Probes),
		notBefore("probe_timeout", s.ProbeTimeout),
		notBefore("exhausted_wait", s.Wait),
		notBefore("entry_cooldown", s.EntryCooldown),
	)
}

// lastResort says what is wrong with the last resort; taken are the names of the
// others.
func (s *ModelSettings) lastResort(taken map[string]bool) error {
	switch {
	case s.LastResort == "":
		return nil
	case len(s.Chain) == 0:
		return fmt.Errorf("last_resort is %q, and there is no chain before it; without one the primary keeps serving (M5)", s.LastResort)
	case taken[s.LastResort]:
		return fmt.Errorf("%q is the last resort, and in the chain or the primary too", s.LastResort)
	}
	return nil
}

// cooldown is that of the trip-th trip, the streak-th in a row (M25, M26).
func (s *ModelSettings) cooldown(streak int, trip uint64) time.Duration {
	if c := &s.Cooldown; c.Growth > 1 || c.Jitter > 0 {
		return c.length(s.RecoveryTimeout, streak, trip)
	}
	return s.RecoveryTimeout
}
