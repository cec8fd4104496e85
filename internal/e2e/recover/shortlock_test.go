package recover

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lockFor holds a lock of alpha for some seconds, as a command of that name does.
func (m *team) lockFor(name, verb string, hold time.Duration) (release func()) {
	m.Helper()
	lock, err := os.OpenFile(m.InNbs("locks", name), os.O_RDWR, 0)
	m.Must(err)
	m.Must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	m.Must(lock.Truncate(0))
	_, err = fmt.Fprintf(lock, `{"pid":%d,"verb":%q,"handle":"alpha","since":"2026-02-20T12:00:00Z"}`, os.Getpid(), verb)
	m.Must(err)
	release = sync.OnceFunc(func() {
		_ = lock.Truncate(0)
		_ = lock.Close()
	})
	time.AfterFunc(hold, release)
	return release
}

// A command that types into an agent's terminal, or changes only its record, ends soon: what ends or starts the agent
// waits for it.
func TestWhatIsShortIsWaitedFor(t *testing.T) {
	m := standIn(t)
	const short = 2 * time.Second // as a deliverer that deletes what it has typed
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Remember 42.")
	before := m.WaitState("alpha", "idle")
	die := func() {
		m.Helper()
		m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
		m.WaitState("alpha", "crashed")
	}
	die()
	m.lockFor("alpha.verb", "outbox", short)
	all, code := m.recover("--all", "--stagger", "0s")
	m.Check(code == 0 && all["alpha"].steps() == "3+" && all["alpha"].After.Verdict == "idle", "exit code %d, %+v", code, all)
	die()
	m.lockFor("alpha.verb", "send", short)
	m.OK("resume", "alpha")
	m.lockFor("alpha.verb", "compact", short)
	m.OK("resume", "alpha", "--force")
	m.lockFor("alpha.verb", "set", short)
	m.OK("stop", "alpha")
	m.OK("resume", "alpha")
	m.lockFor("alpha.verb", "outbox", short)
	m.OK("interrupt", "alpha")
	m.MustRemember("alpha", before, "--force")
}

// A send that is suspended, with the right to type, keeps no other one beyond its limit.
func TestSuspendedSendIsNotWaitedFor(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.WaitState("alpha", "idle")
	defer m.lockFor("alpha.verb", "send", time.Hour)()
	begun := time.Now()
	m.Refused(5, "another command is working on this agent: send alpha, pid ", "send", "alpha", "hello", "--timeout", "2s")
	m.InTime(time.Since(begun), 10*time.Second)
}

// A process that has the lease and that no record names is named by the resume that is refused.
func TestResumeNamesTheHolderOfALease(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	id := m.Session("alpha").SessionID
	defer m.lockFor(id+".lease", "run", time.Hour)()
	m.Refused(5, fmt.Sprintf("the conversation %s is open already: run alpha, pid %d, since ", id, os.Getpid()), "resume", "alpha")
}
