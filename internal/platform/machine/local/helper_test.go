package local

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

// here is the machine that the tests run on.
var here = New()

func TestMain(m *testing.M) {
	if role := rig.Role(); role != nil {
		playRole(role)
		return
	}
	os.Exit(rig.Tight(m))
}

// playRole makes the test binary a child process.
func playRole(role []string) {
	switch role[0] {
	case "exit":
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		rig.Stay()
	case "stay":
		rig.Stay()
	case "parent": // of the roles that follow, each the child of the one before
		rig.StartBelow(false, role[1:]...)
		rig.Stay()
	case "leave-orphan":
		rig.StartBelow(true, "stay")
	}
}

// child is a running helper process that is set up.
type child struct {
	*rig.Child
	id agent.Identity
}

// startReady starts a helper that stays, and returns when it is set up.
func startReady(t *testing.T, role string, change ...func(*exec.Cmd)) *child {
	t.Helper()
	cmd := rig.Command(role)
	for _, f := range change {
		f(cmd)
	}
	c := rig.StartChild(t, cmd)
	if pid := c.Said(); pid != c.Process.Pid {
		t.Fatalf("the helper announces pid %d; it is %d", pid, c.Process.Pid)
	}
	id, err := here.Identify(c.Process.Pid)
	rig.Must(t, err)
	return &child{Child: c, id: id}
}

func wantLiveness(t *testing.T, id agent.Identity, want machine.Liveness) {
	t.Helper()
	got, err := here.Check(id)
	rig.Check(t, got == want && err == nil, "Check(%+v) = %d, %v; want %d", id, got, err, want)
}
