package check

import "github.com/breakersim/breakersim/machine"

// What must hold of a tool breaker that is set to more than T1 to T16.
const (
	setOneProbe = iota
	setProbesAtOnce
	setProbesInAll
	setSlotBack
	setPeek
	setStale
	setNoWedge
	setNoShortcut
	setCooldown
	setBounds
	setRetryAfter
	setLate
	setLeaseEnd
	setCounted
	setIgnored
	setThreshold
	setKept
	setForgotten
	setWindow
	setMinimum
	setShare
	setSlow
	setNeeded
	setVerdict
	setProbeShare
	setRamp
	setSkip
	setForced
	setConfigure
)

// SetToolInvariants are what [Tool] checks of a breaker that is set to more
// than T1 to T16: those of them that apply to its settings.
var SetToolInvariants = []Invariant{
	setOneProbe:     {"one-probe", "at most one live probe"},
	setProbesAtOnce: {"probes-at-once", "never more probes at one time than are allowed"},
	setProbesInAll:  {"probes-in-all", "never more probes in one half-open period than are allowed"},
	setSlotBack:     {"slot-back", "a slot that is free again can be taken again"},
	setPeek:         {"peek", "WouldAllow says what Allow does, and changes nothing"},
	setStale:        {"stale-success", "only the results of its probes close it"},
	setNoWedge:      {"no-wedge", "with a healthy target it is closed within lease + 2 cooldowns of traffic, and the wait that was named"},
	setNoShortcut:   {"no-shortcut", "it never goes from closed to half-open"},
	setCooldown:     {"cooldown", "open refuses for the whole cooldown since the last failure that counts, and no longer"},
	setBounds:       {"cooldown-bounds", "each cooldown is as long as its growth, its cap and its chance let it be"},
	setRetryAfter:   {"retry-after", "open never ends before the wait that was named, up to the longest"},
	setLate:         {"late-failures", "late failures leave the end of the cooldown where it is"},
	setLeaseEnd:     {"lease-end", "a lease that ran out takes effect at its end"},
	setCounted:      {"counted", "each kind of result counts as it is set to"},
	setIgnored:      {"ignored", "a result that counts as nothing moves nothing"},
	setThreshold:    {"threshold", "it opens at so many failures in a row, no sooner and no later"},
	setKept:         {"count-kept", "a success leaves the count of failures as it is"},
	setForgotten:    {"count-forgotten", "failures that are too long ago are forgotten, and no others"},
	setWindow:       {"window", "the window holds what an onlooker has in a list of his own"},
	setMinimum:      {"minimum", "no rate opens it below the minimum of calls"},
	setShare:        {"window-opens", "it opens as soon as the onlooker's list says so, and not before"},
	setSlow:         {"slow", "the calls that took longer are slow, and no others"},
	setNeeded:       {"needed", "it closes only after as many successes of probes as it needs"},
	setVerdict:      {"probe-verdict", "the first probe that fails opens it, and enough successes close it"},
	setProbeShare:   {"probe-share", "the share of failures among the probes opens it or closes it, once enough came back"},
	setRamp:         {"ramp", "after closing it lets through the share that it has come to, no more and no less"},
	setSkip:         {"skip", "it is never half-open"},
	setForced:       {"forced", "what an operator forced stays so until it is reset"},
	setConfigure:    {"configure", "new settings leave the counts and the probes as they are, and the state unless by them enough probes came back"},
}

// applies says, by the index of the invariant, whether it says anything of a
// breaker with these settings.
func applies(i int, s *machine.ToolSettings, o *Options) bool {
	p, t, c := &s.Probing, &s.Trip, &s.Cooldown
	ignores := s.Counts.Failure == machine.AsNothing || s.Counts.RateLimit == machine.AsNothing || s.Counts.Timeout == machine.AsNothing ||
		s.Counts.Permanent == machine.AsNothing || s.Counts.Cancelled == machine.AsNothing
	rates := t.FailureRate > 0 || t.SlowRate > 0
	switch i {
	case setOneProbe:
		return !p.Skip && p.AtOnce <= 1
	case setProbesAtOnce:
		return p.AtOnce > 1
	case setProbesInAll:
		return p.InAll > 0
	case setSlotBack:
		return p.AtOnce > 1 || p.Needed > 1 || p.Release || ignores && !p.Skip
	case setStale:
		return !p.Skip
	case setBounds:
		return c.Growth > 1 || c.Jitter > 0
	case setRetryAfter:
		return c.RetryAfter
	case setLate:
		return c.LateKeep
	case setLeaseEnd:
		return !p.Skip && s.ProbeTimeout > 0
	case setCounted:
		return s.Counts != machine.Counts{}
	case setIgnored:
		return ignores
	case setThreshold:
		return s.FailureThreshold > 0
	case setKept:
		return t.KeepsCount
	case setForgotten:
		return t.ForgetAfter > 0
	case setWindow:
		return rates || t.Failures > 0
	case setMinimum:
		return rates && t.MinCalls > 1
	case setShare:
		return rates || t.Failures > 0
	case setSlow:
		return t.SlowerThan > 0
	case setNeeded:
		return p.Needed > 1 && p.FailureRate == 0
	case setVerdict:
		return !p.Skip && p.FailureRate == 0
	case setProbeShare:
		return p.FailureRate > 0
	case setRamp:
		return p.Ramp > 0
	case setSkip:
		return p.Skip
	case setForced:
		return o.Forced
	case setConfigure:
		return o.Between != nil
	}
	return true // peek, no-wedge, no-shortcut, cooldown
}

// applying are the invariants that apply to one of the settings.
func applying(s *machine.ToolSettings, o *Options) (all []Invariant) {
	for i, inv := range SetToolInvariants {
		if applies(i, s, o) || o.Between != nil && applies(i, o.Between, o) {
			all = append(all, inv)
		}
	}
	return all
}
