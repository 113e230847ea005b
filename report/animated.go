package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// animated is a timeline that plays: virtual time sweeps over it, what is still
// to come is pale, and below it each key moment is told when it comes. On
// canvases on which nothing moves, and for readers who prefer that, it is a
// timeline with its story.
type animated struct {
	*figure
	told   []numbered // in the order of time
	more   string     // what is not told
	height float64
	pace   pace
}

// The wall clock of a loop.
const (
	loop     = 12 * time.Second
	curtain  = 400 * time.Millisecond  // before virtual time goes
	playing  = 9600 * time.Millisecond // until it ends; the rest is for looking
	reading  = 1100 * time.Millisecond // at least, for a sentence
	mostTold = 8                       // sentences, so that there is time for each
)

const (
	storySize    = 13.0
	storyLeading = 20.0
	clockHeight  = 18.0
)

func layOutAnimated(r *Results, look *Look) (drawing, error) {
	still := *look
	still.NoCaption = true // the story is told here
	d, err := layOutTimeline(r, &still)
	if err != nil {
		return nil, err
	}
	a := &animated{figure: d.(*figure)}
	if a.end <= a.begin {
		return nil, ErrNothingToDraw
	}
	a.tell()
	a.pace = paced(a.begin, a.end, a.told)
	a.height = a.storyTop()
	for i := range a.told {
		m := &a.told[i]
		m.lines = wrapped(m.words(a.panels[m.panel].h), storySize, false, a.width-2*margin-24)
		a.height += float64(len(m.lines)) * storyLeading
	}
	if a.more != "" {
		a.height += storyLeading
	}
	a.height += margin - 4
	return a, nil
}

func (a *animated) storyTop() float64 { return a.figure.height - margin + 8 }

// tell picks what is told of the numbered moments: the most important.
func (a *animated) tell() {
	moments, _ := keyMoments(a.t.panels, a.within)
	for _, m := range moments {
		if m.moment != nil {
			a.told = append(a.told, m)
		}
	}
	if left := len(a.told) - mostTold; left > 0 {
		slices.SortStableFunc(a.told, func(x, y numbered) int { return cmp.Compare(x.rank, y.rank) })
		a.told = a.told[:mostTold]
		a.more = "and " + plural(left, "more number", "more numbers") + " above"
	}
	slices.SortStableFunc(a.told, func(x, y numbered) int { return cmp.Compare(x.moment.Effective, y.moment.Effective) })
}

func (a *animated) size() (w, h float64) { return a.width, a.height }

func (a *animated) words() (name, title, desc string) {
	run := a.t.panels[0].Run
	return "animated-" + run.Scenario, run.Title, fmt.Sprintf("The run from %s to %s, played in %s and over again. %s", a.clock(a.begin), a.clock(a.end), Clock(loop), a.t.describe())
}

func (a *animated) clock(d time.Duration) string { return moment(d, a.whole) }

func (a *animated) draw(p *pen) {
	a.figure.draw(p)
	s, moves := p.c.(stage)
	a.drawStory(p, s)
	if moves {
		seen := len(p.texts)
		a.drawPlayhead(p, s)
		p.texts = p.texts[:seen] // what passes over the figure has no place of its own
	}
}

// drawStory writes the sentences below the figure. Where things move, each
// appears when its moment comes, and steps back for the next; at the end all can
// be read.
func (a *animated) drawStory(p *pen, s stage) {
	y := a.storyTop()
	part := func(i int, draw func()) {
		if s == nil {
			draw()
			return
		}
		name := fmt.Sprint("t", i+1)
		s.direct(name, "", a.appear(i))
		done := s.cast(name, false)
		draw()
		done()
	}
	for i, m := range a.told {
		part(i, func() {
			m.mark(p, margin+8, y+storyLeading/2)
			for _, line := range m.lines {
				p.text("ink", margin+24, y+storyLeading/2, storySize, false, left, line)
				y += storyLeading
			}
		})
	}
	if a.more != "" {
		part(len(a.told), func() {
			p.text("muted", margin+24, y+storyLeading/2, smallSize, false, left, a.more)
		})
	}
}

// appear are the keyframes of the sentence i, or of what comes after the last.
func (a *animated) appear(i int) string {
	const fade = 0.15 // seconds
	end := (curtain + playing).Seconds()
	at := func(i int) float64 {
		if i < len(a.told) {
			return a.pace.of(a.told[i].moment.Effective)
		}
		return end
	}
	shown := at(i) + fade
	frames := fmt.Sprintf("0%%,%s{opacity:0}%s", percent(at(i)), percent(shown))
	if next := max(at(i+1), shown); next < end {
		frames += fmt.Sprintf(",%s{opacity:1}%s,%s{opacity:.5}%s", percent(next), percent(next+fade), percent(max(end, next+fade)), percent(end+2*fade))
	}
	return frames + ",100%{opacity:1}"
}

// drawPlayhead lays what moves over the figure: a veil over what is to come, the
// line where it begins, and the clock.
func (a *animated) drawPlayhead(p *pen, s stage) {
	top, bottom := a.plotTop-3, a.plotTop+a.plotHeight
	edge := a.x(a.begin)
	done := s.cast("play", true)
	end := (curtain + playing).Seconds()
	s.direct("play", "display:inline", "0%,"+percent(end)+"{opacity:1}"+percent(end+0.3)+",100%{opacity:0}")
	head := s.cast("head", false)
	s.direct("head", "", a.sweep(func(x float64) float64 { return x }))
	p.veil(box{edge, top, a.width - edge, bottom - top})
	p.stroke("note", 1.6, edge, top, edge, bottom+14)
	head()
	a.drawClock(p, s, box{0, bottom + 14, 0, clockHeight})
	done()
}

// veil makes what is in the box pale.
func (p *pen) veil(b box) {
	c := p.theme.color("bg")
	c.A = 210
	p.c.SetColor(c)
	p.c.Fill(p.path(true, b.x, b.y, b.x+b.w, b.y, b.x+b.w, b.y+b.h, b.x, b.y+b.h))
}

// sweep are the keyframes of what goes with virtual time, from where it is drawn
// to where to puts it.
func (a *animated) sweep(to func(x float64) float64) string {
	var b strings.Builder
	begin := to(a.x(a.begin))
	for i, k := range a.pace {
		at := percent(k.wall)
		if i == 0 {
			at = "0%," + at
		}
		if i == len(a.pace)-1 {
			at += ",100%"
		}
		fmt.Fprintf(&b, "%s{transform:translateX(%spx)}", at, decimals(to(a.x(k.virtual))-begin))
	}
	return b.String()
}

// drawClock draws a plate with virtual time, which goes along below the line: of
// a strip of all it will show, one can be seen at a time.
func (a *animated) drawClock(p *pen, s stage, at box) {
	steps := a.clockSteps()
	for _, d := range steps {
		at.w = max(at.w, width(a.clock(d), textSize, true)+12)
	}
	least, most := at.w/2+1, a.width-at.w/2-1
	keep := func(x float64) float64 { return min(max(x, least), most) }
	at.x = keep(a.x(a.begin)) - at.w/2
	plate := s.cast("plate", false)
	s.direct("plate", "", a.sweep(keep))
	p.rect("note", at)
	done := s.window(at)
	strip := s.cast("clock", false)
	var frames strings.Builder
	for i, d := range steps {
		p.text("note-ink", at.x+at.w/2, at.y+at.h*(float64(i)+0.5), textSize, true, centre, a.clock(d))
		from := percent(a.pace.of(d))
		if i == 0 {
			from = "0%"
		}
		fmt.Fprintf(&frames, "%s{transform:translateY(%spx)}", from, decimals(-at.h*float64(i)))
	}
	s.direct("clock", "animation-timing-function:step-end", frames.String()+"100%{transform:translateY("+decimals(-at.h*float64(len(steps)-1))+"px)}")
	strip()
	done()
	plate()
}

// clockSteps are the instants that the clock shows: some at even steps, and
// those that are told.
func (a *animated) clockSteps() []time.Duration {
	steps := []time.Duration{a.begin, a.end}
	step := stepOf(max(1, (a.end-a.begin)/20))
	for d := a.begin.Truncate(step) + step; d < a.end; d += step {
		steps = append(steps, d)
	}
	for _, m := range a.told {
		steps = append(steps, m.moment.Effective)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// percent is a moment of the loop, in seconds, as keyframes say it.
func percent(wall float64) string { return decimals(wall/loop.Seconds()*100) + "%" }

// pace says when an instant of virtual time is played.
type pace []knot

type knot struct {
	virtual time.Duration
	wall    float64 // seconds of the loop
}

// paced plays [from, to] evenly, but slowly where sentences would come too fast
// to be read.
func paced(from, to time.Duration, told []numbered) pace {
	p := pace{{from, curtain.Seconds()}}
	for _, m := range told {
		if at := m.moment.Effective; at > p[len(p)-1].virtual {
			p = append(p, knot{virtual: at})
		}
	}
	if to > p[len(p)-1].virtual {
		p = append(p, knot{virtual: to})
	}
	parts := make([]slice, len(p)-1)
	for i := range parts {
		parts[i].weight = float64(p[i+1].virtual - p[i].virtual)
		for _, m := range told {
			if m.moment.Effective == p[i].virtual {
				parts[i].least += reading.Seconds()
			}
		}
	}
	spread(parts, playing.Seconds())
	for i, s := range parts {
		p[i+1].wall = p[i].wall + s.share
	}
	return p
}

// slice is a part of a whole: by its weight, but no less than least if that can
// be.
type slice struct{ weight, least, share float64 }

// spread shares the whole among the parts.
func spread(parts []slice, whole float64) {
	sum := 0.0
	for _, s := range parts {
		sum += s.least
	}
	for i := range parts {
		parts[i].least *= min(1, whole/max(sum, 1e-9))
	}
	short := make([]bool, len(parts)) // have the least
	for again := true; again; {
		again = false
		rest, weight := whole, 0.0
		for i, s := range parts {
			if short[i] {
				rest -= s.least
			} else {
				weight += s.weight
			}
		}
		for i := range parts {
			s := &parts[i]
			if s.share = rest * s.weight / weight; short[i] || s.share < s.least {
				s.share = s.least
				again = again || !short[i]
				short[i] = true
			}
		}
	}
}

// of is when the instant is played, in seconds of the loop.
func (p pace) of(d time.Duration) float64 {
	for i := 1; i < len(p); i++ {
		if a, b := p[i-1], p[i]; d <= b.virtual {
			return a.wall + (b.wall-a.wall)*float64(d-a.virtual)/float64(b.virtual-a.virtual)
		}
	}
	return p[len(p)-1].wall
}
