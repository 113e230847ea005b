package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMetricsOfBars shows what differs rather than what is the same.
func TestMetricsOfBars(t *testing.T) {
	base := Cost{Calls: 1000, Attempts: 1000, Failed: 1, WaitWasted: time.Second, Harm: 2, Wasted: 3, Finished: 1000}
	with := func(change func(*Cost)) Cost {
		c := base
		change(&c)
		return c
	}
	zero := Cost{Calls: 1000, Attempts: 1000, Finished: 1000}
	few := Cost{Calls: 10, Attempts: 10, Finished: 10, WaitP99: 1}
	for name, tt := range map[string]struct {
		costs []Cost
		want  []string
	}{
		"one":      {[]Cost{base}, []string{"failed", "wait_wasted", "harm", "wasted_attempts"}},
		"priced":   {[]Cost{with(func(c *Cost) { c.Priced, c.Money = true, 3 })}, []string{"failed", "wait_wasted", "money", "harm"}},
		"calm":     {[]Cost{zero, zero}, []string{"failed", "wait_wasted", "amplification", "attempts"}},
		"no harm":  {[]Cost{zero, with(func(c *Cost) { c.Harm = 0 })}, []string{"failed", "wait_wasted", "wasted_attempts", "amplification"}},
		"alike":    {[]Cost{base, with(func(c *Cost) { c.WaitP99 = 1 })}, []string{"failed", "wait_wasted", "harm", "wasted_attempts"}},
		"p99":      {[]Cost{zero, with(func(c *Cost) { c.WaitP99, c.WaitWasted, c.Harm, c.Wasted = 1, 0, 0, 0 })}, []string{"failed", "amplification", "wait_p99", "attempts"}},
		"few":      {[]Cost{{Calls: 10, Attempts: 10, Finished: 10}, few}, []string{"failed", "wait_wasted", "amplification", "attempts"}},
		"no calls": {[]Cost{zero, {}}, []string{"failed", "amplification", "wait_p99", "attempts"}},
	} {
		var rows []Row
		for _, c := range tt.costs {
			rows = append(rows, Row{Cost: c})
		}
		var got []string
		for _, m := range costMetricsOf(rows) {
			got = append(got, m.name)
		}
		assert.Equal(t, tt.want, got, name)
	}
}

// TestBarsAreColumns holds the metrics' names against the cost table.
func TestBarsAreColumns(t *testing.T) {
	names := map[string]bool{"": true}
	for _, c := range Columns {
		names[c.Name] = true
	}
	for _, m := range costMetrics {
		assert.True(t, names[m.name] && names[m.whole], "%s of %s", m.name, m.whole)
	}
}

func TestFiguresAtBars(t *testing.T) {
	two := &Results{Panels: []*History{world{policy: "a"}.history(t)}, Rows: []Row{
		{"a", Cost{Calls: 2000, Failed: 1500, WaitTotal: 4 * time.Second, WaitWasted: 3 * time.Second, Harm: 7, Attempts: 4000, Wasted: 1}},
		{"b", Cost{Calls: 2000, Failed: 500, WaitTotal: 4 * time.Second, WaitWasted: time.Minute, Harm: 0, Attempts: 2000, Wasted: 1000}},
	}}
	assert.Subset(t, textsOf(t, "cost", two, Look{}), []string{"failed", "1,500", "500", "in vain", "3 s", "1 min", "harm", "7", "0", "wasted", "1", "1,000", "Bold: the least of the column."})
	d, err := layOutCost(two, new(Look))
	require.NoError(t, err)
	failed := d.(*costBars).columns[0]
	assert.InDelta(t, 500, failed.least, 0)
	assert.InDelta(t, 1500, failed.full, 0)

	one := &Results{Panels: two.Panels, Rows: two.Rows[:1]}
	all := textsOf(t, "cost", one, Look{})
	assert.Subset(t, all, []string{"1,500 of 2,000 calls", "3 s (75 %)", "of all waiting", "7 of 2,000 calls", "1 of 4,000 attempts"})
	assert.NotContains(t, all, "Bold: the least of the column.", "there is nothing to compare")
}

func TestCostInWords(t *testing.T) {
	d, err := KindOf("cost").Draw(&Results{Panels: []*History{world{policy: "a"}.history(t)}, Rows: []Row{{"a", Cost{Calls: 2, Failed: 1, Harm: 1, Wasted: 1, Attempts: 1, WaitWasted: time.Second, WaitTotal: time.Second}}}}, Look{})
	require.NoError(t, err)
	_, _, desc := d.words()
	assert.Equal(t, "failed, calls that ended without an answer, refused ones too: 1 of 2 calls. in vain, time that callers waited for no answer, all together, and its share of all waiting: 1 s (100 %). "+
		"harm, calls refused, each of which would have worked by itself: 1 of 2 calls. wasted, attempts that began in an outage: 1 of 1 attempt.", desc)
}

// TestLessIsNotBetterBelowOne: fewer attempts than calls are calls that reach no
// target, which is no merit.
func TestLessIsNotBetterBelowOne(t *testing.T) {
	for name, tt := range map[string]struct {
		attempts []int
		bold     float64
		about    string
	}{
		"retries": {[]int{30, 20}, 2, "attempts for each call"},
		"none":    {[]int{30, 10}, 1, "attempts for each call"},
		"refused": {[]int{30, 5}, -1, "attempts for each call; below\u00a01, some make none"},
	} {
		var rows []Row
		for _, n := range tt.attempts {
			rows = append(rows, Row{"p", Cost{Calls: 10, Attempts: n, Finished: 10}})
		}
		col := costColumns(rows, time.Minute)[2]
		require.Equal(t, "amplification", col.title, name)
		assert.InDelta(t, tt.bold, col.least, 1e-9, name)
		assert.Equal(t, tt.about, col.costMetric.about, name)
		texts := strings.Join(textsOf(t, "cost", &Results{Panels: []*History{world{policy: "a"}.history(t)}, Rows: rows}, Look{}), " ")
		assert.Equal(t, name == "refused", strings.Contains(texts, costAbout+downToOne), name)
	}
}

// TestCostsAreToldInTheUnitsOfTheRun, as the timeline tells them; a column with
// more than a run can last has units of its own.
func TestCostsAreToldInTheUnitsOfTheRun(t *testing.T) {
	rows := func(other time.Duration) []Row {
		return []Row{{"p", Cost{Calls: 10, Attempts: 10, WaitWasted: 80*time.Second + 740*time.Millisecond}}, {"q", Cost{Calls: 10, Attempts: 10, WaitWasted: other}}}
	}
	for _, tt := range []struct {
		other, end time.Duration
		want       []string
	}{
		{2 * time.Minute, 3 * time.Minute, []string{"80.7 s", "120 s"}},
		{2 * time.Minute, 10 * time.Minute, []string{"1 min 20.7 s", "2 min"}},
		{3 * time.Hour, 3 * time.Minute, []string{"1 min 20.7 s", "3 h"}},
	} {
		col := costColumns(rows(tt.other), tt.end)[1]
		require.Equal(t, "in vain", col.title)
		assert.Equal(t, tt.want, col.figures)
	}
}
