package foreign

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLibrariesSayWhatTheyAre(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	var names []string
	for _, l := range Libraries {
		assert.NotContains(t, names, l.Name)
		names = append(names, l.Name)
		assert.Contains(t, string(mod), "\t"+l.Module+" "+l.Version+"\n", "%s: the version is that of go.mod", l.Name)
		short := strings.TrimSuffix(strings.TrimPrefix(l.Module, "github.com/"), "/v2")
		assert.Contains(t, string(readme), short, "the README names what is here")
		assert.Contains(t, l.Claims, "(https://", "%s: what it claims has an address", l.Name)
		assert.True(t, strings.HasSuffix(l.Note, "."), "%s: %s", l.Name, l.Note)
		if l.Of != "" {
			of, err := Lookup(l.Of)
			require.NoError(t, err)
			assert.Empty(t, of.Of, "a variant is one of a first row")
			assert.Equal(t, [2]string{of.Module, of.Version}, [2]string{l.Module, l.Version})
		}
	}
}

// TestClaimsAreQuoted holds every quotation against the module that it is from.
func TestClaimsAreQuoted(t *testing.T) {
	plain := strings.NewReplacer("//", " ", "`", "", "'", "", `"`, "")
	words := func(text string) string { return strings.Join(strings.Fields(plain.Replace(text)), " ") }
	quotation := regexp.MustCompile(`"[^"]+"`)
	for _, l := range Libraries {
		if l.Of != "" {
			continue
		}
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", l.Module).Output()
		require.NoError(t, err)
		var source strings.Builder
		err = filepath.WalkDir(strings.TrimSpace(string(dir)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !slices.Contains([]string{".go", ".md"}, strings.ToLower(filepath.Ext(path))) {
				return err
			}
			b, err := os.ReadFile(path)
			source.Write(b)
			return err
		})
		require.NoError(t, err)
		from, quoted := words(source.String()), quotation.FindAllString(l.Claims, -1)
		assert.NotEmpty(t, quoted, l.Name)
		for _, q := range quoted {
			for part := range strings.SplitSeq(q, "[...]") {
				assert.True(t, strings.Contains(from, words(part)), "%s does not say %q", l.Name, part)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for name, want := range map[string][3]string{
		"gobreaker":           {"gobreaker", "", "github.com/sony/gobreaker/v2"},
		"rubyist-backoff":     {"rubyist-backoff", "rubyist", "github.com/rubyist/circuitbreaker"},
		"eapache+lease":       {"eapache+lease", "eapache", "github.com/eapache/go-resiliency"},
		"gobreaker-two+lease": {"gobreaker-two+lease", "gobreaker-two", "github.com/sony/gobreaker/v2"},
	} {
		l, err := Lookup(name)
		require.NoError(t, err)
		assert.Equal(t, want, [3]string{l.Name, l.Of, l.Module})
	}
	for _, name := range []string{"", "gobraker", "+lease", "ours"} {
		_, err := Lookup(name)
		require.ErrorContains(t, err, "unknown library")
		assert.ErrorContains(t, err, "write one of gobreaker, gobreaker-execute")
	}
}

// TestCannot holds what each library cannot express of our defaults; of the same
// with stale results ignored; and of settings that are all zero.
func TestCannot(t *testing.T) {
	stale := defaults
	stale.IgnoreStale = true
	const (
		timesOut = "no lease for the probe alone: the timeout fails every call that takes as long, in Closed too"
		beside   = "no lease: a probe that never reports is not given up, a second one is let in beside it"
		inARow   = "no failures in a row: "
	)
	for name, want := range map[string][3][]string{
		"gobreaker":           {{noLease, ignoresStale}, {noLease}, {ignoresStale, noZeroWait}},
		"failsafe-go":         {{noLease}, {noLease, countsStale}, nil},
		"failsafe-go-timeout": {{timesOut}, {timesOut, countsStale}, nil},
		"eapache":             {{noLease, inARow}, {noLease, inARow, countsStale}, nil},
		"hystrix-go":          {{timesOut, inARow}, {timesOut, inARow, countsStale}, {"no calls without a timeout", "no cooldown of zero: one of 1 ms"}},
		"rubyist":             {{noLease}, {noLease, countsStale}, nil},
		"rubyist-timeout":     {{timesOut}, {timesOut, countsStale}, nil},
		"rubyist-backoff":     {{beside}, {beside, countsStale}, nil},
		"bytedance":           {{beside}, {beside, countsStale}, {noZeroWait}},
		"gobreaker+lease":     {{ignoresStale}, nil, {ignoresStale, noZeroWait}},
		"eapache+lease":       {{inARow}, {inARow, countsStale}, nil},
	} {
		l, err := Lookup(name)
		require.NoError(t, err)
		for i, s := range []Settings{defaults, stale, {}} {
			says := l.Cannot(s)
			if assert.Len(t, says, len(want[i]), "%s %+v: %v", name, s, says) {
				for j, start := range want[i] {
					assert.True(t, strings.HasPrefix(says[j], start), "%s: %s", name, says[j])
				}
			}
		}
	}
}

// TestZeroSettings: a threshold of zero never trips, no lease is no obstacle, and
// the shortest cooldown is over soon.
func TestZeroSettings(t *testing.T) {
	for _, l := range Libraries {
		for _, l := range []Library{l, l.Leased()} {
			drive(t, l, Settings{}, func(d *driver) {
				for range 50 {
					d.report(d.ask(), false)
				}
				assert.Equal(t, "closed", d.b.State(), l.Name)
			})
			drive(t, l, Settings{FailureThreshold: 2}, func(d *driver) {
				d.fail()
				admitted := d.ask() != nil
				d.at(2 * time.Millisecond)
				assert.True(t, admitted || d.ask() != nil, l.Name)
			})
		}
	}
}

// TestBesideEachOther: breakers of one bubble, and of one process, are apart.
func TestBesideEachOther(t *testing.T) {
	for _, l := range Libraries {
		drive(t, l, defaults, func(d *driver) {
			other := &driver{t, defaults, l.New(defaults), d.start}
			d.trip()
			assert.NotNil(t, other.ask(), l.Name)
			assert.Equal(t, [2]string{"open", "closed"}, [2]string{d.b.State(), other.b.State()}, l.Name)
			other.release()
		})
	}
}

// TestReadingState: ours is without effect, wherever it is read.
func TestReadingState(t *testing.T) {
	for _, l := range Libraries {
		var read, unread []string
		for _, reads := range []int{0, 100} {
			drive(t, l, defaults, func(d *driver) {
				var states []string
				for s := range 120 {
					d.at(time.Duration(s)*time.Second + edge)
					for range reads {
						d.b.State()
					}
					done := d.ask()
					states = append(states, d.b.State()+yes(done != nil))
					if done != nil && s < 40 {
						d.report(done, s > 35)
					}
				}
				unread, read = read, states
			})
		}
		assert.Equal(t, unread, read, l.Name)
		assert.True(t, slices.Contains(read, "openno"), "%s: it was open", l.Name)
	}
}

// TestReset closes an open breaker, where the library can, and ends the lease of
// a probe that is under way: nobody reports it as failed afterwards.
func TestReset(t *testing.T) {
	var can []string
	for _, l := range Libraries {
		var unleased string
		for _, row := range []Library{l, l.Leased()} {
			drive(t, row, defaults, func(d *driver) {
				r, ok := d.b.(interface{ Reset() })
				if !ok {
					return
				}
				can = append(can, row.Name)
				d.trip()
				d.at(defaults.RecoveryDuration + time.Second)
				assert.NotNil(t, d.ask(), "%s: the probe", row.Name)
				r.Reset()
				assert.Equal(t, "closed", d.b.State(), row.Name)
				for range defaults.FailureThreshold - 1 {
					d.report(d.ask(), false)
				}
				d.at(defaults.RecoveryDuration + defaults.ProbeTimeout + 2*time.Second)
				if row.Of != l.Name {
					unleased = d.b.State()
				}
				assert.Equal(t, unleased, d.b.State(), "%s: the lease of before the reset is void", row.Name)
				if !strings.HasSuffix(l.Name, "-timeout") { // those give the lost probe up by themselves
					assert.Equal(t, "closed", unleased, row.Name)
				}
			})
		}
	}
	assert.Equal(t, []string{"failsafe-go", "failsafe-go+lease", "failsafe-go-default", "failsafe-go-default+lease", "failsafe-go-timeout", "failsafe-go-timeout+lease",
		"rubyist", "rubyist+lease", "rubyist-timeout", "rubyist-timeout+lease", "rubyist-backoff", "rubyist-backoff+lease",
		"bytedance", "bytedance+lease", "bytedance-window", "bytedance-window+lease"}, can)
}

// TestCloseReleases: after Close a bubble with lost calls ends. hystrix-go's never
// does, and says so.
func TestCloseReleases(t *testing.T) {
	for _, l := range Libraries {
		lose := func() {
			synctest.Test(t, func(t *testing.T) {
				begin()
				d := &driver{t, defaults, l.New(defaults), time.Now()}
				d.ask()
				d.trip()
				d.probe()
				d.release()
			})
		}
		if l.Name == "hystrix-go" {
			assert.Panics(t, lose)
		} else {
			assert.NotPanics(t, lose, l.Name)
		}
	}
}

// TestRefusals are the errors that callers read.
func TestRefusals(t *testing.T) {
	for name, want := range map[string]string{
		"gobreaker":         "circuit breaker is open",
		"gobreaker-execute": "circuit breaker is open",
		"failsafe-go":       "circuit breaker open",
		"eapache":           "circuit breaker is open",
		"hystrix-go":        "hystrix: circuit open",
		"rubyist":           "breaker open",
		"bytedance":         "not allowed by circuitbreaker",
	} {
		l, err := Lookup(name)
		require.NoError(t, err)
		drive(t, l, defaults, func(d *driver) {
			d.trip()
			_, err := d.b.Allow()
			assert.EqualError(t, err, want)
		})
	}
}

// TestPanicKills lets a probe panic in a process of its own.
func TestPanicKills(t *testing.T) {
	const name = "BREAKERSIM_PANICS_UNDER"
	if l, err := Lookup(os.Getenv(name)); err == nil {
		drive(t, l, defaults, func(d *driver) { d.trip(); d.end(func() { panic("the probe panics") }) })
		return
	}
	for _, l := range Libraries {
		child := exec.Command(os.Args[0], "-test.run=^TestPanicKills$")
		child.Env = append(os.Environ(), name+"="+l.Name)
		out, err := child.CombinedOutput()
		assert.Equal(t, l.PanicKills, err != nil, "%s: %s", l.Name, out)
		assert.Equal(t, l.PanicKills, strings.Contains(string(out), "panic: the probe panics"), l.Name)
	}
}

// TestTimeoutOnlyCancels: failsafe-go's Timeout gives up no probe that does not
// watch its execution.
func TestTimeoutOnlyCancels(t *testing.T) {
	l, err := Lookup("failsafe-go-timeout")
	require.NoError(t, err)
	drive(t, l, defaults, func(d *driver) {
		d.trip()
		over := make(chan struct{})
		defer close(over)
		d.end(func() { <-over })
		assert.Equal(t, "never", d.next(31))
	})
}

// TestExitNeverReturns: under hystrix-go, whose functions run on a goroutine of its
// own, a call that exits leaves its caller waiting for ever; others' end with it.
func TestExitNeverReturns(t *testing.T) {
	for _, l := range Libraries {
		drive(t, l, defaults, func(d *driver) {
			d.trip()
			back := d.end(runtime.Goexit)
			d.at(time.Hour)
			select {
			case <-back:
				assert.NotEqual(t, "hystrix-go", l.Name)
			default:
				assert.Equal(t, "hystrix-go", l.Name)
			}
		})
	}
}
