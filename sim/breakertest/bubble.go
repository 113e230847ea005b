package breakertest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// Play plays the scenario under the policy in a bubble of its own, with other
// breakers in the place of our tool breakers. It makes them, runs them and lets
// go of them there, and has others.Wait move the bubble's clock. What the
// scenario expects is of our breakers, and is not checked.
//
// The error wraps [replay.ErrCannot] where the scenario asks for what such a
// breaker cannot do. A panic of the breaker is an error, too.
func Play(t *testing.T, s *scenarios.Scenario, p *scenarios.Policy, others replay.Others, sinks ...trace.Sink) error {
	unexpected := *s
	unexpected.Expect = nil
	return bubble(t, func(wait func(time.Duration)) error {
		others.Wait = wait
		_, err := replay.Run(&unexpected, p, replay.Options{Sinks: sinks, Others: &others})
		return err
	})
}

// afterwards is how long a bubble goes on when the run is over: longer than any
// timer that a breaker leaves behind.
const afterwards = 30 * 24 * time.Hour

// bubble does something in a bubble of synctest. Its clock begins at a midnight
// after now, as package variables may have been set from the real clock, and as
// some breakers count by whole seconds, in which no two runs may differ. wait
// sleeps until an instant since then, and until all else in the bubble is
// blocked. Goroutines that the breaker never ends are left behind.
func bubble(t *testing.T, do func(wait func(now time.Duration)) error) (err error) {
	real, done := time.Now(), false
	defer func() {
		if p := recover(); p != nil && !done {
			err = fmt.Errorf("the breaker panicked: %v", p)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(real.Truncate(24 * time.Hour).Add(48 * time.Hour)))
		start := time.Now()
		err = do(func(now time.Duration) {
			time.Sleep(now - time.Since(start))
			synctest.Wait()
		})
		done = true
		time.Sleep(afterwards)
	})
	return err
}
