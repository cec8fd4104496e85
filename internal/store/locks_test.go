package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/storetest"
)

func TestVerbLockExcludesInAnyCase(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	unlock := locked(t, s, "Alice", "spawn", storetest.SomeTime())
	_, err := s.LockVerb("alice", "stop", storetest.SomeTime())
	storetest.WantKind(t, "second holder", err, fail.Conflict)
	want := "spawn Alice, pid " + strconv.Itoa(os.Getpid()) + ", since 2026-02-20T11:44:07Z"
	rig.Check(t, err == nil || strings.Contains(err.Error(), want), "%v; want the holder: %s", err, want)
	locked(t, s, "bob", "stop", storetest.SomeTime())() // another agent's
	unlock()
	locked(t, s, "alice", "stop", storetest.SomeTime())()
}

// What somebody else has written into a lock file is shown to nobody.
func TestHolderThatWeHaveNotWritten(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, s.prepare())
	for _, text := range []string{
		`{"pid":7,"verb":"\u001b]0;x\u0007"}`, `{"pid":7,"verb":"resume","handle":"a\nb"}`, `{"pid":-1,"verb":"resume"}`, `{"pid":7}`,
		`{"pid":7,"verb":"` + strings.Repeat("x", 300) + `"}`, `{"pid":`, "null", "",
	} {
		s.put(t, "locks/alice.verb", []byte(text))
		holder, err := s.readHolder("alice.verb")
		rig.Check(t, err != nil, "%s: the holder is %q", text, holder)
	}
}

func TestVerbLockEndsWithItsHolder(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	holder := rig.StartChild(t, rig.Command("verb", s.Project(), "alice"))
	pid := holder.Said()
	_, err := s.LockVerb("alice", "stop", storetest.SomeTime())
	storetest.WantKind(t, "second holder", err, fail.Conflict)
	rig.Check(t, err == nil || strings.Contains(err.Error(), "resume alice, pid "+strconv.Itoa(pid)), "%v; want the holder, pid %d", err, pid)
	rig.Must(t, holder.Process.Kill())
	rig.Eventually(t, "the lock is free", func() bool {
		unlock, err := s.LockVerb("alice", "stop", storetest.SomeTime())
		if err == nil {
			unlock()
		}
		return err == nil
	})
}

// A person who does not want to wait is not told of a conflict.
func TestWaitForAVerbIsInterrupted(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	defer locked(t, s, "alice", "spawn", storetest.SomeTime())()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := s.AwaitVerb(ctx, "alice", "stop", storetest.SomeTime(), Patience{Short: time.Hour, Other: time.Hour})
	storetest.WantKind(t, "while it waits", err, fail.Interrupted)
}

// A verb that ends soon is waited for, also by who waits for no other; and each for no longer than the limit.
func TestWaitForAVerbHasALimit(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for verb, patience := range map[string]Patience{"send": {Short: 10 * time.Millisecond, Other: time.Hour}, "spawn": {Short: time.Hour}} {
		unlock := locked(t, s, "alice", verb, storetest.SomeTime())
		_, err := s.AwaitVerb(t.Context(), "alice", "resume", storetest.SomeTime(), patience)
		storetest.WantKind(t, "while "+verb+" has it", err, fail.Conflict)
		rig.Check(t, err == nil || strings.Contains(err.Error(), verb+" alice, pid "), "%v; want the holder", err)
		unlock()
	}
	for _, verb := range []string{"outbox", "recover"} {
		time.AfterFunc(50*time.Millisecond, locked(t, s, "alice", verb, storetest.SomeTime()))
		unlock, err := s.AwaitVerb(t.Context(), "alice", "resume", storetest.SomeTime(), Patience{Short: time.Hour})
		rig.Must(t, err)
		unlock()
	}
}

func TestReleasedLockNamesNobody(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	locked(t, s, "alice", "spawn", storetest.SomeTime())()
	storetest.WantText(t, path(s, "locks", "alice.verb"), "")
}

// A verb that waits no longer for what it has started says so, and only in its own lock.
func TestVerbLeavesToTheLauncher(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	unlock := locked(t, s, "alice", "spawn", storetest.SomeTime())
	holder, _ := s.VerbHolder("alice")
	rig.Check(t, !holder.Left, "%+v", holder)
	s.LeaveToLauncher("Alice")
	holder.Left = true
	left, signed := s.VerbHolder("alice")
	rig.Check(t, signed && left == holder, "%+v; want %+v", left, holder)
	unlock()
	s.LeaveToLauncher("alice")
	storetest.WantText(t, path(s, "locks", "alice.verb"), "")
	rig.Must(t, os.WriteFile(path(s, "locks", "alice.verb"), []byte(`{"pid":1,"verb":"spawn","handle":"alice","since":"2026-02-20T11:44:07Z"}`), 0o600))
	s.LeaveToLauncher("alice")
	left, _ = s.VerbHolder("alice")
	rig.Check(t, !left.Left, "another's: %+v", left)
}

func TestLeaseExcludes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	release, err := s.AcquireLease(aliceID, Holder{PID: 7, Verb: "run", Handle: "alice", Since: storetest.SomeTime()})
	rig.Must(t, err)
	_, err = s.AcquireLease(aliceID, Holder{Handle: "bob"})
	storetest.WantKind(t, "second holder", err, fail.Conflict)
	if err != nil && (!strings.Contains(err.Error(), string(aliceID)) || !strings.Contains(err.Error(), "run alice, pid 7")) {
		t.Errorf("%v; want the conversation and its holder", err)
	}
	if other, err := s.AcquireLease(otherID, Holder{}); err != nil {
		t.Errorf("another conversation: %v", err)
	} else {
		other()
	}
	release()
	if release, err = s.AcquireLease(aliceID, Holder{}); err != nil {
		t.Fatalf("after release: %v", err)
	}
	release()
}

// What the holder starts, above all a tmux server, may live long after it.
func TestLeaseIsNotInherited(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	holder := rig.StartChild(t, rig.Command("lease-with-child", s.Project()))
	pids := []int{holder.Said(), holder.Said()}
	child := pids[0]
	if child == holder.Process.Pid {
		child = pids[1]
	}
	if _, err := s.AcquireLease(aliceID, Holder{}); fail.KindOf(err) != fail.Conflict || err == nil {
		t.Fatalf("while its holder lives: %v; want a conflict", err)
	}
	rig.Must(t, holder.Process.Kill())
	rig.Eventually(t, "the lease is free", func() bool {
		release, err := s.AcquireLease(aliceID, Holder{})
		if err == nil {
			release()
		}
		return err == nil
	})
	err := syscall.Kill(child, 0)
	rig.Check(t, err == nil, "the child %d did not outlive the holder: %v", child, err)
}

// A child that a killed process was just starting has its parent's locks until it has become its program.
func TestLockOfAKilledHolderIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	gone := exec.Command("true")
	rig.Must(t, gone.Run())
	lock, err := s.nbs.TryLock("memory")
	rig.Must(t, err)
	rig.Must(t, s.sign("memory", &Holder{PID: gone.Process.Pid, Verb: "memory", Since: storetest.SomeTime()}))
	defer time.AfterFunc(20*time.Millisecond, lock).Stop()
	release, err := s.LockMemory(storetest.SomeTime())
	rig.Must(t, err)
	release()
}

// A launcher that was killed may need a while for its end, and its tmux server to wait for it.
func TestLockOfAnEndingHolderIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	lock, err := s.nbs.TryLock("alice.verb")
	rig.Must(t, err)
	rig.Must(t, s.sign("alice.verb", &Holder{PID: os.Getpid(), Verb: "restart", Handle: "alice", Since: storetest.SomeTime()}))
	s.SetIsEnding(func(pid int) bool {
		lock() // the holder has ended
		return pid == os.Getpid()
	})
	unlock, err := s.LockVerb("alice", "resume", storetest.SomeTime())
	rig.Must(t, err)
	unlock()
}

// Who finds a lock of the whole project taken is told by whom.
func TestLocksOfTheProjectNameTheirHolder(t *testing.T) {
	t.Parallel()
	for by, lock := range map[string]func(*Store, time.Time) (func(), error){
		"serve": (*Store).LockServe, "memory": (*Store).LockMemory, "watch": (*Store).LockWatch,
		"recover agents":  func(s *Store, now time.Time) (func(), error) { return s.LockRecovery("recover", now) },
		"runbook restart": func(s *Store, now time.Time) (func(), error) { return s.LockRun("restart-0", "restart", now) },
	} {
		s := newStore(t)
		unlock, err := lock(s, storetest.SomeTime())
		rig.Must(t, err)
		_, err = lock(s, storetest.SomeTime())
		storetest.WantKind(t, by, err, fail.Conflict)
		rig.Check(t, strings.Contains(err.Error(), fmt.Sprintf(": %s, pid %d, since ", by, os.Getpid())), "%s: %v", by, err)
		unlock()
	}
}

func TestUnsignedLockIsStillALock(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"empty": "", "torn": `{"pid":`, "hostile": "\x1b]0;x\x07", "forged": `{"pid":1,"verb":"\u001b[2J","handle":"alice"}`} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			defer locked(t, s, "alice", "spawn", storetest.SomeTime())()
			storetest.Write(t, path(s, "locks", "alice.verb"), text)
			_, err := s.LockVerb("alice", "stop", storetest.SomeTime())
			storetest.WantKind(t, what, err, fail.Conflict)
			rig.Check(t, err == nil || strings.Contains(err.Error(), "does not name its holder") && !strings.Contains(err.Error(), "\x1b"), "%q", err)
		})
	}
}

func TestReaderNeedsNoLock(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	unlock, err := s.lockRecord(t.Context(), "alice")
	rig.Must(t, err)
	defer unlock()
	_, err = s.Load("alice")
	rig.Check(t, err == nil, "%v", err)
}

// A holder wipes its signature out right before it lets go: who comes in between finds
// nobody's name, and a moment later no holder.
func TestLockThatIsLetGoThisMomentIsTaken(t *testing.T) {
	t.Parallel()
	s := newStoreWith(t, "alice")
	for range 50 {
		leaving, err := s.nbs.TryLock("alice.verb")
		if err != nil || leaving == nil {
			t.Fatal(err)
		}
		outcome := make(chan error)
		go func() {
			unlock, err := s.LockVerb("alice", "stop", storetest.SomeTime())
			if err == nil {
				unlock()
			}
			outcome <- err
		}()
		leaving()
		rig.Must(t, <-outcome)
	}
}

// A short lock that is not let go of is named, whichever it is, and says what to do.
func TestLockThatIsNotLetGoOf(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, s.prepare())
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for name, err := range map[string]error{
		"alice.status": s.UpdateReport(late, "alice", func(*agent.Report) {}),
		"alice.record": s.Remove(late, "alice"),
		"journal":      s.Journal().Append(late, journal.Event{Handle: "alice"}),
	} {
		storetest.WantKind(t, name, err, fail.Conflict)
		rig.Check(t, strings.Contains(err.Error(), ".nbs/locks/"+name+" stayed locked") && len(fail.HintsOf(err)) != 0, "%s: %v", name, err)
	}
}

func TestFlockIsProvenAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s, err := Create(t.TempDir())
	rig.Must(t, err)
	defer s.Close()
	rig.Must(t, s.ProveFlock())
	left, err := os.ReadDir(s.Folder())
	rig.Check(t, err == nil && len(left) == 0, "%v, %v", left, err)
}
