package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/sim/trace"
)

func TestMermaid(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteMermaid(&b, toolRun(t), "b"))
	assert.Equal(t, `---
title: "b (tool breaker), policy breaker"
---
stateDiagram-v2
    state "closed<br/>29 s of 120 s<br/>3 failures (T3)" as closed
    state "open<br/>60 s of 120 s<br/>2 refused (T4)<br/>1 late success ignored (T10)" as open
    state "half-open<br/>31 s of 120 s<br/>1 refused (T6)<br/>1 stale result ignored (T13)" as half_open
    [*] --> closed
    closed --> open : T3 ×1, failures in a row
    open --> half_open : T5 ×2, cooldown over, a call asks
    half_open --> open : T7 ×1, the lease runs out
    half_open --> closed : T8 ×1, the probe succeeds
    half_open --> open : T9 ×0, the probe fails
    closed --> [*]
    classDef closed_look fill:#bfe3d3,stroke:#2e8b68,color:#0b4a33
    class closed closed_look
    classDef open_look fill:#b5361c,stroke:#7d1f0c,color:#ffffff
    class open open_look
    classDef half_open_look fill:#ffe08a,stroke:#a87900,color:#4d3800
    class half_open half_open_look
`, b.String())
}

func TestMermaidOfNoSuchBreaker(t *testing.T) {
	var b bytes.Buffer
	h := world{title: "Two", policy: "breaker", end: time.Minute, targets: 2, tools: 2}.history(t)
	assert.EqualError(t, WriteMermaid(&b, h, "search"), `there is no breaker "search"; write one of breaker0, breaker1`)
	none := world{title: "None", policy: "plain", end: time.Minute}.history(t)
	assert.EqualError(t, WriteMermaid(&b, none, "search"), "there are no breakers in this run, so none has states to draw")
	assert.Empty(t, b.String())
}

// mermaidLines are all that stands below the title, in Mermaid's own grammar.
var mermaidLines = regexp.MustCompile(`^    (?:` +
	`state "(?:[^"#;:<>{}%\\\x60]|#\d+;|<br/>)+" as \w+` +
	`|(?:\[\*\]|\w+) --> (?:\[\*\]|\w+)(?: : (?:[^"#;:<>{}%\\\x60]|#\d+;)+)?` +
	`|classDef \w+ (?:fill|stroke|color):#[0-9a-f]{6}(?:,(?:fill|stroke|color):#[0-9a-f]{6})*` +
	`|class \w+ \w+)$`)

// TestMermaidTakesNoNameForSyntax has models whose names would end a label, a
// line or the diagram.
func TestMermaidTakesNoNameForSyntax(t *testing.T) {
	names := []string{`"] --> x`, "a;b", "%% no", "end", "<script>", "}\nstate x", "#35;", `\"`, "---", "日本", "\x00\x1b\xff", "[*] --> [*]: `x`", "note left of x", "a:b"}
	for _, name := range names {
		info := &trace.RunInfo{Policy: name, Breakers: []trace.Breaker{{Name: name, Kind: "model", Model: &trace.Model{Primary: "p", Chain: []trace.Backup{{Name: name}}}}}}
		h := recorded(t, info,
			trace.Event{T: 1, Kind: trace.Transition, Breaker: name, From: "primary", To: "fallback", Rule: "M10", Effective: 1}, trace.Event{T: 1, Kind: trace.Switch, Breaker: name, From: "p", To: name, Rule: "M10"},
			trace.Event{T: 30, Kind: trace.End})
		var b bytes.Buffer
		require.NoError(t, WriteMermaid(&b, h, name))
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		require.Len(t, lines, 4+3+1+5+1+6, "%q", name)
		assert.Regexp(t, `^title: "([^"\\]|\\.)*"$`, lines[1])
		for _, line := range lines[4:] {
			assert.Regexp(t, mermaidLines, line, "%q", name)
		}
	}
}
