package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"breakersim": main})
}

// TestScripts drives the program as a user does: testdata/script says how.
// UPDATE=1 rewrites what they expect.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"repeat":    repeat,
			"signalled": signalled,
		},
	})
}

// exits STATUS COMMAND...: the command ends with exactly this status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// signalled STATUS SIGNAL GLOB COMMAND...: the command ends with this status if
// it gets the signal once there is a file that fits. The status of what was
// killed is -1.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"HUP": syscall.SIGHUP, "INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	if neg || len(args) < 4 || signals[args[1]] == nil {
		ts.Fatalf("usage: signalled STATUS HUP|INT|TERM|KILL GLOB COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	c := exec.Command(args[3], args[4:]...)
	c.Dir = ts.Getenv("WORK")
	ts.Check(c.Start())
	defer c.Process.Kill()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(ts.MkAbs(args[2])); len(found) > 0 {
			break
		}
		if time.Since(start) > time.Minute {
			ts.Fatalf("no %s within a minute", args[2])
		}
	}
	ts.Check(c.Process.Signal(signals[args[1]]))
	_ = c.Wait()
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// repeat FILE N TEXT: makes a file of N times TEXT, which may have Go's escapes.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n)), 0o666))
}
