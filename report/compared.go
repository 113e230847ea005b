package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// Compared is a breaker of others that a scenario was played under, or was to be.
type Compared struct {
	Name        string       `json:"breaker"`
	Module      string       `json:"module"`
	Version     string       `json:"version"`
	Note        string       `json:"note"`        // what of it is driven, with which settings
	Cannot      []string     `json:"cannot"`      // what of our settings it cannot express
	Claims      string       `json:"claims"`      // what its own documentation says
	Failed      string       `json:"failed"`      // why it was not played; empty: it was
	Differences []Difference `json:"differences"` // where it departs from ours, as [Beside] gives it
}

// departs says in sentences where the breaker departs from ours.
func (c *Compared) departs(clock func(time.Duration) string) string {
	switch {
	case c.Failed != "":
		return "It was not played: " + c.Failed + "."
	case len(c.Differences) == 0:
		return "All calls fared as under ours."
	}
	var all []string
	for _, d := range c.Differences {
		all = append(all, d.sentence(clock))
	}
	return strings.Join(all, " ")
}

func (d *Difference) sentence(clock func(time.Duration) string) string {
	return fmt.Sprintf("At %s %s; %s.", clock(d.At), d.Theirs, d.Ours)
}

// about is what the breaker is: for people who know it by another name.
func (c *Compared) about() string {
	s := fmt.Sprintf("%s %s. %s", c.Module, c.Version, c.Note)
	if len(c.Cannot) > 0 {
		s += " It cannot express: " + strings.Join(c.Cannot, "; ") + "."
	}
	return s
}

// WriteCompared tells in a terminal where each breaker departs from ours. clock
// writes an instant of the run.
func WriteCompared(w io.Writer, all []Compared, clock func(time.Duration) string, o TerminalOptions) error {
	lines := []string{o.colored(bold, partDeparts)}
	longest := 0
	for i := range all {
		longest = max(longest, displaywidth.String(o.Text(all[i].Name)))
	}
	for i := range all {
		head := fill(o.Text(all[i].Name), min(longest, o.width()/3)) + "  "
		lines = append(lines, hang(head, o.Text(all[i].departs(clock)), o.proseWidth())...)
	}
	return writeLines(w, lines)
}

// WriteComparedJSON writes the same with what each breaker is, durations in
// nanoseconds.
func WriteComparedJSON(w io.Writer, all []Compared) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// departed is a line of a page's list of breakers.
type departed struct{ Name, Departs, About, Claims string }

func (p *Page) departed() (all []departed) {
	for i := range p.Compared {
		c := &p.Compared[i]
		all = append(all, departed{c.Name, c.departs(p.Results.Panels[0].Clock), c.about(), c.Claims})
	}
	return all
}

// markdownDepartures are the list of departures, right below the timeline.
func (p *Page) markdownDepartures(b *bytes.Buffer) {
	if len(p.Compared) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", partDeparts)
	for _, d := range p.departed() {
		fmt.Fprintf(b, "- **%s**: %s\n", plainMarkdown(d.Name), plainMarkdown(d.Departs))
	}
}

// markdownCompared says what the breakers are.
func (p *Page) markdownCompared(b *bytes.Buffer) {
	if len(p.Compared) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", partCompared)
	for _, d := range p.departed() {
		fmt.Fprintf(b, "- **%s**: %s\n", plainMarkdown(d.Name), plainMarkdown(d.About))
		if d.Claims != "" {
			fmt.Fprintf(b, "  - %s: %s\n", partClaims, plainMarkdown(d.Claims))
		}
	}
}

// headings of a comparison's parts, the same in every format.
const (
	partDeparts  = "Where each first departs from ours"
	partCompared = "The breakers of others"
	partClaims   = "Its own documentation says"
)
