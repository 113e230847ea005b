package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/scenarios"
)

func TestSettings(t *testing.T) {
	for text, want := range map[string][]assignment{
		"a.b=1":                        {{"a.b", "1"}},
		"a=1, b.c=2":                   {{"a", "1"}, {"b.c", "2"}},
		"a=[1, 2],b={x: 1, y: 2}":      {{"a", "[1, 2]"}, {"b", "{x: 1, y: 2}"}},
		"a=[{x: '],'}, 2],b=1":         {{"a", "[{x: '],'}, 2]"}, {"b", "1"}},
		`a="one, two",b='three, four'`: {{"a", `"one, two"`}, {"b", "'three, four'"}},
		"a=it isn't, b=1":              {{"a", "it isn't"}, {"b", "1"}},
		"a=x=y":                        {{"a", "x=y"}},
		"a=":                           {{"a", ""}},
	} {
		all, err := parseSettings([]string{text, "z=9"})
		require.NoError(t, err, text)
		assert.Equal(t, []setting{{text, want}, {"z=9", []assignment{{"z", "9"}}}}, all)
	}
	for _, text := range []string{"", "a", "a=1,b", "a=one, two", "a=1,"} {
		_, err := parseSettings([]string{text})
		assert.ErrorContains(t, err, "has no value; write it like", text)
	}
}

// TestSlots has no more done at one time than there are slots, and the error of
// the first that fails, whichever came first.
func TestSlots(t *testing.T) {
	s := make(slots, 3)
	var now, most, done atomic.Int32
	require.NoError(t, s.each(50, func(int) error {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		runtime.Gosched()
		now.Add(-1)
		done.Add(1)
		return nil
	}))
	assert.EqualValues(t, 50, done.Load())
	assert.LessOrEqual(t, most.Load(), int32(3))
	seventh, ninth := errors.New("seventh"), errors.New("ninth")
	for range 50 {
		assert.Equal(t, seventh, s.each(20, func(i int) error { return map[int]error{7: seventh, 9: ninth}[i] }))
	}
}

// TestSameBytesBesideEachOther plays four policies and two variants one after
// the other and beside each other: traces, what differs and all that is printed
// are the same. Pictures are drawn of the same panels, and held by TestSameBytes.
func TestSameBytesBesideEachOther(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	settings, err := parseSettings([]string{"seed=7", "breakers.search.recovery_duration=1s,policies=[breaker, plain-retries]"})
	require.NoError(t, err)
	all, err := loadVariants([]string{"-"}, strings.NewReader(`
scenario: several
duration: 20s
breakers: {search: {kind: tool, recovery_duration: 3s}}
targets: {search: {latency: {exponential: 300ms}, phases: [{at: 2s, for: 5s, mix: {success: 0.2, failure: 0.8}}]}}
callers: [{name: agents, count: 5, to: search, every: 1s, jitter: 0.5}]
policies: [breaker, plain-retries, retries+breaker, no-protection]
`), scenarios.DefaultLimits(), settings)
	require.NoError(t, err)
	var want map[string]string
	for _, n := range []int{1, 2, 8, 8, 8, 8} {
		runtime.GOMAXPROCS(n)
		f, err := openFolder(t.TempDir())
		require.NoError(t, err)
		s := make(slots, n)
		res, err := replayAll(all[0].Scenario, f, s)
		require.NoError(t, err)
		require.NoError(t, res.replayVariants(all[0].variants, f, s))
		require.NoError(t, res.writeWhatIf(f))
		var out bytes.Buffer
		require.NoError(t, res.print(&out, streams{width: 80}, f.names, "out"))
		got := map[string]string{"": out.String()}
		for _, name := range f.names {
			r, err := f.open(name)
			require.NoError(t, err)
			b, err := io.ReadAll(r)
			require.NoError(t, errors.Join(err, r.Close()))
			got[name] = string(b)
		}
		f.discard()
		if want == nil {
			want = got
			assert.Len(t, want, 1+4+2)
		}
		for name := range want {
			assert.True(t, want[name] == got[name], "with %d processors %q differs", n, name)
		}
	}
}
