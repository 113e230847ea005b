package machine

import "time"

// tally is what came of some calls.
type tally struct{ calls, failures, slow int }

func (t *tally) add(o tally) {
	t.calls += o.calls
	t.failures += o.failures
	t.slow += o.slow
}

func (t *tally) take(o tally) { t.add(tally{-o.calls, -o.failures, -o.slow}) }

// count counts one call.
func (t *tally) count(failed, slow bool) {
	t.calls++
	if failed {
		t.failures++
	}
	if slow {
		t.slow++
	}
}

// window is the results that a breaker looks back on, with their sum: those of a
// ring of calls, or of buckets of time.
type window struct {
	sum tally
	i   int // where the latest is

	ring []outcome // a byte each; empty: it is of buckets

	buckets []tally
	width   time.Duration // of a bucket
	end     time.Duration // of the latest bucket; it is not in it
}

// outcome is how one call of a ring ended.
type outcome uint8

const (
	wasThere outcome = 1 << iota
	wasFailed
	wasSlow
)

func (o outcome) tally() tally {
	return tally{int(o & wasThere), int(o&wasFailed) / int(wasFailed), int(o&wasSlow) / int(wasSlow)}
}

// newWindow makes an empty one, or nil for none.
func newWindow(w Window) *window {
	switch {
	case w.Calls > 0:
		return &window{ring: make([]outcome, w.Calls)}
	case w.Span > 0:
		width := w.Span / time.Duration(w.buckets())
		return &window{buckets: make([]tally, w.buckets()), width: width, end: width}
	}
	return nil
}

// add counts a result at now.
func (w *window) add(now time.Duration, failed, slow bool) {
	if w.ring == nil {
		if now >= w.end {
			w.advance(now)
		}
		w.buckets[w.i].count(failed, slow)
		w.sum.count(failed, slow)
		return
	}
	if w.i++; w.i == len(w.ring) {
		w.i = 0
	}
	one := wasThere
	if failed {
		one |= wasFailed
	}
	if slow {
		one |= wasSlow
	}
	if old := w.ring[w.i]; old != one {
		w.sum.take(old.tally())
		w.sum.add(one.tally())
		w.ring[w.i] = one
	}
}

// advance begins buckets anew until the latest is that of now, which is past it.
func (w *window) advance(now time.Duration) {
	for fresh := w.fresh(now); fresh > 0; fresh-- {
		if w.i++; w.i == len(w.buckets) {
			w.i = 0
		}
		w.sum.take(w.buckets[w.i])
		w.buckets[w.i] = tally{}
	}
	w.end = addSaturated(now-now%w.width, w.width)
}

// fresh is how many buckets begin anew for a result at now.
func (w *window) fresh(now time.Duration) int {
	if now < w.end {
		return 0
	}
	return int(min((now-w.end)/w.width+1, time.Duration(len(w.buckets))))
}

// seen is what the window holds at now.
func (w *window) seen(now time.Duration) tally {
	sum := w.sum
	if w.ring == nil {
		for k := range w.fresh(now) {
			sum.take(w.buckets[(w.i+1+k)%len(w.buckets)])
		}
	}
	return sum
}

func (w *window) clear() {
	clear(w.ring)
	clear(w.buckets)
	w.sum = tally{}
}

// rule is that by which what the window holds opens the breaker; empty: none.
func (t *Trip) rule(sum tally) Rule {
	switch {
	case t.Failures > 0 && sum.failures >= t.Failures:
		return T21
	case sum.calls < t.MinCalls:
		return ""
	case t.FailureRate > 0 && sum.rate(sum.failures) >= t.FailureRate:
		return T21
	case t.SlowRate > 0 && sum.rate(sum.slow) >= t.SlowRate:
		return T22
	}
	return ""
}

// rate is the share of n in the calls. It is the number nearest to the
// quotient, so 3 of 30 are 0.1 as one writes it.
func (t *tally) rate(n int) float64 { return float64(n) / float64(t.calls) }

// Held is what the window held after the latest result that went into it, such
// as the one by which T21 or T22 opened the breaker. All are 0 without a window.
func (b *ToolBreaker) Held() (calls, failures, slow int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.m.window == nil {
		return 0, 0, 0
	}
	sum := b.m.window.sum
	return sum.calls, sum.failures, sum.slow
}
