package report

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPDF has every world in every theme: the same bytes each time, no clock,
// and every text in its page, so that it can be searched.
func TestPDF(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`, "\r", `\r`)
	for name, panels := range worlds() {
		var all []*History
		for _, w := range panels {
			all = append(all, w.history(t))
		}
		for _, theme := range ThemeNames {
			if testing.Short() && theme != "print" {
				continue
			}
			d := pictured(t, "timeline", Look{Theme: theme}, all...)
			var first, second bytes.Buffer
			require.NoError(t, d.WritePDF(&first))
			require.NoError(t, d.WritePDF(&second))
			assert.True(t, bytes.Equal(first.Bytes(), second.Bytes()), "%s: two drawings differ", name)
			assert.Less(t, first.Len(), 60_000+2*len(d.SVG()), name)
			assert.Contains(t, first.String(), "/CreationDate (D:19700101000000)")
			page := pdfPage(t, first.Bytes())
			_, p := drawn(t, Look{Theme: theme}, all...)
			for _, s := range p.texts {
				shown := utf16Text(printable(face(textSize, false), s.text))[2:]
				assert.Contains(t, page, escape.Replace(shown), "%s: %q", name, s.text)
			}
		}
	}
}

// pdfPage is what the file's first stream draws.
func pdfPage(t *testing.T, file []byte) string {
	t.Helper()
	_, rest, found := bytes.Cut(file, []byte("stream\n"))
	require.True(t, found)
	z, err := zlib.NewReader(bytes.NewReader(rest))
	require.NoError(t, err)
	page, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(page)
}

// TestPDFShowsWhatItCannotWrite, in as many places; its metadata can hold all.
func TestPDFShowsWhatItCannotWrite(t *testing.T) {
	for text, shown := range map[string]string{
		"a → b ≥ c · Größe": "a → b ≥ c · Größe",
		"日本 🙂 x\x01":        "□□ □ x□",
		"Привет, κόσμε":     "Привет, κόσμε",
		"\xff":              "□",
	} {
		assert.Equal(t, shown, printable(face(textSize, true), text))
	}
	var b bytes.Buffer
	require.NoError(t, pictured(t, "timeline", Look{}, world{title: "日🙂(", policy: "p", end: 1}.history(t)).WritePDF(&b))
	assert.Contains(t, b.String(), "/Title (\xfe\xff\x65\xe5\xd8\x3d\xde\x42\x00\\()")
}

// TestPDFTextHasTheLayoutsWidth: where pairs of letters are kerned, the
// difference is spread.
func TestPDFTextHasTheLayoutsWidth(t *testing.T) {
	c := newPDF(100, 100, "", "")
	f := face(textSize, false)
	const text = "AVATAR To 11"
	c.FillString(f, c.top().at, text)
	plain := c.doc.GetStringWidth(text)
	require.Greater(t, plain, float64(lengthOf(f, text))+1, "kerning makes it shorter")
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	require.NoError(t, err)
	m := regexp.MustCompile(`(-?[0-9.]+) Tc`).FindStringSubmatch(pdfPage(t, b.Bytes()))
	require.NotNil(t, m)
	assert.InDelta(t, float64(lengthOf(f, text)), plain+parsed(t, m[1])*float64(len(text)), 0.01)
}

func parsed(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return v
}
