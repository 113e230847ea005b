package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// playedText is a scenario of its own under all of its policies.
func playedText(t testing.TB, text string) (panels []*History) {
	t.Helper()
	s, err := scenarios.Load("made-up.yaml", []byte(text), scenarios.DefaultLimits())
	require.NoError(t, err)
	for i := range s.Policies {
		h := new(History)
		playInto(t, s, i, h)
		panels = append(panels, h)
	}
	return panels
}

func playInto(t testing.TB, s *scenarios.Scenario, policy int, sink trace.Sink) {
	t.Helper()
	_, err := replay.Run(s, &s.Policies[policy], replay.Options{Sinks: []trace.Sink{sink}})
	require.NoError(t, err)
}

// inHand is a breaker, or one for each of so many callers, that an operator forces
// open, closed, and sets otherwise.
func inHand(per string) string {
	return `
scenario: made-up
duration: 4m
breakers:
  api: {kind: tool` + per + `}
targets:
  api:
    latency: 100ms
calls:
  - {at: 28s, force_open: api}
  - {at: 90s, reset: api}
  - {at: 120s, force_closed: api}
  - {at: 180s, reset: api}
  - {at: 181s, configure: {breaker: api, failure_threshold: 1, recovery_duration: 10s}}
  - {at: 200s, force_open: api}
`
}

const hands = inHandCallers + "  - {name: user, to: api, every: 1s}\n"

const inHandCallers = "callers:\n"

// TestWhatIsForcedIsDrawnAsForced, in every theme and in the terminal: by a pattern
// or a sign, by its name, until when, and in the legend; and so are the instants
// at which an operator did something that changed no state.
func TestWhatIsForcedIsDrawnAsForced(t *testing.T) {
	panels := playedText(t, inHand("")+hands)
	for _, theme := range ThemeNames {
		f, p := drawn(t, Look{Theme: theme}, panels...)
		var texts []string
		for _, w := range p.texts {
			texts = append(texts, w.text)
		}
		assert.Subset(t, texts, []string{"forced open", "forced closed", "forced open until 90 s (T31)", "reset by hand (T15)", "forced closed until 180 s (T32)", "new settings (T33)", "forced open (T31)",
			"28 s: closed → open, T31: an operator forced it open, until 90 s", "90 s: open → closed, T15: an operator reset the breaker, forced open until then",
			"120 s: still closed, T32: an operator forced it closed, until 180 s", "180 s: still closed, T15: an operator reset the breaker, forced closed until then",
			"181 s: still closed, T33: an operator changed the settings (opens after 1 failure, cooldown 10 s)", "200 s: closed → open, T31: an operator forced it open",
			"\tfrom 181 s on by hand: opens after 1 failure, cooldown 10 s"[1:], "an operator's doing",
			"forced open: calls are refused, and nobody probes", "forced closed: calls pass, whatever comes of them"}, theme)
		_, _, desc := f.words()
		assert.Contains(t, desc, "api is closed to 28 s, forced open to 90 s, closed to 120 s, forced closed to 180 s, closed to 200 s, forced open to 240 s.")
	}
	var b bytes.Buffer
	require.NoError(t, pictured(t, "timeline", Look{}, panels...).WriteSVG(&b))
	for _, state := range []string{"open", "closed"} {
		band := regexp.MustCompile(`(?s)<g><title>api: forced ` + state + ` from [^<]*</title>.*?</g>`).FindString(b.String())
		assert.Regexp(t, `class="s-`+state+`-ink"`, band, "a pattern lies on it")
		plain := regexp.MustCompile(`(?s)<g><title>api: closed from [^<]*</title>.*?</g>`).FindString(b.String())
		assert.NotContains(t, plain, `class="s-closed-ink"`)
	}
	for ascii, want := range map[bool][]string{
		false: {"╬╬╬╬ forced open ╬╬╬╬", "┼┼┼┼ forced closed ┼┼┼┼", "┼ forced closed by an operator", "╬ forced open by an operator", "(closed)", "T32: an operator forced it closed, until 180 s"},
		true:  {"FFFF forced open FFFF", "ffff forced closed ffff", "f forced closed by an operator", "F forced open by an operator"},
	} {
		for _, width := range []int{100, 120} {
			text := terminalOf(t, TerminalOptions{Width: width, ASCII: ascii}, panels...)
			for _, words := range want {
				assert.Contains(t, text, words, "%d", width)
			}
		}
	}
}

// terminalOf is what the terminal shows of the panels.
func terminalOf(t testing.TB, o TerminalOptions, panels ...*History) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteTerminal(&b, panels, o))
	require.NoError(t, WriteMoments(&b, panels, o))
	return b.String()
}

// TestFleetsInHand are few breakers, of which each is drawn as forced, or many, of
// which the shares are.
func TestFleetsInHand(t *testing.T) {
	few := playedText(t, inHand(", per: caller")+inHandCallers+"  - {name: user, to: api, every: 1s, count: 3}\n")
	_, p := drawn(t, Look{}, few...)
	n := 0
	for _, w := range p.texts {
		if w.text == "forced closed" {
			n++
		}
	}
	assert.Equal(t, 3, n)

	many := playedText(t, inHand(", per: caller")+inHandCallers+"  - {name: user, to: api, every: 1s, count: 9}\n")
	_, p = drawn(t, Look{}, many...)
	var texts []string
	for _, w := range p.texts {
		texts = append(texts, w.text)
	}
	words := strings.Join(texts, " | ")
	assert.Contains(t, words, "forced open: calls are refused, and nobody probes")
	assert.Contains(t, words, "forces them closed at 120 s (T32)")
	assert.Contains(t, words, "from 181 s on by hand: opens after 1 failure, cooldown 10 s")
	assert.Contains(t, terminalOf(t, TerminalOptions{}, many...), "┼ forced closed ┼")
}

// TestLeasesBesideEachOther never lie on each other, and each that has no room is
// counted.
func TestLeasesBesideEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var leases []Lease
		at := time.Duration(0)
		for range rapid.IntRange(0, 20).Draw(t, "leases") {
			at += time.Duration(rapid.IntRange(0, 5).Draw(t, "after")) * time.Second
			leases = append(leases, Lease{From: at, To: at + time.Duration(rapid.IntRange(1, 12).Draw(t, "for"))*time.Second})
		}
		rows, n := leaseRows(leases)
		require.Len(t, rows, len(leases))
		assert.LessOrEqual(t, n, mostLeaseRows)
		for i, l := range leases {
			running := 0
			for k, o := range leases[:i] {
				if o.To > l.From {
					running++
					assert.False(t, rows[i] == rows[k] && rows[i] < n, "%v lies on %v", l, o)
				}
			}
			assert.False(t, running < mostLeaseRows && rows[i] >= n, "%v has room", l)
		}
	})
}

// severalProbes go out every 2 s and take 8 s each.
const severalProbes = `
scenario: made-up
duration: 4m
breakers:
  api: {kind: tool, probes: 20, probe_successes: 12, probe_timeout: 20s, recovery_duration: 20s}
targets:
  api:
    latency: 8s
    phases:
      - {at: 30s, for: 30s, outcome: failure}
      - {at: 60s, for: 60s, latency: 16s}
callers:
  - {name: user, to: api, rate: 0.5/s, until: 235s}
`

// TestBracketsOfSeveralProbes stand above each other, and what has no room is told.
func TestBracketsOfSeveralProbes(t *testing.T) {
	panels := playedText(t, severalProbes)
	f, p := drawn(t, Look{}, panels...)
	g := f.panels[0].groups[0]
	require.True(t, g.brackets)
	assert.Equal(t, mostLeaseRows, g.leaseRows)
	assert.Greater(t, g.band, g.lease+float64(g.leaseRows-1)*leaseStep+leaseHeight-2, "the band is below all of them")
	var texts []string
	for _, w := range p.texts {
		texts = append(texts, w.text)
	}
	words := strings.Join(texts, " | ")
	assert.Regexp(t, `api: \d+ leases have no bracket, as 4 run already`, words)
	assert.Contains(t, words, "half-open: one probe, or several")
	assert.Contains(t, words, "a probe's lease")
}

// TestAModelBreakersProbesHaveLeases where their number is bounded: one that is
// lost has its place until the lease runs out, or for good.
func TestAModelBreakersProbesHaveLeases(t *testing.T) {
	const s = time.Second
	for settings, want := range map[string][]Lease{
		"":                                nil,
		"probes: 1, probe_timeout: 20s, ": {{Call: 21, From: 20 * s, To: 40 * s, RanOut: true, ends: 40 * s, limited: true}, {Call: 41, From: 40 * s, To: 40 * s, ends: 60 * s, limited: true}},
		"probes: 1, ":                     {{Call: 21, From: 20 * s, To: 60 * s, ends: 20 * s}},
	} {
		h := playedText(t, `
scenario: made-up
duration: 1m
breakers:
  llm: {kind: model, `+settings+`primary: opus, chain: [sonnet], trip_threshold: 1, recovery_timeout: 10s, recovery_successes_needed: 1}
targets:
  opus:
    phases:
      - {at: 10s, for: 9s, outcome: failure}
      - {at: 20s, for: 1s, outcome: vanish}
  sonnet: {latency: 100ms}
callers:
  - {name: user, to: llm, rate: 1/s}
`)[0]
		assert.Equal(t, want, h.Breakers[0].Leases, settings)
		f, _ := drawn(t, Look{}, h)
		assert.Equal(t, strings.Contains(settings, "probe_timeout"), f.panels[0].groups[0].brackets, settings)
	}
}

// TestRamps are drawn as long as they last: until all are let in, the breaker
// opens, or an operator comes.
func TestRamps(t *testing.T) {
	const s = time.Second
	ramped := func(ops string) *History {
		return playedText(t, `
scenario: made-up
duration: 2m
breakers:
  api: {kind: tool, failure_threshold: 1, recovery_duration: 10s, ramp: 40s, ramp_from: 10%}
targets:
  api:
    latency: 100ms
    phases:
      - {at: 10s, for: 5s, outcome: failure}
callers:
  - {name: user, to: api, rate: 10/s}
`+ops)[0]
	}
	closed := 20200 * time.Millisecond
	for name, c := range map[string]struct {
		ops  string
		want []trace.Span
		last float64 // the share at its end
	}{
		"to its end":   {"", []trace.Span{{From: closed, To: closed + 40*s}}, 1},
		"reset":        {"calls: [{at: 30200ms, reset: api}]", []trace.Span{{From: closed, To: closed + 10*s}}, 0.325},
		"forced":       {"calls: [{at: 40200ms, force_closed: api}]", []trace.Span{{From: closed, To: closed + 20*s}}, 0.55},
		"forced open":  {"calls: [{at: 40200ms, force_open: api}]", []trace.Span{{From: closed, To: closed + 20*s}}, 0.55},
		"longer":       {"calls: [{at: 40200ms, configure: {breaker: api, ramp: 80s}}]", []trace.Span{{From: closed, To: closed + 20*s}, {From: closed + 20*s, To: closed + 80*s}}, 1},
		"over at once": {"calls: [{at: 40200ms, configure: {breaker: api, ramp: 20s}}]", []trace.Span{{From: closed, To: closed + 20*s}}, 0.55},
	} {
		b := ramped(c.ops).Breakers[0]
		var spans []trace.Span
		for _, r := range b.Ramps {
			spans = append(spans, r.Span)
		}
		assert.Equal(t, c.want, spans, name)
		last := b.Ramps[len(b.Ramps)-1]
		assert.InDelta(t, c.last, last.share(last.To), 1e-9, name)
	}

	h := ramped("")
	f, p := drawn(t, Look{}, h)
	var texts []string
	for _, w := range p.texts {
		texts = append(texts, w.text)
	}
	assert.Subset(t, texts, []string{"closed: ramp from 10 %", "ramp: the share of calls that is still refused", "probe succeeds: closes with a ramp (T8, T26)"})
	assert.Contains(t, strings.Join(texts, " "), "from 10 % of the calls at first it comes to let in all within 40 s (T26)")
	_, _, desc := f.words()
	assert.Regexp(t, `closed with a ramp to 60\.2 s, closed to 120 s\. Its ramp refuses \d+ calls\.`, desc)
	assert.Equal(t, "T26: 10 s after it closed it lets in 32 % of the calls, and all from 60.2 s on", h.Breakers[0].refusal(&Mark{Rule: "T26", At: closed + 10*s}, h.End))
	for _, o := range []TerminalOptions{{}, {ASCII: true}} {
		text := terminalOf(t, o, h)
		line := regexp.MustCompile(`(?m)^breaker .*$`).FindString(text)
		before := -1
		for _, c := range line[strings.LastIndex(line, " ramp ")+6:] {
			level := strings.Index(strings.Join(o.signs().levels, ""), string(c))
			if string(c) == o.glyph(glyphClosed) {
				break
			}
			assert.GreaterOrEqual(t, level, before, line)
			before = level
		}
		assert.Positive(t, before)
		assert.Contains(t, text, "closed, and lets in a growing share of the calls")
	}
}
