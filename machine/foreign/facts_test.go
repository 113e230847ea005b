package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fact is one thing to know about a breaker of 3 failures, 30 s of cooldown and
// 30 s of lease that is tripped at 0 s.
type fact struct {
	name, about string
	measure     func(*testing.T, Library) string
}

var known = []fact{
	{"between", "the state after two failures, a success and a failure (T2)", with(func(d *driver) string {
		for _, ok := range []bool{false, false, true, false} {
			d.report(d.ask(), ok)
		}
		d.ask()
		return d.b.State()
	})},
	{"opens", "when the first call is admitted after the trip, asked each second (T4, T5)", with(func(d *driver) string {
		d.trip()
		return d.next(1)
	})},
	{"at 30 s", "whether a call at the cooldown's end exactly is admitted (T4)", with(func(d *driver) string {
		d.trip()
		d.at(d.s.RecoveryDuration)
		return yes(d.ask() != nil)
	})},
	{"herd", "how many of 100 callers at the half-open instant are admitted (T6)", with(herd)},
	{"closes", "how many probes must succeed, one after the other, to close it (T8)", with(func(d *driver) string {
		d.trip()
		d.report(d.probe(), true)
		n := 1
		for ; d.b.State() != "closed" && n < 100; n++ {
			d.report(d.ask(), true)
		}
		return fmt.Sprint(n)
	})},
	{"again", "the probe fails at once: when a call is next admitted (T9)", with(func(d *driver) string {
		d.trip()
		d.report(d.probe(), false)
		return d.next(31)
	})},
	{"lost", "the probe never reports: when a call is next admitted, asked each second for an hour (T7)", with(func(d *driver) string {
		d.trip()
		d.probe()
		return d.next(31)
	})},
	{"late", "the state after the success of such a probe at 11 min, nobody having asked since (T8, T12)", with(func(d *driver) string {
		d.trip()
		done := d.probe()
		d.at(11 * time.Minute)
		d.report(done, true)
		return d.b.State()
	})},
	{"ghost", "the state after its success while the next probe is under way (T12)", with(func(d *driver) string {
		d.trip()
		done := d.probe()
		if d.next(31) == "never" {
			return "no next"
		}
		d.report(done, true)
		return d.b.State()
	})},
	{"stale", "the state after a success at 10 s of a call from before the trip (T10)", with(func(d *driver) string {
		return d.older(false, 10*time.Second, true)
	})},
	{"failed", "when a call is next admitted after such a failure at 20 s (T11)", with(func(d *driver) string {
		d.older(false, 20*time.Second, false)
		return d.next(21)
	})},
	{"hang ok", "the state after such a success while the probe is under way (T13)", with(func(d *driver) string {
		return d.older(true, 31*time.Second, true)
	})},
	{"hang bad", "and after such a failure (T13)", with(func(d *driver) string {
		return d.older(true, 31*time.Second, false)
	})},
	{"10 s ok", "hang ok with a cooldown of 10 s, so that a timeout is not over (T13)", short(true)},
	{"10 s bad", "hang bad with a cooldown of 10 s (T13)", short(false)},
	{"echo", "the state once closed again, after as many such failures as trip it; cooldown 10 s (T13)", echo},
	{"looks", "the state that the library's own reading moves it to; else pure (T14)", looks},
	{"panics", "the probe panics: when a call is next admitted", func(t *testing.T, l Library) string {
		if l.PanicKills {
			return "kills" // held by TestPanicKills
		}
		return ending(func() { panic("the probe panics") })(t, l)
	}},
	{"exits", "the probe calls runtime.Goexit: when a call is next admitted", ending(runtime.Goexit)},
}

// with measures with a breaker of its own.
func with(f func(d *driver) string) func(*testing.T, Library) string {
	return func(t *testing.T, l Library) (found string) {
		drive(t, l, defaults, func(d *driver) { found = f(d) })
		return found
	}
}

func ending(f func()) func(*testing.T, Library) string {
	return with(func(d *driver) string {
		d.trip()
		d.end(f)
		return d.next(31)
	})
}

// brief are settings whose cooldown ends while calls from before the trip are
// still within the lease, which some libraries take for a timeout.
var brief = Settings{FailureThreshold: 3, RecoveryDuration: 10 * time.Second, ProbeTimeout: 30 * time.Second}

func short(ok bool) func(*testing.T, Library) string {
	return func(t *testing.T, l Library) (found string) {
		drive(t, l, brief, func(d *driver) { found = d.older(true, 11*time.Second, ok) })
		return found
	}
}

// echo reports failures of calls from before the trip to a breaker that has
// closed since, and asks once more.
func echo(t *testing.T, l Library) (found string) {
	drive(t, l, brief, func(d *driver) {
		var older []func(bool)
		for range d.s.FailureThreshold {
			older = append(older, d.ask())
		}
		d.trip()
		d.report(d.probe(), true)
		for _, done := range older {
			d.report(done, false)
		}
		d.ask()
		found = d.b.State()
	})
	return found
}

func herd(d *driver) string {
	d.trip()
	d.at(d.s.RecoveryDuration + 1)
	admitted := 0
	for range 100 {
		if d.ask() != nil {
			admitted++
		}
	}
	return fmt.Sprint(admitted)
}

// older reports a result of a call from before the trip, while a probe is under
// way or before it, and gives the state after it.
func (d *driver) older(probing bool, instant time.Duration, ok bool) string {
	done := d.ask()
	d.trip()
	if probing && d.probe() == nil {
		return "no probe"
	}
	d.at(instant)
	d.report(done, ok)
	return d.b.State()
}

// looks reads the library's own way where it could move something: failures that
// nobody asked after, a cooldown that is over, and a lost probe.
func looks(t *testing.T, l Library) string {
	moves := "pure"
	for _, reach := range []func(*driver){
		func(d *driver) { d.fail() },
		func(d *driver) { d.trip(); d.at(40 * time.Second) },
		func(d *driver) { d.trip(); d.probe(); d.at(11 * time.Minute) },
	} {
		drive(t, l, defaults, func(d *driver) {
			reach(d)
			before := d.b.State()
			d.b.(interface{ Look() string }).Look()
			if after := d.b.State(); after != before {
				moves = after
			}
		})
	}
	return moves
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// TestFacts holds what each library does, driven directly, with and without our
// lease, against testdata/facts.txt. UPDATE=1 rewrites it: every departure from
// the first row, our own breaker, is a claim about somebody else's work.
func TestFacts(t *testing.T) {
	libraries := append([]Library{ours}, Libraries...)
	for _, l := range Libraries {
		libraries = append(libraries, l.Leased())
	}
	table := ""
	for _, f := range known {
		table += fmt.Sprintf("# %-8s  %s\n", f.name, f.about)
	}
	table += row("library", func(f fact) string { return f.name })
	for _, l := range libraries {
		table += row(l.Name, func(f fact) string {
			if f.name == "looks" && strings.HasSuffix(l.Name, WithLease) {
				return "-" // a lease does not touch it
			}
			return f.measure(t, l)
		})
	}
	path := filepath.Join("testdata", "facts.txt")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(path, []byte(table), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), table, "UPDATE=1 rewrites it")
}

// row is a line of the table.
func row(name string, cell func(fact) string) string {
	line := fmt.Sprintf("%-26s", name)
	for _, f := range known {
		line += fmt.Sprintf("  %-9s", cell(f))
	}
	return strings.TrimRight(line, " ") + "\n"
}
