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

// oursText is a run of our breaker: a late success, a lost probe, and one that
// closes it.
const oursText = `
0s call call=1 to=search
0s admit call=1 breaker=search target=search rule=T1
1s call call=2 to=search
1s admit call=2 breaker=search target=search rule=T1
1s result call=2 target=search outcome=failure took=0s breaker=search applied=true rule=T3
1s transition breaker=search from=closed to=open effective=1s rule=T3 failures=1 call=2
20s result call=1 target=search outcome=success took=20s breaker=search applied=false rule=T10
21s call call=3 to=search
21s refuse call=3 breaker=search rule=T4 reason=x until=31s would=success
31s call call=4 to=search
31s transition breaker=search from=open to=half-open effective=31s rule=T5 failures=1 call=4
31s admit call=4 breaker=search target=search probe=true rule=T5
31s vanish call=4 target=search until=null
70s call call=5 to=search
70s transition breaker=search from=half-open to=open effective=61s rule=T7 failures=1 call=5
70s refuse call=5 breaker=search rule=T4 reason=x until=91s would=success
92s call call=6 to=search
92s transition breaker=search from=open to=half-open effective=92s rule=T5 failures=1 call=6
92s admit call=6 breaker=search target=search probe=true rule=T5
93s result call=6 target=search outcome=success took=1s breaker=search applied=true rule=T8
93s transition breaker=search from=half-open to=closed effective=93s rule=T8 failures=1 call=6
100s end states={"search":"closed"}
`

// heldText is the same under a breaker of others that opens and lets a probe
// through, and waits for it for ever.
const heldText = `
0s call call=1 to=search
0s admit call=1 breaker=search target=search rule=F1
1s call call=2 to=search
1s admit call=2 breaker=search target=search rule=F1
1s result call=2 target=search outcome=failure took=0s breaker=search applied=true rule=F4
1s transition breaker=search from=closed to=open effective=1s rule=F4 failures=0 call=2
20s result call=1 target=search outcome=success took=20s breaker=search applied=true rule=F6
21s call call=3 to=search
21s refuse call=3 breaker=search rule=F2 reason="circuit breaker is open" until=null would=success
31s call call=4 to=search
31s transition breaker=search from=open to=half-open effective=31s rule=F3 failures=0 call=4
31s admit call=4 breaker=search target=search probe=true rule=F1
31s vanish call=4 target=search until=null
70s call call=5 to=search
70s refuse call=5 breaker=search rule=F2 reason="too many requests" until=null would=success
92s call call=6 to=search
92s refuse call=6 breaker=search rule=F2 reason="too many requests" until=null would=success
100s end states={"search":"half-open"}
`

// eagerText is the same under one that opens when somebody asks, closes on a late
// success, and knows no half-open.
const eagerText = `
0s call call=1 to=search
0s admit call=1 breaker=search target=search rule=F1
1s call call=2 to=search
1s admit call=2 breaker=search target=search rule=F1
1s result call=2 target=search outcome=failure took=0s breaker=search applied=true rule=F4
1s transition breaker=search from=closed to=open effective=1s rule=F4 failures=0 call=2
20s result call=1 target=search outcome=success took=20s breaker=search applied=true rule=F4
20s transition breaker=search from=open to=closed effective=20s rule=F4 failures=0 call=1
21s call call=3 to=search
21s admit call=3 breaker=search target=search rule=F1
21s result call=3 target=search outcome=success took=0s breaker=search applied=true rule=F6
100s transition breaker=search from=closed to=half-open effective=100s rule=F5 failures=0
100s end states={"search":"half-open"}
`

// lazyText is one that opens only when somebody asks, which is soon enough.
const lazyText = `
0s call call=1 to=search
0s admit call=1 breaker=search target=search rule=F1
1s call call=2 to=search
1s admit call=2 breaker=search target=search rule=F1
1s result call=2 target=search outcome=failure took=0s breaker=search applied=true rule=F6
20s result call=1 target=search outcome=success took=20s breaker=search applied=true rule=F6
21s call call=3 to=search
21s transition breaker=search from=closed to=open effective=21s rule=F3 failures=0 call=3
21s refuse call=3 breaker=search rule=F2 reason=x until=null would=success
31s call call=4 to=search
31s admit call=4 breaker=search target=search rule=F1
31s vanish call=4 target=search until=null
70s call call=5 to=search
70s refuse call=5 breaker=search rule=F2 reason=x until=null would=success
92s call call=6 to=search
92s admit call=6 breaker=search target=search rule=F1
93s result call=6 target=search outcome=success took=1s breaker=search applied=true rule=F4
93s transition breaker=search from=open to=closed effective=93s rule=F4 failures=0 call=6
100s end states={"search":"closed"}
`

func besideRun(by string) trace.RunInfo {
	b := toolBreaker("search")
	b.FailureThreshold, b.RecoveryDuration, b.ProbeTimeout, b.By = 1, 30*time.Second, 30*time.Second, by
	if by != "" {
		b.ProbeTimeout = 0
	}
	return trace.RunInfo{Scenario: "beside", Policy: "breaker", Breakers: []trace.Breaker{b}, Targets: []trace.Target{upAndDown("search", seconds(1, 10))}}
}

// TestBeside finds where others depart from ours: by the first call that fares
// otherwise, and by the change of state that led to it.
func TestBeside(t *testing.T) {
	ours := written(t, besideRun(""), oursText)
	history := historyOf(t, ours)
	deeds := report.NewDeeds(history)
	feed(t, ours, deeds)
	for name, x := range map[string]struct {
		text string
		want []report.Difference
	}{
		"held": {heldText, []report.Difference{
			{At: sec(61), Theirs: "it was still half-open", Ours: "ours opened again (T7: the probe of call 4 never answered; its lease ended here, noticed at 70 s)"},
			{At: sec(92), Theirs: "call 6 was refused (F2: too many requests)", Ours: "ours made it the probe (T5: the cooldown was over)"}}},
		"eager": {eagerText, []report.Difference{
			{At: sec(20), Theirs: "it closed on the result of call 1 (F4)", Ours: "ours stayed open (T10: a late success proves nothing)"},
			{At: sec(21), Theirs: "call 3 was let through (F1)", Ours: "ours refused it (T4: the cooldown runs until 31 s)"}}},
		"lazy": {lazyText, nil},
	} {
		theirs := written(t, besideRun(name+" v1"), x.text)
		require.NoError(t, trace.Validate(theirs), name)
		beside := deeds.Beside()
		feed(t, theirs, beside)
		assert.Equal(t, x.want, beside.Differences(), name)
	}
	same := deeds.Beside()
	feed(t, ours, same)
	assert.Empty(t, same.Differences(), "a run departs from itself nowhere")
}

// TestOthersInWords: stories, diagrams and lists say what was seen of a breaker
// that is not ours, and claim no rule of ours for it.
func TestOthersInWords(t *testing.T) {
	for name, text := range map[string]string{"held": heldText, "eager": eagerText} {
		h := historyOf(t, written(t, besideRun(name+" v1"), text))
		var b bytes.Buffer
		require.NoError(t, h.Story().WriteMarkdown(&b))
		b.WriteString("\n")
		require.NoError(t, report.WriteMermaid(&b, h, "search"))
		require.NoError(t, report.WriteMoments(&b, []*report.History{h}, report.TerminalOptions{}))
		for _, kind := range []string{"timeline", "states"} {
			d, err := report.KindOf(kind).Draw(&report.Results{Panels: []*report.History{h}}, report.Look{})
			require.NoError(t, err)
			_, desc := d.Words()
			b.WriteString("\n" + kind + ": " + desc + "\n")
			assert.NotRegexp(t, `\bT\d`, d.SVG(), "%s of %s", kind, name)
		}
		assert.NotRegexp(t, `\bT\d`, b.String(), name)
		golden(t, "others-"+name+".txt", b.String())
	}
}
