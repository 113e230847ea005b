package machine

import (
	"strconv"
	"sync"
	"time"
)

// State is where a breaker stands. The zero State is none.
type State uint8

// The states of a tool breaker, then those of a model breaker.
const (
	Closed     State = iota + 1 // calls flow, failures are counted
	Open                        // calls are refused without being tried
	HalfOpen                    // one probe is out, everybody else is refused
	Primary                     // turns go to the primary
	Fallback                    // turns go to the first backup that is not failed
	Recovering                  // turns go to the primary, each of them a probe
)

var stateNames = [...]string{"none", "closed", "open", "half-open", "primary", "fallback", "recovering"}

// String is the state's word as traces and pictures spell it, such as "half-open".
func (s State) String() string { return word(stateNames[:], int(s)) }

// word is one of the words, or the number of what is none of them.
func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return strconv.Itoa(i)
}

// Rule is the id of the rule behind a decision, such as "T7".
type Rule string

// The rules of the tool breaker. Two are never a reason by themselves: T12 (the
// result of a probe whose lease ran out is stale: T7, then T10, T11, T13, T2 or
// T3) and T14 (reading changes nothing).
const (
	T1  Rule = "T1"  // Closed: a call is admitted
	T2  Rule = "T2"  // Closed: a success zeroes the count of failures
	T3  Rule = "T3"  // Closed: a failure counts; at the threshold the breaker opens
	T4  Rule = "T4"  // Open: refused until the cooldown is over
	T5  Rule = "T5"  // Open: the first call at or after the cooldown is the probe
	T6  Rule = "T6"  // HalfOpen: refused while the probe's lease lives
	T7  Rule = "T7"  // HalfOpen: the lease ran out; open again since its end
	T8  Rule = "T8"  // HalfOpen: the probe succeeded; closed
	T9  Rule = "T9"  // HalfOpen: the probe failed; open, with a fresh cooldown
	T10 Rule = "T10" // Open: a late success is ignored
	T11 Rule = "T11" // Open: a late failure restarts the cooldown
	T13 Rule = "T13" // a stale result, or in HalfOpen one that is not the probe's, is ignored
	T15 Rule = "T15" // an operator's reset
	T16 Rule = "T16" // a cancelled call reports nothing
)

// The rules of what a tool breaker can be set to beyond those. Where one of them
// only shapes what another rule does it is no reason by itself: T22 (a slow call
// counts as a failure, or by a rate of its own), T27 to T29 (how long the
// cooldown is).
const (
	T20 Rule = "T20" // a result of this kind counts as nothing
	T21 Rule = "T21" // Closed: a result counts in the window; at the share or number of failures it opens
	T22 Rule = "T22" // Closed: too large a share of the window was slow; it opens
	T23 Rule = "T23" // HalfOpen: there is room for a further probe
	T24 Rule = "T24" // HalfOpen: a probe's result counts; more of them are waited for
	T25 Rule = "T25" // HalfOpen: a cancelled probe gives its slot back
	T26 Rule = "T26" // Closed: refused while the share of calls admitted still grows
	T27 Rule = "T27" // the cooldown grows with each opening that no recovery came before
	T28 Rule = "T28" // the cooldown is drawn by chance
	T29 Rule = "T29" // the cooldown lasts until the other side said to come back
	T30 Rule = "T30" // Open: a late failure does not restart the cooldown
	T31 Rule = "T31" // an operator keeps it open
	T32 Rule = "T32" // an operator keeps it closed
	T33 Rule = "T33" // an operator changes its settings
	T34 Rule = "T34" // Open: the first call at or after the cooldown closes it, without a probe
)

// The rules of the model breaker.
const (
	M1  Rule = "M1"  // Primary: the turn goes to the primary
	M2  Rule = "M2"  // Fallback: the cooldown is over; this turn probes the primary
	M3  Rule = "M3"  // Fallback: every backup is failed; the turn fails
	M4  Rule = "M4"  // Fallback: the turn goes to the first backup that is not failed
	M5  Rule = "M5"  // Fallback without a chain: the primary keeps serving
	M6  Rule = "M6"  // Recovering: the turn goes to the primary as a probe
	M7  Rule = "M7"  // Primary: a success zeroes the count of failures
	M8  Rule = "M8"  // Fallback: a backup's success changes nothing
	M9  Rule = "M9"  // Recovering: a success counts; enough of them lead to Primary
	M10 Rule = "M10" // Primary: a failure counts; at the threshold the breaker trips
	M11 Rule = "M11" // Fallback: a failure spends the budget of the backup that served
	M12 Rule = "M12" // Recovering: a rate limit trips it again at once
	M13 Rule = "M13" // Recovering: another failure zeroes the count of successes
	M14 Rule = "M14" // a cancelled turn touches nothing
	M15 Rule = "M15" // the kill switch of one backup
	M16 Rule = "M16" // an operator's reset
	M17 Rule = "M17" // the result of a turn from an earlier epoch
)

// The rules of what a model breaker can be set to beyond those. M25 to M27 shape
// the cooldown, as T27 to T29 do, and are no reason by themselves.
const (
	M20 Rule = "M20" // a result of this kind counts as nothing
	M21 Rule = "M21" // Recovering: as many probes as may be are out; the turn goes to a backup
	M22 Rule = "M22" // Fallback: every backup is failed; the turn waits for the next probe
	M23 Rule = "M23" // Fallback: every backup is failed; the turn goes to the last resort
	M24 Rule = "M24" // Fallback: a failed backup's own cooldown is over, and its budget is whole again
	M25 Rule = "M25" // the cooldown grows with each trip that no recovery came before
	M26 Rule = "M26" // the cooldown is drawn by chance
	M27 Rule = "M27" // the cooldown lasts until the other side said to come back
)

// The rules of the retry ladder.
const (
	L1 Rule = "L1" // a transient failure is tried again, within a number and a deadline
	L2 Rule = "L2" // a rate limit waits as long as it was told, on a budget of its own
	L3 Rule = "L3" // a permanent error is never retried
	L5 Rule = "L5" // a refused call is not retried
	L6 Rule = "L6" // a retry needs a token of the budget
	L7 Rule = "L7" // no retry while too large a share of the attempts failed
	L8 Rule = "L8" // an answer that is late in coming starts another attempt beside the first
	L9 Rule = "L9" // who waits for the call gives up: it is cancelled
)

// The one rule of the tools' health that decides about a call.
const (
	H7 Rule = "H7" // a substitute takes the call while its tool is out
)

// Kind says what sort of failure it was.
type Kind uint8

// Kinds of failure. Unless told to by [Counts] the breakers tell only RateLimit
// (M12) and Cancelled (T16, M14) from the rest; a [Ladder] also never retries
// what is Permanent (L3).
const (
	Transient Kind = iota // an error that may not come again
	RateLimit             // the other side asks for less
	Permanent             // the request itself is wrong (4xx)
	Timeout               // no answer came in time
	Cancelled             // the caller no longer wanted the answer: no failure
)

// Ending is how a call or a turn ended.
type Ending struct {
	OK         bool
	Kind       Kind          // of a failure
	RetryAfter time.Duration // the wait that a failure names (T29); 0: none
}

// Verdict is what a breaker made of a reported result.
type Verdict struct {
	Rule     Rule // the rule that decided; empty if Repeated
	Applied  bool // the result was taken into account
	Repeated bool // the call had reported before, or was never admitted: nothing happened
}

// Transition is one change of state.
type Transition struct {
	From, To  State
	At        time.Duration // when the breaker noticed
	Effective time.Duration // when it took effect; earlier than At only for T7
	Rule      Rule
	Failures  int           // consecutive failures at the transition, before they are zeroed
	Until     time.Duration // of one to Open or Fallback: when the cooldown ends, as things stood
}

// Switch is one change of the model that serves; an empty name is nobody.
type Switch struct {
	From, To  string
	At        time.Duration // when the breaker noticed
	Effective time.Duration // when it took effect; earlier than At only for M24
	Rule      Rule
}

// Hooks hear what a breaker does: each change once, in the order in which
// things happened, outside the breaker's lock, so a hook may use the breaker.
// Under concurrency the goroutine that delivers need not be the one that caused
// the change, and another may return before its own was delivered. Either may
// be nil; OnSwitch is for model breakers only.
type Hooks struct {
	OnTransition func(Transition)
	OnSwitch     func(Switch)
}

// notice is a change waiting to be told: a switch if its rule is set.
type notice struct {
	transition Transition
	change     Switch
}

// outbox keeps changes in order between the lock that made them and the hooks.
type outbox struct {
	hooks Hooks
	queue []notice
	busy  bool // somebody is delivering
}

func (o *outbox) transition(t Transition) {
	if o.hooks.OnTransition != nil {
		o.queue = append(o.queue, notice{transition: t})
	}
}

func (o *outbox) change(s Switch) {
	if o.hooks.OnSwitch != nil {
		o.queue = append(o.queue, notice{change: s})
	}
}

// unlock releases mu, which the caller holds, and tells the hooks what is
// queued. Only one goroutine delivers at a time, so the order holds.
func (o *outbox) unlock(mu *sync.Mutex) {
	if len(o.queue) == 0 || o.busy {
		mu.Unlock()
		return
	}
	o.busy = true
	defer func() { o.busy = false; mu.Unlock() }() // a panicking hook leaves the rest to the next caller
	for len(o.queue) > 0 {
		n := o.queue[0]
		o.queue = o.queue[1:]
		o.tell(mu, n)
	}
	o.queue = nil
}

func (o *outbox) tell(mu *sync.Mutex, n notice) {
	mu.Unlock()
	defer mu.Lock()
	if n.change.Rule != "" {
		o.hooks.OnSwitch(n.change)
		return
	}
	o.hooks.OnTransition(n.transition)
}
