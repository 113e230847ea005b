package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// page is what the scenario's page says. up leads to the gallery; it is empty if
// there is none.
func (r *results) page(pictures []report.PagePicture, up string) *report.Page {
	s := r.scenario
	p := &report.Page{Name: s.Name, Title: s.Title, About: s.About, Results: &r.Results, Pictures: pictures, Source: string(r.source), Up: up, Compared: r.compared}
	for _, h := range r.Panels {
		if !r.alike[h] {
			p.Stories = append(p.Stories, h)
		}
	}
	for i := range s.Expect {
		e := report.Expectation{Text: inWords(&s.Expect[i], r.Panels[0].Clock)}
		for _, x := range r.failures {
			if x.Line == s.Expect[i].Line {
				e.Failed = append(e.Failed, "under "+x.Policy+": "+x.Message)
			}
		}
		p.Expect = append(p.Expect, e)
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
	e := report.GalleryEntry{Name: r.scenario.Name, Title: r.scenario.Title, About: r.scenario.About, Group: r.Group()}
	for _, p := range drawn {
		if p.Name == "timeline" || e.Picture.File == "" {
			e.Picture = p
		}
	}
	return e
}

// inWords is what the scenario expects, as a sentence.
func inWords(e *scenarios.Expect, clock func(time.Duration) string) string {
	s := expectation(e, clock)
	if e.Policy != "" {
		return "Under " + e.Policy + ", " + s + "."
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func expectation(e *scenarios.Expect, clock func(time.Duration) string) string {
	at := "at " + clock(e.At) + " the breaker " + e.Breaker
	switch {
	case e.State != 0:
		return at + " is " + e.State.String()
	case e.Allows != nil && *e.Allows:
		return at + " would let a call through"
	case e.Allows != nil:
		return at + " would let no call through"
	case e.Transitions != nil:
		return "the breaker " + e.Breaker + " " + moves(e.Transitions, clock)
	case e.Metric != "":
		return bounds(e, clock)
	default:
		return fmt.Sprintf("call %d %s", e.Call, cmp.Or(becomes[e.Is], "ends as "+e.Is))
	}
}

// becomes says what becomes of a call.
var becomes = map[string]string{
	"admitted": "is admitted", "refused": "is refused", "exhausted": "finds nobody left to serve it",
	"success": "succeeds", "failure": "fails", "timeout": "times out", "rate_limit": "is rate-limited",
	"permanent": "gets a permanent error", "vanish": "is never heard of again", "cancelled": "is cancelled",
}

// moves are all the transitions of a breaker.
func moves(all []scenarios.Moment, clock func(time.Duration) string) string {
	if len(all) == 0 {
		return "never changes"
	}
	var parts []string
	for _, m := range all {
		parts = append(parts, m.State.String()+" at "+clock(m.At))
	}
	return "goes " + strings.Join(parts, ", then ") + ", and nowhere else"
}

// bounds say what a metric must come to.
func bounds(e *scenarios.Expect, clock func(time.Duration) string) string {
	unit := scenarios.Count
	for _, m := range scenarios.Metrics {
		if m.Name == e.Metric {
			unit = m.Unit
		}
	}
	s := "the figure " + e.Metric
	if e.To != 0 {
		s += ", counted from " + clock(e.From) + " to " + clock(e.To) + ","
	}
	switch {
	case e.About != nil:
		return s + " is about " + amount(*e.About, unit) + ": " + amount(*e.Min, unit) + " to " + amount(*e.Max, unit)
	case e.Min != nil && e.Max != nil && *e.Min == *e.Max:
		return s + " is " + amount(*e.Min, unit)
	case e.Min != nil && e.Max != nil:
		return s + " is " + amount(*e.Min, unit) + " to " + amount(*e.Max, unit)
	case e.Min != nil:
		return s + " is at least " + amount(*e.Min, unit)
	default:
		return s + " is at most " + amount(*e.Max, unit)
	}
}

func amount(v float64, unit scenarios.Unit) string {
	switch {
	case unit == scenarios.Duration:
		return report.Clock(time.Duration(v))
	default:
		whole, rest, some := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			whole = report.Thousands(n)
		}
		if some {
			whole += "." + rest
		}
		return whole
	}
}
