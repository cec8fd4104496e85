package life

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// The tmux client of a verb that is killed lives on, and so does what it was asked for.
func TestStopAfterAKilledSpawnLeavesNothing(t *testing.T) {
	m := standIn(t)
	for _, verb := range []string{"stop", "dismiss"} {
		m.killedSpawn(verb, "")
		id, invocation := m.Record(verb)["session_id"].(string), e2e.Process(m.Record(verb))["invocation"].(string)
		m.OK(verb, verb)
		on := e2e.ClaudesOn(id)
		m.Check(len(on) == 0, "after %s: claudes %v", verb, on)
		m.waitComeAndGone() // the launcher, if the server starts it after the verb has looked
		on, of := e2e.ClaudesOn(id), e2e.Carrying(invocation)
		m.Check(len(on)+len(of) == 0, "later after %s: claudes %v, others %v", verb, on, of)
	}
}

// A launcher that comes late finds that it is not wanted any more.
func TestLauncherThatComesAfterTheStop(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.killedSpawn("alpha", "read x <"+hold)
	id := m.Record("alpha")["session_id"].(string)
	m.OK("stop", "alpha")
	clients := m.Processes()
	m.Must(os.WriteFile(hold, []byte("\n"), 0o600)) // now the session is made
	for _, client := range clients {
		m.WaitDead(client.PID)
	}
	m.waitComeAndGone()
	m.Check(len(e2e.ClaudesOn(id)) == 0, "claudes: %v", e2e.ClaudesOn(id))
	m.MustBe("alpha", "stopped")
	m.OK("resume", "alpha")
}

// waitComeAndGone waits until what a server was asked for has come late and has gone, and the server with it.
func (m *team) waitComeAndGone() {
	m.Helper()
	m.WaitFor("the late session has come and gone", func() (bool, string) {
		return len(m.Processes()) == 0, m.Tmux("list-panes", "-a")
	})
}

// killedSpawn kills a spawn when it has started the tmux client that asks for its session,
// which does something else before.
func (m *team) killedSpawn(handle, before string) {
	m.Helper()
	path := m.BeforeTmux(`case "$*" in *new-session*) kill -9 $PPID
` + before + `
;; esac`)
	if r := m.NBSWith([]string{path}, "spawn", handle); r.Code != -1 {
		m.Fatalf("it was not killed: %s", r)
	}
}

// neverArrived makes a record that of a start for which nobody has come forward.
func neverArrived(fields map[string]any) {
	delete(fields, "pid")
	delete(fields, "exits")
	delete(e2e.Process(fields), "launcher")
	e2e.Process(fields)["pid"] = 0
	e2e.Process(fields)["start_ticks"] = 0
}

// fifo makes a pipe with a name, on which a script can wait for the test.
func (m *team) fifo() string {
	m.Helper()
	path := filepath.Join(m.TempDir(), "fifo")
	m.Must(syscall.Mkfifo(path, 0o600))
	return path
}

// named lists the processes of the team's world that have a name.
func (m *team) named(name string) []int {
	m.Helper()
	var pids []int
	for _, p := range m.Processes() {
		if p.Name == name {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// A launcher that has come forward meanwhile is ended with its claude, which does not leave.
func TestStopOfAStartThatArrivesMeanwhile(t *testing.T) {
	m := standIn(t, "stop-delay=2s")
	m.OK("spawn", "alpha")
	own := []int{m.Launcher("alpha"), m.Session("alpha").RecordedPID}
	m.SetRecord("alpha", neverArrived)
	m.inTime(0, "stop", "alpha")
	for _, pid := range own {
		m.Check(e2e.Dead(pid), "process %d is left", pid)
	}
	m.OK("resume", "alpha")
}

// A server that is stopped keeps the client waiting, and makes the session when it goes on.
func TestStopOfAKilledSpawnInAStoppedServer(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "other")
	_, goOn := m.StopServer("other")
	m.killedSpawn("alpha", "")
	m.inTime(0, "stop", "alpha")
	goOn()
	m.WaitFor("its launcher has come and gone", func() (bool, string) {
		return !strings.Contains(m.Tmux("list-sessions"), "alpha") && len(m.named("tmux: client")) == 0, m.Tmux("list-sessions")
	})
	m.MustBe("alpha", "stopped")
	m.OK("resume", "alpha")
}
