package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/breakersim/breakersim/scenarios"
)

type presetsCmd struct {
	Format string `enum:"text,json" default:"text" help:"text or json (${default})."`
	Name   string `arg:"" optional:"" predictor:"preset" help:"Only this one."`
}

// Run prints the presets: how other libraries' breakers are set, where that is
// documented, and what cannot be expressed of it.
func (c *presetsCmd) Run(s streams) error {
	all := scenarios.Presets()
	var names []string
	for i := range all {
		if names = append(names, all[i].Name); all[i].Name == c.Name {
			return writePresets(s.out, c.Format, all[i:i+1])
		}
	}
	if c.Name != "" {
		return wrong{fmt.Errorf("there is no preset %q; %s", c.Name, meant(c.Name, names, "they are "+strings.Join(names, ", ")))}
	}
	return writePresets(s.out, c.Format, all)
}

func writePresets(w io.Writer, format string, presets []scenarios.Preset) error {
	if format == "json" {
		b, err := json.MarshalIndent(presets, "", "  ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(b, '\n'))
		return err
	}
	var b strings.Builder
	for i := range presets {
		if i > 0 {
			b.WriteString("\n")
		}
		presetText(&b, &presets[i])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// presetText is a preset as YAML, with all that is told of it in comments.
func presetText(b *strings.Builder, p *scenarios.Preset) {
	fmt.Fprintf(b, "# like: %s is %s, for %s breakers.\n", p.Name, p.Version, p.Kind)
	for _, source := range p.Source {
		fmt.Fprintf(b, "# %s\n", source)
	}
	b.WriteString(p.Settings)
	b.WriteString("# What cannot be expressed:\n")
	for _, sentence := range p.Cannot {
		fmt.Fprintf(b, "# - %s\n", sentence)
	}
}
