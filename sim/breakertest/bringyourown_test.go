package breakertest_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// This is all that a team writes for a breaker of its own, in a test of its own
// repository: the breaker, here a home-made one, and below it two tests.

// homemade is a breaker as one writes it in twenty lines.
type homemade struct {
	mu        sync.Mutex
	threshold int
	cooldown  time.Duration
	failures  int
	opened    time.Time // zero: it is closed
	probing   bool
}

func (h *homemade) Allow() (done func(ok bool), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.opened.IsZero() {
		if h.probing || time.Since(h.opened) < h.cooldown {
			return nil, errors.New("out of order")
		}
		h.probing = true
	}
	return h.report, nil
}

func (h *homemade) report(ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ok {
		h.failures, h.opened, h.probing = 0, time.Time{}, false
	} else if h.failures++; h.failures >= h.threshold {
		h.opened, h.probing = time.Now(), false
	}
}

func (h *homemade) State() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.opened.IsZero():
		return "closed"
	case h.probing:
		return "half-open"
	}
	return "open"
}

func newHomemade(s machine.ToolSettings) replay.Port {
	return &homemade{threshold: s.FailureThreshold, cooldown: s.RecoveryDuration}
}

// TestOurBreaker holds it against the rules, one by one. What it does otherwise
// is written down: the test fails when that changes.
func TestOurBreaker(t *testing.T) {
	breakertest.Run(t, newHomemade,
		// a lost probe keeps the slot for good
		breakertest.Expect("T7", breakertest.No),
		// any success closes it, and any failure ends the probe
		breakertest.Expect("T8", breakertest.No),
		breakertest.Expect("T10", breakertest.No),
		breakertest.Expect("T12", breakertest.No),
		breakertest.Expect("T13a", breakertest.No),
		breakertest.Expect("T13b", breakertest.No),
		// it has no such setting, and no Do
		breakertest.Expect("T13d", breakertest.Cannot),
		breakertest.Expect("panic", breakertest.Cannot),
		breakertest.Expect("Goexit", breakertest.Cannot),
	)
}

// TestOurBreakerInAnOutage plays a scenario of the library with it.
func TestOurBreakerInAnOutage(t *testing.T) {
	refused := map[int]time.Duration{}
	for _, e := range breakertest.PlayBuiltin(t, "vanished-probe", newHomemade) {
		if e.Kind == trace.Refuse {
			refused[e.Call] = e.T
		}
	}
	assert.Equal(t, map[int]time.Duration{4: 32999 * time.Millisecond, 6: 40 * time.Second, 7: 80 * time.Second,
		8: 95 * time.Second, 9: 100 * time.Second, 10: 110 * time.Second}, refused, "the lost probe of call 5 has the slot for good")
}
