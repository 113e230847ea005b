package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// look is the colour of a band.
func (b *Band) look() string {
	switch b.State {
	case "fallback":
		if b.Serves == "" {
			return "spent"
		}
		return "backup"
	case "primary":
		return "closed"
	case "recovering":
		return "half-open"
	}
	return b.State
}

// words are the labels of a band, longest first.
func (b *Band) words() []string {
	switch {
	case b.forced:
		return []string{"forced " + b.State, "forced"}
	case b.ramp != nil:
		from := fmt.Sprintf("ramp from %.0f %%", 100*b.ramp.share(b.From))
		return []string{"closed: " + from, from, "ramp"}
	case b.State == "fallback" && b.Serves == "":
		return []string{"fallback: exhausted", "exhausted"}
	case b.Serves != "":
		return []string{b.State + ": " + b.Serves, b.Serves}
	}
	return []string{b.State}
}

// said is the band in a sentence.
func (b *Band) said() string {
	if b.ramp != nil {
		return "closed with a ramp"
	}
	return b.words()[0]
}

func (l *lanePlotter) breaker(g *groupLanes, h *History) {
	b := g.breaker
	var short []*Band
	for _, s := range g.stretches {
		if s.crowded() {
			l.crowd(b, s, g.band)
			continue
		}
		for i := range s {
			l.band(b, &s[i], g.band)
			if l.x(s[i].To)-l.x(s[i].From) < leastBand && s[i].From > l.f.begin {
				short = append(short, &s[i])
			}
		}
	}
	slices.SortStableFunc(short, func(a, b *Band) int { return cmp.Compare(a.tests(), b.tests()) })
	for _, s := range short { // again, so that they lie above their neighbours
		l.band(b, s, g.band)
	}
	for _, run := range l.runs(g.stretches) {
		l.runName(run, g.band)
	}
	l.ready(g)
	l.switches(g)
	l.restarts(g)
	l.backdated(g, h)
	if g.brackets {
		for i := range g.leases {
			if row := g.leaseRow[i]; row < g.leaseRows {
				l.leaseOf(b, &g.leases[i], g.lease+float64(g.leaseRows-1-row)*leaseStep)
			}
		}
	}
	l.probes(g)
	l.drawPins(g)
}

func (l *lanePlotter) band(b *BreakerHistory, s *Band, y float64) {
	done := l.pen.group(fmt.Sprintf("%s: %s from %s to %s", b.Name, s.said(), l.clock(s.From), l.clock(s.To)))
	defer done()
	look, at := s.look(), l.span(s.From, s.To, y, bandHeight)
	if x0, x1 := l.x(s.From), l.x(s.To); x1-x0 < leastBand { // a line takes next to nothing from its neighbours
		l.pen.rect(look+"-edge", box{min(x0, l.x(l.f.end)-sliver), y, max(x1-x0, sliver), bandHeight})
		return
	}
	l.pen.ground(look, at)
	if s.forced {
		l.pen.forced(look, at)
	}
	if s.ramp != nil {
		l.pen.ramp(at, s.ramp.share(s.From), s.ramp.share(s.To))
	}
	if s.ramp == nil {
		l.pen.inside(look, at, true, s.words()...)
	} else if name := fitsIn(at.w, true, s.words()...); name != "" { // in the corner that the ramp leaves
		w := width(name, smallSize, true)
		l.pen.rect(look, box{at.x + at.w - w - 6, at.y + at.h - smallSize - 3, w + 5, smallSize + 2})
		l.pen.text(look+"-ink", at.x+at.w-4, at.y+at.h-smallSize/2-3, smallSize, true, right, name)
	}
	l.pen.frame(look+"-edge", 1, at)
}

// runs are bands of one state in which one model serves, with nothing but lines
// between them, where there are several and none of them has room for its name.
func (l *lanePlotter) runs(stretches []stretch) (all [][]*Band) {
	var run []*Band
	named := false
	end := func() {
		if len(run) > 1 && !named {
			all = append(all, run)
		}
		run, named = nil, false
	}
	for _, s := range stretches {
		if s.crowded() {
			end()
			continue
		}
		for i := range s {
			b := &s[i]
			w := l.x(b.To) - l.x(b.From)
			if w < leastBand {
				continue
			}
			if len(run) > 0 && (run[0].State != b.State || run[0].Serves != b.Serves || run[0].forced != b.forced || run[0].ramp != b.ramp) {
				end()
			}
			run = append(run, b)
			named = named || fitsIn(w, true, b.words()...) != ""
		}
	}
	end()
	return all
}

// runName writes the shortest name of a run once, in its widest band or, of several
// about as wide, that in the middle, on a plate that leaves the ends of lines below
// it to be seen.
func (l *lanePlotter) runName(run []*Band, y float64) {
	words := run[0].words()
	name, look := words[len(words)-1], run[0].look()
	w, from, to := width(name, smallSize, true), l.x(run[0].From), l.x(run[len(run)-1].To)
	if to-from < w+textAir {
		return
	}
	widest := slices.MaxFunc(run, func(a, b *Band) int { return cmp.Compare(a.To-a.From, b.To-b.From) })
	run = slices.DeleteFunc(run, func(b *Band) bool { return 10*(b.To-b.From) < 9*(widest.To-widest.From) })
	at := run[len(run)/2]
	x := min(max((l.x(at.From)+l.x(at.To))/2, from+w/2+textAir/2), to-w/2-textAir/2)
	l.pen.rect(look, box{x - w/2 - 1, y + bandHeight/2 - smallSize/2 - 2, w + 2, smallSize + 4})
	l.pen.text(look+"-ink", x, y+bandHeight/2, smallSize, true, centre, name)
}

// tests is 1 if calls test the target in the band, which is never covered by
// its neighbours, and else 0.
func (b *Band) tests() int {
	if b.State == "half-open" || b.State == "recovering" {
		return 1
	}
	return 0
}

// serves is who does at first.
func (g *groupLanes) serves() string {
	if len(g.stretches) == 0 {
		return ""
	}
	return g.stretches[0][0].Serves
}

// switches mark that another model serves, by a notch in the band's upper edge;
// not in crowds, where they would lie on each other.
func (l *lanePlotter) switches(g *groupLanes) {
	before := g.serves()
	for _, s := range g.stretches {
		for i := range s {
			to := s[i].Serves
			if to == before || s.crowded() {
				before = to
				continue
			}
			before = to
			if to == "" {
				to = "nobody"
			}
			done := l.pen.group(fmt.Sprintf("%s: turns go to %s from %s", g.breaker.Name, to, l.clock(s[i].From)))
			switchMark(l.pen, l.x(s[i].From), g.band)
			done()
		}
	}
}

// restarts mark that a late failure began the cooldown anew, by a tick in the
// band's upper edge, above its word; not in crowds.
func (l *lanePlotter) restarts(g *groupLanes) {
	for _, s := range g.stretches {
		if s.crowded() {
			continue
		}
		for i := range s {
			l.restartsOf(g.breaker, &s[i], g.band)
		}
	}
}

// restartApart is the least distance of two ticks in pixels.
const restartApart = 4.0

func (l *lanePlotter) restartsOf(b *BreakerHistory, s *Band, y float64) {
	at := l.span(s.From, s.To, y, bandHeight)
	inset := min(3, at.w/2) // off the band's frame
	x := func(d time.Duration) float64 { return min(max(l.x(d), at.x+inset), at.x+at.w-inset) }
	for rest := s.Restarts; len(rest) > 0; {
		n := 1
		for n < len(rest) && x(rest[n])-x(rest[0]) < restartApart { // on top of the first
			n++
		}
		last := rest[n-1]
		tip := fmt.Sprintf("%s: late failures restart the cooldown %s, last at %s (T11)", b.Name, times(n), l.clock(last))
		if n == 1 {
			tip = fmt.Sprintf("%s: a late failure restarts the cooldown at %s (T11)", b.Name, l.clock(last))
		}
		done := l.pen.group(tip)
		restartMark(l.pen, x(rest[0]), y)
		done()
		rest = rest[n:]
	}
}

func (l *lanePlotter) leaseOf(b *BreakerHistory, s *Lease, y float64) {
	wide := l.f.wide(s)
	if !wide && !s.RanOut {
		return
	}
	what := "answered by"
	if s.RanOut {
		what = "ran out at"
	}
	done := l.pen.group(fmt.Sprintf("%s: the lease of call %d, from %s, %s %s", b.Name, s.Call, l.clock(s.From), what, l.clock(s.To)))
	defer done()
	x0, x1 := l.x(s.From), l.x(s.To)
	var path []float64
	if l.f.within(s.From) {
		path = append(path, x0, y+leaseHeight-2)
	}
	path = append(path, x0, y+3, x1, y+3)
	if l.f.within(s.To) {
		path = append(path, x1, y+leaseHeight-2)
	}
	if wide {
		l.pen.stroke("probe", 1.3, path...)
	}
	if s.RanOut && l.f.within(s.To) {
		leaseEnd(l.pen, x1, y+3)
	}
}

// mostDiamonds is how many probes are drawn one by one.
const mostDiamonds = 40

// probes marks where the gate let a probe through: by a diamond or, where there
// are many, by a tick.
func (l *lanePlotter) probes(g *groupLanes) {
	lost := map[int]bool{}
	for _, m := range g.marks {
		if m.Kind == MarkLost {
			lost[m.Call] = true
		}
	}
	last := -1e9
	for _, m := range g.marks {
		x := l.x(m.At)
		if m.Kind != MarkProbe || !l.f.within(m.At) || x-last < markApart/2 { // on top of the one before
			continue
		}
		last = x
		what := "is the probe"
		if lost[m.Call] {
			what = "is the probe, and is never heard of again"
		}
		done := l.pen.group(fmt.Sprintf("%s: call %d %s (%s)", l.clock(m.At), m.Call, what, m.Rule))
		if g.ticks {
			probeTick(l.pen, x, g.band+bandHeight)
		} else {
			probeMark(l.pen, x, g.band+bandHeight, lost[m.Call])
		}
		done()
	}
}
