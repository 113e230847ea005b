package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnimated plays every world: nothing of the still lies on anything else,
// whatever moves has its keyframes, and the file is hardly larger than a still.
func TestAnimated(t *testing.T) {
	for name, panels := range worlds() {
		for _, wide := range []int{480, 720, 1440} {
			if testing.Short() && wide != 720 {
				continue
			}
			t.Run(fmt.Sprintf("%s at %d", name, wide), func(t *testing.T) {
				var all []*History
				for _, w := range panels {
					all = append(all, w.history(t))
				}
				look := Look{Width: wide}
				d, err := KindOf("animated").Draw(&Results{Panels: all}, look)
				if all[0].End == 0 {
					require.ErrorIs(t, err, ErrNothingToDraw)
					return
				}
				require.NoError(t, err)
				w, h := d.size()
				p := d.on(newSVG(0, 0, "", "", "", d.themes))
				for i, a := range p.texts {
					assert.True(t, a.x >= 0 && a.y >= 0 && a.x+a.w <= w && a.y+a.h <= h, "%q leaves the picture: %+v", a.text, a.box)
					for _, b := range p.texts[:i] {
						assert.False(t, a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h, "%q %+v lies on %q %+v", a.text, a.box, b.text, b.box)
					}
				}
				svg := d.SVG()
				assert.Equal(t, svg, d.SVG(), "two drawings differ")
				require.NoError(t, xml.Unmarshal([]byte(svg), new(struct{})))
				assert.NotContains(t, svg, "<script")
				assert.NotContains(t, svg, "NaN")
				assert.Less(t, len(svg), 5_000+len(pictured(t, "timeline", look, all...).SVG())*13/10)
				assert.Equal(t, matches(svg, `<g class="animated-made-up animated-made-up-(\w+)"`), matches(svg, `@keyframes animated-made-up-(\w+)`))
			})
		}
	}
}

// matches are what the expression's group finds, each once.
func matches(s, expression string) map[string]bool {
	found := map[string]bool{}
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(s, -1) {
		found[m[1]] = true
	}
	return found
}

// TestMotionIsAskedFor: what moves is drawn only where the reader has nothing
// against it, and nothing outside that query says otherwise.
func TestMotionIsAskedFor(t *testing.T) {
	svg := pictured(t, "animated", Look{}, worlds()["ordinary"][0].history(t)).SVG()
	assert.Contains(t, svg, `<g class="animated-made-up animated-made-up-play" display="none">`)
	_, query, found := strings.Cut(svg, "@media screen and (prefers-reduced-motion:no-preference){")
	require.True(t, found)
	query, rest, _ := strings.Cut(query, "</style>")
	assert.Contains(t, query, "{animation:12s linear infinite}")
	assert.Contains(t, query, "animated-made-up-play{display:inline;")
	assert.NotContains(t, rest, "animation")
}

// TestStillsOfTheAnimated are the timeline with the story below: no veil, no
// playhead.
func TestStillsOfTheAnimated(t *testing.T) {
	h := worlds()["ordinary"][0].history(t)
	pixels := func(kind string, look Look) image.Image {
		var b bytes.Buffer
		require.NoError(t, pictured(t, kind, look, h).WritePNG(&b, 1))
		img, err := png.Decode(&b)
		require.NoError(t, err)
		return img
	}
	moving, still := pixels("animated", Look{}), pixels("timeline", Look{NoCaption: true})
	require.Greater(t, moving.Bounds().Dy(), still.Bounds().Dy(), "it has a story")
	f, _ := drawn(t, Look{NoCaption: true}, h)
	for y := range int(f.plotTop + f.plotHeight + axisRoom) {
		for x := range still.Bounds().Dx() {
			require.Equal(t, still.At(x, y), moving.At(x, y), "at %d, %d", x, y)
		}
	}
	require.NoError(t, pictured(t, "animated", Look{}, h).WritePDF(new(bytes.Buffer)))
}

// TestTheImportantIsTold where there is too much.
func TestTheImportantIsTold(t *testing.T) {
	d := pictured(t, "animated", Look{}, world{end: time.Hour, targets: 1, tools: 1, moves: 30}.history(t))
	a := d.drawing.(*animated)
	assert.Len(t, a.told, mostTold)
	assert.Equal(t, "and 4 more numbers above", a.more)
	for i := 1; i < len(a.told); i++ {
		assert.Less(t, a.told[i-1].moment.Effective, a.told[i].moment.Effective)
		gap := a.pace.of(a.told[i].moment.Effective) - a.pace.of(a.told[i-1].moment.Effective)
		assert.GreaterOrEqual(t, gap, 1.1-1e-9, "time to read")
	}
	assert.InDelta(t, 0.4, a.pace.of(0), 1e-9)
	assert.InDelta(t, 10, a.pace.of(time.Hour), 1e-9)
}

// TestAStretchPlays from its first instant to its last.
func TestAStretchPlays(t *testing.T) {
	h := world{end: time.Hour, targets: 1, tools: 1, moves: 6}.history(t)
	a := pictured(t, "animated", Look{From: 15 * time.Minute, To: 45 * time.Minute}, h).drawing.(*animated)
	assert.Len(t, a.told, 3, "those of 20, 30 and 40 min")
	assert.InDelta(t, 0.4, a.pace.of(15*time.Minute), 1e-9)
	assert.InDelta(t, 10, a.pace.of(45*time.Minute), 1e-9)
	steps := a.clockSteps()
	assert.Equal(t, []time.Duration{15 * time.Minute, 45 * time.Minute}, []time.Duration{steps[0], steps[len(steps)-1]})
}

func TestPace(t *testing.T) {
	told := func(at ...time.Duration) (all []numbered) {
		for _, d := range at {
			m := &Moment{}
			m.Effective = d * time.Second
			all = append(all, numbered{moment: m})
		}
		return all
	}
	for name, c := range map[string]struct {
		told []numbered
		want []float64 // wall seconds of the knots
	}{
		"nothing":          {nil, []float64{0.4, 10}},
		"in the middle":    {told(48), []float64{0.4, 5.2, 10}},
		"at the start":     {told(0), []float64{0.4, 10}},
		"at the end":       {told(96), []float64{0.4, 10}},
		"close":            {told(48, 49), []float64{0.4, 0.4 + 8.5*48/95, 0.4 + 8.5*48/95 + 1.1, 10}},
		"at one instant":   {told(95, 95), []float64{0.4, 7.8, 10}},
		"more than can be": {told(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), []float64{0.4, 0.4, 1.36, 2.32, 3.28, 4.24, 5.2, 6.16, 7.12, 8.08, 9.04, 10}},
	} {
		p := paced(0, 96*time.Second, c.told)
		require.Len(t, p, len(c.want), name)
		for i, k := range p {
			assert.InDelta(t, c.want[i], k.wall, 1e-6, "%s: knot %d", name, i)
			assert.InDelta(t, k.wall, p.of(k.virtual), 1e-9, name)
			assert.False(t, math.IsNaN(k.wall), name)
		}
	}
}
