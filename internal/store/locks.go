package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/private"
)

const verbRetry = 5 * time.Millisecond

// Patience is how long a verb waits for the holder of its agent's verb lock.
type Patience struct {
	Short time.Duration // for a holder that soon ends by itself, like [shortVerbs]
	Other time.Duration
}

// ShortVerb is the patience that [shortVerbs] need: the limits of a delivery add up to less.
const ShortVerb = 2 * time.Minute

// Holder says who holds a lock. It is written into the lock file.
type Holder struct {
	PID    int          `json:"pid"`
	Verb   string       `json:"verb"`
	Handle agent.Handle `json:"handle"` // "": it is not an agent's lock
	Since  time.Time    `json:"since"`
	Left   bool         `json:"left,omitempty"` // see [Store.LeaveToLauncher]
}

func (h Holder) String() string {
	return fmt.Sprintf("%s, pid %d, since %s", strings.TrimSpace(h.Verb+" "+string(h.Handle)), h.PID, h.Since.UTC().Format(time.RFC3339))
}

// LockVerb takes the right to start, stop or change an agent; every change begins with it. It does not wait. Errors:
// Conflict, naming the holder.
func (s *Store) LockVerb(handle agent.Handle, verb string, now time.Time) (unlock func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.takeVerb(handle, verb, now)
}

func (s *Store) takeVerb(handle agent.Handle, verb string, now time.Time) (unlock func(), err error) {
	holder := Holder{PID: os.Getpid(), Verb: verb, Handle: handle, Since: now}
	unlock, err = s.tryLock(verbLock(handle), holder, func(by string) error {
		return fail.Errorf(fail.Conflict, "another command is working on this agent: %s", by).
			Hint("wait until it has ended, then look at the agent: nbs-worker session %s", handle)
	})
	if err == nil {
		s.sweep(handle, now)
		_ = s.IgnoreItself() // the verb reports what cannot be written
		_ = s.BecomeKnown(now)
	}
	return unlock, err
}

// AwaitVerb is LockVerb for a verb that waits until another one has ended. It needs only the lock of .nbs: the verb
// reports later what cannot be written. Errors: also Interrupted, when the context ends first.
func (s *Store) AwaitVerb(ctx context.Context, handle agent.Handle, verb string, now time.Time, patience Patience) (unlock func(), err error) {
	if err := s.prepare(); err != nil && !isUnwritable(err) {
		return nil, err
	}
	begun := time.Now()
	for named := begun; ; {
		unlock, err = s.takeVerb(handle, verb, now)
		if fail.KindOf(err) != fail.Conflict {
			return unlock, err
		}
		since, limit := begun, patience.Other
		switch holder, signed := s.VerbHolder(handle); {
		case !signed: // it has just ended, or begun
			since, limit = named, max(patience.Other, signatureWait)
		case slices.Contains(shortVerbs, holder.Verb):
			named, limit = time.Now(), patience.Short
		default:
			named = time.Now()
		}
		if time.Since(since) > limit {
			return nil, err
		}
		if clock.Sleep(ctx, verbRetry) != nil {
			return nil, fail.Errorf(fail.Interrupted, "interrupted while another command was working on this agent")
		}
	}
}

// shortVerbs soon end by themselves. They type into an agent's terminal, are run by its launcher, change only its
// record or, like recover and up, only wait for other verbs.
var shortVerbs = []string{"send", "outbox", "interrupt", "compact", "restart", "set", "reset", "allow", "doctor", "recover", "up"}

// isUnwritable reports whether an error means that a disk or a folder cannot be written.
func isUnwritable(err error) bool {
	known := []error{syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EACCES, syscall.EPERM, syscall.EIO}
	return slices.ContainsFunc(known, func(one error) bool { return errors.Is(err, one) })
}

// ErrStayedLocked is the error for a short lock of .nbs that was not released: the command that holds it hangs, or
// the machine is slow.
var ErrStayedLocked = private.ErrStayedLocked

func verbLock(handle agent.Handle) string { return handle.Key() + ".verb" }

// VerbHolder returns the last signer of the verb lock, unless it has unlocked since. The signature of a killed
// process stays.
func (s *Store) VerbHolder(handle agent.Handle) (Holder, bool) {
	holder, err := s.readHolder(verbLock(handle))
	return holder, err == nil
}

// LeaveToLauncher notes in the verb lock, which the caller holds, that the verb no longer waits for the agent that it
// has started. If that agent ends, its launcher decides what follows. The new note is longer than the old one, so a
// reader never takes a part of it for the whole.
func (s *Store) LeaveToLauncher(handle agent.Handle) {
	if holder, signed := s.VerbHolder(handle); signed && holder.PID == os.Getpid() && !holder.Left {
		holder.Left = true
		_ = s.signOver(verbLock(handle), &holder, 0) // on a full disk the verb is believed to wait
	}
}

// VerbLock returns the file of an agent's verb lock.
func (s *Store) VerbLock(handle agent.Handle) string { return s.nbs.LockPath(verbLock(handle)) }

// LeaseHolder returns the last signer of the lease of a conversation, as VerbHolder does.
func (s *Store) LeaseHolder(id agent.SessionID) (Holder, bool) {
	holder, err := s.readHolder(leaseName(id))
	return holder, err == nil
}

func leaseName(id agent.SessionID) string { return string(id) + ".lease" }

// AcquireLease takes the right to run a conversation, for as long as the caller
// lives or until release. It does not wait. Errors: Conflict, naming the holder.
func (s *Store) AcquireLease(id agent.SessionID, holder Holder) (release func(), err error) {
	return s.tryLock(leaseName(id), holder, func(by string) error {
		err := fail.Errorf(fail.Conflict, "the conversation %s is open already: %s", id, by)
		if holder.Handle == "" {
			return err.Hint("to see whose it is: nbs-worker list")
		}
		return err.Hint("to see it: nbs-worker session %s", holder.Handle)
	})
}

// LockRun takes the right to lead a run, named by its key. Errors: Conflict, naming the holder.
func (s *Store) LockRun(key string, name agent.Handle, now time.Time) (unlock func(), err error) {
	return s.lockAlone(key+".run", Holder{Verb: "runbook", Handle: name, Since: now}, "it is already running")
}

// LockRecovery takes the right to repair agents of the project. Errors: Conflict, naming the holder.
func (s *Store) LockRecovery(verb string, now time.Time) (unlock func(), err error) {
	return s.lockAlone("recover.run", Holder{Verb: verb, Handle: "agents", Since: now}, "another command is already repairing agents of the project")
}

// LockServe takes the right to serve the project's conversations. Errors: Conflict, naming the holder.
func (s *Store) LockServe(now time.Time) (release func(), err error) {
	return s.lockAlone("serve", Holder{Verb: "serve", Since: now}, "another process already serves the project")
}

// LockMemory takes the right to observe the agents of the project. Errors: Conflict, naming the holder.
func (s *Store) LockMemory(now time.Time) (release func(), err error) {
	return s.lockAlone("memory", Holder{Verb: "memory", Since: now}, "another process already observes the agents of the project")
}

// LockWatch takes the right to watch the project. Errors: Conflict, naming the holder.
func (s *Store) LockWatch(now time.Time) (release func(), err error) {
	return s.lockAlone("watch", Holder{Verb: "watch", Since: now}, "another process already watches the project")
}

// lockAlone takes a lock that one process of the project has, for as long as it lives or until release. It does not
// wait. otherwise is the error's text when another has it. Errors: Conflict, naming the holder.
func (s *Store) lockAlone(name string, holder Holder, otherwise string) (release func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	holder.PID = os.Getpid()
	_ = s.BecomeKnown(holder.Since)
	return s.tryLock(name, holder, func(by string) error {
		err := fail.Errorf(fail.Conflict, "%s: %s", otherwise, by)
		if holder.Handle != "" {
			err = err.Hint("see what it does: nbs-worker events --follow")
		}
		return err
	})
}

// tryLock takes a lock, or returns an error that names its holder. A holder signs right after it has locked and wipes
// the signature right before it unlocks, so a lock without a signature may be at either point. A killed holder keeps
// the lock until it has ended; a child that it was just starting keeps it until its exec. So tryLock tries again for
// a moment.
func (s *Store) tryLock(name string, holder Holder, taken func(by string) error) (func(), error) {
	retry := time.NewTicker(signatureRetry)
	defer retry.Stop()
	for deadline := time.Now().Add(signatureWait); ; <-retry.C {
		unlock, err := s.nbs.TryLock(name)
		if err != nil {
			return nil, err
		}
		if unlock != nil {
			_ = s.sign(name, &holder) // the lock is held even when a full disk refuses this
			return func() {
				_ = s.sign(name, nil) // so that a former holder is not reported
				unlock()
			}, nil
		}
		late := time.Now().After(deadline)
		by, err := s.readHolder(name)
		if err == nil && (late || !s.isEnding(by.PID)) {
			return nil, taken(by.String())
		}
		if late {
			return nil, taken("the lock does not name its holder")
		}
	}
}

// SetIsEnding sets the function that reports whether a process has ended or has been sent SIGKILL. Without it,
// only a process that its parent has waited for has ended.
func (s *Store) SetIsEnding(isEnding func(pid int) bool) { s.isEnding = isEnding }

const (
	signatureWait  = time.Second
	signatureRetry = time.Millisecond
	verbLimit      = 20 // bytes
)

// lockRecord takes the short lock for a read-modify-write.
func (s *Store) lockRecord(ctx context.Context, handle agent.Handle) (func(), error) {
	return s.nbs.Lock(ctx, recordLockName(handle))
}

func recordLockName(handle agent.Handle) string { return handle.Key() + ".record" }

// sign writes the holder into its lock file, or empties the file for nil.
func (s *Store) sign(name string, holder *Holder) error { return s.signOver(name, holder, os.O_TRUNC) }

func (s *Store) signOver(name string, holder *Holder, truncate int) error {
	var text []byte
	if holder != nil {
		line, err := json.Marshal(holder)
		if err != nil {
			return err
		}
		line = append(line, '\n')
		text = line
	}
	f, err := s.nbs.OpenFile(private.Locks+"/"+name, os.O_WRONLY|truncate, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (s *Store) readHolder(name string) (Holder, error) {
	var holder Holder
	data, err := s.nbs.Read(private.Locks, name, fileLimit)
	if err != nil {
		return holder, err
	}
	if err := json.Unmarshal(data, &holder); err != nil {
		return Holder{}, err
	}
	return holder, holder.check()
}

// check refuses a signature that this program did not write: it is shown to people.
func (h Holder) check() error {
	if h.PID <= 0 || h.Verb == "" || strings.Trim(h.Verb, "abcdefghijklmnopqrstuvwxyz") != "" || len(h.Verb) > verbLimit {
		return errors.New("no holder")
	}
	if h.Handle == "" {
		return nil
	}
	_, err := agent.ParseHandle(string(h.Handle))
	return err
}
