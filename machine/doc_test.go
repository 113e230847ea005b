package machine_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEverythingExportedIsDocumented, and every type has an Example.
func TestEverythingExportedIsDocumented(t *testing.T) {
	fset := token.NewFileSet()
	var files, tests []*ast.File
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		require.NoError(t, err)
		if strings.HasSuffix(e.Name(), "_test.go") {
			tests = append(tests, f)
		} else {
			files = append(files, f)
		}
	}
	examples := map[string]bool{}
	for _, e := range doc.Examples(tests...) {
		examples[e.Name] = true
	}
	p, err := doc.NewFromFiles(fset, files, "machine")
	require.NoError(t, err)
	documented := func(name, text string) { assert.NotEmpty(t, text, "%s says nothing", name) }
	for _, typ := range p.Types {
		documented(typ.Name, typ.Doc)
		assert.True(t, examples[typ.Name], "%s has no Example", typ.Name)
		for _, m := range append(typ.Methods, typ.Funcs...) {
			documented(typ.Name+"."+m.Name, m.Doc)
		}
	}
	for _, f := range p.Funcs {
		documented(f.Name, f.Doc)
	}
	for _, v := range append(p.Consts, p.Vars...) {
		documented(strings.Join(v.Names, ", "), v.Doc)
	}
}
