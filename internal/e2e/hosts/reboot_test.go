package hosts

import (
	"path/filepath"
	"strings"
	"testing"
)

// lingering has the services of export systemd start at each boot of the host, as the help of export says.
func (h *host) lingering() {
	h.Helper()
	h.Write(filepath.Join(h.World.Home, ".config", "nbs-worker", "environment"), strings.Join(h.Env, "\n")+"\n")
	dir := filepath.Join(h.World.Home, ".config", "systemd", "user")
	h.OK("export", "systemd", "--dir", dir)
	units, err := filepath.Glob(filepath.Join(dir, "*.service"))
	h.Must(err)
	h.Check(len(units) == 4, "the units are %q", units)
	for i, path := range units {
		units[i] = filepath.Base(path)
	}
	for _, words := range [][]string{append([]string{"systemctl", "--user", "enable"}, units...), {"loginctl", "enable-linger"}} {
		out, err := h.machine.Command(words...).CombinedOutput()
		h.Check(err == nil, "%q: %v\n%s", words, err, out)
	}
}

// A host loses its power and boots. All agents are back in their conversations, and no person has done anything.
func TestRebootedHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	before := h.Remembers("alice")
	h.OK("spawn", "bob")
	h.WaitState("bob", "idle")
	h.OK("stop", "bob")
	h.lingering()
	h.machine.Reboot()
	after := h.WaitState("alice", "idle")
	h.Check(after.SessionID == before.SessionID, "alice is in another conversation: before %+v\nafter %+v", before, after)
	if got := h.Reply("alice", "What number?"); got != "42" {
		t.Errorf("after the reboot alice says %q", got)
	}
	h.Check(h.Session("bob").IsDead(), "bob runs, who was stopped")
}
