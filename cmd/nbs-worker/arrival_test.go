package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The tmux client of a verb that is killed lives on, and so does what it was asked for.
func TestStopAfterAKilledSpawnLeavesNothing(t *testing.T) {
	m := standIn(t)
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID;; esac`)
	for _, verb := range []string{"stop", "dismiss"} {
		if r := m.nbsWith([]string{path}, "spawn", verb); r.code != -1 {
			t.Fatalf("it was not killed: %s", r)
		}
		id, invocation := m.record(verb)["session_id"].(string), process(m.record(verb))["invocation"].(string)
		m.ok(verb, verb)
		if on, of := claudesOn(id), carrying(invocation); len(on)+len(of) > 0 {
			t.Errorf("after %s: claudes %v, others %v", verb, on, of)
		}
		if panes := m.tmux("list-panes", "-a"); strings.Contains(panes, "%") {
			t.Errorf("after %s: %s", verb, panes)
		}
	}
}

// A client that does not get its session is not left to get it later.
func TestStopEndsTheClientOfAKilledSpawn(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID; read x <` + hold + `;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", "alpha"); r.code != -1 {
		t.Fatalf("it was not killed: %s", r)
	}
	if left := m.processes(); len(left) == 0 {
		t.Fatal("no client is left to be ended")
	}
	m.inTime(0, "stop", "alpha")
	if left := m.processes(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	m.ok("resume", "alpha")
}

// A launcher that comes late finds that it is not wanted any more, as when its client could
// not be known as such.
func TestLauncherThatComesAfterTheStop(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID; ` + m.unknownClient(`sh -c 'read x <`+hold+`; exec "$@"' sh`) + `;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", "alpha"); r.code != -1 {
		t.Fatalf("it was not killed: %s", r)
	}
	id := m.record("alpha")["session_id"].(string)
	m.ok("stop", "alpha")
	clients := m.processes()
	if err := os.WriteFile(hold, []byte("\n"), 0o600); err != nil { // now the session is made
		t.Fatal(err)
	}
	for _, client := range clients {
		m.waitDead(client.pid)
	}
	m.waitFor("the late session has come and gone", func() (bool, string) {
		return len(m.processes()) == 0, m.tmux("list-panes", "-a")
	})
	if on := claudesOn(id); len(on) > 0 {
		t.Errorf("claudes: %v", on)
	}
	if s := m.session("alpha"); s.Cause != "stopped" {
		t.Errorf("%+v", s)
	}
	m.ok("resume", "alpha")
}

// A server that does not listen yet may have been asked for the session already.
func TestStopAwaitsTheServerOfAKilledSpawn(t *testing.T) {
	rig.Needs(t, "strace")
	m := standIn(t)
	calls := filepath.Join(t.TempDir(), "calls")
	slowly := "strace -qq -f -o " + calls + " -e trace=listen -e inject=listen:delay_enter=700000"
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID; ` + m.unknownClient(slowly) + `;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", "alpha"); r.code != -1 {
		t.Fatalf("it was not killed: %s", r)
	}
	m.waitFor("the client has asked its server", func() (bool, string) {
		client, server := m.named("tmux: client"), m.named("tmux: server")
		if len(client) == 1 && len(server) == 1 && statFields(client[0])[statState] == "S" {
			m.kill(client[0], syscall.SIGKILL)
			return true, ""
		}
		return false, fmt.Sprint(client, server)
	})
	m.ok("stop", "alpha")
	if text, err := os.ReadFile(calls); err != nil || !strings.Contains(string(text), " = 0") {
		t.Errorf("the server does not listen yet: %v %s", err, text)
	}
	if panes, of := m.tmux("list-panes", "-a"), m.carrying("alpha"); strings.Contains(panes, "%") || len(of) > 0 {
		t.Errorf("%s, %v", panes, of)
	}
}

// fifo makes a pipe with a name, on which a script can wait for the test.
func (m *team) fifo() string {
	m.Helper()
	path := filepath.Join(m.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		m.Fatal(err)
	}
	return path
}

// unknownClient is a line of script that runs tmux under another program, so that the command
// lines before tmux's own do not show what it is asked for.
func (m *team) unknownClient(under string) string {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		m.Fatal(err)
	}
	return fmt.Sprintf(`printf '%%s\0' "$@" >%[1]s; exec %[2]s xargs -0 %[3]s <%[1]s`, filepath.Join(m.TempDir(), "words"), under, tmux)
}

// named lists the processes of the team's world that have a name.
func (m *team) named(name string) []int {
	m.Helper()
	var pids []int
	for _, p := range m.processes() {
		if p.name == name {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// A server that is stopped keeps the client waiting, and makes the session when it goes on.
func TestStopOfAKilledSpawnInAStoppedServer(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "other")
	_, goOn := m.stopServer("other")
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", "alpha"); r.code != -1 {
		t.Fatalf("it was not killed: %s", r)
	}
	m.mustRefuse(m.inTime(3, "stop", "alpha"), 3, "is stopped")
	if clients := m.named("tmux: client"); len(clients) > 0 {
		t.Errorf("clients are left: %v", clients)
	}
	goOn()
	m.ok("stop", "alpha")
	if of := m.carrying("alpha"); len(of) > 0 {
		t.Errorf("left: %v", of)
	}
	m.ok("resume", "alpha")
}
