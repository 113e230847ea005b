package replay

import (
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/trace"
)

// runInfo is what a reader of the trace must know beforehand.
func runInfo(s *scenarios.Scenario, p *scenarios.Policy, o *Others) *trace.RunInfo {
	info := &trace.RunInfo{Scenario: s.Name, Title: s.Title, Policy: p.Name, PolicyAbout: p.About, Seed: s.Seed,
		Breakers: []trace.Breaker{}, Targets: []trace.Target{}}
	for i := range p.Breakers {
		b := breakerInfo(&p.Breakers[i], o)
		for _, of := range s.Instances(&p.Breakers[i]) {
			b.Instances = append(b.Instances, trace.Instance{Name: of.Name, Count: of.Count})
		}
		info.Breakers = append(info.Breakers, b)
	}
	for _, b := range s.Substitutes {
		info.Substitutes = append(info.Substitutes, trace.Substitute{Target: b.Target, By: b.By})
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		info.Targets = append(info.Targets, targetInfo(t))
		for k := range t.Hosts {
			host := targetInfo(&t.Hosts[k])
			host.Of = t.Name
			info.Targets = append(info.Targets, host)
		}
	}
	return info
}

func breakerInfo(b *scenarios.Breaker, o *Others) trace.Breaker {
	info := trace.Breaker{Name: b.Name, Kind: "tool", Reports: "permit"}
	if b.Anonymous {
		info.Reports = "anonymous"
	}
	switch b.Per {
	case scenarios.PerCaller:
		info.Per = trace.PerCaller
	case scenarios.PerHost:
		info.Per = trace.PerHost
	}
	if t := b.Tool; t != nil {
		stale := "count"
		if t.IgnoreStale {
			stale = "ignore"
		}
		info.Tool = &trace.Tool{Guards: b.Guards, FailureThreshold: t.FailureThreshold, RecoveryDuration: t.RecoveryDuration,
			ProbeTimeout: t.ProbeTimeout, StaleResults: stale, Health: b.Health, FurtherTool: furtherTool(t)}
		info.Further = further(&t.Counts, &t.Cooldown)
		if o != nil && o.By != "" {
			info.By = o.By
			if !o.Leased {
				info.Tool.ProbeTimeout = 0
			}
		}
		return info
	}
	m := b.Model
	info.Kind = "model"
	info.Model = &trace.Model{Primary: m.Primary, Chain: []trace.Backup{}, TripThreshold: m.TripThreshold, RecoveryTimeout: m.RecoveryTimeout,
		RecoverySuccessesNeeded: m.RecoverySuccessesNeeded, ProbationFailures: m.ProbationFailures, FurtherModel: trace.FurtherModel{AtOnce: m.Probes, PlaceFor: m.ProbeTimeout,
			ExhaustedWait: m.Wait, LastResort: m.LastResort, EntryCooldown: m.EntryCooldown}}
	info.Further = further(&m.Counts, &m.Cooldown)
	for _, e := range m.Chain {
		info.Model.Chain = append(info.Model.Chain, trace.Backup{Name: e.Name, MaxFailCount: e.MaxFailCount})
	}
	return info
}

func targetInfo(t *scenarios.Target) trace.Target {
	info := trace.Target{Name: t.Name, Latency: t.Base.Latency.String(), Outcome: t.Base.Mix.String(), Phases: []trace.TargetPhase{}}
	if l := t.Limit; l != nil {
		info.Limit = &trace.Limit{Every: l.Every, Burst: l.Burst}
	}
	if c := t.Capacity; c != nil {
		info.Capacity = &trace.Capacity{Servers: c.Servers, Queue: c.Queue, CancelOnTimeout: c.CancelOnTimeout, Slowdown: c.Slowdown}
	}
	if t.Network != (scenarios.Dist{}) {
		info.Network = t.Network.String()
	}
	info.Warmup = t.Warmup
	if b := t.Bursts; b != nil {
		info.Bursts = &trace.Bursts{Apart: b.Apart, For: b.For}
		info.Bursts.Outcome, info.Bursts.Latency = words(&b.Behavior)
	}
	if p := t.Price; p != nil {
		info.Price = &trace.Price{Call: p.Call, Tokens: p.Tokens}
	}
	phases := t.Phases
	if len(t.Hosts) > 0 { // they have them
		phases = nil
	}
	for _, p := range phases {
		ph := trace.TargetPhase{At: p.At, For: p.For}
		ph.Outcome, ph.Latency = words(&p.Behavior)
		info.Phases = append(info.Phases, ph)
	}
	for _, s := range t.Segments() {
		seg := trace.Segment{At: s.At, Outcome: s.Mix.String(), Phase: s.Phase}
		for _, share := range s.Mix {
			if share.Outcome == scenarios.Success {
				seg.Success = share.P
			}
		}
		info.Segments = append(info.Segments, seg)
	}
	return info
}

// words are what a behavior says, as captions write it; empty where it says nothing.
func words(b *scenarios.Behavior) (outcome, latency string) {
	if b.Mix != nil {
		outcome = b.Mix.String()
	}
	if b.Latency != nil {
		latency = b.Latency.String()
	}
	return outcome, latency
}
