package report_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// near is how far apart, in pixels, two renderers may put a thing.
const near = 2

// TestRenderersAgree draws the built-in scenarios and holds what a browser,
// librsvg and the PNG show against each other and against the layout: the
// timelines of all, and every kind of picture of some.
func TestRenderersAgree(t *testing.T) {
	b := openBrowser(t)
	rsvg := needs(t, "rsvg-convert")
	for i, name := range scenarios.Names() {
		some := i%9 == 0
		if testing.Short() && i%27 > 0 {
			continue
		}
		r := played(t, name)
		for k := range report.Kinds {
			kind := &report.Kinds[k]
			if !some && kind.Name != "timeline" {
				continue
			}
			d, err := kind.Draw(r, report.Look{Theme: report.ThemeNames[i%len(report.ThemeNames)]})
			if err != nil {
				require.ErrorIs(t, err, report.ErrNothingToDraw)
				continue
			}
			t.Run(name+"/"+kind.Name, func(t *testing.T) {
				t.Parallel()
				svg := d.SVG()
				shown, things := b.show(t, svg, d)
				compare(t, d.Placed(), things)
				var pixels bytes.Buffer
				require.NoError(t, d.WritePNG(&pixels, 1))
				ours := decoded(t, pixels.Bytes())
				alike(t, "the browser", shown, ours)
				alike(t, "librsvg", converted(t, rsvg, svg), ours)
			})
		}
	}
}

// TestOtherFontsKeepTheLayout: where the fonts of the layout are missing, a
// browser gives every text the room that it has.
func TestOtherFontsKeepTheLayout(t *testing.T) {
	b := openBrowser(t)
	d, err := report.KindOf("timeline").Draw(played(t, "half-open-stampede"), report.Look{Theme: "light"})
	require.NoError(t, err)
	for _, family := range []string{"monospace", "serif"} {
		svg := strings.Replace(d.SVG(), "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif", family, 1)
		require.NotEqual(t, d.SVG(), svg)
		_, things := b.show(t, svg, d)
		compare(t, d.Placed(), things)
	}
}

// needs is the path of a program, or skips the test.
func needs(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("this machine has no %s", strings.Join(names, " or "))
	return ""
}

// played is what came of a built-in scenario.
func played(t *testing.T, name string) *report.Results {
	t.Helper()
	src, ok := scenarios.Source(name)
	require.True(t, ok)
	s, err := scenarios.Load(name+".yaml", src, scenarios.DefaultLimits())
	require.NoError(t, err)
	r := new(report.Results)
	for i := range s.Policies {
		h, meter, series := new(report.History), report.NewMeter(), report.NewSeries()
		metric := func(name string) (float64, bool) {
			cost := meter.Cost()
			return cost.Metric(name)
		}
		_, err := replay.Run(s, &s.Policies[i], replay.Options{Sinks: []trace.Sink{meter, h, series}, Metric: metric})
		require.NoError(t, err)
		r.Panels = append(r.Panels, h)
		r.Rows = append(r.Rows, report.Row{Policy: s.Policies[i].Name, Cost: meter.Cost()})
		r.Series = append(r.Series, series)
	}
	return r
}

// browser is one tab, for readers who prefer that nothing moves.
type browser struct {
	tab  context.Context
	file string
	busy sync.Mutex
}

// openBrowser skips the test where there is no browser; CI must have one.
func openBrowser(t testing.TB) *browser {
	t.Helper()
	if _, err := exec.LookPath("chromium"); os.Getenv("CI") != "" {
		require.NoError(t, err, "CI shows pages and pictures in a browser")
	}
	path := needs(t, "chromium", "chromium-browser", "google-chrome", "chrome")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true))
	process, kill := chromedp.NewExecAllocator(t.Context(), options...)
	tab, done := chromedp.NewContext(process)
	t.Cleanup(func() { done(); kill() })
	still := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}}
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, still)
	require.NoError(t, err)
	return &browser{tab: tab, file: filepath.Join(t.TempDir(), "picture.svg")}
}

// boxesShown are the boxes of all paths and texts that are shown, in order.
const boxesShown = `[...document.querySelectorAll('path,text')].filter(e => e.getClientRects().length).map(e => {
	const b = e.getBBox()
	return {X: b.x, Y: b.y, W: b.width, H: b.height, Text: e.tagName == 'text' ? e.textContent : ''}
})`

// show is what the browser makes of a picture.
func (b *browser) show(t *testing.T, svg string, d *report.Drawing) (shown image.Image, things []report.Placed) {
	t.Helper()
	b.busy.Lock()
	defer b.busy.Unlock()
	require.NoError(t, os.WriteFile(b.file, []byte(svg), 0o666))
	w, h := d.Size()
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(b.file)}
	require.NoError(t, chromedp.Do(b.tab, chromedp.EmulateViewport(int64(w), int64(h)), chromedp.Navigate(at.String())))
	things, err := chromedp.Run(b.tab, chromedp.Evaluate[[]report.Placed](boxesShown))
	require.NoError(t, err)
	screen, err := chromedp.Run(b.tab, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	return decoded(t, screen), things
}

// compare holds boxes as measured against those of the layout.
func compare(t *testing.T, want, got []report.Placed) {
	t.Helper()
	require.Equal(t, len(want), len(got), "shapes and texts")
	for i, w := range want {
		g := got[i]
		require.Equal(t, w.Text, g.Text)
		assert.InDelta(t, w.X, g.X, near, "%+v, placed as %+v", g, w)
		assert.InDelta(t, w.X+w.W, g.X+g.W, near, "%+v, placed as %+v", g, w)
		assert.InDelta(t, w.Y, g.Y, near, "%+v, placed as %+v", g, w)
		assert.InDelta(t, w.Y+w.H, g.Y+g.H, near, "%+v, placed as %+v", g, w)
	}
}

func converted(t *testing.T, rsvg, svg string) image.Image {
	t.Helper()
	c := exec.Command(rsvg)
	c.Stdin = strings.NewReader(svg)
	out, err := c.Output()
	require.NoError(t, err)
	return decoded(t, out)
}

func decoded(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	return img
}
