package trace

import (
	"iter"
	"strconv"
	"strings"
)

// Instance is some of the breakers that one with a scope comes to: one, or Count
// of them. What they are set to is said once, of the breaker; an event about one
// of them has its own name, such as "api[agents 17]".
type Instance struct {
	Name  string `json:"name"`            // of callers, or of a host
	Count int    `json:"count,omitempty"` // 0: one, without a number
}

// Each gives the names under which events speak of the breaker, in order: its
// own, or those of its instances.
func (b *Breaker) Each() iter.Seq[string] {
	return func(yield func(string) bool) {
		if b.Per == "" {
			yield(b.Name)
			return
		}
		for _, i := range b.Instances {
			if i.Count == 0 && !yield(PartName(b.Name, i.Name, 0)) {
				return
			}
			for n := range i.Count {
				if !yield(PartName(b.Name, i.Name, n+1)) {
					return
				}
			}
		}
	}
}

// Size is how many breakers it comes to.
func (b *Breaker) Size() int {
	n := 0
	for range b.Each() {
		n++
	}
	return n
}

// PartName is the name of a part of something: of one of a breaker's instances,
// or of a target's hosts. A number of 0 is none.
func PartName(of, part string, number int) string {
	if number > 0 {
		part += " " + strconv.Itoa(number)
	}
	return of + "[" + part + "]"
}

// Part is the part alone: of "api[agents 17]" it is "agents 17". A name of
// something whole is its own part.
func Part(name string) string {
	if _, part, ok := strings.Cut(name, "["); ok {
		return strings.TrimSuffix(part, "]")
	}
	return name
}

// Whole is what the name is a part of: of "api[agents 17]" it is "api".
func Whole(name string) string {
	whole, _, _ := strings.Cut(name, "[")
	return whole
}

// Instance is the breaker as one of its instances is, for whom it guards the
// host of its own name, if it is one for each host.
func (b *Breaker) Instance(name string) *Breaker {
	one := *b
	if b.Per == "" {
		return &one
	}
	one.Name, one.Instances = name, nil
	if b.Per == PerHost && b.Tool != nil {
		tool := *b.Tool
		tool.Guards = PartName(tool.Guards, Part(name), 0)
		one.Tool = &tool
	}
	return &one
}

// What Per can be: a breaker for each single caller, or for each host.
const (
	PerCaller = "caller"
	PerHost   = "host"
)
