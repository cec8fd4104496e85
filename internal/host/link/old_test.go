package link

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// playOld is a host with a program from before there were limits. It knows no word of what it is asked.
func playOld() {
	fmt.Println(greeting)
	out := writer{to: os.Stdout}
	_ = out.sendJSON(hello, 0, hi{Protocol: Protocol, Version: "0.9"})
	for in := bufio.NewReader(os.Stdin); ; {
		f, err := readFrame(in)
		if err != nil {
			return
		}
		if f.kind == ask {
			_ = out.sendJSON(ended, f.stream, answer{Code: int(fail.BadInput)})
		}
	}
}

// An older program is not asked to start something within limits that it may not know. It does what else it is asked for, and
// says what became of a start that was asked for before.
func TestAnOlderProgramThatKeepsNoLimits(t *testing.T) {
	t.Parallel()
	f := newFar(t)
	f.become("old")
	f.Link.Host.Limits = agent.Room{Running: 1}
	streams := Streams{Out: io.Discard, Err: io.Discard}
	spawn := f.request(true, "spawn", "alice")
	spawn.Starts = true
	_, err := f.Run(t.Context(), spawn, streams)
	rig.Check(t, fail.KindOf(err) == fail.Unfit && err.Error() == "build1 has nbs-worker 0.9, which does not say that it keeps its limits of hosts.yaml", "%v", err)
	rig.Equal(t, len(fail.HintsOf(err)), 1, "hints")
	for _, keep := range []bool{true, false} {
		code, err := f.Run(t.Context(), f.request(keep, "stop", "alice"), streams)
		rig.Check(t, err == nil && code == int(fail.BadInput), "what starts nothing: keep %t: %d, %v", keep, code, err)
	}
	rig.Equal(t, f.Version(), "0.9", "its version")

	f = newFar(t)
	f.Link.Host.Limits = agent.Room{Running: 1}
	begun := f.request(true, "two-parts")
	begun.Starts = true
	code, err := f.Run(t.Context(), begun, Streams{Out: &said{at: "first\n", then: func() { f.become("old"); f.cut() }}, Err: io.Discard})
	rig.Check(t, err == nil && code == int(fail.BadInput), "what the older program says of it: %d, %v", code, err)
	f.open()
	rig.Eventually(t, "the command has ended", func() bool {
		ends, _ := filepath.Glob(filepath.Join(f.state, "nbs-worker", "jobs", "*", "end.json"))
		return len(ends) == 1
	})
}
