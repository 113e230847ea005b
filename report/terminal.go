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

// TerminalOptions say what the terminal can show. The zero value is 80 cells of
// Unicode without colour.
type TerminalOptions struct {
	Width int  // cells; 0: 80, and never less than 40
	Color bool // colour beside the glyphs, by ANSI sequences
	ASCII bool // the same in ASCII alone

	NoMoments bool // leave their numbers out, where nobody tells them below
}

// width is in cells.
func (o *TerminalOptions) width() int {
	if o.Width == 0 {
		return 80
	}
	return max(o.Width, narrowest)
}

// proseWidth is that of sentences, which are hard to read in very long lines.
func (o *TerminalOptions) proseWidth() int { return min(o.width(), 120) }

// WriteTerminal draws timelines in characters, no wider than the terminal: for
// every policy and breaker how its target fares, the breaker's state, its key
// moments by the numbers under which [WriteMoments] tells them, and what became
// of the calls, above one axis. Each cell is a stretch of time and shows the most
// notable thing in it, so that nothing is too short to be seen; where calls are
// many they have a lane for each outcome, which shows how many.
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
			t.heading(h.Run.Policy, policyAbout(panels, i))
		}
		t.panel(i, h)
	}
	t.axis()
	t.legend()
	return writeLines(w, t.lines)
}

// WriteTitle writes a scenario's title above its timelines.
func WriteTitle(w io.Writer, title string, o TerminalOptions) error {
	lines := wrap(o.Text(title), o.width())
	for i := range lines {
		lines[i] = o.colored(bold, lines[i])
	}
	return writeLines(w, lines)
}

// terminal is a picture under way.
type terminal struct {
	TerminalOptions
	*signs
	margin, cells int // margin: the labels and the blank after them
	end           time.Duration
	moments       []numbered
	dense         bool // calls have a lane for each outcome
	most          int  // calls in one cell of one lane
	hidden        bool // some call, by a worse one in its cell
	used          map[glyph]bool
	numbers       bool   // of moments are shown
	changed       bool   // so is a change of the model that serves
	scored        bool   // and a health score
	fleets        string // and the shares of these
	lines         []string
}

func newTerminal(panels []*History, o TerminalOptions) *terminal {
	t := &terminal{TerminalOptions: o, signs: o.signs(), used: map[glyph]bool{}}
	if !o.NoMoments {
		t.moments, _ = keyMoments(panels, anyTime)
	}
	longest := displaywidth.String("breaker") // and "moments", "calls", "health"
	for _, h := range panels {
		t.end = max(t.end, h.End)
		for _, g := range h.groups() {
			for _, name := range g.names() {
				longest = max(longest, displaywidth.String(t.Text(name)))
			}
		}
	}
	room := func() {
		t.margin = min(longest, t.width()/4) + 1
		t.cells = t.width() - t.margin
	}
	room()
	if t.dense = t.crowded(panels); t.dense {
		longest = max(longest, displaywidth.String("rate limit")) // the longest outcome
		room()
		t.most = t.mostCalls(panels)
	}
	return t
}

// anyTime is every instant of a run.
func anyTime(time.Duration) bool { return true }

func (t *terminal) line(s string) { t.lines = append(t.lines, strings.TrimRight(s, " ")) }

// heading names a panel's policy on a rule.
func (t *terminal) heading(policy, about string) {
	words := policy
	if about != "" {
		words += ": " + about
	}
	const indent = 3
	lines := wrap(t.Text(words), t.width()-indent)
	tail := ""
	if room := t.width() - indent - displaywidth.String(lines[0]) - 1; len(lines) == 1 && room > 2 {
		tail = " " + t.rule(room)
	}
	t.line(t.colored(grey, t.rule(indent-1)+" ") + t.colored(bold, lines[0]) + t.colored(grey, tail))
	for _, line := range lines[1:] {
		t.line(strings.Repeat(" ", indent) + t.colored(bold, line))
	}
}

// rule is a rule of n cells.
func (t *terminal) rule(n int) string { return strings.Repeat(t.signs.line, n) }

func (t *terminal) panel(i int, h *History) {
	for k, g := range h.groups() {
		if k > 0 {
			t.line("")
		}
		for _, target := range g.targets {
			t.row(target.Name, t.truth(target, h))
		}
		if g.breaker != nil {
			t.row(g.breakerName(), t.states(g.breaker))
			if marks := t.marks(i, g.breaker); marks != nil {
				t.row("moments", marks)
			}
			if len(g.breaker.Health) > 0 {
				t.row("health", t.health(g.breaker.Health, h.End))
			}
		}
		if g.fleet != nil {
			t.fleet(g.fleet)
		}
		t.calls(g.marks)
	}
}

// row writes a label and its cells.
func (t *terminal) row(label string, cells []cell) {
	var b strings.Builder
	b.WriteString(fill(t.cut(label, t.margin-1), t.margin))
	for from := 0; from < len(cells); {
		to, piece := from, ""
		for ; to < len(cells) && cells[to].color == cells[from].color; to++ {
			piece += cells[to].text
		}
		b.WriteString(t.colored(cells[from].color, piece))
		from = to
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

// cellTime is the stretch of time that a cell shows.
func (t *terminal) cellTime() time.Duration { return t.end / time.Duration(t.cells) }

// legend explains what occurs: the states, then the calls, then the rest.
func (t *terminal) legend() {
	var states, calls, rest []entry
	add := func(to *[]entry, sign, says string, c ansi) { *to = append(*to, entry{sign, t.Text(says), c}) }
	for g := glyphUp; g < glyphs; g++ {
		to := &states
		if g >= glyphOK {
			to = &calls
		}
		if t.used[g] {
			add(to, t.glyph(g), looks[g].name, looks[g].color)
		}
	}
	ramp := t.levels[0] + t.levels[len(t.levels)-1]
	if t.hidden {
		add(&calls, "", "(a cell shows its worst call)", 0)
	}
	if t.most > 0 {
		add(&calls, ramp, "1 to "+plural(t.most, "call", "calls")+" in a cell of "+approx(twoDigits(t.cellTime())), 0)
	}
	if t.fleets != "" {
		add(&rest, ramp, "a few to all of the breakers of "+t.fleets, 0)
	}
	if t.scored {
		add(&rest, ramp, "health score, 0 to 1", 0)
	}
	if t.numbers {
		add(&rest, "1 2 3", "key moments", bold)
	}
	if t.changed {
		add(&rest, t.change, "turns go elsewhere", bold)
	}
	t.flow(states)
	t.flow(calls)
	t.flow(rest)
}

// twoDigits rounds a stretch of time to what one needs to know of it.
func twoDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}

// entry is one of the legend's.
type entry struct {
	sign, says string
	color      ansi
}

// flow writes entries beside each other, as many as fit into a line.
func (t *terminal) flow(entries []entry) {
	const gap = 3
	line, used := "", 0
	for _, e := range entries {
		s := strings.TrimLeft(e.sign+" "+e.says, " ")
		w := displaywidth.String(s)
		if used > 0 && used+gap+w > t.width() {
			t.line(line)
			line, used = "", 0
		}
		if w > t.width() {
			t.lines = append(t.lines, hang(e.sign+" ", e.says, t.width())...)
			continue
		}
		if used > 0 {
			line, used = line+strings.Repeat(" ", gap), used+gap
		}
		line, used = line+t.colored(e.color, e.sign)+strings.TrimPrefix(s, e.sign), used+w
	}
	if used > 0 {
		t.line(line)
	}
}

func writeLines(w io.Writer, lines []string) error {
	b := bufio.NewWriter(w)
	for _, line := range lines {
		_, _ = b.WriteString(line) // Flush tells
		_ = b.WriteByte('\n')
	}
	return b.Flush()
}

// group is what belongs together in a panel: a breaker and its targets, or a
// target that no breaker of the run stands before.
type group struct {
	breaker *BreakerHistory
	fleet   *Fleet // instead of a breaker
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
	switch {
	case g.breaker != nil:
		names = append(names, g.breakerName())
	case g.fleet != nil:
		for _, state := range g.fleet.troubles() {
			names = append(names, g.fleet.rowName(state))
		}
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
			if t := &h.Run.Targets[i]; t.Name == b.Main() || b.hasBackup(t.Name) && troubled(t, max(h.End, 1)) {
				g.targets = append(g.targets, t)
			}
		}
	}
	for _, f := range h.Fleets {
		g := &group{fleet: f}
		all = append(all, g)
		for _, b := range f.Members {
			byBreaker[b.Name] = g
		}
	}
	for _, g := range all {
		g.targets = append(g.targets, h.hostsOf(g)...)
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

// hostsOf are the targets of a group beside those that its breaker names: of a
// fleet the one that it guards, and hosts of that one target that are ever in trouble.
func (h *History) hostsOf(g *group) (all []*trace.Target) {
	main := g.main()
	for i := range h.Run.Targets {
		t := &h.Run.Targets[i]
		switch {
		case t.Name == main && g.fleet != nil:
			all = append(all, t)
		case t.Of == main && main != "" && len(all) < mostApart && troubled(t, max(h.End, 1)):
			all = append(all, t)
		}
	}
	return all
}

// troubled says whether the target ever fails or is slow before end, by its script.
func troubled(t *trace.Target, end time.Duration) bool {
	return slices.ContainsFunc(truth(t, end), func(s stretchOfTruth) bool { return s.look != "up" })
}

func (b *BreakerHistory) hasBackup(name string) bool {
	return b.Model != nil && slices.ContainsFunc(b.Model.Chain, func(e trace.Backup) bool { return e.Name == name })
}
