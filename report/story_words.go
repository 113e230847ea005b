package report

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/breakersim/breakersim/sim/trace"
)

var smallNumbers = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// number is a count in a sentence: in words up to ten.
func number(n int) string {
	if n >= 0 && n < len(smallNumbers) {
		return smallNumbers[n]
	}
	return Thousands(int64(n))
}

// counted is "one call", "two calls".
func counted(n int, one, many string) string {
	if n == 1 {
		return number(n) + " " + one
	}
	return number(n) + " " + many
}

var smallOrdinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

// ordinalWord is "third", "11th".
func ordinalWord(n int) string {
	if n > 0 && n < len(smallOrdinals) {
		return smallOrdinals[n]
	}
	return ordinal(n)
}

// did is what an attempt did that ended so, and what it had done.
func did(outcome string) (past, perfect string) {
	switch outcome {
	case trace.Success:
		return "succeeded", "had succeeded"
	case trace.Timeout:
		return "timed out", "had timed out"
	case trace.RateLimit:
		return "was rate-limited", "had been rate-limited"
	case trace.Permanent:
		return "got a permanent error", "had got a permanent error"
	case trace.Cancelled:
		return "was cancelled", "had been cancelled"
	case slowSuccess:
		return "was too slow", "had been too slow"
	default:
		return "failed", "had failed"
	}
}

// tagged makes sentences of the ways, with the rule in parentheses.
func tagged(rule string, ways ...string) []string {
	for i, w := range ways {
		if rule != "" {
			w += " (" + rule + ")"
		}
		ways[i] = w + "."
	}
	return ways
}

// listed is "a", "a and b", "a, b and c".
func listed(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// closed ends a clause that the sentence goes on after.
func closed(clause string) string {
	if strings.Contains(clause, ",") {
		return clause + ","
	}
	return clause
}

// then is a stretch and what happened in it, with a comma between two figures.
func then(when, what string) string {
	if startsWithDigit(what) {
		when += ","
	}
	return when + " " + what
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// often is "once", "twice", "seven times".
func often(n int) string {
	if n > 2 {
		return number(n) + " times"
	}
	return times(n)
}

// span is a stretch within a sentence: "at 3 s", "from 3 s to 5 s".
func (t *teller) span(from, to time.Duration) string {
	if t.clock(from) == t.clock(to) {
		return "at " + t.clock(from)
	}
	return "from " + t.clock(from) + " to " + t.clock(to)
}

// rounded is a span to the millisecond, if it has any.
func rounded(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d
	}
	return d.Round(time.Millisecond)
}

// trimmed is the words without the comma that goes on.
func trimmed(s string) string { return strings.TrimSuffix(s, ",") }

// capital makes the first letter large; what stands for the breaker's name too.
func capital(s string) string {
	if rest, ok := strings.CutPrefix(s, it); ok {
		return capIt + rest
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func uncapital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
