package scenarios

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var library embed.FS

//go:embed sweeps/*.yaml
var sweeps embed.FS

// Names are the built-in scenarios, in order.
func Names() []string { return namesIn(library, ".") }

// Source is the YAML of a built-in scenario.
func Source(name string) (src []byte, ok bool) {
	src, err := library.ReadFile(name + ".yaml")
	return src, err == nil
}

// SweepNames are the built-in sweeps, in order.
func SweepNames() []string { return namesIn(sweeps, "sweeps") }

// SweepSource is the YAML of a built-in sweep.
func SweepSource(name string) (src []byte, ok bool) {
	src, err := sweeps.ReadFile("sweeps/" + name + ".yaml")
	return src, err == nil
}

func namesIn(files embed.FS, dir string) (names []string) {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic("scenarios: " + err.Error()) // it is compiled in
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}
