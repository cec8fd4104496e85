package life

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// An agent that runs in a person's own terminal, and the ways to and from it.

// Where there is no tmux, a first start is possible in this terminal, and is no dead end.
func TestSpawnWithoutTmux(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "PATH="+m.PathWithout("tmux"))
	r := m.Refused(6, "spawn alpha: tmux is not installed", "spawn", "alpha")
	const way = "or run the agent in this terminal: nbs-worker spawn alpha --foreground"
	m.Check(strings.Contains(r.Stderr, way) && !strings.Contains(r.Stderr, "nbs-worker run"), "%v", r)

	c := m.Console(m.Command([]string{"spawn", "alpha", "Remember 42.", "--foreground", "--model", "sonnet"}))
	c.MustShow("Remember 42.") // what claude draws of its answer comes in pieces
	before := m.WaitState("alpha", "idle")
	m.MustBeWritten(before.SessionID, "OK, I will remember 42.")
	m.Check(!before.TmuxAlive && before.Model == "sonnet" && before.Desired == "running", "%+v", before)
	m.OK("stop", "alpha")
	if err := c.Cmd.Wait(); c.Cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("the launcher ended with %v, %v", c.Cmd.ProcessState, err)
	}
	r = m.Refused(6, "resume alpha: tmux is not installed", "resume", "alpha")
	m.Check(strings.Contains(r.Stderr, "or run the agent in this terminal: nbs-worker run alpha"), "%v", r)
}

// resume and attach say where an agent is that runs in a terminal, and not each other's name.
func TestAgentInAPlainTerminal(t *testing.T) {
	m := standIn(t)
	c := m.Console(m.Command([]string{"spawn", "alpha", "--foreground"}))
	m.WaitFor("it is recorded", func() (bool, string) { r := m.NBS("session", "alpha"); return r.Code == 0, r.String() })
	m.WaitState("alpha", "idle")
	device, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", c.Cmd.Process.Pid))
	m.Must(err)
	terminal := "it runs in the terminal " + strings.TrimPrefix(device, "/dev/")
	attach := m.OnTerminal("attach", "alpha")
	m.Check(attach.Code == 5 && strings.Contains(attach.Stderr, terminal) && strings.Contains(attach.Stderr, "nbs-worker resume alpha --force"), "attach: %s", attach)
	resume := m.Refused(5, "the agent runs already", "resume", "alpha")
	m.Check(strings.Contains(resume.Stderr, terminal) && !strings.Contains(resume.Stderr, "attach"), "resume: %s", resume)
	// The way out that both name.
	m.OK("resume", "alpha", "--force")
	s := m.Session("alpha")
	m.Check(s.TmuxAlive, "%+v", s)
}

// A start tells a person who waits for it what it waits for, and then everything in one line.
func TestSpawnOnATerminal(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	c := m.Console(m.Command([]string{"spawn", "alpha", "--model", "opus"}))
	err := c.Cmd.Wait()
	m.Check(err == nil, "%v", err)
	<-c.Done
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.Seen.String(), "\r", "")), "\n")
	s := m.Session("alpha")
	want := "alpha: idle, model opus, bypassPermissions, session " + s.SessionID + ", tmux nbs-alpha-live"
	m.Check(len(lines) == 2 && lines[0] == "alpha: claude was started; waiting until it is ready" && lines[1] == want, "%q; want %q last", lines, want)
}
