package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// longestLine bounds one event; a Run event with 10,000 targets fits.
const longestLine = 16 << 20

// Reader reads a record, one event at a time.
type Reader struct {
	scan *bufio.Scanner
	line int
	text bool
}

// NewReader reads JSON Lines.
func NewReader(r io.Reader) *Reader {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), longestLine)
	return &Reader{scan: s}
}

// NewTextReader reads what [NewTextWriter] wrote.
func NewTextReader(r io.Reader) *Reader {
	t := NewReader(r)
	t.text = true
	return t
}

// Next is the next event, or io.EOF. Blank lines are passed over. An error
// names the line, counted from 1.
func (r *Reader) Next() (Event, error) {
	for r.scan.Scan() {
		r.line++
		b := bytes.TrimSpace(r.scan.Bytes())
		if len(b) == 0 {
			continue
		}
		e, err := r.decode(b)
		if err != nil {
			return Event{}, fmt.Errorf("line %d: %w", r.line, err)
		}
		return e, nil
	}
	if err := r.scan.Err(); err != nil {
		return Event{}, fmt.Errorf("line %d: %w", r.line+1, err)
	}
	return Event{}, io.EOF
}

// ReadAll reads the record to its end.
func (r *Reader) ReadAll() (List, error) {
	var l List
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return l, err
		}
		l = append(l, e)
	}
}

func (r *Reader) decode(b []byte) (Event, error) {
	if r.text {
		j, err := textToJSON(string(b))
		if err != nil {
			return Event{}, err
		}
		b = j
	}
	var w wire
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return Event{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Event{}, errors.New("more than one event on the line")
	}
	return w.event()
}

// wire is an event as it is written. Pointers tell what was left out, or null.
type wire struct {
	T              *time.Duration  `json:"t"`
	Event          string          `json:"event"`
	Call           int             `json:"call"`
	Attempt        *int            `json:"attempt"`
	Caller         string          `json:"caller"`
	Inside         int             `json:"inside"`
	Instance       int             `json:"instance"`
	Breaker        string          `json:"breaker"`
	Target         string          `json:"target"`
	From           string          `json:"from"`
	To             string          `json:"to"`
	Rule           string          `json:"rule"`
	Reason         string          `json:"reason"`
	Outcome        string          `json:"outcome"`
	Would          string          `json:"would"`
	Op             string          `json:"op"`
	Name           string          `json:"name"`
	Verdict        string          `json:"verdict"`
	Settings       *Breaker        `json:"settings"`
	Health         string          `json:"health"`
	Score          float64         `json:"score"`
	Serves         json.RawMessage `json:"serves"` // present, or not: null means that nobody would
	Took           time.Duration   `json:"took"`
	Wait           time.Duration   `json:"wait"`
	Effective      time.Duration   `json:"effective"`
	Until          *time.Duration  `json:"until"`
	Failures       int             `json:"failures"`
	WindowCalls    int             `json:"window_calls"`
	WindowFailures int             `json:"window_failures"`
	WindowSlow     int             `json:"window_slow"`
	Phase          *int            `json:"phase"`
	Busy           int             `json:"busy"`
	Waiting        int             `json:"waiting"`
	On             bool            `json:"on"`
	Probe          bool            `json:"probe"`
	Applied        bool            `json:"applied"`
	Available      bool            `json:"available"`
	Allows         bool            `json:"allows"`
	Scenario       string          `json:"scenario"`
	Title          string          `json:"title"`
	Policy         string          `json:"policy"`
	PolicyAbout    string          `json:"policy_about"`
	Seed           uint64          `json:"seed"`
	Format         int             `json:"format"`
	Breakers       []Breaker       `json:"breakers"`
	Targets        []Target        `json:"targets"`
	Substitutes    []Substitute    `json:"substitutes"`
	States         json.RawMessage `json:"states"`
}

func (w *wire) event() (Event, error) {
	k := slices.Index(kindNames[1:], w.Event) + 1
	if k == 0 {
		return Event{}, fmt.Errorf("unknown event %q", w.Event)
	}
	if w.T == nil {
		return Event{}, fmt.Errorf("the event %q has no t", w.Event)
	}
	e := Event{T: *w.T, Kind: Kind(k), Call: w.Call, Caller: w.Caller, Inside: w.Inside, Instance: w.Instance, Breaker: w.Breaker, Target: w.Target, From: w.From, To: w.To,
		Rule: w.Rule, Reason: w.Reason, Outcome: w.Outcome, Would: w.Would, Op: w.Op, Name: w.Name, Verdict: w.Verdict, Settings: w.Settings, Seen: Held{w.WindowCalls, w.WindowFailures, w.WindowSlow}, Health: w.Health, Score: w.Score, Took: w.Took, Wait: w.Wait,
		Effective: w.Effective, Failures: w.Failures, Busy: w.Busy, Waiting: w.Waiting, On: w.On, Probe: w.Probe, Applied: w.Applied, Available: w.Available, Allows: w.Allows}
	switch e.Kind {
	case Call, Admit, Refuse, Exhausted, Waits, Vanish, Result, Retry, Hedge, Reroute:
		e.Attempt = 1
	case Phase:
		e.Phase = NoPhase
	}
	if w.Attempt != nil {
		e.Attempt = *w.Attempt
	}
	if w.Phase != nil {
		e.Phase = *w.Phase
	}
	if w.Until != nil {
		e.Until, e.Known = *w.Until, true
	}
	if w.Serves != nil {
		e.Model = true
		if err := json.Unmarshal(w.Serves, &e.Serves); err != nil {
			return Event{}, fmt.Errorf("serves: %w", err)
		}
	}
	return e, w.nested(&e)
}

// nested decodes what only the first and the last event carry.
func (w *wire) nested(e *Event) error {
	switch e.Kind {
	case Run:
		if w.Format != Format {
			return fmt.Errorf("the trace has format %d; this program reads format %d", w.Format, Format)
		}
		for i, b := range w.Breakers {
			if (b.Tool == nil) == (b.Model == nil) {
				return fmt.Errorf("breaker %d (%q) must have the settings of one kind", i+1, b.Name)
			}
		}
		e.Run = &RunInfo{Scenario: w.Scenario, Title: w.Title, Policy: w.Policy, PolicyAbout: w.PolicyAbout, Seed: w.Seed,
			Breakers: w.Breakers, Targets: w.Targets, Substitutes: w.Substitutes}
	case End:
		var err error
		e.States, err = decodeStates(w.States)
		return err
	}
	return nil
}

// decodeStates keeps the order of the object's keys.
func decodeStates(b json.RawMessage) ([]BreakerState, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("end wants states: an object of breakers and their states")
	}
	var states []BreakerState
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("states: %w", err)
		}
		var s BreakerState
		s.Breaker, _ = k.(string)
		if err := d.Decode(&s.State); err != nil {
			return nil, fmt.Errorf("states: %w", err)
		}
		states = append(states, s)
	}
	return states, nil
}

var durationKeys = []string{"effective", "took", "wait", "until"}
var stringKeys = []string{"caller", "breaker", "target", "from", "to", "rule", "reason", "outcome", "would", "op", "name", "verdict", "serves", "health", "scenario",
	"title", "policy", "policy_about"}

// textToJSON turns a line of the form for people into the JSON of the same event.
func textToJSON(line string) ([]byte, error) {
	at, rest, _ := strings.Cut(line, " ")
	kind, rest, _ := strings.Cut(rest, " ")
	t, err := time.ParseDuration(at)
	if err != nil {
		return nil, fmt.Errorf("%q is not an instant", at)
	}
	j := appendJSONString(fmt.Appendf(nil, `{"t":%d,"event":`, t), kind)
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("%q wants key=value", rest)
		}
		value, left, err := cutValue(after)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		rest = left
		j = append(appendJSONString(append(j, ','), key), ':')
		switch {
		case value == "null" || strings.HasPrefix(value, `"`):
			j = append(j, value...)
		case slices.Contains(durationKeys, key):
			d, err := time.ParseDuration(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is not a duration", key, value)
			}
			j = strconv.AppendInt(j, int64(d), 10)
		case slices.Contains(stringKeys, key):
			j = appendJSONString(j, value)
		default:
			j = append(j, value...)
		}
	}
	return append(j, '}'), nil
}

// cutValue takes one value off s: a JSON value where it begins as one, else a word.
func cutValue(s string) (value, rest string, err error) {
	if s != "" && strings.ContainsRune(`"[{`, rune(s[0])) {
		d := json.NewDecoder(strings.NewReader(s))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return "", "", err
		}
		return string(raw), s[d.InputOffset():], nil
	}
	value, rest, _ = strings.Cut(s, " ")
	return value, rest, nil
}
