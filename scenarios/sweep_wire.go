package scenarios

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/invopop/jsonschema"
)

// sweepW is the format of sweep files; see [fileW].
type sweepW struct {
	Sweep        val[string]         `yaml:"sweep" doc:"The sweep's id: lower-case letters, digits and '-'." pattern:"^[a-z0-9-]+$" required:"true"`
	Title        val[string]         `yaml:"title" doc:"One line, for pictures and lists."`
	About        val[string]         `yaml:"about" doc:"What is asked, and why it matters."`
	Base         val[string]         `yaml:"base" doc:"A built-in scenario, or a file from where the sweep's file is." required:"true"`
	Worlds       named[worldW]       `yaml:"worlds" doc:"What to change of the base in every run, by path, such as targets.search.phases.0.for; {one_of: ...} is drawn for each replication."`
	Axes         named[axisW]        `yaml:"axes" doc:"Settings to try, by path, such as breakers.search.failure_threshold, and their values." required:"true"`
	Policies     val[[]val[policyW]] `yaml:"policies" doc:"The policies to play (default: the base's)."`
	Replications val[int]            `yaml:"replications" doc:"Worlds in which each setting is played under each policy (default 100)." default:"100" minimum:"2"`
	Seed         val[uint64]         `yaml:"seed" doc:"Names all randomness (default 1)." minimum:"0" default:"1"`
	Metrics      val[[]val[string]]  `yaml:"metrics" doc:"Columns of the cost table, the weightiest first (default: failed, wasted_attempts, wait_wasted, harm, overshoot)."`
	Reference    named[flowW]        `yaml:"reference" doc:"Values, by axis, that the others are compared with (default: the middle ones)."`
}

// flowW is any value, as text on one line.
type flowW struct{ text string }

func (w *flowW) decodeNode(d *decoder, n ast.Node, _ string) {
	for _, t := range []ast.NodeType{ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType} {
		if len(ast.Filter(t, n)) > 0 {
			d.fault(n, writeItOut)
			return
		}
	}
	w.text = (&edit{}).flow(n)
}

// worldW is a value, or some of which one is drawn.
type worldW struct {
	choices []Choice // one: it is not drawn
	nodes   []ast.Node
}

func (w *worldW) decodeNode(d *decoder, n ast.Node, what string) {
	pairs := entries(n)
	if len(pairs) != 1 || keyText(pairs[0].Key) != "one_of" {
		var f flowW
		if f.decodeNode(d, n, what); f.text != "" {
			w.choices, w.nodes = []Choice{{f.text, 1}}, []ast.Node{n}
		}
		return
	}
	of := pairs[0].Value
	sum := 0.0
	add := func(v ast.Node, p float64) {
		var f flowW
		f.decodeNode(d, v, what)
		w.choices, w.nodes = append(w.choices, Choice{f.text, p}), append(w.nodes, v)
		sum += p
	}
	if list, ok := of.(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			add(v, 1/float64(len(list.Values)))
		}
	} else {
		for _, kv := range d.pairs(of, "one_of") {
			var p val[float64]
			if p.decodeNode(d, kv.Value, keyText(kv.Key)); p.V < 0 || p.V > 1 {
				d.fault(kv.Value, "a probability of %v; it must be from 0 to 1", p.V)
			}
			add(keyNode(kv.Key), p.V)
		}
	}
	switch {
	case d.refused[of]:
	case len(w.choices) < 2:
		d.fault(of, "one_of wants two values or more: [timeout, failure], or {timeout: 0.7, failure: 0.3}")
	case math.Abs(sum-1) > 1e-9:
		d.fault(of, "the probabilities of one_of sum to %v; they must sum to 1", math.Round(sum*1e9)/1e9)
	}
}

// axisW is values: a list of them, or a range.
type axisW struct {
	values []string
	nodes  []ast.Node // of a list
}

// place is where the value stands.
func (w *axisW) place(i int, axis ast.Node) ast.Node {
	if i < len(w.nodes) {
		return w.nodes[i]
	}
	return axis
}

func (*axisW) empty() bool { return true }

func (w *axisW) decodeNode(d *decoder, n ast.Node, what string) {
	switch x := n.(type) {
	case *ast.SequenceNode:
		for _, v := range x.Values {
			var f flowW
			f.decodeNode(d, v, what)
			if slices.Contains(w.values, f.text) {
				d.fault(v, "%s is here twice", clip(f.text))
			}
			w.values, w.nodes = append(w.values, f.text), append(w.nodes, v)
		}
	case *ast.MappingNode, *ast.MappingValueNode:
		var r rangeW
		before := len(d.faults.Faults)
		if d.structure(n, reflect.ValueOf(&r).Elem(), what); len(d.faults.Faults) == before {
			w.values = r.values(d, n)
		}
		d.refused[n] = len(d.faults.Faults) > before // nothing else is said of it
	default:
		d.fault(n, "an axis wants a list such as [1, 3, 5], or a range: {from: 5s, to: 2m, steps: 8, scale: log}")
	}
}

// rangeW is values in even steps.
type rangeW struct {
	From  val[endW]      `yaml:"from" doc:"The first value: a number, a share such as 10%, or a duration." required:"true"`
	To    val[endW]      `yaml:"to" doc:"The last value." required:"true"`
	Steps val[int]       `yaml:"steps" doc:"How many values, these two among them." required:"true" minimum:"2"`
	Scale val[scaleWord] `yaml:"scale" doc:"linear (default): they differ by as much; log: by the same factor." default:"linear"`
}

// endW is an end of a range.
type endW struct {
	amountW
	percent bool // of a hundred, as it is written
}

func (w *endW) parse(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		return w.amountW.parse(text)
	}
	var share shareW
	if err := share.parse(text); err != nil {
		return err
	}
	w.percent = true
	return w.amountW.parse(strings.TrimSpace(number))
}

func (*endW) schema() *jsonschema.Schema {
	return either(&jsonschema.Schema{Type: "string", Pattern: sharePattern, Examples: []any{"10%"}}, new(amountW).schema())
}

// text is a value between the ends as the file would have it.
func (w *endW) text(v float64) string {
	switch {
	case w.percent:
		return strconv.FormatFloat(v, 'f', -1, 64) + "%"
	case w.isNumber:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return short(time.Duration(v))
}

// scaleWord is true for log.
type scaleWord bool

var scaleWords = []string{"linear", "log"}

func (w *scaleWord) parse(s string) error     { return second((*bool)(w), s, "scale", scaleWords) }
func (*scaleWord) schema() *jsonschema.Schema { return words(scaleWords) }

// mostSteps of one range.
const mostSteps = 10_000

// values are the range's, whole where both ends are, and otherwise rounded to
// three digits so that people can say them.
func (r *rangeW) values(d *decoder, n ast.Node) (all []string) {
	from, to := r.From.V.value(), r.To.V.value()
	switch {
	case !r.From.said() || !r.To.said() || !r.Steps.said():
		if !d.perhaps(n, "from", "to", "steps") {
			d.fault(n, "a range wants from, to and steps: {from: 5s, to: 2m, steps: 8, scale: log}")
		}
		return nil
	case r.From.V.isNumber != r.To.V.isNumber || r.From.V.percent != r.To.V.percent:
		d.fault(r.To.node, "from and to are not of one kind; write two durations, two shares or two numbers")
		return nil
	case from >= to:
		d.fault(r.To.node, "the range ends at %s, which is not above %s", r.To.V.text(to), r.From.V.text(from))
		return nil
	case r.Steps.V < 2 || r.Steps.V > mostSteps:
		d.fault(r.Steps.node, "steps must be from 2 to %d", mostSteps)
		return nil
	case bool(r.Scale.V) && from <= 0:
		d.fault(r.From.node, "a log scale begins above 0")
		return nil
	}
	whole := r.From.V.isNumber && !r.From.V.percent && from == math.Trunc(from) && to == math.Trunc(to)
	for i := range r.Steps.V {
		v := from
		switch share := float64(i) / float64(r.Steps.V-1); {
		case i == r.Steps.V-1:
			v = to
		case i > 0 && bool(r.Scale.V):
			v = threeDigits(from*math.Pow(to/from, share), whole)
		case i > 0:
			v = threeDigits(from+float64((to-from)*share), whole)
		}
		text := r.From.V.text(v)
		if slices.Contains(all, text) {
			d.fault(r.Steps.node, "with %d steps two values are %s; take fewer steps", r.Steps.V, text)
			return nil
		}
		all = append(all, text)
	}
	return all
}

// value is the number, or the duration in nanoseconds.
func (a *amountW) value() float64 {
	if a.isNumber {
		return a.number
	}
	return float64(a.span)
}

func threeDigits(v float64, whole bool) float64 {
	if whole {
		return math.Round(v)
	}
	rounded, err := strconv.ParseFloat(fmt.Sprintf("%.2e", v), 64)
	if err != nil {
		return v
	}
	return rounded
}

// SweepSchema is the JSON Schema of sweep files; see [Schema].
func SweepSchema() []byte {
	return schemaFile(reflect.TypeFor[sweepW](), "breakersim sweep")
}

func (*flowW) schema() *jsonschema.Schema { return &jsonschema.Schema{} }

func (*worldW) schema() *jsonschema.Schema { return &jsonschema.Schema{} }

func (*axisW) schema() *jsonschema.Schema {
	least := uint64(1)
	return either(&jsonschema.Schema{Type: "array", MinItems: &least}, objectSchema(reflect.TypeFor[rangeW]()))
}
