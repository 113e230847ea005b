package report_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// TestNoTextLiesOnAnother draws the whole library, every kind of picture at three
// widths, each in another theme: no text lies on another one, or leaves the
// picture, is cut or speaks another language. A theme moves nothing.
func TestNoTextLiesOnAnother(t *testing.T) {
	drawn := 0
	for i, name := range scenarios.Names() {
		if testing.Short() && i%9 > 0 {
			continue
		}
		r := played(t, name)
		for k := range report.Kinds {
			for _, look := range looks(i) {
				d, err := report.Kinds[k].Draw(r, look)
				if errors.Is(err, report.ErrNothingToDraw) {
					continue
				}
				require.NoError(t, err)
				drawn++
				what := fmt.Sprintf("%s of %s, %s at %d", report.Kinds[k].Name, name, look.Theme, look.Width)
				apart(t, what, d)
				if look.Width == 720 { // the words are the same at every width, and here they have least room
					readable(t, what, report.Kinds[k].Name, r, d)
					unmoved(t, what, &report.Kinds[k], r, d, look)
				}
			}
		}
	}
	assert.Greater(t, drawn, 50)
}

func looks(i int) (all []report.Look) {
	for k, width := range []int{720, 960, 1440} {
		all = append(all, report.Look{Theme: report.ThemeNames[(i+k)%len(report.ThemeNames)], Width: width})
	}
	return all
}

// unmoved checks that the other themes write the same words in the same places.
func unmoved(t *testing.T, what string, kind *report.Kind, r *report.Results, d *report.Drawing, look report.Look) {
	t.Helper()
	texts := func(d *report.Drawing) []report.Placed {
		return slices.DeleteFunc(d.Placed(), func(p report.Placed) bool { return p.Text == "" })
	}
	want := texts(d)
	for _, theme := range report.ThemeNames {
		if theme == look.Theme {
			continue
		}
		o, err := kind.Draw(r, report.Look{Theme: theme, Width: look.Width})
		require.NoError(t, err)
		assert.True(t, slices.Equal(want, texts(o)), "%s: the theme %s moves words", what, theme)
	}
}

// apart checks that every text of the picture stands by itself.
func apart(t *testing.T, what string, d *report.Drawing) {
	t.Helper()
	w, h := d.Size()
	var texts []report.Placed
	for _, p := range d.Placed() {
		if p.Text == "" {
			continue
		}
		if p.X < 0 || p.Y < 0 || p.X+p.W > w || p.Y+p.H > h {
			t.Errorf("%s: %q leaves the picture", what, p.Text)
		}
		for _, q := range texts {
			if p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
				t.Errorf("%s: %q lies on %q", what, p.Text, q.Text)
			}
		}
		texts = append(texts, p)
	}
	assert.NotEmpty(t, texts, what)
}
