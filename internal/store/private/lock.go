package private

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"nbs-worker/internal/agent"
)

// The rules of locks:
//
//   - Lock files are never removed: whoever unlinks one lets a second holder in.
//   - A lock ends with its holder, however that dies. Go opens them close-on-exec, so no child, above
//     all no tmux server, can inherit one.
//   - The function that ends a lock must be kept: without it the file is closed by the garbage
//     collector.

const (
	// Locks is where a Folder has its lock files.
	Locks = "locks"
	// LockWait is for how long a lock is waited for that its holders keep for milliseconds.
	LockWait = 5 * time.Second
)

// TryLock takes a lock, or returns nil when somebody else has the lock.
func (f *Folder) TryLock(name string) (*flock.Flock, error) {
	lock := f.LockFile(name, os.O_CREATE|os.O_RDWR)
	locked, err := lock.TryLock()
	if errors.Is(err, syscall.EROFS) { // what was there before is locked all the same: stop must be able to end an agent
		lock = f.LockFile(name, os.O_RDONLY)
		if locked, err = lock.TryLock(); errors.Is(err, fs.ErrNotExist) {
			err = syscall.EROFS
		}
	}
	if err != nil || !locked {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Lock waits for a lock whose holders keep it for milliseconds. Errors: Conflict after [LockWait].
func (f *Folder) Lock(ctx context.Context, name string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	lock := f.LockFile(name, os.O_CREATE|os.O_RDWR)
	err = LockWithin(ctx, lock)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, agent.Errorf(agent.Conflict, "%s stayed locked for %s", f.Label(Locks+"/"+name), LockWait).
			Hint("another command hangs with it; which one: lslocks --output PID,COMMAND,PATH")
	}
	if err != nil {
		return nil, f.LockFailed(name, err)
	}
	return func() { _ = lock.Close() }, nil
}

// LockWithin waits for a lock in the kernel. Who asks for it again and again instead
// finds it free by chance only, when others are quick to take it.
func LockWithin(ctx context.Context, lock *flock.Flock) error {
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

// LockFile makes a new object for each acquisition: one object locked twice succeeds
// twice.
func (f *Folder) LockFile(name string, flag int) *flock.Flock {
	return flock.New(f.LockPath(name), flock.SetFlag(flag|syscall.O_NOFOLLOW), flock.SetPermissions(0o600))
}

// LockPath is the absolute path of a lock file.
func (f *Folder) LockPath(name string) string { return f.Path(Locks, name) }

// LockFailed says which lock could not be taken, and why.
func (f *Folder) LockFailed(name string, err error) error {
	failure := agent.Errorf(agent.Failed, "lock %s: %w", f.Label(Locks+"/"+name), f.Remedied(err))
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) {
		return failure.Hint("no lock file of ours; look at what it is, then remove it: rm -r %s", agent.ShellWord(f.LockPath(name)))
	}
	return failure
}
