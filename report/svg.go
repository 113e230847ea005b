package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgCanvas is a vg.Canvas that writes SVG for documents: real text in a stack
// of fonts, each with the length that the layout counts on; a title and a
// description; groups with tooltips; and a second theme for dark pages.
type svgCanvas struct {
	flat
	id          string // what the ids of the title and the description begin with
	title, desc string
	themes      []*theme // as drawn, and, if there is another, for prefers-color-scheme: dark
	body        bytes.Buffer
	depth       int
}

// newSVG begins a picture. A page may hold several, so name tells their ids
// apart.
func newSVG(w, h vg.Length, name, title, desc string, themes []*theme) *svgCanvas {
	id := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, name)
	return &svgCanvas{flat: newFlat(w, h), id: id, title: title, desc: desc, themes: themes}
}

// xy are the pixels of a point.
func (s *svgCanvas) xy(p vg.Point) (x, y float64) {
	left, top := s.fromTop(p)
	return float64(left) / pixel, float64(top) / pixel
}

// decimals writes a number of pixels to a hundredth.
func decimals(v float64) string {
	r := math.Round(v*100) / 100
	if r == 0 {
		r = 0 // no -0
	}
	return strconv.FormatFloat(r, 'f', -1, 64)
}

func (s *svgCanvas) path(p vg.Path) string {
	var b strings.Builder
	to := func(cmd string, q vg.Point) {
		x, y := s.xy(q)
		b.WriteString(cmd + decimals(x) + " " + decimals(y))
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			to("M", c.Pos)
		case vg.LineComp:
			to("L", c.Pos)
		case vg.ArcComp: // in quarters; the sweep turns with the y axis
			r, sweep := decimals(float64(c.Radius)/pixel), "0"
			if c.Angle < 0 {
				sweep = "1"
			}
			for _, angle := range quarters(c)[1:] {
				to("A"+r+" "+r+" 0 0 "+sweep+" ", around(c, angle))
			}
		case vg.CloseComp:
			b.WriteString("Z")
		default:
			panic("report: no timeline draws curves")
		}
	}
	return b.String()
}

// paint is the colour as an attribute, with a class where the themes differ:
// some renderers know no variables, so the light colour is literal.
func (s *svgCanvas) paint(attribute, prefix string) string {
	c := color.NRGBAModel.Convert(s.top().color).(color.NRGBA)
	a := fmt.Sprintf(` %s="#%02x%02x%02x"`, attribute, c.R, c.G, c.B)
	if t, ok := s.top().color.(token); ok {
		a += ` class="` + prefix + t.name + `"`
	}
	return a
}

func (s *svgCanvas) line(format string, a ...any) {
	s.body.WriteString(strings.Repeat(" ", s.depth+1))
	fmt.Fprintf(&s.body, format+"\n", a...)
}

func (s *svgCanvas) Stroke(p vg.Path) {
	if s.top().width <= 0 || len(p) == 0 {
		return
	}
	dash := ""
	if len(s.top().dash) > 0 {
		var d []string
		for _, v := range s.top().dash {
			d = append(d, decimals(float64(v)/pixel))
		}
		dash = ` stroke-dasharray="` + strings.Join(d, " ") + `"`
	}
	s.line(`<path d="%s" fill="none" stroke-width="%s"%s%s/>`, s.path(p), decimals(float64(s.top().width)/pixel), s.paint("stroke", "s-"), dash)
}

func (s *svgCanvas) Fill(p vg.Path) {
	if len(p) > 0 {
		s.line(`<path d="%s"%s/>`, s.path(p), s.paint("fill", "f-"))
	}
}

func (s *svgCanvas) FillString(f font.Face, p vg.Point, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	x, y := s.xy(p)
	weight := ""
	if f.Font.Weight > 0 {
		weight = ` font-weight="bold"`
	}
	s.line(`<text x="%s" y="%s" font-size="%s" textLength="%s"%s%s>%s</text>`, decimals(x), decimals(y), decimals(float64(f.Font.Size)/pixel),
		decimals(float64(f.Width(text))/pixel), weight, s.paint("fill", "f-"), escaped(text))
}

// escaped is text for XML. What XML cannot hold, such as a control character,
// becomes U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// group opens a group with a tooltip, and returns what closes it.
func (s *svgCanvas) group(title string) func() {
	s.line(`<g><title>%s</title>`, escaped(title))
	s.depth++
	return func() {
		s.depth--
		s.line(`</g>`)
	}
}

// WriteTo writes the whole file.
func (s *svgCanvas) WriteTo(out io.Writer) (int64, error) {
	var b bytes.Buffer
	w, h := decimals(float64(s.w)/pixel), decimals(float64(s.h)/pixel)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-desc"`, w, h, w, h, s.id, s.id)
	b.WriteString(` font-family="'Liberation Sans',Arimo,Arial,Helvetica,sans-serif">` + "\n")
	fmt.Fprintf(&b, " <title id=\"%s-title\">%s</title>\n <desc id=\"%s-desc\">%s</desc>\n", s.id, escaped(s.title), s.id, escaped(s.desc))
	s.style(&b)
	b.Write(s.body.Bytes())
	b.WriteString("</svg>\n")
	return b.WriteTo(out)
}

// style is what a dark page changes.
func (s *svgCanvas) style(b *bytes.Buffer) {
	if len(s.themes) < 2 {
		return
	}
	b.WriteString(" <style>@media (prefers-color-scheme:dark){\n")
	for _, name := range tokens {
		if v := s.themes[1].colors[name]; v != s.themes[0].colors[name] {
			fmt.Fprintf(b, "  .f-%s{fill:%s} .s-%s{stroke:%s}\n", name, v, name, v)
		}
	}
	b.WriteString(" }</style>\n")
}
