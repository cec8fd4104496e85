package local

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestCarryingFindsAnOrphanOfAnotherSession(t *testing.T) {
	t.Parallel()
	mark := string(agent.NewInvocation())
	cmd := rig.Command("leave-orphan")
	cmd.Env = append(cmd.Env, "NBS_PROC_TEST_MARK="+mark)
	c := rig.StartChild(t, cmd)
	orphan := c.Said()
	if _, err := c.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if below, err := here.Descendants(os.Getpid()); err != nil || slices.Contains(pidsOf(below), orphan) {
		t.Fatalf("the orphan %d is a descendant still: %v, %v", orphan, below, err)
	}
	found, err := here.Carrying("NBS_PROC_TEST_MARK", mark)
	rig.Must(t, err)
	if diff := cmp.Diff([]int{orphan}, pidsOf(found)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	rig.Must(t, here.StopAll(t.Context(), []agent.Identity{found[0]}, longGrace))
	if left, err := here.Carrying("NBS_PROC_TEST_MARK", mark); err != nil || len(left) != 0 {
		t.Errorf("after its end: %v, %v", left, err)
	}
}

// A mark in another user's process is nobody's, also to root, who can read it.
func TestCarryingPassesOverOtherUsers(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	mark := string(agent.NewInvocation())
	other := exec.Command("sleep", "600")
	other.Dir, other.Env = "/", []string{"NBS_PROC_TEST_MARK=" + mark}
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: rig.Nobody, Gid: rig.Nobody}}
	rig.Must(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	rig.Eventually(t, "root can read the mark", func() bool { // its exec is over
		_, carries := here.Variable(other.Process.Pid, "NBS_PROC_TEST_MARK")
		return carries
	})
	found, err := here.Carrying("NBS_PROC_TEST_MARK", mark)
	rig.Check(t, err == nil && len(found) == 0, "%v, %v", found, err)
}
