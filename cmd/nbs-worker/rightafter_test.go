package main

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

	"nbs-worker/internal/sim/rig"
)

// What is said of an agent that was killed just now: it may be dead, or not known to be, and never
// at work.

// A list that is taken right after a kill says how the agent ended: it waits for the kernel, and
// for the launcher, which is writing that down.
func TestListRightAfterAKill(t *testing.T) {
	t.Parallel()
	for name, kills := range map[string]int{"real": 4, "stand-in": 8} {
		t.Run(name, func(t *testing.T) { listRightAfter(t, realIf(t, name == "real"), kills) })
	}
}

func listRightAfter(t *testing.T, m *team, kills int) {
	t.Helper()
	m.remembers("alpha")
	m.keepServer()
	crashed := 0
	for range kills {
		m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
		if list := m.ok("list"); strings.HasPrefix(list, "alpha\tcrashed\tsignal: killed\t") {
			crashed++
		} else if !strings.HasPrefix(list, "alpha\tunknown\t") { // a machine that is busy for a second
			t.Errorf("right after a kill: %s", list)
		}
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha")
	}
	m.check(crashed != 0, "no list has waited for the launcher")
}

// The same while the kernel does not get to the end of the process: another one has its
// processor.
func TestListWhileTheKilledIsStarved(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	m.keepServer()
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		pid := m.session("alpha").RecordedPID
		feed := m.starve(pid)
		m.kill(pid, syscall.SIGKILL)
		out := m.ok(append(verb, "--json")...)
		feed()
		m.check(strings.Contains(out, `"state":"crashed"`) || strings.Contains(out, `"state":"unknown"`), "right after a kill %s says %s", verb, out)
		m.waitState("alpha", "crashed")
		m.ok("resume", "alpha")
		m.waitState("alpha", "idle")
	}
}

// The same while the launcher cannot write the end down: somebody has the record.
func TestListWhileTheLauncherCannotWrite(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	m.keepServer()
	lock := flock.New(m.inNbs("locks", "alpha.record"))
	m.must(lock.Lock())
	m.kill(before.RecordedPID, syscall.SIGKILL)
	for _, verb := range [][]string{{"list"}, {"session", "alpha"}} {
		out := m.ok(append(verb, "--json")...)
		m.check(strings.Contains(out, `"state":"unknown"`) && strings.Contains(out, `"running":false`) && strings.Contains(out, `"pid":null`), "%s says %s", verb, out)
	}
	m.must(lock.Close())
	m.waitState("alpha", "crashed")
	m.mustRemember("alpha", before)
}

// starve lets a process have a processor only where a busy one leaves it some, until feed.
func (m *team) starve(pid int) (feed func()) {
	m.Helper()
	var one unix.CPUSet
	m.must(unix.SchedGetaffinity(0, &one))
	for cpu := 0; one.Count() > 1; cpu++ {
		one.Clear(cpu)
	}
	tasks, err := os.ReadDir(procFile(pid, "task"))
	m.must(err)
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
		if err := errors.Join(unix.SchedSetaffinity(id, &one), unix.SchedSetAttr(id, &idle, 0)); err != nil && !errors.Is(err, unix.ESRCH) {
			m.Fatal(err)
		}
	}
	hog := exec.Command("sh", "-c", "while :; do :; done")
	m.must(hog.Start())
	feed = sync.OnceFunc(func() {
		_ = hog.Process.Kill()
		_ = hog.Wait()
	})
	m.Cleanup(feed)
	m.must(unix.SchedSetaffinity(hog.Process.Pid, &one))
	return feed
}

// An agent that was started without a prompt has no transcript to lock: its launcher locks it at the end of the first
// turn, so that no other project opens the conversation beside it.
func TestTranscriptIsLockedAfterTheFirstTurn(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("send", "alpha", "Remember 42.", "--wait-reply")
	lock := flock.New(m.transcriptOf(m.session("alpha").SessionID), flock.SetFlag(os.O_RDONLY))
	defer lock.Close()
	rig.Eventually(t, "the transcript is locked", func() bool {
		free, err := lock.TryLock()
		m.must(err)
		if free {
			m.must(lock.Unlock())
		}
		return !free
	})
}
