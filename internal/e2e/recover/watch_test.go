package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// beginWatch begins a watch with a program that it tells.
// beginWatch begins a watch that tells of all but the ends of turns.
func (m *team) beginWatch() *e2e.Watcher {
	m.Helper()
	return m.beginWatchOn("waits, down, short, held, repaired, paused")
}

func (m *team) beginWatchOn(kinds string) *e2e.Watcher {
	m.Helper()
	dir := m.Folder("watch")
	path, notices := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "notices")
	m.Write(path, fmt.Sprintf("notify: {command: [%s], on: [%s]}\n", m.Program("tell", "cat >>"+notices), kinds))
	w := m.BeginWatchBy(path)
	w.Notices = notices
	return w
}

func TestWatchHealsACrash(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	w := m.beginWatch()
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	m.MustSay(w.WaitDeed("repaired", "alpha", 1).Detail, "crashed", "level 3, resume")
	w.WaitTold("alpha", "down repaired")
	m.Check(strings.TrimSpace(m.OK("send", "alpha", "What number?", "--wait-reply")) == "42", "it has forgotten")
	after := m.Session("alpha")
	m.Check(after.SessionID == before.SessionID && after.PermissionMode == before.PermissionMode, "before %+v\nafter %+v", before, after)
	m.MustSay(m.OK("events", "alpha"), "\twatch\talpha\t", "repairs it, level 3")

	m.OK("pause")
	w.WaitDeed("paused", "", 1)
	m.Kill(after.RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	m.OK("unpause")
	w.WaitDeed("repaired", "alpha", 2)
	w.WaitTold("alpha", "down repaired down repaired")
	w.Interrupt()
	m.Check(len(w.Deeds()) == 4, "%s", w.Out)
}

// Who is told that an agent waits is told what it asks.
func TestWatchTellsWhatIsAsked(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	w := m.beginWatch()
	m.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch made-here","description":"make it"}]]`)
	w.WaitTold("alpha", "waits")
	told, err := os.ReadFile(w.Notices)
	m.Must(err)
	m.MustSay(string(told), "it asks for a permission: Bash command · ", "touch made-here", "Do you want to proceed? [Yes / ")
	w.Interrupt()
}

// Each end of a turn at which no person has looked is told once.
func TestWatchTellsTheEndOfATurn(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	w := m.beginWatchOn("done")
	m.Send(0, "accepted", "alpha", "Remember 42.")
	w.WaitTold("alpha", "done")
	m.OK("screen", "alpha")
	m.Send(0, "accepted", "alpha", "What number?")
	w.WaitTold("alpha", "done done")
	told, err := os.ReadFile(w.Notices)
	m.Must(err)
	m.Check(strings.Count(string(told), `"since":"`) == 2, "told\n%s", told)
	w.Interrupt()
}

// A spent budget is told as what else an agent is short of.
func TestWatchTellsASpentBudget(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--budget", "5/week")
	m.WaitState("alpha", "idle")
	m.Costs("alpha", 7) // from before, for all that is known
	w := m.beginWatch()
	m.Costs("alpha", 12.25)
	w.WaitTold("alpha", "short")
	told, err := os.ReadFile(w.Notices)
	m.Must(err)
	m.MustSay(string(told), "its budget is spent, $5.25 of $5.00 a week")
	w.Interrupt()
}

func TestWatchAfterTheTmuxServerIsKilled(t *testing.T) {
	m := standIn(t)
	before := map[string]e2e.Session{}
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.OK("spawn", handle)
		before[handle] = m.Session(handle)
	}
	m.OK("stop", "gamma")
	w := m.beginWatch()
	m.KillServer()
	for _, handle := range []string{"alpha", "beta"} {
		w.WaitDeed("repaired", handle, 1)
		after := m.WaitState(handle, "idle")
		m.Check(after.SessionID == before[handle].SessionID && after.RecordedPID != before[handle].RecordedPID, "%+v", after)
	}
	w.Interrupt()
	m.MustBe("gamma", "stopped")
}

// A policy in the project may be an agent's.
func TestPolicyInTheProjectIsAllowedFirst(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	path := filepath.Join(m.World.Project, "policy.yaml")
	m.Write(path, "max-level: 3\n")
	c := m.Console(m.Command([]string{"allow", "--policy", path}))
	c.MustShow("allow this policy? [y/N] ")
	c.Types("y\n")
	m.Must(c.Cmd.Wait())
	m.BeginWatchBy(path).Interrupt()
	said := m.AsAgent("alpha", "nbs-worker watch", "nbs-worker pause", "nbs-worker unpause")
	m.MustSay(said[0], "only a person may watch a project", "code 8")
	m.MustSay(said[1], "to pause a project needs --may-manage", "code 8")
	m.MustSay(said[2], "to unpause a project needs --may-manage", "code 8")
}
