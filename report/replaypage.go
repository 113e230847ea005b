package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"time"
)

var (
	//go:embed page/page.html
	replayText string
	//go:embed page/page.css
	replayStyle string
	//go:embed page/page.js
	replayScript string
)

var replayTemplate = template.Must(template.New("replay").Funcs(template.FuncMap{"capital": capital, "glued": glued}).Parse(replayText))

// ReplayPage is one file in which one steps through a scenario's runs: the
// timeline with a playhead, and at every instant the state and the counters of
// a breaker under each policy, and why. It asks nobody else for anything.
type ReplayPage struct {
	Title, About string
	Runs         []*Steps // in the order of the policies
	Theme        string   // one of [ThemeNames]; empty: light or dark as the reader prefers
}

// MostSteps is how many events a page holds: beyond it no browser keeps up.
const MostSteps = 500_000

// Steps is how many events the page holds.
func (p *ReplayPage) Steps() (n int) {
	for _, s := range p.Runs {
		n += len(s.All)
	}
	return n
}

// WriteHTML writes the page. Nothing in the scenario's texts is taken for markup
// or for script. The error is a look's, or the writer's.
func (p *ReplayPage) WriteHTML(w io.Writer) error {
	look := Look{Theme: p.Theme}
	if err := look.Check(); err != nil {
		return err
	}
	first, second := &light, &dark
	if p.Theme == "print" {
		first, second = &paper, nil
	}
	var panels []*History
	for _, s := range p.Runs {
		panels = append(panels, &s.History)
	}
	diagrams := &pageDiagrams{theme: first}
	data, err := json.Marshal(newPageData(p.Runs, diagrams)) // which escapes what would end a script
	if err != nil {
		return err
	}
	lead, more := p.about()
	style := string(colours(first, second)) + replayStyle
	timelines := pageTimelines(panels, first)
	return replayTemplate.Execute(w, map[string]any{
		"Title": p.Title, "Lead": lead, "More": more, "Theme": p.Theme, "Toggle": second != nil,
		"Policy":  fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashed(style), hashed(replayScript)),
		"Style":   template.CSS(style),
		"Script":  template.JS(replayScript),
		"Data":    template.JS(data),
		"Shown":   timelines,
		"Desc":    timelines[0].desc,
		"Keys":    pageKeys(panels, first),
		"Speeds":  speeds(endOf(panels)),
		"Sums":    pageSums,
		"Set":     (&timeline{panels, &Look{}}).captions(),
		"Charts":  diagrams.SVGs,
		"Legends": partSettings,
	})
}

// about is the first paragraph, and the others.
func (p *ReplayPage) about() (lead string, more []string) {
	if more = Paragraphs(p.About); len(more) > 0 {
		lead, more = more[0], more[1:]
	}
	return lead, more
}

// hashed names a text in a content security policy.
func hashed(s string) string {
	h := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
}

// pageSpeed is how much virtual time a second plays.
type pageSpeed struct {
	Nanoseconds int64
	Words       string
	Chosen      bool
}

// wholeIn is how long a run takes to play unless one chooses otherwise.
const wholeIn = 30 * time.Second

// speeds are those to choose from, about five around one that plays the whole run
// in [wholeIn], and as it would be in life.
func speeds(end time.Duration) (all []pageSpeed) {
	usual := stepOf(max(1, end/time.Duration(wholeIn.Seconds())))
	chosen := time.Duration(-1)
	for _, s := range tickSteps {
		if s >= usual && chosen < 0 {
			chosen = s
		}
		if s == time.Second || s >= usual/20 && s <= usual*10 {
			all = append(all, pageSpeed{int64(s), Clock(s) + " per second", s == chosen})
		}
	}
	if chosen < 0 {
		all = append(all, pageSpeed{int64(usual), Clock(usual) + " per second", true})
	}
	return all
}
