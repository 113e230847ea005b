package check

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// plain says whether nothing beyond M1 to M17 is set.
func (t *modelSubject) plain() bool {
	s := &t.s
	return s.Counts == (machine.Counts{}) && s.Cooldown == (machine.Cooldown{}) && s.Probes == 0 && s.ProbeTimeout == 0 && s.Wait == 0 && s.LastResort == "" && s.EntryCooldown == 0
}

// until is the end of the cooldown.
func (t *modelSubject) until(r machine.ModelSnapshot) time.Duration {
	if t.s.Cooldown == (machine.Cooldown{}) {
		return r.SwitchedAt + t.s.RecoveryTimeout
	}
	return r.Until
}

// further are the instants of what else time does.
func (t *modelSubject) further(r machine.ModelSnapshot) (all []time.Duration) {
	if t.plain() {
		return nil
	}
	for i, e := range r.Chain {
		if t.s.EntryCooldown > 0 && e.Attempts >= e.Budget {
			all = append(all, t.struck[i]+t.s.EntryCooldown)
		}
	}
	for _, began := range r.Probes {
		if t.s.ProbeTimeout > 0 {
			all = append(all, began+t.s.ProbeTimeout)
		}
	}
	if t.s.Wait > 0 && r.State == machine.Fallback {
		all = append(all, t.next(r)-t.s.Wait)
	}
	if t.s.Cooldown.Forget > 0 && r.State == machine.Primary {
		all = append(all, t.back+t.s.Cooldown.Forget)
	}
	return all
}

// results are the ways in which a turn may end that differ to the machine.
func (t *modelSubject) results() []Do {
	all := []Do{Success, Failure, RateLimit, Cancel, Vanish}
	if t.s.Counts.Timeout != t.s.Counts.Failure {
		all = append(all, Timeout)
	}
	if t.s.Counts.Permanent != t.s.Counts.Failure {
		all = append(all, Permanent)
	}
	return all
}

// ending is what the machine is told. A rate limit names a wait of two cooldowns,
// if that is heeded.
func (t *modelSubject) ending(d Do) machine.Ending {
	e := machine.Ending{OK: d == Success}
	switch d {
	case RateLimit:
		e.Kind = machine.RateLimit
		if t.s.Cooldown.RetryAfter {
			e.RetryAfter = 2 * t.s.RecoveryTimeout
		}
	case Timeout:
		e.Kind = machine.Timeout
	case Permanent:
		e.Kind = machine.Permanent
	}
	return e
}

// strikes notes which backups were charged since before.
func (t *modelSubject) strikes(before machine.ModelSnapshot) {
	for i, e := range t.m.read().Chain {
		if e.Attempts > before.Chain[i].Attempts {
			t.struck[i] = t.now
		}
	}
}

// cooled is what r has come to by now: backups whose own cooldown is over are
// whole again (M24).
func (t *modelSubject) cooled(r machine.ModelSnapshot) machine.ModelSnapshot {
	if t.s.EntryCooldown == 0 {
		return r
	}
	r.Chain = slices.Clone(r.Chain)
	for i := range r.Chain {
		if e := &r.Chain[i]; e.Attempts >= e.Budget && t.now >= t.struck[i]+t.s.EntryCooldown {
			e.Attempts = 0
		}
	}
	return r
}

// settled lets the machine do what is due by now, and holds that against what is.
func (t *modelSubject) settled(blind bool) *breach {
	if t.s.EntryCooldown == 0 {
		return nil
	}
	want := t.cooled(t.m.read())
	t.m.settle(t.now)
	for i, e := range t.m.read().Chain {
		if !blind && e.Attempts != want.Chain[i].Attempts {
			return &breach{invariant: whole, why: fmt.Sprintf("%s has %d strikes at %v, and not %d", e.Name, e.Attempts, t.now, want.Chain[i].Attempts)}
		}
	}
	return nil
}

// next is when somebody serves again, where everybody is failed.
func (t *modelSubject) next(r machine.ModelSnapshot) time.Duration {
	next := t.until(r)
	for i, e := range r.Chain {
		if t.s.EntryCooldown > 0 && e.Available && e.Attempts >= e.Budget {
			next = min(next, t.struck[i]+t.s.EntryCooldown)
		}
	}
	return next
}

// first is the first backup that is not failed, or empty.
func first(r machine.ModelSnapshot) string {
	for _, e := range r.Chain {
		if !e.Failed() {
			return e.Name
		}
	}
	return ""
}

// judgedFurther holds the answer to a turn against what is set beyond M1 to M17.
// before is what was, spent whether no backup was left.
func (t *modelSubject) judgedFurther(before machine.ModelSnapshot, spent bool, model string, x *machine.Exhausted) *breach {
	waits := spent && t.s.Wait > 0 && t.next(before)-t.now <= t.s.Wait
	if waited := x != nil && x.Wait; waited != waits {
		return &breach{invariant: waitsRight, why: fmt.Sprintf("whether turn %d waits at %v is %v, and %v till somebody serves", t.begun, t.now, waited, t.next(before)-t.now)}
	}
	if waits {
		return nil
	}
	beside := before.State == machine.Recovering && t.full(before)
	if before.State == machine.Recovering && t.s.Probes > 0 {
		want := t.s.Primary
		switch {
		case beside && first(before) != "":
			want = first(before)
		case beside && t.s.LastResort != "":
			want = t.s.LastResort
		}
		if model != want {
			return &breach{invariant: places, why: fmt.Sprintf("turn %d went to %s at %v, and not to %s", t.begun, model, t.now, want)}
		}
	}
	if last := t.s.LastResort; last != "" && (model == last) != (spent || beside && first(before) == "") {
		return &breach{invariant: lastResort, why: fmt.Sprintf("%s served turn %d at %v", model, t.begun, t.now)}
	}
	return nil
}

// full says whether as many probes are out as may be.
func (t *modelSubject) full(r machine.ModelSnapshot) bool {
	out := 0
	for _, began := range r.Probes {
		if t.s.ProbeTimeout == 0 || t.now < began+t.s.ProbeTimeout {
			out++
		}
	}
	return t.s.Probes > 0 && out >= t.s.Probes
}

// allowed says whether a cooldown may be so long.
func (t *modelSubject) allowed(length time.Duration) bool {
	c, base := &t.s.Cooldown, float64(t.s.RecoveryTimeout)
	if *c == (machine.Cooldown{}) {
		return true // the naive ones say nothing of it
	}
	longest := base
	switch {
	case c.Growth > 1 && c.Longest == 0:
		longest = math.MaxInt64
	case c.Growth > 1:
		longest = max(base, float64(c.Longest))
	}
	longest *= 1 + c.Jitter
	if hint := float64(t.ending(RateLimit).RetryAfter); c.RetryAfter {
		if c.Longest > 0 {
			hint = min(hint, float64(c.Longest))
		}
		longest = max(longest, hint)
	}
	return float64(length) >= math.Floor(base*(1-c.Jitter)) && float64(length) <= math.Ceil(longest)
}

// ready lets turns in flight end as cancelled where they may hold places, and
// says from when on a healthy primary must bring the breaker back.
func (t *modelSubject) ready() (at time.Duration, steps []Step) {
	at = t.now
	for slot := range t.turns {
		if c := &t.turns[slot]; t.s.Probes > 0 && c.id != 0 && c.place {
			t.m.cancel(t.now, slot)
			steps = append(steps, Step{At: t.now, Do: Cancel, Call: c.id})
		}
	}
	r := t.m.read()
	if r.State == machine.Fallback {
		at = max(at, t.until(r))
	}
	for _, began := range r.Probes {
		at = max(at, began+t.s.ProbeTimeout)
	}
	return at, steps
}

// hash is what the machine remembers beside what its key has: how long each thing
// is away that time does, and how often in a row it tripped. Which cooldown was
// drawn last decides the next one, but nothing that an invariant speaks of.
func (t *modelSubject) hash(r machine.ModelSnapshot) uint64 {
	h := fnv.New64a()
	put := func(parts ...any) { fmt.Fprintln(h, parts...) }
	if r.State == machine.Fallback {
		put("until", max(0, t.until(r)-t.now))
	}
	if left := r.NotBefore - t.now; left > 0 && r.State != machine.Fallback {
		put("not before", left)
	}
	if t.s.Cooldown.Growth > 1 {
		put("streak", t.streak(r.Streak))
	}
	if f := t.s.Cooldown.Forget; f > 0 && r.State == machine.Primary {
		put("back", min(f, t.now-t.back))
	}
	for i, e := range r.Chain {
		if t.s.EntryCooldown > 0 && e.Attempts >= e.Budget {
			put("whole", i, max(0, t.struck[i]+t.s.EntryCooldown-t.now))
		}
	}
	age := func(began time.Duration) time.Duration {
		if t.s.ProbeTimeout == 0 {
			return 0
		}
		return min(t.s.ProbeTimeout, t.now-began)
	}
	for _, began := range r.Probes {
		put("place", age(began))
	}
	var held []string
	for slot := range t.turns {
		if c := &t.turns[slot]; c.id != 0 && c.place && c.epochs == t.epochs {
			held = append(held, fmt.Sprint(age(c.began)))
		}
	}
	slices.Sort(held)
	put("held", held)
	return h.Sum64()
}

// streak is how often it tripped in a row, as far as that makes a cooldown longer.
func (t *modelSubject) streak(n int) int {
	if t.s.Cooldown.Longest == 0 {
		return n
	}
	long, most := float64(t.s.RecoveryTimeout), 1
	for ; long > 0 && long < float64(t.s.Cooldown.Longest) && most < n; most++ {
		long *= t.s.Cooldown.Growth
	}
	return min(n, most)
}
