package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/replay"
)

// tested is what came of a scenario's expectations under one policy.
type tested struct {
	scenario *scenarios.Scenario
	policy   string
	expected int // expectations that apply
	failures []replay.Failure
}

func (c *tested) name() string {
	things := "expectations"
	if c.expected == 1 {
		things = "expectation"
	}
	return fmt.Sprintf("%s under %s (%d %s)", c.scenario.Name, c.policy, c.expected, things)
}

func (c *tested) messages() []string {
	var m []string
	for _, f := range c.failures {
		m = append(m, fmt.Sprintf("%s:%d: %s", c.scenario.File, f.Line, f.Message))
		for _, e := range f.Around {
			m = append(m, "    "+e)
		}
	}
	return m
}

func writeChecks(w io.Writer, format string, checks []tested) error {
	var b bytes.Buffer
	switch format {
	case "tap":
		writeTAP(&b, checks)
	case "junit":
		if err := writeJUnit(&b, checks); err != nil {
			return err
		}
	default:
		writeText(&b, checks)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func writeText(b *bytes.Buffer, checks []tested) {
	failed := 0
	for i := range checks {
		c := &checks[i]
		word := "ok    "
		if len(c.failures) > 0 {
			word = "FAILED"
			failed++
		}
		fmt.Fprintf(b, "%s  %s\n", word, c.name())
		for _, m := range c.messages() {
			fmt.Fprintf(b, "        %s\n", m)
		}
	}
	fmt.Fprintf(b, "%d passed, %d failed\n", len(checks)-failed, failed)
}

// writeTAP writes the Test Anything Protocol, version 13.
func writeTAP(b *bytes.Buffer, checks []tested) {
	fmt.Fprintf(b, "TAP version 13\n1..%d\n", len(checks))
	for i := range checks {
		c := &checks[i]
		not := ""
		if len(c.failures) > 0 {
			not = "not "
		}
		fmt.Fprintf(b, "%sok %d - %s\n", not, i+1, c.name())
		for _, m := range c.messages() {
			fmt.Fprintf(b, "# %s\n", m)
		}
	}
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Failure   *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes one suite a scenario, one case a policy.
func writeJUnit(b *bytes.Buffer, checks []tested) error {
	var all junitSuites
	for i := range checks {
		c := &checks[i]
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != c.scenario.Name {
			all.Suites = append(all.Suites, junitSuite{Name: c.scenario.Name})
		}
		suite := &all.Suites[len(all.Suites)-1]
		one := junitCase{Name: c.policy, Classname: c.scenario.Name}
		suite.Tests++
		if m := c.messages(); len(m) > 0 {
			suite.Failures++
			one.Failure = &junitFailure{Message: m[0], Text: strings.Join(m, "\n")}
		}
		suite.Cases = append(suite.Cases, one)
	}
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(b)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	b.WriteString("\n")
	return nil
}
