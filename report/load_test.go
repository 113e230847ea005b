package report

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestSteps has seven seconds of which the last is cut, and one bin at the end.
func TestSteps(t *testing.T) {
	const sec = time.Second
	s := &Series{Bin: sec}
	for k := range 7 {
		s.Bins = append(s.Bins, Bin{Attempts: k, Good: 1, Refused: 2, Busy: k, Queue: 7 - k})
	}
	s.Bins = append(s.Bins, Bin{Attempts: 100, Queue: 3}) // at the very end, 7 s
	assert.Equal(t, []loadStep{{0, 2 * sec, 0.5, 1, 2, 1, 7}, {2 * sec, 4 * sec, 2.5, 1, 2, 3, 5}, {4 * sec, 6 * sec, 4.5, 1, 2, 5, 3}, {6 * sec, 7 * sec, 6, 1, 2, 6, 3}},
		stepsOf(s, nil, 2*sec, 0, 7*sec, 7*sec))
	assert.Equal(t, []loadStep{{3 * sec, 4 * sec, 2.5, 1, 2, 3, 5}, {4 * sec, 5 * sec, 4.5, 1, 2, 5, 3}}, stepsOf(s, nil, 2*sec, 3*sec, 5*sec, 7*sec), "a stretch cuts steps, not their means")
	assert.Equal(t, []loadStep{{0, 500 * time.Millisecond, 0, 1, 2, 0, 7}}, stepsOf(s, nil, sec, 0, 500*time.Millisecond, 500*time.Millisecond), "a run of half a second")
}

// TestStepFor has steps that are wide enough to be seen, that hold some calls, and
// of which there are some.
func TestStepFor(t *testing.T) {
	const sec = time.Second
	every := func(bin, span, apart time.Duration, calls int) *Series {
		s := &Series{Bin: bin, Bins: make([]Bin, span/bin)}
		for at := time.Duration(0); at < span; at += apart {
			s.Bins[at/bin].Attempts += calls - calls/2
			s.Bins[at/bin].Refused += calls / 2
		}
		return s
	}
	for name, tt := range map[string]struct {
		from, to time.Duration
		all      []*Series
		want     time.Duration
	}{
		"a call a second":     {0, 10 * time.Minute, []*Series{every(sec, 10*time.Minute, sec, 1)}, 5 * sec},
		"two at a time":       {0, 210 * sec, []*Series{every(sec, 210*sec, 2*sec, 2)}, 10 * sec},
		"many":                {0, 5 * time.Minute, []*Series{every(sec, 5*time.Minute, sec, 9)}, 2 * sec},
		"the idler counts":    {0, 10 * time.Minute, []*Series{every(sec, 10*time.Minute, sec, 9), every(sec, 10*time.Minute, 3*sec, 1)}, 15 * sec},
		"one that is idle":    {0, 5 * time.Minute, []*Series{every(sec, 5*time.Minute, sec, 9), {Bin: sec, Bins: make([]Bin, 300)}}, 2 * sec},
		"too few calls":       {0, time.Minute, []*Series{every(sec, time.Minute, 20*sec, 1)}, 2 * sec},
		"few in this stretch": {5 * time.Minute, 6 * time.Minute, []*Series{every(sec, 5*time.Minute, sec, 9)}, sec},
		"a short run":         {0, 3 * sec, []*Series{every(sec, 3*sec, sec, 1)}, sec},
		"long":                {0, time.Hour, []*Series{every(sec, time.Hour, sec, 1)}, 30 * sec},
		"wide bins":           {0, time.Hour, []*Series{every(sec, time.Hour, sec, 1), every(time.Minute, time.Hour, time.Minute, 9)}, time.Minute},
	} {
		assert.Equal(t, tt.want, stepFor(tt.all, nil, tt.from, tt.to, 600), name)
	}
}

// TestCallsAcrossSteps has so many calls a second, that succeed after so many tenths
// of one. Who counts them in steps of 2 s by their ends alone may see more succeed
// than were made.
func TestCallsAcrossSteps(t *testing.T) {
	const sec = time.Second
	for name, tt := range map[string]struct {
		calls           int
		tenths          []int
		byEnds, settled []float64
	}{
		"at once":          {1, []int{0, 0, 0, 0}, []float64{1, 1}, []float64{1, 1}},
		"some are slower":  {1, []int{3, 13, 3, 3, 3, 13, 3, 3}, []float64{0.5, 1.5, 0.5, 1.5}, []float64{1, 1, 1, 1}},
		"handed on":        {1, []int{3, 13, 3, 13, 3, 3}, []float64{0.5, 1, 1.5}, []float64{1, 1, 1}},
		"the last goes on": {1, []int{3, 3, 3, 13}, []float64{1, 0.5}, []float64{1, 0.5}},
		"hung":             {1, []int{45, 35, 3, 3, 3, 3}, []float64{0, 1, 2}, []float64{0, 1, 2}},
		"one of them hung": {1, []int{45, 3, 3, 13, 3, 3}, []float64{0.5, 0.5, 2}, []float64{0.5, 1, 1.5}},
		"a queue drains":   {5, []int{20, 15, 10, 5, 0, 0}, []float64{0, 10, 5}, []float64{0, 10, 5}},
	} {
		n := len(tt.tenths)
		s := &Series{Bin: sec, Bins: make([]Bin, n+5)}
		var marks []Mark
		for k, tenths := range tt.tenths {
			start := time.Duration(k) * sec
			end := start + time.Duration(tenths)*sec/10
			s.Bins[k].Attempts += tt.calls
			s.Bins[end/sec].Good += tt.calls
			marks = append(marks, slices.Repeat([]Mark{{At: end, Start: start, Outcome: trace.Success}}, tt.calls)...)
		}
		good := func(marks []Mark) (all []float64) {
			for _, o := range stepsOf(s, marks, 2*sec, 0, time.Duration(n)*sec, time.Duration(n)*sec) {
				all = append(all, o.good)
			}
			return all
		}
		assert.Equal(t, tt.byEnds, good(nil), name)
		assert.Equal(t, tt.settled, good(marks), name)
	}
}

func TestRates(t *testing.T) {
	for most, want := range map[float64]string{1234.4: "1,234/s", 99.6: "99.6/s", 4.567: "4.57/s", 1: "1/s", 0.5: "30/min", 0.01: "36/h", 1e-4: "8.64/day", 1e-9: "0.0000864/day", 0: "0"} {
		assert.Equal(t, want, rateFor(most).text(most), "%v", most)
	}
	perMinute := rateFor(0.1)
	for n, want := range map[float64]string{5.8: "5.8/min", 0.25: "0.25/min", 5.0 / 60: "5/h", 1.0 / 1440: "1/day"} {
		assert.Equal(t, want, perMinute.text(n/60), "%v", n)
	}
}

// textsOf is what a chart writes.
func textsOf(t *testing.T, kind string, r *Results, look Look) (all []string) {
	t.Helper()
	d, err := KindOf(kind).Draw(r, look)
	require.NoError(t, err)
	for _, w := range chartPen(d).texts {
		all = append(all, w.text)
	}
	return all
}

// TestLoadOfAStretch draws ten seconds of two minutes.
func TestLoadOfAStretch(t *testing.T) {
	r := countedWorlds(t)["one policy"]
	all := textsOf(t, "load", r, Look{From: 40 * time.Second, To: 50 * time.Second})
	assert.Subset(t, all, []string{"40 s", "45 s", "50 s", "peaks: 7/s attempts · 3/s good · 0 turned away · 7 waiting", "outage of a target"})
	assert.NotContains(t, all, "0 s")
	assert.NotContains(t, all, "60 s")
	assert.NotContains(t, all, "turned away: refused or exhausted, below zero", "nothing is")
	assert.NotContains(t, textsOf(t, "load", r, Look{From: 100 * time.Second}), "outage of a target")
	_, err := KindOf("load").Draw(r, Look{From: 2 * time.Minute})
	assert.EqualError(t, err, "the run ends at 120 s; nothing comes after 120 s")
}

func TestLoadInWords(t *testing.T) {
	d, err := KindOf("load").Draw(resultsOf(t, world{policy: "p", end: 8 * time.Second, targets: 1}, 2, 2, func(r *Results) {
		for _, s := range r.Series {
			for k := range s.Bins {
				s.Bins[k].Busy, s.Bins[k].Queue = 0, 0
			}
		}
	}), Look{})
	require.NoError(t, err)
	_, _, desc := d.words()
	assert.Equal(t, "Under p-0: at most 7/s attempts, 3/s good. Under p-1: at most 14/s attempts, 7/s good, 12/s turned away. "+
		"target0 from 2 s to 4 s: timeout. target0 from 4 s to 6 s: 70 % success, 30 % failure.", desc)
}

// targetsOf are results of policies that share calls out among targets, the k-th of
// which gets k times as many, and each fails where no other does.
func targetsOf(t *testing.T, policies, targets int) *Results {
	const sec = time.Second
	return resultsOf(t, world{policy: "p", end: time.Minute}, policies, 1, func(r *Results) {
		for i, s := range r.Series {
			s.Bins = make([]Bin, 60)
			for k := range targets {
				at := time.Duration(10*k) * sec
				target := trace.Target{Name: "t" + strconv.Itoa(k+1), Segments: []trace.Segment{{Success: 1}, {At: at, Outcome: trace.Failure}, {At: at + 10*sec, Success: 1}}}
				r.Panels[i].Run.Targets = append(r.Panels[i].Run.Targets, target)
				p := &seriesPart{target.Name, Series{Bin: sec, Bins: make([]Bin, 60)}}
				for b := range p.Bins {
					p.Bins[b].Attempts = 6 * (k + 1)
					s.Bins[b].Attempts += 6 * (k + 1)
				}
				s.parts = append(s.parts, p)
			}
		}
	})
}

// TestTargetsHaveStrips where the strips are few.
func TestTargetsHaveStrips(t *testing.T) {
	labels := func(r *Results) (all []string) {
		for _, s := range loadOf(t, r).strips {
			all = append(all, s.label.String())
		}
		return all
	}
	assert.Equal(t, []string{"t1", "t2", "t3"}, labels(targetsOf(t, 1, 3)))
	assert.Equal(t, []string{"p-0: t1", "p-0: t2", "p-1: t1", "p-1: t2"}, labels(targetsOf(t, 2, 2)))
	assert.Equal(t, []string{"p-0", "p-1"}, labels(targetsOf(t, 2, 3)), "six are too many")
	assert.Equal(t, []string{"p-0"}, labels(targetsOf(t, 1, 1)))
	assert.Equal(t, []string{"p-0", "p-0 with seed=7"}, labels(varied(targetsOf(t, 1, 2), "seed=7")), "variants are compared, not targets")
	idle := targetsOf(t, 1, 3)
	idle.Series[0].parts[1].Bins = make([]Bin, 60)
	assert.Equal(t, []string{"t1", "t3"}, labels(idle), "t2 is asked for nothing")

	r := targetsOf(t, 2, 2)
	r.Series[1].parts[0].Bins = make([]Bin, 60)
	c := loadOf(t, r)
	assert.Contains(t, c.desc, "Under p-1, at t1: no calls. Under p-1, at t2: at most 12/s attempts")
	assert.Equal(t, 0.0, c.strips[2].low-c.strips[2].top, "no room for nothing")
	assert.Contains(t, textsOf(t, "load", r, Look{}), "no calls")

	c = loadOf(t, targetsOf(t, 1, 3))
	assert.InDelta(t, 12, c.strips[1].peak.attempts, 1e-9)
	assert.Equal(t, []trace.Span{{From: 10 * time.Second, To: 20 * time.Second}}, c.strips[1].outages(time.Minute), "no other target's")
	assert.Equal(t, "At t1: at most 6/s attempts, 0 good. At t2: at most 12/s attempts, 0 good. At t3: at most 18/s attempts, 0 good. "+
		"t1 from 0 s to 10 s: failure. t2 from 10 s to 20 s: failure. t3 from 20 s to 30 s: failure.", c.desc)
	assert.Contains(t, loadOf(t, targetsOf(t, 2, 2)).desc, "Under p-1, at t2: at most 12/s attempts, 0 good. ")
	assert.Contains(t, textsOf(t, "load", targetsOf(t, 1, 3), Look{}), loadAbout+", target by target, all to one scale")
}

// TestFared tells all of a few stretches and how many more there are of others.
func TestFared(t *testing.T) {
	const sec = time.Second
	ill := func(n int) (all []stretchOfTruth) {
		for k := range n {
			from := time.Duration(2*k) * sec
			all = append(all, stretchOfTruth{Span: trace.Span{From: from, To: from + sec}, look: "down", words: []string{"timeout"}},
				stretchOfTruth{Span: trace.Span{From: from + sec, To: from + 2*sec}, look: "up", words: []string{"up"}})
		}
		return all
	}
	assert.Empty(t, fared("a", ill(1)[1:], nil, time.Minute))
	assert.Equal(t, "a from 0 s to 1 s: timeout. a from 2 s to 3 s: timeout. a has 1 burst of trouble. ", fared("a", ill(2), []trace.Span{{}}, time.Minute))
	assert.Equal(t, "a from 10 s to 11 s: timeout. And 2 more stretches. ", fared("a", ill(8), nil, time.Minute)[5*len("a from 0 s to 1 s: timeout. "):])
}

// TestCalmTargetsAreTold has targets to which nothing happens.
func TestCalmTargetsAreTold(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "t0 is up all the time, by its script.", 2: "t0 and t1 are up all the time, by their script.", 9: "9 targets are up all the time, by their script."} {
		h := &History{Run: &trace.RunInfo{}}
		for k := range n {
			h.Run.Targets = append(h.Run.Targets, trace.Target{Name: "t" + strconv.Itoa(k)})
		}
		assert.Equal(t, want, (&load{strips: []*strip{{h: h}}}).calm(), "%d", n)
	}
	h := &History{Run: &trace.RunInfo{Targets: []trace.Target{{Name: "a"}, {Name: "b"}}}}
	assert.Equal(t, "b is up all the time, by its script.", (&load{strips: []*strip{{h: h}}, lanes: []truthLane{{name: "a"}}}).calm())
}

// TestSmallLaneIsToldBelow has a stretch too short for its word.
func TestSmallLaneIsToldBelow(t *testing.T) {
	r := resultsOf(t, world{policy: "p", end: 2 * time.Minute}, 1, 1, nil)
	r.Panels[0].Run.Targets = []trace.Target{{Name: "api", Segments: []trace.Segment{{Success: 1}, {At: time.Minute, Outcome: trace.Failure}, {At: time.Minute + time.Second, Success: 1}}}}
	assert.Contains(t, textsOf(t, "load", r, Look{}), "api from 60 s to 61 s: failure.")
	assert.NotContains(t, strings.Join(textsOf(t, "load", r, Look{From: 55 * time.Second, To: 65 * time.Second}), " "), "api from", "the lane says so itself")
}

// TestLegendOfLoad holds what is explained against what there is.
func TestLegendOfLoad(t *testing.T) {
	const sec = time.Second
	slow := func(at time.Duration) []trace.Target {
		return []trace.Target{{Name: "api", Phases: []trace.TargetPhase{{At: at, Latency: "9s"}}, Segments: []trace.Segment{{Success: 1, Phase: trace.NoPhase}, {At: at, Success: 1, Phase: 0}}}}
	}
	down := []trace.Target{{Name: "api", Segments: []trace.Segment{{Success: 1}, {At: 30 * sec, Outcome: trace.Failure}, {At: 40 * sec, Success: 1}}}}
	for name, tt := range map[string]struct {
		bin     Bin
		targets []trace.Target
		bursts  []trace.Span
		want    []string
	}{
		"attempts":   {Bin{Attempts: 9}, nil, nil, []string{"attempts"}},
		"good":       {Bin{Attempts: 9, Good: 1}, nil, nil, []string{"attempts", "goodput: calls that succeeded"}},
		"all refuse": {Bin{Refused: 9}, nil, nil, []string{"turned away: refused or exhausted, below zero"}},
		"served":     {Bin{Attempts: 9, Busy: 1}, nil, nil, []string{"attempts", "being served"}},
		"queue":      {Bin{Attempts: 9, Busy: 1, Queue: 1}, nil, nil, []string{"attempts", "being served", "waiting"}},
		"outage":     {Bin{Attempts: 9}, down, nil, []string{"attempts", "outage of a target"}},
		"slow":       {Bin{Attempts: 9}, slow(20 * sec), nil, []string{"attempts", "a target gets better or worse", "slow"}},
		"slow later": {Bin{Attempts: 9}, slow(50 * sec), nil, []string{"attempts"}},
		"in part":    {Bin{Attempts: 9}, []trace.Target{{Name: "api", Segments: []trace.Segment{{Success: 1}, {At: 20 * sec, Success: 0.5, Outcome: trace.Failure}}}}, nil, []string{"attempts", "a target gets better or worse", "fails in part"}},
		"burst":      {Bin{Attempts: 9}, down[:1:1], []trace.Span{{From: 0, To: sec}}, []string{"attempts", "outage of a target", "burst of trouble"}},
		"burst over": {Bin{Attempts: 9}, down[:1:1], []trace.Span{{From: 45 * sec, To: 46 * sec}}, []string{"attempts", "outage of a target"}},
	} {
		r := resultsOf(t, world{policy: "p", end: time.Minute}, 1, 1, func(r *Results) {
			for k := range r.Series[0].Bins {
				r.Series[0].Bins[k] = tt.bin
			}
			r.Panels[0].Run.Targets, r.Panels[0].Bursts = tt.targets, map[string][]trace.Span{"api": tt.bursts}
		})
		d, err := layOutLoad(r, &Look{To: 40 * sec})
		require.NoError(t, err)
		var got []string
		for _, k := range d.(*load).keys {
			got = append(got, k.text)
		}
		assert.Equal(t, tt.want, got, name)
	}
}

// TestPatternsOfLoadDiffer has one for each look that a picture of load can show
// side by side, in every theme.
func TestPatternsOfLoadDiffer(t *testing.T) {
	for name, theme := range themes {
		seen := map[pattern]string{}
		for _, look := range []string{"away", "queue", "shaky", "slow"} {
			p := theme.patterns[look]
			assert.NotEqual(t, plain, p, "%s in %s", look, name)
			assert.Empty(t, seen[p], "%s in %s looks as that does", look, name)
			seen[p] = look
		}
	}
}
