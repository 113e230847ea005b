package report

import (
	"slices"
	"strings"
	"time"
)

// hints are how long a run waited after rate limits, within its calls (L2): as
// long as they asked, by their Retry-After, or 5 s where they asked for nothing.
type hints struct {
	some    []time.Duration // different ones in order, at most one more than are told
	longest time.Duration
}

const (
	mostHints   = 3
	unasked     = 5 * time.Second
	longestHint = time.Minute
)

func (h *hints) waited(d time.Duration) {
	h.longest = max(h.longest, d)
	if i, found := slices.BinarySearch(h.some, d); !found && len(h.some) <= mostHints {
		h.some = slices.Insert(h.some, i, d)
	}
}

// words say what a policy does after a rate limit, in a run that ends at end;
// empty: it never waited.
func (h *hints) words(end time.Duration) string {
	var all []string
	for _, d := range h.some {
		all = append(all, moment(d, end))
	}
	n := len(all)
	said := "after a rate limit as told by Retry-After: "
	switch {
	case n == 0:
		return ""
	case n > mostHints:
		return said + "up to " + moment(h.longest, end)
	case n > 1:
		return said + strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	case h.longest == unasked:
		return "after a rate limit " + all[0]
	case h.longest == longestHint:
		return said + "at most " + all[0]
	}
	return said + all[0]
}

// about says what the run's policy does.
func (h *History) about() string {
	var parts []string
	for _, s := range []string{h.Run.PolicyAbout, h.hints.words(h.End)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}
