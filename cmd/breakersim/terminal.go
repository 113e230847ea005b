package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/breakersim/breakersim/report"
)

// terminal is the streams of the process.
func terminal() streams {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, width: width(os.Getenv), errTerminal: term.IsTerminal(int(os.Stderr.Fd()))}
	fd := int(os.Stdout.Fd())
	isTerminal := term.IsTerminal(fd)
	if isTerminal {
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			s.width = w
		}
	}
	s.color = wantsColor(os.Getenv, isTerminal && understandsANSI(os.Stdout))
	s.ascii = asciiOnly(os.Getenv)
	return s
}

// options are what reports need to know of the terminal.
func (s *streams) options() report.TerminalOptions {
	return report.TerminalOptions{Width: s.width, Color: s.color, ASCII: s.ascii}
}

// width is what COLUMNS says where no terminal does, or 80.
func width(env func(string) string) int {
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && 0 < n && n <= 1000 {
		return n
	}
	return 80
}

// wantsColor says whether to print ANSI sequences: on a terminal that can show
// them, unless NO_COLOR is set, and elsewhere if FORCE_COLOR is.
func wantsColor(env func(string) string, can bool) bool {
	force := env("FORCE_COLOR")
	switch {
	case env("NO_COLOR") != "" || force == "0" || force == "false":
		return false
	case force != "":
		return true
	}
	return can && env("TERM") != "dumb"
}

// asciiOnly says whether the terminal is dumb or the locale names another
// character set than UTF-8, as C and POSIX do. Where there is no locale at all
// nobody says so: on Windows, and in most containers.
func asciiOnly(env func(string) string) bool {
	if env("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := env(name); locale != "" {
			locale = strings.ToLower(locale)
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}
