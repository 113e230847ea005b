package report

import (
	"slices"
	"strings"
)

// Page is what a page about a scenario says. Its texts are plain: what would be
// markup in them is shown as it is written.
type Page struct {
	Name     string // the scenario's id
	Title    string
	About    string // a paragraph a line
	Results  *Results
	Stories  []*History // the runs that are told; those of Results that differ
	Pictures []PagePicture
	Expect   []Expectation
	Compared []Compared // breakers of others that were played beside ours
	Source   string     // the scenario as it was written
	Up       string     // the address of the gallery; empty: there is none
}

// PagePicture is a picture in a file beside the page.
type PagePicture struct {
	Name          string // of its kind
	About         string // what its kind shows
	Alt           string // what it shows, for those who cannot see it
	File          string
	Dark          string // the file for readers who prefer dark pages; empty: File is for them, too
	Width, Height int    // in CSS pixels
}

// Picture is what a page must know of the drawing that has been written to a file.
func (k *Kind) Picture(d *Drawing, file, dark string) PagePicture {
	w, h := d.size()
	_, _, desc := d.words()
	return PagePicture{Name: k.Name, About: k.About, Alt: desc, File: file, Dark: dark, Width: int(w + 0.5), Height: int(h + 0.5)}
}

// Expectation is what a scenario expects, in words.
type Expectation struct {
	Text   string
	Failed []string // what came instead, under each policy where it did not come so
}

// abouts are the paragraphs of the scenario's about.
func (p *Page) abouts() []string { return Paragraphs(p.About) }

// Paragraphs are the lines of a text that are not blank.
func Paragraphs(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// timeline is the picture that comes first, or nil.
func (p *Page) timeline() *PagePicture {
	if i := slices.IndexFunc(p.Pictures, func(x PagePicture) bool { return x.Name == "timeline" }); i >= 0 {
		return &p.Pictures[i]
	}
	return nil
}

// others are the pictures but for the timeline.
func (p *Page) others() []PagePicture {
	return slices.DeleteFunc(slices.Clone(p.Pictures), func(x PagePicture) bool { return x.Name == "timeline" })
}

// settings are those of the breakers, and what else no picture shows.
func (p *Page) settings() []string {
	if len(p.Results.Panels) == 0 {
		return nil
	}
	return (&timeline{p.Results.Panels, &Look{}}).captions()
}

// toldRun is one run of the page.
type toldRun struct {
	Policy string // empty where there is only one
	About  string
	Story  Story
}

func (p *Page) stories() (all []toldRun) {
	for i, h := range p.Stories {
		t := toldRun{About: policyAbout(p.Stories, i), Story: h.Story()}
		if len(p.Stories) > 1 {
			t.Policy = h.Run.Policy
		}
		all = append(all, t)
	}
	return all
}

// tableRow is a line of the cost table.
type tableRow struct {
	Heading, About string
	Cells          []string // by policy
}

// tableRows are the cost table, in its groups.
func tableRows(rows []Row) (groups [][]tableRow) {
	last := ""
	for i := range Columns {
		c := &Columns[i]
		if c.Group == "price" && !slices.ContainsFunc(rows, func(r Row) bool { return r.Cost.Priced }) {
			continue
		}
		line := tableRow{Heading: c.Heading, About: c.About}
		for k := range rows {
			line.Cells = append(line.Cells, c.text(&rows[k].Cost))
		}
		if c.Group != last {
			groups = append(groups, nil)
			last = c.Group
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], line)
	}
	return groups
}

// headings of a page's parts, the same in every format.
const (
	partHappened = "What happened"
	partCosts    = "What it cost"
	partMore     = "More pictures"
	partSettings = "Settings"
	partExpected = "What the scenario expects"
	partSource   = "The scenario, to play it again"
)
