package report

import (
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// box is a rectangle in pixels from the top left.
type box struct{ x, y, w, h float64 }

// pen draws on any canvas, in pixels from the top left. It remembers where it
// wrote, for the test that nothing overlaps.
type pen struct {
	c      vg.CanvasSizer
	height vg.Length
	theme  *theme
	texts  []written
}

type written struct {
	box
	text string
}

var plainText = text.Plain{Fonts: font.NewCache(liberation.Collection())}

func face(size float64, bold bool) font.Face {
	f := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size*pixel))
	if bold {
		f.Weight = xfont.WeightBold
	}
	return plainText.Fonts.Lookup(f, f.Size)
}

// width is how wide the text is, in pixels.
func width(s string, size float64, bold bool) float64 {
	return float64(lengthOf(face(size, bold), s)) / pixel
}

// lengthOf is how long the text is as documents set it: they do not kern figures,
// as an older table of the font does with 11.
func lengthOf(f font.Face, s string) vg.Length {
	ones := 0
	for i := 1; i < len(s); i++ {
		if s[i-1:i+1] == "11" {
			ones++
		}
	}
	return f.Width(s) + vg.Length(ones)*(2*f.Width("1")-f.Width("11"))
}

// fitted is the text, cut to the width with an ellipsis if it must be.
func fitted(s string, size float64, bold bool, most float64) string {
	if width(s, size, bold) <= most {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && width(string(r)+"…", size, bold) > most {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// wrapped breaks the text into lines no wider than that.
func wrapped(s string, size float64, bold bool, most float64) []string {
	var lines []string
	line := ""
	for len(s) > 0 {
		word := s
		for i := 1; i < len(s); i++ {
			if s[i] == ' ' {
				word = s[:i]
				break
			}
		}
		s = s[len(word):]
		if line != "" && width(line+word, size, bold) > most {
			lines = append(lines, line)
			for len(word) > 0 && word[0] == ' ' {
				word = word[1:]
			}
			line = ""
		}
		line = fitted(line+word, size, bold, most)
	}
	return append(lines, line)
}

func (p *pen) point(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x * pixel), Y: p.height - vg.Length(y*pixel)}
}

func (p *pen) path(closed bool, xy ...float64) vg.Path {
	var path vg.Path
	path.Move(p.point(xy[0], xy[1]))
	for i := 2; i < len(xy); i += 2 {
		path.Line(p.point(xy[i], xy[i+1]))
	}
	if closed {
		path.Close()
	}
	return path
}

func (p *pen) set(name string, w float64, dash ...vg.Length) {
	p.c.SetColor(p.theme.color(name))
	p.c.SetLineWidth(vg.Length(w * pixel))
	p.c.SetLineDash(dash, 0)
}

func (p *pen) fill(name string, xy ...float64) {
	p.set(name, 0)
	p.c.Fill(p.path(true, xy...))
}

func (p *pen) stroke(name string, w float64, xy ...float64) {
	p.set(name, w)
	p.c.Stroke(p.path(false, xy...))
}

func (p *pen) rect(name string, b box) {
	p.fill(name, b.x, b.y, b.x+b.w, b.y, b.x+b.w, b.y+b.h, b.x, b.y+b.h)
}

// textAir is what a box needs beyond the words in it.
const textAir = 10.0

// fitsIn is the first of the words that fits into a box so wide; empty: none does.
func fitsIn(room float64, bold bool, words ...string) string {
	for _, s := range words {
		if width(s, smallSize, bold)+textAir <= room {
			return s
		}
	}
	return ""
}

// inside writes the first of the words that fits into the box, on a plate that
// keeps patterns off it.
func (p *pen) inside(look string, b box, bold bool, words ...string) {
	if s := fitsIn(b.w, bold, words...); s != "" {
		w := width(s, smallSize, bold)
		p.rect(look, box{b.x + b.w/2 - w/2 - 3, b.y, w + 6, b.h})
		p.text(look+"-ink", b.x+b.w/2, b.y+b.h/2, smallSize, bold, centre, s)
	}
}

func (p *pen) frame(name string, w float64, b box) {
	h := w / 2
	p.set(name, w)
	p.c.Stroke(p.path(true, b.x+h, b.y+h, b.x+b.w-h, b.y+h, b.x+b.w-h, b.y+b.h-h, b.x+h, b.y+b.h-h))
}

// ground fills a box with what stands for that look: its colour and, if the
// theme has one for it, its pattern.
func (p *pen) ground(look string, b box) {
	p.rect(look, b)
	edge := look + "-edge"
	switch p.theme.patterns[look] {
	case plain:
	case rising:
		p.hatch(edge, 7, false, b)
	case falling:
		p.hatch(edge, 6, true, b)
	case crossed:
		p.hatch(edge, 8, false, b)
		p.hatch(edge, 8, true, b)
	case level:
		p.ruled(edge, b, 4, false)
	case upright:
		p.ruled(edge, b, 5, true)
	case dashed:
		p.dashes(edge, b)
	}
}

// dashes strokes a box with rows of dashes, each by half a dash and gap off the
// next. They are too few in a narrow box for less than one.
func (p *pen) dashes(name string, b box) {
	const dash, gap, apart = 4.0, 4.0, 4.0
	p.set(name, 1.3, dash*pixel, gap*pixel)
	for i, y := 0, b.y+apart/2; y < b.y+b.h; i, y = i+1, y+apart {
		if from := b.x + float64(i%2)*(dash+gap)/2; from < b.x+b.w {
			p.c.Stroke(p.path(false, from, y, b.x+b.w, y))
		}
	}
}

// hatch strokes boxes at 45 degrees in one go, so that the strokes run on from one
// box to the next. They are clipped by hand: canvases have no clipping.
func (p *pen) hatch(name string, apart float64, falling bool, boxes ...box) {
	var path vg.Path
	for _, b := range boxes {
		y := b.y
		if falling { // mirrored at y = 0
			y = -b.y - b.h
		}
		for s := math.Ceil((b.x+y)/apart) * apart; s < b.x+b.w+y+b.h; s += apart {
			x0, x1 := max(b.x, s-y-b.h), min(b.x+b.w, s-y)
			y0, y1 := s-x0, s-x1
			if falling {
				y0, y1 = -y0, -y1
			}
			path.Move(p.point(x0, y0))
			path.Line(p.point(x1, y1))
		}
	}
	if len(path) > 0 {
		p.set(name, 0.8)
		p.c.Stroke(path)
	}
}

// ruled strokes a box with parallel lines.
func (p *pen) ruled(name string, b box, step float64, upright bool) {
	var path vg.Path
	if upright {
		for x := b.x + step/2; x < b.x+b.w; x += step {
			path.Move(p.point(x, b.y))
			path.Line(p.point(x, b.y+b.h))
		}
	} else {
		for y := b.y + step/2; y < b.y+b.h; y += step {
			path.Move(p.point(b.x, y))
			path.Line(p.point(b.x+b.w, y))
		}
	}
	p.set(name, 0.8)
	p.c.Stroke(path)
}

func (p *pen) circle(name string, x, y, r, w float64) {
	var path vg.Path
	at := p.point(x, y)
	radius := vg.Length(r * pixel)
	path.Move(vg.Point{X: at.X + radius, Y: at.Y})
	path.Arc(at, radius, 0, 2*math.Pi)
	path.Close()
	p.set(name, w)
	if w == 0 {
		p.c.Fill(path)
	} else {
		p.c.Stroke(path)
	}
}

// arc strokes a flat arc between two points of one height, bent upward by rise.
func (p *pen) arc(name string, w, x0, x1, y, rise float64) {
	half := (x1 - x0) / 2
	r := (half*half + rise*rise) / (2 * rise)
	angle := math.Asin(min(1, half/r))
	var path vg.Path
	path.Move(p.point(x0, y))
	path.Arc(p.point(x0+half, y-rise+r), vg.Length(r*pixel), math.Pi/2+angle, -2*angle)
	p.set(name, w)
	p.c.Stroke(path)
}

// align is where the text stands by its x.
type align uint8

const (
	left align = iota
	centre
	right
)

// text writes s with its middle at the height y.
func (p *pen) text(name string, x, y, size float64, bold bool, a align, s string) {
	if s == "" {
		return
	}
	w := width(s, size, bold)
	switch a {
	case centre:
		x -= w / 2
	case right:
		x -= w
	}
	p.texts = append(p.texts, written{box{x, y - size/2, w, size}, s})
	p.c.SetColor(p.theme.color(name))
	p.c.FillString(face(size, bold), p.point(x, y+size*0.36), s)
}

// group opens a group with a tooltip where the canvas knows such a thing.
func (p *pen) group(title string) func() {
	if g, ok := p.c.(interface{ group(string) func() }); ok {
		return g.group(title)
	}
	return func() {}
}

// part opens a group that a page can find where the canvas knows such a thing;
// title is its tooltip elsewhere.
func (p *pen) part(kind, name, title string) func() {
	if g, ok := p.c.(interface {
		part(kind, name, title string) func()
	}); ok {
		return g.part(kind, name, title)
	}
	return func() {}
}
