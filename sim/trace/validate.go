package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Validate says what is wrong with a record, if anything is: the first event
// that cannot be, by its number from 1 and its instant.
func Validate(events []Event) error {
	v := new(Validator)
	for i := range events {
		if err := v.Event(&events[i]); err != nil {
			return err
		}
	}
	return v.Done()
}

// Validator is a sink that checks a record while it is made. It keeps only the
// calls in flight.
type Validator struct {
	n        int // events so far
	now      time.Duration
	ended    bool
	lastCall int
	over     int // the call whose last attempt in flight ended: it goes on only if a Retry follows
	calls    map[int]*flight
	breakers map[string]*standing
	order    []string // breakers, as the Run event lists them
	targets  map[string]int
	of       map[string]string // hosts, and the targets that they are of
}

// flight is a call in flight.
type flight struct {
	attempts  int           // started so far
	announced bool          // the next one is
	due       time.Duration // when it starts
	tries     []try         // attempts in flight: more than one only beside a hedge
}

// try is an attempt in flight.
type try struct {
	attempt int
	began   time.Duration
	running bool          // admitted, or made without a gate; otherwise it asks
	waits   bool          // it asks at began, after it has waited
	asked   time.Duration // when it did so first
}

// try is the attempt of that number, if it is in flight.
func (c *flight) try(attempt int) *try {
	if c != nil {
		for i := range c.tries {
			if c.tries[i].attempt == attempt {
				return &c.tries[i]
			}
		}
	}
	return nil
}

// end takes an attempt out of flight, and notes if it was the call's last.
func (v *Validator) end(call, attempt int) {
	c := v.calls[call]
	c.tries = slices.DeleteFunc(c.tries, func(t try) bool { return t.attempt == attempt })
	if len(c.tries) == 0 {
		v.over = call
	}
}

// standing is what a breaker has come to.
type standing struct {
	*Breaker
	state   string
	serves  string
	since   time.Duration // its last transition, by effective time
	granted bool          // the first probe of this half-open period was admitted
	forced  string        // the state that an operator keeps it in, or empty
	probes  []probe       // of this half-open period, those that have answered aside; the oldest first
}

// probe is one that is out, or whose lease ran out.
type probe struct {
	call, attempt int
	since, until  time.Duration // its lease
}

// Done says whether the record ended as it must.
func (v *Validator) Done() error {
	if !v.ended {
		return errors.New("the record does not end with an end event")
	}
	return nil
}

// Event checks one event against all that came before.
func (v *Validator) Event(e *Event) error {
	v.n++
	if err := v.check(e); err != nil {
		return fmt.Errorf("event %d, %s at %v: %w", v.n, e.Kind, e.T, err)
	}
	return nil
}

func (v *Validator) check(e *Event) error {
	switch {
	case e.Kind < Run || e.Kind > End:
		return errors.New("there is no such kind of event")
	case (v.n == 1) != (e.Kind == Run):
		return errors.New("a record has one run event, its first")
	case v.ended:
		return errors.New("nothing comes after the end")
	case e.T < v.now:
		return fmt.Errorf("time goes back from %v", v.now)
	}
	v.now = e.T
	if v.over != 0 && e.Kind != Transition && e.Kind != Switch && e.Kind != Health {
		if (e.Kind != Retry && e.Kind != GiveUp) || e.Call != v.over {
			delete(v.calls, v.over)
		}
		v.over = 0
	}
	switch e.Kind {
	case Run:
		return v.begin(e)
	case Phase:
		return v.phase(e)
	case Call:
		return v.call(e)
	case Admit, Refuse, Exhausted:
		return v.verdict(e)
	case Waits:
		return v.waits(e)
	case Vanish, Result:
		return v.ending(e)
	case Retry, GiveUp, Hedge:
		return v.ladder(e)
	case Transition:
		return v.transition(e)
	case Switch:
		return v.change(e)
	case Operate, Peek:
		return v.operation(e)
	case Reroute:
		return v.reroute(e)
	case Health:
		return v.health(e)
	case Burst:
		return v.target(e.Target)
	case Load:
		return v.load(e)
	default:
		return v.finish(e)
	}
}

func (v *Validator) begin(e *Event) error {
	if e.Run == nil {
		return errors.New("it says nothing of what is played")
	}
	v.calls = map[int]*flight{}
	v.breakers = map[string]*standing{}
	v.targets, v.of = map[string]int{}, map[string]string{}
	for i := range e.Run.Targets {
		t := &e.Run.Targets[i]
		v.targets[t.Name] = len(t.Phases)
		if _, ok := v.targets[t.Of]; t.Of != "" && (!ok || Whole(t.Name) != t.Of) {
			return fmt.Errorf("%q is no host of a target %q", t.Name, t.Of)
		}
		v.of[t.Name] = t.Of
	}
	for i := range e.Run.Breakers {
		b := &e.Run.Breakers[i]
		if (b.Tool == nil) == (b.Model == nil) {
			return fmt.Errorf("the breaker %q must have the settings of one kind", b.Name)
		}
		if b.By != "" && b.Tool == nil {
			return fmt.Errorf("the breaker %q routes to models, which only ours do", b.Name)
		}
		if err := v.scope(b); err != nil {
			return err
		}
		for name := range b.Each() {
			s := &standing{Breaker: b.Instance(name), state: "closed"}
			if b.Model != nil {
				s.state, s.serves = "primary", b.Model.Primary
			}
			if v.breakers[name] != nil {
				return fmt.Errorf("two breakers are named %q", name)
			}
			v.breakers[name] = s
			v.order = append(v.order, name)
		}
	}
	return nil
}

// mostInstances of all breakers: a record of a few bytes could else claim any number.
const mostInstances = 10_000_000

// scope checks whom the breaker is for.
func (v *Validator) scope(b *Breaker) error {
	n := len(v.order)
	for _, i := range b.Instances {
		if n += max(1, i.Count); i.Count < 0 || n > mostInstances {
			return fmt.Errorf("%q cannot be %d breakers for %q", b.Name, i.Count, i.Name)
		}
	}
	switch {
	case b.Per == "" && len(b.Instances) == 0:
		return nil
	case b.Per != PerCaller && b.Per != PerHost:
		return fmt.Errorf("the breaker %q cannot be one for each %q", b.Name, b.Per)
	case len(b.Instances) == 0:
		return fmt.Errorf("the breaker %q is one for each %s, and there is none", b.Name, b.Per)
	}
	return nil
}

func (v *Validator) target(name string) error {
	if _, ok := v.targets[name]; !ok {
		return fmt.Errorf("the run has no target %q", name)
	}
	return nil
}

func (v *Validator) breaker(name string) (*standing, error) {
	if b := v.breakers[name]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("the run has no breaker %q", name)
}

func (v *Validator) phase(e *Event) error {
	if err := v.target(e.Target); err != nil {
		return err
	}
	if e.Phase < NoPhase || e.Phase >= v.targets[e.Target] {
		return fmt.Errorf("%s has no phase %d", e.Target, e.Phase)
	}
	return nil
}

// call checks the start of an attempt: first ones are numbered densely in the
// order of their starts, further ones come when a retry said so.
func (v *Validator) call(e *Event) error {
	if e.Target != "" {
		if err := v.target(e.Target); err != nil {
			return err
		}
	}
	c := v.calls[e.Call]
	switch {
	case e.Attempt == 1:
		if e.Call != v.lastCall+1 {
			return fmt.Errorf("call %d comes after call %d", e.Call, v.lastCall)
		}
		if outer := v.calls[e.Inside]; e.Inside != 0 && (outer == nil || len(outer.tries) == 0) {
			return fmt.Errorf("call %d is not at work, so call %d cannot be inside of it", e.Inside, e.Call)
		}
		v.lastCall++
		c = new(flight)
		v.calls[e.Call] = c
	case c == nil || !c.announced || c.attempts+1 != e.Attempt:
		return fmt.Errorf("nothing announced attempt %d of call %d", e.Attempt, e.Call)
	case c.due != e.T:
		return fmt.Errorf("attempt %d of call %d was announced for %v", e.Attempt, e.Call, c.due)
	}
	c.attempts, c.announced = e.Attempt, false
	c.tries = append(c.tries, try{attempt: e.Attempt, began: e.T, running: e.Target != "", asked: e.T})
	return nil
}

// inFlight finds the attempt that e is about, which must have come so far.
func (v *Validator) inFlight(e *Event, running bool) (*try, error) {
	c := v.calls[e.Call].try(e.Attempt)
	if c == nil || c.running != running {
		return nil, fmt.Errorf("attempt %d of call %d is not at a point where this can happen", e.Attempt, e.Call)
	}
	return c, nil
}

// states in which each rule may give its verdict on a call.
var verdicts = map[Kind]map[string]string{
	Admit:     {"T1": "closed", "T5": "half-open", "T23": "half-open", "T32": "closed", "T34": "closed", "M1": "primary", "M2": "recovering", "M4": "fallback", "M5": "fallback", "M6": "recovering", "M21": "recovering", "M23": "fallback"},
	Refuse:    {"T4": "open", "T6": "half-open", "T26": "closed", "T31": "open"},
	Exhausted: {"M3": "fallback"},
	Waits:     {"M22": "fallback"},
}

func (v *Validator) verdict(e *Event) error {
	c, err := v.inFlight(e, false)
	if err != nil {
		return err
	}
	b, err := v.breaker(e.Breaker)
	if err != nil {
		return err
	}
	if c.began != e.T {
		return fmt.Errorf("call %d asked at %v", e.Call, c.began)
	}
	if b.By != "" {
		if want := map[Kind]string{Admit: LetThrough, Refuse: TurnedAway}[e.Kind]; want != e.Rule {
			return fmt.Errorf("what is seen of %s is %q, not rule %q", b.By, want, e.Rule)
		}
	} else if state := verdicts[e.Kind][e.Rule]; state == "" || state != b.state {
		return fmt.Errorf("rule %q cannot decide so while %s is %s", e.Rule, b.Name, b.state)
	} else if err := b.byForce(e.Rule); err != nil {
		return err
	} else if err := b.isSet(e.Rule); err != nil {
		return err
	}
	if e.Kind != Admit {
		v.end(e.Call, e.Attempt)
		return nil
	}
	c.running = true
	if b.By != "" {
		if e.Probe != (b.state == "half-open") {
			return fmt.Errorf("probe %v cannot be while %s is %s", e.Probe, b.By, b.state)
		}
		return v.target(e.Target)
	}
	if probes := e.Rule == "T5" || e.Rule == "T23" || e.Rule == "M2" || e.Rule == "M6"; probes != e.Probe {
		return fmt.Errorf("rule %s and probe %v do not go together", e.Rule, e.Probe)
	}
	if err := b.grant(e); err != nil {
		return err
	}
	served := e.Target
	if of := v.of[served]; of != "" {
		served = of
	}
	if err := b.mayServe(e.Rule, served); err != nil {
		return err
	}
	return v.target(e.Target)
}

// byForce says what is wrong with the rule by which a breaker decided: what an
// operator keeps as it is has one rule for everything, and no other breaker has it.
func (b *standing) byForce(rule string) error {
	switch byForce := rule == "T31" || rule == "T32"; {
	case b.forced == "" && byForce:
		return fmt.Errorf("rule %q cannot decide so while no operator keeps %s as it is", rule, b.Name)
	case b.forced != "" && !byForce:
		return fmt.Errorf("rule %q cannot decide so while an operator keeps %s %s", rule, b.Name, b.forced)
	}
	return nil
}

// grant gives a call the slot of a probe, if it has one: the first, or another.
func (b *standing) grant(e *Event) error {
	switch {
	case b.Tool == nil || !e.Probe:
		return nil
	case e.Rule == "T5" && b.granted:
		return fmt.Errorf("%s has a probe already", b.Name)
	case e.Rule == "T23" && !b.granted:
		return fmt.Errorf("%s has no probe yet, and this is a further one", b.Name)
	case e.Rule == "T23" && b.out(e.T) >= max(1, b.Probes):
		return fmt.Errorf("%s has as many probes at one time as it may", b.Name)
	}
	b.granted = true
	b.probes = append(b.probes, probe{e.Call, e.Attempt, e.T, b.leaseFrom(e.T)})
	return nil
}

// retire takes the slot of a probe that has answered back.
func (b *standing) retire(e *Event) {
	i := slices.IndexFunc(b.probes, func(p probe) bool { return p.call == e.Call && p.attempt == e.Attempt })
	if i < 0 { // a later attempt of a call that asked once
		i = slices.IndexFunc(b.probes, func(p probe) bool { return p.call == e.Call })
	}
	if b.Reports == "anonymous" { // whosever it is
		i = slices.IndexFunc(b.probes, func(p probe) bool { return p.leased(e.T) })
	}
	if i >= 0 {
		b.probes = slices.Delete(b.probes, i, i+1)
	}
}

// out is how many probes hold a slot at now.
func (b *standing) out(now time.Duration) (n int) {
	for i := range b.probes {
		if b.probes[i].leased(now) {
			n++
		}
	}
	return n
}

// leased says whether the probe's lease lasts at now.
func (p *probe) leased(now time.Duration) bool { return now < p.until }

// leaseFrom is when a lease ends that began at since, as the breaker is set.
func (b *standing) leaseFrom(since time.Duration) time.Duration {
	if lease := b.Tool.ProbeTimeout; lease > 0 && since <= math.MaxInt64-lease {
		return since + lease
	}
	return math.MaxInt64
}

// leased says whether a probe that has not answered had its lease until then.
func (b *standing) leased(until time.Duration) bool {
	return slices.ContainsFunc(b.probes, func(p probe) bool { return p.until == until })
}

// configure takes new settings. They hold for leases that last, not for those
// that are over (T33).
func (b *standing) configure(now time.Duration, settings *Breaker) {
	b.Breaker = settings
	for i := range b.probes {
		if p := &b.probes[i]; p.leased(now) {
			p.until = b.leaseFrom(p.since)
		}
	}
}

// What can be seen of a breaker that is not ours when its state changes.
var (
	movesOfOthers = map[string]bool{MovedByAsk: true, MovedByEnd: true, MovedByTime: true, MovedByReset: true}
	toolStates    = map[string]bool{"closed": true, "open": true, "half-open": true}
)

// applies says what `applied` is for each rule that takes a result; where both
// can be it is not listed.
var applies = map[string]bool{"T3": true, "T8": true, "T9": true, "T10": false, "T11": true, "T13": false, "T16": false,
	"T21": true, "T24": true, "T25": true, "T30": false, "T31": false, "T32": false,
	"M7": true, "M8": false, "M9": true, "M10": true, "M12": true, "M13": true}

// eitherWay are the rules by which a result may be taken into account, or not: a
// backup was charged, a cooldown moved, a probe's place is free again.
var eitherWay = []string{"T2", "T20", "M11", "M14", "M17", "M20"}

// takes are the states in which each rule takes a result.
var takes = map[string][]string{"T2": {"closed"}, "T3": {"closed"}, "T8": {"half-open"}, "T9": {"half-open"}, "T10": {"open"}, "T11": {"open"},
	"T13": {"closed", "half-open"}, "T16": {"closed", "open", "half-open"}, "T20": {"closed", "open", "half-open"}, "T21": {"closed"}, "T24": {"half-open"},
	"T25": {"half-open"}, "T30": {"open"}, "T31": {"open"}, "T32": {"closed"}}

// heard checks what a breaker of ours made of how a call ended.
func (b *standing) heard(e *Event, rule string) error {
	if want, known := applies[rule]; known && want != e.Applied || !known && !slices.Contains(eitherWay, rule) {
		return fmt.Errorf("rule %q and applied %v do not go together", rule, e.Applied)
	}
	if b.Tool == nil {
		return b.isSet(rule)
	}
	if !slices.Contains(takes[rule], b.state) {
		return fmt.Errorf("rule %q cannot take a result while %s is %s", rule, b.Name, b.state)
	}
	if err := b.byForce(rule); err != nil {
		return err
	}
	if e.Seen.Failures > e.Seen.Calls || e.Seen.Slow > e.Seen.Calls {
		return fmt.Errorf("of %d calls in a window more were not well: %d failed, %d slow", e.Seen.Calls, e.Seen.Failures, e.Seen.Slow)
	}
	if b.state == "half-open" && e.Applied {
		b.retire(e)
	}
	return nil
}

func (v *Validator) ending(e *Event) error {
	c, err := v.inFlight(e, true)
	if err != nil {
		return err
	}
	if err := v.target(e.Target); err != nil {
		return err
	}
	if e.Kind == Vanish {
		if c.began != e.T {
			return errors.New("a task is dropped when it starts")
		}
		delete(v.calls, e.Call)
		return nil
	}
	if took := e.T - c.began; e.Took != took {
		return fmt.Errorf("the attempt took %v", took)
	}
	v.end(e.Call, e.Attempt)
	if e.Breaker == "" {
		return nil
	}
	b, err := v.breaker(e.Breaker)
	if err != nil {
		return err
	}
	if b.By != "" {
		if e.Rule != MovedByEnd && e.Rule != HeardOf || !e.Applied {
			return fmt.Errorf("rule %q and applied %v say more than can be seen of %s", e.Rule, e.Applied, b.By)
		}
		return nil
	}
	return b.heard(e, e.Rule)
}

func (v *Validator) ladder(e *Event) error {
	c := v.calls[e.Call]
	if c != nil && e.Kind == GiveUp && len(c.tries) == 1 && c.tries[0].waits && !c.tries[0].running { // whoever waits for it had enough
		c.tries = nil
	}
	if c == nil || (len(c.tries) > 0) != (e.Kind == Hedge) || c.announced && e.Kind != GiveUp {
		return fmt.Errorf("call %d is not at a point where this can happen", e.Call)
	}
	if e.Kind == GiveUp {
		delete(v.calls, e.Call)
		return v.givenUp(e)
	}
	if e.Attempt != c.attempts+1 || e.Wait < 0 {
		return fmt.Errorf("after attempt %d comes attempt %d, now or later", c.attempts, c.attempts+1)
	}
	c.announced, c.due = true, e.T+e.Wait
	return nil
}

// givenUp checks what a breaker made of a call that its caller gave up between
// two attempts.
func (v *Validator) givenUp(e *Event) error {
	if e.Breaker == "" {
		return nil
	}
	b, err := v.breaker(e.Breaker)
	if err != nil {
		return err
	}
	return b.heard(e, e.Verdict)
}

func (v *Validator) transition(e *Event) error {
	b, err := v.breaker(e.Breaker)
	if err != nil {
		return err
	}
	switch {
	case e.From != b.state:
		return fmt.Errorf("%s is %s, not %s", b.Name, b.state, e.From)
	case b.By != "":
		return movedOther(b, e)
	case MoveOf(e.From, e.To, e.Rule) == nil:
		return fmt.Errorf("no rule %q leads from %s to %s", e.Rule, e.From, e.To)
	case e.Effective > e.T:
		return fmt.Errorf("it takes effect at %v, which is still to come", e.Effective)
	case e.Rule != "T7" && e.Effective != e.T:
		return fmt.Errorf("only T7 is backdated, here to %v", e.Effective)
	case e.Rule == "T7" && len(b.probes) == 1 && !b.leased(e.Effective):
		return fmt.Errorf("the lease ended at %v, not at %v", b.probes[0].until, e.Effective)
	case e.Rule == "T7" && !b.leased(e.Effective):
		return fmt.Errorf("no lease ended at %v", e.Effective)
	case b.forced == b.state || (e.Rule == "T31" || e.Rule == "T32") && b.forced == "":
		return fmt.Errorf("rule %q cannot move %s while %s", e.Rule, b.Name, b.keeper())
	case e.Known && e.Until < e.Effective:
		return fmt.Errorf("the cooldown ends at %v, before it begins", e.Until)
	}
	b.state, b.since, b.granted, b.probes = e.To, e.Effective, false, b.probes[:0]
	return nil
}

// keeper says who keeps the breaker as it is.
func (b *standing) keeper() string {
	if b.forced == "" {
		return "no operator forces it"
	}
	return "an operator keeps it " + b.forced
}

// movedOther checks what was seen of a breaker that is not ours: any change of its
// state, at the instant at which it was seen.
func movedOther(b *standing, e *Event) error {
	switch {
	case !movesOfOthers[e.Rule]:
		return fmt.Errorf("what is seen of %s is no rule %q", b.By, e.Rule)
	case !toolStates[e.To] || e.To == e.From:
		return fmt.Errorf("%s cannot go from %s to %q", b.By, e.From, e.To)
	case e.Effective != e.T:
		return fmt.Errorf("when %s changed is known no better than by %v", b.By, e.T)
	}
	b.state, b.since = e.To, e.T
	return nil
}

func (v *Validator) change(e *Event) error {
	b, err := v.breaker(e.Breaker)
	switch {
	case err != nil:
		return err
	case b.Model == nil:
		return fmt.Errorf("%s routes to no models", b.Name)
	case e.From != b.serves:
		return fmt.Errorf("%q serves, not %q", b.serves, e.From)
	case e.To == e.From:
		return errors.New("nothing changes")
	case e.Effective > e.T || (e.Effective != 0) != (e.Rule == "M24"):
		return fmt.Errorf("only M24 is backdated, and to what was; here %s is, to %v", e.Rule, e.Effective)
	}
	b.serves = e.To
	return b.isSet(e.Rule)
}

func (v *Validator) operation(e *Event) error {
	b, err := v.breaker(e.Breaker)
	switch {
	case err != nil:
		return err
	case e.Kind == Peek && e.Model != (b.Model != nil):
		return fmt.Errorf("%s is of the other kind", b.Name)
	case e.Kind == Operate:
		return b.operate(e)
	}
	return nil
}

// operate checks what an operator does.
func (b *standing) operate(e *Event) error {
	switch e.Op {
	case Reset:
		b.forced = ""
		return nil
	case SetAvailable:
		return nil
	case ForceOpen, ForceClosed, Configure:
	default:
		return fmt.Errorf("there is no operation %q", e.Op)
	}
	switch {
	case b.Tool == nil || b.By != "":
		return fmt.Errorf("%s is no tool breaker of ours, to which alone an operator does %s", b.Name, e.Op)
	case e.Op == ForceOpen:
		b.forced = "open"
	case e.Op == ForceClosed:
		b.forced = "closed"
	case e.Settings == nil || e.Settings.Tool == nil || e.Settings.Name != b.Name || e.Settings.Guards != b.Guards:
		return fmt.Errorf("it says nothing of how %s is set from here on", b.Name)
	default:
		b.configure(e.T, e.Settings)
	}
	return nil
}

// reroute comes right after the call, before its gate has its say or, where the
// substitute has no gate, as the attempt goes.
func (v *Validator) reroute(e *Event) error {
	b, err := v.breaker(e.Breaker)
	if err != nil {
		return err
	}
	c := v.calls[e.Call].try(e.Attempt)
	switch {
	case c == nil || c.began != e.T:
		return fmt.Errorf("attempt %d of call %d does not start here", e.Attempt, e.Call)
	case b.Tool == nil || b.Tool.Guards != e.From && v.of[b.Tool.Guards] != e.From:
		return fmt.Errorf("%s does not guard %s", b.Name, e.From)
	case b.state == "closed" && (b.Ramp == 0 || b.forced != ""):
		return fmt.Errorf("%s is closed, so %s is there", b.Name, e.From)
	case e.To == e.From:
		return errors.New("it goes where it was going")
	}
	return v.target(e.To)
}

func (v *Validator) health(e *Event) error {
	b, err := v.breaker(e.Breaker)
	switch {
	case err != nil:
		return err
	case b.Tool == nil || b.Tool.Guards != e.Target:
		return fmt.Errorf("%s does not guard %s", b.Name, e.Target)
	case !(e.Score >= 0 && e.Score <= 1):
		return fmt.Errorf("a score of %v is not from 0 to 1", e.Score)
	case e.Health != "healthy" && e.Health != "degraded" && e.Health != "unhealthy":
		return fmt.Errorf("there is no health %q", e.Health)
	case (b.state == "open" || e.Score < 0.5) && e.Health != "unhealthy":
		return fmt.Errorf("with a score of %v while %s is %s it is unhealthy", e.Score, b.Name, b.state)
	}
	return nil
}

func (v *Validator) load(e *Event) error {
	if e.Busy < 0 || e.Waiting < 0 {
		return errors.New("it does less than nothing")
	}
	return v.target(e.Target)
}

func (v *Validator) finish(e *Event) error {
	v.ended = true
	if len(e.States) != len(v.order) {
		return fmt.Errorf("the run has %d breakers, and here are %d", len(v.order), len(e.States))
	}
	for i, s := range e.States {
		if s.Breaker != v.order[i] || s.State != v.breakers[s.Breaker].state {
			return fmt.Errorf("breaker %d is %s, %s", i+1, v.order[i], v.breakers[v.order[i]].state)
		}
	}
	return nil
}
