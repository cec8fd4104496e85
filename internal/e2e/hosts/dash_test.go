package hosts

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// desk runs a command on the tmux server in which a person has a terminal.
func (f *fleet) desk(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "desk"}, args...)...)
	cmd.Env = f.Env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// shows waits until the terminal at the desk has all words.
func (f *fleet) shows(words ...string) {
	f.Helper()
	f.WaitFor(fmt.Sprintf("the screen shows %q", words), func() (bool, string) {
		screen := f.desk("capture-pane", "-p", "-t", "=desk:")
		for _, word := range words {
			if !strings.Contains(screen, word) {
				return false, screen
			}
		}
		return true, ""
	})
}

// visits goes from the dashboard to an agent's terminal. Rows that have just moved ask for the key once more.
func (f *fleet) visits(session string) {
	f.Helper()
	f.desk("send-keys", "-t", "=desk:", "Enter")
	f.WaitFor("the screen shows "+session, func() (bool, string) {
		screen := f.desk("capture-pane", "-p", "-t", "=desk:")
		if strings.Contains(screen, "press the key again") {
			f.desk("send-keys", "-t", "=desk:", "Enter")
		}
		return strings.Contains(screen, "["+session), screen
	})
}

// The dashboard shows the agents of all hosts, its keys act there, and a host that is off is unreachable.
func TestDashOfAllHosts(t *testing.T) {
	f := standIn(t, "build1", "build2")
	h := f.hosts["build1"]
	f.OK("spawn", "alice@build1", "--prompt", "Remember 42.")
	f.OK("wait", "alice@build1", "--for", "done") // screen would be a look
	f.OK("spawn", "bob@build2")

	h.machine.Network.Delay(300 * time.Millisecond) // build2 answers first
	f.desk("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", f.Dir, "-s", "desk", f.Worker+" dash --hosts; exec cat")
	f.Cleanup(func() { f.desk("kill-server") })
	f.shows("build1", "alice", "done", "build2", "bob")
	h.machine.Network.Delay(0)
	f.shows("last events of alice@build1", "spawn alice", "MiB") // as of an agent of this machine
	f.desk("send-keys", "-t", "=desk:", "s")                     // to alice, whose turn has ended
	f.shows("send alice@build1:")
	f.desk("send-keys", "-t", "=desk:", "What number?", "Enter")
	h.MustAnswer("alice", "42")
	f.shows("\nalice@build1\n") // send has ended, and takes no other word's place
	f.visits("nbs-alice")
	f.shows("What number?")
	f.desk("send-keys", "-t", "=desk:", "C-b", "d")
	f.hosts["build2"].machine.Stop()
	f.shows("build2: unreachable: ", "bob")
	f.desk("send-keys", "-t", "=desk:", "q")
	f.WaitFor("the dashboard leaves", func() (bool, string) {
		running := f.desk("display-message", "-p", "-t", "=desk:", "#{pane_current_command}")
		return running == "cat\n", running
	})
}

// next --hosts goes to the terminal of an agent at a host, which is a look: it needs the user no more then.
func TestNextOfAllHosts(t *testing.T) {
	f := standIn(t, "build1")
	f.OK("spawn", "alice@build1", "--prompt", "Remember 42.")
	f.OK("wait", "alice@build1", "--for", "done") // screen would be a look
	got := f.OK("next", "--hosts", "--print")
	f.Check(got == "alice@build1\n", "next --hosts --print: %q", got)
	c := f.Console(f.Command([]string{"next", "--hosts"}))
	c.MustShow("OK, I will remember 42.")
	c.Types("\x02d")
	f.Must(c.Cmd.Wait())
	f.Refused(2, "nobody needs you", "next", "--hosts", "--print")
}
