package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// inPage draws for a page that has a title, a legend and words of its own.
func inPage(w, h float64, t *theme, draw func(p *pen)) template.HTML {
	c := newSVG(vg.Length(w*pixel), vg.Length(h*pixel), "", "", "", []*theme{t})
	c.inline = true
	draw(&pen{c: c, height: vg.Length(h * pixel), theme: t})
	return template.HTML(c.String())
}

// pageTimeline is the timeline at one zoom, and where its plot stands in it.
type pageTimeline struct {
	Zoom                     int
	SVG                      template.HTML
	Width, Height            float64 // in pixels
	Left, Right, Top, Bottom float64 // of the plot, in percent of width and height: what the playhead needs
	desc                     string
}

// Names is how wide the column of names is, in pixels, and as a share of the
// width: it ends before the axis's first label begins.
func (t *pageTimeline) Names() string { return decimals(t.Left/100*t.Width - firstLabel) }

// NamesShare is that in percent.
func (t *pageTimeline) NamesShare() string { return decimals(t.Left - 100*firstLabel/t.Width) }

const firstLabel = 6.0 // half of it, in pixels

const (
	mostZooms     = 8
	roomForImages = 280 << 10 // bytes: what the pictures of all zooms may take
)

// pageLooks are how the timeline may be drawn, the best first: where callers are
// many a narrower one has fewer things in it, and one by outcomes fewer still.
var pageLooks = []Look{
	{Width: 960, NoCaption: true, untitled: true},
	{Width: 720, NoCaption: true, untitled: true},
	{Width: 720, NoCaption: true, untitled: true, Lanes: "outcomes"},
}

// pageTimelines are the timeline drawn for each zoom: in the best look that is
// small enough, twice as wide, and on, as long as the page stays small.
func pageTimelines(panels []*History, t *theme) (all []pageTimeline) {
	var look Look
	var first pageTimeline
	for _, look = range pageLooks {
		if first = (&timeline{panels, &look}).inPage(1, t); len(first.SVG) <= roomForImages {
			break
		}
	}
	all = append(all, first)
	size, width := len(first.SVG), look.Width
	for zoom := 2; zoom <= mostZooms; zoom *= 2 {
		look.Width = width * zoom
		one := (&timeline{panels, &look}).inPage(zoom, t)
		if size += len(one.SVG); size > roomForImages {
			break
		}
		all = append(all, one)
	}
	return all
}

// inPage draws the lanes and the axis alone.
func (t *timeline) inPage(zoom int, theme *theme) pageTimeline {
	f := t.figure()
	h := f.plotTop + f.plotHeight + axisRoom
	svg := inPage(f.width, h, theme, f.drawPlot)
	return pageTimeline{Zoom: zoom, Width: f.width, Height: h, desc: t.describe(), SVG: named(fmt.Sprint("timeline-", zoom), svg),
		Left: 100 * f.x(f.begin) / f.width, Right: 100 * f.x(f.end) / f.width, Top: 100 * f.plotTop / h, Bottom: 100 * (f.plotTop + f.plotHeight) / h}
}

// named gives the picture an id.
func named(id string, svg template.HTML) template.HTML {
	return template.HTML(strings.Replace(string(svg), "<svg ", `<svg id="`+id+`" `, 1))
}

// pageKey is an entry of the legend.
type pageKey struct {
	SVG  template.HTML
	Text string
}

// pageKeys are the legend of the timeline.
func pageKeys(panels []*History, t *theme) (all []pageKey) {
	for _, k := range (&timeline{panels, &Look{}}).figure().keys {
		if k.name == "bars" { // how much time each is depends on the zoom
			k.text = "bars: calls in as much time as the row says, full height: the row's max"
		}
		all = append(all, pageKey{inPage(keyWidth+2, 15, t, func(p *pen) { k.draw(p, box{1, 2, keyWidth, 11}) }), k.text})
	}
	return all
}

// pageDiagrams are the state diagrams of all breakers: one for those that are
// alike.
type pageDiagrams struct {
	SVGs  []template.HTML
	theme *theme
}

const diagramWidth = leastCell

// of is the number of a breaker's diagram.
func (d *pageDiagrams) of(h *History, b *BreakerHistory) int {
	svg := diagram(h, b, d.theme)
	i := slices.Index(d.SVGs, svg)
	if i < 0 {
		i = len(d.SVGs)
		d.SVGs = append(d.SVGs, svg)
	}
	return i
}

// diagram is what a breaker can do.
func diagram(h *History, b *BreakerHistory, theme *theme) template.HTML {
	t := &tally{BreakerHistory: b, h: h, timeless: true}
	c := &stateCell{t: t, w: diagramWidth}
	height := c.layDiagram(0, 4, c.w, widthsOf([]*tally{t}, c.w)) + 4
	return inPage(c.w, height, theme, c.draw)
}

// colours are the themes as a page's style: those of first, and of second where
// the reader prefers dark pages or has asked for one.
func colours(first, second *theme) template.CSS {
	var b strings.Builder
	set := func(t *theme, scheme string) string {
		var v strings.Builder
		v.WriteString("color-scheme:" + scheme)
		for _, name := range tokens {
			v.WriteString(";--" + name + ":" + t.colors[name])
		}
		return v.String()
	}
	fmt.Fprintf(&b, ":root{%s}\n", set(first, "light"))
	if second != nil {
		dark := set(second, "dark")
		fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){%s}}\n@media screen{:root[data-theme=dark]{%s}}\n", dark, dark)
	}
	for _, name := range tokens {
		fmt.Fprintf(&b, ".f-%s{fill:var(--%[1]s)}.s-%[1]s{stroke:var(--%[1]s)}\n", name)
	}
	return template.CSS(b.String())
}
