package foreign

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// defaults are the settings that our tool breaker has by default.
var defaults = Settings{FailureThreshold: 3, RecoveryDuration: 30 * time.Second, ProbeTimeout: 30 * time.Second}

// edge is how long after a full second the drivers ask: past whatever is due on
// the second, give or take the nanosecond by which libraries differ.
const edge = 10 * time.Nanosecond

// begin sleeps past the real now.
func begin() { time.Sleep(time.Until(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))) }

// bubble runs f in a bubble. Where a library's goroutines never end, or calls that
// wait in it never do, the bubble ends in a panic that says so.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil && !strings.Contains(fmt.Sprint(r), "blocked goroutines remain") {
			panic(r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		begin()
		f(t)
	})
}

// driver drives one breaker from second 0.
type driver struct {
	t     *testing.T
	s     Settings
	b     Breaker
	start time.Time
}

// drive runs f with a closed breaker in a bubble of its own.
func drive(t *testing.T, l Library, s Settings, f func(*driver)) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		d := &driver{t, s, l.New(s), time.Now()}
		defer d.release()
		f(d)
	})
}

// release lets go of what waits, and sleeps past the last timer.
func (d *driver) release() {
	if c, ok := d.b.(interface{ Close() }); ok {
		c.Close()
	}
	time.Sleep(time.Hour)
}

// at sleeps to an instant, and lets what is due at it happen.
func (d *driver) at(instant time.Duration) {
	time.Sleep(time.Until(d.start.Add(instant)))
	synctest.Wait()
}

// ask gives nil where the call is refused.
func (d *driver) ask() func(ok bool) {
	done, err := d.b.Allow()
	synctest.Wait()
	require.Equal(d.t, done == nil, err != nil, "a call is either admitted or refused")
	return done
}

func (d *driver) report(done func(ok bool), ok bool) {
	done(ok)
	synctest.Wait()
}

// fail lets as many calls fail in a row as open the breaker.
func (d *driver) fail() {
	for range d.s.FailureThreshold {
		done := d.ask()
		require.NotNil(d.t, done, "a closed breaker admits")
		d.report(done, false)
	}
}

// trip opens the breaker. It asks once more, because hystrix-go opens only then.
func (d *driver) trip() {
	d.fail()
	require.Nil(d.t, d.ask(), "an open breaker refuses")
	require.Equal(d.t, "open", d.b.State())
}

// ends are the instants at which libraries take the cooldown to be over.
func (d *driver) ends() []time.Duration {
	return []time.Duration{d.s.RecoveryDuration, d.s.RecoveryDuration + 1}
}

// probe asks when the cooldown is over, and gives nil where that is refused.
func (d *driver) probe() (done func(ok bool)) {
	for _, end := range d.ends() {
		if d.at(end); done == nil {
			done = d.ask()
		}
	}
	return done
}

// end runs f under the breaker as the probe, on a goroutine that f may end. It is
// closed where the library gives control back, with an error or by f's own panic.
func (d *driver) end(f func()) (back chan struct{}) {
	entered := false
	for _, end := range d.ends() {
		if d.at(end); entered {
			continue
		}
		back = make(chan struct{})
		go func() {
			defer close(back)
			defer func() { _ = recover() }()
			_ = d.b.(interface{ Do(func() error) error }).Do(func() error {
				entered = true
				f()
				return nil
			})
		}()
		synctest.Wait()
	}
	require.True(d.t, entered, "an open breaker admits after the cooldown")
	return back
}

// next asks each second from one on, for an hour, and says when it is admitted.
func (d *driver) next(from int) string {
	for s := from; s < from+3600; s++ {
		d.at(time.Duration(s)*time.Second + edge)
		if d.ask() != nil {
			return fmt.Sprint(s, " s")
		}
	}
	return "never"
}
