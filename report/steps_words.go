package report

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// stepWords are an event in words: "call 5 timed out at search after 2 s", because "the
// 3rd failure of 3", by T3. Call and span are apart, so that the same words serve
// many events.
type stepWords struct {
	call int           // that the sentence begins with; 0: with none
	says string        // goes on after the call
	span time.Duration // that it ends with; negative: with none
	why  string
	rule string
}

// words tell the step i once the run is over.
func (s *Steps) words(i int) stepWords {
	e := &s.All[i]
	w := stepWords{span: -1, rule: e.Rule}
	switch e.Kind {
	case trace.Run:
		w.says, w.why = "the run begins", e.Run.PolicyAbout
	case trace.End:
		w.says = "the run ends"
	case trace.Transition:
		w.says = e.Breaker + ": " + e.From + " → " + e.To
		if e.From == e.To {
			w.says, w.why = e.Breaker+": the lease of a probe runs out", "it counts as one that failed; more are waited for"
		}
		if e.moment > 0 {
			w.why = s.History.Moments[e.moment-1].Reason()
		}
	case trace.Switch:
		w.says = e.Breaker + ": " + goTo(e.To)
		w.why = switchCause(&e.Event)
	case trace.Phase, trace.Burst, trace.Load, trace.Health:
		w.says = s.world(&e.Event)
	case trace.Operate:
		w.says, w.rule = operates(&e.Event)
	case trace.Peek:
		w.says = peeked(&e.Event)
	default:
		w.call = e.Call
		s.ofCall(i, &w)
	}
	return w
}

// ofCall tells what happens to a call.
func (s *Steps) ofCall(i int, w *stepWords) {
	e := &s.All[i].Event
	w.why = ruleWhys[e.Rule]
	switch e.Kind {
	case trace.Call:
		w.says = asks(e)
	case trace.Admit:
		w.says = "goes to " + e.Target
		if e.Probe {
			w.says += " as a probe"
		}
	case trace.Refuse:
		w.says = "is refused"
		if b := s.History.byName[e.Breaker]; b != nil {
			why := b.refusal(&Mark{At: e.T, Rule: e.Rule, Until: e.Until, Known: e.Known}, s.History.End)
			w.why = strings.TrimPrefix(strings.TrimPrefix(why, e.Rule), ": ")
		}
	case trace.Exhausted:
		w.says = "finds nobody left to serve it"
	case trace.Waits:
		w.says = "waits until " + moment(e.Until, s.History.End)
	case trace.Vanish:
		w.says, w.why = "is never heard of again", "its task was dropped, and no result will come"
	case trace.Result:
		past, _ := did(e.Outcome)
		w.says = past + " at " + e.Target
		if e.Took > 0 {
			w.says, w.span = w.says+" after ", e.Took
		}
		w.why = s.heard(i)
	case trace.Retry:
		w.says, w.span = "will be tried again after ", e.Wait
	case trace.Hedge:
		w.says = "starts another attempt beside the first"
	case trace.GiveUp:
		w.says = "is given up"
		if e.Rule == "L1" {
			w.why = "its attempts are used up"
		}
		if e.Breaker != "" {
			w.why = "who waits for it has given up; " + e.Breaker + ": " + ruleWhys[e.Verdict] + " (" + e.Verdict + ")"
		}
	case trace.Reroute:
		w.says, w.why = "goes to "+e.To+" instead", e.From+" is out"
	}
}

func asks(e *trace.Event) string {
	who := ""
	if e.Caller != "" {
		who = "of " + e.Caller
		if e.Instance > 0 {
			who += "-" + strconv.Itoa(e.Instance)
		}
		who += " "
	}
	what := "asks for " + e.To
	if e.Target != "" {
		what = "goes to " + e.Target
	}
	if e.Inside > 0 {
		what += ", inside of call " + strconv.Itoa(e.Inside)
	}
	if e.Attempt > 1 {
		what += ", attempt " + strconv.Itoa(e.Attempt)
	}
	return who + what
}

// ruleWhys say in a few words what a rule decided about a call.
var ruleWhys = map[string]string{
	"T1": "closed: calls pass", "T5": "the cooldown was over: whoever asks first is the probe",
	"T2": "the count of failures is 0", "T8": "the probe's verdict: closed", "T9": "the probe's verdict: open again",
	"T16": "given up, which says nothing", "T20": "counts as nothing", "T21": "it counts in the window", "T23": "there is room for another probe",
	"T24": "a probe's result; more are waited for", "T25": "given up: the probe's slot is free again", "T30": "bad news, and the cooldown runs on",
	"T31": "an operator keeps it open", "T32": "an operator keeps it closed", "T34": "the cooldown was over: whoever asks first closes it",
	"T10": "ignored: it was started before the breaker opened", "T11": "bad news restarts the cooldown", "T13": "ignored: it is not the probe's, or of before the breaker opened",
	"M1": "the primary serves", "M2": "the cooldown was over: this turn probes the primary", "M3": "every backup has spent its budget",
	"M4": "the first backup that is not spent", "M20": "such a result counts as nothing", "M21": "as many probes as may be are out", "M22": "every backup is spent, and soon somebody serves again",
	"M23": "every backup is spent: the last resort serves", "M5": "there is no backup", "M6": "every turn probes the primary now",
	"M7": "the count of failures is 0", "M8": "a backup's success changes nothing", "M14": "a cancelled turn says nothing", "M12": "a rate limit ends the recovery", "M17": "it was served before the last change of state",
	"L1": "a failure that may not come again", "L2": "a rate limit says how long to wait", "L3": "a permanent error is never tried again", "L5": "a refused call is not tried again",
	"L6": "no token was left for a retry", "L7": "too many attempts fail for retries", "L8": "the answer is late", "L9": "who waits for it has given up",
	trace.LetThrough: "let through", trace.TurnedAway: "turned away", trace.HeardOf: "the breaker heard of it", trace.MovedByEnd: "the breaker changed its state",
}

// heard says what the breaker made of the result.
func (s *Steps) heard(i int) string {
	e := &s.All[i].Event
	b := s.byName[e.Breaker]
	if b == nil || !b.ours() {
		return ruleWhys[e.Rule]
	}
	c, set := b.At(i), b.SetAt(i)
	switch e.Rule {
	case "T21":
		return fmt.Sprintf("of %s in the window %s failed", plural(e.Seen.Calls, "call", "calls"), Thousands(int64(e.Seen.Failures))) + slowToo(e)
	case "T3":
		if set.FailureThreshold == 0 {
			return ordinal(c.Failures) + " failure, and none opens it"
		}
		return fmt.Sprintf("failure %d of %d", c.Failures, set.FailureThreshold) + inARow(set)
	case "M10":
		return fmt.Sprintf("failure %d of %d in a row", c.Failures, max(1, b.Model.TripThreshold))
	case "M9":
		return fmt.Sprintf("good probe %d of %d in a row", c.Successes, max(1, b.Model.RecoverySuccessesNeeded))
	case "M13":
		if n := b.Model.ProbationFailures; n > 0 {
			return fmt.Sprintf("failed probe %d of %d; the good ones count from 0 again", c.Probation, n)
		}
		return "good probes count from 0 again"
	case "M11", "M17":
		if e.Known {
			return "it says when to come back: the cooldown lasts until " + moment(e.Until, s.History.End)
		}
		return charged(e, c, b.Model.LastResort)
	case "M14", "M20":
		if e.Applied {
			return ruleWhys[e.Rule] + "; its place as a probe is free again"
		}
	}
	return ruleWhys[e.Rule]
}

// slowToo is " and 2 were slow", if some were.
func slowToo(e *trace.Event) string {
	if e.Seen.Slow == 0 {
		return ""
	}
	return fmt.Sprintf(", and %s %s slow", Thousands(int64(e.Seen.Slow)), either(e.Seen.Slow == 1, "was", "were"))
}

// operates says what an operator does, and by which rule.
func operates(e *trace.Event) (says, rule string) {
	switch e.Op {
	case trace.SetAvailable:
		return "an operator switches " + e.Name + " of " + e.Breaker + " " + onOff(e.Available), "M15"
	case trace.ForceOpen:
		return "an operator forces " + e.Breaker + " open", "T31"
	case trace.ForceClosed:
		return "an operator forces " + e.Breaker + " closed", "T32"
	case trace.Configure:
		return "an operator changes the settings of " + e.Breaker, "T33"
	}
	return "an operator resets " + e.Breaker, e.Rule
}

// charged says whose strike a failure is.
func charged(e *trace.Event, c *Counters, lastResort string) string {
	for k := range c.Chain {
		if s := &c.Chain[k]; e.Applied && s.Name == e.Target {
			return fmt.Sprintf("strike %d of %d against %s", s.Count, s.Of, s.Name)
		}
	}
	switch {
	case e.Applied:
		return "a strike against the backup that serves"
	case lastResort != "" && e.Target == lastResort:
		return "the last resort is never charged"
	case e.Rule == "M17":
		return ruleWhys["M17"] + ": ignored"
	}
	return "there is no backup to charge"
}

// world tells what becomes of a target.
func (s *Steps) world(e *trace.Event) string {
	switch e.Kind {
	case trace.Burst:
		if e.On {
			return e.Target + ": a burst of trouble begins"
		}
		return e.Target + ": the burst is over"
	case trace.Load:
		return fmt.Sprintf("%s: %d being served, %d waiting", e.Target, e.Busy, e.Waiting)
	case trace.Health:
		return fmt.Sprintf("%s is %s, score %.2f", e.Target, e.Health, e.Score)
	}
	for i := range s.History.Run.Targets {
		t := &s.History.Run.Targets[i]
		if t.Name != e.Target {
			continue
		}
		if k := sort.Search(len(t.Segments), func(k int) bool { return t.Segments[k].At > e.T }); k > 0 {
			return t.Name + ": " + faring(t, trace.Span{From: t.Segments[k-1].At}, &t.Segments[k-1], s.History.End).words[0]
		}
	}
	return e.Target + " changes"
}

// peeked is what a reading without effect gave.
func peeked(e *trace.Event) string {
	switch {
	case e.Model && e.Serves == "":
		return "a turn of " + e.Breaker + " would find nobody left to serve it"
	case e.Model:
		return "a turn of " + e.Breaker + " would get " + e.Serves
	case e.Allows:
		return e.Breaker + " would let a call through"
	default:
		return e.Breaker + " would let no call through"
	}
}
