// Package trace is the record of a run: what happened, in order, and nothing
// else. Pictures, tables and checks read it and know of nothing besides, so a
// trace that a production program recorded is as good as a simulated one.
//
// The record is append-only. Its first event is Run, its last one End; between
// them time never goes back. On disk it is JSON Lines, one event a line, or the
// same as text for people.
package trace

import (
	"iter"
	"time"
)

// Format is the version of the record that this package writes and reads.
const Format = 1

// Kind says what an event tells.
type Kind uint8

// The kinds of event, each with the fields of [Event] that it uses.
const (
	Run        Kind = iota + 1 // Run: what is played; always first
	Phase                      // Target, Phase: another phase became the topmost active one
	Call                       // Call, To, Caller, Attempt: an attempt asks the gate, or with Target starts without one
	Admit                      // Call, Attempt, Breaker, Target, Probe, Rule: the gate lets it through
	Refuse                     // Call, Attempt, Breaker, Rule, Reason, Until, Would: the gate refuses it
	Exhausted                  // Call, Attempt, Breaker, Rule: nobody is left to serve it
	Vanish                     // Call, Attempt, Target, Until: its task was dropped; there will be no result
	Result                     // Call, Attempt, Target, Outcome, Took; Breaker, Applied, Rule if a breaker heard of it; Until if its cooldown varies and began anew; Seen if it has a window; Wait if it heeds that
	Transition                 // Breaker, From, To, Effective, Rule, Failures, Call; Until if it opens and its cooldown varies
	Switch                     // Breaker, From, To, Rule: another model serves; Effective if by M24
	Retry                      // Call, Attempt (the next one), Wait, Rule
	GiveUp                     // Call, Rule: a ladder ended without success; Breaker, Applied, Verdict if a breaker heard of it
	Operate                    // Op, Breaker; Name, Available; Settings, Until
	Peek                       // Breaker; Allows, or Serves if Model
	Reroute                    // Call, Attempt, Breaker, From, To, Rule: the tool From is out, so the attempt goes to To
	Health                     // Breaker, Target, Score, Health: how well the tool is after a result
	Hedge                      // Call, Attempt (the next one, which starts at once beside the others), Rule
	Burst                      // Target, On: a stretch of the target's bursty troubles begins or ends
	Waits                      // Call, Attempt, Breaker, Rule, Until: nobody is left to serve it as yet, and it asks again then
	Load                       // Target, Busy, Waiting: what a target of bounded capacity does, at a whole second after it changed
	End                        // States; always last
)

var kindNames = [...]string{"", "run", "phase", "call", "admit", "refuse", "exhausted", "vanish", "result",
	"transition", "switch", "retry", "give_up", "operate", "peek", "reroute", "health", "hedge", "burst", "wait", "load", "end"}

// String is the kind as the record spells it, such as "give_up".
func (k Kind) String() string { return kindNames[k] }

// Outcomes of an attempt, as the record spells them.
const (
	Success   = "success"
	Failure   = "failure"
	RateLimit = "rate_limit"
	Permanent = "permanent"
	Timeout   = "timeout"
	Vanished  = "vanish"
	Cancelled = "cancelled"
)

// What an operator can do: to any breaker, to a model breaker, and to a
// tool breaker (T15, M15, M16, T31 to T33).
const (
	Reset        = "reset"
	SetAvailable = "set_available"
	ForceOpen    = "force_open"
	ForceClosed  = "force_closed"
	Configure    = "configure"
)

// NoPhase is the Phase of an event after which a target is in none.
const NoPhase = -1

// Event is one thing that happened. Which fields count depends on the Kind; the
// others are zero. Instants are durations since the start of the run.
type Event struct {
	T         time.Duration
	Kind      Kind
	Call      int           // from 1, in the order of first starts; of a Transition 0 if no call caused it
	Attempt   int           // from 1
	Caller    string        // of a Call that a caller made, not of a scripted one
	Inside    int           // of a Call: the call in the course of which it is made; 0: none
	Instance  int           // which of the callers of that name made it, from 1; 0 if there is one
	Breaker   string        // of a Result empty if no breaker heard of it
	Target    string        // who is called; of a Call only where no gate says so
	From, To  string        // states, models (empty: nobody), tools; of a Call, To is where it goes
	Rule      string        // why, such as "T7"
	Reason    string        // what the refused caller reads
	Outcome   string        // how the attempt ended
	Would     string        // how a refused attempt would have ended
	Verdict   string        // of a GiveUp: the rule by which the breaker took it
	Op        string        // such as [Reset]
	Name      string        // the backup that is switched
	Serves    string        // the model that a turn would get; empty: it would be exhausted
	Health    string        // "healthy", "degraded" or "unhealthy"
	Score     float64       // of a tool's health, from 0 to 1
	Took      time.Duration // from the attempt's start to its end
	Wait      time.Duration // until the next attempt starts; of a Result, what a failure names to a breaker that heeds it
	Effective time.Duration // when a transition took effect, at or before T; of a Switch by M24 when that backup was whole again, of others 0
	Until     time.Duration // Refuse: when a call may next be admitted. Waits: when it asks again. Vanish: when its caller stops waiting. Others: when the breaker's cooldown ends, as things stand
	Known     bool          // Until is known
	Failures  int           // consecutive failures as they were at a transition
	Seen      Held          // of a Result by T21: what the window held, this result among it
	Phase     int           // index in the target's phases, or NoPhase
	Busy      int           // attempts that are being served
	Waiting   int           // attempts that wait to be served
	Probe     bool          // the call tests recovery
	Applied   bool          // the breaker took the result into account
	Available bool          // what set_available set
	Allows    bool          // a call would be admitted
	Model     bool          // a Peek at a model breaker
	On        bool          // a Burst begins
	Settings  *Breaker      // of "configure": from then on
	Run       *RunInfo      // of Run only
	States    []BreakerState
}

// Held is what a breaker's window held.
type Held struct{ Calls, Failures, Slow int }

// BreakerState is where a breaker stood at the end, by what had taken effect.
type BreakerState struct{ Breaker, State string }

// RunInfo says what is played: everything that a reader must know beforehand.
type RunInfo struct {
	Scenario    string
	Title       string
	Policy      string
	PolicyAbout string // what the policy does, in a few words
	Seed        uint64
	Breakers    []Breaker // in the order of the scenario; none under a policy without
	Targets     []Target
	Substitutes []Substitute // in the order of the scenario
}

// Substitute says who may stand in for a tool that is out, the best first.
type Substitute struct {
	Target string   `json:"target"`
	By     []string `json:"by"`
}

// Breaker is a breaker with all of its settings. Exactly one of Tool and Model is set.
type Breaker struct {
	Name    string
	Kind    string // "tool" or "model"
	Reports string
	By      string // whose it is, such as "gobreaker v2.4.0"; empty: ours
	*Tool
	*Model
	Further

	Per       string     `json:"per,omitempty"`       // PerCaller or PerHost: it is Instances, each set to this; empty: it is one
	Instances []Instance `json:"instances,omitempty"` // in order
}

// Tool is the settings of a tool breaker.
type Tool struct {
	Guards           string        `json:"guards"`
	FailureThreshold int           `json:"failure_threshold"`
	RecoveryDuration time.Duration `json:"recovery_duration"`
	ProbeTimeout     time.Duration `json:"probe_timeout"`
	StaleResults     string        `json:"stale_results"`
	Health           bool          `json:"health,omitempty"` // its health is recorded
	FurtherTool
}

// Model is the settings of a model breaker.
type Model struct {
	Primary                 string        `json:"primary"`
	Chain                   []Backup      `json:"chain"`
	TripThreshold           int           `json:"trip_threshold"`
	RecoveryTimeout         time.Duration `json:"recovery_timeout"`
	RecoverySuccessesNeeded int           `json:"recovery_successes_needed"`
	ProbationFailures       int           `json:"probation_failures"`
	FurtherModel
}

// Backup is one entry of a chain.
type Backup struct {
	Name         string `json:"name"`
	MaxFailCount int    `json:"max_fail_count"`
}

// Main is the target whose outages are the breaker's: the guarded one, or the primary.
func (b *Breaker) Main() string {
	if b.Tool != nil {
		return b.Tool.Guards
	}
	return b.Model.Primary
}

// Target is something that is called, and how it behaves by its script.
type Target struct {
	Name     string        `json:"name"`
	Of       string        `json:"of,omitempty"`       // of a host: the target that it is one of. Such a target comes before its hosts, and only they are called
	Latency  string        `json:"latency"`            // as the scenario writes it
	Network  string        `json:"network,omitempty"`  // likewise: each way, beside the latency; empty: none
	Outcome  string        `json:"outcome"`            // likewise; a mix is spelled "70% success, 30% failure"
	Limit    *Limit        `json:"limit,omitempty"`    // nil: it can be called as often as one likes
	Capacity *Capacity     `json:"capacity,omitempty"` // nil: it serves any number at one time
	Warmup   time.Duration `json:"warmup,omitempty"`   // how long after an outage it is slow
	Bursts   *Bursts       `json:"bursts,omitempty"`   // nil: it has none
	Price    *Price        `json:"price,omitempty"`    // nil: nobody counts
	Phases   []TargetPhase `json:"phases"`
	Segments []Segment     `json:"segments"` // what phases and base come to; the first begins at 0
}

// Limit is how often a target can be called.
type Limit struct {
	Every time.Duration `json:"every"` // one attempt in the long run
	Burst int           `json:"burst"` // that it takes at once after a pause
}

// Capacity is how many attempts a target serves at one time.
type Capacity struct {
	Servers         int           `json:"servers"` // 0: any number
	Queue           *int          `json:"queue"`   // that wait at most; nil: any number
	CancelOnTimeout bool          `json:"cancel_on_timeout"`
	Slowdown        time.Duration `json:"slowdown,omitempty"` // that each other attempt being served adds
}

// Bursts are stretches of trouble that come by chance.
type Bursts struct {
	Apart   time.Duration `json:"apart"` // the mean from one's end to the next
	For     time.Duration `json:"for"`   // the mean of its length
	Outcome string        `json:"outcome,omitempty"`
	Latency string        `json:"latency,omitempty"`
}

// Price is what an attempt costs, whatever comes of it.
type Price struct {
	Call   float64 `json:"call"`
	Tokens int     `json:"tokens"`
}

// TargetPhase is a phase as written. What it does not say is empty.
type TargetPhase struct {
	At      time.Duration  `json:"at"`
	For     *time.Duration `json:"for"` // nil: to the end
	Outcome string         `json:"outcome,omitempty"`
	Latency string         `json:"latency,omitempty"`
}

// Segment is how a target behaves from At until the next segment.
type Segment struct {
	At      time.Duration `json:"at"`
	Success float64       `json:"success"` // the chance of success, 0 to 1
	Outcome string        `json:"outcome"` // as in Target
	Phase   int           `json:"phase"`   // the topmost active phase, or NoPhase
}

// Span is a stretch of time, [From, To).
type Span struct{ From, To time.Duration }

// Outages are the maximal stretches before end in which the target's chance of
// success is 0. One that is under way at end is cut there.
func (t *Target) Outages(end time.Duration) []Span {
	var spans []Span
	for s, segment := range t.Stretches(end) {
		if segment.Success > 0 {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].To == s.From {
			spans[n-1].To = s.To
		} else {
			spans = append(spans, s)
		}
	}
	return spans
}

// Stretches are the segments with the time before end, [From, To), in which each
// holds; those without any are left out.
func (t *Target) Stretches(end time.Duration) iter.Seq2[Span, *Segment] {
	return func(yield func(Span, *Segment) bool) {
		for i := range t.Segments {
			s := Span{t.Segments[i].At, end}
			if i+1 < len(t.Segments) {
				s.To = min(end, t.Segments[i+1].At)
			}
			if s.From < s.To && !yield(s, &t.Segments[i]) {
				return
			}
		}
	}
}

// Sink takes events one at a time, in order. The event is the sink's only
// during the call. An error stops the run.
type Sink interface{ Event(e *Event) error }

// List is a sink that keeps every event.
type List []Event

// Event appends a copy of e.
func (l *List) Event(e *Event) error {
	*l = append(*l, *e)
	return nil
}
