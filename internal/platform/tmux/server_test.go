package tmux

import (
	"os"
	"path/filepath"
	"slices"
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
	inherited := filesOf(t, os.Getpid()) // by this test, from whoever runs it
	lock := filepath.Join(s.dir, "lock")
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	rig.Must(t, err)
	defer f.Close()
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(s.wholly("tty", "ready"))})
	s.written("ready")
	for what, pid := range map[string]int{"server": pane.ServerPID, "pane": pane.PID} {
		// What becomes another program has its libraries open for a moment.
		rig.WaitFor(t, "the "+what+" holds no file open", func() (bool, string) {
			files := slices.DeleteFunc(filesOf(t, pid), func(file string) bool { return slices.Contains(inherited, file) })
			return len(files) == 0, strings.Join(files, " ")
		})
	}
}

// filesOf are the regular files that a process has open.
func filesOf(t *testing.T, pid int) (files []string) {
	t.Helper()
	folder := "/proc/" + strconv.Itoa(pid) + "/fd"
	descriptors, err := os.ReadDir(folder)
	rig.Check(t, err == nil && len(descriptors) >= 3, "%v: %v", descriptors, err)
	for _, descriptor := range descriptors {
		target, _ := os.Readlink(filepath.Join(folder, descriptor.Name()))
		if info, err := os.Stat(target); err == nil && info.Mode().IsRegular() {
			files = append(files, target)
		}
	}
	return files
}
