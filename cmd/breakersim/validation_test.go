package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// block is a known result: what somebody else found, and what comes of it here.
type block struct {
	id, title string
	claim     string
	source    string // whose it is, and whether it was derived, published or measured
	how       string // how it is played here
	scenario  string // one of those that are played, if scenarios are
	columns   string // what the figures of a row are
	play      func(*testing.T) findings
}

// findings are what a block comes to.
type findings struct {
	rows    []finding
	picture *chart // nil: the table says it all
}

// finding is a row: one or more figures.
type finding struct {
	what    string
	figures []figure
	within  string // the tolerance in words
}

// figure is one number of ours beside what is known of it.
type figure struct {
	known     string  // as the page writes it
	value     float64 // what is known; NaN where that is only a bound
	low, high float64 // what ours may be, both included
	ours      float64
	deviation float64 // ours' standard error; 0: it is exact, or not estimated
	decimals  int
	inWords   bool   // it is no number: ours must be what is known, word by word
	words     string // ours then
}

// near holds ours against a known value, give or take slack.
func near(known, ours, slack float64, decimals int) figure {
	return figure{known: number(known, decimals), value: known, low: known - slack, high: known + slack, ours: ours, decimals: decimals}
}

// exactly is near without any slack.
func exactly(known, ours float64) figure { return near(known, ours, 0, 0) }

// between holds ours against two bounds that are known as the text says.
func between(known string, low, high, ours float64, decimals int) figure {
	return figure{known: known, value: math.NaN(), low: low, high: high, ours: ours, decimals: decimals}
}

// same holds words of ours against known ones.
func same(known, ours string) figure { return figure{known: known, inWords: true, words: ours} }

func (f figure) agrees() bool {
	if f.inWords {
		return f.words == f.known
	}
	return f.low <= f.ours && f.ours <= f.high
}

// number writes v to that many decimals, with a comma between thousands.
func number(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "–"
	}
	if decimals == 0 {
		return report.Thousands(int64(math.Round(v)))
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func (f figure) text() string {
	if f.inWords {
		return f.words
	}
	s := number(f.ours, f.decimals)
	if f.deviation > 0 {
		s += " ± " + number(f.deviation, f.decimals)
	}
	return s
}

// off is how far ours is from what is known, in percent of it.
func (f figure) off() string {
	switch {
	case f.inWords && !f.agrees(), math.IsNaN(f.value), math.IsNaN(f.ours):
		return "–"
	case f.ours == f.value:
		return "0"
	}
	percent := (f.ours - f.value) / math.Abs(f.value) * 100
	if math.Abs(percent) < 0.005 {
		return "0.00%"
	}
	return fmt.Sprintf("%+.2f%%", percent)
}

func (r finding) agrees() bool {
	for _, f := range r.figures {
		if !f.agrees() {
			return false
		}
	}
	return len(r.figures) > 0
}

// line is the row as the page has it.
func (r finding) line() string {
	join := func(of func(figure) string) string {
		var all []string
		for _, f := range r.figures {
			all = append(all, of(f))
		}
		if len(slices.Compact(slices.Clone(all))) == 1 && !strings.ContainsAny(all[0], "0123456789") {
			return all[0] // words hold for all of them
		}
		return strings.Join(all, " / ")
	}
	verdict := "agrees"
	if !r.agrees() {
		verdict = "**does not agree**"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.what, join(func(f figure) string { return f.known }), join(figure.text), join(figure.off), r.within, verdict)
}

// blocks are the known results, in the order of the page. A further one is one
// more row.
var blocks = []block{queues, jitters, retries, collapse, vectors}

// TestValidation holds this code against known results, and the page that shows
// them against what comes of it today. UPDATE=1 rewrites page and pictures: look
// at what changed before you commit it.
func TestValidation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays millions of calls")
	}
	dir := filepath.Join("..", "..", "outputs")
	update := os.Getenv("UPDATE") != ""
	summary, body := "", ""
	page, err := os.ReadFile(filepath.Join(dir, "validation.md"))
	if !update {
		require.NoError(t, err)
	}
	for i := range blocks {
		b := &blocks[i]
		t.Run(b.id, func(t *testing.T) {
			got := b.play(t)
			for _, r := range got.rows {
				assert.True(t, r.agrees(), "%s", r.line())
				if !update {
					assert.Contains(t, string(page), r.line(), "UPDATE=1 rewrites the page")
				}
			}
			summary += b.summary(got)
			body += b.section(got)
			if got.picture == nil {
				return
			}
			svg, err := got.picture.svg()
			require.NoError(t, err)
			file := filepath.Join(dir, "validation", got.picture.name+".svg")
			if update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
				require.NoError(t, os.WriteFile(file, svg, 0o666))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.True(t, string(want) == string(svg), "%s is not what the code draws; UPDATE=1 rewrites it", file)
		})
	}
	if update {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "validation.md"), []byte(pageHead+summary+body), 0o666))
		return
	}
	assert.Equal(t, string(page), pageHead+summary+body)
}

const pageHead = `# Known results, and ours beside them

A simulator can be wrong and look right. So here is what others found, by arithmetic, on paper or by an experiment, and what this code
comes to when it plays the same. Every number under “ours” is computed by the test that writes this page, from fixed seeds; it fails when one
leaves its tolerance, and when the page is not what the code makes. Seeds are 1, or count up
from 1 where there are many runs; none was picked.

` + "```sh\ngo test -run TestValidation ./cmd/breakersim            # checks\nUPDATE=1 go test -run TestValidation ./cmd/breakersim   # rewrites\n```" + `

“a ± b” is a figure and its standard error; a result that carries chance is off by more than two of them once in twenty times.

| | known result | rows that agree |
|---|---|---|
`

// summary is the block's row in the table at the top.
func (b *block) summary(got findings) string {
	n := 0
	for _, r := range got.rows {
		if r.agrees() {
			n++
		}
	}
	anchor := strings.ReplaceAll(strings.ToLower(b.id+" "+b.title), " ", "-")
	return fmt.Sprintf("| %s | [%s](#%s) | %d of %d |\n", b.id, b.title, strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) {
			return r
		}
		return -1
	}, anchor), n, len(got.rows))
}

func (b *block) section(got findings) string {
	s := fmt.Sprintf("\n## %s %s\n\n**Claim.** %s\n\n**Source.** %s\n\n**Here.** %s\n", b.id, b.title, b.claim, b.source, b.how)
	if b.scenario != "" {
		s += "\n```yaml\n" + strings.TrimSpace(b.scenario) + "\n```\n"
	}
	if p := got.picture; p != nil {
		s += fmt.Sprintf("\n![%s](validation/%s.svg)\n", p.about, p.name)
	}
	s += fmt.Sprintf("\n| %s | known | ours | off by | allowed | verdict |\n|---|---|---|---|---|---|\n", b.columns)
	for _, r := range got.rows {
		s += r.line()
	}
	return s
}

// playText plays a scenario under its first policy, and lets the sinks hear it.
func playText(t *testing.T, src string, sinks ...trace.Sink) {
	t.Helper()
	lim := scenarios.DefaultLimits()
	lim.Calls = 1 << 30
	s, err := scenarios.Load("test.yaml", []byte(src), lim)
	require.NoError(t, err)
	_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: sinks})
	require.NoError(t, err)
}

// TestFigures has each kind of figure at the edges of what it may be.
func TestFigures(t *testing.T) {
	for _, v := range []struct {
		name string
		f    figure
		want string // known, ours, off by, verdict
	}{
		{"just near enough", near(4, 4.25, 0.25, 2), "4.00 | 4.25 | +6.25% | x | agrees"},
		{"too far", near(4, 3.7, 0.25, 2), "4.00 | 3.70 | -7.50% | x | **does not agree**"},
		{"exactly", exactly(1234, 1234), "1,234 | 1,234 | 0 | x | agrees"},
		{"not exactly", exactly(64, 65), "64 | 65 | +1.56% | x | **does not agree**"},
		{"no number", near(4, math.NaN(), 1, 0), "4 | – | – | x | **does not agree**"},
		{"within bounds", between("less", 0, 0.5, 0.5, 1), "less | 0.5 | – | x | agrees"},
		{"beyond them", between("less", 0, 0.5, 0.6, 1), "less | 0.6 | – | x | **does not agree**"},
		{"the same words", same("2s, 490", "2s, 490"), "2s, 490 | 2s, 490 | 0 | x | agrees"},
		{"other words", same("2s, 490", "2s, 495"), "2s, 490 | 2s, 495 | – | x | **does not agree**"},
		{"none at all", same("2s, 490", ""), "2s, 490 |  | – | x | **does not agree**"},
	} {
		assert.Equal(t, "| a row | "+v.want+" |\n", finding{"a row", []figure{v.f}, "x"}.line(), v.name)
	}
	two := finding{"a row", []figure{exactly(1, 1), exactly(1, 2)}, "x"}
	assert.False(t, two.agrees(), "one of two is enough")
	assert.False(t, finding{}.agrees(), "nothing agrees with nothing")
}
