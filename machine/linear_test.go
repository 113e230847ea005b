package machine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/breakersim/breakersim/machine"
)

// asked is what a goroutine asked of a breaker, and told what it said.
type asked struct {
	op   string
	call int
	now  time.Duration
}

type told struct {
	yes     bool
	model   string
	refusal machine.Refusal
	verdict machine.Verdict
}

// judgeOf is a judge that can be copied.
type judgeOf[J any] interface {
	clone() J
	answer(asked) told
}

// sequential is a judge as porcupine wants it: every step on a copy.
func sequential[J judgeOf[J]](fresh func() J) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return fresh() },
		Step: func(state, input, output any) (bool, any) {
			d := state.(J).clone()
			return d.answer(input.(asked)) == output.(told), d
		},
		Equal:             func(a, b any) bool { return reflect.DeepEqual(a, b) },
		DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " → ", output) },
	}
}

func (d *dumbTool) clone() *dumbTool {
	c := *d
	c.admittedAt, c.ended, c.openedAt, c.news = maps.Clone(d.admittedAt), maps.Clone(d.ended), slices.Clone(d.openedAt), nil
	return &c
}

func (d *dumbTool) answer(in asked) told {
	switch in.op {
	case "ask":
		ok, rule := d.allow(in.now, in.call)
		if ok {
			return told{yes: true}
		}
		until, known := d.until()
		return told{refusal: machine.Refusal{Rule: machine.Rule(rule), Until: until, Known: known}}
	case "peek":
		ok, _ := d.clone().allow(in.now, in.call)
		return told{yes: ok}
	case "reset":
		d.reset(in.now)
		return told{}
	case "anonymous":
		return told{verdict: d.report(in.now, 0, true)}
	default:
		return told{verdict: d.report(in.now, in.call, in.op == "success")}
	}
}

func (d *dumbModel) clone() *dumbModel {
	c := *d
	c.off, c.strikes, c.ended = maps.Clone(d.off), maps.Clone(d.strikes), maps.Clone(d.ended)
	c.servedBy, c.servedAt = maps.Clone(d.servedBy), maps.Clone(d.servedAt)
	c.moved, c.cleared, c.news = slices.Clone(d.moved), slices.Clone(d.cleared), nil
	c.out, c.aside, c.lastStrike = maps.Clone(d.out), maps.Clone(d.aside), maps.Clone(d.lastStrike)
	c.order, c.named = slices.Clone(d.order), slices.Clone(d.named)
	return &c
}

func (d *dumbModel) answer(in asked) told {
	switch in.op {
	case "ask":
		model, rule := d.begin(in.now, 0, in.call)
		return told{yes: rule != "M3", model: model}
	case "peek":
		model, rule := d.clone().begin(in.now, 0, in.call)
		return told{yes: rule != "M3", model: model}
	case "reset":
		d.reset(in.now)
		return told{}
	case "anonymous":
		return told{verdict: d.report(in.now, 0, machine.Ending{OK: true})}
	default:
		return told{verdict: d.report(in.now, in.call, machine.Ending{OK: in.op == "success"})}
	}
}

// reporter reports one admitted call.
type reporter interface {
	report(now time.Duration, ok bool) machine.Verdict
}

type permitOf struct{ *machine.Permit }

func (p permitOf) report(now time.Duration, ok bool) machine.Verdict {
	if ok {
		return p.Success(now)
	}
	return p.Failure(now)
}

type turnOf struct{ *machine.Turn }

func (t turnOf) report(now time.Duration, ok bool) machine.Verdict {
	if ok {
		return t.Success(now)
	}
	return t.Failure(now, machine.Transient)
}

// doTool asks the real machine. The reporter is that of an admitted call.
func doTool(b *machine.ToolBreaker, in asked) (told, reporter) {
	switch in.op {
	case "ask":
		p, err := b.Allow(in.now)
		if err != nil {
			return told{refusal: *err.(*machine.Refusal)}, nil
		}
		return told{yes: true}, permitOf{&p}
	case "peek":
		return told{yes: b.WouldAllow(in.now)}, nil
	case "reset":
		b.Reset(in.now)
		return told{}, nil
	default:
		return told{verdict: b.Success(in.now)}, nil
	}
}

func doModel(b *machine.ModelBreaker, in asked) (told, reporter) {
	switch in.op {
	case "ask":
		t, err := b.Begin(in.now)
		if err != nil {
			return told{}, nil
		}
		return told{yes: true, model: t.Model()}, turnOf{&t}
	case "peek":
		model, ok := b.WouldServe(in.now)
		return told{yes: ok, model: model}, nil
	case "reset":
		b.Reset(in.now)
		return told{}, nil
	default:
		return told{verdict: b.Success(in.now)}, nil
	}
}

// TestToolIsLinearizable lets goroutines loose on one breaker, and asks whether
// what they were told could have come about one operation after the other, each
// at some instant between its start and its end.
func TestToolIsLinearizable(t *testing.T) {
	for round := range rounds() {
		s := machine.ToolSettings{FailureThreshold: 1 + round%2, RecoveryDuration: 10, ProbeTimeout: 10, IgnoreStale: round%4 > 1}
		b, err := machine.NewToolBreaker(s, machine.Hooks{})
		require.NoError(t, err)
		history := play(uint64(round), func(in asked) (told, reporter) { return doTool(b, in) })
		if !linearizable(t, sequential(func() *dumbTool { return newDumbTool(s) }), history) {
			return
		}
	}
}

// TestModelIsLinearizable does the same to the model breaker.
func TestModelIsLinearizable(t *testing.T) {
	for round := range rounds() {
		s := machine.ModelSettings{Primary: "p", Chain: []machine.Backup{{Name: "b1", MaxFailCount: 1}, {Name: "b2", MaxFailCount: 1}}, TripThreshold: 1 + round%2,
			RecoveryTimeout: 10, RecoverySuccessesNeeded: 1 + round%2}
		b, err := machine.NewModelBreaker(s, machine.Hooks{})
		require.NoError(t, err)
		history := play(uint64(round), func(in asked) (told, reporter) { return doModel(b, in) })
		if !linearizable(t, sequential(func() *dumbModel { return newDumbModel(s) }), history) {
			return
		}
	}
}

func rounds() int {
	if testing.Short() {
		return 200
	}
	return 2000
}

func linearizable(t *testing.T, m porcupine.Model, history []porcupine.Operation) bool {
	if assert.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(m, history, time.Minute)) {
		return true
	}
	for _, op := range history {
		t.Log(op.ClientId, op.Call, op.Return, m.DescribeOperation(op.Input, op.Output))
	}
	return false
}

// play lets four goroutines ask and report, and writes down what they were told
// and when. Anybody may report an admitted call, and twice.
func play(seed uint64, do func(asked) (told, reporter)) (history []porcupine.Operation) {
	var (
		ticks, clock, calls atomic.Int64
		mu                  sync.Mutex
		wg                  sync.WaitGroup
		inFlight            = map[int]reporter{}
		start               = make(chan struct{})
	)
	ops := []string{"ask", "ask", "ask", "success", "success", "failure", "failure", "peek", "reset", "anonymous"}
	for g := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(g)))
			<-start
			for range 8 {
				in := asked{op: ops[random.IntN(len(ops))]}
				var r reporter
				if in.op == "success" || in.op == "failure" {
					mu.Lock()
					for in.call, r = range inFlight {
						break
					}
					mu.Unlock()
					if r == nil {
						continue
					}
				} else {
					in.call = int(calls.Add(1))
				}
				in.now = time.Duration(clock.Add([]int64{0, 0, 0, 1, 9, 10}[random.IntN(6)]))
				op := porcupine.Operation{ClientId: g, Input: in, Call: ticks.Add(1)}
				var out told
				if r != nil {
					out.verdict = r.report(in.now, in.op == "success")
					r = nil
				} else {
					out, r = do(in)
				}
				op.Output, op.Return = out, ticks.Add(1)
				mu.Lock()
				history = append(history, op)
				if r != nil {
					inFlight[in.call] = r
				}
				mu.Unlock()
			}
		})
	}
	close(start)
	wg.Wait()
	return history
}
