package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/breakersim/breakersim/report"
)

// page is what the scenario's page says. up leads to the gallery; it is empty if
// there is none.
func (r *results) page(pictures []report.PagePicture, up string) *report.Page {
	s := r.Scenario
	p := &report.Page{Name: s.Name, Title: s.Title, About: s.About, Results: &r.Results, Pictures: pictures, Source: string(r.source), Up: up, Compared: r.compared,
		Expect: r.Expectations()}
	for _, h := range r.Panels {
		if !r.alike[h] {
			p.Stories = append(p.Stories, h)
		}
	}
	return p
}

// writePage writes the page in the formats that are asked for.
func (r *results) writePage(f *folder, p *pictures, drawn []report.PagePicture, up string) error {
	page := r.page(drawn, up)
	var md, html error
	if slices.Contains(p.Format, "md") {
		md = f.write("README.md", page.WriteMarkdown)
	}
	if slices.Contains(p.Format, "html") {
		html = f.write("index.html", page.WriteHTML)
	}
	return errors.Join(md, html)
}

// writeGallery writes the page that leads to those of all the scenarios.
func writeGallery(file string, entries []report.GalleryEntry) error {
	f, err := openFolder(filepath.Dir(file))
	defer f.discard()
	if err != nil {
		return err
	}
	g := report.Gallery{Title: "What breakersim draws", Entries: entries}
	slices.SortFunc(g.Entries, func(x, y report.GalleryEntry) int { return strings.Compare(x.Name, y.Name) })
	if err := f.write(filepath.Base(file), g.WriteHTML); err != nil {
		return err
	}
	return f.commit()
}

// entry is the scenario in the gallery.
func (r *results) entry(drawn []report.PagePicture) report.GalleryEntry {
	e := report.GalleryEntry{Name: r.Scenario.Name, Title: r.Scenario.Title, About: r.Scenario.About, Group: r.Group()}
	for _, p := range drawn {
		if p.Name == "timeline" || e.Picture.File == "" {
			e.Picture = p
		}
	}
	return e
}
