package hosts

import (
	"strconv"
	"testing"
)

// An agent whose claude was killed at a host is judged and repaired from here.
func TestRecoverAtAHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	before := h.Remembers("alice")
	h.OK("spawn", "bob")
	h.WaitState("bob", "idle")
	h.killTmux()
	h.WaitState("alice", "lost: tmux")
	judged := f.NBS("triage", "--host", "build1")
	f.Check(judged.Code != 0, "triage finds nothing: %s", judged)
	f.MustSay(judged.Stdout, "alice", "bob")
	f.OK("recover", "alice@build1")
	after := h.WaitState("alice", "idle")
	h.Check(after.SessionID == before.SessionID, "before %+v\nafter %+v", before, after)
	h.Check(h.Session("bob").IsDead(), "bob was repaired with alice")
	f.OK("recover", "--all", "--host", "build1")
	h.WaitState("bob", "idle")
	if got := h.Reply("alice", "What number?"); got != "42" {
		t.Errorf("after the repair alice says %q", got)
	}
}

// killTmux kills the host's tmux server, whose pid is one of the host's own.
func (h *host) killTmux() {
	h.Helper()
	pid := strconv.Itoa(h.ServerPID())
	out, err := h.machine.Command("/bin/kill", "-9", pid).CombinedOutput()
	h.Check(err == nil, "kill the tmux server %s: %v\n%s", pid, err, out)
}
