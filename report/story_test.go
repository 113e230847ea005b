package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/trace"
)

// TestStories are read as prose: UPDATE=1 rewrites them.
func TestStories(t *testing.T) {
	for name, l := range map[string]trace.List{
		"story-both.txt":  written(t, vanishedRun, vanishedText),
		"story-tool.txt":  written(t, toolRun, toolText),
		"story-model.txt": written(t, modelRun, modelText),
		"story-sick.txt":  written(t, sickRun, sickText),
	} {
		var b bytes.Buffer
		b.WriteString(plainStory(historyOf(t, l)))
		golden(t, name, b.String())
	}
}

// told is the story of a run with a tool breaker of three failures.
func told(t *testing.T, text string) string {
	t.Helper()
	b := toolBreaker("search")
	b.Tool.FailureThreshold = 3
	run := trace.RunInfo{Scenario: "x", Policy: "breaker", Breakers: []trace.Breaker{b}, Targets: []trace.Target{upAndDown("search", seconds(1, 20))}}
	var out bytes.Buffer
	out.WriteString(plainStory(historyOf(t, written(t, run, text))))
	return out.String()
}

const opening3 = `
3s call call=1 to=search
3s admit call=1 breaker=search target=search rule=T1
3s result call=1 target=search outcome=failure took=0s breaker=search applied=true rule=T3
3s transition breaker=search from=closed to=open effective=3s rule=T3 failures=3 call=1
`

// TestStoryOf has each thing that may befall a breaker in words.
func TestStoryOf(t *testing.T) {
	const refused = `refuse breaker=search rule=T4 reason="no" until=33s`
	for name, x := range map[string]struct{ text, want string }{
		"a trip in an outage": {"", "The breaker opened at 3 s, 2 s into the outage, when call 1 failed, the third failure in a row (T3)."},
		"one refusal":         {"5s call call=2 to=search\n5s " + refused + " call=2 would=failure\n", "At 5 s call 2 was refused: the cooldown ran until 33 s (T4)."},
		"refusals in a stretch": {"5s call call=2 to=search\n5s " + refused + " call=2\n9s call call=3 to=search\n9s " + refused + " call=3 would=success\n" +
			"25s call call=4 to=search\n25s " + refused + " call=4 would=success\n", "From 5 s to 25 s three calls were refused: the cooldown ran until 33 s (T4). Of these, two would have succeeded."},
		"the outage's end": {"21s call call=2 to=search\n21s " + refused + " call=2\n", "At 20 s search was well again, which the breaker could not know."},
		"the probe": {"33s call call=2 to=search\n33s transition breaker=search from=open to=half-open effective=33s rule=T5 failures=3 call=2\n" +
			"33s admit call=2 breaker=search target=search probe=true rule=T5\n", "The cooldown was over at 33 s, and call 2 became the probe (T5)."},
		"a probe that comes late": {"40s call call=2 to=search\n40s transition breaker=search from=open to=half-open effective=40s rule=T5 failures=3 call=2\n" +
			"40s admit call=2 breaker=search target=search probe=true rule=T5\n", "The cooldown was over at 33 s; call 2, which asked at 40 s, became the probe (T5)."},
		"a lease, noticed late": {"33s call call=2 to=search\n33s transition breaker=search from=open to=half-open effective=33s rule=T5 failures=3 call=2\n" +
			"33s admit call=2 breaker=search target=search probe=true rule=T5\n80s call call=3 to=search\n" +
			"80s transition breaker=search from=half-open to=open effective=63s rule=T7 failures=3 call=3\n80s refuse call=3 breaker=search rule=T4 reason=no until=93s\n",
			"At 63 s the probe's lease ended without an answer, so the breaker was open again (T7). That was only noticed at 80 s, when call 3 came, and backdated."},
		"an anonymous verdict": {"33s call call=2 to=search\n33s transition breaker=search from=open to=half-open effective=33s rule=T5 failures=3 call=2\n" +
			"33s admit call=2 breaker=search target=search probe=true rule=T5\n34s result call=9 target=search outcome=success took=33s breaker=search applied=true rule=T8\n" +
			"34s transition breaker=search from=half-open to=closed effective=34s rule=T8 failures=3 call=9\n",
			"Call 9, taken for the probe although that is call 2, succeeded at 34 s, 14 s after the end of the outage, and the breaker closed (T8)."},
		"a reset": {"50s operate op=reset breaker=search\n50s transition breaker=search from=open to=closed effective=50s rule=T15 failures=3\n",
			"An operator reset the breaker at 50 s, and it closed (T15). So it stayed until the run ended at 100 s."},
		"a reset that moves nothing": {"50s operate op=reset breaker=search\n50s transition breaker=search from=open to=closed effective=50s rule=T15 failures=3\n60s operate op=reset breaker=search\n",
			"At 60 s an operator reset the breaker, which changed nothing."},
		"a late success": {"9s result call=7 target=search outcome=success took=9s breaker=search applied=false rule=T10\n",
			"At 9 s call 7 succeeded, but it had begun before the breaker last opened, so that counted for nothing (T10)."},
		"a late failure": {"9s result call=7 target=search outcome=failure took=9s breaker=search applied=true rule=T11\n",
			"A late failure at 9 s restarted the cooldown, which now ran until 39 s (T11)."},
		"a cancelled call": {"9s result call=7 target=search outcome=cancelled took=9s breaker=search applied=false rule=T16\n",
			"At 9 s one call was cancelled, which tells the breaker nothing (T16)."},
		"retries": {"4s retry call=1 attempt=2 wait=1s rule=L1\n5s retry call=1 attempt=3 wait=1s rule=L1\n6s give_up call=1 rule=L1\n",
			"Failed attempts were made again twice (L1). One call failed for good when its attempts were spent (L1)."},
		"hedges":      {"4s hedge call=1 attempt=2 rule=L8\n", "Once an answer was slow in coming, and another attempt began beside the first (L8)."},
		"how it ends": {"", "When the run ended at 100 s the breaker was still open."},
	} {
		assert.Contains(t, told(t, opening3+x.text+"100s end states={}\n"), x.want, name)
	}
}

// TestKillSwitchInTheStory names the backup that an operator switches, and who
// serves because of that.
func TestKillSwitchInTheStory(t *testing.T) {
	run := trace.RunInfo{Scenario: "x", Breakers: []trace.Breaker{modelBreaker("llm", "opus", "sonnet", "haiku")}, Targets: []trace.Target{upAndDown("opus", seconds(1, 90))}}
	h := historyOf(t, written(t, run, `
2s operate op=set_available breaker=llm name=haiku available=false
3s transition breaker=llm from=primary to=fallback effective=3s rule=M10 failures=3
3s switch breaker=llm from=opus to=sonnet rule=M10
9s operate op=set_available breaker=llm name=sonnet available=false
9s switch breaker=llm from=sonnet to=null rule=M15
9s call call=4 to=llm
9s exhausted call=4 breaker=llm rule=M3
10s end states={}`))
	var b bytes.Buffer
	b.WriteString(plainStory(h))
	for _, want := range []string{
		"An operator switched haiku off at 2 s, for later (M15).",
		"An operator switched sonnet off at 9 s, and nobody was left to serve (M15).",
		"At 9 s one turn ended as exhausted, as nobody was left to serve (M3).",
		"When the run ended at 10 s nobody was left to serve.",
	} {
		assert.Contains(t, b.String(), want)
	}
}

// longRun has a breaker that opens n times a minute apart, each time with so
// many failed probes.
func longRun(t *testing.T, n, failed int) *report.History {
	b := toolBreaker("search")
	h := new(report.History)
	tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
	tell(trace.Event{Kind: trace.Run, Run: &trace.RunInfo{Scenario: "long", Breakers: []trace.Breaker{b}, Targets: []trace.Target{upAndDown("search")}}})
	at := time.Duration(0)
	move := func(from, to, rule string) {
		at += time.Second
		tell(trace.Event{T: at, Kind: trace.Transition, Breaker: "search", From: from, To: to, Effective: at, Rule: rule})
	}
	for range n {
		at += time.Minute
		move("closed", "open", "T3")
		for range failed {
			at += b.Tool.RecoveryDuration
			move("open", "half-open", "T5")
			move("half-open", "open", "T9")
		}
		at += b.Tool.RecoveryDuration
		move("open", "half-open", "T5")
		move("half-open", "closed", "T8")
	}
	tell(trace.Event{T: at + time.Second, Kind: trace.End})
	return h
}

// TestLongStoriesAreSummedUp has the first and the last of many in full, and
// counts what is between.
func TestLongStoriesAreSummedUp(t *testing.T) {
	for _, x := range []struct {
		episodes, failed int
		paragraphs       int
		want             string
	}{
		{1, 2, 2, ""},
		{1, 3, 2, "The next two probes, from 124 s to 157 s, fared no better: both failed (T9)."},
		{1, 12, 2, "The next 11 probes,"},
		{5, 0, 6, ""},
		{40, 0, 6, "it went on like this: the breaker opened 36 times more and let 36 probes through."},
		{40, 1, 6, "the breaker opened 36 times more and let 72 probes through, 36 in vain."},
	} {
		s := longRun(t, x.episodes, x.failed).Story()
		text := ""
		for _, p := range s {
			text += p.String() + "\n"
		}
		assert.Len(t, s, x.paragraphs, text)
		if x.want == "" {
			assert.NotContains(t, text, "The next")
			assert.NotContains(t, text, "like this")
		}
		assert.Contains(t, text, x.want)
		assert.Less(t, strings.Count(text, ". "), 40, "a story stays short")
	}
}

// plainStory is the story as it reads, an empty line between two paragraphs.
func plainStory(h *report.History) string {
	var all []string
	for _, p := range h.Story() {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n\n") + "\n"
}
