package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Segment is how a target behaves from At until the next segment.
type Segment struct {
	At time.Duration
	Answer
	Burst *Answer // how it answers in a burst; nil: it has none
	Phase int     // index of the topmost active phase, or -1
}

// Answer is how a target answers.
type Answer struct {
	Mix        Mix
	Latency    Dist
	RetryAfter *time.Duration // what a rate limit names; nil: nothing
}

// over lays what b says over the answer.
func (a *Answer) over(b *Behavior) {
	if b.Mix != nil {
		a.Mix = b.Mix
	}
	if b.Latency != nil {
		a.Latency = *b.Latency
	}
	if b.RetryAfter != nil {
		a.RetryAfter = b.RetryAfter
	}
}

// under is b with what o says over it, key by key.
func (b Behavior) under(o Behavior) Behavior {
	if o.Mix != nil {
		b.Mix = o.Mix
	}
	if o.Latency != nil {
		b.Latency = o.Latency
	}
	if o.RetryAfter != nil {
		b.RetryAfter = o.RetryAfter
	}
	return b
}

func (a *Answer) same(o *Answer) bool {
	return a.Latency == o.Latency && slices.Equal(a.Mix, o.Mix) && equal(a.RetryAfter, o.RetryAfter)
}

// Outage says whether no attempt can succeed.
func (a *Answer) Outage() bool {
	return !slices.ContainsFunc(a.Mix, func(s Share) bool { return s.Outcome == Success })
}

// Drawn is the scenario with every phase where it is in one run: draw gives the
// beginning of a phase of a target, or its length, by its place in the file. A
// scenario that draws none is given back as it is.
func (s *Scenario) Drawn(draw func(target string, phase int, length bool, from Dist) time.Duration) *Scenario {
	draws := func(p Phase) bool { return p.drawn() }
	some := func(t Target) bool {
		return slices.ContainsFunc(t.Phases, draws) || slices.ContainsFunc(t.Hosts, func(h Target) bool { return slices.ContainsFunc(h.Phases, draws) })
	}
	if !slices.ContainsFunc(s.Targets, some) {
		return s
	}
	own := *s
	own.Targets = slices.Clone(s.Targets)
	for i := range own.Targets {
		t := &own.Targets[i]
		t.Phases = t.drawn(nil, draw)
		t.Hosts = slices.Clone(t.Hosts)
		for k := range t.Hosts {
			t.Hosts[k].Phases = t.Hosts[k].drawn(t.Phases, draw)
		}
	}
	return &own
}

// drawn is the target's phases where they are in one run. The first of a host's
// are its target's, and are where those are.
func (t *Target) drawn(shared []Phase, draw func(target string, phase int, length bool, from Dist) time.Duration) []Phase {
	all := slices.Clone(t.Phases)
	copy(all, shared)
	for k := len(shared); k < len(all); k++ {
		p := &all[k]
		if p.DrawAt != nil {
			p.At = draw(t.Name, k, false, *p.DrawAt)
		}
		if p.DrawFor != nil {
			d := draw(t.Name, k, true, *p.DrawFor)
			p.For = &d
		}
	}
	return all
}

// Segments are what the target's phases come to when they are laid over its
// base: where they overlap the later in the file wins, key by key. The first
// begins at 0, and each differs from the one before.
//
// A target with hosts is in no phase: its chance of each outcome is the mean of
// its hosts', and there is an outage while all of them are out.
func (t *Target) Segments() []Segment {
	if len(t.Hosts) > 0 {
		return t.blended()
	}
	cuts := []time.Duration{0}
	for i := range t.Phases {
		p := &t.Phases[i]
		cuts = append(cuts, p.At)
		if p.For != nil {
			cuts = append(cuts, p.At+*p.For)
		}
	}
	slices.Sort(cuts)
	var all []Segment
	for _, at := range slices.Compact(cuts) {
		s := t.at(at)
		if n := len(all); n == 0 || !all[n-1].same(&s) {
			all = append(all, s)
		}
	}
	return all
}

// blended are the segments of a target with hosts.
func (t *Target) blended() []Segment {
	hosts, now := make([][]Segment, len(t.Hosts)), make([]int, len(t.Hosts))
	var cuts []time.Duration
	for i := range t.Hosts {
		hosts[i] = t.Hosts[i].Segments()
		for _, s := range hosts[i] {
			cuts = append(cuts, s.At)
		}
	}
	slices.Sort(cuts)
	var all []Segment
	for _, at := range slices.Compact(cuts) {
		var sums [outcomes]float64
		for i, segments := range hosts {
			for now[i]+1 < len(segments) && segments[now[i]+1].At <= at {
				now[i]++
			}
			for _, share := range segments[now[i]].Mix {
				sums[share.Outcome] += share.P
			}
		}
		s := Segment{At: at, Phase: -1, Answer: Answer{Latency: *t.Base.Latency, RetryAfter: t.Base.RetryAfter}}
		for o, sum := range sums {
			if sum > 0 {
				s.Mix = append(s.Mix, Share{Outcome(o), sum / float64(len(hosts))})
			}
		}
		if n := len(all); n == 0 || !all[n-1].same(&s) {
			all = append(all, s)
		}
	}
	return all
}

// at is the behavior at one instant.
func (t *Target) at(at time.Duration) Segment {
	s := Segment{At: at, Phase: -1, Answer: Answer{t.Base.Mix, *t.Base.Latency, t.Base.RetryAfter}}
	if t.Bursts != nil {
		burst := s.Answer
		burst.over(&t.Bursts.Behavior)
		s.Burst = &burst
	}
	for i := range t.Phases {
		p := &t.Phases[i]
		if at < p.At || p.For != nil && at >= p.At+*p.For {
			continue
		}
		s.Phase = i
		s.over(&p.Behavior)
		if s.Burst != nil {
			s.Burst.over(&p.Behavior)
		}
	}
	return s
}

func (s *Segment) same(o *Segment) bool {
	return s.Phase == o.Phase && s.Answer.same(&o.Answer) && (s.Burst == nil || s.Burst.same(o.Burst))
}

func equal(a, b *time.Duration) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// String is the mix as captions write it: "timeout", "70% success, 30% failure".
func (m Mix) String() string {
	if len(m) == 1 {
		return m[0].Outcome.String()
	}
	var parts []string
	for _, s := range m {
		parts = append(parts, strconv.FormatFloat(s.P*100, 'g', 4, 64)+"% "+s.Outcome.String())
	}
	return strings.Join(parts, ", ")
}

// String is the distribution as captions write it: "200ms", "100ms to 1s".
func (d Dist) String() string {
	switch d.Kind {
	case Uniform:
		return fmt.Sprintf("uniform %s to %s", short(d.A), short(d.B))
	case Exponential:
		return fmt.Sprintf("exponential, mean %s", short(d.A))
	case Lognormal:
		return fmt.Sprintf("lognormal, p50 %s, p99 %s", short(d.A), short(d.B))
	default:
		return short(d.A)
	}
}

// short writes a duration as a file would: 2m, not 2m0s.
func short[D ~int64](d D) string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
