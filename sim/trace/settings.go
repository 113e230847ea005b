package trace

import "time"

// Further is the settings of a breaker of either kind beyond its own rules. Like
// those of [FurtherTool] they are there where they are set, and otherwise zero.
type Further struct {
	Counts          *Counts       `json:"counts,omitempty"`           // nil: each kind of result as it is
	RecoveryGrowth  float64       `json:"recovery_growth,omitempty"`  // each opening without a recovery multiplies the cooldown; 0: none does
	RecoveryLongest time.Duration `json:"recovery_longest,omitempty"` // 0: no bound
	RecoveryForget  time.Duration `json:"recovery_forget,omitempty"`  // how long a recovery must last to end the growth
	RecoveryJitter  float64       `json:"recovery_jitter,omitempty"`  // a share of the cooldown
	RetryAfter      string        `json:"retry_after,omitempty"`      // "heed", or nothing
}

// FurtherTool is those that only tool breakers have.
type FurtherTool struct {
	Window              *Window       `json:"window,omitempty"`
	FailureRate         float64       `json:"failure_rate,omitempty"` // a share, as are all rates
	WindowFailures      int           `json:"window_failures,omitempty"`
	MinimumCalls        int           `json:"minimum_calls,omitempty"`
	SlowAfter           time.Duration `json:"slow_after,omitempty"`
	Slow                string        `json:"slow,omitempty"` // "failure", or nothing
	SlowRate            float64       `json:"slow_rate,omitempty"`
	SuccessClears       *bool         `json:"success_clears,omitempty"` // false, or nothing
	ForgetFailuresAfter time.Duration `json:"forget_failures_after,omitempty"`

	Probe            string        `json:"probe,omitempty"`  // "none", or nothing
	Probes           int           `json:"probes,omitempty"` // at one time; AnyProbes: no bound
	ProbesInAll      int           `json:"probes_in_all,omitempty"`
	ProbeSuccesses   int           `json:"probe_successes,omitempty"`
	ProbeFailureRate float64       `json:"probe_failure_rate,omitempty"`
	ProbeSlowRate    float64       `json:"probe_slow_rate,omitempty"`
	CancelledProbe   string        `json:"cancelled_probe,omitempty"` // "release", or nothing
	Ramp             time.Duration `json:"ramp,omitempty"`
	RampFrom         float64       `json:"ramp_from,omitempty"`

	LateFailures string `json:"late_failures,omitempty"` // "ignore", or nothing
}

// FurtherModel is those that only model breakers have, or have another sense of.
type FurtherModel struct {
	AtOnce        int           `json:"probes,omitempty"`        // probes in flight at one time; 0: every turn is one
	PlaceFor      time.Duration `json:"probe_timeout,omitempty"` // how long a probe keeps its place among them; 0: until it ends
	ExhaustedWait time.Duration `json:"exhausted_wait,omitempty"`
	LastResort    string        `json:"last_resort,omitempty"`
	EntryCooldown time.Duration `json:"entry_cooldown,omitempty"`
}

// AnyProbes is the number of probes that has no bound.
const AnyProbes = 1<<31 - 1

// Counts is what each kind of result counts as: "failure", "success" or
// "ignore"; empty: as it is.
type Counts struct {
	Failure   string `json:"failure,omitempty"`
	Timeout   string `json:"timeout,omitempty"`
	RateLimit string `json:"rate_limit,omitempty"`
	Permanent string `json:"permanent,omitempty"`
	Cancelled string `json:"cancelled,omitempty"`
}

// Window is the results that rates look back on: of Calls, or of Time.
type Window struct {
	Calls   int           `json:"calls,omitempty"`
	Time    time.Duration `json:"time,omitempty"`
	Buckets int           `json:"buckets,omitempty"` // of Time; 0: 10
}
