package slurm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// runsAt has an agent run as a job on a node, and at its prompt.
func (c *cluster) runsAt(node, handle string) {
	c.Helper()
	c.submit(handle, "-w", node)
	c.waitRow(handle, "is at its prompt on "+node, func(r row) bool { return r.State == "idle" && r.Job.Node == node })
}

// A user who sits outside of the job writes to its agent, waits for it, looks at it, interrupts it and answers it as any
// other.
func TestVerbsReachTheNode(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	c.Remembers("alpha", "--permission-mode", "default")
	c.OK("stop", "alpha")
	c.runsAt(one, "alpha")
	c.Check(strings.Contains(c.Reply("alpha", "What number?"), "42"), "another answer")
	c.MustSay(c.OK("screen", "alpha"), "● 42")
	c.MustSay(c.OK("screen", "alpha", "--json"), "● 42")
	c.MustSay(c.OK("logs", "alpha"), "What number?")
	long := c.Send(0, "accepted", "alpha", strings.Repeat("one two three ", 100))
	c.Check(long.Channel == "file" && long.UUID != "", "%+v", long)

	c.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
	c.Send(0, "accepted", "alpha", "[[delay 1h]] the long turn")
	c.waitRow("alpha", "works", func(r row) bool { return r.State == "busy" })
	c.Send(3, "held", "alpha", "never typed", "--timeout", "1s")
	c.Send(0, "held", "alpha", "after the turn", "--queue")
	var done []struct{ Outcome string }
	c.Decode(&done, "interrupt", "alpha", "--json")
	c.Check(len(done) == 1 && done[0].Outcome == "interrupted", "%+v", done)
	c.WaitFor("what waited is answered", func() (bool, string) {
		said := c.OK("logs", "alpha")
		return strings.Contains(said, "You said: after the turn"), said
	})
	c.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
	c.MustPrint("alpha\n", "interrupt", "alpha") // which is idle

	file := filepath.Join(c.Dir, "touched")
	c.Send(0, "accepted", "alpha", `[[tool Bash {"command":"touch `+file+`"}]]`)
	c.OK("wait", "alpha", "--for", "waiting", "--timeout", e2e.Patience())
	c.Refused(8, "it waits for a person", "send", "alpha", "never typed")
	c.MustPrint("alpha\n", "approve", "alpha")
	c.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
	c.Check(e2e.Exists(file), "the approved command did not run")
	c.Check(len(c.Outbox()) == 0, "%+v", c.Outbox())
	c.Check(!strings.Contains(c.OK("logs", "alpha"), "never typed"), "what was held was typed")

	c.OK("spawn", "beta", "--model", "sonnet")
	c.MustSay(c.AsAgent("beta", c.Worker+" send alpha 'hello from the other node'")[0], "code 0")
	c.MustSay(c.OK("logs", "alpha"), "This message is from agent beta", "hello from the other node")
}

// A text is typed once, whenever the way to the node is cut.
func TestTheWayToTheNodeIsCut(t *testing.T) {
	c := newCluster(e2e.StandIn(t), never)
	c.has("alpha")
	c.runsAt(one, "alpha")
	whole := c.Env
	cut := func(script string) {
		bin := filepath.Join(t.TempDir(), "bin")
		c.Must(os.Mkdir(bin, 0o700))
		c.Must(os.WriteFile(filepath.Join(bin, "srun"), []byte("#!/bin/sh\n"+script+"\necho 'srun: error: the way is cut' >&2\nexit 1\n"), 0o700))
		c.Env = slices.Concat(whole, []string{"PATH=" + bin + ":" + c.Variable("PATH")})
	}
	cut("")
	r := c.Refused(6, "the node n1 was not reached: srun: the way is cut; nothing was submitted", "send", "alpha", "lost before")
	c.MustSay(r.Stderr, "--queue")
	c.Check(len(c.Outbox()) == 0, "%+v", c.Outbox())
	kept := c.Send(0, "held", "alpha", "kept before", "--queue")
	c.MustSay(kept.Reason, "typed later")
	c.Refused(6, "nothing was submitted", "send", "alpha", "lost before")
	c.Env = whole
	c.Send(0, "accepted", "alpha", "at last")
	cut(filepath.Join(c.slurm.Bin, "srun") + ` "$@" >/dev/null 2>&1`)
	c.Send(0, "accepted", "alpha", "cut behind")
	c.Env = whole
	c.OK("wait", "alpha", "--for", "idle", "--timeout", e2e.Patience())
	said := c.OK("logs", "alpha")
	for text, want := range map[string]int{"You said: kept before": 1, "You said: cut behind": 1, "You said: at last": 1, "lost before": 0} {
		c.Check(strings.Count(said, text) == want, "%d times %q in\n%s", strings.Count(said, text), text, said)
	}
	c.Check(len(c.Outbox()) == 0, "%+v", c.Outbox())
}
