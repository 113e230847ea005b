package report

import "image/color"

// token is a colour with a name. Canvases that know of no names see a plain
// colour; the SVG canvas also writes the name as a class, which a dark theme
// can override.
type token struct {
	name string
	color.NRGBA
}

// theme gives every name its colour, and some grounds a pattern besides. All
// themes have the same names.
type theme struct {
	colors   map[string]string
	patterns map[string]pattern
}

func (t *theme) color(name string) token {
	v := t.colors[name]
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

// ThemeNames are the themes: for light pages, for dark ones, and for paper, where
// patterns say what colours say elsewhere.
var ThemeNames = []string{"light", "dark", "print"}

var themes = map[string]*theme{"light": &light, "dark": &dark, "print": &paper}

// pattern is what lies on a ground.
type pattern uint8

const (
	plain   pattern = iota
	rising          // strokes at 45 degrees
	falling         // the other way
	crossed         // both
	level           // lines from left to right
	upright         // lines from top to bottom
	dashed          // dashes from left to right
	hollow          // of bars: an outline on a pale ground
)

// patterns are those of the screen: of what must not be told by colour alone
// even where all bands have their names.
var patterns = map[string]pattern{"half-open": rising, "spent": crossed, "shaky": falling, "away": level, "queue": rising, "slow": dashed}

// tokens are the names of the colours, in the order in which an SVG lists them.
// Text on a coloured ground has the ground's name and -ink.
var tokens = []string{"bg", "ink", "muted", "grid", "lane", "outage",
	"up", "up-ink", "up-edge", "down", "down-ink", "down-edge", "shaky", "shaky-ink", "shaky-edge", "slow", "slow-ink", "slow-edge",
	"closed", "closed-ink", "closed-edge", "open", "open-ink", "open-edge", "half-open", "half-open-ink", "half-open-edge",
	"backup", "backup-ink", "backup-edge", "spent", "spent-ink", "spent-edge",
	"good", "good-edge", "away", "away-edge", "queue", "queue-edge", "bar", "bar-edge",
	"ok", "bad", "limited", "refused", "probe", "note", "note-ink",
	"heat1", "heat1-ink", "heat2", "heat2-ink", "heat3", "heat3-ink", "heat4", "heat4-ink", "heat5", "heat5-ink"}

// light is the usual theme. The states differ in lightness
// too, so that they can be told apart in grey and by colour-blind readers.
var light = theme{patterns: patterns, colors: map[string]string{
	"bg": "#ffffff", "ink": "#1f2328", "muted": "#59636e", "grid": "#e3e7ec", "lane": "#f6f8fa", "outage": "#eceff3",
	"up": "#e6eaef", "up-ink": "#3d454d", "up-edge": "#c9d1d9", "down": "#aab4bf", "down-ink": "#14181c", "down-edge": "#6e7781", "shaky": "#d0d7de", "shaky-ink": "#1f2328", "shaky-edge": "#59636e",
	"slow": "#e4d8f3", "slow-ink": "#35204f", "slow-edge": "#7c5aa8",
	"closed": "#bfe3d3", "closed-ink": "#0b4a33", "closed-edge": "#2e8b68",
	"open": "#b5361c", "open-ink": "#ffffff", "open-edge": "#7d1f0c",
	"half-open": "#ffe08a", "half-open-ink": "#4d3800", "half-open-edge": "#a87900",
	"backup": "#7e9fd0", "backup-ink": "#06122b", "backup-edge": "#2f4f86",
	"spent": "#b5361c", "spent-ink": "#ffffff", "spent-edge": "#7d1f0c",
	"good": "#a9cde8", "good-edge": "#0072b2", "away": "#dfe4ea", "away-edge": "#6e7781", "queue": "#ffe9b0", "queue-edge": "#a87900", "bar": "#8fa8cf", "bar-edge": "#4a689c",
	"ok": "#0072b2", "bad": "#a3260d", "limited": "#8a5a00", "refused": "#59636e", "probe": "#7b3294", "note": "#1f2328", "note-ink": "#ffffff",
	"heat1": "#f0f5fb", "heat1-ink": "#1f2328", "heat2": "#cbddf1", "heat2-ink": "#1f2328", "heat3": "#93b8df", "heat3-ink": "#0b1a2b", "heat4": "#2f6cab", "heat4-ink": "#ffffff", "heat5": "#123a6b", "heat5-ink": "#ffffff",
}}

// dark is what an SVG turns into where the reader prefers dark pages.
var dark = theme{patterns: patterns, colors: map[string]string{
	"bg": "#0d1117", "ink": "#e6edf3", "muted": "#9aa4af", "grid": "#262c34", "lane": "#151b23", "outage": "#1d232c",
	"up": "#262d36", "up-ink": "#b6c0ca", "up-edge": "#3d454f", "down": "#5a6572", "down-ink": "#ffffff", "down-edge": "#9aa4af", "shaky": "#3d454f", "shaky-ink": "#f0f4f8", "shaky-edge": "#9aa4af",
	"slow": "#3b2d55", "slow-ink": "#ece2ff", "slow-edge": "#b294e0",
	"closed": "#14503b", "closed-ink": "#c9f2e0", "closed-edge": "#3fae85",
	"open": "#f0745a", "open-ink": "#1b0500", "open-edge": "#ffab98",
	"half-open": "#6b5200", "half-open-ink": "#ffedb8", "half-open-edge": "#e3b341",
	"backup": "#8aa6ea", "backup-ink": "#050f2b", "backup-edge": "#c3d3ff",
	"spent": "#f0745a", "spent-ink": "#1b0500", "spent-edge": "#ffab98",
	"good": "#17456b", "good-edge": "#58b0f0", "away": "#2c333c", "away-edge": "#9aa4af", "queue": "#4d3b00", "queue-edge": "#e3b341", "bar": "#4c6595", "bar-edge": "#8aa6ea",
	"ok": "#58b0f0", "bad": "#ff8e75", "limited": "#e3b341", "refused": "#9aa4af", "probe": "#d2a8ff", "note": "#e6edf3", "note-ink": "#0d1117",
	"heat1": "#121c28", "heat1-ink": "#e6edf3", "heat2": "#1a3352", "heat2-ink": "#e6edf3", "heat3": "#28588c", "heat3-ink": "#ffffff", "heat4": "#6ea3dd", "heat4-ink": "#06101d", "heat5": "#c2dcfa", "heat5-ink": "#06101d",
}}

// paper is for printers, which may know no colours: every ground that means
// something has a pattern or a grey of its own.
var paper = theme{
	patterns: map[string]pattern{"half-open": rising, "spent": crossed, "shaky": falling, "away": level, "queue": rising, "slow": dashed, "backup": level, "down": upright, "ok": hollow},
	colors: map[string]string{
		"bg": "#ffffff", "ink": "#000000", "muted": "#4a4a4a", "grid": "#dddddd", "lane": "#ffffff", "outage": "#ececec",
		"up": "#f4f4f4", "up-ink": "#222222", "up-edge": "#999999", "down": "#c4c4c4", "down-ink": "#000000", "down-edge": "#8a8a8a", "shaky": "#eeeeee", "shaky-ink": "#000000", "shaky-edge": "#777777",
		"slow": "#e6e6e6", "slow-ink": "#000000", "slow-edge": "#3c3c3c",
		"closed": "#ffffff", "closed-ink": "#000000", "closed-edge": "#333333",
		"open": "#3a3a3a", "open-ink": "#ffffff", "open-edge": "#000000",
		"half-open": "#f2f2f2", "half-open-ink": "#000000", "half-open-edge": "#555555",
		"backup": "#d9d9d9", "backup-ink": "#000000", "backup-edge": "#666666",
		"spent": "#3a3a3a", "spent-ink": "#ffffff", "spent-edge": "#c8c8c8",
		"good": "#b4b4b4", "good-edge": "#555555", "away": "#ffffff", "away-edge": "#666666", "queue": "#ffffff", "queue-edge": "#555555", "bar": "#8f8f8f", "bar-edge": "#222222",
		"ok": "#000000", "bad": "#000000", "limited": "#333333", "refused": "#555555", "probe": "#000000", "note": "#000000", "note-ink": "#ffffff",
		"heat1": "#ffffff", "heat1-ink": "#000000", "heat2": "#e2e2e2", "heat2-ink": "#000000", "heat3": "#bcbcbc", "heat3-ink": "#000000", "heat4": "#6a6a6a", "heat4-ink": "#ffffff", "heat5": "#2e2e2e", "heat5-ink": "#ffffff",
	},
}
