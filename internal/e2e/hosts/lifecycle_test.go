package hosts

import "testing"

// The verbs of an agent's life do at a host what they do here.
func TestLifeAtAHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	const alice = "alice@build1"
	f.OK("spawn", alice, "--model", "sonnet", "--prompt", "Remember 42.")
	h.MustAnswer("alice", "OK, I will remember 42.")
	before := h.WaitState("alice", "idle")
	f.MustSay(f.OK("list", "--host", "build1"), "alice", "idle")
	f.MustSay(f.OK("screen", alice), "Remember 42.")
	f.OK("stop", alice)
	h.Check(h.Session("alice").IsDead(), "alice runs after stop")
	f.OK("resume", alice, "--prompt", "What number?")
	h.MustAnswer("alice", "42")
	f.OK("set", alice, "permission-mode=acceptEdits")
	f.OK("rename", alice, "carol")
	after := h.WaitState("carol", "idle")
	h.Check(after.SessionID == before.SessionID && after.Model == before.Model, "before %+v\nafter %+v", before, after)
	f.MustSay(f.OK("session", "carol@build1"), before.SessionID)
	f.OK("dismiss", "carol@build1", "--yes")
	f.Refused(2, "carol", "session", "carol@build1")
}

// A name that both machines know means two agents, and each verb reaches the one that is named.
func TestOneNameAtTwoHosts(t *testing.T) {
	f := standIn(t, "build1", "build2")
	for _, alice := range []string{"alice", "alice@build1", "alice@build2"} {
		f.OK("spawn", alice)
	}
	for _, h := range f.hosts {
		h.WaitState("alice", "idle")
	}
	f.WaitState("alice", "idle")
	f.MustSay(f.OK("list", "--hosts"), "here\t", "build1\t", "build2\t")
	f.OK("stop", "alice@build2")
	f.Check(f.hosts["build2"].Session("alice").IsDead(), "alice runs at build2 after stop")
	f.MustBe("alice", "idle")
	f.hosts["build1"].MustBe("alice", "idle")
}
