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

	"nbs-worker/internal/agent"
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
	begun := time.Now()
	rig.Gives(t, "said\n", "Screen")(c.Screen(t.Context(), "%0"))
	took := time.Since(begun)
	rig.Check(t, took >= pipeDelay && took <= pipeDelay+time.Second, "it took %s", took)
	mustBeReaped(t, c.binary+".pid")
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
	rig.Check(t, agent.KindOf(err) == agent.Interrupted && errors.Is(err, context.Canceled), "%v; want interrupted", err)
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

// Of the client that tells the limit of open files nothing else is wanted: it does not end by itself here.
func TestLimitIsKnownBeforeTheClientEnds(t *testing.T) {
	c := clientOf(t, `read -r _ <"$0.never"`)
	rig.Must(t, unix.Mkfifo(c.binary+".never", 0o600))
	rig.Check(t, c.OpenFiles(t.Context()) != 0, "no limit")
	threads, err := filepath.Glob("/proc/self/task/*/children")
	rig.Must(t, err)
	for _, thread := range threads {
		children, _ := os.ReadFile(thread) // none, of a thread that has just ended
		rig.Check(t, len(children) == 0, "it is still there: %s", children)
	}
}

// A program that is not tmux may print for ever: that takes neither the time nor the
// memory that there is.
func TestProgramThatPrintsForEver(t *testing.T) {
	for stream, redirect := range map[string]string{"stdout": "", "stderr": ">&2"} {
		for name, script := range map[string]string{
			"itself":    "exec yes " + redirect,
			"its child": "trap '' PIPE; yes " + redirect + "; exec sleep 60",
		} {
			t.Run(stream+" of "+name, func(t *testing.T) {
				c := clientOf(t, script)
				begun := time.Now()
				_, err := c.Panes(t.Context())
				rig.Check(t, agent.KindOf(err) == agent.Unfit && strings.Contains(err.Error(), "tmux printed without end") && len(agent.HintsOf(err)) == 1, "%v", err)
				took := time.Since(begun)
				rig.Check(t, took <= 2*time.Second, "it took %s", took)
			})
		}
	}
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
	rig.Must(t, os.WriteFile(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	c, err := New("")
	rig.Must(t, err)
	return c
}
