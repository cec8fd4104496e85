package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// What needs a terminal gets a real one.

// console is a terminal in which one command runs.
type console struct {
	*team
	cmd  *exec.Cmd
	pty  *os.File
	seen lockedBuffer
	done chan struct{}
}

func (m *team) console(cmd *exec.Cmd) *console {
	m.Helper()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	m.must(err)
	return m.watch(cmd, terminal)
}

// consoleThat is a terminal in which something was typed before the command runs.
func (m *team) consoleThat(typed string, cmd *exec.Cmd) *console {
	m.Helper()
	terminal, end, err := pty.Open()
	if err == nil {
		_, err = terminal.WriteString(typed)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, end
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err == nil {
		err = cmd.Start()
	}
	m.must(err)
	_ = end.Close()
	return m.watch(cmd, terminal)
}

// watch reads what a terminal shows.
func (m *team) watch(cmd *exec.Cmd, terminal *os.File) *console {
	c := &console{team: m, cmd: cmd, pty: terminal, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_, _ = io.Copy(&c.seen, terminal)
	}()
	m.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = terminal.Close()
		<-c.done
	})
	return c
}

func (c *console) mustShow(words string) {
	c.Helper()
	c.waitFor("the terminal shows "+words, func() (bool, string) { return strings.Contains(c.seen.String(), words), c.seen.String() })
}

func TestAttach(t *testing.T) {
	m := standIn(t)
	m.remembers("alpha")
	m.refused(4, "stdout is not a terminal", "attach", "alpha")
	c := m.console(m.command([]string{"attach", "alpha"}))
	c.mustShow("Remember 42.")
	m.tmux("detach-client", "-s", "=nbs-alpha-live")
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("detach: %v\n%s", err, c.seen.String())
	}
	m.ok("stop", "alpha")
	c = m.console(m.command([]string{"attach", "alpha"}))
	c.mustShow("the agent does not run: stopped")
}

func TestRunByHandInATerminal(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	c := m.console(m.command([]string{"run", "alpha"}))
	m.waitState("alpha", "idle")
	s := m.session("alpha")
	m.check(!s.TmuxAlive && s.SessionID == before.SessionID, "%+v", s)
	m.refused(5, "runs already", "resume", "alpha")
	m.refused(5, "runs already", "run", "alpha")
	if _, err := c.pty.WriteString("What number?\r"); err != nil {
		t.Fatal(err)
	}
	c.mustShow("42")
	m.ok("stop", "alpha")
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("the launcher ended with %v, %v", c.cmd.ProcessState, err)
	}
	m.mustRemember("alpha", before)
}

func TestRunPassesOnTheExitCode(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	m.env = append(m.env, "NBS_SIM_CLAUDE=die-after=1s,die-code=9")
	c := m.console(m.command([]string{"run", "alpha"}))
	err := c.cmd.Wait()
	m.check(c.cmd.ProcessState.ExitCode() == 9, "%v\n%s", err, c.seen.String())
}

// A keyboard's C-z suspends claude, and nobody in a pane types fg.
func TestSuspendedClaudeIsWoken(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	s := m.session("alpha")
	m.tmux("send-keys", "-t", "="+s.TmuxSession+":", "C-z")
	begun := time.Now()
	m.waitFor("claude is back after C-z", func() (bool, string) {
		m.tmux("send-keys", "-t", "="+s.TmuxSession+":", "-l", "x")
		screen := m.screen("alpha")
		return strings.Contains(screen, "❯ x"), fmt.Sprintf("%s after %s", screen, time.Since(begun))
	})
	m.ok("stop", "alpha")
}

func TestKeyboardSignalsDoNotEndTheLauncher(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	before := m.session("alpha")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN} {
		m.kill(m.launcher("alpha"), signal)
	}
	m.tmux("run-shell", "-b", "true")
	s := m.session("alpha")
	m.check(s.Running && s.RecordedPID == before.RecordedPID && !dead(m.launcher("alpha")), "%+v", s)
}

func TestAttachInsideTmuxSwitchesTheClient(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.tmux("new-session", "-d", "-s", "somebody", "cat; cat")
	attach := exec.Command("tmux", "-L", "default", "attach-session", "-t", "=somebody")
	attach.Dir, attach.Env = m.world.Project, m.env
	c := m.console(attach)
	c.mustShow("somebody")
	m.tmux("respawn-pane", "-k", "-t", "=somebody:", "-c", m.world.Project, m.worker, "attach", "alpha")
	m.waitFor("the client is in the agent's session", func() (bool, string) {
		clients := m.tmux("list-clients", "-F", "#{client_session}")
		return clients == "nbs-alpha-live\n", clients + c.seen.String()
	})
}
