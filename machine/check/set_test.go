package check

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachSettingHolds explores the real machine with each setting on, and with
// none.
func TestEachSettingHolds(t *testing.T) {
	for _, v := range ToolVariants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			r, err := Tool(v.Settings, false, v.Options)
			require.NoError(t, err)
			assert.Empty(t, r.Violations)
			t.Log(r.Progress, r.Complete)
		})
	}
}
