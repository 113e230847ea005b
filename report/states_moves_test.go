package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// TestWhatSettingsMakeOfMoves has the causes that are not those of the table, and
// the moves that settings take away or add.
func TestWhatSettingsMakeOfMoves(t *testing.T) {
	tool := func(set func(*trace.Tool)) *trace.Breaker {
		b := &trace.Breaker{Tool: &trace.Tool{FailureThreshold: 3, ProbeTimeout: time.Second}}
		set(b.Tool)
		return b
	}
	model := func(set func(*trace.Model)) *trace.Breaker {
		b := &trace.Breaker{Model: &trace.Model{TripThreshold: 3, ProbationFailures: 2}}
		set(b.Model)
		return b
	}
	const plain, chain = "T3 T5 T7 T8 T9", "M10 M2 M12 M9 M13"
	for name, c := range map[string]struct {
		breaker *trace.Breaker
		moves   string
		causes  []string
	}{
		"a tool":           {tool(func(*trace.Tool) {}), plain, nil},
		"no threshold":     {tool(func(b *trace.Tool) { b.FailureThreshold = 0 }), plain, []string{"T3 never: no threshold"}},
		"the first":        {tool(func(b *trace.Tool) { b.FailureThreshold = 1 }), plain, []string{"T3 a failure"}},
		"not in a row":     {tool(func(b *trace.Tool) { b.SuccessClears = new(bool) }), plain, []string{"T3 enough failures"}},
		"no lease":         {tool(func(b *trace.Tool) { b.ProbeTimeout = 0 }), plain, []string{"T7 never: no lease"}},
		"a window":         {tool(func(b *trace.Tool) { b.FailureThreshold, b.Window, b.FailureRate = 0, &trace.Window{Calls: 9}, 0.5 }), "T5 T7 T8 T9 T21", nil},
		"both":             {tool(func(b *trace.Tool) { b.Window, b.WindowFailures = &trace.Window{Calls: 9}, 5 }), "T3 T5 T7 T8 T9 T21", nil},
		"of slow calls":    {tool(func(b *trace.Tool) { b.FailureThreshold, b.Window, b.SlowRate = 0, &trace.Window{Calls: 9}, 0.5 }), "T5 T7 T8 T9 T22", nil},
		"several in a row": {tool(func(b *trace.Tool) { b.ProbeSuccesses = 3 }), plain, []string{"T8 enough probes succeed"}},
		"a share of them":  {tool(func(b *trace.Tool) { b.ProbeSuccesses, b.ProbeFailureRate = 5, 0.5 }), "T3 T5 T7 T8 T9 T7", []string{"T8 enough probes succeed", "T9 too many probes fail"}},
		"no probe":         {tool(func(b *trace.Tool) { b.Probe = "none" }), "T3 T34", nil},
		"a model":          {model(func(*trace.Model) {}), chain, nil},
		"no limit":         {model(func(b *trace.Model) { b.ProbationFailures = 0 }), chain, []string{"M13 never: no limit"}},
		"the first turn":   {model(func(b *trace.Model) { b.TripThreshold = 1 }), chain, []string{"M10 a failed turn"}},
	} {
		var moves, causes []string
		got := &tally{BreakerHistory: &BreakerHistory{Breaker: c.breaker}, h: new(History)}
		for _, row := range got.moves() {
			moves = append(moves, row.Rule)
			if cause := got.cause(&row); cause != row.Words {
				causes = append(causes, row.Rule+" "+cause)
			}
		}
		assert.Equal(t, c.moves, strings.Join(moves, " "), name)
		assert.Equal(t, c.causes, causes, name)
	}
}

// TestFurtherRulesAreTold plays what shows them: each state tells which rules
// were at work in it.
func TestFurtherRulesAreTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		panel   int
		breaker string
		state   string
		notes   []string
	}{
		{"hands-on", 0, "api", "closed", []string{"1 failure (T3)", "60 s of it by force (T32)", "60 results not counted (T32)", "1 change of settings (T33)"}},
		{"hands-on", 0, "api", "open", []string{"20 refused (T4)", "62 s of it by force (T31)", "62 refused by force (T31)"}},
		{"not-found-trips-the-server", 0, "ignored", "closed", []string{"3 results counted as nothing (T20)"}},
		{"one-lucky-probe", 1, "api", "half-open", []string{"5 further probes (T23)", "5 probes' results, more awaited (T24)"}},
		{"probe-given-back", 1, "search", "half-open", []string{"14 further probes (T23)", "14 cancelled probes' slots free again (T25)"}},
		{"cooldown-doubles", 0, "api", "open", []string{"102 refused (T4)"}},
		{"cooldown-doubles", 1, "api", "open", []string{"186 refused (T4)", "cooldowns of 30 s to 8 min (T27)"}},
		{"cooldown-doubles", 2, "api", "open", []string{"114 refused (T4)", "cooldowns of 30 s to 2 min (T27)"}},
		{"told-when-to-come-back", 2, "api", "open", []string{"33 refused (T4)", "cooldowns of 1 min 15 s to 1 min 30 s (T29)"}},
		{"late-failures-wait", 1, "api", "open", []string{"90 refused (T4)", "39 late failures ignored (T30)"}},
		{"recovery-beside-the-traffic", 1, "lossy", "recovering", []string{"434 turns to backups (M21)"}},
		{"a-last-resort", 1, "llm", "fallback", []string{"4 failed turns (M11)", "55 turns to the last resort (M23)"}},
		{"backups-recover-too", 1, "llm", "fallback", []string{"4 failed turns (M11)", "17 turns exhausted (M3)", "1 backup whole again (M24)"}},
		{"retry-after-an-hour", 2, "llm", "fallback", []string{"cooldowns of 60 min (M27)"}},
	} {
		for _, got := range played(t, c.name)[c.panel].tallies(0, 0) {
			if got.Name == c.breaker {
				assert.Equal(t, c.notes, got.notes(c.state), "%s of %s", c.state, c.name)
			}
		}
	}
	fleet := played(t, "fleet-in-step")[1].tallies(0, 0)
	require.Len(t, fleet, 1)
	assert.Contains(t, fleet[0].notes("open"), "cooldowns of 25.5 s to 34.5 s (T28)", "15 % around 30 s")
	stretch := played(t, "hands-on")[0].tallies(100*time.Second, 130*time.Second)[0]
	assert.Equal(t, []string{"10 s of it by force (T32)", "10 results not counted (T32)"}, stretch.notes("closed"))
}

// TestNoTestNoState: a breaker that closes without a probe is drawn without
// half-open, and with the way back that it has.
func TestNoTestNoState(t *testing.T) {
	f, _ := statesOf(t, Look{}, played(t, "no-probe")...)
	require.Len(t, f.cells, 2)
	var states []string
	for _, b := range f.cells[1].boxes {
		states = append(states, b.state)
	}
	assert.Equal(t, []string{"closed", "open"}, states)
	var labels []string
	for i := range f.cells[1].arrows {
		for _, l := range f.cells[1].arrows[i].label {
			labels = append(labels, l.text)
		}
	}
	assert.Equal(t, []string{"T3 ×5", "failures in a row", "T34 ×5", "cooldown over, a call asks"}, labels)
	assert.Contains(t, f.desc, "T34, open to closed: 5 times.")
	assert.NotContains(t, f.cells[1].t.mermaid(), "half_open")
	assert.Contains(t, f.cells[1].t.mermaid(), "open --> closed : T34 ×5, cooldown over, a call asks")
	assert.Contains(t, f.cells[0].t.mermaid(), "half_open")
}

// TestFurtherMovesShareArrows makes every move of both tables, and draws it: each
// is told on an arrow between its states, and nothing lies on anything else.
func TestFurtherMovesShareArrows(t *testing.T) {
	for _, w := range []float64{leastCell, 660, mostCell} {
		all := toolRun(t).tallies(0, 0)[0]
		for i, row := range toolMachine.moves() {
			all.taken[row] = i + 1
		}
		c := &stateCell{t: all, w: w}
		height := c.layDiagram(0, 4, w, widthsOf([]*tally{all}, w))
		p := &pen{c: newSVG(vg.Length(w*pixel), vg.Length((height+4)*pixel), "", "", "", []*theme{themes["light"]}), height: vg.Length(height+4) * pixel, theme: themes["light"]}
		c.draw(p)
		checkTexts(t, "all moves", &statesFigure{width: w, height: height + 4}, p)
		checkDiagram(t, "all moves", c, p)
		assert.Len(t, c.arrows, 7)
		told := 0
		for i := range c.arrows {
			r := &c.arrows[i]
			for _, row := range r.moves {
				told++
				assert.Equal(t, [2]int{toolMachine.index(row.From), toolMachine.index(row.To)}, [2]int{r.from, r.to})
				assert.Contains(t, r.label, labelLine{fmt.Sprintf("%s ×%d", row.Rule, all.taken[row]), true})
				assert.Contains(t, r.tip(all), "by "+row.Rule+", "+times(all.taken[row]))
			}
		}
		assert.Equal(t, len(toolMachine.moves()), told)
	}
}

// TestPagesShowTheWay: in the diagram of a page, which is of what a breaker can do,
// every move of its run has an arrow to light up.
func TestPagesShowTheWay(t *testing.T) {
	for _, name := range []string{"hands-on", "no-probe", "rate-or-streak", "one-lucky-probe", "backups-recover-too"} {
		for _, h := range played(t, name) {
			for _, b := range h.Breakers {
				svg := string(diagram(h, b, themes["light"]))
				for i := range h.Moments {
					if m := &h.Moments[i]; m.Breaker == b.Name {
						assert.Regexp(t, `data-move="([^"]*, )?`+m.From+" "+m.To+" "+m.Rule+`[",]`, svg, name)
					}
				}
			}
		}
	}
}
