package observe

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// A process that may have been killed right before the command gets time to end. All agents of the command share
// that time: no wait begins once the command is older.
func TestManyAgentsSettleTogether(t *testing.T) {
	t.Parallel()
	s := &Project{Machine: local.New(), Store: storeWithLive(t, "alpha", os.Getpid()), Now: time.Now, Began: time.Now()}
	const agents = 20
	var first time.Time // when the first agent was settled
	for i := range agents {
		if r, err := s.Settled(t.Context(), "alpha"); err != nil || !local.New().IsAlive(r.Process.Identity) {
			t.Fatalf("%+v, %v", r, err)
		}
		if i == 0 && time.Since(s.Began) < KillNotice {
			t.Errorf("it was said to live %s after the command was given", time.Since(s.Began))
		}
		if i == 0 {
			first = time.Now()
		}
	}
	others := time.Since(first)
	rig.Check(t, others < (agents-1)*KillNotice, "after the first, each of %d live agents was waited for: %s", agents-1, others)
}

// An agent that ends after the first look is not reported as running.
func TestAgentThatWasKilledRightBefore(t *testing.T) {
	t.Parallel()
	claude := rig.StartChild(t, exec.Command("cat"))
	s := &Project{Machine: local.New(), Store: storeWithLive(t, "alpha", claude.Process.Pid), Now: time.Now, Began: time.Now().Add(time.Hour)} // so that the test has time
	own := pidfds(t, claude.Process.Pid)                                                                                                       // the standard library has one, of a child
	settled := make(chan agent.Record, 1)
	go func() {
		r, _ := s.Settled(t.Context(), "alpha")
		settled <- r
	}()
	rig.WaitFor(t, "it is waited for", func() (bool, string) { return len(settled) > 0 || pidfds(t, claude.Process.Pid) > own, "" })
	if len(settled) > 0 {
		t.Fatal("it was not waited for")
	}
	_ = claude.Process.Kill()
	r := <-settled
	rig.Check(t, r.Process != nil && local.New().IsGone(r.Process.Identity), "%+v", r)
}

// pidfds returns how many pidfds this process has of another process.
func pidfds(t *testing.T, pid int) (n int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fdinfo/*")
	rig.Must(t, err)
	for _, fd := range fds {
		if text, _ := os.ReadFile(fd); strings.Contains(string(text), fmt.Sprintf("\nPid:\t%d\n", pid)) {
			n++
		}
	}
	return n
}

// storeWithLive returns a store with the record of an agent whose claude and launcher are the same running process.
func storeWithLive(t *testing.T, handle agent.Handle, pid int) *store.Store {
	t.Helper()
	opened, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	use(t, opened)
	t.Cleanup(func() { _ = opened.Close() })
	unlock, err := opened.LockVerb(handle, "spawn", time.Now()) // which makes the folders
	rig.Must(t, err)
	unlock()
	live, err := local.New().Identify(pid)
	rig.Must(t, err)
	now := time.Now()
	r := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: handle, SessionID: agent.NewSessionID(), ProjectRoot: opened.Project(),
			Cwd: opened.Project(), PermissionMode: agent.BypassPermissions, Restart: agent.RestartPolicy{Policy: "no"},
		},
		TmuxSession: "nbs-" + string(handle) + "-live", Desired: agent.DesiredRunning, Started: now, Created: now, PID: pid,
		Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: live, Launcher: live.Identified},
	}
	rig.Must(t, opened.Insert(t.Context(), r))
	return opened
}
