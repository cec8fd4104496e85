package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The thread that is told to wait must be the monitor of Go's runtime: the one that wakes all
// the time while the program computes.
func TestMonitorThreadIsGosMonitor(t *testing.T) {
	tid, known := monitorThread()
	if !known {
		t.Fatal("no thread found")
	}
	if tid == os.Getpid() || tid == unix.Gettid() {
		t.Fatalf("thread %d runs this program", tid)
	}
	const often = 20
	before := waits(t, tid)
	for sum := 0; waits(t, tid) < before+often; { // a thread that is not the monitor never gets there
		for i := range 10_000_000 {
			sum += i % 7
		}
	}
}

func TestCalmMonitorTellsOneThread(t *testing.T) {
	calmMonitor()
	monitor, _ := monitorThread()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	var batch []string
	for _, task := range tasks {
		var tid int
		if _, err := fmt.Sscan(task.Name(), &tid); err != nil {
			t.Fatal(err)
		}
		if attr, err := unix.SchedGetAttr(tid, 0); err == nil && attr.Policy == unix.SCHED_BATCH { // without the error: it has ended
			batch = append(batch, task.Name())
		}
	}
	if !slices.Contains(batch, strconv.Itoa(monitor)) {
		t.Fatalf("threads %v give way, the monitor is %d", batch, monitor)
	}
}

// waits is how often a thread has gone to sleep.
func waits(t *testing.T, tid int) (n int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	if err != nil {
		t.Fatal(err)
	}
	_, count, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	if _, err := fmt.Sscan(count, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
