package breakertest_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/breakersim/breakersim/sim/breakertest"
)

// TestRunFails runs it, in a process of its own, where it has to fail: it says
// what to write instead.
func TestRunFails(t *testing.T) {
	const name = "BREAKERSIM_TEST_RUN"
	switch os.Getenv(name) {
	case "unsaid":
		breakertest.Run(t, newHomemade)
		return
	case "changed":
		breakertest.Run(t, newHomemade, breakertest.Expect("T6", breakertest.No))
		return
	case "unknown":
		breakertest.Run(t, newHomemade, breakertest.Expect("T1", breakertest.No))
		return
	}
	for how, says := range map[string]string{
		"unsaid": "A vanished probe is given up when its lease ends: no: call 8 at 92 s was refused, and so was call 9 at 150 s: " +
			`the probe of call 5, which vanished at 31 s, still holds the slot. If that is meant, say breakertest.Expect("T7", breakertest.No)`,
		"changed": "one is the probe: yes, and not no as expected: of the 100 calls at 31 s one was let through, call 5",
		"unknown": `there is no rule "T1"; write one of T2, T3,`,
	} {
		child := exec.Command(os.Args[0], "-test.run=^TestRunFails$")
		child.Env = append(os.Environ(), name+"="+how)
		out, err := child.CombinedOutput()
		assert.Error(t, err, how)
		assert.Contains(t, string(out), says)
	}
}
