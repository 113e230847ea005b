package report

import (
	"fmt"
	"slices"
	"time"
)

const (
	leastBand  = 3.0 // pixels: a shorter band is a line
	sliver     = 1.6 // pixels: which is at least as wide as that
	mostShort  = 3   // short bands in a row that are drawn one by one
	crowdWidth = 3.0 // pixels of one column, about
)

// stretch is a piece of a breaker's bands that is drawn in one manner: bands one
// by one, or a crowd of them that are too short for it.
type stretch []Band

func (s stretch) crowded() bool { return len(s) > mostShort }

// stretches cuts bands into pieces: each long band by itself, and short ones
// together with their short neighbours. So however often a breaker changes its
// state, what is drawn is bounded by the picture's width.
func stretches(bands []Band, x func(time.Duration) float64) []stretch {
	var all []stretch
	begin := 0
	for i := range bands {
		long := x(bands[i].To)-x(bands[i].From) >= leastBand
		if long && i > begin {
			all = append(all, bands[begin:i])
			begin = i
		}
		if long || i+1 == len(bands) {
			all = append(all, bands[begin:i+1])
			begin = i + 1
		}
	}
	return all
}

// crowdLooks are the states of a crowd from the band's lower edge up, so that
// the place tells them apart as well as the colour.
var crowdLooks = []string{"closed", "half-open", "backup", "spent", "open"}

// crowd draws states that come and go faster than can be drawn: columns in
// which each state has its share of the time. The rarest is still visible.
func (l *lanePlotter) crowd(b *BreakerHistory, s stretch, y float64) {
	from, to := s[0].From, s[len(s)-1].To
	done := l.pen.group(fmt.Sprintf("%s: %d states from %s to %s, each too short to be drawn; heights are shares of the time", b.Name, len(s), l.clock(from), l.clock(to)))
	defer done()
	at := l.span(from, to, y, bandHeight)
	columns := shares(s, max(1, int(at.w/crowdWidth)))
	w := at.w / float64(len(columns))
	for i, c := range columns {
		stack(l.pen, c, box{at.x + float64(i)*w, at.y, w, at.h})
	}
	l.pen.frame("muted", 1, at)
	l.pen.inside("note", at, true, plural(len(s), "state", "states")+", shares of the time", plural(len(s), "state", "states"))
}

// share is how much of a column's time each look has, in the order of
// crowdLooks. A look that occurs has something even if it has no time.
type share [5]float64

// shares adds up the time of the bands by columns of equal width.
func shares(s stretch, n int) []share {
	return sharesIn(s, s[0].From, s[len(s)-1].To, n)
}

// sharesIn adds up what of the bands is in [from, to).
func sharesIn(s []Band, from, to time.Duration, n int) []share {
	columns := make([]share, n)
	per := float64(max(1, to-from)) / float64(n)
	for i := range s {
		if s[i].To < from || s[i].From > to {
			continue
		}
		k := slices.Index(crowdLooks, s[i].look())
		lo, hi := float64(max(s[i].From, from)-from)/per, float64(min(s[i].To, to)-from)/per
		for c := min(n-1, int(lo)); c < n && float64(c) <= hi; c++ {
			columns[c][k] += max(1e-6, min(hi, float64(c+1))-max(lo, float64(c)))
		}
	}
	return columns
}

// stack fills a box with the shares, none of them thinner than it can be seen.
func stack(p *pen, s share, b box) {
	const least = 2.5
	sum, occur := 0.0, 0
	for _, v := range s {
		sum += v
		if v > 0 {
			occur++
		}
	}
	y := b.y + b.h
	for k, v := range s {
		if v > 0 {
			h := least + v/sum*(b.h-least*float64(occur))
			y -= h
			p.rect(crowdLooks[k], box{b.x, y, b.w, h})
		}
	}
}
