package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/invopop/jsonschema"

	"github.com/breakersim/breakersim/machine"
)

// countsW is what each kind of result counts as.
type countsW struct {
	Failure   val[takeWord] `yaml:"failure" doc:"Of an ordinary failure."`
	Timeout   val[takeWord] `yaml:"timeout" doc:"Of a call that nobody answered in time."`
	RateLimit val[takeWord] `yaml:"rate_limit" doc:"Of a request to come back later."`
	Permanent val[takeWord] `yaml:"permanent" doc:"Of a request that is itself wrong, such as a 404."`
	Cancelled val[takeWord] `yaml:"cancelled" doc:"Of a call that its caller no longer wanted."`
}

// tripW is when a closed tool breaker opens, beside failures in a row.
type tripW struct {
	Window              val[windowW]  `yaml:"window" doc:"Tool: the results that rates look back on: {calls: 100}, or {time: 10s, buckets: 10} (default: none)."`
	FailureRate         val[shareW]   `yaml:"failure_rate" doc:"Tool: the share of failures in the window from which on it opens, such as 50% (default 0: no such rate)." default:"0"`
	WindowFailures      val[int]      `yaml:"window_failures" doc:"Tool: the failures in the window from which on it opens (default 0: no such number)." default:"0" minimum:"0"`
	MinimumCalls        val[int]      `yaml:"minimum_calls" doc:"Tool: results in the window below which no rate opens it (default 1)." default:"1" minimum:"0"`
	SlowAfter           val[duration] `yaml:"slow_after" doc:"Tool: a call that takes longer is slow (default 0s: none is)." default:"0s"`
	Slow                val[slowWord] `yaml:"slow" doc:"Tool: what a slow success counts as: success (default) or failure." default:"success"`
	SlowRate            val[shareW]   `yaml:"slow_rate" doc:"Tool: the share of slow calls in the window from which on it opens (default 0: no such rate)." default:"0"`
	SuccessClears       val[bool]     `yaml:"success_clears" doc:"Tool: whether a success zeroes the count of failures (default true)." default:"true"`
	ForgetFailuresAfter val[duration] `yaml:"forget_failures_after" doc:"Tool: the count is zeroed where the last failure is longer ago (default 0s: it never is)." default:"0s"`
}

// probingW is how a tool breaker tests recovery.
type probingW struct {
	Probe            val[probeWord]  `yaml:"probe" doc:"Tool: call (default): a call tests recovery; none: the first call after the cooldown closes it." default:"call"`
	Probes           val[probesW]    `yaml:"probes" doc:"Probes in flight at one time, or any (default 1; Model: any). Model: further turns go to a backup meanwhile."`
	ProbesInAll      val[int]        `yaml:"probes_in_all" doc:"Tool: probes of one half-open period (default 0: any number)." default:"0" minimum:"0"`
	ProbeSuccesses   val[int]        `yaml:"probe_successes" doc:"Tool: successes in a row that close it; beside probe_failure_rate the results that are waited for (default 1)." default:"1" minimum:"0"`
	ProbeFailureRate val[shareW]     `yaml:"probe_failure_rate" doc:"Tool: the share of failed probes from which on it opens, and below which it closes (default 0: any failure opens it)." default:"0"`
	ProbeSlowRate    val[shareW]     `yaml:"probe_slow_rate" doc:"Tool: likewise of slow probes, beside probe_failure_rate (default 0: no such rate)." default:"0"`
	CancelledProbe   val[cancelWord] `yaml:"cancelled_probe" doc:"Tool: a cancelled probe's slot is held until its lease ends (default), or released." default:"hold"`
	Ramp             val[duration]   `yaml:"ramp" doc:"Tool: after closing, the share of calls admitted grows evenly to all for that long (default 0s)." default:"0s"`
	RampFrom         val[shareW]     `yaml:"ramp_from" doc:"Tool: that share at first (default 0)." default:"0"`
}

// cooldownW is how the cooldown of either kind of breaker varies.
type cooldownW struct {
	RecoveryGrowth  val[float64]  `yaml:"recovery_growth" doc:"Each opening that no recovery came before multiplies the cooldown by this (default 1)." default:"1" minimum:"1" maximum:"1000"`
	RecoveryLongest val[duration] `yaml:"recovery_longest" doc:"The cooldown grows no longer than that, and no hint to wait counts beyond it (default 0s: no bound)." default:"0s"`
	RecoveryForget  val[duration] `yaml:"recovery_forget" doc:"Only a recovery that lasted so long ends the growth (default 0s: any)." default:"0s"`
	RecoveryJitter  val[shareW]   `yaml:"recovery_jitter" doc:"Each cooldown is drawn evenly from that much below its length to that much above (default 0)." default:"0"`
	RetryAfter      val[heedWord] `yaml:"retry_after" doc:"Whether a failure that names a wait moves the cooldown's end there, if that is later: heed, or ignore (default)." default:"ignore"`
	LateFailures    val[lateWord] `yaml:"late_failures" doc:"Tool, while open: a late failure restarts the cooldown: extend (default), or ignore." default:"extend"`
}

// routingW is to whom a model breaker routes turns when its backups fail, too.
type routingW struct {
	ExhaustedWait val[duration] `yaml:"exhausted_wait" doc:"Model: where nobody is left to serve a turn, it waits at most so long until somebody is (default 0s: it is exhausted at once)." default:"0s"`
	LastResort    val[string]   `yaml:"last_resort" doc:"Model: the target that serves while every backup is failed, and is never charged (default: nobody does)."`
	EntryCooldown val[duration] `yaml:"entry_cooldown" doc:"Model: so long after its last strike a failed backup has its whole budget again (default 0s: only a recovery gives it back)." default:"0s"`
}

// The words that a setting can be one of two. Each is true for the second.
type (
	slowWord   bool
	probeWord  bool
	cancelWord bool
	heedWord   bool
	lateWord   bool
)

var (
	slowWords   = []string{"success", "failure"}
	probeWords  = []string{"call", "none"}
	cancelWords = []string{"hold", "release"}
	heedWords   = []string{"ignore", "heed"}
	lateWords   = []string{"extend", "ignore"}
)

func (w *slowWord) parse(s string) error  { return second((*bool)(w), s, "slow", slowWords) }
func (w *probeWord) parse(s string) error { return second((*bool)(w), s, "probe", probeWords) }
func (w *cancelWord) parse(s string) error {
	return second((*bool)(w), s, "cancelled_probe", cancelWords)
}
func (w *heedWord) parse(s string) error { return second((*bool)(w), s, "retry_after", heedWords) }
func (w *lateWord) parse(s string) error { return second((*bool)(w), s, "late_failures", lateWords) }

func (*slowWord) schema() *jsonschema.Schema   { return words(slowWords) }
func (*probeWord) schema() *jsonschema.Schema  { return words(probeWords) }
func (*cancelWord) schema() *jsonschema.Schema { return words(cancelWords) }
func (*heedWord) schema() *jsonschema.Schema   { return words(heedWords) }
func (*lateWord) schema() *jsonschema.Schema   { return words(lateWords) }

// takeWord is what a kind of result counts as.
type takeWord machine.Take

// takeWords are the words for it, by the Take.
var takeWords = []string{machine.AsFailure: "failure", machine.AsSuccess: "success", machine.AsNothing: "ignore"}

func (w *takeWord) parse(text string) error {
	i, err := oneOf(text, "what a result counts as", takeWords[1:])
	*w = takeWord(i + 1)
	return err
}

func (*takeWord) schema() *jsonschema.Schema { return words(takeWords[1:]) }

// shareW is a share of all, from 0 to 1.
type shareW float64

const sharePattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+) *%$`

func (w *shareW) parse(text string) error {
	text = strings.TrimSpace(text)
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	most := 1.0
	if percent {
		most = 100
	}
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		return fmt.Errorf("%q is not a share; write it like 50%% or 0.5", clip(text))
	case n < 0:
		return fmt.Errorf("%s is negative; a share is from 0%% to 100%%", clip(text))
	case n > most && !percent && n <= 100:
		return fmt.Errorf("%s is more than all; write %[1]s%% or %s", clip(text), strconv.FormatFloat(n/100, 'f', -1, 64))
	case n > most:
		return fmt.Errorf("%s is more than all; a share is from 0%% to 100%%", clip(text))
	}
	*w = shareW(n / most)
	return nil
}

func (*shareW) schema() *jsonschema.Schema {
	return either(&jsonschema.Schema{Type: "string", Pattern: sharePattern, Examples: []any{"50%"}}, &jsonschema.Schema{Type: "number", Minimum: "0", Maximum: "1"})
}

// probesW is how many probes are in flight at one time.
type probesW int

// AnyProbes is the number of probes that probes: any stands for.
const AnyProbes = math.MaxInt32

func (w *probesW) parse(text string) error {
	if text == "any" {
		*w = AnyProbes
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("probes is %s; write any where there is no bound", clip(text))
	case err != nil:
		return fmt.Errorf("probes cannot be %q; write a whole number from 1 on, or any", clip(text))
	case n < 1:
		return fmt.Errorf("probes is %d; write a number from 1 on, or probe: none for a breaker that closes without a test", n)
	}
	*w = probesW(n)
	return nil
}

func (*probesW) schema() *jsonschema.Schema {
	return either(words([]string{"any"}), &jsonschema.Schema{Type: "integer", Minimum: "1"})
}

// windowW is none, or the last calls, or the last time.
type windowW struct{ machine.Window }

type windowKeysW struct {
	Calls   val[int]      `yaml:"calls" doc:"The results of so many calls." minimum:"1" maximum:"1000000"`
	Time    val[duration] `yaml:"time" doc:"Or those of so much time, in buckets that begin at whole multiples of their length."`
	Buckets val[int]      `yaml:"buckets" doc:"Of the time (default 10)." default:"10" minimum:"1" maximum:"10000"`
}

// What a window has at most, and how many buckets one of time has that states none.
const (
	mostWindow     = 1_000_000
	mostBuckets    = 10_000
	defaultBuckets = 10
)

const windowShape = "{calls: 100}, or {time: 10s, buckets: 10}"

func (w *windowW) decodeNode(d *decoder, n ast.Node, what string) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		var keys windowKeysW
		before := len(d.faults.Faults)
		if d.structure(n, reflect.ValueOf(&keys).Elem(), what); len(d.faults.Faults) == before {
			w.Window = keys.window(d, n)
		}
		d.refused[n] = len(d.faults.Faults) > before // nothing else is said of it
	default:
		var word val[string]
		if word.decodeNode(d, n, what); word.V != "none" {
			d.fault(n, "a window is %s, or none", windowShape)
		}
	}
}

// window is what the keys come to. Whether the calls are enough for the other
// settings is seen later.
func (k *windowKeysW) window(d *decoder, n ast.Node) machine.Window {
	within := func(v *val[int], key string, most int) {
		if v.said() && (v.V < 1 || v.V > most) {
			d.fault(v.node, "%s is %d; it must be from 1 to %d", key, v.V, most)
		}
	}
	within(&k.Calls, "calls", mostWindow)
	within(&k.Buckets, "buckets", mostBuckets)
	w := machine.Window{Calls: k.Calls.V, Span: time.Duration(k.Time.V), Buckets: k.Buckets.V}
	switch {
	case !k.Calls.said() && !k.Time.said():
		d.fault(n, "the window has no length; write %s", windowShape)
	case k.Calls.said() && k.Time.said():
		d.fault(k.Time.node, "a window counts calls, or time; write %s", windowShape)
	case k.Calls.said() && k.Buckets.said():
		d.fault(k.Buckets.node, "buckets are of time; a window of calls has none")
	case k.Time.said() && w.Span == 0:
		d.fault(k.Time.node, "a window of 0s holds nothing; write %s", windowShape)
	case k.Time.said() && w.Span < time.Duration(cmp.Or(w.Buckets, defaultBuckets)):
		d.fault(k.Time.node, "the window's %d buckets would be shorter than a nanosecond", cmp.Or(w.Buckets, defaultBuckets))
	}
	return w
}

func (*windowW) schema() *jsonschema.Schema {
	return either(words([]string{"none"}), objectSchema(reflect.TypeFor[windowKeysW]()))
}
