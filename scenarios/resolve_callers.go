package scenarios

import (
	"fmt"
	"math"
	"time"
)

func (r *resolver) resolveCallers() {
	total := float64(len(r.s.Calls))
	seen := map[string]bool{}
	for i := range r.f.Callers {
		w := &r.f.Callers[i]
		c := Callers{Name: fmt.Sprintf("callers-%d", i+1), To: w.V.To.V, Count: 1, Timeout: defaultTimeout,
			Every: time.Duration(w.V.Every.V), Think: time.Duration(w.V.Think.V), Jitter: w.V.Jitter.V, Start: w.V.Start.V.Dist, Rates: r.rates(&w.V.Rate), Poisson: bool(w.V.Arrivals.V)}
		at := w.node
		if w.V.Name.said() {
			c.Name, at = w.V.Name.V, w.V.Name.node
			r.name(c.Name, at)
		}
		if seen[c.Name] {
			r.d.fault(at, "two callers are named %s; their draws would be the same", c.Name)
		}
		seen[c.Name] = true
		if w.V.Count.said() {
			if c.Count = w.V.Count.V; c.Count < 1 || c.Count > 1_000_000 {
				r.d.fault(w.V.Count.node, "count must be from 1 to 1000000")
				c.Count = 0
			}
		}
		if !w.V.To.said() {
			r.missing(w.node, "the callers entry", "to")
		} else {
			r.destination(&w.V.To)
		}
		r.timeout(&w.V.Timeout, &c.Timeout)
		r.timeout(&w.V.Patience, &c.Patience)
		r.rhythm(w, &c)
		r.until(w, &c)
		total += c.estimate()
		if total > float64(r.s.MaxCalls) {
			r.d.fault(w.node, "up to here that is about %.0f calls, more than %d; raise the limit with --limit=%.0f if you mean it", total, r.s.MaxCalls, math.Ceil(total))
			total = math.Inf(-1) // said once
		}
		r.s.Callers = append(r.s.Callers, c)
	}
}

// rhythm checks what says when the calls start.
func (r *resolver) rhythm(w *val[callersW], c *Callers) {
	v := &w.V
	for _, k := range []struct {
		name string
		v    *val[duration]
	}{{"every", &v.Every}, {"think", &v.Think}} {
		if k.v.said() && k.v.V == 0 {
			r.d.fault(k.v.node, "%s: 0s would let no time pass; write a duration above 0", k.name)
		}
		if k.v.said() && v.Rate.said() {
			r.d.fault(k.v.node, "a stream has a rate and no %s", k.name)
		}
	}
	switch {
	case v.Every.said() && v.Think.said():
		r.d.fault(v.Think.node, "every and think exclude each other: from start to start, or from end to start")
	case v.Jitter.said() && !v.Every.said() && !v.Think.said() && !r.d.perhaps(w.node, "every", "think"):
		r.d.fault(v.Jitter.node, "jitter is for every or think; this entry has neither")
	}
	if v.Jitter.said() && (c.Jitter < 0 || c.Jitter > 1) {
		r.d.fault(v.Jitter.node, "jitter must be from 0 to 1")
	}
	if v.Count.said() && v.Rate.said() {
		r.d.fault(v.Count.node, "a stream has a rate and no count")
	}
	if v.Arrivals.said() && !v.Rate.said() && !r.d.perhaps(w.node, "rate") {
		r.d.fault(v.Arrivals.node, "arrivals is for a stream; add a rate, such as 5/s")
	}
}

// until settles when the last call may start.
func (r *resolver) until(w *val[callersW], c *Callers) {
	once := c.Every == 0 && c.Think == 0 && !w.V.Rate.said()
	switch {
	case w.V.Until.said():
		c.Until = time.Duration(w.V.Until.V)
	case !r.s.Open:
		c.Until = r.s.Duration + 1 // a call at the very end is played
	case once:
		c.Until = math.MaxInt64
	case !r.d.perhaps(r.root, "duration"):
		r.lacks(w.node, []string{"until"}, "these callers would call for ever; add until, or a duration to the scenario")
	}
}

// estimate is about how many calls there will be.
func (c *Callers) estimate() float64 {
	span := max(0, c.Until.Seconds()-c.Start.A.Seconds())
	switch {
	case c.Open():
		return c.Area(span)
	case c.Every+c.Think > 0:
		return float64(c.Count) * math.Ceil(span/(c.Every+c.Think).Seconds())
	default:
		return float64(c.Count)
	}
}

// mostStages of one stream.
const mostStages = 1000

// rates are the stages of a stream, the first at 0.
func (r *resolver) rates(w *val[rateW]) []Stage {
	if !w.said() || r.d.refused[w.node] {
		return nil
	}
	if w.V.stages == nil {
		r.running(&val[Rate]{w.V.one, w.node})
		return []Stage{{Hertz: w.V.one.hertz()}}
	}
	if len(w.V.stages) > mostStages {
		r.d.fault(w.V.stages[mostStages].node, "the rate has %d stages; no more than %d are played", len(w.V.stages), mostStages)
		return nil
	}
	var all []Stage
	for i := range w.V.stages {
		v := &w.V.stages[i]
		s := Stage{At: time.Duration(v.V.At.V), Hertz: v.V.Rate.V.hertz(), Ramp: v.V.Ramp.V}
		if !v.V.At.said() && isMapping(v.node) {
			r.missing(v.node, "the stage", "at")
		}
		if !v.V.Rate.said() && isMapping(v.node) {
			r.missing(v.node, "the stage", "rate")
		}
		if n := len(all); n > 0 && v.V.At.said() && s.At <= all[n-1].At {
			r.d.fault(v.V.At.node, "stages are in the order of time; this one is not after %s", short(all[n-1].At))
		}
		if i == 0 && s.At > 0 { // no calls until then
			all = append(all, Stage{})
		}
		all = append(all, s)
	}
	return all
}

// running refuses a rate of 0, which only a stage can have.
func (r *resolver) running(w *val[Rate]) {
	if w.V.Count == 0 && w.V.Per > 0 {
		r.d.fault(w.node, "a rate of 0 is for one stage of several; write one above 0")
	}
}

func (r Rate) hertz() float64 {
	if r.Per == 0 {
		return 0
	}
	return r.Count / r.Per.Seconds()
}

// Area is how many calls a stream has made on average in its first seconds.
func (c *Callers) Area(seconds float64) float64 {
	area := 0.0
	for i := range c.Rates {
		from, to := c.Rates[i].At.Seconds(), math.Inf(1)
		first, last := c.Rates[i].Hertz, c.Rates[i].Hertz
		if i+1 < len(c.Rates) {
			next := &c.Rates[i+1]
			if to = next.At.Seconds(); next.Ramp {
				last = next.Hertz
			}
		}
		if seconds <= from {
			break
		}
		if seconds < to {
			if last != first {
				last = first + (last-first)*(seconds-from)/(to-from)
			}
			to = seconds
		}
		area += (to - from) * (first + last) / 2
	}
	return area
}
