package security

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// A record that claims somebody else's process or tmux server: whoever wrote it, the
// stranger is neither ended nor taken for the agent.

// claim makes a record name a process, with all that identifies it.
func (m *team) claim(handle string, pid int, ticks uint64, launcherToo bool) {
	m.Helper()
	m.SetRecord(handle, func(fields map[string]any) {
		e2e.Forge(fields, pid, ticks)
		if launcherToo {
			e2e.Process(fields)["launcher"] = map[string]any{"pid": pid, "start_ticks": ticks}
		}
		delete(fields, "exits")
	})
}

// verbsThatEnd may send signals.
var verbsThatEnd = [][]string{{"stop", "alpha"}, {"resume", "alpha", "--force"}, {"dismiss", "alpha"}}

func TestRecordThatClaimsAStrangerEndsNobody(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	whole := m.RecordText("alpha")
	stranger, child := m.Sleeper()
	for _, launcherToo := range []bool{false, true} {
		for _, args := range verbsThatEnd {
			m.WriteRecord("alpha", whole)
			m.claim("alpha", stranger, m.StartTicks(stranger), launcherToo)
			m.Refused(5, "it does not have the mark of the start", args...)
			if e2e.Dead(stranger) || e2e.Dead(child) {
				t.Fatalf("%q ended the stranger (%t) or its child (%t)", args, e2e.Dead(stranger), e2e.Dead(child))
			}
		}
	}
	s := m.Session("alpha")
	m.Check(len(s.Drift) != 0 && s.Drift[len(s.Drift)-1].Field == "invocation", "session does not say that the process is a stranger: %+v", s)
}

// A pid alone, or with the start of another process, is nobody's name.
func TestRecordThatClaimsAPIDEndsNobody(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	whole := m.RecordText("alpha")
	stranger, child := m.Sleeper()
	for _, pid := range []int{os.Getpid(), os.Getppid(), stranger, -1, -stranger, 0, 1 << 30} {
		m.WriteRecord("alpha", whole)
		m.claim("alpha", pid, 1, true)
		s := m.Session("alpha")
		m.Check(s.PID == 0 && !s.Running, "pid %d counts as the agent: %+v", pid, s)
		m.OK("stop", "alpha")
		if e2e.Dead(stranger) || e2e.Dead(child) {
			t.Fatalf("stop of pid %d ended a stranger", pid)
		}
	}
	m.WriteRecord("alpha", whole)
	m.claim("alpha", 1, 1, true)
	for _, verb := range []string{"session", "stop", "resume", "dismiss"} {
		m.Refused(4, "pid 1 cannot belong to an agent", verb, "alpha")
	}
}

// A claude that runs in another environment is known by its launcher.
func TestClaudeWithoutItsMarkIsEndedAllTheSame(t *testing.T) {
	m := standIn(t)
	claude := m.Variable("NBS_CLAUDE")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script(`exec env -u NBS_INVOCATION_ID `+claude+` "$@"`))
	m.OK("spawn", "alpha")
	s := m.Session("alpha")
	if _, marked := m.Environ(s.RecordedPID)["NBS_INVOCATION_ID"]; marked || len(s.Drift) != 0 {
		t.Fatalf("marked %t, %+v", marked, s)
	}
	m.OK("stop", "alpha")
	m.OK("resume", "alpha")
	m.OK("dismiss", "alpha")
	m.Check(e2e.Dead(s.RecordedPID), "claude was left running")
}

// A record that names another tmux server, on which others work.
func TestRecordThatClaimsAnotherTmuxServer(t *testing.T) {
	m := standIn(t)
	m.OK("--tmux-socket", "first", "spawn", "alpha")
	m.KeepServer()
	m.Tmux("rename-session", "-t", "=somebody", "nbs-alpha-live")
	path := strings.TrimSpace(m.Tmux("display-message", "-p", "#{socket_path}"))
	server := m.ServerPID()
	s := m.Session("alpha")
	m.SetRecord("alpha", func(fields map[string]any) {
		e2e.Process(fields)["tmux"] = map[string]any{"socket": "default", "path": path, "server_pid": server, "server_start_ticks": m.StartTicks(server)}
	})
	for _, args := range [][]string{{"session", "alpha"}, {"list"}, {"stop", "alpha"}, {"resume", "alpha"}, {"dismiss", "alpha"}} {
		m.OK(args...)
	}
	m.Check(e2e.Dead(s.RecordedPID), "the agent itself was left running")
	sessions := m.SessionNames()
	m.Check(sessions == "nbs-alpha-live\n" && !e2e.Dead(server), "sessions left on the other server: %q", sessions)
}

// An agent of a copied or moved project works on the project where it is now.
func TestRecordThatClaimsAnotherProject(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	m.SetRecord("alpha", func(fields map[string]any) { fields["project_root"] = m.World.Home })
	m.Allow("alpha")
	m.OK("resume", "alpha")
	root := m.Environ(m.Session("alpha").RecordedPID)["NBS_ROOT"]
	m.Check(root == m.World.Project, "NBS_ROOT is %q", root)
	m.Check(!e2e.Exists(filepath.Join(m.World.Home, ".nbs")), "the other project was written to")
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
}

// The seal does not cover the process that a record names. What is said to an agent whose record names the process of
// another agent reaches neither, and no key is pressed there.
func TestSecurityRecordThatClaimsAnAgentSpeaksForNobody(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WaitState("alpha", "idle")
	m.OK("spawn", "zed")
	m.OK("stop", "zed")
	alpha, pid := m.Record("alpha"), m.Session("alpha").RecordedPID
	var live struct {
		StartedAt int64 `json:"startedAt"`
	}
	entry := e2e.Read(t, filepath.Join(m.World.ConfigDir, "sessions", strconv.Itoa(pid)+".json"))
	m.Must(json.Unmarshal([]byte(entry), &live))
	const others = "belongs to another agent or project; nothing was typed"
	for what, forge := range map[string]func(process map[string]any){
		"copied":  func(map[string]any) {},
		"wrapped": func(p map[string]any) { p["wrapped"] = map[string]any{"pid": 1 << 30, "start_ticks": 1} },
		"adopted": func(p map[string]any) {
			pane := strings.TrimSpace(m.Tmux("display-message", "-p", "-t", "=nbs-alpha-live:", "#{pane_id}"))
			p["adopted"] = map[string]any{"at": "2026-02-20T11:44:07Z", "registered_ms": live.StartedAt, "pane": pane}
		},
	} {
		m.SetRecord("zed", func(fields map[string]any) {
			for _, name := range []string{"pid", "tmux_session", "desired"} {
				fields[name] = alpha[name]
			}
			fields["started"] = "2026-02-20T11:44:07Z" // so it does not count as starting
			process := maps.Clone(e2e.Process(alpha))
			forge(process)
			fields["process"] = process
			delete(fields, "exits")
		})
		t.Log(what)
		m.Refused(5, others, "send", "zed", "for zed alone")
		m.Refused(5, others, "ask", "@zed", "for zed alone")
	}
	m.OK("send", "zed", "for zed alone", "--queue")
	m.MustSay(m.OK("outbox", "list"), "for zed alone") // where it waits
	m.OK("send", "alpha", "[[delay 1h]] for alpha")
	m.WaitState("alpha", "busy")
	m.Refused(5, others, "interrupt", "zed")
	logs := m.OK("logs", "alpha")
	m.Check(strings.Contains(logs, "for alpha") && !strings.Contains(logs, "for zed"), "alpha was told:\n%s", logs)
}
