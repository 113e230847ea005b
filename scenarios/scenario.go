// Package scenarios reads scenario files, says all that is wrong with one at
// once, and holds the built-in library.
package scenarios

import (
	"strings"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// Scenario is a file that was read and found to make sense: every name in it is
// defined, and every default is filled in.
type Scenario struct {
	File        string // as it was given, for messages
	Name        string
	Title       string
	About       string
	Duration    time.Duration // the virtual end, inclusive; if Open, nothing
	Open        bool          // no duration is stated: the run ends with the last thing in it
	Seed        uint64
	Breakers    []Breaker // in file order, as is every list here
	Targets     []Target
	Substitutes []Substitute
	Calls       []Call
	Callers     []Callers
	Policies    []Policy // never empty
	Expect      []Expect
	MaxCalls    int // a run with more calls than this is refused
}

// Breaker is a breaker with its settings. Exactly one of Tool and Model is set.
type Breaker struct {
	Name      string
	Guards    string // the target that a tool breaker gates
	Tool      *machine.ToolSettings
	Model     *machine.ModelSettings
	Anonymous bool // reports: anonymous
	Per       Scope
	Health    bool // of a tool breaker: its target's health is recorded
}

// Substitute says who may stand in for a guarded target, the best first.
type Substitute struct {
	Target string
	By     []string
}

// Outcome is how an attempt ends.
type Outcome uint8

// Outcomes in the order in which a mix draws them.
const (
	Success Outcome = iota
	Failure
	RateLimit
	Permanent
	Timeout
	Vanish
	Cancelled
)

var outcomeNames = []string{"success", "failure", "rate_limit", "permanent", "timeout", "vanish", "cancelled"}

// String is the outcome as files spell it, such as "rate_limit".
func (o Outcome) String() string { return outcomeNames[o] }

// Share is one outcome of a mix and its probability.
type Share struct {
	Outcome Outcome
	P       float64
}

// Mix is what an attempt may end in: shares above 0 that sum to 1, in the order
// of the outcomes. A plain outcome is a mix of one. nil says nothing.
type Mix []Share

// DistKind is a kind of distribution.
type DistKind uint8

// Distributions of a duration, with what A and B of [Dist] mean.
const (
	Fixed       DistKind = iota // always A
	Uniform                     // from A to B
	Exponential                 // with mean A
	Lognormal                   // with median A and 99th percentile B
)

// Dist is a duration, fixed or drawn.
type Dist struct {
	Kind DistKind
	A, B time.Duration
}

// Behavior is how a target answers. What is nil is not said here.
type Behavior struct {
	Mix        Mix
	Latency    *Dist
	RetryAfter *time.Duration // what a rate limit names
}

// Target is something that is called.
type Target struct {
	Name string
	Base Behavior // Mix and Latency are always said
	// Limit is how often it can be called; nil: as often as one likes. An
	// attempt beyond it ends at once as a rate limit, which says when to come back.
	Limit *Limit
	// Capacity is how much it can serve at one time; nil: any number. Latency is
	// then the time that serving takes, and waiting for it comes on top.
	Capacity *Capacity
	// Network is the time that a way takes, there or back, beside the latency.
	Network Dist
	// Warmup is how long it is slow after an outage. It works at a tenth of its
	// speed at first, and at a speed that grows evenly to the whole, as a
	// service behind a slow start does (Envoy's slow_start, with its defaults).
	Warmup time.Duration
	Bursts *Bursts // of trouble; nil: none
	Price  *Price  // nil: nobody counts
	// Phases overlay Base. Where they overlap the later one wins, key by key.
	Phases []Phase
	// Hosts share the work: each attempt goes to one of them in turn. What the
	// target says is in each; of the target itself only the name, Base and Phases
	// count, and only to tell of it.
	Hosts []Target
	Host  string // of one of Hosts: its name within the target, whose name and this are its Name
}

// Limit bounds how often a target is called.
type Limit struct {
	Every time.Duration // one attempt in the long run
	Burst int           // that it takes at once after a pause
}

// Capacity bounds what a target does at one time.
type Capacity struct {
	Servers         int           // 0: any number
	Queue           *int          // attempts that wait at most; nil: any number
	CancelOnTimeout bool          // a caller that stops waiting takes its work back
	Slowdown        time.Duration // each other attempt being served adds this to one that begins
}

// Bursts are stretches in which a target behaves otherwise, and which come by
// chance: a process of two states, as Gilbert and Elliott's (1960, 1963). Apart
// and For are means of exponential times.
type Bursts struct {
	Apart, For time.Duration
	Behavior
}

// Price is what an attempt costs.
type Price struct {
	Call   float64
	Tokens int
}

// Phase is a stretch of time, [At, At+For), in which a target behaves otherwise.
type Phase struct {
	At  time.Duration
	For *time.Duration // nil: to the end
	// DrawAt and DrawFor are where At and For come from in each run, if they are
	// drawn; nil: they stand as they are. See [Scenario.Drawn].
	DrawAt, DrawFor *Dist
	Behavior
}

// drawn says whether the phase is another one in each run.
func (p *Phase) drawn() bool { return p.DrawAt != nil || p.DrawFor != nil }

// Op is what a scripted entry does.
type Op uint8

// What a scripted entry does.
const (
	OpCall         Op = iota // make a call
	OpPeek                   // read a breaker
	OpReset                  // reset a breaker
	OpSetAvailable           // switch a backup on or off
	OpForceOpen              // open a tool breaker, and keep it open until a reset
	OpForceClosed            // likewise closed
	OpConfigure              // change the settings of a tool breaker; see Policy.Configured
)

// Call is one scripted entry.
type Call struct {
	At         time.Duration
	Op         Op
	To         string         // OpCall: a target or a model breaker; otherwise a breaker
	Outcome    *Outcome       // nil: as the target behaves
	Takes      *time.Duration // nil: as the target behaves
	Timeout    time.Duration  // how long a scripted timeout without Takes takes
	RetryAfter *time.Duration
	Name       string // of a call that others are inside of; empty: it has none
	Inside     int    // 1 + the index of the call that makes it, from the start of whose work At counts; 0: none does
	Backup     string // OpSetAvailable
	Available  bool   // OpSetAvailable
}

// Callers make calls: either Count callers with one call at a time each, or an
// open stream at a rate.
type Callers struct {
	Name    string
	To      string
	Count   int
	Every   time.Duration // from one start to the next; 0: not said
	Think   time.Duration // from an end to the next start; 0: not said
	Jitter  float64       // a fraction of Every or Think, 0 to 1
	Start   Dist
	Until   time.Duration // starts are before it
	Timeout time.Duration // for each attempt
	// Patience is how long a call may take with all its attempts and waits; then
	// it is cancelled. 0: for ever.
	Patience time.Duration
	Rates    []Stage // of an open stream, by time, the first at 0; none: not one
	Poisson  bool    // the stream's gaps are exponential, not constant
}

// Open says whether they are a stream.
func (c *Callers) Open() bool { return len(c.Rates) > 0 }

// Stage is a rate of calls from At on. Where Ramp is set the rate grows or falls
// evenly to Hertz from that of the stage before, and has come to it at At.
type Stage struct {
	At    time.Duration // counted from the start of the stream
	Hertz float64       // calls a second, from 0 on
	Ramp  bool
}

// Rate is Count calls each Per.
type Rate struct {
	Count float64
	Per   time.Duration
}

// Policy is one way to run the scenario.
type Policy struct {
	Name         string
	About        string // what it does, in a few words
	Ladder       *machine.Ladder
	Budget       *machine.BudgetSettings // of retries; nil: none
	SharedBudget bool                    // one for all, not one for each caller
	MaxFailures  *float64                // failed attempts for each call, above which none is made again; nil: no bound
	Gate         Gate
	Timeout      time.Duration // of each attempt of a caller; 0: the caller's own
	Hedge        *Hedge        // nil: none
	Breakers     []Breaker     // with the policy's own settings applied; nil for breakers: none
	// Configured is what the entries that change a breaker's settings come to, by
	// the index of the entry: all of its settings from then on.
	Configured map[int]machine.ToolSettings
}

// Gate is when a call asks its breaker.
type Gate uint8

// When a call asks its breaker.
const (
	GateCall    Gate = iota // once, before its first attempt
	GateAttempt             // before each attempt
	GateRetry               // before each further attempt; the first one goes in any case
)

// Hedge starts further attempts beside one that is slow to answer; the first
// answer that is a success counts (Dean and Barroso, "The Tail at Scale", 2013).
type Hedge struct {
	After    time.Duration // since the latest attempt started
	Attempts int           // in all, the first among them, of each try of a ladder
}

// TraceFile is the name of the file that holds the policy's trace.
func (p *Policy) TraceFile() string {
	return "trace-" + strings.NewReplacer("/", "_", ":", "_").Replace(p.Name) + ".jsonl"
}

// Expect is one line of the expect list. Exactly one of the forms is set.
type Expect struct {
	Line   int
	Policy string // empty: every policy with breakers
	// State and Allows are at an instant.
	At      time.Duration
	Breaker string
	State   machine.State // 0: not this form
	Allows  *bool
	// Transitions is the complete list for Breaker; not nil if this form is meant.
	Transitions []Moment
	// Metric is a name of [Metrics], within Min and Max (nil: unbounded), in its unit.
	Metric   string
	Min, Max *float64
	About    *float64      // the value that Min and Max are around, if the file states one
	From, To time.Duration // of some metrics: only what happens in [From, To) counts; To 0: all of it
	Each     time.Duration // if above 0: Min and Max hold for each stretch of that length from From on, whole ones before To
	// Call is a call's number and Is what became of it: "admitted", "refused",
	// "exhausted" or an outcome.
	Call int
	Is   string
}

// Moment is a transition to State that took effect at At.
type Moment struct {
	State machine.State
	At    time.Duration
}

// Unit is the unit of a metric.
type Unit uint8

// Units of metrics.
const (
	Count    Unit = iota // a number of things
	Duration             // nanoseconds; files write 30s
	Ratio                // a plain number
)

// Metric is a column of the cost table, by the name that files use.
type Metric struct {
	Name string
	Unit Unit
}

// Metrics are all the columns of the cost table, in its order.
var Metrics = []Metric{
	{"calls", Count}, {"attempts", Count}, {"wasted_attempts", Count}, {"refused", Count}, {"exhausted", Count}, {"rerouted", Count},
	{"succeeded", Count}, {"failed", Count}, {"unfinished", Count}, {"wait_total", Duration}, {"wait_wasted", Duration},
	{"wait_p50", Duration}, {"wait_p99", Duration}, {"wait_max", Duration}, {"amplification", Ratio}, {"detect", Duration},
	{"recover", Duration}, {"overshoot", Duration}, {"openings", Count}, {"open_time", Duration}, {"harm", Count}, {"burst", Count},
	{"money", Ratio}, {"tokens", Count},
}
