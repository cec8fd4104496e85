package tmux

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The server keeps what its first client gave it, and hands it to all panes.
func TestServerKnowsNothingOfItsCaller(t *testing.T) {
	s := newServer(t)
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(s.wholly("tty", "ready"))})
	s.written("ready") // the shell has replaced tmux
	for what, pid := range map[string]int{"server": pane.ServerPID, "pane": pane.PID} {
		for _, entry := range environ(t, pid) {
			rig.Check(t, !strings.Contains(entry, canary) && !strings.Contains(entry, "elsewhere"), "the %s has %s", what, entry)
		}
	}
	cmdline, err := os.ReadFile("/proc/" + strconv.Itoa(pane.ServerPID) + "/cmdline")
	rig.Check(t, err == nil && !strings.Contains(string(cmdline), canary), "the server's arguments: %q, %v", cmdline, err)
}

// A lock that the server inherits is held until the server ends.
func TestServerInheritsNoOpenFile(t *testing.T) {
	s := newServer(t)
	lock := filepath.Join(s.dir, "lock")
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	rig.Must(t, err)
	defer f.Close()
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(s.wholly("tty", "ready"))})
	s.written("ready")
	for what, pid := range map[string]int{"server": pane.ServerPID, "pane": pane.PID} {
		folder := "/proc/" + strconv.Itoa(pid) + "/fd"
		descriptors, err := os.ReadDir(folder)
		if err != nil || len(descriptors) < 3 {
			t.Fatalf("%v: %v", descriptors, err)
		}
		for _, descriptor := range descriptors {
			target, _ := os.Readlink(filepath.Join(folder, descriptor.Name()))
			info, err := os.Stat(target)
			rig.Check(t, err != nil || !info.Mode().IsRegular(), "the %s holds %s open", what, target)
		}
	}
}
