package life

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/platform/machine/portable"
)

func TestAttach(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.Refused(4, "stdout is not a terminal", "attach", "alpha")
	c := m.Console(m.Command([]string{"attach", "alpha"}))
	c.MustShow("Remember 42.")
	m.Tmux("detach-client", "-s", "=nbs-alpha-live")
	if err := c.Cmd.Wait(); err != nil {
		t.Errorf("detach: %v\n%s", err, c.Seen.String())
	}
	m.OK("stop", "alpha")
	c = m.Console(m.Command([]string{"attach", "alpha"}))
	c.MustShow("the agent does not run: stopped")
}

// Claude draws in UTF-8, whatever the locale says.
func TestAttachWithoutALocale(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Grüße ❯ and 42.")
	m.WaitState("alpha", "idle")
	m.MustAnswer("alpha", "You said: Grüße")
	attach := m.Command([]string{"attach", "alpha"})
	attach.Env = append(slices.DeleteFunc(slices.Clone(attach.Env), func(entry string) bool {
		return strings.HasPrefix(entry, "LC_") || strings.HasPrefix(entry, "LANG=")
	}), "LC_ALL=C")
	c := m.Console(attach)
	c.MustShow("Gr")
	c.MustShow("shortcuts")
	m.Check(strings.Contains(c.Seen.String(), "Grüße ❯"), "%s", c.Seen.String())
}

// A person renames the session, or moves the pane to another one.
func TestSessionNamesTheTmuxSessionThatIsThere(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WaitState("alpha", "idle")
	m.Tmux("rename-session", "-t", "=nbs-alpha-live", "mine")
	m.MustSay(m.OK("session", "alpha"), "Tmux:            mine, there\n")
	s := m.Session("alpha")
	m.Check(s.TmuxSession == "mine" && s.TmuxAlive, "%+v", s)
	m.MustSay(m.OK("list", "--json"), `"tmux_session":"mine"`)
	m.OK("stop", "alpha")
	m.MustSay(m.OK("session", "alpha"), "Tmux:            nbs-alpha-live, not there\n")
}

func TestRunByHandInATerminal(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.OK("stop", "alpha")
	c := m.Console(m.Command([]string{"run", "alpha"}))
	m.WaitState("alpha", "idle")
	s := m.Session("alpha")
	m.Check(!s.TmuxAlive && s.SessionID == before.SessionID, "%+v", s)
	m.Refused(5, "runs already", "resume", "alpha")
	m.Refused(5, "runs already", "run", "alpha")
	if _, err := c.Pty.WriteString("What number?\r"); err != nil {
		t.Fatal(err)
	}
	c.MustShow("42")
	m.OK("stop", "alpha")
	if err := c.Cmd.Wait(); c.Cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("the launcher ended with %v, %v", c.Cmd.ProcessState, err)
	}
	m.MustRemember("alpha", before)
}

func TestRunPassesOnTheExitCode(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	m.Env = append(m.Env, "NBS_SIM_CLAUDE=die-after=1s,die-code=9")
	c := m.Console(m.Command([]string{"run", "alpha"}))
	err := c.Cmd.Wait()
	m.Check(c.Cmd.ProcessState.ExitCode() == 9, "%v\n%s", err, c.Seen.String())
}

// A keyboard's C-z suspends claude, and nobody in a pane types fg. A claude whose start cannot be journalled is killed while it
// draws: the terminal of a person gets its own modes back.
func TestTerminalOfTheRealClaude(t *testing.T) {
	m := real(t)
	s := m.Remembers("alpha")
	m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "C-z")
	begun := time.Now()
	m.WaitFor("claude is back after C-z", func() (bool, string) {
		m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "-l", "x")
		screen := m.Screen("alpha")
		return strings.Contains(screen, "❯ x"), fmt.Sprintf("%s after %s", screen, time.Since(begun))
	})
	m.OK("stop", "alpha")

	defer m.holdLock("journal")()
	c := m.Console(m.Command([]string{"run", "alpha"}))
	if err := c.Cmd.Wait(); c.Cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("%v\n%s", err, c.Seen.String())
	}
	modes, err := portable.Modes(c.Pty)
	m.Check(err == nil && modes.Lflag&(unix.ICANON|unix.ECHO) == unix.ICANON|unix.ECHO, "the terminal is raw: %+v, %v", modes, err)
	const shownCursor = "\x1b[?25h"
	seen := c.Seen.String()
	m.Check(strings.LastIndex(seen, shownCursor) >= strings.LastIndex(seen, "\x1b[?25l"), "the cursor stays hidden: %q", seen)
}

func TestKeyboardSignalsDoNotEndTheLauncher(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	before := m.Session("alpha")
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN} {
		m.Kill(m.Launcher("alpha"), signal)
	}
	m.Tmux("run-shell", "-b", "true")
	s := m.Session("alpha")
	m.Check(s.Running && s.RecordedPID == before.RecordedPID && !e2e.Dead(m.Launcher("alpha")), "%+v", s)
}

func TestAttachInsideTmuxSwitchesTheClient(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.Tmux("new-session", "-d", "-s", "somebody", "cat; cat")
	attach := exec.Command("tmux", "-L", "default", "attach-session", "-t", "=somebody")
	attach.Dir, attach.Env = m.World.Project, m.Env
	c := m.Console(attach)
	c.MustShow("somebody")
	m.Tmux("respawn-pane", "-k", "-t", "=somebody:", "-c", m.World.Project, m.Worker, "attach", "alpha")
	m.WaitFor("the client is in the agent's session", func() (bool, string) {
		clients := m.Tmux("list-clients", "-F", "#{client_session}")
		return clients == "nbs-alpha-live\n", clients + c.Seen.String()
	})
}
