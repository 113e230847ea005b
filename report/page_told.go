package report

// Told is what a page says of the runs beside its pictures, for those who show it
// otherwise than as a file.
type Told struct {
	Stories  []ToldStory `json:"stories"`
	Policies []string    `json:"policies"` // the columns of the table
	Table    [][]ToldRow `json:"table"`    // in groups
	Settings []string    `json:"settings"`
}

// ToldStory is the story of one run, a string a paragraph.
type ToldStory struct {
	Policy     string   `json:"policy"` // empty where there is only one
	About      string   `json:"about"`  // what the policy does
	Paragraphs []string `json:"paragraphs"`
}

// ToldRow is a line of the cost table.
type ToldRow struct {
	Heading string   `json:"heading"`
	About   string   `json:"about"`
	Cells   []string `json:"cells"` // by policy
}

// Told gives the page's words.
func (p *Page) Told() *Told {
	told := &Told{Settings: p.settings()}
	for _, run := range p.stories() {
		s := ToldStory{Policy: run.Policy, About: capital(run.About)}
		for _, x := range run.Story {
			s.Paragraphs = append(s.Paragraphs, glued(x.String()))
		}
		told.Stories = append(told.Stories, s)
	}
	for i := range p.Results.Rows {
		told.Policies = append(told.Policies, p.Results.Rows[i].Policy)
	}
	for _, group := range tableRows(p.Results.Rows) {
		var rows []ToldRow
		for _, r := range group {
			rows = append(rows, ToldRow(r))
		}
		told.Table = append(told.Table, rows)
	}
	return told
}

// Style is the style sheet of pages, for pages that stand beside them.
func Style() string { return styleText }
