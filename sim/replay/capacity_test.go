package replay_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// want is one call of the property test: it comes at a second, is so much work,
// and its caller waits so long, or for ever.
type want struct{ at, work, patience int }

const forEver = 1 << 30

// TestCapacityIsJudged holds the queue against a dumb one that goes from second
// to second and looks at everything in each.
func TestCapacityIsJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers, room := rapid.IntRange(1, 3).Draw(t, "servers"), rapid.IntRange(0, 4).Draw(t, "room")
		cancel := rapid.Bool().Draw(t, "cancel")
		work := rapid.IntRange(1, 9).Draw(t, "work") // of made calls
		src := fmt.Sprintf("scenario: x\nduration: 300s\ntargets:\n  q: {latency: %ds, capacity: {servers: %d, queue: %d, cancel_on_timeout: %v}}\n", work, servers, room, cancel)
		var scripted, made []want
		script, callers := "calls:\n  - {at: 299s, to: q, takes: 0s}\n", ""
		for range rapid.IntRange(0, 8).Draw(t, "scripted") {
			w := want{rapid.IntRange(0, 30).Draw(t, "at"), rapid.IntRange(1, 9).Draw(t, "takes"), forEver}
			scripted = append(scripted, w)
			script += fmt.Sprintf("  - {at: %ds, to: q, takes: %ds}\n", w.at, w.work)
		}
		for range rapid.IntRange(0, 12).Draw(t, "made") {
			w := want{rapid.IntRange(0, 30).Draw(t, "start"), work, rapid.IntRange(1, 15).Draw(t, "timeout")}
			made = append(made, w)
			callers += fmt.Sprintf("  - {to: q, start: %ds, timeout: %ds}\n", w.at, w.patience)
		}
		if callers != "" {
			callers = "callers:\n" + callers
		}
		s, err := scenarios.Load("test.yaml", []byte(src+script+callers), scenarios.DefaultLimits())
		require.NoError(t, err)
		var l trace.List
		_, err = replay.Run(s, &s.Policies[0], replay.Options{Sinks: []trace.Sink{&l, new(trace.Validator)}})
		require.NoError(t, err)
		var got []string
		for _, e := range l {
			if e.Kind == trace.Result && e.T < 299*time.Second {
				got = append(got, fmt.Sprintf("call %d: %s at %d", e.Call, e.Outcome, e.T/time.Second))
			}
		}
		slices.Sort(got)
		assert.Equal(t, dumbQueue(servers, room, cancel, scripted, made), got)
	})
}

// dumbQueue says how each call ends. Calls are numbered as they come.
func dumbQueue(servers, room int, cancel bool, scripted, made []want) (ends []string) {
	type call struct {
		want
		id, done int
		over     bool
	}
	var all, busy, queue []*call
	begin := func(c *call, now int) {
		c.done = now + c.work
		busy = append(busy, c)
	}
	next := func(now int) {
		for len(busy) < servers && len(queue) > 0 {
			c := queue[0]
			queue = queue[1:]
			begin(c, now)
		}
	}
	remove := func(list []*call, c *call) []*call {
		return slices.DeleteFunc(slices.Clone(list), func(o *call) bool { return o == c })
	}
	end := func(c *call, how string, now int) {
		c.over = true
		ends = append(ends, fmt.Sprintf("call %d: %s at %d", c.id, how, now))
	}
	for now := range 299 {
		for _, c := range all { // ends, in the order of starts
			switch {
			case c.over:
			case c.done == now:
				end(c, "success", now)
			case now == c.at+c.patience:
				end(c, "timeout", now)
				if cancel {
					busy, queue = remove(busy, c), remove(queue, c)
					next(now)
				}
			}
		}
		for _, c := range slices.Clone(busy) { // servers are done
			if c.done == now {
				busy = remove(busy, c)
				next(now)
			}
		}
		for _, w := range slices.Concat(scripted, made) { // and others come
			if w.at != now {
				continue
			}
			c := &call{want: w, id: len(all) + 1, done: -1}
			all = append(all, c)
			switch {
			case len(busy) < servers:
				begin(c, now)
			case len(queue) < room:
				queue = append(queue, c)
			default:
				end(c, "failure", now)
			}
		}
	}
	slices.Sort(ends)
	return ends
}

// TestWhoLeftTheQueueTakesNoMemory plays ten times as many calls that give up
// behind one that hangs.
func TestWhoLeftTheQueueTakesNoMemory(t *testing.T) {
	allocated := func(until time.Duration) float64 {
		s := load(t, fmt.Sprintf(`
scenario: a
targets: {x: {latency: 1h, capacity: {servers: 1, cancel_on_timeout: true}}}
calls: [{at: 0s, to: x}]
callers: [{to: x, rate: 1000/s, timeout: 10ms, start: 1s, until: %s}]
`, until))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := replay.Run(s, &s.Policies[0], replay.Options{})
		require.NoError(t, err)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	few, many := allocated(20*time.Second), allocated(200*time.Second)
	assert.Less(t, many-few, 1e6, "bytes for 180,000 more calls")
}
