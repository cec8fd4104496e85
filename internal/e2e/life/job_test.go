package life

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
)

// An agent that is the main process of a job of a scheduler: without a terminal, in a tmux server of its own.
func TestJob(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "Remember 42.")
	before := m.WaitState("alpha", "idle")
	m.OK("stop", "alpha")

	job := m.Begin("run", "alpha", "--job", "slurm/rig/nbs-alpha")
	running := m.WaitState("alpha", "idle")
	m.Check(running.SessionID == before.SessionID && running.TmuxAlive, "%+v", running)
	second := m.NBS("run", "alpha", "--job", "slurm/rig/nbs-alpha") // the first one may still be proving its start
	m.Check(second.Code == 5 && (strings.Contains(second.Stderr, "the agent runs already") || strings.Contains(second.Stderr, "another command is working on this agent")), "%v", second)

	// Its launcher is killed: the job goes on, in the same conversation.
	m.Must(unix.Kill(m.Launcher("alpha"), unix.SIGKILL))
	again := m.WaitSession("alpha", "is back", func(s e2e.Session) bool { return s.State == "idle" && s.PID != running.PID })
	m.Check(again.SessionID == before.SessionID && again.TmuxAlive, "%+v", again)

	// A scheduler asks the job to leave, and may ask each of its processes.
	m.Must(job.Process.Signal(unix.SIGTERM))
	r := job.End()
	m.Check(r.Code == 143 && strings.Contains(r.Stderr, "alpha: its launcher was killed; resuming it"), "%v", r)
	after := m.Session("alpha")
	m.Check(after.State == "stopped" && after.SessionID == before.SessionID, "%+v", after)
	left, err := os.ReadDir(m.World.TmuxDir)
	m.Must(err)
	for _, p := range m.Processes() {
		m.Check(!p.IsClaude() && !p.IsLauncher(m.Worker, "alpha"), "%v is left, in %v", p, left)
	}
}

// A stop from elsewhere ends the job well: nothing is to be started again.
func TestStoppedJob(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	job := m.Begin("run", "alpha", "--job", "slurm/rig/nbs-alpha")
	m.WaitState("alpha", "idle")
	m.OK("stop", "alpha")
	r := job.End()
	m.Check(r.Code == 0, "%v", r)
	m.Refused(4, "is not a name for a job", "run", "alpha", "--job", "a job")
}
