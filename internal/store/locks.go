package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"nbs-worker/internal/agent"
)

// Lock files are never removed: whoever unlinks one lets a second holder in. A
// lock ends with its holder, however that dies. Go opens them close-on-exec, so no
// child, above all no tmux server, can inherit one. The function that ends a lock must
// be kept: without it the file is closed by the garbage collector.

const (
	recordLockWait = 5 * time.Second
	verbWait       = 5 * time.Second
)

// Holder says who holds a lock. It is written into the lock file.
type Holder struct {
	PID    int          `json:"pid"`
	Verb   string       `json:"verb"`
	Handle agent.Handle `json:"handle"`
	Since  time.Time    `json:"since"`
}

func (h Holder) String() string {
	return fmt.Sprintf("%s %s, pid %d, since %s", h.Verb, h.Handle, h.PID, h.Since.UTC().Format(time.RFC3339))
}

// LockVerb takes the right to change an agent's life; every change begins with it.
// It does not wait.
// Errors: Conflict, naming the holder.
func (s *Store) LockVerb(handle agent.Handle, verb string, now time.Time) (unlock func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.takeVerb(handle, verb, now)
}

func (s *Store) takeVerb(handle agent.Handle, verb string, now time.Time) (unlock func(), err error) {
	holder := Holder{PID: os.Getpid(), Verb: verb, Handle: handle, Since: now}
	unlock, err = s.tryLock(verbLock(handle), holder, func(by string) error {
		return agent.Errorf(agent.Conflict, "another command is at work on this agent: %s", by).
			Hint("wait until it has ended, then look: nbs-worker session %s", handle)
	})
	if err == nil {
		s.sweep(handle, now)
	}
	return unlock, err
}

// AwaitVerb is LockVerb for a verb that ends an agent. It waits some seconds until another one
// has ended, and needs nothing of .nbs but the lock: what cannot be written, it says later.
func (s *Store) AwaitVerb(ctx context.Context, handle agent.Handle, verb string, now time.Time) (unlock func(), err error) {
	if err := s.prepare(); err != nil && !isUnwritable(err) {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, verbWait)
	defer cancel()
	for {
		unlock, err = s.takeVerb(handle, verb, now)
		if agent.KindOf(err) != agent.Conflict || ctx.Err() != nil {
			return unlock, err
		}
		free := s.lock(verbLock(handle), os.O_CREATE|os.O_RDWR)
		if lockWithin(ctx, free) == nil { // else LockVerb says why
			_ = free.Close()
		}
	}
}

// isUnwritable tells whether a disk takes nothing, or a folder.
func isUnwritable(err error) bool {
	for _, known := range []error{syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EACCES, syscall.EPERM, syscall.EIO} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

func verbLock(handle agent.Handle) string { return handle.Key() + ".verb" }

// VerbHolder says who signed the verb lock last, and has not ended since or was killed.
func (s *Store) VerbHolder(handle agent.Handle) (Holder, bool) {
	holder, err := s.readHolder(verbLock(handle))
	return holder, err == nil
}

// VerbLock is the file of an agent's verb lock.
func (s *Store) VerbLock(handle agent.Handle) string { return s.lockPath(verbLock(handle)) }

// LeaseHolder says who signed the lease of a conversation and has not let go of it since, or
// was killed.
func (s *Store) LeaseHolder(id agent.SessionID) (Holder, bool) {
	holder, err := s.readHolder(leaseName(id))
	return holder, err == nil
}

func leaseName(id agent.SessionID) string { return string(id) + ".lease" }

// AcquireLease takes the right to run a conversation, for as long as the caller
// lives or until release. It does not wait. Errors: Conflict, naming the holder.
func (s *Store) AcquireLease(id agent.SessionID, holder Holder) (release func(), err error) {
	return s.tryLock(leaseName(id), holder, func(by string) error {
		return agent.Errorf(agent.Conflict, "the conversation %s is open already: %s", id, by).
			Hint("to see it: nbs-worker session %s", holder.Handle)
	})
}

// tryLock takes a lock, or says who has it. A holder signs right after it has locked and
// wipes that out right before it lets go: where there is no signature, either may be about
// to happen, so both are tried again for a moment.
func (s *Store) tryLock(name string, holder Holder, taken func(by string) error) (func(), error) {
	retry := time.NewTicker(signatureRetry)
	defer retry.Stop()
	for deadline := time.Now().Add(signatureWait); ; <-retry.C {
		lock, err := s.lockOnce(name)
		if err != nil {
			return nil, s.lockFailed(name, err)
		}
		if lock != nil {
			return s.locked(lock, name, holder), nil
		}
		if by, err := s.readHolder(name); err == nil {
			return nil, taken(by.String())
		}
		if time.Now().After(deadline) {
			return nil, taken("its holder did not sign")
		}
	}
}

// locked signs a lock that was taken, and returns what lets go of it.
func (s *Store) locked(lock *flock.Flock, name string, holder Holder) (unlock func()) {
	_ = s.sign(name, &holder) // held all the same, on a full disk too
	return func() {
		_ = s.sign(name, nil) // so that the next loser does not read of a holder of the past
		_ = lock.Close()
	}
}

const (
	signatureWait  = 200 * time.Millisecond
	signatureRetry = time.Millisecond
	verbLimit      = 20 // bytes
)

// lockOnce returns nil when somebody else has the lock.
func (s *Store) lockOnce(name string) (*flock.Flock, error) {
	lock := s.lock(name, os.O_CREATE|os.O_RDWR)
	locked, err := lock.TryLock()
	if errors.Is(err, syscall.EROFS) { // what was there before is locked all the same: stop must be able to end an agent
		lock = s.lock(name, os.O_RDONLY)
		if locked, err = lock.TryLock(); errors.Is(err, fs.ErrNotExist) {
			err = syscall.EROFS
		}
	}
	if err != nil || !locked {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// lockRecord takes the short lock of a read-modify-write. Holders keep it for
// milliseconds. Errors: Conflict after five seconds.
func (s *Store) lockRecord(ctx context.Context, handle agent.Handle) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, recordLockWait)
	defer cancel()
	lock := s.recordLock(handle)
	err := lockWithin(ctx, lock)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, agent.Errorf(agent.Conflict, "the record stayed locked for %s", recordLockWait)
	}
	if err != nil {
		return nil, s.lockFailed(recordLockName(handle), err)
	}
	return func() { _ = lock.Close() }, nil
}

// lockWithin waits for a lock in the kernel. Who asks for it again and again instead
// finds it free by chance only, when others are quick to take it.
func lockWithin(ctx context.Context, lock *flock.Flock) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	granted := make(chan error, 1)
	go func() { granted <- lock.Lock() }()
	select {
	case err := <-granted:
		return err
	case <-ctx.Done():
		go func() { // it is granted some day, to nobody
			if <-granted == nil {
				_ = lock.Close()
			}
		}()
		return ctx.Err()
	}
}

func recordLockName(handle agent.Handle) string { return handle.Key() + ".record" }

func (s *Store) recordLock(handle agent.Handle) *flock.Flock {
	return s.lock(recordLockName(handle), os.O_CREATE|os.O_RDWR)
}

// lock makes a new object for each acquisition: one object locked twice succeeds
// twice.
func (s *Store) lock(name string, flag int) *flock.Flock {
	return flock.New(s.lockPath(name), flock.SetFlag(flag|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
}

func (s *Store) lockPath(name string) string { return filepath.Join(s.project, folder, locks, name) }

func (s *Store) lockFailed(name string, err error) error {
	failure := agent.Errorf(agent.Failed, "lock %s/%s/%s: %w", folder, locks, name, s.remedied(err))
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) {
		return failure.Hint("no lock file of ours; look at what it is, then remove it: rm -r %s", shellWord(s.lockPath(name)))
	}
	return failure
}

// sign writes the holder into its lock file, or empties the file for nil.
func (s *Store) sign(name string, holder *Holder) error {
	var text []byte
	if holder != nil {
		line, err := json.Marshal(holder)
		if err != nil {
			return err
		}
		line = append(line, '\n')
		text = line
	}
	f, err := s.nbs.OpenFile(locks+"/"+name, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (s *Store) readHolder(name string) (Holder, error) {
	var holder Holder
	data, err := s.read(locks, name, fileLimit)
	if err != nil {
		return holder, err
	}
	if err := json.Unmarshal(data, &holder); err != nil {
		return Holder{}, err
	}
	return holder, holder.check()
}

// check refuses what none of ours has signed: it is shown to people.
func (h Holder) check() error {
	if h.PID <= 0 || h.Verb == "" || strings.Trim(h.Verb, "abcdefghijklmnopqrstuvwxyz") != "" || len(h.Verb) > verbLimit {
		return errors.New("no holder")
	}
	_, err := agent.ParseHandle(string(h.Handle))
	return err
}
