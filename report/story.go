package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/breakersim/breakersim/sim/trace"
)

// Story is a run told in sentences, a paragraph for each stretch of it.
type Story []Paragraph

// Paragraph is sentences, in their order.
type Paragraph []string

// Story tells the run: what the world was like, then breaker by breaker what
// happened and by which rule, then what the callers did about it. Of a long run
// it tells the beginning and the end, and sums up what lies between.
func (h *History) Story() Story {
	s := Story{h.opening()}
	told := h.Breakers
	if len(told) > mostBreakersTold {
		told = slices.DeleteFunc(slices.Clone(told), func(b *BreakerHistory) bool { return len(b.Bands) == 1 })
		told = told[:min(len(told), mostBreakersTold)]
	}
	for _, b := range told {
		s = append(s, newTeller(h, b).paragraphs()...)
	}
	if left := len(h.Breakers) - len(told); left > 0 {
		s = append(s, Paragraph{h.untold(told)})
	}
	for _, f := range h.Fleets {
		s = append(s, h.toldFleet(f))
	}
	return append(s, h.patience()...)
}

const (
	mostBreakersTold = 6
	mostEpisodes     = 5 // told in full; of more, the first two and the last two
	longParagraph    = 7 // sentences, after which a probe begins another one
	mostProbes       = 3 // of one episode that are told in full; of more, the first and the last
)

// String is the paragraph as a line of text.
func (p Paragraph) String() string { return strings.Join(p, " ") }

// beat is what one or two sentences tell.
type beat struct {
	at     time.Duration
	kind   beatKind
	rule   string          // or another word for beats that are said in the same ways
	counts string          // what a summary adds up: a rule or another word
	k      int             // so many of it
	ways   []string        // to say it, the best first; each begins otherwise
	later  func() []string // makes the ways of one that may never be told
}

// beatKind is what a beat means for the parts of the story.
type beatKind uint8

const (
	beatAside  beatKind = iota
	beatOutage          // the target breaks
	beatWorld           // the target changes otherwise
	beatTrips           // the breaker leaves rest, which begins an episode
	beatProbes          // a probe goes out
	beatRests           // the breaker is at rest again
)

// In a way to say a beat, these stand for the breaker: its name where a
// paragraph first speaks of it, and "the breaker" after that.
const (
	it    = "\x01"
	capIt = "\x02" // begins the sentence
)

// teller tells what became of one breaker.
type teller struct {
	h       *History
	b       *BreakerHistory
	outages []trace.Span   // of the breaker's target
	ghosts  map[int]bool   // calls that were probes whose lease ran out
	opened  time.Duration  // when the breaker left its rest, before what is told
	used    map[string]int // how often the beats of a rule were told
	last    string         // the first word of the latest sentence
	named   bool           // this paragraph has said which breaker it is about
	current Paragraph
	story   Story
}

func newTeller(h *History, b *BreakerHistory) *teller {
	t := &teller{h: h, b: b, used: map[string]int{}, ghosts: map[int]bool{}}
	for i := range h.Run.Targets {
		if h.Run.Targets[i].Name == b.Main() {
			t.outages = h.Run.Targets[i].Outages(h.End + 1)
		}
	}
	for _, l := range b.Leases {
		if l.RanOut && b.Tool != nil {
			t.ghosts[l.Call] = true
		}
	}
	return t
}

// paragraphs are the episodes of the breaker: each begins with trouble and ends
// with the calm after it.
func (t *teller) paragraphs() Story {
	all := episodes(t.beats())
	told := all
	if len(all) > mostEpisodes {
		told = slices.Concat(all[:2], all[len(all)-2:])
	}
	for i, e := range told {
		if len(told) < len(all) && i == 2 {
			t.sumUp(all[2 : len(all)-2])
			t.paragraph()
		}
		t.episode(e)
		if i == len(told)-1 {
			t.tell(t.ending())
		}
		t.paragraph()
	}
	return t.story
}

// paragraph ends the current paragraph.
func (t *teller) paragraph() {
	t.story = append(t.story, t.current)
	t.current, t.named, t.last = nil, false, ""
}

// episodes parts the beats where the breaker is at rest and trouble begins.
func episodes(beats []beat) (all [][]beat) {
	resting, rested, from := true, false, 0
	for i := range beats {
		switch kind := beats[i].kind; {
		case resting && rested && (kind == beatOutage || kind == beatTrips):
			all = append(all, beats[from:i])
			from, rested = i, false
			resting = kind != beatTrips
		case kind == beatTrips:
			resting = false
		case kind == beatRests:
			resting, rested = true, true
		}
	}
	return append(all, beats[from:])
}

// episode tells a stretch in full, but for probes in the middle of many.
func (t *teller) episode(beats []beat) {
	var at []int // of the probes
	for i := range beats {
		if beats[i].kind == beatProbes {
			at = append(at, i)
		}
	}
	for i := 0; i < len(beats); i++ {
		if len(at) > mostProbes && i == at[1] {
			last := at[len(at)-1]
			t.vain(beats[i:last], len(at)-2)
			i = last
		}
		if beats[i].kind == beatProbes && len(t.current) >= longParagraph {
			t.paragraph()
		}
		t.tell(beats[i])
	}
}

// tell adds the beat in a way that begins neither as the sentence before did nor
// with a figure, and in another way than the last time.
func (t *teller) tell(b beat) {
	if b.later != nil {
		b.ways = b.later()
	}
	if len(b.ways) == 0 {
		return
	}
	start := t.used[b.rule]
	t.used[b.rule]++
	way := b.ways[start%len(b.ways)]
	for i := range b.ways {
		if w := b.ways[(start+i)%len(b.ways)]; firstWord(w) != t.last && !startsWithDigit(w) {
			way = w
			break
		}
	}
	t.last = firstWord(way)
	t.current = append(t.current, t.naming(way))
}

// naming puts the breaker's name in its place.
func (t *teller) naming(s string) string {
	name := "the breaker"
	if !t.named && len(t.h.Breakers) > 1 {
		name = t.b.called()
	}
	if strings.ContainsAny(s, it+capIt) {
		t.named = true
	}
	for strings.ContainsAny(s, it+capIt) {
		i := strings.IndexAny(s, it+capIt)
		this := name
		if s[i:i+1] == capIt {
			this = capital(name)
		}
		s, name = s[:i]+this+s[i+1:], "the breaker"
	}
	return s
}

// called is the breaker's full name.
func (b *BreakerHistory) called() string {
	if b.Name == b.Main() {
		return "the breaker of " + b.Name
	}
	return "the breaker " + b.Name
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// beats are all that happened to the breaker, by effective times.
func (t *teller) beats() []beat {
	all := slices.Concat(t.weather(), t.changes(), t.restarts(), t.crowds(), t.detours())
	slices.SortStableFunc(all, func(x, y beat) int { return cmp.Compare(x.at, y.at) })
	return all
}

func (t *teller) clock(d time.Duration) string { return t.h.Clock(d) }

// Clock writes an instant of the run as its pictures do: "63 s", "12 min 3 s".
func (h *History) Clock(d time.Duration) string { return moment(d, h.End) }
