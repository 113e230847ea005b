package report

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"capital": capital,
	"glued":   glued,
	"style":   func() template.CSS { return template.CSS(styleText) },
}).Parse(pageText))

// figureAndUnit is a number and the unit that must not go to the next line without it.
var figureAndUnit = regexp.MustCompile(`(\d) (h|min|s|ms|µs|ns)\b`)

func glued(s string) string { return figureAndUnit.ReplaceAllString(s, "$1\u00a0$2") }

// WriteHTML writes the page as one file without scripts, which shows the
// pictures beside it and asks nobody else for anything. Nothing in the scenario's
// texts is taken for markup.
func (p *Page) WriteHTML(w io.Writer) error {
	return pageTemplate.ExecuteTemplate(w, "page", map[string]any{
		"Page": p, "Abouts": p.abouts(), "Timeline": p.timeline(), "Others": p.others(), "Stories": p.stories(), "Settings": p.settings(),
		"Table": tableRows(p.Results.Rows), "Rows": p.Results.Rows, "Compared": p.departed(),
		"Happened": partHappened, "Costs": partCosts, "More": partMore, "Set": partSettings, "Expected": partExpected, "Source": partSource,
		"Departs": partDeparts, "Breakers": partCompared, "Claims": partClaims,
	})
}
