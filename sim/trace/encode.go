package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// Writer is a sink that writes JSON Lines or text. Call Flush at the end.
type Writer struct {
	w   *bufio.Writer
	buf encoder
}

// NewWriter writes JSON Lines.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// NewTextWriter writes the record for people: "33s admit call=5 breaker=search ...".
// It says the same as JSON Lines, and [NewTextReader] reads it back.
func NewTextWriter(w io.Writer) *Writer {
	t := NewWriter(w)
	t.buf.text = true
	return t
}

// Event writes one line.
func (w *Writer) Event(e *Event) error {
	w.buf.b = w.buf.b[:0]
	w.buf.event(e)
	_, err := w.w.Write(w.buf.b)
	return err
}

// Flush writes what is still buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// encoder appends the fields of an event in the one order in which they are written.
type encoder struct {
	b    []byte
	text bool
}

func (x *encoder) event(e *Event) {
	x.open(e)
	switch e.Kind {
	case Run:
		x.run(e.Run)
	case Phase:
		x.str("target", e.Target)
		x.intOrNull("phase", e.Phase, e.Phase != NoPhase)
	case Call:
		x.int("call", e.Call)
		x.str("to", e.To)
		x.optional("caller", e.Caller)
		if e.Instance != 0 {
			x.int("instance", e.Instance)
		}
		if e.Inside != 0 {
			x.int("inside", e.Inside)
		}
		x.int("attempt", e.Attempt)
		x.optional("target", e.Target)
	case Admit:
		x.attempt(e)
		x.str("breaker", e.Breaker)
		x.str("target", e.Target)
		x.bool("probe", e.Probe)
		x.str("rule", e.Rule)
	case Refuse:
		x.attempt(e)
		x.str("breaker", e.Breaker)
		x.str("rule", e.Rule)
		x.str("reason", e.Reason)
		x.durOrNull("until", e.Until, e.Known)
		x.optional("would", e.Would)
	case Waits:
		x.attempt(e)
		x.str("breaker", e.Breaker)
		x.str("rule", e.Rule)
		x.dur("until", e.Until)
	case Exhausted:
		x.attempt(e)
		x.str("breaker", e.Breaker)
		x.str("rule", e.Rule)
	case Vanish:
		x.attempt(e)
		x.str("target", e.Target)
		x.durOrNull("until", e.Until, e.Known)
	case Result:
		x.attempt(e)
		x.str("target", e.Target)
		x.str("outcome", e.Outcome)
		x.dur("took", e.Took)
		if e.Breaker != "" {
			x.str("breaker", e.Breaker)
			x.bool("applied", e.Applied)
			x.str("rule", e.Rule)
		}
		x.optionalDur("until", e.Until, e.Known)
		x.held(&e.Seen)
		x.optionalDur("wait", e.Wait, e.Wait > 0)
	case Transition:
		x.str("breaker", e.Breaker)
		x.str("from", e.From)
		x.str("to", e.To)
		x.dur("effective", e.Effective)
		x.str("rule", e.Rule)
		x.int("failures", e.Failures)
		x.optionalDur("until", e.Until, e.Known)
		if e.Call != 0 {
			x.int("call", e.Call)
		}
	case Switch:
		x.str("breaker", e.Breaker)
		x.strOrNull("from", e.From)
		x.strOrNull("to", e.To)
		x.optionalDur("effective", e.Effective, e.Effective != 0)
		x.str("rule", e.Rule)
	case Retry:
		x.int("call", e.Call)
		x.int("attempt", e.Attempt)
		x.dur("wait", e.Wait)
		x.str("rule", e.Rule)
	case Hedge:
		x.int("call", e.Call)
		x.int("attempt", e.Attempt)
		x.str("rule", e.Rule)
	case GiveUp:
		x.int("call", e.Call)
		x.str("rule", e.Rule)
		if e.Breaker != "" {
			x.str("breaker", e.Breaker)
			x.bool("applied", e.Applied)
			x.str("verdict", e.Verdict)
		}
	case Operate:
		x.str("op", e.Op)
		x.str("breaker", e.Breaker)
		if e.Name != "" {
			x.str("name", e.Name)
			x.bool("available", e.Available)
		}
		if e.Settings != nil {
			x.json("settings", e.Settings)
		}
		x.optionalDur("until", e.Until, e.Known)
	case Peek:
		x.str("breaker", e.Breaker)
		if e.Model {
			x.strOrNull("serves", e.Serves)
		} else {
			x.bool("allows", e.Allows)
		}
	case Reroute:
		x.attempt(e)
		x.str("breaker", e.Breaker)
		x.str("from", e.From)
		x.str("to", e.To)
		x.str("rule", e.Rule)
	case Health:
		x.str("breaker", e.Breaker)
		x.str("target", e.Target)
		x.key("score")
		x.b = strconv.AppendFloat(x.b, e.Score, 'f', -1, 64)
		x.str("health", e.Health)
	case Burst:
		x.str("target", e.Target)
		x.bool("on", e.On)
	case Load:
		x.str("target", e.Target)
		x.int("busy", e.Busy)
		x.int("waiting", e.Waiting)
	case End:
		x.states(e.States)
	}
	x.close()
}

func (x *encoder) run(r *RunInfo) {
	x.str("scenario", r.Scenario)
	x.str("title", r.Title)
	x.str("policy", r.Policy)
	x.optional("policy_about", r.PolicyAbout)
	x.key("seed")
	x.b = strconv.AppendUint(x.b, r.Seed, 10)
	x.int("format", Format)
	x.json("breakers", r.Breakers)
	x.json("targets", r.Targets)
	if len(r.Substitutes) > 0 {
		x.json("substitutes", r.Substitutes)
	}
}

// held writes what a window held, if there is one.
func (x *encoder) held(h *Held) {
	if h.Calls == 0 {
		return
	}
	x.int("window_calls", h.Calls)
	x.int("window_failures", h.Failures)
	if h.Slow > 0 {
		x.int("window_slow", h.Slow)
	}
}

// states keeps the order of the breakers, which a Go map would lose.
func (x *encoder) states(states []BreakerState) {
	x.key("states")
	x.b = append(x.b, '{')
	for i, s := range states {
		if i > 0 {
			x.b = append(x.b, ',')
		}
		x.b = appendJSONString(x.b, s.Breaker)
		x.b = append(x.b, ':')
		x.b = appendJSONString(x.b, s.State)
	}
	x.b = append(x.b, '}')
}

func (x *encoder) open(e *Event) {
	if x.text {
		x.b = append(x.b, e.T.String()...)
		x.b = append(x.b, ' ')
		x.b = append(x.b, e.Kind.String()...)
		return
	}
	x.b = append(x.b, `{"t":`...)
	x.b = strconv.AppendInt(x.b, int64(e.T), 10)
	x.b = append(x.b, `,"event":"`...)
	x.b = append(x.b, e.Kind.String()...)
	x.b = append(x.b, '"')
}

func (x *encoder) close() {
	if !x.text {
		x.b = append(x.b, '}')
	}
	x.b = append(x.b, '\n')
}

func (x *encoder) key(k string) {
	if x.text {
		x.b = append(x.b, ' ')
		x.b = append(x.b, k...)
		x.b = append(x.b, '=')
		return
	}
	x.b = append(x.b, ',', '"')
	x.b = append(x.b, k...)
	x.b = append(x.b, '"', ':')
}

func (x *encoder) attempt(e *Event) {
	x.int("call", e.Call)
	if e.Attempt > 1 {
		x.int("attempt", e.Attempt)
	}
}

func (x *encoder) int(k string, v int) {
	x.key(k)
	x.b = strconv.AppendInt(x.b, int64(v), 10)
}

func (x *encoder) intOrNull(k string, v int, known bool) {
	if known {
		x.int(k, v)
	} else {
		x.null(k)
	}
}

func (x *encoder) null(k string) {
	x.key(k)
	x.b = append(x.b, "null"...)
}

func (x *encoder) bool(k string, v bool) {
	x.key(k)
	x.b = strconv.AppendBool(x.b, v)
}

func (x *encoder) dur(k string, v time.Duration) {
	x.key(k)
	if x.text {
		x.b = append(x.b, v.String()...)
	} else {
		x.b = strconv.AppendInt(x.b, int64(v), 10)
	}
}

func (x *encoder) durOrNull(k string, v time.Duration, known bool) {
	if known {
		x.dur(k, v)
	} else {
		x.null(k)
	}
}

func (x *encoder) optionalDur(k string, v time.Duration, known bool) {
	if known {
		x.dur(k, v)
	}
}

func (x *encoder) str(k, v string) {
	x.key(k)
	if x.text && bare(v) {
		x.b = append(x.b, v...)
	} else {
		x.b = appendJSONString(x.b, v)
	}
}

func (x *encoder) optional(k, v string) {
	if v != "" {
		x.str(k, v)
	}
}

func (x *encoder) strOrNull(k, v string) {
	if v == "" {
		x.null(k)
	} else {
		x.str(k, v)
	}
}

func (x *encoder) json(k string, v any) {
	x.key(k)
	j, err := json.Marshal(v)
	if err != nil {
		panic("trace: " + err.Error()) // plain structs always encode
	}
	x.b = append(x.b, j...)
}

// bare says whether text needs no quotes in the form for people.
func bare(s string) bool {
	if s == "" || s == "null" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

// appendJSONString quotes s. What is not plain ASCII goes the library's slow way.
func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			j, err := json.Marshal(s)
			if err != nil {
				panic("trace: " + err.Error()) // a string always encodes
			}
			return append(b, j...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
