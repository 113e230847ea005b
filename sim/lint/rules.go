package lint

import (
	"fmt"
	"strings"

	"github.com/breakersim/breakersim/scenarios"
)

// Rule is one thing that goes wrong.
type Rule struct {
	ID      string // stays as it is, for configurations and dashboards
	Title   string
	Why     string // it goes wrong
	Instead string // of the settings that do
	find    func(*subject) []*candidate
}

// Rules are all of them. A further one is one more row.
var Rules = []Rule{
	{"no-lease", "A lost probe wedges the breaker for good",
		"With probe_timeout 0 the probe holds its slot until its result comes. If its task is dropped, or its process killed, no result ever comes, and the breaker refuses every call from then on (T6, T7).",
		"Give the probe a lease somewhat longer than the slowest answer that is still good: probe_timeout: 30s.", noLease},
	{"lease-shorter-than-the-call", "A good probe comes too late to close the breaker",
		"A probe that succeeds after its lease has run out is stale, and never closes the breaker (T7, T12). Where good answers take longer than the lease, the breaker goes on refusing a healthy target.",
		"Make probe_timeout longer than the 99th percentile of good answers, and than the callers' timeout where one can be had.", shortLease},
	{"calls-outlast-the-cooldown", "Calls from before the outage open the breaker after it",
		"A call that may hang for longer than the cooldown comes back when the breaker has closed again, and counts there: an echo of the outage, which refuses a healthy target (T3, T13).",
		"Make the callers' timeout shorter than the cooldown, or write stale_results: ignore.", outlast},
	{"threshold-zero", "A threshold of 0 is not a small one",
		"A tool breaker of failure_threshold 0 that has no rate beside it never opens (T3). A model breaker of trip_threshold 0 trips at the first failed turn (M10).",
		"Write the number of failures in a row that shall open it, such as 3; for a tool breaker that shall never open, write no breaker.", zeroThreshold},
	{"minimum-never-reached", "The traffic never fills the minimum volume",
		"A rate opens a breaker only if the window holds minimum_calls results. Where calls are too few or take too long for that, not even an outage in which every call fails opens it (T21, T22).",
		"Lower minimum_calls below what one window sees in an outage, make the window longer, or add failure_threshold, which needs no volume.", neverReached},
	{"window-forgets-the-outage", "Failures are forgotten faster than they come",
		"A window of time, or forget_failures_after, lets failures go. Where calls are far apart or take long, an outage in which every call fails never has enough of them at one time (T21).",
		"Let the window be several times the time that a failing call takes, or count failures in a row, which are not forgotten: failure_threshold.", forgets},
	{"backup-out-with-the-primary", "A backup that is out whenever the primary is",
		"A chain entry helps only if it fails apart from the primary. The primary itself under another name, or what shares its account, key or region, is out when it is needed: each of its turns is lost before the next entry is asked (M11).",
		"Name a backup that fails apart from the primary, or take this one out of the chain.", sharedOutage},
	{"cooldown-outlives-the-outage", "The cooldown is far longer than the outage",
		"A breaker that is open sees nothing of a recovery. With a cooldown several times as long as the outages or limits that open it, it refuses or reroutes calls for long after they would be served (T4, M2).",
		"Take a cooldown about as long as the shortest outage worth waiting for; where limits name a time, retry_after: heed.", longCooldown},
	{"retries-times-threshold", "Each failure that counts is a whole ladder of attempts",
		"With gate: call the breaker hears of a call after its last attempt. A threshold of 3 with ladders of 4 attempts lets 12 attempts through to a target that is down, not 3.",
		"Write gate: attempt, so that each attempt asks and counts, or divide the threshold by the number of attempts.", retriesTimes},
	{"one-call-opens-it", "A single call opens the breaker by its own retries",
		"With gate: attempt each attempt counts. If a ladder has as many attempts as the threshold, one caller's bad request is enough to cut off all others.",
		"Make failure_threshold larger than the ladder's attempts, or write gate: call.", oneCall},
	{"hint-beyond-the-cap", "Retries come before the time that the rate limit named",
		"A ladder waits as long as a rate limit asks, but no longer than 60s (L2). If the hint is longer, all further attempts are refused as the first one was, and the call fails after three such waits.",
		"Write on_rate_limit: fail, so that the call fails at once and a breaker or a backup can act on it.", beyondTheCap},
	{"fleet-in-step", "A fleet's breakers probe in the same second",
		"Breakers of the same settings that one outage opened at one time have their cooldowns end at one time. All of them probe at once, again and again, and strike a service that is coming back.",
		"Draw each cooldown by chance: recovery_jitter: 50%.", fleetInStep},
	{"one-breaker-for-many-hosts", "One breaker for hosts that fail apart",
		"A breaker that guards several hosts opens for the failures of one of them, and cuts off those that are well. A part of an outage becomes a whole one.",
		"Give each host a breaker of its own: per: host.", sharedBreaker},
	{"anonymous-overhang", "Results that do not say whose they are decide for others",
		"With reports: anonymous a result counts for whatever the breaker waits for when it comes. One of a call from before the outage closes or opens a half-open breaker (T13), or spends the budget of a backup that was never tried (M17).",
		"Report by permit, which is the default: leave reports: anonymous out.", anonymousOverhang},
	{"probation-without-limit", "A primary that is still ill keeps every turn",
		"After the cooldown every turn is a probe of the primary, and failures other than rate limits do not end the probation (M6, M13). While the primary is ill all turns fail, with healthy backups idle.",
		"Write probation_failures: 1.", endlessProbation},
}

// Find is the rule of that id.
func Find(id string) (*Rule, error) {
	var ids []string
	for i := range Rules {
		if Rules[i].ID == id {
			return &Rules[i], nil
		}
		ids = append(ids, Rules[i].ID)
	}
	if near := scenarios.Nearest(id, ids); near != "" {
		return nil, fmt.Errorf("no finding is named %q; did you mean %q?", id, near)
	}
	return nil, fmt.Errorf("no finding is named %q; they are %s", id, strings.Join(ids, ", "))
}
