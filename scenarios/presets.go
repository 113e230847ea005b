package scenarios

import (
	"strings"
	"sync"
)

// Preset is how another library's breaker is set by default, in our settings. A
// breaker that says like: and its name is set so.
type Preset struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`     // of breaker: "tool" or "model"
	Version  string   `json:"version"`  // of the library, whose documentation and source it was taken from
	Source   []string `json:"source"`   // where those are
	Settings string   `json:"settings"` // YAML, as it can stand in a breaker's mapping
	Cannot   []string `json:"cannot"`   // what cannot be expressed, a sentence each
}

// lateAnswers is what those have in common whose results do not say of which
// call they are.
const lateAnswers = "anonymous: a result does not say of which call it is, so that of a call from before it opened may close it again."

// presets are all of them; a further one is one more row.
var presets = []Preset{
	{
		Name: "resilience4j", Kind: "tool", Version: "Resilience4j 2.x",
		Source: []string{"https://resilience4j.readme.io/docs/circuitbreaker", "https://github.com/resilience4j/resilience4j/blob/master/resilience4j-circuitbreaker/src/main/java/io/github/resilience4j/circuitbreaker/CircuitBreakerConfig.java"},
		Settings: `failure_rate: 50%
window: {calls: 100}
minimum_calls: 100
slow_after: 60s
slow_rate: 100%
recovery_duration: 60s
late_failures: ignore
probes: 10
probes_in_all: 10
probe_successes: 10
probe_failure_rate: 50%
probe_slow_rate: 100%
probe_timeout: 0s
cancelled_probe: release
`,
		Cannot: []string{
			"A call that was admitted before it opened and ends in half-open counts there among the ten results; here it is ignored.",
			"It is half-open strictly after the wait, and here from its end on.",
			"A minimumNumberOfCalls above the window's size is taken as that size; here that is an error.",
			"In half-open it looks at the ten results at once, or at fewer where minimumNumberOfCalls is smaller.",
			"A failure of a kind in ignoreExceptions counts as nothing, and there is none by default: say so with counts.",
			"A future that is cancelled counts as a failure, a reactive call as nothing; here each counts as nothing.",
			"A window of time has buckets of a second each: write window: {time: 100s, buckets: 100}.",
		},
	},
	{
		Name: "polly", Kind: "tool", Version: "Polly 8",
		Source: []string{"https://www.pollydocs.org/strategies/circuit-breaker", "https://github.com/App-vNext/Polly/tree/main/src/Polly.Core/CircuitBreaker"},
		Settings: `failure_rate: 10%
window: {time: 30s, buckets: 10}
minimum_calls: 100
recovery_duration: 5s
late_failures: ignore
probe_timeout: 0s
counts: {cancelled: success}
reports: anonymous
`,
		Cannot: []string{
			"Its ten buckets begin with the first result after the one before, and here at whole multiples of 3 s.",
			"By default no result but an exception is handled: an HTTP response of 429 or 404 is a success there. Write counts: {permanent: success} for that.",
			"It is " + lateAnswers,
			"The breaks that a BreakDurationGenerator makes are its own; recovery_growth and recovery_jitter make the usual ones.",
		},
	},
	{
		Name: "hystrix", Kind: "tool", Version: "Hystrix 1.5.18",
		Source: []string{"https://github.com/Netflix/Hystrix/wiki/Configuration", "https://github.com/Netflix/Hystrix/blob/master/hystrix-core/src/main/java/com/netflix/hystrix/HystrixCircuitBreaker.java"},
		Settings: `failure_rate: 50%
window: {time: 10s, buckets: 10}
minimum_calls: 20
recovery_duration: 5s
late_failures: ignore
probe_timeout: 0s
reports: anonymous
`,
		Cannot: []string{
			"It looks at the rate when a health snapshot is made, twice a second, and not with each result.",
			"It rounds the rate down to whole percents.",
			"A command's own timeout of 1 s is no setting of a breaker here: give it to the callers.",
			"Refusals by a full thread pool or semaphore count as failures; there are none here.",
			"A probe that is cancelled opens it again; here it is held until its lease ends, and there is none.",
			"A HystrixBadRequestException counts as nothing: write counts: {permanent: ignore} for that.",
			"It is half-open strictly after the sleep window, and here from its end on.",
			"It is " + lateAnswers,
		},
	},
	{
		Name: "envoy-outlier-detection", Kind: "tool", Version: "Envoy 1.39",
		Source: []string{"https://www.envoyproxy.io/docs/envoy/v1.39.1/intro/arch_overview/upstream/outlier", "https://www.envoyproxy.io/docs/envoy/v1.39.1/api-v3/config/cluster/v3/outlier_detection.proto"},
		Settings: `failure_threshold: 5
counts: {rate_limit: success, permanent: success}
recovery_duration: 30s
recovery_growth: 2
recovery_longest: 300s
recovery_forget: 10s
late_failures: ignore
probe: none
`,
		Cannot: []string{
			"It is for one host of a cluster: a breaker here stands for one host.",
			"An ejection lasts the base time multiplied by the number of ejections, 30 s, 60 s, 90 s; here it doubles, 30 s, 60 s, 120 s.",
			"That number falls by one with each interval of 10 s in good health, and here it is forgotten at once after such an interval.",
			"A host returns when the interval's timer of 10 s comes round, so up to 10 s later than here.",
			"At most a tenth of the hosts are ejected (max_ejection_percent), and all of them are called in a panic.",
			"A host whose success rate is far below that of the others is ejected too (success_rate_stdev_factor); breakers here do not look at each other.",
		},
	},
	{
		Name: "opossum", Kind: "tool", Version: "opossum 10.0.0",
		Source: []string{"https://nodeshift.dev/opossum/", "https://github.com/nodeshift/opossum/blob/main/lib/circuit.js"},
		Settings: `failure_rate: 50.001%
window: {time: 10s, buckets: 10}
recovery_duration: 30s
late_failures: ignore
probe_timeout: 0s
counts: {cancelled: failure}
reports: anonymous
`,
		Cannot: []string{
			"It opens above 50%, and not at 50%: 50.001% says the same of up to 25,000 calls in the window.",
			"Calls count in the window from their start, so those in flight, and those that it refused, make the rate smaller.",
			"Its buckets begin when the breaker is made, and here at whole multiples of 1 s.",
			"An action's own timeout of 10 s is no setting of a breaker here: give it to the callers.",
			"It is half-open when the timer rings, and here with the first call after.",
			"Closing does not empty the window; after 30 s open there is nothing left in it but refusals.",
			"It is " + lateAnswers,
		},
	},
	{
		Name: "gobreaker", Kind: "tool", Version: "gobreaker v2.4.0",
		Source: []string{"https://pkg.go.dev/github.com/sony/gobreaker/v2@v2.4.0", "https://github.com/sony/gobreaker/blob/v2.4.0/v2/gobreaker.go"},
		Settings: `failure_threshold: 6
recovery_duration: 60s
stale_results: ignore
late_failures: ignore
probes: 1
probe_successes: 1
probe_timeout: 0s
counts: {cancelled: failure}
`,
		Cannot: []string{
			"It is half-open strictly after the timeout, and here from its end on.",
			"A MaxRequests of n is probes: n and probe_successes: n.",
			"With an Interval it forgets all counts when that comes round; here a window forgets them bucket by bucket.",
			"An error of a kind in IsExcluded counts as nothing, and there is none by default: say so with counts.",
		},
	},
	{
		Name: "failsafe-go", Kind: "tool", Version: "failsafe-go v0.9.8",
		Source: []string{"https://failsafe-go.dev/circuit-breaker/", "https://pkg.go.dev/github.com/failsafe-go/failsafe-go@v0.9.8/circuitbreaker"},
		Settings: `failure_threshold: 1
recovery_duration: 60s
late_failures: ignore
probes: 1
probe_successes: 1
probe_timeout: 0s
counts: {cancelled: failure}
reports: anonymous
`,
		Cannot: []string{
			"Each result in half-open makes room for a probe more, also that of a call from before it opened.",
			"A threshold of k failures in n calls is window: {calls: n} and window_failures: k; its ring is empty again after each change of state.",
			"A failure rate needs windows of time there, and half-open then waits for as many results as its minimum says: say so with probe_successes and probe_failure_rate.",
			"A WithDelayFunc makes its own delays; retry_after: heed is the usual one.",
			"It is " + lateAnswers,
		},
	},
	{
		Name: "eapache", Kind: "tool", Version: "go-resiliency v1.7.0",
		Source: []string{"https://pkg.go.dev/github.com/eapache/go-resiliency@v1.7.0/breaker", "https://github.com/eapache/go-resiliency/blob/v1.7.0/breaker/README.md"},
		Settings: `failure_threshold: 3
success_clears: false
forget_failures_after: 5s
recovery_duration: 5s
late_failures: ignore
probes: any
probe_successes: 1
probe_timeout: 0s
counts: {cancelled: failure}
reports: anonymous
`,
		Cannot: []string{
			"It has no defaults; these are its README's: 3 errors, 1 success, 5 s.",
			"One timeout is both the cooldown and how long errors are remembered; change both together.",
			"It is half-open when the timer rings, and here with the first call after.",
			"It is anonymous: a failure of a call from before it opened counts in half-open; a success of such a call is ignored there, and here it may close it again.",
		},
	},
	{
		Name: "litellm-router", Kind: "model", Version: "LiteLLM 1.104",
		Source: []string{"https://docs.litellm.ai/docs/routing", "https://docs.litellm.ai/docs/router/learn/reliability"},
		Settings: `trip_threshold: 4
recovery_timeout: 5s
recovery_successes_needed: 1
probation_failures: 4
retry_after: heed
entry_cooldown: 5s
`,
		Cannot: []string{
			"It is out after more than allowed_fails, 3, within a minute; here they must be in a row.",
			"Without allowed_fails it is out when more than half of a minute's calls failed; a model breaker has no rates.",
			"A 429, and an error that no retry mends such as 401 or 404, puts a deployment out at once; here it counts as any failure.",
			"The deployments that are left share the calls; here the backups are tried in order.",
			"There is no half-open: after the cooldown a deployment is as good as any. Here the primary is back with its first success, and out again after 4 failures.",
		},
	},
}

// Presets are all presets, by name.
func Presets() []Preset { return append([]Preset(nil), presets...) }

// PresetNames are the names of all presets.
func PresetNames() []string { return presetNames("") }

// presetNames are those of a kind; the empty kind is both.
func presetNames(kind string) (names []string) {
	for i := range presets {
		if kind == "" || presets[i].Kind == kind {
			names = append(names, presets[i].Name)
		}
	}
	return names
}

// presetSettings are the presets as the decoder reads them.
var presetSettings = sync.OnceValue(func() []changeW {
	all := make([]changeW, len(presets))
	for i := range presets {
		d := newDecoder(presets[i].Name)
		d.faults.lines = strings.Split(presets[i].Settings, "\n")
		var w val[changeW]
		if root := d.parse(presets[i].Settings); root != nil {
			w.decodeNode(d, root, presets[i].Name)
		}
		if len(d.faults.Faults) > 0 {
			panic("scenarios: preset " + d.faults.Error()) // they are compiled in
		}
		all[i] = w.V
	}
	return all
})

// presetOf finds a preset that there is.
func presetOf(name string) (*Preset, *changeW) {
	for i := range presets {
		if presets[i].Name == name {
			return &presets[i], &presetSettings()[i]
		}
	}
	panic("scenarios: no preset " + name)
}
