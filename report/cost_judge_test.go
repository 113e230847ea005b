package report_test

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestMeterAgainstTheJudge holds the meter against a second one, which keeps
// the whole record and looks through it for each figure.
func TestMeterAgainstTheJudge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawRecord(t)
		m := report.NewMeter()
		for i := range l {
			if err := m.Event(&l[i]); err != nil {
				t.Fatal(err)
			}
		}
		assert.Equal(t, judge(l), m.Cost())
	})
}

// end is the end of every drawn record. Instants are on a coarse grid, so that
// ties are common.
const end = 200 * time.Second

func drawInstant(t *rapid.T, from time.Duration, what string) time.Duration {
	return from + time.Duration(rapid.IntRange(0, 60).Draw(t, what))*500*time.Millisecond
}

// block is events that nothing comes between.
type block []trace.Event

func drawRecord(t *rapid.T) trace.List {
	run := trace.RunInfo{}
	for _, name := range []string{"a", "b", "c"} {
		var outages []trace.Span
		at := time.Duration(0)
		for range rapid.IntRange(0, 3).Draw(t, "outages") {
			from := drawInstant(t, at, "from")
			to := drawInstant(t, from+1, "to")
			outages = append(outages, trace.Span{From: from, To: to})
			at = to + 1
		}
		switch from := drawInstant(t, at+90*time.Second, "last"); rapid.IntRange(0, 2).Draw(t, "to the end") {
		case 0:
			outages = append(outages, trace.Span{From: from}) // and beyond
		case 1:
			if from < end {
				outages = append(outages, trace.Span{From: from, To: end})
			}
		}
		run.Targets = append(run.Targets, upAndDown(name, outages...))
	}
	if rapid.Bool().Draw(t, "breakers") {
		run.Breakers = []trace.Breaker{toolBreaker("a"), modelBreaker("m", "b", "c")}
	}
	var blocks []block
	for id := range rapid.IntRange(0, 25).Draw(t, "calls") {
		blocks = append(blocks, drawCall(t, id+1, len(run.Breakers) > 0)...)
	}
	for i := range run.Breakers {
		blocks = append(blocks, drawTransitions(t, &run.Breakers[i])...)
	}
	slices.SortStableFunc(blocks, func(x, y block) int { return cmp.Compare(x[0].T, y[0].T) })
	l := trace.List{{Kind: trace.Run, Run: &run}}
	for _, b := range blocks {
		for _, e := range b {
			if e.T <= end {
				l = append(l, e)
			}
		}
	}
	return append(l, trace.Event{Kind: trace.End, T: end})
}

func drawCall(t *rapid.T, id int, gates bool) (blocks []block) {
	to := rapid.SampledFrom([]string{"a", "b", "c", "m"}).Draw(t, "to")
	at := drawInstant(t, time.Duration(rapid.IntRange(0, 9).Draw(t, "start"))*20*time.Second, "start")
	for attempt := 1; ; attempt++ {
		e := trace.Event{T: at, Kind: trace.Call, Call: id, To: to, Attempt: attempt}
		target := map[string]string{"a": "a", "b": "b", "c": "c", "m": "b"}[to]
		breaker := map[string]string{"a": "a", "m": "m"}[to]
		start := block{e}
		if gates && breaker != "" && rapid.Bool().Draw(t, "asks") {
			gate := trace.Event{T: at, Call: id, Attempt: attempt, Breaker: breaker}
			switch rapid.IntRange(0, 4).Draw(t, "gate") {
			case 0:
				gate.Kind, gate.Would = trace.Refuse, rapid.SampledFrom([]string{"success", "timeout"}).Draw(t, "would")
				return append(blocks, block{e, gate})
			case 1:
				gate.Kind = trace.Exhausted
				return append(blocks, block{e, gate})
			case 2:
				if breaker == "m" {
					target = "c"
				}
			}
			gate.Kind, gate.Target = trace.Admit, target
			start = append(start, gate)
		} else {
			if gates && to == "a" && rapid.Bool().Draw(t, "substitute") {
				target = "b"
				start = append(start, trace.Event{T: at, Kind: trace.Reroute, Call: id, Attempt: attempt, Breaker: "a", From: "a", To: "b"})
			}
			start[0].Target = target
		}
		if rapid.IntRange(0, 5).Draw(t, "vanish") == 0 {
			v := trace.Event{T: at, Kind: trace.Vanish, Call: id, Target: target, Known: rapid.Bool().Draw(t, "known")}
			if v.Known {
				v.Until = drawInstant(t, at, "until")
			}
			return append(blocks, append(start, v))
		}
		blocks = append(blocks, start)
		r := trace.Event{T: drawInstant(t, at, "result"), Kind: trace.Result, Call: id, Attempt: attempt, Target: target,
			Outcome: rapid.SampledFrom([]string{"success", "failure", "timeout", "cancelled"}).Draw(t, "outcome")}
		r.Took = r.T - at
		ended := block{r}
		if rapid.IntRange(0, 4).Draw(t, "hedge") == 0 { // which overtakes it, or is overtaken
			beside := drawInstant(t, at, "beside")
			h := r
			h.Attempt, h.T = attempt+1, max(r.T, beside)
			h.Took = h.T - beside
			if h.Outcome == trace.Success {
				r.T, r.Took, r.Outcome = h.T, h.T-at, trace.Cancelled
			}
			blocks = append(blocks, block{{T: beside, Kind: trace.Hedge, Call: id, Attempt: h.Attempt}, {T: beside, Kind: trace.Call, Call: id, To: to, Attempt: h.Attempt, Target: target}})
			if r.T > beside {
				ended = block{r, h}
			} else {
				ended = block{h}
				blocks = append(blocks[:len(blocks)-1], block{blocks[len(blocks)-1][0], blocks[len(blocks)-1][1], r})
			}
			attempt++
			r = h
		}
		if rapid.Bool().Draw(t, "switch") {
			ended = append(ended, trace.Event{T: r.T, Kind: trace.Switch, Breaker: "m"}, trace.Event{T: r.T, Kind: trace.Health, Breaker: "a"})
		}
		if r.Outcome == trace.Success || attempt >= 3 || rapid.Bool().Draw(t, "over") {
			return append(blocks, ended)
		}
		at = drawInstant(t, r.T, "wait")
		blocks = append(blocks, append(ended, trace.Event{T: r.T, Kind: trace.Retry, Call: id, Attempt: attempt + 1, Wait: at - r.T}))
		if rapid.IntRange(0, 4).Draw(t, "patience") == 0 {
			return append(blocks, block{{T: at, Kind: trace.GiveUp, Call: id}})
		}
	}
}

func drawTransitions(t *rapid.T, b *trace.Breaker) (blocks []block) {
	names, trip := []string{"closed", "open", "half-open"}, "T3"
	if b.Model != nil {
		names, trip = []string{"primary", "fallback", "recovering"}, "M10"
	}
	at, state := time.Duration(0), 0
	for range rapid.IntRange(0, 6).Draw(t, "transitions") {
		effective := drawInstant(t, at, "effective")
		at = effective
		next, rule := (state+1)%3, "T5"
		switch {
		case state == 0:
			rule = trip
		case state == 2 && rapid.Bool().Draw(t, "lapsed"):
			next, rule = 1, "T7"
			at = drawInstant(t, at, "noticed")
		}
		blocks = append(blocks, block{{T: at, Kind: trace.Transition, Breaker: b.Name, From: names[state], To: names[next], Effective: effective, Rule: rule}})
		state = next
	}
	return blocks
}

// judge is the dumb meter.
func judge(l trace.List) report.Cost {
	run := l[0].Run
	c := report.Cost{}
	judgeCalls(l, &c)
	for i := range run.Targets {
		t := &run.Targets[i]
		for k, o := range t.Outages(math.MaxInt64) {
			if o.From <= end {
				c.Outages = append(c.Outages, judgeOutage(l, t, o, k))
			}
		}
	}
	for i := range run.Breakers {
		c.Breakers = append(c.Breakers, judgeBreaker(l, &run.Breakers[i]))
	}
	return c
}

func of(l trace.List, call int) (own trace.List) {
	for _, e := range l {
		if e.Call == call && e.Kind != trace.Transition {
			own = append(own, e)
		}
	}
	return own
}

// starts are the attempts of one call.
func starts(own trace.List) (all trace.List) {
	for _, e := range own {
		if e.Kind == trace.Admit || e.Kind == trace.Call && e.Target != "" {
			all = append(all, e)
		}
	}
	return all
}

func judgeCalls(l trace.List, c *report.Cost) {
	var waits []time.Duration
	for id := 1; id <= 25; id++ {
		own := of(l, id)
		if len(own) == 0 {
			continue
		}
		c.Calls++
		elsewhere := false
		for _, s := range starts(own) {
			c.Attempts++
			c.Wasted += oneIf(down(l[0].Run, s.Target, s.T))
			elsewhere = elsewhere || len(l[0].Run.Breakers) > 0 && (own[0].To == "m" && s.Target == "c" || own[0].To == "a" && s.Target == "b")
		}
		c.Rerouted += oneIf(elsewhere)
		first, last := own[0].T, own[len(own)-1]
		wait, finished := last.T-first, true
		switch last.Kind {
		case trace.Refuse:
			c.Refused++
			c.Harm += oneIf(last.Would == trace.Success)
		case trace.Exhausted:
			c.Exhausted++
		case trace.Vanish:
			until := end
			if finished = last.Known && last.Until <= end; finished {
				until = last.Until
			}
			wait = until - first
		case trace.Result, trace.GiveUp:
		default: // still under way, or waiting to go again
			c.Unfinished++
			c.WaitTotal += end - first
			continue
		}
		c.WaitTotal += wait
		if finished {
			waits = append(waits, wait)
		}
		if last.Kind == trace.Result && last.Outcome == trace.Success {
			c.Succeeded++
			for _, s := range starts(own) {
				if s.Attempt == last.Attempt {
					c.WaitWasted += s.T - first
				}
			}
		} else {
			c.Failed++
			c.WaitWasted += wait
		}
	}
	slices.Sort(waits)
	c.Finished = len(waits)
	for _, w := range waits {
		c.AtOnce += oneIf(w == 0)
	}
	if n := float64(len(waits)); n > 0 {
		at := func(share float64) time.Duration { return waits[int(math.Ceil(n*share))-1] }
		c.WaitP50, c.WaitP90, c.WaitP99, c.WaitP999, c.WaitMax = at(0.5), at(0.9), at(0.99), at(0.999), at(1)
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// down says whether the target's chance of success is 0 at t.
func down(run *trace.RunInfo, target string, t time.Duration) bool {
	is := false
	for i := range run.Targets {
		for _, s := range run.Targets[i].Segments {
			if run.Targets[i].Name == target && s.At <= t {
				is = s.Success == 0
			}
		}
	}
	return is
}

func judgeOutage(l trace.List, t *trace.Target, o trace.Span, k int) report.OutageCost {
	c := report.OutageCost{Target: t.Name, From: o.From, To: min(o.To, end)}
	if o.To > end {
		return c
	}
	next := time.Duration(math.MaxInt64)
	if all := t.Outages(math.MaxInt64); k+1 < len(all) {
		next = all[k+1].From
	}
	c.Overshoot, c.Burst = new(time.Duration(0)), new(0)
	var soon []time.Duration
	for i, e := range l {
		main := map[string]string{"a": "a", "m": "b"}[e.Breaker]
		away := e.Kind == trace.Refuse || e.Kind == trace.Exhausted || e.Kind == trace.Admit && e.Target != main
		away = away && main == t.Name || e.Kind == trace.Reroute && e.From == t.Name
		if away && e.T >= o.To && e.T < next {
			*c.Overshoot = e.T - o.To
		}
		if e.Target != t.Name {
			continue
		}
		if s := starts(l[i : i+1]); len(s) == 1 && e.T >= o.To && e.T < o.To+time.Minute {
			soon = append(soon, e.T)
		}
		if e.Kind == trace.Result && e.Outcome == trace.Success && c.Recover == nil {
			s := starts(of(l[:i], e.Call))
			if s[len(s)-1].T >= o.To {
				c.Recover = new(e.T - o.To)
			}
		}
	}
	for _, x := range soon {
		n := 0
		for _, y := range soon {
			n += oneIf(x <= y && y < x+time.Second)
		}
		*c.Burst = max(*c.Burst, n)
	}
	return c
}

func judgeBreaker(l trace.List, b *trace.Breaker) report.BreakerCost {
	c := report.BreakerCost{Breaker: b.Name, Detect: []*time.Duration{}}
	var own trace.List
	for _, e := range l {
		if e.Kind == trace.Transition && e.Breaker == b.Name {
			own = append(own, e)
		}
	}
	for i, e := range own {
		c.Openings += oneIf(e.To == "open" || e.To == "fallback")
		until := end
		if i+1 < len(own) {
			until = own[i+1].Effective
		}
		if e.To != "closed" && e.To != "primary" {
			c.OpenTime += until - e.Effective
		}
	}
	for i := range l[0].Run.Targets {
		t := &l[0].Run.Targets[i]
		for _, o := range t.Outages(math.MaxInt64) {
			if t.Name != b.Main() || o.From > end {
				continue
			}
			var found *time.Duration
			for _, e := range slices.Backward(own) {
				if (e.Rule == "T3" || e.Rule == "M10") && e.Effective >= o.From && e.Effective < o.To {
					found = new(e.Effective - o.From)
				}
			}
			c.Detect = append(c.Detect, found)
		}
	}
	return c
}
