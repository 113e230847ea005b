package scenarios

import (
	"embed"
	"strings"
)

//go:embed *.yaml
var library embed.FS

// Names are the built-in scenarios, in order.
func Names() []string {
	entries, err := library.ReadDir(".")
	if err != nil {
		panic("scenarios: " + err.Error()) // it is compiled in
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Source is the YAML of a built-in scenario.
func Source(name string) (src []byte, ok bool) {
	src, err := library.ReadFile(name + ".yaml")
	return src, err == nil
}
