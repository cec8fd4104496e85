package main

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An agent that runs in a person's own terminal, and the ways to and from it.

// Where there is no tmux, a first start is possible in this terminal, and is no dead end.
func TestSpawnWithoutTmux(t *testing.T) {
	m := real(t)
	m.env = append(m.env, "PATH="+m.pathWithout("tmux"))
	r := m.refused(6, "spawn alpha: tmux is not installed", "spawn", "alpha")
	const way = "or run the agent in this terminal: nbs-worker spawn alpha --foreground"
	m.check(strings.Contains(r.stderr, way) && !strings.Contains(r.stderr, "nbs-worker run"), "%v", r)

	c := m.console(m.command([]string{"spawn", "alpha", "Remember 42.", "--foreground", "--model", "sonnet"}))
	c.mustShow("Remember 42.") // what claude draws of its answer comes in pieces
	before := m.waitState("alpha", "idle")
	m.mustBeWritten(before.SessionID, "OK, I will remember 42.")
	m.check(!before.TmuxAlive && before.Model == "sonnet" && before.Desired == "running", "%+v", before)
	m.ok("stop", "alpha")
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("the launcher ended with %v, %v", c.cmd.ProcessState, err)
	}
	r = m.refused(6, "resume alpha: tmux is not installed", "resume", "alpha")
	m.check(strings.Contains(r.stderr, "or run the agent in this terminal: nbs-worker run alpha"), "%v", r)
}

// resume and attach say where an agent is that runs in a terminal, and not each other's name.
func TestAgentInAPlainTerminal(t *testing.T) {
	m := standIn(t)
	c := m.console(m.command([]string{"spawn", "alpha", "--foreground"}))
	m.waitFor("it is recorded", func() (bool, string) { r := m.nbs("session", "alpha"); return r.code == 0, r.String() })
	m.waitState("alpha", "idle")
	number, err := unix.IoctlGetInt(int(c.pty.Fd()), unix.TIOCGPTN)
	m.must(err)
	terminal := fmt.Sprintf("it runs in the terminal pts/%d", number)
	attach := m.onTerminal("attach", "alpha")
	m.check(attach.code == 5 && strings.Contains(attach.stderr, terminal) && strings.Contains(attach.stderr, "nbs-worker resume alpha --force"), "attach: %s", attach)
	resume := m.refused(5, "the agent runs already", "resume", "alpha")
	m.check(strings.Contains(resume.stderr, terminal) && !strings.Contains(resume.stderr, "attach"), "resume: %s", resume)
	// The way out that both name.
	m.ok("resume", "alpha", "--force")
	s := m.session("alpha")
	m.check(s.TmuxAlive, "%+v", s)
}

// A start tells a person who waits for it what it waits for, and then everything in one line.
func TestSpawnOnATerminal(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	c := m.console(m.command([]string{"spawn", "alpha", "--model", "opus"}))
	err := c.cmd.Wait()
	m.check(err == nil, "%v", err)
	<-c.done
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(c.seen.String(), "\r", "")), "\n")
	s := m.session("alpha")
	want := "alpha: idle, model opus, bypassPermissions, session " + s.SessionID + ", tmux nbs-alpha-live"
	m.check(len(lines) == 2 && lines[0] == "alpha: claude was started; waiting until it is ready" && lines[1] == want, "%q; want %q last", lines, want)
}
