package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServedPagesAreAccessible: axe-core has nothing serious against the
// playground, with and without a fault in its text, the gallery and a page.
func TestServedPagesAreAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join("..", "..", "report", "testdata", "axe.min.js"))
	require.NoError(t, err)
	x, _ := playgroundTab(t, "")
	faults := func() []string {
		value[bool](x, string(axe)+"; true")
		all, err := chromedp.Run(x, chromedp.Evaluate[[]string](`axe.run(document).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact))
			.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + n.failureSummary)))`, chromedp.EvalAwaitPromise))
		require.NoError(t, err)
		return all
	}
	x.until(settled)
	assert.Empty(t, faults(), "the playground")
	x.types(strings.Replace(value[string](x, editorIs), "to: search", "to: serach", 1))
	x.until(`document.querySelector('#faults button')`)
	assert.Empty(t, faults(), "the playground with a fault")

	gallery := served(t, "vanished-probe", "sixth-failure")
	for _, page := range []string{"/", "/vanished-probe/"} {
		x.do(chromedp.Navigate(gallery + page))
		x.until(`document.querySelector('h1')`)
		assert.Empty(t, faults(), page)
	}
	value[bool](x, `document.querySelector('img').removeAttribute('alt'), true`)
	assert.NotEmpty(t, faults(), "a picture without words is found")
}
