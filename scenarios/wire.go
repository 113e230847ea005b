package scenarios

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// The types below are the file format: the decoder and the JSON Schema are both
// made from them. Their meaning is given in resolve.go.

type fileW struct {
	Scenario    val[string]         `yaml:"scenario" doc:"The scenario's id: lower-case letters, digits and '-'." pattern:"^[a-z0-9-]+$" required:"true"`
	Title       val[string]         `yaml:"title" doc:"One line, for pictures and lists."`
	About       val[string]         `yaml:"about" doc:"What happens and why it matters, for a docs page."`
	Duration    val[duration]       `yaml:"duration" doc:"The virtual end, inclusive. Without it the run ends with the last thing in it."`
	Seed        val[uint64]         `yaml:"seed" doc:"Names all randomness (default 1)." minimum:"0" default:"1"`
	Breakers    named[breakerW]     `yaml:"breakers" doc:"The circuit breakers, by name."`
	Targets     named[targetW]      `yaml:"targets" doc:"What gets called, by name."`
	Substitutes named[substitutesW] `yaml:"substitutes" doc:"Who may stand in for a guarded target while its breaker lets no call through, the best first."`
	Calls       []val[callW]        `yaml:"calls" doc:"Calls and operations, scripted one by one."`
	Callers     []val[callersW]     `yaml:"callers" doc:"Those who make calls by themselves."`
	Policies    []val[policyW]      `yaml:"policies" doc:"The ways to run the scenario (default: breaker)."`
	Expect      []val[expectationW] `yaml:"expect" doc:"What must come of it."`
}

type breakerW struct {
	Kind    val[kindWord]    `yaml:"kind" doc:"tool: closed, open, half-open. model: primary, fallback, recovering." required:"true"`
	Guards  val[string]      `yaml:"guards" doc:"Tool: the target that it gates (default: the one of its own name)."`
	Reports val[reportsWord] `yaml:"reports" doc:"permit (default), or anonymous: results do not say whose they are." default:"permit"`
	Health  val[bool]        `yaml:"health" doc:"Tool: record its health score after each result (default false)." default:"false"`
	settingsW
}

// substitutesW is the targets that may stand in for another.
type substitutesW struct{ val[[]val[string]] }

// settingsW are what a policy may change of a breaker.
type settingsW struct {
	FailureThreshold        val[int]       `yaml:"failure_threshold" doc:"Tool: failures in a row that open it (default 3; 0: never)." default:"3" minimum:"0"`
	RecoveryDuration        val[duration]  `yaml:"recovery_duration" doc:"Tool: the cooldown (default 30s)." default:"30s"`
	ProbeTimeout            val[duration]  `yaml:"probe_timeout" doc:"Tool: the probe's lease (default 30s; 0s: none)." default:"30s"`
	StaleResults            val[staleWord] `yaml:"stale_results" doc:"Tool, in closed: whether results of calls admitted before it last opened count (default) or are ignored." default:"count"`
	Primary                 val[string]    `yaml:"primary" doc:"Model: the target that serves when all is well."`
	Chain                   val[[]backupW] `yaml:"chain" doc:"Model: the backups, in order."`
	TripThreshold           val[int]       `yaml:"trip_threshold" doc:"Model: failed turns in a row that trip it (default 3)." default:"3" minimum:"0"`
	RecoveryTimeout         val[duration]  `yaml:"recovery_timeout" doc:"Model: the cooldown (default 60s)." default:"60s"`
	RecoverySuccessesNeeded val[int]       `yaml:"recovery_successes_needed" doc:"Model: probes in a row that lead back (default 2)." default:"2" minimum:"0"`
	MaxFailCount            val[int]       `yaml:"max_fail_count" doc:"Model: the budget of backups that state none (default 2)." default:"2"`
	ProbationFailures       val[int]       `yaml:"probation_failures" doc:"Model: transient failures of one probation that trip it again (default 0: no limit)." default:"0" minimum:"0"`
}

type targetW struct {
	behaviorW
	Limit    val[limitW]    `yaml:"limit" doc:"More attempts than that are answered with rate_limit, and when to come back (default: none)."`
	Capacity val[capacityW] `yaml:"capacity" doc:"How many attempts it can serve at one time, and what becomes of the others (default: any number)."`
	Network  val[distW]     `yaml:"network" doc:"The way there, and the way back, beside the latency (default 0s)."`
	Warmup   val[duration]  `yaml:"warmup" doc:"After an outage it is slow for that long: at first ten times, then less and less (default 0s)." default:"0s"`
	Bursts   val[burstsW]   `yaml:"bursts" doc:"Stretches of trouble that come by chance (default: none). Phases win over them."`
	Price    val[priceW]    `yaml:"price" doc:"What an attempt costs, whatever comes of it (default: nobody counts)."`
	Phases   []val[phaseW]  `yaml:"phases" doc:"Stretches of time in which it behaves otherwise; the later in the list wins."`
}

type behaviorW struct {
	Latency    val[distW]    `yaml:"latency" doc:"How long an answer takes (default 0s)."`
	Outcome    val[Outcome]  `yaml:"outcome" doc:"How an attempt ends (default success)."`
	Mix        val[mixW]     `yaml:"mix" doc:"Outcomes and their probabilities, which sum to 1."`
	RetryAfter val[duration] `yaml:"retry_after" doc:"The wait that a rate limit names."`
}

type limitW struct {
	Rate  val[Rate] `yaml:"rate" doc:"Attempts that it takes in the long run, such as 100/s or 60/min." required:"true"`
	Burst val[int]  `yaml:"burst" doc:"Attempts that it takes at once after a pause (default: what the rate brings in a second, at least 1)." minimum:"1"`
}

type capacityW struct {
	Servers         val[int]      `yaml:"servers" doc:"Attempts that are served at one time (default, beside a slowdown: any number)." minimum:"1" maximum:"1000000"`
	Queue           val[int]      `yaml:"queue" doc:"Attempts that wait at most; a further one fails at once (default: any number wait)." minimum:"0"`
	CancelOnTimeout val[bool]     `yaml:"cancel_on_timeout" doc:"A caller that stops waiting takes its work back (default false: it is served for nobody)." default:"false"`
	Slowdown        val[duration] `yaml:"slowdown" doc:"What each other attempt that is being served adds to the latency of one that begins (default 0s)." default:"0s"`
}

type burstsW struct {
	Apart val[duration] `yaml:"apart" doc:"From the end of one to the next, on average; exponential." required:"true"`
	For   val[duration] `yaml:"for" doc:"How long one lasts, on average; exponential." required:"true"`
	behaviorW
}

type priceW struct {
	Call   val[float64] `yaml:"call" doc:"Money for an attempt, in whatever currency (default 0)." default:"0" minimum:"0"`
	Tokens val[int]     `yaml:"tokens" doc:"Tokens for an attempt (default 0)." default:"0" minimum:"0"`
}

type phaseW struct {
	At  val[duration] `yaml:"at" doc:"When it begins." required:"true"`
	For val[duration] `yaml:"for" doc:"How long it lasts (default: to the end)."`
	behaviorW
}

type callW struct {
	At           val[duration]   `yaml:"at" doc:"When." required:"true"`
	To           val[string]     `yaml:"to" doc:"A call to this target or model breaker."`
	Outcome      val[Outcome]    `yaml:"outcome" doc:"How its attempts end, whatever the target says."`
	Takes        val[duration]   `yaml:"takes" doc:"How long its attempts take, whatever the target says."`
	Timeout      val[duration]   `yaml:"timeout" doc:"How long outcome: timeout takes (default 2m)." default:"2m"`
	RetryAfter   val[duration]   `yaml:"retry_after" doc:"The wait that a rate limit names."`
	Peek         val[string]     `yaml:"peek" doc:"Read this breaker, without effect."`
	Reset        val[string]     `yaml:"reset" doc:"Reset this breaker."`
	SetAvailable val[availableW] `yaml:"set_available" doc:"Switch a backup on or off."`
}

type availableW struct {
	Breaker   val[string] `yaml:"breaker" doc:"A model breaker." required:"true"`
	Name      val[string] `yaml:"name" doc:"An entry of its chain." required:"true"`
	Available val[bool]   `yaml:"available" doc:"false: turns pass it over." required:"true"`
}

type callersW struct {
	Name     val[string]       `yaml:"name" doc:"Names their draws (default callers-1, callers-2, ...)."`
	Count    val[int]          `yaml:"count" doc:"How many, each with one call at a time (default 1)." default:"1" minimum:"1"`
	To       val[string]       `yaml:"to" doc:"The target or model breaker that they call." required:"true"`
	Every    val[duration]     `yaml:"every" doc:"From one start to the next."`
	Think    val[duration]     `yaml:"think" doc:"From the end of a call to the next start."`
	Jitter   val[float64]      `yaml:"jitter" doc:"On every or think: a fraction from 0 to 1 (default 0)." default:"0" minimum:"0" maximum:"1"`
	Start    val[distW]        `yaml:"start" doc:"When each makes its first call (default 0s)." default:"0s"`
	Until    val[duration]     `yaml:"until" doc:"Calls start before this instant (default: to the end)."`
	Timeout  val[duration]     `yaml:"timeout" doc:"For each attempt (default 2m)." default:"2m"`
	Patience val[duration]     `yaml:"patience" doc:"For each call with all its attempts and waits: then it is cancelled (default: for ever)."`
	Rate     val[rateW]        `yaml:"rate" doc:"An open stream, such as 5/s or 300/min, instead of count callers; or a list of steps and ramps."`
	Arrivals val[arrivalsWord] `yaml:"arrivals" doc:"Of a stream: constant (default) or poisson." default:"constant"`
}

type stageW struct {
	At   val[duration] `yaml:"at" doc:"From then on." required:"true"`
	Rate val[Rate]     `yaml:"rate" doc:"Such as 5/s; 0/s for none." required:"true"`
	Ramp val[bool]     `yaml:"ramp" doc:"It is come to evenly since the stage before, not at once (default false)." default:"false"`
}

type ladderW struct {
	Ladder      val[string]        `yaml:"ladder" doc:"exponential (default) or fixed." enum:"ladder" default:"exponential"`
	Attempts    val[int]           `yaml:"attempts" doc:"Tries in all (default 4)." default:"4" minimum:"1" maximum:"1000"`
	Base        val[duration]      `yaml:"base" doc:"The first wait (default 100ms)." default:"100ms"`
	Cap         val[duration]      `yaml:"cap" doc:"The longest wait before jitter (default 10s)." default:"10s"`
	Jitter      val[string]        `yaml:"jitter" doc:"none, proportional (default), full, equal or decorrelated." enum:"jitter" default:"proportional"`
	OnRateLimit val[rateLimitWord] `yaml:"on_rate_limit" doc:"wait as long as it says (default), fail, or backoff: wait as after any failure." default:"wait"`
	Deadline    val[duration]      `yaml:"deadline" doc:"For the call as a whole (default 5m; 0s: none)." default:"5m"`
	MaxFailRate val[float64]       `yaml:"max_failure_rate" doc:"No retry while there were more failed attempts than that for each call, from 0 to 1 (default: none bounds them)." minimum:"0" maximum:"1"`
	Budget      val[budgetW]       `yaml:"budget" doc:"A bucket of tokens that retries take from (default: none bounds them); {} takes every default."`
}

type budgetW struct {
	Tokens     val[float64] `yaml:"tokens" doc:"What the bucket holds at most (default 10)." default:"10" minimum:"0"`
	Start      val[float64] `yaml:"start" doc:"What it holds at first (default: it is full)." minimum:"0"`
	PerRetry   val[float64] `yaml:"per_retry" doc:"What a retry takes (default 1)." default:"1" minimum:"0"`
	PerTimeout val[float64] `yaml:"per_timeout" doc:"What a retry after a timeout takes (default: as any other)." minimum:"0"`
	PerCall    val[float64] `yaml:"per_call" doc:"What a call puts in as it starts (default 0)." default:"0" minimum:"0"`
	PerSuccess val[float64] `yaml:"per_success" doc:"What a call puts in that succeeds (default 0.1)." default:"0.1" minimum:"0"`
	Refund     val[bool]    `yaml:"refund" doc:"A call that succeeds by a retry puts in what that took, instead (default false)." default:"false"`
	Shared     val[bool]    `yaml:"shared" doc:"One bucket for all, instead of one for each caller and one for the scripted calls (default false)." default:"false"`
}

type ownPolicyW struct {
	Name     val[string]          `yaml:"name" doc:"A name of your own." required:"true"`
	Retry    val[ladderW]         `yaml:"retry" doc:"Retry failed attempts within a call; {} takes every default."`
	Gate     val[gateWord]        `yaml:"gate" doc:"Ask the breaker once a call (default), for each attempt, or for each retry only." default:"call"`
	Timeout  val[duration]        `yaml:"timeout" doc:"For each attempt of a caller, instead of the caller's own."`
	Hedge    val[hedgeW]          `yaml:"hedge" doc:"Start further attempts beside one that is slow to answer; {} takes every default."`
	Breakers val[policyBreakersW] `yaml:"breakers" doc:"none, or settings to change by breaker."`
}

type hedgeW struct {
	After    val[duration] `yaml:"after" doc:"So long without an answer starts another attempt (default 1s)." default:"1s"`
	Attempts val[int]      `yaml:"attempts" doc:"In all, the first and those beside it, until a retry begins anew (default 2)." default:"2" minimum:"2" maximum:"10"`
}

type expectationW struct {
	Policy      val[string]         `yaml:"policy" doc:"Only under this policy (default: under every one with breakers)."`
	At          val[duration]       `yaml:"at" doc:"An instant, for state and allows."`
	Breaker     val[string]         `yaml:"breaker" doc:"The breaker that state, allows or transitions are about."`
	State       val[string]         `yaml:"state" doc:"Where the breaker stands then." enum:"state"`
	Allows      val[bool]           `yaml:"allows" doc:"Whether it would admit a call then."`
	Transitions val[[]val[momentW]] `yaml:"transitions" doc:"Every transition in order, such as open@3.5s, by the time it took effect."`
	Metric      val[string]         `yaml:"metric" doc:"A column of the cost table by its JSON name." enum:"metric"`
	Min         val[amountW]        `yaml:"min" doc:"The metric is at least this."`
	Max         val[amountW]        `yaml:"max" doc:"The metric is at most this."`
	About       val[amountW]        `yaml:"about" doc:"The metric is this, give or take a tolerance."`
	Within      val[withinW]        `yaml:"within" doc:"The tolerance of about: a share such as 2%, or an amount (default 5%)." default:"5%"`
	From        val[duration]       `yaml:"from" doc:"With to: only what happens in [from, to) counts, for attempts, succeeded and refused."`
	To          val[duration]       `yaml:"to" doc:"See from."`
	Call        val[int]            `yaml:"call" doc:"A call's number, from 1." minimum:"1"`
	Is          val[string]         `yaml:"is" doc:"admitted, refused, exhausted, or the outcome of its last attempt." enum:"fate"`
}

// duration is a span or an instant, from 0 to ten years.
type duration time.Duration

var durationShape = regexp.MustCompile(durationPattern)

const longestDuration = 87600 * time.Hour

func (d *duration) parse(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil:
		if seconds := inSeconds(text); seconds != "" {
			return fmt.Errorf("%s has no unit; write %s", text, seconds)
		}
		if durationShape.MatchString(text) { // too large for a number of nanoseconds
			return fmt.Errorf("%s is more than ten years", clip(text))
		}
		return fmt.Errorf("%q is not a duration; write it like 30s, 1m30s or 200ms", clip(text))
	case v < 0:
		return fmt.Errorf("%s is negative; durations and instants count from 0", text)
	case v > longestDuration:
		return fmt.Errorf("%s is more than ten years", text)
	}
	*d = duration(v)
	return nil
}

// inSeconds is a plain number as a duration, or nothing if that is none either.
func inSeconds(text string) string {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	for _, s := range []string{text + "s", strconv.FormatFloat(n, 'f', -1, 64) + "s"} {
		if v, err := time.ParseDuration(s); err == nil && v >= 0 && v <= longestDuration && len(s) <= 20 {
			return s
		}
	}
	return ""
}

// outcomes is how many there are.
const outcomes = int(Cancelled) + 1

func (o *Outcome) parse(text string) error {
	i, err := oneOf(text, "an outcome", outcomeNames)
	*o = Outcome(i)
	return err
}

// The words that a key can be one of two. Each is true for the second of two.
type (
	kindWord     bool
	reportsWord  bool
	staleWord    bool
	arrivalsWord bool
)

// The words of which there are three; each is the index of one.
type (
	rateLimitWord int
	gateWord      int
)

var (
	kindWords      = []string{"tool", "model"}
	reportsWords   = []string{"permit", "anonymous"}
	staleWords     = []string{"count", "ignore"}
	arrivalsWords  = []string{"constant", "poisson"}
	rateLimitWords = []string{"wait", "fail", "backoff"}
	gateWords      = []string{"call", "attempt", "retry"}
)

func (w *kindWord) parse(s string) error     { return second((*bool)(w), s, "kind", kindWords) }
func (w *reportsWord) parse(s string) error  { return second((*bool)(w), s, "reports", reportsWords) }
func (w *staleWord) parse(s string) error    { return second((*bool)(w), s, "stale_results", staleWords) }
func (w *arrivalsWord) parse(s string) error { return second((*bool)(w), s, "arrivals", arrivalsWords) }

func (w *rateLimitWord) parse(s string) (err error) {
	*(*int)(w), err = oneOf(s, "on_rate_limit", rateLimitWords)
	return err
}

func (w *gateWord) parse(s string) (err error) {
	*(*int)(w), err = oneOf(s, "gate", gateWords)
	return err
}

func second(w *bool, text, what string, words []string) error {
	i, err := oneOf(text, what, words)
	*w = i == 1
	return err
}

func (r *Rate) parse(text string) error {
	number, per, ok := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	unit := map[string]time.Duration{"s": time.Second, "min": time.Minute, "m": time.Minute, "h": time.Hour}[strings.TrimSpace(per)]
	switch {
	case !ok || err != nil || unit == 0:
		return fmt.Errorf("%q is not a rate; write it like 5/s, 300/min or 2/h", clip(text))
	case !(n >= 0) || n > 1e9 || math.IsInf(n, 0):
		return fmt.Errorf("the rate %s is not above 0 and at most 1000000000/s", text)
	case n > 0 && float64(unit)/n > float64(longestDuration):
		return fmt.Errorf("the rate %s is less than one call in ten years", text)
	}
	*r = Rate{Count: n, Per: unit}
	return nil
}

// rateW is a rate, or stages of them.
type rateW struct {
	one    Rate
	stages []val[stageW]
}

func (w *rateW) decodeNode(d *decoder, n ast.Node, what string) {
	if _, list := n.(*ast.SequenceNode); !list {
		d.decode(n, reflect.ValueOf(&w.one).Elem(), what)
		return
	}
	d.decode(n, reflect.ValueOf(&w.stages).Elem(), what)
	if len(w.stages) == 0 && !d.refused[n] {
		d.fault(n, "the rate has no stages; write one, such as {at: 0s, rate: 5/s}")
	}
}

// withinW is a tolerance: a share or an amount.
type withinW struct {
	share   float64
	isShare bool
	amountW
}

func (w *withinW) parse(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return w.amountW.parse(text)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n >= 0 && n <= 100) {
		return fmt.Errorf("%q is not a tolerance; write a share such as 2%%, or an amount", clip(text))
	}
	w.share, w.isShare = n/100, true
	return nil
}

// momentW is a transition as expectations write it: open@3.5s.
type momentW struct {
	state string
	at    duration
}

func (m *momentW) parse(text string) error {
	state, at, ok := strings.Cut(text, "@")
	if !ok || state == "" {
		return fmt.Errorf("%q is not a transition; write it like open@3.5s", clip(text))
	}
	m.state = state
	return m.at.parse(at)
}

// amountW is a bound of a metric: a number or, for metrics that are durations, a duration.
type amountW struct {
	number   float64
	isNumber bool
	span     duration
}

func (a *amountW) parse(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return errors.New("a bound wants a finite number")
		}
		a.number, a.isNumber = n, true
		return nil
	}
	return a.span.parse(text)
}

// distW is a duration, or one key that names a distribution.
type distW struct{ Dist }

func (w *distW) decodeNode(d *decoder, n ast.Node, what string) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		var fixed val[duration]
		fixed.decodeNode(d, n, what)
		w.Dist = Dist{Kind: Fixed, A: time.Duration(fixed.V)}
		return
	}
	pairs := d.pairs(n, what)
	if len(pairs) != 1 {
		d.fault(n, "%s wants one distribution: uniform, exponential or lognormal", what)
		return
	}
	known := []string{"uniform", "exponential", "lognormal"}
	key, value := pairs[0].Key, pairs[0].Value
	switch keyText(key) {
	case "uniform":
		w.uniform(d, value)
	case "exponential":
		var mean val[duration]
		mean.decodeNode(d, value, "exponential")
		if mean.V == 0 {
			d.fault(value, "the mean of an exponential distribution must be above 0")
		}
		w.Dist = Dist{Kind: Exponential, A: time.Duration(mean.V)}
	case "lognormal":
		w.lognormal(d, value)
	default:
		d.fault(keyNode(key), "unknown distribution %q%s", clip(keyText(key)), meant(keyText(key), known))
	}
}

func (w *distW) uniform(d *decoder, n ast.Node) {
	var ends val[[]val[duration]]
	before := len(d.faults.Faults)
	ends.decodeNode(d, n, "uniform")
	switch {
	case len(d.faults.Faults) > before:
	case len(ends.V) != 2:
		d.fault(n, "uniform wants two durations: [100ms, 1s]")
	case ends.V[0].V > ends.V[1].V:
		d.fault(n, "uniform goes from %v down to %v; write the shorter one first", short(ends.V[0].V), short(ends.V[1].V))
	default:
		w.Dist = Dist{Kind: Uniform, A: time.Duration(ends.V[0].V), B: time.Duration(ends.V[1].V)}
	}
}

type percentilesW struct {
	P50 val[duration] `yaml:"p50" doc:"The median." required:"true"`
	P99 val[duration] `yaml:"p99" doc:"The 99th percentile." required:"true"`
}

func (w *distW) lognormal(d *decoder, n ast.Node) {
	var p percentilesW
	before := len(d.faults.Faults)
	d.decode(n, reflect.ValueOf(&p).Elem(), "lognormal")
	switch {
	case len(d.faults.Faults) > before:
	case !p.P50.said() || !p.P99.said():
		d.fault(n, "lognormal wants p50 and p99: {p50: 200ms, p99: 2s}")
	case p.P50.V == 0 || p.P99.V < p.P50.V:
		d.fault(n, "lognormal wants p50 above 0 and p99 no shorter than p50")
	default:
		w.Dist = Dist{Kind: Lognormal, A: time.Duration(p.P50.V), B: time.Duration(p.P99.V)}
	}
}

// mixW is outcomes and probabilities.
type mixW struct{ Mix }

func (w *mixW) decodeNode(d *decoder, n ast.Node, what string) {
	var shares [outcomes]float64
	sum := 0.0
	before := len(d.faults.Faults)
	for _, kv := range d.pairs(n, what) {
		var o Outcome
		var p val[float64]
		if err := o.parse(keyText(kv.Key)); err != nil {
			d.fault(keyNode(kv.Key), "%v", err)
			continue
		}
		p.decodeNode(d, kv.Value, o.String())
		if p.V < 0 || p.V > 1 {
			d.fault(kv.Value, "a probability of %v; it must be from 0 to 1", p.V)
		}
		shares[o] = p.V
		sum += p.V
	}
	if len(d.faults.Faults) > before {
		return
	}
	if math.Abs(sum-1) > 1e-9 {
		d.fault(n, "the probabilities of the mix sum to %v; they must sum to 1", math.Round(sum*1e9)/1e9)
		return
	}
	for o, p := range shares {
		if p > 0 {
			w.Mix = append(w.Mix, Share{Outcome(o), p})
		}
	}
}

// backupW is a name, or a mapping with a budget.
type backupW struct {
	Name         val[string] `yaml:"name" doc:"A target." required:"true"`
	MaxFailCount val[int]    `yaml:"max_fail_count" doc:"Failed turns that it may have."`
}

func (w *backupW) decodeNode(d *decoder, n ast.Node, what string) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		d.structure(n, reflect.ValueOf(w).Elem(), what)
		if !w.Name.said() && !d.perhaps(n, "name") {
			d.fault(n, "a backup has no name")
		}
	default:
		w.Name.decodeNode(d, n, what)
	}
}

// policyW is the name of a built-in policy, or one of your own.
type policyW struct {
	builtin val[string]
	own     ownPolicyW
}

func (w *policyW) decodeNode(d *decoder, n ast.Node, what string) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		d.structure(n, reflect.ValueOf(&w.own).Elem(), what)
	default:
		w.builtin.decodeNode(d, n, "a policy")
	}
}

// policyBreakersW is none, or settings by breaker.
type policyBreakersW struct {
	none    bool
	changes named[changeW]
}

type changeW struct {
	Reports val[reportsWord] `yaml:"reports" doc:"permit or anonymous."`
	settingsW
}

func (w *policyBreakersW) decodeNode(d *decoder, n ast.Node, what string) {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		w.changes.decodeNode(d, n, what)
	default:
		var word val[string]
		word.decodeNode(d, n, what)
		if w.none = word.V == "none"; !w.none {
			d.fault(n, "breakers wants none, or settings by breaker: {search: {failure_threshold: 5}}")
		}
	}
}
