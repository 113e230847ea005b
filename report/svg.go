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
	motion      strings.Builder // rules for readers who have nothing against it
	inline      bool            // it stands in a page, which has the colours of all classes and finds its parts by name
}

const fontStack = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

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
	a := ""
	if !s.inline {
		a = fmt.Sprintf(` %s="#%02x%02x%02x"`, attribute, c.R, c.G, c.B)
	}
	if c.A < 255 {
		a += fmt.Sprintf(` %s-opacity="%s"`, attribute, decimals(float64(c.A)/255))
	}
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
		decimals(float64(lengthOf(f, text))/pixel), weight, s.paint("fill", "f-"), escaped(text))
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
	return s.open(`<g><title>%s</title>`, `</g>`, escaped(title))
}

// part opens a group that a page finds by its kind and name, such as the state
// "open", and returns what closes it. In other documents it is a plain group.
func (s *svgCanvas) part(kind, name, title string) func() {
	if !s.inline {
		return s.group(title)
	}
	return s.open(`<g data-%s="%s">`, `</g>`, kind, escaped(name))
}

// String is the picture for a page that says in words what it shows.
func (s *svgCanvas) String() string {
	w, h := decimals(float64(s.w)/pixel), decimals(float64(s.h)/pixel)
	return fmt.Sprintf("<svg viewBox=\"0 0 %s %s\" width=\"%s\" height=\"%s\" aria-hidden=\"true\" font-family=\"%s\" text-rendering=\"geometricPrecision\">\n%s</svg>\n", w, h, w, h, fontStack, s.body.String())
}

// stage is a canvas on which what is drawn can move. Nothing moves for readers
// who prefer it so, or on paper.
type stage interface {
	// cast opens a group that moves by that name, and returns what closes it. A
	// prop is there only while things move.
	cast(name string, prop bool) func()
	// window opens a group of which only what is in the box can be seen.
	window(b box) func()
	// direct says how the group of that name moves, as CSS: what holds for it,
	// and its keyframes.
	direct(name, style, keyframes string)
}

func (s *svgCanvas) cast(name string, prop bool) func() {
	hidden := ""
	if prop {
		hidden = ` display="none"`
	}
	return s.open(`<g class="%s %s-%s"%s>`, `</g>`, s.id, s.id, name, hidden)
}

func (s *svgCanvas) window(b box) func() {
	x, y, w, h := decimals(b.x), decimals(b.y), decimals(b.w), decimals(b.h)
	return s.open(`<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">`, `</svg>`, x, y, w, h, x, y, w, h)
}

func (s *svgCanvas) direct(name, style, keyframes string) {
	if style != "" {
		style += ";"
	}
	fmt.Fprintf(&s.motion, "  .%s-%s{%sanimation-name:%[1]s-%[2]s}\n  @keyframes %[1]s-%[2]s{%[4]s}\n", s.id, name, style, keyframes)
}

// open begins an element, and returns what ends it.
func (s *svgCanvas) open(begin, end string, a ...any) func() {
	s.line(begin, a...)
	s.depth++
	return func() {
		s.depth--
		s.line("%s", end)
	}
}

// WriteTo writes the whole file.
func (s *svgCanvas) WriteTo(out io.Writer) (int64, error) {
	var b bytes.Buffer
	w, h := decimals(float64(s.w)/pixel), decimals(float64(s.h)/pixel)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-title %s-desc"`, w, h, w, h, s.id, s.id)
	b.WriteString(` font-family="` + fontStack + `" text-rendering="geometricPrecision">` + "\n")
	fmt.Fprintf(&b, " <title id=\"%s-title\">%s</title>\n <desc id=\"%s-desc\">%s</desc>\n", s.id, escaped(s.title), s.id, escaped(s.desc))
	s.style(&b)
	b.Write(s.body.Bytes())
	b.WriteString("</svg>\n")
	return b.WriteTo(out)
}

// style is what a dark page changes, and what moves.
func (s *svgCanvas) style(b *bytes.Buffer) {
	if len(s.themes) > 1 {
		b.WriteString(" <style>@media (prefers-color-scheme:dark){\n")
		for _, name := range tokens {
			if strings.HasPrefix(name, "heat") && !bytes.Contains(s.body.Bytes(), []byte("-"+name)) {
				continue // few pictures have these
			}
			if v := s.themes[1].colors[name]; v != s.themes[0].colors[name] {
				fmt.Fprintf(b, "  .f-%s{fill:%s} .s-%s{stroke:%s}\n", name, v, name, v)
			}
		}
		b.WriteString(" }</style>\n")
	}
	if s.motion.Len() > 0 {
		b.WriteString(" <style>@media screen and (prefers-reduced-motion:no-preference){\n")
		fmt.Fprintf(b, "  .%s{animation:%ds linear infinite} svg:hover .%[1]s{animation-play-state:paused}\n%[3]s }</style>\n", s.id, int(loop.Seconds()), s.motion.String())
	}
}
