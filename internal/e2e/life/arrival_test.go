package life

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

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// The tmux client of a verb that is killed lives on, and so does what it was asked for.
func TestStopAfterAKilledSpawnLeavesNothing(t *testing.T) {
	m := standIn(t)
	for _, verb := range []string{"stop", "dismiss"} {
		m.killedSpawn(verb, "")
		id, invocation := m.Record(verb)["session_id"].(string), e2e.Process(m.Record(verb))["invocation"].(string)
		m.OK(verb, verb)
		on, of := e2e.ClaudesOn(id), e2e.Carrying(invocation)
		m.Check(len(on)+len(of) <= 0, "after %s: claudes %v, others %v", verb, on, of)
		panes := m.Tmux("list-panes", "-a")
		m.Check(!strings.Contains(panes, "%"), "after %s: %s", verb, panes)
	}
}

// A client that does not get its session is not left to get it later.
func TestStopEndsTheClientOfAKilledSpawn(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.killedSpawn("alpha", "read x <"+hold)
	if left := m.Processes(); len(left) == 0 {
		t.Fatal("no client is left to be ended")
	}
	m.inTime(0, "stop", "alpha")
	m.Check(len(m.Processes()) == 0, "left: %v", m.Processes())
	m.OK("resume", "alpha")
}

// A launcher that comes late finds that it is not wanted any more, as when its client could
// not be known as such.
func TestLauncherThatComesAfterTheStop(t *testing.T) {
	m := standIn(t)
	hold := m.fifo()
	m.killedSpawn("alpha", m.unknownClient(`sh -c 'read x <`+hold+`; exec "$@"' sh`))
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

// A server that does not listen yet may have been asked for the session already.
func TestStopAwaitsTheServerOfAKilledSpawn(t *testing.T) {
	rig.Needs(t, "strace")
	m := standIn(t)
	calls := filepath.Join(t.TempDir(), "calls")
	m.killedSpawn("alpha", m.unknownClient(listensLate(calls, 300*time.Millisecond)))
	m.killWaitingClient()
	m.OK("stop", "alpha")
	text, err := os.ReadFile(calls)
	m.Check(err == nil && strings.Contains(string(text), " = 0"), "the server does not listen yet: %v %s", err, text)
	panes, of := m.Tmux("list-panes", "-a"), m.Carrying("alpha")
	m.Check(!strings.Contains(panes, "%") && len(of) == 0, "%s, %v", panes, of)
}

// A server that does not listen keeps what it was asked for until it does.
func TestStopDoesNotVouchForAServerThatDoesNotListen(t *testing.T) {
	rig.Needs(t, "strace")
	m := standIn(t)
	m.killedSpawn("alpha", m.unknownClient(listensLate(os.DevNull, 3*time.Second)))
	m.killWaitingClient()
	m.MustRefuse(m.inTime(3, "stop", "alpha"), 3, "does not listen")
	m.waitComeAndGone()
	m.OK("stop", "alpha")
}

// waitComeAndGone waits until what a server was asked for has come late and has gone, and the server with it.
func (m *team) waitComeAndGone() {
	m.Helper()
	m.WaitFor("the late session has come and gone", func() (bool, string) {
		return len(m.Processes()) == 0, m.Tmux("list-panes", "-a")
	})
}

// Each call of tmux takes its time, and the client, or the script that it is, hears no TERM.
func TestStopOfAKilledSpawnWhereTmuxIsSlow(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]string{"a client": "", "a deaf client": "trap '' TERM; "} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "other")
			m.killedSpawn("alpha", deaf+"read x <"+m.fifo())
			fast := m.slowTmux()
			begun := time.Now()
			r := m.NBS("stop", "alpha")
			m.Check((r.Code == 0 || r.Code == 3) && time.Since(begun) <= rig.Scaled(stuckLimit), "after %s: %s", time.Since(begun), r)
			fast()
			m.OK("stop", "alpha")
			m.Check(len(m.Carrying("alpha")) == 0, "left: %v", m.Carrying("alpha"))
		})
	}
}

// The server has the command line of the start for which it came up, and perhaps another name
// than that by which it is known.
func TestStopOfAKilledSpawnSparesTheServer(t *testing.T) {
	m := standIn(t)
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	renamed := filepath.Join(m.TempDir(), "tmux-3")
	m.Must(os.Symlink(tmux, renamed))
	spy := m.Program("tmux", "exec "+renamed+` "$@"`)
	m.Env = append(m.Env, m.Before(spy))
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	beta := m.Session("beta")
	for _, pid := range []int{m.Launcher("alpha"), m.Session("alpha").RecordedPID} {
		m.Kill(pid, syscall.SIGKILL)
		m.WaitDead(pid)
	}
	m.SetRecord("alpha", neverArrived) // as when its launcher found nothing to launch
	m.inTime(0, "resume", "alpha")
	m.MustBeLeftAlone("beta", beta)
}

// A command line can be anybody's.
func TestStopOfAKilledSpawnSparesWhatOnlySoundsLikeItsClient(t *testing.T) {
	rig.NeedsRoot(t)
	m := standIn(t)
	m.killedSpawn("alpha", "exit 1")
	words := []string{"sh", "-c", "cat; :", "tmux", "new-session", "@nbs_invocation", e2e.Process(m.Record("alpha"))["invocation"].(string)}
	for what, stranger := range map[string]*exec.Cmd{
		"another user's":     exec.Command("setpriv", slices.Concat([]string{"--reuid=65534", "--clear-groups"}, words)...),
		"in another project": exec.Command(words[0], words[1:]...),
	} {
		stranger.Dir = "/"
		m.startHeld(stranger)
		m.WaitFor("it shows the words", func() (bool, string) {
			line := m.Cmdline(stranger.Process.Pid)
			return line[0] == "sh", fmt.Sprint(line)
		})
		m.OK("stop", "alpha")
		m.Check(!e2e.Dead(stranger.Process.Pid), "%s was ended", what)
	}
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

// killWaitingClient kills a client that has said what it wants to a server that does not
// listen yet, unless it has its answer already.
func (m *team) killWaitingClient() {
	m.Helper()
	m.WaitFor("the client has asked its server", func() (bool, string) {
		clients, servers := m.named("tmux: client"), m.named("tmux: server")
		if len(clients) == 1 && len(servers) == 1 {
			if stat := e2e.StatFields(clients[0]); !e2e.Ended(stat) && stat[e2e.StatState] == "S" {
				m.Kill(clients[0], syscall.SIGKILL)
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

// unknownClient is a line of script that runs tmux under another program, so that the command
// lines before tmux's own do not show what it is asked for.
func (m *team) unknownClient(under string) string {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	return fmt.Sprintf(`printf '%%s\0' "$@" >%[1]s; exec %[2]s xargs -0 %[3]s <%[1]s`, filepath.Join(m.TempDir(), "words"), under, tmux)
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

// A launcher that has come forward meanwhile waits for a claude that does not leave.
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
	m.MustRefuse(m.inTime(3, "stop", "alpha"), 3, "is stopped")
	m.Check(len(m.named("tmux: client")) == 0, "clients are left: %v", m.named("tmux: client"))
	goOn()
	m.OK("stop", "alpha")
	m.Check(len(m.Carrying("alpha")) == 0, "left: %v", m.Carrying("alpha"))
	m.OK("resume", "alpha")
}
