package dash

import (
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// person is a person at a terminal that is a client of the agents' tmux server, with a key for next.
type person struct {
	*team

	terminal *e2e.Console
}

// sitDown starts the tmux server, before the agents do, and shows a session of it.
func (m *team) sitDown(next string) *person {
	m.Helper()
	m.Tmux("-f", "/dev/null", "new-session", "-d", "-s", "person", "-c", m.Dir, "exec cat")
	m.Tmux("bind-key", "-n", "F5", "run-shell", m.Worker+" "+next+" 2>&1")
	p := &person{team: m, terminal: m.Console(m.tmuxCommand("default", "attach-session", "-t", "=person"))}
	p.isAt("person")
	return p
}

func (m *team) tmuxCommand(server string, args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", server}, args...)...)
	cmd.Dir, cmd.Env = m.Dir, m.Env
	return cmd
}

// goesOn presses the key for next.
func (p *person) goesOn() { p.terminal.Types("\x1b[15~") }

// isAt waits until the terminal shows a session.
func (p *person) isAt(session string) {
	p.Helper()
	rig.WaitFor(p, "the terminal shows "+session, func() (bool, string) {
		clients := p.Tmux("list-clients", "-F", "#{client_session}")
		return clients == session+"\n", clients + p.terminal.Seen.String()
	})
}

// spawnDone starts an agent whose turn ends.
func (m *team) spawnDone(handle string, global ...string) {
	m.Helper()
	m.OK(append(global, "spawn", handle, "--model", "sonnet", "--trust", "--prompt", "Remember 42.")...)
	m.OK(append(global, "wait", handle, "--for", "done")...)
}

// spawnAsking starts an agent that asks, and waits for its question.
func (m *team) spawnAsking(handle string, global ...string) {
	m.Helper()
	m.StartAsking(append(global, "spawn", handle, "--model", "sonnet", "--trust", "--permission-mode", "default", "--prompt", `[[tool Bash {"command":"true"}]]`)...)
	m.OK(append(global, "wait", handle, "--for", "waiting")...)
}

// One key goes to the agent that has needed the person longest, then to the next one, and comes back to what still waits.
func TestNextInsideTmux(t *testing.T) {
	m := standIn(t)
	p := m.sitDown("next")
	m.spawnDone("first")
	m.spawnAsking("second")
	m.spawnAsking("third")
	m.MustPrint("first\n", "next", "--print")
	m.MustPrint("first\n", "next", "--print") // which is no look
	var row struct{ Handle, State string }
	m.Decode(&row, "next", "--json")
	m.Check(row.Handle == "first" && row.State == "idle", "%+v", row)
	for _, handle := range []string{"first", "second", "third", "second", "third"} {
		p.goesOn()
		p.isAt("nbs-" + handle + "-live")
	}
	m.OK("stop", "second")
	m.OK("stop", "third")
	m.Refused(2, "nobody needs you", "next")
	m.Refused(2, "nobody needs you", "next", "--print")
}

// From a terminal that is no client of tmux, next attaches it. Of an agent without a terminal it says why.
func TestNextOutsideTmux(t *testing.T) {
	m := standIn(t)
	m.spawnDone("first")
	m.spawnDone("second")
	m.Refused(4, "stdout is not a terminal", "next")
	for _, handle := range []string{"first", "second"} {
		c := m.Console(m.Command([]string{"next"}))
		c.MustShow("Remember 42.")
		rig.Equal(t, m.Tmux("list-clients", "-F", "#{client_session}"), "nbs-"+handle+"-live\n", "the session of the client")
		m.Tmux("detach-client", "-s", "=nbs-"+handle+"-live")
		m.Must(c.Cmd.Wait())
	}
	m.Kill(m.Session("first").RecordedPID, syscall.SIGKILL)
	m.WaitState("first", "crashed")
	for range 2 {
		m.MustRefuse(m.OnTerminal("next"), 8, "next first: the agent does not run: crashed")
	}
}

// In a client of another server, that client leaves its server: no tmux is nested in another one.
func TestNextFromAnotherServer(t *testing.T) {
	m := standIn(t)
	m.spawnDone("first")
	cmd := m.tmuxCommand("desk", "-f", "/dev/null", "new-session", "-s", "desk", "sh")
	c := m.Console(cmd)
	m.Cleanup(func() { _ = m.tmuxCommand("desk", "kill-server").Run() })
	clients := func(server string) string {
		out, _ := m.tmuxCommand(server, "list-clients", "-F", "#{client_session}").Output()
		return string(out)
	}
	rig.WaitFor(m, "the desk is there", func() (bool, string) { return clients("desk") == "desk\n", c.Seen.String() })
	c.Types(m.Worker + " next\r")
	rig.WaitFor(m, "the client has moved", func() (bool, string) {
		return clients("default") == "nbs-first-live\n" && clients("desk") == "", c.Seen.String()
	})
	m.Tmux("detach-client", "-s", "=nbs-first-live")
	m.Must(c.Cmd.Wait())
}

// A day of ten agents in two projects: each need is seen once, the oldest first, whatever its project.
func TestADayOfNext(t *testing.T) {
	m := standIn(t)
	p := m.sitDown("next --all-projects")
	other := m.Folder("other")
	var order []string
	for n := range 10 {
		handle := "a" + strconv.Itoa(n)
		var global []string
		if n%2 == 1 {
			global = []string{"--root", other}
		}
		if n%3 == 2 {
			m.spawnAsking(handle, global...)
		} else {
			m.spawnDone(handle, global...)
		}
		order = append(order, handle)
	}
	m.MustPrint("a0\t"+m.World.Project+"\n", "next", "--all-projects", "--print")
	for _, handle := range slices.Concat(order, []string{"a2", "a5", "a8", "a2"}) {
		p.goesOn()
		p.isAt("nbs-" + handle + "-live")
	}
	for _, handle := range []string{"a2", "a8"} {
		m.OK("stop", handle)
	}
	m.OK("--root", other, "stop", "a5")
	m.Refused(2, "nobody needs you", "next", "--all-projects", "--print")
}

// An agent is not led to a terminal, also while no agent needs a person. One that may manage sees who is next.
func TestNextOfAnAgent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alice")
	m.OK("spawn", "boss", "--may-manage")
	m.WaitState("alice", "idle")
	m.WaitState("boss", "idle")
	m.MustDenyIn(m.Session("alice"), "agent alice", map[string]string{"nbs-worker next --print": "see which agent has needed a person longest"})
	m.MustDenyIn(m.Session("boss"), "agent boss", map[string]string{
		"nbs-worker next":                        "only a person may go to the terminal of an agent",
		"nbs-worker next --print --all-projects": "only a person may see the agents of all projects",
	})
}
