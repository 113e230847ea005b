package main

import (
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

const (
	atOnce      = "attempts: 3, ladder: fixed, base: 0s, jitter: none"
	withBackoff = "attempts: 3, base: 20s, cap: 40s, jitter: full, deadline: 0s"
	worlds      = 20
	manyWorlds  = 400
)

var collapse = block{
	id:    "V4",
	title: "A collapse that outlives its trigger",
	claim: "A service that slows down as more requests are in flight (1 s, and 10 ms for each, itself among them) serves 40 a second with 40/(1 - 0.4) = 66.7 in flight. Five seconds at twice that load are over soon, but not what they lead to: once every " +
		"attempt times out after 3 s and is made three times, 120 requests a second keep the service above what it can do in time, and it does not come back, in 15 of 20 runs. With backoff and jitter it comes back in all of them.",
	source: "Published: the model, M. Brooker's collapse simulation. Derived: what is in flight while all is well. Measured: an independent, seeded re-implementation, 20 seeds; 13 to 17 of 20 are taken for the same.",
	how: fmt.Sprintf("The scenario below with the seeds 1 to %d, and again with `retry: {%s}`. A run is dead if nothing succeeds in its last ten seconds. Twenty runs are few: of %d, three quarters are dead as well. In flight is what the service works at, read each second; a request whose "+
		"caller has given up is among them.", worlds, withBackoff, manyWorlds),
	scenario: collapseScenario(1, atOnce),
	columns:  "20 runs",
	play:     playCollapse,
}

func collapseScenario(seed int, retry string) string {
	return fmt.Sprintf(`
scenario: collapse
duration: 80s
seed: %d
targets:
  api: {latency: 1010ms, network: {exponential: 100ms}, capacity: {slowdown: 10ms}}
callers:
  - {to: api, rate: [{at: 0s, rate: 40/s}, {at: 20s, rate: 80/s}, {at: 25s, rate: 40/s}], arrivals: poisson, timeout: 3s}
policies:
  - {name: retries, breakers: none, retry: {%s}}
`, seed, retry)
}

// pulse counts successes and what is in flight, second by second.
type pulse struct {
	good [80]float64
	busy [81]float64
	now  int
}

func (p *pulse) Event(e *trace.Event) error {
	switch s := int(e.T / time.Second); {
	case e.Kind == trace.Result && e.Outcome == trace.Success && s < len(p.good):
		p.good[s]++
	case e.Kind == trace.Load:
		for ; p.now < s; p.now++ { // nothing changed in between
			p.busy[p.now+1] = p.busy[p.now]
		}
		p.busy[s] = float64(e.Busy)
	}
	return nil
}

func playCollapse(t *testing.T) findings {
	ways := []struct {
		name, retry, color string
		dashes             []vg.Length
	}{{"at once", atOnce, "bad", nil}, {"backoff", withBackoff, "ok", []vg.Length{px(5), px(3)}}}
	goodput := panel{title: "Successes a second", x: seconds(), y: axis{min: 0, max: 85, ticks: ticks(plain, 0, 20, 40, 60, 80)}}
	flying := panel{title: "In flight", x: seconds(), y: axis{min: 0, max: 1300, ticks: ticks(plain, 0, 250, 500, 750, 1000, 1250)}}
	var dead [2]int
	var healthy, after, rate []float64
	for i, w := range ways {
		good, busy := series{name: w.name, color: w.color, dashes: w.dashes}, series{name: w.name, color: w.color, dashes: w.dashes}
		var goods, busies [80]float64
		for seed := range worlds {
			p := new(pulse)
			playText(t, collapseScenario(seed+1, w.retry), p)
			if mean(p.good[70:]) == 0 {
				dead[i]++
			}
			for s := range goods {
				goods[s] += p.good[s] / worlds
				busies[s] += p.busy[s] / worlds
			}
			if i == 1 {
				after = append(after, p.busy[75:80]...)
				rate = append(rate, p.good[70:]...)
			}
			healthy = append(healthy, p.busy[10:20]...)
		}
		for s := range goods {
			good.curve = append(good.curve, plotter.XY{X: float64(s) + 0.5, Y: goods[s]})
			busy.curve = append(busy.curve, plotter.XY{X: float64(s), Y: busies[s]})
		}
		goodput.series, flying.series = append(goodput.series, good), append(flying.series, busy)
	}
	more := 0
	for seed := range manyWorlds {
		p := new(pulse)
		playText(t, collapseScenario(seed+1, atOnce), p)
		if mean(p.good[70:]) == 0 {
			more++
		}
	}
	const known = 40 / (1 - 0.4)
	return findings{
		rows: []finding{
			{"in flight from 10 to 20 s, while all is well", []figure{near(known, mean(healthy), 0.05*known, 1)}, "5%"},
			{"dead at the end, retries at once", []figure{between("15", 13, 17, float64(dead[0]), 0)}, "13 to 17"},
			{"share of the dead, retries at once, 400 runs", []figure{near(0.75, float64(more)/manyWorlds, 0.1, 3)}, "0.65 to 0.85"},
			{"dead at the end, backoff and jitter", []figure{exactly(0, float64(dead[1]))}, "none"},
			{"successes a second at the end, backoff and jitter", []figure{near(40, mean(rate), 0.05*40, 1)}, "5%"},
			{"in flight at the end, backoff and jitter", []figure{near(67, mean(after), 0.1*67, 1)}, "10%"},
		},
		picture: &chart{
			name:  "collapse",
			title: "A collapse that outlives its trigger: successes and requests in flight over time, mean of 20 runs",
			about: "Two charts over 80 seconds, means of 20 runs; the load doubles from 20 to 25 s. Left, successes a second: 40 at first. With retries at once they fall to some ten and stay there, since most of the runs are dead; " +
				"with backoff and jitter they come back to 40. Right, requests in flight: 67 at first; with retries at once they grow to the end, beyond a thousand, since the dead runs take more than they can do; with backoff they fall back.",
			line:   "mean of 20 runs",
			panels: []panel{goodput, flying},
		},
	}
}

func seconds() axis {
	return axis{label: "seconds", min: 0, max: 80, ticks: ticks(plain, 0, 20, 40, 60, 80)}
}
