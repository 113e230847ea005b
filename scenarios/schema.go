package scenarios

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/breakersim/breakersim/machine"
)

const (
	durationPattern = `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`
	ratePattern     = `^[0-9.]+ */ *(s|min|m|h)$`
)

// Schema is the JSON Schema (draft 2020-12) of scenario files, made from the
// types that the decoder reads. Editors complete and check files by it; what
// needs more than one place of a file to see, such as an unknown name, only
// [Load] finds.
func Schema() []byte { return schemaFile(reflect.TypeFor[fileW](), "breakersim scenario") }

func schemaFile(t reflect.Type, title string) []byte {
	s := schemaOf(t)
	s.Version = jsonschema.Version
	s.Title = title
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("scenarios: " + err.Error()) // it has nothing that does not encode
	}
	return append(b, '\n')
}

// schemed is for types whose schema their Go type does not show.
type schemed interface{ schema() *jsonschema.Schema }

func schemaOf(t reflect.Type) *jsonschema.Schema {
	if s, ok := reflect.New(t).Interface().(schemed); ok {
		return s.schema()
	}
	switch t.Kind() {
	case reflect.Struct:
		return objectSchema(t)
	case reflect.Slice:
		return &jsonschema.Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Int, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer"}
	case reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}
	default:
		panic("scenarios: no schema for a " + t.String())
	}
}

func objectSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema}
	for _, f := range reflect.VisibleFields(t) {
		key := f.Tag.Get("yaml")
		if key == "" {
			continue
		}
		p := schemaOf(f.Type)
		p.Description = f.Tag.Get("doc")
		if v := f.Tag.Get("pattern"); v != "" {
			p.Pattern = v
		}
		p.Minimum, p.Maximum = json.Number(f.Tag.Get("minimum")), json.Number(f.Tag.Get("maximum"))
		p.Enum = append(p.Enum, enums()[f.Tag.Get("enum")]...)
		if v := f.Tag.Get("default"); v != "" {
			p.Default = v
			if p.Type == "integer" || p.Type == "number" {
				p.Default = json.Number(v)
			}
		}
		if f.Tag.Get("required") != "" {
			s.Required = append(s.Required, key)
		}
		s.Properties.Set(key, p)
	}
	return s
}

// enums are the words that strings can be, by the enum tag of their fields.
func enums() map[string][]any {
	all := map[string][]any{}
	for _, c := range machine.Curves {
		all["ladder"] = append(all["ladder"], c.Name)
	}
	for _, j := range machine.Jitters {
		all["jitter"] = append(all["jitter"], j.Name)
	}
	for _, m := range Metrics {
		all["metric"] = append(all["metric"], m.Name)
	}
	for _, p := range presets {
		all["preset"] = append(all["preset"], p.Name)
	}
	for _, f := range fates {
		all["fate"] = append(all["fate"], f)
	}
	for _, s := range slices.Concat(toolStates, modelStates) {
		all["state"] = append(all["state"], s.String())
	}
	return all
}

func (v *val[T]) schema() *jsonschema.Schema { return schemaOf(reflect.TypeFor[T]()) }

func (m *named[T]) schema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: orNull(schemaOf(reflect.TypeFor[T]()))}
}

// orNull lets a name stand without a value: `opus:` is a target with every default.
func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if len(s.Required) > 0 {
		return s
	}
	return either(s, &jsonschema.Schema{Type: "null"})
}

func either(s ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: s} }

func words(known []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range known {
		s.Enum = append(s.Enum, w)
	}
	return s
}

func one(key string, value *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, Required: []string{key}}
	s.Properties.Set(key, value)
	return s
}

func (*duration) schema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: durationPattern, Examples: []any{"200ms", "30s", "1m30s"}}
}

func (*Outcome) schema() *jsonschema.Schema       { return words(outcomeNames) }
func (*kindWord) schema() *jsonschema.Schema      { return words(kindWords) }
func (*reportsWord) schema() *jsonschema.Schema   { return words(reportsWords) }
func (*staleWord) schema() *jsonschema.Schema     { return words(staleWords) }
func (*arrivalsWord) schema() *jsonschema.Schema  { return words(arrivalsWords) }
func (*rateLimitWord) schema() *jsonschema.Schema { return words(rateLimitWords) }
func (*gateWord) schema() *jsonschema.Schema      { return words(gateWords) }
func (*scopeWord) schema() *jsonschema.Schema     { return words(scopeWords) }

func (*Rate) schema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: ratePattern, Examples: []any{"5/s", "300/min"}}
}

func (*rateW) schema() *jsonschema.Schema {
	return either(new(Rate).schema(), &jsonschema.Schema{Type: "array", Items: objectSchema(reflect.TypeFor[stageW]())})
}

func (*withinW) schema() *jsonschema.Schema {
	return either(&jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+ *%$`, Examples: []any{"2%"}}, new(amountW).schema())
}

func (*momentW) schema() *jsonschema.Schema {
	var states []string
	for _, s := range slices.Concat(toolStates, modelStates) {
		states = append(states, s.String())
	}
	return &jsonschema.Schema{Type: "string", Pattern: "^(" + strings.Join(states, "|") + ")@" + durationPattern[1:], Examples: []any{"open@3.5s"}}
}

func (*amountW) schema() *jsonschema.Schema {
	return either(&jsonschema.Schema{Type: "number"}, new(duration).schema())
}

func (*distW) schema() *jsonschema.Schema {
	two, d := uint64(2), new(duration)
	ends := &jsonschema.Schema{Type: "array", Items: d.schema(), MinItems: &two, MaxItems: &two}
	return either(d.schema(), one("uniform", ends), one("exponential", d.schema()), one("lognormal", schemaOf(reflect.TypeFor[percentilesW]())))
}

func (*mixW) schema() *jsonschema.Schema {
	p := &jsonschema.Schema{Type: "number", Minimum: "0", Maximum: "1"}
	return &jsonschema.Schema{Type: "object", PropertyNames: words(outcomeNames), AdditionalProperties: p}
}

func (*backupW) schema() *jsonschema.Schema {
	return either(&jsonschema.Schema{Type: "string"}, objectSchema(reflect.TypeFor[backupW]()))
}

func (*policyW) schema() *jsonschema.Schema {
	return either(words(builtinPolicyNames()), objectSchema(reflect.TypeFor[ownPolicyW]()))
}

func (*configureW) schema() *jsonschema.Schema {
	return changing(objectSchema(reflect.TypeFor[configureW]()))
}

// changing has no defaults: what it leaves out stays as it is.
func changing(s *jsonschema.Schema) *jsonschema.Schema {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value.Default = nil
	}
	return s
}

func (*policyBreakersW) schema() *jsonschema.Schema {
	s := changing(objectSchema(reflect.TypeFor[changeW]()))
	return either(words([]string{"none"}), &jsonschema.Schema{Type: "object", AdditionalProperties: orNull(s)})
}
