package main

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"

	"github.com/breakersim/breakersim/sim/lint"
)

// jsonFinding is a finding as programs read it.
type jsonFinding struct {
	Rule      string `json:"rule"`
	Title     string `json:"title"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndColumn int    `json:"end_column"`
	Breaker   string `json:"breaker,omitempty"`
	Message   string `json:"message"`
	Why       string `json:"why"`
	Instead   string `json:"instead"`
	Script    string `json:"script"`                // the scenario itself
	Written   string `json:"script_file,omitempty"` // where --script put it
}

func tellJSON(w io.Writer, all []linted) error {
	found := []jsonFinding{}
	for i := range all {
		l := &all[i]
		found = append(found, jsonFinding{l.Rule.ID, l.Rule.Title, l.File, l.At.Line, l.At.Column, l.At.Column + l.At.Length,
			l.Breaker, l.At.Message, l.Rule.Why, l.Instead, string(l.Script(l.Rule.ID)), l.written})
	}
	return indented(w, found)
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// The parts of SARIF 2.1.0 that findings need; OASIS's names.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		Help             sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"`
	}
)

// tellSARIF writes what code scanning takes.
func tellSARIF(w io.Writer, all []linted) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{Name: "breakersim", Version: version()}}}
	index := map[string]int{}
	for i := range lint.Rules {
		r := &lint.Rules[i]
		index[r.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.Title}, sarifText{r.Why}, sarifText{r.Instead}})
	}
	for i := range all {
		l := &all[i]
		uri := (&url.URL{Path: filepath.ToSlash(l.File)}).String()
		run.Results = append(run.Results, sarifResult{l.Rule.ID, index[l.Rule.ID], "warning", sarifText{l.At.Message + ". Write " + l.Instead + "."},
			[]sarifLocation{{sarifPhysical{sarifArtifact{uri}, sarifRegion{l.At.Line, l.At.Column, l.At.Column + l.At.Length}}}}})
	}
	return indented(w, sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}
