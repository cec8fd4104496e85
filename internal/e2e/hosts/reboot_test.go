package hosts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// serviceVariables writes the file that the units read besides their own variables.
func (h *host) serviceVariables() {
	h.Helper()
	h.Write(filepath.Join(h.World.Home, ".config", "nbs-worker", "environment"), strings.Join(h.Env, "\n")+"\n")
}

// A new host is added, checked and given its agents' services from here. It loses its power and boots; all agents are back
// in their conversations, and no person has done anything.
func TestAHostThatWasEnabledReboots(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.Must(os.Remove(filepath.Join(f.World.Home, ".config", "nbs-worker", "hosts.yaml")))
	f.OK("host", "add", "build1", "root@build1", "--folder", h.Dir)
	f.MustSay(f.OK("host", "list"), "build1", "root@build1", h.Dir)
	f.OK("spawn", "alice@build1", "--prompt", "Remember 42.")
	h.MustAnswer("alice", "OK, I will remember 42.")
	before := h.WaitState("alice", "idle")
	f.OK("spawn", "bob@build1")
	h.WaitState("bob", "idle")
	f.OK("stop", "bob@build1")

	f.MustSay(f.NBS("host", "check", "build1").Stdout, "no service brings the agents back after a reboot")
	h.serviceVariables()
	f.OK("host", "enable", "build1", "--yes")
	f.MustSay(f.OK("host", "check", "build1"), "agents come back after a reboot, and outlive each login")
	h.machine.Reboot()
	after := h.WaitState("alice", "idle")
	h.Check(after.SessionID == before.SessionID, "alice is in another conversation: before %+v\nafter %+v", before, after)
	rig.Equal(h, f.Reply("alice@build1", "What number?"), "42", "what alice says after the reboot")
	h.Check(h.Session("bob").IsDead(), "bob runs, who was stopped")
}
