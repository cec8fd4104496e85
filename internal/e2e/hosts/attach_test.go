package hosts

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A person at an agent's terminal is there again after a cut, and leaves as usual.
func TestAttachComesBackAfterACut(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.OK("spawn", "alice@build1", "--prompt", "Remember 42.")
	h.MustAnswer("alice", "OK, I will remember 42.")
	h.WaitState("alice", "idle")
	c := f.Console(f.Command([]string{"attach", "alice@build1"}))
	c.MustShow("OK, I will remember 42.")

	h.machine.Network.Down()
	c.MustShow("the connection to build1 was cut; it is made again")
	c.MustShow("build1 is unreachable: it refuses connections; it is tried again")
	before, _, _ := strings.Cut(c.Seen.String(), "the connection to build1 was cut")
	f.Check(strings.LastIndex(before, leave) > strings.LastIndex(before, enter), "the words are drawn into the screen of the agent: %q", before)
	h.machine.Network.Up()
	f.WaitFor("its screen again", func() (bool, string) {
		_, after, _ := strings.Cut(c.Seen.String(), "it is tried again")
		return strings.Contains(after, "OK, I will remember 42."), c.Seen.String()
	})
	c.Types("\x02d")
	f.Must(c.Cmd.Wait())
	h.MustBe("alice", "idle")
}

// The alternate screen of a terminal.
const enter, leave = "\x1b[?1049h", "\x1b[?1049l"

// Ctrl-C ends the attempts to come back, on a terminal as it was before.
func TestAttachIsGivenUp(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	c := f.Console(f.Command([]string{"attach", "alice@build1"}))
	c.MustShow("Claude Code")
	h.machine.Network.Down()
	c.MustShow("it is tried again (Ctrl-C leaves)")
	c.Types("\x03")
	c.MustShow("nbs-worker: attach: interrupted before build1 was reached")
	<-c.Done
	_ = c.Cmd.Wait()
	rig.Equal(t, c.Cmd.ProcessState.ExitCode(), 130, "the exit code")
}

// A host that cannot be reached is said to be so at once.
func TestAttachToAHostThatIsOff(t *testing.T) {
	f := standIn(t, "build1")
	f.hosts["build1"].machine.Stop()
	c := f.Console(f.Command([]string{"attach", "alice@build1"}))
	c.MustShow("nbs-worker: attach: build1 is unreachable")
	<-c.Done
	f.Refused(3, "build1 is unreachable", "list", "--hosts")
}

// A host that says nothing is waited for, with words, and not for ever.
func TestAttachToASilentHost(t *testing.T) {
	f := standIn(t, "build1")
	f.hosts["build1"].machine.Network.Silence()
	c := f.Console(f.Command([]string{"attach", "alice@build1"}))
	c.MustShow("waiting for build1")
	c.MustShow("nbs-worker: attach: build1 is unreachable: it did not answer in time")
	<-c.Done
}
