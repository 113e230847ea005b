package machine_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// Where the sequences are documented, as read on 2026-12-03.
const (
	resilience4jDocs = "https://resilience4j.readme.io/docs/circuitbreaker"
	pollyDocs        = "https://www.pollydocs.org/strategies/circuit-breaker"
)

// resilience4j is its defaults: a ring of 100 calls, 50 %, calls of more than a
// minute slow, 10 calls in half-open, a minute of waiting, no lease.
func resilience4j() machine.ToolSettings {
	return machine.ToolSettings{RecoveryDuration: time.Minute,
		Trip:     machine.Trip{Window: machine.Window{Calls: 100}, MinCalls: 100, FailureRate: 0.5, SlowerThan: time.Minute, SlowRate: 1},
		Probing:  machine.Probing{AtOnce: 10, Needed: 10, FailureRate: 0.5, SlowRate: 1, Release: true},
		Cooldown: machine.Cooldown{LateKeep: true}}
}

// polly is its defaults: a tenth of at least 100 calls in 30 s, a break of 5 s.
func polly() machine.ToolSettings {
	return machine.ToolSettings{RecoveryDuration: 5 * s,
		Trip:     machine.Trip{Window: machine.Window{Span: 30 * s}, MinCalls: 100, FailureRate: 0.1},
		Cooldown: machine.Cooldown{LateKeep: true}}
}

// pollyExample is the customised one of its documentation.
func pollyExample() machine.ToolSettings {
	p := polly()
	p.Trip = machine.Trip{Window: machine.Window{Span: 10 * s}, MinCalls: 8, FailureRate: 0.5}
	p.RecoveryDuration = 30 * s
	return p
}

// with changes settings.
func with(p machine.ToolSettings, change func(*machine.ToolSettings)) machine.ToolSettings {
	change(&p)
	return p
}

func ring(size int) func(*machine.ToolSettings) {
	return func(p *machine.ToolSettings) { p.Trip.Window.Calls, p.Trip.MinCalls = size, size }
}

// TestDocumentedSequences plays what the documentation of others says. A script
// is of words: "ok", "fail" and "ignored" are calls that end at once, "slow" one
// that takes 6 s, "ask" one that ends later, first asked first, by "done" or
// "lost"; "5xok" is five. "=open" is what the state must be, "refused" a call that
// is turned away, "+5s" lets time pass, and "force", "disable" and "reset" are an
// operator's.
func TestDocumentedSequences(t *testing.T) {
	for _, c := range []struct {
		name, source, script string
		s                    machine.ToolSettings
	}{
		{"nothing is computed before the minimum number of calls, 100 by default", resilience4jDocs, "99xfail =closed fail =open", resilience4j()},
		{"9 failures of a minimum of 10 do not open it", resilience4jDocs, "9xfail =closed fail =open", with(resilience4j(), ring(10))},
		{"equal to the threshold is enough", resilience4jDocs, "5xok 4xfail =closed fail =open", with(resilience4j(), ring(10))},
		{"less than the threshold is not", resilience4jDocs, "4xfail 6xok =closed", with(resilience4j(), ring(10))},
		{"the oldest of the ring goes out", resilience4jDocs, "4xfail 6xok 4xok =closed 4xfail =closed fail =open", with(resilience4j(), ring(10))},
		{"a window of time forgets", resilience4jDocs, "4xfail +10s 4xfail =closed fail =open", with(resilience4j(), func(p *machine.ToolSettings) {
			p.Trip.Window, p.Trip.MinCalls = machine.Window{Span: 10 * s, Buckets: 10}, 5
		})},
		{"as many slow calls open it, though all succeed", resilience4jDocs, "2xok 2xslow =open", with(resilience4j(), func(p *machine.ToolSettings) {
			ring(4)(p)
			p.Trip.SlowerThan, p.Trip.SlowRate = 5*s, 0.5
		})},
		{"an ignored exception counts neither as success nor as failure", resilience4jDocs, "9xfail 5xignored =closed fail =open", with(resilience4j(), func(p *machine.ToolSettings) {
			ring(10)(p)
			p.Counts.Permanent = machine.AsNothing
		})},
		{"open refuses for the wait, then half-open permits 10 and refuses the 11th until all came back", resilience4jDocs,
			"100xfail =open +59s refused +1s 10xask =half-open refused 9xdone refused =half-open done =closed ok", resilience4j()},
		{"half-open opens again at the threshold, once all came back", resilience4jDocs, "100xfail +60s 10xask 5xlost =half-open 4xdone =half-open done =open refused", resilience4j()},
		{"half-open closes below it", resilience4jDocs, "100xfail +60s 10xask 4xlost 5xdone =half-open done =closed", resilience4j()},
		{"closing begins with an empty window", resilience4jDocs, "100xfail +60s 10xok =closed 99xfail =closed fail =open", resilience4j()},
		{"forced open refuses until it is reset, disabled permits whatever comes", resilience4jDocs, "force refused +1000s refused reset =closed disable 200xfail =closed reset 99xfail =closed fail =open", resilience4j()},
		{"10 failures of 100 break it by default, for 5 s", pollyDocs, "90xok 9xfail =closed fail =open +4999ms refused +1ms ok =closed", polly()},
		{"fewer than the minimum throughput never do", pollyDocs, "99xfail =closed +30s 99xfail =closed", polly()},
		{"half of at least 8 in 10 s", pollyDocs, "4xok 3xfail =closed fail =open", pollyExample()},
		{"what is older than the sampling duration is out", pollyDocs, "7xfail +10s fail =closed 6xfail =closed fail =open", pollyExample()},
		{"one probe, and everybody else is refused until it came back", pollyDocs, "8xfail +30s ask =half-open refused done =closed ok", pollyExample()},
		{"a probe that fails breaks it for another break duration", pollyDocs, "8xfail +30s fail =open +29s refused +1s ok =closed", pollyExample()},
		{"isolated is held open until it is closed by hand", pollyDocs, "force +1000s refused =open reset ok =closed", pollyExample()},
	} {
		t.Run(c.name, func(t *testing.T) { followScript(t, c.s, c.script) })
	}
}

func followScript(t *testing.T, settings machine.ToolSettings, script string) {
	b, err := machine.NewToolBreaker(settings, machine.Hooks{})
	require.NoError(t, err)
	now := time.Duration(0)
	var out []*machine.Permit
	end := func(e machine.Ending) {
		out[0].End(now, e)
		out = out[1:]
	}
	do := map[string]func(){
		"ask": func() {
			p, err := b.Allow(now)
			require.NoError(t, err, "at %v", now)
			out = append(out, &p)
		},
		"done":    func() { end(machine.Ending{OK: true}) },
		"lost":    func() { end(machine.Ending{}) },
		"refused": func() { _, err := b.Allow(now); require.Error(t, err, "at %v", now) },
		"force":   func() { b.ForceOpen(now) },
		"disable": func() { b.ForceClosed(now) },
		"reset":   func() { b.Reset(now) },
	}
	do["ok"] = func() { do["ask"](); do["done"]() }
	do["fail"] = func() { do["ask"](); do["lost"]() }
	do["ignored"] = func() { do["ask"](); end(machine.Ending{Kind: machine.Permanent}) }
	do["slow"] = func() { do["ask"](); now += 6 * s; do["done"]() }
	for i, word := range strings.Fields(script) {
		if state, ok := strings.CutPrefix(word, "="); ok {
			assert.Equal(t, state, b.Snapshot(now).State.String(), "word %d of %s", i+1, script)
			continue
		}
		if wait, ok := strings.CutPrefix(word, "+"); ok {
			d, err := time.ParseDuration(wait)
			require.NoError(t, err)
			now += d
			continue
		}
		times := 1
		if n, rest, ok := strings.Cut(word, "x"); ok {
			var err error
			times, err = strconv.Atoi(n)
			require.NoError(t, err)
			word = rest
		}
		require.Contains(t, do, word)
		for range times {
			do[word]()
		}
	}
}
