package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/breakersim/breakersim/report"
)

// request is what a marker asks for.
type request struct {
	kind     *docKind
	scenario string
	set      []setting // the variant that is meant, if one is
	policies []string  // empty: all
	breaker  string    // empty: the first
	look     report.Look
	format   string // of the picture
	scale    int    // of a PNG
	dir      string // for the picture, from the Markdown file, with slashes
	name     string // of the picture, without its ending; empty: by scenario, kind and theme
	alt      string // empty: from the picture
	at       map[string]int
}

// docOption is one that a marker may have.
type docOption struct {
	name  string
	form  string // how it is written
	about string
	read  func(r *request, value string) error
}

var docOptions = []docOption{
	{"policy", "policy=NAME", "of that policy; several with commas (all)", func(r *request, v string) error { r.policies = strings.Split(v, ","); return nil }},
	{"breaker", "breaker=NAME", "of that breaker (the first)", func(r *request, v string) error { r.breaker = v; return nil }},
	{"set", "set=PATH=VALUE", "of a variant, as `run --set` plays it", (*request).readSet},
	{"theme", "theme=NAME", "light, dark, print, or auto: light, and dark where the reader prefers that (auto)", (*request).readTheme},
	{"width", "width=N", "pixels of a picture (720), characters of text (80)", func(r *request, v string) error { return readNumber(&r.look.Width, "width", v) }},
	{"from", "from=TIME", "from that instant on", func(r *request, v string) error { return readTime(&r.look.From, v) }},
	{"to", "to=TIME", "up to that instant", func(r *request, v string) error { return readTime(&r.look.To, v) }},
	{"lanes", "lanes=KIND", "of calls, as `run --lanes` draws them", func(r *request, v string) error { r.look.Lanes = v; return oneOf("lanes", v, report.LaneNames) }},
	{"no-caption", "no-caption", "without what is below: settings, numbered moments, reasons", func(r *request, v string) error { r.look.NoCaption = true; return nil }},
	{"format", "format=png", "instead of an SVG", func(r *request, v string) error { r.format = v; return oneOf("format", v, []string{"svg", "png"}) }},
	{"scale", "scale=N", "pixels of a PNG for each of the page, 1 to 4 (2)", func(r *request, v string) error { return readNumber(&r.scale, "scale", v) }},
	{"dir", "dir=FOLDER", "where the picture goes, from where the page is (" + picturesBeside + ")", (*request).readDir},
	{"name", "name=NAME", "of the picture's file, without its ending (SCENARIO-KIND-THEME)", (*request).readName},
	{"alt", "alt=\"WORDS\"", "the picture in words (its own description)", func(r *request, v string) error { r.alt = v; return nil }},
}

func optionOf(name string) *docOption {
	i := slices.IndexFunc(docOptions, func(o docOption) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return &docOptions[i]
}

// picturesBeside is where pictures are written, from the Markdown file.
const picturesBeside = "breakersim"

// themeAuto is light, and dark where the reader prefers that.
const themeAuto = "auto"

func (r *request) readTheme(v string) error {
	if r.look.Theme = v; v == themeAuto {
		r.look.Theme = ""
	}
	return oneOf("theme", v, append([]string{themeAuto}, report.ThemeNames...))
}

func (r *request) readDir(v string) error {
	if strings.HasPrefix(v, "/") || strings.ContainsAny(v, "\\:") {
		return fmt.Errorf("dir=%s: write a folder from where the Markdown file is, with slashes, such as dir=img", v)
	}
	r.dir = v
	return nil
}

func (r *request) readName(v string) error {
	if strings.ContainsAny(v, "/\\:") || strings.HasPrefix(v, ".") {
		return fmt.Errorf("name=%s: write the name of a file without its ending; its folder is for dir", v)
	}
	r.name = v
	return nil
}

func (r *request) readSet(v string) (err error) {
	if r.set, err = parseSettings([]string{v}); err != nil {
		return errors.New("set=" + strings.TrimPrefix(err.Error(), "--set "))
	}
	return nil
}

func readNumber(n *int, option, v string) (err error) {
	if *n, err = strconv.Atoi(v); err != nil || *n < 1 {
		return fmt.Errorf("%s=%s: write a number from 1 on", option, v)
	}
	return nil
}

func readTime(d *time.Duration, v string) (err error) {
	if *d, err = time.ParseDuration(v); err != nil {
		return fmt.Errorf("%q is no time; write it like 90s or 1m30s", v)
	}
	return nil
}

func oneOf(option, v string, all []string) error {
	if slices.Contains(all, v) {
		return nil
	}
	return fmt.Errorf("%s=%s is not known; %s", option, v, meant(v, all, "write one of "+strings.Join(all, ", ")))
}

// word is one of a marker's: an option with its value, or a plain word.
type word struct {
	text  string // without quotes
	key   string // before the first =, or all of it
	value string
	at    int
}

// splitWords parts a marker at its blanks. Quotes hold blanks together, and in
// double ones a backslash stands for the character after it.
func splitWords(s string, at int) (words []word, fault *misplaced) {
	w, quote, quoted := word{at: -1}, byte(0), 0
	finish := func() {
		if w.at >= 0 {
			w.key, w.value, _ = strings.Cut(w.text, "=")
			words = append(words, w)
		}
		w = word{at: -1}
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if quote == 0 && strings.IndexByte(" \t\v\f\r\n", c) >= 0 {
			finish()
			continue
		}
		if w.at < 0 {
			w.at = at + i
		}
		switch {
		case quote == 0 && (c == '"' || c == '\'') && (w.text == "" || strings.HasSuffix(w.text, "=")):
			quote, quoted = c, at+i
		case quote != 0 && c == quote:
			quote = 0
		case quote == '"' && c == '\\' && i+1 < len(s):
			i++
			w.text += s[i : i+1]
		default:
			w.text += s[i : i+1]
		}
	}
	finish()
	if quote != 0 {
		return nil, &misplaced{quoted, fmt.Sprintf("this quote does not end; write %c after the value", quote)}
	}
	return words, nil
}

// parseRequest reads what a marker asks for, and tells all that is wrong with it.
func parseRequest(b *region) (*request, []misplaced) {
	r := &request{format: "svg", scale: 2, dir: picturesBeside, at: map[string]int{"": b.wordsAt}}
	words, fault := splitWords(b.words, b.wordsAt)
	if fault != nil {
		return nil, []misplaced{*fault}
	}
	if len(words) < 2 || strings.Contains(words[1].text, "=") {
		if len(words) > 0 && kindOf(words[0].text) == nil {
			return nil, []misplaced{{words[0].at, unknownKind(words[0].text)}}
		}
		return nil, []misplaced{{b.wordsAt, "a marker says what and of which scenario; write it like breakersim: timeline vanished-probe"}}
	}
	var faults []misplaced
	r.kind, r.scenario, r.at["scenario"] = kindOf(words[0].text), words[1].text, words[1].at
	if r.kind == nil {
		faults = append(faults, misplaced{words[0].at, unknownKind(words[0].text)})
	}
	for i := range words[2:] {
		if why := r.readOption(&words[2+i]); why != "" {
			faults = append(faults, misplaced{words[2+i].at, why})
		}
	}
	if len(faults) == 0 {
		if err := r.check(); err != nil {
			faults = append(faults, misplaced{words[0].at, err.Error()})
		}
	}
	return r, faults
}

func unknownKind(name string) string {
	var names []string
	for i := range docKinds {
		names = append(names, docKinds[i].name)
	}
	return fmt.Sprintf("there is no kind %q; %s", name, meant(name, names, "write one of "+strings.Join(names, ", ")))
}

// readOption reads one option, and says what is wrong with it.
func (r *request) readOption(w *word) string {
	o := optionOf(w.key)
	_, again := r.at[w.key]
	switch {
	case o == nil:
		return r.unknownOption(w.key)
	case again:
		return fmt.Sprintf("%s is there twice; remove one", w.key)
	case r.kind != nil && !slices.Contains(r.kind.options, w.key):
		return fmt.Sprintf("%s is nothing for a %s; its options are %s", w.key, r.kind.name, strings.Join(r.kind.options, ", "))
	case o.name == o.form && w.text != o.name:
		return "write " + o.form + ", without a value"
	case o.name != o.form && w.value == "":
		return "write " + o.form
	}
	r.at[w.key] = w.at
	if err := o.read(r, w.value); err != nil {
		return err.Error()
	}
	return ""
}

func (r *request) unknownOption(key string) string {
	var names []string
	for i := range docOptions {
		if r.kind == nil || slices.Contains(r.kind.options, docOptions[i].name) {
			names = append(names, docOptions[i].name)
		}
	}
	return fmt.Sprintf("there is no option %q; %s", key, meant(key, names, "write some of "+strings.Join(names, ", ")+", and quote a value that has blanks"))
}

// check is for what several options make together.
func (r *request) check() error {
	if _, scaled := r.at["scale"]; scaled && r.format != "png" {
		return fmt.Errorf("scale is for pixels; write format=png beside it, or remove it")
	}
	if r.scale > report.MostScale {
		return fmt.Errorf("scale=%d: write 1 to %d", r.scale, report.MostScale)
	}
	if r.kind.one && len(r.policies) > 1 {
		return fmt.Errorf("a %s is of one policy; write policy=%s", r.kind.name, r.policies[0])
	}
	return r.look.Check()
}

// file is the picture's, from the Markdown file, with slashes.
func (r *request) file(scenario string) string {
	name := r.name
	if name == "" {
		name = scenario + "-" + r.kind.name
		if r.look.Theme != "" {
			name += "-" + r.look.Theme
		}
	}
	return path.Join(r.dir, name+"."+r.format)
}

// docKind is what can stand between markers.
type docKind struct {
	name    string
	about   string
	options []string
	picture *report.Kind // drawn into a file; otherwise text
	text    func(w io.Writer, r *request, x *world) error
	source  bool // of the file alone: nothing is played
	one     bool // of one policy: the first, unless another is named
}

var pictureOptions = []string{"policy", "set", "theme", "width", "from", "to", "lanes", "no-caption", "format", "scale", "dir", "name", "alt"}

// docKinds are all that can stand between markers: every picture, and the texts.
var docKinds = slices.Concat(pictureKinds(), []docKind{
	{name: "table", about: "the cost table", options: []string{"policy", "set"}, text: func(w io.Writer, _ *request, x *world) error { return report.WriteMarkdown(w, x.results.Rows) }},
	{name: "story", about: "the run in sentences", options: []string{"policy", "set"}, one: true, text: writeStory},
	{name: "mermaid", about: "a breaker's states and how often it changed, as a Mermaid diagram", options: []string{"policy", "breaker", "set"}, one: true, text: writeMermaid},
	{name: "terminal", about: "the timeline as text, and the reason for each transition", options: []string{"policy", "set", "width", "no-caption"}, text: writeTerminal},
	{name: "yaml", about: "the scenario's file", options: []string{"set"}, source: true, text: func(w io.Writer, _ *request, x *world) error { return writeFence(w, "yaml", string(x.src)) }},
})

func pictureKinds() (all []docKind) {
	for i := range report.Kinds {
		all = append(all, docKind{name: report.Kinds[i].Name, about: report.Kinds[i].About, options: pictureOptions, picture: &report.Kinds[i]})
	}
	return all
}

func kindOf(name string) *docKind {
	i := slices.IndexFunc(docKinds, func(k docKind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &docKinds[i]
}
