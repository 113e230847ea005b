package machine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// RegistrySettings configure a [Registry].
type RegistrySettings struct {
	Tool  ToolSettings            // of every tool that Tools does not name
	Tools map[string]ToolSettings // by tool
	Hooks func(tool string) Hooks // what hears a tool's breaker; nil: nobody. Goroutines that see a name first at once may each ask
}

// Registry keeps the breaker and the stats of each tool by its name, which it
// makes at first sight (H5). Use [NewRegistry].
type Registry struct {
	settings RegistrySettings
	tools    sync.Map // of *Tool, by name
}

// NewRegistry makes an empty registry, or says what is wrong with the settings.
func NewRegistry(s RegistrySettings) (*Registry, error) {
	if err := s.Tool.Validate(); err != nil {
		return nil, err
	}
	for name, t := range s.Tools {
		if err := t.Validate(); err != nil {
			return nil, fmt.Errorf("tool %q: %w", name, err)
		}
	}
	return &Registry{settings: s}, nil
}

// Tool is the tool of that name, from now on the same each time.
func (r *Registry) Tool(name string) *Tool {
	t, ok := r.tools.Load(name)
	if !ok {
		t, _ = r.tools.LoadOrStore(name, r.make(name))
	}
	return t.(*Tool)
}

func (r *Registry) make(name string) *Tool {
	s, ok := r.settings.Tools[name]
	if !ok {
		s = r.settings.Tool
	}
	var h Hooks
	if r.settings.Hooks != nil {
		h = r.settings.Hooks(name)
	}
	return &Tool{Name: name, Breaker: newToolBreaker(s, h)}
}

// Available says whether the tool would admit a call at now, and changes
// nothing: it takes no probe's slot, and makes no tool (H5, T14).
func (r *Registry) Available(now time.Duration, name string) bool {
	t, ok := r.tools.Load(name)
	return !ok || t.(*Tool).Breaker.WouldAllow(now)
}

// Health is the health summary at now: all tools seen so far, by name.
func (r *Registry) Health(now time.Duration) []ToolHealth {
	var all []ToolHealth
	r.tools.Range(func(_, t any) bool {
		all = append(all, t.(*Tool).Health(now))
		return true
	})
	slices.SortFunc(all, func(a, b ToolHealth) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}

// Tool is one tool of a [Registry].
type Tool struct {
	Name    string
	Breaker *ToolBreaker
	Stats   Stats
}

// Health is the tool's line of the summary at now.
func (t *Tool) Health(now time.Duration) ToolHealth {
	s, state := t.Stats.Read(), t.Breaker.Snapshot(now).State
	return ToolHealth{Tool: t.Name, State: state, Health: s.Health(state), StatsSnapshot: s}
}

// Do is [ToolBreaker.Do], and records how long the call took and how it ended.
// A refused call is none, and one that the caller gave up says nothing.
func (t *Tool) Do(ctx context.Context, clock Clock, fn func(context.Context) error) error {
	return t.Breaker.Do(ctx, clock, func(ctx context.Context) error {
		start, returned := clock(), false
		defer func() {
			if !returned {
				t.Stats.Record(clock()-start, false)
			}
		}()
		err := fn(ctx)
		returned = true
		if !gaveUp(ctx, err) {
			t.Stats.Record(clock()-start, err == nil)
		}
		return err
	})
}

// Router sends a call to a substitute while its tool is out (H7).
type Router struct {
	Available   func(now time.Duration, tool string) bool // a pure read, such as [Registry.Available]
	Substitutes map[string][]string                       // by tool, the best first
}

// Resolve is the tool itself if it is available at now, else its first
// substitute that is, else the tool itself, for its breaker to refuse. A
// substitute's own substitutes are not looked at.
func (r Router) Resolve(now time.Duration, tool string) string {
	if r.Available(now, tool) {
		return tool
	}
	for _, s := range r.Substitutes[tool] {
		if r.Available(now, s) {
			return s
		}
	}
	return tool
}
