package life

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/e2e"
)

// What is said of an agent that was killed just now: it may be dead, or not known to be, and never
// at work.

// A list that is taken right after a kill says how the agent ended: it waits for the kernel, and
// for the launcher, which is writing that down.
func TestListRightAfterAKill(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.KeepServer()
	crashed := 0
	for range 4 {
		m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
		if list := m.OK("list"); strings.HasPrefix(list, "alpha\tcrashed\tsignal: killed\t") {
			crashed++
		} else if !strings.HasPrefix(list, "alpha\tunknown\t") { // a machine that is busy for a second
			t.Errorf("right after a kill: %s", list)
		}
		m.WaitState("alpha", "crashed")
		m.OK("resume", "alpha")
	}
	m.Check(crashed != 0, "no list has waited for the launcher")
}

// The same while the kernel does not get to the end of the process: another one has its
// processor.
func TestListWhileTheKilledIsStarved(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	m.KeepServer()
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		pid := m.Session("alpha").RecordedPID
		feed := m.starve(pid)
		m.Kill(pid, syscall.SIGKILL)
		out := m.OK(append(verb, "--json")...)
		feed()
		m.Check(strings.Contains(out, `"state":"crashed"`) || strings.Contains(out, `"state":"unknown"`), "right after a kill %s says %s", verb, out)
		m.WaitState("alpha", "crashed")
		m.OK("resume", "alpha")
		m.WaitState("alpha", "idle")
	}
}

// The same while the launcher cannot write the end down: somebody has the record.
func TestListWhileTheLauncherCannotWrite(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	m.KeepServer()
	lock := flock.New(m.InNbs("locks", "alpha.record"))
	m.Must(lock.Lock())
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.OK(append(verb, "--json")...)
		m.Check(strings.Contains(out, `"state":"unknown"`) && strings.Contains(out, `"running":false`) && strings.Contains(out, `"pid":null`), "%s says %s", verb, out)
	}
	m.Must(lock.Close())
	m.WaitState("alpha", "crashed")
	m.MustRemember("alpha", before)
}

// starve lets a process have a processor only where a busy one leaves it some, until feed.
func (m *team) starve(pid int) (feed func()) {
	m.Helper()
	var one unix.CPUSet
	m.Must(unix.SchedGetaffinity(0, &one))
	for cpu := 0; one.Count() > 1; cpu++ {
		one.Clear(cpu)
	}
	tasks, err := os.ReadDir(e2e.ProcFile(pid, "task"))
	m.Must(err)
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
		if err := errors.Join(unix.SchedSetaffinity(id, &one), unix.SchedSetAttr(id, &idle, 0)); err != nil && !errors.Is(err, unix.ESRCH) {
			m.Fatal(err)
		}
	}
	hog := exec.Command("sh", "-c", "while :; do :; done")
	m.Must(hog.Start())
	feed = sync.OnceFunc(func() {
		_ = hog.Process.Kill()
		_ = hog.Wait()
	})
	m.Cleanup(feed)
	m.Must(unix.SchedSetaffinity(hog.Process.Pid, &one))
	return feed
}
