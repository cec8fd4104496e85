package local

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

func TestFilesOf(t *testing.T) {
	cmd := rig.StartChild(t, exec.Command("prlimit", "--nofile=40:50", "cat"))
	rig.Eventually(t, "it has its limits", func() bool {
		files, err := here.FilesOf(cmd.Process.Pid)
		return err == nil && files.Soft == 40 && files.Hard == 50 && files.Open >= 3 && files.Open < 20
	})
	rig.Eventually(t, "it has as many open as are listed", func() bool { // it opens its libraries first
		listed, err := os.ReadDir(procPath(cmd.Process.Pid, "fd"))
		rig.Must(t, err)
		files, err := here.FilesOf(cmd.Process.Pid)
		return err == nil && files.Open == len(listed)
	})
	before, err := here.FilesOf(os.Getpid())
	rig.Must(t, err)
	var limit unix.Rlimit
	rig.Must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	rig.Check(t, before.Open >= 3 && uint64(before.Soft) == limit.Cur && uint64(before.Hard) == limit.Max, "%+v, limits %+v", before, limit)
	if files, err := here.FilesOf(-1); err == nil {
		t.Errorf("of nobody: %+v", files)
	}
}

func TestParseLimit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]machine.Files{
		"Max open files            1024                 524288               files     ": {Soft: 1024, Hard: 524288},
		"Max open files            64 65":                                                {Soft: 64, Hard: 65},
		"Max processes             1 2 processes":                                        {},
		"Max open files            unlimited unlimited":                                  {},
		"Max open files": {},
		"":               {},
	} {
		soft, hard, ok := parseLimit(line)
		if !ok {
			soft, hard = 0, 0
		}
		got := (machine.Files{Soft: soft, Hard: hard})
		rig.Check(t, got == want && ok == (want != machine.Files{}), "%q: %+v, %t", line, got, ok)
	}
}

func FuzzParseLimit(f *testing.F) {
	f.Add("Max open files            1024                 4096                 files")
	f.Add("Max open files \x00 9999999999999999999999 -1")
	f.Fuzz(func(t *testing.T, line string) {
		_, _, ok := parseLimit(line)
		rig.Check(t, !ok || strings.HasPrefix(line, "Max open files"), "read from %q", line)
	})
}

func TestHalted(t *testing.T) {
	cmd := rig.StartChild(t, exec.Command("cat"))
	rig.Check(t, !here.Halted(cmd.Process.Pid), "it runs")
	rig.Must(t, cmd.Process.Signal(syscall.SIGSTOP))
	rig.Eventually(t, "it is stopped", func() bool { return here.Halted(cmd.Process.Pid) })
	rig.Must(t, cmd.Process.Signal(syscall.SIGCONT))
	rig.Eventually(t, "it goes on", func() bool { return !here.Halted(cmd.Process.Pid) })
	rig.Check(t, !here.Halted(-1), "nobody is stopped")
}
