package local

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/sim/rig"
)

func TestCmdlineKeepsEachArgument(t *testing.T) {
	t.Parallel()
	args := []string{"two words", "", "line\nbreak", `quo"te`, "\xff", "--", "-d", ""}
	c := startReady(t, "stay", func(cmd *exec.Cmd) { cmd.Args = append(cmd.Args, args...) })
	got, err := here.Cmdline(c.id.PID)
	rig.Must(t, err)
	diff := cmp.Diff(append([]string{c.Path}, args...), got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestCwdIsTheRealFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a b"
	rig.Must(t, os.Mkdir(dir, 0o700))
	c := startReady(t, "stay", func(cmd *exec.Cmd) { cmd.Dir = dir })
	got, err := here.Cwd(c.id.PID)
	rig.Check(t, err == nil && got == dir, "Cwd = %q, %v; want %q", got, err, dir)
}

// After an upgrade, a launcher still goes by the name of its program.
func TestRemovedProgramKeepsItsName(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	rig.Must(t, err)
	binary, err := os.ReadFile(sleep)
	rig.Must(t, err)
	program := filepath.Join(t.TempDir(), "nap")
	rig.Must(t, os.WriteFile(program, binary, 0o700))
	cmd := exec.Command(program, "600")
	rig.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	rig.Must(t, os.Remove(program))
	rig.Equal(t, here.Program(cmd.Process.Pid), "nap", "its program")
}
