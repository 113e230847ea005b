package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

var charts = []string{"load", "cost", "latency"}

// textBox is where a piece of text stands in an SVG: as wide as it says, and as
// tall as its letters are.
type textBox struct {
	X     float64 `xml:"x,attr"`
	Y     float64 `xml:"y,attr"`
	Width float64 `xml:"textLength,attr"`
	Size  float64 `xml:"font-size,attr"`
	Text  string  `xml:",chardata"`
}

func textBoxes(t *testing.T, svg string) (all []textBox) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if s, ok := token.(xml.StartElement); ok && s.Name.Local == "text" {
			var b textBox
			require.NoError(t, d.DecodeElement(&b, &s))
			all = append(all, b)
		}
	}
}

// TestChartsOfAllScenarios draws the charts of every built-in scenario in every
// theme and at several widths: no text lies on another or leaves the picture.
func TestChartsOfAllScenarios(t *testing.T) {
	t.Parallel()
	looks := []report.Look{{Theme: "light", Width: 480}, {Theme: "light", Width: 720}, {Theme: "dark", Width: 960}, {Theme: "print", Width: 1440}}
	for _, name := range scenarios.Names() {
		res := replayed(t, name)
		for _, kind := range charts {
			for _, look := range looks {
				d, err := report.KindOf(kind).Draw(&res.Results, look)
				if errors.Is(err, report.ErrNothingToDraw) {
					continue
				}
				require.NoError(t, err)
				boxes := textBoxes(t, d.SVG())
				assert.GreaterOrEqual(t, len(boxes), 5) // two for the picture, and three for a policy whose calls all end at once
				for i, a := range boxes {
					where := fmt.Sprintf("%s of %s at %d", kind, name, look.Width)
					assert.True(t, a.X >= 0 && a.X+a.Width <= float64(look.Width), "%s: %q leaves the picture", where, a.Text)
					for _, b := range boxes[:i] {
						if a.X < b.X+b.Width && b.X < a.X+a.Width && a.Y-0.75*a.Size < b.Y && b.Y-0.75*b.Size < a.Y {
							t.Errorf("%s: %q lies on %q", where, a.Text, b.Text)
						}
					}
				}
			}
		}
	}
}

// TestStepsOfLoad holds the steps of built-in scenarios with few calls, or slow
// ones: they keep the callers' rhythm, and none shows more that succeed than were
// made, unless more do.
func TestStepsOfLoad(t *testing.T) {
	const caughtUp = "where that exceeds attempts, earlier ones are caught up with"
	for _, tt := range []struct {
		name  string
		peaks []string // by strips
		step  string
		more  bool
	}{
		// Six callers, a call each 6 s. Without a breaker nobody goes to the backup.
		{"sick-tool-has-a-substitute", []string{"peaks: 1/s attempts · 1/s good", "no calls", "peaks: 1/s attempts · 1/s good · 1/s turned away", "peaks: 1/s attempts · 1/s good · 0 turned away"}, "6 s", false},
		// A call each 20 s, of which each third is a probe that fails.
		{"waterfall-every-turn", []string{"peaks: 3/min attempts · 2/min good · 0 turned away", "peaks: 3/min attempts · 2/min good · 0 turned away"}, "1 min", false},
		// A call a second at each tool. Whoever waits for search gets 25 s of calls at once with those that are well again.
		{"slow-not-dead", []string{"peaks: 1/s attempts · 2/s good · 0 turned away", "peaks: 1/s attempts · 1/s good · 1/s turned away", "peaks: 1/s attempts · 2/s good", "peaks: 1/s attempts · 1/s good"}, "5 s", true},
	} {
		res := replayed(t, tt.name)
		d, err := report.KindOf("load").Draw(&res.Results, report.Look{})
		require.NoError(t, err)
		var peaks []string
		all := ""
		for _, b := range textBoxes(t, d.SVG()) {
			if strings.HasPrefix(b.Text, "peaks: ") || b.Text == "no calls" {
				peaks = append(peaks, b.Text)
			}
			all += b.Text + " "
		}
		assert.Equal(t, tt.peaks, peaks, tt.name)
		assert.Contains(t, all, "Each step is the mean over "+tt.step+".", tt.name)
		assert.Equal(t, tt.more, strings.Contains(all, caughtUp), tt.name)
	}
}

// BenchmarkCharts draws those of the built-in scenario with the longest series.
func BenchmarkCharts(b *testing.B) {
	for _, name := range []string{"metastable-collapse", "retry-budget-vs-breaker"} {
		res := replayed(b, name)
		for _, kind := range charts {
			b.Run(name+"/"+kind, func(b *testing.B) {
				for b.Loop() {
					d, err := report.KindOf(kind).Draw(&res.Results, report.Look{})
					require.NoError(b, err)
					require.NoError(b, d.WriteSVG(io.Discard))
				}
			})
			b.Run(name+"/"+kind+"/png", func(b *testing.B) {
				for b.Loop() {
					d, err := report.KindOf(kind).Draw(&res.Results, report.Look{})
					require.NoError(b, err)
					require.NoError(b, d.WritePNG(io.Discard, 2))
				}
			})
		}
	}
}
