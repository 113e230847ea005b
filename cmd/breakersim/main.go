// Command breakersim replays scripted outages against real circuit breakers,
// draws what they do, and says why.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"

	"github.com/breakersim/breakersim/scenarios"
)

// Exit statuses.
const (
	exitDone     = 0
	exitFailed   = 1 // an expectation did not hold
	exitWrong    = 2 // wrong input or usage
	exitRunError = 3 // the run itself failed; endings has those of signals
)

// cli is every command and flag.
type cli struct {
	Run        runCmd                    `cmd:"" help:"Replay scenarios, print timeline, cost and reasons, and write the pictures."`
	Compare    compareCmd                `cmd:"" help:"Replay scenarios under circuit breakers of other libraries, and say where each departs from ours."`
	Trace      traceCmd                  `cmd:"" help:"Print the trace of one scenario under one policy."`
	Test       testCmd                   `cmd:"" help:"Check the expect lists of scenarios, and write nothing."`
	Page       pageCmd                   `cmd:"" help:"Write one HTML file in which to step through a scenario: state, counters and reasons at every instant."`
	Sweep      sweepCmd                  `cmd:"" help:"Play a scenario with many settings in many drawn worlds, and recommend some."`
	Merge      mergeCmd                  `cmd:"" help:"Put the shards of a sweep together, and refuse gaps, overlaps and mixed versions."`
	Docs       docsCmd                   `cmd:"" help:"Write pictures, tables and files of scenarios into Markdown files, between markers, or --check that they are true."`
	Check      checkCmd                  `cmd:"" help:"Explore the breakers: every sequence of moves, what must hold, and the shortest script that breaks it."`
	Lint       lintCmd                   `cmd:"" help:"Say what will go wrong with the settings of scenarios, or with settings alone, and show it by a script."`
	Serve      serveCmd                  `cmd:"" help:"Show pages and the playground in a browser, from this machine, and play scenarios again when their files change."`
	Playground playgroundCmd             `cmd:"" help:"Write the playground: a web page that plays what one types, without a server."`
	List       listCmd                   `cmd:"" help:"List the built-in scenarios."`
	Show       showCmd                   `cmd:"" help:"Print the YAML of a built-in scenario."`
	Presets    presetsCmd                `cmd:"" help:"Print how other libraries' breakers are set, where that is documented, and what cannot be expressed."`
	Schema     schemaCmd                 `cmd:"" help:"Print the JSON Schema of scenario files."`
	Completion kongcompletion.Completion `cmd:"" help:"Print how to set up completion in your shell."`
	Help       helpCmd                   `cmd:"" help:"Print this help, or that of a command."`
	Version    kong.VersionFlag          `help:"Print the version."`
}

// helpCmd is there to be listed: run turns it into the flag --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"A command."`
}

func (helpCmd) Run() error { return nil }

// streams is where a command reads and writes.
type streams struct {
	in          io.Reader
	out, err    io.Writer
	width       int  // of the terminal, or 80
	color       bool // out wants colour
	ascii       bool // out has no other characters
	errTerminal bool // err is a terminal, for progress
}

func main() {
	if os.Getenv(bubbleVariable) != "" {
		bubbleMain()
	}
	cleanUpOnSignal()
	code := run(os.Args[1:], terminal())
	removeUnfinished() // where one scenario failed, others are still under way
	os.Exit(code)
}

// run is the whole program: it returns the exit status.
func run(args []string, s streams) int {
	var c cli
	exit := -1
	out := &output{Writer: s.out}
	s.out = out
	p, err := kong.New(&c, kong.Name("breakersim"), kong.Writers(s.out, s.err), kong.Exit(func(code int) { exit = code }),
		kong.Description("Replays scripted outages against real circuit breakers, draws what they do, and says why.\n\n"+
			"A SCENARIO is a file, a directory of files, the name of a built-in scenario, or - for standard input.\n"+
			"Exit status: 0 done, 1 an expectation failed, 2 wrong input or usage, 3 the run itself failed."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: s.width}), kong.Bind(s), kong.Vars{"version": "breakersim " + version(), "pictures": strings.Join(kindNames(), ", "), "breakers": strings.Join(mainBreakers(), ", "),
			"findings": strings.Join(findingNames(), ", "), "examples": strings.Join(exampleNames(), ", "), "sweeps": strings.Join(scenarios.SweepNames(), ", ")})
	if err != nil {
		fmt.Fprintln(s.err, "breakersim:", err)
		return exitRunError
	}
	kongcompletion.Register(p, kongcompletion.WithPredictor("breaker", complete.PredictSet(breakerNames()...)), kongcompletion.WithPredictor("scenario", complete.PredictOr(complete.PredictSet(scenarios.Names()...), complete.PredictFiles("*"))),
		kongcompletion.WithPredictor("markdown", complete.PredictFiles("*")), kongcompletion.WithPredictor("sweep", complete.PredictOr(complete.PredictSet(scenarios.SweepNames()...), complete.PredictFiles("*"))),
		kongcompletion.WithPredictor("builtin", complete.PredictSet(scenarios.Names()...)), kongcompletion.WithPredictor("preset", complete.PredictSet(scenarios.PresetNames()...)), kongcompletion.WithExitFunc(func(code int) { exit = code }))
	if exit >= 0 { // it was a completion
		return exit
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	ctx, err := p.Parse(args)
	switch {
	case out.err != nil: // help or version could not be printed
		return status(out.err, s.err)
	case exit >= 0: // it was
		return exit
	case err != nil:
		return status(wrong{fmt.Errorf("%w (see breakersim --help)", err)}, s.err)
	}
	return status(ctx.Run(s), s.err)
}

// output remembers that it failed, which kong takes for a fault in the usage.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// version is the module's, or "(devel)" where nobody knows.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// wrong is an error in what the user gave.
type wrong struct{ error }

func (w wrong) Unwrap() error { return w.error }

// errExpectation says that an expectation failed, which has been told already.
var errExpectation = errors.New("an expectation did not hold")

// status tells the error and turns it into the exit status.
func status(err error, w io.Writer) int {
	var faults *scenarios.Faults
	var markers docFaults
	var bad wrong
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errExpectation), errors.Is(err, errDrifted), errors.Is(err, errFindings):
		return exitFailed
	case errors.As(err, &faults), errors.As(err, &markers): // each line says where
		fmt.Fprintln(w, strings.TrimRight(err.Error(), "\n"))
		return exitWrong
	case errors.As(err, &bad):
		fmt.Fprintln(w, "breakersim:", err)
		return exitWrong
	default:
		fmt.Fprintln(w, "breakersim:", err)
		return exitRunError
	}
}
