package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"

	"golang.org/x/sys/unix"
)

// The terminal may go away, or its keys send signals again, right after claude has ended:
// its end is written down all the same.
func TestLauncherIsNotKilledWhileItRecordsTheEnd(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"hangup": syscall.SIGHUP, "quit": syscall.SIGQUIT, "suspend": syscall.SIGTSTP} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			m.ok("spawn", "alpha")
			launcher := m.launcher("alpha")
			letGo := m.holdLock("alpha.record")
			m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
			m.waitFor("the launcher waits for the record", func() (bool, string) { return waitsForLock(t, launcher) })
			m.kill(launcher, signal)
			letGo()
			m.waitDead(launcher)
			if s := m.session("alpha"); s.State != "crashed" || !strings.Contains(m.recordText("alpha"), `"signal": "killed"`) {
				t.Errorf("%+v; record %s", s, m.recordText("alpha"))
			}
			m.ok("resume", "alpha")
		})
	}
}

// Who asks the launcher to leave asks claude.
func TestLauncherForwardsTermAndHangup(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"term": syscall.SIGTERM, "hangup": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			m := standIn(t)
			before := m.remembers("alpha")
			launcher := m.launcher("alpha")
			m.kill(launcher, signal)
			m.waitDead(before.RecordedPID)
			m.waitDead(launcher)
			s := m.session("alpha")
			m.check(!s.Running, "%+v", s)
			m.mustBeInTheJournal("exit", "alpha", before.SessionID)
			m.mustRemember("alpha", before)
		})
	}
}

// Who asks claude to leave does not wait until the launcher has followed it into another
// conversation.
func TestLauncherForwardsTermWhileItWaitsForALock(t *testing.T) {
	m := standIn(t)
	before := m.remembers("alpha")
	launcher := m.launcher("alpha")
	letGo := m.holdLock("alpha.record")
	defer letGo()
	m.typeLine(before, "/clear")
	m.waitFor("the launcher waits for the record", func() (bool, string) { return waitsForLock(t, launcher) })
	begun := time.Now()
	m.kill(launcher, syscall.SIGTERM)
	m.waitDead(before.RecordedPID)
	took := time.Since(begun)
	m.check(took <= 2*time.Second, "it took %s", took) // it would wait for five
}

// A claude whose start cannot be journalled is killed while it draws: the terminal of a
// person gets its own modes back.
func TestTerminalIsRestoredWhenAStartIsTakenBack(t *testing.T) {
	m := real(t)
	m.remembers("alpha")
	m.ok("stop", "alpha")
	defer m.holdLock("journal")()
	c := m.console(m.command([]string{"run", "alpha"}))
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("%v\n%s", err, c.seen.String())
	}
	modes, err := unix.IoctlGetTermios(int(c.pty.Fd()), unix.TCGETS)
	m.check(err == nil && modes.Lflag&(unix.ICANON|unix.ECHO) == unix.ICANON|unix.ECHO, "the terminal is raw: %+v, %v", modes, err)
	const shownCursor = "\x1b[?25h"
	seen := c.seen.String()
	m.check(strings.LastIndex(seen, shownCursor) >= strings.LastIndex(seen, "\x1b[?25l"), "the cursor stays hidden: %q", seen)
}

// holdLock takes a lock of .nbs, as a command of ours in the middle of its work.
func (m *team) holdLock(name string) (letGo func()) {
	m.Helper()
	lock, err := os.OpenFile(m.inNbs("locks", name), os.O_RDWR, 0)
	m.must(err)
	m.must(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	return func() { _ = lock.Close() }
}

// waitsForLock tells whether a process waits for a file lock, and shows all locks.
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
