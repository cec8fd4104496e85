package proc

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

func pidsOf(ids []agent.Identity) []int {
	pids := make([]int, len(ids))
	for i, id := range ids {
		pids[i] = id.PID
	}
	return pids
}

func TestDescendantsAreFoundParentsFirst(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "parent", "stay"))
	chain := []int{c.Said(), c.Said(), c.Said()}
	slices.SortFunc(chain, byGeneration(t))
	if chain[0] != c.Process.Pid {
		t.Fatalf("the chain %v does not begin with %d", chain, c.Process.Pid)
	}
	found, err := Descendants(c.Process.Pid)
	rig.Must(t, err)
	diff := cmp.Diff(chain[1:], pidsOf(found))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	for _, id := range found {
		wantLiveness(t, id, Alive)
	}
	if below, err := Descendants(chain[2]); err != nil || len(below) != 0 {
		t.Errorf("the last of the chain has descendants: %v, %v", below, err)
	}
}

// A pid that another process gets between the listing and the look at it is that of a stranger.
func TestPidThatWasReusedIsAStranger(t *testing.T) {
	t.Parallel()
	c := rig.StartChild(t, rig.Command("parent", "parent", "stay"))
	chain := []int{c.Said(), c.Said(), c.Said()}
	slices.SortFunc(chain, byGeneration(t))
	children, err := childrenByParent()
	rig.Must(t, err)
	children[chain[0]][0].startTicks-- // as if the listed one had ended
	found := below(chain[0], children)
	rig.Check(t, len(found) == 0, "%v are below %d", pidsOf(found), chain[0])
	asked := 0
	found, err = ours(func(pid int) bool {
		if pid == chain[2] {
			asked++
		}
		return pid == chain[2] && asked == 1
	})
	rig.Check(t, err == nil && asked == 2 && len(found) == 0, "asked %d times: %v, %v", asked, pidsOf(found), err)
}

// byGeneration sorts a parent before its child.
func byGeneration(t *testing.T) func(a, b int) int {
	depth := func(pid int) (n int) {
		for ; pid > 1; n++ {
			stat, err := readStat(pid)
			rig.Must(t, err)
			pid = stat.ppid
		}
		return n
	}
	return func(a, b int) int { return depth(a) - depth(b) }
}

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
	if below, err := Descendants(os.Getpid()); err != nil || slices.Contains(pidsOf(below), orphan) {
		t.Fatalf("the orphan %d is a descendant still: %v, %v", orphan, below, err)
	}
	found, err := Carrying("NBS_PROC_TEST_MARK", mark)
	rig.Must(t, err)
	if diff := cmp.Diff([]int{orphan}, pidsOf(found)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	rig.Must(t, Stop(t.Context(), found[0], longGrace))
	if left, err := Carrying("NBS_PROC_TEST_MARK", mark); err != nil || len(left) != 0 {
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
		_, carries := Variable(other.Process.Pid, "NBS_PROC_TEST_MARK")
		return carries
	})
	found, err := Carrying("NBS_PROC_TEST_MARK", mark)
	rig.Check(t, err == nil && len(found) == 0, "%v, %v", found, err)
}

func TestVariableIsReadByItsWholeName(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "XNBS_A=prefixed", "NBS_AB=longer", "NBS_A=a=b\nc", "NBS_EMPTY=")
	})
	for name, want := range map[string]string{"NBS_A": "a=b\nc", "NBS_EMPTY": ""} {
		got, there := Variable(c.id.PID, name)
		rig.Check(t, got == want && there, "Variable(%s) = %q, %t; want %q", name, got, there, want)
	}
	for _, name := range []string{"NBS_ABC", "NBS_", "nbs_a", "a"} {
		got, there := Variable(c.id.PID, name)
		rig.Check(t, !there, "Variable(%s) = %q; want none", name, got)
	}
	found, err := Carrying("NBS_A", "a")
	rig.Check(t, err == nil && !slices.Contains(pidsOf(found), c.id.PID), "Carrying takes the beginning of a value for the value: %v, %v", found, err)
}

func TestAncestorsBeginHere(t *testing.T) {
	t.Parallel()
	chain := Ancestors()
	if len(chain) < 2 || chain[0] != os.Getpid() || chain[1] != os.Getppid() {
		t.Errorf("Ancestors() = %v; want %d, %d, ...", chain, os.Getpid(), os.Getppid())
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(chain)))
	rig.Check(t, len(sorted) == len(chain), "Ancestors() = %v; want each once", chain)
}

func TestCmdlineKeepsEachArgument(t *testing.T) {
	t.Parallel()
	args := []string{"two words", "", "line\nbreak", `quo"te`, "\xff", "--", "-d", ""}
	c := startReady(t, "stay", func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, args...) })
	got, err := Cmdline(c.id.PID)
	rig.Must(t, err)
	diff := cmp.Diff(append([]string{c.Path}, args...), got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestCwdIsTheRealFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a b"
	rig.Must(t, os.Mkdir(dir, 0o700))
	c := startReady(t, "stay", func(cmd *exec.Cmd) { cmd.Dir = dir })
	got, err := Cwd(c.id.PID)
	rig.Check(t, err == nil && got == dir, "Cwd = %q, %v; want %q", got, err, dir)
}
