package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestARunOfBandsIsNamedOnce: bands of one model that lines part, none of which has
// room for its name, in the middle one.
func TestARunOfBandsIsNamedOnce(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		each   time.Duration // band; a second is about 9 px
		serves []string
		want   []string // from left to right
	}{
		"too narrow for its name":    {3 * s, []string{"local", "local", "local", "local", "local"}, []string{"local"}},
		"of two models":              {3 * s, []string{"local", "local", "local", "haiku", "haiku", "haiku"}, []string{"local", "haiku"}},
		"wide enough":                {5 * s, []string{"local", "local"}, []string{"local", "local"}},
		"alone":                      {3 * s, []string{"local"}, nil},
		"one after another":          {3 * s, []string{"local", "haiku", "local"}, nil},
		"too narrow even as a whole": {s / 2, []string{"local", "local"}, nil},
	} {
		h := world{policy: "p", end: time.Minute, targets: 2, models: 1}.history(t)
		b := h.Breakers[0]
		b.Bands = nil
		at := time.Duration(0)
		add := func(state, serves string, to time.Duration) {
			b.Bands = append(b.Bands, Band{From: at, To: to, State: state, Serves: serves})
			at = to
		}
		for _, serves := range c.serves {
			add("fallback", serves, at+c.each)
			add("recovering", "target0", at)
		}
		add("primary", "target0", time.Minute)
		_, p := drawn(t, Look{}, h)
		var got []string
		for _, w := range p.texts {
			if w.text == "local" || w.text == "haiku" || w.text == "fallback: local" {
				got = append(got, w.text)
			}
		}
		assert.Equal(t, c.want, got, name)
	}
}

// TestTheNameOfARunStandsInTheWidest band of it or, of several about as wide, in
// the middle.
func TestTheNameOfARunStandsInTheWidest(t *testing.T) {
	for want, lengths := range map[float64][]time.Duration{ // tenths of a second
		7.5:  {30, 30, 30, 30, 30},
		7.45: {30, 29, 31, 29, 32},
		12:   {30, 20, 30, 20, 40}, // the name would leave the end of the run
		3.5:  {20, 30, 20, 20, 20},
	} {
		f, p := drawn(t, Look{}, marked(t, nil))
		l := &lanePlotter{f: f, pen: p, x: func(d time.Duration) float64 { return 100 + 10*d.Seconds() }}
		var run []*Band
		at := time.Duration(0)
		for _, n := range lengths {
			run = append(run, &Band{From: at, To: at + n*time.Second/10, State: "fallback", Serves: "local"})
			at += n * time.Second / 10
		}
		l.runName(run, 50)
		name := p.texts[len(p.texts)-1]
		assert.Equal(t, "local", name.text)
		assert.InDelta(t, min(100+10*want, 100+10*at.Seconds()-(name.w+textAir)/2), name.x+name.w/2, 0.01)
	}
}
