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
	scopeWord     int
)

var (
	kindWords      = []string{"tool", "model"}
	reportsWords   = []string{"permit", "anonymous"}
	staleWords     = []string{"count", "ignore"}
	arrivalsWords  = []string{"constant", "poisson"}
	rateLimitWords = []string{"wait", "fail", "backoff"}
	gateWords      = []string{"call", "attempt", "retry"}
	scopeWords     = []string{"all", "caller", "host"} // in the order of [Scope]
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

func (w *scopeWord) parse(s string) (err error) {
	*(*int)(w), err = oneOf(s, "per", scopeWords)
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
	Per     val[scopeWord]   `yaml:"per" doc:"all, caller or host."`
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
