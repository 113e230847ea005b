package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/sim/sweep"
)

// progressBar tells how far a sweep has come: on a terminal in one line that is
// written over and over, elsewhere in a line every ten seconds.
type progressBar struct {
	w        io.Writer
	terminal bool
	ascii    bool
	width    int
	began    time.Time
	next     time.Time
	shown    bool
}

func newProgressBar(s streams) *progressBar {
	now := time.Now()
	b := &progressBar{w: s.err, terminal: s.errTerminal, ascii: s.ascii, width: s.width, began: now}
	b.next = now.Add(b.every())
	return b
}

func (b *progressBar) every() time.Duration {
	if b.terminal {
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

// due says whether it is time to show something.
func (b *progressBar) due() bool { return !time.Now().Before(b.next) }

// show tells how far it is.
func (b *progressBar) show(p sweep.Progress) {
	now := time.Now()
	b.next = now.Add(b.every())
	text := progressText(p, now.Sub(b.began))
	if !b.terminal {
		fmt.Fprintln(b.w, text)
		return
	}
	b.shown = true
	fmt.Fprintf(b.w, "\r%s\x1b[K", b.bar(p, text))
}

// progressText is the runs, the rate, and the time that is left.
func progressText(p sweep.Progress, since time.Duration) string {
	seconds := max(since.Seconds(), 1e-3)
	text := fmt.Sprintf("%s of %s runs, %.1f million events/s", report.Thousands(int64(p.Done)), report.Thousands(int64(p.Of)), float64(p.Events)/seconds/1e6)
	if p.Played > 0 && p.Of > p.Done {
		left := time.Duration(float64(p.Of-p.Done) / float64(p.Played) * float64(since))
		text += ", " + report.Clock(left.Round(time.Second)) + " left"
	}
	return text
}

// bar is the text behind a bar of what is done.
func (b *progressBar) bar(p sweep.Progress, text string) string {
	full, empty := "█", "░"
	if b.ascii {
		full, empty = "#", "."
	}
	room := min(30, b.width-len(text)-2)
	if room < 5 {
		return text[:min(len(text), max(0, b.width-1))]
	}
	n := room * p.Done / max(1, p.Of)
	return strings.Repeat(full, n) + strings.Repeat(empty, room-n) + " " + text
}

// close leaves the line.
func (b *progressBar) close() {
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}

// interrupted says what is kept.
func (b *progressBar) interrupted(done int, file string) {
	b.close()
	fmt.Fprintf(b.w, "stopped: %s runs are kept in %s; the same command with --resume goes on\n", report.Thousands(int64(done)), file)
}
