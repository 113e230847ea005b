package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

// keyNamed is the legend's entry of that name, and what it draws.
func keyNamed(t *testing.T, f *figure, name string) (k key, svg string) {
	t.Helper()
	for _, k = range f.keys {
		if k.name == name {
			c := newSVG(100*pixel, 100*pixel, "", "", "", []*theme{&light})
			k.draw(&pen{c: c, height: 100 * pixel, theme: &light}, box{10, 10, keyWidth, 11})
			return k, c.body.String()
		}
	}
	require.Fail(t, "the legend has no "+name)
	return k, ""
}

// readyAt is a run of a minute in which a probe is possible for so long before
// the end, in the state before it.
func readyAt(t *testing.T, models int, serves string, ready time.Duration) *figure {
	t.Helper()
	h := world{policy: "p", end: time.Minute, targets: 2, tools: 1 - models, models: models}.history(t)
	b := h.Breakers[0]
	b.Bands = []Band{{To: time.Minute, State: "open"}}
	if models > 0 {
		b.Bands[0].State, b.Bands[0].Serves = "fallback", serves
	}
	b.Ready = []trace.Span{{From: time.Minute - ready, To: time.Minute}}
	f, _ := drawn(t, Look{}, h)
	return f
}

// TestAProbeWasPossibleOnTheGroundOfItsBand, in the legend as above it.
func TestAProbeWasPossibleOnTheGroundOfItsBand(t *testing.T) {
	for ground, f := range map[string]*figure{
		"open":   readyAt(t, 0, "", 10*time.Second),
		"backup": readyAt(t, 1, "target1", 10*time.Second),
		"spent":  readyAt(t, 1, "", 10*time.Second),
	} {
		_, svg := keyNamed(t, f, "ready")
		for _, look := range []string{"open", "backup", "spent"} {
			assert.Equal(t, look == ground, strings.Contains(svg, `class="f-`+look+`"`), "%s on %s", look, ground)
		}
	}
}

// TestShortTimeForAProbe: where the mark below its beginning would lie under that
// of the probe, neither it nor its entry is there.
func TestShortTimeForAProbe(t *testing.T) {
	f := readyAt(t, 0, "", 10*time.Second)
	perPixel := time.Duration(float64(time.Minute) / f.along(time.Minute))
	for pixels, want := range map[time.Duration]bool{9: false, 11: true} {
		f := readyAt(t, 0, "", pixels*perPixel)
		assert.Equal(t, want, len(f.panels[0].groups[0].readies(f)) > 0, "%d px", pixels)
		assert.Equal(t, want, strings.Contains(keysOf(f), "a probe is possible"), "%d px", pixels)
	}
}

// keysOf are the legend's words.
func keysOf(f *figure) string {
	var all []string
	for _, k := range f.keys {
		all = append(all, k.text)
	}
	return strings.Join(all, ", ")
}

// TestTheShadeIsInTheLegend, where there is one: an outage of a target that no
// breaker is about has none.
func TestTheShadeIsInTheLegend(t *testing.T) {
	f, _ := drawn(t, Look{}, world{end: time.Minute, targets: 1, tools: 1}.history(t))
	k, svg := keyNamed(t, f, "down")
	assert.Equal(t, "outage of the target, shaded below it", k.text)
	assert.Contains(t, svg, `class="f-outage"`)
	h := world{end: time.Minute, targets: 2, models: 1}.history(t)
	h.Run.Targets[0].Segments = h.Run.Targets[0].Segments[:1] // the primary is well
	f, _ = drawn(t, Look{}, h)
	k, svg = keyNamed(t, f, "down")
	assert.Equal(t, "outage of the target", k.text)
	assert.NotContains(t, svg, `class="f-outage"`)
}

// TestHealthHasTwoLabelledLines, dashed, as high as their labels.
func TestHealthHasTwoLabelledLines(t *testing.T) {
	h := world{end: time.Minute, targets: 1, tools: 1, health: true, calls: 10}.history(t)
	for _, theme := range ThemeNames {
		d := pictured(t, "timeline", Look{Theme: theme}, h)
		svg := d.SVG()
		f := d.drawing.(*figure)
		top := f.panels[0].groups[0].health
		for label, score := range map[string]float64{"0.8": 0.8, "0.5": 0.5} {
			y := decimals(top + 3 + (1-score)*(healthHeight-6))
			assert.Regexp(t, `<path d="M\S+ `+y+`L\S+ `+y+`" fill="none" stroke-width="0.8" stroke="#\w+" class="s-muted" stroke-dasharray="3 2"/>`, svg, "%s: %s", theme, label)
			assert.Equal(t, 1, strings.Count(svg, ">"+label+"</text>"), theme)
		}
	}
}

// TestLateFailuresAtTheInstantOfAnOpening restart nothing that could be drawn; the
// caption has their number, and the band the later ones.
func TestLateFailuresAtTheInstantOfAnOpening(t *testing.T) {
	const s = time.Second
	for want, late := range map[string][]time.Duration{
		"breaker0: 2 late failures came at the instant of an opening, and no cooldown ends later for it (T11)": {5 * s, 5 * s, 8 * s},
		"breaker0: 1 late failure came at the instant of an opening, and no cooldown ends later for it (T11)":  {5 * s, 8 * s},
		"": {8 * s},
	} {
		h := new(History)
		tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
		tell(trace.Event{Kind: trace.Run, Run: &trace.RunInfo{Targets: []trace.Target{{Name: "t"}}, Breakers: []trace.Breaker{{Name: "breaker0", Kind: "tool", Tool: &trace.Tool{Guards: "t"}}}}})
		tell(trace.Event{T: 5 * s, Kind: trace.Transition, Breaker: "breaker0", From: "closed", To: "open", Effective: 5 * s, Rule: "T3", Failures: 3})
		for i, at := range late {
			tell(trace.Event{T: at, Kind: trace.Result, Call: i + 1, Attempt: 1, Target: "t", Breaker: "breaker0", Outcome: trace.Failure, Applied: true, Rule: "T11"})
		}
		tell(trace.Event{T: 60 * s, Kind: trace.End})
		assert.Equal(t, []time.Duration{8 * s}, h.Breakers[0].Bands[1].Restarts)
		got := ""
		for _, line := range (&timeline{[]*History{h}, &Look{}}).captions() {
			if strings.Contains(line, "T11") {
				got += line
			}
		}
		assert.Equal(t, want, got)
	}
}
