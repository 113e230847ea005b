package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/breakertest"
)

// allColumns are ours and every row of the table of libraries, each followed by
// itself with our lease around it.
func allColumns() []foreign.Library {
	columns := []foreign.Library{{Name: ourOwn}}
	for _, l := range foreign.Libraries {
		columns = append(columns, l, l.Leased())
	}
	return columns
}

// everyone is what all of them do, in children as the program has it.
var everyone = sync.OnceValues(func() (map[string]founds, error) { return askAll(allColumns()) })

// TestConformance holds what every row does about every rule against testdata/conformance.txt. UPDATE=1 rewrites it: every
// no is a claim about somebody else's work.
func TestConformance(t *testing.T) {
	all, err := everyone()
	require.NoError(t, err)
	var b strings.Builder
	for _, l := range allColumns() {
		require.Len(t, all[l.Name], len(breakertest.Rules), l.Name)
		fmt.Fprintf(&b, "%s %s\n", l.Name, l.Version)
		for k, x := range all[l.Name] {
			fmt.Fprintf(&b, "  %-6s  %-3.3s  %s\n", breakertest.Rules[k].ID, x.Answer, x.Why)
		}
	}
	path := filepath.Join("testdata", "conformance.txt")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "UPDATE=1 rewrites it")
	for _, x := range all[ourOwn] {
		assert.Equal(t, breakertest.Yes, x.Answer, x.Why)
	}
}

// TestConformanceIsTheSameAgain: the same answers, sentences and traces, 20 times.
func TestConformanceIsTheSameAgain(t *testing.T) {
	columns, err := conformanceColumns(nil)
	require.NoError(t, err)
	for _, l := range columns {
		var first founds
		for range 20 {
			var again founds
			j := bubbleJob{Breaker: l.Name, Rules: true}
			require.NoError(t, j.play(t, &again))
			if first == nil {
				first = again
			}
			require.Equal(t, first, again, l.Name)
		}
		assert.Len(t, first, len(breakertest.Rules))
	}
}

// measured is one column of machine/foreign/testdata/facts.txt, made without the
// simulator, and what stands there for a breaker that follows the rule.
type measured struct {
	fact  string
	holds []string
}

// direct says by which measurements a rule is checked. A breaker that does not
// follow the rule departs in at least one of them, and one that does in none.
var direct = map[string][]measured{
	"T2":     {{"between", []string{"closed"}}},
	"T4":     {{"opens", []string{"30 s"}}, {"at 30 s", []string{"yes"}}},
	"T5":     {{"opens", []string{"30 s"}}, {"again", []string{"60 s", "120 s"}}}, // T5 asks whether the probe's failure counts, not for how long
	"T6":     {{"herd", []string{"1"}}},
	"T7":     {{"lost", []string{"90 s"}}},
	"T8":     {{"closes", []string{"1"}}, {"late", []string{"open", "half-open"}}, {"10 s ok", []string{"half-open"}}},
	"T10":    {{"stale", []string{"open"}}},
	"T11":    {{"failed", []string{"50 s"}}},
	"T12":    {{"late", []string{"open", "half-open"}}, {"ghost", []string{"half-open", "open", "no next"}}},
	"T13a":   {{"10 s ok", []string{"half-open"}}},
	"T13b":   {{"10 s bad", []string{"half-open"}}},
	"T14":    {{"looks", []string{"pure"}}},
	"panic":  {{"panics", []string{"60 s", "90 s"}}},
	"Goexit": {{"exits", []string{"60 s", "90 s"}}},
}

const (
	besideTheFirst = "it is measured while the first probe's lease lives, beside which the next is let in; with the lease over its success is dropped"
	neverHalfOpen  = "it has no half-open state: it is open before and after, and the probe's success closes it"
)

// otherwise says why a breaker follows a rule although a measurement departs.
var otherwise = map[string]string{
	"eapache+lease T12: ghost closed":             besideTheFirst,
	"failsafe-go-default+lease T12: ghost closed": besideTheFirst,
	"rubyist+lease T12: ghost closed":             besideTheFirst,
	"rubyist-timeout T12: ghost closed":           besideTheFirst,
	"rubyist-timeout+lease T12: ghost closed":     besideTheFirst,
	"hystrix-go T13b: 10 s bad open":              neverHalfOpen,
	"hystrix-go+lease T13b: 10 s bad open":        neverHalfOpen,
}

// TestEveryNoIsMeasuredDirectly joins the matrix and the measurements: of every
// row, with and without our lease.
func TestEveryNoIsMeasuredDirectly(t *testing.T) {
	facts := factsTable(t)
	all, err := everyone()
	require.NoError(t, err)
	used := map[string]bool{}
	for name, answers := range all {
		for k, x := range answers {
			rule := breakertest.Rules[k].ID
			departs := departures(t, facts, name, rule)
			switch x.Answer {
			case breakertest.No:
				assert.NotEmpty(t, departs, "%s does not follow %s (%s), and no direct measurement shows it", name, rule, x.Why)
			case breakertest.Yes:
				for _, d := range departs {
					used[d] = true
					assert.Contains(t, otherwise, d, "%s follows %s (%s), and a direct measurement says otherwise", name, rule, x.Why)
				}
			case breakertest.Cannot:
			}
		}
	}
	for d := range otherwise {
		assert.True(t, used[d], "%s explains nothing", d)
	}
}

// departures are the measurements of the row in which it departs from the rule.
func departures(t *testing.T, facts map[string]map[string]string, name, rule string) (all []string) {
	for _, m := range direct[rule] {
		value := facts[name][m.fact]
		if value == "-" { // a lease does not touch it
			value = facts[strings.TrimSuffix(name, foreign.WithLease)][m.fact]
		}
		require.NotEmpty(t, value, "%s of %s is measured", m.fact, name)
		if !slices.Contains(m.holds, value) {
			all = append(all, fmt.Sprintf("%s %s: %s %s", name, rule, m.fact, value))
		}
	}
	return all
}

// factsTable is the table of direct measurements, by row and then by name.
func factsTable(t *testing.T) map[string]map[string]string {
	b, err := os.ReadFile(filepath.Join("..", "..", "machine", "foreign", "testdata", "facts.txt"))
	require.NoError(t, err)
	gap := regexp.MustCompile(` {2,}`)
	var head []string
	table := map[string]map[string]string{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := gap.Split(strings.TrimSpace(line), -1)
		if head == nil {
			head = cells
			continue
		}
		require.Len(t, cells, len(head), line)
		table[cells[0]] = map[string]string{}
		for i := range cells {
			table[cells[0]][head[i]] = cells[i]
		}
	}
	return table
}

// conformanceIn runs the command, and gives what it prints.
func conformanceIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"compare", "--conformance", "-o", dir}, args...)
	require.Equal(t, exitDone, run(args, streams{in: new(bytes.Buffer), out: &out, err: &errs, width: 80}), errs.String())
	return out.String()
}

// TestConformanceCommand: the table fits the terminal, and every no in the files
// leads to a scenario, a picture and a sentence, which are there.
func TestConformanceCommand(t *testing.T) {
	dir := t.TempDir()
	printed := conformanceIn(t, dir)
	head, _, _ := strings.Cut(printed, "\n")
	assert.Equal(t, []string{"rule", "ours", "gobreaker", "failsafe-go", "eapache", "hystrix-go", "rubyist", "bytedance"}, strings.Fields(head))
	for line := range strings.Lines(strings.Split(printed, "what each no is about")[0]) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 80, line)
	}
	dir = filepath.Join(dir, "compare")
	var m report.Matrix
	b, err := os.ReadFile(filepath.Join(dir, "conformance.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &m))
	markdown, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	html, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	noes := 0
	for _, r := range m.Rules {
		picture := strings.TrimSuffix(r.Scenario, ".yaml") + ".svg"
		for _, file := range []string{r.Scenario, picture} {
			assert.FileExists(t, filepath.Join(dir, file))
			assert.Contains(t, string(markdown), file)
			assert.Contains(t, string(html), file)
		}
		for i, c := range r.Cells {
			if c.Answer != report.ConformsNo {
				assert.Empty(t, c.Tried)
				continue
			}
			noes++
			assert.Contains(t, string(markdown), "- "+m.Breakers[i].Name+": **no**. "+report.InlineMarkdown(strings.ToUpper(c.Why[:1])+c.Why[1:])+".")
			assert.NotEmpty(t, c.Tried, "%s %s", m.Breakers[i].Name, r.ID)
		}
	}
	assert.Equal(t, 46, noes)
	for _, x := range m.Breakers[1:] {
		assert.Contains(t, string(markdown), "`"+x.Module+"` "+report.InlineMarkdown(x.Version))
		assert.Contains(t, string(html), x.Module)
		assert.NotEmpty(t, x.Claims)
	}
}

// TestConformanceOfSome: ours is always the first, and a lease can be a column.
func TestConformanceOfSome(t *testing.T) {
	dir := t.TempDir()
	head, _, _ := strings.Cut(conformanceIn(t, dir, "--breakers", "gobreaker+lease,ours,failsafe-go-timeout"), "\n")
	assert.Equal(t, []string{"rule", "ours", "gobreaker+lease", "failsafe-go-timeout"}, strings.Fields(head))
	var out, errs bytes.Buffer
	for names, says := range map[string]string{"gobraker": `unknown library "gobraker"`, "rubyist,rubyist": "rubyist is there twice", "ours+lease": `unknown library "ours+lease"`} {
		errs.Reset()
		assert.Equal(t, exitWrong, run([]string{"compare", "--conformance", "-o", dir, "--breakers", names}, streams{in: new(bytes.Buffer), out: &out, err: &errs, width: 80}))
		assert.Contains(t, errs.String(), says)
	}
}
