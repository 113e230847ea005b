package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// Picture is a canvas for a figure beside a text: SVG like that of a timeline,
// light and dark. It takes paths, arcs and horizontal text in Liberation Sans;
// it cannot turn, scale or hold images.
type Picture struct{ *svgCanvas }

// Pixel is a CSS pixel in the canvas's unit of length.
const Pixel vg.Length = pixel

// NewPicture begins a picture of that many CSS pixels. A page may hold several,
// so name tells their ids apart; title and desc are for who cannot see it.
func NewPicture(width, height float64, name, title, desc string) Picture {
	return Picture{newSVG(vg.Length(width*pixel), vg.Length(height*pixel), "picture-"+name, title, desc, []*theme{&light, &dark})}
}

// Color is a colour of the themes by its name, such as "ink" or "ok". Drawn on a
// [Picture] it has a light and a dark value, elsewhere the light one.
func Color(name string) color.Color { return light.color(name) }
