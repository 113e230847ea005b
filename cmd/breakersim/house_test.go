package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

const module = "github.com/breakersim/breakersim/"

// mayImport is the house: which packages of ours each may import, and, where
// the list is not nil, which of others' beyond the standard library.
var mayImport = map[string]struct{ ours, others []string }{
	"machine":       {nil, []string{}},
	"machine/check": {[]string{"machine"}, []string{}},
	"machine/foreign": {nil, []string{"github.com/afex/hystrix-go/", "github.com/bytedance/gopkg/", "github.com/eapache/go-resiliency/",
		"github.com/failsafe-go/failsafe-go", "github.com/rubyist/circuitbreaker", "github.com/sony/gobreaker/v2"}},
	"sim/trace":  {nil, []string{}},
	"sim":        {nil, []string{}},
	"scenarios":  {[]string{"machine"}, []string{"github.com/goccy/go-yaml", "github.com/invopop/jsonschema"}},
	"sim/replay": {[]string{"machine", "sim/trace", "sim", "scenarios"}, []string{}},
	"sim/sweep": {[]string{"sim/trace", "sim", "scenarios", "sim/replay"},
		[]string{"github.com/HdrHistogram/hdrhistogram-go", "gonum.org/v1/gonum/stat/distuv"}},
	"sim/breakertest":              {[]string{"machine", "sim/trace", "scenarios", "sim/replay"}, []string{}},
	"sim/lint":                     {[]string{"machine", "sim/trace", "scenarios", "sim/replay"}, []string{}},
	"report":                       {[]string{"sim/trace"}, nil},
	"cmd/breakersim/internal/runs": {[]string{"sim/trace", "scenarios", "sim/replay", "report"}, []string{}},
	"cmd/breakersim/internal/lab":  {[]string{"machine", "sim/trace", "scenarios", "sim/replay", "report", "cmd/breakersim/internal/runs"}, []string{}},
	"cmd/breakersim/playground":    {[]string{"cmd/breakersim/internal/lab"}, []string{}},
	"cmd/breakersim":               {[]string{"machine", "machine/check", "sim/trace", "sim", "machine/foreign", "scenarios", "sim/replay", "sim/sweep", "sim/breakertest", "sim/lint", "report", "cmd/breakersim/internal/runs"}, nil},
}

// TestPackagesPointOneWay reads the imports of every file that is not a test.
func TestPackagesPointOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		require.NoError(t, err)
		allowed, known := mayImport[filepath.ToSlash(rel)]
		if !assert.True(t, known, "the design has no package %s", rel) {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			if ours, ok := strings.CutPrefix(name, module); ok {
				assert.Contains(t, allowed.ours, ours, "%s imports %s", path, ours)
			} else if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ".") && allowed.others != nil {
				assert.True(t, slices.ContainsFunc(allowed.others, func(o string) bool { return strings.HasPrefix(name, o) }), "%s imports %s", path, name)
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// TestOnlyForeignLinksForeign: who uses the machines, or plays scenarios, links
// none of the libraries that they are compared with, not even at second hand.
func TestOnlyForeignLinksForeign(t *testing.T) {
	linked := func(pkg string) (found []string) {
		list := exec.Command("go", "list", "-deps", "./"+pkg)
		list.Dir = filepath.Join("..", "..")
		if pkg == "cmd/breakersim/playground" { // which is for browsers
			list.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		}
		out, err := list.Output()
		require.NoError(t, err, pkg)
		for name := range strings.Lines(string(out)) {
			if slices.ContainsFunc(mayImport["machine/foreign"].others, func(o string) bool { return strings.HasPrefix(name, o) }) {
				found = append(found, strings.TrimSpace(name))
			}
		}
		return found
	}
	for pkg := range mayImport {
		if pkg == "machine/foreign" {
			assert.NotEmpty(t, linked(pkg))
		} else if pkg != "cmd/breakersim" {
			assert.Empty(t, linked(pkg), "%s links somebody else's breaker", pkg)
		}
	}
}

// readsTheClock are the packages that may ask what time it is: the program, and
// what puts breakers that do so into virtual time.
var readsTheClock = []string{"cmd/breakersim", "sim/breakertest", "machine/foreign"}

// TestNobodyElseReadsTheClock: time is an argument.
func TestNobodyElseReadsTheClock(t *testing.T) {
	for pkg := range mayImport {
		if slices.Contains(readsTheClock, pkg) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
						assert.NotContains(t, []string{"Now", "Since", "Until", "After", "Sleep", "Tick", "NewTimer", "NewTicker", "AfterFunc"}, s.Sel.Name, "%s reads the clock", file)
					}
				}
				return true
			})
		}
	}
}

// TestTopLevel keeps the project's front page as it was agreed. What else its
// user keeps there is nobody's business.
func TestTopLevel(t *testing.T) {
	list := exec.Command("git", "ls-files")
	list.Dir = filepath.Join("..", "..")
	files, err := list.Output()
	if err != nil {
		t.Skip("this is no git clone: ", err)
	}
	var visible []string
	for file := range strings.Lines(string(files)) {
		first, _, _ := strings.Cut(strings.TrimSpace(file), "/")
		if !strings.HasPrefix(first, ".") && !slices.Contains(visible, first) {
			visible = append(visible, first)
		}
	}
	slices.Sort(visible)
	assert.Equal(t, []string{"LICENSE", "README.md", "cmd", "go.mod", "go.sum", "machine", "outputs", "report", "scenarios", "sim"}, visible)
}

// TestMetricsAreTheTable holds the names that files may use against the columns
// that the table has.
func TestMetricsAreTheTable(t *testing.T) {
	var names, columns []string
	for _, m := range scenarios.Metrics {
		names = append(names, m.Name)
	}
	for _, c := range report.Columns {
		columns = append(columns, c.Name)
	}
	assert.Equal(t, names, columns)
}

// TestReadmeIsTrue holds what stands between the README's markers against the
// program. UPDATE=1 rewrites it.
func TestReadmeIsTrue(t *testing.T) {
	args := []string{"docs", "--check", filepath.Join("..", "..", "README.md")}
	if os.Getenv("UPDATE") != "" {
		args = slices.Delete(args, 1, 2)
	}
	var out bytes.Buffer
	assert.Equal(t, exitDone, run(args, streams{out: &out, err: &out, width: 80}), "UPDATE=1 rewrites it")
	if t.Failed() {
		t.Log(out.String())
	}
}

// TestReadmeTables holds the README's tables, and its sample of a variant, against
// the code that they are made from. UPDATE=1 rewrites them.
func TestReadmeTables(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	readme := string(b)
	for kind, table := range map[string]string{"rules": ruleTable(t), "metrics": metricTable(), "policies": policyTable(), "scenarios": scenarioTable(t), "whatif": whatIfSample(t), "compare": compareSample(t), "docs": docsTables(), "settings": settingTable(t), "presets": presetTable(), "findings": findingTable()} {
		head, rest, found := strings.Cut(readme, "<!-- made: "+kind+" -->\n")
		require.True(t, found)
		shown, tail, found := strings.Cut(rest, "<!-- /made -->")
		require.True(t, found)
		if os.Getenv("UPDATE") == "" {
			assert.Equal(t, table, shown)
		}
		readme = head + "<!-- made: " + kind + " -->\n" + table + "<!-- /made -->" + tail
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(readme), 0o666))
	}
}

// whatIfSample is what the README shows of a variant: the first event that
// differs and the figures.
func whatIfSample(t *testing.T) string {
	var out bytes.Buffer
	args := []string{"run", "-o", t.TempDir(), "vanished-probe", "--set", "breakers.search.probe_timeout=5s"}
	require.Equal(t, exitDone, run(args, streams{out: &out, err: &out, width: 80}))
	_, rest, found := strings.Cut(out.String(), "\nwhat if ")
	require.True(t, found)
	shown, _, found := strings.Cut(rest, "figures are the same\n")
	require.True(t, found)
	return "```\nwhat if " + shown + "figures are the same\n```\n"
}

// compareSample is what the README shows of a comparison: where each departs.
func compareSample(t *testing.T) string {
	var out bytes.Buffer
	args := []string{"compare", "-o", t.TempDir(), "vanished-probe", "--format", "svg", "--picture", "timeline"}
	require.Equal(t, exitDone, run(args, streams{out: &out, err: &out, width: 80}))
	_, rest, found := strings.Cut(out.String(), "\nWhere each first")
	require.True(t, found)
	shown, _, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	return "```\nWhere each first" + shown + "\n```\n"
}

// settingRules are the rules of those settings of breakers that are off by default.
var settingRules = map[string]string{
	"counts": "T20, M20", "window": "T21", "failure_rate": "T21", "window_failures": "T21", "minimum_calls": "T21", "slow_after": "T22", "slow": "T22", "slow_rate": "T22",
	"success_clears": "T2", "forget_failures_after": "T3", "probe": "T34", "probes": "T23, M21", "probes_in_all": "T23", "probe_successes": "T24", "probe_failure_rate": "T24", "probe_slow_rate": "T24",
	"cancelled_probe": "T25", "ramp": "T26", "ramp_from": "T26", "recovery_growth": "T27, M25", "recovery_longest": "T27, M25", "recovery_forget": "T27, M25",
	"recovery_jitter": "T28, M26", "retry_after": "T29, M27", "late_failures": "T30", "exhausted_wait": "M22", "last_resort": "M23", "entry_cooldown": "M24",
	"per": "T1 to T34", "stale_results": "T13", "probation_failures": "M13",
}

// settingTable is those settings as the schema has them.
func settingTable(t *testing.T) string {
	var schema struct {
		Properties struct {
			Breakers struct {
				AdditionalProperties struct {
					Properties map[string]struct{ Description string }
				}
			}
		}
	}
	var out bytes.Buffer
	require.Equal(t, exitDone, run([]string{"schema"}, streams{out: &out, err: &out}))
	require.NoError(t, json.Unmarshal(out.Bytes(), &schema))
	usual := []string{"kind", "guards", "reports", "health", "like", "failure_threshold", "recovery_duration", "probe_timeout", "primary", "chain", "trip_threshold", "recovery_timeout", "recovery_successes_needed", "max_fail_count"}
	all := schema.Properties.Breakers.AdditionalProperties.Properties
	table := "| key | what it says | rule |\n|---|---|---|\n"
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(usual, key) {
			require.Contains(t, settingRules, key)
			table += "| `" + key + "` | " + all[key].Description + " | " + settingRules[key] + " |\n"
		}
	}
	return table
}

// presetTable is what like: takes.
func presetTable() string {
	table := "| like | kind | as in |\n|---|---|---|\n"
	for _, p := range scenarios.Presets() {
		table += "| `" + p.Name + "` | " + p.Kind + " | [" + p.Version + "](" + p.Source[0] + ") |\n"
	}
	return table
}

// docsTables are what can stand between markers, and the markers' options.
func docsTables() string {
	tables := "| kind | what it is | options |\n|---|---|---|\n"
	for i := range docKinds {
		k := &docKinds[i]
		options := "`" + strings.Join(k.options, "`, `") + "`"
		if k.picture != nil {
			options = "all"
		}
		tables += "| `" + k.name + "` | " + k.about + " | " + options + " |\n"
	}
	tables += "\n| option | what it says |\n|---|---|\n"
	for i := range docOptions {
		tables += "| `" + docOptions[i].form + "` | " + docOptions[i].about + " |\n"
	}
	return tables
}

// ruleTable is made from the comments on the rules.
func ruleTable(t *testing.T) string {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "machine", "machine.go"), nil, parser.ParseComments)
	require.NoError(t, err)
	table := "| rule | says |\n|---|---|\n"
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			typ, ok := v.Type.(*ast.Ident)
			if !ok || typ.Name != "Rule" {
				continue
			}
			table += "| " + v.Names[0].Name + " | " + strings.TrimSpace(v.Comment.Text()) + " |\n"
		}
	}
	return table
}

func metricTable() string {
	table := "| name | in tables | what it is |\n|---|---|---|\n"
	for _, c := range report.Columns {
		table += "| `" + c.Name + "` | " + c.Heading + " | " + c.About + " |\n"
	}
	return table
}

func policyTable() string {
	table := "| name | what it does | after |\n|---|---|---|\n"
	for _, p := range scenarios.BuiltinPolicies() {
		table += "| `" + p.Name + "` | " + report.Readable(p.About) + " | " + p.Source + " |\n"
	}
	return table
}

// TestReadmeProgramCompiles builds the program that the README shows.
func TestReadmeProgramCompiles(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	program, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666))
	out, err := exec.Command("go", "vet", filepath.Join(dir, "main.go")).CombinedOutput()
	assert.NoError(t, err, string(out))
}

// TestGallery holds the page of all pictures against the library. UPDATE=1
// rewrites it.
func TestGallery(t *testing.T) {
	path := filepath.Join("..", "..", "outputs", "README.md")
	page := "# What breakersim draws\n\nOne picture for each scenario of the library, as `breakersim run` makes it, and a page that tells what happens in it.\n[Known results](validation.md) are held against " +
		"what the simulator gives on a page of their own, and [other libraries' breakers](compare/README.md) against each rule of ours.\n"
	for _, s := range library(t) {
		page += fmt.Sprintf("\n## %s\n\n[`%s`](../scenarios/%[2]s.yaml) · [its page](%[2]s/README.md)\n\n%s\n\n![%[1]s](%[2]s/timeline.svg)\n", s.Title, s.Name, s.About)
	}
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o666))
		return
	}
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, page, string(b))
}

// library is every built-in scenario.
func library(t *testing.T) (all []*scenarios.Scenario) {
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		s, err := scenarios.Load(name+".yaml", src, scenarios.DefaultLimits())
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

func scenarioTable(t *testing.T) string {
	table := "| scenario | what it shows |\n|---|---|\n"
	for _, s := range library(t) {
		table += fmt.Sprintf("| [`%s`](scenarios/%[1]s.yaml) | [%[2]s](outputs/%[1]s/timeline.svg) |\n", s.Name, s.Title)
	}
	return table
}
