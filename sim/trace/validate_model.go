package trace

import (
	"fmt"
	"slices"
)

// isSet says what is wrong with a rule that is about a setting which the model
// breaker does not state.
func (b *standing) isSet(rule string) error {
	m, key := b.Model, ""
	switch {
	case m == nil:
	case rule == "M20" && b.Counts == nil:
		key = "counts"
	case rule == "M21" && m.AtOnce == 0:
		key = "probes"
	case rule == "M22" && m.ExhaustedWait == 0:
		key = "exhausted_wait"
	case rule == "M23" && m.LastResort == "":
		key = "last_resort"
	case rule == "M24" && m.EntryCooldown == 0:
		key = "entry_cooldown"
	}
	if key == "" {
		return nil
	}
	return fmt.Errorf("rule %s is about %s, which %s does not state", rule, key, b.Name)
}

// mayServe says what is wrong with a turn that goes to the target by the rule.
func (b *standing) mayServe(rule, target string) error {
	switch {
	case b.Model == nil:
	case rule != "M21" && target != b.serves:
		return fmt.Errorf("%s serves, not %s", b.serves, target)
	case rule == "M21" && target != b.Model.LastResort && !slices.ContainsFunc(b.Model.Chain, func(e Backup) bool { return e.Name == target }):
		return fmt.Errorf("beside a probe %s goes to its backups, and %s is none", b.Name, target)
	}
	return nil
}

// waits checks a turn that is not served as yet: none waits for longer than the
// setting says, in all.
func (v *Validator) waits(e *Event) error {
	c, err := v.inFlight(e, false)
	if err != nil {
		return err
	}
	b, err := v.breaker(e.Breaker)
	switch {
	case err != nil:
		return err
	case c.began != e.T:
		return fmt.Errorf("call %d asked at %v", e.Call, c.began)
	case verdicts[Waits][e.Rule] != b.state:
		return fmt.Errorf("rule %q cannot decide so while %s is %s", e.Rule, b.Name, b.state)
	case b.isSet(e.Rule) != nil:
		return b.isSet(e.Rule)
	case e.Until <= e.T || e.Until-c.asked > b.Model.ExhaustedWait:
		return fmt.Errorf("it asked at %v and waits for %v at most, not until %v", c.asked, b.Model.ExhaustedWait, e.Until)
	}
	c.began, c.waits = e.Until, true
	return nil
}
