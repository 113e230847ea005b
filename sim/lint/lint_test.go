package lint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

func TestLibraryDump(t *testing.T) {
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		d, err := Check(name+".yaml", src, Options{Limits: scenarios.DefaultLimits()})
		require.NoError(t, err, name)
		for _, f := range d.Findings {
			t.Logf("%s:%d:%d: %s: %s; write %s", f.File, f.At.Line, f.At.Column, f.Rule.ID, f.At.Message, f.Instead)
		}
	}
}
