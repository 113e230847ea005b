package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf16"

	"codeberg.org/go-pdf/fpdf"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// pdfCanvas is a vg.Canvas that writes one page of PDF: real text in the fonts
// that the layout measures with, of which the file holds the glyphs that occur.
type pdfCanvas struct {
	flat
	doc *fpdf.Fpdf
}

// noDate stands where a PDF has the time of its making: the same runs must give
// the same bytes.
var noDate = time.Unix(0, 0).UTC()

// newPDF begins a page. The title is for the reader's window and for search.
func newPDF(w, h vg.Length, title, desc string) *pdfCanvas {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: float64(w), Ht: float64(h)}})
	doc.SetCompression(true)
	doc.SetCatalogSort(true)
	doc.SetCreationDate(noDate)
	doc.SetModificationDate(noDate)
	doc.SetAutoPageBreak(false, 0)
	doc.SetTitle(utf16Text(title), false)
	doc.SetSubject(utf16Text(desc), false)
	doc.SetAuthor("breakersim", false)
	doc.SetLang("en")
	for _, bold := range []bool{false, true} {
		var ttf bytes.Buffer
		f := face(textSize, bold)
		_, _ = f.Face.WriteSourceTo(nil, &ttf) // a Buffer takes everything
		doc.AddUTF8FontFromBytes(pdfFont, pdfStyle(f), ttf.Bytes())
	}
	doc.AddPage()
	return &pdfCanvas{newFlat(w, h), doc}
}

const pdfFont = "liberationsans"

func pdfStyle(f font.Face) string {
	if f.Font.Weight == xfont.WeightBold {
		return "B"
	}
	return ""
}

// utf16Text is text as a PDF's metadata holds it. The library's own conversion
// knows no characters beyond the first 65,536.
func utf16Text(s string) string {
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

func (c *pdfCanvas) Stroke(p vg.Path) {
	if c.top().width <= 0 || len(p) == 0 {
		return
	}
	c.doc.SetDrawColor(rgb(c.top().color))
	c.doc.SetLineWidth(float64(c.top().width))
	dash := make([]float64, len(c.top().dash))
	for i, d := range c.top().dash {
		dash[i] = float64(d)
	}
	c.doc.SetDashPattern(dash, 0)
	c.path(p)
	c.doc.DrawPath("D")
}

func (c *pdfCanvas) Fill(p vg.Path) {
	if len(p) == 0 {
		return
	}
	c.doc.SetFillColor(rgb(c.top().color))
	c.path(p)
	c.doc.DrawPath("F")
}

// rgb has no alpha: nothing in a picture is seen through.
func rgb(c color.Color) (r, g, b int) {
	v := color.NRGBAModel.Convert(c).(color.NRGBA)
	return int(v.R), int(v.G), int(v.B)
}

// xy are a point's places in points, to the hundredth that the library writes of
// lines: a circle must end where it began.
func (c *pdfCanvas) xy(p vg.Point) (x, y float64) {
	left, top := c.fromTop(p)
	return math.Round(float64(left)*100) / 100, math.Round(float64(top)*100) / 100
}

func (c *pdfCanvas) path(p vg.Path) {
	for _, s := range p {
		switch s.Type {
		case vg.MoveComp:
			c.doc.MoveTo(c.xy(s.Pos))
		case vg.LineComp:
			c.doc.LineTo(c.xy(s.Pos))
		case vg.ArcComp:
			angles := quarters(s)
			for i, angle := range angles[1:] {
				c.bend(s, angles[i], angle)
			}
		case vg.CloseComp:
			c.doc.ClosePath()
		default:
			panic("report: no timeline draws curves")
		}
	}
}

// bend draws a piece of an arc as a Bézier curve: at most a quarter of a circle,
// which it follows to 0.03% of the radius.
func (c *pdfCanvas) bend(arc vg.PathComp, from, to float64) {
	reach := arc.Radius * vg.Length(4.0/3*math.Tan((to-from)/4))
	tangent := func(angle float64, by vg.Length) (x, y float64) {
		sin, cos := math.Sincos(angle)
		return c.xy(around(arc, angle).Add(vg.Point{X: -by * vg.Length(sin), Y: by * vg.Length(cos)}))
	}
	x0, y0 := tangent(from, reach)
	x1, y1 := tangent(to, -reach)
	x, y := tangent(to, 0)
	c.doc.CurveBezierCubicTo(x0, y0, x1, y1, x, y)
}

// FillString writes text as wide as the layout counts on: a PDF knows nothing of
// kerning, so what is missing or too much is spread over the characters.
func (c *pdfCanvas) FillString(f font.Face, p vg.Point, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	shown := printable(f, text)
	c.doc.SetTextColor(rgb(c.top().color))
	c.doc.SetFont(pdfFont, pdfStyle(f), float64(f.Font.Size))
	spread := (float64(lengthOf(f, text)) - c.doc.GetStringWidth(shown)) / float64(len([]rune(shown)))
	c.doc.RawWriteStr(fmt.Sprintf("%.4f Tc", spread))
	x, y := c.xy(p)
	c.doc.Text(x, y, shown)
}

// noGlyph stands for what the font cannot show.
const noGlyph = '□'

// printable is the text with what the font has no glyph for replaced, a
// character for a character.
func printable(f font.Face, s string) string {
	var buf sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if i, err := f.Face.GlyphIndex(&buf, r); err != nil || i == 0 || r > 0xffff {
			return noGlyph
		}
		return r
	}, s)
}

// WriteTo writes the whole file.
func (c *pdfCanvas) WriteTo(out io.Writer) (int64, error) {
	var b bytes.Buffer
	if err := c.doc.Output(&b); err != nil {
		return 0, err
	}
	return b.WriteTo(out)
}
