package report

import (
	"strings"

	"github.com/breakersim/breakersim/sim/trace"
)

const (
	titleLeading = 22.0
	keyWidth     = 16.0
)

// titleLines are the scenario's title or, if it has none, its name.
func titleLines(r *trace.RunInfo, room float64) []string {
	title := strings.Join(strings.Fields(r.Title), " ")
	if title == "" {
		title = r.Scenario
	}
	return wrapped(title, titleSize, true, room)
}

// title writes the lines at the top of the picture.
func (p *pen) title(lines []string) {
	for i, line := range lines {
		p.text("ink", margin, margin+10+float64(i)*titleLeading, titleSize, true, left, line)
	}
}

// hanging is how far lines that go on with a statement stand in from its first.
const hanging = 12

// lines writes small ones from the height y down, and returns where they end.
// Those that begin with a tab go on with the line before.
func (p *pen) lines(lines []string, y float64) float64 {
	for _, line := range lines {
		x := float64(margin)
		if rest, goesOn := strings.CutPrefix(line, "\t"); goesOn {
			x, line = x+hanging, rest
		}
		p.text("muted", x, y+leading/2, smallSize, false, left, line)
		y += leading
	}
	return y
}

// layKeys puts the legend's entries into lines.
func layKeys(keys []key, room float64) []key {
	x, y := 0.0, 0.0
	for i := range keys {
		w := keyWidth + 6 + width(keys[i].text, smallSize, false) + 16
		if x > 0 && x+w-16 > room {
			x, y = 0, y+leading+2
		}
		keys[i].x, keys[i].y = x, y
		x += w
	}
	return keys
}

// keyRoom is how high the legend is, with air below it.
func keyRoom(keys []key) float64 {
	if len(keys) == 0 {
		return 0
	}
	return keys[len(keys)-1].y + leading + 8
}

// legend draws the entries from the height y down.
func (p *pen) legend(keys []key, y float64) {
	if len(keys) == 0 {
		return
	}
	defer p.group("Legend")()
	for _, k := range keys {
		k.draw(p, box{margin + k.x, y + k.y + 2, keyWidth, 11})
		p.text("muted", margin+k.x+keyWidth+6, y+k.y+8, smallSize, false, left, k.text)
	}
}
