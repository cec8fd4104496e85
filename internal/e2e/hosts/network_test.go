package hosts

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// What arrives two seconds late each way is shown late, and nothing is taken for dead.
func TestSlowNetwork(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	f.MustSay(f.OK("list", "--hosts"), "build1\t", "alice", "idle")
	h.machine.Network.Delay(2 * time.Second)
	r := f.NBS("list", "--hosts") // its limit is shorter than this network needs
	f.MustSay(r.Stdout, "build1\talice\tidle")
	f.MustSay(r.Stderr, "; its rows are as of 2")
	f.Check(!saysDead(r.Stdout), "alice is taken for dead: %s", r)
	f.MustSay(r.Stderr, "build1 is unreachable")
	f.MustSay(f.OK("send", "alice@build1", "Slow.", "--wait-reply", "--timeout", e2e.Patience()), "You said: Slow.")
}

// A host that is off and one that says nothing cost a list their rows, which are the last known ones.
func TestHostsThatDoNotAnswer(t *testing.T) {
	f := standIn(t, "build1", "build2", "build3")
	for name, h := range f.hosts {
		h.OK("spawn", "of-"+name)
		h.WaitState("of-"+name, "idle")
	}
	f.MustSay(f.OK("list", "--hosts"), "of-build1", "of-build2", "of-build3")
	f.hosts["build2"].machine.Stop()
	f.hosts["build3"].machine.Network.Silence()
	r := f.NBS("list", "--hosts")
	f.Check(r.Code == 7 && !saysDead(r.Stdout), "list: %s", r)
	f.MustSay(r.Stdout, "of-build1", "of-build2", "of-build3")
	f.MustSay(r.Stderr, "build2 is unreachable", "build3 is unreachable")
	f.Check(!strings.Contains(r.Stderr, "build1 is unreachable"), "list: %s", r)
	one := f.Refused(3, "build2 is unreachable: it refuses connections", "session", "of-build2@build2")
	f.MustSay(one.Stderr, "hint: to see what is wrong: nbs-worker host check build2")

	f.hosts["build3"].machine.Network.Up()
	f.hosts["build2"].machine.Boot()
	r = f.NBS("list", "--hosts")
	f.Check(r.Code == 0 && r.Stderr == "", "list when all answer: %s", r)
}

// A laptop sleeps for longer than every timeout while the host works for it, and its network forgets the connection. When
// it wakes, the command has its result.
func TestSuspendedLaptop(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	sends := f.Begin("send", "alice@build1", "[[until woken]] A long turn.", "--wait-reply", "--timeout", "1h")
	f.WaitFor("the agent works", func() (bool, string) {
		s := h.Session("alice")
		return s.State == "busy", s.State
	})
	all := f.processesBelow(sends.Process.Pid)
	for _, pid := range all {
		f.Must(syscall.Kill(pid, syscall.SIGSTOP))
	}
	f.API.Release("woken")
	h.WaitState("alice", "idle")
	h.machine.Network.Cut()
	const longest = 40 * time.Second // the limit for a connection is 30 s, and ssh's for a silent one 15 s
	<-time.After(longest)
	for _, pid := range all {
		f.Must(syscall.Kill(pid, syscall.SIGCONT))
	}
	r := sends.End()
	f.Check(r.Code == 0 && strings.Contains(r.Stdout, "A long turn."), "after the sleep: %s", r)
	rig.Equal(f, strings.Count(h.OK("logs", "alice"), "You said: "), 1, "answers of alice")
}

// processesBelow are a process and its descendants.
func (f *fleet) processesBelow(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		for _, other := range e2e.AllPIDs() {
			if e2e.Parent(other) == all[i] {
				all = append(all, other)
			}
		}
	}
	return all
}
