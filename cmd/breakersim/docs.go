package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

type docsCmd struct {
	limits
	Check bool     `help:"Change nothing; print what differs, and exit with 1 if something does."`
	Files []string `arg:"" name:"file" predictor:"markdown" help:"Markdown files (.md, .mdx), or directories of them and all below, but not what is hidden or in node_modules."`
}

// Help lists what markers may say.
func (*docsCmd) Help() string {
	var b strings.Builder
	b.WriteString("A marker is a comment on a line of its own; what stands between it and its end is written anew:\n\n" +
		"  <!-- breakersim: KIND SCENARIO [OPTION...] -->\n  <!-- /breakersim -->\n\nIn MDX a comment is {/* breakersim: ... */}. " +
		"SCENARIO is a built-in name, or a file from where the page is. Kinds:\n\n")
	for i := range docKinds {
		fmt.Fprintf(&b, "  %-9s %s\n", docKinds[i].name, docKinds[i].about)
	}
	b.WriteString("\nOptions, for the kinds that have them:\n\n")
	for i := range docOptions {
		fmt.Fprintf(&b, "  %-14s  %s\n", docOptions[i].form, docOptions[i].about)
	}
	return b.String()
}

// errDrifted says that a page is not what would be written, which has been told already.
var errDrifted = errors.New("a page has drifted")

// docFaults are what is wrong with the markers, each with its place.
type docFaults []string

func (f docFaults) Error() string { return strings.Join(f, "\n") }

// Run writes what stands between the markers of the files, or compares.
func (c *docsCmd) Run(s streams) error {
	lim, err := c.limits.parse()
	if err != nil {
		return err
	}
	paths, err := markdownFiles(c.Files)
	if err != nil {
		return err
	}
	b := &book{lim: lim, worlds: map[string]*world{}, slots: make(slots, runtime.GOMAXPROCS(0))}
	for _, path := range paths {
		if err := b.read(path); err != nil {
			return err
		}
	}
	if err := b.faults(); err != nil {
		return err
	}
	if err := b.play(); err != nil {
		return err
	}
	if err := b.render(); err != nil {
		return err
	}
	changes, err := b.changes()
	if err != nil {
		return err
	}
	return b.finish(s, changes, c.Check)
}

// finish makes the changes, or shows them, and says what expectations failed.
func (b *book) finish(s streams, changes []change, check bool) error {
	w := s.out
	var err error
	switch {
	case len(changes) == 0:
		_, err = fmt.Fprintln(w, b.count()+", all as it should be")
	case check:
		err = show(w, changes)
	default:
		err = makeChanges(w, changes)
	}
	if err != nil {
		return err
	}
	for _, x := range b.order {
		if x.results != nil && len(x.results.Failures) > 0 {
			x.results.printFailures(w, s.options())
			err = errExpectation
		}
	}
	if check && len(changes) > 0 {
		err = errDrifted
	}
	return err
}

func (b *book) count() string {
	n := 0
	for _, p := range b.pages {
		n += len(p.parts)
	}
	plural := func(n int, what string) string {
		if n != 1 {
			what += "s"
		}
		return fmt.Sprintf("%d %s", n, what)
	}
	return plural(n, "marker") + " in " + plural(len(b.pages), "file")
}

// show prints what would change.
func show(w io.Writer, changes []change) error {
	for i := range changes {
		c := &changes[i]
		text := c.path + ": this picture is not what is drawn now\n"
		switch {
		case c.page:
			text = string(diff.Diff(c.path, c.old, c.path+" as it should be", c.new))
		case c.old == nil:
			text = c.path + ": this picture is missing\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// markdownFiles are the files that are named, and those in directories that are.
// One that is named twice is there once.
func markdownFiles(args []string) ([]string, error) {
	var all []string
	var faults []error
	for _, arg := range args {
		list, err := markdownIn(arg)
		all = append(all, list...)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, wrong{err}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(path string) bool {
		real := realPath(path)
		defer func() { seen[real] = true }()
		return seen[real]
	}), nil
}

func isMarkdown(path string) bool {
	return slices.Contains([]string{".md", ".mdx"}, strings.ToLower(filepath.Ext(path)))
}

func markdownIn(arg string) (list []string, err error) {
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %q", arg)
	case err != nil:
		return nil, err
	case info.Mode().IsRegular() && isMarkdown(arg):
		return []string{arg}, nil
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no Markdown file; write one that ends in .md or .mdx", arg)
	}
	err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != arg && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && isMarkdown(path):
			list = append(list, path)
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("the directory %s holds no Markdown: no file in it ends in .md or .mdx", arg)
	}
	return list, err
}

// realPath is where a file is, whatever links lead there.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path
}
