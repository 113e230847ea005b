// Package machine holds two circuit breakers and a retry ladder, made to be
// used in production and replayed in a simulator without a change.
//
// A [ToolBreaker] (Closed, Open, HalfOpen) refuses calls to something that is
// broken and finds out by a single probe, held on a lease, when it is well. A
// [ModelBreaker] (Primary, Fallback, Recovering) refuses nothing while a backup
// is left: it routes turns to a chain of backups. A [Ladder] retries within one
// call; it belongs inside the breaker, which hears of one result per call.
//
// # Time is an argument
//
// No function here reads a clock. An instant is a [time.Duration] since an
// origin that the caller chooses once and keeps, such as the start of the
// program: pass time.Since(start), which is monotonic. Every comparison is
// inclusive: a cooldown of 30 s is over at 30 s, not after it. Inside one
// breaker time never runs backwards: an earlier instant is taken for the latest
// one that it took notice of. A model breaker takes notice of each, a tool
// breaker of those at which something changed: while it is closed with no
// failure counted it needs no clock, and [ToolBreaker.Do] reads none.
//
// # Rules
//
// Whatever a breaker decides, it names the [Rule] that made it decide: T1 to
// T16 for the tool breaker, M1 to M17 for the model breaker, L1 to L5 for the
// ladder. The doc comments say what each of them means.
//
// Breakers are safe for concurrent use, and every operation is one step: state
// never changes by halves.
package machine
