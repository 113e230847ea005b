package report

import (
	"bytes"
	"encoding/xml"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
)

func TestPicturesHaveBothThemes(t *testing.T) {
	p := NewPicture(100, 50, "a b", "Title", "What is seen, & why")
	p.SetColor(Color("ok"))
	p.SetLineWidth(2 * Pixel)
	p.Stroke(vg.Path{{Type: vg.MoveComp, Pos: vg.Point{X: 10 * Pixel, Y: 10 * Pixel}}, {Type: vg.LineComp, Pos: vg.Point{X: 90 * Pixel, Y: 40 * Pixel}}})
	var b bytes.Buffer
	_, err := p.WriteTo(&b)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(b.Bytes(), new(struct{})))
	for _, want := range []string{
		`width="100" height="50"`, `aria-labelledby="picture-a-b-title picture-a-b-desc"`, `What is seen, &amp; why`,
		`<path d="M10 40L90 10" fill="none" stroke-width="2" stroke="#0072b2" class="s-ok"/>`, `.s-ok{stroke:#58b0f0}`,
	} {
		assert.Contains(t, b.String(), want)
	}
}

// TestArcsTurnAsTheyAreTold: with the clock or against it, from left to right
// over the top and under it.
func TestArcsTurnAsTheyAreTold(t *testing.T) {
	for angle, want := range map[float64]string{-math.Pi: "M10 40A20 20 0 0 1 30 20A20 20 0 0 1 50 40", math.Pi: "M10 40A20 20 0 0 0 30 60A20 20 0 0 0 50 40"} {
		c := newSVG(100*pixel, 80*pixel, "", "", "", nil)
		var p vg.Path
		p.Move(vg.Point{X: 10 * pixel, Y: 40 * pixel})
		p.Arc(vg.Point{X: 30 * pixel, Y: 40 * pixel}, 20*pixel, math.Pi, angle)
		assert.Equal(t, want, c.path(p))
	}
}
