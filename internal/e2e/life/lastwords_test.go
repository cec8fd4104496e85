package life

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// The terminal may go away, or its keys send signals again, right after claude has ended:
// its end is written down all the same.
func TestLauncherIsNotKilledWhileItRecordsTheEnd(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	launcher := m.Launcher("alpha")
	letGo := m.holdLock("alpha.record")
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitFor("the launcher waits for the record", func() (bool, string) { return waitsForLock(t, launcher) })
	for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGHUP} {
		m.Kill(launcher, signal)
	}
	letGo()
	m.WaitDead(launcher)
	if s := m.Session("alpha"); s.State != "crashed" || !strings.Contains(m.RecordText("alpha"), `"signal": "killed"`) {
		t.Errorf("%+v; record %s", s, m.RecordText("alpha"))
	}
	m.OK("resume", "alpha")
}

// Who asks the launcher to leave asks claude.
func TestLauncherForwardsTermAndHangup(t *testing.T) {
	m := standIn(t)
	m.KeepServer()
	before := m.Remembers("alpha")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		was, launcher := m.Session("alpha"), m.Launcher("alpha")
		m.Kill(launcher, signal)
		m.WaitDead(was.RecordedPID)
		m.WaitDead(launcher)
		s := m.Session("alpha")
		m.Check(!s.Running, "%v: %+v", signal, s)
		m.MustBeInTheJournal("exit", "alpha", before.SessionID)
		m.MustRemember("alpha", before)
	}
}

// Who asks claude to leave does not wait until the launcher has followed it into another
// conversation.
func TestLauncherForwardsTermWhileItWaitsForALock(t *testing.T) {
	m := standIn(t)
	before := m.Remembers("alpha")
	launcher := m.Launcher("alpha")
	letGo := m.holdLock("alpha.record")
	defer letGo()
	m.TypeLine(before, "/clear")
	m.WaitFor("the launcher waits for the record", func() (bool, string) { return waitsForLock(t, launcher) })
	begun := time.Now()
	m.Kill(launcher, syscall.SIGTERM)
	m.WaitDead(before.RecordedPID)
	took := time.Since(begun)
	m.InTime(took, 2*time.Second) // it would wait for five
}

// holdLock takes a lock of .nbs, as a command of ours in the middle of its work.
func (m *team) holdLock(name string) (letGo func()) {
	m.Helper()
	lock, err := os.OpenFile(m.InNbs("locks", name), os.O_RDWR, 0)
	m.Must(err)
	m.Must(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	return func() { _ = lock.Close() }
}

// waitsForLock reports whether a process waits for a file lock, and shows all locks.
func waitsForLock(t *testing.T, pid int) (bool, string) {
	t.Helper()
	locks, err := os.ReadFile("/proc/locks")
	rig.Must(t, err)
	for line := range strings.Lines(string(locks)) {
		fields := strings.Fields(line) // 7: -> FLOCK ADVISORY WRITE pid ...
		if len(fields) > 5 && fields[1] == "->" && fields[5] == strconv.Itoa(pid) {
			return true, ""
		}
	}
	return false, string(locks)
}
