// Package breakertest puts any breaker under breakersim's scenarios, in virtual
// time: the real code, unmodified, in a bubble of testing/synctest whose clock
// a replay moves. A team uses it in tests of its own repository.
//
// A breaker stands behind a [replay.Port], two methods:
//
//	func (p port) Allow() (done func(ok bool), err error) // ask for a call; done says how it ended
//	func (p port) State() string                          // "closed", "open", "half-open", or "" if that cannot be read
//
// With
//
//	func TestOurBreaker(t *testing.T) {
//		breakertest.Run(t, func(s machine.ToolSettings) replay.Port { return newPort(s) })
//	}
//
// each rule that our own breaker follows is a subtest, which says in a sentence
// what that breaker does. What is known to be otherwise is written down with
// [Expect], so that the test fails when it changes. [PlayBuiltin] plays a
// scenario of the library and gives the trace; [Play] any scenario.
//
// Make the breaker where it is asked for, not before, so that what it takes from
// the clock is the bubble's. A port may also have
//
//	Do(f func() error) error // run f under it: for the rules panic and Goexit
//	Look() string            // read the state with whatever effect that has: for T14, like
//	WouldAllow() bool        // would Allow let a call through
//	Close()                  // let go of goroutines of calls that never ended
package breakertest
