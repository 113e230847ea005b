package report

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// tag stands for the key moments that are too near to each other to stand apart.
type tag struct {
	cell    int   // of the first
	numbers []int // 0: another model serves
}

// text is "4", "4,5", "4-6", and a sign alone for what has no number.
func (g *tag) text(change string) string {
	var parts []string
	for i := 0; i < len(g.numbers); {
		first, last := g.numbers[i], g.numbers[i]
		for i++; i < len(g.numbers) && (g.numbers[i] == last+1 || g.numbers[i] == 0); i++ {
			last = max(last, g.numbers[i])
		}
		switch {
		case first == 0 && last == 0:
		case last > first+1:
			parts = append(parts, strconv.Itoa(first)+"-"+strconv.Itoa(last))
		case last > first:
			parts = append(parts, strconv.Itoa(first)+","+strconv.Itoa(last))
		default:
			parts = append(parts, strconv.Itoa(first))
		}
	}
	if len(parts) == 0 {
		return change
	}
	return strings.Join(parts, ",")
}

// at is when it takes effect.
func (n *numbered) at() time.Duration {
	if n.change != nil {
		return n.change.change.T
	}
	return n.moment.Effective
}

func (n *numbered) breaker() string {
	if n.change != nil {
		return n.change.change.Breaker
	}
	return n.moment.Breaker
}

// marks are the key moments of a breaker at their instants, nil if it has none.
// Those that would touch become one tag.
func (t *terminal) marks(panel int, b *BreakerHistory) []cell {
	var own []*numbered
	for i := range t.moments {
		if m := &t.moments[i]; m.panel == panel && m.breaker() == b.Name {
			own = append(own, m)
			t.numbers = t.numbers || m.n > 0
			t.changed = t.changed || m.n == 0
		}
	}
	if len(own) == 0 {
		return nil
	}
	slices.SortStableFunc(own, func(a, b *numbered) int { return cmp.Compare(a.at(), b.at()) })
	var tags []tag
	for _, m := range own {
		tags = append(tags, tag{t.at(m.at()), []int{m.n}})
		for n := len(tags); n > 1 && t.touch(&tags[n-2], &tags[n-1]); n = len(tags) {
			tags[n-2].numbers = append(tags[n-2].numbers, tags[n-1].numbers...)
			tags = tags[:n-1]
		}
	}
	cells := make([]cell, t.cells)
	for i := range cells {
		cells[i].text = " "
	}
	for i := range tags {
		from, to := t.place(&tags[i])
		for c := from; c < to; c++ {
			cells[c] = cell{"", bold}
		}
		cells[from].text = tags[i].text(t.change)
	}
	return cells
}

// place is where a tag stands: from its cell on, and within the row.
func (t *terminal) place(g *tag) (from, to int) {
	w := displaywidth.String(g.text(t.change))
	from = max(0, min(g.cell, t.cells-w))
	return from, from + w
}

func (t *terminal) touch(a, b *tag) bool {
	_, to := t.place(a)
	from, _ := t.place(b)
	return from <= to
}

// told is a line of the list of key moments.
type told struct {
	at      time.Duration
	mark    string
	breaker string
	from    string // the state before it; empty: the state is the same
	state   string
	why     string
}

// WriteMoments tells the key moments by the numbers that [WriteTerminal] marks
// them with, below a blank line: when, what, by which rule and why. It says how
// many transitions are left out. Without any it writes nothing.
func WriteMoments(w io.Writer, panels []*History, o TerminalOptions) error {
	moments, more := keyMoments(panels, anyTime)
	var lines []string
	for i, h := range panels {
		list := h.list(i, moments, &o)
		if len(list) == 0 {
			continue
		}
		lines = append(lines, "")
		if len(panels) > 1 {
			for _, line := range wrap(o.Text("Under "+h.Run.Policy+":"), o.width()) {
				lines = append(lines, o.colored(bold, line))
			}
		}
		lines = append(lines, layOutTold(list, h, &o)...)
	}
	if more != "" {
		lines = append(lines, wrap(o.Text(more), o.width())...)
	}
	return writeLines(w, lines)
}

// list is what is told of one panel, in its order.
func (h *History) list(panel int, moments []numbered, o *TerminalOptions) (list []told) {
	for i := range moments {
		m := &moments[i]
		if m.panel != panel {
			continue
		}
		if c := m.change; c != nil {
			list = append(list, told{at: c.change.T, mark: o.signs().change, breaker: c.change.Breaker, state: c.state, why: switchReason(&c.change)})
			continue
		}
		why := m.moment.Reason()
		if m.moment.Rule != "" {
			why = m.moment.Rule + ": " + why
		}
		why += m.moment.onward()
		from := m.moment.From
		if m.moment.aside() {
			from = ""
		}
		list = append(list, told{m.moment.Effective, strconv.Itoa(m.n), m.moment.Breaker, from, m.moment.To, why})
	}
	for _, d := range h.joinedDetours() {
		line := told{at: d.first, mark: o.glyph(glyphRerouted), breaker: d.breaker, state: d.state, why: d.reason(h.End)}
		i := slices.IndexFunc(list, func(x told) bool { return x.at > d.first })
		if i < 0 {
			i = len(list)
		}
		list = slices.Insert(list, i, line)
	}
	return list
}

// joinedDetours are the detours from one tool to one substitute, all as one.
func (h *History) joinedDetours() (joined []*detour) {
	for _, d := range h.detours {
		i := slices.IndexFunc(joined, func(x *detour) bool { return x.breaker == d.breaker && x.to == d.to })
		if i < 0 {
			one := *d
			one.calls = maps.Clone(d.calls)
			joined = append(joined, &one)
			continue
		}
		joined[i].last = d.last
		maps.Copy(joined[i].calls, d.calls)
	}
	return joined
}

// leastReason is the room in which a reason can stand beside its moment; with
// less it stands below.
const leastReason = 32

// layOutTold makes lines of the list, each reason with a hanging indent.
func layOutTold(list []told, h *History, o *TerminalOptions) (lines []string) {
	var widths [4]int // of mark, instant, breaker and move
	rows := make([][4]string, len(list))
	for i := range list {
		x := &list[i]
		rows[i] = [4]string{x.mark, o.Text(moment(x.at, h.End)), "", o.Text(x.move())}
		if len(h.Breakers) > 1 {
			rows[i][2] = o.Text(x.breaker)
		}
		for k, s := range rows[i] {
			widths[k] = max(widths[k], displaywidth.String(s))
		}
	}
	for i := range rows {
		rows[i][0] = strings.Repeat(" ", widths[0]-displaywidth.String(rows[i][0])) + rows[i][0]
		lines = append(lines, list[i].lines(rows[i], widths, o)...)
	}
	return lines
}

// move is what became of the state.
func (x *told) move() string {
	if x.from == "" {
		return "(" + x.state + ")"
	}
	return x.from + " → " + x.state
}

// lines are the moment's, with its reason beside it if there is room.
func (x *told) lines(row [4]string, widths [4]int, o *TerminalOptions) []string {
	const gap = "   "
	head, short := "", "" // with columns, and without
	for k, s := range row[1:] {
		if widths[k+1] > 0 {
			head += fill(s, widths[k+1]) + gap
			short += s + gap
		}
	}
	mark, why, room := row[0]+"  ", o.Text(x.why), o.proseWidth()
	indent := displaywidth.String(mark)
	var lines []string
	if displaywidth.String(mark+head)+leastReason <= room {
		lines = hang(mark+head, why, room)
	} else {
		lines = []string{mark + strings.TrimRight(short, " ")}
		if displaywidth.String(lines[0]) > room {
			lines = hang(mark, short, room)
		}
		lines = append(lines, hang(strings.Repeat(" ", indent), why, room)...)
	}
	lines[0] = o.colored(bold, row[0]) + x.paint(strings.TrimPrefix(lines[0], row[0]), row[3], o)
	return lines
}

// paint gives the state in the line its colour, if its move is whole there.
func (x *told) paint(line, move string, o *TerminalOptions) string {
	state := o.Text(x.state)
	i := strings.Index(line, move)
	if i < 0 || state == "" {
		return line
	}
	i += strings.LastIndex(move, state)
	return line[:i] + o.colored(looks[stateNamed(x.state)].color, state) + line[i+len(state):]
}
