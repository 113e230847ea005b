package main

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/breakersim/breakersim/machine"
	"github.com/breakersim/breakersim/machine/foreign"
	"github.com/breakersim/breakersim/scenarios"
	"github.com/breakersim/breakersim/sim/breakertest"
	"github.com/breakersim/breakersim/sim/replay"
	"github.com/breakersim/breakersim/sim/trace"
)

// Breakers that are not ours read the clock, and run only where it can be
// moved: in a bubble, which only a test can make. So the program starts itself
// anew as one, and gets the trace over a pipe. A library that brings its process
// down brings down no other.

// bubbleVariable in the environment has the program play jobs in bubbles.
const bubbleVariable = "BREAKERSIM_BUBBLE"

// bubbleJob is what is to be played in a bubble.
type bubbleJob struct {
	File    string
	Source  []byte
	Limits  scenarios.Limits
	Policy  string
	Breaker string // the row of the table of libraries
	Rules   bool   // it is held against the rules instead, and Breaker may be ours
}

// news is one message of the child: an event, what came of a rule, or how it all
// ended.
type news struct {
	Run    []byte // of the first event, as a line of a trace: its pointers would be lost
	Event  *trace.Event
	Found  *ruleNews
	Over   bool
	Error  string // of a run that is over
	Cannot bool   // it is a replay.ErrCannot
}

// abroad is a child process that plays jobs, one after another. It starts with
// the first one, and anew after a job that brought it down. The zero value is
// ready.
type abroad struct {
	child *exec.Cmd
	in    io.WriteCloser
	jobs  *gob.Encoder
	news  *gob.Decoder
	said  bytes.Buffer
}

// abroadError is what went wrong with a job in the child: it is about the job's
// breaker alone. Everything else is an error of ours.
type abroadError struct {
	text   string
	cannot bool
}

func (e abroadError) Error() string { return e.text }

// Unwrap is replay.ErrCannot where that came over the pipe.
func (e abroadError) Unwrap() error {
	if e.cannot {
		return replay.ErrCannot
	}
	return nil
}

// start starts the child, unless there is one.
func (a *abroad) start() error {
	if a.child != nil {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	a.said.Reset()
	child := &exec.Cmd{Path: program, Args: []string{"breakersim"}, Env: append(os.Environ(), bubbleVariable+"=1"), Stderr: &a.said}
	in, inErr := child.StdinPipe()
	out, outErr := child.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	a.child, a.in = child, in
	a.jobs, a.news = gob.NewEncoder(in), gob.NewDecoder(bufio.NewReaderSize(out, 1<<20))
	return nil
}

// play plays the job in the child.
func (a *abroad) play(j *bubbleJob, sinks ...trace.Sink) error {
	if err := a.start(); err != nil {
		return err
	}
	_ = a.jobs.Encode(j) // if nobody reads it, nobody answers
	over, err := listen(a.news, sinks)
	if over {
		return err
	}
	_ = a.child.Process.Kill() // it may have ended by itself
	ended := a.close()
	if err == nil {
		err = abroadError{text: fmt.Sprintf("%s brought its process down: %v: %s", j.Breaker, ended, firstLine(a.said.Bytes()))}
	}
	return err
}

// close ends the child, and says how it did.
func (a *abroad) close() error {
	if a.child == nil {
		return nil
	}
	a.in.Close()
	ended := a.child.Wait()
	a.child = nil
	return ended
}

// listen hands on what the child tells of one job, and says whether it came to
// that job's end.
func listen(messages *gob.Decoder, sinks []trace.Sink) (over bool, err error) {
	for {
		var n news
		if err := messages.Decode(&n); err != nil {
			return false, nil // how the child ended says more
		}
		switch {
		case n.Over && n.Error != "":
			return true, abroadError{n.Error, n.Cannot}
		case n.Over:
			return true, nil
		case n.Found != nil:
			if err := tellFound(n.Found, sinks); err != nil {
				return false, err
			}
			continue
		}
		e := n.Event
		if n.Run != nil {
			first, err := trace.NewReader(bytes.NewReader(n.Run)).Next()
			if err != nil {
				return false, err
			}
			e = &first
		}
		for _, s := range sinks {
			if err := s.Event(e); err != nil {
				return false, err
			}
		}
	}
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return line
}

// bubbleMain is the child: it plays the jobs that it reads, and tells of each.
func bubbleMain() {
	os.Args = os.Args[:1] // the test framework reads flags
	testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "bubble", F: func(t *testing.T) {
		if err := serveBubble(t, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitRunError)
		}
		os.Exit(exitDone) // before the framework prints its verdict
	}}}, nil, nil)
}

func serveBubble(t *testing.T, in io.Reader, out io.Writer) error {
	jobs, w := gob.NewDecoder(in), bufio.NewWriterSize(out, 1<<20)
	tell := &teller{messages: gob.NewEncoder(w)}
	for {
		var j bubbleJob
		switch err := jobs.Decode(&j); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		last := news{Over: true}
		if err := j.play(t, tell); err != nil {
			last.Error, last.Cannot = err.Error(), errors.Is(err, replay.ErrCannot)
		}
		if err := errors.Join(tell.messages.Encode(&last), w.Flush()); err != nil {
			return err
		}
	}
}

// play plays the job here, where a bubble can be made.
func (j *bubbleJob) play(t *testing.T, sinks ...trace.Sink) error {
	if j.Rules {
		return j.checkRules(t, sinks)
	}
	s, err := scenarios.Load(j.File, j.Source, j.Limits)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(s.Policies, func(p scenarios.Policy) bool { return p.Name == j.Policy })
	if i < 0 {
		return fmt.Errorf("%s: there is no policy %q", j.File, j.Policy)
	}
	l, err := foreign.Lookup(j.Breaker)
	if err != nil {
		return err
	}
	return breakertest.Play(t, s, &s.Policies[i], others(&l), sinks...)
}

// others has the library's breakers stand in for ours.
func others(l *foreign.Library) replay.Others {
	_, leased := strings.CutSuffix(l.Name, foreign.WithLease)
	return replay.Others{By: l.Name + " " + l.Version, Leased: leased, Anonymous: l.Anonymous, New: func(_ string, s machine.ToolSettings, _ machine.Hooks) (replay.Port, error) {
		return l.New(plainSettings(&s)), nil
	}}
}

// plainSettings are ours as foreign takes them.
func plainSettings(s *machine.ToolSettings) foreign.Settings {
	return foreign.Settings{FailureThreshold: s.FailureThreshold, RecoveryDuration: s.RecoveryDuration, ProbeTimeout: s.ProbeTimeout, IgnoreStale: s.IgnoreStale}
}

// teller is a sink that tells the parent.
type teller struct{ messages *gob.Encoder }

func (t *teller) Event(e *trace.Event) error {
	if e.Run == nil {
		return t.messages.Encode(&news{Event: e})
	}
	var line bytes.Buffer
	w := trace.NewWriter(&line)
	if err := errors.Join(w.Event(e), w.Flush()); err != nil {
		return err
	}
	return t.messages.Encode(&news{Run: line.Bytes()})
}
