package hosts

import (
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A host loses its power while it works for a command. The command says that it does not know what was done, and the host
// does not begin it again.
func TestPowerIsLostInTheMiddleOfAVerb(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	asks := f.Begin("ask", "key@build1", "[[until never]] A question.")
	f.WaitAsked("[[until never]] A question.")
	h.machine.Reboot()
	r := asks.End()
	f.MustRefuse(r, 1, "the command was killed at build1; what it has done is not known")
	asked := 0
	for _, request := range f.API.Requests() {
		if !request.Side && strings.Contains(string(request.Body), "A question.") {
			asked++
		}
	}
	rig.Equal(f, asked, 1, "how often the API was asked")
}

// A client that is killed leaves to the host what it asked for. It is done once.
func TestClientIsKilledInTheMiddleOfAVerb(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	h.OK("spawn", "alice")
	h.WaitState("alice", "idle")
	sends := f.Begin("send", "alice@build1", "[[until released]] A message.", "--wait-reply", "--timeout", "1h")
	h.WaitState("alice", "busy")
	for _, pid := range f.processesBelow(sends.Process.Pid) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // ssh may end with its parent
	}
	sends.End()
	f.API.Release("released")
	h.WaitState("alice", "idle")
	rig.Equal(f, strings.Count(h.OK("logs", "alice"), "You said: "), 1, "answers of alice")
}

// Only a person reaches hosts, whatever an agent writes in front of its command.
func TestAgentsDoNotReachHosts(t *testing.T) {
	f := standIn(t, "build1")
	f.OK("spawn", "alice", "--permission-mode", "bypassPermissions")
	for i, said := range f.AsAgent("alice", f.Worker+" list --host build1", "env -u NBS_HANDLE "+f.Worker+" spawn bob@build1", f.Worker+" host serve </dev/null") {
		f.Check(strings.HasSuffix(said, "code 8\n") && strings.Contains(said, "only a person may"), "command %d: %s", i, said)
	}
	f.Check(!e2e.Exists(f.hosts["build1"].InNbs()), "something was done at build1")
}
