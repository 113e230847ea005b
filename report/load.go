package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// load is the picture of what each policy asks of the targets and what comes of
// it: a strip for each, or for each target where there is one policy, below each other under one axis of virtual time, to one
// scale, so that heights can be compared; where one would be next to nothing then,
// it is enlarged, and says so. Above a strip's zero is what went through, attempts as a line and goodput as an area within it: what is between
// them failed or is not over. Below zero is what was turned away. Where targets
// have bounded capacity, a second strip has the attempts that they hold. It has a
// scale of its own, as queues differ too much: whether one grows or drains is its
// shape, and how long it got is told in figures.
type load struct {
	sheet
	from, to, end time.Duration
	step          time.Duration
	names         float64 // room on the left
	lanes         []truthLane
	more          int // targets without a lane
	strips        []*strip
	capacity      bool
	last          float64 // where the strips end
}

// strip is one policy's part, or one target's.
type strip struct {
	h      *History
	target string // whose share it is; empty: that of all
	series *Series
	label  label
	steps  []loadStep
	peak   loadStep
	spike  spike // cut off, and told in figures
	rate   rate
	scale  measure // in units of the rate
	times  float64 // as large as the largest strips; 0: to their scale
	y      float64
	top    float64 // where what is above zero begins
	zero   float64 // height of the axis
	low    float64 // where what is below zero ends
	holds  bool    // has a second strip
	held   box     // which is that; only its heights
}

const (
	loadAbout = "What is asked of the targets, and what comes of it: attempts, goodput and refusals over time"
	stripGap  = 12.0
	heldWords = "attempts within the service, to a scale of their own"
	cutRoom   = 15.0 // above a strip, for a spike's figure
)

func layOutLoad(r *Results, look *Look) (drawing, error) {
	c := &load{from: look.From}
	busy := false
	_, series := r.counted()
	for i, s := range series {
		c.end = max(c.end, r.Panels[i].End, 1)
		busy = busy || s.asked()
		c.capacity = c.capacity || s.bounded()
	}
	if c.to = c.end; look.To != 0 {
		c.to = min(look.To, c.end)
	}
	if !busy || c.from >= c.end { // only variants go on for so long
		return nil, ErrNothingToDraw
	}
	c.lanes, c.more = truthLanes(r.Panels[0])
	c.sheet = newSheet("load", r, look, loadAbout)
	c.strips = c.stripsOf(r, series)
	series = nil
	for _, s := range c.strips {
		series = append(series, s.series)
	}
	c.names = c.nameRoom(series)
	c.step = stepFor(series, rhythms(r.Panels[:len(r.Rows)+len(r.Variants)]), c.from, c.to, c.inner()-c.names)
	for _, s := range c.strips {
		s.count(c)
	}
	c.layScales()
	c.setAbout(loadAbout + c.manner())
	c.layStrips()
	c.nameStrips(r)
	c.desc = c.describe()
	c.close(c.last+axisRoom, c.used(), c.stepWords(), c.unsaid())
	return c, nil
}

// mostTargetStrips is how many strips there can be of targets.
const mostTargetStrips = 4

// stripsOf are as many as there are policies, or as there are targets that are
// asked for anything under each of them, if those are few.
func (c *load) stripsOf(r *Results, series []*Series) (strips []*strip) {
	var targets []string
	for _, s := range series {
		for _, p := range s.parts {
			if p.asked() && !slices.Contains(targets, p.target) {
				targets = append(targets, p.target)
			}
		}
	}
	if len(targets) < 2 || len(targets)*len(series) > mostTargetStrips || len(r.Variants) > 0 {
		for i, s := range series {
			strips = append(strips, &strip{h: r.Panels[i], series: s, holds: c.capacity})
		}
		return strips
	}
	bounded := map[string]bool{}
	for i, s := range series {
		for _, p := range s.parts {
			if slices.Contains(targets, p.target) {
				strips = append(strips, &strip{h: r.Panels[i], target: p.target, series: &p.Series})
				bounded[p.target] = bounded[p.target] || p.bounded()
			}
		}
	}
	for _, s := range strips {
		s.holds = bounded[s.target]
	}
	return strips
}

// count puts what the strip shows into steps.
func (s *strip) count(c *load) {
	marks := s.h.Marks
	if s.target != "" {
		marks = slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m.Target != s.target })
	}
	s.steps = stepsOf(s.series, marks, c.step, c.from, c.to, max(s.h.End, 1))
	s.peak, s.spike = peak(s.steps), spikeOf(s.steps)
}

// nameStrips labels the strips. Settings are in their headings where they leave
// room for the peaks.
func (c *load) nameStrips(r *Results) {
	var labels []label
	labels, c.variants = r.labels(func(i int, name string) bool {
		return width(name, textSize, true)+14+width(c.strips[i].peaks("", " · "), smallSize, false) <= c.inner()
	})
	for i, s := range c.strips {
		switch {
		case s.target == "":
			s.label = labels[i]
		case len(r.Rows) == 1:
			s.label.policy = s.target
		default:
			s.label = label{s.h.Run.Policy, ": " + s.target}
		}
	}
}

// nameRoom is how wide the column of the targets' names and of the scales is.
func (c *load) nameRoom(all []*Series) float64 {
	most := 0
	for _, s := range all {
		for _, b := range s.Bins {
			most = max(most, b.Attempts, b.Good, b.Refused, b.Busy+b.Queue)
		}
	}
	room := width(Thousands(int64(most))+"/min", tinySize, false)
	for _, l := range c.lanes {
		room = max(room, width(l.name, smallSize, false))
	}
	return min(room, c.inner()/5) + 10
}

// stripHeight is that of a strip's measures, above and below zero: less where
// there are many.
func stripHeight(strips int) float64 {
	switch {
	case strips <= 2:
		return 128
	case strips <= 4:
		return 96
	case strips <= 8:
		return 72
	}
	return 52
}

// layScales gives every strip its scale, those that are alike the same.
func (c *load) layScales() {
	groups := scaled(c.strips, stripHeight(len(c.strips)))
	for _, g := range groups[1:] {
		for _, s := range g {
			s.times = s.perSecond() / groups[0][0].perSecond()
		}
	}
	for _, s := range c.strips {
		if s.idle() { // a line is enough
			s.scale.above, s.scale.below, s.times, s.holds = 0, 0, 0, false
		}
	}
}

// manner is whose strips they are, and which heights can be compared.
func (c *load) manner() (words string) {
	if c.strips[0].target != "" {
		words = ", target by target"
	}
	switch {
	case len(c.strips) == 1:
		return ""
	case slices.ContainsFunc(c.strips, func(s *strip) bool { return s.times > 0 }):
		return words + ", to one scale except where enlarged"
	}
	return words + ", all to one scale"
}

// layStrips gives everything its place. Strips in which nothing is turned away
// have nothing below zero.
func (c *load) layStrips() {
	held := max(36, stripHeight(len(c.strips))/2)
	y := c.top
	for i := range c.lanes {
		c.lanes[i].y = y
		y += truthHeight
	}
	y += 6
	for _, s := range c.strips {
		s.y = y
		s.top = y + headingHeight
		if s.times > 0 {
			s.top += leading
		}
		if s.cut() {
			s.top += cutRoom
		}
		s.zero = s.top + s.scale.above*s.scale.pixels
		s.low = s.zero + s.scale.below*s.scale.pixels
		y = s.low
		if s.holds {
			s.held = box{y: y + 4 + leading, h: held}
			y = s.held.y + held
		}
		y += stripGap
	}
	c.last = y - stripGap + 6
}

// cut says whether a spike is.
func (s *strip) cut() bool { return s.spike.to > s.spike.from }

// stepWords say how wide a step is, and what else of it may puzzle.
func (c *load) stepWords() string {
	words := "Counted in steps of " + Clock(c.step) + "."
	if c.step > time.Second {
		words = "Each step is the mean over " + Clock(c.step) + "."
	}
	if c.capacity {
		words += " Within the service: the most at any instant of the step."
	}
	if slices.ContainsFunc(c.strips, (*strip).catchesUp) {
		words += " Calls count as goodput when they succeed: where that exceeds attempts, earlier ones are caught up with."
	}
	return words
}

// catchesUp says whether more calls succeed in some step than begin there, and
// the picture shows it.
func (s *strip) catchesUp() bool {
	most := max(s.peak.good, s.peak.attempts)
	return slices.ContainsFunc(s.steps, func(o loadStep) bool { return o.good-o.attempts > most/50 })
}

// unsaid is what the targets' lanes have no room to say.
func (c *load) unsaid() string {
	const most = 4
	var all []string
	per := (c.inner() - c.names - 20) / float64(c.to-c.from) // the axis makes room for its last label
	for _, l := range c.lanes {
		for _, s := range l.stretches {
			shown := float64(min(s.To, c.to)-max(s.From, c.from)) * per
			if shown > 0 && s.untold(shown) {
				all = append(all, fmt.Sprintf("%s from %s to %s: %s.", l.name, moment(s.From, c.end), moment(s.To, c.end), s.words[0]))
			}
		}
	}
	if n := len(all) - most; n > 0 {
		all = append(all[:most], "And "+plural(n, "more stretch", "more stretches")+".")
	}
	if slices.ContainsFunc(c.strips, func(s *strip) bool { return !sameHealth(c.strips[0].h, s.h) }) {
		all = append(all, "Targets fare otherwise under some variant: their lanes are of the original, the grey in each strip is of its own.")
	}
	if c.more > 0 {
		all = append(all, "The health of "+plural(c.more, "more target", "more targets")+" is not shown.")
	}
	return strings.Join(all, " ")
}

// describe tells in words what the strips show.
func (c *load) describe() string {
	var b strings.Builder
	for _, s := range c.strips {
		b.WriteString(capital(s.whose(c.strips) + s.peaks("at most ", ", ") + ". "))
	}
	for _, l := range c.lanes {
		b.WriteString(fared(l.name, l.stretches, l.bursts, c.end))
	}
	b.WriteString(c.calm())
	return strings.TrimSpace(b.String())
}

// calm says of targets without a lane that they are well, if all others have one.
func (c *load) calm() string {
	const most = 6
	var names []string
	for _, t := range c.strips[0].h.Run.Targets {
		if !slices.ContainsFunc(c.lanes, func(l truthLane) bool { return l.name == t.Name }) {
			names = append(names, t.Name)
		}
	}
	switch {
	case len(names) == 0 || c.more > 0:
		return ""
	case len(names) == 1:
		return names[0] + " is up all the time, by its script."
	case len(names) > most:
		return plural(len(names), "target is", "targets are") + " up all the time, by their script."
	}
	return listed(names) + " are up all the time, by their script."
}

// whose begins the sentence about a strip.
func (s *strip) whose(all []*strip) string {
	switch {
	case len(all) == 1:
		return ""
	case s.target == "":
		return "under " + s.h.Run.Policy + ": "
	case s.label.variant == "":
		return "at " + s.target + ": "
	}
	return "under " + s.h.Run.Policy + ", at " + s.target + ": "
}

// peakWords are the most of each measure in any step.
func (s *strip) peakWords() []string {
	words := []string{s.rate.text(s.peak.attempts) + " attempts", s.rate.text(s.peak.good) + " good"}
	if s.guarded() || s.peak.refused > 0 {
		words = append(words, s.rate.text(s.peak.refused)+" turned away")
	}
	if s.holds {
		words = append(words, Thousands(int64(s.peak.queue))+" waiting")
	}
	return words
}

// idle says whether nothing is asked, and nothing left of what was.
func (s *strip) idle() bool { return s.peak == loadStep{} }

// peaks are those in one line.
func (s *strip) peaks(before, between string) string {
	if s.idle() {
		return "no calls"
	}
	return before + strings.Join(s.peakWords(), between)
}

// guarded says whether some breaker may turn calls away.
func (s *strip) guarded() bool {
	return slices.ContainsFunc(s.h.Breakers, func(b *BreakerHistory) bool { return s.target == "" || b.Main() == s.target })
}

// outages are those of its target before end, or of every one in the order of the
// scenario.
func (s *strip) outages(end time.Duration) (all []trace.Span) {
	targets := s.h.Run.Targets
	for i := range targets {
		if s.target == "" || targets[i].Name == s.target {
			all = append(all, targets[i].Outages(end)...)
		}
	}
	return all
}
