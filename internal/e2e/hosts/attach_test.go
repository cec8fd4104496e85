package hosts

import (
	"strings"
	"testing"
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

	h.machine.Network.Cut()
	c.MustShow("the connection to build1 was cut; it is made again")
	f.WaitFor("its screen again", func() (bool, string) {
		_, after, _ := strings.Cut(c.Seen.String(), "was cut")
		return strings.Contains(after, "OK, I will remember 42."), c.Seen.String()
	})
	c.Types("\x02d")
	f.Must(c.Cmd.Wait())
	h.MustBe("alice", "idle")
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
