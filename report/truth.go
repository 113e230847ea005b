package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// stretchOfTruth is how a target fares for a while.
type stretchOfTruth struct {
	trace.Span
	look     string
	words    []string // longest first
	brief    string   // where none of them has room; empty: there is nothing briefer
	overload bool     // and no script
}

// said says whether all that is to be said of the target has room.
func (s *stretchOfTruth) said(room float64) bool {
	return fitsIn(room, false, s.words...) != ""
}

// wordings are what the lane may say, longest first.
func (s *stretchOfTruth) wordings() []string {
	if s.brief == "" {
		return s.words
	}
	return append(slices.Clone(s.words), s.brief)
}

// well says whether nothing is to be said of the target.
func (s *stretchOfTruth) well() bool { return s.look == "up" && len(s.words) == 1 }

// untold says whether the lane has no room for what the script says of the target.
func (s *stretchOfTruth) untold(room float64) bool { return !s.well() && !s.overload && !s.said(room) }

// truth is how the target fares by its script before end, stretches alike put
// together.
func truth(t *trace.Target, end time.Duration) (all []stretchOfTruth) {
	add := func(o stretchOfTruth) {
		if n := len(all); n > 0 && all[n-1].look == o.look && all[n-1].words[0] == o.words[0] {
			all[n-1].To = o.To
		} else if o.From < o.To {
			all = append(all, o)
		}
	}
	down, warm := false, time.Duration(0)
	for span, s := range t.Stretches(end) {
		if down && s.Success > 0 {
			warm = span.From + t.Warmup
		}
		down = s.Success == 0
		o := faring(t, span, s, end)
		if o.look == "up" && o.From < warm {
			add(stretchOfTruth{Span: trace.Span{From: o.From, To: min(o.To, warm)}, look: "slow", words: []string{"slow after the outage", "slow"}})
			o.From = min(o.To, warm)
		}
		add(o)
	}
	return all
}

// faring is how the target fares in one segment.
func faring(t *trace.Target, span trace.Span, s *trace.Segment, end time.Duration) stretchOfTruth {
	o := stretchOfTruth{Span: span, look: "shaky", words: []string{outcomeWord(s.Outcome)}}
	switch s.Success {
	case 0:
		o.look = "down"
		return o // how slow a failure is matters less
	case 1:
		o.look, o.words = "up", []string{"up"}
	}
	latency, slow := slowness(t, span.From, end)
	if latency == "" {
		return o
	}
	if slow && o.look == "up" {
		o.look, o.words = "slow", []string{"slow"}
	}
	o.brief = o.words[0]
	o.words = []string{o.brief + ", latency " + latency, o.brief + ", " + latency}
	return o
}

// singledWords are those of a stretch in which a target is up by its own script,
// and calls fail by theirs.
var singledWords = []string{"no outage; single calls fail by script", "single calls fail", "calls fail"}

// singled says whether calls fail in the stretch for no other reason than that
// the scenario says so of each.
func (h *History) singled(t *trace.Target, s *stretchOfTruth) bool {
	if !s.well() || t.Limit != nil || t.Capacity != nil || t.Bursts != nil {
		return false
	}
	return slices.ContainsFunc(h.scripted[t.Name], func(at time.Duration) bool { return s.From <= at && at < s.To })
}

// fared tells in sentences when a target is not well, and of its bursts; nothing if
// it is well all the time.
func fared(name string, stretches []stretchOfTruth, bursts []trace.Span, end time.Duration) string {
	const most = 6
	ill := slices.DeleteFunc(slices.Clone(stretches), func(s stretchOfTruth) bool { return s.well() })
	var b strings.Builder
	for i, s := range ill {
		if i == most {
			b.WriteString("And " + plural(len(ill)-i, "more stretch", "more stretches") + ". ")
			break
		}
		fmt.Fprintf(&b, "%s from %s to %s: %s. ", name, moment(s.From, end), moment(s.To, end), s.words[0])
	}
	if n := len(bursts); n > 0 {
		b.WriteString(name + " has " + plural(n, "burst", "bursts") + " of trouble. ")
	}
	return b.String()
}

// truthLane is the lane of a target whose health changes in the run.
type truthLane struct {
	name      string
	y         float64
	stretches []stretchOfTruth
	bursts    []trace.Span
}

const (
	mostTruths  = 4 // lanes; a picture of load is not about more
	truthHeight = targetHeight + 2
)

// truthLanes are the lanes of the targets that anything happens to, and how many
// more of them there are than have a lane.
func truthLanes(h *History) (lanes []truthLane, more int) {
	for i := range h.Run.Targets {
		t := &h.Run.Targets[i]
		lane := truthLane{name: t.Name, stretches: truth(t, max(h.End, 1)), bursts: h.Bursts[t.Name]}
		if len(lane.bursts) == 0 && len(lane.stretches) == 1 && lane.stretches[0].look == "up" {
			continue
		}
		if len(lanes) == mostTruths {
			more++
			continue
		}
		lanes = append(lanes, lane)
	}
	return lanes, more
}

// ruler says where a stretch of time stands in a picture, as a box of that height,
// and whether anything of it does.
type ruler func(s trace.Span, y, h float64) (b box, drawn bool)

// truth draws how a target fares by its script, and below that its bursts, in a
// lane from the height y down.
func (p *pen) truth(name string, stretches []stretchOfTruth, bursts []trace.Span, y float64, at ruler, clock func(time.Duration) string) {
	for i, s := range stretches {
		b, drawn := at(s.Span, y+2, targetHeight-4)
		if !drawn {
			continue
		}
		done := p.group(fmt.Sprintf("%s from %s to %s: %s", name, clock(s.From), clock(s.To), s.words[0]))
		p.ground(s.look, b)
		if i > 0 { // stretches alike in their look differ in words
			p.stroke("bg", 1, b.x, b.y, b.x, b.y+b.h)
		}
		p.bursts(bursts, s.Span, y, at, clock)
		if !s.well() || len(bursts) == 0 { // those would lie under the word
			p.inside(s.look, b, false, s.wordings()...)
		}
		done()
	}
}

// bursts draws those that meet the stretch s, cut to it. Those that would touch
// the one before are drawn with it: there may be millions.
func (p *pen) bursts(all []trace.Span, s trace.Span, y float64, at ruler, clock func(time.Duration) string) {
	all = all[sort.Search(len(all), func(i int) bool { return all[i].To > s.From }):]
	all = all[:sort.Search(len(all), func(i int) bool { return all[i].From >= s.To })]
	place := func(first, last trace.Span) (whole trace.Span, b box, drawn bool) {
		whole = trace.Span{From: max(first.From, s.From), To: min(last.To, s.To)}
		b, drawn = at(whole, y+targetHeight-7, 5)
		return whole, b, drawn
	}
	for len(all) > 0 {
		n := 1
		whole, b, drawn := place(all[0], all[0])
		for ; drawn && n < len(all); n++ {
			if _, next, drawn := place(all[n], all[n]); !drawn || next.x > b.x+b.w {
				break
			}
			whole, b, _ = place(all[0], all[n])
		}
		if drawn {
			name := "burst"
			if n > 1 {
				name = Thousands(int64(n)) + " bursts"
			}
			done := p.group(fmt.Sprintf("%s from %s to %s", name, clock(whole.From), clock(whole.To)))
			p.rect("down-ink", b)
			done()
		}
		all = all[n:]
	}
}

// key is the name of the legend's entry that explains the stretch.
func (s *stretchOfTruth) key() string {
	if s.overload {
		return "overload"
	}
	return s.look
}

// slowKey explains the look of a target that is slow, by its script or by what
// is asked of it.
func slowKey(overload bool) key {
	k := key{name: "slow", text: "slow", draw: func(p *pen, b box) { p.ground("slow", b) }}
	if overload {
		k.name, k.text = "overload", "slow, or overloaded: more wait than are served"
	}
	return k
}
