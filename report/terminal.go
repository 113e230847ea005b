package report

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/breakersim/breakersim/sim/trace"
)

// TerminalOptions say what the terminal can show.
type TerminalOptions struct {
	Width int  // cells; 0: 80, and never less than 40
	Color bool // colour beside the glyphs, by ANSI sequences
}

// WriteTerminal draws timelines in characters, no wider than the terminal: for
// every policy and breaker how its target fares, the breaker's state and what
// became of the calls, above one axis. Each cell is a stretch of time and shows
// the most notable thing in it, so that nothing is too short to be seen.
func WriteTerminal(w io.Writer, panels []*History, o TerminalOptions) error {
	if len(panels) == 0 {
		return nil
	}
	t := newTerminal(panels, o)
	for i, h := range panels {
		if i > 0 {
			t.line("")
		}
		if len(panels) > 1 {
			t.heading(h.Run)
		}
		t.panel(h)
	}
	t.axis()
	t.legend()
	return t.write(w)
}

// terminal is a picture under way.
type terminal struct {
	width, margin, cells int // margin: the labels and the blank after them
	end                  time.Duration
	color                bool
	used                 map[glyph]bool
	scored               bool // a health score is shown
	lines                []string
}

func newTerminal(panels []*History, o TerminalOptions) *terminal {
	t := &terminal{width: o.Width, color: o.Color, used: map[glyph]bool{}}
	if t.width == 0 {
		t.width = 80
	}
	t.width = max(t.width, narrowest)
	longest := displaywidth.String("breaker") // and "calls", "health"
	for _, h := range panels {
		t.end = max(t.end, h.End)
		for _, g := range h.groups() {
			for _, name := range g.names() {
				longest = max(longest, displaywidth.String(name))
			}
		}
	}
	t.margin = min(longest, t.width/4) + 1
	t.cells = t.width - t.margin
	return t
}

func (t *terminal) line(s string) { t.lines = append(t.lines, strings.TrimRight(s, " ")) }

func (t *terminal) heading(r *trace.RunInfo) {
	s := r.Policy
	if r.PolicyAbout != "" {
		s += ": " + r.PolicyAbout
	}
	t.line(displaywidth.TruncateString(s, t.width, "…"))
}

func (t *terminal) panel(h *History) {
	for i, g := range h.groups() {
		if i > 0 {
			t.line("")
		}
		for _, target := range g.targets {
			t.row(target.Name, t.truth(target, h.End))
		}
		if g.breaker != nil {
			cells, names := t.states(g.breaker)
			t.row(g.breakerName(), t.served(cells, names))
			if len(g.breaker.Health) > 0 {
				t.row("health", t.health(g.breaker.Health, h.End))
			}
		}
		t.row("calls", t.calls(g.marks))
	}
}

// row writes a label and its cells.
func (t *terminal) row(label string, cells []cell) {
	label = displaywidth.TruncateString(label, t.margin-1, "…")
	var b strings.Builder
	b.WriteString(label + strings.Repeat(" ", t.margin-displaywidth.String(label)))
	for i, c := range cells {
		if t.color && c.color != 0 && (i == 0 || cells[i-1].color != c.color) {
			b.WriteString(c.color.on())
		}
		b.WriteString(c.text)
		if t.color && c.color != 0 && (i == len(cells)-1 || cells[i+1].color != c.color) {
			b.WriteString(colorOff)
		}
	}
	t.line(b.String())
}

// at is the cell that shows the instant d.
func (t *terminal) at(d time.Duration) int {
	if t.end <= 0 {
		return 0
	}
	return min(int(float64(d)/float64(t.end)*float64(t.cells)), t.cells-1)
}

// truth is how the target fares by its script, up to end.
func (t *terminal) truth(target *trace.Target, end time.Duration) []cell {
	g := make([]glyph, t.cells)
	paint := func(what glyph, s trace.Span) { t.paint(g, what, s.From, s.To) }
	paint(glyphUp, trace.Span{To: end})
	for _, s := range shaky(target, end) {
		paint(glyphShaky, s)
	}
	for _, s := range target.Outages(end) {
		paint(glyphOutage, s)
	}
	return t.show(g)
}

// shaky are the stretches before end in which the target fails in part.
func shaky(target *trace.Target, end time.Duration) (spans []trace.Span) {
	for i, s := range target.Segments {
		to := end
		if i+1 < len(target.Segments) {
			to = min(end, target.Segments[i+1].At)
		}
		if s.Success > 0 && s.Success < 1 && s.At < to {
			spans = append(spans, trace.Span{From: s.At, To: to})
		}
	}
	return spans
}

// paint puts what into the cells of [from, to), wherever it is more notable
// than what is there.
func (t *terminal) paint(g []glyph, what glyph, from, to time.Duration) (changed []int) {
	last := t.at(from)
	if to > from {
		last = t.at(to - 1)
	}
	for i := t.at(from); i <= last; i++ {
		if what > g[i] {
			g[i] = what
			changed = append(changed, i)
		}
	}
	return changed
}

// states is the breaker's states and, for each cell that shows a backup's
// service, who serves.
func (t *terminal) states(b *BreakerHistory) (cells []cell, names []string) {
	g := make([]glyph, t.cells)
	names = make([]string, t.cells)
	for _, band := range b.Bands {
		what := stateGlyph(b, &band)
		for _, i := range t.paint(g, what, band.From, band.To) {
			names[i] = ""
			if what == glyphFallback {
				names[i] = band.Serves
			}
		}
	}
	return t.show(g), names
}

// served writes the served model's name into each stretch that has room for it.
func (t *terminal) served(cells []cell, names []string) []cell {
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		if name := " " + names[i] + " "; names[i] != "" && n >= displaywidth.String(name)+2 {
			from := i + (n-displaywidth.String(name))/2
			for k := range displaywidth.String(name) {
				cells[from+k].text = ""
			}
			cells[from].text = name
		}
		i += n
	}
	return cells
}

func (t *terminal) calls(marks []Mark) []cell {
	g := make([]glyph, t.cells)
	for i := range marks {
		if what := markGlyph(marks[i].Kind); what != glyphNone {
			t.paint(g, what, marks[i].At, marks[i].At)
		}
	}
	return t.show(g)
}

// scores are the glyphs of a health score, from 0 to 1.
var scores = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇"}

// health is the lowest score in each cell; a score holds until the next one.
func (t *terminal) health(readings []Reading, end time.Duration) []cell {
	lowest := make([]float64, t.cells)
	for i := range lowest {
		lowest[i] = 1
	}
	for i, r := range readings {
		until := end
		if i+1 < len(readings) {
			until = readings[i+1].At
		}
		for c := t.at(r.At); c <= t.at(until) && c < t.cells; c++ {
			lowest[c] = min(lowest[c], r.Score)
		}
	}
	cells := make([]cell, t.cells)
	for i, s := range lowest {
		color := green
		switch {
		case s < 0.5:
			color = red
		case s < 0.8:
			color = yellow
		}
		cells[i] = cell{scores[min(int(s*float64(len(scores))), len(scores)-1)], color}
	}
	t.scored = true
	return cells
}

// show turns glyphs into cells, and notes them for the legend.
func (t *terminal) show(g []glyph) []cell {
	cells := make([]cell, len(g))
	for i, what := range g {
		t.used[what] = true
		cells[i] = cell{glyphs[what].text, glyphs[what].color}
	}
	return cells
}

// axis is a line with ticks, and below it when they are.
func (t *terminal) axis() {
	step := t.step()
	line, labels := []rune(strings.Repeat("─", t.cells)), strings.Repeat(" ", t.margin)
	for at := time.Duration(0); at <= t.end; at += step {
		i := t.at(at)
		line[i] = '┴'
		label := tickLabel(at, step, t.end)
		i = min(i, t.cells-displaywidth.String(label)) // the last one ends with the axis
		if used := displaywidth.String(labels) - t.margin; used < i || at == 0 {
			labels += strings.Repeat(" ", i-used) + label
		}
		if at > t.end-step { // the next one could not be represented
			break
		}
	}
	line[0] = '└'
	t.line(strings.Repeat(" ", t.margin) + string(line))
	t.line(labels)
}

// step is the least clock-like step at which no two labels touch.
func (t *terminal) step() time.Duration {
	for _, s := range tickSteps {
		if s >= t.end {
			break
		}
		cells := float64(s) / float64(t.end) * float64(t.cells)
		longest := max(len(tickLabel(t.end/s*s, s, t.end)), len(tickLabel(t.end/s*s-s, s, t.end)), len(tickLabel(s, s, t.end)))
		if cells >= float64(longest+2) {
			return s
		}
	}
	return max(t.end, 1)
}

// tickSteps are the distances that ticks may have, up to 20,000 days.
var tickSteps = func() (all []time.Duration) {
	add := func(unit time.Duration, times ...time.Duration) {
		for _, n := range times {
			all = append(all, n*unit)
		}
	}
	for unit := time.Nanosecond; unit < time.Second; unit *= 10 {
		add(unit, 1, 2, 5)
	}
	add(time.Second, 1, 2, 5, 10, 15, 30)
	add(time.Minute, 1, 2, 5, 10, 15, 30)
	add(time.Hour, 1, 2, 3, 6, 12)
	for unit := 24 * time.Hour; unit <= 240000*time.Hour; unit *= 10 {
		add(unit, 1, 2, 5)
	}
	return all
}()

// legend explains the glyphs that occur.
func (t *terminal) legend() {
	line := ""
	add := func(s string) {
		if line != "" && displaywidth.String(line)+3+displaywidth.String(s) > t.width {
			t.line(line)
			line = ""
		}
		if line != "" {
			line += "   "
		}
		line += s
	}
	calls := false
	for what := range glyphs {
		g := glyph(what)
		if !t.used[g] || g == glyphNone {
			continue
		}
		text := glyphs[g].text
		add(text + " " + glyphs[g].name)
		calls = calls || g >= glyphOK
	}
	if t.scored {
		add("▁▇ health score, 0 to 1")
	}
	if calls {
		add("(a cell shows its worst call)")
	}
	t.line(line)
}

func (t *terminal) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, line := range t.lines {
		_, _ = b.WriteString(line) // Flush tells
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}

// group is what belongs together in a panel: a breaker and its targets, or a
// target that no breaker of the run stands before.
type group struct {
	breaker *BreakerHistory
	targets []*trace.Target
	marks   []Mark
}

// breakerName is the label of the breaker's row; the target may have its name.
func (g *group) breakerName() string {
	if g.breaker.Name == g.breaker.Main() {
		return "breaker"
	}
	return g.breaker.Name
}

func (g *group) names() []string {
	var names []string
	for _, t := range g.targets {
		names = append(names, t.Name)
	}
	if g.breaker != nil {
		names = append(names, g.breakerName())
	}
	return names
}

// groups are the breakers in their order, then the other targets that were called.
func (h *History) groups() []*group {
	if h.grouped == nil {
		h.grouped = h.gather()
	}
	return h.grouped
}

func (h *History) gather() []*group {
	var all []*group
	byBreaker, byTarget := map[string]*group{}, map[string]*group{}
	for _, b := range h.Breakers {
		g := &group{breaker: b}
		all = append(all, g)
		byBreaker[b.Name] = g
		for i := range h.Run.Targets {
			if t := &h.Run.Targets[i]; t.Name == b.Main() || b.hasBackup(t.Name) && troubled(t) {
				g.targets = append(g.targets, t)
			}
		}
	}
	for i := range h.Run.Targets {
		byTarget[h.Run.Targets[i].Name] = &group{targets: []*trace.Target{&h.Run.Targets[i]}}
	}
	for _, m := range h.Marks {
		g := byBreaker[m.Breaker]
		if g == nil {
			g = byTarget[m.Target]
		}
		if g != nil {
			g.marks = append(g.marks, m)
		}
	}
	for i := range h.Run.Targets {
		if g := byTarget[h.Run.Targets[i].Name]; len(g.marks) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// troubled says whether the target ever fails by its script.
func troubled(t *trace.Target) bool {
	return slices.ContainsFunc(t.Segments, func(s trace.Segment) bool { return s.Success < 1 })
}

func (b *BreakerHistory) hasBackup(name string) bool {
	return b.Model != nil && slices.ContainsFunc(b.Model.Chain, func(e trace.Backup) bool { return e.Name == name })
}
