package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/breakersim/breakersim/report"
)

// Error makes a fault of a place something that rendering can give.
func (m *misplaced) Error() string { return m.why }

// picture is a file that pages refer to.
type picture struct {
	path string
	data []byte
	by   string // the marker that asks for it, for messages
}

// render makes what stands in the part, and the picture that it refers to.
func (b *part) render(p *page) (picture, error) {
	x := b.world.under(b.policies)
	if b.kind.picture == nil {
		var text bytes.Buffer
		err := b.kind.text(&text, b.request, x)
		if errors.Is(err, report.ErrNothingToDraw) {
			err = b.nothing()
		}
		b.body = text.String()
		return picture{}, err
	}
	d, err := b.kind.picture.Draw(&x.results.Results, b.look)
	if errors.Is(err, report.ErrNothingToDraw) {
		err = b.nothing()
	}
	if err != nil {
		return picture{}, err
	}
	var data bytes.Buffer
	if b.format == "png" {
		err = d.WritePNG(&data, b.scale)
	} else {
		err = d.WriteSVG(&data)
	}
	file := b.file(x.scenario.Name)
	b.body = fmt.Sprintf("![%s](%s)\n", altOf(b.alt, d), link(file))
	line, _ := place(p.src, b.wordsAt)
	return picture{filepath.Join(filepath.Dir(p.path), filepath.FromSlash(file)), data.Bytes(), fmt.Sprintf("%s:%d", p.path, line)}, err
}

func (b *part) nothing() error {
	return &misplaced{b.at["scenario"], fmt.Sprintf("%s has nothing that a %s could show; name another scenario or policy", b.scenario, b.kind.name)}
}

// longestAlt is how many characters of a description stand in for a picture:
// readers aloud do not skip.
const longestAlt = 300

// altOf is the picture in words, as Markdown: those that were asked for, or its
// title and as many of its sentences as are not too long.
func altOf(alt string, d *report.Drawing) string {
	if alt == "" {
		title, desc := d.Words()
		alt = title
		if !strings.ContainsAny(title[max(0, len(title)-1):], ".?!") {
			alt += "."
		}
		for _, sentence := range strings.SplitAfter(desc, ". ") {
			if len(alt)+len(sentence) > longestAlt {
				break
			}
			alt += " " + strings.TrimSpace(sentence)
		}
	}
	return report.InlineMarkdown(alt)
}

// link is a file's address, from the page.
func link(file string) string {
	parts := strings.Split(file, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// writeTerminal writes what a run prints, but the table.
func writeTerminal(w io.Writer, r *request, x *world) error {
	var text bytes.Buffer
	o := report.TerminalOptions{Width: r.look.Width, NoMoments: r.look.NoCaption}
	if err := report.WriteTitle(&text, x.scenario.Title, o); err != nil {
		return err
	}
	fmt.Fprintln(&text)
	draw := x.results.printTimeline
	if r.look.NoCaption {
		draw = func(w io.Writer, o report.TerminalOptions) error { return report.WriteTerminal(w, x.results.Panels, o) }
	}
	if err := draw(&text, o); err != nil {
		return err
	}
	return writeFence(w, "text", text.String())
}

// writeStory writes what happened under the policy.
func writeStory(w io.Writer, _ *request, x *world) error {
	return x.results.Panels[0].Story().WriteMarkdown(w)
}

// writeMermaid writes the diagram in a fence, as pages that draw it want it.
func writeMermaid(w io.Writer, r *request, x *world) error {
	h, breaker := x.results.Panels[0], r.breaker
	switch {
	case breaker == "" && len(h.Breakers) == 0:
		return report.ErrNothingToDraw
	case breaker == "":
		breaker = h.Breakers[0].Name
	}
	var text bytes.Buffer
	if err := report.WriteMermaid(&text, h, breaker); err != nil {
		return err
	}
	return writeFence(w, "mermaid", text.String())
}

// writeFence writes code, with the line ends of a page.
func writeFence(w io.Writer, language, code string) error {
	return report.WriteFence(w, language, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(code, string(bom))))
}

// keep notes a picture that a part asks for, and refuses another one of that name.
func (b *book) keep(p *page, part *part, made picture) *misplaced {
	if made.path == "" {
		return nil
	}
	key := realPath(made.path)
	if first, ok := b.files[key]; ok && !bytes.Equal(first.data, made.data) {
		return &misplaced{part.wordsAt, fmt.Sprintf("the marker of %s draws another picture into %s; write name=NAME to tell them apart", first.by, made.path)}
	} else if !ok {
		b.files[key] = made
		b.drawn = append(b.drawn, key)
	}
	return nil
}

// write puts every part into its place, with empty lines around it, as not
// every Markdown knows where a comment ends. All else stays, byte for byte.
func (p *page) write() {
	at := 0
	p.text = nil
	for i := range p.parts {
		b := &p.parts[i]
		p.text = append(p.text, p.src[at:b.from]...)
		for line := range strings.Lines("\n" + b.body + "\n") {
			line = b.prefix + strings.TrimSuffix(line, "\n")
			p.text = append(p.text, strings.TrimRight(line, " \t")+b.newline...)
		}
		at = b.to
	}
	p.text = append(p.text, p.src[at:]...)
}

// check finds the parts again in what was written.
func (p *page) check() error {
	again, faults := findRegions(p.text, p.mdx)
	same := len(faults) == 0 && len(again) == len(p.parts)
	for i := range again {
		same = same && again[i].words == p.parts[i].words
	}
	if !same {
		return fmt.Errorf("%s: with what belongs between its markers they could not be found again; move them out of what is around them", p.path)
	}
	return nil
}

// alike says whether a picture is what is drawn now. Processors that fuse a
// product with a sum round a few pixels of a PNG otherwise.
func alike(old, new []byte) bool {
	if bytes.Equal(old, new) {
		return true
	}
	x, err := png.Decode(bytes.NewReader(old))
	if err != nil {
		return false
	}
	y, err := png.Decode(bytes.NewReader(new))
	return err == nil && x.Bounds() == y.Bounds() && furthest(x, y) <= 1
}

// furthest is the largest difference of one channel of one pixel, in 1/255.
func furthest(a, b image.Image) int {
	most := 0
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			r1, g1, b1, a1 := a.At(x, y).RGBA()
			r2, g2, b2, a2 := b.At(x, y).RGBA()
			for _, d := range []int{int(r1>>8) - int(r2>>8), int(g1>>8) - int(g2>>8), int(b1>>8) - int(b2>>8), int(a1>>8) - int(a2>>8)} {
				most = max(most, d, -d)
			}
		}
	}
	return most
}
