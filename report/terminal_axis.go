package report

import (
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// axis is a line with ticks, and below it when they are.
func (t *terminal) axis() {
	step := t.step()
	line, labels := []rune(t.rule(t.cells)), strings.Repeat(" ", t.margin)
	for at := time.Duration(0); at <= t.end; at += step {
		i := t.at(at)
		line[i] = t.tick
		label := t.Text(tickLabel(at, t.end))
		i = min(i, t.cells-displaywidth.String(label)) // the last one ends with the axis
		if used := displaywidth.String(labels) - t.margin; used < i || at == 0 {
			labels += strings.Repeat(" ", i-used) + label
		}
		if at > t.end-step { // the next one could not be represented
			break
		}
	}
	line[0] = t.corner
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
		longest := max(len(tickLabel(t.end/s*s, t.end)), len(tickLabel(t.end/s*s-s, t.end)), len(tickLabel(s, t.end)))
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
