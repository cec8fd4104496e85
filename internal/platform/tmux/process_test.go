package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// The server may hold the pipes of a client that has ended.
func TestPipesThatAnotherHolds(t *testing.T) {
	c := clientOf(t, `echo "$$" >"$0.pid"; sleep 60 & echo $! >"$0.held"; echo said`)
	t.Cleanup(func() {
		if pid := pidIn(c.binary + ".held"); pid > 0 {
			signal(t, pid, unix.SIGKILL)
		}
	})
	rig.Gives(t, "said\n", "Screen")(c.Screen(t.Context(), "%0"))
	mustBeReaped(t, c.binary+".pid")
	rig.Must(t, unix.Kill(pidIn(c.binary+".held"), 0)) // it was not waited for
}

// What a client has printed is read whole, also where nothing has read it by the time for which that is waited.
func TestOutputThatNobodyHasRead(t *testing.T) {
	for _, said := range []string{"", "written\n", strings.Repeat("x", 60<<10)} {
		o, program, err := newOutput(outputLimit, nil)
		rig.Must(t, err)
		_, err = program.WriteString(said)
		rig.Must(t, err)
		rig.Must(t, o.pipe.SetReadDeadline(time.Now())) // as if read had no time to run
		go o.read()
		o.finish(time.Now())
		rig.Check(t, string(o.text) == said, "%d bytes of %d", len(o.text), len(said))
		rig.Must(t, program.Close())
	}
}

// A client that was interrupted is ended, and nothing is left of it.
func TestInterruptedClientIsEnded(t *testing.T) {
	c := clientOf(t, `echo "$$" >"$0.pid"; exec sleep 60`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		rig.Eventually(t, "it runs", func() bool { return pidIn(c.binary+".pid") != 0 })
		cancel()
	}()
	_, err := c.Screen(ctx, "%0")
	rig.Check(t, fail.KindOf(err) == fail.Interrupted && errors.Is(err, context.Canceled), "%v; want interrupted", err)
	mustBeReaped(t, c.binary+".pid")
}

func TestHowAClientEnded(t *testing.T) {
	for script, want := range map[string]string{
		"exit 3":              "tmux: exit status 3",
		"kill -KILL $$":       "tmux: signal: killed",
		"echo lost >&2":       "",
		"echo why >&2;exit 1": "tmux: why",
	} {
		c := clientOf(t, script)
		_, err := c.Screen(t.Context(), "%0")
		rig.Check(t, (err != nil || want == "") && (err == nil || err.Error() == want), "%q: %v; want %q", script, err, want)
	}
}

func TestProgramThatCannotBeStarted(t *testing.T) {
	c := clientOf(t, "")
	rig.Must(t, os.WriteFile(c.binary, []byte("neither script nor program"), 0o700))
	_, err := c.Screen(t.Context(), "%0")
	rig.Check(t, errors.Is(err, unix.ENOEXEC) && strings.Contains(err.Error(), c.binary), "%v", err)
}

// pidIn is the pid that a script wrote down; 0 when it did not yet.
func pidIn(file string) int {
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
	return pid
}

func mustBeReaped(t *testing.T, file string) {
	t.Helper()
	pid := pidIn(file)
	_, err := os.Stat("/proc/" + strconv.Itoa(pid))
	rig.Check(t, pid != 0 && errors.Is(err, os.ErrNotExist), "process %d: %v; want none", pid, err)
}

// A program that is not tmux may print for ever. That is known before its time is over, and does not take all memory.
func TestProgramThatPrintsForEver(t *testing.T) {
	for stream, redirect := range map[string]string{"stdout": "", "stderr": ">&2"} {
		for name, script := range map[string]string{
			"itself":    "exec yes " + redirect,
			"its child": "trap '' PIPE; yes " + redirect + "; exec sleep 60",
		} {
			t.Run(stream+" of "+name, func(t *testing.T) {
				c := clientOf(t, script)
				_, err := c.Panes(t.Context())
				rig.Check(t, fail.KindOf(err) == fail.Unfit && strings.Contains(err.Error(), "tmux printed too much") && len(fail.HintsOf(err)) == 1, "%v", err)
			})
		}
	}
}

// What a client has printed is not passed over in silence.
func TestAnswerWithoutEnd(t *testing.T) {
	var h health
	err := h.silentFor(answerLimit, 70)
	rig.Check(t, fail.KindOf(err) == fail.TimedOut && err.Error() == "tmux printed 70 bytes in 10s and did not end", "%v", err)
	err = h.silentFor(answerLimit, 0)
	rig.Check(t, fail.KindOf(err) == fail.TimedOut && err.Error() == "the tmux server was silent for 10s", "%v", err)
}

// Nothing is cut off of what is long and has an end.
func TestLongOutput(t *testing.T) {
	c := clientOf(t, "head -c 8000000 /dev/zero | tr '\\0' x; head -c 60000 /dev/zero | tr '\\0' y >&2")
	screen, err := c.Screen(t.Context(), "%0")
	rig.Check(t, err == nil && screen == strings.Repeat("x", 8_000_000), "%d bytes, %v", len(screen), err)
}

// clientOf is a client whose tmux is a script.
func clientOf(t *testing.T, script string) *Client {
	t.Helper()
	dir := t.TempDir()
	rig.WriteProgram(t, filepath.Join(dir, "tmux"), "#!/bin/sh\n"+script+"\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	c, err := New("")
	rig.Must(t, err)
	return c
}
