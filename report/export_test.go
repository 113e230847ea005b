package report

import (
	"math"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Placed is a shape, or a text and the room that it was given, in pixels from
// the top left.
type Placed struct {
	X, Y, W, H float64
	Text       string
}

// Placed is everything that the picture draws, in order.
func (d *Drawing) Placed() []Placed {
	w, h := d.size()
	c := &surveyor{flat: newFlat(vg.Length(w*pixel), vg.Length(h*pixel))}
	d.on(c)
	return c.all
}

// Size is in pixels.
func (d *Drawing) Size() (w, h float64) { return d.size() }

// surveyor is a canvas that notes where things stand.
type surveyor struct {
	flat
	all []Placed
}

func (s *surveyor) Fill(p vg.Path) {
	if len(p) == 0 {
		return
	}
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	note := func(at vg.Point) {
		x, y := s.fromTop(at)
		x0, y0 = min(x0, float64(x)/pixel), min(y0, float64(y)/pixel)
		x1, y1 = max(x1, float64(x)/pixel), max(y1, float64(y)/pixel)
	}
	for _, c := range p {
		switch c.Type {
		case vg.CloseComp:
		case vg.ArcComp:
			const pieces = 64
			for i := range pieces + 1 {
				note(around(c, c.Start+c.Angle*float64(i)/pieces))
			}
		default:
			note(c.Pos)
		}
	}
	s.all = append(s.all, Placed{X: x0, Y: y0, W: x1 - x0, H: y1 - y0})
}

func (s *surveyor) Stroke(p vg.Path) {
	if s.top().width > 0 {
		s.Fill(p)
	}
}

func (s *surveyor) FillString(f font.Face, at vg.Point, text string) {
	x, y := s.fromTop(at)
	size := float64(f.Font.Size) / pixel
	s.all = append(s.all, Placed{float64(x) / pixel, float64(y)/pixel - size*0.86, float64(lengthOf(f, text)) / pixel, size, text})
}
