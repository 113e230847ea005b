package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// Results are a scenario's runs under its policies, one beside the other: what
// every picture is made of.
type Results struct {
	Panels   []*History // those of variants behind the others
	Rows     []Row
	Series   []*Series
	Variants []Variant
}

// Look is how a picture is drawn. The zero value is the usual look.
type Look struct {
	Width     int           // CSS pixels; 0: 720, and never less than 480
	Theme     string        // one of [ThemeNames]; empty: light, and an SVG turns dark where the reader prefers that
	From, To  time.Duration // draw what is in [From, To]; To 0: to the end
	Lanes     string        // of calls, one of [LaneNames]; empty: "auto"
	NoCaption bool          // leave out what a page around the picture says: settings and numbered moments

	untitled bool // leave out the title as well
}

// LaneNames are the ways in which calls are drawn: a lane for each caller while
// there are few and otherwise one for each outcome (auto), always so (callers,
// outcomes), or not at all (none).
var LaneNames = []string{"auto", "callers", "outcomes", "none"}

const (
	defaultWidth = 720
	leastWidth   = 480
	mostWidth    = 10_000
)

// Check says what cannot be drawn.
func (l *Look) Check() error {
	switch {
	case l.Width < 0 || l.Width > mostWidth:
		return fmt.Errorf("a picture cannot be %d pixels wide; write %d to %s", l.Width, leastWidth, Thousands(mostWidth))
	case l.Theme != "" && themes[l.Theme] == nil:
		return fmt.Errorf("there is no theme %q; write one of %s", l.Theme, strings.Join(ThemeNames, ", "))
	case l.Lanes != "" && !slices.Contains(LaneNames, l.Lanes):
		return fmt.Errorf("there are no lanes %q; write one of %s", l.Lanes, strings.Join(LaneNames, ", "))
	case l.From < 0 || l.To != 0 && l.To <= l.From:
		return fmt.Errorf("nothing is between %s and %s; the first instant must be the earlier one", Clock(l.From), Clock(l.To))
	}
	return nil
}

// themes are those that a drawing in this look can have.
func (l *Look) themes() []*theme {
	if l.Theme == "" {
		return []*theme{&light, &dark}
	}
	return []*theme{themes[l.Theme]}
}

// width is in pixels.
func (l *Look) width() float64 {
	if l.Width == 0 {
		return defaultWidth
	}
	return float64(max(l.Width, leastWidth))
}

// Kind is a kind of picture.
type Kind struct {
	Name   string // of its files, too
	About  string // what it shows, in a few words
	layOut func(*Results, *Look) (drawing, error)
}

// Kinds are all pictures, a row each.
var Kinds = []Kind{
	{"timeline", "what each breaker believes, below how its target really fares, and what became of the calls", layOutTimeline},
	{"states", "the states of each breaker, every move that the rules know and how often it was made, resets where there are any", layOutStates},
	{"animated", "the timeline played in a few seconds, over and over; without motion it is a still with the story below", layOutAnimated},
	{"load", "attempts, goodput and refusals over time, and what waits where capacity is bounded, a strip for each policy", layOutLoad},
	{"cost", "what the policies cost by four metrics, as bars", layOutCost},
	{"latency", "how long calls take until they end, by percentiles", layOutLatency},
}

// KindOf is the kind of that name, or nil.
func KindOf(name string) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	return nil
}

// ErrNothingToDraw says that the runs hold nothing of what a picture shows, such
// as the states of breakers where there are none.
var ErrNothingToDraw = errors.New("nothing to draw")

// endOf is the end of the longest run.
func endOf(panels []*History) (end time.Duration) {
	for _, h := range panels {
		end = max(end, h.End)
	}
	return end
}

// drawing is a picture laid out: everything has its place before anything is
// drawn.
type drawing interface {
	size() (width, height float64)     // in pixels
	words() (name, title, desc string) // name begins its ids in an SVG; the others are for those who cannot see it
	draw(p *pen)
}

// Drawing is a picture that can be written in every format. The same runs and
// look give the same bytes.
type Drawing struct {
	drawing
	themes []*theme // the second, if there is one, is for readers who prefer dark pages
}

// Draw lays out a picture of that kind. The error is [ErrNothingToDraw] or says
// what is wrong with the look.
func (k *Kind) Draw(r *Results, look Look) (*Drawing, error) {
	if len(r.Panels) == 0 {
		return nil, ErrNothingToDraw
	}
	if err := look.Check(); err != nil {
		return nil, err
	}
	if end := endOf(r.Panels); look.From > 0 && look.From >= end {
		return nil, fmt.Errorf("the run ends at %s; nothing comes after %s", moment(end, end), moment(look.From, end))
	}
	d, err := k.layOut(r, &look)
	if err != nil {
		return nil, err
	}
	return &Drawing{d, look.themes()}, nil
}

// Words are the picture's title, and a description for those who cannot see it.
func (d *Drawing) Words() (title, desc string) {
	_, title, desc = d.words()
	return title, desc
}

// size is in whole pixels, so that every format has as many.
func (d *Drawing) size() (width, height float64) {
	w, h := d.drawing.size()
	return math.Ceil(w), math.Ceil(h)
}

// on draws the picture on a canvas, and returns the pen that did.
func (d *Drawing) on(c vg.CanvasSizer) *pen {
	w, h := d.size()
	p := &pen{c: c, height: vg.Length(h * pixel), theme: d.themes[0]}
	if _, filled := c.(pngCanvas); !filled { // which it is with a copy, not with a path
		p.rect("bg", box{0, 0, w, h})
	}
	d.draw(p)
	return p
}

// WriteSVG writes the picture for documents, with real text.
func (d *Drawing) WriteSVG(w io.Writer) error {
	width, height := d.size()
	name, title, desc := d.words()
	c := newSVG(vg.Length(width*pixel), vg.Length(height*pixel), name, title, desc, d.themes)
	d.on(c)
	_, err := c.WriteTo(w)
	return err
}

// MostScale is how many pixels a PNG can have for each pixel of the page.
const MostScale = 4

// WritePNG writes the picture with so many pixels for each CSS pixel: at 2 a
// picture 720 wide has 1,440.
func (d *Drawing) WritePNG(w io.Writer, scale int) error {
	if scale < 1 || scale > MostScale {
		return fmt.Errorf("a PNG cannot have %d pixels for each pixel of the page; write 1 to %d", scale, MostScale)
	}
	width, height := d.size()
	const most = 1 << 16 // pixels on a side: beyond it decoders give up
	if side := math.Max(width, height) * float64(scale); side > most {
		return fmt.Errorf("a PNG of %s pixels is too large; draw fewer policies, or write an SVG", Thousands(int64(side)))
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(width*pixel), vg.Length(height*pixel)), vgimg.UseDPI(96*scale), vgimg.UseBackgroundColor(d.themes[0].color("bg")))
	d.on(pngCanvas{c})
	// Half of the time goes into compression; at its best it saves one byte in thirty.
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
}

// WritePDF writes the picture as one page of its size, with real text.
func (d *Drawing) WritePDF(w io.Writer) error {
	width, height := d.size()
	_, title, desc := d.words()
	c := newPDF(vg.Length(width*pixel), vg.Length(height*pixel), title, desc)
	d.on(c)
	_, err := c.WriteTo(w)
	return err
}

// SVG is the picture as text, such as a page holds within itself.
func (d *Drawing) SVG() string {
	var b bytes.Buffer
	_ = d.WriteSVG(&b) // a Buffer takes everything
	return b.String()
}
