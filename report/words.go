package report

import (
	"strconv"
	"strings"
	"time"
)

// Clock writes an instant or a span exactly, to the nanosecond where it has
// any: "33 s", "1 min 35.2 s", "2 h 5 min", "200 ms".
func Clock(d time.Duration) string { return clockIn(d, time.Hour) }

// clockIn is Clock with no unit longer than that, which is an hour, a minute, a
// second or a millisecond: "95.2 s", "125 min".
func clockIn(d, longest time.Duration) string {
	if d < 0 {
		return "-" + clockIn(-max(d, -forever), longest)
	}
	var parts []string
	for _, u := range longUnits {
		if n := d / u.size; n > 0 && u.size <= longest {
			parts = append(parts, Thousands(int64(n))+" "+u.name)
			d %= u.size
		}
	}
	if d > 0 || len(parts) == 0 {
		unit := smallUnit(d)
		if unit.size > longest {
			unit = smallUnits[1]
		}
		if len(parts) > 0 {
			unit = smallUnits[0]
		}
		parts = append(parts, decimal(d, unit.size)+" "+unit.name)
	}
	return strings.Join(parts, " ")
}

// approx writes a span as people say it, rounded: "2 min",
// "1 h 12 min", "1 min 3.2 s", "200 ms".
func approx(d time.Duration) string {
	if d.Round(100*time.Millisecond) < time.Minute {
		unit := smallUnit(d)
		if tenths := d.Round(unit.size / 10); unit.size > 1 {
			d = tenths // 999.96 ms becomes 1 s
		}
		unit = smallUnit(d)
		return decimal(d, unit.size) + " " + unit.name
	}
	if tenths := d.Round(100 * time.Millisecond); tenths < time.Hour { // minutes must not hide them
		return Clock(tenths)
	}
	minutes := int64(d / time.Minute)
	if d%time.Minute >= time.Minute/2 {
		minutes++
	}
	s := Thousands(minutes/60) + " h"
	if minutes%60 > 0 {
		s += " " + strconv.FormatInt(minutes%60, 10) + " min"
	}
	return s
}

type unitOfTime struct {
	size time.Duration
	name string
}

var longUnits = []unitOfTime{{time.Hour, "h"}, {time.Minute, "min"}}

var smallUnits = []unitOfTime{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}, {1, "ns"}}

// smallUnit is the unit below a minute that leaves at least one whole; 0 is in seconds.
func smallUnit(d time.Duration) unitOfTime {
	for _, u := range smallUnits {
		if d >= u.size {
			return u
		}
	}
	return smallUnits[0]
}

// decimal is d/unit, exactly, without trailing zeros. unit is a power of ten.
func decimal(d, unit time.Duration) string {
	s := Thousands(int64(d / unit))
	rest := d % unit
	if rest == 0 {
		return s
	}
	digits := strconv.FormatInt(int64(unit+rest), 10)[1:] // the 1 in front keeps the zeros
	return s + "." + strings.TrimRight(digits, "0")
}

// Thousands writes n with a comma at each thousand.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ordinal is "1st", "2nd", "3rd", "11th".
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return Thousands(int64(n)) + suffix
}

// moment writes an instant or a span of a run that ends at end, to the
// millisecond, in the units of all its pictures and its story: "63 s" in a short
// run, "12 min 3 s" in a longer one. What goes far beyond the run has its own.
func moment(d, end time.Duration) string {
	switch {
	case d >= time.Second:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond && end >= time.Second:
		d = d.Round(100 * time.Microsecond)
	}
	if d > 2*end {
		return clockIn(d, longestUnit(d))
	}
	return clockIn(d, longestUnit(end))
}

// longestUnit is that in which a run of that length is told.
func longestUnit(end time.Duration) time.Duration {
	switch {
	case end < 2*time.Second:
		return time.Millisecond
	case end <= 5*time.Minute:
		return time.Second
	case end <= 3*time.Hour:
		return time.Minute
	}
	return time.Hour
}

// times is "once", "twice", "3 times".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Thousands(int64(n)) + " times"
}

// plural is "1 call", "2 calls".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(int64(n)) + " " + many
}
