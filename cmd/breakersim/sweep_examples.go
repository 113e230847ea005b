package main

import (
	"embed"
	"fmt"
	"io"
	"strings"
)

//go:embed examples
var examples embed.FS

// example is a file that runs a sweep on several machines.
type example struct{ name, file string }

var sweepExamples = []example{
	{"slurm", "sweep.slurm"},
	{"kubernetes", "sweep-job.yaml"},
	{"parallel", "sweep-parallel.sh"},
	{"docker", "Dockerfile"},
}

func exampleNames() (names []string) {
	for _, e := range sweepExamples {
		names = append(names, e.name)
	}
	return names
}

// printExample prints one of them as it is.
func printExample(w io.Writer, name string) error {
	for _, e := range sweepExamples {
		if e.name == name {
			text, err := examples.ReadFile("examples/" + e.file)
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		}
	}
	return wrong{fmt.Errorf("--example: there is none for %q; %s", name, meant(name, exampleNames(), "write one of "+strings.Join(exampleNames(), ", ")))}
}
