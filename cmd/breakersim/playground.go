package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/breakersim/breakersim/report"
	"github.com/breakersim/breakersim/scenarios"
)

// playgroundPage is the page without the simulator, which is compiled when it is
// wanted: nobody has to trust a binary in the repository.
//
//go:embed playground/index.html playground/*.css playground/*.js
var playgroundPage embed.FS

type playgroundCmd struct {
	Out string `short:"o" default:"outputs/playground" placeholder:"DIR" help:"Where to write (${default})."`
}

// Run writes the playground's files, the same bytes each time.
func (c *playgroundCmd) Run(s streams) error {
	files, err := playgroundFiles()
	if err != nil {
		return err
	}
	f, err := openFolder(c.Out)
	defer f.discard()
	if err != nil {
		return err
	}
	for _, x := range files {
		if err := f.write(x.name, func(w io.Writer) error { _, err := w.Write(x.content); return err }); err != nil {
			return err
		}
	}
	if err := f.commit(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "the playground is in %s: any web server can show it, and breakersim serve does\n", c.Out)
	return err
}

// namedFile is a file that is not written yet.
type namedFile struct {
	name    string
	content []byte
}

// playgroundFiles are all of the playground: page, library, and simulator.
func playgroundFiles() ([]namedFile, error) {
	files, err := playgroundStatic()
	if err != nil {
		return nil, err
	}
	built, err := compilePlayground()
	return append(files, built...), err
}

// playgroundStatic is what need not be compiled.
func playgroundStatic() ([]namedFile, error) {
	entries, err := playgroundPage.ReadDir("playground")
	if err != nil {
		return nil, err
	}
	var files []namedFile
	for _, e := range entries {
		b, err := playgroundPage.ReadFile("playground/" + e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, namedFile{e.Name(), b})
	}
	library, err := libraryJSON()
	return append(files, namedFile{"page.css", []byte(report.Style())}, namedFile{"library.json", library}), err
}

// libraryJSON is the built-in scenarios, for the menu.
func libraryJSON() ([]byte, error) {
	type entry struct {
		Name   string `json:"name"`
		Title  string `json:"title"`
		Source string `json:"source"`
	}
	var all []entry
	for _, name := range scenarios.Names() {
		src, _ := scenarios.Source(name)
		s, err := scenarios.Load(name+".yaml", src, scenarios.DefaultLimits())
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, s.Title, string(src)})
	}
	return json.Marshal(all)
}

const (
	wasmFile     = "breakersim.wasm"
	wasmExecFile = "wasm_exec.js" // of the same toolchain: it and the simulator must fit
)

// compilePlayground compiles the simulator for browsers, from the source of the
// running program. The second copy is for servers that can send it compressed.
func compilePlayground() ([]namedFile, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, errors.New("the playground is compiled with Go, and there is no command go: install it from https://go.dev/dl/, or bring the folder that breakersim playground writes elsewhere")
	}
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "breakersim-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, wasmFile)
	if _, err := goSays(dir, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, "./cmd/breakersim/playground"); err != nil {
		return nil, fmt.Errorf("the playground does not compile: %w", err)
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	goroot, err := goSays(dir, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	glue, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", wasmExecFile))
	if err != nil {
		return nil, fmt.Errorf("the Go that is installed has no %s: %w", wasmExecFile, err)
	}
	return []namedFile{{wasmFile, wasm}, {wasmFile + ".gz", zipped(wasm)}, {wasmExecFile, glue}}, nil
}

const modulePath = "github.com/breakersim/breakersim"

// moduleDir is where the source of the running program is: the clone that one
// works in, or else the module's published version.
func moduleDir() (string, error) {
	if dir, err := goSays("", "list", "-m", "-f", "{{if .Main}}{{.Dir}}{{end}}", modulePath); err == nil && dir != "" {
		return dir, nil
	}
	v := version()
	if !strings.HasPrefix(v, "v") || strings.Contains(v, "+") {
		return "", errors.New("this breakersim was built in a clone, and has no version that could be fetched: run it within the clone")
	}
	said, err := goSays(os.TempDir(), "mod", "download", "-json", modulePath+"@"+v)
	var module struct{ Dir, Error string }
	if json.Unmarshal([]byte(said), &module) == nil && module.Error != "" {
		err = errors.New(module.Error)
	}
	if err != nil {
		return "", fmt.Errorf("the source of breakersim %s cannot be fetched: %w", v, err)
	}
	return module.Dir, nil
}

// goSays is what the go command prints, in a folder and for browsers, whatever
// the user has set for other builds.
func goSays(dir string, args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "GOWASM=", "GOEXPERIMENT=", "CGO_ENABLED=0")
	var said, complained bytes.Buffer
	c.Stdout, c.Stderr = &said, &complained
	if err := c.Run(); err != nil {
		return said.String(), fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(complained.Bytes()))
	}
	return strings.TrimSpace(said.String()), nil
}

func zipped(b []byte) []byte {
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
	_, _ = w.Write(b) // a Buffer takes everything
	_ = w.Close()
	return z.Bytes()
}
