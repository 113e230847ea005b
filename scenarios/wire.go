package scenarios

// The types below are the file format: the decoder and the JSON Schema are both
// made from them. Their meaning is given in the files named resolve.

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
	Per     val[scopeWord]   `yaml:"per" doc:"all (default): one breaker for everybody. caller: each single caller has one of its own, and all scripted calls have one. host: a tool breaker for each host of its target." default:"all"`
	Health  val[bool]        `yaml:"health" doc:"Tool: record its health score after each result (default false)." default:"false"`
	settingsW
}

// substitutesW is the targets that may stand in for another.
type substitutesW struct{ val[[]val[string]] }

// settingsW are what a policy may change of a breaker.
type settingsW struct {
	Like                    val[string]    `yaml:"like" doc:"A preset: every setting is as that library has it, and what is written beside it changes it." enum:"preset"`
	FailureThreshold        val[int]       `yaml:"failure_threshold" doc:"Tool: failures in a row that open it (default 3, or 0 where failure_rate, window_failures or slow_rate is stated; 0: never)." default:"3" minimum:"0"`
	RecoveryDuration        val[duration]  `yaml:"recovery_duration" doc:"Tool: the cooldown (default 30s)." default:"30s"`
	ProbeTimeout            val[duration]  `yaml:"probe_timeout" doc:"The probe's lease (default 30s; 0s: none). Model, beside probes: how long a probe keeps its place among them (default 0s: until it ends)."`
	StaleResults            val[staleWord] `yaml:"stale_results" doc:"Tool, in closed: whether results of calls admitted before it last opened count (default) or are ignored." default:"count"`
	Primary                 val[string]    `yaml:"primary" doc:"Model: the target that serves when all is well."`
	Chain                   val[[]backupW] `yaml:"chain" doc:"Model: the backups, in order."`
	TripThreshold           val[int]       `yaml:"trip_threshold" doc:"Model: failed turns in a row that trip it (default 3)." default:"3" minimum:"0"`
	RecoveryTimeout         val[duration]  `yaml:"recovery_timeout" doc:"Model: the cooldown (default 60s)." default:"60s"`
	RecoverySuccessesNeeded val[int]       `yaml:"recovery_successes_needed" doc:"Model: probes in a row that lead back (default 2)." default:"2" minimum:"0"`
	MaxFailCount            val[int]       `yaml:"max_fail_count" doc:"Model: the budget of backups that state none (default 2)." default:"2"`
	ProbationFailures       val[int]       `yaml:"probation_failures" doc:"Model: transient failures of one probation that trip it again (default 0: no limit)." default:"0" minimum:"0"`
	Counts                  val[countsW]   `yaml:"counts" doc:"What each kind of result counts as: failure, success or ignore (default: as a failure; cancelled: as nothing)."`
	tripW
	probingW
	cooldownW
	routingW
}

type targetW struct {
	hostW
	Hosts named[hostW] `yaml:"hosts" doc:"Several that share the work, by name. An attempt goes to one of them in turn. What the target says holds for each, and what one says itself is laid over that."`
}

// hostW is a target by itself, or one of several hosts.
type hostW struct {
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
	At  val[distW] `yaml:"at" doc:"When it begins; a distribution is drawn once a run." required:"true"`
	For val[distW] `yaml:"for" doc:"How long it lasts (default: to the end); a distribution is drawn once a run."`
	behaviorW
}

type callW struct {
	At           val[duration]   `yaml:"at" doc:"When." required:"true"`
	To           val[string]     `yaml:"to" doc:"A call to this target, to one host of it such as api[a], or to this model breaker."`
	Name         val[string]     `yaml:"name" doc:"A name for the call, by which others can be inside of it."`
	Inside       val[string]     `yaml:"inside" doc:"The name of the call that makes this one: at counts from where that begins its work. It is made for each attempt that is let through, which is not over before it, and fails unless this one succeeds."`
	Outcome      val[Outcome]    `yaml:"outcome" doc:"How its attempts end, whatever the target says."`
	Takes        val[duration]   `yaml:"takes" doc:"How long its attempts take, whatever the target says."`
	Timeout      val[duration]   `yaml:"timeout" doc:"How long outcome: timeout takes (default 2m)." default:"2m"`
	RetryAfter   val[duration]   `yaml:"retry_after" doc:"The wait that a rate limit names."`
	Peek         val[string]     `yaml:"peek" doc:"Read this breaker, without effect."`
	Reset        val[string]     `yaml:"reset" doc:"Reset this breaker."`
	SetAvailable val[availableW] `yaml:"set_available" doc:"Switch a backup on or off."`
	ForceOpen    val[string]     `yaml:"force_open" doc:"Open this tool breaker, and keep it open until it is reset."`
	ForceClosed  val[string]     `yaml:"force_closed" doc:"Close this tool breaker, and keep it closed until it is reset."`
	Configure    val[configureW] `yaml:"configure" doc:"Change settings of a tool breaker while it runs."`
}

type configureW struct {
	Breaker val[string] `yaml:"breaker" doc:"A tool breaker." required:"true"`
	settingsW
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
	Each        val[duration]       `yaml:"each" doc:"With from and to: what is said holds for each stretch of that length between them."`
	Call        val[int]            `yaml:"call" doc:"A call's number, from 1." minimum:"1"`
	Is          val[string]         `yaml:"is" doc:"admitted, refused, exhausted, or the outcome of its last attempt." enum:"fate"`
}
