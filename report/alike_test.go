package report_test

import (
	"image"
	"image/draw"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tolerance is how much lighter or darker the smoothed edges of two renderers
// may be.
const tolerance = 64

// alike holds that two pictures show the same within two pixels: each place in
// one is about as light as a place that near in the other. Both are blurred by a
// pixel first, since every renderer smooths thin strokes in its own way. Grey will
// do: neighbours in a picture differ in lightness.
func alike(t *testing.T, who string, got, want image.Image) {
	t.Helper()
	require.Equal(t, want.Bounds(), got.Bounds(), who)
	a, b := blurred(got), blurred(want)
	n, first := astray(a, b)
	assert.Zero(t, n, "%s shows what the PNG does not, first at %v", who, first)
	n, first = astray(b, a)
	assert.Zero(t, n, "the PNG shows what %s does not, first at %v", who, first)
}

// astray counts the places of a that are lighter or darker than all that is near
// in b, and says where the first is.
func astray(a, b *image.Gray) (n int, first image.Point) {
	low, high, w := b, b, a.Rect.Dx()
	for range near {
		low, high = spread(low, least), spread(high, most)
	}
	for i, v := range a.Pix {
		if int(v) < int(low.Pix[i])-tolerance || int(v) > int(high.Pix[i])+tolerance {
			if n++; n == 1 {
				first = image.Pt(i%w, i/w)
			}
		}
	}
	return n, first
}

// blurred gives each pixel the mean of itself and its neighbours.
func blurred(img image.Image) *image.Gray {
	p := image.NewGray(img.Bounds())
	draw.Draw(p, p.Bounds(), img, img.Bounds().Min, draw.Src)
	return spread(p, func(a, b, c uint8) uint8 { return uint8((int(a) + int(b) + int(c)) / 3) })
}

func least(a, b, c uint8) uint8 { return min(a, b, c) }
func most(a, b, c uint8) uint8  { return max(a, b, c) }

// spread makes each pixel what it and its neighbours are together.
func spread(img *image.Gray, together func(a, b, c uint8) uint8) *image.Gray {
	along := func(in []uint8, step, length int) []uint8 {
		out := make([]uint8, len(in))
		for i, v := range in {
			before, after := v, v
			if at := i / step % length; at > 0 {
				before = in[i-step]
				if at < length-1 {
					after = in[i+step]
				}
			} else if length > 1 {
				after = in[i+step]
			}
			out[i] = together(before, v, after)
		}
		return out
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	return &image.Gray{Pix: along(along(img.Pix, 1, w), w, h), Stride: img.Stride, Rect: img.Rect}
}

// TestAlikeTellsShifts: two pixels apart is near enough, three are not; for a
// thin mark on white as for the edge of a box.
func TestAlikeTellsShifts(t *testing.T) {
	painted := func(left, width int) *image.Gray {
		p := image.NewGray(image.Rect(0, 0, 40, 20))
		draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(p, image.Rect(left, 5, left+width, 15), image.Black, image.Point{}, draw.Src)
		return blurred(p)
	}
	for _, width := range []int{2, 12} {
		for shift, near := range []bool{true, true, true, false, false} {
			n, _ := astray(painted(10+shift, width), painted(10, width))
			m, _ := astray(painted(10, width), painted(10+shift, width))
			assert.Equal(t, near, n+m == 0, "%d wide, %d apart: %d and %d", width, shift, n, m)
		}
	}
}
