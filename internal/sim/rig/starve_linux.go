package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Starve lets a process have a processor only where a busy one leaves it some, until feed.
func Starve(t testing.TB, pid int) (feed func()) {
	t.Helper()
	var one unix.CPUSet
	Must(t, unix.SchedGetaffinity(0, &one))
	for cpu := 0; one.Count() > 1; cpu++ {
		one.Clear(cpu)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	Must(t, err)
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
		if err := errors.Join(unix.SchedSetaffinity(id, &one), unix.SchedSetAttr(id, &idle, 0)); err != nil && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
	}
	hog := exec.Command("sh", "-c", "while :; do :; done")
	Must(t, hog.Start())
	feed = sync.OnceFunc(func() {
		_ = hog.Process.Kill()
		_ = hog.Wait()
	})
	t.Cleanup(feed)
	Must(t, unix.SchedSetaffinity(hog.Process.Pid, &one))
	return feed
}
