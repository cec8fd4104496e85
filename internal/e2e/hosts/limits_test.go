package hosts

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// beyondLimits is longer than any command may wait for a host that does not answer: a minute of silence, 30 s without a connection
// and 10 s for one more attempt, on a machine that has much else to do.
const beyondLimits = 5 * time.Minute

// verbsAt are a command line of each kind, for alice at build1.
var verbsAt = []string{
	"list --host build1", "list --host build1 --watch", "triage alice@build1", "session alice@build1", "screen alice@build1", "logs alice@build1",
	"logs alice@build1 --follow", "events --host build1", "search --host build1 words", "cost --host build1", "requests --host build1", "changes alice@build1",
	"wait alice@build1", "doctor --host build1", "worktree list --host build1",
	"spawn bob@build1", "send alice@build1 Hello.", "ask key@build1 Hello.", "approve alice@build1", "interrupt alice@build1", "set alice@build1 restart=no",
	"stop alice@build1", "resume alice@build1", "recover alice@build1", "rename alice@build1 dora", "compact alice@build1", "pause --host build1",
	"dismiss alice@build1 --yes", "outbox list --host build1", "memory on alice@build1", "schedule list --host build1",
	"move alice@build1 --to here", "host check build1", "host enable build1 --yes", "host add build4 build1 --install --yes", "next --hosts --print", "list --hosts", "list --hosts --json",
}

// endAll runs command lines side by side. Each has to end by its own limits, and to say why.
func (f *fleet) endAll(lines []string, why string) {
	f.Helper()
	var all sync.WaitGroup
	for _, line := range lines {
		all.Go(func() { f.mustEnd(line, f.Begin(strings.Fields(line)...), why) })
	}
	all.Wait()
}

// end waits for a command, which has to end by its own limits.
func (f *fleet) end(line string, running *e2e.Running) e2e.Result {
	late := time.AfterFunc(beyondLimits, func() { _ = running.Process.Signal(syscall.SIGKILL) })
	r := running.End()
	f.Check(late.Stop(), "%s has not ended after %s", line, beyondLimits)
	return r
}

// mustEnd waits for a command that cannot reach its host, and says why.
func (f *fleet) mustEnd(line string, running *e2e.Running, why string) {
	r := f.end(line, running)
	f.Check(r.Code != 0 && strings.Contains(r.Stdout+r.Stderr, why), "%s: %s", line, r)
	f.Check(!saysDead(r.Stdout+r.Stderr), "%s takes an agent for dead: %s", line, r)
}

// Every verb at a host that is off says so.
func TestEveryVerbAtAHostThatIsOff(t *testing.T) {
	f := standIn(t, "build1")
	f.hosts["build1"].machine.Stop()
	f.endAll(verbsAt, "it refuses connections")
}

// Every verb at a host that says nothing ends.
func TestEveryVerbAtASilentHost(t *testing.T) {
	f := standIn(t, "build1")
	f.hosts["build1"].machine.Network.Silence()
	f.endAll(verbsAt, "it did not answer")
}

// A command that waits for an agent at a host ends when the host says nothing any more.
func TestAHostFallsSilentInTheMiddleOfAVerb(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	begun := map[string]*e2e.Running{
		"send":            f.Begin("send", "alice@build1", "[[until never]] A turn.", "--wait-reply", "--timeout", "1h"),
		"wait":            f.Begin("wait", "alice@build1", "--for", "gone"),
		"list --watch":    f.Begin("list", "--host", "build1", "--watch"),
		"events --follow": f.Begin("events", "--host", "build1", "--follow"),
	}
	h.WaitState("alice", "busy")
	h.machine.Network.Silence()
	var all sync.WaitGroup
	for line, r := range begun {
		all.Go(func() { f.mustEnd(line, r, "build1 is unreachable") })
	}
	all.Wait()
}

// Verbs at a host that answers late are done, each within its limit.
func TestVerbsAtASlowHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	h.machine.Network.Delay(2 * time.Second)
	lines := []string{ // fewer than sshd lets log in at a time
		"session alice@build1", "triage alice@build1", "screen alice@build1", "requests --host build1", "events --host build1", "cost --host build1",
		"set alice@build1 restart=no", "send alice@build1 Hello. --queue", "wait alice@build1 --for idle",
	}
	var all sync.WaitGroup
	for _, line := range lines {
		all.Go(func() {
			r := f.end(line, f.Begin(strings.Fields(line)...))
			f.Check(r.Code == 0, "%s: %s", line, r)
		})
	}
	all.Wait()
	h.machine.Network.Delay(0)
	h.MustAnswer("alice", "You said: Hello.")
}
