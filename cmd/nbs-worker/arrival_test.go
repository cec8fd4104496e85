package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// The tmux client of a verb that is killed lives on, and so does what it was asked for.
func TestStopAfterAKilledSpawnLeavesNothing(t *testing.T) {
	m := standIn(t)
	for _, verb := range []string{"stop", "dismiss"} {
		m.killedSpawn(verb, "")
		id, invocation := m.record(verb)["session_id"].(string), process(m.record(verb))["invocation"].(string)
		m.ok(verb, verb)
		on, of := claudesOn(id), carrying(invocation)
		m.check(len(on)+len(of) <= 0, "after %s: claudes %v, others %v", verb, on, of)
		panes := m.tmux("list-panes", "-a")
		m.check(!strings.Contains(panes, "%"), "after %s: %s", verb, panes)
	}
}

// A client that does not get its session is not left to get it later.
func TestStopEndsTheClientOfAKilledSpawn(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.killedSpawn("alpha", "read x <"+hold)
	if left := m.processes(); len(left) == 0 {
		t.Fatal("no client is left to be ended")
	}
	m.inTime(0, "stop", "alpha")
	m.check(len(m.processes()) == 0, "left: %v", m.processes())
	m.ok("resume", "alpha")
}

// A launcher that comes late finds that it is not wanted any more, as when its client could
// not be known as such.
func TestLauncherThatComesAfterTheStop(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.killedSpawn("alpha", m.unknownClient(`sh -c 'read x <`+hold+`; exec "$@"' sh`))
	id := m.record("alpha")["session_id"].(string)
	m.ok("stop", "alpha")
	clients := m.processes()
	m.must(os.WriteFile(hold, []byte("\n"), 0o600)) // now the session is made
	for _, client := range clients {
		m.waitDead(client.pid)
	}
	m.waitComeAndGone()
	m.check(len(claudesOn(id)) == 0, "claudes: %v", claudesOn(id))
	m.mustBe("alpha", "stopped")
	m.ok("resume", "alpha")
}

// A server that does not listen yet may have been asked for the session already.
func TestStopAwaitsTheServerOfAKilledSpawn(t *testing.T) {
	rig.Needs(t, "strace")
	m := standIn(t)
	calls := filepath.Join(t.TempDir(), "calls")
	m.killedSpawn("alpha", m.unknownClient(listensLate(calls, 300*time.Millisecond)))
	m.killWaitingClient()
	m.ok("stop", "alpha")
	text, err := os.ReadFile(calls)
	m.check(err == nil && strings.Contains(string(text), " = 0"), "the server does not listen yet: %v %s", err, text)
	panes, of := m.tmux("list-panes", "-a"), m.carrying("alpha")
	m.check(!strings.Contains(panes, "%") && len(of) == 0, "%s, %v", panes, of)
}

// A server that does not listen keeps what it was asked for until it does.
func TestStopDoesNotVouchForAServerThatDoesNotListen(t *testing.T) {
	rig.Needs(t, "strace")
	m := standIn(t)
	m.killedSpawn("alpha", m.unknownClient(listensLate(os.DevNull, 3*time.Second)))
	m.killWaitingClient()
	m.mustRefuse(m.inTime(3, "stop", "alpha"), 3, "does not listen")
	m.waitComeAndGone()
	m.ok("stop", "alpha")
}

// waitComeAndGone waits until what a server was asked for has come late and has gone, and the server with it.
func (m *team) waitComeAndGone() {
	m.Helper()
	m.waitFor("the late session has come and gone", func() (bool, string) {
		return len(m.processes()) == 0, m.tmux("list-panes", "-a")
	})
}

// Each call of tmux takes its time, and the client, or the script that it is, hears no TERM.
func TestStopOfAKilledSpawnWhereTmuxIsSlow(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]string{"a client": "", "a deaf client": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "other")
			m.killedSpawn("alpha", deaf+"read x <"+m.fifo())
			fast := m.slowTmux("before")
			begun := time.Now()
			r := m.nbs("stop", "alpha")
			m.check((r.code == 0 || r.code == 3) && time.Since(begun) <= stuckLimit, "after %s: %s", time.Since(begun), r)
			fast()
			m.ok("stop", "alpha")
			m.check(len(m.carrying("alpha")) == 0, "left: %v", m.carrying("alpha"))
		})
	}
}

// The server has the command line of the start for which it came up, and perhaps another name
// than that by which it is known.
func TestStopOfAKilledSpawnSparesTheServer(t *testing.T) {
	m := standIn(t)
	tmux, err := exec.LookPath("tmux")
	m.must(err)
	renamed := filepath.Join(m.TempDir(), "tmux-3")
	m.must(os.Symlink(tmux, renamed))
	spy := m.program("tmux", "exec "+renamed+` "$@"`)
	m.env = append(m.env, m.before(spy))
	m.ok("spawn", "alpha")
	m.ok("spawn", "beta")
	beta := m.session("beta")
	for _, pid := range []int{m.launcher("alpha"), m.session("alpha").RecordedPID} {
		m.kill(pid, syscall.SIGKILL)
		m.waitDead(pid)
	}
	m.setRecord("alpha", neverArrived) // as when its launcher found nothing to launch
	m.inTime(0, "resume", "alpha")
	m.mustBeLeftAlone("beta", beta)
}

// A command line can be anybody's.
func TestStopOfAKilledSpawnSparesWhatOnlySoundsLikeItsClient(t *testing.T) {
	rig.NeedsRoot(t)
	m := standIn(t)
	m.killedSpawn("alpha", "exit 1")
	words := []string{"sh", "-c", "cat; :", "tmux", "new-session", "@nbs_invocation", process(m.record("alpha"))["invocation"].(string)}
	for what, stranger := range map[string]*exec.Cmd{
		"another user's":     exec.Command("setpriv", slices.Concat([]string{"--reuid=65534", "--clear-groups"}, words)...),
		"in another project": exec.Command(words[0], words[1:]...),
	} {
		stranger.Dir = "/"
		m.startHeld(stranger)
		m.waitFor("it shows the words", func() (bool, string) {
			line := m.cmdline(stranger.Process.Pid)
			return line[0] == "sh", fmt.Sprint(line)
		})
		m.ok("stop", "alpha")
		m.check(!dead(stranger.Process.Pid), "%s was ended", what)
	}
}

// killedSpawn kills a spawn when it has started the tmux client that asks for its session,
// which does something else before.
func (m *team) killedSpawn(handle, before string) {
	m.Helper()
	path := m.beforeTmux(`case "$*" in *new-session*) kill -9 $PPID
` + before + `
;; esac`)
	if r := m.nbsWith([]string{path}, "spawn", handle); r.code != -1 {
		m.Fatalf("it was not killed: %s", r)
	}
}

// killWaitingClient kills a client that has said what it wants to a server that does not
// listen yet, unless it has its answer already.
func (m *team) killWaitingClient() {
	m.Helper()
	m.waitFor("the client has asked its server", func() (bool, string) {
		clients, servers := m.named("tmux: client"), m.named("tmux: server")
		if len(clients) == 1 && len(servers) == 1 {
			if stat := statFields(clients[0]); !ended(stat) && stat[statState] == "S" {
				m.kill(clients[0], syscall.SIGKILL)
				return true, ""
			}
		}
		return len(servers) == 1 && len(clients) == 0, fmt.Sprint(clients, servers)
	})
}

// listensLate is what to run tmux under, for a server that takes its time to listen. The
// calls of listen are written down.
func listensLate(calls string, late time.Duration) string {
	return fmt.Sprintf("strace -qq -f -o %s -e trace=listen -e inject=listen:delay_enter=%d", calls, late.Microseconds())
}

// neverArrived makes a record that of a start for which nobody has come forward.
func neverArrived(fields map[string]any) {
	delete(fields, "pid")
	delete(fields, "exits")
	delete(process(fields), "launcher")
	process(fields)["pid"] = 0
	process(fields)["start_ticks"] = 0
}

// fifo makes a pipe with a name, on which a script can wait for the test.
func (m *team) fifo() string {
	m.Helper()
	path := filepath.Join(m.TempDir(), "fifo")
	m.must(syscall.Mkfifo(path, 0o600))
	return path
}

// unknownClient is a line of script that runs tmux under another program, so that the command
// lines before tmux's own do not show what it is asked for.
func (m *team) unknownClient(under string) string {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.must(err)
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

// A launcher that has come forward meanwhile waits for a claude that does not leave.
func TestStopOfAStartThatArrivesMeanwhile(t *testing.T) {
	m := standIn(t, "stop-delay=4s")
	m.ok("spawn", "alpha")
	own := []int{m.launcher("alpha"), m.session("alpha").RecordedPID}
	m.setRecord("alpha", neverArrived)
	m.inTime(0, "stop", "alpha")
	for _, pid := range own {
		m.check(dead(pid), "process %d is left", pid)
	}
	m.ok("resume", "alpha")
}

// A server that is stopped keeps the client waiting, and makes the session when it goes on.
func TestStopOfAKilledSpawnInAStoppedServer(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "other")
	_, goOn := m.stopServer("other")
	m.killedSpawn("alpha", "")
	m.mustRefuse(m.inTime(3, "stop", "alpha"), 3, "is stopped")
	m.check(len(m.named("tmux: client")) == 0, "clients are left: %v", m.named("tmux: client"))
	goOn()
	m.ok("stop", "alpha")
	m.check(len(m.carrying("alpha")) == 0, "left: %v", m.carrying("alpha"))
	m.ok("resume", "alpha")
}
