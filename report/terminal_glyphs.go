package report

import "fmt"

// cell is one character's place. Where a wider text was written over it, the
// text is in the first of its cells and empty in the others.
type cell struct {
	text  string
	color ansi
}

// ansi is an ANSI attribute, a foreground colour or bold; 0 is the terminal's own.
type ansi uint8

const colorOff = "\x1b[0m"

func (c ansi) on() string { return fmt.Sprintf("\x1b[%dm", c) }

const (
	bold   ansi = 1
	red    ansi = 31
	green  ansi = 32
	yellow ansi = 33
	blue   ansi = 34
	purple ansi = 35
	cyan   ansi = 36
	grey   ansi = 90
)

// glyph is what a cell shows. Of two in one cell of a row the later one wins:
// it is the more notable, or the worse.
type glyph uint8

const (
	glyphNone glyph = iota
	glyphUp
	glyphSlow
	glyphShaky
	glyphBurst
	glyphOutage
	glyphClosed
	glyphRamp
	glyphForcedClosed
	glyphOpen
	glyphForcedOpen
	glyphPrimary
	glyphFallback
	glyphExhausted
	glyphReady
	glyphHalfOpen
	glyphRecovering
	glyphOther
	glyphFlapping
	glyphOK // the first of those for calls
	glyphCancelled
	glyphLate
	glyphRerouted
	glyphWaited
	glyphRefused
	glyphNobody
	glyphLost
	glyphRateLimited
	glyphFailed
	glyphs
)

// looks tell the glyphs apart by their shape alone, in Unicode and in ASCII;
// colour comes on top.
var looks = [glyphs]struct {
	unicode, ascii string
	name           string
	color          ansi
}{
	glyphNone:         {" ", " ", "", 0},
	glyphUp:           {"·", ".", "up", grey},
	glyphSlow:         {"≈", ",", "slow", yellow},
	glyphShaky:        {":", ":", "fails in part", yellow},
	glyphBurst:        {"¦", "|", "burst of trouble", red},
	glyphOutage:       {"░", "%", "outage", red},
	glyphClosed:       {"─", "-", "closed", green},
	glyphForcedClosed: {"┼", "f", "forced closed by an operator", green},
	glyphRamp:         {"▁▇", ".#", "closed, and lets in a growing share of the calls", green},
	glyphOpen:         {"█", "#", "open", red},
	glyphForcedOpen:   {"╬", "F", "forced open by an operator", red},
	glyphPrimary:      {"═", "=", "primary", green},
	glyphFallback:     {"▒", "&", "fallback", purple},
	glyphExhausted:    {"╳", "X", "fallback, chain exhausted", red},
	glyphReady:        {"▓", "^", "a probe is possible", yellow},
	glyphHalfOpen:     {"◆", "+", "half-open", yellow},
	glyphRecovering:   {"◇", "*", "recovering", yellow},
	glyphOther:        {"~", "~", "another state", cyan},
	glyphFlapping:     {"▚", "$", "more than 3 states in one cell", yellow},
	glyphOK:           {"•", "o", "served", green},
	glyphCancelled:    {"¬", "c", "cancelled", grey},
	glyphLate:         {"○", "@", "late, ignored", blue},
	glyphRerouted:     {"»", ">", "rerouted", blue},
	glyphWaited:       {"◷", "w", "waited", blue},
	glyphRefused:      {"/", "/", "refused", grey},
	glyphNobody:       {"▽", "V", "exhausted", purple},
	glyphLost:         {"?", "?", "vanished", yellow},
	glyphRateLimited:  {"!", "!", "rate limit", yellow},
	glyphFailed:       {"x", "x", "failed", red},
}

// glyph is how the terminal shows it.
func (o *TerminalOptions) glyph(g glyph) string {
	if o.ASCII {
		return looks[g].ascii
	}
	return looks[g].unicode
}

// signs are the other characters of a picture.
type signs struct {
	line, bar    string
	corner, tick rune
	change       string   // another model serves
	levels       []string // of a score or a number, the least first
}

func (o *TerminalOptions) signs() *signs {
	if o.ASCII {
		return &signs{"-", "|", '+', '+', "v", []string{".", ":", "-", "=", "+", "*", "#"}}
	}
	return &signs{"─", "│", '└', '┴', "▾", []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇"}}
}

func stateGlyph(b *BreakerHistory, band *Band) glyph {
	if band.State == "fallback" && band.Serves == "" && b.Model != nil && len(b.Model.Chain) > 0 {
		return glyphExhausted
	}
	what := stateNamed(band.State)
	switch {
	case band.forced && what == glyphOpen:
		return glyphForcedOpen
	case band.forced && what == glyphClosed:
		return glyphForcedClosed
	case band.ramp != nil:
		return glyphRamp
	}
	return what
}

func stateNamed(state string) glyph {
	switch state {
	case "closed":
		return glyphClosed
	case "open":
		return glyphOpen
	case "half-open":
		return glyphHalfOpen
	case "primary":
		return glyphPrimary
	case "recovering":
		return glyphRecovering
	case "fallback":
		return glyphFallback
	default:
		return glyphOther
	}
}

// markGlyph is glyphNone for a mark that says nothing of what became of a call.
func markGlyph(k MarkKind) glyph {
	switch k {
	case MarkOK:
		return glyphOK
	case MarkFailed:
		return glyphFailed
	case MarkRateLimited:
		return glyphRateLimited
	case MarkCancelled:
		return glyphCancelled
	case MarkLate:
		return glyphLate
	case MarkLost:
		return glyphLost
	case MarkRefused:
		return glyphRefused
	case MarkRerouted:
		return glyphRerouted
	case MarkWaited:
		return glyphWaited
	case MarkExhausted:
		return glyphNobody
	default: // MarkProbe
		return glyphNone
	}
}
