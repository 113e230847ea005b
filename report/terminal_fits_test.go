package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/sim/trace"
)

// hostile is text as nobody should write it into a scenario, or into a trace.
var hostile = rapid.SampledFrom([]string{"search", "a-name-that-is-far-too-long-for-any-margin-at-all", "遮断器-遮断器-遮断器", "e\u0301e\u0301", "👩‍👩‍👧", "\x1b[31mred\x1b[0m",
	"\x1b]0;title\a", "\u202eright to left\u202c", "two\nlines", "\r", "a\tb", "\xff\xfe", "\u009b31m", "→ … ≥ µ – ×", "Größe", "", " "})

// playWorld is a run made up of anything: names, times, states and outcomes.
func playWorld(t *rapid.T) *History {
	name := func(kind string, i int) string { return fmt.Sprintf("%s%s%d", hostile.Draw(t, kind), kind, i) }
	end := time.Duration(rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "end"))
	info := &trace.RunInfo{Policy: hostile.Draw(t, "policy"), PolicyAbout: strings.Repeat(hostile.Draw(t, "about")+" ", rapid.IntRange(0, 30).Draw(t, "times"))}
	for i := range rapid.IntRange(1, 3).Draw(t, "targets") {
		info.Targets = append(info.Targets, trace.Target{Name: name("t", i), Segments: []trace.Segment{{Success: 1}, {At: end / 3, Outcome: hostile.Draw(t, "outcome")}, {At: end / 2, Success: 0.5, Outcome: hostile.Draw(t, "outcome")}}})
		tool := trace.Breaker{Name: name("b", i), Tool: &trace.Tool{Guards: info.Targets[i].Name, RecoveryDuration: end / 20}}
		model := trace.Breaker{Name: name("m", i), Model: &trace.Model{Primary: info.Targets[i].Name, Chain: []trace.Backup{{Name: "backup"}}}}
		info.Breakers = append(info.Breakers, tool, model)
	}
	h := new(History)
	tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
	tell(trace.Event{Kind: trace.Run, Run: info})
	n := rapid.IntRange(0, 200).Draw(t, "events")
	often := rapid.IntRange(1, 20).Draw(t, "often") // a transition each so many events
	for k := range n {
		at := time.Duration(float64(end) / float64(n) * float64(k))
		b := &info.Breakers[k%len(info.Breakers)]
		target := info.Targets[k%len(info.Targets)].Name
		tell(trace.Event{T: at, Kind: trace.Call, Call: k + 1, Attempt: 1, To: target, Target: target})
		tell(trace.Event{T: at, Kind: trace.Result, Call: k + 1, Attempt: 1, Target: target, Breaker: b.Name, Applied: k%5 > 0, Rule: "T13",
			Outcome: rapid.SampledFrom([]string{trace.Success, trace.Failure, trace.RateLimit, trace.Cancelled}).Draw(t, "outcome")})
		if k%often > 0 {
			continue
		}
		if b.Tool != nil {
			tell(trace.Event{T: at, Kind: trace.Transition, Breaker: b.Name, From: "closed", To: []string{"open", "half-open", "closed"}[k/often%3], Effective: at, Rule: []string{"T3", "T7", "T8"}[k/often%3], Call: k + 1})
			tell(trace.Event{T: at, Kind: trace.Reroute, Call: k + 1, Breaker: b.Name, From: target, To: info.Targets[0].Name, Rule: "H7"})
		} else {
			tell(trace.Event{T: at, Kind: trace.Transition, Breaker: b.Name, From: "primary", To: []string{"fallback", "recovering", "primary"}[k/often%3], Effective: at, Rule: "M10", Call: k + 1})
			tell(trace.Event{T: at, Kind: trace.Switch, Breaker: b.Name, To: []string{"backup", "", hostile.Draw(t, "serves")}[k%3], Rule: "M11"})
		}
		tell(trace.Event{T: at, Kind: trace.Health, Breaker: b.Name, Target: target, Score: float64(k%11) / 10})
	}
	tell(trace.Event{T: end, Kind: trace.End})
	return h
}

// printed is all that a run prints of the panels.
func printed(t require.TestingT, panels []*History, o TerminalOptions) string {
	var b bytes.Buffer
	var rows []Row
	for _, h := range panels {
		rows = append(rows, Row{Policy: h.Run.Policy, Cost: Cost{WaitTotal: 123 * time.Microsecond}})
	}
	require.NoError(t, WriteTitle(&b, panels[0].Run.PolicyAbout, o))
	require.NoError(t, WriteTerminal(&b, panels, o))
	require.NoError(t, WriteMoments(&b, panels, o))
	require.NoError(t, WriteTable(&b, rows, o))
	return b.String()
}

var (
	sgr    = regexp.MustCompile("\x1b\\[(0|1|3[1-6]|90)m")
	actsOn = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
)

// TestTerminalIsSafeInAnyWorld: no line is wider than the terminal, nothing acts
// on it but our own colours, which add nothing, and ASCII is ASCII.
func TestTerminalIsSafeInAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var panels []*History
		for range rapid.IntRange(1, 3).Draw(t, "panels") {
			panels = append(panels, playWorld(t))
		}
		o := TerminalOptions{Width: rapid.IntRange(40, 200).Draw(t, "width"), ASCII: rapid.Bool().Draw(t, "ascii")}
		plain := printed(t, panels, o)
		for line := range strings.Lines(plain) {
			assert.LessOrEqual(t, displaywidth.String(strings.TrimSuffix(line, "\n")), o.Width, line)
		}
		assert.NotRegexp(t, actsOn, plain)
		if o.ASCII {
			assert.NotRegexp(t, `[^\n -~]`, plain)
		}
		o.Color = true
		assert.Equal(t, plain, sgr.ReplaceAllString(printed(t, panels, o), ""))
	})
}

// TestTerminalNumbersAreTold: the numbers in the lanes are those of the list.
func TestTerminalNumbersAreTold(t *testing.T) {
	number := regexp.MustCompile(`[0-9]+`)
	rapid.Check(t, func(t *rapid.T) {
		panels := []*History{playWorld(t), playWorld(t)}
		o := TerminalOptions{Width: rapid.IntRange(40, 200).Draw(t, "width")}
		moments, _ := keyMoments(panels, anyTime)
		want := 0
		for _, m := range moments {
			want = max(want, m.n)
		}
		var b bytes.Buffer
		require.NoError(t, WriteTerminal(&b, panels, o))
		marked := map[int]bool{}
		for _, row := range regexp.MustCompile(`(?m)^moments +(.*)$`).FindAllStringSubmatch(b.String(), -1) {
			for _, tag := range regexp.MustCompile(`[0-9]+(-[0-9]+)?`).FindAllString(row[1], -1) {
				var from, to int
				ends := number.FindAllString(tag, -1)
				_, err := fmt.Sscan(ends[0]+" "+ends[len(ends)-1], &from, &to)
				require.NoError(t, err)
				for n := from; n <= to; n++ {
					assert.False(t, marked[n], "%d is marked twice", n)
					marked[n] = true
				}
			}
		}
		assert.Len(t, marked, want)
		b.Reset()
		require.NoError(t, WriteMoments(&b, panels, o))
		for n := 1; n <= want; n++ {
			assert.True(t, marked[n], n)
			assert.Regexp(t, fmt.Sprintf(`(?m)^ *%d  `, n), b.String())
		}
	})
}

// TestTags are as short as they can be.
func TestTags(t *testing.T) {
	for want, numbers := range map[string][]int{"4": {4}, "4,5": {4, 5}, "4-6": {4, 5, 6}, "2,4": {2, 4}, "1-3,7,9,10": {1, 2, 3, 7, 9, 10}, "▾": {0, 0}, "3": {0, 3}, "3,4": {3, 0, 4}} {
		assert.Equal(t, want, (&tag{numbers: numbers}).text("▾"), numbers)
	}
}

// TestText keeps the room that it takes, but for our own signs.
func TestText(t *testing.T) {
	for s, want := range map[string][2]string{
		"plain":         {"plain", "plain"},
		"\x1b[31mred":   {"?[31mred", "?[31mred"},
		"遮断器":           {"遮断器", "??????"},
		"e\u0301":       {"e\u0301", "?"},
		"a → b … 1 µs":  {"a → b … 1 µs", "a -> b ... 1 us"},
		"a\nb\tc":       {"a b c", "a b c"},
		"\u202eevil":    {"?evil", "?evil"},
		"\xff":          {"?", "?"},
		"\u009b31mevil": {"?31mevil", "?31mevil"},
	} {
		assert.Equal(t, want[0], (&TerminalOptions{}).Text(s))
		assert.Equal(t, want[1], (&TerminalOptions{ASCII: true}).Text(s))
	}
}

// TestWrap breaks at blanks, and within a word only if it must.
func TestWrap(t *testing.T) {
	for s, want := range map[string][]string{
		"":                       {""},
		"one two  three":         {"one two", "three"},
		"exactly8":               {"exactly8"},
		"a much-longer-word end": {"a", "much-lon", "ger-word", "end"},
		"遮断器遮断器":                 {"遮断器遮", "断器"},
		"ends 80 s late 9 seven": {"ends", "80 s", "late 9", "seven"},
	} {
		assert.Equal(t, want, wrap(s, 8), s)
	}
	assert.Equal(t, []string{"  head: one", "        two"}, hang("  head: ", "one two", 13))
}
