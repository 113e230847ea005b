package breakertest

import (
	"errors"
	"time"

	"github.com/breakersim/breakersim/sim/replay"
)

// watched is a port of which nothing is known but what can be seen of it: what
// else it tells of itself is hidden.
type watched struct {
	replay.Port
	blind bool // its state could not be read
}

func (w *watched) State() string {
	state := w.Port.State()
	w.blind = w.blind || state == ""
	return state
}

func (w *watched) Close() {
	if c, ok := w.Port.(interface{ Close() }); ok {
		c.Close()
	}
}

// readable is a port whose state is read when the scenario peeks, in every way
// that it has for that.
type readable struct {
	*watched
	start    time.Time
	readings []readout
}

// WouldAllow reads. What it says is of no matter.
func (r *readable) WouldAllow() bool {
	allows := false
	reading := readout{at: time.Since(r.start), before: r.State()}
	if p, ok := r.Port.(looker); ok {
		p.Look()
	}
	if p, ok := r.Port.(wouldAllower); ok {
		allows = p.WouldAllow()
	}
	reading.after = r.State()
	r.readings = append(r.readings, reading)
	return allows
}

type (
	looker       interface{ Look() string }
	wouldAllower interface{ WouldAllow() bool }
	doer         interface{ Do(f func() error) error }
)

// canBeRead says whether there is anything to read it with.
func (w *watched) canBeRead() bool {
	_, looks := w.Port.(looker)
	_, allows := w.Port.(wouldAllower)
	return looks || allows || w.State() != ""
}

// unread is a port whose state nobody reads.
type unread struct{ *watched }

func (unread) State() string { return "" }

// unreturning is a port whose probe runs a function that does not return. The
// call that is the probe has the number in the order of asking.
type unreturning struct {
	*watched
	probe, asked int
	end          func()
}

func (u *unreturning) Allow() (func(ok bool), error) {
	if u.asked++; u.asked != u.probe {
		return u.watched.Allow()
	}
	return func(bool) {}, u.run()
}

// run comes back when the function was entered, or refused. The goroutine on
// which it runs may end.
func (u *unreturning) run() error {
	entered, refused := make(chan struct{}), make(chan error, 1)
	go func() {
		defer func() { _ = recover() }()
		refused <- u.Port.(doer).Do(func() error {
			close(entered)
			u.end()
			return nil
		})
	}()
	select {
	case <-entered:
		return nil
	case err := <-refused:
		return errors.Join(errRefused, err)
	}
}

var errRefused = errors.New("the breaker did not run the function")
