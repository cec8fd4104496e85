package cli

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The thread that is told to wait must be the monitor of Go's runtime: while the program
// computes, it wakes more often than all others together.
func TestMonitorThreadIsGosMonitor(t *testing.T) {
	monitor, known := monitorThread()
	if !known {
		t.Fatal("no thread found")
	}
	its, others := 0, 0
	for stretch := 100 * time.Millisecond; its <= others && stretch < 10*time.Second; stretch *= 2 {
		its, others = 0, 0
		before := sleeps(t)
		for begun := time.Now(); time.Since(begun) < stretch; {
		}
		for tid, n := range sleeps(t) {
			if n -= before[tid]; tid == monitor {
				its = n
			} else {
				others += n
			}
		}
	}
	if its <= others {
		t.Errorf("thread %d woke %d times, all others %d times", monitor, its, others)
	}
}

// Only the monitor is told, and it stays as nice as it was. The test's process keeps it so.
func TestCalmMonitorTellsTheMonitor(t *testing.T) {
	monitor, _ := monitorThread()
	ordinary := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: 5}
	if err := unix.SchedSetAttr(monitor, &ordinary, 0); err != nil {
		t.Fatal(err)
	}
	before := classes(t)
	calmMonitor()
	for tid, was := range before {
		want := was
		if tid == monitor {
			want.Policy = unix.SCHED_BATCH
		}
		now, err := unix.SchedGetAttr(tid, 0)
		if err == nil && (now.Policy != want.Policy || now.Nice != want.Nice) { // or it has ended
			t.Errorf("thread %d of %d: %+v, was %+v", tid, monitor, *now, was)
		}
	}
}

// sleeps is how often each thread has gone to sleep.
func sleeps(t *testing.T) map[int]int {
	t.Helper()
	all := map[int]int{}
	for _, tid := range threads(t) {
		status, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/status")
		if err != nil {
			continue // it has ended
		}
		_, count, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		count, _, _ = strings.Cut(count, "\n")
		if all[tid], err = strconv.Atoi(strings.TrimSpace(count)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func classes(t *testing.T) map[int]unix.SchedAttr {
	t.Helper()
	all := map[int]unix.SchedAttr{}
	for _, tid := range threads(t) {
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil {
			all[tid] = *attr
		}
	}
	return all
}

func threads(t *testing.T) (tids []int) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		tids = append(tids, tid)
	}
	return tids
}
