package machine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutant is a copy of the package with one small fault.
type mutant struct {
	name     string // where, and what became of what: without line numbers, which change
	file     string
	from, to int // the bytes that are replaced
	text     string
}

// TestMutants makes every small fault in the package, one at a time, and asks
// whether these tests notice. Those that they do not are listed, each with the
// reason, in testdata/survivors.txt. It takes half an hour on two cores:
// MUTANTS=1 runs it, MUTANTS=listed only what the list has, and MUTANTS=Text
// only those whose name has the text.
func TestMutants(t *testing.T) {
	only := os.Getenv("MUTANTS")
	if only == "" {
		t.Skip("MUTANTS=1 runs it")
	}
	var all []mutant
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			all = append(all, mutantsOf(t, f)...)
		}
	}
	switch only {
	case "1":
	case "listed":
		list := explained(t)
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(list, m.name) })
	default:
		all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.name, only) })
	}
	var (
		mu       sync.Mutex
		counts   = map[string]int{}
		survived []string
		wg       sync.WaitGroup
		work     = make(chan mutant)
	)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for m := range work {
				fate := m.try(t)
				mu.Lock()
				counts[fate]++
				if fate == "survived" {
					survived = append(survived, m.name)
				}
				mu.Unlock()
			}
		})
	}
	for _, m := range all {
		work <- m
	}
	close(work)
	wg.Wait()
	t.Log(len(all), "mutants:", counts)
	slices.Sort(survived)
	if only == "1" || only == "listed" {
		assert.Equal(t, explained(t), survived)
	} else {
		t.Log("survived:\n" + strings.Join(survived, "\n"))
	}
}

// explained are the names in the list of survivors: a name, then its reason on
// the lines below it, which are indented.
func explained(t *testing.T) (names []string) {
	b, err := os.ReadFile("testdata/survivors.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names
}

// try says what became of the mutant.
func (m *mutant) try(t *testing.T) string {
	dir, err := os.MkdirTemp("", "mutant")
	require.NoError(t, err)
	defer os.RemoveAll(dir) // each has a program in it
	src, err := os.ReadFile(m.file)
	require.NoError(t, err)
	path, err := filepath.Abs(m.file)
	require.NoError(t, err)
	changed := filepath.Join(dir, m.file)
	require.NoError(t, os.WriteFile(changed, []byte(string(src[:m.from])+m.text+string(src[m.to:])), 0o666))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o666))
	binary := filepath.Join(dir, "tests")
	if err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".").Run(); err != nil {
		return "did not compile"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	run := exec.CommandContext(ctx, binary, "-test.short", "-test.failfast", "-test.skip", "TestMutants|TestEverythingExported")
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MUTANTS=") })
	run.WaitDelay = time.Second
	switch err := run.Run(); {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "killed by the clock"
	case err != nil:
		return "killed"
	default:
		return "survived"
	}
}

// others are what an operator may become.
var others = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR}, token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL}, token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.INC: {token.DEC}, token.DEC: {token.INC}, token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN}, token.MUL_ASSIGN: {token.QUO_ASSIGN},
}

// mutantsOf are the faults that are made in one file.
func mutantsOf(t *testing.T, file string) (all []mutant) {
	fset := token.NewFileSet()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	parsed, err := parser.ParseFile(fset, file, src, 0)
	require.NoError(t, err)
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	seen := map[string]int{}
	where := ""
	add := func(from, to token.Pos, text string, around ast.Node) {
		context := strings.Join(strings.Fields(string(src[at(around.Pos()):at(around.End())])), " ")
		was := string(src[at(from):at(to)])
		name := fmt.Sprintf("%s %s: %s", file, where, context)
		switch {
		case text == "":
			name += " is left out"
		case was == context:
			name += " becomes " + text
		default:
			name += fmt.Sprintf(": %s becomes %s", was, text)
		}
		if seen[name]++; seen[name] > 1 {
			name += fmt.Sprintf(" (%d)", seen[name])
		}
		all = append(all, mutant{name, file, at(from), at(to), text})
	}
	swap := func(op token.Token, pos token.Pos, around ast.Node) {
		for _, o := range others[op] {
			add(pos, pos+token.Pos(len(op.String())), o.String(), around)
		}
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		where = f.Name.Name
		if f.Recv != nil {
			typ := f.Recv.List[0].Type
			where = strings.TrimPrefix(string(src[at(typ.Pos()):at(typ.End())]), "*") + "." + where
		}
		ast.PreorderStack(f.Body, nil, func(n ast.Node, stack []ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				swap(n.Op, n.OpPos, n)
			case *ast.IncDecStmt:
				swap(n.Tok, n.TokPos, n)
				add(n.Pos(), n.End(), "", n)
			case *ast.AssignStmt:
				swap(n.Tok, n.TokPos, n)
				if n.Tok != token.DEFINE {
					add(n.Pos(), n.End(), "", n)
				}
			case *ast.ExprStmt:
				add(n.Pos(), n.End(), "", n)
			case *ast.DeferStmt:
				add(n.Pos(), n.End(), "", n)
			case *ast.UnaryExpr:
				if n.Op == token.NOT {
					add(n.OpPos, n.X.Pos(), " ", n)
				}
			case *ast.Ident:
				if n.Name == "true" || n.Name == "false" {
					add(n.Pos(), n.End(), map[string]string{"true": "false", "false": "true"}[n.Name], stack[len(stack)-1])
				}
			case *ast.BasicLit:
				if n.Kind == token.INT {
					add(n.Pos(), n.End(), "("+n.Value+"+1)", stack[len(stack)-1])
				}
			}
			return true
		})
	}
	return all
}
