package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/sim/sweep"
)

func TestProgress(t *testing.T) {
	at := sweep.Progress{Done: 3200, Of: 12_800, Played: 3000, Events: 300_000_000}
	text := progressText(at, time.Minute)
	assert.Equal(t, "3,200 of 12,800 runs, 5.0 million events/s, 3 min 12 s left", text, "runs that were kept tell nothing of the rate")
	assert.Equal(t, "12,800 of 12,800 runs, 5.0 million events/s", progressText(sweep.Progress{Done: 12_800, Of: 12_800, Played: 1, Events: 300_000_000}, time.Minute))

	var out bytes.Buffer
	b := newProgressBar(streams{err: &out, width: 100, errTerminal: true})
	bar := b.bar(at, text)
	assert.Equal(t, strings.Repeat("█", 7)+strings.Repeat("░", 23)+" "+text, bar)
	b.ascii = true
	assert.Equal(t, strings.Repeat("#", 7)+strings.Repeat(".", 23)+" "+text, b.bar(at, text))
	b.width = 40
	assert.Less(t, utf8.RuneCountInString(b.bar(at, text)), 40, "it never wraps")
	b.show(at)
	b.close()
	assert.Regexp(t, "^\r.*\x1b\\[K\r\x1b\\[K$", out.String())

	out.Reset()
	b = newProgressBar(streams{err: &out, width: 100})
	assert.False(t, b.due(), "elsewhere a line every ten seconds")
	b.show(at)
	b.close()
	assert.Regexp(t, "^3,200 of 12,800 runs, [^\r]*\n$", out.String())
}
