package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSchema checks some places of the schema.
func TestSchema(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	at := func(path ...string) any {
		var v any = schema
		for _, p := range path {
			m, ok := v.(map[string]any)
			require.True(t, ok, path)
			v = m[p]
		}
		return v
	}
	assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", at("$schema"))
	assert.Equal(t, []any{"scenario"}, at("required"))
	assert.Equal(t, false, at("additionalProperties"))
	assert.Equal(t, "^[a-z0-9-]+$", at("properties", "scenario", "pattern"))
	assert.Equal(t, []any{"tool", "model"}, at("properties", "breakers", "additionalProperties", "properties", "kind", "enum"))
	assert.Equal(t, float64(0), at("properties", "breakers", "additionalProperties", "properties", "failure_threshold", "minimum"))
	assert.Equal(t, float64(3), at("properties", "breakers", "additionalProperties", "properties", "failure_threshold", "default"))
	assert.Equal(t, []any{"exponential", "fixed"}, at("properties", "policies", "items", "anyOf").([]any)[1].(map[string]any)["properties"].(map[string]any)["retry"].(map[string]any)["properties"].(map[string]any)["ladder"].(map[string]any)["enum"])
	assert.Len(t, at("properties", "expect", "items", "properties", "metric", "enum"), len(Metrics))
	assert.Equal(t, durationPattern, at("properties", "calls", "items", "properties", "takes", "pattern"))
	assert.Equal(t, string(Schema()), string(Schema()))
}

// TestSchemaKnowsEveryScenario checks the scenarios that load by the schema too.
func TestSchemaKnowsEveryScenario(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	sources := map[string][]byte{}
	for _, name := range Names() {
		sources[name], _ = Source(name)
	}
	for _, dir := range []string{"vectors", "stories"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "shared", dir, "*.yaml"))
		require.NoError(t, err)
		for _, file := range files {
			sources[file], err = os.ReadFile(file)
			require.NoError(t, err)
		}
	}
	for name, src := range sources {
		var file any
		require.NoError(t, yaml.Unmarshal(src, &file))
		if m, ok := file.(map[string]any); ok { // a list without an item yet is a hint to an editor, and no fault
			maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
		}
		assert.Empty(t, check(schema, file, "$"), name)
	}
}

// TestSchemaRefuses has the schema find what only one place of a file shows.
func TestSchemaRefuses(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	for src, want := range map[string]string{
		"{}":                                  "$: no scenario",
		"{scenario: A}":                       "$.scenario: A",
		"{scenario: a, titel: x}":             "$: titel is not known",
		"{scenario: a, duration: 30}":         "$.duration: not a string",
		"{scenario: a, seed: -1}":             "$.seed: -1",
		"{scenario: a, expect: [{is: gone}]}": "$.expect[0].is: gone",
		"{scenario: a, targets: {x: {mix: {succes: 1}}}}":                            "$.targets.x: fits none of 2",
		"{scenario: a, policies: [{name: x, retry: {jitter: some}}]}":                "$.policies[0]: fits none of 2",
		"{scenario: a, callers: [{to: x, rate: 5}]}":                                 "$.callers[0].rate: fits none of 2",
		"{scenario: a, policies: [{name: x, breakers: {s: {kind: tool}}}], seed: 3}": "$.policies[0]: fits none of 2",
		"{scenario: a, breakers: {x: {kind: tool, failure_rate: 50}}}":               "$.breakers.x.failure_rate: fits none of 2",
		"{scenario: a, breakers: {x: {kind: tool, window: 100}}}":                    "$.breakers.x.window: fits none of 2",
		"{scenario: a, breakers: {x: {kind: tool, probes: 0}}}":                      "$.breakers.x.probes: fits none of 2",
		"{scenario: a, breakers: {x: {kind: tool, counts: {permanent: nothing}}}}":   "$.breakers.x.counts.permanent: nothing",
		"{scenario: a, breakers: {x: {kind: tool, like: polli}}}":                    "$.breakers.x.like: polli",
		"{scenario: a, breakers: {x: {kind: tool, recovery_growth: 0.5}}}":           "$.breakers.x.recovery_growth: 0.5",
		"{scenario: a, policies: [{name: x, breakers: {s: {window: {calls: 0}}}}]}":  "$.policies[0]: fits none of 2",
	} {
		var file any
		require.NoError(t, yaml.Unmarshal([]byte(src), &file))
		assert.Equal(t, []string{want}, check(schema, file, "$"), src)
	}
}

// TestSchemaKnowsTheSettings reads those that the decoder takes.
func TestSchemaKnowsTheSettings(t *testing.T) {
	var schema map[string]any
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	for _, settings := range []string{
		"like: resilience4j, window: {calls: 10}, minimum_calls: 10, failure_rate: 20%, slow_rate: 0.5",
		"window: {time: 10s, buckets: 5}, window_failures: 3, slow_after: 1s, slow: failure, counts: {permanent: ignore}",
		"window: none, success_clears: false, forget_failures_after: 10s, probe: none, ramp: 10s, ramp_from: 12.5 %",
		"probes: any, probes_in_all: 9, probe_successes: 3, probe_failure_rate: .5, cancelled_probe: release",
		"probes: 2, recovery_growth: 2.5, recovery_longest: 1m, recovery_forget: 1m, recovery_jitter: 10%, retry_after: heed, late_failures: ignore",
	} {
		src := "{scenario: a, targets: {x: {}}, breakers: {x: {kind: tool, " + settings + "}}, calls: [{at: 0s, to: x}]}"
		_, err := load(src)
		require.NoError(t, err)
		var file any
		require.NoError(t, yaml.Unmarshal([]byte(src), &file))
		assert.Empty(t, check(schema, file, "$"), settings)
	}
}

// check says what is wrong with v by as much of JSON Schema as ours uses.
func check(schema, v any, at string) (faults []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			return []string{at + ": is not known"}
		}
		return nil
	}
	add := func(format string, a ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, a...)) }
	if any, ok := s["anyOf"].([]any); ok {
		if !slices.ContainsFunc(any, func(one interface{}) bool { return len(check(one, v, at)) == 0 }) {
			add("fits none of %d", len(any))
		}
		return faults
	}
	if want, ok := s["type"].(string); ok && !isA(want, v) {
		add("not a %s", want)
		return faults
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, v) {
		add("%v", v)
	}
	if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v.(string)) {
		add("%v", v)
	}
	for key, sign := range map[string]int{"minimum": -1, "maximum": 1} {
		if limit, ok := s[key].(float64); ok && number(v).Cmp(big.NewFloat(limit)) == sign {
			add("%v", v)
		}
	}
	switch x := v.(type) {
	case []any:
		for i := range x {
			faults = append(faults, check(s["items"], x[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
	case map[string]any:
		faults = append(faults, checkKeys(s, x, at)...)
	}
	return faults
}

func checkKeys(s, v map[string]any, at string) (faults []string) {
	required, _ := s["required"].([]any)
	for _, key := range required {
		if _, ok := v[key.(string)]; !ok {
			faults = append(faults, fmt.Sprintf("%s: no %s", at, key))
		}
	}
	known, _ := s["properties"].(map[string]any)
	for key, value := range v {
		faults = append(faults, check(s["propertyNames"], key, at+"."+key)...)
		if property, ok := known[key]; ok {
			faults = append(faults, check(property, value, at+"."+key)...)
		} else if s["additionalProperties"] == false {
			faults = append(faults, fmt.Sprintf("%s: %s is not known", at, key))
		} else {
			faults = append(faults, check(s["additionalProperties"], value, at+"."+key)...)
		}
	}
	return faults
}

func isA(want string, v any) bool {
	switch want {
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		_, ok := v.([]any)
		return ok
	case "number":
		return v != nil && number(v) != nil
	case "integer":
		return v != nil && number(v) != nil && number(v).IsInt()
	case "null":
		return v == nil
	default:
		return v != nil && reflect.TypeOf(v).Kind() == map[string]reflect.Kind{"string": reflect.String, "boolean": reflect.Bool}[want]
	}
}

// number is v if it is one, or nil.
func number(v any) *big.Float {
	switch x := v.(type) {
	case uint64:
		return new(big.Float).SetUint64(x)
	case int64:
		return new(big.Float).SetInt64(x)
	case float64:
		return big.NewFloat(x)
	}
	return nil
}
