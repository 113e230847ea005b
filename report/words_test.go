package report

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/sim/trace"
)

func TestClock(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": 0, "33 s": 33 * time.Second, "200 ms": 200 * time.Millisecond, "1.5 µs": 1500, "7 ns": 7,
		"32.999999999 s": 32999999999, "1 min 35.2 s": 95200 * time.Millisecond, "2 h 5 min": 125 * time.Minute,
		"1 min 0.000000001 s": time.Minute + 1, "50 h": 50 * time.Hour, "-2 s": -2 * time.Second,
		"1.05 s": 1050 * time.Millisecond, "8,760 h": 8760 * time.Hour,
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

// TestMomentsHaveOneClock: what a run is told in depends on its end alone, but
// for what goes far beyond it.
func TestMomentsHaveOneClock(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		end  time.Duration
		at   time.Duration
		want string
	}{
		{s, 1500 * time.Millisecond, "1,500 ms"}, {s, 1, "1 ns"}, {s, 30 * s, "30 s"},
		{2 * s, 1500 * time.Millisecond, "1.5 s"}, {5 * m, 5 * m, "300 s"}, {5 * m, 95200 * time.Millisecond, "95.2 s"}, {2 * m, 200 * time.Millisecond, "200 ms"},
		{2 * m, 153300 * time.Millisecond, "153.3 s"}, {5*m + 1, 60 * s, "1 min"}, {90 * m, 80 * m, "80 min"}, {3 * time.Hour, 3 * time.Hour, "180 min"},
		{30 * m, 24*time.Hour + 40*s, "24 h 40 s"}, {3*time.Hour + 1, 80 * m, "1 h 20 min"}, {2000 * time.Hour, 1402 * time.Hour, "1,402 h"},
		{5 * m, time.Microsecond + 33*s, "33 s"},
	} {
		assert.Equal(t, c.want, moment(c.at, c.end), "%v of %v", c.at, c.end)
	}
}

// TestSpell rounds to what a share of a run needs.
func TestSpell(t *testing.T) {
	const s, m = time.Second, time.Minute
	for _, c := range []struct {
		d, end time.Duration
		want   string
	}{
		{95240 * time.Millisecond, 2 * m, "95.2 s"}, {999960 * time.Microsecond, 2 * m, "1 s"}, {1234 * time.Microsecond, 2 * m, "1.2 ms"},
		{72*m + 340*time.Millisecond, 90 * m, "72 min 0.3 s"}, {72*m + 31*s, 144 * time.Hour, "1 h 13 min"}, {45700 * time.Millisecond, 144 * time.Hour, "45.7 s"},
	} {
		assert.Equal(t, c.want, spell(c.d, c.end), "%v of %v", c.d, c.end)
	}
}

// TestReadable has texts of scenarios, and names that only look like them.
func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"25s": "25 s", "uniform 31s to 1m30s": "uniform 31 s to 1 min 30 s", "lognormal, p50 1.5ms, p99 100µs": "lognormal, p50 1.5 ms, p99 100 µs",
		"70% success, 30% failure": "70 % success, 30 % failure", "4 attempts, waits from 100ms doubling up to 10s, no jitter": "4 attempts, waits from 100 ms doubling up to 10 s, no jitter",
		"p99 of opus_47s": "p99 of opus_47s", "24h": "24 h", "9999999999h": "9999999999h", "30 s": "30 s", "": "",
	} {
		assert.Equal(t, want, Readable(text))
		assert.Equal(t, want, Readable(want), "once is enough")
	}
}

// TestARunIsReadable, and its trace stays as it is.
func TestARunIsReadable(t *testing.T) {
	r := &trace.RunInfo{PolicyAbout: "waits of 1s", Targets: []trace.Target{{Name: "in_47s", Latency: "1s", Network: "2s", Outcome: "10% failure", Bursts: &trace.Bursts{Outcome: "5% failure", Latency: "3s"},
		Phases: []trace.TargetPhase{{Outcome: "1% failure", Latency: "4s"}}, Segments: []trace.Segment{{Outcome: "2% failure"}}}}}
	h := recorded(t, r)
	assert.Equal(t, &trace.RunInfo{PolicyAbout: "waits of 1 s", Targets: []trace.Target{{Name: "in_47s", Latency: "1 s", Network: "2 s", Outcome: "10 % failure", Bursts: &trace.Bursts{Outcome: "5 % failure", Latency: "3 s"},
		Phases: []trace.TargetPhase{{Outcome: "1 % failure", Latency: "4 s"}}, Segments: []trace.Segment{{Outcome: "2 % failure"}}}}}, h.Run)
	assert.Equal(t, "3s 4s 2% failure", r.Targets[0].Bursts.Latency+" "+r.Targets[0].Phases[0].Latency+" "+r.Targets[0].Segments[0].Outcome)
}
