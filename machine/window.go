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

// window is the results that a breaker looks back on, with their sum. It holds
// a tally for each call of a ring, or for each bucket of time.
type window struct {
	parts []tally
	width time.Duration // of a bucket; 0: a part is a call
	at    int64         // the latest part, counted from the first there ever was
	i     int           // where it is in parts
	sum   tally
}

// newWindow makes an empty one, or nil for none.
func newWindow(w Window) *window {
	switch {
	case w.Calls > 0:
		return &window{parts: make([]tally, w.Calls)}
	case w.Span > 0:
		return &window{parts: make([]tally, w.buckets()), width: w.Span / time.Duration(w.buckets())}
	}
	return nil
}

// add counts a result at now: the parts that it comes after begin anew.
func (w *window) add(now time.Duration, failed, slow bool) {
	for fresh := w.fresh(now); fresh > 0; fresh-- {
		w.i = w.after(w.i)
		w.sum.take(w.parts[w.i])
		w.parts[w.i] = tally{}
	}
	w.at = w.part(now)
	w.parts[w.i].count(failed, slow)
	w.sum.count(failed, slow)
}

// seen is what the window holds at now.
func (w *window) seen(now time.Duration) tally {
	sum := w.sum
	if w.width > 0 {
		i := w.i
		for fresh := w.fresh(now); fresh > 0; fresh-- {
			i = w.after(i)
			sum.take(w.parts[i])
		}
	}
	return sum
}

// part is the number of the part that a result at now goes to.
func (w *window) part(now time.Duration) int64 {
	if w.width == 0 {
		return w.at + 1
	}
	return max(w.at, int64(now/w.width)) // an instant before 0 is in the first
}

// fresh is how many parts begin anew for a result at now.
func (w *window) fresh(now time.Duration) int64 {
	return min(w.part(now)-w.at, int64(len(w.parts)))
}

func (w *window) after(i int) int {
	if i++; i < len(w.parts) {
		return i
	}
	return 0
}

func (w *window) clear() {
	clear(w.parts)
	w.sum = tally{}
}

// rule is that by which what the window holds opens the breaker; empty: none.
func (t *Trip) rule(sum tally) Rule {
	switch {
	case sum.failures == 0 && sum.slow == 0:
		return ""
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
