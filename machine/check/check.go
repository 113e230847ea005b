// Package check explores a breaker: every sequence of moves up to a depth,
// breadth first, on the real machine, with states merged by value. What must
// hold after every move has a name; the shortest script that breaks it is told.
//
// A state is all that the machine remembers, instants taken relative to now,
// and what the calls in flight are to it. Counts that decide nothing beyond a
// limit are cut off there. So there are finitely many states, and once a depth
// brings no new one, every longer sequence is covered too.
package check

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/breakersim/breakersim/machine"
)

// Options bound an exploration.
type Options struct {
	Calls    int                   // calls in flight at one time, 1 to MaxCalls
	Forced   bool                  // an operator may force a tool breaker open and closed
	Between  *machine.ToolSettings // an operator may change a tool breaker's settings to these, and back
	Depth    int                   // moves in a row; 0: until nothing new comes
	Work     int                   // an exploration that makes more moves, again and again, gives up; 0: 1,000,000,000
	Enough   int                   // no deeper step is begun that could make it more moves, again and again, than this; 0: any
	Progress func(Progress)        // told after each step of the work, if not nil
}

// MaxCalls is the most calls in flight that can be explored.
const MaxCalls = 16

const defaultWork = 1_000_000_000

// Progress is how far an exploration is.
type Progress struct{ Depth, States, Moves int }

// Invariant is something that must hold after every move.
type Invariant struct{ Name, About string }

// Result is what an exploration found.
type Result struct {
	Progress
	Complete   bool        // nothing new came beyond Depth: longer sequences are covered
	Invariants []Invariant // those that apply
	Violations []Violation // at most one for each invariant, the shortest script first
}

// Violation is a broken invariant and the shortest script that breaks it.
type Violation struct {
	Invariant Invariant
	Why       string
	Script    []Step
	Traffic   int  // from this step on: traffic, or turns, that should have mended it
	Unsayable bool // its order within an instant is not that in which a scenario plays
}

// Do is what a step of a script does.
type Do uint8

// The moves of an exploration, waiting aside.
const (
	Ask       Do = iota + 1
	Peek         // read without effect
	Success      // of Call, as are the next four
	Failure      // a transient one
	RateLimit    // a failure of that kind
	Cancel       // the caller gave up
	Vanish       // its task was dropped
	Reset
	SwitchOff // the backup Name
	SwitchOn
	Permanent // of Call, as the next: a failure of that kind
	Timeout
	ForceOpen
	ForceClosed
	Configure      // with the settings of Name
	rateLimitBrief // a RateLimit that names a wait shorter than the cooldown
	rateLimitLong  // one that names a longer wait
	wait
)

// Step is one move of a script.
type Step struct {
	At   time.Duration
	Do   Do
	Call int           // from 1 in the order of asking; of Ask and results
	Name string        // of SwitchOff and SwitchOn; of Configure what changes, as a scenario has it
	Wait time.Duration // of RateLimit: that it names; 0: none
}

// move is a step as an exploration keeps it: arg is a slot of a call in flight,
// the number of a backup, or of an instant to wait for.
type move struct {
	do  Do
	arg uint8
}

// key is a state by value.
type key [80]byte

// put writes a count at an offset.
func (k *key) put(at, n int) { binary.LittleEndian.PutUint32(k[at:], uint32(n)) }

// span writes a time at an offset.
func (k *key) span(at int, d time.Duration) { binary.LittleEndian.PutUint64(k[at:], uint64(d)) }

// breach is a broken invariant, as it is noticed.
type breach struct {
	invariant int // index
	why       string
	more      []Step // what follows the moves made: the traffic that should have mended it
}

// subject is a machine under exploration, and what the explorer knows of it.
type subject interface {
	// moves adds what can be done next, in an order of its own.
	moves([]move) []move
	// do makes a move, and says what it broke. If blind it does not look.
	do(m move, blind bool) *breach
	// instant is now; waitUntil moves it.
	instant() time.Duration
	waitUntil(time.Duration)
	// step is what a move other than waiting is in a script.
	step(move) Step
	key() key
	// settle says what must come of the state and does not. The subject is
	// not used after it.
	settle() *breach
}

// node is a state, by the way to it.
type node struct {
	parent int32
	move   move
}

// exploration is the work and what it found.
type exploration struct {
	fresh      func() subject
	invariants []Invariant
	o          Options
	nodes      []node
	seen       map[key]struct{}
	broken     map[int]bool
	work       int // moves made, those on the way to a state again for each that follows
	r          Result
}

// explore goes through everything that can come of a fresh subject.
func explore(fresh func() subject, invariants []Invariant, o Options) (*Result, error) {
	if o.Calls < 1 || o.Calls > MaxCalls {
		return nil, fmt.Errorf("%d calls in flight cannot be explored; write 1 to %d", o.Calls, MaxCalls)
	}
	if o.Depth < 0 {
		return nil, fmt.Errorf("the depth is %d; it must not be negative", o.Depth)
	}
	if o.Work == 0 {
		o.Work = defaultWork
	}
	x := &exploration{fresh: fresh, invariants: invariants, r: Result{Invariants: invariants}, o: o, nodes: []node{{parent: -1}}, seen: map[key]struct{}{}, broken: map[int]bool{}}
	x.seen[fresh().key()] = struct{}{}
	from := 0
	for from < len(x.nodes) {
		to := len(x.nodes)
		last := o.Depth > 0 && x.r.Depth == o.Depth || x.tooMuch(to-from)
		if err := x.level(from, to, last); err != nil {
			return nil, err
		}
		if last {
			break
		}
		x.r.Complete = len(x.nodes) == to
		if !x.r.Complete {
			x.r.Depth++
		}
		from = to
	}
	x.r.States = len(x.nodes)
	return &x.r, nil
}

// tooMuch says whether going on from n nodes could come to more work than is
// enough, if each leads to as many moves as those before.
func (x *exploration) tooMuch(n int) bool {
	return x.o.Enough > 0 && x.r.Depth > 0 && x.work+n*(x.r.Moves/max(1, len(x.nodes)-n)+1)*(x.r.Depth+1) > x.o.Enough
}

// found is what one node led to.
type found struct {
	settled *breach
	next    []outcome
}

type outcome struct {
	move   move
	key    key
	breach *breach
}

// level looks at the nodes from, up to but not including to, and unless it is
// the last level at what follows them. The work is spread over all cores; what
// it comes to is gathered in the order of the nodes.
func (x *exploration) level(from, to int, last bool) error {
	const chunk = 1 << 13
	results := make([]found, chunk)
	for ; from < to; from += chunk {
		n := min(chunk, to-from)
		var wg sync.WaitGroup
		workers := runtime.GOMAXPROCS(0)
		for w := range workers {
			wg.Go(func() {
				for i := w; i < n; i += workers {
					results[i] = x.expand(from+i, last)
				}
			})
		}
		wg.Wait()
		for i := range n {
			if err := x.gather(from+i, &results[i]); err != nil {
				return err
			}
		}
		if x.o.Progress != nil {
			x.r.States = len(x.nodes)
			x.o.Progress(x.r.Progress)
		}
	}
	return nil
}

// expand says what the node i leads to. It only reads what the exploration has.
func (x *exploration) expand(i int, last bool) found {
	path := x.path(i)
	var f found
	here := x.replay(path)
	var moves []move
	if !last {
		moves = here.moves(nil)
	}
	f.settled = here.settle()
	for _, m := range moves {
		s := x.replay(path)
		o := outcome{move: m, breach: s.do(m, false)}
		if o.breach == nil {
			o.key = s.key()
		}
		f.next = append(f.next, o)
	}
	return f
}

// path is the moves that lead to the node i.
func (x *exploration) path(i int) []move {
	var path []move
	for ; x.nodes[i].parent >= 0; i = int(x.nodes[i].parent) {
		path = append(path, x.nodes[i].move)
	}
	slices.Reverse(path)
	return path
}

// replay makes the moves again on a fresh subject. They broke nothing before.
func (x *exploration) replay(path []move) subject {
	s := x.fresh()
	for _, m := range path {
		s.do(m, true)
	}
	return s
}

// gather keeps what is new of what the node i led to.
func (x *exploration) gather(i int, f *found) error {
	if f.settled != nil {
		x.violated(i, nil, f.settled)
	}
	if x.work += len(f.next) * (x.r.Depth + 1); x.work > x.o.Work {
		return fmt.Errorf("%d states by %d moves, %d in a row, and no end; explore fewer calls in flight, lower thresholds or a smaller depth", len(x.nodes), x.r.Moves, x.r.Depth)
	}
	for _, o := range f.next {
		x.r.Moves++
		if o.breach != nil {
			x.violated(i, []move{o.move}, o.breach)
			continue
		}
		if _, ok := x.seen[o.key]; ok {
			continue
		}
		x.seen[o.key] = struct{}{}
		x.nodes = append(x.nodes, node{int32(i), o.move})
	}
	return nil
}

// violated notes a breach, unless a script no longer than this one broke the
// same invariant.
func (x *exploration) violated(i int, then []move, b *breach) {
	if x.broken[b.invariant] {
		return
	}
	x.broken[b.invariant] = true
	x.r.Violations = append(x.r.Violations, x.script(append(x.path(i), then...), b))
}
