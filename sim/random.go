package sim

import (
	"math"
	"time"
)

// Key names a draw. Randomness is not a stream: a draw is a function of the
// seed and of what it is for, so adding one shifts no other, and two runs that
// ask the same question get the same answer.
type Key uint64

// NewKey is the root of all keys of a run.
func NewKey(seed uint64) Key { return Key(mix(seed + golden)) }

// Name is the key below k for a name.
func (k Key) Name(s string) Key {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return k.Number(h)
}

// Number is the key below k for a number.
func (k Key) Number(n uint64) Key { return Key(mix(uint64(k) + golden*(n+1))) }

const golden = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio

// mix is the finalizer of splitmix64: every bit of z reaches every bit of the result.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uniform is uniform in [0, 1).
func (k Key) Uniform() float64 { return float64(k>>11) * 0x1p-53 }

// Between is uniform in [a, b), rounded to nanoseconds; a if b is not above it.
func (k Key) Between(a, b time.Duration) time.Duration {
	if b <= a {
		return a
	}
	return a + round(float64(k.Uniform()*float64(b-a)))
}

// Exponential has the given mean.
func (k Key) Exponential(mean time.Duration) time.Duration {
	return round(float64(-ln(1-k.Uniform()) * float64(mean)))
}

// Lognormal has the given median and 99th percentile, both above 0.
func (k Key) Lognormal(p50, p99 time.Duration) time.Duration {
	const z99 = 2.3263 // the 99th percentile of the standard normal, as scenario files define it
	sigma := ln(float64(p99)/float64(p50)) / z99
	z := normalQuantile((float64(k>>11) + 0.5) * 0x1p-53)
	return round(float64(float64(p50) * exp(float64(sigma*z))))
}

// longest bounds what a draw can return, far above any run and far below overflow.
const longest = time.Duration(math.MaxInt64 / 4)

func round(ns float64) time.Duration {
	if ns >= float64(longest) {
		return longest
	}
	return time.Duration(math.Round(ns))
}
