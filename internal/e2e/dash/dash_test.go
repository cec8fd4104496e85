package dash

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// desk is a terminal of a person, in a tmux server of its own, in which the dashboard runs.
type desk struct {
	*team

	server string // as for tmux -L
}

// open shows the dashboard at a desk of this size.
func (m *team) open(width, height int, variables ...string) *desk {
	m.Helper()
	return m.sit(width, height, "env "+strings.Join(variables, " ")+" "+m.Worker+" dash; echo left with $?; exec cat")
}

// sit has a desk of this size run a command of the shell.
func (m *team) sit(width, height int, command string) *desk {
	m.Helper()
	d := &desk{m, "desk"}
	d.desk("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "-c", m.Dir, "-s", "desk", command)
	m.Cleanup(func() { d.desk("kill-server") })
	return d
}

// desk runs a command on the desk's server.
func (d *desk) desk(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", d.server}, args...)...)
	cmd.Env = d.Env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func (d *desk) press(keys ...string) {
	d.desk(append([]string{"send-keys", "-t", "=desk:"}, keys...)...)
}

// shows waits until the screen has all words and none of the others, and returns it.
func (d *desk) shows(words ...string) (screen string) {
	d.Helper()
	rig.WaitFor(d, fmt.Sprintf("the screen shows %q", words), func() (bool, string) {
		screen = d.desk("capture-pane", "-p", "-t", "=desk:")
		for _, word := range words {
			not, is := strings.CutPrefix(word, "not ")
			if strings.Contains(screen, not) == is {
				return false, screen
			}
		}
		return true, screen
	})
	return screen
}

// pid is that of the dashboard.
func (d *desk) pid() int {
	out, err := exec.Command("pgrep", "-P", d.says("#{pane_pid}")).Output()
	d.Must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	d.Must(err)
	return pid
}

// isPlain checks that the terminal is as it was before the dashboard.
func (d *desk) isPlain() {
	d.Helper()
	flags := d.says("#{alternate_on} #{cursor_flag} #{mouse_any_flag}")
	d.Check(flags == "0 1 0", "alternate screen, cursor, mouse: %s", flags)
	d.Check(!strings.Contains(d.says("#{pane_title}"), "nbs-worker"), "the title is %s", d.says("#{pane_title}"))
}

// says returns what tmux says about the desk.
func (d *desk) says(format string) string {
	return strings.TrimSpace(d.desk("display-message", "-p", "-t", "=desk:", format))
}

// waits waits until tmux says something about the desk.
func (d *desk) waits(format, want string) {
	d.Helper()
	rig.WaitFor(d, format+" is "+want, func() (bool, string) {
		said := d.says(format)
		return said == want, said
	})
}

// spawn starts an agent that works, one whose turn has ended, and one that asks.
func (m *team) spawn() {
	m.Helper()
	m.spawnAsking("asks")
	m.OK("spawn", "ready", "--model", "sonnet", "--prompt", "Remember 42.")
	m.WaitState("ready", "idle")
	m.OK("spawn", "works", "--model", "sonnet", "--prompt", "[[delay 10m]] hello")
	m.WaitState("works", "busy")
}

// A person looks, moves, shows a screen, goes to a terminal and back, stops, brings back, sends, filters and leaves.
func TestKeyByKey(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			m := standIn(t)
			m.spawn()
			d := m.open(size.width, size.height)
			screen := d.shows("3 agents, 2 need you", "waits", "done", "busy")
			lines := strings.Split(screen, "\n")
			m.Check(strings.HasPrefix(lines[2], "asks ") && strings.HasPrefix(lines[3], "ready ") && strings.HasPrefix(lines[4], "works "), "order of the rows:\n%s", screen)

			if size.width >= 120 {
				d.shows("MEMORY", "MiB", "last events", "spawn works")
			}

			d.press("Tab", "Space")
			d.shows("ready: its screen", "Remember 42.", "1 needs you", "not done")
			d.press("Space")
			d.shows("ready: its conversation", "you: Remember 42.")
			d.press("Space")
			d.shows("not its conversation")
			d.press("Enter")
			d.shows("not NEED", "Remember 42.")
			d.press("C-b", "d")
			d.shows("3 agents", "NEED")

			d.press("x")
			d.shows("ready: stop is done", "stopped")
			d.press("r")
			d.shows("ready: resume is done", "idle")
			d.press("s")
			d.shows("send ready:")
			d.press("-l", "What number?")
			d.press("Enter")
			d.shows("ready")
			m.MustAnswer("ready", "42")

			d.press("/")
			d.press("-l", "work")
			d.press("Enter")
			d.shows("/work: 1", "works", "not asks")
			d.press("Escape")
			d.shows("asks", "not /work")
			d.press("2")
			d.shows("by name")
			d.press("1")
			d.shows("not by name")
			d.press("-l", "\x1b[<0;3;4M\x1b[<0;3;4m") // a click on the second row
			d.press("Space")
			d.shows("its screen")
			d.press("Escape")
			d.shows("not its screen")
			d.press("?")
			d.shows("Keys", "go to its terminal")
			d.press("j", "q")
			d.shows("left with 0")
			d.isPlain()
		})
	}
}

// An agent that is dismissed on the screen is asked about first; a verb that fails says why, and what to do.
func TestDismissAndARefusal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.WaitState("alpha", "idle")
	d := m.open(80, 24, "NO_COLOR=1")
	d.shows("1 agent, ", "alpha")
	d.press("r")
	d.shows("runs already")
	d.press("x")
	d.shows("stop is done")
	d.press("Enter")
	d.shows("alpha: the agent does not run", "hint: ")
	d.press("d")
	d.shows("remove alpha?")
	d.press("n")
	d.shows("not remove alpha?", "alpha")
	d.press("d")
	d.shows("remove alpha?")
	d.press("y")
	d.shows("no agents; start one")
	d.press("q")
	d.shows("left with 0")
}

// A signal leaves the terminal as it was.
func TestEndedBySignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "alpha")
			d := m.open(80, 24)
			d.shows("1 agent, ", "alpha")
			m.Kill(d.pid(), signal)
			d.shows("left with 130", "not HANDLE")
			d.isPlain()
		})
	}
}

func TestNotOnATerminal(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.Refused(4, "not a terminal", "dash")
}
