package report

import "io"

// Gallery is a page that leads to those of many scenarios.
type Gallery struct {
	Title   string
	Entries []GalleryEntry // in the order of their names
}

// GalleryEntry is a scenario in a gallery: its page is Name/index.html.
type GalleryEntry struct {
	Name, Title, About string
	Group              string      // one of those that [Results.Group] gives
	Picture            PagePicture // the zero value if there is none; its files are in the folder Name
}

// Groups of scenarios, in the order of the gallery.
var galleryGroups = []string{groupTools, groupModels, groupBoth, groupRetries, groupBare}

const (
	groupTools   = "Tools behind a breaker"
	groupModels  = "Models and their backups"
	groupBoth    = "Tools and models at once"
	groupRetries = "Breakers beside retries"
	groupBare    = "Without a breaker"
)

// Group is what kind of scenario the runs are of: by its breakers, and by whether
// callers try again under some policy.
func (r *Results) Group() string {
	tools, models, retries := false, false, false
	for _, h := range r.Panels {
		for i := range h.Run.Breakers {
			b := &h.Run.Breakers[i]
			tools = tools || b.Tool != nil
			models = models || b.Model != nil
		}
		retries = retries || len(h.Tries) > 0
	}
	switch {
	case tools && models:
		return groupBoth
	case models:
		return groupModels
	case tools && retries:
		return groupRetries
	case tools:
		return groupTools
	default:
		return groupBare
	}
}

// gathered are the entries of one group.
type gathered struct {
	Group   string
	Entries []galleryCard
}

type galleryCard struct {
	GalleryEntry
	Lead string // the first paragraph about it
}

// WriteHTML writes the gallery as one file without scripts.
func (g *Gallery) WriteHTML(w io.Writer) error {
	var groups []gathered
	for _, name := range galleryGroups {
		x := gathered{Group: name}
		for _, e := range g.Entries {
			if e.Group != name {
				continue
			}
			card := galleryCard{GalleryEntry: e}
			if all := Paragraphs(e.About); len(all) > 0 {
				card.Lead = all[0]
			}
			x.Entries = append(x.Entries, card)
		}
		if len(x.Entries) > 0 {
			groups = append(groups, x)
		}
	}
	return pageTemplate.ExecuteTemplate(w, "gallery", map[string]any{"Title": g.Title, "Groups": groups, "Count": counted(len(g.Entries), "scenario", "scenarios")})
}
