package life

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// A wrapper around claude that does not become it, as package managers and people write them,
// is started like claude itself.
func TestWrapperThatDoesNotExec(t *testing.T) {
	m := standIn(t)
	wrapper := filepath.Join(m.Folder("bin"), "claude")
	text := "#!/bin/sh\n" + m.Variable("NBS_CLAUDE") + " \"$@\"\ncode=$?\nexit $code\n"
	m.Must(os.WriteFile(wrapper, []byte(text), 0o700))
	m.Env = append(m.Env, "NBS_CLAUDE="+wrapper)
	begun := time.Now()
	before := m.Remembers("alpha")
	took := time.Since(begun)
	m.InTime(took, 20*time.Second)
	m.Check(before.StateSource == "registry", "%+v", before)
	m.TypeLine(before, "/clear")
	m.WaitFor("the record follows", func() (bool, string) { s := m.Session("alpha"); return s.SessionID != before.SessionID, s.SessionID })
	m.OK("resume", "alpha", "--force", "--session-id", before.SessionID, "--prompt", "What number?")
	m.MustAnswer("alpha", "42")
	m.WaitState("alpha", "idle")
	claudes := e2e.ClaudesOn(before.SessionID)
	m.OK("stop", "alpha")
	for _, pid := range claudes {
		m.Check(e2e.Dead(pid), "process %d is left", pid)
	}
	m.MustRemember("alpha", before)
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.MustRemember("alpha", before)
}
