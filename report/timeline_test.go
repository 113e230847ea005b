package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/breakersim/breakersim/sim/trace"
)

// world is a run made up for the layout: nothing in it needs to make sense.
type world struct {
	title     string
	policy    string
	end       time.Duration
	targets   int
	tools     int
	models    int
	moves     int // transitions of each breaker, evenly over the run
	calls     int // evenly over the run, with every outcome in turn
	longNames bool
	health    bool // recorded, and every other call is rerouted
}

func (w world) history(t testing.TB) *History {
	t.Helper()
	name := func(kind string, i int) string {
		if w.longNames {
			return fmt.Sprintf("the-%s-with-a-name-that-is-far-too-long-for-any-margin-%d", kind, i)
		}
		return fmt.Sprintf("%s%d", kind, i)
	}
	info := &trace.RunInfo{Scenario: "made-up", Title: w.title, Policy: w.policy, PolicyAbout: "breakers, no retries, and then some more words about it", Seed: 1}
	for i := range w.targets {
		info.Targets = append(info.Targets, trace.Target{Name: name("target", i), Latency: "1s", Outcome: "success", Segments: []trace.Segment{
			{Success: 1, Outcome: "success", Phase: trace.NoPhase}, {At: w.end / 4, Outcome: "timeout"},
			{At: w.end / 2, Success: 0.7, Outcome: "70% success, 30% failure", Phase: 1}, {At: w.end * 3 / 4, Success: 1, Outcome: "success", Phase: trace.NoPhase}}})
	}
	for i := range w.tools {
		info.Breakers = append(info.Breakers, trace.Breaker{Name: name("breaker", i), Kind: "tool", Reports: "anonymous",
			Tool: &trace.Tool{Guards: name("target", i), FailureThreshold: 3, RecoveryDuration: time.Minute, StaleResults: "ignore"}})
	}
	for i := range w.models {
		info.Breakers = append(info.Breakers, trace.Breaker{Name: name("model", i), Kind: "model", Reports: "permit",
			Model: &trace.Model{Primary: name("target", 0), Chain: []trace.Backup{{Name: name("target", 1), MaxFailCount: 2}}, TripThreshold: 3, ProbationFailures: 1}})
	}
	h := new(History)
	tell := func(e trace.Event) { require.NoError(t, h.Event(&e)) }
	tell(trace.Event{Kind: trace.Run, Run: info})
	for k := range max(w.moves, w.calls) {
		at := w.end * time.Duration(k) / time.Duration(max(w.moves, w.calls))
		if k < w.moves {
			w.move(k, at, info, tell)
		}
		if k < w.calls && len(info.Targets) > 0 {
			w.call(k, at, info, tell)
		}
	}
	tell(trace.Event{T: w.end, Kind: trace.End})
	return h
}

func (w world) move(k int, at time.Duration, info *trace.RunInfo, tell func(trace.Event)) {
	tool := []string{"open", "half-open", "closed"}
	model := []string{"fallback", "recovering", "primary"}
	for i := range info.Breakers {
		b := &info.Breakers[i]
		e := trace.Event{T: at, Kind: trace.Transition, Breaker: b.Name, To: tool[k%3], Effective: at, Rule: []string{"T3", "T7", "T8"}[k%3], Failures: 3, Call: k + 1}
		if b.Model != nil {
			e.To, e.Rule = model[k%3], []string{"M10", "M2", "M9"}[k%3]
		}
		tell(e)
		if b.Model != nil {
			serves := []string{b.Model.Chain[0].Name, "", b.Model.Primary}
			tell(trace.Event{T: at, Kind: trace.Switch, Breaker: b.Name, To: serves[k%3], Rule: e.Rule})
		}
	}
}

func (w world) call(k int, at time.Duration, info *trace.RunInfo, tell func(trace.Event)) {
	target := info.Targets[k%len(info.Targets)].Name
	breaker := ""
	if len(info.Breakers) > 0 {
		breaker = info.Breakers[k%len(info.Breakers)].Name
	}
	tell(trace.Event{T: at, Kind: trace.Call, Call: k + 1, Attempt: 1, To: target})
	if k%5 == 4 && breaker != "" {
		tell(trace.Event{T: at, Kind: trace.Refuse, Call: k + 1, Attempt: 1, Breaker: breaker, Rule: "T4"})
		return
	}
	if w.health && k%2 == 1 {
		tell(trace.Event{T: at, Kind: trace.Reroute, Call: k + 1, Attempt: 1, Breaker: breaker, From: target, To: info.Targets[k/3%len(info.Targets)].Name, Rule: "H7"})
	}
	if breaker != "" {
		tell(trace.Event{T: at, Kind: trace.Admit, Call: k + 1, Attempt: 1, Breaker: breaker, Target: target, Probe: k%7 == 3, Rule: "T5"})
	}
	outcomes := []string{trace.Success, trace.Failure, trace.RateLimit, trace.Cancelled, trace.Vanished}
	if o := outcomes[k%5]; o == trace.Vanished {
		tell(trace.Event{T: at, Kind: trace.Vanish, Call: k + 1, Attempt: 1, Target: target})
	} else {
		tell(trace.Event{T: at, Kind: trace.Result, Call: k + 1, Attempt: 1, Target: target, Outcome: o, Breaker: breaker, Applied: k%3 > 0, Rule: "T13"})
	}
	if w.health {
		tell(trace.Event{T: at, Kind: trace.Health, Breaker: breaker, Target: target, Score: float64(k%11) / 10, Health: "degraded"})
	}
}

// worlds are runs that a layout could stumble over.
func worlds() map[string][]world {
	plain := world{title: "An ordinary outage", policy: "breaker", end: 2 * time.Minute, targets: 2, tools: 1, moves: 5, calls: 40}
	with := func(change func(*world)) world {
		w := plain
		change(&w)
		return w
	}
	return map[string][]world{
		"ordinary":      {plain},
		"nothing":       {{title: "Nothing", policy: "breaker", end: 0}},
		"no calls":      {with(func(w *world) { w.calls = 0 })},
		"one instant":   {with(func(w *world) { w.end = 1 })},
		"a ms":          {with(func(w *world) { w.end = time.Millisecond })},
		"six days":      {with(func(w *world) { w.end = 6 * 24 * time.Hour })},
		"ten years":     {with(func(w *world) { w.end = 87600 * time.Hour })},
		"many moves":    {with(func(w *world) { w.moves = 2000 })},
		"flapping":      {with(func(w *world) { w.moves, w.models = 5_000, 1 })},
		"many calls":    {with(func(w *world) { w.calls = 20_000 })},
		"health":        {with(func(w *world) { w.health, w.tools = true, 2 })},
		"much health":   {with(func(w *world) { w.health, w.calls, w.longNames = true, 20_000, true })},
		"breakers":      {with(func(w *world) { w.targets, w.tools, w.models = 6, 4, 2 })},
		"targets":       {with(func(w *world) { w.targets, w.tools = 50, 0 })},
		"long names":    {with(func(w *world) { w.longNames, w.models = true, 1; w.title = strings.Repeat("A very long title ", 12) })},
		"one word":      {with(func(w *world) { w.title = strings.Repeat("Donaudampfschiff", 12) })},
		"four panels":   {plain, with(func(w *world) { w.policy = "plain-retries"; w.tools = 0 }), with(func(w *world) { w.policy = strings.Repeat("long-", 12) }), with(func(w *world) { w.models = 1; w.moves = 30 })},
		"other scripts": {with(func(w *world) { w.title = `Größe <script>alert("x")</script> & 日本 → ≥` + "\x01\ufffe\xff" })},
	}
}

// pictured is the picture of that kind, of these runs.
func pictured(tb testing.TB, kind string, look Look, panels ...*History) *Drawing {
	tb.Helper()
	d, err := KindOf(kind).Draw(&Results{Panels: panels}, look)
	require.NoError(tb, err)
	return d
}

// drawn is the timeline laid out, and the pen that drew it.
func drawn(tb testing.TB, look Look, panels ...*History) (*figure, *pen) {
	tb.Helper()
	d := pictured(tb, "timeline", look, panels...)
	f := d.drawing.(*figure)
	return f, d.on(newSVG(vg.Length(f.width*pixel), vg.Length(f.height*pixel), "", "", "", d.themes))
}

// TestNothingOverlaps looks at every piece of text of every world: none lies on
// another, and none leaves the picture.
func TestNothingOverlaps(t *testing.T) {
	for name, panels := range worlds() {
		for _, width := range []int{480, 720, 960, 1440} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				var all []*History
				for _, w := range panels {
					all = append(all, w.history(t))
				}
				f, p := drawn(t, Look{Width: width}, all...)
				assert.NotEmpty(t, p.texts)
				for i, a := range p.texts {
					assert.True(t, a.x >= 0 && a.y >= 0 && a.x+a.w <= f.width && a.y+a.h <= f.height, "%q leaves the picture: %+v of %v x %v", a.text, a.box, f.width, f.height)
					for _, b := range p.texts[:i] {
						if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
							t.Errorf("%q %+v lies on %q %+v", a.text, a.box, b.text, b.box)
						}
					}
				}
			})
		}
	}
}

// TestSVG reads the file as a browser does: well-formed, described, and with
// nothing of a scenario's text taken for markup.
func TestSVG(t *testing.T) {
	for name, panels := range worlds() {
		var all []*History
		for _, w := range panels {
			all = append(all, w.history(t))
		}
		tl := pictured(t, "timeline", Look{}, all...)
		var first, second bytes.Buffer
		require.NoError(t, tl.WriteSVG(&first))
		require.NoError(t, tl.WriteSVG(&second))
		assert.True(t, bytes.Equal(first.Bytes(), second.Bytes()), "%s: two drawings differ", name)
		assert.NotContains(t, first.String(), "NaN")
		assert.NotContains(t, first.String(), "Inf")
		elements := map[string]int{}
		d := xml.NewDecoder(&first)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, name)
			if s, ok := token.(xml.StartElement); ok {
				elements[s.Name.Local]++
				if s.Name.Local == "svg" {
					assert.Contains(t, fmt.Sprint(s.Attr), "viewBox")
				}
			}
		}
		assert.Equal(t, 1, elements["svg"])
		assert.Equal(t, 1, elements["desc"])
		assert.GreaterOrEqual(t, elements["title"], 1)
		assert.Zero(t, elements["script"])
	}
}

func TestDescriptionTellsTheStates(t *testing.T) {
	f, _ := drawn(t, Look{}, world{policy: "breaker", end: 60 * time.Second, targets: 1, tools: 1, moves: 3, calls: 2}.history(t))
	assert.Equal(t, "2 calls in 60 s. Target target0 from 15 s to 30 s: timeout. Target target0 from 30 s to 45 s: 70 % success, 30 % failure. breaker0 is closed to 0 s, open to 20 s, half-open to 40 s, closed to 60 s.", f.t.describe())
}

func TestPNGHasTwoPixelsForEach(t *testing.T) {
	for _, width := range []int{0, 100, 960} {
		tl := pictured(t, "timeline", Look{Width: width}, worlds()["ordinary"][0].history(t))
		var b bytes.Buffer
		require.NoError(t, tl.WritePNG(&b, 2))
		img, err := png.Decode(&b)
		require.NoError(t, err)
		assert.Equal(t, map[int]int{0: 1440, 100: 960, 960: 1920}[width], img.Bounds().Dx())
	}
}

// TestWhyACallWasRefused reads the reason off the breaker's leases and settings.
func TestWhyACallWasRefused(t *testing.T) {
	b := &BreakerHistory{Breaker: &trace.Breaker{Tool: &trace.Tool{RecoveryDuration: 30 * time.Second}}, Leases: []Lease{{From: 33 * time.Second, To: 40 * time.Second, ends: 63 * time.Second, limited: true}}}
	assert.Equal(t, "T6: the probe's lease runs until 63 s", b.refusal(&Mark{Rule: "T6", At: 35 * time.Second, Until: 93 * time.Second, Known: true}, time.Minute))
	assert.Equal(t, "T6: a probe is out", b.refusal(&Mark{Rule: "T6", At: 50 * time.Second, Until: 93 * time.Second, Known: true}, time.Minute), "of a record without the probe")
	assert.Equal(t, "T6: a probe is out, and has no lease", b.refusal(&Mark{Rule: "T6"}, time.Minute))
	assert.Equal(t, "T4: the cooldown runs until 33 s", b.refusal(&Mark{Rule: "T4", Until: 33 * time.Second, Known: true}, time.Minute))
	assert.Equal(t, "T6", (&BreakerHistory{Breaker: &trace.Breaker{Model: &trace.Model{}}}).refusal(&Mark{Rule: "T6", Known: true}, time.Minute))
	assert.Equal(t, "X1", b.refusal(&Mark{Rule: "X1"}, time.Minute))
}

func TestNoPanels(t *testing.T) {
	for _, k := range Kinds {
		_, err := k.Draw(new(Results), Look{})
		assert.ErrorIs(t, err, ErrNothingToDraw, k.Name)
	}
}

func TestLooksThatCannotBe(t *testing.T) {
	h := worlds()["ordinary"][0].history(t)
	for want, look := range map[string]Look{
		"a picture cannot be -1 pixels wide; write 480 to 10,000":                     {Width: -1},
		"a picture cannot be 10001 pixels wide; write 480 to 10,000":                  {Width: 10_001},
		`there is no theme "blue"; write one of light, dark, print`:                   {Theme: "blue"},
		`there are no lanes "fast"; write one of auto, callers, outcomes, none`:       {Lanes: "fast"},
		"nothing is between 30 s and 20 s; the first instant must be the earlier one": {From: 30 * time.Second, To: 20 * time.Second},
		"nothing is between 20 s and 20 s; the first instant must be the earlier one": {From: 20 * time.Second, To: 20 * time.Second},
	} {
		_, err := KindOf("timeline").Draw(&Results{Panels: []*History{h}}, look)
		assert.EqualError(t, err, want)
	}
	d := pictured(t, "timeline", Look{}, h)
	assert.EqualError(t, d.WritePNG(io.Discard, 0), "a PNG cannot have 0 pixels for each pixel of the page; write 1 to 4")
}

// TestShortStatesStayVisible has a state of a nanosecond, wherever it comes.
func TestShortStatesStayVisible(t *testing.T) {
	l := &lanePlotter{f: &figure{end: time.Hour}, x: func(d time.Duration) float64 { return 100 + d.Hours()*500 }}
	for _, at := range []time.Duration{0, time.Minute, time.Hour - 1, time.Hour} {
		b := l.span(at, at+1, 0, 10)
		assert.InDelta(t, 3, b.w, 1e-9)
		assert.GreaterOrEqual(t, b.x, 100.0)
		assert.LessOrEqual(t, b.x+b.w, 600.0+1e-9, "still inside the axis")
	}
}

func TestTicksAreThoseOfAClock(t *testing.T) {
	for end, want := range map[time.Duration]string{
		0:                              "0",
		130 * time.Second:              "0, 15 s, 30 s, 45 s, 60 s, 75 s, 90 s, 105 s, 120 s, 130 s",
		121 * time.Second:              "0, 10 s, 20 s, 30 s, 40 s, 50 s, 60 s, 70 s, 80 s, 90 s, 100 s, 110 s, 121 s",
		time.Millisecond:               "0, 100 µs, 200 µs, 300 µs, 400 µs, 500 µs, 600 µs, 700 µs, 800 µs, 900 µs, 1 ms",
		time.Second:                    "0, 100 ms, 200 ms, 300 ms, 400 ms, 500 ms, 600 ms, 700 ms, 800 ms, 900 ms, 1,000 ms",
		10 * time.Second:               "0, 1 s, 2 s, 3 s, 4 s, 5 s, 6 s, 7 s, 8 s, 9 s, 10 s",
		2 * time.Minute:                "0, 10 s, 20 s, 30 s, 40 s, 50 s, 60 s, 70 s, 80 s, 90 s, 100 s, 110 s, 120 s",
		15 * time.Minute:               "0, 2 min, 4 min, 6 min, 8 min, 10 min, 12 min, 14 min, 15 min",
		2 * time.Hour:                  "0, 10 min, 20 min, 30 min, 40 min, 50 min, 60 min, 70 min, 80 min, 90 min, 100 min, 110 min, 120 min",
		5 * time.Hour:                  "0, 30 min, 1 h, 1 h 30 min, 2 h, 2 h 30 min, 3 h, 3 h 30 min, 4 h, 4 h 30 min, 5 h",
		6 * 24 * time.Hour:             "0, 1 day, 2 days, 3 days, 4 days, 5 days, 6 days",
		144*time.Hour + 42*time.Second: "0, 1 day, 2 days, 3 days, 4 days, 5 days, 6 days",
		84 * time.Hour:                 "0, 1 day, 2 days, 3 days, 3 days 12 h",
		60 * time.Hour:                 "0, 6 h, 12 h, 18 h, 24 h, 30 h, 36 h, 42 h, 48 h, 54 h, 60 h",
	} {
		var labels []string
		for _, tick := range (clockTicks{900, end}).Ticks(0, end.Seconds()) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		assert.Equal(t, want, strings.Join(labels, ", "), "to %v", end)
	}
}

// TestARetriedCallStaysWithItsBreaker has a ladder inside a breaker: only the
// last result says whose it is, but all of them are drawn in one place.
func TestARetriedCallStaysWithItsBreaker(t *testing.T) {
	h := new(History)
	info := &trace.RunInfo{Breakers: []trace.Breaker{{Name: "b", Kind: "tool", Tool: &trace.Tool{Guards: "t"}}}, Targets: []trace.Target{{Name: "t"}}}
	for _, e := range []trace.Event{
		{Kind: trace.Run, Run: info},
		{T: 1, Kind: trace.Call, Call: 1, Attempt: 1, To: "t"},
		{T: 1, Kind: trace.Admit, Call: 1, Attempt: 1, Breaker: "b", Target: "t", Rule: "T1"},
		{T: 2, Kind: trace.Result, Call: 1, Attempt: 1, Target: "t", Outcome: trace.Failure, Took: 1},
		{T: 2, Kind: trace.Retry, Call: 1, Attempt: 2, Wait: 1},
		{T: 3, Kind: trace.Call, Call: 1, Attempt: 2, To: "t", Target: "t"},
		{T: 4, Kind: trace.Result, Call: 1, Attempt: 2, Target: "t", Outcome: trace.Failure, Took: 1, Breaker: "b", Applied: true, Rule: "T3"},
		{T: 5, Kind: trace.End},
	} {
		require.NoError(t, h.Event(&e))
	}
	assert.Equal(t, []Mark{
		{Kind: MarkFailed, At: 2, Start: 1, Call: 1, Breaker: "b", Target: "t", Outcome: trace.Failure},
		{Kind: MarkFailed, At: 4, Start: 3, Call: 1, Breaker: "b", Target: "t", Outcome: trace.Failure, Rule: "T3"},
	}, h.Marks)
	assert.Empty(t, h.via, "nothing is kept of calls that are over")
	assert.Empty(t, h.flying)
}

// TestPalette checks the contrast of all text by WCAG 2, and that the states
// stay apart for readers with each kind of colour blindness, and in grey.
func TestPalette(t *testing.T) {
	for name, th := range themes {
		for _, token := range tokens {
			assert.Regexp(t, "^#[0-9a-f]{6}$", th.colors[token], "%s has no colour %s", name, token)
		}
		assert.Len(t, th.colors, len(tokens))
		for _, token := range tokens {
			if ground, ok := strings.CutSuffix(token, "-ink"); ok {
				assert.GreaterOrEqual(t, contrast(th, token, ground), 4.5, "%s: text on %s", name, ground)
			}
		}
		for _, text := range []string{"ink", "muted"} {
			for _, ground := range []string{"bg", "outage"} {
				assert.GreaterOrEqual(t, contrast(th, text, ground), 4.5, "%s: %s on %s", name, text, ground)
			}
		}
		for _, mark := range []string{"ok", "bad", "limited", "refused", "probe", "note", "open-edge", "half-open-edge", "closed-edge", "backup-edge", "good-edge", "away-edge", "queue-edge", "bar-edge"} {
			assert.GreaterOrEqual(t, contrast(th, mark, "bg"), 3.0, "%s: the mark %s", name, mark)
		}
		for kind := range blindness {
			for _, pair := range [][2]string{{"closed", "open"}, {"open", "half-open"}, {"closed", "half-open"}, {"closed", "backup"}, {"backup", "half-open"}, {"backup", "open"}, {"good", "away"}, {"bar", "queue"}, {"up", "slow"}, {"slow", "shaky"}, {"slow", "down"}, {"slow", "half-open"}} {
				if th.patterns[pair[0]] != th.patterns[pair[1]] {
					continue // told apart by the pattern
				}
				d := difference(th, pair[0], pair[1], kind)
				assert.GreaterOrEqual(t, d, 20.0, "%s, %s: %s and %s", name, kind, pair[0], pair[1])
			}
		}
	}
}

func linear(c uint8) float64 {
	v := float64(c) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func contrast(th *theme, a, b string) float64 {
	luminance := func(name string) float64 {
		c := th.color(name)
		return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// blindness is how each kind of colour-vision deficiency sees linear RGB
// (Machado, Oliveira and Fernandes 2009, severity 1).
var blindness = map[string][9]float64{
	"normal": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protan": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deutan": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritan": {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

// difference is CIE76 between two colours as that kind of eye sees them.
func difference(th *theme, a, b, kind string) float64 {
	lab := func(name string) [3]float64 {
		c, m := th.color(name), blindness[kind]
		clip := func(v float64) float64 { return min(1, max(0, v)) }
		r, g, bl := linear(c.R), linear(c.G), linear(c.B)
		r, g, bl = clip(m[0]*r+m[1]*g+m[2]*bl), clip(m[3]*r+m[4]*g+m[5]*bl), clip(m[6]*r+m[7]*g+m[8]*bl)
		f := func(v float64) float64 {
			if v > 0.008856 {
				return math.Cbrt(v)
			}
			return 7.787*v + 16.0/116
		}
		x, y, z := f((0.4124*r+0.3576*g+0.1805*bl)/0.95047), f(0.2126*r+0.7152*g+0.0722*bl), f((0.0193*r+0.1192*g+0.9505*bl)/1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	x, y := lab(a), lab(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// BenchmarkTimeline lays the picture out and writes it: of a few calls, and of a
// million events.
func BenchmarkTimeline(b *testing.B) {
	for _, calls := range []int{40, 340_000} {
		h := world{title: "Speed", policy: "breaker", end: 10 * time.Minute, targets: 2, tools: 1, moves: 20, calls: calls}.history(b)
		b.Run(fmt.Sprintf("SVG/%dcalls", calls), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, pictured(b, "timeline", Look{}, h).WriteSVG(io.Discard))
			}
		})
		b.Run(fmt.Sprintf("PNG/%dcalls", calls), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, pictured(b, "timeline", Look{}, h).WritePNG(io.Discard, 2))
			}
		})
	}
}

// TestLayoutKnowsWhereInstantsStand before anything is drawn, to the pixel's
// hundredth.
func TestLayoutKnowsWhereInstantsStand(t *testing.T) {
	for name, panels := range worlds() {
		var all []*History
		for _, w := range panels {
			all = append(all, w.history(t))
		}
		for _, look := range []Look{{Width: 480}, {}, {Width: 1440, From: panels[0].end / 3}} {
			f, _ := drawn(t, look, all...)
			for _, at := range []time.Duration{f.begin, f.begin + (f.end-f.begin)/7, f.end} {
				assert.InDelta(t, f.x(at), f.left+f.along(at), 0.01, "%s: %v", name, at)
			}
		}
	}
}
