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

// asked is what a goroutine asked of a tool breaker, and told what it said.
type asked struct {
	op   string
	call int
	now  time.Duration
}

type told struct {
	yes     bool
	refusal machine.Refusal
	verdict machine.Verdict
}

// sequential is the judge as porcupine wants it: every step on a copy.
func sequential(s machine.ToolSettings) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return newDumbTool(s) },
		Step: func(state, input, output any) (bool, any) {
			d, in, out := state.(*dumbTool).clone(), input.(asked), output.(told)
			return d.answer(in) == out, d
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
	case "allow":
		ok, rule := d.allow(in.now, in.call)
		if ok {
			return told{yes: true}
		}
		until, known := d.until()
		return told{refusal: machine.Refusal{Rule: machine.Rule(rule), Until: until, Known: known}}
	case "would allow":
		ok, _ := d.clone().allow(in.now, in.call)
		return told{yes: ok}
	case "reset":
		d.reset(in.now)
		return told{}
	case "anonymous success":
		return told{verdict: d.report(in.now, 0, true)}
	default:
		return told{verdict: d.report(in.now, in.call, in.op == "success")}
	}
}

// TestToolIsLinearizable lets goroutines loose on one breaker, and asks whether
// what they were told could have come about one operation after the other, each
// at some instant between its start and its end.
func TestToolIsLinearizable(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for round := range rounds {
		settings := machine.ToolSettings{FailureThreshold: 1 + round%2, RecoveryDuration: 10, ProbeTimeout: 10, IgnoreStale: round%4 > 1}
		history := play(t, settings, uint64(round))
		result, info := porcupine.CheckOperationsVerbose(sequential(settings), history, time.Minute)
		if !assert.Equal(t, porcupine.Ok, result, "round %d", round) {
			_ = porcupine.VisualizePath(sequential(settings), info, t.TempDir()+"/history.html")
			for _, op := range history {
				t.Log(op.ClientId, op.Call, op.Return, op.Input, op.Output)
			}
			return
		}
	}
}

func play(t *testing.T, settings machine.ToolSettings, seed uint64) []porcupine.Operation {
	b, err := machine.NewToolBreaker(settings, machine.Hooks{})
	require.NoError(t, err)
	var (
		ticks, clock, calls atomic.Int64
		mu                  sync.Mutex
		permits             = map[int]*machine.Permit{} // anybody may report, and twice
		history             []porcupine.Operation
		wg                  sync.WaitGroup
		start               = make(chan struct{})
	)
	for g := range 4 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(g)))
			<-start
			for range 8 {
				in := asked{op: []string{"allow", "allow", "allow", "success", "success", "failure", "failure", "would allow", "reset", "anonymous success"}[random.IntN(10)]}
				var p *machine.Permit
				switch in.op {
				case "allow", "would allow":
					in.call = int(calls.Add(1))
				case "success", "failure":
					mu.Lock()
					for in.call, p = range permits {
						break
					}
					mu.Unlock()
					if p == nil {
						continue
					}
				}
				in.now = time.Duration(clock.Add([]int64{0, 0, 0, 1, 9, 10}[random.IntN(6)]))
				op := porcupine.Operation{ClientId: g, Input: in, Call: ticks.Add(1)}
				out, admitted := do(b, p, in)
				op.Output, op.Return = out, ticks.Add(1)
				mu.Lock()
				history = append(history, op)
				if admitted != nil {
					permits[in.call] = admitted
				}
				mu.Unlock()
			}
		})
	}
	close(start)
	wg.Wait()
	return history
}

func do(b *machine.ToolBreaker, p *machine.Permit, in asked) (told, *machine.Permit) {
	switch in.op {
	case "allow":
		p, err := b.Allow(in.now)
		if err != nil {
			return told{refusal: *err.(*machine.Refusal)}, nil
		}
		return told{yes: true}, &p
	case "would allow":
		return told{yes: b.WouldAllow(in.now)}, nil
	case "reset":
		b.Reset(in.now)
		return told{}, nil
	case "anonymous success":
		return told{verdict: b.Success(in.now)}, nil
	case "success":
		return told{verdict: p.Success(in.now)}, nil
	default:
		return told{verdict: p.Failure(in.now)}, nil
	}
}
