package dash

import (
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// What a killed dashboard leaves on a terminal, the next command there mends: the screen, the cursor, the mouse, the
// title, and how the terminal takes input.
func TestTheNextCommandMendsTheTerminal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	m.WaitState("alpha", "idle")
	d := m.sit(80, 24, m.Worker+" dash; "+m.Worker+" list; stty -a; exec cat")
	d.shows("1 agent, 1 needs you")
	m.Check(d.says("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "1 0 1", "the dashboard does not use what is to be mended")
	m.Kill(d.pid(), syscall.SIGKILL)
	d.shows("the terminal is as before", "alpha", " icanon", " echo ")
	d.isPlain()
}

// The title says how many agents need the user. With --bell the terminal rings when one begins to.
func TestTitleAndBell(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WaitState("alpha", "idle")
	d := m.sit(80, 24, m.Worker+" dash --bell; echo left with $?; exec cat")
	d.shows("1 agent, nobody needs you")
	d.waits("#{pane_title}", "nbs-worker")
	m.Check(d.says("#{window_bell_flag}") == "0", "it rang before")
	m.OK("send", "alpha", "Remember 42.")
	d.shows("1 needs you")
	d.waits("#{pane_title}", "nbs-worker: 1 needs you")
	d.waits("#{window_bell_flag}", "1")
	d.press("q")
	d.shows("left with 0")
	d.isPlain()
}

// The agents of all projects stand under the folders of these. A key acts in the project of the selected agent.
func TestAllProjects(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	m.WaitState("alpha", "idle")
	other := m.Folder("other")
	m.OK("--root", other, "spawn", "alpha", "--trust")
	m.Dir = m.Folder("elsewhere")
	d := m.sit(100, 24, m.Worker+" dash --all-projects; echo left with $?; exec cat")
	screen := d.shows("2 agents, 1 needs you", m.World.Project, other)
	m.Check(strings.Index(screen, m.World.Project) < strings.Index(screen, other), "the order of the projects:\n%s", screen)
	d.press("G", "x")
	d.shows("alpha: stop is done", "stopped")
	m.Check(strings.HasPrefix(m.OK("--root", other, "list"), "alpha\tstopped\t"), "the agent of the other project runs")
	m.Check(strings.HasPrefix(m.OK("--root", m.World.Project, "list"), "alpha\tidle\t"), "the agent of this project does not run")
	d.press("q")
	d.shows("left with 0")
}

// In the agents' own tmux server, Enter switches the client to the agent, and the dashboard stays where it is.
func TestInTheAgentsServer(t *testing.T) {
	m := standIn(t)
	for _, name := range []string{"alpha", "beta"} {
		m.OK("spawn", name)
		m.WaitState(name, "idle")
	}
	d := &desk{m, "default"}
	d.desk("new-session", "-d", "-x", "100", "-y", "24", "-c", m.Dir, "-s", "desk", m.Worker+" dash; echo left with $?; exec cat")
	cmd := exec.Command("tmux", "-u", "-L", d.server, "attach-session", "-t", "=desk")
	cmd.Env = slices.Concat(m.Env, []string{"TERM=xterm-256color"})
	c := m.Console(cmd)
	isAt := func(session string) {
		t.Helper()
		m.WaitFor("the client is at "+session, func() (bool, string) {
			at := d.desk("list-clients", "-F", "#{client_session}")
			return strings.TrimSpace(at) == session, at
		})
	}
	isAt("desk")
	d.shows("2 agents", "beta")
	d.press("j", "Enter")
	isAt("nbs-beta-live")
	c.MustShow("to go back: C-b, then L")
	c.Types("\x02L")
	isAt("desk")
	d.shows("2 agents", "beta")
	d.press("Space")
	d.shows("beta: its screen")
	d.press("q")
	d.shows("left with 0")
	d.isPlain()
}

// An agent that goes on is drawn for a narrower terminal at once: tmux shows nothing new beside a message.
func TestAttachFromANarrowTerminal(t *testing.T) {
	m := standIn(t, "resize-delay=100ms") // a program does not draw at once
	m.OK("spawn", "alpha", "--prompt", "Remember 42.")
	m.WaitState("alpha", "idle")
	d := m.sit(80, 24, m.Worker+" attach alpha; exec cat")
	screen := d.shows("Remember 42.", "to go back: ")
	m.Check(strings.Contains(screen, "/effort"), "what stands at the right edge is not there:\n%s", screen)
}
