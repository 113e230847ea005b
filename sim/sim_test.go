package sim

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// inOrder is the order of events, one thing after the other.
func inOrder(a, b Event) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.What, b.What))
}

// TestOrder holds the clock against the dumbest queue there is: a list that is
// sorted again whenever something is taken off it.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Clock
		var dumb []Event
		near := rapid.Bool().Draw(t, "near")
		add := func() {
			in := rapid.Int64Range(0, 1<<rapid.IntRange(0, 57).Draw(t, "digits")).Draw(t, "in")
			if near {
				in %= 5
			}
			e := Event{At: c.Now() + time.Duration(in), Class: Class(rapid.IntRange(0, 2).Draw(t, "class")), Seq: uint64(rapid.IntRange(0, 3).Draw(t, "seq")), What: uint32(len(dumb))}
			c.Schedule(e)
			dumb = append(dumb, e)
		}
		for range rapid.IntRange(0, 60).Draw(t, "first") {
			add()
		}
		for range rapid.IntRange(1, 3).Draw(t, "stretches") { // a queue that was left is gone on with
			end := c.Now() + time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(3, 58).Draw(t, "reach")).Draw(t, "end"))
			for got := range c.Until(end) {
				slices.SortFunc(dumb, inOrder)
				assert.Equal(t, dumb[0], got)
				assert.Equal(t, got.At, c.Now())
				dumb = dumb[1:]
				for range rapid.IntRange(0, 1).Draw(t, "more") {
					add()
				}
				if rapid.IntRange(0, 20).Draw(t, "stop") == 0 {
					break
				}
				if len(dumb) > 200 {
					return
				}
			}
			add()
		}
	})
}

// TestNothingDueIsLeft plays all there is.
func TestNothingDueIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Clock
		n := rapid.IntRange(0, 300).Draw(t, "events")
		for i := range n {
			c.Schedule(Event{At: time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(0, 62).Draw(t, "digits")).Draw(t, "at")), Seq: uint64(i)})
		}
		played := 0
		for range c.Until(math.MaxInt64) {
			played++
		}
		assert.Equal(t, n, played)
	})
}

// TestAnInstantCanGoOn: what is scheduled for now while now is played is played,
// in its place, and does not pile up.
func TestAnInstantCanGoOn(t *testing.T) {
	var c Clock
	c.Schedule(Event{At: 1, Class: 1})
	var classes []Class
	for e := range c.Until(1) {
		if classes = append(classes, e.Class); len(classes) < 100_000 {
			c.Schedule(Event{At: 1, Class: Class(len(classes) % 3), Seq: uint64(len(classes))})
		}
	}
	assert.Len(t, classes, 100_000)
	assert.Less(t, cap(c.due.run)+cap(c.due.heap), 1000)
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	for _, e := range []Event{{Class: 16}, {Seq: 1 << 32}, {What: 1 << 28}} {
		var c Clock
		assert.Panics(t, func() { c.Schedule(e) })
	}
}

func TestScheduleInThePastIsNow(t *testing.T) {
	var c Clock
	c.Schedule(Event{At: 5})
	var at []time.Duration
	for e := range c.Until(10) {
		if at = append(at, e.At); len(at) == 1 {
			c.Schedule(Event{At: 3})
		}
	}
	assert.Equal(t, []time.Duration{5, 5}, at)
}

func TestUntilCanStopEarly(t *testing.T) {
	var c Clock
	c.Schedule(Event{At: 1})
	c.Schedule(Event{At: 2})
	for range c.Until(10) {
		break
	}
	n := 0
	for range c.Until(10) {
		n++
	}
	assert.Equal(t, 1, n)
}

func TestKeysAreNamedNotOrdered(t *testing.T) {
	a := NewKey(1).Name("search").Number(3)
	assert.Equal(t, a, NewKey(1).Name("search").Number(3), "the same question, the same answer")
	others := []Key{NewKey(2).Name("search").Number(3), NewKey(1).Name("searcg").Number(3), NewKey(1).Name("search").Number(4), NewKey(1).Number(3).Name("search")}
	for _, o := range others {
		assert.NotEqual(t, a, o)
	}
	// A pinned value: a change of the hash changes every recorded run.
	assert.Equal(t, Key(0x369fb1a5152be838), a)
}

// moments draws n keys and returns the mean and standard deviation of f.
func moments(n int, f func(Key) float64) (mean, sd float64) {
	k := NewKey(7).Name("moments")
	var sum, squares float64
	for i := range n {
		v := f(k.Number(uint64(i)))
		sum += v
		squares += v * v
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(squares/float64(n) - mean*mean)
}

func TestDistributions(t *testing.T) {
	const n = 200_000
	mean, sd := moments(n, Key.Uniform)
	assert.InDelta(t, 0.5, mean, 0.003)
	assert.InDelta(t, math.Sqrt(1.0/12), sd, 0.003)

	mean, sd = moments(n, func(k Key) float64 { return k.Exponential(time.Second).Seconds() })
	assert.InDelta(t, 1, mean, 0.01)
	assert.InDelta(t, 1, sd, 0.02)

	mean, sd = moments(n, func(k Key) float64 { return k.Between(time.Second, 3*time.Second).Seconds() })
	assert.InDelta(t, 2, mean, 0.01)
	assert.InDelta(t, math.Sqrt(4.0/12), sd, 0.01)

	k := NewKey(7).Name("lognormal")
	below50, below99 := 0, 0
	for i := range uint64(n) {
		d := k.Number(i).Lognormal(200*time.Millisecond, 2*time.Second)
		if d <= 200*time.Millisecond {
			below50++
		}
		if d <= 2*time.Second {
			below99++
		}
	}
	assert.InDelta(t, 0.50, float64(below50)/n, 0.004)
	assert.InDelta(t, 0.99, float64(below99)/n, 0.001)
}

func TestDrawsAtTheEdges(t *testing.T) {
	assert.Equal(t, time.Duration(5), Key(math.MaxUint64).Between(5, 5))
	assert.Equal(t, time.Duration(0), Key(0).Exponential(time.Second))
	assert.Equal(t, 36736800570*time.Nanosecond, Key(math.MaxUint64).Exponential(time.Second), "53 times ln 2, the longest there is")
	assert.Equal(t, longest, Key(math.MaxUint64).Lognormal(1, longest), "no overflow")
	assert.Equal(t, time.Second, Key(1<<63).Lognormal(time.Second, time.Second), "no spread")
}

// TestMath holds the portable functions against those of package math, which
// are as good but not the same on every processor.
func TestMath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-18, 1e18).Draw(t, "x")
		assert.InEpsilon(t, 1+math.Abs(math.Log(x)), 1+math.Abs(ln(x)), 4e-16)
		y := rapid.Float64Range(-700, 700).Draw(t, "y")
		assert.InEpsilon(t, math.Exp(y), exp(y), 1e-15)
		p := rapid.Float64Range(1e-12, 1-1e-12).Draw(t, "p")
		assert.InDelta(t, math.Sqrt2*math.Erfinv(2*p-1), normalQuantile(p), 1e-8*(1+1/p*1e-7))
	})
	assert.Equal(t, 0.0, ln(1))
	assert.Equal(t, 1.0, exp(0))
	assert.Equal(t, 0.0, normalQuantile(0.5))
	assert.Equal(t, 0.0, exp(-1000))
	assert.True(t, math.IsInf(exp(1000), 1))
	assert.InDelta(t, 2.3263478740408408, normalQuantile(0.99), 1e-15)
	assert.InDelta(t, -4.753424308822899, normalQuantile(1e-6), 1e-14)
	assert.InDelta(t, -7.941345326170998, normalQuantile(1e-15), 1e-13)
}

// BenchmarkHold is the queue at a steady number of pending events: take one
// off, put one on, beside the library's heap of pointers.
func BenchmarkHold(b *testing.B) {
	k := NewKey(1)
	increments := map[string]func(i int) time.Duration{
		"exponential": func(i int) time.Duration { return k.Number(uint64(i)).Exponential(time.Second) },
		"constant":    func(int) time.Duration { return time.Second },
		"tied":        func(i int) time.Duration { return time.Duration(k.Number(uint64(i))%8) * time.Second },
		"zero":        func(int) time.Duration { return 0 },
	}
	for _, pending := range []int{100, 10_000, 1_000_000} {
		for _, name := range []string{"exponential", "constant", "tied", "zero"} {
			drawn := make([]time.Duration, 1<<16) // the draws take longer than the queue
			for i := range drawn {
				drawn[i] = increments[name](i)
			}
			at := func(i int) time.Duration { return drawn[i&(1<<16-1)] }
			b.Run(fmt.Sprintf("%d/%s/radix", pending, name), func(b *testing.B) {
				var c Clock
				for i := range pending {
					c.Schedule(Event{At: at(i), Seq: uint64(i)})
				}
				b.ReportAllocs()
				n := -pending // until each has had its turn
				for e := range c.Until(math.MaxInt64) {
					if n++; n == 0 {
						b.ResetTimer()
					} else if n >= b.N {
						break
					}
					c.Schedule(Event{At: e.At + at(n+pending), Seq: uint64(n + 2*pending)})
				}
			})
			b.Run(fmt.Sprintf("%d/%s/container-heap", pending, name), func(b *testing.B) {
				h := new(pointers)
				for i := range pending {
					heap.Push(h, &Event{At: at(i), Seq: uint64(i)})
				}
				b.ReportAllocs()
				for n := -pending; n < b.N; n++ {
					if n == 0 {
						b.ResetTimer()
					}
					e := heap.Pop(h).(*Event)
					e.At, e.Seq = e.At+at(n+pending), uint64(n+2*pending)
					heap.Push(h, e)
				}
			})
		}
	}
}

// pointers is the queue as most people write it.
type pointers []*Event

func (p pointers) Len() int { return len(p) }
func (p pointers) Less(i, k int) bool {
	a, b := p[i], p[k]
	if a.At != b.At {
		return a.At < b.At
	}
	if a.Class != b.Class {
		return a.Class < b.Class
	}
	return a.Seq < b.Seq
}
func (p pointers) Swap(i, k int) { p[i], p[k] = p[k], p[i] }
func (p *pointers) Push(e any)   { *p = append(*p, e.(*Event)) }
func (p *pointers) Pop() any {
	n := len(*p) - 1
	e := (*p)[n]
	*p = (*p)[:n]
	return e
}
