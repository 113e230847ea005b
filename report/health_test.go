package report_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// sickRun is a tool that fails, and whose calls a substitute takes until it is well.
var sickRun = trace.RunInfo{Scenario: "sick", Title: "Sick", Policy: "breaker", PolicyAbout: "breakers, no retries",
	Breakers: []trace.Breaker{toolBreaker("search")}, Targets: []trace.Target{upAndDown("search", seconds(8, 30)), upAndDown("backup")},
	Substitutes: []trace.Substitute{{Target: "search", By: []string{"backup"}}}}

const sickText = `
2s call call=1 to=search
2s admit call=1 breaker=search target=search rule=T1
3s result call=1 target=search outcome=success took=1s breaker=search applied=true rule=T2
3s health breaker=search target=search score=1 health=healthy
8s call call=2 to=search
8s admit call=2 breaker=search target=search rule=T1
10s result call=2 target=search outcome=timeout took=2s breaker=search applied=true rule=T3
10s transition breaker=search from=closed to=open effective=10s rule=T3 failures=1 call=2
10s health breaker=search target=search score=0.64 health=unhealthy
12s call call=3 to=search target=backup
12s reroute call=3 breaker=search from=search to=backup rule=H7
13s result call=3 target=backup outcome=success took=1s
20s call call=4 to=search target=backup
20s reroute call=4 breaker=search from=search to=backup rule=H7
21s result call=4 target=backup outcome=success took=1s
40s call call=5 to=search
40s transition breaker=search from=open to=half-open effective=40s rule=T5 failures=1 call=5
40s admit call=5 breaker=search target=search probe=true rule=T5
41s call call=6 to=search target=backup
41s reroute call=6 breaker=search from=search to=backup rule=H7
42s result call=5 target=search outcome=success took=2s breaker=search applied=true rule=T8
42s transition breaker=search from=half-open to=closed effective=42s rule=T8 failures=1 call=5
42s health breaker=search target=search score=0.7236 health=degraded
42s result call=6 target=backup outcome=success took=1s
60s end states={"search":"closed"}
`

// TestASickToolInTheTerminal reads the health row, the rerouted calls and the
// reasons; a cell shows the lowest score in it.
func TestASickToolInTheTerminal(t *testing.T) {
	h := historyOf(t, written(t, sickRun, sickText))
	var b bytes.Buffer
	require.NoError(t, report.WriteTerminal(&b, []*report.History{h}, report.TerminalOptions{}))
	require.NoError(t, report.WriteMoments(&b, []*report.History{h}, report.TerminalOptions{}))
	golden(t, "terminal-sick-80.txt", b.String())
	b.Reset()
	require.NoError(t, report.WriteTerminal(&b, []*report.History{h}, report.TerminalOptions{Color: true}))
	assert.Contains(t, b.String(), "\x1b[33m▅", "degraded is yellow")
}

// TestASickToolInThePicture reads what the SVG says of it.
func TestASickToolInThePicture(t *testing.T) {
	tl, err := report.KindOf("timeline").Draw(&report.Results{Panels: []*report.History{historyOf(t, written(t, sickRun, sickText))}}, report.Look{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, tl.WriteSVG(&b))
	for _, want := range []string{
		"search: health score, lowest 0.64 at 10 s, at the end 0.72 (degraded)",
		"12 s: call 3, sent to a substitute, backup (H7)",
		"While search is out, its calls go to backup",
		"Its health score is lowest at 10 s, 0.64.",
		"From 12 s to 20 s 2 calls for search go to backup.",
		"At 41 s a call for search goes to backup.",
		">rerouted</text>",
		"health score: healthy from 0.8, degraded from 0.5, below that unhealthy",
	} {
		assert.Contains(t, b.String(), want)
	}
}

// TestOvershootCountsReroutedCalls: a call that a substitute takes is one that
// the tool does not get.
func TestOvershootCountsReroutedCalls(t *testing.T) {
	m := report.NewMeter()
	l := written(t, sickRun, sickText)
	for i := range l {
		require.NoError(t, m.Event(&l[i]))
	}
	c := m.Cost()
	assert.Equal(t, 3, c.Rerouted)
	require.Len(t, c.Outages, 1)
	assert.Equal(t, seconds(30, 41).To-seconds(30, 41).From, *c.Outages[0].Overshoot)
}

// TestCapacityIsTold below the picture.
func TestCapacityIsTold(t *testing.T) {
	run := sickRun
	run.Targets = append([]trace.Target(nil), sickRun.Targets...)
	run.Targets[0].Capacity = &trace.Capacity{Servers: 4, Queue: new(100), CancelOnTimeout: true}
	run.Targets[1].Capacity = &trace.Capacity{Servers: 1}
	run.Targets[1].Limit = &trace.Limit{Every: 10 * time.Millisecond, Burst: 200}
	tl, err := report.KindOf("timeline").Draw(&report.Results{Panels: []*report.History{historyOf(t, written(t, run, sickText))}}, report.Look{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, tl.WriteSVG(&b))
	assert.Contains(t, b.String(), ">search serves 4 at a time, with a queue of 100, and stops when the caller does</text>")
	assert.Contains(t, b.String(), ">backup serves 1 at a time</text>")
	assert.Contains(t, b.String(), ">backup takes one call every 10 ms, and up to 200 at once</text>")
}
