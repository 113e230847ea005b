package scenarios

import (
	"embed"
	"strings"
)

//go:embed sweeps/*.yaml
var sweeps embed.FS

// SweepNames are the built-in sweeps, in order.
func SweepNames() []string {
	entries, err := sweeps.ReadDir("sweeps")
	if err != nil {
		panic("scenarios: " + err.Error()) // it is compiled in
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// SweepSource is the YAML of a built-in sweep.
func SweepSource(name string) (src []byte, ok bool) {
	src, err := sweeps.ReadFile("sweeps/" + name + ".yaml")
	return src, err == nil
}
