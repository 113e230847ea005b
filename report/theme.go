package report

import "image/color"

// token is a colour with a name. Canvases that know of no names see a plain
// colour; the SVG canvas also writes the name as a class, which a dark theme
// can override.
type token struct {
	name string
	color.NRGBA
}

// theme gives every name its colour. All themes have the same names.
type theme map[string]string

func (t theme) color(name string) token {
	v := t[name]
	hex := func(i int) uint8 {
		digit := func(c byte) uint8 {
			if c >= 'a' {
				return c - 'a' + 10
			}
			return c - '0'
		}
		return digit(v[i])<<4 | digit(v[i+1])
	}
	return token{name, color.NRGBA{hex(1), hex(3), hex(5), 255}}
}

// tokens are the names of the colours, in the order in which an SVG lists them.
// Text on a coloured ground has the ground's name and -ink.
var tokens = []string{"bg", "ink", "muted", "grid", "lane", "outage",
	"up", "up-ink", "down", "down-ink", "shaky", "shaky-ink",
	"closed", "closed-ink", "closed-edge", "open", "open-ink", "open-edge", "half-open", "half-open-ink", "half-open-edge",
	"backup", "backup-ink", "backup-edge", "spent", "spent-ink", "spent-edge",
	"ok", "bad", "limited", "refused", "probe", "note", "note-ink"}

// light is the theme of paper and of PNG files. The states differ in lightness
// too, so that they can be told apart in grey and by colour-blind readers.
var light = theme{
	"bg": "#ffffff", "ink": "#1f2328", "muted": "#59636e", "grid": "#e3e7ec", "lane": "#f6f8fa", "outage": "#eceff3",
	"up": "#e6eaef", "up-ink": "#3d454d", "down": "#aab4bf", "down-ink": "#14181c", "shaky": "#d0d7de", "shaky-ink": "#1f2328",
	"closed": "#bfe3d3", "closed-ink": "#0b4a33", "closed-edge": "#2e8b68",
	"open": "#b5361c", "open-ink": "#ffffff", "open-edge": "#7d1f0c",
	"half-open": "#ffe08a", "half-open-ink": "#4d3800", "half-open-edge": "#a87900",
	"backup": "#7e9fd0", "backup-ink": "#06122b", "backup-edge": "#2f4f86",
	"spent": "#b5361c", "spent-ink": "#ffffff", "spent-edge": "#7d1f0c",
	"ok": "#0072b2", "bad": "#a3260d", "limited": "#8a5a00", "refused": "#59636e", "probe": "#7b3294", "note": "#1f2328", "note-ink": "#ffffff",
}

// dark is what an SVG turns into where the reader prefers dark pages.
var dark = theme{
	"bg": "#0d1117", "ink": "#e6edf3", "muted": "#9aa4af", "grid": "#262c34", "lane": "#151b23", "outage": "#1d232c",
	"up": "#262d36", "up-ink": "#b6c0ca", "down": "#5a6572", "down-ink": "#ffffff", "shaky": "#3d454f", "shaky-ink": "#f0f4f8",
	"closed": "#14503b", "closed-ink": "#c9f2e0", "closed-edge": "#3fae85",
	"open": "#f0745a", "open-ink": "#1b0500", "open-edge": "#ffab98",
	"half-open": "#6b5200", "half-open-ink": "#ffedb8", "half-open-edge": "#e3b341",
	"backup": "#8aa6ea", "backup-ink": "#050f2b", "backup-edge": "#c3d3ff",
	"spent": "#f0745a", "spent-ink": "#1b0500", "spent-edge": "#ffab98",
	"ok": "#58b0f0", "bad": "#ff8e75", "limited": "#e3b341", "refused": "#9aa4af", "probe": "#d2a8ff", "note": "#e6edf3", "note-ink": "#0d1117",
}
