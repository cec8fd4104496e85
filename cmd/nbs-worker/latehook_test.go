package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gofrs/flock"
)

// A hook of the last start that comes to its turn when the next one runs neither wipes out
// what the next one has said, nor leads its record into a conversation that it is not in.
func TestHookThatIsLateLeavesTheNextStartAlone(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha")
	m.waitReport("alpha", "the end of the turn", func(r report) bool { return r.Activity.Hook == "Stop" })
	old := m.report("alpha")
	lock := flock.New(m.inNbs("locks", "alpha.status"))
	if err := lock.Lock(); err != nil {
		t.Fatal(err)
	}
	late := m.command([]string{"hook"}, "NBS_HANDLE=alpha", "NBS_ROOT="+m.world.Project, "NBS_INVOCATION_ID="+old.Invocation)
	late.Stdin = strings.NewReader(`{"session_id":"5f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11","hook_event_name":"UserPromptSubmit"}`)
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	m.waitFor("the hook waits for its turn", func() (bool, string) {
		return hasOpen(late.Process.Pid, lock.Path()), ""
	})
	const next = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"
	for _, file := range []string{m.inNbs("sessions", "alpha.json"), m.inNbs("status", "alpha.json")} {
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old.Invocation, next)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := late.Wait(); err != nil {
		t.Error(err)
	}
	if r := m.report("alpha"); r.Invocation != next || r.Activity.Hook != "Stop" {
		t.Errorf("it wrote over the report of the next start: %+v", r)
	}
	if r := m.record("alpha"); r["session_id"] != old.SessionID {
		t.Errorf("it led the next start's record away: %v", r)
	}
}

// hasOpen tells whether a process has the file open.
func hasOpen(pid int, path string) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if at, _ := os.Readlink(filepath.Join(dir, entry.Name())); at == path {
			return true
		}
	}
	return false
}
