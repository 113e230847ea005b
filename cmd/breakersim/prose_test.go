package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// slow are scenarios that take long to play, and whose stories have nothing that
// the others' have not.
var slow = map[string]bool{"two-second-pause": true, "morning-ramp": true, "cold-start": true, "metastable-collapse": true, "six-days-half-open": true}

var (
	figures = regexp.MustCompile(`[0-9][0-9,.]*`)
	clumsy  = regexp.MustCompile(`  |,,|\.\.| \.| ,|\b1 (calls|turns|probes)\b|\bone (calls|turns|probes|late results)\b|\bcall 0\b|\b(the the|to to|and and|was was|were were|of of)\b|[[:cntrl:]]`)
	ruled   = regexp.MustCompile(`\((T|M|H|L)[0-9]+(, (T|M)[0-9]+)?\)`)
)

// TestStoriesAreProse reads the stories of the library: every sentence is one,
// nothing is said thrice in a row, and the stories stay short.
func TestStoriesAreProse(t *testing.T) {
	for _, s := range library(t) {
		if slow[s.Name] {
			continue
		}
		for i := range s.Policies {
			p := &s.Policies[i]
			t.Run(s.Name+"/"+p.Name, func(t *testing.T) {
				story := storyOf(t, s, p)
				require.NotEmpty(t, story)
				words, rules := 0, 0
				for _, paragraph := range story {
					assert.NotEmpty(t, paragraph)
					before := [2]string{}
					for _, sentence := range strings.SplitAfter(paragraph.String(), ". ") {
						sentence = strings.TrimSpace(sentence)
						assert.Regexp(t, `^\p{Lu}.*[.)]$`, sentence, "a sentence")
						assert.NotRegexp(t, clumsy, sentence)
						shape := figures.ReplaceAllString(sentence, "#")
						assert.False(t, shape == before[0] && shape == before[1], "thrice in a row: %s", sentence)
						before = [2]string{before[1], shape}
						words += len(strings.Fields(sentence))
						rules += len(ruled.FindAllString(sentence, -1))
					}
				}
				assert.Less(t, words, 1500)
				if len(p.Breakers) > 0 && changes(t, story) {
					assert.NotZero(t, rules, "what changed has its rule")
				}
			})
		}
	}
}

// changes says whether a breaker of the story did anything.
func changes(t *testing.T, story report.Story) bool {
	t.Helper()
	for _, p := range story {
		if strings.Contains(p.String(), "opened") || strings.Contains(p.String(), "fell back") {
			return true
		}
	}
	return false
}

func storyOf(t *testing.T, s *scenarios.Scenario, p *scenarios.Policy) report.Story {
	t.Helper()
	h := new(report.History)
	_, err := replay.Run(s, p, replay.Options{Sinks: []trace.Sink{h}})
	require.NoError(t, err)
	return h.Story()
}
