package report

import (
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pngCanvas is a canvas of pixels whose text is as wide as the layout counts on.
// The library below it kerns every size as much as a font of 32 pixels
// (https://go.dev/issue/46727), so that small letters lie on each other.
type pngCanvas struct{ *vgimg.Canvas }

// FillString writes the text in pieces, which part where the library would kern.
func (c pngCanvas) FillString(f font.Face, p vg.Point, text string) {
	from, at, x := 0, p, p.X // of the piece; and where the next character stands
	var last string
	for i, r := range text {
		next := string(r)
		x += lengthOf(f, last+next) - lengthOf(f, next)
		if f.Width(last+next) != f.Width(last)+f.Width(next) {
			c.Canvas.FillString(f, at, text[from:i])
			from, at.X = i, x
		}
		last = next
	}
	c.Canvas.FillString(f, at, text[from:])
}
