package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A wrapper around claude that does not become it, as package managers and people write them,
// is started like claude itself.
func TestWrapperThatDoesNotExec(t *testing.T) {
	m := standIn(t)
	wrapper := filepath.Join(m.folder("bin"), "claude")
	text := "#!/bin/sh\n" + m.variable("NBS_CLAUDE") + " \"$@\"\ncode=$?\nexit $code\n"
	m.must(os.WriteFile(wrapper, []byte(text), 0o700))
	m.env = append(m.env, "NBS_CLAUDE="+wrapper)
	begun := time.Now()
	before := m.remembers("alpha")
	took := time.Since(begun)
	m.check(took <= 20*time.Second, "the start took %s", took)
	m.check(before.StateSource == "registry", "%+v", before)
	m.typeLine(before, "/clear")
	m.waitFor("the record follows", func() (bool, string) { s := m.session("alpha"); return s.SessionID != before.SessionID, s.SessionID })
	m.ok("resume", "alpha", "--force", "--session-id", before.SessionID, "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	m.waitState("alpha", "idle")
	claudes := claudesOn(before.SessionID)
	m.ok("stop", "alpha")
	for _, pid := range claudes {
		m.check(dead(pid), "process %d is left", pid)
	}
	m.mustRemember("alpha", before)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	m.mustRemember("alpha", before)
}
