package report_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

var (
	fileForm = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?(h|ms|m|s|µs|us|ns)\b|[0-9]%|[a-z]_[a-z]+ [0-9]`)
	inHours  = regexp.MustCompile(`\b([0-9,]+) h\b`)
	inSVG    = regexp.MustCompile(`>([^<]+)</(?:text|title|desc)>`)
	inMins   = regexp.MustCompile(`\b([0-9,]+) min\b`)
)

// oneLanguage checks that the texts about a run write durations in our form and
// settings in words, none as files do.
func oneLanguage(t *testing.T, what string, r *report.Results, texts ...string) {
	t.Helper()
	names := named(r)
	for _, s := range texts {
		assert.NotRegexp(t, fileForm, names.Replace(s), what)
	}
}

// oneClock checks that no text is in units that are too long for the run: those
// are for what goes far beyond it.
func oneClock(t *testing.T, what string, r *report.Results, texts ...string) {
	t.Helper()
	names, end := named(r), time.Duration(0)
	for _, h := range r.Panels {
		end = max(end, h.End)
	}
	for _, c := range []struct {
		form        *regexp.Regexp
		unit, above time.Duration
	}{{inHours, time.Hour, 3 * time.Hour}, {inMins, time.Minute, 5 * time.Minute}} {
		if end > c.above {
			continue
		}
		for _, s := range texts {
			for _, found := range c.form.FindAllStringSubmatch(names.Replace(s), -1) {
				n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
				require.NoError(t, err)
				assert.Greater(t, time.Duration(n)*c.unit, 2*end, "%s: %s", what, found[0])
			}
		}
	}
}

// named takes the names of a scenario out of a text: they are its author's.
func named(r *report.Results) *strings.Replacer {
	var names []string
	for _, h := range r.Panels {
		names = append(names, h.Run.Policy, h.Run.Title)
		for _, b := range h.Run.Breakers {
			names = append(names, b.Name)
		}
		for _, target := range h.Run.Targets {
			names = append(names, target.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // the longest first
	var pairs []string
	for _, name := range names {
		if name != "" {
			pairs = append(pairs, name, "NAME")
		}
	}
	return strings.NewReplacer(pairs...)
}

// readable checks the texts of a picture: none is cut.
func readable(t *testing.T, what, kind string, r *report.Results, d *report.Drawing) {
	t.Helper()
	var svg bytes.Buffer
	require.NoError(t, d.WriteSVG(&svg))
	var texts []string
	for _, found := range inSVG.FindAllStringSubmatch(svg.String(), -1) {
		texts = append(texts, found[1])
		assert.NotContains(t, found[1], "…", "%s: cut", what)
	}
	require.NotEmpty(t, texts, what)
	all := strings.Join(texts, "\n")
	oneLanguage(t, what, r, all)
	if kind != "cost" && kind != "latency" { // those are about waits, not about the run
		oneClock(t, what, r, all)
	}
}

// TestStoriesSpeakOneLanguage has the words that are in no picture: stories,
// settings and terminals of the whole library.
func TestStoriesSpeakOneLanguage(t *testing.T) {
	for _, name := range scenarios.Names() {
		r := played(t, name)
		var texts []string
		for _, h := range r.Panels {
			for _, p := range h.Story() {
				texts = append(texts, p.String())
				assert.NotRegexp(t, `\b1 (calls|failures|times|changes|stretches)\b|  |\.\.|,,| ,`, p.String(), name)
			}
		}
		var b bytes.Buffer
		require.NoError(t, report.WriteTerminal(&b, r.Panels, report.TerminalOptions{}))
		require.NoError(t, report.WriteMoments(&b, r.Panels, report.TerminalOptions{}))
		texts = append(texts, strings.Join(strings.Fields(b.String()), " "))
		oneLanguage(t, name, r, texts...)
		oneClock(t, name, r, texts...)
	}
}
