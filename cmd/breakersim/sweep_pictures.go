package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/breakersim/breakersim/report"
)

// sweepPictures is how the pictures of a sweep are drawn, as the user says it.
type sweepPictures struct {
	theme   string
	formats []string
}

func (p sweepPictures) check() error {
	if err := known("--format", "format", p.formats, []string{"svg", "png", "pdf"}); err != nil {
		return err
	}
	l := p.look()
	if err := l.Check(); err != nil {
		return wrong{err}
	}
	return nil
}

func (p sweepPictures) look() report.Look { return report.Look{Theme: p.theme} }

// write draws every picture of the sweep that has something to show.
func (p sweepPictures) write(f *folder, s *report.Sweep) (drawn []report.PagePicture, err error) {
	for _, k := range s.Pictures() {
		d, err := s.Draw(k, p.look())
		if errors.Is(err, report.ErrNothingToDraw) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
		for _, format := range p.formats {
			write := d.WriteSVG
			switch format {
			case "png":
				write = func(w io.Writer) error { return d.WritePNG(w, 2) }
			case "pdf":
				write = d.WritePDF
			}
			if err := f.write(k+"."+format, write); err != nil {
				return nil, err
			}
		}
		title, _ := d.Words()
		drawn = append(drawn, report.PagePicture{Name: k, Alt: title, File: k + "." + p.formats[0]})
	}
	return drawn, nil
}
