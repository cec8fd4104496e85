package life

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What verbs say that are at work beside each other. The moments are made, not hoped for.

// late runs a command that takes that long to open each file of a folder.
func (m *team) late(folder string, by time.Duration, args ...string) *exec.Cmd {
	m.Helper()
	cmd := m.Command(args)
	strace, err := exec.LookPath("strace")
	m.Must(err)
	options := []string{strace, "-f", "-qqq", "-o", "/dev/null", "-P", folder, "-e", "trace=openat", "-e", fmt.Sprintf("inject=openat:delay_enter=%d", by.Microseconds()), "--"}
	cmd.Path, cmd.Args = strace, slices.Concat(options, []string{m.Worker}, args)
	return cmd
}

// An agent that is dismissed while it is listed is no row, and nobody's failure.
func TestListBesideADismissal(t *testing.T) {
	m := standIn(t)
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.OK("spawn", handle)
		m.OK("stop", handle)
	}
	const late = time.Second
	list := m.late(m.InNbs("sessions"), late, "list", "--json")
	var stdout, stderr strings.Builder
	list.Stdout, list.Stderr = &stdout, &stderr
	m.Must(list.Start())
	m.WaitFor("it has listed the records", func() (bool, string) {
		for _, pid := range m.named("nbs-worker") {
			if hasOpen(pid, m.InNbs("sessions")) {
				return true, ""
			}
		}
		return false, ""
	})
	m.OK("dismiss", "beta")
	err := list.Wait()
	out := stdout.String()
	if err != nil || stderr.String() != "" || strings.Contains(out, "beta") || !strings.Contains(out, `"handle":"alpha"`) || !strings.Contains(out, `"handle":"gamma"`) {
		t.Errorf("%v\nstdout: %s\nstderr: %s", err, out, stderr.String())
	}
}

// A stop that comes while the agent is started waits for that, and then stops it.
func TestStopWaitsForAVerbAtWork(t *testing.T) {
	t.Parallel()
	t.Run("to its end", func(t *testing.T) {
		m := standIn(t, "start-delay=1s")
		spawn := m.Begin("spawn", "alpha")
		m.WaitClaude("alpha")
		m.OK("stop", "alpha")
		r := spawn.End()
		m.Check(r.Code == 0, "%v", r)
		m.MustSay(m.OK("list"), "alpha\tstopped\t")
	})
	t.Run("for some seconds", func(t *testing.T) {
		m := standIn(t, "start-delay=1h")
		spawn := m.Begin("spawn", "alpha", "--timeout", "10m")
		m.WaitClaude("alpha")
		begun := time.Now()
		m.Refused(5, "another command is working on this agent: spawn alpha, pid "+strconv.Itoa(spawn.Process.Pid), "stop", "alpha")
		took := time.Since(begun)
		m.Check(took >= 4*time.Second, "it took %v", took)
		m.InTime(took, 20*time.Second)
		_ = spawn.Process.Signal(os.Interrupt)
		spawn.End()
		m.OK("stop", "alpha")
	})
}

// hasOpen reports whether a process has the file open.
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
