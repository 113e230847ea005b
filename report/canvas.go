package report

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// flat is what the canvases of documents have in common: the size, and the state
// that a vg.Canvas keeps. They cannot turn, scale or hold images.
type flat struct {
	w, h   vg.Length
	states []state
}

type state struct {
	color color.Color
	width vg.Length
	dash  []vg.Length
	at    vg.Point // translation
}

// pixel is a CSS pixel in points.
const pixel = 0.75

func newFlat(w, h vg.Length) flat {
	return flat{w, h, []state{{color: color.Black, width: 1}}}
}

func (f *flat) top() *state { return &f.states[len(f.states)-1] }

func (f *flat) Size() (w, h vg.Length)                 { return f.w, f.h }
func (f *flat) SetLineWidth(w vg.Length)               { f.top().width = w }
func (f *flat) SetLineDash(d []vg.Length, _ vg.Length) { f.top().dash = d }
func (f *flat) SetColor(c color.Color)                 { f.top().color = c }
func (f *flat) Push()                                  { f.states = append(f.states, *f.top()) }
func (f *flat) Pop()                                   { f.states = f.states[:len(f.states)-1] }
func (f *flat) Translate(p vg.Point)                   { f.top().at = f.top().at.Add(p) }
func (f *flat) Rotate(float64)                         { panic("report: no timeline turns anything") }
func (f *flat) Scale(_, _ float64)                     { panic("report: no timeline scales anything") }
func (f *flat) DrawImage(vg.Rectangle, image.Image)    { panic("report: no timeline holds an image") }

// fromTop is where a point lies; documents count from the top.
func (f *flat) fromTop(p vg.Point) (x, y vg.Length) {
	p = p.Add(f.top().at)
	return p.X, f.h - p.Y
}

// quarters cuts an arc into pieces of at most a right angle: the angles at which
// they meet, the first and the last included.
func quarters(arc vg.PathComp) []float64 {
	const right = math.Pi / 2
	n := int(math.Ceil(math.Abs(arc.Angle)/right - 1e-9))
	angles := make([]float64, n+1)
	for i := range angles {
		angles[i] = arc.Start + arc.Angle*float64(i)/float64(n)
	}
	return angles
}

// around is the point of an arc at that angle.
func around(arc vg.PathComp, angle float64) vg.Point {
	sin, cos := math.Sincos(angle)
	return arc.Pos.Add(vg.Point{X: arc.Radius * vg.Length(cos), Y: arc.Radius * vg.Length(sin)})
}
