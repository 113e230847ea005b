package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/scenarios"
)

// TestAmounts are written as in tables, and exactly.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit scenarios.Unit
		want string
	}{
		{2950, scenarios.Count, "2,950"}, {17936.056, scenarios.Count, "17,936.056"}, {0.99, scenarios.Ratio, "0.99"}, {0, scenarios.Count, "0"},
		{float64(90 * time.Second), scenarios.Duration, "1 min 30 s"}, {1e30, scenarios.Count, "1000000000000000000000000000000"},
	} {
		assert.Equal(t, c.want, amount(c.v, c.unit))
	}
}
