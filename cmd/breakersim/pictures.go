package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/report"
)

// look is how pictures are drawn, as the user says it.
type look struct {
	Width     int           `placeholder:"PIXELS" help:"How wide a picture is (720)."`
	Theme     string        `placeholder:"NAME" help:"light, dark or print (an SVG is light, and dark where the reader prefers that)."`
	From      time.Duration `placeholder:"TIME" help:"Draw from that instant on (0s)."`
	To        time.Duration `placeholder:"TIME" help:"Draw up to that instant (the end)."`
	Lanes     string        `placeholder:"KIND" help:"Of calls: callers, outcomes, none, or auto: callers where they are few (auto)."`
	NoCaption bool          `help:"Leave out of pictures what is below them: settings and numbered moments."`
}

func (l *look) look() report.Look {
	return report.Look{Width: l.Width, Theme: l.Theme, From: l.From, To: l.To, Lanes: l.Lanes, NoCaption: l.NoCaption}
}

// pictures is what a run draws, as the user says it.
type pictures struct {
	look
	Format  []string `placeholder:"LIST" help:"What to write beside the traces, of md, html, svg, png, pdf (md,svg,png)."`
	Picture []string `placeholder:"LIST" help:"What to draw, of ${pictures} (as SVG all of them, otherwise the timeline)."`
	Scale   int      `default:"2" placeholder:"N" help:"How many pixels a PNG has for each pixel of the page (${default})."`
}

var formats = []string{"md", "html", "svg", "png", "pdf"}

// check refuses what is not known, before anything is played.
func (p *pictures) check() error {
	if p.Format == nil {
		p.Format = []string{"md", "svg", "png"}
	}
	if err := known("--format", "format", p.Format, formats); err != nil {
		return err
	}
	if err := known("--picture", "picture", p.Picture, kindNames()); err != nil {
		return err
	}
	l := p.look.look()
	if err := l.Check(); err != nil {
		return wrong{err}
	}
	if p.Scale < 1 || p.Scale > report.MostScale {
		return wrong{fmt.Errorf("--scale %d: write 1 to %d", p.Scale, report.MostScale)}
	}
	return nil
}

// known says which of the names in a flag is none of those that there are.
func known(flag, what string, names, all []string) error {
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		return wrong{fmt.Errorf("%s: there is no %s %q; %s", flag, what, name, meant(name, all, "write some of "+strings.Join(all, ",")))}
	}
	return nil
}

func kindNames() []string {
	var names []string
	for i := range report.Kinds {
		names = append(names, report.Kinds[i].Name)
	}
	return names
}

// write draws every picture that is asked for, in every format, and returns
// what a page must know of those that had something to draw.
func (p *pictures) write(f *folder, r *report.Results) (drawn []report.PagePicture, err error) {
	for i := range report.Kinds {
		k := &report.Kinds[i]
		if len(p.Picture) > 0 && !slices.Contains(p.Picture, k.Name) {
			continue
		}
		d, err := k.Draw(r, p.look.look())
		if errors.Is(err, report.ErrNothingToDraw) {
			continue
		}
		if err == nil {
			err = p.writeOne(f, k.Name, d)
		}
		dark := ""
		if err == nil && k.Name == "timeline" && p.Theme == "" && p.vectors() {
			dark = k.Name + "-dark.svg"
			err = p.writeDark(f, k, r, dark)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.Name, err)
		}
		drawn = append(drawn, k.Picture(d, k.Name+".svg", dark))
	}
	return drawn, nil
}

// vectors says whether pictures are written as SVG: pages show them.
func (p *pictures) vectors() bool {
	return slices.ContainsFunc(p.Format, func(f string) bool { return f == "svg" || f == "html" || f == "md" })
}

// writeDark draws a picture for pages that are dark whatever the reader prefers.
func (p *pictures) writeDark(f *folder, k *report.Kind, r *report.Results, name string) error {
	l := p.look.look()
	l.Theme = "dark"
	d, err := k.Draw(r, l)
	if err != nil {
		return err
	}
	return f.write(name, d.WriteSVG)
}

func (p *pictures) writeOne(f *folder, name string, d *report.Drawing) error {
	if p.vectors() {
		if err := f.write(name+".svg", d.WriteSVG); err != nil {
			return err
		}
	}
	for _, format := range p.Format {
		pixels := name == "timeline" || len(p.Picture) > 0
		var err error
		switch {
		case format == "png" && pixels:
			err = f.write(name+".png", func(w io.Writer) error { return d.WritePNG(w, p.Scale) })
		case format == "pdf" && pixels:
			err = f.write(name+".pdf", d.WritePDF)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
