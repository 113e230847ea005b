package report

import (
	"fmt"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// stretchOfTruth is how a target fares for a while.
type stretchOfTruth struct {
	trace.Span
	look  string
	words []string // longest first
}

// word is the first that fits, or none.
func (s *stretchOfTruth) word(room float64) string {
	for _, word := range s.words {
		if width(word, smallSize, false)+10 <= room {
			return word
		}
	}
	return ""
}

// truth is how the target fares before end, stretches alike put together.
func truth(t *trace.Target, end time.Duration) (all []stretchOfTruth) {
	for i, s := range t.Segments {
		to := end
		if i+1 < len(t.Segments) {
			to = min(end, t.Segments[i+1].At)
		}
		if s.At >= to {
			continue
		}
		o := stretchOfTruth{Span: trace.Span{From: s.At, To: to}, look: "shaky", words: []string{outcomeWord(s.Outcome)}}
		switch s.Success {
		case 0:
			o.look = "down"
		case 1:
			o.look, o.words = "up", []string{"up"}
		}
		if word := o.words[0]; s.Phase >= 0 && s.Phase < len(t.Phases) && t.Phases[s.Phase].Latency != "" && o.look != "down" { // how slow a failure is matters less
			slow := t.Phases[s.Phase].Latency
			o.words = []string{word + ", latency " + slow, word + ", " + slow}
		}
		if n := len(all); n > 0 && all[n-1].look == o.look && all[n-1].words[0] == o.words[0] {
			all[n-1].To = to
		} else {
			all = append(all, o)
		}
	}
	return all
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

// draw draws the lane in the span of the picture.
func (t *truthLane) draw(p *pen, c *loadPlot) {
	for _, s := range t.stretches {
		b, ok := c.span(s.Span, t.y+2, targetHeight-4)
		if !ok {
			continue
		}
		done := p.group(fmt.Sprintf("%s from %s to %s: %s", t.name, moment(s.From, c.end), moment(s.To, c.end), s.words[0]))
		p.ground(s.look, b)
		p.stroke("bg", 1, b.x, b.y, b.x, b.y+b.h)
		if word := s.word(b.w); word != "" && len(t.bursts) == 0 { // those leave no room for words
			w := width(word, smallSize, false)
			p.rect(s.look, box{b.x + b.w/2 - w/2 - 3, b.y, w + 6, b.h}) // keeps hatches off it
			p.text(s.look+"-ink", b.x+b.w/2, b.y+b.h/2, smallSize, false, centre, word)
		}
		done()
	}
	for _, s := range t.bursts {
		if b, ok := c.span(s, t.y+targetHeight-7, 5); ok {
			p.rect("down-ink", b)
		}
	}
}
