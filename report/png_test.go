package report

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestPNGTextHasTheLayoutsWidth, at every size: from the first stroke to the
// last.
func TestPNGTextHasTheLayoutsWidth(t *testing.T) {
	for _, text := range []string{"l11111111l", "lAVAVAVATl", "lT11, To Wal", "l plain l", "l"} {
		for _, size := range []float64{tinySize, titleSize} {
			f := face(size, false)
			c := pngCanvas{vgimg.NewWith(vgimg.UseWH(200*pixel, 40*pixel), vgimg.UseDPI(96), vgimg.UseBackgroundColor(color.White))}
			c.FillString(f, vg.Point{X: 10 * pixel, Y: 10 * pixel}, text)
			from, to := inked(c.Image())
			stroke := lengthOf(f, "l") / pixel
			assert.InDelta(t, 10+float64(stroke)/2, float64(from), 1.5, "%q at %v begins", text, size)
			assert.InDelta(t, 10+float64(lengthOf(f, text)/pixel-stroke/2), float64(to), 1.5, "%q at %v ends", text, size)
		}
	}
}

// inked are the columns between which anything is darker than grey.
func inked(img image.Image) (from, to int) {
	from = -1
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 0x9000 {
				if from < 0 {
					from = x
				}
				to = x + 1
			}
		}
	}
	return from, to
}

// TestPNGHasItsGround in every theme, from corner to corner.
func TestPNGHasItsGround(t *testing.T) {
	for _, name := range ThemeNames {
		d, err := KindOf("load").Draw(resultsOf(t, world{policy: "p", end: time.Minute}, 1, 1, nil), Look{Theme: name})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, d.WritePNG(&b, 1))
		img, err := png.Decode(&b)
		require.NoError(t, err)
		to := img.Bounds().Max
		for _, at := range []image.Point{{0, 0}, {to.X - 1, 0}, {0, to.Y - 1}, {to.X - 1, to.Y - 1}, {to.X / 2, 2}} {
			assert.Equal(t, themes[name].color("bg").NRGBA, color.NRGBAModel.Convert(img.At(at.X, at.Y)), "%s at %v", name, at)
		}
	}
}

// TestFiguresAreNotKerned, and letters are.
func TestFiguresAreNotKerned(t *testing.T) {
	one := width("1", textSize, false)
	assert.InDelta(t, 3*one, width("111", textSize, false), 1e-9)
	assert.Less(t, width("AV", textSize, false), width("A", textSize, false)+width("V", textSize, false)-0.5)
}
