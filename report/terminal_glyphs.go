package report

import "fmt"

// cell is one character's place. Where a wider text was written over it, the
// text is in the first of its cells and empty in the others.
type cell struct {
	text  string
	color ansi
}

// ansi is an ANSI foreground colour; 0 is the terminal's own.
type ansi uint8

const colorOff = "\x1b[0m"

func (c ansi) on() string { return fmt.Sprintf("\x1b[%dm", c) }

const (
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
	glyphShaky
	glyphOutage
	glyphClosed
	glyphOpen
	glyphHalfOpen
	glyphPrimary
	glyphFallback
	glyphExhausted
	glyphRecovering
	glyphOther
	glyphOK // the first of those for calls
	glyphCancelled
	glyphLate
	glyphRerouted
	glyphRefused
	glyphNobody
	glyphLost
	glyphRateLimited
	glyphFailed
)

// glyphs are told apart by their shape alone; colour comes on top.
var glyphs = [...]struct {
	text  string
	name  string
	color ansi
}{
	glyphNone:        {" ", "", 0},
	glyphUp:          {"·", "up", grey},
	glyphShaky:       {":", "fails in part", yellow},
	glyphOutage:      {"░", "outage", red},
	glyphClosed:      {"─", "closed", green},
	glyphOpen:        {"█", "open", red},
	glyphHalfOpen:    {"◆", "half-open", yellow},
	glyphPrimary:     {"═", "primary", green},
	glyphFallback:    {"▒", "fallback", purple},
	glyphExhausted:   {"╳", "fallback, chain exhausted", red},
	glyphRecovering:  {"◇", "recovering", yellow},
	glyphOther:       {"~", "another state", cyan},
	glyphOK:          {"•", "served", green},
	glyphCancelled:   {"-", "cancelled", grey},
	glyphLate:        {"○", "late, ignored", blue},
	glyphRerouted:    {"»", "rerouted", blue},
	glyphRefused:     {"/", "refused", grey},
	glyphNobody:      {"0", "exhausted", purple},
	glyphLost:        {"?", "vanished", yellow},
	glyphRateLimited: {"!", "rate limit", yellow},
	glyphFailed:      {"x", "failed", red},
}

func stateGlyph(b *BreakerHistory, band *Band) glyph {
	switch band.State {
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
		if band.Serves == "" && b.Model != nil && len(b.Model.Chain) > 0 {
			return glyphExhausted
		}
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
	case MarkExhausted:
		return glyphNobody
	default: // MarkProbe
		return glyphNone
	}
}
