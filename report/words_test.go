package report

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestClock(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": 0, "33 s": 33 * time.Second, "200 ms": 200 * time.Millisecond, "1.5 µs": 1500, "7 ns": 7,
		"32.999999999 s": 32999999999, "1 min 35.2 s": 95200 * time.Millisecond, "2 h 5 min": 125 * time.Minute,
		"1 min 0.000000001 s": time.Minute + 1, "50 h": 50 * time.Hour, "-2 s": -2 * time.Second,
		"1.05 s": 1050 * time.Millisecond,
	} {
		assert.Equal(t, want, Clock(d))
	}
}

func TestApprox(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 7: "7 ns", 1540: "1.5 µs", 200 * time.Millisecond: "200 ms", 999960 * time.Microsecond: "1 s",
		3213 * time.Millisecond: "3.2 s", 59940 * time.Millisecond: "59.9 s", 59960 * time.Millisecond: "1 min",
		125400 * time.Millisecond: "2 min 5.4 s", time.Hour - time.Millisecond: "1 h", time.Hour - 100*time.Millisecond: "59 min 59.9 s", 72*time.Minute + 29*time.Second: "1 h 12 min",
		1402*time.Hour + 30*time.Second: "1,402 h 1 min", math.MaxInt64: "2,562,047 h 47 min",
	} {
		assert.Equal(t, want, approx(d))
	}
}
