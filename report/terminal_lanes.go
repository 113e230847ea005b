package report

import (
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/breakersim/breakersim/sim/trace"
)

// lane is a row of states under way: what each cell shows, and a word for it,
// which stands in the row where there is room.
type lane struct {
	glyphs []glyph
	words  []string
}

func (t *terminal) lane() *lane { return &lane{make([]glyph, t.cells), make([]string, t.cells)} }

// cellsOf are the first and the last cell of [from, to).
func (t *terminal) cellsOf(from, to time.Duration) (first, last int) {
	first = t.at(from)
	if to > from {
		return first, t.at(to - 1)
	}
	return first, first
}

// paint puts a glyph and its word into the cells of [from, to), wherever it is
// more notable than what is there.
func (t *terminal) paint(l *lane, what glyph, word string, from, to time.Duration) {
	first, last := t.cellsOf(from, to)
	for i := first; i <= last; i++ {
		if what > l.glyphs[i] {
			l.glyphs[i], l.words[i] = what, word
		}
	}
}

// show turns a lane into cells with the words within them, and notes what they
// show for the legend.
func (t *terminal) show(l *lane) []cell {
	cells := make([]cell, len(l.glyphs))
	for i, what := range l.glyphs {
		t.used[what] = true
		cells[i] = cell{t.glyph(what), looks[what].color}
	}
	for from := 0; from < len(cells); {
		to := from
		for to < len(cells) && l.glyphs[to] == l.glyphs[from] && l.words[to] == l.words[from] {
			to++
		}
		if from > 0 && l.glyphs[from-1] == l.glyphs[from] && l.words[from-1] != "" && l.words[from] != "" {
			cells[from].text = t.bar // the same, but another word
		}
		if l.words[from] != "" {
			t.write(cells[from:to], " "+t.Text(l.words[from])+" ")
		}
		from = to
	}
	return cells
}

// write puts a word into the middle of cells, if they are at least one more on
// either side.
func (t *terminal) write(cells []cell, word string) {
	w := displaywidth.String(word)
	if len(cells) < w+2 {
		return
	}
	from := (len(cells) - w) / 2
	for i := range w {
		cells[from+i].text = ""
	}
	cells[from].text = word
}

// truth is how the target fares by its script and by chance.
func (t *terminal) truth(target *trace.Target, h *History) []cell {
	l := t.lane()
	for _, s := range h.truth(target, 0) {
		t.paint(l, truthGlyph[s.look], t.saying(&s), s.From, s.To)
	}
	for _, s := range h.Bursts[target.Name] {
		t.paint(l, glyphBurst, "", s.From, s.To)
	}
	return t.show(l)
}

// truthGlyph is how a cell shows how a target fares.
var truthGlyph = map[string]glyph{"up": glyphUp, "slow": glyphSlow, "shaky": glyphShaky, "down": glyphOutage}

// saying is the longest wording of a stretch that its cells have room for; empty:
// the target is well.
func (t *terminal) saying(s *stretchOfTruth) string {
	if s.well() {
		return ""
	}
	all := s.wordings()
	first, last := t.cellsOf(s.From, s.To)
	for _, word := range all {
		if displaywidth.String(t.Text(word))+4 <= last-first+1 { // as write has it
			return word
		}
	}
	return all[len(all)-1]
}

// mostStates is how many states one cell can tell of: open, half-open and closed.
const mostStates = 3

// states is the breaker's states, by name or by who serves.
func (t *terminal) states(b *BreakerHistory) []cell {
	l, count := t.lane(), make([]int, t.cells)
	bands := b.pieces()
	for i := range bands {
		band := &bands[i]
		what, word := stateGlyph(b, band), band.State
		switch what {
		case glyphFallback:
			word = band.Serves
		case glyphExhausted:
			word = "exhausted"
		case glyphForcedOpen, glyphForcedClosed:
			word = "forced " + band.State
		case glyphRamp:
			word = "ramp"
		}
		t.paint(l, what, word, band.From, band.To)
		first, last := t.cellsOf(band.From, band.To)
		if i > 0 && bands[i-1].State == band.State && bands[i-1].From < band.From {
			first++ // another model serves, or an operator's hand came: the state has been counted
		}
		for c := first; c <= last; c++ {
			count[c]++
		}
	}
	for _, s := range b.Ready {
		t.ready(l, s)
	}
	for c, n := range count {
		if n > mostStates {
			l.glyphs[c], l.words[c] = glyphFlapping, "changes fast"
		}
	}
	cells := t.show(l)
	for c, what := range l.glyphs {
		if what == glyphRamp && cells[c].text == t.glyph(what) {
			cells[c].text = t.rampLevel(b, c)
		}
	}
	return cells
}

// rampLevel shows the share of the calls that a ramp lets in within a cell.
func (t *terminal) rampLevel(b *BreakerHistory, c int) string {
	at := time.Duration((float64(c) + 0.5) / float64(t.cells) * float64(t.end))
	for i := range b.Ramps {
		if r := &b.Ramps[i]; t.at(r.From) <= c && c <= t.at(max(r.From, r.To-1)) {
			share := r.share(min(max(at, r.From), r.To))
			return t.levels[min(int(share*float64(len(t.levels))), len(t.levels)-1)]
		}
	}
	return t.levels[0]
}

// ready marks the cells in which a probe is possible, and nobody asks, for most
// of their time.
func (t *terminal) ready(l *lane, s trace.Span) {
	half := t.cellTime() / 2
	for c := t.at(s.From + half); c <= t.at(s.To) && s.From+half < s.To; c++ {
		middle := time.Duration((float64(c) + 0.5) / float64(t.cells) * float64(t.end))
		if s.From <= middle && middle < s.To && l.glyphs[c] < glyphReady {
			l.glyphs[c], l.words[c] = glyphReady, ""
		}
	}
}

// calls are the marks of what became of calls: in one lane, or in one for each
// outcome.
func (t *terminal) calls(marks []Mark) {
	if !t.dense {
		l := t.lane()
		for i := range marks {
			if what := markGlyph(marks[i].Kind); what != glyphNone {
				t.hidden = t.hidden || l.glyphs[t.at(marks[i].At)] != glyphNone
				t.paint(l, what, "", marks[i].At, marks[i].At)
			}
		}
		t.row("calls", t.show(l))
		return
	}
	counts := t.counts(marks)
	for g := glyphOK; g < glyphs; g++ {
		if counts[g] == nil {
			continue
		}
		cells := make([]cell, t.cells)
		for i, n := range counts[g] {
			cells[i].text = " "
			if n > 0 {
				cells[i] = cell{t.levels[(n*len(t.levels)-1)/t.most], looks[g].color}
			}
		}
		name := looks[g].name
		if g == glyphLate {
			name = "ignored"
		}
		t.row(name, cells)
	}
}

// counts are the calls in each cell by what became of them; nil: of none.
func (t *terminal) counts(marks []Mark) (counts [glyphs][]int) {
	for i := range marks {
		what := markGlyph(marks[i].Kind)
		if what == glyphNone {
			continue
		}
		if counts[what] == nil {
			counts[what] = make([]int, t.cells)
		}
		counts[what][t.at(marks[i].At)]++
	}
	return counts
}

// crowded says whether one lane of calls would hide a quarter of them, and more
// than a few.
func (t *terminal) crowded(panels []*History) bool {
	const few = 8
	all, shown := 0, 0
	for _, h := range panels {
		for _, g := range h.groups() {
			taken := make([]bool, t.cells)
			for _, counts := range t.counts(g.marks) {
				for c, n := range counts {
					if all += n; n > 0 && !taken[c] {
						taken[c] = true
						shown++
					}
				}
			}
		}
	}
	return all-shown > max(few, all/4)
}

// mostCalls is the highest number of calls in a cell of a lane.
func (t *terminal) mostCalls(panels []*History) (most int) {
	for _, h := range panels {
		for _, g := range h.groups() {
			for _, counts := range t.counts(g.marks) {
				for _, n := range counts {
					most = max(most, n)
				}
			}
		}
	}
	return most
}

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
		cells[i] = cell{t.levels[min(int(s*float64(len(t.levels))), len(t.levels)-1)], color}
	}
	t.scored = true
	return cells
}
