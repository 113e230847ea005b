// Package machine holds circuit breakers and what belongs beside them, made to
// be used in production and replayed in a simulator without a change.
//
// A [ToolBreaker] (Closed, Open, HalfOpen) refuses calls to something that is
// broken and finds out by a single probe, held on a lease, when it is well. A
// [ModelBreaker] (Primary, Fallback, Recovering) refuses nothing while a backup
// is left: it routes turns to a chain of backups. A [Ladder] retries within one
// call; it belongs inside the breaker, which hears of one result per call. A
// [Registry] keeps a breaker and the health of every tool by its name, and a
// [Router] sends calls to a substitute while their tool is out.
//
// # Guard a tool, route a model
//
// [ToolBreaker.Do] and [ModelBreaker.Do] ask, run a function and report how it
// ended, whatever way it takes: a panic and [runtime.Goexit] are failures, and a
// call that its caller gave up says nothing. Where a function does not fit, take
// a [Permit] or a [Turn] and report through it.
//
// # Read a dashboard
//
// Whatever is named Would, Snapshot, Deadline, Available or Health changes
// nothing. Asking does: [ToolBreaker.Allow] can hand out the one probe of a
// half-open period, so never ask only to know.
//
// # Time is an argument
//
// No function here reads a clock of its own. An instant is a [time.Duration]
// since an origin that the caller chooses once and keeps, such as the start of
// the program: pass time.Since(start), which is monotonic, or to Do a [Clock].
// Every comparison is inclusive: a cooldown of 30 s is over at 30 s, not after
// it. Inside one breaker time never runs backwards: an earlier instant is taken
// for the latest one that it took notice of. A model breaker takes notice of
// each, a tool breaker of those at which something changed: while it is closed
// with no failure counted it needs no clock, and Do reads none.
//
// # Rules
//
// Whatever a breaker decides, it names the [Rule] that made it decide: T1 to
// T16 for the tool breaker, M1 to M17 for the model breaker, L1 to L9 for the
// ladder, H1 to H7 for health. The doc comments say what each of them means.
//
// # What else a breaker can be set to
//
// T20 to T34 and M20 to M27 are what breakers elsewhere do: results that count
// for something else ([Counts]), rates over a [Window] and slow calls ([Trip]),
// several probes and a ramp after them ([Probing]), cooldowns that grow, are
// drawn or are named by the other side ([Cooldown]), and what operators do
// ([ToolBreaker.ForceOpen], [ToolBreaker.Configure]). A model breaker can probe
// beside the traffic, let turns wait ([ModelBreaker.Resume]), have a last resort,
// and give backups a cooldown of their own ([ModelSettings]). All of it is off in
// its zero value. In tool_rules.go and model_rules.go the rules stand one after
// the other.
//
// Everything here is safe for concurrent use, and every operation of a breaker
// is one step: state never changes by halves. A [Retry] belongs to one call.
package machine
