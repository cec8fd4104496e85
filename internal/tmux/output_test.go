package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

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
