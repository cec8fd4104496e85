package hosts

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// opensDash has a person look at all hosts on a terminal.
func (f *fleet) opensDash() {
	f.Helper()
	f.desk("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "24", "-c", f.Dir, "-s", "desk", f.Worker+" dash --hosts; exec cat")
	f.Cleanup(func() { f.desk("kill-server") })
}

// leavesDash has the person leave it, which no host may hold up.
func (f *fleet) leavesDash() {
	f.Helper()
	f.desk("send-keys", "-t", "=desk:", "q")
	f.WaitFor("the dashboard leaves", func() (bool, string) {
		running := f.desk("display-message", "-p", "-t", "=desk:", "#{pane_current_command}")
		return running == "cat\n", running
	})
}

// The dashboard says why hosts do not answer, and its keys do not wait for them.
func TestDashOfHostsThatDoNotAnswer(t *testing.T) {
	f := standIn(t, "build1", "build2")
	f.hosts["build1"].machine.Stop()
	f.hosts["build2"].machine.Network.Silence()
	f.opensDash()
	f.shows("build1: unreachable: it refuses connections", "build2: unreachable: it did not answer in time")
	f.leavesDash()
}

// An agent whose host answers two seconds late is on the dashboard, and its terminal is reached.
func TestTerminalsOfASlowHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice", "--prompt", "Remember 42.")
	h.MustAnswer("alice", "OK, I will remember 42.")
	h.WaitState("alice", "idle")
	h.machine.Network.Delay(time.Second)
	c := f.Console(f.Command([]string{"attach", "alice@build1"}))
	f.opensDash()
	c.MustShow("waiting for build1")
	c.MustShow("OK, I will remember 42.")
	c.Types("\x02d")
	f.Must(c.Cmd.Wait())
	f.shows("build1", "alice", "idle")
	f.leavesDash()
}

// A host that answers half a second late is set up.
func TestASlowHostIsSetUp(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	h.Write(filepath.Join(h.World.Home, ".config/nbs-worker/environment"), strings.Join(h.Env, "\n")+"\n")
	h.machine.Network.Delay(250 * time.Millisecond)
	f.MustSay(f.OK("host", "add", "build1", "build1", "--install", "--yes"), "build1")
	f.OK("host", "enable", "build1", "--yes")
	f.MustSay(f.Finish(f.Command([]string{"host", "check", "build1"})).Stdout, "ok       agents come back after a reboot, and outlive each login")
}
